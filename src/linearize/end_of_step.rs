//! Where an implicit step ends, and G = dR/dv+ there (see [`Integrator::Bdf1`](crate::model::Integrator::Bdf1)).

use super::displacement::Point;
use crate::dynamics::{FreeMotion, Kinematics, TreeMotion};
use crate::linalg::{Lu, dot};
use crate::model::System;
use crate::state::{NV, State};

/// The end of a step: q+ = q̄ (+) a v+ and v+. Reused, it allocates nothing.
#[derive(Default)]
pub(super) struct EndOfStep {
    pub state: State<f64>,
    pub kinematics: Kinematics<f64>,
}

impl EndOfStep {
    /// From `start` with these velocities at the end.
    pub fn update(
        &mut self,
        system: &System<f64>,
        (start, motion): (&State<f64>, &FreeMotion<f64>),
        velocities: &[f64],
    ) {
        let System { model, parameters, .. } = *system;
        self.state.q.clone_from(&start.q);
        self.state.v.clear();
        self.state.v.extend_from_slice(velocities);
        let mut moved = [0.0; NV];
        for (index, tree) in model.trees.iter().enumerate() {
            let rate = motion.duration(index);
            for &body in &tree.bodies {
                let joint = &model.bodies[body].joint;
                let Some(coordinates) = joint.kind.coordinates() else { continue };
                let own = &velocities[joint.v..joint.v + coordinates.nv()];
                moved.iter_mut().zip(own).for_each(|(moved, v)| *moved = rate * v);
                let q = &mut self.state.q[joint.q..joint.q + coordinates.nq()];
                coordinates.advance(q, &moved[..own.len()]);
            }
        }
        self.kinematics.update(model, parameters, &self.state);
    }
}

/// Whether momenta are those at the end of an implicit step.
pub(super) fn is_implicit(at: &Point) -> bool {
    at.system.settings.integrator.is_backward() && !at.closes
}

/// G of a tree by itself, factorised.
#[derive(Default)]
pub(super) struct WholeMomentum {
    matrix: Vec<f64>,
    lu: Lu<f64>,
}

impl WholeMomentum {
    /// L L' + S. False if it is singular.
    #[must_use]
    pub fn factor(&mut self, tree: &TreeMotion<f64>) -> bool {
        let (l, n) = (tree.mass_factor, tree.velocity.len());
        self.matrix.clear();
        self.matrix.extend_from_slice(tree.rest);
        for (k, x) in self.matrix.iter_mut().enumerate() {
            let (i, j) = (k / n, k % n);
            let most = i.min(j) + 1;
            *x += dot(&l[i * n..][..most], &l[j * n..][..most]);
        }
        self.lu.factor(&self.matrix, n)
    }

    /// X <- G^-1 X, row-major with `columns` columns.
    pub fn solve_rows(&mut self, columns: usize, x: &mut [f64]) {
        if columns > 0 {
            self.lu.solve_rows(columns, x);
        }
    }

    /// x <- G^-T x
    pub fn solve_transpose(&mut self, x: &mut [f64]) {
        self.lu.solve_transpose(x);
    }
}
