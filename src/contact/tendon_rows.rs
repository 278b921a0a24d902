//! Rows of conditions on the lengths of tendons.

use nalgebra::Vector3;

use crate::ad::Real;
use crate::dynamics::{FreeMotion, tendon_line, tendon_sum};
use crate::model::{Model, Parameters, TendonPath};
use crate::state::State;

/// The length of a tendon of up to two trees, `row` <- how it changes with the velocities of the first and then of the second.
pub(super) fn tendon_row<T: Real>(
    model: &Model,
    parameters: &Parameters<T>,
    (motion, state): (&FreeMotion<T>, &State<T>),
    (tendon, trees): (usize, [Option<usize>; 2]),
    row: &mut [T],
) -> T {
    let size = trees[0].map_or(0, |first| model.trees[first].v.len());
    // Where the velocities of a tree begin in the row.
    let from = |tree: usize| if trees[0] == Some(tree) { 0 } else { size };
    match &model.tendons[tendon].path {
        TendonPath::Joints(bodies) => {
            tendon_sum((model, parameters), state, (tendon, bodies), |joint, coefficient| {
                for tree in trees.into_iter().flatten() {
                    let own = &model.trees[tree].v;
                    if own.contains(&joint.v) {
                        row[from(tree) + joint.v - own.start] += coefficient;
                    }
                }
            })
        }
        TendonPath::Points(bodies) => {
            let point = |k: usize| parameters.tendon_point(model, tendon, k);
            let place = |body: usize, local: &Vector3<T>| {
                motion.bodies[body].position + motion.bodies[body].rotation * local
            };
            tendon_line(bodies, point, place, |first, direction| {
                for (end, sign) in [(first, -1.0), (first + 1, 1.0)] {
                    let Some(body) = bodies[end] else { continue };
                    let Some(tree) = model.bodies[body].tree else { continue };
                    let arm = point(end) - motion.bodies[body].center_of_mass;
                    motion.add_row(body, arm, direction, sign, &mut row[from(tree)..]);
                }
            })
        }
    }
}
