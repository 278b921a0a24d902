//! M = L' D L along the trees: no entry fills in between velocities of different branches
//! (`Featherstone08`, section 6.5).

use super::MassMatrix;
use super::links::Links;
use crate::ad::Real;
use crate::linalg::FactorError;

/// A pivot below this part of the terms it is the sum of has no digits left.
pub(super) const SINGULAR: f64 = 1e-13;

/// Columns that [`MassFactor::solve_rows`] works on at a time.
const LANES: usize = 8;

/// The factorisation M = L' D L with a unit lower triangular L, zero between different branches.
#[derive(Clone, Debug, Default)]
pub struct MassFactor<T> {
    links: Links,
    /// Row k: 1 / D_k, then the entries of L along the path of k.
    values: Vec<T>,
}

impl<T: Real> MassFactor<T> {
    /// Factorises M, with `diagonal` added to its diagonal if there is any.
    ///
    /// # Errors
    /// [`FactorError::Pivot`] with the velocity that has no inertia: a body without mass, or with its
    /// mass on the axis only, at the end of a tree.
    pub fn factor(
        &mut self,
        matrix: &MassMatrix<T>,
        diagonal: Option<&[T]>,
    ) -> Result<(), FactorError> {
        if self.links != matrix.links {
            self.links.clone_from(&matrix.links);
        }
        let Links { start, path, .. } = &self.links;
        self.values.clear();
        self.values.extend_from_slice(&matrix.values);
        for (k, magnitude) in matrix.magnitude.iter().enumerate().rev() {
            let (above, row) = self.values.split_at_mut(start[k]);
            let path = &path[start[k]..start[k + 1]];
            let mut magnitude = *magnitude;
            if let Some(diagonal) = diagonal {
                row[0] += diagonal[k];
                magnitude += diagonal[k].value();
            }
            let pivot = row[0].value();
            if !(pivot > SINGULAR * magnitude && pivot.is_finite()) {
                return Err(FactorError::Pivot(k));
            }
            let inverse = row[0].recip();
            row[0] = inverse;
            // H_ij -= H_ki H_kj / H_kk for i, j on the path of k: row i of the path is a part of row k.
            for (t, &i) in path.iter().enumerate().skip(1) {
                let scaled = row[t] * inverse;
                let target = &mut above[start[i]..start[i + 1]];
                for (target, &x) in target.iter_mut().zip(&row[t..]) {
                    *target -= scaled * x;
                }
                row[t] = scaled;
            }
        }
        Ok(())
    }

    /// x <- M^-1 x.
    pub fn solve(&self, x: &mut [T]) {
        self.solve_transposed(x);
        for (k, x) in x.iter_mut().enumerate() {
            *x *= self.values[self.links.start[k]];
        }
        self.solve_lower(x);
    }

    /// x <- L'^-1 x. What moves one body stays on its path.
    pub fn solve_transposed(&self, x: &mut [T]) {
        for k in (0..self.links.parent.len()).rev() {
            let (row, path) = self.row(k);
            let xk = x[k];
            for (&l, &j) in row[1..].iter().zip(&path[1..]) {
                x[j] -= l * xk;
            }
        }
    }

    /// [`solve_transposed`](Self::solve_transposed) for an x that is zero off the path of the velocity `k` (see
    /// [`Kinematics::path`](super::Kinematics::path)).
    pub fn solve_transposed_on_path(&self, k: usize, x: &mut [T]) {
        for &i in self.links.path(k) {
            let (row, path) = self.row(i);
            let xi = x[i];
            for (&l, &j) in row[1..].iter().zip(&path[1..]) {
                x[j] -= l * xi;
            }
        }
    }

    /// x <- L^-1 x.
    pub fn solve_lower(&self, x: &mut [T]) {
        for k in 0..self.links.parent.len() {
            let (row, path) = self.row(k);
            let mut xk = x[k];
            for (&l, &j) in row[1..].iter().zip(&path[1..]) {
                xk -= l * x[j];
            }
            x[k] = xk;
        }
    }

    /// 1 / D_k.
    pub fn inverse_pivot(&self, k: usize) -> T {
        self.values[self.links.start[k]]
    }

    /// X <- -M^-1 X for the columns of a row-major matrix whose rows belong to the velocities from `first`
    /// on, which are those of one tree.
    pub(super) fn solve_rows(&self, first: usize, columns: usize, x: &mut [T]) {
        if columns == 0 {
            return;
        }
        let rows = x.len() / columns;
        for k in (first..first + rows).rev() {
            let (above, row) = x.split_at_mut((k - first) * columns);
            let row = &mut row[..columns];
            let (l, path) = self.row(k);
            for (&l, &j) in l[1..].iter().zip(&path[1..]) {
                let target = &mut above[(j - first) * columns..][..columns];
                for (target, &x) in target.iter_mut().zip(&*row) {
                    *target -= l * x;
                }
            }
            let scale = -l[0];
            for x in row {
                *x *= scale;
            }
        }
        for k in first..first + rows {
            let (above, row) = x.split_at_mut((k - first) * columns);
            let (l, path) = self.row(k);
            let (chunks, rest) = row[..columns].as_chunks_mut::<LANES>();
            // Some columns at a time, which stay in registers.
            for (c, chunk) in chunks.iter_mut().enumerate() {
                let mut sum = *chunk;
                for (&l, &j) in l[1..].iter().zip(&path[1..]) {
                    let source = &above[(j - first) * columns + c * LANES..][..LANES];
                    for (sum, &source) in sum.iter_mut().zip(source) {
                        *sum -= l * source;
                    }
                }
                *chunk = sum;
            }
            let done = columns - rest.len();
            for (&l, &j) in l[1..].iter().zip(&path[1..]) {
                let source = &above[(j - first) * columns + done..][..rest.len()];
                for (x, &source) in rest.iter_mut().zip(source) {
                    *x -= l * source;
                }
            }
        }
    }

    #[inline]
    fn row(&self, k: usize) -> (&[T], &[usize]) {
        let range = self.links.start[k]..self.links.start[k + 1];
        (&self.values[range.clone()], &self.links.path[range])
    }
}
