//! What the parts of a step hand to each other on the way back.

use std::ops::Range;

use crate::argmin::{Perturbation, RowBlock};
use crate::contact::{ContactProblem, Contacts, Island};
use crate::dynamics::FreeMotion;
use crate::model::{Model, System};

/// Adjoints of what a step depends on: the derivatives of one number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Adjoints {
    /// Of the state at the start, as a tangent vector `[dq; dv]`, 2 nv numbers.
    pub state: Vec<f64>,
    /// Of the inputs: generalised forces, then controls.
    pub inputs: Vec<f64>,
    /// Of the values of all [`Parameters`](crate::model::Parameters).
    pub parameters: Vec<f64>,
}

impl Adjoints {
    /// Zeros, as many as a model has numbers.
    pub fn fit(&mut self, model: &Model) {
        let (nv, nu) = (model.nv(), model.nu());
        for (numbers, size) in [
            (&mut self.state, 2 * nv),
            (&mut self.inputs, nv + nu),
            (&mut self.parameters, model.parameter_count()),
        ] {
            numbers.clear();
            numbers.resize(size, 0.0);
        }
    }

    /// Of the velocities at the start.
    pub(super) fn v_mut(&mut self) -> &mut [f64] {
        let nv = self.state.len() / 2;
        &mut self.state[nv..]
    }
}

/// An island with its solution and the adjoints of its conditions.
pub(super) struct IslandAdjoint<'a> {
    pub system: &'a System<'a, f64>,
    pub motion: &'a FreeMotion<f64>,
    pub contacts: &'a Contacts<f64>,
    pub island: &'a Island<'a>,
    pub problem: &'a ContactProblem<f64>,
    pub conditions: &'a Perturbation<f64>,
    /// J L^-T, in the structure of J.
    pub spread_rows: &'a [f64],
    /// a = L^-T x of the adjoint x of momenta.
    pub weights: &'a [f64],
    /// y of shared impulses; nothing where it does not count.
    pub preimage: &'a [f64],
}

impl IslandAdjoint<'_> {
    /// v+ of the trees of the island.
    pub fn velocity(&self) -> &[f64] {
        let (node, _, outputs, _) = self.problem.solved();
        &outputs[..node.rows.velocities()]
    }

    /// The tree of a body that moves, and the velocities of that in the island.
    pub fn rows_of(&self, body: usize) -> Option<(usize, Range<usize>)> {
        let tree = self.motion.bodies[body].tree?;
        let place = self.island.trees.binary_search(&tree).ok()?;
        let (node, ..) = self.problem.solved();
        Some((tree, node.rows.tree(place)))
    }

    /// The trees of a block, as many as it has segments.
    pub fn trees(&self, entry: &RowBlock) -> impl Iterator<Item = usize> {
        entry.trees.map(|place| self.island.trees[place]).into_iter()
    }
}
