//! Closed loops backwards: from the adjoints of the conditions of an equality to those of its bodies and of its numbers.

use nalgebra::Vector3;

use super::body_adjoint::{BodyAdjoints, END, HELD, MOMENTA, SHARES, add_twist};
use super::parts::{Adjoints, IslandAdjoint};
use crate::contact::Twist;
use crate::linearize::equality_geometry::{EqualityGeometry, weld_rates};
use crate::linearize::point_frame::PointFrame;
use crate::model::{EqualityKind, System};
use crate::spatial::Force;

/// Rows of the equality that has the most.
const ROWS: usize = 6;

/// Adds what an equality says, the first row of which is that of `block`. False if it has no derivative.
#[must_use]
pub(super) fn add_equality(
    of: &IslandAdjoint,
    equality: usize,
    block: usize,
    bodies: &mut BodyAdjoints,
    adjoints: &mut Adjoints,
) -> bool {
    let System { model, .. } = *of.system;
    let kind = model.equalities[equality].kind;
    // That is by the tape.
    if model.equalities[equality].yields || kind == EqualityKind::Hinge {
        return false;
    }
    let (node, inputs, outputs, _) = of.problem.solved();
    let first = node.rows.blocks()[block].first;
    let row = |numbers: &[f64], first: usize| -> [f64; ROWS] {
        std::array::from_fn(|r| match r < kind.rows() {
            true => numbers.get(first + r).copied().unwrap_or(0.0),
            false => 0.0,
        })
    };
    let mut weights = [[0.0; ROWS]; HELD];
    weights[END] = row(&of.conditions.rows, first);
    weights[MOMENTA] = row(&outputs[node.rows.velocities()..], first);
    if !of.preimage.is_empty() {
        weights[SHARES] = row(&of.conditions.rotations, first);
    }
    // What is open counts where loops are closed.
    let opens = match of.closes {
        true => row(&of.conditions.offsets, block),
        false => [0.0; ROWS],
    };
    if kind == EqualityKind::Joint {
        add_joints(of, equality, weights.map(|weights| weights[0]), opens[0], adjoints);
        return true;
    }
    let Some(geometry) = EqualityGeometry::new(of.system, of.motion, equality) else {
        return false;
    };
    let point = &geometry.point;
    let rotations = point.bodies.map(|body| body.map(|body| &of.motion.bodies[body].rotation));
    let frame = PointFrame::new(point, rotations);
    let mut motions = [[Twist::default(); 3]; 2];
    for (side, sign) in [(0, -1.0), (1, 1.0)] {
        let Some(body) = point.bodies[side] else { continue };
        bodies.touch(of, body);
        let felt = bodies.of(body);
        for (which, [a, b, c, turns @ ..]) in weights.into_iter().enumerate() {
            felt.forces[which] += frame.pull(side, [a, b, c]);
            felt.forces[which].angular += Vector3::from(turns) * sign;
            for (sum, weight) in motions[side].iter_mut().zip([a, b, c]) {
                add_twist(sum, weight, &felt.held[which]);
            }
        }
    }
    let gradient = frame.adjoint(point, rotations, &motions);
    // Of the way from the first point to the second.
    let [a, b, c, turned @ ..] = opens;
    let apart = match kind {
        EqualityKind::Distance => geometry.along_line(gradient.normal) + point.normal * a,
        _ => Vector3::new(a, b, c),
    };
    let mut turns = [Vector3::zeros(); 2];
    if kind == EqualityKind::Weld {
        let target = node.data(inputs).target;
        let open = Vector3::from_fn(|k, _| -target[block + 3 + k]);
        let Some(rates) = weld_rates(open) else { return false };
        turns = rates.map(|rate| rate.tr_mul(&Vector3::from(turned)));
    }
    let slots = model.equality_slots(equality);
    if kind == EqualityKind::Distance {
        adjoints.parameters[slots.offset] -= a;
    }
    for (side, sign) in [(0, -1.0), (1, 1.0)] {
        let shift = apart * sign;
        let owner = geometry.owners[side];
        let mut anchor = match owner {
            Some(body) => of.motion.bodies[body].rotation.tr_mul(&shift),
            None => shift,
        };
        if let Some(body) = point.bodies[side] {
            let arm = of.motion.bodies[body].rotation * point.arms[side];
            let felt = bodies.of(body);
            felt.displacement += Force::at(shift, &arm);
            felt.displacement.angular += turns[side] + gradient.turns[side];
            felt.center -= gradient.arms[side];
            anchor += gradient.arms[side];
        } else {
            of.motion.add_fixed_places(model, owner, &shift, &mut adjoints.parameters);
        }
        for k in 0..3 {
            adjoints.parameters[slots.anchors + 3 * side + k] += anchor[k];
        }
    }
    true
}

/// Of a joint that follows another: q1 = offset + ratio q2.
fn add_joints(
    of: &IslandAdjoint,
    equality: usize,
    weights: [f64; HELD],
    opens: f64,
    adjoints: &mut Adjoints,
) {
    let System { model, parameters, .. } = *of.system;
    let [Some(first), Some(second)] = model.equalities[equality].bodies else { return };
    let slots = model.equality_slots(equality);
    if let Some((tree, rows)) = of.rows_of(second) {
        let place = rows.start + model.bodies[second].joint.v - model.trees[tree].v.start;
        let held = [(END, of.velocity()), (MOMENTA, of.weights), (SHARES, of.preimage)];
        for (which, velocities) in held {
            // Nothing is shared where there is no preimage.
            let velocity = velocities.get(place).copied().unwrap_or(0.0);
            adjoints.parameters[slots.ratio] -= weights[which] * velocity;
        }
    }
    let [first, second] = [first, second].map(|body| &model.bodies[body].joint);
    adjoints.state[first.v] += opens;
    adjoints.state[second.v] -= opens * parameters.ratio(model, equality);
    adjoints.parameters[slots.offset] -= opens;
    adjoints.parameters[slots.ratio] -= opens * of.state.q[second.q];
}
