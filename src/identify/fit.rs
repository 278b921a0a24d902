//! Identification: from an experiment and its recordings to parameters.

use std::fmt;

use nalgebra::{DMatrix, DVector};

use super::levenberg_marquardt::{LeastSquares, Outcome, Variables, minimize};
use super::{Dataset, Effort, Experiment, InitialState, Method, Problem, adam};
use crate::ad;
use crate::model::{Parameters, Settings};
use crate::simulation::StepReport;

/// How an identification ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FitStatus {
    /// The loss no longer falls: a minimum, or a kink between contact modes that no step tried leads
    /// over.
    Converged,
    /// No step lowers the loss, though its gradient is not zero: a kink, or noise of the solver.
    Stalled,
    /// The iterations are used up, or it was stopped: the best found so far.
    IterationLimit,
    /// Some parameters leave no trace in the recordings; they keep their start.
    Unobservable,
    /// The loss at the start, or a derivative on the way, is not finite.
    Infeasible,
}

impl FitStatus {
    /// The name used in results.
    pub fn name(self) -> &'static str {
        match self {
            FitStatus::Converged => "converged",
            FitStatus::Stalled => "stalled",
            FitStatus::IterationLimit => "iteration_limit",
            FitStatus::Unobservable => "unobservable",
            FitStatus::Infeasible => "infeasible",
        }
    }
}

impl fmt::Display for FitStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FitStatus::Converged => "converged",
            FitStatus::Stalled => {
                "stalled: no step lowers the loss though its gradient is not zero; try shorter \
                 windows or another start"
            }
            FitStatus::IterationLimit => {
                "stopped at the iteration limit; raise max_iterations, or start nearer"
            }
            FitStatus::Unobservable => {
                "unobservable: some parameters leave no trace in the recordings"
            }
            FitStatus::Infeasible => {
                "infeasible: the loss at the start, or a derivative on the way, is not finite; \
                 check the scene, the start and the bounds"
            }
        })
    }
}

/// A parameter after identification.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedParameter {
    /// Its name.
    pub name: String,
    /// Where the search started.
    pub initial: f64,
    /// Where it ended.
    pub value: f64,
    /// Least value allowed.
    pub lower: f64,
    /// Largest value allowed.
    pub upper: f64,
    /// Whether any recording depends on it.
    pub observable: bool,
    /// Whether it ended at a bound.
    pub at_bound: bool,
    /// Whether it was not searched for.
    pub fixed: bool,
    /// Its standard deviation, from how far the recordings disagree; nothing at a bound, for a parameter
    /// that leaves no trace, and where a combination with others leaves none. See [`Fit::parameters`].
    pub standard_error: Option<f64>,
}

impl FittedParameter {
    /// One that was not searched for.
    fn fixed(parameter: &super::FreeParameter) -> FittedParameter {
        FittedParameter {
            name: parameter.name.clone(),
            initial: parameter.start,
            value: parameter.start,
            lower: parameter.lower,
            upper: parameter.upper,
            observable: true,
            at_bound: false,
            fixed: true,
            standard_error: None,
        }
    }
}

/// The result of an identification.
#[derive(Clone, Debug)]
pub struct Fit {
    /// How it ended.
    pub status: FitStatus,
    /// Mean of the squared weighted residuals.
    pub loss: f64,
    /// The same with the scene's own values of all parameters.
    pub loss_of_scene: f64,
    /// The same at the start.
    pub loss_at_start: f64,
    /// Iterations of the search.
    pub iterations: usize,
    /// The parameters. With ten recordings or more, standard errors are H^-1 S H^-1, with H = J'J and S the sum
    /// of the squared gradients of the recordings: they hold for any errors that are independent from one
    /// recording to another, those of the model included. With fewer they are H^-1 times the mean square
    /// of the residuals, which takes all residuals for independent, and are often too small. Both are of
    /// the minimum that was found: where impacts make many of them, as in long windows of tumbling
    /// bodies, fits of different recordings differ by far more.
    pub parameters: Vec<FittedParameter>,
    /// Steps simulated.
    pub effort: Effort,
    /// Simulated steps over the mean number of simulation steps of a recording, with a step with
    /// derivatives counted as one; multiply `effort.derivative_steps` by its cost for the rest.
    pub steps_per_rollout: f64,
    /// How the contact problems at the result were solved.
    pub report: StepReport,
    /// What a user should know, in words.
    pub warnings: Vec<String>,
    /// All parameters of the scene, with the identified values.
    pub identified: Parameters<f64>,
    /// Starts of the windows at the result.
    pub initial_states: Vec<crate::state::State<f64>>,
}

