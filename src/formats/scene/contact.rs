//! The `[[contact]]` tables of a scene file.

use super::shape::read_material;
use crate::Error;
use crate::assemble::{ContactDescription, Description};
use crate::table::Table;

/// Reads all into the description; returns the tables of its contacts.
pub(super) fn read<'a>(
    root: &Table<'a>,
    description: &mut Description,
) -> Result<Vec<Table<'a>>, Error> {
    let mut tables = Vec::new();
    for mut table in root.tables("contact")? {
        let name = table.string("pair")?;
        let bodies = table.strings("bodies")?;
        if let Some(bodies) = bodies {
            table.only(&["bodies", "collide"])?;
            let found = bodies.len();
            let bodies = <[&str; 2]>::try_from(bodies)
                .map_err(|_| table.error("bodies", format!("must be two names, found {found}")))?;
            for name in bodies {
                if !description.bodies.iter().any(|body| body.name == name) {
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
                let exists = description.contacts.iter().any(|contact| contact.pair == name);
                if exists || is_pair(description, name) {
                    table.path = format!("contact.{name}");
                }
                exists
            }
            None => description.default_contact.is_some() || description.passes,
        };
        table.only(&["pair", "bodies", "mu", "mu_static", "restitution", "collide"])?;
        if known {
            let message = match name {
                Some(_) => "is given twice",
                None => "is missing, and there already is a [[contact]] for all other pairs",
            };
            return Err(table.error("pair", message));
        }
        let collides = table.boolean("collide")?.unwrap_or(true);
        if !collides {
            for field in ["mu", "mu_static", "restitution"] {
                if table.has(field) {
                    return Err(table.error(field, "has no meaning with collide = false"));
                }
            }
        } else {
            table.required("mu", table.number("mu")?)?;
        }
        let material = read_material(&table)?;
        match name {
            Some(name) => {
                let pair = name.to_string();
                description.contacts.push(ContactDescription { line: None, pair, material });
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

/// Whether a name is that of two solids: what messages call a table by.
fn is_pair(description: &Description, name: &str) -> bool {
    let shapes = description.colliders.iter().map(|shape| shape.name.clone());
    let bodies = description.bodies.iter().flat_map(|body| {
        let own = body.colliders.iter().map(|shape| format!("{}/{}", body.name, shape.name));
        own.chain([body.name.clone()])
    });
    let half_spaces = description.half_spaces.iter().map(|half_space| half_space.name.clone());
    let all: Vec<String> = half_spaces.chain(shapes).chain(bodies).collect();
    all.iter().any(|first| {
        let second = name.strip_prefix(first.as_str()).and_then(|rest| rest.strip_prefix('-'));
        second.is_some_and(|second| all.iter().any(|other| other == second))
    })
}
