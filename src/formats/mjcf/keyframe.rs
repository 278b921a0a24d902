//! `keyframe` elements: states by name.

use super::orientation::unit;
use super::reader::Reader;
use crate::Error;
use crate::assemble::Description;
use crate::formats::pose::wxyz;
use crate::formats::xml::{Element, Unfollowed};
use crate::model::{JointKind, Keyframe};

const UNFOLLOWED: [Unfollowed; 1] =
    [Unfollowed { name: "act", neutral: "0", instead: "is not followed: actuators have no state" }];

/// Reads all keys. `actuators` says which actuators of the file are followed.
pub(super) fn read(
    reader: &mut Reader,
    root: &Element,
    actuators: &[bool],
    description: &mut Description,
) -> Result<(), Error> {
    let joints = description.bodies.iter().map(|body| &body.joint);
    // Numbers of mocap bodies stand elsewhere.
    let own = joints.clone().filter(|joint| !joint.prescribed).map(|joint| joint.kind);
    let nq = own.clone().map(JointKind::nq).sum();
    let nv = own.map(JointKind::nv).sum();
    let mocap = joints.filter(|joint| joint.prescribed).count();
    let all_led = mocap == root.all("worldbody").map(mocap_bodies).sum::<usize>();
    for (index, element) in root.all("keyframe").flat_map(|keys| keys.all("key")).enumerate() {
        let followed = ["name", "qpos", "qvel", "ctrl", "mpos", "mquat"];
        element.remark_on_others(&followed, &["time"], &UNFOLLOWED, &mut reader.remarks);
        let list = |name: &str, count: usize| match element.list(name)? {
            Some(numbers) if numbers.len() != count => {
                let message = format!("must be {count} numbers, found {}", numbers.len());
                Err(element.error(name, message))
            }
            numbers => Ok(numbers),
        };
        let moved = match all_led {
            true => [list("mpos", 3 * mocap)?, list("mquat", 4 * mocap)?],
            false => {
                for name in ["mpos", "mquat"].into_iter().filter(|name| element.get(name).is_some())
                {
                    let message = "is not followed, as some mocap bodies are not: they stay where the file puts them";
                    reader.remarks.add(element, name, message);
                }
                [None, None]
            }
        };
        let mut q = list("qpos", nq)?;
        if mocap > 0 && (q.is_some() || moved.iter().any(Option::is_some)) {
            q = Some(with_mocap(q, &moved, description));
        }
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
            v: list("qvel", nv)?.map(|v| with_still_mocap(&v, description)),
            controls,
        });
    }
    Ok(())
}

/// How many bodies of an element are mocap ones.
fn mocap_bodies(element: &Element) -> usize {
    let own = usize::from(element.get("mocap") == Some("true"));
    own + element.children.iter().map(mocap_bodies).sum::<usize>()
}

/// A configuration with the poses of mocap bodies, those of the start where a key does not give them; of joints without `qpos` the start.
fn with_mocap(
    q: Option<Vec<f64>>,
    [mpos, mquat]: &[Option<Vec<f64>>; 2],
    description: &Description,
) -> Vec<f64> {
    let mut own = q.as_deref();
    let mut all = Vec::new();
    let mut led = 0;
    for joint in description.bodies.iter().map(|body| &body.joint) {
        let nq = joint.kind.nq();
        if !joint.prescribed
            && let Some(numbers) = own
        {
            let (first, rest) = numbers.split_at(nq);
            all.extend_from_slice(first);
            own = Some(rest);
            continue;
        }
        let place = |given: &Option<Vec<f64>>, count: usize, start: &[f64]| match given {
            Some(given) if joint.prescribed => given[count * led..count * (led + 1)].to_vec(),
            _ => start.to_vec(),
        };
        match joint.kind {
            JointKind::Free => {
                all.extend(place(mpos, 3, &joint.position));
                all.extend(place(mquat, 4, &joint.orientation));
                led += usize::from(joint.prescribed);
            }
            JointKind::Ball if joint.q.is_empty() => all.extend([1.0, 0.0, 0.0, 0.0]),
            _ => all.extend(joint.q.iter().copied().chain(std::iter::repeat(0.0)).take(nq)),
        }
    }
    all
}

/// Velocities with those of mocap bodies, which stand still.
fn with_still_mocap(v: &[f64], description: &Description) -> Vec<f64> {
    let mut own = v.iter().copied();
    let mut all = Vec::new();
    for joint in description.bodies.iter().map(|body| &body.joint) {
        let nv = joint.kind.nv();
        match joint.prescribed {
            true => all.resize(all.len() + nv, 0.0),
            false => all.extend(own.by_ref().take(nv)),
        }
    }
    all
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
