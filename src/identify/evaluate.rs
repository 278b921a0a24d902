//! How far whole rollouts from the recorded first frame are from the recordings.

use super::initial_state::recorded;
use super::problem::parallel;
use super::{Dataset, Experiment};
use crate::linalg::norm;
use crate::model::{Joint, JointKind, Parameters, System};
use crate::simulation::{Rollout, StepReport};

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
            let size = |range: std::ops::Range<usize>| norm(&away[range]);
            for Joint { kind, v, .. } in model.bodies.iter().map(|body| &body.joint) {
                let Some(coordinates) = kind.coordinates() else { continue };
                let slides = usize::from(*kind == JointKind::Prismatic);
                let linear = coordinates.quaternion().map_or(slides, |(_, turns)| turns);
                distance += size(*v..v + linear);
                angle += size(v + linear..v + kind.nv());
            }
        }
        // Each over the joints that have such a coordinate.
        let with = |has: fn(JointKind) -> bool| {
            let joints = model.bodies.iter().filter(|body| has(body.joint.kind)).count();
            (trajectory.states.len() * joints.max(1)) as f64
        };
        let positions = with(|kind| matches!(kind, JointKind::Free | JointKind::Prismatic));
        let angles = with(|kind| !matches!(kind, JointKind::Fixed | JointKind::Prismatic));
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
