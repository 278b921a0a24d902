//! The end of a solve of the coupled contact problem: the modes of the solution, and Newton at those
//! modes by the rule that makes impulses unique.

use super::super::kkt::{DEPENDENT, Iterate, shares_only_friction};
use super::super::law::{Mode, length};
use super::super::natural_residual::SLIP_TOLERANCE;
use super::super::problem::ContactData;
use super::super::rule::Selection;
use super::super::solution::ContactSolution;
use super::cascade::Search;
use super::friction_first::friction_along;
use super::newton::NewtonState;
use super::redundancy::least_norm;

/// Newton iterations at the final modes. Without compliance the least-norm rule can move impulses
/// that a spinning slide depends on by a finite amount.
const POLISH_ITERATIONS: usize = 12;

/// The same where clamped contacts turn and change what is shared with it: that converges linearly.
const TURNS: usize = 100;

/// What counts as dependent, one after the other, where the rule leads out of the friction cones; at last the null-space
/// part of the impulses is held.
const DEPENDENCE: [f64; 4] = [DEPENDENT, BARELY, 1e-3, DEPENDENT];

/// Rows that are independent by no more than this part of the longest (feet of one body at heights that differ by a
/// tilt) count as dependent wherever the tolerance cannot tell. What they hold they hold by impulses as much larger, so
/// a thousandth of what rounding is elsewhere leads out of the cones, and derivatives there are true of no change anyone
/// can make.
const BARELY: f64 = 1e-5;

/// A rigid contact that only touches counts as one that carries if the rule gives it more than this
/// fraction of the largest impulse.
const CARRIES: f64 = 1e-9;

impl Search {
    /// From the best impulses of the search, `kept`, to the solution; returns the iterations. `reached`
    /// are the residuals that may not be exceeded, by the rule and where more rows count as dependent.
    pub(in crate::argmin::contact) fn finish(
        &mut self,
        data: &ContactData<f64>,
        scale: f64,
        reached: [f64; 2],
        solution: &mut ContactSolution,
    ) -> usize {
        let mut iterations = 0;
        // Without compliance the solution found may leave contacts apart that touch: of all solutions
        // the one of least norm has them carry, too.
        if (0..data.laws.len()).any(|i| self.only_touches(data, i, scale)) {
            iterations += self.select(data, scale, reached, true, solution);
            // Once they carry, they can hold their part of the friction.
            iterations += self.select(data, scale, reached, false, solution);
            let most = self.state.lambda.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            let closed = data.blocks().iter().zip(&solution.modes);
            let carried = { closed }
                .filter(|(_, mode)| **mode != Mode::Break)
                .all(|(block, _)| self.state.lambda[block.first] > CARRIES * most);
            let enough = reached[usize::from(solution.dependent > DEPENDENT)];
            if carried && self.residual(data, scale) <= enough {
                return iterations;
            }
            self.state.lambda.copy_from_slice(&self.kept);
        }
        iterations += self.select(data, scale, reached, false, solution);
        // What slipped by no more than the search left may be at rest now.
        for _ in 0..2 {
            let slides = |i: usize| solution.modes[i] == Mode::Slide && self.rests(data, i, scale);
            if !(0..data.laws.len()).any(slides) {
                break;
            }
            iterations += self.select(data, scale, reached, false, solution);
        }
        iterations
    }

    /// Modes, the least-norm rule, Newton.
    fn select(
        &mut self,
        data: &ContactData<f64>,
        scale: f64,
        reached: [f64; 2],
        touching: bool,
        solution: &mut ContactSolution,
    ) -> usize {
        self.classify(data, scale, touching, solution);
        // What only touches has no friction to share yet.
        if !touching {
            let (lambda, delassus) = (&mut self.state.lambda, &self.state.delassus);
            least_norm(data, delassus, lambda, solution, &mut self.least_norm);
        }
        self.polish(data, solution, reached)
    }

