//! Parameters from recordings, as Python sees it.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::arguments::threads as number_of_threads;
use super::calls::{Warning, say, warn, watched_apart};
use super::comm::Comm;
use super::exceptions::Error;
use super::given_experiment::{GivenExperiment, Named, Recordings};
use super::numpy_arrays::output;
use super::reduced::{Reduced, reduced_to_fields};
use super::scene::Scene;
use crate::identify::{
    Conclusion, Dataset, Effort, Experiment, Fit, FitStatus, Group, LossProfile, ScoreTest,
    compare, conclude, introduce, masses_over_inertia, score_tests, unexplained,
};

/// What an identification found; numbers by the names of the parameters, SI units.
#[pyclass(frozen, get_all, module = "stiction")]
pub struct Identification {
    /// "converged", "stalled", "iteration_limit", "unobservable" or "infeasible".
    pub status: String,
    /// The names, in the order of the experiment.
    pub names: Vec<String>,
    /// The values.
    pub values: BTreeMap<String, f64>,
    /// Standard errors, of those that have one.
    pub standard_errors: BTreeMap<String, f64>,
    /// 95 % intervals (lower, upper), of those that have one.
    pub intervals: BTreeMap<String, (f64, f64)>,
    /// Names of the rows of `correlations`.
    pub correlated: Vec<String>,
    /// Correlations of the estimates.
    pub correlations: Py<PyArrayDyn<f64>>,
    /// Mean of the squared residuals over their standard deviations; 1 is noise alone.
    pub loss: f64,
    /// The loss at the start of the search.
    pub loss_at_start: f64,
    /// How the loss depends on each parameter: values, and the loss at each; everything else is fitted anew, or
    /// held where that would take far longer than the search (and in an inertia that is searched for as one).
    pub profiles: BTreeMap<String, (Vec<f64>, Vec<f64>)>,
    /// What the fit would gain by numbers of the scene that it held, claims first: `name`, `members` with what they are `held` at
    /// and where a Newton step leads (`proposed`), `gain` (share of the loss), `part` (of the recordings, over which it shows
    /// most), `p_value`, `adjusted_p_value` (of all tests together), `is_claim`, `better` of `recordings`. Empty where that
    /// would take far longer than the search, or nothing is noisy.
    pub score_tests: Vec<Py<PyDict>>,
    /// Iterations of the search.
    pub iterations: usize,
    /// The work done, in simulations of one recording; a step with derivatives counts as one.
    pub rollouts: f64,
    /// What there is to know, in sentences.
    pub warnings: Vec<String>,
}

/// All of them, as pickles have them.
const FIELDS: [&str; 14] = [
    "status",
    "names",
    "values",
    "standard_errors",
    "intervals",
    "correlated",
    "correlations",
    "loss",
    "loss_at_start",
    "profiles",
    "score_tests",
    "iterations",
    "rollouts",
    "warnings",
];

#[pymethods]
impl Identification {
    /// Whether the search converged.
    #[getter]
    fn converged(&self) -> bool {
        self.status == "converged"
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        reduced_to_fields(slf, "_restored_identification", &FIELDS)
    }

    fn __repr__(&self) -> String {
        let number = |name: &String| {
            let error = self.standard_errors.get(name).map(|error| format!(" +- {error:.2e}"));
            format!("{name} = {:.6}{}", self.values[name], error.unwrap_or_default())
        };
        let numbers: Vec<String> = self.names.iter().map(number).collect();
        format!("<stiction.Identification {}: {}>", self.status, numbers.join(", "))
    }
}

impl Identification {
    fn new(
        py: Python,
        experiment: &Experiment,
        fit: Fit,
        profiles: Vec<LossProfile>,
        tests: &[ScoreTest],
    ) -> PyResult<Self> {
        let Fit { parameters, told, correlations, .. } = fit;
        let mut values = BTreeMap::new();
        for (p, searched) in parameters.iter().zip(&experiment.parameters) {
            values.insert(p.name.clone(), p.value);
            values.extend(experiment.tied(searched).into_iter().map(|name| (name, p.value)));
        }
        let errors = parameters.iter().map(|p| (p.name.clone(), p.standard_error));
        let intervals = parameters.iter().map(|p| (p.name.clone(), p.interval));
        let rows: Vec<f64> = correlations.transpose().iter().copied().collect();
        let Effort { steps, derivative_steps } = fit.effort;
        let profiles = profiles.into_iter().map(|profile| {
            let name = parameters[profile.parameter].name.clone();
            (name, (profile.values, profile.loss))
        });
        let profiles = profiles.collect();
        let tests = tests.iter().map(|test| described(py, test));
        Ok(Identification {
            score_tests: tests.collect::<PyResult<_>>()?,
            profiles,
            status: fit.status.name().to_string(),
            names: parameters.iter().map(|p| p.name.clone()).collect(),
            standard_errors: errors.filter_map(|(name, x)| Some((name, x?))).collect(),
            intervals: intervals.filter_map(|(name, x)| Some((name, x?.into()))).collect(),
            correlated: told.iter().map(|&k| parameters[k].name.clone()).collect(),
            correlations: output(py, &[], &[told.len(), told.len()], rows)?.unbind(),
            values,
            loss: fit.loss,
            loss_at_start: fit.loss_at_start,
            iterations: fit.iterations,
            rollouts: (steps + derivative_steps) as f64 / fit.steps_per_rollout,
            warnings: fit.warnings,
        })
    }
}

