//! `link` elements.

use nalgebra::Matrix3;

use super::collision::Shapes;
use super::link_friction::Friction;
use super::origin::origin;
use super::visual::{self, Colors};
use crate::Error;
use crate::assemble::ColliderDescription;
use crate::formats::mass_properties::MassProperties;
use crate::formats::xml::{Element, Remarks};
use crate::model::Visual;

/// A link.
pub(super) struct Link<'a> {
    pub element: &'a Element,
    pub mass: MassProperties,
    pub colliders: Vec<ColliderDescription>,
    pub visuals: Vec<Visual>,
}

impl<'a> Link<'a> {
    /// Reads a link.
    pub fn read(
        element: &'a Element,
        shapes: &mut Shapes,
        (colors, gazebo): (&Colors, &[&Element]),
        remarks: &mut Remarks,
    ) -> Result<Link<'a>, Error> {
        element.remark_on_others(&["name"], &["type"], &[], remarks);
        let mut colliders = Vec::new();
        let mut visuals = Vec::new();
        let mut friction = Friction::default();
        for child in &element.children {
            match child.tag.as_str() {
                "inertial" | "sensor" | "verbose" => {}
                "visual" => {
                    visuals.extend(visual::read(child, shapes.directory(), colors, remarks)?)
                }
                "collision" => colliders.extend(shapes.read(child, remarks)?),
                "contact" => friction.read(child, remarks)?,
                _ => remarks.add(child, "", "is not known here, and ignored"),
            }
        }
        match colliders.as_mut_slice() {
            // The only one has the name of its body.
            [collider] => collider.name = String::new(),
            colliders => {
                for (k, collider) in colliders.iter_mut().enumerate() {
                    collider.name = k.to_string();
                }
            }
        }
        gazebo.iter().try_for_each(|gazebo| friction.read_gazebo(gazebo))?;
        let stated = friction.stated();
        if stated.mu == Some(0.0) && stated.spinning.is_some_and(|spinning| spinning > 0.0) {
            let message =
                "is not followed without lateral friction: what does not rub twists nothing";
            remarks.add(element, "spinning_friction", message);
        }
        colliders.iter_mut().for_each(|collider| collider.on_ground = stated);
        let mass = element.child("inertial").map(mass_of).transpose()?;
        let mass = mass.unwrap_or_else(MassProperties::zero);
        Ok(Link { element, mass, colliders, visuals })
    }
}

fn mass_of(element: &Element) -> Result<MassProperties, Error> {
    let mass = match element.child("mass") {
        Some(mass) => mass.amount("value")?.ok_or_else(|| mass.error("value", "is missing"))?,
        None => return Err(element.error("mass", "is missing")),
    };
    let Some(inertia) = element.child("inertia") else {
        return Err(element.error("inertia", "is missing"));
    };
    let mut six = [0.0; 6];
    for (slot, name) in six.iter_mut().zip(["ixx", "iyy", "izz", "ixy", "ixz", "iyz"]) {
        // The first three must be there.
        *slot = match inertia.number(name)? {
            Some(number) => number,
            None if name.as_bytes()[1] == name.as_bytes()[2] => {
                return Err(inertia.error(name, "is missing"));
            }
            None => 0.0,
        };
    }
    let [xx, yy, zz, xy, xz, yz] = six;
    let inertia = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
    let properties = MassProperties { inertia, mass, ..MassProperties::zero() };
    Ok(properties.moved(&origin(element)?))
}
