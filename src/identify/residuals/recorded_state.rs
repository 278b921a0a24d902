//! The recorded state at a frame, as a simulation starts from it.

use crate::collision::Detection;
use crate::dynamics::FreeMotion;
use crate::identify::data::Dataset;
use crate::identify::experiment::Experiment;
use crate::model::{Integrator, Settings, System};
use crate::simulation::{StepMemory, Workspace, step};
use crate::state::State;

/// The recorded state. Of what nothing touches, the velocities are moved from the time they belong to,
/// `velocity_lag` before the frame, to the time those of the integrator belong to. That is half a step
/// before the frame: with q+ = q + dt v+ a parabola is followed exactly by velocities at half steps.
pub(crate) fn recorded(
    experiment: &Experiment,
    dataset: &Dataset,
    (index, frame): (usize, usize),
) -> State<f64> {
    let trajectory = &dataset.trajectories[index];
    let mut state = trajectory.states[frame].clone();
    let Dataset { settings, velocity_lag, .. } = dataset;
    if *velocity_lag == 0.0 {
        return state;
    }
    // Whether something is in flight is a question about the whole lag.
    let lag = Settings { time_step: velocity_lag.abs(), ..*settings };
    let scene = &experiment.scene;
    let model = &scene.model;
    let system = System { settings: &lag, ..scene.system() };
    let mut inputs = scene.inputs.clone();
    let time = dataset.clock(index, frame) - velocity_lag.max(0.0);
    dataset.drive(index, &scene.parameters, (time, lag.time_step), &mut inputs);
    model.schedule(time, lag.time_step, &mut inputs);
    let touched = touched(&system, &state, &inputs);
    if touched.iter().all(|&touched| touched) {
        return state;
    }
    let mut after = state.clone();
    let (mut memory, mut workspace) = (StepMemory::default(), Workspace::default());
    step(&system, &state, &inputs, &mut memory, &mut workspace, &mut after);
    for (tree, _) in model.trees.iter().zip(touched).filter(|(_, touched)| !touched) {
        let second_order = matches!(settings.integrator, Integrator::RungeKutta | Integrator::Bdf2);
        let at_frames = second_order && !tree.lone;
        let own = if at_frames { 0.0 } else { 0.5 * settings.time_step };
        let late = (velocity_lag - own) / lag.time_step;
        for joint in tree.bodies.iter().map(|&body| &model.bodies[body].joint) {
            for k in (0..joint.kind.nv()).filter(|&k| trajectory.recorded.knows_velocity(joint, k))
            {
                let k = joint.v + k;
                let change = (after.v[k] - state.v[k]) * late;
                if change.is_finite() {
                    state.v[k] += change;
                }
            }
        }
    }
    state
}

/// Whether contact is near each tree within the time step of the settings.
pub(super) fn touched(system: &System<f64>, state: &State<f64>, inputs: &[f64]) -> Vec<bool> {
    let mut motion = FreeMotion::default();
    motion.start(system, state, inputs, system.settings.time_step);
    let mut points = Vec::new();
    Detection::default().points(system, &motion, &mut points);
    let mut touched = vec![false; system.model.trees.len()];
    for tree in points.iter().filter(|p| p.near).flat_map(|p| p.trees(&motion)).flatten() {
        touched[tree] = true;
    }
    touched
}
