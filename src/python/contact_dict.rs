//! A contact, as Python sees it.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::numpy_arrays::output;
use crate::contact::ContactRecord;
use crate::model::Scene;

/// What `Scene.contacts` says of a contact at a place.
pub(super) fn contact_dict<'py>(
    py: Python<'py>,
    scene: &Scene,
    contact: &ContactRecord,
    position: [f64; 3],
) -> PyResult<Bound<'py, PyDict>> {
    let name = |body: Option<usize>| body.map(|body| scene.model.bodies[body].name.clone());
    let force = contact.world_impulse() / scene.settings.time_step;
    let dict = PyDict::new(py);
    dict.set_item("pair", scene.model.pair_name(contact.pair))?;
    dict.set_item("point", contact.feature)?;
    dict.set_item("mode", contact.mode.name())?;
    dict.set_item("gap", contact.gap)?;
    let couple = contact.world_couple() / scene.settings.time_step;
    let vectors = [position, contact.normal.into(), force.into(), couple.into()];
    for (key, vector) in ["position", "normal", "force", "couple"].into_iter().zip(vectors) {
        dict.set_item(key, output(py, &[], &[3], vector.to_vec())?)?;
    }
    dict.set_item("bodies", contact.bodies.map(name))?;
    Ok(dict)
}
