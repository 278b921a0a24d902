//! `visual` elements: what is seen. What is wrong with looks is no reason not to read a robot: it is left out.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::origin::origin;
use super::package;
use crate::Error;
use crate::formats::pose::wxyz;
use crate::formats::xml::{Element, Remarks};
use crate::model::{Color, Shape, Visual, VisualForm};

/// Colours by the names of materials.
pub(super) type Colors = HashMap<String, Color>;

/// The colours of all materials, wherever in the file they are told: elsewhere they are named alone.
pub(super) fn colors(root: &Element) -> Colors {
    let mut colors = Colors::new();
    let visuals = root.all("link").flat_map(|link| link.all("visual"));
    for material in root.all("material").chain(visuals.flat_map(|v| v.all("material"))) {
        if let (Some(name), Some(color)) = (material.get("name"), own_color(material)) {
            colors.entry(name.to_string()).or_insert(color);
        }
    }
    colors
}

fn own_color(material: &Element) -> Option<Color> {
    let color: Color = material.child("color")?.numbers("rgba").ok()??;
    Some(color.map(|part| part.clamp(0.0, 1.0)))
}

/// What is seen by an element; files are looked for from `directory` on, and read by whoever draws them.
pub(super) fn read(
    element: &Element,
    directory: &Path,
    colors: &Colors,
    remarks: &mut Remarks,
) -> Result<Option<Visual>, Error> {
    let form = element.child("geometry").and_then(|geometry| geometry.children.first());
    let Some(form) = form.and_then(|form| read_form(form, directory)) else {
        remarks.add(element, "geometry", "is not a shape here: it is not seen");
        return Ok(None);
    };
    let pose = origin(element)?;
    let material = element.child("material");
    let named = |material: &Element| colors.get(material.get("name")?).copied();
    let color = material.and_then(|material| own_color(material).or_else(|| named(material)));
    let visual = Visual {
        form,
        position: pose.translation.vector.into(),
        orientation: wxyz(&pose.rotation),
        color,
    };
    Ok(Some(visual).filter(|_| color.is_none_or(|color| color[3] > 0.0)))
}

fn read_form(form: &Element, directory: &Path) -> Option<VisualForm> {
    let size = |name: &str| form.number(name).ok()?.filter(|&x| x > 0.0);
    let solid = |shape, size| Some(VisualForm::Solid(shape, size));
    match form.tag.as_str() {
        "box" => {
            let size: [f64; 3] = form.numbers("size").ok()??;
            let size = Some(size).filter(|size| size.iter().all(|&x| x > 0.0))?;
            solid(Shape::Box, size.map(|x| x / 2.0))
        }
        "sphere" => solid(Shape::Sphere, [size("radius")?, 0.0, 0.0]),
        "cylinder" => solid(Shape::Cylinder, [size("radius")?, size("length")? / 2.0, 0.0]),
        "capsule" => solid(Shape::Capsule, [size("radius")?, size("length")? / 2.0, 0.0]),
        "mesh" => {
            let scale: [f64; 3] = form.numbers("scale").ok()?.unwrap_or([1.0; 3]);
            let file = form.get("filename")?;
            // One that is not there is missed by who wants to see it.
            let path = package::find(file, directory).ok()?;
            let path = path.unwrap_or_else(|| match file.contains("://") {
                true => PathBuf::from(file),
                false => directory.join(file),
            });
            Some(VisualForm::File { path, scale }).filter(|_| !scale.contains(&0.0))
        }
        _ => None,
    }
}
