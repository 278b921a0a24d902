//! Folders of files for tests.

use std::path::PathBuf;

use stiction::identify::Experiment;

/// A folder of its own for a test, removed at its end.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("stiction-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).unwrap();
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes an experiment and reads it, with what is wrong with it less the name of the folder.
    pub fn experiment(&self, text: &str) -> Result<Experiment, String> {
        self.write("experiment.toml", text);
        Experiment::load(self.path("experiment.toml"), None).map_err(|error| {
            let folder = format!("{}/", self.0.display());
            error.to_string().replace(&folder, "")
        })
    }
}

/// What tests of the program ask.
#[cfg(feature = "cli")]
impl Folder {
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap()
    }

    /// The files in it, sorted.
    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Runs the program in it.
    pub fn run(&self, arguments: &[&str]) -> std::process::Output {
        let program = env!("CARGO_BIN_EXE_stiction");
        std::process::Command::new(program).args(arguments).current_dir(&self.0).output().unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
