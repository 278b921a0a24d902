//! Recordings as others make them: inputs over time, units, frames, orders, files of several kinds.

mod contact_forces;
mod headers;
mod inertial;
mod inputs;
mod mcap_damaged;
mod mcap_files;
mod mcap_messages;
mod mcap_times;
mod mcap_writer;
mod parquet_damaged;
mod parquet_files;
mod parquet_writer;
mod pushed_box;
mod signals;
mod written_otherwise;

use stiction::identify::{Dataset, Experiment};

use crate::fixtures::folder::Folder;

/// An arm of two links that swings, whose recordings come in files of several kinds.
const ARM: &str = "[simulation]
time_step = 0.01
[[body]]
name = 'arm'
joint = { type = 'revolute', axis = [0, 1, 0], q = 0.4, damping = 0.02 }
position = [0, 0, 2]
mass = 0.4
center_of_mass = [0, 0, -0.15]
inertia = [0.003, 0.003, 1e-4]
[[body]]
name = 'hand'
parent = 'arm'
joint = { type = 'revolute', axis = [0, 1, 0], damping = 0.004 }
position = [0, 0, -0.3]
mass = 0.2
center_of_mass = [0, 0, -0.1]
inertia = [0.001, 0.001, 1e-4]
";

/// An experiment on one recording of a scene, with these tables behind its noise.
fn load(
    name: &str,
    scene: &str,
    recording: &str,
    tables: &str,
) -> Result<(Experiment, Dataset), String> {
    let folder = Folder::new(name);
    folder.write("scene.toml", scene);
    folder.write("motion.csv", recording);
    let head = "scene = 'scene.toml'\ndata = ['motion.csv']\n[noise]\nposition = 1e-3\nrotation_deg = 0.1\n";
    let experiment = folder.experiment(&format!("{head}{tables}"))?;
    let dataset = Dataset::load(&experiment).map_err(|error| error.to_string())?;
    Ok((experiment, dataset))
}
