//! The `[[contact]]` tables of a scene file.

use crate::Error;
use crate::model::parameters::{MU, MU_STATIC, PAIR, RESTITUTION};
use crate::model::{Body, HalfSpace, Pair, Solid};
use crate::table::Table;

/// What a `[[contact]]` says.
#[derive(Clone, Copy)]
enum Entry {
    Collides { numbers: [f64; PAIR], two_regimes: bool },
    Passes,
}

/// All pairs that can touch, and the numbers of each. `bodies` are the tables the bodies come from.
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
        table.only(&["pair", "mu", "mu_static", "restitution", "collide"])?;
        if slot.is_some() {
            let message = match name {
                Some(_) => "is given twice",
                None => "is missing, and there already is a [[contact]] for all other pairs",
            };
            return Err(table.error("pair", message));
        }
        *slot = Some(read_entry(&table)?);
    }
    let (mut colliding, mut all) = (Vec::with_capacity(pairs.len()), Vec::new());
    for (mut pair, own) in pairs.into_iter().zip(numbers) {
        match own.or(default) {
            Some(Entry::Collides { numbers, two_regimes }) => {
                pair.two_regimes = two_regimes;
                colliding.push(pair);
                all.push(numbers);
            }
            Some(Entry::Passes) => {}
            None => {
                let (table, _) = bodies[pair.second];
                let message = format!(
                    "no [[contact]] says how the pair {0:?} touches; add one with pair = {0:?} (with \
                     mu, or with collide = false), or one without pair for all",
                    pair.name
                );
                return Err(table.error("", message));
            }
        }
    }
    Ok((colliding, all))
}

fn pairs(half_spaces: &[HalfSpace], bodies: &[(&Table, &Body)]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    let mut add = |first: Solid, owner: &str, others: std::ops::Range<usize>| {
        for second in others {
            let name = format!("{owner}-{}", bodies[second].1.name);
            pairs.push(Pair { name, first, second, two_regimes: false });
        }
    };
    for (half_space, ground) in half_spaces.iter().enumerate() {
        add(Solid::HalfSpace(half_space), &ground.name, 0..bodies.len());
    }
    for (body, (_, owner)) in bodies.iter().enumerate() {
        add(Solid::Body(body), &owner.name, body + 1..bodies.len());
    }
    pairs
}

fn read_entry(table: &Table) -> Result<Entry, Error> {
    if !table.boolean("collide")?.unwrap_or(true) {
        for field in ["mu", "mu_static", "restitution"] {
            if table.has(field) {
                return Err(table.error(field, "has no meaning with collide = false"));
            }
        }
        return Ok(Entry::Passes);
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
    let mut numbers = [0.0; PAIR];
    numbers[MU] = mu;
    numbers[RESTITUTION] = restitution;
    numbers[MU_STATIC] = mu_static.unwrap_or(0.0);
    Ok(Entry::Collides { numbers, two_regimes: mu_static.is_some() })
}

fn unknown(name: &str, pairs: &[Pair]) -> String {
    let known: Vec<&str> = pairs.iter().map(|pair| pair.name.as_str()).collect();
    match known.is_empty() {
        true => format!("there is no pair {name:?}: the scene has nothing that can touch"),
        false => format!("there is no pair {name:?}; the pairs are {}", known.join(", ")),
    }
}
