//! Known forces that act for a while.

use super::Description;
use super::fault::{Fault, Owner};
use crate::model::{Model, Push};

impl Description {
    /// The pushes of a model that has its bodies.
    pub(super) fn pushes(&self, model: &Model) -> Result<Vec<Push>, Fault> {
        let push = |(index, described): (usize, &super::PushDescription)| {
            let owner = Owner::Push(index);
            let found = model.bodies.iter().position(|body| body.name == described.body);
            let body = found.ok_or_else(|| {
                let known: Vec<&str> = model.bodies.iter().map(|b| b.name.as_str()).collect();
                let message = format!(
                    "the scene has no body {:?}; it has {}",
                    described.body,
                    known.join(", ")
                );
                Fault::new(owner, "body", message)
            })?;
            if model.bodies[body].tree.is_none() {
                let message = format!("{:?} does not move", described.body);
                return Err(Fault::new(owner, "body", message));
            }
            let finite = |field: &'static str, numbers: &[f64]| {
                let bad = numbers.iter().copied().find(|x| !x.is_finite());
                Fault::unless(
                    bad.is_none(),
                    (owner, field),
                    "must be finite",
                    bad.unwrap_or(0.0),
                    "",
                )
            };
            finite("point", &described.point)?;
            finite("force", &described.force)?;
            let [from, until] = described.time;
            let met = from.is_finite() && !until.is_nan() && from < until;
            Fault::unless(met, (owner, "until"), "must be later than `from`", until, "s")?;
            Ok(Push { name: described.name.clone(), body, from, until })
        };
        self.pushes.iter().enumerate().map(push).collect()
    }
}
