//! Trees of joints in f64, from a state: `dynamics/<arm7|quad12>/<kinematics|aba|rnea|crba|factor>`,
//! `.../aba_derivatives` (all Jacobians of the accelerations) and `.../rnea_derivatives`.

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::Value;
use stiction::assemble::{BodyDescription, Description, JointDescription};
use stiction::dynamics::{
    Aba, Crba, ForwardDynamicsDerivatives, InverseDynamicsDerivatives, Kinematics, MassFactor,
    MassMatrix, Rnea, forward_dynamics, forward_dynamics_derivatives, inverse_dynamics,
    inverse_dynamics_derivatives, mass_matrix,
};
use stiction::model::{JointKind, Scene, Settings};
use stiction::state::State;

fn numbers<const N: usize>(value: &Value) -> [f64; N] {
    std::array::from_fn(|k| value[k].as_f64().expect("a number"))
}

/// A model of `tests/reference/dynamics`, in its first state.
fn scene(name: &str) -> Scene {
    let path = format!("../tests/reference/dynamics/{name}.json");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let text = std::fs::read_to_string(path).expect("a reference file");
    let file: Value = serde_json::from_str(&text).expect("JSON");
    let mut description = Description::new(name, Settings::new(0.002));
    for value in file["model"]["bodies"].as_array().expect("bodies") {
        let joint = &value["joint"];
        let kind = match joint["kind"].as_str() {
            Some("free") => JointKind::Free,
            Some("revolute") => JointKind::Revolute,
            _ => JointKind::Fixed,
        };
        description.bodies.push(BodyDescription {
            line: None,
            name: value["name"].as_str().expect("a name").to_string(),
            parent: value["parent"].as_str().map(str::to_string),
            joint: JointDescription {
                axis: numbers(&joint["axis"]),
                position: numbers(&joint["position"]),
                orientation: numbers(&joint["orientation"]),
                anchor: numbers(&joint["anchor"]),
                armature: joint["armature"].as_f64().expect("a number"),
                ..JointDescription::new(kind)
            },
            mass: value["mass"].as_f64().expect("a number"),
            center_of_mass: numbers(&value["center_of_mass"]),
            inertia: numbers(&value["inertia"]),
            colliders: Vec::new(),
            visuals: Vec::new(),
            force: [0.0; 3],
            torque: [0.0; 3],
            drag: None,
        });
    }
    let mut scene = description.scene().expect("a scene");
    let answers = &file["states"][0];
    let all = |value: &Value| -> Vec<f64> {
        value.as_array().map_or(Vec::new(), |x| x.iter().filter_map(Value::as_f64).collect())
    };
    scene.state = State { q: all(&answers["q"]), v: all(&answers["v"]) };
    scene
}

fn trees(c: &mut Criterion) {
    let mut group = c.benchmark_group("dynamics");
    for name in ["arm7", "quad12"] {
        let Scene { model, parameters, state, .. } = scene(name);
        let n = model.nv();
        let (given, mut out) = (vec![0.5; n], vec![0.0; n]);
        let mut kinematics = Kinematics::default();
        let (mut aba, mut rnea, mut crba) = (Aba::default(), Rnea::default(), Crba::default());
        let (mut matrix, mut factor) = (MassMatrix::default(), MassFactor::default());
        let mut inverse = InverseDynamicsDerivatives::default();
        let mut forward = ForwardDynamicsDerivatives::default();
        group.bench_function(format!("{name}/kinematics"), |b| {
            b.iter(|| kinematics.update(&model, &parameters, black_box(&state)));
        });
        group.bench_function(format!("{name}/aba"), |b| {
            b.iter(|| {
                kinematics.update(&model, &parameters, black_box(&state));
                let (k, f) = (&kinematics, &given);
                forward_dynamics(&model, &parameters, k, f, None, &mut aba, &mut out)
            });
        });
        group.bench_function(format!("{name}/rnea"), |b| {
            b.iter(|| {
                kinematics.update(&model, &parameters, black_box(&state));
                let k = &kinematics;
                inverse_dynamics(&model, &parameters, k, &given, &mut rnea, &mut out);
            });
        });
        group.bench_function(format!("{name}/crba"), |b| {
            b.iter(|| {
                kinematics.update(&model, &parameters, black_box(&state));
                mass_matrix(&model, &parameters, &kinematics, &mut crba, &mut matrix);
            });
        });
        group.bench_function(format!("{name}/factor"), |b| {
            b.iter(|| factor.factor(black_box(&matrix), None));
        });
        group.bench_function(format!("{name}/rnea_derivatives"), |b| {
            b.iter(|| {
                kinematics.update(&model, &parameters, black_box(&state));
                let k = &kinematics;
                inverse_dynamics_derivatives(&model, &parameters, k, &given, &mut inverse);
            });
        });
        group.bench_function(format!("{name}/aba_derivatives"), |b| {
            b.iter(|| {
                kinematics.update(&model, &parameters, black_box(&state));
                let (k, a) = (&kinematics, &given);
                forward_dynamics_derivatives(&model, &parameters, k, a, None, &mut forward)
            });
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .without_plots()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2));
    targets = trees
}
criterion_main!(benches);
