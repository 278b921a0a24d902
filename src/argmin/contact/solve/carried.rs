//! What rests: the solution of the last step, carried on to a problem that has hardly changed.
//!
//! Impulses that still solve the problem need not be those of least norm any more: rows turn from step to step, by what
//! rounding leaves. Friction that is shared anew, J y with the y of the last step, is in the range of the rows as they are
//! now whatever y is; so where it solves the problem it is what the rule asks for. Where a little is left, y takes a step:
//! with the same proximal weight w for all friction that holds, J v + w (lambda - J y) = 0, so that lambda = J (y - v / w).
//! It is a multiplier, and one sparse solve improves it by nine digits. Friction at its limit is the part of J y that the
//! limit allows: along J y it follows the normal impulse, and across J y it gives way as (limit / |J y|) / w.
//!
//! Where y is long, rounding of v / w is more than such a small w leaves: w is then chosen to leave as much of both.

use super::super::kkt::{DEPENDENT, Iterate};
use super::super::law::{Mode, Support, length};
use super::super::problem::ContactData;
use super::super::rule::PROXIMAL;
use super::super::sharing::Sharing;
use super::super::solution::ContactSolution;
use super::cascade::Search;
use super::newton::NewtonState;

/// From this residual on another search is made: contacts may come to slip.
const NEAR: f64 = 1e-6;

/// Steps of y at most, the part of the residual that each may leave, and the part of the tolerance that needs none.
const STEPS: usize = 6;
const PART: f64 = 0.5;
const ENOUGH: f64 = 1e-2;

/// The residual that needs none whatever the tolerance.
const EXACT: f64 = 1e-12;

/// Rows of friction that are independent by less than this part of the longest take more digits than are carried on.
const INDEPENDENT: f64 = 1e-5;

/// The weight of a step relative to the diagonal is this over the root of the residual: what rounding leaves of y is then
/// about as much as the step leaves of the residual; a small compliance by itself would divide rounding, too. Of a y shorter
/// than that part of the impulses rounding leaves next to nothing, and it is less than residuals from there on.
const WEIGHT: f64 = 1e-9;
const SHORT: f64 = 3e-2;
const ROUNDED: f64 = 1e-10;

/// J y relative to the limit of friction, below which what seems to slip does.
const INSIDE: f64 = 0.99;

/// J y relative to the limit of friction, at most: what has just closed carries nothing yet.
const MOST_STRETCHED: f64 = 1e9;

/// How large y may be, relative to impulses. Velocities that no friction feels do nothing in it, but take its digits.
const LONGEST: f64 = 1e3;

