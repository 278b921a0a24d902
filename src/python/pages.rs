//! Motions that Python has, as pages.

use pyo3::prelude::*;

use super::arguments::Given;
use super::numpy_arrays::Argument;
use super::scene::Scene;
use crate::model::Scene as Description;
use crate::state::State;
use crate::view::{Appearance, Clip, Drawing, Playback, Role, TrackRecorder};

/// One HTML page that plays states X (N, nq + nv), one a step, in 3-D: stiction.View has it.
#[pyfunction]
pub fn _page(py: Python, scene: &Scene, x: Given, title: &str) -> PyResult<String> {
    let states = Argument::sequence("X", x, scene.sizes.nx())?;
    let (description, states) = (scene.description(py), states.only()?);
    py.detach(|| page(&description, states, title))
}

fn page(scene: &Description, states: &[f64], title: &str) -> PyResult<String> {
    let Description { model, parameters, settings, .. } = scene;
    let width = model.nq() + model.nv();
    let count = states.len().checked_div(width).unwrap_or(0);
    let span = [0.0, count.saturating_sub(1) as f64 * settings.time_step];
    let drawing = Drawing::new(model, parameters, &Appearance::read(model));
    let named = ("simulation", Role::Simulation);
    let mut track = TrackRecorder::new(model, parameters, &drawing, named, span);
    for (k, x) in states.chunks_exact(width.max(1)).enumerate() {
        let (q, v) = x.split_at(model.nq());
        track.frame(k as f64 * settings.time_step, &State { q: q.to_vec(), v: v.to_vec() });
    }
    let clip = Clip { name: title.to_string(), tracks: vec![track.finish()] };
    Ok(Playback { drawing, clips: vec![clip] }.html(title)?)
}
