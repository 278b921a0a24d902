//! What was added to show where a shape, a joint and a format of files go: see `docs/extending.md`.

mod lead_screw;
mod ply;
mod wedge;

use stiction::model::Scene;
use stiction::simulation::Rollout;
use stiction::verify::{Gradcheck, StepProgram};

use crate::scenes::after;

/// Differentiates the step after so many others in every way.
fn check_gradients(scene: &Scene, steps: usize) {
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    rollout.advance(steps, &scene.inputs);
    let (state, memory) = (&rollout.state, &rollout.memory);
    let program = StepProgram::new(scene.system(), state, &scene.inputs, memory, 1);
    let found = Gradcheck::of(&program).unwrap();
    assert!(found.passed() && found.report.unsolved == 0, "after {steps} steps: {found:?}");
}