impl Search {
    /// Whether the impulses that were passed in, with friction shared as in the solution that they are of, solve the
    /// problem, or do after a few steps; then they are in `state.lambda`, and their modes are decided. Of contacts by
    /// Coulomb's law, and where impulses are shared only of those that do not slip, where what is closed has a compliance
    /// and the dry friction of joints is at its limit.
    pub(super) fn carries_on(
        &mut self,
        data: &ContactData<f64>,
        scale: f64,
        tolerance: f64,
        (solution, iterations): (&mut ContactSolution, &mut usize),
    ) -> bool {
        let ContactSolution { sharing, impulses, .. } = &mut *solution;
        let shares = sharing.y.len() == data.rows.velocities();
        let closed = |i: usize| impulses[data.blocks()[i].first] != 0.0;
        let shares_only_friction = |i: usize| match data.laws[i].support() {
            Support::Unilateral => !(data.is_rigid(i) && closed(i)),
            Support::Limited => impulses[data.blocks()[i].first].abs() == data.limit[i],
            Support::Bilateral | Support::Borrowed | Support::Given => false,
        };
        let of_law = |i: usize| data.laws[i].rows() == 1 || data.laws[i].clamps();
        let known = |i: usize| of_law(i) && (sharing.unique || shares_only_friction(i));
        if !(sharing.unique || shares) || !(0..data.laws.len()).all(known) {
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
        let is_long = size(&sharing.y) > SHORT * size(&self.state.lambda);
        let mut evenly = is_long && residual <= ROUNDED;
        for _ in 0..STEPS {
            if residual <= enough || residual > NEAR || sharing.unique {
                break;
            }
            *iterations += 1;
            let before = residual;
            self.best.clone_from(&self.state.lambda);
            self.multiplier.clone_from(&sharing.y);
            let weights = if evenly { [WEIGHT / before.sqrt(); 2] } else { [0.0, PROXIMAL] };
            let improved = self.improve_y(data, sharing, weights);
            residual = if improved { self.residual(data, scale) } else { f64::INFINITY };
            if residual <= PART * before {
                evenly |= is_long && residual <= ROUNDED;
                continue;
            }
            if evenly || !is_long {
                break;
            }
            // Rounding, it may be.
            evenly = true;
            residual = before;
            self.state.lambda.copy_from_slice(&self.best);
            self.state.follow(data);
            sharing.y.clone_from(&self.multiplier);
        }
        residual <= enough && self.holds_as(data, scale, solution)
    }

    /// The friction of contacts that carry, J y as far as their limit allows.
    fn share(&mut self, data: &ContactData<f64>, y: &[f64]) {
        for i in 0..data.laws.len() {
            let block = &data.blocks()[i];
            let normal = self.state.lambda[block.first];
            if block.rows == 1 {
                continue;
            }
            let (asked, size) = asked(data, i, y);
            let radius = data.limit[i] * normal.max(0.0);
            let part = if size > radius { radius / size } else { 1.0 };
            let friction = &mut self.state.lambda[block.first + 1..];
            friction.iter_mut().zip(asked).for_each(|(x, asked)| *x = part * asked);
        }
    }

    /// The modes of contacts of which none slips: where J y is beyond its limit friction stays there, and across J y it gives
    /// way by as much less as J y is longer. What opens carries nothing any more. False if one slips.
    fn guess_held(&mut self, data: &ContactData<f64>, y: &[f64]) -> bool {
        self.guess_modes(data);
        self.stretch.clear();
        self.stretch.resize(data.laws.len(), 1.0);
        let NewtonState { guess, directions, lambda, .. } = &mut self.state;
        for (i, block) in data.blocks().iter().enumerate() {
            if guess[i] == Mode::Break {
                lambda[block.range()].fill(0.0);
            }
            if block.rows == 1 || guess[i] == Mode::Break {
                continue;
            }
            if data.limit[i] == 0.0 {
                (guess[i], directions[i]) = (Mode::Clamp, [0.0; 2]);
                continue;
            }
            let (asked, size) = asked(data, i, y);
            let radius = data.limit[i] * lambda[block.first].max(0.0);
            if guess[i] == Mode::Slide && size < INSIDE * radius {
                return false;
            }
            (guess[i], directions[i]) = (Mode::Stick, [0.0; 2]);
            if size > radius {
                (guess[i], directions[i]) = (Mode::Clamp, asked.map(|x| x / size));
                self.stretch[i] = (size / radius).min(MOST_STRETCHED);
            }
        }
        true
    }

    /// A step of y and of the normal impulses, where nothing that is closed slips. False if there is none, or it leaves
    /// y no digits: then impulses are of no use.
    fn improve_y(
        &mut self,
        data: &ContactData<f64>,
        sharing: &mut Sharing,
        relative_weights: [f64; 2],
    ) -> bool {
        if !self.guess_held(data, &sharing.y) {
            return false;
        }
        self.state.follow(data);
        let state = &mut self.state;
        let holds = |&i: &usize| state.guess[i] != Mode::Break && data.blocks()[i].rows == 3;
        let scales = (0..data.laws.len()).filter(holds).map(|i| state.delassus.tangential_scale(i));
        let scale = scales.fold(0.0, f64::max);
        let weights = relative_weights.map(|weight| weight * scale);
        let weight = weights[1];
        if !data.rows.is_large() {
            data.rows.decide(&mut state.delassus.pattern);
        }
        let (y, momentum) = (&mut self.step_of_y, &mut self.momentum);
        let (modes, delassus) = (&mut state.modes, &state.delassus);
        let (lambda, u, held) = (&mut state.lambda, &state.u, &[][..]);
        let (guess, directions) = (&state.guess, &state.directions);
        let at = Iterate { modes: guess, directions, lambda, u, held };
        if weight == 0.0 || !modes.factor_evenly(data, delassus, &at, (weights, &self.stretch)) {
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
        sharing.y.iter_mut().zip(y).for_each(|(y, step)| *y += *step);
        let has_digits = size(&sharing.y) <= LONGEST * size(lambda);
        if !has_digits {
            return false;
        }
        self.share(data, &sharing.y);
        self.state.follow(data);
        true
    }

    /// Decides the modes; whether as many contacts hold as share.
    fn holds_as(
        &mut self,
        data: &ContactData<f64>,
        scale: f64,
        solution: &mut ContactSolution,
    ) -> bool {
        self.classify(data, scale, false, solution);
        if (0..data.laws.len()).any(|i| self.only_touches(data, i, scale)) {
            return false;
        }
        let ContactSolution { modes, directions, sharing, dependent, independent, held, .. } =
            solution;
        let mut holding = 0;
        for i in 0..data.laws.len() {
            if holds_rigidly(data, i, modes[i]) {
                if !sharing.unique {
                    return false;
                }
                holding += 1;
            }
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
            let inside = size <= data.limit[i] * self.state.lambda[data.blocks()[i].first].max(0.0);
            modes[i] = if inside { Mode::Stick } else { Mode::Clamp };
            directions[i] = if inside { [0.0; 2] } else { asked.map(|x| x / size) };
        }
        (*dependent, *independent) = (sharing.dependent, sharing.independent);
        held.clear();
        held.resize(data.rows.rows(), 0.0);
        holding == sharing.contacts
    }

    /// Notes how the friction of `solution`, which is in `state.lambda`, is shared, where Newton has just ended by the rule.
    /// Of contacts at their limit that does not tell J y, but the multiplier of the rule `known`, if any, does.
    pub(super) fn note_sharing(
        &mut self,
        data: &ContactData<f64>,
        solution: &mut ContactSolution,
        known: &[f64],
    ) {
        let holds = |i: &usize| {
            let mode = matches!(solution.modes[*i], Mode::Stick | Mode::Clamp);
            mode && data.laws[*i].clamps() && data.limit[*i] > 0.0
        };
        let rigid = |i: &usize| holds_rigidly(data, *i, solution.modes[*i]);
        let blocks = 0..data.laws.len();
        let contacts = blocks.clone().filter(holds).count() + blocks.filter(rigid).count();
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
        if sharing.unique {
            return;
        }
        if known.is_empty() || !solution.modes.contains(&Mode::Clamp) {
            self.state.modes.sharing(data, &self.state.lambda, &mut sharing.y);
        } else {
            sharing.y.extend_from_slice(known);
        }
    }
}

/// Whether the first row of a block holds without compliance: its impulse may be one of many.
fn holds_rigidly(data: &ContactData<f64>, i: usize, mode: Mode) -> bool {
    let holds = match data.laws[i].support() {
        Support::Bilateral => true,
        Support::Unilateral => mode != Mode::Break,
        Support::Limited => mode == Mode::Stick,
        Support::Borrowed | Support::Given => false,
    };
    holds && data.is_rigid(i)
}

fn size(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |most: f64, x| most.max(x.abs()))
}

/// J y along the tangents of a block, and its size.
fn asked(data: &ContactData<f64>, i: usize, y: &[f64]) -> ([f64; 2], f64) {
    let asked = [1, 2].map(|r| data.blocks()[i].times(data.row(i, r), y));
    (asked, length(asked))
}
