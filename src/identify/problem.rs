//! The sum of squares over all windows, in parallel, with fitted initial states eliminated.

use std::sync::atomic::{AtomicUsize, Ordering};

use nalgebra::{DMatrix, DVector};

use super::levenberg_marquardt::{LeastSquares, Trial};
use super::loss::{Measurement, residuals_per_frame};
use super::{Dataset, Experiment, InitialState, SearchSpace, residuals};
use crate::ad::{self, Dual, Real, Var};
use crate::argmin::Status;
use crate::model::Parameters;
use crate::simulation::StepReport;
use crate::state::State;

/// Damping of initial states at the start, and its bounds.
const DAMPING: f64 = 1e-4;
const MIN_DAMPING: f64 = 1e-12;
const MAX_DAMPING: f64 = 1e12;

/// Simulated steps so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Without derivatives.
    pub steps: usize,
    /// With derivatives: each pass of duals over all its lanes, or recording, counts one.
    pub derivative_steps: usize,
}

/// The normal equations of one window, in parameters p and initial state x.
struct Block {
    cost: f64,
    hpp: DMatrix<f64>,
    hpx: DMatrix<f64>,
    hxx: DMatrix<f64>,
    gp: DVector<f64>,
    gx: DVector<f64>,
    report: StepReport,
    passes: usize,
}

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
    blocks: Vec<Block>,
    /// Residuals of the priors and their Jacobian.
    prior: (DVector<f64>, DMatrix<f64>),
    /// Whether fitted initial states are held where they are, as if they were recorded.
    pub hold_initial: bool,
    /// Steps simulated so far.
    pub effort: Effort,
    /// Contact solves of the last evaluation.
    pub report: StepReport,
}

