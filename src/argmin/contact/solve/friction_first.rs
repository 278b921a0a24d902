//! Joints that rest at a limit with dry friction: which of both carries.
//!
//! The impulses of the limit (one-sided) and of dry friction (an interval) act along the same velocity, so only their sum
//! is determined. Of least norm both would carry a part, and both conditions would hold the velocity: a derivative
//! that is that of no side. Instead friction carries what it can. Then either it holds the joint and the limit only touches, or it
//! has reached its own limit and follows, and the joint's limit carries the rest.

use super::super::law::{Mode, Support, within};
use super::super::natural_residual::SLIP_TOLERANCE;
use super::super::problem::ContactData;
use super::super::solution::ContactSolution;
use super::newton::NewtonState;

/// The interval that acts along the row of the one-sided block `i`, and with which sign.
pub(in crate::argmin::contact) fn friction_along(
    data: &ContactData<f64>,
    i: usize,
) -> Option<(usize, f64)> {
    if data.laws[i].rows() > 1 || !data.laws[i].is_one_sided() {
        return None;
    }
    let (block, row) = (&data.blocks()[i], data.row(i, 0));
    (0..data.laws.len()).find_map(|j| {
        if data.laws[j].support() != Support::Limited || data.blocks()[j].trees != block.trees {
            return None;
        }
        let pairs = || row.iter().zip(data.row(j, 0));
        let sign = [1.0, -1.0].into_iter().find(|sign| pairs().all(|(x, y)| *x == sign * y))?;
        Some((j, sign))
    })
}

impl NewtonState<f64> {
    /// Moves the impulses of limits that are closed and at rest to the dry friction along them, as far as that goes,
    /// and sets the modes of both.
    pub(in crate::argmin::contact) fn let_friction_carry(
        &mut self,
        data: &ContactData<f64>,
        scale: f64,
        solution: &mut ContactSolution,
    ) {
        for i in 0..data.laws.len() {
            let first = data.blocks()[i].first;
            if solution.modes[i] == Mode::Break {
                continue;
            }
            let Some((j, sign)) = friction_along(data, i) else { continue };
            let other = data.blocks()[j].first;
            if self.u[other].abs() > SLIP_TOLERANCE * scale {
                continue;
            }
            let (sum, most) = (self.lambda[other] + sign * self.lambda[first], data.limit[j]);
            let carried = within(sum, most);
            let side = if sum > most {
                1.0
            } else if sum < -most {
                -1.0
            } else {
                0.0
            };
            self.lambda[other] = carried;
            self.lambda[first] = sign * (sum - carried);
            solution.modes[i] = if side == 0.0 { Mode::Break } else { Mode::Stick };
            solution.modes[j] = if side == 0.0 { Mode::Stick } else { Mode::Slide };
            solution.directions[j] = [side, 0.0];
        }
    }
}
