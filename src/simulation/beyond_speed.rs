//! Joints that were faster than they are made for.

use serde_json::{Value, json};

use crate::model::Model;
use crate::state::State;

/// A joint that was faster than its [`max_speed`](crate::model::Joint::max_speed).
#[derive(Clone, Debug, PartialEq)]
pub struct BeyondSpeed {
    /// The body on it.
    pub body: usize,
    /// The largest speed, rad/s or m/s.
    pub largest: f64,
    /// Of the first state that is too fast, its index.
    pub first: usize,
    /// How many states are.
    pub count: usize,
}

impl BeyondSpeed {
    /// What there is of it in a motion.
    pub fn find<'a>(model: &Model, states: impl Iterator<Item = &'a State<f64>>) -> Vec<Self> {
        let limited = |(body, entry): (usize, &crate::model::Body)| {
            Some((body, entry.joint.v, entry.joint.max_speed?))
        };
        let limited: Vec<_> = model.bodies.iter().enumerate().filter_map(limited).collect();
        if limited.is_empty() {
            return Vec::new();
        }
        let mut found: Vec<Option<BeyondSpeed>> = vec![None; limited.len()];
        for (k, state) in states.enumerate() {
            for (&(body, v, most), slot) in limited.iter().zip(&mut found) {
                let speed = state.v[v].abs();
                if speed > most {
                    let none = BeyondSpeed { body, largest: speed, first: k, count: 0 };
                    let own = slot.get_or_insert(none);
                    own.largest = own.largest.max(speed);
                    own.count += 1;
                }
            }
        }
        found.into_iter().flatten().collect()
    }

    /// What happened, in a sentence; `time` is that of the first.
    pub fn sentence(&self, model: &Model, time: f64) -> String {
        let joint = &model.bodies[self.body].joint;
        let unit = if joint.kind.slides() { "m/s" } else { "rad/s" };
        format!(
            "{}: up to {:.3} {unit}, beyond max_speed = {} in {} states, from t = {time:.3} s on: nothing keeps the joint below",
            self.name(model),
            self.largest,
            joint.max_speed.unwrap_or(f64::INFINITY),
            self.count,
        )
    }

    /// The same for machines.
    pub fn json(&self, model: &Model, time: f64) -> Value {
        json!({
            "joint": self.name(model),
            "max_speed": model.bodies[self.body].joint.max_speed,
            "largest": self.largest,
            "states": self.count,
            "from": time,
        })
    }

    /// What the joint is called, or else its body.
    fn name<'a>(&self, model: &'a Model) -> &'a str {
        let body = &model.bodies[self.body];
        if body.joint.name.is_empty() { &body.name } else { &body.joint.name }
    }
}
