//! P = W W' of low rank: contacts that outnumber the degrees of freedom they act on.
//!
//! A Delassus matrix J M^-1 J' has at most the rank nv of the mass matrix. With W at hand products
//! with P and systems on a face cost O(n nv) and O(n nv^2), however many contacts there are.

use crate::ad::Real;
use crate::linalg::{add_product, add_scaled, wide_dot};

/// What is left of a diagonal entry counts as zero below this part of it. Entries of P off W W' are
/// then below this part of (P_ii P_jj)^1/2, since P is semi-definite.
const NOTHING_LEFT: f64 = 1e-14;

/// The least number of variables for which looking for a factor pays.
const LEAST_SIZE: usize = 16;

/// From here on a few rows are looked at before anything is factorised.
const LARGE: usize = 48;
const SAMPLE: usize = 6;

/// A factor of P, if P has one with few columns. Reused, it allocates nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct LowRank<T> {
    n: usize,
    /// W', rank x n.
    columns: Vec<T>,
    remaining: Vec<T>,
    diagonal: Vec<f64>,
}

impl<T: Real> LowRank<T> {
    /// Factorises `p`, `n` x `n`, by Cholesky's method with pivots, and returns whether the rank is
    /// low. If not, this is found out before it has cost much.
    pub fn detect(&mut self, p: &[T], n: usize) -> bool {
        self.n = n;
        self.columns.clear();
        let limit = (n / 8).max(6).min(n / 3);
        if n < LEAST_SIZE || n >= LARGE && !may_have_rank(p, n, limit) {
            return false;
        }
        self.remaining.clear();
        self.remaining.extend((0..n).map(|i| p[i * n + i]));
        self.diagonal.clear();
        self.diagonal.extend(self.remaining.iter().map(|d| d.value()));
        for _ in 0..limit {
            let Some(pivot) = self.largest() else { return true };
            self.eliminate(pivot, &p[pivot * n..][..n]);
        }
        self.largest().is_none()
    }

    // The variable of which relatively most is left, if anything is.
    fn largest(&self) -> Option<usize> {
        let (mut pivot, mut most) = (None, NOTHING_LEFT);
        for (i, (left, &whole)) in self.remaining.iter().zip(&self.diagonal).enumerate() {
            if left.value() > most * whole {
                (pivot, most) = (Some(i), left.value() / whole);
            }
        }
        pivot
    }

    // The next column of W, (P - W W') e_pivot over the root of its pivot.
    fn eliminate(&mut self, pivot: usize, row: &[T]) {
        let n = self.n;
        let first = self.columns.len();
        self.columns.extend_from_slice(row);
        let (done, column) = self.columns.split_at_mut(first);
        for earlier in done.chunks_exact(n) {
            add_scaled(column, -earlier[pivot], earlier);
        }
        let inverse = self.remaining[pivot].sqrt().recip();
        for (entry, left) in column.iter_mut().zip(&mut self.remaining) {
            *entry *= inverse;
            *left -= *entry * *entry;
        }
        self.remaining[pivot] = T::zero();
    }

    /// Number of columns of W.
    pub fn rank(&self) -> usize {
        self.columns.len() / self.n.max(1)
    }

    /// Entry `i` of all columns of W: its row `i`.
    pub fn row(&self, i: usize) -> impl Iterator<Item = T> {
        self.columns.iter().skip(i).step_by(self.n).copied()
    }

    /// u = W'z
    pub fn transposed_product(&self, z: &[T], u: &mut Vec<T>) {
        u.clear();
        u.extend(self.columns.chunks_exact(self.n).map(|column| wide_dot(column, z)));
    }

    /// y <- y + W u
    pub fn add_product(&self, u: &[T], y: &mut [T]) {
        add_product(&self.columns, u, y);
    }
}

// The squares of P_ij / (P_ii P_jj)^1/2 add up to n / rank or more in the mean of all rows: whether
// they do to half of that in some.
fn may_have_rank<T: Real>(p: &[T], n: usize, rank: usize) -> bool {
    let diagonal = |j: usize| p[j * n + j].value();
    let sum: f64 = (0..SAMPLE)
        .map(|k| {
            let i = k * (n - 1) / (SAMPLE - 1);
            let part = |(j, x): (usize, &T)| {
                let x = x.value();
                if x == 0.0 { 0.0 } else { x / diagonal(j) * x }
            };
            let row = p[i * n..][..n].iter().enumerate().map(part).sum::<f64>();
            if row > 0.0 { row / diagonal(i) } else { 0.0 }
        })
        .sum();
    2.0 * sum * rank as f64 >= (SAMPLE * n) as f64
}
