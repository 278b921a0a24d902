//! Identification: from an experiment and its recordings to parameters.

use std::fmt;

use nalgebra::DMatrix;

use super::levenberg_marquardt::{LeastSquares, Outcome};
use super::staged::{Found, search};
use super::{Checkpoint, Effort, Iteration, Problem, Progress, StartResult};
use crate::Error;
use crate::identify::data::Dataset;
use crate::identify::experiment::{Experiment, FreeParameter, is_weight};
use crate::identify::peers::{Equations, Group};
use crate::identify::statistics::{Covariance, LEAST_OF_WEIGHTS, UNTELLABLE};
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
    /// The iterations are used up: the best found so far.
    IterationLimit,
    /// It was stopped: the best found so far.
    Stopped,
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
            FitStatus::Stopped => "stopped",
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
            FitStatus::Stopped => "stopped before its end; these are the best values so far",
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
    /// Its 95 % interval, where it has a standard error: by Student's t distribution, as wide as the number of
    /// recordings that the error is taken from demands, as far as its bounds.
    pub interval: Option<[f64; 2]>,
}

impl FittedParameter {
    /// One that was not searched for.
    fn fixed(parameter: &FreeParameter) -> FittedParameter {
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
            interval: None,
        }
    }

    /// Takes a standard error and half the width of an interval, if they are finite.
    pub(crate) fn take_error(&mut self, error: f64, half_width: f64) {
        self.standard_error = error.is_finite().then_some(error);
        let lower = (self.value - half_width).max(self.lower);
        let upper = (self.value + half_width).min(self.upper);
        let interval = [lower, upper];
        self.interval = half_width.is_finite().then_some(interval);
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
    /// The parameters. With ten recordings or more, standard errors are those of the jackknife, to first order:
    /// how far the estimate moves when each recording in turn is left out. They hold for any errors that are
    /// independent from one recording to another, those of the model included. With fewer, or where one
    /// recording alone tells of a parameter, they are (J'J)^-1 times the mean square of the residuals,
    /// which takes all residuals for independent, and are often too small. Both are those of residuals that are
    /// linear over the interval, which they are not where the time of an impact changes; and both are of the minimum
    /// that was found: where impacts make many of them, as in long windows of tumbling bodies, fits of
    /// different recordings differ by far more.
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
    /// Starts of the windows at the result, of those that are held here.
    pub initial_states: Vec<crate::state::State<f64>>,
    /// The parameters that have a standard error, by their places.
    pub told: Vec<usize>,
    /// The correlations of the estimates of these.
    pub correlations: DMatrix<f64>,
    /// From how many squares the errors are estimated that are taken from the linearisation; 0 where there are none.
    pub(crate) freedom: usize,
    /// All iterations.
    pub history: Vec<Iteration>,
    /// Where the first stage led from each start; the first is that of the experiment. Empty if there is one
    /// start only.
    pub starts: Vec<StartResult>,
    /// Where the search stood at its end.
    pub(crate) end: Checkpoint,
    /// Whether the loss has kinks everywhere there.
    pub(crate) is_rough: bool,
}

/// A loss below this is that of recordings without noise: residuals of a millionth of what they are expected to be
/// are rounding, and say nothing of errors.
const EXACT: f64 = 1e-12;

impl Fit {
    /// Whether the recordings hold no noise, as those of a simulation do.
    pub fn is_exact(&self) -> bool {
        self.loss < EXACT
    }

    /// Takes note of a loss that is known and lower by a share, from which the search did not get lower.
    pub(crate) fn is_not_lowest(&mut self, share: f64) {
        if self.status == FitStatus::Converged {
            self.status = FitStatus::Stalled;
        }
        self.warnings.push(format!(
            "a loss is known that is lower by {:.2} %, but a search from there does not get to it: minima lie close \
             together; try shorter windows, or other starts (starts, seed)",
            100.0 * share
        ));
    }

    /// Leaves out errors that are taken from residuals which are rounding, and says so.
    pub(crate) fn forget_errors(&mut self) {
        if self.told.is_empty() {
            return;
        }
        self.told.clear();
        self.correlations = DMatrix::zeros(0, 0);
        for parameter in &mut self.parameters {
            (parameter.standard_error, parameter.interval) = (None, None);
        }
        self.warnings.push(format!(
            "the simulation follows the recordings to {:.0e} of their noise: they hold none, as if they were \
             simulated, and so nothing says how far the parameters are off: no standard errors, no intervals",
            self.loss.sqrt()
        ));
    }
}

