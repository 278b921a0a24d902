//! H = V V' + diag(gamma) with few columns in V, factorised in their number: Woodbury's formula
//! [Golub13] 2.1.4, extended to rows without gamma.
//!
//! With a the rows where gamma > 0, f those where it is 0, u = V's and K = 1 + Va' Ga^-1 Va:
//!
//!   (Vf K^-1 Vf') sf = bf - Vf K^-1 c,   c = Va' Ga^-1 ba,
//!   K u = Vf' sf + c,   sa = Ga^-1 (ba - Va u).
//!
//! The null space of H is that of Vf', so that the least-norm solution of the first line gives H+ b.
//! Of its matrix it is Vf M^-1 K M^-1 Vf', M = Vf'Vf, where f has more rows than columns.

use crate::ad::Real;
use crate::linalg::{PackedCholesky, add_scaled, wide_dot};

/// gamma below this part of the row's |V|^2 loses as many digits to cancellation.
const LEAST_GAMMA: f64 = 1e-9;
/// Least relative pivot of M or Vf K^-1 Vf': below, the rank of Vf is in doubt.
const LEAST_PIVOT: f64 = 1e-8;

/// The factors. Reused, it allocates nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Woodbury<T> {
    rank: usize,
    /// Rows of V.
    v: Vec<T>,
    /// 1 / gamma, 0 where gamma is 0.
    inverse: Vec<T>,
    /// Where gamma is 0.
    free: Vec<usize>,
    /// K, whole and factorised.
    k: Vec<T>,
    cholesky: PackedCholesky<T>,
    /// Vf K^-1 Vf', or M if f has more rows than columns.
    gram: Vec<T>,
    gram_cholesky: PackedCholesky<T>,
    c: Vec<T>,
    u: Vec<T>,
    e: Vec<T>,
}

impl<T: Real> Woodbury<T> {
    /// Starts a new V of `rank` columns.
    pub fn clear(&mut self, rank: usize) {
        self.rank = rank;
        self.v.clear();
        self.inverse.clear();
        self.free.clear();
    }

    /// Appends a row of V. False if its gamma is not 0 but too small for the formula.
    #[must_use]
    pub fn push(&mut self, row: impl Iterator<Item = T>, gamma: T) -> bool {
        let first = self.v.len();
        self.v.extend(row);
        let row = &self.v[first..];
        if gamma.value() == 0.0 {
            self.free.push(self.inverse.len());
            self.inverse.push(T::zero());
            return true;
        }
        self.inverse.push(gamma.recip());
        gamma.value() > LEAST_GAMMA * wide_dot(row, row).value()
    }

    /// Factorises. False if the formula does not serve.
    #[must_use]
    pub fn factor(&mut self) -> bool {
        let r = self.rank;
        self.k.clear();
        self.k.resize(r * r, T::zero());
        self.k.iter_mut().step_by(r + 1).for_each(|k| *k = T::one());
        for (row, &inverse) in self.v.chunks_exact(r).zip(&self.inverse) {
            if inverse.value() != 0.0 {
                add_square(&mut self.k, row, inverse);
            }
        }
        if factor(&mut self.cholesky, &self.k, r).is_err() {
            return false;
        }
        let m = self.free.len();
        self.gram.clear();
        if m > r {
            self.gram.resize(r * r, T::zero());
            for &j in &self.free {
                add_square(&mut self.gram, &self.v[j * r..][..r], T::one());
            }
        } else {
            for &i in &self.free {
                self.u.clear();
                self.u.extend_from_slice(&self.v[i * r..][..r]);
                self.cholesky.solve(&mut self.u);
                let row = self.free.iter().map(|&j| wide_dot(&self.v[j * r..][..r], &self.u));
                self.gram.extend(row);
            }
        }
        factor(&mut self.gram_cholesky, &self.gram, m.min(r)).is_ok()
            && self.gram_cholesky.least_pivot() > LEAST_PIVOT
    }

    /// b <- H+ b
    pub fn solve(&mut self, b: &mut [T]) {
        let r = self.rank;
        let row = |j: usize| &self.v[j * r..][..r];
        let (c, u, e) = (&mut self.c, &mut self.u, &mut self.e);
        // c = Va' Ga^-1 ba
        c.clear();
        c.resize(r, T::zero());
        for (j, (&b, &inverse)) in b.iter().zip(&self.inverse).enumerate() {
            add_scaled(c, b * inverse, row(j));
        }
        if !self.free.is_empty() {
            // e = bf - Vf K^-1 c
            u.clone_from(c);
            self.cholesky.solve(u);
            e.clear();
            e.extend(self.free.iter().map(|&j| b[j] - wide_dot(row(j), u)));
            if self.free.len() <= r {
                self.gram_cholesky.solve(e);
            } else {
                // Vf M^-1 K M^-1 Vf' e
                u.fill(T::zero());
                for (&j, &e) in self.free.iter().zip(&*e) {
                    add_scaled(u, e, row(j));
                }
                self.gram_cholesky.solve(u);
                e.clear();
                e.extend((0..r).map(|k| wide_dot(&self.k[k * r..][..r], u)));
                self.gram_cholesky.solve(e);
                u.clone_from(e);
                e.clear();
                e.extend(self.free.iter().map(|&j| wide_dot(row(j), u)));
            }
            for (&j, &s) in self.free.iter().zip(&*e) {
                b[j] = s;
                add_scaled(c, s, row(j));
            }
        }
        self.cholesky.solve(c);
        for (j, (b, &inverse)) in b.iter_mut().zip(&self.inverse).enumerate() {
            if inverse.value() != 0.0 {
                *b = (*b - wide_dot(row(j), c)) * inverse;
            }
        }
    }
}

// A <- A + a x x'
fn add_square<T: Real>(matrix: &mut [T], x: &[T], a: T) {
    for (row, &xi) in matrix.chunks_exact_mut(x.len()).zip(x) {
        add_scaled(row, a * xi, x);
    }
}

fn factor<T: Real>(cholesky: &mut PackedCholesky<T>, a: &[T], n: usize) -> Result<(), usize> {
    cholesky.factor_rows(n, 0.0, |k, rows| rows.extend_from_slice(&a[k * n + k..(k + 1) * n]))
}
