//! Impulses in friction cones of least energy: the convex relaxation of frictional contact.
//!
//! ```text
//! min_f 1/2 |A f|^2 + v'f,   |f_t,i| <= mu_i f_n,i   [Zhong21] (3),   f_n,i >= t_i
//! ```
//!
//! With t = 0 this is the compression of [Zhong21] (5), with t the reflected impulse and v what is left
//! to do its restitution (7); A'A is the inverse inertia in contact space. Sliding contacts separate at
//! mu times their slip, unlike Coulomb's: see [`CoupledContact`](super::CoupledContact).
//!
//! Solved by an interior point, then Newton on the faces of the cones it ends on. The derivative is
//! that of the conditions on these faces: with B the motions of f that stay on them, B'(A'A f + v) = 0.
//!
//! # Where impulses are not unique
//! A f is; its derivative does not depend on what follows. The part of the free impulses (normal ones
//! on the surface, all inside) that A f does not feel is zero: least norm, which moves with A and mu.
//! Where that would leave the cones or a bound, it is held where the interior point left it.
//!
//! # Kinks
//! - A constraint that is met with no force (weakly active) counts as absent: stick, not slip; above
//!   the bound, not on it. But f = 0 counts as the apex, where all derivatives but those below are zero;
//!   so with v = 0.
//! - mu = 0: one-sided, df_t/dmu = f_n d with d against the slip, 0 without slip.
//! - f = 0 and t = 0: one-sided, df/dt = (1, mu d). A bound t < 0 is none and has no derivative.

use super::faces::{ConeFaces, ConeInputs};
use super::newton::ConeWorkspace;
use super::solution::{ConeMode, ConeSolution};
use crate::ad::{Node, Real};
use crate::argmin::status::{Report, Status};
use crate::linalg::wide_dot;

/// Impulses in friction cones as a node.
///
/// Inputs, one after the other: A (m x n row-major, n = contacts dimension, kg^-1/2), v (n, m/s), mu
/// (contacts), t (contacts, N s). Outputs f (n, N s): normal, tangent or tangents of each contact.
#[derive(Clone, Debug)]
pub struct ConeProgram {
    /// Number of contacts.
    pub contacts: usize,
    /// Rows of an impulse: 2 in the plane, 3 in space.
    pub dimension: usize,
    /// m, rows of A.
    pub rows: usize,
    /// Relative natural residual at which the problem counts as solved.
    pub tolerance: f64,
}

/// The factorised conditions at a solution.
#[derive(Clone, Debug, Default)]
pub struct ConeFactor<T> {
    faces: ConeFaces<T>,
    /// w with C'w the felt part of the unknowns, and A'w; empty if all is felt.
    preimage: Vec<T>,
    pulled: Vec<T>,
    z: Vec<T>,
    unfelt: Vec<T>,
    x: Vec<T>,
    y: Vec<T>,
    r: Vec<T>,
}

impl ConeProgram {
    fn n(&self) -> usize {
        self.contacts * self.dimension
    }

    fn inputs<'a, T: Real>(&self, inputs: &'a [T]) -> ConeInputs<'a, T> {
        let (a, rest) = inputs.split_at(self.rows * self.n());
        let (v, rest) = rest.split_at(self.n());
        let (mu, least) = rest.split_at(self.contacts);
        ConeInputs { dimension: self.dimension, a, v, mu, least }
    }

    /// How many inputs there are.
    pub fn input_len(&self) -> usize {
        (self.rows + 1) * self.n() + 2 * self.contacts
    }

    fn is_admissible<T: Real>(&self, inputs: &[T]) -> bool {
        matches!(self.dimension, 2 | 3)
            && inputs.len() == self.input_len()
            && inputs.iter().all(|x| x.value().is_finite())
            && self.inputs(inputs).mu.iter().all(|mu| mu.value() >= 0.0)
    }
}

impl Node for ConeProgram {
    type Solution = ConeSolution;
    type Workspace<T: Real> = ConeWorkspace<T>;
    type Factor<T: Real> = ConeFactor<T>;

    fn primal<T: Real>(
        &self,
        inputs: &[T],
        outputs: &mut [T],
        solution: &mut ConeSolution,
        w: &mut ConeWorkspace<T>,
    ) {
        outputs.fill(T::zero());
        solution.modes.clear();
        solution.directions.clear();
        solution.held.clear();
        if !self.is_admissible(inputs) {
            let residual = f64::INFINITY;
            solution.report =
                Report { status: Status::InvalidInput, residual, ..Report::default() };
            solution.modes.resize(self.contacts, ConeMode::Apex);
            solution.directions.resize(self.contacts, [0.0; 2]);
            solution.held.resize(outputs.len(), 0.0);
            return;
        }
        let inputs = self.inputs(inputs);
        w.solve(&inputs, self.tolerance, solution, outputs);
    }

    fn residual<T: Real>(
        &self,
        solution: &ConeSolution,
        inputs: &[T],
        outputs: &[T],
        residual: &mut [T],
    ) {
        if solution.report.status == Status::InvalidInput {
            residual.copy_from_slice(outputs);
            return;
        }
        let inputs = self.inputs(inputs);
        let mut faces = ConeFaces::default();
        faces.linearise(&inputs, &solution.modes, &solution.directions, outputs);
        faces.factor(&inputs);
        // B'g, plus what is not felt where it is not what it should be; both by unknown.
        let (mut z, mut unfelt) = (Vec::new(), Vec::new());
        faces.reduce(&inputs, &faces.gradient, &mut z);
        if faces.is_deficient() {
            faces.unknowns_of(&inputs, outputs, &solution.held, &mut unfelt);
            faces.reject(&mut unfelt);
            let scale = faces.mean_diagonal();
            for (z, unfelt) in z.iter_mut().zip(unfelt) {
                *z += unfelt * scale;
            }
        }
        faces.conditions(&inputs, &z, outputs, residual);
    }

