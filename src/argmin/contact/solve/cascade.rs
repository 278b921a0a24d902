//! Semi-smooth Newton on the coupled contact problem [Alart91]: the natural map decides the mode of each
//! block, the conditions at those modes are solved to first order, and again, with steps shortened
//! until the residual falls. It converges in two to seven iterations from a few
//! [block Gauss-Seidel](super::gauss_seidel) sweeps, and goes back to sweeping when the residual no
//! longer falls.
//!
//! Where that leads nowhere (stacks of boxes that slide and spin on each other, light bodies under heavy
//! ones), Newton starts again from the [interior point](crate::argmin::interior_point), and then the
//! [proximal point method](super::proximal_point) takes over.
//!
//! All of the search runs on values. On AD scalars one more Newton step for each order, at the final
//! modes, carries the derivatives.

use super::super::contradiction::contradicts_itself;
use super::super::law::{Law, Support, mode};
use super::super::natural_residual::{
    SLIP_TOLERANCE, contact_residuals, final_residual, held_slip, margin, natural_argument,
    natural_residual,
};
use super::super::problem::ContactData;
use super::super::problem::{ContactMethod, CoupledContact};
use super::super::rule::Selection;
use super::super::solution::ContactSolution;
use super::gauss_seidel;
use super::newton::NewtonState;
use super::proximal_point::{Goal, ProximalPoint, Weights};
use super::redundancy::LeastNormWorkspace;
use crate::ad::{Carry, Real};
use crate::argmin::interior_point::{ConeInteriorPoint, ConeProgramData};
use crate::argmin::status::{Report, Stage, Status};

/// Newton iterations before the next round of sweeps.
const NEWTON_ITERATIONS: usize = 12;
/// How often a Newton step is halved before it is given up.
const HALVINGS: i32 = 10;
/// Rounds of sweeps and Newton; sweeps grow fourfold from one to the next.
const ROUNDS: usize = 4;
/// Sweeps of the first round.
const FIRST_SWEEPS: usize = 3;
/// Of many trees, which are not polished by an exact rule, Newton goes on to this residual while it falls.
const ROUNDING: f64 = 1e-14;
/// How far the interior point goes before Newton takes over.
const INTERIOR_TOLERANCE: f64 = 1e-12;
/// Sweeps from a warm start that Newton did not finish, and steps of the proximal point method from there, at most and as
/// part of all.
const SWEEPS_NEARBY: usize = 20;
const NEARBY_ITERATIONS: (usize, usize) = (100, 4);
/// The first weight of the proximal point method, and from this residual on or where it starts at what others have found
/// of many trees. Also where Newton from a warm start counts as near, of few with dry friction in their joints.
const WEIGHT: f64 = 1e-2;
const WEIGHT_NEAR: f64 = 1e-3;
const NEAR: f64 = 1e-6;
/// Where the proximal point method starts, and its weights. Most problems need the first only.
const PROXIMAL_STARTS: [(Start, Weights); 4] = [
    (Start::Best, Weights::Uniform),
    (Start::Nothing, Weights::Own),
    (Start::Last, Weights::Uniform),
    (Start::Last, Weights::Own),
];
/// Multiplications, about, that iterations on one problem may take, and iterations that any problem may take. Only
/// islands of hundreds of velocities come to this limit.
const WORK: f64 = 5e10;
const LEAST_ITERATIONS: usize = 100;
/// The residual of impulses that are unique, where they are followed.
const UNIQUE: f64 = 1e-12;
/// Residuals from here on are no rounding: whether there is a solution at all may be asked.
const FAR: f64 = 1e-3;
/// Limit of sweeps where nothing else is allowed.
const SWEEPS: usize = 20_000;

/// The solver's memory.
#[derive(Clone, Debug, Default)]
pub struct ContactWorkspace<T> {
    pub(in crate::argmin::contact) values: Vec<f64>,
    pub(in crate::argmin::contact) search: Search,
    pub(in crate::argmin::contact) carry: Carry<T>,
}

