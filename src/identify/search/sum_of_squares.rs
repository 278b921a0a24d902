//! The sum of squares over all windows, in parallel, with fitted initial states eliminated [Triggs00] 6.1.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use nalgebra::{DMatrix, DVector};

use super::levenberg_marquardt::{LeastSquares, Trial};
use super::window_equations::{Reduced, WindowEquations};
use super::{Effort, SearchSpace};
use crate::ad::{self, Dual, LANES, Real, Var};
use crate::argmin::Status;
use crate::identify::data::{Dataset, Window};
use crate::identify::experiment::{Experiment, InitialState};
use crate::identify::parallel;
use crate::identify::residuals::{
    Measurement, forgets, initial_state, residual_count, residuals, window_gradient,
};
use crate::identify::statistics::LEAST_RECORDINGS;
use crate::linearize::RolloutAdjoint;
use crate::model::Parameters;
use crate::simulation::{Plausibility, StepReport};
use crate::state::State;

/// Damping of initial states at the start, and its bounds.
const DAMPING: f64 = 1e-4;
const MIN_DAMPING: f64 = 1e-12;
const MAX_DAMPING: f64 = 1e12;

/// Information of a trajectory on a variable beyond this many times the median is capped, if there are as many
/// trajectories; and if at least half of them have this share of what the most sensitive one has.
const CAP: f64 = 10.0;
const LEAST_CAPPED: usize = 10;
const UNTOLD: f64 = 1e-9;
/// The cost is rough where this share of the windows is capped.
const ROUGH: f64 = 0.05;

