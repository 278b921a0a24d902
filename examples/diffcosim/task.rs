//! The eight tasks, and other systems from files.

use std::path::Path;

use stiction::maximal::PointScene;

use crate::{Failure, folder};

/// The tasks of [Zhong21].
pub const TASKS: [&str; 8] = ["BP5-e", "BP5", "CP3-e", "CP3", "BD5", "Rope", "Gyro-e", "Gyro"];

/// Steps of a motion that pieces are cut from.
pub fn steps(name: &str) -> usize {
    if name == "Rope" { 20 } else { 100 }
}

/// A task by its name, or the system of a file.
pub fn load(name: &str, system: Option<&Path>) -> Result<PointScene, Failure> {
    if let Some(path) = system {
        return Ok(PointScene::load(path)?);
    }
    if !TASKS.contains(&name) {
        return Err(format!(
            "there is no task {name:?}, only {}; --system FILE reads another",
            TASKS.join(", ")
        )
        .into());
    }
    Ok(PointScene::load(folder().join(format!("{name}.toml")))?)
}