/// Impulses to start from.
#[derive(Clone, Copy, Debug)]
enum Start {
    /// The best found so far.
    Best,
    Nothing,
    /// Where the start before has ended.
    Last,
}

/// The memory of the search, which runs on values.
#[derive(Clone, Debug, Default)]
pub(in crate::argmin::contact) struct Search {
    pub(in crate::argmin::contact) state: NewtonState<f64>,
    pub(in crate::argmin::contact) best: Vec<f64>,
    pub(in crate::argmin::contact) kept: Vec<f64>,
    /// What was decided at `best`.
    pub(in crate::argmin::contact) chosen: ContactSolution,
    start: Vec<f64>,
    end: Vec<f64>,
    y: Vec<f64>,
    pub(in crate::argmin::contact) least_norm: LeastNormWorkspace,
    interior_point: ConeInteriorPoint,
    proximal_point: ProximalPoint,
    /// Of what is [carried on](Self::carries_on).
    pub(super) step_of_y: Vec<f64>,
    pub(super) stretch: Vec<f64>,
    /// The multiplier of the least-norm rule, by itself or before a step.
    pub(super) multiplier: Vec<f64>,
    pub(super) momentum: Vec<f64>,
    zeros: Vec<f64>,
    /// What found the best impulses.
    stage: Stage,
    /// Iterations at most.
    pub(super) most: usize,
    /// Whether Newton ends with the first step that does not halve the residual: of many trees, while there is another
    /// method that goes on from there.
    hasty: bool,
    /// The same of few trees with dry friction in their joints from this residual to [`NEAR`]: so near a solution it converges at
    /// once, or not at all.
    near: f64,
}

/// Solves the problem of `node` for the values of the impulses `lambda`.
pub(in crate::argmin::contact) fn solve<T: Real>(
    node: &CoupledContact,
    inputs: &[T],
    lambda: &mut [T],
    solution: &mut ContactSolution,
    w: &mut ContactWorkspace<T>,
) {
    w.values.clear();
    w.values.extend(inputs.iter().map(|x| x.value()));
    w.search.run(&node.data(&w.values), node, solution);
    for (lambda, &x) in lambda.iter_mut().zip(&w.search.state.lambda) {
        *lambda = T::constant(x);
    }
}

