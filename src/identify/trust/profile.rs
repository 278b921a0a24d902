//! How the loss depends on each parameter around the result of a fit.
//!
//! A profile (`Venzon88`) is the least loss there is at each value of a parameter, everything else fitted anew: the
//! other parameters and fitted initial states. It is of all recordings, so that its value at the result is the
//! loss that was found there, and a lower point is a better fit.
use crate::ad::LANES;
use crate::identify::data::Dataset;
use crate::identify::experiment::{Experiment, FreeParameter, WindowLength};
use crate::identify::search::{
    Effort, Fit, FittedParameter, LeastSquares, Limits, Problem, SearchSpace, Standing, Variables,
    proceed,
};
use crate::state::State;

/// What the other parameters do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Others {
    /// They, and fitted initial states, stay at the result: a section, which shows kinks and further minima.
    Held,
    /// They, and fitted initial states, are fitted anew at each value, from where they were at the one before.
    #[default]
    Fitted,
}

/// The loss along one parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct LossProfile {
    /// Which, by its place among all.
    pub parameter: usize,
    /// Its values, increasing; the result is among them.
    pub values: Vec<f64>,
    /// Mean of the squared residuals at each, of all recordings: 1 is noise alone. At the result the loss of the
    /// fit.
    pub loss: Vec<f64>,
    /// What the others did: those of an inertia that is searched for as one are held.
    pub others: Others,
    /// Steps simulated for it.
    pub effort: Effort,
    /// The best point met, if it is lower than the result.
    pub(crate) lower: Option<Lower>,
}

/// A point that is lower than the result of a fit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Lower {
    /// Mean of the squared residuals.
    pub loss: f64,
    /// The variables of the search.
    pub x: Vec<f64>,
    /// Where the windows start.
    pub initial: Vec<State<f64>>,
}

impl LossProfile {
    /// By how much the loss jumps beside the value of the result, relative to it, if it does on both sides and hardly
    /// rises from there: fits of the others that begin at the result get less deep than the result is, as minima lie
    /// close together. A parabola rises ninefold from the first of three values to the last.
    pub fn jump(&self, result: f64) -> Option<f64> {
        let middle = self.values.iter().position(|&value| value == result)?;
        let loss = self.loss[middle];
        let rise = |&there: &f64| there / loss - 1.0;
        let side = |first: Option<&f64>, last: Option<&f64>, points: usize| {
            let (first, last) = (rise(first?), rise(last?));
            (points >= 3 && first > JUMP && (0.0..2.0 * first).contains(&last)).then_some(first)
        };
        let (down, up) = (&self.loss[..middle], &self.loss[middle + 1..]);
        let (below, above) =
            (side(down.last(), down.first(), middle)?, side(up.first(), up.last(), up.len())?);
        (self.others == Others::Fitted).then_some(below.min(above))
    }

    /// Takes the result of a fit among its points.
    pub(crate) fn insert(&mut self, fit: &Fit) {
        let value = fit.parameters[self.parameter].value;
        let place = self.values.partition_point(|&other| other < value);
        if self.values.get(place) == Some(&value) {
            self.loss[place] = fit.loss;
        } else {
            self.values.insert(place, value);
            self.loss.insert(place, fit.loss);
        }
    }
}

/// What is walked, and how.
#[derive(Clone, Copy, Debug)]
pub struct Walk {
    /// The parameter, by its place among all.
    pub parameter: usize,
    /// What the others do.
    pub others: Others,
    /// Values on each side of the result.
    pub side: usize,
    /// How far it goes, down and up, within the bounds.
    pub reach: [f64; 2],
    /// Whether it ends at the first point that is lower than the result.
    pub until_lower: bool,
}

impl Walk {
    /// Four standard errors to each side, beyond the interval, or two typical changes where there is no standard
    /// error; with everything else fitted anew at ten values on each side.
    /// Nothing for a parameter that there is not.
    pub fn along(experiment: &Experiment, fit: &Fit, parameter: usize) -> Option<Walk> {
        let reach = reach(experiment.parameters.get(parameter)?, fit.parameters.get(parameter)?);
        Some(Walk { parameter, others: Others::Fitted, side: 10, reach, until_lower: false })
    }
}

