//! The distance between a simulation and a recording.

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use super::{Dataset, Experiment, InitialState, Noise, RobustLoss, Window};
use crate::ad::Real;
use crate::model::{Joint, JointKind, Model, Parameters, System};
use crate::simulation::{Recorded, Rollout, StepReport, Trajectory};
use crate::spatial::{conjugate, log, product};
use crate::state::{Coordinates, State};

/// What residuals are made of besides parameters and initial state.
#[derive(Clone, Copy)]
pub struct Measurement<'a> {
    /// Bodies and contact pairs.
    pub model: &'a Model,
    /// Recordings.
    pub dataset: &'a Dataset,
    /// Weights.
    pub noise: &'a Noise,
    /// Weights of the joints that have their own, by body.
    pub joint_noise: &'a BTreeMap<usize, Noise>,
    /// How residuals count, if not by half their square.
    pub robust: Option<RobustLoss>,
    /// Applied wrenches, six numbers a body.
    pub wrenches: &'a [f64],
    /// Whether the first frame counts: it does where the state there is fitted.
    pub initial_state: InitialState,
}

/// Appends the residuals of a window, simulated from `initial` under `parameters`: for each frame
/// and free body position (3, in the world) and rotation vector from recorded to simulated (3, body
/// frame), of other joints their coordinates, then velocities where they have a weight; each over its
/// standard deviation. What is not recorded is left out. With Huber's loss, half their square is that loss.
///
/// Returns how the contact problems were solved.
pub fn residuals<T: Real>(
    measurement: &Measurement,
    window: &Window,
    parameters: &Parameters<T>,
    initial: &State<T>,
    residuals: &mut Vec<T>,
) -> StepReport {
    let dataset = measurement.dataset;
    let system = System { model: measurement.model, parameters, settings: &dataset.settings };
    let wrenches: Vec<T> = measurement.wrenches.iter().map(|&u| T::constant(u)).collect();
    let Trajectory { states: recorded, recorded: known, .. } =
        &dataset.trajectories[window.trajectory];
    let mut rollout = Rollout::new(system, initial.clone());
    if measurement.initial_state == InitialState::Fitted {
        compare(measurement, &rollout.state, &recorded[window.first], known, residuals);
    }
    for there in recorded.iter().skip(window.first + 1).take(window.steps) {
        rollout.advance(dataset.substeps, &wrenches);
        compare(measurement, &rollout.state, there, known, residuals);
    }
    rollout.report
}

impl<'a> Measurement<'a> {
    /// What an experiment compares with its recordings.
    pub fn new(experiment: &'a Experiment, dataset: &'a Dataset) -> Self {
        Measurement {
            model: &experiment.scene.model,
            dataset,
            noise: &experiment.noise,
            joint_noise: &experiment.joint_noise,
            robust: experiment.robust,
            wrenches: &experiment.scene.wrenches,
            initial_state: experiment.initial_state,
        }
    }

    /// Residuals that belong together as they count.
    fn settle<T: Real>(&self, residuals: &mut [T]) {
        if let Some(robust) = self.robust {
            robust.apply(residuals);
        }
    }

    /// All joints that move, with how they move and their weights.
    fn joints(&self) -> impl Iterator<Item = (&Joint, Coordinates, &Noise)> {
        self.model.bodies.iter().enumerate().filter_map(|(index, body)| {
            let noise = self.joint_noise.get(&index).unwrap_or(self.noise);
            Some((&body.joint, body.joint.kind.coordinates()?, noise))
        })
    }
}

/// Which numbers of a joint count as positions, and which as angles.
struct Weights {
    /// How many of its velocities, and of the numbers of its configuration, are along positions.
    linear: usize,
    /// How many numbers of its configuration do not belong to a quaternion.
    plain: usize,
}

impl Weights {
    fn of(joint: &Joint, coordinates: Coordinates) -> Weights {
        // A slide counts as a position, a hinge as an angle.
        let slides = usize::from(joint.kind == JointKind::Prismatic);
        match coordinates.quaternion() {
            Some((plain, turns)) => Weights { linear: turns, plain },
            None => Weights { linear: slides, plain: 1 },
        }
    }

    fn configuration(&self, k: usize, noise: &Noise) -> f64 {
        if k < self.linear { noise.position } else { noise.rotation }
    }

    fn velocity(&self, k: usize, noise: &Noise) -> Option<f64> {
        if k < self.linear { noise.velocity } else { noise.angular_velocity }
    }
}

fn compare<T: Real>(
    measurement: &Measurement,
    simulated: &State<T>,
    recorded: &State<f64>,
    known: &Recorded,
    residuals: &mut Vec<T>,
) {
    for (joint, coordinates, noise) in measurement.joints() {
        let weights = Weights::of(joint, coordinates);
        let &Joint { kind, q, v, .. } = joint;
        let begin = residuals.len();
        for k in (0..weights.plain).filter(|k| known.q[q + k]) {
            let away = simulated.q[q + k] - recorded.q[q + k];
            let away = away - whole_turns(joint, away.value());
            residuals.push(away / weights.configuration(k, noise));
        }
        measurement.settle(&mut residuals[begin..]);
        if let Some((first, _)) = coordinates.quaternion()
            && known.q[q + first]
        {
            let [w, x, y, z] = [0, 1, 2, 3].map(|k| q + first + k);
            let from = conjugate([w, x, y, z].map(|k| recorded.q[k])).map(T::constant);
            let turn = log(product(from, [w, x, y, z].map(|k| simulated.q[k])));
            let begin = residuals.len();
            residuals.extend(turn.iter().map(|&x| x / noise.rotation));
            measurement.settle(&mut residuals[begin..]);
        }
        for part in [0..weights.linear, weights.linear..kind.nv()] {
            let begin = residuals.len();
            for k in part.filter(|&k| known.knows_velocity(joint, k)) {
                let Some(sd) = weights.velocity(k, noise) else { continue };
                residuals.push((simulated.v[v + k] - recorded.v[v + k]) / sd);
            }
            measurement.settle(&mut residuals[begin..]);
        }
    }
}

/// How many residuals a frame of a trajectory has.
pub(super) fn residuals_per_frame(measurement: &Measurement, known: &Recorded) -> usize {
    let of = |(joint, coordinates, noise): (&Joint, Coordinates, &Noise)| {
        let weights = Weights::of(joint, coordinates);
        (0..coordinates.nv())
            .map(|k| {
                let velocity = weights.velocity(k, noise).is_some();
                usize::from(known.knows_configuration(joint, k))
                    + usize::from(velocity && known.knows_velocity(joint, k))
            })
            .sum::<usize>()
    };
    measurement.joints().map(of).sum()
}

/// The turns, rad, by which the angle of a hinge can be off and the bodies be where they should; none of a
/// joint that is stopped by limits before it comes round.
pub(super) fn whole_turns(joint: &Joint, angle: f64) -> f64 {
    match joint.kind == JointKind::Revolute && !joint.limited && angle.is_finite() {
        true => TAU * (angle / TAU).round(),
        false => 0.0,
    }
}
