//! How far whole rollouts from the recorded first frame are from the recordings.

use super::initial_state::recorded;
use super::problem::parallel;
use super::{Dataset, Experiment};
use crate::model::{Parameters, System};
use crate::simulation::{Rollout, StepReport};
use crate::spatial::{conjugate, log, product};

/// The error of one trajectory, over bodies and time (the first frame included).
#[derive(Clone, Debug, PartialEq)]
pub struct TrajectoryError {
    /// Where it comes from.
    pub name: String,
    /// Recorded frames.
    pub frames: usize,
    /// Mean distance in % of the experiment's length scale.
    pub position_error_percent: f64,
    /// Mean angle, degrees.
    pub rotation_error_deg: f64,
    /// How its contact problems were solved.
    pub report: StepReport,
}

/// Errors of all trajectories.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// One a trajectory, in order.
    pub trajectories: Vec<TrajectoryError>,
    /// Mean over trajectories.
    pub position_error_percent: f64,
    /// Mean over trajectories.
    pub rotation_error_deg: f64,
}

/// Simulates every trajectory from its first recorded frame to its end and measures the distance.
pub fn evaluate(
    experiment: &Experiment,
    dataset: &Dataset,
    parameters: &Parameters<f64>,
    threads: usize,
) -> Evaluation {
    let trajectories = parallel(threads, dataset.trajectories.len(), |k| {
        let trajectory = &dataset.trajectories[k];
        let system =
            System { model: &experiment.scene.model, parameters, settings: &dataset.settings };
        let start = recorded(experiment, &dataset.settings, trajectory, 0);
        let mut rollout = Rollout::new(system, start);
        let (mut distance, mut angle) = (0.0, 0.0);
        for (frame, there) in trajectory.states.iter().enumerate() {
            if frame > 0 {
                rollout.advance(dataset.substeps, &experiment.scene.wrenches);
            }
            for body in 0..there.bodies() {
                distance += (rollout.state.position(body) - there.position(body)).norm();
                let from = conjugate(there.orientation(body));
                angle += log(product(from, rollout.state.orientation(body))).norm();
            }
        }
        let count = (trajectory.states.len() * experiment.scene.model.bodies.len()) as f64;
        TrajectoryError {
            name: trajectory.name.clone(),
            frames: trajectory.states.len(),
            position_error_percent: 100.0 * distance / count / experiment.length_scale,
            rotation_error_deg: (angle / count).to_degrees(),
            report: rollout.report,
        }
    });
    let count = trajectories.len().max(1) as f64;
    Evaluation {
        position_error_percent: trajectories.iter().map(|t| t.position_error_percent).sum::<f64>()
            / count,
        rotation_error_deg: trajectories.iter().map(|t| t.rotation_error_deg).sum::<f64>() / count,
        trajectories,
    }
}
