//! Bodies whose velocity is prescribed, moved along poses that were recorded.

use nalgebra::Vector3;

use super::signal::{Between, Signal};
use crate::spatial::{conjugate, log, product};
use crate::state::{NQ, NV};

/// The velocities that lead a body from pose to pose (`px, py, pz, qw, qx, qy, qz`) in straight and even motion, as steps with
/// q+ = q (+) dt v+ go: of the origin in the world, m/s, and angular in the body, rad/s, each over time (s); after the last pose it
/// stands still. Nothing if there is no pose.
pub(crate) fn velocities_between(
    poses: impl IntoIterator<Item = (f64, [f64; NQ])>,
) -> Option<[Signal; NV]> {
    let poses: Vec<(f64, [f64; NQ])> = poses.into_iter().collect();
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
