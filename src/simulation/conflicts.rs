//! Steps in which conditions contradict each other.

use crate::contact::Conflict;
use crate::model::Model;
use crate::packed::packed;

/// The steps in which conditions contradict each other, of some.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Conflicts {
    /// How many there are.
    pub steps: usize,
    /// Which was the first, counted from 1, and which conditions.
    pub first: Option<(usize, Conflict)>,
}

impl Conflicts {
    /// Adds what was found of the `step`-th.
    pub(super) fn add(&mut self, step: usize, found: Option<Conflict>) {
        let Some(found) = found else { return };
        self.steps += 1;
        self.first.get_or_insert((step, found));
    }

    /// Adds other steps, after `before` of these.
    pub fn merge(&mut self, other: &Conflicts, before: usize) {
        self.steps += other.steps;
        let first = other.first.map(|(step, found)| (before + step, found));
        self.first = self.first.or(first);
    }

    /// Which conditions, and when, in a simulation of `model` in steps of `time_step` s; without it, of steps that do
    /// not follow each other, in how many. Nothing if there are none.
    pub fn sentence(&self, model: &Model, time_step: Option<f64>) -> Option<String> {
        let (step, conflict) = self.first?;
        let mut names = conflict.names(model);
        if conflict.unnamed() > 0 {
            names.push(format!("{} more", conflict.unnamed()));
        }
        let steps = if self.steps == 1 { "1 step".into() } else { format!("{} steps", self.steps) };
        let first = time_step.map(|dt| format!(", the first to {} s", step as f64 * dt));
        let when = format!("in {steps}{}", first.unwrap_or_default());
        let several = names.len() > 1;
        let names = names.join(", ");
        Some(match conflict.open {
            Some(open) => format!(
                "{names}: cannot be closed, and {} open by {open:.1e} (m or rad), {when}: nothing moves what is tied \
                 there to where it should be, or its way there is too far",
                if several { "the widest is" } else { "is" },
            ),
            None if several => format!(
                "{names}: contradict each other, so that no motion meets them all, {when}: let go of one of them"
            ),
            None => format!("{names}: cannot be met, as nothing moves what it is about, {when}"),
        })
    }
}

packed!(Conflicts { steps, first });