    fn factor<T: Real>(
        &self,
        solution: &ConeSolution,
        inputs: &[T],
        outputs: &[T],
        factor: &mut ConeFactor<T>,
    ) {
        if solution.report.status == Status::InvalidInput {
            return;
        }
        let inputs = self.inputs(inputs);
        let ConeFactor { faces, preimage, pulled, unfelt, .. } = factor;
        faces.linearise(&inputs, &solution.modes, &solution.directions, outputs);
        faces.factor(&inputs);
        preimage.clear();
        if faces.is_deficient() {
            faces.unknowns_of(&inputs, outputs, &solution.held, unfelt);
            faces.preimage(unfelt, preimage);
            inputs.transpose_times(preimage, pulled);
        }
    }

    // H dy = -(B'(dA'A f + A'(dA f + A df_0) + dv) - slip dmu), df = df_0 + B dy, where df_0 is the
    // change of f with its face; and the part that is not felt, N dC'w.
    fn jvp<T: Real>(
        &self,
        solution: &ConeSolution,
        factor: &mut ConeFactor<T>,
        inputs: &[T],
        outputs: &[T],
        input_tangents: &[T],
        output_tangents: &mut [T],
    ) {
        output_tangents.fill(T::zero());
        if solution.report.status == Status::InvalidInput {
            return;
        }
        let (inputs, d) = (self.inputs(inputs), self.inputs(input_tangents));
        let ConeFactor { faces, preimage, pulled, z, unfelt, x, y, r } = factor;
        for (i, frame) in faces.frames.iter().enumerate() {
            let (by_mu, by_least) = frame.moved_by(inputs.at(outputs, i), inputs.least[i]);
            let moved = std::array::from_fn(|k| by_mu[k] * d.mu[i] + by_least[k] * d.least[i]);
            inputs.set(output_tangents, i, moved);
        }
        d.times(outputs, x);
        inputs.times(output_tangents, y);
        y.iter_mut().zip(x.iter()).for_each(|(y, &x)| *y += x);
        inputs.transpose_times(y, x);
        d.transpose_times(&faces.image, r);
        for (x, (&r, &dv)) in x.iter_mut().zip(r.iter().zip(d.v)) {
            *x = -(*x + r + dv);
        }
        faces.reduce(&inputs, x, z);
        faces.for_each_surface(|k, _, i| z[k] += faces.frames[i].slip * d.mu[i]);
        faces.solve(z);
        if faces.is_deficient() {
            d.transpose_times(preimage, x);
            faces.reduce(&inputs, x, unfelt);
            faces.for_each_surface(|k, arc, i| {
                let (open, turn) = faces.turned(&inputs, pulled, i);
                unfelt[k] += open * d.mu[i];
                if let Some(arc) = arc {
                    unfelt[k] += turn * z[arc];
                }
            });
            faces.reject(unfelt);
            z.iter_mut().zip(unfelt.iter()).for_each(|(z, &unfelt)| *z += unfelt);
        }
        faces.expand(&inputs, z, output_tangents);
    }

    fn vjp<T: Real>(
        &self,
        solution: &ConeSolution,
        factor: &mut ConeFactor<T>,
        inputs: &[T],
        outputs: &[T],
        output_adjoints: &[T],
        input_adjoints: &mut [T],
    ) {
        if solution.report.status == Status::InvalidInput {
            return;
        }
        let inputs = self.inputs(inputs);
        let n = self.n();
        let (to_a, rest) = input_adjoints.split_at_mut(self.rows * n);
        let (to_v, rest) = rest.split_at_mut(n);
        let (to_mu, to_least) = rest.split_at_mut(self.contacts);
        let ConeFactor { faces, preimage, pulled, z, unfelt, x, y, r } = factor;
        faces.reduce(&inputs, output_adjoints, z);
        if faces.is_deficient() {
            unfelt.clear();
            unfelt.extend_from_slice(z);
            faces.reject(unfelt);
            faces.for_each_surface(|k, arc, i| {
                let (open, turn) = faces.turned(&inputs, pulled, i);
                to_mu[i] += open * unfelt[k];
                if let Some(arc) = arc {
                    z[arc] += turn * unfelt[k];
                }
            });
            x.clear();
            x.resize(n, T::zero());
            faces.expand(&inputs, unfelt, x);
            for (row, &w) in to_a.chunks_exact_mut(n.max(1)).zip(preimage.iter()) {
                row.iter_mut().zip(x.iter()).for_each(|(a, &x)| *a += w * x);
            }
        }
        faces.solve(z);
        faces.for_each_surface(|k, _, i| to_mu[i] += faces.frames[i].slip * z[k]);
        // x = B z, y = A x
        x.clear();
        x.resize(n, T::zero());
        faces.expand(&inputs, z, x);
        inputs.times(x, y);
        for ((row, &image), &y) in to_a.chunks_exact_mut(n.max(1)).zip(&faces.image).zip(y.iter()) {
            for ((a, &x), &f) in row.iter_mut().zip(x.iter()).zip(outputs) {
                *a -= image * x + y * f;
            }
        }
        inputs.transpose_times(y, r);
        for (k, (r, &seed)) in r.iter_mut().zip(output_adjoints).enumerate() {
            *r = seed - *r;
            to_v[k] -= x[k];
        }
        for (i, frame) in faces.frames.iter().enumerate() {
            let (by_mu, by_least) = frame.moved_by(inputs.at(outputs, i), inputs.least[i]);
            let h = inputs.at(r, i);
            to_mu[i] += wide_dot(&by_mu, &h);
            to_least[i] += wide_dot(&by_least, &h);
        }
    }
}
