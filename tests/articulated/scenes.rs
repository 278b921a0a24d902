//! The shared MJCF scenes.

use nalgebra::Vector3;
use stiction::assemble::Description;
use stiction::formats::LoadOptions;
use stiction::model::Scene;

use super::rollout;
use crate::cases;
use crate::shared::shared;

fn load(name: &str) -> Option<Scene> {
    let path = shared(&format!("reference/scenes/{name}.xml"))?;
    let scene = Description::load(path, LoadOptions::default()).unwrap().scene().unwrap();
    assert!(scene.warnings.is_empty(), "{:?}", scene.warnings);
    Some(scene)
}

/// For one by default.
#[test]
fn stacks_stand_for_ten_seconds() {
    for name in ["tower10", "pyramid10"] {
        let Some(scene) = load(name) else { return };
        assert_eq!(scene.model.bodies.len(), 10);
        let mut rollout = rollout(&scene);
        rollout.advance(cases::count(5000, 0.1), &scene.inputs);
        assert_eq!(rollout.report.unsolved, 0, "{name}: {:?}", rollout.report);
        for body in 0..10 {
            let drift = (rollout.state.position(body) - scene.state.position(body)).norm();
            let speed = rollout.state.velocity(body).norm();
            assert!(drift < 1e-6 && speed < 1e-9, "{name} {body}: {drift} m, {speed} m/s");
        }
    }
}

#[test]
fn a_quadruped_stands_under_joint_control() {
    let Some(mut scene) = load("quad12") else { return };
    scene.start_at("k", "quad12").unwrap();
    let home = scene.state.clone();
    let (nv, nu) = (scene.model.nv(), scene.model.nu());
    assert_eq!((nv, nu), (18, 12));
    let mut rollout = rollout(&scene);
    let mut inputs = vec![0.0; nv + nu];
    for step in 0..30_000 {
        if step == 5000 {
            assert!(rollout.state.v.iter().all(|v| v.abs() < 1e-3), "{:?}", rollout.state.v);
        }
        for k in 0..nu {
            inputs[nv + k] =
                100.0 * (home.q[7 + k] - rollout.state.q[7 + k]) - 2.0 * rollout.state.v[6 + k];
        }
        rollout.step(&inputs);
    }
    assert_eq!(rollout.report.unsolved, 0, "{:?}", rollout.report);
    let from =
        |state: &stiction::state::State<f64>| Vector3::new(state.q[0], state.q[1], state.q[2]);
    let (start, end) = (from(&home), from(&rollout.state));
    // It sinks until its joints carry it, rolls back a little on its round feet, ever more slowly, and
    // stands still after a minute (so it does in MuJoCo: 1.8e-4 after 10 s, 3e-6 after 40 s).
    assert!((end - start).norm() < 0.1 && end.z > 0.3, "{start} {end}");
    assert!(rollout.state.v.iter().all(|v| v.abs() < 1e-6), "{:?}", rollout.state.v);
    let feet: Vec<_> = rollout.workspace.contacts().filter(|c| c.impulse[0] > 0.0).collect();
    assert_eq!(feet.len(), 4);
    // They carry its weight.
    let carried: f64 = feet.iter().map(|c| c.impulse[0]).sum();
    let mass: f64 =
        (0..scene.model.bodies.len()).map(|body| scene.parameters.mass(&scene.model, body)).sum();
    let weight = mass * 9.81 * 0.002;
    assert!((carried - weight).abs() < 1e-6 * weight, "{carried} {weight}");
}
