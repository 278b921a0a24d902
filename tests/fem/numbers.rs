//! Numbers of the reference files.

use serde_json::Value;

use crate::shared::shared;

/// A file of `reference/add`, parsed.
pub fn json(name: &str) -> Option<Value> {
    let path = shared(&format!("reference/add/{name}"))?;
    Some(serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
}

/// A number.
pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// All numbers in nested lists, in their order.
pub fn flat(value: &Value) -> Vec<f64> {
    match value.as_array() {
        Some(list) => list.iter().flat_map(flat).collect(),
        None => vec![number(value)],
    }
}

/// Numbers by three.
pub fn nodes(value: &Value) -> Vec<[f64; 3]> {
    flat(value).as_chunks::<3>().0.to_vec()
}

/// Lists of four indices.
pub fn tetrahedra(value: &Value) -> Vec<[usize; 4]> {
    flat(value).as_chunks::<4>().0.iter().map(|four| four.map(|k| k as usize)).collect()
}

/// The largest difference, relative to the largest of `expected` and no less than `floor`.
#[track_caller]
pub fn error(found: &[f64], expected: &[f64], floor: f64) -> f64 {
    assert_eq!(found.len(), expected.len());
    let scale = expected.iter().fold(floor, |most, x| most.max(x.abs()));
    let largest = |most: f64, (a, b): (&f64, &f64)| match a.is_finite() {
        true => most.max((a - b).abs()),
        false => f64::INFINITY,
    };
    found.iter().zip(expected).fold(0.0, largest) / scale
}
