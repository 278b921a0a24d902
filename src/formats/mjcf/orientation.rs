//! Poses: a position, and an orientation in one of five ways.

use nalgebra::{Isometry3, Quaternion, Rotation3, Translation3, Unit, UnitQuaternion, Vector3};

use super::compiler::Compiler;
use super::defaults::Given;
use crate::Error;
use crate::formats::xml::Element;

/// The attributes that say where something is.
pub(super) const POSE: [&str; 6] = ["pos", "quat", "axisangle", "xyaxes", "zaxis", "euler"];

/// Lengths below this are 0, as in MuJoCo.
const SHORT: f64 = 1e-14;

/// The pose of an element without defaults.
pub(super) fn pose(element: &Element, compiler: &Compiler) -> Result<Isometry3<f64>, Error> {
    let position = element.numbers("pos")?.unwrap_or([0.0; 3]);
    let rotation = orientation(element, compiler)?.unwrap_or_default();
    Ok(Isometry3::from_parts(Translation3::from(position), rotation))
}

/// The pose of an element, or of its defaults.
pub(super) fn given_pose(given: &Given, compiler: &Compiler) -> Result<Isometry3<f64>, Error> {
    let position = given.at("pos").numbers("pos")?.unwrap_or([0.0; 3]);
    let mut rotation = UnitQuaternion::identity();
    for layer in &given.layers {
        if let Some(found) = orientation(layer, compiler)? {
            rotation = found;
            break;
        }
    }
    Ok(Isometry3::from_parts(Translation3::from(position), rotation))
}

/// The orientation that an element gives, if it does.
pub(super) fn orientation(
    element: &Element,
    compiler: &Compiler,
) -> Result<Option<UnitQuaternion<f64>>, Error> {
    let mut given = POSE[1..].iter().filter(|name| element.get(name).is_some());
    let Some(&name) = given.next() else { return Ok(None) };
    if let Some(other) = given.next() {
        let message = format!("and {other} are two orientations of one thing");
        return Err(element.error(name, message));
    }
    let rotation = match name {
        "quat" => {
            let found = element.numbers("quat")?.unwrap_or([1.0, 0.0, 0.0, 0.0]);
            unit(found).ok_or_else(|| element.error("quat", "must not be zero"))?
        }
        "axisangle" => {
            let [x, y, z, angle] = element.numbers("axisangle")?.unwrap_or_default();
            let axis = direction(element, "axisangle", [x, y, z])?;
            UnitQuaternion::from_axis_angle(&axis, compiler.angle(angle))
        }
        "xyaxes" => {
            let [a, b, c, d, e, f] = element.numbers("xyaxes")?.unwrap_or_default();
            let x = direction(element, "xyaxes", [a, b, c])?.into_inner();
            let y = direction(element, "xyaxes", [d, e, f])?.into_inner();
            let y = (y - x * x.dot(&y)).try_normalize(SHORT);
            let y = y.ok_or_else(|| element.error("xyaxes", "must not be parallel"))?;
            let rotation = Rotation3::from_basis_unchecked(&[x, y, x.cross(&y)]);
            UnitQuaternion::from_rotation_matrix(&rotation)
        }
        "zaxis" => {
            let found = element.numbers("zaxis")?.unwrap_or_default();
            from_z(&direction(element, "zaxis", found)?)
        }
        _ => {
            let angles = element.numbers("euler")?.unwrap_or_default();
            euler(angles.map(|angle| compiler.angle(angle)), compiler.euler_sequence)
        }
    };
    Ok(Some(rotation))
}

/// The unit quaternion along w, x, y, z, of any length but 0.
pub(super) fn unit([w, x, y, z]: [f64; 4]) -> Option<UnitQuaternion<f64>> {
    // Scaled first, so that no length overflows.
    let largest = [w, x, y, z].into_iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    if largest < SHORT {
        return None;
    }
    UnitQuaternion::try_new(Quaternion::new(w, x, y, z) / largest, SHORT)
}

/// The unit vector along an attribute's, of any length but 0.
pub(super) fn direction(
    element: &Element,
    name: &str,
    vector: [f64; 3],
) -> Result<Unit<Vector3<f64>>, Error> {
    let vector = Vector3::from(vector);
    let scaled = vector / vector.amax().max(SHORT);
    Unit::try_new(scaled, SHORT).ok_or_else(|| element.error(name, "must not be zero"))
}

/// The least rotation that takes z to a direction.
pub(super) fn from_z(to: &Unit<Vector3<f64>>) -> UnitQuaternion<f64> {
    let across = Vector3::z().cross(to);
    let sine = across.norm();
    let axis = Unit::try_new(across, 1e-10).unwrap_or(Vector3::x_axis());
    UnitQuaternion::from_axis_angle(&axis, sine.atan2(to.z))
}

/// Three rotations one after the other, each about an axis that turns along (small letters) or stays
/// (capital letters).
pub(super) fn euler(angles: [f64; 3], sequence: [u8; 3]) -> UnitQuaternion<f64> {
    let mut rotation = UnitQuaternion::identity();
    for (angle, letter) in angles.into_iter().zip(sequence) {
        let axis = match letter.to_ascii_lowercase() {
            b'x' => Vector3::x_axis(),
            b'y' => Vector3::y_axis(),
            _ => Vector3::z_axis(),
        };
        let next = UnitQuaternion::from_axis_angle(&axis, angle);
        rotation = if letter.is_ascii_lowercase() { rotation * next } else { next * rotation };
    }
    rotation
}