/// A parameter is not observable if the residuals (in standard deviations, all taken together)
/// change by less than this over the whole width between its bounds: its own standard deviation
/// would be a thousand widths. Less than this is left by rounding, by the sinking of bodies into a
/// floor with compliance, and by its correction.
pub(crate) const OBSERVABLE: f64 = 1e-3;

/// Identifies the parameters of `experiment` from `dataset` on `threads` threads; the result has
/// the same bits for any number of them. `watch` is told of each iteration and may end the search
/// by returning false.
///
/// # Errors
/// Those of reverse mode, with methods that need it; and what ends the work of several processes.
pub fn fit(
    experiment: &Experiment,
    dataset: &Dataset,
    threads: usize,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Fit, Error> {
    fit_from(experiment, dataset, threads, None, watch)
}

/// [`fit`], going on where another one of the same experiment and recordings stood: to the same bits as if
/// that had not been stopped. What is of another experiment is begun anew ([`Checkpoint::is_of`] tells).
///
/// # Errors
/// Those of [`fit`].
pub fn fit_from(
    experiment: &Experiment,
    dataset: &Dataset,
    threads: usize,
    checkpoint: Option<Checkpoint>,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Fit, Error> {
    let parameters = &experiment.parameters;
    let mut problem = Problem::new(experiment, dataset, threads);
    let space = problem.space.clone();
    let start = space.start();
    let count = problem.residual_count().max(1) as f64;
    let mean = |cost: f64| 2.0 * cost / count;
    let found = search(experiment, dataset, &mut problem, checkpoint, watch);
    let Found { minimum, stopped, at } =
        found.map_err(|error| Error::input(&experiment.name, None, "method", error.to_string()))?;
    dataset.demand_agreement()?;
    let cost = problem.linearize_anew(&minimum.x, minimum.cost);
    let (report, is_rough) = (problem.report, problem.is_rough());
    let implausible = implausible(experiment, dataset, &problem);
    // Starts are as unknown as recordings leave them, however far their damping held them back at the end.
    problem.set_damping(&vec![0.0; dataset.windows.len()]);
    // From here on in the parameters themselves, those that are not fixed.
    let free: Vec<&FreeParameter> = space.free().iter().map(|&i| &parameters[i]).collect();
    let told = space.told(&minimum.x);
    let told: Vec<f64> = space.free().iter().map(|&i| told[i]).collect();
    let (h, _) = problem.whole_equations();
    let (h, _) = space.in_parameters(&minimum.x, h, Vec::new());
    let recordings = dataset.shares.by_block(problem.recordings()).into_iter().map(|(own, g)| {
        let (own, mut g) = space.in_parameters(&minimum.x, own, vec![g]);
        (own, g.swap_remove(0))
    });
    let recordings: Vec<Equations> = recordings.collect();
    let (known, _) = space.in_parameters(&minimum.x, problem.prior_equations().0, Vec::new());
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
        let (h, _) = space.in_parameters(&start, problem.whole_equations().0, Vec::new());
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
                interval: None,
            }
        })
        .collect();
    let freedom = problem.residual_count().saturating_sub(start.len()).max(1);
    let variance = (2.0 * cost / freedom as f64, freedom);
    let (told, correlations, freedom) =
        estimate_errors(&mut fitted, [&h, &known], (&recordings, dataset.group()), variance);
    let told = told.iter().map(|&i| space.free()[i]).collect();
    let mut warnings = warnings(&fitted, &h, &report, &experiment.scene.settings);
    warnings.extend(implausible);
    warnings.extend(report.conflicts.sentence(&experiment.scene.model, None));
    for (i, parameter) in parameters.iter().enumerate().filter(|(_, p)| p.fixed) {
        fitted.insert(i, FittedParameter::fixed(parameter));
    }
    let status = match minimum.outcome {
        Outcome::Infeasible => FitStatus::Infeasible,
        _ if stopped => FitStatus::Stopped,
        _ if fitted.iter().any(|p| !p.observable) => FitStatus::Unobservable,
        Outcome::Converged => FitStatus::Converged,
        Outcome::Stalled => FitStatus::Stalled,
        Outcome::IterationLimit => FitStatus::IterationLimit,
    };
    let mut identified = experiment.scene.parameters.clone();
    for (parameter, fitted) in parameters.iter().zip(&fitted) {
        parameter.set(fitted.value, &mut identified);
    }
    dataset.demand_agreement()?;
    Ok(Fit {
        status,
        loss: mean(cost),
        loss_of_scene: mean(at.cost_of_scene.unwrap_or(f64::INFINITY)),
        loss_at_start: mean(at.cost_at_start.unwrap_or(f64::INFINITY)),
        iterations: at.history.len(),
        parameters: fitted,
        effort: problem.effort,
        steps_per_rollout: dataset.mean_steps() * dataset.substeps as f64,
        report,
        warnings,
        identified,
        initial_states: problem.initial,
        told,
        correlations,
        freedom,
        history: at.history.clone(),
        starts: at.starts.clone(),
        end: at,
        is_rough,
    })
}

