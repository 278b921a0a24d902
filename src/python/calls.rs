//! Many evaluations of a transition: without the interpreter's lock, on several threads, with the same bits on any
//! number of them; Ctrl-C ends them.

use std::ffi::CString;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyType;

use super::arguments::{Given, threads as number_of_threads};
use super::exceptions::{Error, ImplausibleWarning, UnsolvedWarning};
use super::numpy_arrays::Cases;
use crate::Error as InputError;
use crate::argmin::ContactResiduals;
use crate::identify::parallel;
use crate::model::Scene;
use crate::simulation::StepReport;
use crate::transition::Transition;

/// So many steps are over before anybody could press Ctrl-C, and not worth a thread.
const FEW: usize = 32;
/// How often Ctrl-C is looked for.
const PATIENCE: Duration = Duration::from_millis(50);

/// Whether the caller wants no more.
pub(super) struct Interrupt(AtomicBool);

impl Interrupt {
    /// An error if so.
    pub fn check(&self) -> Result<(), InputError> {
        match self.0.load(Ordering::Relaxed) {
            false => Ok(()),
            true => Err(InputError::input("stiction", None, "", "was interrupted")),
        }
    }
}

/// Evaluates a transition in all cases, each `steps` steps long, on so many threads, or as many as there are;
/// results have `each` numbers a case (`None`: more than can be counted). Warns if contact problems were not solved.
pub(super) fn evaluate<const N: usize, R: Send>(
    py: Python,
    transition: &Mutex<Transition>,
    cases: &Cases<N>,
    steps: usize,
    threads: Option<Given>,
    each: Option<usize>,
    f: impl Fn(&mut Transition, [&[f64]; N], &Interrupt) -> Result<R, InputError> + Sync,
) -> PyResult<Vec<R>> {
    let threads = number_of_threads(threads)?;
    cases.demand_room(each, steps)?;
    let interrupt = Interrupt(AtomicBool::new(false));
    let case = |transition: &mut Transition, k: usize| {
        interrupt.check()?;
        transition.set_warm(false);
        transition.set_parameters(cases.parameters(k))?;
        let result = f(transition, cases.arguments(k), &interrupt);
        let report = transition.take_report();
        Ok::<_, InputError>((result?, report))
    };
    let count = cases.count();
    let results: Vec<_> = if count.saturating_mul(steps) <= FEW {
        py.detach(|| {
            let own = transition.lock().unwrap_or_else(PoisonError::into_inner);
            let mut own = Restored { before: own.parameters(), transition: own };
            (0..count).map(|k| case(&mut own.transition, k)).collect()
        })
    } else {
        let spare = Mutex::new(Vec::new());
        let template = lock(py, transition).clone();
        let on_a_spare = |k| {
            let free = || spare.lock().unwrap_or_else(PoisonError::into_inner);
            let taken = free().pop();
            let mut own = taken.unwrap_or_else(|| template.clone());
            let result = case(&mut own, k);
            free().push(own);
            result
        };
        watched(py, &interrupt, || parallel(threads, count, on_a_spare))?
    };
    let mut report = StepReport::default();
    let mut values = Vec::with_capacity(count);
    for (k, result) in results.into_iter().enumerate() {
        let (value, own) = result.map_err(|error| match count {
            1 => Error::new_err(error.to_string()),
            count => Error::new_err(format!("case {k} of {count}: {error}")),
        })?;
        report.merge(&own);
        values.push(value);
    }
    let well = report.unsolved == 0 && report.residuals == ContactResiduals::default();
    if !well || !report.plausibility.is_whole() {
        let scene = lock(py, transition).scene().clone();
        warn(py, &report, &scene)?;
    }
    Ok(values)
}

/// A transition that gets the values of its parameters back in the end, after a panic too.
struct Restored<'a> {
    transition: MutexGuard<'a, Transition>,
    before: Vec<f64>,
}

impl Drop for Restored<'_> {
    fn drop(&mut self) {
        // Cannot fail: the transition had them.
        let _ = self.transition.set_parameters(&self.before);
    }
}

