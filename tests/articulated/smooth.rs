//! Smooth motion against `MuJoCo`, with matched integrators.

use std::ops::Range;
use std::path::Path;

use serde_json::Value;
use stiction::assemble::Description;
use stiction::formats::LoadOptions;
use stiction::model::{Integrator, Scene, Tree};

use super::rollout;

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/smooth")
}

fn answers(name: &str) -> Value {
    let text = std::fs::read_to_string(folder().join(format!("{name}.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn scene(answers: &Value) -> Scene {
    let model = folder().join(answers["model"].as_str().unwrap());
    Description::load(model, LoadOptions::default()).unwrap().scene().unwrap()
}

#[test]
fn a_hundred_steps_agree_with_mujoco() {
    let mut worst: f64 = 0.0;
    for name in
        ["arm7", "arm7_damped", "arm7_servo", "tree_free", "tree_several", "tree_fixed", "planar"]
    {
        let answers = answers(name);
        let mut scene = scene(&answers);
        let nv = scene.model.nv();
        for run in answers["runs"].as_array().unwrap() {
            scene.settings.integrator = match run["integrator"].as_str().unwrap() {
                "Euler" => Integrator::SemiImplicit,
                "implicit" => Integrator::Implicit,
                "implicitfast" => Integrator::ImplicitFast,
                "RK4" => Integrator::RungeKutta,
                other => panic!("{other} is not known"),
            };
            let [q, v] = ["q", "v"].map(|of| run[of].as_array().unwrap());
            scene.state.q = numbers(&q[0]);
            scene.state.v = numbers(&v[0]);
            // A lone free body keeps its energy and momentum, which MuJoCo's does not to 1e-9.
            let trees = scene.model.trees.iter().filter(|tree| !tree.lone);
            let compared = |all: &[f64], range: fn(&Tree) -> Range<usize>| -> Vec<f64> {
                trees.clone().flat_map(|tree| all[range(tree)].to_vec()).collect()
            };
            let both = |q: &[f64], v: &[f64]| {
                [compared(q, |tree| tree.q.clone()), compared(v, |tree| tree.v.clone())].concat()
            };
            let controls = answers["controls"].as_array().unwrap();
            let mut rollout = rollout(&scene);
            for step in 0..100 {
                let mut inputs = numbers(&answers["applied"]);
                inputs.extend(controls.get(step).map(numbers).unwrap_or_default());
                assert_eq!(inputs.len(), nv + scene.model.nu());
                rollout.step(&inputs);
                if (step + 1) % 10 == 0 {
                    let row = (step + 1) / 10;
                    let expected = both(&numbers(&q[row]), &numbers(&v[row]));
                    let found = both(&rollout.state.q, &rollout.state.v);
                    for (found, expected) in found.iter().zip(&expected) {
                        let error = (found - expected).abs() / expected.abs().max(1.0);
                        assert!(error < 1e-9, "{name} {}, step {step}: {error}", run["integrator"]);
                        worst = worst.max(error);
                    }
                }
            }
            assert_eq!(rollout.report.unsolved, 0);
        }
    }
    assert!(worst > 0.0, "nothing was compared");
}

#[test]
fn the_energy_error_of_arm7_falls_with_the_order_of_its_integrator() {
    use stiction::dynamics::Kinematics;
    let mut scene = scene(&answers("arm7"));
    scene.start_at("k", "arm7").ok();
    let mut error = |integrator: Integrator, time_step: f64| {
        scene.settings.integrator = integrator;
        scene.settings.time_step = time_step;
        let energy = |state: &_| {
            let kinematics = Kinematics::new(&scene.model, &scene.parameters, state);
            kinematics.kinetic_energy() + kinematics.potential_energy(&scene.parameters)
        };
        let mut rollout = rollout(&scene);
        let still = vec![0.0; scene.model.nv() + scene.model.nu()];
        rollout.advance((0.5 / time_step).round() as usize, &still);
        (energy(&rollout.state) - energy(&scene.state)).abs()
    };
    for (integrator, order, time_step) in
        [(Integrator::SemiImplicit, 1, 1e-3), (Integrator::RungeKutta, 4, 4e-3)]
    {
        let coarse = error(integrator, time_step);
        let fine = error(integrator, 0.5 * time_step);
        let ratio = coarse / fine;
        let expected = 2.0_f64.powi(order);
        assert!((0.75 * expected..1.5 * expected).contains(&ratio), "{integrator:?}: {ratio}");
    }
}
