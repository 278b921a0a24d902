//! The `[light]` table of a scene file.

use super::color::{read_color, write_color};
use super::toml_values::{field, list, number};
use crate::Error;
use crate::model::Lighting;
use crate::table::Table;

/// Reads the light.
pub(super) fn read(table: &Table) -> Result<Lighting, Error> {
    table.only(&["direction", "direct", "ambient", "color"])?;
    let usual = Lighting::default();
    let direction = table.numbers("direction")?.unwrap_or(usual.direction);
    let length = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
    let has_length = length > 0.0 && length.is_finite();
    table.demand("direction", has_length, "must be a vector with a length", length, "")?;
    let part = |name: &str, usual: f64| {
        let own = table.number(name)?.unwrap_or(usual);
        table.demand(name, (0.0..=1.0).contains(&own), "must be from 0 to 1", own, "")?;
        Ok(own)
    };
    let (direct, ambient) = (part("direct", usual.direct)?, part("ambient", usual.ambient)?);
    let background = read_color(table)?.unwrap_or(usual.background);
    Ok(Lighting { direction, direct, ambient, background })
}

/// Writes the light.
pub(super) fn write(text: &mut String, light: &Lighting) {
    text.push_str("\n[light]\n");
    field(text, "direction", &list(&light.direction));
    field(text, "direct", &number(light.direct));
    field(text, "ambient", &number(light.ambient));
    write_color(text, Some(light.background));
}