/// `f` on a thread of its own, while this one looks for signals; an error if one raised an exception.
fn watched<R: Send>(
    py: Python,
    interrupt: &Interrupt,
    f: impl FnOnce() -> R + Send,
) -> PyResult<R> {
    py.detach(|| {
        std::thread::scope(|scope| {
            let (done, result) = channel();
            let worker = Builder::new()
                .spawn_scoped(scope, move || done.send(f()).is_ok())
                .map_err(|error| Error::new_err(format!("no thread could be started: {error}")))?;
            let mut raised = None;
            loop {
                match result.recv_timeout(PATIENCE) {
                    Ok(result) => return raised.map_or(Ok(result), Err),
                    Err(RecvTimeoutError::Disconnected) => match worker.join() {
                        Err(panic) => resume_unwind(panic),
                        Ok(_) => return Err(Error::new_err("the computation ended early")),
                    },
                    Err(RecvTimeoutError::Timeout) if raised.is_none() => {
                        if let Err(error) = Python::attach(|py| py.check_signals()) {
                            interrupt.0.store(true, Ordering::Relaxed);
                            raised = Some(error);
                        }
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                }
            }
        })
    })
}

/// `f` on a thread of its own, while this one looks for signals; an error if one raised an exception. `f` is not waited
/// for then: it is told to stop, which it may take its time for, and what it comes to is dropped.
pub(super) fn watched_apart<R: Send + 'static>(
    py: Python,
    f: impl FnOnce(&AtomicBool) -> PyResult<R> + Send + 'static,
) -> PyResult<R> {
    py.detach(|| {
        let stop = Arc::new(AtomicBool::new(false));
        let (done, result) = channel();
        let told = stop.clone();
        let worker = Builder::new()
            .spawn(move || done.send(f(&told)).is_ok())
            .map_err(|error| Error::new_err(format!("no thread could be started: {error}")))?;
        loop {
            match result.recv_timeout(PATIENCE) {
                Ok(result) => return result,
                Err(RecvTimeoutError::Disconnected) => match worker.join() {
                    Err(panic) => resume_unwind(panic),
                    Ok(_) => return Err(Error::new_err("the computation ended early")),
                },
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(error) = Python::attach(|py| py.check_signals()) {
                        stop.store(true, Ordering::Relaxed);
                        return Err(error);
                    }
                }
            }
        }
    })
}

/// A lock that a panic before does not spoil: every case starts afresh.
pub(super) fn lock<'a, T>(py: Python, mutex: &'a Mutex<T>) -> MutexGuard<'a, T> {
    mutex.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
}

/// A sentence that somebody should read.
pub(super) enum Warning {
    /// Contact problems were not solved.
    Unsolved(String),
    /// No body makes such steps.
    Implausible(String),
    /// Anything else.
    Other(String),
}

/// Says once how contact problems were not solved, and once what no body does.
pub(super) fn warn(py: Python, report: &StepReport, scene: &Scene) -> PyResult<()> {
    let mut unsolved = report.warnings(&scene.settings);
    unsolved.extend(report.conflicts.sentence(&scene.model, None));
    let mut warnings = Vec::new();
    if !unsolved.is_empty() {
        warnings.push(Warning::Unsolved(unsolved.join("; ")));
    }
    let odd = report.plausibility.sentence(&scene.model, scene.settings.time_step);
    warnings.extend(odd.map(Warning::Implausible));
    say(py, &warnings)
}

/// Gives warnings, one each.
pub(super) fn say(py: Python, warnings: &[Warning]) -> PyResult<()> {
    for warning in warnings {
        let (category, text): (Bound<PyType>, &str) = match warning {
            Warning::Unsolved(text) => (py.get_type::<UnsolvedWarning>(), text),
            Warning::Implausible(text) => (py.get_type::<ImplausibleWarning>(), text),
            Warning::Other(text) => (py.get_type::<PyUserWarning>(), text),
        };
        let message = CString::new(text).map_err(|error| Error::new_err(error.to_string()))?;
        PyErr::warn(py, &category, &message, 1)?;
    }
    Ok(())
}
