//! LU factorisation of a sparse matrix of blocks without pivoting between them (`Golub13` 4.5, `Davis06` 6): for
//! matrices like I + W' S W, S positive semidefinite but for how friction follows normal impulses.

use std::ops::Range;

use super::elimination::Elimination;
use super::{add_combination, counts};
use crate::ad::Real;

/// A square matrix of blocks in the pattern of an [`Elimination`], then its factors: with D_k the pivot of block k,
/// A = L D U, L_ik = A_ik D_k^-1, U_ki = D_k^-1 A_ki, where A_ik and A_ki are what is left when k is eliminated.
/// Reused, it allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct BlockLu<T> {
    symmetric: bool,
    /// D_k, then D_k^-1.
    diagonal: Vec<T>,
    /// A_ki, rows of k by columns of i > k, then U_ki.
    upper: Vec<T>,
    /// A_ik, rows of i by columns of k; of a symmetric matrix, once factorised, A_ki.
    lower: Vec<T>,
    /// The largest entry of each diagonal block before.
    scales: Vec<f64>,
    swaps: Vec<usize>,
    scratch: Vec<T>,
}

impl<T: Real> BlockLu<T> {
    /// The unit matrix. Of a `symmetric` one only one half is looked at.
    pub fn start(&mut self, pattern: &Elimination, symmetric: bool) {
        self.symmetric = symmetric;
        let (diagonal, blocks) = pattern.entries();
        for (entries, size) in [
            (&mut self.diagonal, diagonal),
            (&mut self.upper, blocks),
            (&mut self.lower, if symmetric { 0 } else { blocks }),
        ] {
            entries.clear();
            entries.resize(size, T::zero());
        }
        for place in 0..pattern.nodes() {
            let (first, size) = (pattern.diagonal(place), pattern.size(place));
            (0..size).for_each(|k| self.diagonal[first + k * (size + 1)] = T::one());
        }
    }

    /// Adds the sum of x y' over `rows` pairs of rows x, y on the columns of two nodes one after the other, or of one if
    /// both are the same. Of a symmetric matrix the sum is symmetric.
    pub fn add(&mut self, pattern: &Elimination, nodes: [usize; 2], rows: usize, x: &[T], y: &[T]) {
        let [a, b] = nodes.map(|node| pattern.place(node));
        let (m, n) = (pattern.size(a), if a == b { 0 } else { pattern.size(b) });
        let width = m + n;
        let (x, y) = (&x[..rows * width], &y[..rows * width]);
        let first = &mut self.diagonal[pattern.diagonal(a)..][..m * m];
        add_outer(first, (x, 0..m), (y, 0..m), width);
        if n == 0 {
            return;
        }
        let second = &mut self.diagonal[pattern.diagonal(b)..][..n * n];
        add_outer(second, (x, m..width), (y, m..width), width);
        let Some(at) = pattern.block(a.min(b), a.max(b)) else { return };
        let (earlier, later) = if a < b { (0..m, m..width) } else { (m..width, 0..m) };
        add_outer(&mut self.upper[at..][..m * n], (x, earlier.clone()), (y, later.clone()), width);
        if !self.symmetric {
            add_outer(&mut self.lower[at..][..m * n], (x, later), (y, earlier), width);
        }
    }

    /// The largest entry of the diagonal block of `place`, before it is factorised.
    pub fn largest(&self, pattern: &Elimination, place: usize) -> f64 {
        let n = pattern.size(place);
        let block = &self.diagonal[pattern.diagonal(place)..][..n * n];
        block.iter().fold(0.0, |most, x| f64::max(most, x.value().abs()))
    }