fn described(py: Python, test: &ScoreTest) -> PyResult<Py<PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", &test.name)?;
    dict.set_item("members", &test.members)?;
    dict.set_item("held", &test.held)?;
    dict.set_item("proposed", &test.proposed)?;
    dict.set_item("gain", test.gain)?;
    dict.set_item("part", test.part)?;
    dict.set_item("p_value", test.p_value)?;
    dict.set_item("adjusted_p_value", test.adjusted_p_value)?;
    dict.set_item("is_claim", test.is_significant())?;
    dict.set_item("better", test.better)?;
    dict.set_item("recordings", test.recordings)?;
    Ok(dict.unbind())
}

/// How many threads, and the processes that work together.
type Workers<'py> = (Option<Bound<'py, PyAny>>, Option<Bound<'py, PyAny>>);

/// What is to be identified, from what, and by whom.
struct Work {
    given: GivenExperiment,
    threads: usize,
    group: Arc<Group>,
}

/// What came of it.
struct Found {
    experiment: Experiment,
    result: Fit,
    profiles: Vec<LossProfile>,
    tests: Vec<ScoreTest>,
    /// What is still to be said.
    later: Vec<String>,
}

impl Work {
    /// `watch` says whether to go on.
    fn run(self, watch: &dyn Fn() -> bool) -> PyResult<Found> {
        let Work { mut given, threads, group } = self;
        introduce(&group, String::new())?;
        let mut read = || {
            let experiment = given.experiment()?;
            experiment.scene.settings.solver.demand_derivatives(&experiment.name)?;
            Ok(experiment)
        };
        let mut experiment = group.together(read())?;
        let few = compare(&group, &experiment, given.files.as_deref())?;
        let dataset = match &given.files {
            Some(files) => Dataset::of_files_shares(&experiment, files, &group, threads)?,
            None => Dataset::load_shares(&experiment, &group, threads)?,
        };
        dataset.give_ranges(&mut experiment);
        // Of several processes the first one warns, in the end: a warning may be an error, for which the others would wait.
        let mut later = Vec::new();
        let mut say = |sentences: &[String]| match group.is_alone() {
            true => Python::attach(|py| say(py, &others(sentences))),
            false => {
                later.extend_from_slice(sentences);
                Ok(())
            }
        };
        let mut warnings = dataset.questions(&experiment.scene);
        warnings.extend(few);
        say(&warnings)?;
        let found = conclude(&experiment, &dataset, threads, None, &mut |_| watch())?;
        let Conclusion { fit: mut result, profiles, .. } = found;
        let mut tests = Vec::new();
        if group.agreed(watch()) {
            tests = score_tests(&experiment, &dataset, &result, threads);
            let mut doubts = masses_over_inertia(&experiment, &dataset, &result, threads);
            doubts.splice(0..0, unexplained(&experiment, &dataset, &result, threads));
            say(&doubts)?;
            warnings.extend(doubts);
        }
        dataset.demand_agreement()?;
        result.warnings.splice(0..0, warnings);
        Ok(Found { experiment, result, profiles, tests, later })
    }
}

/// Sentences as warnings.
fn others(sentences: &[String]) -> Vec<Warning> {
    sentences.iter().cloned().map(Warning::Other).collect()
}

/// What this process came to, if no other has an error; all come here.
fn together<T>(py: Python, group: &Group, own: PyResult<T>) -> PyResult<T> {
    let told = own
        .as_ref()
        .map(|_| ())
        .map_err(|error| crate::Error::input("comm", None, "", error.value(py).to_string()));
    let end = py.detach(|| group.end(told));
    let found = own?;
    end?;
    Ok(found)
}

/// Tells the processes that work together that this one has no arguments to do that with: why, in words.
#[pyfunction]
pub fn _gave_up(py: Python, comm: &Bound<PyAny>, message: String) -> PyResult<()> {
    let group = Group::new(Box::new(Comm::new(comm)?));
    together(py, &group, Err::<(), _>(Error::new_err(message))).or(Ok(()))
}

/// Parameters of an experiment, a file or its text, by so many threads of each of the processes that work together. See
/// `stiction.identify`.
#[pyfunction]
#[pyo3(signature = (experiment, scene=None, recordings=None, workers=None))]
pub fn identify(
    py: Python,
    experiment: Named,
    scene: Option<&Scene>,
    recordings: Option<Recordings>,
    workers: Option<Workers>,
) -> PyResult<Identification> {
    let (threads, comm) = workers.unwrap_or_default();
    let comm = comm.as_ref().map(Comm::new).transpose()?;
    let several = comm.is_some();
    let group = Arc::new(comm.map_or_else(Group::default, |comm| Group::new(Box::new(comm))));
    let work = || -> PyResult<Work> {
        Ok(Work {
            given: GivenExperiment::new(py, Some(experiment), scene, recordings)?,
            threads: number_of_threads(threads.as_ref())?,
            group: Arc::clone(&group),
        })
    };
    let work = match work() {
        Ok(work) => work,
        Err(error) => return together(py, &group, Err(error)),
    };
    let is_first = group.is_first();
    let found = if several {
        // On this thread: a communicator may know no other.
        let raised = Mutex::new(None);
        let watch = || match Python::attach(|py| py.check_signals()) {
            Ok(()) => true,
            Err(error) => {
                raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                false
            }
        };
        let found = py.detach(|| work.run(&watch));
        let found = together(py, &group, found);
        let raised = raised.into_inner().unwrap_or_else(PoisonError::into_inner);
        let found = raised.map_or(found, Err)?;
        if found.result.status == FitStatus::Stopped {
            return Err(Error::new_err("another process was interrupted"));
        }
        found
    } else {
        watched_apart(py, move |stop| work.run(&|| !stop.load(Ordering::Relaxed)))?
    };
    let Found { experiment, result, profiles, tests, later } = found;
    if is_first {
        say(py, &others(&later))?;
        warn(py, &result.report, &experiment.scene)?;
    }
    Identification::new(py, &experiment, result, profiles, &tests)
}