impl Search {
    /// Solves into `state.lambda` and `solution`.
    fn run(
        &mut self,
        data: &ContactData<f64>,
        &CoupledContact { tolerance, method, keep, .. }: &CoupledContact,
        solution: &mut ContactSolution,
    ) {
        self.state.start(data);
        // Of each step of Newton a factorisation as large as there are velocities, as if it were dense.
        let velocities = data.rows.velocities() as f64;
        self.most = ((WORK / velocities.powi(3)) as usize).max(LEAST_ITERATIONS);
        let scale = self.state.delassus.velocity_scale();
        let known = &solution.impulses;
        let warm = known.len() == data.rows.rows()
            && known.iter().any(|&x| x != 0.0)
            && known.iter().all(|x| x.is_finite());
        if warm {
            self.state.lambda.copy_from_slice(known);
        }
        let mut iterations = 0;
        let enough = 1e-2 * tolerance;
        let newton = method == ContactMethod::Newton;
        solution.independent = None;
        self.least_norm.start.clone_from(&solution.sharing.y);
        self.stage =
            if method == ContactMethod::GaussSeidel { Stage::Sweeps } else { Stage::WarmStart };
        // Impulses of what is alone are unique: there is nothing to choose, but they are to be exact.
        let unique = data.blocks().iter().all(|block| block.alone);
        let goal = if unique { [UNIQUE; 2] } else { [tolerance, enough] };
        if newton && (keep || unique) && warm && self.follows(data, scale, goal, &mut iterations) {
            self.classify(data, scale, false, solution);
            solution.held.clear();
            solution.held.resize(data.rows.rows(), 0.0);
            solution.sharing.clear();
        } else if newton
            && warm
            && !keep
            && self.carries_on(data, scale, tolerance, (solution, &mut iterations))
        {
            // Nothing is left to do.
        } else if newton {
            solution.sharing.clear();
            if warm && !keep {
                self.state.lambda.copy_from_slice(&solution.impulses);
            }
            let reached = self.search_with_restarts(data, scale, tolerance, warm, &mut iterations);
            // Twice: whether rounding makes the same solution a little worse is no reason to choose another rule.
            let least = (2.0 * reached).max(enough);
            iterations += self.finish(data, scale, [least, reached.max(tolerance)], solution);
            if self.residual(data, scale) > reached.max(tolerance) {
                // The rule has led away from the best there was: keep that.
                self.state.lambda.copy_from_slice(&self.kept);
                self.classify(data, scale, false, solution);
                solution.held.fill(0.0);
                solution.independent = None;
                solution.sharing.clear();
                self.hold(data, solution);
            }
        } else {
            if method == ContactMethod::GaussSeidel {
                iterations = self.sweep_until(data, scale, tolerance);
            }
            self.classify(data, scale, false, solution);
            solution.sharing.clear();
            solution.held.clear();
            solution.held.resize(data.rows.rows(), 0.0);
            if method == ContactMethod::Given {
                self.hold(data, solution);
            }
        }
        let state = &mut self.state;
        state.follow(data);
        let residual = final_residual(data, &state.delassus, &state.lambda, &state.u, scale);
        let status = if residual <= tolerance {
            Status::Solved
        } else if method == ContactMethod::Newton && iterations < self.most {
            // All ways have been tried until nothing got better, or could.
            Status::Stalled
        } else {
            Status::IterationLimit
        };
        let margin = margin(data, &state.delassus, &solution.modes, &state.lambda, &state.u);
        solution.report = Report { status, iterations, stage: self.stage, residual, margin };
        solution.residuals =
            contact_residuals(data, &state.delassus, &state.lambda, &state.u, scale);
        // What slips faster does not hold: that is for the residual to say.
        let slip = held_slip(data, &solution.modes, &state.u);
        solution.held_slip = slip.min(SLIP_TOLERANCE * scale);
        solution.impulses.clear();
        solution.impulses.extend_from_slice(&state.lambda);
    }

    /// Whether the impulses that were passed in solve the problem, or do after a few Newton steps. Of
    /// impulses that are not unique these are then the ones nearby, and not those of least norm.
    fn follows(
        &mut self,
        data: &ContactData<f64>,
        scale: f64,
        [tolerance, goal]: [f64; 2],
        iterations: &mut usize,
    ) -> bool {
        self.state.follow(data);
        let mut best = self.residual(data, scale);
        if best > tolerance {
            self.best.clone_from(&self.state.lambda);
            (self.hasty, self.near) = (false, f64::INFINITY);
            self.newton(data, scale, goal, &mut best, iterations);
            self.state.lambda.copy_from_slice(&self.best);
            self.state.follow(data);
        }
        best <= tolerance
    }

    pub(in crate::argmin::contact) fn residual(&self, data: &ContactData<f64>, scale: f64) -> f64 {
        let NewtonState { delassus, lambda, u, .. } = &self.state;
        natural_residual(data, delassus, lambda, u, scale)
    }

