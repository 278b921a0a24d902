//! Archives of NumPy: pieces of motion, and what is learned from them.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;

use ndarray::{ArrayD, IxDyn, OwnedRepr};
use ndarray_npy::{NpzReader, NpzWriter};
use stiction::learn::Chunks;
use stiction::maximal::PointSystem;

use crate::Failure;

/// An archive that is read.
pub struct Archive {
    path: String,
    npz: NpzReader<File>,
}

impl Archive {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<Archive, Failure> {
        let shown = path.display().to_string();
        let file = File::open(path).map_err(|error| format!("{shown}: {error}"))?;
        let npz = NpzReader::new(file).map_err(|error| format!("{shown}: {error}"))?;
        Ok(Archive { path: shown, npz })
    }

    /// An array of numbers, if there is one of this name.
    pub fn array(&mut self, name: &str) -> Result<Option<ArrayD<f64>>, Failure> {
        if !self.has(name)? {
            return Ok(None);
        }
        if let Ok(found) = self.npz.by_name::<OwnedRepr<f32>, IxDyn>(name) {
            return Ok(Some(found.mapv(f64::from)));
        }
        if let Ok(found) = self.npz.by_name::<OwnedRepr<i64>, IxDyn>(name) {
            return Ok(Some(found.mapv(|k| k as f64)));
        }
        let found = self.npz.by_name::<OwnedRepr<f64>, IxDyn>(name);
        Ok(Some(
            found.map_err(|error| format!("{}: {name}: must be of float64: {error}", self.path))?,
        ))
    }

    /// The one number of an array that has to be there.
    pub fn number(&mut self, name: &str) -> Result<f64, Failure> {
        let found = self.required(name)?;
        let number = found.first().copied().filter(|x| found.len() == 1 && x.is_finite());
        Ok(number.ok_or_else(|| format!("{}: {name}: must be one finite number", self.path))?)
    }

    /// Whether there is an array of this name.
    pub fn has(&mut self, name: &str) -> Result<bool, Failure> {
        let names = self.npz.names().map_err(|error| format!("{}: {error}", self.path))?;
        Ok(names.iter().any(|n| n == name || *n == format!("{name}.npy")))
    }

    /// Finite numbers of this shape.
    pub fn shaped(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f64>, Failure> {
        let found = self.required(name)?;
        if found.shape() != shape {
            let found = found.shape();
            return Err(format!(
                "{}: {name}: must have the shape {shape:?}, found {found:?}",
                self.path
            )
            .into());
        }
        if let Some(bad) = found.iter().find(|x| !x.is_finite()) {
            return Err(format!("{}: {name}: holds {bad}", self.path).into());
        }
        Ok(found.iter().copied().collect())
    }

    /// An array that has to be there.
    pub fn required(&mut self, name: &str) -> Result<ArrayD<f64>, Failure> {
        let found = self.array(name)?;
        Ok(found.ok_or_else(|| format!("{}: has no array {name:?}", self.path))?)
    }

    /// Pieces of motion, (N, T, 2, n, d).
    pub fn chunks(&mut self, name: &str, system: &PointSystem) -> Result<Chunks, Failure> {
        let array = self.required(name)?;
        let shape = array.shape().to_vec();
        let expected = [2, system.points(), system.dimension()];
        if shape.len() != 5 || shape[2..] != expected {
            return Err(format!(
                "{}: {name}: must have the shape (N, T, 2, {}, {}), found {shape:?}",
                self.path,
                system.points(),
                system.dimension()
            )
            .into());
        }
        let chunks = Chunks::new(shape[1], system.coordinates(), array.iter().copied().collect());
        Ok(chunks.map_err(|error| format!("{}: {name}: {error}", self.path))?)
    }
}

/// Whether a file can be written here, which is better known before the work.
pub fn check_writable(path: &Path) -> Result<(), Failure> {
    let draft = path.with_extension("npz.part");
    File::create(&draft).map_err(|error| format!("{}: {error}", path.display()))?;
    fs::remove_file(&draft).map_err(|error| format!("{}: {error}", draft.display()))?;
    Ok(())
}

/// Arrays by name, written whole or not at all.
pub fn write(path: &Path, arrays: &[(String, Vec<usize>, Vec<f64>)]) -> Result<(), Failure> {
    let shown = path.display().to_string();
    let fail = |error: String| format!("{shown}: {error}");
    let draft = path.with_extension("npz.part");
    let file = File::create(&draft).map_err(|error| fail(error.to_string()))?;
    let mut npz = NpzWriter::new_compressed(BufWriter::new(file));
    for (name, shape, values) in arrays {
        let array = ArrayD::from_shape_vec(IxDyn(shape), values.clone());
        let array = array.map_err(|error| fail(format!("{name}: {error}")))?;
        npz.add_array(name, &array).map_err(|error| fail(format!("{name}: {error}")))?;
    }
    npz.finish().map_err(|error| fail(error.to_string()))?;
    fs::rename(&draft, path).map_err(|error| fail(error.to_string()))?;
    Ok(())
}

/// A vector as an array of an archive.
pub fn vector(name: &str, values: &[f64]) -> (String, Vec<usize>, Vec<f64>) {
    (name.to_string(), vec![values.len()], values.to_vec())
}
