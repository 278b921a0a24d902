//! Shapes: the fields of a `[[shape]]`, of `shape = { .. }` and of `[[body.shape]]`.

use crate::Error;
use crate::model::{ColliderDescription, Filter, Material, Shape};
use crate::table::Table;

/// What says how a surface touches others.
pub(super) const SURFACE: [&str; 5] = ["mu", "mu_static", "restitution", "contype", "conaffinity"];
/// The kinds of shapes.
const KINDS: [&str; 2] = ["box", "sphere"];

/// Reads a shape whose name is known.
pub(super) fn read(table: &Table, name: String) -> Result<ColliderDescription, Error> {
    let mut fields = vec!["name", "position", "orientation"];
    fields.extend(SURFACE);
    fields.extend(KINDS);
    table.only(&fields)?;
    let (shape, size) = read_kind(table)?;
    Ok(ColliderDescription {
        line: None,
        name,
        shape,
        size,
        position: table.numbers("position")?.unwrap_or([0.0; 3]),
        orientation: table.numbers("orientation")?.unwrap_or([1.0, 0.0, 0.0, 0.0]),
        material: read_material(table)?,
        filter: read_filter(table)?,
        mesh: None,
    })
}

fn read_kind(table: &Table) -> Result<(Shape, [f64; 3]), Error> {
    let (kind, field, size) = match (table.numbers("box")?, table.number("sphere")?) {
        (Some(half_extents), None) => (Shape::Box, "box", half_extents),
        (None, Some(radius)) => (Shape::Sphere, "sphere", [radius, 0.0, 0.0]),
        _ => {
            let message = "must be { box = [hx, hy, hz] } with half extents, or { sphere = r }";
            return Err(table.error("", message));
        }
    };
    for found in kind.sizes(&size).iter().copied() {
        table.demand(field, found > 0.0, "must be positive", found, "m")?;
    }
    Ok((kind, size))
}

/// The material of a surface, if it has one of its own.
pub(super) fn read_material(table: &Table) -> Result<Option<Material>, Error> {
    if !table.has("mu") {
        for field in ["mu_static", "restitution"] {
            if table.has(field) {
                return Err(table.error(field, "has no meaning without mu"));
            }
        }
        return Ok(None);
    }
    let mu = table.required("mu", table.number("mu")?)?;
    table.demand("mu", mu >= 0.0, "must not be negative", mu, "")?;
    let mu_static = table.number("mu_static")?;
    if let Some(found) = mu_static {
        let message = format!("must not be less than mu, {mu}");
        table.demand("mu_static", found >= mu, &message, found, "")?;
    }
    let restitution = table.number("restitution")?.unwrap_or(0.0);
    let met = (0.0..=1.0).contains(&restitution);
    table.demand("restitution", met, "must be between 0 and 1", restitution, "")?;
    Ok(Some(Material { mu, mu_static, restitution }))
}

/// What a surface touches.
pub(super) fn read_filter(table: &Table) -> Result<Filter, Error> {
    let bits = |field: &str| {
        let Some(number) = table.number(field)? else { return Ok(1) };
        let met = number >= 0.0 && number <= f64::from(u32::MAX) && number.fract() == 0.0;
        table.demand(field, met, "must be a whole number of at most 32 bits", number, "")?;
        Ok(number as u32)
    };
    Ok(Filter { contype: bits("contype")?, conaffinity: bits("conaffinity")? })
}
