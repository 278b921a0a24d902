//! Known forces that act for a while, and what the air brakes.

use super::Description;
use super::fault::{Fault, Owner};
use crate::model::{Drag, Model, Push};

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
            if model.is_prescribed(body) {
                let message = format!(
                    "the velocity of {:?} is prescribed: no force moves it",
                    described.body
                );
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

    /// The bodies that the air brakes, in the order of the model.
    pub(super) fn drags(&self, model: &Model, order: &[usize]) -> Result<Vec<Drag>, Fault> {
        let mut drags = Vec::new();
        for (body, &index) in order.iter().enumerate() {
            let Some(numbers) = self.bodies[index].drag else { continue };
            let owner = Owner::Body(index);
            for (number, field) in numbers.into_iter().zip(["drag.linear", "drag.quadratic"]) {
                let met = number.is_finite() && number >= 0.0;
                Fault::unless(met, (owner, field), "must be finite and not negative", number, "")?;
            }
            if model.bodies[body].tree.is_none() {
                return Err(Fault::new(owner, "drag", "has no meaning: the body does not move"));
            }
            if model.is_prescribed(body) {
                let message = "has no meaning: the velocity of the body is prescribed";
                return Err(Fault::new(owner, "drag", message));
            }
            drags.push(Drag { body });
        }
        Ok(drags)
    }
}