/// Fills in standard errors: see [`Fit::parameters`]; returns which parameters have one, the correlations of
/// these, and from how many squares they are estimated. `known`: the part of H that is of the priors; `recordings`: those of the recordings held here, with gradients;
/// `variance`: mean square of the residuals, and of how many beyond the unknowns.
fn estimate_errors(
    fitted: &mut [FittedParameter],
    [h, known]: [&DMatrix<f64>; 2],
    (recordings, group): (&[Equations], &Group),
    variance: (f64, usize),
) -> (Vec<usize>, DMatrix<f64>, usize) {
    let mut free = told(fitted, h);
    free.retain(|&i| !fitted[i].at_bound);
    let any_weight = free.iter().any(|&i| is_weight(&fitted[i].name));
    let least = if any_weight { LEAST_OF_WEIGHTS } else { UNTELLABLE };
    let covariance = Covariance::of_recordings([h, known], (recordings, group), &free, least)
        .or_else(|| Covariance::of_residuals(h, known, variance, &free, least));
    let Some(covariance) = covariance else { return (Vec::new(), DMatrix::zeros(0, 0), 0) };
    for (a, &i) in free.iter().enumerate() {
        fitted[i].take_error(covariance.error(a), covariance.half_width(a));
    }
    let correlations =
        DMatrix::from_fn(free.len(), free.len(), |a, b| covariance.correlation(a, b));
    (free, correlations, covariance.freedom())
}

/// The parameters with a trace at the result; none where a derivative is not finite.
fn told(fitted: &[FittedParameter], h: &DMatrix<f64>) -> Vec<usize> {
    if h.iter().any(|x| !x.is_finite()) {
        return Vec::new();
    }
    (0..fitted.len()).filter(|&i| fitted[i].observable && h[(i, i)] > 0.0).collect()
}

/// What to know of windows whose steps no body makes, in a sentence.
fn implausible(experiment: &Experiment, dataset: &Dataset, problem: &Problem) -> Option<String> {
    let all = problem.implausible();
    let (window, plausibility) = all.first()?;
    let more = match all.len() {
        1 => String::new(),
        count => format!(" ({count} windows have such steps)"),
    };
    let time_step = dataset.settings.time_step;
    let sentence = plausibility.sentence(&experiment.scene.model, time_step)?;
    let trajectory = &dataset.trajectories[window.trajectory];
    let from = trajectory.times[window.first];
    Some(format!("{}, simulated from {from} s{more}: {sentence}", trajectory.name))
}

/// The parameters of `seen` that are no weights, and what is known of them where weights are not: J'J without what these can
/// stand for as well, at the places of the parameters.
fn without_weights(
    fitted: &[FittedParameter],
    seen: Vec<usize>,
    h: &DMatrix<f64>,
) -> (Vec<usize>, DMatrix<f64>) {
    let (weights, others): (Vec<usize>, Vec<usize>) =
        seen.into_iter().partition(|&i| is_weight(&fitted[i].name));
    let mut left = h.clone();
    let own = h.select_rows(&weights).select_columns(&weights);
    if let Some(factor) = own.cholesky() {
        let shared = h.select_rows(&weights).select_columns(&others);
        let explained = shared.tr_mul(&factor.solve(&shared));
        for (a, &i) in others.iter().enumerate() {
            for (b, &j) in others.iter().enumerate() {
                left[(i, j)] -= explained[(a, b)];
            }
        }
    }
    (others, left)
}

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
    let (seen, h) = &without_weights(fitted, seen, h);
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
