//! Values as a scene file has them.

use std::fmt::Write;

/// A line of a table.
pub(super) fn field(text: &mut String, name: &str, value: &str) {
    let _ = writeln!(text, "{name} = {value}");
}

pub(super) fn string(value: &str) -> String {
    toml::Value::String(value.to_string()).to_string()
}

/// The shortest text that reads as the same number.
pub(super) fn number(x: f64) -> String {
    let text = format!("{x:?}");
    text.strip_suffix(".0").map(str::to_string).unwrap_or(text)
}

pub(super) fn list(numbers: &[f64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(|&x| number(x)).collect();
    format!("[{}]", numbers.join(", "))
}
