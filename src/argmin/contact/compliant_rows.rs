//! Normal conditions that have a compliance where there are more of them than motions they see: many feet or many
//! points of one body. By themselves they are B W x - D z = -h with D small, and what h asks that no motion gives makes
//! impulses of 1/D, whose effects on the velocities cancel. Taken by their range they need not cancel:
//!
//! ```text
//! G = D^-1/2 B W,   F = D^-1/2 (C W) P' - G P               P is what the conditions that share the rule leave
//! [G P, F] = Q [R, Q'F],   Q'Q = 1                           F is friction that follows, mostly none
//! g = D^-1/2 (h + B W x1),   D^1/2 z = (1 - QQ') g + Q w,   w = Q'g + R (x - x1),   x = x1 - (R + Q'F)' w
//! ```
//!
//! so that they are as many conditions (on w) as there are motions, and what is large, (1 - QQ') g, moves nothing.
//!
//! Friction that slides at a slip s turns as if it had a compliance, s / R: e.u_t + (s / R) z = 0. Where that is small
//! beside what an impulse moves, many such conditions of one body lose their D in B W (C W)' + D, and join the others.

use super::kkt_matrix::ContactMatrix;
use crate::ad::Real;
use crate::linalg::{CLEARLY, Range, add_combination, add_scaled, dot, wide_dot, zeros};

/// What is left of rows, relative to the longest, below which it is rounding.
const ROUNDING: f64 = 1e-12;

/// An unknown that gives way.
pub(super) struct Yielding<T> {
    pub unknown: usize,
    /// By how much.
    pub compliance: T,
    /// What its condition is scaled by: of friction that turns, whose test is that much of its motion. None of normals.
    pub turns: Option<T>,
}

/// The compliant conditions of an island by their range. Reused, it allocates nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct CompliantRows<T> {
    unknowns: Vec<usize>,
    /// D^-1/2, of the motions and of the conditions, which may be scaled.
    weights: Vec<T>,
    asked: Vec<T>,
    turns: Vec<bool>,
    /// G P and F, a row for each unknown; F is empty where it is zero.
    projected: Vec<T>,
    friction: Vec<T>,
    /// [G P, F], where there is F, and the range of that.
    both: Vec<T>,
    range: Range<T>,
    /// R, and R + Q'F.
    range_tests: Vec<T>,
    range_motions: Vec<T>,
    /// Z'(C W)' D^-1/2, a row for each direction of Z.
    along: Vec<T>,
    /// (1 - QQ') g
    outside: Vec<T>,
    scratch: Vec<T>,
}

/// P = 1 - S Z'
#[derive(Clone, Copy)]
pub(super) struct Projection<'a, T> {
    /// Z
    pub range: &'a Range<T>,
    /// S by rows, velocities x rank; empty where it is Z.
    pub oblique: &'a [T],
}

impl<T: Real> Projection<'_, T> {
    fn is_symmetric(&self) -> bool {
        self.oblique.is_empty()
    }

    /// S, where it is not Z.
    fn s(&self, velocity: usize, k: usize) -> T {
        self.oblique[velocity * self.range.rank() + k]
    }

    /// row <- row P
    fn reject_row(&self, row: &mut [T]) {
        for k in 0..self.range.rank() {
            let part = match self.is_symmetric() {
                true => wide_dot(self.range.basis(k), row),
                false => (0..row.len()).fold(T::zero(), |sum, v| sum + row[v] * self.s(v, k)),
            };
            if !(part.is_zero() && T::ORDER == 0) {
                add_scaled(row, -part, self.range.basis(k));
            }
        }
    }

    /// column <- P column
    fn reject_column(&self, column: &mut [T]) {
        if self.is_symmetric() {
            return self.reject_row(column);
        }
        for k in 0..self.range.rank() {
            let part = dot(self.range.basis(k), column);
            column.iter_mut().enumerate().for_each(|(v, x)| *x -= part * self.s(v, k));
        }
    }
}

