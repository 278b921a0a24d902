//! The `[[contact]]` tables of a scene file.

use crate::Error;
use crate::model::parameters::{MU, PAIR, RESTITUTION};
use crate::model::{Body, HalfSpace, Pair};
use crate::table::Table;

/// All pairs of a half-space and a body, and the numbers of each. `bodies` are the tables the
/// bodies come from.
pub(super) fn read(
    root: &Table,
    half_spaces: &[HalfSpace],
    bodies: &[(&Table, &Body)],
) -> Result<(Vec<Pair>, Vec<[f64; PAIR]>), Error> {
    let pairs = pairs(half_spaces, bodies);
    let mut numbers = vec![None; pairs.len()];
    let mut default = None;
    for mut table in root.tables("contact")? {
        let name = table.string("pair")?;
        let slot = match name {
            None => &mut default,
            Some(name) => match pairs.iter().position(|pair| pair.name == name) {
                Some(index) => &mut numbers[index],
                None => return Err(table.error("pair", unknown(name, &pairs))),
            },
        };
        if let Some(name) = name {
            table.path = format!("contact.{name}");
        }
        table.only(&["pair", "mu", "restitution"])?;
        if slot.is_some() {
            let message = match name {
                Some(_) => "is given twice",
                None => "is missing, and there already is a [[contact]] for all other pairs",
            };
            return Err(table.error("pair", message));
        }
        *slot = Some(read_numbers(&table)?);
    }
    let mut all = Vec::with_capacity(pairs.len());
    for (pair, own) in pairs.iter().zip(&numbers) {
        let Some(numbers) = own.or(default) else {
            let (table, _) = bodies[pair.body];
            let message = format!(
                "no [[contact]] says how the pair {0:?} touches; add one with pair = {0:?}, or \
                 one without pair for all",
                pair.name
            );
            return Err(table.error("", message));
        };
        all.push(numbers);
    }
    Ok((pairs, all))
}

fn pairs(half_spaces: &[HalfSpace], bodies: &[(&Table, &Body)]) -> Vec<Pair> {
    let mut pairs = Vec::with_capacity(half_spaces.len() * bodies.len());
    for (half_space, ground) in half_spaces.iter().enumerate() {
        for (body, (_, other)) in bodies.iter().enumerate() {
            let name = format!("{}-{}", ground.name, other.name);
            pairs.push(Pair { name, half_space, body });
        }
    }
    pairs
}

fn read_numbers(table: &Table) -> Result<[f64; PAIR], Error> {
    let mu = table.required("mu", table.number("mu")?)?;
    table.demand("mu", mu >= 0.0, "must not be negative", mu, "")?;
    let restitution = table.number("restitution")?.unwrap_or(0.0);
    let met = (0.0..=1.0).contains(&restitution);
    table.demand("restitution", met, "must be between 0 and 1", restitution, "")?;
    let mut numbers = [0.0; PAIR];
    numbers[MU] = mu;
    numbers[RESTITUTION] = restitution;
    Ok(numbers)
}

fn unknown(name: &str, pairs: &[Pair]) -> String {
    let known: Vec<&str> = pairs.iter().map(|pair| pair.name.as_str()).collect();
    match known.is_empty() {
        true => format!("there is no pair {name:?}: the scene has no half-space"),
        false => format!("there is no pair {name:?}; the pairs are {}", known.join(", ")),
    }
}
