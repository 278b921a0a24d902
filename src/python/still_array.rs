//! Pictures of a scene, as Python sees them.

use ndarray::Array3;
use numpy::IntoPyArray;
use pyo3::prelude::*;

use super::exceptions::Error;
use super::numpy_arrays::Argument;
use crate::transition::Transition;
use crate::view::Still;

/// What `Scene.render` gives of a state.
pub(super) fn still_array<'py>(
    py: Python<'py>,
    transition: &mut Transition,
    x: &Argument,
    camera: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let (state, parameters) = transition.state_of(x.only()?)?;
    let camera = match camera {
        None => (!transition.scene().model.cameras.is_empty()).then_some(0),
        Some(name) => Some(transition.camera(name)?),
    };
    let scene = transition.scene();
    let (still, warnings) = Still::in_colour(scene, camera);
    for warning in &warnings {
        py.import("warnings")?.call_method1("warn", (warning.to_string(),))?;
    }
    let picture = still.framing([&state]).draw(&parameters, &state).in_colour();
    let [width, height] = picture.size;
    let array = Array3::from_shape_vec((height, width, 3), picture.values.into_flattened());
    let array = array.map_err(|error| Error::new_err(error.to_string()))?;
    Ok(array.into_pyarray(py).into_any())
}