/// An iteration, for those who watch.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Its number, from 1.
    pub iteration: usize,
    /// Mean of the squared weighted residuals.
    pub loss: f64,
    /// The parameters, fixed ones too.
    pub values: &'a [f64],
}

/// A parameter is not observable if the residuals (in standard deviations, all taken together)
/// change by less than this over the whole width between its bounds: its own standard deviation
/// would be a thousand widths. Less than this is left by rounding, by the sinking of bodies into a
/// floor with compliance, and by its correction.
const OBSERVABLE: f64 = 1e-3;

/// Most iterations with initial states held: noise in them soon decides more than parameters do.
const HELD_ITERATIONS: usize = 10;

/// Identifies the parameters of `experiment` from `dataset` on `threads` threads; the result has
/// the same bits for any number of them. `watch` is told of each iteration and may end the search
/// by returning false.
///
/// # Errors
/// Those of reverse mode ([`ad::Error`]), with Adam.
pub fn fit(
    experiment: &Experiment,
    dataset: &Dataset,
    threads: usize,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Fit, ad::Error> {
    let parameters = &experiment.parameters;
    let mut problem = Problem::new(experiment, dataset, threads);
    let space = problem.space.clone();
    let (start, scale) = (space.start(), space.scale());
    let (lower, upper) = (space.lower(), space.upper());
    let variables = Variables { lower: &lower, upper: &upper, scale: &scale };
    let count = problem.residual_count().max(1) as f64;
    let mean = |cost: f64| 2.0 * cost / count;

    let scene: Vec<f64> = parameters.iter().map(|p| p.get(&experiment.scene.parameters)).collect();
    let loss_of_scene = mean(problem.cost(&space.variables(&scene)));
    let loss_at_start = mean(problem.cost(&start));
    let mut tell = |iteration: usize, cost: f64, values: &[f64]| {
        watch(Progress { iteration, loss: mean(cost), values: &space.told(values) })
    };
    let minimum = match experiment.method {
        Method::LevenbergMarquardt => {
            let most = experiment.max_iterations;
            let mut from = start.clone();
            let mut spent = 0;
            if experiment.initial_state == InitialState::Fitted {
                // Parameters first: far from them, initial states would bend to make up for them.
                problem.hold_initial = true;
                let first = most.div_ceil(2).min(HELD_ITERATIONS);
                let first = minimize(&mut problem, &start, variables, first, &mut tell);
                problem.hold_initial = false;
                (from, spent) = (first.x, first.iterations);
            }
            let mut go_on = |k: usize, cost: f64, values: &[f64]| tell(spent + k, cost, values);
            let left = (most - spent).max(1);
            let mut minimum = minimize(&mut problem, &from, variables, left, &mut go_on);
            minimum.iterations += spent;
            minimum
        }
        Method::Adam(settings) => {
            let most = experiment.max_iterations;
            adam::adam(&mut problem, &start, variables, settings, most, &mut tell)?
        }
    };
    problem.linearize(&minimum.x);
    let report = problem.report;
    // From here on in the parameters themselves, those that are not fixed.
    let free: Vec<&super::FreeParameter> = space.free().iter().map(|&i| &parameters[i]).collect();
    let told = space.told(&minimum.x);
    let told: Vec<f64> = space.free().iter().map(|&i| told[i]).collect();
    let (h, _) = problem.normal_equations();
    let (h, scores) = space.in_parameters(&minimum.x, h, problem.scores());
    let (known, _) = space.in_parameters(&minimum.x, problem.prior_information(), Vec::new());
    let leaves_trace = |h: &DMatrix<f64>, i: usize| {
        let width = free[i].upper - free[i].lower;
        let width = if width.is_finite() { width } else { 10.0 * free[i].scale };
        let own = h[(i, i)];
        // A derivative that is not finite does not say that there is none.
        !own.is_finite() || own.max(0.0).sqrt() * width > OBSERVABLE
    };
    let mut observable: Vec<bool> = (0..start.len()).map(|i| leaves_trace(&h, i)).collect();
    if observable.contains(&false) {
        // What was moved to where it has no effect any more, as a restitution to 0, left a trace on the way.
        problem.linearize(&start);
        let (h, _) = space.in_parameters(&start, problem.normal_equations().0, Vec::new());
        for (i, observable) in observable.iter_mut().enumerate() {
            *observable |= told[i] != free[i].start && leaves_trace(&h, i);
        }
    }
    let mut fitted: Vec<FittedParameter> = free
        .iter()
        .enumerate()
        .map(|(i, parameter)| {
            let observable = observable[i];
            // One number of an inertia alone is not put back: there might be no such body.
            let keep = observable || space.is_shared(i);
            let value = if keep { told[i] } else { parameter.start };
            FittedParameter {
                name: parameter.name.clone(),
                initial: parameter.start,
                value,
                lower: parameter.lower,
                upper: parameter.upper,
                observable,
                at_bound: value <= parameter.lower || value >= parameter.upper,
                fixed: false,
                standard_error: None,
            }
        })
        .collect();
    let variance = 2.0 * minimum.cost / (count - start.len() as f64).max(1.0);
    estimate_errors(&mut fitted, &h, &known, &scores, variance);
    let warnings = warnings(&fitted, &h, &report, &experiment.scene.settings);
    for (i, parameter) in parameters.iter().enumerate().filter(|(_, p)| p.fixed) {
        fitted.insert(i, FittedParameter::fixed(parameter));
    }
    let status = match minimum.outcome {
        Outcome::Infeasible => FitStatus::Infeasible,
        _ if fitted.iter().any(|p| !p.observable) => FitStatus::Unobservable,
        Outcome::Converged => FitStatus::Converged,
        Outcome::Stalled => FitStatus::Stalled,
        Outcome::IterationLimit => FitStatus::IterationLimit,
    };
    let mut identified = experiment.scene.parameters.clone();
    for (parameter, fitted) in parameters.iter().zip(&fitted) {
        parameter.set(fitted.value, &mut identified);
    }
    Ok(Fit {
        status,
        loss: mean(minimum.cost),
        loss_of_scene,
        loss_at_start,
        iterations: minimum.iterations,
        parameters: fitted,
        effort: problem.effort,
        steps_per_rollout: dataset.mean_steps() * dataset.substeps as f64,
        report,
        warnings,
        identified,
        initial_states: problem.initial,
    })
}

/// Fewest recordings whose disagreement says how far parameters are off.
const LEAST_RECORDINGS: usize = 10;

/// Fills in standard errors: see [`Fit::parameters`]. `known`: the part of H that is of the priors, which hold
/// as stated; `variance`: mean square of the residuals.
fn estimate_errors(
    fitted: &mut [FittedParameter],
    h: &DMatrix<f64>,
    known: &DMatrix<f64>,
    scores: &[DVector<f64>],
    variance: f64,
) {
    let mut free = told(fitted, h);
    free.retain(|&i| !fitted[i].at_bound);
    if free.is_empty() {
        return;
    }
    // In units in which H has a unit diagonal, so that neither factorisation nor inverse depends on those
    // of the parameters.
    let unit: Vec<f64> = free.iter().map(|&i| h[(i, i)].sqrt()).collect();
    let scaled = DMatrix::from_fn(free.len(), free.len(), |a, b| {
        h[(free[a], free[b])] / (unit[a] * unit[b])
    });
    if scaled.clone().symmetric_eigenvalues().iter().any(|&x| x <= UNTELLABLE) {
        return;
    }
    let Some(inverse) = scaled.cholesky().map(|cholesky| cholesky.inverse()) else { return };
    // What the priors add to the covariance: their own H has the size it is stated to have.
    let stated = |share: f64| {
        let own = DMatrix::from_fn(free.len(), free.len(), |a, b| {
            known[(free[a], free[b])] / (unit[a] * unit[b])
        });
        &inverse * own * &inverse * share
    };
    let recordings = scores.iter().filter(|score| score.iter().any(|&x| x != 0.0)).count();
    let covariance = if recordings >= LEAST_RECORDINGS {
        let mut spread = DMatrix::zeros(free.len(), free.len());
        for score in scores {
            let own = DVector::from_fn(free.len(), |a, _| score[free[a]] / unit[a]);
            spread += &own * own.transpose();
        }
        let few = recordings as f64 / (recordings as f64 - 1.0);
        &inverse * spread * &inverse * few + stated(1.0)
    } else {
        &inverse * variance + stated(1.0 - variance)
    };
    for (a, &i) in free.iter().enumerate() {
        let error = covariance[(a, a)].sqrt() / unit[a];
        fitted[i].standard_error = error.is_finite().then_some(error);
    }
}

/// The parameters with a trace at the result; none where a derivative is not finite.
fn told(fitted: &[FittedParameter], h: &DMatrix<f64>) -> Vec<usize> {
    if h.iter().any(|x| !x.is_finite()) {
        return Vec::new();
    }
    (0..fitted.len()).filter(|&i| fitted[i].observable && h[(i, i)] > 0.0).collect()
}

/// A combination of parameters, each in units that make its trace 1, leaves none of its own below this.
const UNTELLABLE: f64 = 1e-8;

fn warnings(
    fitted: &[FittedParameter],
    h: &DMatrix<f64>,
    report: &StepReport,
    settings: &Settings,
) -> Vec<String> {
    let mut warnings = Vec::new();
    for p in fitted {
        if !p.observable {
            let kept = if p.value == p.initial { "so it keeps its start" } else { "it is now" };
            warnings.push(format!(
                "{} is unobservable: no recording depends on it, {kept} {}",
                p.name, p.value
            ));
        } else if p.at_bound {
            warnings.push(format!("{} ended at its bound {}", p.name, p.value));
        }
    }
    // Normalised to a unit diagonal, a small eigenvalue is a combination that leaves no trace.
    let seen = told(fitted, h);
    if seen.len() > 1 {
        let correlation = DMatrix::from_fn(seen.len(), seen.len(), |a, b| {
            let (i, j) = (seen[a], seen[b]);
            h[(i, j)] / (h[(i, i)] * h[(j, j)]).sqrt()
        });
        let eigen = correlation.symmetric_eigen();
        for (value, vector) in eigen.eigenvalues.iter().zip(eigen.eigenvectors.column_iter()) {
            if *value < UNTELLABLE {
                // Back in the parameters' own units, the first of them changing by 1.
                let change: Vec<(f64, &str)> = seen
                    .iter()
                    .zip(vector.iter())
                    .filter(|(_, v)| v.abs() > 0.1)
                    .map(|(&i, v)| (v / h[(i, i)].sqrt(), fitted[i].name.as_str()))
                    .collect();
                let first = change.first().map_or(1.0, |(v, _)| *v);
                let terms: Vec<String> =
                    change.iter().map(|(v, name)| format!("{:+.3e} {name}", v / first)).collect();
                warnings.push(format!(
                    "the recordings cannot tell these apart, only a combination of them: a change \
                     in proportion to {} leaves no trace",
                    terms.join(", ")
                ));
            }
        }
    }
    warnings.extend(report.warnings(settings));
    warnings
}
