//! Conditions on tendons of joints backwards: from the adjoints of a condition to those of the coordinates and of the tendon.

use super::body_adjoint::{END, HELD, MOMENTA, SHARES};
use super::parts::{Adjoints, IslandAdjoint};
use crate::contact::{TendonRow, row_of_tendon};
use crate::linearize::tendon_condition::tendon_slope;
use crate::model::{System, TendonPath};

/// Adds what a condition says: its limit with the length, its row with the coefficients, dry friction with itself.
pub(super) fn add_tendon(
    of: &IslandAdjoint,
    (id, gap): (usize, f64),
    block: usize,
    adjoints: &mut Adjoints,
) {
    let System { model, .. } = *of.system;
    let Some((tendon, which)) = row_of_tendon(model, id) else { return };
    let TendonPath::Joints(bodies) = &model.tendons[tendon].path else { return };
    let slots = model.tendon_slots(tendon);
    let (node, _, outputs, _) = of.problem.solved();
    let row = node.rows.blocks()[block].first;
    let sign = if which == TendonRow::Upper { -1.0 } else { 1.0 };
    let mut slope = 0.0;
    if which == TendonRow::Friction {
        let trees = model.tendons[tendon].path.bodies().filter_map(|b| model.bodies[b].tree);
        let dt = trees.map(|tree| of.motion.duration(tree)).fold(f64::INFINITY, f64::min);
        adjoints.parameters[slots.friction] += of.conditions.limits[block] * dt;
    } else if of.acts(block) {
        let by_length = tendon_slope(of.system, (of.motion, of.closes), id, gap).unwrap_or(0.0);
        slope = of.conditions.offsets[block] * by_length;
        let end = if which == TendonRow::Upper { slots.upper } else { slots.lower };
        adjoints.parameters[end] -= slope;
    }
    let mut weights = [0.0; HELD];
    weights[END] = of.conditions.rows.get(row).copied().unwrap_or(0.0);
    weights[MOMENTA] = outputs[node.rows.velocities() + row];
    if !of.preimage.is_empty() {
        weights[SHARES] = of.conditions.rotations.get(row).copied().unwrap_or(0.0);
    }
    let held = [(END, of.velocity()), (MOMENTA, of.weights), (SHARES, of.preimage)];
    for (place, &body) in bodies.iter().enumerate() {
        let joint = &model.bodies[body].joint;
        let Some((tree, rows)) = of.rows_of(body) else { continue };
        let own = rows.start + joint.v - model.trees[tree].v.start;
        let coefficient = of.system.parameters.tendon_coefficient(model, tendon, place);
        adjoints.state[joint.v] += slope * coefficient;
        let mut by_coefficient = slope * of.state.q[joint.q];
        for (which, velocities) in held {
            // Nothing is shared where there is no preimage.
            let velocity = velocities.get(own).copied().unwrap_or(0.0);
            by_coefficient += sign * weights[which] * velocity;
        }
        adjoints.parameters[slots.path + place] += by_coefficient;
    }
}
