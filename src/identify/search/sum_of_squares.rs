//! The sum of squares over all windows, in parallel, with fitted initial states eliminated [Triggs00] 6.1.

use std::collections::BTreeMap;
use std::sync::Mutex;

use nalgebra::{DMatrix, DVector};

use super::levenberg_marquardt::{LeastSquares, Trial};
use super::window_equations::WindowEquations;
use super::window_states::WindowStates;
use super::{Effort, SearchSpace};
use crate::ad::{self, Dual, LANES, Real};
use crate::argmin::Status;
use crate::identify::data::{Dataset, Window};
use crate::identify::experiment::{Experiment, InitialState};
use crate::identify::parallel;
use crate::identify::peers::Sum;
use crate::identify::residuals::{Measurement, initial_state, residual_count, residuals};
use crate::identify::statistics::LEAST_RECORDINGS;
use crate::linearize::RolloutAdjoint;
use crate::model::Parameters;
use crate::simulation::{Plausibility, StepReport};
use crate::state::State;

/// Damping of initial states at the start, and its bounds.
const DAMPING: f64 = 1e-4;
const MIN_DAMPING: f64 = 1e-12;
const MAX_DAMPING: f64 = 1e12;

/// The cost is rough where this share of the windows is capped.
const ROUGH: f64 = 0.05;

/// The identification problem: cost = |residuals|² / 2, summed over windows in their order, or that of blocks of recordings
/// where there are very many, so that the result has the same bits on any number of threads and processes; and of those of
/// the priors. Its variables are those of the [`SearchSpace`].
///
/// Where several processes share the recordings, each simulates the windows it holds. All have to ask for costs, derivatives
/// and trials alike, at the same points.
pub struct Problem<'a> {
    pub(super) measurement: Measurement<'a>,
    /// The variables, and the parameters they stand for.
    pub space: SearchSpace<'a>,
    pub(super) base: &'a Parameters<f64>,
    pub(super) threads: usize,
    /// The initial state of each window that is held here.
    pub initial: Vec<State<f64>>,
    pub(super) trial: Vec<State<f64>>,
    /// Damping of the initial state of each window, and whether the last trial moved it: one
    /// window at a kink must not shorten the steps of the others.
    pub(super) damping: Vec<f64>,
    pub(super) moved: Vec<bool>,
    /// By how much the last trial changed the cost of each recording that counts and is held here: at its last window.
    pub(super) changes: Vec<Option<f64>>,
    /// The windows that count, and how many of their steps at most.
    pub(super) active: Vec<usize>,
    pub(super) horizon: usize,
    /// Those of them that are held here.
    pub(super) own: Vec<usize>,
    /// Of these, at the last linearised point.
    pub(super) blocks: Vec<WindowEquations>,
    /// How much the block of each window that counts, wherever it is, counts in steps.
    pub(super) weights: Vec<f64>,
    /// Whether trajectories that are far more sensitive than others count less in steps: those that
    /// amplify what is between two impacts, so that their derivatives hold next to nowhere.
    pub cap_sensitivity: bool,
    /// Where that is.
    pub(super) linearized_at: Vec<f64>,
    /// Residuals of the priors and their Jacobian.
    pub(super) prior: (DVector<f64>, DMatrix<f64>),
    /// Whether fitted initial states are held where they are, as if they were recorded.
    pub hold_initial: bool,
    /// Memory of rollouts that nobody works in.
    pub(super) rollouts: Mutex<Vec<RolloutAdjoint>>,
    /// Steps simulated so far.
    pub effort: Effort,
    /// Contact solves of the last evaluation.
    pub report: StepReport,
}

impl<'a> Problem<'a> {
    /// The problem of an experiment and its recordings, worked on by `threads` threads. Windows start from
    /// their [`initial_state`].
    pub fn new(experiment: &'a Experiment, dataset: &'a Dataset, threads: usize) -> Self {
        let initial = parallel(threads, dataset.windows.len(), |k| {
            let window = &dataset.windows[k];
            match dataset.holds(window.trajectory) {
                true => initial_state(experiment, dataset, window),
                false => State::default(),
            }
        });
        Problem::starting_from(experiment, dataset, initial, threads)
    }

