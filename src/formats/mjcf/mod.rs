//! MJCF, the files of MuJoCo, read into a [`Description`].
//!
//! What the file says about softness of contacts is remarked upon and not followed: contacts, limits and
//! equality constraints are rigid here. Of what is only seen lights and textures are passed over;
//! everything else that is not followed is a warning with its line.

mod actuator;
mod asset;
mod body;
mod camera;
mod compiler;
mod contact;
mod defaults;
mod ellipsoid;
mod equality;
mod geom;
mod geom_friction;
mod include;
mod inertia;
mod joint;
mod keyframe;
mod option;
mod orientation;
mod reader;
mod tendon;
mod tree;

use std::path::Path;

use super::xml::{Element, Remarks};
use crate::Error;
use crate::assemble::Description;
use asset::Assets;
use compiler::Compiler;
use defaults::Defaults;
use reader::Reader;

/// Reads the root element of a file; `name` stands for it in messages, what it refers to is looked for in
/// `directory`. Hulls of meshes that say nothing else have at most `max_hull_vertices`, or all if that is 0.
pub(super) fn read(
    root: Element,
    name: &str,
    directory: &Path,
    max_hull_vertices: usize,
) -> Result<Description, Error> {
    describe(&include::resolve(root, directory)?, name, directory, max_hull_vertices)
}

fn describe(
    root: &Element,
    name: &str,
    directory: &Path,
    max_hull_vertices: usize,
) -> Result<Description, Error> {
    let mut remarks = Remarks::default();
    root.remark_on_others(&[], &["model"], &[], &mut remarks);
    let compiler = Compiler::read(root, directory, &mut remarks)?;
    let defaults = Defaults::read(root)?;
    let assets = Assets::read(root, &compiler, &defaults, max_hull_vertices, &mut remarks)?;
    let (settings, gravity, flags) = option::read(root, &mut remarks)?;
    let mut reader = Reader { compiler, defaults, assets, flags, remarks };
    reader.remark_on_defaults();
    reader.remark_on_sections(root);

    let mut description = Description::new(name, settings);
    description.gravity = gravity;
    description.strict = false;
    description.touch_parents = !reader.flags.filter_parent;
    let mut tree = body::read(&mut reader, root)?;
    inertia::set_total_mass(&mut tree, &reader.compiler);
    contact::read(&mut reader, root, &mut tree, &mut description)?;
    let tendons = tendon::read(&mut reader, root, &tree, &mut description)?;
    equality::read(&mut reader, root, (&tree, &tendons), &mut description)?;
    let actuators = actuator::read(&mut reader, root, (&tree, &tendons), &mut description)?;
    description.cameras = camera::describe(&tree, name, &description)?;
    tree.describe(&mut description);
    keyframe::read(&mut reader, root, &actuators, &mut description)?;
    description.warnings = reader.remarks.finish();
    Ok(description)
}

impl Reader<'_> {
    /// Remarks on attributes in default classes.
    fn remark_on_defaults(&mut self) {
        for element in self.defaults.elements() {
            match element.tag.as_str() {
                "joint" => joint::remark(element, &mut self.remarks),
                "geom" => geom::remark(element, &mut self.remarks),
                tag if actuator::TAGS.contains(&tag) => {
                    actuator::remark(element, &mut self.remarks);
                }
                // Seen, or followed where they are used.
                "mesh" | "material" | "texture" | "site" | "camera" | "light" | "pair"
                | "equality" | "tendon" | "skin" => {}
                _ => self.remarks.add(element, "", "is not known here, and ignored"),
            }
        }
    }

    /// Remarks on whole sections that are not followed.
    fn remark_on_sections(&mut self, root: &Element) {
        // Measured, drawn, or sizes of MuJoCo's memory.
        const INERT: [&str; 6] = ["size", "statistic", "visual", "custom", "sensor", "asset"];
        const READ: [&str; 10] = [
            "compiler",
            "option",
            "default",
            "worldbody",
            "contact",
            "equality",
            "tendon",
            "actuator",
            "keyframe",
            "other:",
        ];
        for section in &root.children {
            let tag = section.tag.as_str();
            if INERT.contains(&tag) || READ.contains(&tag) {
                continue;
            }
            match tag {
                "deformable" => {
                    for element in section.children.iter().filter(|child| child.tag != "skin") {
                        self.remarks.add(element, "", "is not followed, and left out");
                    }
                }
                "extension" => self.remarks.add(section, "", "plugins are not followed"),
                _ => self.remarks.add(section, "", "is not known here, and ignored"),
            }
        }
    }
}
