//! A simulated motion as an `.npz` archive of NumPy.
//!
//! | key | shape | content |
//! |---|---|---|
//! | `t` | N + 1 | times of the frames, s |
//! | `q`, `v` | (N + 1) x nq, (N + 1) x nv | configurations and velocities, as in [`State`](crate::state::State) |
//! | `u` | N x (nv + nu) | inputs of the steps, `u[k]` from frame k to k + 1: forces along the velocities, then controls |
//! | `meta` | bytes | JSON text: `q_names`, `v_names`, `u_names`, program, version, time step |

use serde_json::{Map, Value};

use crate::Error;
use crate::model::Scene;
use crate::npz::Npz;
use crate::trajectory::Trajectory;

/// The archive of a trajectory and of the inputs of its steps, one after the other.
pub(super) fn npz(
    scene: &Scene,
    trajectory: &Trajectory,
    inputs: &[f64],
) -> Result<Vec<u8>, Error> {
    write(scene, trajectory, inputs).map_err(|error| Error::io(&trajectory.name, error))
}

fn write(scene: &Scene, trajectory: &Trajectory, inputs: &[f64]) -> std::io::Result<Vec<u8>> {
    let model = &scene.model;
    let states = &trajectory.states;
    let (nq, nv, nu) = (model.nq(), model.nv(), model.nv() + model.nu());
    let mut meta = Map::new();
    meta.insert("program".into(), "stiction".into());
    meta.insert("version".into(), env!("CARGO_PKG_VERSION").into());
    meta.insert("format".into(), "stiction trajectory".into());
    meta.insert("time_step".into(), scene.settings.time_step.into());
    meta.insert("q_names".into(), model.configuration_names().into());
    meta.insert("v_names".into(), model.velocity_names().into());
    meta.insert("u_names".into(), model.input_names().into());
    let meta = Value::Object(meta).to_string();

    let mut archive = Npz::new();
    archive.add("t", &[states.len()], &trajectory.times)?;
    archive.add("q", &[states.len(), nq], states.iter().flat_map(|state| &state.q))?;
    archive.add("v", &[states.len(), nv], states.iter().flat_map(|state| &state.v))?;
    archive.add("u", &[states.len().saturating_sub(1), nu], inputs)?;
    archive.add_bytes("meta", meta.as_bytes())?;
    archive.finish()
}