    /// Puts `value` at row `i` of the node at place `a` and column `j` of that at `b`, which is `a` or later and
    /// coupled to it, and where that is transposed.
    pub fn put(
        &mut self,
        pattern: &Elimination,
        (a, i): (usize, usize),
        (b, j): (usize, usize),
        value: T,
    ) {
        let (m, n) = (pattern.size(a), pattern.size(b));
        if a == b {
            let block = &mut self.diagonal[pattern.diagonal(a)..][..m * m];
            (block[i * m + j], block[j * m + i]) = (value, value);
        } else if let Some(at) = pattern.block(a, b) {
            self.upper[at + i * n + j] = value;
            if !self.symmetric {
                self.lower[at + j * m + i] = value;
            }
        }
    }

    /// Factorises. False if a pivot is singular to working precision, or not finite.
    #[must_use]
    pub fn factor(&mut self, pattern: &Elimination) -> bool {
        self.measure(pattern);
        if self.symmetric {
            self.lower.clear();
            self.lower.resize(self.upper.len(), T::zero());
        }
        for k in 0..pattern.nodes() {
            let n = pattern.size(k);
            let pivot = &mut self.diagonal[pattern.diagonal(k)..][..n * n];
            let memory = (&mut self.swaps, &mut self.scratch);
            if !invert(pivot, n, self.scales[k], memory) {
                return false;
            }
            let inverse = &self.diagonal[pattern.diagonal(k)..][..n * n];
            for (i, at) in pattern.later(k) {
                let m = pattern.size(i);
                let block = &mut self.upper[at..at + n * m];
                self.scratch.clear();
                self.scratch.extend_from_slice(block);
                if self.symmetric {
                    self.lower[at..at + n * m].copy_from_slice(block);
                }
                block.fill(T::zero());
                add_product(block, (inverse, n, 1), &self.scratch, [n, n, m], T::one());
            }
            self.eliminate(pattern, k);
        }
        true
    }

    /// What is left when block `k` is gone: A_ij <- A_ij - A_ik U_kj.
    fn eliminate(&mut self, pattern: &Elimination, k: usize) {
        let n = pattern.size(k);
        // A_ik stands by its rows, or transposed.
        let strides = |m: usize| if self.symmetric { (1, m) } else { (n, 1) };
        for (i, at_i) in pattern.later(k) {
            let m = pattern.size(i);
            let (row, column) = strides(m);
            let own = &self.lower[at_i..at_i + n * m];
            let target = &mut self.diagonal[pattern.diagonal(i)..][..m * m];
            let left = (own, row, column);
            add_product(target, left, &self.upper[at_i..at_i + n * m], [m, n, m], -T::one());
            // The blocks of i with what comes after it among the neighbours of k; all stand behind those of k.
            let mut ahead = pattern.later(i);
            for (j, at_j) in pattern.later(k).filter(|&(j, _)| j > i) {
                let Some((_, at)) = ahead.find(|&(place, _)| place == j) else { break };
                let p = pattern.size(j);
                let (of_i, of_j) = (at_i..at_i + n * m, at_j..at_j + n * p);
                let (upper, target) = self.upper.split_at_mut(at);
                let (lower, transposed) = self.lower.split_at_mut(at);
                let left = (&lower[of_i.clone()], row, column);
                add_product(&mut target[..m * p], left, &upper[of_j.clone()], [m, n, p], -T::one());
                if !self.symmetric {
                    let left = (&lower[of_j], n, 1);
                    let target = &mut transposed[..m * p];
                    add_product(target, left, &upper[of_i], [p, n, m], -T::one());
                }
            }
        }
    }

    fn measure(&mut self, pattern: &Elimination) {
        self.scales.clear();
        for place in 0..pattern.nodes() {
            let n = pattern.size(place);
            let block = &self.diagonal[pattern.diagonal(place)..][..n * n];
            // What is not finite must not get lost in the maximum: no pivot is larger than infinity.
            let larger = |most: f64, x: &T| {
                let size = x.value().abs();
                if size <= most {
                    most
                } else if size.is_finite() {
                    size
                } else {
                    f64::INFINITY
                }
            };
            self.scales.push(block.iter().fold(0.0, larger));
        }
    }