    /// [`new`](Self::new) with other states to start from, one a window.
    pub fn starting_from(
        experiment: &'a Experiment,
        dataset: &'a Dataset,
        initial: Vec<State<f64>>,
        threads: usize,
    ) -> Self {
        let space = SearchSpace::new(&experiment.parameters);
        Problem {
            prior: (DVector::zeros(0), DMatrix::zeros(0, space.len())),
            measurement: Measurement::new(experiment, dataset),
            space,
            base: &experiment.scene.parameters,
            threads: threads.max(1),
            trial: initial.clone(),
            damping: vec![DAMPING; initial.len()],
            moved: vec![false; initial.len()],
            changes: Vec::new(),
            active: (0..initial.len()).collect(),
            own: dataset.own_windows(),
            horizon: usize::MAX,
            initial,
            blocks: Vec::new(),
            linearized_at: Vec::new(),
            weights: Vec::new(),
            cap_sensitivity: false,
            hold_initial: false,
            rollouts: Mutex::default(),
            effort: Effort::default(),
            report: StepReport::default(),
        }
    }

    /// Lets only every n-th trajectory count, and only the first `horizon` recorded steps of their windows.
    pub fn restrict(&mut self, every: usize, horizon: usize) {
        self.select(|trajectory| trajectory.is_multiple_of(every.max(1)));
        self.horizon = horizon.max(1);
    }

    /// Looks at masks through this entry of the list of blurs of each camera, or its last.
    pub fn blur(&mut self, blur: usize) {
        self.linearized_at.clear();
        self.measurement.blur = blur;
    }

    /// Lets only these trajectories count.
    pub fn select(&mut self, counts: impl Fn(usize) -> bool) {
        let windows = &self.measurement.dataset.windows;
        self.active = (0..windows.len()).filter(|&k| counts(windows[k].trajectory)).collect();
        let held = |k: &usize| self.measurement.dataset.holds(windows[*k].trajectory);
        self.own = self.active.iter().copied().filter(held).collect();
        self.blocks.clear();
        self.linearized_at.clear();
    }

    /// The cost at `x`, linearised there unless it is already, with the same windows and initial states.
    pub(crate) fn linearize_anew(&mut self, x: &[f64], cost: f64) -> f64 {
        if self.linearized_at != x {
            return self.linearize(x);
        }
        // The last evaluation may have been a trial that was given up.
        self.report = self.reports(self.blocks.iter().map(|block| &block.report));
        cost
    }

    /// The windows at the last linearised point that have steps no body makes, and these.
    pub(crate) fn implausible(&self) -> Vec<(Window, Plausibility)> {
        let dataset = self.measurement.dataset;
        let all = self.blocks.iter().zip(&self.own);
        let all = all.map(|(block, &k)| (k, block.report.plausibility));
        let own: Vec<_> = all.filter(|(_, plausibility)| !plausibility.is_whole()).collect();
        let all = dataset.group().gather("implausible steps", 0, own).into_iter().flatten();
        all.map(|(k, plausibility)| (dataset.windows[k], plausibility)).collect()
    }

    /// Where windows start, with their damping.
    pub(super) fn window_states(&self) -> WindowStates {
        WindowStates { initial: self.initial.clone(), damping: self.damping.clone() }
    }

    /// Sets the damping of the initial states.
    pub(crate) fn set_damping(&mut self, damping: &[f64]) {
        self.damping.copy_from_slice(damping);
    }

    /// Takes the work of a linearisation at `x` off the effort: a search that is resumed makes the last one
    /// of its first part again.
    pub(crate) fn forget_next_linearisation(&mut self, x: Option<&[f64]>) {
        let Some(x) = x else { return };
        let before = self.effort;
        self.linearize(x);
        let more = self.effort.derivative_steps - before.derivative_steps;
        let derivative_steps = before.derivative_steps.saturating_sub(more);
        self.effort = Effort { derivative_steps, ..before };
    }

    /// The part of window `k` that counts.
    pub(super) fn stretch(&self, k: usize) -> Window {
        let Window { trajectory, first, steps, .. } = self.measurement.dataset.windows[k];
        Window { trajectory, first, steps: steps.min(self.horizon) }
    }

    /// The number of residuals, those of priors included.
    pub fn residual_count(&self) -> usize {
        let windows = self.own.iter().map(|&k| self.stretch(k));
        let recorded: usize = windows.map(|w| residual_count(&self.measurement, &w)).sum();
        let recorded = self.measurement.dataset.group().total("residuals", recorded);
        recorded + self.space.prior_residuals(&self.space.start()).len()
    }

