//! Cables and springs of soft bodies, which something may pull at.

use super::schedule;
use crate::implicit::Cable;

/// A cable of a body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SoftCable {
    /// Its name.
    pub name: String,
    /// The cable where nothing pulls at it.
    pub cable: Cable,
    /// When it is told how far it is pulled (s), ascending.
    pub times: Vec<f64>,
    /// By how much its rest length is shorter then (m).
    pub pulls: Vec<f64>,
}

impl SoftCable {
    /// Its rest length at a time (s).
    pub fn rest_length(&self, time: f64) -> f64 {
        let pulled: f64 = schedule::weights(&self.times, time)
            .filter_map(|(k, weight)| Some(weight * self.pulls.get(k)?))
            .sum();
        self.cable.rest_length - pulled
    }
}
