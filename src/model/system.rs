//! What a step is a function of, besides the state.

use super::{Model, Parameters, Settings};

/// A model with its numbers: everything that stays the same during a rollout.
#[derive(Clone, Copy, Debug)]
pub struct System<'a, T> {
    /// Bodies, ground, contact pairs.
    pub model: &'a Model,
    /// Physical numbers.
    pub parameters: &'a Parameters<T>,
    /// Numbers of the method.
    pub settings: &'a Settings,
}