impl<T: Real> CompliantRows<T> {
    /// Takes the conditions on `unknowns` of `matrix` by their range where that is less than they are.
    pub fn set_up(
        &mut self,
        matrix: &ContactMatrix<T>,
        unknowns: impl Iterator<Item = Yielding<T>>,
        velocities: usize,
        rest: Projection<T>,
    ) {
        self.unknowns.clear();
        self.weights.clear();
        self.asked.clear();
        self.turns.clear();
        for Yielding { unknown, compliance, turns } in unknowns {
            let weight = compliance.sqrt().recip();
            self.unknowns.push(unknown);
            self.weights.push(weight);
            self.asked.push(turns.map_or(weight, |scale| weight / scale));
            self.turns.push(turns.is_some());
        }
        if self.unknowns.len() < 2 {
            return self.unknowns.clear();
        }
        zeros(&mut self.projected, self.unknowns.len() * velocities);
        let rows = self.projected.chunks_exact_mut(velocities.max(1));
        for ((&unknown, &weight), row) in self.unknowns.iter().zip(&self.asked).zip(rows) {
            matrix.test(unknown).for_each(|(v, b)| row[v] += weight * b);
        }
        let whole = longest(&self.projected, velocities);
        self.projected.chunks_exact_mut(velocities.max(1)).for_each(|row| rest.reject_row(row));
        self.take_friction(matrix, velocities, rest);
        if !self.take_range(whole, velocities) {
            return self.unknowns.clear();
        }
        let (count, rank) = (self.unknowns.len(), self.rank());
        zeros(&mut self.range_tests, rank * velocities);
        for (k, row) in self.range_tests.chunks_exact_mut(velocities.max(1)).enumerate() {
            let q = self.range.basis(k).iter().copied();
            add_combination(row, q.zip(self.projected.chunks_exact(velocities)));
        }
        self.range_motions.clear();
        self.range_motions.extend_from_slice(&self.range_tests);
        if !self.friction.is_empty() {
            for (k, row) in self.range_motions.chunks_exact_mut(velocities).enumerate() {
                let q = self.range.basis(k).iter().copied();
                add_combination(row, q.zip(self.friction.chunks_exact(velocities)));
                // Of friction that the others hold little is left, with the rounding of all of it along Z, and w is large.
                rest.reject_column(row);
            }
        }
        zeros(&mut self.along, rest.range.rank() * count);
        for (k, row) in self.along.chunks_exact_mut(count).enumerate() {
            let z = rest.range.basis(k);
            for ((entry, &unknown), &weight) in
                row.iter_mut().zip(&self.unknowns).zip(&self.weights)
            {
                let terms = matrix.motion(unknown).map(|(v, c)| z[v] * c);
                *entry = weight * terms.fold(T::zero(), |sum, x| sum + x);
            }
        }
    }

    /// The range of [G P, F]; false if the rows of G P are clearly independent. The longest of G has length `whole`.
    fn take_range(&mut self, whole: f64, velocities: usize) -> bool {
        let left = longest(&self.projected, velocities).max(longest(&self.friction, velocities));
        let (count, mut rows, mut columns) = (self.unknowns.len(), &self.projected, velocities);
        if left > CLEARLY * whole && self.range.is_everything(rows, count, columns) {
            return false;
        }
        if !self.friction.is_empty() {
            self.both.clear();
            let parts = rows.chunks_exact(velocities).zip(self.friction.chunks_exact(velocities));
            parts.for_each(|(own, follows)| self.both.extend(own.iter().chain(follows)));
            (rows, columns) = (&self.both, 2 * velocities);
        }
        self.range.factor_within(rows, count, columns, (ROUNDING * whole / left).min(1.0));
        true
    }

    /// F
    fn take_friction(&mut self, matrix: &ContactMatrix<T>, velocities: usize, rest: Projection<T>) {
        self.friction.clear();
        let same = |(&k, &turns): (&usize, &bool)| turns || matrix.motion(k).eq(matrix.test(k));
        if rest.is_symmetric() && self.unknowns.iter().zip(&self.turns).all(same) {
            return;
        }
        zeros(&mut self.friction, self.projected.len());
        let rows =
            self.friction.chunks_exact_mut(velocities).zip(self.projected.chunks(velocities));
        for (((&unknown, &weight), &turns), (row, projected)) in
            self.unknowns.iter().zip(&self.weights).zip(&self.turns).zip(rows)
        {
            if turns && rest.is_symmetric() {
                continue;
            }
            matrix.motion(unknown).for_each(|(v, c)| row[v] += weight * c);
            if rest.is_symmetric() {
                // The difference first: what follows is small beside what it follows.
                matrix.test(unknown).for_each(|(v, b)| row[v] -= weight * b);
                rest.reject_column(row);
            } else {
                rest.reject_column(row);
                add_scaled(row, -T::one(), projected);
            }
        }
    }

    /// Whether these are the conditions on `unknown`.
    pub fn hold(&self, unknown: usize) -> bool {
        self.unknowns.binary_search(&unknown).is_ok()
    }

    /// How many conditions they are in the end: how many motions they see.
    pub fn rank(&self) -> usize {
        if self.unknowns.is_empty() { 0 } else { self.range.rank() }
    }

    /// Row `k` of R.
    pub fn test(&self, k: usize) -> &[T] {
        row(&self.range_tests, k, self.rank())
    }

    /// Row `k` of R + Q'F.
    pub fn motion(&self, k: usize) -> &[T] {
        row(&self.range_motions, k, self.rank())
    }

    /// Z'(C W)' D^-1/2 q for column q = `k` of Q, along direction `direction` of Z.
    pub fn along(&self, direction: usize, k: usize) -> T {
        dot(row(&self.along, direction, self.directions()), self.range.basis(k))
    }

    fn directions(&self) -> usize {
        self.along.len() / self.unknowns.len().max(1)
    }

