//! The response where there are many trees: by blocks, at the price of a sparse solve.
//!
//! ```text
//! x + (C W)' z = x0,   B W x - D z = -h,   D = 0 on the conditions that share the least-norm rule
//! ```
//!
//! With a small d for what is zero in D these are H x = x0 - (C W)' D^-1 h of
//! [`kkt_matrix`](super::super::kkt_matrix). What d leaves of the conditions is made good by solving again for the residual
//! of both lines, which removes all but d / (s^2 + d) of it, s being the size of what they hold: the method of multipliers
//! [Rockafellar76]. The impulses that share the rule are then projected on the range of their rows, y W_m', by the
//! normal equations of y.

use super::Perturbation;
use crate::ad::Real;
use crate::argmin::contact::kkt::{ContactModes, Iterate, Selection};
use crate::argmin::contact::kkt_matrix::ContactMatrix;
use crate::argmin::contact::problem::ContactData;
use crate::argmin::contact::solution::ContactSolution;
use crate::argmin::contact::solve::newton::NewtonState;
use crate::linalg::{BlockLu, Elimination, add_scaled, zeros};

/// Solves: one, and two for what it leaves.
const SOLVES: usize = 3;

/// What is added to the normal equations of y, relative to the sum of their diagonal: directions without conditions.
const REGULAR: f64 = 1e-12;

/// The conditions of many trees, factorised. Reused, it allocates nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockResponse<T> {
    /// The unknowns that share the rule.
    members: Vec<usize>,
    shares: Vec<bool>,
    /// W_m' W_m and what is added, by which it is divided.
    normal: BlockLu<T>,
    regular: T,
    /// y with J y = lambda on them.
    preimage: Vec<T>,
    /// x or its adjoint, and z; what is left of their conditions.
    x: Vec<T>,
    pub z: Vec<T>,
    body: Vec<T>,
    left: Vec<T>,
    /// y, and the part of the members of what is projected.
    y: Vec<T>,
    shared: Vec<T>,
    scratch: Vec<T>,
}

impl<T: Real> BlockResponse<T> {
    /// Sets up the conditions where `state` is, contacts that slip by less than a part of their scale `coarse` clamped, and
    /// factorises them. False if they are singular.
    pub fn factor(
        &mut self,
        state: &mut NewtonState<T>,
        data: &ContactData<T>,
        solution: &ContactSolution,
        coarse: Option<f64>,
    ) -> bool {
        let NewtonState { delassus, modes, lambda, u, directions, guess, .. } = state;
        let at = Iterate { modes: guess, directions, lambda, u, held: &solution.held };
        if !modes.factor(data, delassus, &at, Selection::Iterated(coarse)) {
            return false;
        }
        self.shares.clear();
        self.shares.extend((0..modes.unknowns()).map(|k| modes.is_friction(k)));
        self.members.clear();
        self.members.extend((0..self.shares.len()).filter(|&k| self.shares[k]));
        let (matrix, pattern) = (modes.matrix(), &delassus.pattern);
        let squares = self.members.iter().flat_map(|&k| matrix.test(k)).map(|(_, w)| w * w);
        let trace = squares.fold(T::zero(), |sum, w| sum + w).value();
        // Where nothing shares anything there is nothing to solve for.
        self.regular = T::constant(if trace > 0.0 { REGULAR * trace } else { 1.0 });
        self.normal.start(pattern, true);
        for &k in &self.members {
            let (trees, row) = matrix.test_row(k);
            self.scratch.clear();
            self.scratch.extend(row.iter().map(|&w| w / self.regular));
            self.normal.add(pattern, trees, 1, &self.scratch, row);
        }
        if !self.normal.factor(pattern) {
            return false;
        }
        self.shared.clear();
        for &k in &self.members {
            let (first, row, _) = modes.unknown(k);
            let own = row.iter().zip(lambda[first..].iter().zip(&solution.held[first..]));
            let terms = own.map(|(&b, (&x, &held))| b * (x - T::constant(held)));
            self.shared.push(terms.fold(T::zero(), |sum, x| sum + x));
        }
        self.project(matrix, pattern, 1);
        self.preimage.clone_from(&self.y);
        data.solve_factor_transpose(&mut self.preimage);
        true
    }

    /// y with J y = lambda - held on the conditions that share the rule.
    pub fn preimage(&self) -> &[T] {
        &self.preimage
    }