    /// Unknowns of an initial state.
    pub fn initial_unknowns(&self) -> usize {
        let free = self.is_fitted() && !self.hold_initial;
        if free { 2 * self.moving().count() } else { 0 }
    }

    /// The velocities that nothing prescribes.
    fn moving(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        let joints = self.measurement.model.bodies.iter().map(|body| &body.joint);
        let joints = joints.filter(|joint| !joint.prescribed);
        joints.flat_map(|joint| joint.v..joint.v + joint.kind.nv())
    }

    /// The places of the unknowns of an initial state in a tangent vector of it.
    fn unknown_places(&self) -> impl Iterator<Item = usize> + '_ {
        let nv = self.measurement.model.nv();
        self.moving().chain(self.moving().map(move |v| nv + v))
    }

    /// The tangent vector of an initial state in which its unknowns are those, and all else is 0.
    pub(super) fn initial_tangent<T: Real>(&self, unknowns: &[T]) -> Vec<T> {
        let mut tangent = vec![T::zero(); 2 * self.measurement.model.nv()];
        self.unknown_places().zip(unknowns).for_each(|(place, &x)| tangent[place] = x);
        tangent
    }

    /// The same of an adjoint: the part of the unknowns.
    pub(super) fn initial_part(&self, adjoint: &[f64]) -> Vec<f64> {
        self.unknown_places().map(|place| adjoint[place]).collect()
    }

    fn is_fitted(&self) -> bool {
        self.measurement.initial_state == InitialState::Fitted
    }

    /// Steps of one simulation of all windows that count.
    pub(super) fn window_steps(&self) -> usize {
        let dataset = self.measurement.dataset;
        self.active.iter().map(|&k| dataset.simulated_steps(&self.stretch(k))).sum()
    }

    pub(super) fn parameters_at<T: Real>(&self, x: &[T]) -> Parameters<T> {
        let mut parameters = self.base.cast();
        self.space.set(x, &mut parameters);
        parameters
    }

    /// The part of the cost that is of the priors.
    pub(super) fn prior_cost<T: Real>(&self, x: &[T]) -> T {
        let r = self.space.prior_residuals(x);
        crate::linalg::dot(&r, &r) * 0.5
    }

    /// The cost at variables `x` with the present initial states.
    pub fn cost(&mut self, x: &[f64]) -> f64 {
        let costs = self.costs_from(x, &self.initial);
        self.effort.steps += self.window_steps();
        self.report = self.reports(costs.iter().map(|(_, report)| report));
        let costs: Vec<f64> = costs.into_iter().map(|(cost, _)| cost).collect();
        self.sum("cost", x, &costs) + self.prior_cost(x)
    }

    /// Sum and count of the squared residuals of each recording that counts at `x`, from the present initial states.
    pub(crate) fn recording_squares(&self, x: &[f64]) -> BTreeMap<usize, (f64, usize)> {
        let mut sums: BTreeMap<usize, (f64, usize)> = BTreeMap::new();
        for (&k, (cost, _)) in self.own.iter().zip(self.costs_from(x, &self.initial)) {
            let window = self.stretch(k);
            let (sum, count) = sums.entry(window.trajectory).or_default();
            *sum += 2.0 * cost;
            *count += residual_count(&self.measurement, &window);
        }
        let all = self.measurement.dataset.group().gather("squares", self.alike(x), sums);
        all.into_iter().flatten().collect()
    }

    /// The cost of each window that counts and is held here, and how its contact problems were solved.
    fn costs_from(&self, x: &[f64], initial: &[State<f64>]) -> Vec<(f64, StepReport)> {
        let parameters = self.parameters_at(x);
        parallel(self.threads, self.own.len(), |at| {
            let k = self.own[at];
            let mut r = Vec::new();
            let window = self.stretch(k);
            let report = residuals(&self.measurement, &window, &parameters, &initial[k], &mut r);
            // Parameters that no body can have (an inertia that is not positive definite) are as
            // far off as can be.
            let admissible = report.worst.status != Status::InvalidInput;
            let cost =
                if admissible { 0.5 * r.iter().map(|r| r * r).sum::<f64>() } else { f64::INFINITY };
            (cost, report)
        })
    }

    /// Moves the initial state of the `at`-th window that counts by its unknowns.
    pub(crate) fn move_initial(&mut self, at: usize, tangent: &[f64]) {
        let k = self.active[at];
        self.linearized_at.clear();
        if !self.measurement.dataset.holds(self.measurement.dataset.windows[k].trajectory) {
            return;
        }
        let coordinates = self.measurement.model.coordinates();
        let tangent = self.initial_tangent(tangent);
        self.initial[k] = self.initial[k].moved(coordinates, &tangent);
    }

    /// Residuals and Jacobian of window `k` by duals.
    fn block(&self, x: &[f64], k: usize) -> WindowEquations {
        let window = &self.stretch(k);
        let (np, nx) = (x.len(), self.initial_unknowns());
        let mut report = StepReport::default();
        let mut passes = 0;
        let mut input = x.to_vec();
        input.resize(np + nx, 0.0);
        let (r, j) = ad::jacobian::<LANES>(
            |z: &[Dual<f64, LANES>]| {
                let (p, tangent) = z.split_at(np);
                let mut initial = self.initial[k].cast();
                if nx > 0 {
                    let tangent = self.initial_tangent(tangent);
                    initial = initial.moved(self.measurement.model.coordinates(), &tangent);
                }
                let mut r = Vec::new();
                let parameters = self.parameters_at(p);
                report = residuals(&self.measurement, window, &parameters, &initial, &mut r);
                passes += 1;
                r
            },
            &input,
        );
        let r = DVector::from_vec(r);
        let (jp, jx) = (j.columns(0, np), j.columns(np, nx));
        let mut equations = WindowEquations::new(&r, [jp, jx], report, passes);
        equations.reduce(self.damping[k]);
        equations
    }
}