    /// Whether block `i` of three rows does not slip.
    fn rests(&self, data: &ContactData<f64>, i: usize, scale: f64) -> bool {
        match self.state.u[data.blocks()[i].range()] {
            [_, a, b] => length([a, b]) <= SLIP_TOLERANCE * scale,
            _ => false,
        }
    }

    /// Whether a rigid one-sided block is closed and carries nothing.
    pub(super) fn only_touches(&self, data: &ContactData<f64>, i: usize, scale: f64) -> bool {
        let first = data.blocks()[i].first;
        data.is_rigid(i)
            && data.laws[i].is_one_sided()
            && !data.laws[i].is_associated()
            && friction_along(data, i).is_none()
            && self.state.lambda[first] <= 0.0
            && self.state.u[first].abs() <= SLIP_TOLERANCE * scale
    }

    /// Decides the mode of each block at the solution; with `touching`, blocks that only touch are
    /// closed.
    pub(in crate::argmin::contact) fn classify(
        &mut self,
        data: &ContactData<f64>,
        scale: f64,
        touching: bool,
        solution: &mut ContactSolution,
    ) {
        self.state.follow(data);
        self.guess_modes(data);
        let state = &self.state;
        solution.modes.clear();
        solution.directions.clear();
        solution.dependent = DEPENDENT;
        for i in 0..data.laws.len() {
            let (mut mode, mut direction) = (state.guess[i], state.directions[i]);
            if mode == Mode::Break && touching && self.only_touches(data, i, scale) {
                let slips = data.laws[i].clamps() && !self.rests(data, i, scale);
                mode = if slips { Mode::Slide } else { Mode::Stick };
            } else if mode == Mode::Slide && self.rests(data, i, scale) {
                mode = data.laws[i].at_rest(mode);
            }
            // Without friction a contact that slips needs no direction but for d/d mu: one-sided,
            // against the slip.
            let data_only = mode == Mode::Clamp || !data.laws[i].turns();
            if !data_only {
                direction = [0.0; 2];
            }
            solution.modes.push(mode);
            solution.directions.push(direction);
        }
        self.state.let_friction_carry(data, scale, solution);
    }

    /// Newton on the conditions at the final modes, by the least-norm rule; returns the iterations. It
    /// removes what the proximal term left.
    pub(in crate::argmin::contact) fn polish(
        &mut self,
        data: &ContactData<f64>,
        solution: &mut ContactSolution,
        reached: [f64; 2],
    ) -> usize {
        let mut iterations = 0;
        solution.held.clear();
        solution.held.resize(data.rows.rows(), 0.0);
        solution.independent = None;
        self.best.clone_from(&self.state.lambda);
        self.state.follow(data);
        if shares_only_friction(data, &solution.modes) {
            return self.polish_by_blocks(data, solution, reached);
        }
        let mut known = std::mem::take(&mut self.multiplier);
        known.clone_from(&solution.sharing.y);
        solution.sharing.clear();
        for (attempt, dependent) in DEPENDENCE.into_iter().enumerate() {
            let last = attempt + 1 == DEPENDENCE.len();
            // Without rows that are nearly dependent there is nothing to be had by that.
            if 0 < attempt && !last && !self.can_let_go(dependent) {
                continue;
            }
            if last && !self.hold(data, solution) {
                break;
            }
            // To let rows go costs accuracy, but what is left of it is enough.
            let enough = reached[usize::from(dependent > DEPENDENT)];
            if self.settle(data, solution, dependent, &mut iterations) <= enough {
                self.accept(solution);
                self.note_sharing(data, solution, &known);
                if attempt == 0 && self.can_let_go(BARELY) {
                    self.best.clone_from(&self.state.lambda);
                    if self.settle(data, solution, BARELY, &mut iterations) <= reached[1] {
                        self.accept(solution);
                        self.note_sharing(data, solution, &known);
                    } else {
                        self.return_to_best(data);
                        solution.dependent = DEPENDENT;
                    }
                }
                break;
            }
            self.return_to_best(data);
            solution.dependent = DEPENDENT;
        }
        self.multiplier = known;
        iterations
    }