impl<'a> Problem<'a> {
    /// The problem of an experiment and its recordings, worked on by `threads` threads.
    pub fn new(experiment: &'a Experiment, dataset: &'a Dataset, threads: usize) -> Self {
        let initial: Vec<_> = dataset.windows.iter().map(|w| w.initial.clone()).collect();
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
            initial,
            blocks: Vec::new(),
            hold_initial: false,
            effort: Effort::default(),
            report: StepReport::default(),
        }
    }

    /// The number of residuals, those of priors included.
    pub fn residual_count(&self) -> usize {
        let first = usize::from(self.is_fitted());
        let dataset = self.measurement.dataset;
        let counts: Vec<usize> = dataset
            .trajectories
            .iter()
            .map(|trajectory| residuals_per_frame(&self.measurement, &trajectory.recorded))
            .collect();
        let recorded: usize =
            dataset.windows.iter().map(|w| (w.steps + first) * counts[w.trajectory]).sum();
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

    /// Steps of one simulation of all windows.
    fn window_steps(&self) -> usize {
        let dataset = self.measurement.dataset;
        dataset.windows.iter().map(|w| w.steps * dataset.substeps).sum()
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

    /// The cost of each window, and how its contact problems were solved.
    fn costs_from(&self, x: &[f64], initial: &[State<f64>]) -> Vec<(f64, StepReport)> {
        let parameters = self.parameters_at(x);
        let windows = &self.measurement.dataset.windows;
        parallel(self.threads, windows.len(), |k| {
            let mut r = Vec::new();
            let report =
                residuals(&self.measurement, &windows[k], &parameters, &initial[k], &mut r);
            // Parameters that no body can have (an inertia that is not positive definite) are as
            // far off as can be.
            let admissible = report.worst.status != Status::InvalidInput;
            let cost =
                if admissible { 0.5 * r.iter().map(|r| r * r).sum::<f64>() } else { f64::INFINITY };
            (cost, report)
        })
    }

    /// The cost and its gradient in [variables..., initial-state tangents window by window], by
    /// one recording and one adjoint sweep a window.
    ///
    /// # Errors
    /// Those of [`ad::gradient`].
    pub fn gradient(&mut self, x: &[f64]) -> Result<(f64, Vec<f64>), ad::Error> {
        let windows = &self.measurement.dataset.windows;
        let unknowns = self.initial_unknowns();
        let mut input = x.to_vec();
        input.resize(x.len() + unknowns, 0.0);
        let parts = parallel(self.threads, windows.len(), |k| {
            let mut report = StepReport::default();
            let cost = |z: &[Var]| {
                let (p, tangent) = z.split_at(x.len());
                let mut initial = self.initial[k].cast();
                if unknowns > 0 {
                    initial = initial.moved(self.measurement.model.coordinates(), tangent);
                }
                let mut r = Vec::new();
                let parameters = self.parameters_at(p);
                report = residuals(&self.measurement, &windows[k], &parameters, &initial, &mut r);
                crate::linalg::dot(&r, &r) * 0.5
            };
            let result = ad::gradient(cost, &input);
            result.map(|(cost, gradient)| (cost, gradient, report))
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
            gradient.extend_from_slice(&g[x.len()..]);
            self.report.merge(&report);
        }
        let (own, slopes) = ad::gradient(|z: &[Var]| self.prior_cost(z), x)?;
        total += own;
        gradient.iter_mut().zip(slopes).for_each(|(sum, slope)| *sum += slope);
        self.effort.derivative_steps += self.window_steps();
        Ok((total, gradient))
    }

    /// Moves the initial state of window `k` by a tangent vector.
    pub(super) fn move_initial(&mut self, k: usize, tangent: &[f64]) {
        let coordinates = self.measurement.model.coordinates();
        self.initial[k] = self.initial[k].moved(coordinates, tangent);
    }

    /// Residuals and Jacobian of window `k` by duals of `N` lanes.
    fn block<const N: usize>(&self, x: &[f64], k: usize) -> Block {
        let window = &self.measurement.dataset.windows[k];
        let (np, nx) = (x.len(), self.initial_unknowns());
        let mut report = StepReport::default();
        let mut passes = 0;
        let mut input = x.to_vec();
        input.resize(np + nx, 0.0);
        let (r, j) = ad::jacobian::<N>(
            |z: &[Dual<f64, N>]| {
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
        let admissible = report.worst.status != Status::InvalidInput;
        Block {
            cost: if admissible { 0.5 * r.norm_squared() } else { f64::INFINITY },
            hpp: jp.tr_mul(&jp),
            hpx: jp.tr_mul(&jx),
            hxx: jx.tr_mul(&jx),
            gp: jp.tr_mul(&r),
            gx: jx.tr_mul(&r),
            report,
            passes,
        }
    }

    /// hxx with its diagonal damped; a direction the recording says nothing about stays put.
    fn damped(block: &Block, damping: f64) -> DMatrix<f64> {
        let mut h = block.hxx.clone();
        let floor = 1e-12 * h.diagonal().max().max(f64::MIN_POSITIVE);
        for i in 0..h.nrows() {
            h[(i, i)] = h[(i, i)] * (1.0 + damping) + floor;
        }
        h
    }
}

impl Problem<'_> {
    /// The gradient of the cost of each trajectory in the variables at the last linearised point, initial
    /// states eliminated: the terms of the gradient that [`normal_equations`] gives, but for the priors'.
    ///
    /// [`normal_equations`]: LeastSquares::normal_equations
    pub(super) fn scores(&self) -> Vec<DVector<f64>> {
        let dataset = self.measurement.dataset;
        let nothing = DVector::zeros(self.space.len());
        let mut scores = vec![nothing; dataset.trajectories.len()];
        for ((block, &damping), window) in
            self.blocks.iter().zip(&self.damping).zip(&dataset.windows)
        {
            scores[window.trajectory] += Self::reduced(block, damping).1;
        }
        scores
    }

    /// J'J of the priors at the last linearised point.
    pub(super) fn prior_information(&self) -> DMatrix<f64> {
        self.prior.1.tr_mul(&self.prior.1)
    }

    /// The normal equations of a window in the variables: the Schur complement of its initial state.
    fn reduced(block: &Block, damping: f64) -> (DMatrix<f64>, DVector<f64>) {
        let (mut h, mut g) = (block.hpp.clone(), block.gp.clone());
        if !block.gx.is_empty()
            && let Some(cholesky) = Self::damped(block, damping).cholesky()
        {
            h -= &block.hpx * cholesky.solve(&block.hpx.transpose());
            g -= &block.hpx * cholesky.solve(&block.gx);
        }
        (h, g)
    }
}

impl LeastSquares for Problem<'_> {
    fn linearize(&mut self, x: &[f64]) -> f64 {
        let directions = x.len() + self.initial_unknowns();
        let windows = self.measurement.dataset.windows.len();
        self.blocks = parallel(self.threads, windows, |k| match directions {
            0..=1 => self.block::<1>(x, k),
            2 => self.block::<2>(x, k),
            3..=4 => self.block::<4>(x, k),
            5..=8 => self.block::<8>(x, k),
            _ => self.block::<16>(x, k),
        });
        self.report = StepReport::default();
        let substeps = self.measurement.dataset.substeps;
        for (block, window) in self.blocks.iter().zip(&self.measurement.dataset.windows) {
            self.report.merge(&block.report);
            self.effort.derivative_steps += block.passes * window.steps * substeps;
        }
        let (r, j) = ad::jacobian::<4>(|z: &[Dual<f64, 4>]| self.space.prior_residuals(z), x);
        self.prior = (DVector::from_vec(r), j);
        let own = 0.5 * self.prior.0.norm_squared();
        self.blocks.iter().map(|block| block.cost).sum::<f64>() + own
    }

    fn normal_equations(&self) -> (DMatrix<f64>, DVector<f64>) {
        let n = self.space.len();
        let (mut h, mut g) = (DMatrix::zeros(n, n), DVector::zeros(n));
        for (block, &damping) in self.blocks.iter().zip(&self.damping) {
            let (own_h, own_g) = Self::reduced(block, damping);
            h += own_h;
            g += own_g;
        }
        let (r, j) = &self.prior;
        if !r.is_empty() {
            h += self.prior_information();
            g += j.tr_mul(r);
        }
        (h, g)
    }

    fn trial(&mut self, x: &[f64], step: &[f64]) -> Trial {
        let step = DVector::from_column_slice(step);
        let mut predicted = 0.0;
        let mut eliminated_step = 0.0_f64;
        for (k, block) in self.blocks.iter().enumerate() {
            predicted -= block.gp.dot(&step) + 0.5 * step.dot(&(&block.hpp * &step));
            if block.gx.is_empty() {
                continue;
            }
            let Some(cholesky) = Self::damped(block, self.damping[k]).cholesky() else {
                self.trial[k] = self.initial[k].clone();
                continue;
            };
            let coupled = block.hpx.tr_mul(&step);
            let dx = -cholesky.solve(&(&block.gx + &coupled));
            predicted -= block.gx.dot(&dx) + dx.dot(&coupled) + 0.5 * dx.dot(&(&block.hxx * &dx));
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
        let mut cost = 0.0;
        let moved = self.costs_from(&target, &self.trial);
        self.effort.steps += self.window_steps();
        if self.initial_unknowns() == 0 {
            cost = moved.iter().map(|(cost, _)| cost).sum();
        } else {
            // Each window keeps its initial state where moving it does not pay.
            let held = self.costs_from(&target, &self.initial);
            self.effort.steps += self.window_steps();
            for (k, ((moved, _), (held, _))) in moved.iter().zip(&held).enumerate() {
                self.moved[k] = moved < held;
                cost += if self.moved[k] { moved } else { held };
                if !self.moved[k] {
                    self.trial[k].clone_from(&self.initial[k]);
                    self.damping[k] = (4.0 * self.damping[k]).min(MAX_DAMPING);
                }
            }
        }
        cost += self.prior_cost(&target);
        let cost = if cost.is_finite() { cost } else { f64::INFINITY };
        Trial { cost, predicted, eliminated_step }
    }

    fn accept(&mut self) {
        self.initial.clone_from(&self.trial);
        for (damping, &moved) in self.damping.iter_mut().zip(&self.moved) {
            if moved {
                *damping = (*damping / 3.0).max(MIN_DAMPING);
            }
        }
    }
}

/// `f(0..count)` on `threads` threads, in order.
pub(super) fn parallel<R: Send>(
    threads: usize,
    count: usize,
    f: impl Fn(usize) -> R + Sync,
) -> Vec<R> {
    if threads <= 1 || count <= 1 {
        return (0..count).map(f).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let k = next.fetch_add(1, Ordering::Relaxed);
            if k >= count {
                return done;
            }
            done.push((k, f(k)));
        }
    };
    let mut results = std::thread::scope(|scope| {
        let workers: Vec<_> = (1..threads.min(count)).map(|_| scope.spawn(work)).collect();
        let mut results = work();
        for worker in workers {
            match worker.join() {
                Ok(done) => results.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    });
    results.sort_by_key(|(k, _)| *k);
    results.into_iter().map(|(_, result)| result).collect()
}