impl Problem<'_> {
    /// What the recordings tell about each variable at the last linearised point: the diagonal of J'J.
    pub(crate) fn information(&self) -> Vec<f64> {
        self.normal_equations().0.diagonal().iter().copied().collect()
    }

    /// J'J and J'r of the priors at the last linearised point.
    pub(crate) fn prior_equations(&self) -> (DMatrix<f64>, DVector<f64>) {
        let (r, j) = &self.prior;
        (j.tr_mul(j), j.tr_mul(r))
    }
}

impl LeastSquares for Problem<'_> {
    // Along weights the search is slow everywhere, and is not made faster by looking along each.
    fn has_kinks(&self) -> bool {
        !self.space.has_weights()
    }

    fn linearize(&mut self, x: &[f64]) -> f64 {
        self.blocks = parallel(self.threads, self.own.len(), |at| self.block(x, self.own[at]));
        self.report = self.reports(self.blocks.iter().map(|block| &block.report));
        let dataset = self.measurement.dataset;
        let steps = self.blocks.iter().zip(&self.own);
        let steps =
            steps.map(|(block, &k)| block.passes * dataset.simulated_steps(&self.stretch(k)));
        self.effort.derivative_steps += dataset.group().total("steps", steps.sum());
        self.weights = self.sensitivity_weights();
        self.linearized_at = x.to_vec();
        let prior = |z: &[Dual<f64, LANES>]| self.space.prior_residuals(z);
        let (r, j) = ad::jacobian::<LANES>(prior, x);
        self.prior = (DVector::from_vec(r), j);
        let own = 0.5 * self.prior.0.norm_squared();
        let costs: Vec<f64> = self.blocks.iter().map(|block| block.cost).collect();
        self.sum("linearised cost", x, &costs) + own
    }

    fn is_rough(&self) -> bool {
        let few = self.weights.iter().filter(|&&weight| weight < 1.0).count();
        few as f64 > ROUGH * self.weights.len() as f64
    }

    /// Of J'J the lower half is added up, which is all that factors look at; the upper one is its mirror.
    fn normal_equations(&self) -> (DMatrix<f64>, DVector<f64>) {
        let (mut h, g) = self.summed_equations(|j| j);
        h.fill_upper_triangle_with_lower_triangle();
        (h, g)
    }

    fn trial(&mut self, x: &[f64], step: &[f64]) -> Trial {
        let step = DVector::from_column_slice(step);
        let fitted = self.initial_unknowns() > 0;
        // Of each window held here: what is predicted of the variables and of the initial state.
        let mut predicted = Vec::with_capacity(self.own.len());
        let mut eliminated_step = 0.0_f64;
        let weights: Vec<f64> = self.own_weights().collect();
        for ((&k, block), &weight) in self.own.iter().zip(&self.blocks).zip(&weights) {
            let own = block.gp.dot(&step) + 0.5 * step.dot(&(&block.hpp * &step));
            predicted.push([-(weight * own), 0.0]);
            if block.gx.is_empty() {
                continue;
            }
            let Some(cholesky) = block.damped(self.damping[k]).cholesky() else {
                self.trial[k] = self.initial[k].clone();
                continue;
            };
            let coupled = block.hpx.tr_mul(&step);
            let dx = -cholesky.solve(&(&block.gx + &coupled));
            let own = block.gx.dot(&dx) + dx.dot(&coupled) + 0.5 * dx.dot(&(&block.hxx * &dx));
            predicted.iter_mut().last().into_iter().for_each(|last| last[1] = -(weight * own));
            // In units of what the recording can tell: one standard deviation of the unknown.
            for (i, d) in dx.iter().enumerate() {
                let size = d.abs() * block.hxx[(i, i)].sqrt();
                eliminated_step = eliminated_step.max(size * 1e-3);
            }
            let coordinates = self.measurement.model.coordinates();
            let tangent = self.initial_tangent(dx.as_slice());
            self.trial[k] = self.initial[k].moved(coordinates, &tangent);
        }
        let target: Vec<f64> = x.iter().zip(step.iter()).map(|(x, d)| x + d).collect();
        let mut costs = Vec::with_capacity(self.own.len());
        let moved = self.costs_from(&target, &self.trial);
        self.effort.steps += self.window_steps();
        if !fitted {
            costs.extend(moved.iter().map(|(cost, _)| *cost));
        } else {
            // Each window keeps its initial state where moving it does not pay.
            let held = self.costs_from(&target, &self.initial);
            self.effort.steps += self.window_steps();
            for (at, ((moved, _), (held, _))) in moved.iter().zip(&held).enumerate() {
                let k = self.own[at];
                self.moved[k] = moved < held;
                costs.push(moved.min(*held));
                if !self.moved[k] {
                    self.trial[k].clone_from(&self.initial[k]);
                    self.damping[k] = (4.0 * self.damping[k]).min(MAX_DAMPING);
                }
            }
            let all = self.measurement.dataset.group().gather("lengths", 0, eliminated_step);
            eliminated_step = all.into_iter().fold(0.0, f64::max);
        }
        self.changes = self.changes(&costs);
        let sum = Sum {
            what: "trial",
            alike: self.alike(&target),
            places: if fitted { &[0, 0, 1] } else { &[0, 1] },
            begin: &[0.0; 2],
        };
        let shares = &self.measurement.dataset.shares;
        let sums = shares.sum(&sum, &self.own_recordings(), |k, to| {
            to.extend(&predicted[k][..if fitted { 2 } else { 1 }]);
            to.push(costs[k]);
        });
        let [mut predicted, cost] = [sums[0], sums[1]];
        let (r, j) = &self.prior;
        let moves = j * &step;
        predicted -= moves.dot(r) + 0.5 * moves.norm_squared();
        let cost = cost + self.prior_cost(&target);
        let cost = if cost.is_finite() { cost } else { f64::INFINITY };
        Trial { cost, predicted, eliminated_step }
    }

    // Of the trial, and not with it: it is asked for where the cost is rough alone.
    fn significance(&self) -> Option<f64> {
        if self.recording_count() < LEAST_RECORDINGS {
            return None;
        }
        let sum = Sum {
            what: "significance",
            alike: self.alike(&self.linearized_at),
            places: &[0, 1],
            begin: &[0.0; 2],
        };
        let shares = &self.measurement.dataset.shares;
        let sums = shares.sum(&sum, &self.own_recordings(), |k, to| {
            let change = self.changes[k].unwrap_or_default();
            to.extend([change, change * change]);
        });
        let [change, square] = [sums[0], sums[1]];
        (square > 0.0 && square.is_finite()).then(|| change.abs() / square.sqrt())
    }

    fn accept(&mut self) {
        if self.initial_unknowns() == 0 {
            return;
        }
        for &k in &self.own {
            self.initial[k].clone_from(&self.trial[k]);
            if self.moved[k] {
                self.damping[k] = (self.damping[k] / 3.0).max(MIN_DAMPING);
            }
        }
    }
}
