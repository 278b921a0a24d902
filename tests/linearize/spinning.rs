//! Bodies that turn by many radians in a step: rolling needles, and a box that spins about no axis of its own.

use stiction::model::Scene;
use stiction::simulation::Rollout;
use stiction::verify::{Gradcheck, StepProgram};

use super::adjoint;
use super::scenes::compare;
use crate::scenes::{on_floor, scene};

fn spinning(body: &str) -> Scene {
    scene(&on_floor(&format!(
        "[simulation]
         time_step = 0.01
         tolerance = 1e-12
         [[contact]]
         mu = 0.4
         restitution = 0.2
         [[body]]
         name = 'body'
         mass = 0.1
         velocity = [0.5, 0.2, 0]
         {body}"
    )))
}

/// 10 rad a step, which friction takes up: along the ground, and on one end.
fn scenes() -> [Scene; 3] {
    [
        "shape = { capsule = [0.002, 0.2] }
         position = [0, 0, 0.0021]
         orientation = [0.70710678, 0, 0.70710678, 0]
         angular_velocity = [0.3, 0.2, 1000]",
        "shape = { capsule = [0.002, 0.2] }
         position = [0, 0, 0.0621]
         orientation = [0.8, 0, 0.6, 0]
         angular_velocity = [2, 5, 1000]",
        "shape = { box = [0.03, 0.04, 0.06] }
         inertia = [2e-4, 1.6e-4, 1e-4, 1e-5, -2e-5, 1e-5]
         center_of_mass = [0.01, -0.005, 0.01]
         position = [0, 0, 0.1]
         angular_velocity = [150, 300, 100]",
    ]
    .map(spinning)
}

#[test]
fn spinning_bodies_are_differentiated_alike_in_all_ways() {
    for (k, scene) in scenes().iter().enumerate() {
        let (compared, _) = compare(scene, 30);
        assert!(compared > 20, "scene {k}: {compared}");
        let tally = adjoint::compare("spinning", scene, 30, 0.01);
        assert!(tally.structured > 20 && tally.touching > 3, "scene {k}: {tally:?}");
        let mut rollout = Rollout::new(scene.system(), scene.state.clone());
        let (mut passed, mut turned) = (0, 0.0_f64);
        for _ in 0..10 {
            let (state, memory) = (&rollout.state, &rollout.memory);
            let program = StepProgram::new(scene.system(), state, &scene.inputs, memory, 1);
            let check = Gradcheck::of(&program).unwrap();
            assert!(check.passed(), "scene {k}: {:?}", check.rows);
            passed += usize::from(2 * check.skipped_at_kinks() <= check.cases());
            turned = turned.max(state.angular_velocity(0).norm() * 0.01);
            rollout.step(&scene.inputs);
        }
        assert!(passed > 5 && turned > 3.0, "scene {k}: {passed}, {turned} rad a step");
    }
}