    /// Of what the conditions ask, `h` by unknown, `columns` numbers each, where x is x1: appends to `z` what is asked of w.
    pub fn ask(
        &mut self,
        matrix: &ContactMatrix<T>,
        (h, x): (&[T], &[T]),
        columns: usize,
        z: &mut Vec<T>,
    ) {
        if self.unknowns.is_empty() {
            return;
        }
        zeros(&mut self.outside, self.unknowns.len() * columns);
        for ((&unknown, &weight), g) in
            self.unknowns.iter().zip(&self.asked).zip(self.outside.chunks_exact_mut(columns))
        {
            g.copy_from_slice(&h[unknown * columns..(unknown + 1) * columns]);
            let test = matrix.test(unknown);
            add_combination(g, test.map(|(v, b)| (b, &x[v * columns..(v + 1) * columns])));
            g.iter_mut().for_each(|g| *g *= weight);
        }
        let first = z.len();
        z.resize(first + self.range.rank() * columns, T::zero());
        for (k, w) in z[first..].chunks_exact_mut(columns).enumerate() {
            let q = self.range.basis(k);
            add_combination(w, q.iter().copied().zip(self.outside.chunks_exact(columns)));
            for (g, &q) in self.outside.chunks_exact_mut(columns).zip(q) {
                add_scaled(g, -q, w);
            }
        }
    }

    /// The impulses behind `w`, by unknown.
    pub fn impulses(&self, w: &[T], columns: usize, h: &mut [T]) {
        for (j, (&unknown, &weight)) in self.unknowns.iter().zip(&self.weights).enumerate() {
            let h = &mut h[unknown * columns..(unknown + 1) * columns];
            h.copy_from_slice(row(&self.outside, j, self.unknowns.len()));
            let q = (0..self.range.rank()).map(|k| self.range.basis(k)[j]);
            add_combination(h, q.zip(w.chunks_exact(columns)));
            h.iter_mut().for_each(|h| *h *= weight);
        }
    }

    /// Takes from `along` what impulses that do not depend on w move along Z.
    pub fn subtract_along(&self, columns: usize, along: &mut [T]) {
        if self.unknowns.is_empty() {
            return;
        }
        for (along, row) in
            along.chunks_exact_mut(columns).zip(self.along.chunks_exact(self.unknowns.len()))
        {
            let terms = row.iter().map(|&c| -c).zip(self.outside.chunks_exact(columns));
            add_combination(along, terms);
        }
    }

    /// The adjoint of [`impulses`](Self::impulses): appends the adjoints of w to `z` where `h` holds those of impulses.
    pub fn impulses_transpose(&mut self, h: &[T], columns: usize, z: &mut Vec<T>) {
        zeros(&mut self.outside, self.unknowns.len() * columns);
        for ((&unknown, &weight), outside) in
            self.unknowns.iter().zip(&self.weights).zip(self.outside.chunks_exact_mut(columns))
        {
            add_scaled(outside, weight, &h[unknown * columns..(unknown + 1) * columns]);
        }
        for k in 0..self.rank() {
            let first = z.len();
            z.resize(first + columns, T::zero());
            let q = self.range.basis(k).iter().copied();
            add_combination(&mut z[first..], q.zip(self.outside.chunks_exact(columns)));
        }
    }

    /// The adjoint of [`ask`](Self::ask) and [`subtract_along`](Self::subtract_along): from the adjoints of x, of what is
    /// along Z and of what is asked of w to those of h and x1.
    pub fn ask_transpose(
        &mut self,
        matrix: &ContactMatrix<T>,
        (along, z): (&[T], &[T]),
        columns: usize,
        x: &mut [T],
        h: &mut [T],
    ) {
        if self.unknowns.is_empty() {
            return;
        }
        for (row, along) in
            self.along.chunks_exact(self.unknowns.len()).zip(along.chunks_exact(columns))
        {
            for (outside, &c) in self.outside.chunks_exact_mut(columns).zip(row) {
                add_scaled(outside, -c, along);
            }
        }
        // g <- Q z + (1 - QQ') g
        for (k, z) in z.chunks_exact(columns).enumerate() {
            let q = self.range.basis(k);
            zeros(&mut self.scratch, columns);
            self.scratch.copy_from_slice(z);
            let terms = q.iter().map(|&q| -q).zip(self.outside.chunks_exact(columns));
            add_combination(&mut self.scratch, terms);
            for (outside, &q) in self.outside.chunks_exact_mut(columns).zip(q) {
                add_scaled(outside, q, &self.scratch);
            }
        }
        for ((&unknown, &weight), g) in
            self.unknowns.iter().zip(&self.asked).zip(self.outside.chunks_exact(columns))
        {
            let h = &mut h[unknown * columns..(unknown + 1) * columns];
            h.iter_mut().zip(g).for_each(|(h, &g)| *h = weight * g);
            for (v, b) in matrix.test(unknown) {
                add_scaled(&mut x[v * columns..(v + 1) * columns], b, h);
            }
        }
    }
}

/// The length of the longest row.
fn longest<T: Real>(rows: &[T], velocities: usize) -> f64 {
    let squares = rows.chunks_exact(velocities.max(1)).map(|row| dot(row, row).value());
    squares.fold(0.0, f64::max).sqrt()
}

fn row<T>(rows: &[T], k: usize, count: usize) -> &[T] {
    let width = rows.len() / count;
    &rows[k * width..(k + 1) * width]
}
