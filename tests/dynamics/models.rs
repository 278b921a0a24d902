//! Random trees with joints of every kind, and models of the reference files.

use std::path::Path;

use serde_json::Value;
use stiction::assemble::{BodyDescription, Description, JointDescription};
use stiction::model::{JointKind, Scene, Settings};
use stiction::state::State;

use crate::random::Random;

/// A body without shape and mass.
pub fn body(name: &str, parent: Option<&str>, joint: JointDescription) -> BodyDescription {
    BodyDescription {
        line: None,
        name: name.to_string(),
        parent: parent.map(str::to_string),
        joint,
        mass: 0.0,
        center_of_mass: [0.0; 3],
        inertia: [0.0; 6],
        colliders: Vec::new(),
        visuals: Vec::new(),
        force: [0.0; 3],
        torque: [0.0; 3],
        drag: None,
    }
}

pub fn scene_of(bodies: Vec<BodyDescription>) -> Scene {
    let mut description = Description::new("tree", Settings::new(0.01));
    description.bodies = bodies;
    description.gravity = [0.7, -0.4, -9.0];
    description.scene().unwrap()
}

fn quaternion(random: &mut Random) -> [f64; 4] {
    let q: [f64; 4] = random.vector(1.0);
    let norm = q.iter().map(|x| x * x).sum::<f64>().sqrt();
    q.map(|x| x / norm)
}

/// A random body that there can be: four point masses.
pub fn give_mass(body: &mut BodyDescription, random: &mut Random) {
    let points: [([f64; 3], f64); 4] =
        std::array::from_fn(|_| (random.vector(0.4), random.uniform(0.2, 1.0)));
    body.mass = points.iter().map(|p| p.1).sum();
    for (x, m) in &points {
        for (center, x) in body.center_of_mass.iter_mut().zip(x) {
            *center += m * x / body.mass;
        }
    }
    for (x, m) in points {
        let [x, y, z]: [f64; 3] = std::array::from_fn(|k| x[k] - body.center_of_mass[k]);
        let added = [y * y + z * z, x * x + z * z, x * x + y * y, -x * y, -x * z, -y * z];
        for (inertia, added) in body.inertia.iter_mut().zip(added) {
            *inertia += m * added;
        }
    }
}

/// `bodies` bodies in several trees, with joints of every kind anywhere, some fixed to the world, some
/// without mass, and a random state.
pub fn tree(seed: u64, bodies: usize) -> Scene {
    tree_that_turns(seed, bodies, JointKind::Revolute)
}

/// The same with screws for hinges.
pub fn screws(seed: u64, bodies: usize) -> Scene {
    tree_that_turns(seed, bodies, JointKind::Helical { pitch: 0.3 })
}

fn tree_that_turns(seed: u64, bodies: usize, turning: JointKind) -> Scene {
    use JointKind::{Ball, Fixed, Free, Prismatic};
    let mut random = Random(seed);
    let pick = |n: usize, random: &mut Random| (random.bits() % n as u64) as usize;
    let mut described: Vec<BodyDescription> = Vec::new();
    let names: Vec<String> = (0..bodies).map(|k| format!("b{k}")).collect();
    for k in 0..bodies {
        let parent =
            if k == 0 || pick(5, &mut random) == 0 { None } else { Some(pick(k, &mut random)) };
        let kinds = [turning, Prismatic, Ball, Fixed, turning, Free];
        let kind = kinds[pick(if parent.is_none() { 6 } else { 5 }, &mut random)];
        let mut joint = JointDescription::new(kind);
        joint.axis = match pick(3, &mut random) {
            0 => [0.0, 1.0, 0.0],
            1 => [0.0, 0.0, -1.0],
            _ => random.vector(1.0),
        };
        joint.position = random.vector(0.5);
        if pick(3, &mut random) > 0 {
            joint.orientation = quaternion(&mut random);
        }
        if pick(2, &mut random) > 0 && kind != Free {
            joint.anchor = random.vector(0.3);
        }
        if pick(3, &mut random) == 0 && kind != Fixed {
            joint.armature = random.uniform(0.01, 0.2);
        }
        let parent = parent.map(|p| names[p].as_str());
        let mut body = body(&names[k], parent, joint);
        give_mass(&mut body, &mut random);
        described.push(body);
    }
    // A body that is not the last may go without mass; below it is one with mass that turns freely.
    for k in 0..bodies {
        let child = described.iter().position(|b| b.parent.as_deref() == Some(&names[k]));
        let kind = described[k].joint.kind;
        let moving = kind.has_axis();
        if moving && pick(4, &mut random) == 0 {
            let Some(child) = child else { continue };
            if described[child].joint.kind == Fixed {
                described[k].mass = 0.0;
                described[k].inertia = [0.0; 6];
            }
        }
    }
    let mut scene = scene_of(described);
    scene.state = random_state(&scene, &mut random);
    scene
}

/// The start of a scene, moved at random.
pub fn random_state(scene: &Scene, random: &mut Random) -> State<f64> {
    let n = scene.model.nv();
    let tangent: Vec<f64> = (0..2 * n).map(|_| random.uniform(-1.5, 1.5)).collect();
    scene.state.moved(scene.model.coordinates(), &tangent)
}

pub fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(values) => values.iter().flat_map(numbers).collect(),
        _ => vec![value.as_f64().unwrap()],
    }
}

fn array<const N: usize>(value: &Value) -> [f64; N] {
    numbers(value).try_into().unwrap()
}

pub fn file(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The scene of a reference file's model.
pub fn described(model: &Value) -> Scene {
    let mut description = Description::new("reference", Settings::new(0.002));
    description.gravity = array(&model["gravity"]);
    for value in model["bodies"].as_array().unwrap() {
        let joint = &value["joint"];
        let kinds = ["fixed", "free", "ball", "revolute", "prismatic"];
        let kind = kinds.iter().position(|kind| joint["kind"] == **kind).unwrap();
        let kind = [
            JointKind::Fixed,
            JointKind::Free,
            JointKind::Ball,
            JointKind::Revolute,
            JointKind::Prismatic,
        ][kind];
        let joint = JointDescription {
            axis: array(&joint["axis"]),
            position: array(&joint["position"]),
            orientation: array(&joint["orientation"]),
            anchor: array(&joint["anchor"]),
            armature: joint["armature"].as_f64().unwrap(),
            ..JointDescription::new(kind)
        };
        let mut body = body(value["name"].as_str().unwrap(), value["parent"].as_str(), joint);
        body.mass = value["mass"].as_f64().unwrap();
        body.center_of_mass = array(&value["center_of_mass"]);
        body.inertia = array(&value["inertia"]);
        description.bodies.push(body);
    }
    description.scene().unwrap()
}
