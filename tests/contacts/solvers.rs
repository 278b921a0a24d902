//! What the selectable solvers do differently, in closed form.

use approx::assert_relative_eq;
use stiction::ad::{Dual, LANES, Real};
use stiction::argmin::Mode;
use stiction::contact::ContactRecord;
use stiction::model::{ContactSolver, Scene, StaggeredDerivative};
use stiction::simulation::{Rollout, StepMemory};
use stiction::state::State;

use super::{G, final_state, on_floor, rollout};

const DT: f64 = 0.01;
const MU: f64 = 0.3;

/// A cube of 1 kg that slides at `speed` in the direction `angle`.
fn sliding(solver: ContactSolver, speed: f64, angle: f64) -> Scene {
    let (sin, cos) = angle.sin_cos();
    let mut scene = on_floor(
        &format!("time_step = {DT:?}\ncompliance = 0"),
        &format!(
            "[[body]]
             name = 'cube'
             mass = 1
             shape = {{ box = [0.05, 0.05, 0.05] }}
             position = [0, 0, 0.05]
             velocity = [{:?}, {:?}, 0]
             [[contact]]
             mu = {MU:?}",
            speed * cos,
            speed * sin
        ),
    );
    scene.settings.solver = solver;
    scene
}

/// Velocity lost in a step, and the velocity after it.
fn lost(scene: &Scene) -> (f64, nalgebra::Vector3<f64>) {
    let mut rollout = rollout(scene);
    let report = rollout.step(&scene.inputs);
    assert!(report.worst.status.is_solved(), "{report:?}");
    let after = rollout.state.velocity(0);
    ((scene.state.velocity(0) - after).xy().norm(), after)
}

// [LeLidec21] Fig. 5: a pyramid brakes sqrt 2 times as hard at 45 degrees, the cone alike everywhere.
#[test]
fn a_pyramid_depends_on_direction_and_the_cone_does_not() {
    for degrees in [0.0_f64, 10.0, 30.0, 45.0, 60.0, 80.0, 135.0, 200.0] {
        let angle = degrees.to_radians();
        let (cone, _) = lost(&sliding(ContactSolver::Coupled, 1.0, angle));
        assert_relative_eq!(cone, MU * G * DT, max_relative = 1e-9);
        let (pyramid, _) = lost(&sliding(ContactSolver::Pyramid, 1.0, angle));
        // Both axes brake by mu g as soon as there is any motion along them.
        let both = if degrees == 0.0 { 1.0 } else { 2.0_f64.sqrt() };
        assert_relative_eq!(pyramid, both * MU * G * DT, max_relative = 1e-9);
    }
}

// The relaxation separates a sliding contact by mu times its slip.
#[test]
fn the_relaxation_lifts_what_slides_and_holds_what_sticks() {
    let (_, after) = lost(&sliding(ContactSolver::ConvexRelaxation, 1.0, 0.4));
    assert_relative_eq!(after.z, MU * after.xy().norm(), max_relative = 1e-9);
    assert!(after.z > 0.2);
    // The pyramid's by mu times that along each tangent.
    let (_, after) = lost(&sliding(ContactSolver::ConvexPyramid, 1.0, 0.4));
    assert_relative_eq!(after.z, MU * (after.x.abs() + after.y.abs()), max_relative = 1e-9);
    let (exact, after) = lost(&sliding(ContactSolver::Coupled, 1.0, 0.4));
    assert!(after.z.abs() < 1e-10);
    assert!(exact > 0.0);
    // Sticking, it is the exact law.
    for solver in
        [ContactSolver::ConvexRelaxation, ContactSolver::ConvexPyramid, ContactSolver::Coupled]
    {
        let (_, after) = lost(&sliding(solver, 0.01, 0.4));
        assert!(after.norm() < 1e-12, "{solver:?}: {after}");
    }
}

