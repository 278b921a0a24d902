//! What rests: the solution of the last step, carried on to a problem that has hardly changed.
//!
//! Impulses that still solve the problem need not be those of least norm any more: rows turn from step to step, by what
//! rounding leaves. Friction that is shared anew, J y with the y of the last step, is in the range of the rows as they are
//! now whatever y is; so where it solves the problem it is what the rule asks for. Where a little is left, y takes a step:
//! with the same proximal weight w for all friction that holds, J v + w (lambda - J y) = 0, so that lambda = J (y - v / w).
//! It is a multiplier, and one sparse solve improves it by nine digits.

use super::super::kkt::{DEPENDENT, Iterate};
use super::super::law::{Mode, length};
use super::super::problem::ContactData;
use super::super::rule::PROXIMAL;
use super::super::sharing::Sharing;
use super::super::solution::ContactSolution;
use super::cascade::Search;

/// From this residual on another search is made: contacts may come to slip.
const NEAR: f64 = 1e-6;

/// Steps of y at most, the part of the residual that each may leave, and the part of the tolerance that needs none.
const STEPS: usize = 3;
const PART: f64 = 0.1;
const ENOUGH: f64 = 1e-2;

/// The residual that needs none whatever the tolerance.
const EXACT: f64 = 1e-12;

/// Rows of friction that are independent by less than this part of the longest take more digits than are carried on.
const INDEPENDENT: f64 = 1e-5;

/// How large y may be, relative to impulses. Velocities that no friction feels do nothing in it, but take its digits.
const LONGEST: f64 = 1e3;

impl Search {
    /// Whether the impulses that were passed in, with friction shared as in the solution that they are of, solve the
    /// problem, or do after a step or two; then they are in `state.lambda`, and their modes are decided. Only of contacts
    /// with a compliance, by Coulomb's law, that do not slip where they share.
    pub(super) fn carries_on(
        &mut self,
        data: &ContactData<f64>,
        scale: f64,
        tolerance: f64,
        (solution, iterations): (&mut ContactSolution, &mut usize),
    ) -> bool {
        let ContactSolution { sharing, impulses, .. } = &mut *solution;
        let shares = sharing.y.len() == data.rows.velocities();
        let of_law = |i: usize| !data.is_rigid(i) && data.laws[i].is_one_sided();
        let clamps = |i: usize| data.laws[i].rows() == 1 || data.laws[i].clamps();
        if !(sharing.unique || shares) || !(0..data.laws.len()).all(|i| of_law(i) && clamps(i)) {
            return false;
        }
        self.state.lambda.copy_from_slice(impulses);
        if !sharing.unique {
            self.share(data, &sharing.y);
        }
        self.state.follow(data);
        let mut residual = self.residual(data, scale);
        // No less than a search would do: what is taken as it was does not change with state and parameters, and
        // differences see that.
        let enough = (ENOUGH * tolerance).min(EXACT);
        for _ in 0..STEPS {
            if residual <= enough || residual > NEAR || sharing.unique {
                break;
            }
            *iterations += 1;
            let before = residual;
            if !self.improve_y(data, sharing) {
                return false;
            }
            residual = self.residual(data, scale);
            if residual > PART * before {
                break;
            }
        }
        residual <= enough && self.holds_as(data, scale, solution)
    }

    /// The friction of contacts that carry, J y as far as their limit allows; whether it is J y of all.
    fn share(&mut self, data: &ContactData<f64>, y: &[f64]) -> bool {
        let mut inside = true;
        for i in 0..data.laws.len() {
            let block = &data.blocks()[i];
            let normal = self.state.lambda[block.first];
            if block.rows == 1 || data.limit[i] == 0.0 || normal <= 0.0 {
                continue;
            }
            let (asked, size) = asked(data, i, y);
            let radius = data.limit[i] * normal;
            let part = if size > radius { radius / size } else { 1.0 };
            inside &= part == 1.0;
            let friction = &mut self.state.lambda[block.first + 1..];
            friction.iter_mut().zip(asked).for_each(|(x, asked)| *x = part * asked);
        }
        inside
    }

    /// A step of y and of the normal impulses, where all that is closed sticks. False if that is not so, or there is none.
    fn improve_y(&mut self, data: &ContactData<f64>, sharing: &mut Sharing) -> bool {
        self.guess_modes(data);
        if !self.state.guess.iter().all(|mode| matches!(mode, Mode::Break | Mode::Stick)) {
            return false;
        }
        let state = &mut self.state;
        let sticks = |&i: &usize| state.guess[i] == Mode::Stick && data.blocks()[i].rows == 3;
        let scales =
            (0..data.laws.len()).filter(sticks).map(|i| state.delassus.tangential_scale(i));
        let weight = PROXIMAL * scales.fold(0.0, f64::max);
        if !data.rows.is_large() {
            data.rows.decide(&mut state.delassus.pattern);
        }
        let (y, momentum) = (&mut self.step_of_y, &mut self.momentum);
        let (modes, delassus) = (&mut state.modes, &state.delassus);
        let (lambda, u, held) = (&mut state.lambda, &state.u, &[][..]);
        let (guess, directions) = (&state.guess, &state.directions);
        let at = Iterate { modes: guess, directions, lambda, u, held };
        if weight == 0.0 || !modes.factor_evenly(data, delassus, &at, weight) {
            return false;
        }
        // L' v, before and after.
        momentum.clear();
        momentum.resize(data.rows.velocities(), 0.0);
        data.rows.transpose_times(&delassus.w, lambda, momentum);
        y.clear();
        y.resize(data.rows.velocities(), 0.0);
        data.times_factor_transpose(data.free, y);
        y.iter_mut().zip(momentum).for_each(|(v, moved)| *v += *moved);
        modes.step_evenly(data, delassus, (lambda, u), y);
        y.iter_mut().for_each(|v| *v /= -weight);
        data.solve_factor_transpose(y);
        let size = |y: &[f64]| y.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        sharing.y.iter_mut().zip(y).for_each(|(y, step)| *y += *step);
        let has_digits = size(&sharing.y) <= LONGEST * size(lambda);
        if !has_digits {
            return false;
        }
        let inside = self.share(data, &sharing.y);
        self.state.follow(data);
        inside
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
            if data.blocks()[i].rows == 1 || modes[i] == Mode::Break || data.limit[i] == 0.0 {
                continue;
            }
            if modes[i] == Mode::Slide {
                if sharing.unique {
                    continue;
                }
                return false;
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
            mode && data.laws[*i].clamps() && data.limit[*i] > 0.0
        };
        let contacts = (0..data.laws.len()).filter(holds).count();
        let (independent, dependent) = (solution.independent, solution.dependent);
        let sharing = &mut solution.sharing;
        sharing.clear();
        (sharing.contacts, sharing.independent) = (contacts, independent);
        sharing.dependent = dependent;
        let is_plain = dependent <= DEPENDENT && solution.held.iter().all(|&x| x == 0.0);
        if !is_plain || self.state.modes.is_nearly_dependent(INDEPENDENT) {
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
