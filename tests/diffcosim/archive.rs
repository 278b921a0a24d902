//! Archives of reference answers.

use std::fs::File;
use std::path::{Path, PathBuf};

use ndarray::ArrayD;
use ndarray_npy::NpzReader;
use stiction::maximal::PointScene;

use crate::shared::shared;

/// The tasks whose pieces and steps are there.
pub const TASKS: [&str; 6] = ["BP5-e", "BP5", "CP3-e", "CP3", "Gyro-e", "Gyro"];

pub struct Archive(NpzReader<File>);

impl Archive {
    /// A file of `reference/diffcosim`, if there is that folder.
    pub fn open(name: &str) -> Option<Archive> {
        let path = shared("reference/diffcosim")?.join(name);
        Some(Archive(NpzReader::new(File::open(path).unwrap()).unwrap()))
    }

    pub fn array(&mut self, name: &str) -> Vec<f64> {
        let array: ArrayD<f64> = self.0.by_name(name).unwrap();
        array.iter().copied().collect()
    }

    pub fn integers(&mut self, name: &str) -> Vec<i64> {
        let array: ArrayD<i64> = self.0.by_name(name).unwrap();
        array.iter().copied().collect()
    }

    /// W0, b0, W1, .. one after the other.
    pub fn weights(&mut self, prefix: &str, layers: usize) -> Vec<f64> {
        let names = (0..layers).flat_map(|k| [format!("{prefix}W{k}"), format!("{prefix}b{k}")]);
        names.flat_map(|name| self.array(&name)).collect()
    }
}

/// A task of the example.
pub fn task(name: &str) -> PointScene {
    PointScene::load(task_file(name)).unwrap()
}

pub fn task_file(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/diffcosim");
    folder.join(format!("{name}.toml"))
}

/// The largest difference, relative to the largest entry.
pub fn relative(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let size = expected.iter().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
    largest(found, expected) / size
}

/// The largest difference.
pub fn largest(found: &[f64], expected: &[f64]) -> f64 {
    let differences = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
    // What is not a number stays one.
    differences.fold(0.0, |m: f64, e| if m.is_nan() || e <= m { m } else { e })
}