    /// x <- A^-1 x
    pub fn solve(&mut self, pattern: &Elimination, x: &mut [T]) {
        self.solve_rows(pattern, 1, x);
    }

    /// X <- A^-1 X for a row-major matrix of `columns` columns.
    pub fn solve_rows(&mut self, pattern: &Elimination, columns: usize, x: &mut [T]) {
        for k in 0..pattern.nodes() {
            let n = pattern.size(k);
            let inverse = &self.diagonal[pattern.diagonal(k)..][..n * n];
            let own = &mut x[of(pattern, k, columns)];
            self.scratch.clear();
            self.scratch.extend_from_slice(own);
            own.fill(T::zero());
            add_product(own, (inverse, n, 1), &self.scratch, [n, n, columns], T::one());
            self.scratch.copy_from_slice(own);
            for (i, at) in pattern.later(k) {
                let m = pattern.size(i);
                let block = &self.lower[at..at + n * m];
                let left = if self.symmetric { (block, 1, m) } else { (block, n, 1) };
                let target = &mut x[of(pattern, i, columns)];
                add_product(target, left, &self.scratch, [m, n, columns], -T::one());
            }
        }
        for k in (0..pattern.nodes()).rev() {
            let n = pattern.size(k);
            self.scratch.clear();
            self.scratch.extend_from_slice(&x[of(pattern, k, columns)]);
            for (i, at) in pattern.later(k) {
                let m = pattern.size(i);
                let left = (&self.upper[at..at + n * m], m, 1);
                let other = &x[of(pattern, i, columns)];
                add_product(&mut self.scratch, left, other, [n, m, columns], -T::one());
            }
            x[of(pattern, k, columns)].copy_from_slice(&self.scratch);
        }
    }

    /// X <- A^-T X for a row-major matrix of `columns` columns.
    pub fn solve_transpose_rows(&mut self, pattern: &Elimination, columns: usize, x: &mut [T]) {
        for k in 0..pattern.nodes() {
            let n = pattern.size(k);
            self.scratch.clear();
            self.scratch.extend_from_slice(&x[of(pattern, k, columns)]);
            for (i, at) in pattern.later(k) {
                let m = pattern.size(i);
                let left = (&self.upper[at..at + n * m], 1, m);
                let target = &mut x[of(pattern, i, columns)];
                add_product(target, left, &self.scratch, [m, n, columns], -T::one());
            }
        }
        for k in (0..pattern.nodes()).rev() {
            let n = pattern.size(k);
            self.scratch.clear();
            self.scratch.extend_from_slice(&x[of(pattern, k, columns)]);
            for (i, at) in pattern.later(k) {
                let m = pattern.size(i);
                let block = &self.lower[at..at + n * m];
                let left = if self.symmetric { (block, m, 1) } else { (block, 1, n) };
                let other = &x[of(pattern, i, columns)];
                add_product(&mut self.scratch, left, other, [n, m, columns], -T::one());
            }
            let inverse = &self.diagonal[pattern.diagonal(k)..][..n * n];
            let own = &mut x[of(pattern, k, columns)];
            own.fill(T::zero());
            add_product(own, (inverse, 1, n), &self.scratch, [n, n, columns], T::one());
        }
    }
}

/// The rows of a place in a row-major matrix.
fn of(pattern: &Elimination, place: usize, columns: usize) -> Range<usize> {
    let range = pattern.range(place);
    range.start * columns..range.end * columns
}