/// How far a profile goes, down and up.
pub(crate) fn reach(free: &FreeParameter, fitted: &FittedParameter) -> [f64; 2] {
    let own = fitted.standard_error.map_or(CHANGES * free.scale, |error| ERRORS * error);
    let interval = fitted.interval.unwrap_or([fitted.value; 2]);
    interval.map(|end| own.max(INTERVALS * (end - fitted.value).abs()))
}

/// How far a profile goes: in standard errors, in halves of the interval where that is farther, and in typical
/// changes where there is neither.
const ERRORS: f64 = 4.0;
const INTERVALS: f64 = 1.25;
const CHANGES: f64 = 2.0;
/// Most iterations of a fit of the others.
const ITERATIONS: usize = 4;
/// What a step with derivatives in all lanes costs in steps without, about.
pub(crate) const DERIVATIVE: usize = 3;
/// The others are fitted when the sum of squares falls by less than this share of the mean square: at one standard
/// error it is higher by one.
const FITTED: f64 = 0.05;
/// A rise of the loss beside the result from which on it can be a jump, relative to it.
const JUMP: f64 = 0.01;
/// A loss that is lower by less than this share is the same.
pub(crate) const SAME: f64 = 1e-6;

/// The loss along a parameter, within its bounds. A walk ends where no body can be. Nothing for a fixed
/// parameter.
pub fn loss_profile(
    experiment: &Experiment,
    dataset: &Dataset,
    fit: &Fit,
    walk: Walk,
    threads: usize,
) -> Option<LossProfile> {
    let Walk { parameter, side, .. } = walk;
    let free = experiment.parameters.get(parameter).filter(|p| !p.fixed)?;
    // The others of an inertia would have to stay those of a body while one moves.
    let space = SearchSpace::new(&experiment.parameters);
    let variable = space.free().iter().position(|&i| i == parameter)?;
    let others = if space.is_shared(variable) { Others::Held } else { walk.others };
    let walk = Walk { others, ..walk };
    let fitted = fit.parameters.get(parameter)?;
    let [down, up] = walk.reach;
    let ends = [(fitted.value - down).max(free.lower), (fitted.value + up).min(free.upper)];
    let mut along = Along::new(experiment, dataset, fit, walk, threads);
    let [down, up] = ends.map(|end| {
        let part = |k: usize| fitted.value + (end - fitted.value) * k as f64 / side as f64;
        along.losses((1..=side).map(part).filter(|x| *x != fitted.value))
    });
    let middle = (fitted.value, fit.loss);
    let points = down.into_iter().rev().chain([middle]).chain(up);
    let (values, loss) = points.unzip();
    let effort = along.problem.effort;
    Some(LossProfile { parameter, values, loss, others, effort, lower: along.lower })
}

/// What a point of a profile costs, about, in simulations of all windows: some iterations of a fit of the others, or a
/// Newton step and a look at what it would be without where the loss is rough.
pub(crate) fn point_cost(problem: &Problem, is_rough: bool) -> usize {
    let inner = problem.initial_unknowns();
    let derivatives = DERIVATIVE * (problem.space.len() + inner).div_ceil(LANES);
    let trial = if inner > 0 { 2 } else { 1 };
    if is_rough { derivatives + 3 * trial } else { 3 * (derivatives + trial) }
}

/// A walk along one parameter from the result.
struct Along<'a> {
    problem: Problem<'a>,
    fit: &'a Fit,
    walk: Walk,
    /// The variable of the parameter.
    variable: usize,
    /// The variables at the result.
    result: Vec<f64>,
    lower: Option<Lower>,
}

impl<'a> Along<'a> {
    fn new(
        experiment: &'a Experiment,
        dataset: &'a Dataset,
        fit: &'a Fit,
        walk: Walk,
        threads: usize,
    ) -> Self {
        let initial = fit.initial_states.clone();
        let mut problem = Problem::starting_from(experiment, dataset, initial, threads);
        problem.space = SearchSpace::apart(&experiment.parameters, walk.parameter);
        problem.cap_sensitivity = experiment.window == WindowLength::Whole;
        let variable = problem.space.free().iter().position(|&i| i == walk.parameter).unwrap_or(0);
        let values: Vec<f64> = fit.parameters.iter().map(|p| p.value).collect();
        let result = problem.space.variables(&values);
        Along { problem, fit, walk, variable, result, lower: None }
    }

