//! What rests: the solution of the last step, carried on to a problem that has hardly changed.
//!
//! Impulses that still solve the problem need not be those of least norm any more: rows turn from step to step, by what
//! rounding leaves. Friction that is shared anew, J y with the y of the last step, is in the range of the rows as they are
//! now whatever y is; so where it solves the problem it is what the rule asks for, and no matrix has been factorised.

use super::super::law::{Law, Mode};
use super::super::natural_residual::length;
use super::super::problem::ContactData;
use super::super::solution::ContactSolution;
use super::cascade::Search;

impl Search {
    /// Whether the impulses that were passed in, with friction shared as in the solution that they are of, leave no more
    /// than `tolerance` of the problem; then they are in `state.lambda`, and their modes are decided. Only of contacts with a
    /// compliance, by Coulomb's law, that do not slip where they share.
    pub(super) fn carries_on(
        &mut self,
        data: &ContactData<f64>,
        scale: f64,
        tolerance: f64,
        solution: &mut ContactSolution,
    ) -> bool {
        let ContactSolution { sharing, impulses, .. } = &*solution;
        let known = |law: &Law| matches!(law, Law::Coulomb | Law::NonNegative);
        let shares = sharing.y.len() == data.rows.velocities();
        if !(sharing.unique || shares)
            || !data.laws.iter().all(known)
            || (0..data.laws.len()).any(|i| data.is_rigid(i))
        {
            return false;
        }
        self.state.lambda.copy_from_slice(impulses);
        for i in 0..data.laws.len() {
            if sharing.unique || !self.may_hold(data, i) {
                continue;
            }
            let (asked, size) = asked(data, i, &sharing.y);
            let block = &data.blocks()[i];
            let radius = data.limit[i] * self.state.lambda[block.first];
            let part = if size > radius { radius / size } else { 1.0 };
            let friction = &mut self.state.lambda[block.first + 1..];
            friction.iter_mut().zip(asked).for_each(|(x, asked)| *x = part * asked);
        }
        self.state.follow(data);
        self.residual(data, scale) <= tolerance && self.holds_as(data, scale, solution)
    }

    /// Whether block `i` carries and has friction.
    fn may_hold(&self, data: &ContactData<f64>, i: usize) -> bool {
        let carries = self.state.lambda[data.blocks()[i].first] > 0.0;
        data.laws[i] == Law::Coulomb && data.limit[i] > 0.0 && carries
    }

    /// Decides the modes; whether as many contacts hold as share.
    fn holds_as(
        &mut self,
        data: &ContactData<f64>,
        scale: f64,
        solution: &mut ContactSolution,
    ) -> bool {
        self.classify(data, scale, false, solution);
        let ContactSolution { modes, directions, sharing, dependent, independent, held, .. } =
            solution;
        let mut holding = 0;
        for i in 0..data.laws.len() {
            if data.laws[i] != Law::Coulomb || modes[i] == Mode::Break {
                continue;
            }
            if modes[i] == Mode::Slide {
                if sharing.unique {
                    continue;
                }
                return false;
            }
            if data.limit[i] == 0.0 {
                continue;
            }
            holding += 1;
            if sharing.unique {
                continue;
            }
            let (asked, size) = asked(data, i, &sharing.y);
            let inside = size <= data.limit[i] * self.state.lambda[data.blocks()[i].first];
            modes[i] = if inside { Mode::Stick } else { Mode::Clamp };
            directions[i] = if inside { [0.0; 2] } else { asked.map(|x| x / size) };
        }
        (*dependent, *independent) = (sharing.dependent, sharing.independent);
        held.clear();
        held.resize(data.rows.rows(), 0.0);
        holding == sharing.contacts
    }

    /// Notes how the friction of `solution`, which is in `state.lambda`, is shared, where Newton has just ended by the rule.
    pub(super) fn note_sharing(&mut self, data: &ContactData<f64>, solution: &mut ContactSolution) {
        let holds = |i: &usize| {
            let mode = matches!(solution.modes[*i], Mode::Stick | Mode::Clamp);
            mode && data.laws[*i] == Law::Coulomb && data.limit[*i] > 0.0
        };
        let contacts = (0..data.laws.len()).filter(holds).count();
        let (independent, dependent) = (solution.independent, solution.dependent);
        let sharing = &mut solution.sharing;
        sharing.clear();
        (sharing.contacts, sharing.independent) = (contacts, independent);
        sharing.dependent = dependent;
        if solution.held.iter().any(|&x| x != 0.0) {
            return;
        }
        sharing.unique = !self.state.modes.shares();
        if !sharing.unique {
            self.state.modes.sharing(data, &self.state.lambda, &mut sharing.y);
        }
    }
}

/// J y along the tangents of a block, and its size.
fn asked(data: &ContactData<f64>, i: usize, y: &[f64]) -> ([f64; 2], f64) {
    let asked = [1, 2].map(|r| data.blocks()[i].times(data.row(i, r), y));
    (asked, length(asked))
}
