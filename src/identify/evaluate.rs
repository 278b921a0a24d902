//! How far whole rollouts from the recorded first frame are from the recordings.

use super::initial_state::recorded;
use super::problem::parallel;
use super::{Dataset, Experiment};
use crate::linalg::norm;
use crate::model::{Joint, JointKind, Parameters, System};
use crate::simulation::{Rollout, StepReport, Trajectory};

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
        let model = &experiment.scene.model;
        let system =
            System { model: &experiment.scene.model, parameters, settings: &dataset.settings };
        let start = recorded(experiment, &dataset.settings, trajectory, 0);
        let mut rollout = Rollout::new(system, start);
        let (mut distance, mut angle) = (0.0, 0.0);
        for (frame, there) in trajectory.states.iter().enumerate() {
            if frame > 0 {
                rollout.advance(dataset.substeps, &experiment.scene.wrenches);
            }
            let away = rollout.state.difference(model.coordinates(), there);
            for joint in model.bodies.iter().map(|body| &body.joint) {
                let [linear, angular] = recorded_directions(trajectory, joint);
                let size = |directions: Vec<usize>| {
                    norm(&directions.iter().map(|&k| away[k]).collect::<Vec<f64>>())
                };
                distance += size(linear);
                angle += size(angular);
            }
        }
        // Each over the joints that have such a coordinate.
        let with = |kind: usize| {
            let joints = model.bodies.iter().map(|body| &body.joint);
            let joints = joints.filter(|j| !recorded_directions(trajectory, j)[kind].is_empty());
            (trajectory.states.len() * joints.count().max(1)) as f64
        };
        let [positions, angles] = [with(0), with(1)];
        TrajectoryError {
            name: trajectory.name.clone(),
            frames: trajectory.states.len(),
            position_error_percent: 100.0 * distance / positions / experiment.length_scale,
            rotation_error_deg: (angle / angles).to_degrees(),
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

/// The directions of a joint in which its configuration is recorded, by their places in the velocity:
/// along which it moves, and about which it turns.
fn recorded_directions(trajectory: &Trajectory, joint: &Joint) -> [Vec<usize>; 2] {
    let slides = usize::from(joint.kind == JointKind::Prismatic);
    let quaternion = joint.kind.coordinates().and_then(|coordinates| coordinates.quaternion());
    let linear = quaternion.map_or(slides, |(_, turns)| turns);
    let recorded =
        (0..joint.kind.nv()).filter(|&k| trajectory.recorded.knows_configuration(joint, k));
    let (moves, turns): (Vec<usize>, Vec<usize>) = recorded.partition(|&k| k < linear);
    [moves, turns].map(|directions| directions.into_iter().map(|k| joint.v + k).collect())
}