/// The identification problem: cost = |residuals|² / 2, summed over windows in their order, so that
/// the result has the same bits on any number of threads; and of those of the priors. Its variables are those
/// of the [`SearchSpace`].
pub struct Problem<'a> {
    measurement: Measurement<'a>,
    /// The variables, and the parameters they stand for.
    pub space: SearchSpace<'a>,
    base: &'a Parameters<f64>,
    threads: usize,
    /// The initial state of each window.
    pub initial: Vec<State<f64>>,
    trial: Vec<State<f64>>,
    /// Damping of the initial state of each window, and whether the last trial moved it: one
    /// window at a kink must not shorten the steps of the others.
    damping: Vec<f64>,
    moved: Vec<bool>,
    /// The windows that count, and how many of their steps at most.
    active: Vec<usize>,
    horizon: usize,
    /// Of the windows that count, at the last linearised point.
    blocks: Vec<WindowEquations>,
    /// How much the block of each counts in steps.
    weights: Vec<f64>,
    /// Whether trajectories that are far more sensitive than others count less in steps: those that
    /// amplify what is between two impacts, so that their derivatives hold next to nowhere.
    pub cap_sensitivity: bool,
    /// Where that is.
    linearized_at: Vec<f64>,
    /// Residuals of the priors and their Jacobian.
    prior: (DVector<f64>, DMatrix<f64>),
    /// Whether fitted initial states are held where they are, as if they were recorded.
    pub hold_initial: bool,
    /// Memory of rollouts that nobody works in.
    rollouts: Mutex<Vec<RolloutAdjoint>>,
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
            initial_state(experiment, dataset, &dataset.windows[k])
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
            active: (0..initial.len()).collect(),
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
        self.blocks.clear();
        self.linearized_at.clear();
    }

    /// The cost at `x`, linearised there unless it is already, with the same windows and initial states.
    pub(crate) fn linearize_anew(&mut self, x: &[f64], cost: f64) -> f64 {
        if self.linearized_at != x {
            return self.linearize(x);
        }
        // The last evaluation may have been a trial that was given up.
        self.report = StepReport::default();
        self.blocks.iter().for_each(|block| self.report.merge(&block.report));
        cost
    }

    /// The windows at the last linearised point that have steps no body makes, and these.
    pub(crate) fn implausible(&self) -> impl Iterator<Item = (&Window, Plausibility)> {
        let windows = &self.measurement.dataset.windows;
        let all = self.blocks.iter().zip(&self.active);
        let all = all.map(|(block, &k)| (&windows[k], block.report.plausibility));
        all.filter(|(_, plausibility)| !plausibility.is_whole())
    }

    /// Damping of the initial state of each window.
    pub(crate) fn damping(&self) -> &[f64] {
        &self.damping
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
    fn stretch(&self, k: usize) -> Window {
        let Window { trajectory, first, steps, .. } = self.measurement.dataset.windows[k];
        Window { trajectory, first, steps: steps.min(self.horizon) }
    }

    /// The number of residuals, those of priors included.
    pub fn residual_count(&self) -> usize {
        let windows = self.active.iter().map(|&k| self.stretch(k));
        let recorded: usize = windows.map(|w| residual_count(&self.measurement, &w)).sum();
        recorded + self.space.prior_residuals(&self.space.start()).len()
    }

    /// Unknowns of an initial state.
    pub fn initial_unknowns(&self) -> usize {
        let free = self.is_fitted() && !self.hold_initial;
        if free { 2 * self.measurement.model.nv() } else { 0 }
    }

    fn is_fitted(&self) -> bool {
        self.measurement.initial_state == InitialState::Fitted
    }

    /// Steps of one simulation of all windows that count.
    fn window_steps(&self) -> usize {
        let dataset = self.measurement.dataset;
        self.active.iter().map(|&k| dataset.simulated_steps(&self.stretch(k))).sum()
    }

    fn parameters_at<T: Real>(&self, x: &[T]) -> Parameters<T> {
        let mut parameters = self.base.cast();
        self.space.set(x, &mut parameters);
        parameters
    }

    /// The part of the cost that is of the priors.
    fn prior_cost<T: Real>(&self, x: &[T]) -> T {
        let r = self.space.prior_residuals(x);
        crate::linalg::dot(&r, &r) * 0.5
    }

    /// The cost at variables `x` with the present initial states.
    pub fn cost(&mut self, x: &[f64]) -> f64 {
        let costs = self.costs_from(x, &self.initial);
        self.effort.steps += self.window_steps();
        self.report = StepReport::default();
        costs.iter().for_each(|(_, report)| self.report.merge(report));
        costs.iter().map(|(cost, _)| cost).sum::<f64>() + self.prior_cost(x)
    }

    /// Sum and count of the squared residuals of each recording that counts at `x`, from the present initial states.
    pub(crate) fn recording_squares(&self, x: &[f64]) -> BTreeMap<usize, (f64, usize)> {
        let mut sums: BTreeMap<usize, (f64, usize)> = BTreeMap::new();
        for (&k, (cost, _)) in self.active.iter().zip(self.costs_from(x, &self.initial)) {
            let window = self.stretch(k);
            let (sum, count) = sums.entry(window.trajectory).or_default();
            *sum += 2.0 * cost;
            *count += residual_count(&self.measurement, &window);
        }
        sums
    }

    /// The cost of each window that counts, and how its contact problems were solved.
    fn costs_from(&self, x: &[f64], initial: &[State<f64>]) -> Vec<(f64, StepReport)> {
        let parameters = self.parameters_at(x);
        parallel(self.threads, self.active.len(), |at| {
            let k = self.active[at];
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

    /// The cost and its gradient in [variables..., initial-state tangents of the windows that count], backwards over
    /// the steps of each window (see [`RolloutAdjoint`]).
    ///
    /// # Errors
    /// Those of [`ad::gradient`].
    pub fn gradient(&mut self, x: &[f64]) -> Result<(f64, Vec<f64>), ad::Error> {
        let unknowns = self.initial_unknowns();
        let forgets = forgets(&self.measurement.dataset.settings);
        let parts = parallel(self.threads, self.active.len(), |at| {
            let k = self.active[at];
            match forgets {
                true => self.gradient_by_adjoints(x, k),
                false => self.gradient_by_tape(x, k),
            }
        });
        let mut total = 0.0;
        let mut gradient = vec![0.0; x.len()];
        self.report = StepReport::default();
        for part in parts {
            let (cost, g, report) = part?;
            total += cost;
            for (sum, g) in gradient[..x.len()].iter_mut().zip(&g) {
                *sum += g;
            }
            gradient.extend_from_slice(&g[x.len()..x.len() + unknowns]);
            self.report.merge(&report);
        }
        let (own, slopes) = ad::gradient(|z: &[Var]| self.prior_cost(z), x)?;
        total += own;
        gradient.iter_mut().zip(slopes).for_each(|(sum, slope)| *sum += slope);
        self.effort.derivative_steps += self.window_steps();
        Ok((total, gradient))
    }

    /// The part of a window, in the variables and its initial state.
    fn gradient_by_adjoints(
        &self,
        x: &[f64],
        k: usize,
    ) -> Result<(f64, Vec<f64>, StepReport), ad::Error> {
        let idle = || self.rollouts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rollout = idle().pop().unwrap_or_default();
        let (window, parameters) = (self.stretch(k), self.parameters_at(x));
        let initial = &self.initial[k];
        let found = window_gradient(&self.measurement, &window, &parameters, initial, &mut rollout);
        let (state, report) = (rollout.adjoints().state.clone(), *rollout.report());
        idle().push(rollout);
        let (cost, by_parameters) = found?;
        let values = |x: &[Var]| self.parameters_at(x).values;
        let (_, mut gradient) = ad::vjp(values, x, |_| by_parameters)?;
        gradient.extend(state);
        Ok((cost, gradient, report))
    }

    /// The same by a recording of all steps, where they are tied together by more than states.
    fn gradient_by_tape(
        &self,
        x: &[f64],
        k: usize,
    ) -> Result<(f64, Vec<f64>, StepReport), ad::Error> {
        let window = self.stretch(k);
        let mut input = x.to_vec();
        input.resize(x.len() + self.initial_unknowns(), 0.0);
        let mut report = StepReport::default();
        let cost = |z: &[Var]| {
            let (p, tangent) = z.split_at(x.len());
            let mut initial = self.initial[k].cast();
            if !tangent.is_empty() {
                initial = initial.moved(self.measurement.model.coordinates(), tangent);
            }
            let mut r = Vec::new();
            let parameters = self.parameters_at(p);
            report = residuals(&self.measurement, &window, &parameters, &initial, &mut r);
            crate::linalg::dot(&r, &r) * 0.5
        };
        let (cost, gradient) = ad::gradient(cost, &input)?;
        Ok((cost, gradient, report))
    }

    /// Moves the initial state of the `at`-th window that counts by a tangent vector.
    pub(crate) fn move_initial(&mut self, at: usize, tangent: &[f64]) {
        let k = self.active[at];
        self.linearized_at.clear();
        let coordinates = self.measurement.model.coordinates();
        self.initial[k] = self.initial[k].moved(coordinates, tangent);
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
                    initial = initial.moved(self.measurement.model.coordinates(), tangent);
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
    /// J'J and J'r of each trajectory in the variables at the last linearised point, initial states eliminated:
    /// the terms of the sums that [`normal_equations`] gives, but for the priors'.
    ///
    /// [`normal_equations`]: LeastSquares::normal_equations
    pub(crate) fn recordings(&self) -> Vec<(DMatrix<f64>, DVector<f64>)> {
        let n = self.space.len();
        let nothing = (DMatrix::zeros(n, n), DVector::zeros(n));
        let mut recordings = vec![nothing; self.measurement.dataset.trajectories.len()];
        for ((own, trajectory), &weight) in self.reduced_blocks().zip(&self.weights) {
            let (h, g) = &mut recordings[trajectory];
            *h += &own.0 * weight;
            *g += &own.1 * weight;
        }
        recordings
    }

    /// The normal equations of each window that counts in the variables, and its trajectory.
    fn reduced_blocks(&self) -> impl Iterator<Item = (Cow<'_, Reduced>, usize)> {
        let windows = &self.measurement.dataset.windows;
        self.blocks
            .iter()
            .zip(&self.active)
            .map(|(block, &k)| (block.reduced(self.damping[k]), windows[k].trajectory))
    }

    /// Weights of the windows that count: those of trajectories whose information on a variable is beyond
    /// [`CAP`] times the median count as much as if it were there.
    fn sensitivity_weights(&self) -> Vec<f64> {
        let mut weights = vec![1.0; self.blocks.len()];
        if !self.cap_sensitivity {
            return weights;
        }
        let mut information: BTreeMap<usize, DVector<f64>> = BTreeMap::new();
        for (own, trajectory) in self.reduced_blocks() {
            let own = own.0.diagonal();
            information.entry(trajectory).and_modify(|sum| *sum += &own).or_insert(own);
        }
        if information.len() < LEAST_CAPPED {
            return weights;
        }
        for i in 0..self.space.len() {
            let mut sizes: Vec<f64> = information.values().map(|own| own[i]).collect();
            sizes.sort_by(f64::total_cmp);
            let cap = CAP * sizes[sizes.len() / 2];
            // What most trajectories say nothing about is left to the few that do.
            if cap <= UNTOLD * sizes[sizes.len() - 1] {
                continue;
            }
            for (weight, &k) in weights.iter_mut().zip(&self.active) {
                let own = information[&self.measurement.dataset.windows[k].trajectory][i];
                if own > cap {
                    *weight = weight.min(cap / own);
                }
            }
        }
        weights
    }

    /// The change of the cost from the last linearised point to where the windows that count have `costs`, in
    /// standard errors by how far trajectories disagree; nothing if they are few.
    fn significance(&self, costs: &[f64]) -> Option<f64> {
        let mut changes: BTreeMap<usize, f64> = BTreeMap::new();
        let windows = &self.measurement.dataset.windows;
        for ((&k, block), cost) in self.active.iter().zip(&self.blocks).zip(costs) {
            *changes.entry(windows[k].trajectory).or_default() += cost - block.cost;
        }
        let total: f64 = changes.values().sum();
        let square: f64 = changes.values().map(|change| change * change).sum();
        let told = changes.len() >= LEAST_RECORDINGS && square > 0.0 && square.is_finite();
        told.then(|| total.abs() / square.sqrt())
    }

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
        self.blocks =
            parallel(self.threads, self.active.len(), |at| self.block(x, self.active[at]));
        self.report = StepReport::default();
        let dataset = self.measurement.dataset;
        for (block, &k) in self.blocks.iter().zip(&self.active) {
            self.report.merge(&block.report);
            let steps = dataset.simulated_steps(&self.stretch(k));
            self.effort.derivative_steps += block.passes * steps;
        }
        self.weights = self.sensitivity_weights();
        self.linearized_at = x.to_vec();
        let prior = |z: &[Dual<f64, LANES>]| self.space.prior_residuals(z);
        let (r, j) = ad::jacobian::<LANES>(prior, x);
        self.prior = (DVector::from_vec(r), j);
        let own = 0.5 * self.prior.0.norm_squared();
        self.blocks.iter().map(|block| block.cost).sum::<f64>() + own
    }

    fn is_rough(&self) -> bool {
        let few = self.weights.iter().filter(|&&weight| weight < 1.0).count();
        few as f64 > ROUGH * self.weights.len() as f64
    }

    fn normal_equations(&self) -> (DMatrix<f64>, DVector<f64>) {
        let n = self.space.len();
        let (mut h, mut g) = (DMatrix::zeros(n, n), DVector::zeros(n));
        for ((own, _), &weight) in self.reduced_blocks().zip(&self.weights) {
            h += &own.0 * weight;
            g += &own.1 * weight;
        }
        if !self.prior.0.is_empty() {
            let (own_h, own_g) = self.prior_equations();
            h += own_h;
            g += own_g;
        }
        (h, g)
    }

    fn trial(&mut self, x: &[f64], step: &[f64]) -> Trial {
        let step = DVector::from_column_slice(step);
        let mut predicted = 0.0;
        let mut eliminated_step = 0.0_f64;
        for ((&k, block), &weight) in self.active.iter().zip(&self.blocks).zip(&self.weights) {
            let own = block.gp.dot(&step) + 0.5 * step.dot(&(&block.hpp * &step));
            predicted -= weight * own;
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
            predicted -= weight * own;
            // In units of what the recording can tell: one standard deviation of the unknown.
            for (i, d) in dx.iter().enumerate() {
                let size = d.abs() * block.hxx[(i, i)].sqrt();
                eliminated_step = eliminated_step.max(size * 1e-3);
            }
            let coordinates = self.measurement.model.coordinates();
            self.trial[k] = self.initial[k].moved(coordinates, dx.as_slice());
        }
        let (r, j) = &self.prior;
        let change = j * &step;
        predicted -= change.dot(r) + 0.5 * change.norm_squared();
        let target: Vec<f64> = x.iter().zip(step.iter()).map(|(x, d)| x + d).collect();
        let mut costs = Vec::with_capacity(self.active.len());
        let moved = self.costs_from(&target, &self.trial);
        self.effort.steps += self.window_steps();
        if self.initial_unknowns() == 0 {
            costs.extend(moved.iter().map(|(cost, _)| *cost));
        } else {
            // Each window keeps its initial state where moving it does not pay.
            let held = self.costs_from(&target, &self.initial);
            self.effort.steps += self.window_steps();
            for (at, ((moved, _), (held, _))) in moved.iter().zip(&held).enumerate() {
                let k = self.active[at];
                self.moved[k] = moved < held;
                costs.push(moved.min(*held));
                if !self.moved[k] {
                    self.trial[k].clone_from(&self.initial[k]);
                    self.damping[k] = (4.0 * self.damping[k]).min(MAX_DAMPING);
                }
            }
        }
        let cost = costs.iter().sum::<f64>() + self.prior_cost(&target);
        let cost = if cost.is_finite() { cost } else { f64::INFINITY };
        let significance = self.significance(&costs);
        Trial { cost, predicted, eliminated_step, significance }
    }

    fn accept(&mut self) {
        if self.initial_unknowns() == 0 {
            return;
        }
        for &k in &self.active {
            self.initial[k].clone_from(&self.trial[k]);
            if self.moved[k] {
                self.damping[k] = (self.damping[k] / 3.0).max(MIN_DAMPING);
            }
        }
    }
}