    /// Solves for x, in the place of x0, and z, where the conditions ask for `h`, or the transpose of that: x in the place of
    /// its adjoint where `h` holds the adjoint of z.
    pub fn solve(
        &mut self,
        modes: &mut ContactModes<T>,
        pattern: &Elimination,
        (transposed, columns): (bool, usize),
        h: &[T],
        x: &mut [T],
    ) {
        zeros(&mut self.x, x.len());
        zeros(&mut self.z, h.len());
        let of = |k: usize| k * columns..(k + 1) * columns;
        let sign = if transposed { T::one() } else { -T::one() };
        for _ in 0..SOLVES {
            let matrix = modes.matrix();
            // What is left of both lines.
            self.body.clear();
            self.body.extend(x.iter().zip(&self.x).map(|(&x0, &x)| x0 - x));
            self.left.clear();
            self.left.extend(h.iter().map(|&h| sign * h));
            for k in 0..self.shares.len() {
                let (left, z) = (&mut self.left[of(k)], &self.z[of(k)]);
                if !self.shares[k] {
                    add_scaled(left, matrix.diagonal[k], z);
                }
                let (asks, moves) = sides(matrix, k, transposed);
                asks.for_each(|(v, b)| add_scaled(left, -b, &self.x[of(v)]));
                let inverse = matrix.diagonal[k].recip();
                self.scratch.clear();
                self.scratch.extend(left.iter().zip(z).map(|(&left, &z)| left * inverse - z));
                moves.for_each(|(v, c)| add_scaled(&mut self.body[of(v)], c, &self.scratch));
            }
            modes.matrix_mut().solve_velocities(pattern, (transposed, columns), &mut self.body);
            let matrix = modes.matrix();
            for k in 0..self.shares.len() {
                let left = &mut self.left[of(k)];
                left.iter_mut().for_each(|x| *x = -*x);
                let (asks, _) = sides(matrix, k, transposed);
                asks.for_each(|(v, b)| add_scaled(left, b, &self.body[of(v)]));
                add_scaled(&mut self.z[of(k)], matrix.diagonal[k].recip(), left);
            }
            add_scaled(&mut self.x, T::one(), &self.body);
        }
        x.copy_from_slice(&self.x);
    }

    /// The impulses z of the last solve by the rule: what they share is turned with the rows, as `rotations` say.
    pub fn share(
        &mut self,
        modes: &ContactModes<T>,
        pattern: &Elimination,
        perturbation: &Perturbation<T>,
    ) {
        let Perturbation { columns, moving, rotations, .. } = perturbation;
        let (columns, moving) = (*columns, *moving);
        self.shared.clear();
        for &k in &self.members {
            let start = self.shared.len();
            self.shared.extend_from_slice(&self.z[k * columns..(k + 1) * columns]);
            if !rotations.is_empty() {
                let (first, row, _) = modes.unknown(k);
                turn(&mut self.shared[start..start + moving], rotations, (first, row), T::one());
            }
        }
        self.project(modes.matrix(), pattern, columns);
        for (&k, shared) in self.members.iter().zip(self.shared.chunks_exact(columns)) {
            let z = &mut self.z[k * columns..(k + 1) * columns];
            z.copy_from_slice(shared);
            if !rotations.is_empty() {
                let (first, row, _) = modes.unknown(k);
                turn(&mut z[..moving], rotations, (first, row), -T::one());
            }
        }
    }

    /// The transpose of [`Self::share`]: from the adjoints of z by the rule, `h`, to those of z and of the rotations.
    pub fn share_transpose(
        &mut self,
        modes: &ContactModes<T>,
        pattern: &Elimination,
        columns: usize,
        h: &mut [T],
        rotations: &mut [T],
    ) {
        self.shared.clear();
        for &k in &self.members {
            self.shared.extend_from_slice(&h[k * columns..(k + 1) * columns]);
        }
        self.project(modes.matrix(), pattern, columns);
        for (&k, shared) in self.members.iter().zip(self.shared.chunks_exact(columns)) {
            let h = &mut h[k * columns..(k + 1) * columns];
            let (first, row, _) = modes.unknown(k);
            let rows = rotations[first * columns..].chunks_exact_mut(columns);
            for (b, rotation) in row.into_iter().zip(rows) {
                add_scaled(rotation, b, shared);
                add_scaled(rotation, -b, h);
            }
            h.copy_from_slice(shared);
        }
    }

    /// `shared` <- W_m y, its projection on the range of the rows that share the rule.
    fn project(&mut self, matrix: &ContactMatrix<T>, pattern: &Elimination, columns: usize) {
        let of = |k: usize| k * columns..(k + 1) * columns;
        zeros(&mut self.y, pattern.rows() * columns);
        self.left.clone_from(&self.shared);
        for _ in 0..SOLVES {
            zeros(&mut self.body, self.y.len());
            for (j, &k) in self.members.iter().enumerate() {
                let left = &self.left[of(j)];
                matrix.test(k).for_each(|(v, w)| add_scaled(&mut self.body[of(v)], w, left));
            }
            self.normal.solve_rows(pattern, columns, &mut self.body);
            add_scaled(&mut self.y, self.regular.recip(), &self.body);
            self.left.clone_from(&self.shared);
            for (j, &k) in self.members.iter().enumerate() {
                let left = &mut self.left[of(j)];
                matrix.test(k).for_each(|(v, w)| add_scaled(left, -w, &self.y[of(v)]));
            }
        }
        add_scaled(&mut self.shared, -T::one(), &self.left);
    }
}

/// The row of a condition and the column of its unknown, or the other way round.
fn sides<T: Real>(
    matrix: &ContactMatrix<T>,
    k: usize,
    transposed: bool,
) -> (impl Iterator<Item = (usize, T)> + '_, impl Iterator<Item = (usize, T)> + '_) {
    (matrix.side(k, transposed), matrix.side(k, !transposed))
}

/// x += sign row . rotations
fn turn<T: Real>(x: &mut [T], rotations: &[T], (first, row): (usize, [T; 3]), sign: T) {
    let moving = x.len();
    if moving > 0 {
        let rows = rotations[first * moving..].chunks_exact(moving);
        row.into_iter().zip(rows).for_each(|(b, turned)| add_scaled(x, sign * b, turned));
    }
}