    /// The search from the warm start, from nothing, from the interior point, by the proximal point
    /// method, and a long one; leaves the best iterate in `state.lambda` and returns its residual.
    fn search_with_restarts(
        &mut self,
        data: &ContactData<f64>,
        scale: f64,
        tolerance: f64,
        warm: bool,
        iterations: &mut usize,
    ) -> f64 {
        let enough = 1e-2 * tolerance;
        let large = data.rows.is_large();
        let clean = if large { ROUNDING } else { enough };
        // Dry friction of joints and tendons is a small part of what contacts carry: which of both does is not unique.
        let jams = !large && data.laws.iter().any(|law| law.support() == Support::Limited);
        self.hasty = large;
        self.state.follow(data);
        self.best.clone_from(&self.state.lambda);
        self.stage = Stage::WarmStart;
        let mut best = self.residual(data, scale);
        if warm {
            self.near = if jams { tolerance } else { f64::INFINITY };
            self.newton(data, scale, clean, &mut best, iterations);
        }
        self.near = f64::INFINITY;
        let mut before = best;
        self.kept.clone_from(&self.best);
        let mut approached = f64::INFINITY;
        if (large || jams && best <= NEAR) && warm && best > tolerance {
            self.approach(data, [scale, tolerance], &mut best, iterations, &mut before);
            approached = best;
            if !large && best <= tolerance {
                // What sweeps and anchors leave.
                self.newton(data, scale, clean, &mut best, iterations);
                self.kept.clone_from(&self.best);
            }
        }
        if best > tolerance && *iterations < self.most {
            // A guess can lead astray.
            self.state.lambda.fill(0.0);
            self.sweep(data, FIRST_SWEEPS);
            *iterations += FIRST_SWEEPS;
            self.keep_best(data, scale, &mut best);
            self.newton(data, scale, clean, &mut best, iterations);
            self.credit(Stage::Sweeps, best, &mut before);
        }
        if best > tolerance && *iterations < self.most && self.interior_point(data, iterations) {
            self.state.follow(data);
            self.keep_best(data, scale, &mut best);
            self.newton(data, scale, clean, &mut best, iterations);
            self.credit(Stage::InteriorPoint, best, &mut before);
        }
        self.kept.clone_from(&self.best);
        let mut hopeless = false;
        for (attempt, (start, weights)) in PROXIMAL_STARTS.into_iter().enumerate() {
            if best <= tolerance || *iterations >= self.most {
                break;
            }
            // What contradicts itself by far has no solution to be found from anywhere.
            hopeless = attempt == 1 && best > FAR && contradicts_itself(data);
            if hopeless {
                break;
            }
            match start {
                Start::Best => self.state.lambda.copy_from_slice(&self.kept),
                Start::Nothing => self.state.lambda.fill(0.0),
                Start::Last => {}
            }
            let iterations_left = self.most.saturating_sub(*iterations);
            // Not twice the same.
            let goes_on = large && attempt == 0 && best < approached;
            let weight = if goes_on { WEIGHT_NEAR } else { WEIGHT };
            let goal = Goal { scale, enough, tolerance, iterations: iterations_left, weight };
            self.follow_anchors(data, weights, goal, &mut best, iterations);
            self.credit(Stage::ProximalPoint, best, &mut before);
        }
        if best > tolerance && *iterations < self.most && !hopeless {
            self.hasty = false;
            self.state.lambda.copy_from_slice(&self.kept);
            let found = self.search(data, scale, enough, true, iterations);
            self.keep_better(found, &mut best);
            self.credit(Stage::Rounds, best, &mut before);
        }
        self.return_to_kept(data);
        if large && best <= tolerance && self.stage != Stage::WarmStart {
            self.hasty = true;
            // What sweeps and anchors leave.
            self.newton(data, scale, clean, &mut best, iterations);
            self.kept.clone_from(&self.best);
            self.return_to_kept(data);
        }
        best
    }

    /// Sweeps and the proximal point method from the best so far, of many trees: most contacts go on as they were, and Newton
    /// would turn which of those that hardly carry are closed with every step. Of few with dry friction in their joints where that is
    /// near: in a jam Newton goes from one edge of the cones to another.
    fn approach(
        &mut self,
        data: &ContactData<f64>,
        [scale, tolerance]: [f64; 2],
        best: &mut f64,
        iterations: &mut usize,
        before: &mut f64,
    ) {
        self.return_to_kept(data);
        self.sweep(data, SWEEPS_NEARBY);
        self.keep_best(data, scale, best);
        self.kept.clone_from(&self.best);
        self.credit(Stage::Sweeps, *best, before);
        if *best <= tolerance {
            return;
        }
        let (most, part) = NEARBY_ITERATIONS;
        let left = most.min(self.most / part);
        let weight = if *best <= NEAR { WEIGHT_NEAR } else { WEIGHT };
        let goal = Goal { scale, enough: 1e-2 * tolerance, tolerance, iterations: left, weight };
        self.state.lambda.copy_from_slice(&self.kept);
        self.follow_anchors(data, Weights::Uniform, goal, best, iterations);
        self.return_to_kept(data);
        self.credit(Stage::ProximalPoint, *best, before);
    }

