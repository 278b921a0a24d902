//! Limits of the length of tendons of joints, whose rows stay as they are.

use super::solved::Solved;
use crate::argmin::Perturbation;
use crate::contact::{TendonRow, closing, row_of_tendon, tendon_trees};
use crate::dynamics::FreeMotion;
use crate::model::{System, TendonPath};

/// The condition of a limit of a tendon of joints changes with their coordinates.
pub(super) fn tendon_limit(
    solved: &Solved,
    (id, gap): (usize, f64),
    block: usize,
    perturbation: &mut Perturbation<f64>,
) {
    let System { model, parameters, .. } = *solved.system();
    let at = (solved.motion, solved.at.closes);
    let Some(slope) = tendon_slope(solved.system(), at, id, gap) else { return };
    let Some((tendon, _)) = row_of_tendon(model, id) else { return };
    let TendonPath::Joints(bodies) = &model.tendons[tendon].path else { return };
    for (place, &body) in bodies.iter().enumerate() {
        let Some(tree) = model.bodies[body].tree else { continue };
        let rows = solved.columns.rows(solved.system(), tree);
        let column = rows.start + model.bodies[body].joint.v - model.trees[tree].v.start;
        let coefficient = parameters.tendon_coefficient(model, tendon, place);
        perturbation.offsets[block * perturbation.columns + column] += slope * coefficient;
    }
}

/// How what a limit of a tendon asks of its rate falls with its length, 1/s; nothing of other conditions.
pub(super) fn tendon_slope(
    system: &System<f64>,
    (motion, closes): (&FreeMotion<f64>, bool),
    id: usize,
    gap: f64,
) -> Option<f64> {
    let System { model, settings, .. } = *system;
    let (tendon, row) = row_of_tendon(model, id)?;
    let trees = tendon_trees(model, tendon).into_iter().flatten();
    let dt = trees.map(|tree| motion.duration(tree)).fold(f64::INFINITY, f64::min);
    let slope = closing(settings, gap, dt).share / dt;
    match row {
        // What is open counts where loops are closed.
        TendonRow::Lower if model.tendons[tendon].held => closes.then_some(1.0 / dt),
        TendonRow::Lower => Some(slope),
        TendonRow::Upper => Some(-slope),
        TendonRow::Friction => None,
    }
}
