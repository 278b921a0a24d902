//! Scenes as libraries for CasADi.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::calls::lock;
use super::scene::Scene;
use crate::c_interface::{Attachment, read_library};

/// The bytes of a library with the step of a scene for CasADi: this module, whose file is `module`, with the scene attached. See
/// `Scene.export_casadi`.
#[pyfunction]
pub fn _casadi_library<'py>(
    py: Python<'py>,
    scene: &Scene,
    module: PathBuf,
) -> PyResult<Bound<'py, PyBytes>> {
    let (description, names) = (scene.description(py), lock(py, &scene.transition).input_names());
    let library = py.detach(|| {
        let inputs = description.model.inputs_named(&names, &scene.name)?;
        let attachment = Attachment::new(&description, &inputs, &scene.name)?;
        // What cannot be read again there is refused here.
        attachment.transition(attachment.scene()?.into())?;
        Ok::<_, crate::Error>(attachment.attach(&read_library(&module)?))
    })?;
    Ok(PyBytes::new(py, &library))
}