/// target += sum over rows of x y', of the columns `own` and `others` of each.
fn add_outer<T: Real>(
    target: &mut [T],
    (x, own): (&[T], Range<usize>),
    (y, others): (&[T], Range<usize>),
    width: usize,
) {
    if own.is_empty() || others.is_empty() {
        return;
    }
    if others.len() == 6 {
        // Of free bodies, in registers.
        for (x, y) in x.chunks_exact(width).zip(y.chunks_exact(width)) {
            let Ok(y) = <&[T; 6]>::try_from(&y[others.clone()]) else { return };
            for (target, &x) in target.as_chunks_mut::<6>().0.iter_mut().zip(&x[own.clone()]) {
                (0..6).for_each(|k| target[k] += x * y[k]);
            }
        }
        return;
    }
    for (column, target) in own.zip(target.chunks_exact_mut(others.len())) {
        let weights = x.chunks_exact(width).map(|x| x[column]);
        let rows = y.chunks_exact(width).map(|y| &y[others.clone()]);
        add_combination(target, weights.zip(rows).filter(counts));
    }
}

/// target += sign A B, of m x n and n x p numbers; A has its rows and columns `row` and `column` apart.
fn add_product<T: Real>(
    target: &mut [T],
    (a, row, column): (&[T], usize, usize),
    b: &[T],
    [m, n, p]: [usize; 3],
    sign: T,
) {
    match p {
        0 => {}
        1 => add_product_of::<T, 1>(target, (a, row, column), b, [m, n], sign),
        6 => add_product_of::<T, 6>(target, (a, row, column), b, [m, n], sign),
        _ => {
            for (r, target) in target.chunks_exact_mut(p).enumerate().take(m) {
                let weights = (0..n).map(|k| sign * a[r * row + k * column]);
                add_combination(target, weights.zip(b.chunks_exact(p)).filter(counts));
            }
        }
    }
}

/// The same for `P` columns, which stay in registers.
fn add_product_of<T: Real, const P: usize>(
    target: &mut [T],
    (a, row, column): (&[T], usize, usize),
    b: &[T],
    [m, n]: [usize; 2],
    sign: T,
) {
    let (b, _) = b[..n * P].as_chunks::<P>();
    let (target, _) = target[..m * P].as_chunks_mut::<P>();
    for (r, target) in target.iter_mut().enumerate() {
        let mut sum = *target;
        for (k, b) in b.iter().enumerate() {
            let weight = sign * a[r * row + k * column];
            for c in 0..P {
                sum[c] += weight * b[c];
            }
        }
        *target = sum;
    }
}

/// a <- a^-1 for an `n` x `n` matrix, by Gauss and Jordan with partial pivoting (`Golub13` 3.4). False if a pivot is below
/// 1e-15 of `scale`, or not finite.
fn invert<T: Real>(
    a: &mut [T],
    n: usize,
    scale: f64,
    (swaps, scratch): (&mut Vec<usize>, &mut Vec<T>),
) -> bool {
    swaps.clear();
    for k in 0..n {
        let mut pivot = k;
        for i in k + 1..n {
            if a[i * n + k].value().abs() > a[pivot * n + k].value().abs() {
                pivot = i;
            }
        }
        let size = a[pivot * n + k].value().abs();
        if !(size > 1e-15 * scale && size.is_finite()) {
            return false;
        }
        swaps.push(pivot);
        if pivot != k {
            (0..n).for_each(|j| a.swap(k * n + j, pivot * n + j));
        }
        let inverse = a[k * n + k].recip();
        a[k * n + k] = T::one();
        a[k * n..(k + 1) * n].iter_mut().for_each(|x| *x *= inverse);
        scratch.clear();
        scratch.extend_from_slice(&a[k * n..(k + 1) * n]);
        for (_, row) in a.chunks_exact_mut(n).enumerate().filter(|&(i, _)| i != k) {
            let factor = row[k];
            if factor.is_zero() && T::ORDER == 0 {
                continue;
            }
            row[k] = T::zero();
            row.iter_mut().zip(&*scratch).for_each(|(x, &above)| *x -= factor * above);
        }
    }
    // Rows that were exchanged are columns of the inverse.
    for k in (0..n).rev() {
        if swaps[k] != k {
            (0..n).for_each(|i| a.swap(i * n + k, i * n + swaps[k]));
        }
    }
    true
}
