//! The functions that pickles call to make again what went into them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use numpy::{PyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::identification::Identification;
use super::reduced::{Fields, damaged, demand_version};
use super::scene::Scene;
use super::scene_source::{PartsLeft, Source, unpacked};
use super::soft_scene::SoftScene;
use super::step_jacobian::Jacobian;
use crate::Error as InputError;
use crate::model::{Parameters, Scene as Description};
use crate::soft::SoftScene as SoftDescription;
use crate::transition::Transition;

/// Scenes that were made last: executors send the same one with every task.
struct Recent<T>(Mutex<Made<T>>);

/// What was made of which source, the last one first.
type Made<T> = VecDeque<(Arc<Source>, T)>;

/// As many of them are kept.
const MOST_KEPT: usize = 4;

static SCENES: Recent<Arc<Description>> = Recent(Mutex::new(VecDeque::new()));
static SOFT_SCENES: Recent<Arc<SoftDescription>> = Recent(Mutex::new(VecDeque::new()));

impl<T: Clone> Recent<T> {
    /// Nothing is worth waiting for.
    fn kept(&self) -> Option<MutexGuard<'_, Made<T>>> {
        match self.0.try_lock() {
            Ok(kept) => Some(kept),
            Err(TryLockError::Poisoned(kept)) => Some(kept.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// What `make` makes of a source, or made of the same one before.
    fn made(
        &self,
        packed: &[u8],
        make: impl FnOnce(&Source) -> Result<T, InputError>,
    ) -> Result<(Arc<Source>, T), Unsound> {
        let known = |kept: MutexGuard<Made<T>>| {
            kept.iter().find(|(source, _)| source.packed() == packed).cloned()
        };
        if let Some(found) = self.kept().and_then(known) {
            return Ok(found);
        }
        let source = Arc::new(Source::of_packed(packed).ok_or(Unsound::Damaged)?);
        let made = make(&source).map_err(Unsound::Refused)?;
        if let Some(mut kept) = self.kept() {
            kept.truncate(MOST_KEPT - 1);
            kept.push_front((source.clone(), made.clone()));
        }
        Ok((source, made))
    }
}

/// Why nothing could be made.
enum Unsound {
    Damaged,
    Refused(InputError),
}

impl Unsound {
    fn of(self, what: &str) -> PyErr {
        match self {
            Unsound::Damaged => damaged(what),
            Unsound::Refused(error) => error.into(),
        }
    }
}

/// The source of a scene, and what it has of its own.
fn two_parts<'a>(
    what: &str,
    version: &str,
    parts: &'a [Bound<PyAny>],
) -> PyResult<(&'a [u8], Vec<u8>)> {
    demand_version(what, version)?;
    let [source, own] = parts else { return Err(damaged(what)) };
    let bytes = |part: &'a Bound<PyAny>| part.extract::<&[u8]>().map_err(|_| damaged(what));
    let own = unpacked(bytes(own)?).ok_or_else(|| damaged(what))?;
    Ok((bytes(source)?, own))
}

/// A scene from a pickle: see `Scene.__reduce__`.
#[pyfunction]
#[pyo3(signature = (version, *parts))]
pub fn _restored_scene(py: Python, version: &str, parts: Vec<Bound<'_, PyAny>>) -> PyResult<Scene> {
    const WHAT: &str = "Scene";
    let (packed, own) = two_parts(WHAT, version, &parts)?;
    let made = py.detach(|| SCENES.made(packed, |source| source.scene().map(Arc::new)));
    let (source, scene) = made.map_err(|error| error.of(WHAT))?;
    let mut left = PartsLeft(&own);
    let found = (|| Some((left.take_texts()?, left.take_texts()?, left.take_numbers()?)))();
    let (inputs, parameters, values) = found.ok_or_else(|| damaged(WHAT))?;
    let mut transition = Transition::new(source.name(), scene)?;
    transition.set_values(Parameters { values })?;
    Scene::of(source, transition, Some(inputs), Some(parameters))
}

/// A scene of soft bodies from a pickle: see `SoftScene.__reduce__`.
#[pyfunction]
#[pyo3(signature = (version, *parts))]
pub fn _restored_soft_scene(
    py: Python,
    version: &str,
    parts: Vec<Bound<'_, PyAny>>,
) -> PyResult<SoftScene> {
    const WHAT: &str = "SoftScene";
    let (packed, own) = two_parts(WHAT, version, &parts)?;
    let make = |source: &Source| {
        let none = || InputError::input(source.name(), None, "", "has no [[soft]] bodies");
        source.soft_scene()?.map(Arc::new).ok_or_else(none)
    };
    let (source, scene) = py.detach(|| SOFT_SCENES.made(packed, make)).map_err(|e| e.of(WHAT))?;
    let mut left = PartsLeft(&own);
    let both = left.take_texts().zip(left.take_texts());
    let (names, inputs) = both.ok_or_else(|| damaged(WHAT))?;
    SoftScene::of(source, scene, names, inputs)
}

/// What was identified, from a pickle: see `Identification.__reduce__`.
#[pyfunction]
#[pyo3(signature = (version, *parts))]
pub fn _restored_identification(
    py: Python,
    version: &str,
    parts: Vec<Bound<'_, PyAny>>,
) -> PyResult<Identification> {
    let fields = Fields::of_parts("Identification", version, &parts)?;
    let found = Identification {
        status: fields.get("status")?,
        names: fields.get("names")?,
        values: fields.get("values")?,
        standard_errors: fields.get("standard_errors")?,
        intervals: fields.get("intervals")?,
        correlated: fields.get("correlated")?,
        correlations: array(&fields, "correlations")?.unbind(),
        loss: fields.get("loss")?,
        loss_at_start: fields.get("loss_at_start")?,
        profiles: fields.get("profiles")?,
        score_tests: fields.get("score_tests")?,
        iterations: fields.get("iterations")?,
        rollouts: fields.get("rollouts")?,
        warnings: fields.get("warnings")?,
    };
    fields.demand(found.names.iter().all(|name| found.values.contains_key(name)))?;
    let count = found.correlated.len();
    fields.demand(found.correlations.bind(py).shape() == [count, count])?;
    Ok(found)
}

/// Derivatives from a pickle: see `Jacobian.__reduce__`.
#[pyfunction]
#[pyo3(signature = (version, *parts))]
pub fn _restored_jacobian(version: &str, parts: Vec<Bound<'_, PyAny>>) -> PyResult<Jacobian> {
    let fields = Fields::of_parts("Jacobian", version, &parts)?;
    Ok(Jacobian {
        a: array(&fields, "A")?.unbind(),
        b: array(&fields, "B")?.unbind(),
        c: array(&fields, "C")?.unbind(),
        x_next: array(&fields, "x_next")?.unbind(),
        modes: fields.get::<Bound<PyAny>>("modes")?.unbind(),
        margin: array(&fields, "margin")?.unbind(),
        status: fields.get::<Bound<PyAny>>("status")?.unbind(),
    })
}

/// An array that is a field.
fn array<'py>(fields: &Fields<'_, 'py>, name: &str) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    let found: Bound<PyAny> = fields.get(name)?;
    let array = found.cast_into::<PyArrayDyn<f64>>();
    array.map_err(|_| fields.damaged())
}
