//! Poses, masses and inertias of MJCF models against MuJoCo's, see `tests/reference/mjcf`.

use std::collections::HashMap;

use nalgebra::{Isometry3, Quaternion, Translation3, Unit, UnitQuaternion, Vector3};
use serde_json::Value;

use super::{assert_near, body, read};
use stiction::assemble::Description;
use stiction::model::JointKind;

const ANSWERS: &str = include_str!("../reference/mjcf/answers.json");
const MODELS: [(&str, &str); 2] = [
    ("kinds.xml", include_str!("models/kinds.xml")),
    ("classes.xml", include_str!("models/classes.xml")),
];

/// MuJoCo keeps the points of meshes in single precision.
const SINGLE: f64 = 1e-6;

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
}

fn rotation(q: &[f64]) -> UnitQuaternion<f64> {
    UnitQuaternion::new_normalize(Quaternion::new(q[0], q[1], q[2], q[3]))
}

/// Where all bodies are: R = R0 Rj(q), p = p0 + R0 (a + d) - R a.
fn poses(description: &Description, q: &[f64]) -> HashMap<String, Isometry3<f64>> {
    let mut poses = HashMap::new();
    let mut at = 0;
    for body in &description.bodies {
        let joint = &body.joint;
        let own = &q[at..at + joint.kind.nq()];
        at += joint.kind.nq();
        let (p0, r0) = (Vector3::from(joint.position), rotation(&joint.orientation));
        let (anchor, axis) = (Vector3::from(joint.anchor), Vector3::from(joint.axis));
        let (turn, slide) = match joint.kind {
            JointKind::Free => {
                let pose = Isometry3::from_parts(
                    Translation3::new(own[0], own[1], own[2]),
                    rotation(&own[3..]),
                );
                poses.insert(body.name.clone(), pose);
                continue;
            }
            JointKind::Fixed => (UnitQuaternion::identity(), Vector3::zeros()),
            JointKind::Ball => (rotation(own), Vector3::zeros()),
            JointKind::Revolute => {
                let axis = Unit::new_normalize(axis);
                (UnitQuaternion::from_axis_angle(&axis, own[0]), Vector3::zeros())
            }
            JointKind::Prismatic => (UnitQuaternion::identity(), axis * own[0]),
            JointKind::Helical { .. } => panic!("MJCF has no screws"),
        };
        let turned = r0 * turn;
        let position = p0 + r0 * (anchor + slide) - turned * anchor;
        let pose = Isometry3::from_parts(position.into(), turned);
        let parent = body.parent.as_ref().map_or(Isometry3::identity(), |parent| poses[parent]);
        poses.insert(body.name.clone(), parent * pose);
    }
    assert_eq!(at, q.len());
    poses
}

#[test]
fn poses_masses_and_inertias_are_mujocos() {
    let answers: Value = serde_json::from_str(ANSWERS).unwrap();
    for (name, text) in MODELS {
        let description = read(text);
        let answer = &answers[name];
        let poses = poses(&description, &numbers(&answer["q"]));
        for expected in answer["bodies"].as_array().unwrap() {
            let name = expected["name"].as_str().unwrap();
            let found = body(&description, name);
            let pose = poses[name];
            assert_near(pose.translation.vector.as_slice(), &numbers(&expected["position"]), 1e-12);
            let turn = rotation(&numbers(&expected["orientation"]));
            assert!(pose.rotation.angle_to(&turn) < 1e-7, "{name}");
            let mass = expected["mass"].as_f64().unwrap();
            assert_near(&[found.mass / mass], &[1.0], SINGLE);
            assert_near(&found.center_of_mass, &numbers(&expected["center_of_mass"]), SINGLE);
            let inertia = numbers(&expected["inertia"]);
            let size = inertia[..3].iter().copied().fold(1e-12, f64::max);
            let relative = |six: &[f64]| six.iter().map(|x| x / size).collect::<Vec<_>>();
            assert_near(&relative(&found.inertia), &relative(&inertia), SINGLE);
        }
    }
}

#[test]
fn scenes_start_where_mujoco_starts() {
    let answers: Value = serde_json::from_str(ANSWERS).unwrap();
    for (name, text) in MODELS {
        let scene = read(text).scene().unwrap();
        assert_near(&scene.state.q, &numbers(&answers[name]["q0"]), 1e-12);
    }
}
