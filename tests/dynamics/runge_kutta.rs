//! Against MuJoCo: `tests/reference/smooth`.

use std::path::Path;

use stiction::dynamics::{RungeKutta, runge_kutta};
use stiction::state::State;

use super::assert_close;
use super::models::{described, file, numbers};

/// Damping and armature of the joint of a body in a file of MuJoCo.
fn joint_numbers(text: &str, body: &str) -> (f64, f64) {
    let joint = text.lines().find(|line| line.contains(&format!("joint name=\"{body}\" type")));
    let number = |name: &str| {
        let value = joint?.split_once(&format!(" {name}=\""))?.1.split('"').next()?;
        value.parse::<f64>().ok()
    };
    (number("damping").unwrap_or(0.0), number("armature").unwrap_or(0.0))
}

#[test]
fn trajectories_of_mujoco() {
    for (smooth, tree) in
        [("tree_free", "tree05"), ("tree_fixed", "tree10"), ("tree_several", "tree06")]
    {
        let file_of = file(&format!("smooth/{smooth}.json"));
        let scene = described(&file(&format!("dynamics/{tree}.json"))["model"]);
        let (model, mut parameters) = (&scene.model, scene.parameters.clone());
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/smooth");
        let path = folder.join(file_of["model"].as_str().unwrap());
        let text = std::fs::read_to_string(path).unwrap();
        let mut damping = vec![0.0; model.nv()];
        for (index, body) in model.bodies.iter().enumerate() {
            let (damped, armature) = joint_numbers(&text, &body.name);
            if let Some(slots) = model.joint_slots(index) {
                parameters.values[slots.armature] = armature;
            }
            damping[body.joint.v..body.joint.v + body.joint.kind.nv()].fill(damped);
        }
        let applied = numbers(&file_of["applied"]);
        let run = &file_of["runs"][3];
        assert_eq!(run["integrator"], "RK4");
        let rows = |what: &str| -> Vec<Vec<f64>> {
            run[what].as_array().unwrap().iter().map(numbers).collect()
        };
        let (q, v) = (rows("q"), rows("v"));
        let mut state = State { q: q[0].clone(), v: v[0].clone() };
        let (mut scratch, mut next) = (RungeKutta::default(), State::default());
        let every = file_of["every"].as_u64().unwrap() as usize;
        let dt = file_of["time_step"].as_f64().unwrap();
        for row in 1..q.len() {
            for _ in 0..every {
                let forces = |state: &State<f64>, forces: &mut [f64]| {
                    for (k, force) in forces.iter_mut().enumerate() {
                        *force = applied[k] - damping[k] * state.v[k];
                    }
                };
                runge_kutta(model, &parameters, &state, dt, forces, &mut scratch, &mut next)
                    .unwrap();
                std::mem::swap(&mut state, &mut next);
            }
            assert_close(&state.q, &q[row], 1e-9, &format!("{smooth} q of row {row}"));
            assert_close(&state.v, &v[row], 1e-9, &format!("{smooth} v of row {row}"));
        }
    }
}