#[test]
fn gauss_seidel_finds_what_newton_finds() {
    for (speed, angle) in [(1.0, 0.3), (0.02, 1.0), (0.5, 2.0)] {
        let mut scenes = [ContactSolver::Coupled, ContactSolver::GaussSeidel]
            .map(|solver| sliding(solver, speed, angle));
        for scene in &mut scenes {
            // Sweeps are slow at sharing impulses that only a small compliance decides.
            scene.settings.compliance = 1e-3;
            scene.state.v[5] = 3.0;
        }
        let [coupled, sweeps] = scenes.each_ref().map(|scene| {
            let mut rollout = rollout(scene);
            for _ in 0..20 {
                let report = rollout.step(&scene.inputs);
                assert!(report.worst.status.is_solved(), "{:?}: {report:?}", scene.settings.solver);
            }
            rollout.state
        });
        for (a, b) in coupled.v.iter().zip(&sweeps.v) {
            assert!((a - b).abs() < 1e-7, "{a} {b}");
        }
    }
    // It says that it has no derivatives where they are asked for.
    let error = ContactSolver::GaussSeidel.demand_derivatives("slide.toml").unwrap_err();
    assert!(error.to_string().contains("coupled"), "{error}");
    let scene = sliding(ContactSolver::GaussSeidel, 1.0, 0.3);
    let start = State {
        q: scene.state.q.iter().map(|&x| Dual::<f64, LANES>::variable(x, 0)).collect(),
        v: scene.state.v.iter().map(|&x| Dual::constant(x)).collect(),
    };
    let state = final_state(&scene, &scene.parameters.cast(), start, 1);
    assert!(state.v[0].tangent[0].is_nan(), "a derivative that is none must not look like one");
}

/// dv/dmu after one step from the impulses in `memory`, which it replaces.
fn by_mu(scene: &Scene, memory: &mut StepMemory<f64>) -> Vec<f64> {
    let mut parameters = scene.parameters.cast::<Dual<f64, LANES>>();
    let slot = scene.model.parameter("floor-cube/mu").unwrap().slots[0];
    parameters.values[slot] = Dual::variable(parameters.values[slot].value, 0);
    let system = scene.system_with(&parameters);
    let mut rollout = Rollout::new(system, scene.state.cast());
    rollout.memory = memory.cast();
    let report = rollout.step(&[Dual::constant(0.0); 6]);
    assert!(report.worst.status.is_solved(), "{report:?}");
    *memory = rollout.memory.value();
    rollout.state.v.iter().map(|v| v.tangent[0]).collect()
}

// Landing on an edge. The implicit derivative is that of the law wherever the impulses are; the unrolled one
// is that of the passes, which agrees once they have forgotten where they started, and not before.
#[test]
fn the_implicit_derivative_of_staggered_projections_is_that_of_the_law() {
    let landing = |solver| {
        let mut scene = sliding(solver, 0.0, 0.0);
        scene.settings.compliance = 1e-6;
        scene.state.q[2] = 0.0708;
        scene.state.q[3..].copy_from_slice(&[0.92387953, 0.0, 0.38268343, 0.0]);
        scene.state.v.copy_from_slice(&[0.3, 0.5, -1.0, 0.1, 0.2, -0.3]);
        scene
    };
    let size = |x: &[f64]| x.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
    let mut converged = StepMemory::default();
    let right = by_mu(&landing(ContactSolver::Coupled), &mut converged);
    assert!(size(&right) > 0.1);
    let off = |n_step, derivative, start: &StepMemory<f64>| {
        let scene = landing(ContactSolver::Staggered { n_step, derivative });
        let found = by_mu(&scene, &mut start.clone());
        let apart: Vec<f64> = found.iter().zip(&right).map(|(a, b)| a - b).collect();
        size(&apart) / size(&right)
    };
    let (implicit, unrolled) = (StaggeredDerivative::Implicit, StaggeredDerivative::Unrolled);
    let nothing = StepMemory::default();
    assert!(off(60, implicit, &nothing) < 1e-7);
    assert!(off(60, unrolled, &nothing) < 1e-7);
    // One pass from the right impulses returns them.
    assert!(off(1, implicit, &converged) < 1e-7);
    assert!(off(1, unrolled, &converged) > 0.2);
}

#[test]
fn a_pyramid_reports_the_axis_it_slides_along() {
    let scene = sliding(ContactSolver::Pyramid, 1.0, 0.0);
    let mut rollout = rollout(&scene);
    rollout.step(&scene.inputs);
    let records: Vec<&ContactRecord> = rollout.workspace.contacts().collect();
    assert_eq!(records.iter().filter(|r| r.mode == Mode::Slide).count(), 4);
    for record in records.iter().filter(|r| r.mode == Mode::Slide) {
        let [normal, along, across] = record.impulse;
        assert_relative_eq!(along, -MU * normal, max_relative = 1e-9);
        assert!(across.abs() < 1e-12);
    }
}