    /// The proximal point method from `state.lambda`.
    fn follow_anchors(
        &mut self,
        data: &ContactData<f64>,
        weights: Weights,
        goal: Goal,
        best: &mut f64,
        iterations: &mut usize,
    ) {
        let NewtonState { delassus, lambda, .. } = &mut self.state;
        let found = self.proximal_point.run(data, delassus, weights, goal, lambda);
        *iterations += found.iterations;
        self.best.copy_from_slice(lambda);
        self.keep_better(found.residual, best);
    }

    /// Goes on from the best that was kept.
    fn return_to_kept(&mut self, data: &ContactData<f64>) {
        self.best.copy_from_slice(&self.kept);
        self.return_to_best(data);
    }

    /// Notes which stage has found something better.
    fn credit(&mut self, stage: Stage, best: f64, before: &mut f64) {
        if best < *before {
            self.stage = stage;
            *before = best;
        }
    }

    /// Takes the interior point's impulses; false if it does not know a law of the problem.
    fn interior_point(&mut self, data: &ContactData<f64>, iterations: &mut usize) -> bool {
        let relaxed = data.laws.iter().any(|law| law.is_associated());
        let alike = |law: &Law| law.rows() == 1 || law.is_associated() == relaxed;
        if !data.laws.iter().all(|law| law.is_second_order() && alike(law)) {
            return false;
        }
        self.zeros.clear();
        self.zeros.resize(data.laws.len(), 0.0);
        let NewtonState { delassus, lambda, .. } = &mut self.state;
        let program = ConeProgramData {
            rows: data.rows,
            w: &delassus.w,
            b: &delassus.b,
            mu: data.limit,
            compliance: data.compliance,
            least: &self.zeros,
        };
        let report = self.interior_point.solve(&program, !relaxed, INTERIOR_TOLERANCE, lambda);
        *iterations += report.iterations;
        true
    }

    /// Keeps what a search has found if it is better than what was kept before.
    fn keep_better(&mut self, found: f64, best: &mut f64) {
        if found < *best {
            *best = found;
            self.kept.copy_from_slice(&self.best);
        }
    }

    /// `count` sweeps.
    fn sweep(&mut self, data: &ContactData<f64>, count: usize) {
        let NewtonState { delassus, lambda, .. } = &mut self.state;
        self.y.resize(data.rows.velocities(), 0.0);
        data.rows.transpose_times(&delassus.w, lambda, &mut self.y);
        for _ in 0..count {
            gauss_seidel::sweep(data, delassus, lambda, &mut self.y);
        }
        self.state.follow(data);
    }

    /// Sweeps until the residual is below the tolerance; returns how many.
    fn sweep_until(&mut self, data: &ContactData<f64>, scale: f64, tolerance: f64) -> usize {
        let (mut spent, mut count) = (0, 1);
        self.state.follow(data);
        while spent < SWEEPS && self.residual(data, scale) > tolerance {
            self.sweep(data, count);
            spent += count;
            // Looking costs about as much as a sweep.
            count = (count + 1).min(10);
        }
        spent
    }