    /// Values with their losses, one after the other from the result on.
    fn losses(&mut self, values: impl Iterator<Item = f64>) -> Vec<(f64, f64)> {
        let mut x = self.result.clone();
        self.problem.initial.clone_from(&self.fit.initial_states);
        self.problem.set_damping(self.fit.end.damping());
        let mut points = Vec::new();
        if self.walk.others == Others::Fitted {
            self.problem.linearize(&x);
        }
        for value in values {
            if self.walk.until_lower && self.lower.is_some() {
                break;
            }
            let mut all = self.problem.space.told(&x);
            all[self.walk.parameter] = value;
            let there = self.problem.space.variables(&all)[self.variable];
            let change = there - x[self.variable];
            let cost = match self.walk.others {
                Others::Held => {
                    x[self.variable] = there;
                    self.problem.cost(&x)
                }
                Others::Fitted => self.fitted(&mut x, change),
            };
            let loss = 2.0 * cost / self.problem.residual_count().max(1) as f64;
            // The variables of an inertia are not numbers where no body has it.
            let whole = self.problem.space.rejoined(&x);
            if !loss.is_finite() || !whole.iter().all(|x| x.is_finite()) {
                break;
            }
            let least = self.lower.as_ref().map_or((1.0 - SAME) * self.fit.loss, |best| best.loss);
            if loss < least && !self.fit.is_exact() {
                let initial = self.problem.initial.clone();
                self.lower = Some(Lower { loss, x: whole, initial });
            }
            points.push((value, loss));
        }
        points
    }

    /// Moves the variable by `change`, the others with it, and fits these; the cost there.
    fn fitted(&mut self, x: &mut [f64], change: f64) -> f64 {
        let (mut lower, mut upper) = (self.problem.space.lower(), self.problem.space.upper());
        let scale = self.problem.space.scale();
        let mut step = self.tangent(x, change, &lower, &upper);
        let rough = self.problem.is_rough();
        let mut cost = self.problem.trial(x, &step).cost;
        if !cost.is_finite() || rough {
            // Where derivatives do not hold, the others may be better off where they are.
            let mut alone = vec![0.0; x.len()];
            alone[self.variable] = change;
            let held = self.problem.trial(x, &alone).cost;
            if cost <= held {
                cost = self.problem.trial(x, &step).cost;
            } else {
                (step, cost) = (alone, held);
            }
        }
        if !cost.is_finite() {
            return f64::INFINITY;
        }
        self.problem.accept();
        x.iter_mut().zip(&step).for_each(|(x, step)| *x += step);
        if rough {
            // What a whole Newton step leaves is less than recordings disagree by.
            return self.problem.linearize(x);
        }
        (lower[self.variable], upper[self.variable]) = (x[self.variable], x[self.variable]);
        let variables = Variables { lower: &lower, upper: &upper, scale: &scale };
        let enough = FITTED / self.problem.residual_count().max(1) as f64;
        let limits = Limits { iterations: ITERATIONS, enough };
        let begin = Standing::new(x);
        let found = proceed(&mut self.problem, begin, variables, limits, &mut |_, _| true);
        x.copy_from_slice(&found.x);
        found.cost
    }

    /// Where the others go, to first order, while the variable moves by `change`: along the path of their minima, and
    /// what was left to go before. They stay within their bounds.
    fn tangent(&self, x: &[f64], change: f64, lower: &[f64], upper: &[f64]) -> Vec<f64> {
        let (h, g) = self.problem.whole_equations();
        let others: Vec<usize> =
            (0..x.len()).filter(|&i| i != self.variable && h[(i, i)] > 0.0).collect();
        let unit: Vec<f64> = others.iter().map(|&i| h[(i, i)].sqrt()).collect();
        let own = nalgebra::DMatrix::from_fn(others.len(), others.len(), |a, b| {
            h[(others[a], others[b])] / (unit[a] * unit[b])
        });
        let right = nalgebra::DVector::from_fn(others.len(), |a, _| {
            -(g[others[a]] + h[(others[a], self.variable)] * change) / unit[a]
        });
        let mut step = vec![0.0; x.len()];
        step[self.variable] = change;
        if let Some(cholesky) = own.cholesky() {
            let moved = cholesky.solve(&right);
            for (a, &i) in others.iter().enumerate() {
                step[i] = (x[i] + moved[a] / unit[a]).clamp(lower[i], upper[i]) - x[i];
            }
        }
        step
    }
}