    /// The same for many trees, where the rule is that of [`least_norm`] by itself, which takes no matrix but that of a step
    /// of Newton: both in turn while that lowers a residual that is not `reached`.
    fn polish_by_blocks(
        &mut self,
        data: &ContactData<f64>,
        solution: &mut ContactSolution,
        reached: [f64; 2],
    ) -> usize {
        let scale = self.state.delassus.velocity_scale();
        let (mut iterations, mut least) = (0, self.residual(data, scale));
        while least > reached[0] && iterations < POLISH_ITERATIONS {
            self.chosen.clone_from(solution);
            self.state.take_modes(data, solution);
            iterations += 1;
            if self.state.newton_step(data, Selection::Proximal, &solution.held).is_none() {
                self.return_to_best(data);
                break;
            }
            self.accept(solution);
            solution.independent = None;
            let (lambda, delassus) = (&mut self.state.lambda, &self.state.delassus);
            least_norm(data, delassus, lambda, solution, &mut self.least_norm);
            self.state.follow(data);
            let residual = self.residual(data, scale);
            if residual >= least {
                solution.clone_from(&self.chosen);
                self.return_to_best(data);
                break;
            }
            least = residual;
            self.best.clone_from(&self.state.lambda);
        }
        iterations
    }

    /// Whether there are rows that would count as dependent at `dependent` and did not, and none that is short without
    /// being dependent.
    fn can_let_go(&self, dependent: f64) -> bool {
        let modes = &self.state.modes;
        modes.is_nearly_dependent(dependent) && dependent < 0.1 * modes.shortest_row()
    }

    /// Newton at the modes of `solution` by the rule where rows below `dependent` count as dependent; returns the
    /// residual.
    fn settle(
        &mut self,
        data: &ContactData<f64>,
        solution: &mut ContactSolution,
        dependent: f64,
        iterations: &mut usize,
    ) -> f64 {
        solution.dependent = dependent;
        self.state.take_modes(data, solution);
        let mut before = f64::INFINITY;
        for count in 1..=TURNS {
            let rule = Selection::LeastNorm(dependent);
            let step = self.state.newton_step(data, rule, &solution.held);
            let Some(length) = step else { break };
            *iterations += 1;
            // Where convergence is quadratic, what follows a step this short is rounding.
            let quadratic = length < 1e-2 * before;
            if length <= if quadratic { 1e-7 } else { 1e-13 } {
                break;
            }
            if count >= POLISH_ITERATIONS && length > 0.8 * before {
                break;
            }
            before = length;
        }
        self.residual(data, self.state.delassus.velocity_scale())
    }

    /// What the rule has decided. Clamps have turned.
    fn accept(&self, solution: &mut ContactSolution) {
        solution.independent = self.state.modes.independent();
        for (i, direction) in solution.directions.iter_mut().enumerate() {
            if solution.modes[i] == Mode::Clamp {
                *direction = self.state.directions[i];
            }
        }
    }

    /// Holds the part of the impulses that no velocity feels where it is. False if the conditions are
    /// singular.
    pub(in crate::argmin::contact) fn hold(
        &mut self,
        data: &ContactData<f64>,
        solution: &mut ContactSolution,
    ) -> bool {
        self.state.take_modes(data, solution);
        // By blocks there is no basis of the null space: what is left in it moves with the rule as if it were of least norm.
        if shares_only_friction(data, &solution.modes) {
            return true;
        }
        let NewtonState { delassus, modes, lambda, u, directions, guess, .. } = &mut self.state;
        let at = Iterate { modes: guess, directions, lambda, u, held: &solution.held };
        let rule = Selection::LeastNorm(solution.dependent);
        let factored = modes.factor(data, delassus, &at, rule);
        if factored {
            modes.hold(lambda, &mut solution.held);
            solution.independent = modes.independent();
        }
        factored
    }
}