    /// Sweeps and Newton steps from `state.lambda` until the residual is `enough`; leaves the best
    /// iterate in `state.lambda` and `best`, and returns its residual.
    fn search(
        &mut self,
        data: &ContactData<f64>,
        scale: f64,
        enough: f64,
        warm: bool,
        iterations: &mut usize,
    ) -> f64 {
        self.state.follow(data);
        self.best.clone_from(&self.state.lambda);
        let mut best = self.residual(data, scale);
        let mut sweeps = FIRST_SWEEPS;
        for round in 0..ROUNDS {
            if best <= enough || *iterations >= self.most {
                break;
            }
            if !(warm && round == 0) {
                self.sweep(data, sweeps);
                *iterations += sweeps;
                sweeps *= 4;
                self.keep_best(data, scale, &mut best);
            }
            self.newton(data, scale, enough, &mut best, iterations);
            self.return_to_best(data);
            if best > enough {
                self.descend(data, scale, enough, &mut best, iterations);
            }
        }
        best
    }

    /// Newton steps from where `state` is.
    fn newton(
        &mut self,
        data: &ContactData<f64>,
        scale: f64,
        enough: f64,
        best: &mut f64,
        iterations: &mut usize,
    ) {
        for _ in 0..NEWTON_ITERATIONS {
            if *best <= enough || *iterations >= self.most {
                break;
            }
            *iterations += 1;
            let near = *best <= NEAR && *best > self.near;
            let before = if self.hasty || near { self.residual(data, scale) } else { 0.0 };
            if !self.shortened_step(data, scale) {
                break;
            }
            self.keep_best(data, scale, best);
            let may_end = self.hasty || near && *best > self.near;
            if may_end && self.residual(data, scale) > 0.5 * before {
                break;
            }
        }
    }

    pub(in crate::argmin::contact) fn return_to_best(&mut self, data: &ContactData<f64>) {
        self.state.lambda.copy_from_slice(&self.best);
        self.state.follow(data);
    }

    /// A Newton step at the modes that the natural map suggests, shortened until the residual falls;
    /// the full one if it falls nowhere, since there modes have to change first. False if it is
    /// singular.
    fn shortened_step(&mut self, data: &ContactData<f64>, scale: f64) -> bool {
        self.guess_modes(data);
        self.start.clone_from(&self.state.lambda);
        let before = self.residual(data, scale);
        if self.state.newton_step(data, Selection::Proximal, &[]).is_none() {
            return false;
        }
        let mut least = self.residual(data, scale);
        if least < before {
            return true;
        }
        self.end.clone_from(&self.state.lambda);
        let mut length = 1.0;
        for halvings in 1..=HALVINGS {
            let shorter = 0.5_f64.powi(halvings);
            self.go_part_way(data, shorter);
            let residual = self.residual(data, scale);
            if residual < before.min(least) {
                (least, length) = (residual, shorter);
            } else if least < before {
                break;
            }
        }
        self.go_part_way(data, length);
        true
    }

    /// lambda <- start + length (end - start)
    fn go_part_way(&mut self, data: &ContactData<f64>, length: f64) {
        let ends = self.start.iter().zip(&self.end);
        for (lambda, (&start, &end)) in self.state.lambda.iter_mut().zip(ends) {
            *lambda = start + (end - start) * length;
        }
        self.state.follow(data);
    }

    pub(super) fn keep_best(&mut self, data: &ContactData<f64>, scale: f64, best: &mut f64) {
        let residual = self.residual(data, scale);
        if residual < *best {
            *best = residual;
            self.best.copy_from_slice(&self.state.lambda);
        }
    }

    /// The modes and friction directions that the natural map suggests.
    pub(in crate::argmin::contact) fn guess_modes(&mut self, data: &ContactData<f64>) {
        let NewtonState { delassus, lambda, u, guess, directions, .. } = &mut self.state;
        guess.clear();
        directions.clear();
        for (i, block) in data.blocks().iter().enumerate() {
            let (x, v) = (&lambda[block.range()], &u[block.range()]);
            let p = natural_argument(data, delassus, i, x, v);
            let (mode, direction) = mode(data.laws[i], data.limit[i], p);
            guess.push(mode);
            directions.push(direction);
        }
    }
}
