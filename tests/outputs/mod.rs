//! What is written: whole or not there, whoever writes beside, and however it ends.

mod full;
mod killed;
mod locked;

/// An experiment without profiles, which take most of the time, on what [`SCENE`](crate::program::SCENE) does.
const EXPERIMENT: &str = "scene = 'scene.toml'
data = ['recording.csv']
window = 5
initial_state = 'fitted'
profiles = false
[noise]
position = 0.001
rotation_deg = 0.3
[[parameter]]
name = 'floor-ball/mu'
start = 0.1
lower = 0
upper = 1
[[parameter]]
name = 'floor-ball/restitution'
start = 0.9
lower = 0
upper = 1
";

/// A folder with a scene, an experiment and its recording.
pub fn folder(name: &str) -> crate::folder::Folder {
    let folder = crate::folder::Folder::new(name);
    folder.write("scene.toml", crate::program::SCENE);
    folder.write("experiment.toml", EXPERIMENT);
    let output = folder.run(&["simulate", "scene.toml", "--steps", "40", "-o", "recording.csv"]);
    crate::program::succeeds(&output);
    folder
}

/// The names of all files in a folder, hidden ones too; none where there is no folder.
fn names(folder: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
