//! What drives a simulated scene: its own inputs, a file of controls, gains of the motors.

use super::output;
use super::progress::Progress;
use crate::Error;
use crate::argmin::Status;
use crate::model::{Joint, JointKind, Scene, System};
use crate::simulation::{Controls, JointFeedback, Rollout, StepReport};
use crate::state::State;

/// The inputs of each step.
pub(super) struct Drive {
    pub controls: Option<Controls>,
    pub feedback: Option<JointFeedback>,
    /// The inputs of the last step.
    pub inputs: Vec<f64>,
}

impl Drive {
    /// Finds the inputs of a step from a state; before the simulation begins, there is no time and the
    /// controls of the file do not act.
    pub fn update(&mut self, scene: &Scene, time: Option<f64>, state: &State<f64>) {
        self.inputs.clone_from(&scene.wrenches);
        if let (Some(controls), Some(time)) = (&self.controls, time) {
            controls.apply(time, &mut self.inputs);
        }
        if let Some(feedback) = &self.feedback {
            feedback.add(&scene.model, state, &mut self.inputs);
        }
    }
}

/// An error unless the state after a step can be gone on from.
pub(super) fn check_step(
    file: &str,
    (step, time): (usize, f64),
    state: &State<f64>,
    report: &StepReport,
) -> Result<(), Error> {
    let finite = state.q.iter().chain(&state.v).all(|x| x.is_finite());
    if finite && report.worst.status != Status::InvalidInput {
        return Ok(());
    }
    let message = format!(
        "step {step}, to {time} s, does not give finite numbers: a load, a gain or a velocity is too \
         large, a number of the scene too extreme, or something that moves has no mass or an \
         inertia that no solid has; nothing was written"
    );
    Err(Error::input(file, None, "", message))
}

/// The motion that is left after settling.
pub(super) struct Settled {
    pub seconds: f64,
    /// Of the fastest body or slide, m/s.
    pub speed: f64,
    /// Of the fastest turn, rad/s.
    pub angular_speed: f64,
    pub report: StepReport,
}

impl Settled {
    /// In words.
    pub fn sentence(&self) -> String {
        format!(
            "settled for {} s: left are {:.1e} m/s and {:.1e} rad/s",
            self.seconds, self.speed, self.angular_speed
        )
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "seconds": self.seconds,
            "speed": output::number(self.speed),
            "angular_speed": output::number(self.angular_speed),
            "unsolved": self.report.unsolved,
        })
    }
}

/// Simulates a scene for so many steps from rest, and makes where it gets to its start: with the
/// velocities `v`.
pub(super) fn settle(
    file: &str,
    scene: &mut Scene,
    drive: &mut Drive,
    steps: usize,
    v: Vec<f64>,
    mut progress: Progress,
) -> Result<Settled, Error> {
    scene.state.v.fill(0.0);
    let Scene { model, parameters, settings, .. } = &*scene;
    let system = System { model, parameters, settings };
    let mut rollout = Rollout::new(system, scene.state.clone());
    for step in 1..=steps {
        drive.update(scene, None, &rollout.state);
        let report = rollout.step(&drive.inputs);
        let time = step as f64 * settings.time_step;
        check_step(file, (step, time), &rollout.state, &report)?;
        progress.set(step);
    }
    let (mut speed, mut angular_speed) = (0.0_f64, 0.0_f64);
    for &Joint { kind, v, .. } in model.bodies.iter().map(|body| &body.joint) {
        let size = |range: std::ops::Range<usize>| crate::linalg::norm(&rollout.state.v[range]);
        let linear = match kind {
            JointKind::Free => 3,
            JointKind::Prismatic => 1,
            JointKind::Fixed | JointKind::Ball | JointKind::Revolute => 0,
        };
        speed = speed.max(size(v..v + linear));
        angular_speed = angular_speed.max(size(v + linear..v + kind.nv()));
    }
    let report = rollout.report;
    let seconds = steps as f64 * settings.time_step;
    scene.state = State { q: rollout.state.q, v };
    Ok(Settled { seconds, speed, angular_speed, report })
}
