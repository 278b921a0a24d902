//! `keyframe` elements: states by name.

use super::orientation::unit;
use super::reader::Reader;
use crate::Error;
use crate::assemble::Description;
use crate::formats::pose::wxyz;
use crate::formats::xml::{Element, Unfollowed};
use crate::model::{JointKind, Keyframe};

const UNFOLLOWED: [Unfollowed; 3] = [
    Unfollowed { name: "act", neutral: "0", instead: "is not followed: actuators have no state" },
    Unfollowed { name: "mpos", neutral: "", instead: "is not followed: bodies stay" },
    Unfollowed { name: "mquat", neutral: "", instead: "is not followed: bodies stay" },
];

/// Reads all keys. `actuators` says which actuators of the file are followed.
pub(super) fn read(
    reader: &mut Reader,
    root: &Element,
    actuators: &[bool],
    description: &mut Description,
) -> Result<(), Error> {
    let joints = description.bodies.iter().map(|body| body.joint.kind);
    let nq = joints.clone().map(JointKind::nq).sum();
    let nv = joints.map(JointKind::nv).sum();
    for (index, element) in root.all("keyframe").flat_map(|keys| keys.all("key")).enumerate() {
        let followed = ["name", "qpos", "qvel", "ctrl"];
        element.remark_on_others(&followed, &["time"], &UNFOLLOWED, &mut reader.remarks);
        let list = |name: &str, count: usize| match element.list(name)? {
            Some(numbers) if numbers.len() != count => {
                let message = format!("must be {count} numbers, found {}", numbers.len());
                Err(element.error(name, message))
            }
            numbers => Ok(numbers),
        };
        let mut q = list("qpos", nq)?;
        if let Some(q) = &mut q {
            normalize(q, description)
                .ok_or_else(|| element.error("qpos", "has a quaternion that is zero"))?;
        }
        let controls = list("ctrl", actuators.len())?;
        let controls = controls.map(|all| {
            let followed = all.into_iter().zip(actuators).filter(|&(_, &followed)| followed);
            followed.map(|(control, _)| control).collect()
        });
        let name = element.get("name").map(str::to_string);
        description.keyframes.push(Keyframe {
            name: name.unwrap_or_else(|| format!("key{index}")),
            q,
            v: list("qvel", nv)?,
            controls,
        });
    }
    Ok(())
}

/// Makes unit quaternions of those in a configuration.
fn normalize(q: &mut [f64], description: &Description) -> Option<()> {
    let mut at = 0;
    for body in &description.bodies {
        let kind = body.joint.kind;
        let start = match kind {
            JointKind::Free => Some(at + 3),
            JointKind::Ball => Some(at),
            _ => None,
        };
        if let Some(start) = start {
            let numbers = q.get_mut(start..start + 4)?;
            let found = unit([numbers[0], numbers[1], numbers[2], numbers[3]])?;
            numbers.copy_from_slice(&wxyz(&found));
        }
        at += kind.nq();
    }
    Some(())
}
