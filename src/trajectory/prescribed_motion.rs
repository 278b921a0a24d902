//! Bodies whose velocity is prescribed, moved along poses that were recorded.

use nalgebra::Vector3;

use super::Trajectory;
use super::signal::{Between, Signal};
use crate::model::Joint;
use crate::spatial::{conjugate, log, product};
use crate::state::{NQ, NV};

/// The velocities that lead a body from pose to pose (`px, py, pz, qw, qx, qy, qz`) in straight and even motion, as steps with
/// q+ = q (+) dt v+ go: of the origin in the world, m/s, and angular in the body, rad/s, each over time (s). It stands still from
/// `begin` to the first pose, and after the last. Nothing if there is no pose.
pub(super) fn velocities_between(
    begin: f64,
    poses: impl IntoIterator<Item = (f64, [f64; NQ])>,
) -> Option<[Signal; NV]> {
    let mut poses: Vec<(f64, [f64; NQ])> = poses.into_iter().collect();
    let &(first, pose) = poses.first()?;
    if first > begin {
        poses.insert(0, (begin, pose));
    }
    let mut known: [Vec<(f64, f64)>; NV] = Default::default();
    for (k, (time, from)) in poses.iter().enumerate() {
        let velocity = match poses.get(k + 1) {
            Some((later, to)) => {
                let turn = |q: &[f64; NQ]| [q[3], q[4], q[5], q[6]];
                let way = Vector3::from_fn(|i, _| to[i] - from[i]);
                let turned = log(product(conjugate(turn(from)), turn(to)));
                let duration = later - time;
                std::array::from_fn(|i| if i < 3 { way[i] } else { turned[i - 3] } / duration)
            }
            None => [0.0; NV],
        };
        known.iter_mut().zip(velocity).for_each(|(known, v)| known.push((*time, v)));
    }
    let signals: Vec<Signal> =
        known.into_iter().filter_map(|known| Signal::new(known, Between::Held)).collect();
    signals.try_into().ok()
}

impl Trajectory {
    /// The velocities, each by its place, that lead a body with a prescribed velocity along what was recorded of its pose; between frames
    /// at which it was. `clock`: the time of a frame, s.
    pub(crate) fn velocities_of_led(
        &self,
        joint: &Joint,
        clock: impl Fn(usize) -> f64,
    ) -> Vec<(usize, Signal)> {
        let places = joint.q..joint.q + NQ;
        let whole = |frame: usize| {
            let known = self.recorded.at(frame);
            !places.clone().any(|q| known.misses_configuration(q))
        };
        let pose = |frame: usize| {
            let pose = self.states[frame].q[places.clone()].try_into().ok()?;
            Some((clock(frame), pose))
        };
        let frames = (0..self.states.len()).filter(|&frame| whole(frame));
        let begin = if self.states.is_empty() { 0.0 } else { clock(0) };
        let Some(velocities) = velocities_between(begin, frames.filter_map(pose)) else {
            return Vec::new();
        };
        let known = velocities.into_iter().enumerate();
        let known = known.filter(|&(k, _)| self.recorded.knows_configuration(joint, k));
        known.map(|(k, signal)| (joint.v + k, signal)).collect()
    }
}
