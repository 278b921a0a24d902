//! What the derivatives of a step are made of: an island as the step left it.

use std::ops::Range;

use nalgebra::Vector3;

use super::displacement::Point;
use super::tree_derivative::Columns;
use crate::argmin::ContactResponse;
use crate::contact::{ContactProblem, Contacts, Island};
use crate::dynamics::FreeMotion;
use crate::model::System;

/// An island with its solution.
pub(super) struct Solved<'a> {
    pub at: &'a Point<'a>,
    pub motion: &'a FreeMotion<f64>,
    pub contacts: &'a Contacts<f64>,
    pub island: &'a Island<'a>,
    pub problem: &'a ContactProblem<f64>,
    pub response: &'a ContactResponse<f64>,
    pub columns: &'a Columns,
}

impl Solved<'_> {
    pub fn system(&self) -> &System<'_, f64> {
        self.at.system
    }

    /// How far three conditions of a closed loop are open, from that of `block` on: what a displacement of a second removes.
    pub fn open(&self, block: usize) -> Vector3<f64> {
        let (node, inputs, ..) = self.problem.solved();
        Vector3::from_fn(|k, _| -node.data(inputs).target[block + k])
    }

    /// The tree of a moving body and its rows.
    pub fn rows_of(&self, body: usize) -> Option<(usize, Range<usize>)> {
        let tree = self.motion.bodies[body].tree?;
        Some((tree, self.columns.rows(self.at.system, tree)))
    }
}
