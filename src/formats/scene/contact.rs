//! The `[[contact]]` tables of a scene file.

use std::collections::HashSet;

use super::shape::{read_material, surface_fields};
use crate::Error;
use crate::assemble::{ContactDescription, Description, GrainDescription};
use crate::table::Table;

/// Reads all into the description; returns the tables of its contacts.
pub(super) fn read<'a>(
    root: &Table<'a>,
    description: &mut Description,
) -> Result<Vec<Table<'a>>, Error> {
    let (mut tables, mut pairs) = (Vec::new(), HashSet::new());
    let known_bodies: HashSet<String> =
        description.bodies.iter().map(|body| body.name.clone()).collect();
    let solids = solids(description);
    for mut table in root.tables("contact")? {
        let name = table.string("pair")?;
        let bodies = table.strings("bodies")?;
        if let Some(bodies) = bodies {
            table.only(&["bodies", "collide"])?;
            let found = bodies.len();
            let bodies = <[&str; 2]>::try_from(bodies)
                .map_err(|_| table.error("bodies", format!("must be two names, found {found}")))?;
            for name in bodies {
                if !known_bodies.contains(name) {
                    return Err(table.error("bodies", format!("there is no body {name:?}")));
                }
            }
            if table.boolean("collide")? != Some(false) {
                let message = "must be false: numbers are given by pair, or with the shapes";
                return Err(table.error("collide", message));
            }
            description.excluded.push(bodies.map(str::to_string));
            continue;
        }
        let known = match name {
            Some(name) => {
                let exists = !pairs.insert(name);
                if exists || is_pair(&solids, name) {
                    table.path = format!("contact.{name}");
                }
                exists
            }
            None => description.default_contact.is_some() || description.passes,
        };
        let fields = ["pair", "bodies", "grain", "grain_of", "collide"];
        table.only(&fields.into_iter().chain(surface_fields()).collect::<Vec<_>>())?;
        if known {
            let message = match name {
                Some(_) => "is given twice",
                None => "is missing, and there already is a [[contact]] for all other pairs",
            };
            return Err(table.error("pair", message));
        }
        let collides = table.boolean("collide")?.unwrap_or(true);
        if !collides {
            for field in surface_fields().chain(["grain"]) {
                if table.has(field) {
                    return Err(table.error(field, "has no meaning with collide = false"));
                }
            }
        } else {
            table.required("mu", table.number("mu")?)?;
        }
        let material = read_material(&table)?;
        let grain = read_grain(&table, name.is_some())?;
        match name {
            Some(name) => {
                let pair = name.to_string();
                description.contacts.push(ContactDescription { line: None, pair, material, grain });
                tables.push(table);
            }
            None => {
                description.default_contact = material;
                description.passes = !collides;
            }
        }
    }
    Ok(tables)
}

/// The direction of friction.
fn read_grain(table: &Table, has_pair: bool) -> Result<Option<GrainDescription>, Error> {
    let (axis, of) = (table.numbers("grain")?, table.string("grain_of")?);
    if let (None, Some(_)) = (axis, of) {
        return Err(table.error("grain_of", "has no meaning without grain"));
    }
    if axis.is_some() && !has_pair {
        return Err(table.error("grain", "is for a [[contact]] with a `pair`"));
    }
    Ok(axis.map(|axis| GrainDescription { of: of.unwrap_or_default().to_string(), axis }))
}

/// What bodies, shapes and half-spaces are called.
fn solids(description: &Description) -> HashSet<String> {
    let shapes = description.colliders.iter().map(|shape| shape.name.clone());
    let bodies = description.bodies.iter().flat_map(|body| {
        let own = body.colliders.iter().map(|shape| format!("{}/{}", body.name, shape.name));
        own.chain([body.name.clone()])
    });
    let half_spaces = description.half_spaces.iter().map(|half_space| half_space.name.clone());
    half_spaces.chain(shapes).chain(bodies).collect()
}

/// Whether a name is that of two solids: what messages call a table by.
fn is_pair(solids: &HashSet<String>, name: &str) -> bool {
    let mut halves = name.match_indices('-').map(|(at, _)| (&name[..at], &name[at + 1..]));
    halves.any(|(first, second)| solids.contains(first) && solids.contains(second))
}
