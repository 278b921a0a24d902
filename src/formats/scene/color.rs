//! Colours, read and written.

use super::toml_values::{field, list, string};
use crate::Error;
use crate::model::Color;
use crate::table::Table;

/// `color = "#rrggbb"`, `"#rrggbbaa"`, or 3 or 4 numbers from 0 to 1.
pub(super) fn read_color(table: &Table) -> Result<Option<Color>, Error> {
    const MEANT: &str = "must be \"#rrggbb\", \"#rrggbbaa\", or 3 or 4 numbers from 0 to 1";
    if !table.has("color") {
        return Ok(None);
    }
    let wrong = || table.error("color", MEANT);
    if let Ok(Some(text)) = table.string("color") {
        let digits = text
            .strip_prefix('#')
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .ok_or_else(wrong)?;
        let part = |k: usize| u8::from_str_radix(&digits[2 * k..2 * k + 2], 16).ok();
        let parts: Option<Vec<u8>> = match digits.len() {
            6 | 8 => (0..digits.len() / 2).map(part).collect(),
            _ => None,
        };
        let parts = parts.ok_or_else(wrong)?;
        let parts: Vec<f64> = parts.into_iter().map(|part| f64::from(part) / 255.0).collect();
        return Ok(color(&parts));
    }
    let parts = table.list("color").map_err(|_| wrong())?.unwrap_or_default();
    let inside = parts.iter().all(|part| (0.0..=1.0).contains(part));
    color(&parts).filter(|_| inside).map(Some).ok_or_else(wrong)
}

fn color(parts: &[f64]) -> Option<Color> {
    match *parts {
        [red, green, blue] => Some([red, green, blue, 1.0]),
        [red, green, blue, opacity] => Some([red, green, blue, opacity]),
        _ => None,
    }
}

/// Writes a colour, if there is one.
pub(super) fn write_color(text: &mut String, color: Option<Color>) {
    let Some(color) = color else { return };
    let bytes = color.map(|part| (255.0 * part).round());
    // As it was read, where that was a text.
    if bytes.iter().zip(color).all(|(byte, part)| byte / 255.0 == part) {
        let count = if color[3] == 1.0 { 3 } else { 4 };
        let digits = bytes[..count].iter().map(|&byte| format!("{:02x}", byte as u8));
        return field(text, "color", &string(&format!("#{}", digits.collect::<String>())));
    }
    field(text, "color", &list(if color[3] == 1.0 { &color[..3] } else { &color }));
}
