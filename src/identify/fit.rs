//! Identification: from an experiment and its recordings to parameters.

use std::fmt;

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
    /// The parameters.
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
    /// The parameters.
    pub values: &'a [f64],
}

/// A parameter is not observable if the residuals (in standard deviations, all taken together)
/// change by less than this over the whole width between its bounds: its own standard deviation
/// would be a thousand widths. Less than this is left by rounding, by the sinking of bodies into a
/// floor with compliance, and by its correction.
const OBSERVABLE: f64 = 1e-3;

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
    let gather = |f: fn(&super::FreeParameter) -> f64| parameters.iter().map(f).collect::<Vec<_>>();
    let (start, scale) = (gather(|p| p.start), gather(|p| p.scale));
    let (lower, upper) = (gather(|p| p.lower), gather(|p| p.upper));
    let variables = Variables { lower: &lower, upper: &upper, scale: &scale };
    let mut problem = Problem::new(experiment, dataset, threads);
    let count = problem.residual_count().max(1) as f64;
    let mean = |cost: f64| 2.0 * cost / count;

    let scene: Vec<f64> = parameters.iter().map(|p| p.get(&experiment.scene.parameters)).collect();
    let loss_of_scene = mean(problem.cost(&scene));
    let loss_at_start = mean(problem.cost(&start));
    let mut tell = |iteration: usize, cost: f64, values: &[f64]| {
        watch(Progress { iteration, loss: mean(cost), values })
    };
    let minimum = match experiment.method {
        Method::LevenbergMarquardt => {
            let most = experiment.max_iterations;
            let mut from = start.clone();
            let mut spent = 0;
            if experiment.initial_state == InitialState::Fitted {
                // Parameters first: far from them, initial states would bend to make up for them.
                problem.hold_initial = true;
                let first = minimize(&mut problem, &start, variables, most.div_ceil(2), &mut tell);
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
    let (h, _) = problem.normal_equations();
    let traces: Vec<f64> = (0..start.len())
        .map(|i| {
            let width = upper[i] - lower[i];
            let width = if width.is_finite() { width } else { 10.0 * scale[i] };
            h[(i, i)].max(0.0).sqrt() * width
        })
        .collect();
    let fitted: Vec<FittedParameter> = parameters
        .iter()
        .enumerate()
        .map(|(i, parameter)| {
            let observable = traces[i] > OBSERVABLE;
            let value = if observable { minimum.x[i] } else { parameter.start };
            FittedParameter {
                name: parameter.name.clone(),
                initial: parameter.start,
                value,
                lower: parameter.lower,
                upper: parameter.upper,
                observable,
                at_bound: value <= parameter.lower || value >= parameter.upper,
            }
        })
        .collect();
    let warnings = warnings(&fitted, &h, &report, &experiment.scene.settings);
    let status = match minimum.outcome {
        _ if fitted.iter().any(|p| !p.observable) => FitStatus::Unobservable,
        Outcome::Converged => FitStatus::Converged,
        Outcome::Stalled => FitStatus::Stalled,
        Outcome::IterationLimit => FitStatus::IterationLimit,
        Outcome::Infeasible => FitStatus::Infeasible,
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

fn warnings(
    fitted: &[FittedParameter],
    h: &nalgebra::DMatrix<f64>,
    report: &StepReport,
    settings: &Settings,
) -> Vec<String> {
    let mut warnings = Vec::new();
    for p in fitted {
        if !p.observable {
            warnings.push(format!(
                "{} is unobservable: no recording depends on it, so it keeps its start {}",
                p.name, p.initial
            ));
        } else if p.at_bound {
            warnings.push(format!("{} ended at its bound {}", p.name, p.value));
        }
    }
    // Normalised to a unit diagonal, a small eigenvalue is a combination that leaves no trace.
    let seen: Vec<usize> = (0..fitted.len()).filter(|&i| fitted[i].observable).collect();
    if seen.len() > 1 {
        let correlation = nalgebra::DMatrix::from_fn(seen.len(), seen.len(), |a, b| {
            let (i, j) = (seen[a], seen[b]);
            h[(i, j)] / (h[(i, i)] * h[(j, j)]).sqrt()
        });
        let eigen = correlation.symmetric_eigen();
        for (value, vector) in eigen.eigenvalues.iter().zip(eigen.eigenvectors.column_iter()) {
            if *value < 1e-8 {
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
