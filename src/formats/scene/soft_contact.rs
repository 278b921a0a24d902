//! What soft bodies and half-spaces or shapes are to each other: `[[contact]]` of a scene of soft bodies.

use std::collections::HashMap;

use super::mixed;
use crate::Error;
use crate::implicit::VertexLaw;
use crate::soft::{SoftBody, SoftContact, SoftScene};
use crate::table::Table;

/// What is said of all pairs, and of some.
pub(super) struct SoftContacts {
    all: Option<SoftContact>,
    pairs: HashMap<String, SoftContact>,
}

impl SoftContacts {
    /// Reads all `[[contact]]` tables of a scene whose bodies, half-spaces and shapes are known.
    pub fn read(root: &Table, scene: &SoftScene) -> Result<Self, Error> {
        let all = scene.touched().enumerate().flat_map(|(k, touched)| {
            let of = move |(body, own): (usize, &SoftBody)| {
                (format!("{touched}-{}", own.name), scene.meet(body, k))
            };
            scene.bodies.iter().enumerate().map(of)
        });
        let known: HashMap<String, bool> = all.collect();
        let mut contacts = SoftContacts { all: None, pairs: HashMap::new() };
        let soft: Vec<String> = scene.bodies.iter().map(|body| body.name.clone()).collect();
        let touched = mixed::touched(scene);
        for mut table in root.tables("contact")? {
            let pair = table.string("pair")?;
            let is_of_soft = pair.is_some_and(|pair| mixed::is_of_soft(pair, &soft, &touched));
            if scene.rigid.is_some() && !is_of_soft && (pair.is_some() || table.has("bodies")) {
                continue;
            }
            // What is said of all pairs is read as of rigid ones too.
            if scene.rigid.is_none() || is_of_soft {
                table.only(&["pair", "mu", "stiffness", "damping", "by_area"])?;
            }
            if let Some(pair) = pair {
                if known.get(pair) == Some(&false) {
                    let message =
                        "is of a soft body and what carries it, which do not touch: leave it out";
                    return Err(table.error("pair", message));
                }
                if !known.contains_key(pair) {
                    let met = known.iter().filter(|(_, meet)| **meet);
                    let mut pairs: Vec<&str> = met.map(|(pair, _)| pair.as_str()).collect();
                    pairs.sort_unstable();
                    let message = match pairs.is_empty() {
                        true => format!(
                            "there is no {pair:?}: the scene has no half-space and no shape"
                        ),
                        false => format!("must be one of {}, found {pair:?}", pairs.join(", ")),
                    };
                    return Err(table.error("pair", message));
                }
                table.path = format!("contact.{pair}");
            }
            let contact = read_contact(&table, scene.law)?;
            if scene.rigid.is_some() && contact.damping > 0.0 {
                let message = "is not for scenes that have [[soft]] and [[body]]";
                return Err(table.error("damping", message));
            }
            let again = match pair {
                Some(pair) => contacts.pairs.insert(pair.to_string(), contact).is_some(),
                None => contacts.all.replace(contact).is_some(),
            };
            if again {
                return Err(table.error("pair", "is given twice, or missing in two [[contact]]"));
            }
        }
        Ok(contacts)
    }

    /// Of a pair.
    pub fn of(&self, root: &Table, pair: &str) -> Result<SoftContact, Error> {
        let found = self.pairs.get(pair).copied().or(self.all);
        found.ok_or_else(|| {
            let message = format!(
                "is missing for {pair}: write [[contact]] with pair = \"{pair}\" and mu, or one for all without pair"
            );
            root.error("contact", message)
        })
    }
}

fn read_contact(table: &Table, law: VertexLaw) -> Result<SoftContact, Error> {
    let friction = table.required("mu", table.number("mu")?)?;
    table.demand("mu", friction >= 0.0, "must not be negative", friction, "")?;
    let by_area = table.boolean("by_area")?.unwrap_or(false);
    let unit = |own: &str| format!("{own}{}", if by_area { "/m³" } else { "/m" });
    let mut contact = SoftContact { friction, by_area, ..SoftContact::default() };
    if !law.yields() {
        for field in ["stiffness", "damping", "by_area"] {
            if table.has(field) {
                let message = "is of penalties: write solver = \"penalty_linear\", \"penalty_tanh\" or \"hybrid\" in [simulation]";
                return Err(table.error(field, message));
            }
        }
        return Ok(contact);
    }
    contact.stiffness = table.required("stiffness", table.number("stiffness")?)?;
    let demand = "must be positive";
    table.demand("stiffness", contact.stiffness > 0.0, demand, contact.stiffness, &unit("N"))?;
    contact.damping = table.number("damping")?.unwrap_or(0.0);
    let demand = "must not be negative";
    table.demand("damping", contact.damping >= 0.0, demand, contact.damping, &unit("N s"))?;
    if law == VertexLaw::Hybrid && contact.damping > 0.0 {
        let message = "is of solver = \"penalty_linear\" or \"penalty_tanh\", not of \"hybrid\"";
        return Err(table.error("damping", message));
    }
    Ok(contact)
}
