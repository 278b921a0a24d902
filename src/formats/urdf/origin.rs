//! Where an element stands.

use nalgebra::{Isometry3, UnitQuaternion};

use crate::Error;
use crate::formats::pose::{isometry, wxyz};
use crate::formats::xml::Element;

/// The pose that an `origin` in an element gives.
pub(super) fn origin(element: &Element) -> Result<Isometry3<f64>, Error> {
    let Some(origin) = element.child("origin") else { return Ok(Default::default()) };
    let position = origin.numbers("xyz")?.unwrap_or([0.0; 3]);
    let [roll, pitch, yaw] = origin.numbers("rpy")?.unwrap_or([0.0; 3]);
    let rotation = UnitQuaternion::from_euler_angles(roll, pitch, yaw);
    Ok(isometry(position, wxyz(&rotation)))
}
