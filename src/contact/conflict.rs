//! Conditions of a step that nothing meets together.

use super::joint_constraints::joint_condition_name;
use crate::model::Model;
use crate::packed::packed;

/// How many are named.
const MOST_NAMED: usize = 6;

/// Conditions (contacts, limits of joints, equalities) that nothing meets together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Conflict {
    /// Indices of contact pairs; those of conditions of joints are after them.
    conditions: [usize; MOST_NAMED],
    /// How many there are, with those that are not named.
    count: usize,
    /// How far the widest of the equalities is open that could not be closed, m or rad; nothing where it is velocities
    /// that no motion has.
    pub open: Option<f64>,
}

impl Conflict {
    /// Of conditions, the most important first; nothing if there are none.
    pub(super) fn new(
        conditions: impl IntoIterator<Item = usize>,
        open: Option<f64>,
    ) -> Option<Conflict> {
        let mut conflict = Conflict { open, ..Conflict::default() };
        for condition in conditions {
            let named = conflict.count.min(MOST_NAMED);
            if conflict.conditions[..named].contains(&condition) {
                continue;
            }
            if let Some(place) = conflict.conditions.get_mut(conflict.count) {
                *place = condition;
            }
            conflict.count += 1;
        }
        (conflict.count > 0).then_some(conflict)
    }

    /// What they are called: `lower limit of thigh`, `contact floor-box`. The rows of an equality are one.
    pub fn names(&self, model: &Model) -> Vec<String> {
        let mut names = Vec::new();
        for &condition in &self.conditions[..self.count.min(MOST_NAMED)] {
            let name = match condition.checked_sub(model.pair_end()) {
                Some(joint) => joint_condition_name(model, joint),
                None => format!("contact {}", model.pair_name(condition)),
            };
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// How many more there are than have names.
    pub fn unnamed(&self) -> usize {
        self.count.saturating_sub(MOST_NAMED)
    }
}

packed!(Conflict { conditions, count, open });
