//! A simulated motion as an `.npz` archive of NumPy.
//!
//! | key | shape | content |
//! |---|---|---|
//! | `t` | N + 1 | times of the frames, s |
//! | `q`, `v` | (N + 1) x nq, (N + 1) x nv | configurations and velocities, as in [`State`](crate::state::State) |
//! | `u` | N x (nv + nu) | inputs of the steps, `u[k]` from frame k to k + 1: forces along the velocities, then controls |
//! | `meta` | bytes | JSON text: `q_names`, `v_names`, `u_names`, program, version, time step |

use ndarray::Array2;
use serde_json::{Map, Value};

use crate::Error;
use crate::model::Scene;
use crate::trajectory::Trajectory;

/// The archive of a trajectory and of the inputs of its steps, one after the other.
pub(super) fn npz(
    scene: &Scene,
    trajectory: &Trajectory,
    inputs: Vec<f64>,
) -> Result<Vec<u8>, Error> {
    let failed = |error: Box<dyn std::error::Error + Send + Sync>| {
        Error::io(&trajectory.name, std::io::Error::other(error))
    };
    write(scene, trajectory, inputs).map_err(failed)
}

fn write(
    scene: &Scene,
    trajectory: &Trajectory,
    inputs: Vec<f64>,
) -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>> {
    let model = &scene.model;
    let frames = trajectory.states.len();
    let (nq, nv, nu) = (model.nq(), model.nv(), model.nv() + model.nu());
    let q = trajectory.states.iter().flat_map(|state| state.q.iter().copied()).collect();
    let v = trajectory.states.iter().flat_map(|state| state.v.iter().copied()).collect();
    let mut meta = Map::new();
    meta.insert("program".into(), "stiction".into());
    meta.insert("version".into(), env!("CARGO_PKG_VERSION").into());
    meta.insert("format".into(), "stiction trajectory".into());
    meta.insert("time_step".into(), scene.settings.time_step.into());
    meta.insert("q_names".into(), model.configuration_names().into());
    meta.insert("v_names".into(), model.velocity_names().into());
    meta.insert("u_names".into(), model.input_names().into());
    let meta = Value::Object(meta).to_string();

    let mut file = std::io::Cursor::new(Vec::new());
    let mut archive = ndarray_npy::NpzWriter::new_compressed(&mut file);
    archive.add_array("t", &ndarray::aview1(&trajectory.times))?;
    archive.add_array("q", &Array2::from_shape_vec((frames, nq), q)?)?;
    archive.add_array("v", &Array2::from_shape_vec((frames, nv), v)?)?;
    archive.add_array("u", &Array2::from_shape_vec((frames.saturating_sub(1), nu), inputs)?)?;
    archive.add_array("meta", &ndarray::aview1(meta.as_bytes()))?;
    archive.finish()?;
    Ok(file.into_inner())
}
