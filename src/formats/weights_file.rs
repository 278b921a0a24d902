//! Weights of a network in an archive of NumPy: `W1` (outputs x inputs), `b1`, `W2`, .., as PyTorch has them.

use std::path::Path;

use crate::Error;
#[cfg(feature = "cli")]
use crate::network::Network;
use crate::npz;
use crate::text;

/// Numbers that are read of an archive: a term has fewer weights.
const MOST_NUMBERS: u64 = 2_000_000;

/// What an archive holds.
pub(super) struct Weights {
    /// From inputs to outputs.
    pub sizes: Vec<usize>,
    /// Layer by layer the matrix row by row and the biases.
    pub values: Vec<f64>,
}

/// The archive of the weights of a network.
///
/// # Errors
/// If there are other than as many as it has.
#[cfg(feature = "cli")]
pub(crate) fn archive(network: &Network, weights: &[f64]) -> std::io::Result<Vec<u8>> {
    let mut archive = npz::Npz::new();
    let mut rest = weights;
    let few = || std::io::Error::other("fewer weights than the network has");
    for (layer, (outputs, inputs)) in (1..).zip(network.shapes()) {
        let (matrix, after) = rest.split_at_checked(outputs * inputs).ok_or_else(few)?;
        let (biases, after) = after.split_at_checked(outputs).ok_or_else(few)?;
        archive.add(&format!("W{layer}"), &[outputs, inputs], matrix)?;
        archive.add(&format!("b{layer}"), &[outputs], biases)?;
        rest = after;
    }
    archive.finish()
}

/// Reads the weights of a network.
///
/// # Errors
/// With the file and the array, if it is no such archive.
pub(super) fn load(path: &Path) -> Result<Weights, Error> {
    let bytes = text::read_bytes(path, text::MOST_BYTES)?;
    let wrong = |field: &str, message: String| {
        Error::input(path.display().to_string(), None, field, message)
    };
    let arrays = npz::read(&bytes, MOST_NUMBERS).map_err(|message| wrong("", message))?;
    let find = |name: &str| arrays.iter().find(|array| array.name == name);
    let (mut sizes, mut values) = (Vec::new(), Vec::new());
    for layer in 1.. {
        let [matrix, bias] = ["W", "b"].map(|letter| format!("{letter}{layer}"));
        let Some(weights) = find(&matrix) else { break };
        let &[outputs, inputs] = &weights.shape[..] else {
            let message = format!("must have two indices, found the shape {:?}", weights.shape);
            return Err(wrong(&matrix, message));
        };
        let before = *sizes.last().unwrap_or(&inputs);
        if inputs != before {
            let message = format!("must have {before} columns, found {inputs}");
            return Err(wrong(&matrix, message));
        }
        let Some(biases) = find(&bias) else {
            return Err(wrong(&bias, format!("is missing beside {matrix}")));
        };
        if biases.shape != [outputs] {
            let message = format!("must have the shape [{outputs}], found {:?}", biases.shape);
            return Err(wrong(&bias, message));
        }
        if sizes.is_empty() {
            sizes.push(inputs);
        }
        sizes.push(outputs);
        values.extend(weights.values.iter().chain(&biases.values));
    }
    if sizes.is_empty() {
        let names: Vec<&str> = arrays.iter().map(|array| array.name.as_str()).collect();
        let names = names.join(", ");
        return Err(wrong("W1", format!("is missing: weights are W1, b1, W2, ..; it has {names}")));
    }
    Ok(Weights { sizes, values })
}
