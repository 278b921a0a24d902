//! Eliminates the first columns of a dense matrix, in panels (`Golub13` 3.2.11, 4.1).

use nalgebra::{DMatrixView, DMatrixViewMut, Dyn};

/// Columns of a panel.
const PANEL: usize = 48;
/// Rows of a strip of a symmetric update, of which only the lower half counts.
const STRIP: usize = 96;
/// Products of fewer numbers than this are summed at once: calling for more takes longer.
const FEW: usize = 24 * 24 * 8;

/// Memory of eliminations.
#[derive(Clone, Debug, Default)]
pub(super) struct Panels {
    left: Vec<f64>,
    right: Vec<f64>,
}

impl Panels {
    /// Eliminates the first `columns` columns of the `n` x `n` matrix `a`, by rows. Below the diagonal stands L, whose own is
    /// 1, on and above it U, of the rows that are eliminated; then what is left. Of a symmetric one the lower half counts, and
    /// D stands on the diagonal. The first column without a pivot, if there is one.
    pub fn eliminate(
        &mut self,
        a: &mut [f64],
        n: usize,
        columns: usize,
        symmetric: bool,
    ) -> Result<(), usize> {
        for first in (0..columns).step_by(PANEL) {
            let end = columns.min(first + PANEL);
            let width = if symmetric { end } else { n };
            if symmetric {
                mirror(a, n, first, end);
            }
            factor_rows(a, n, first..end, width)?;
            // L of the rows below.
            let (above, below) = a.split_at_mut(end * n);
            for row in below.chunks_exact_mut(n) {
                for k in first..end {
                    let pivots = &above[k * n..];
                    let l = row[k] / pivots[k];
                    row[k] = l;
                    for j in k + 1..end {
                        row[j] -= l * pivots[j];
                    }
                }
            }
            self.update(a, n, first..end, symmetric);
        }
        Ok(())
    }

    /// What is left: A <- A - L U.
    fn update(&mut self, a: &mut [f64], n: usize, panel: std::ops::Range<usize>, symmetric: bool) {
        let (first, end) = (panel.start, panel.end);
        let (depth, left) = (end - first, n - end);
        if left == 0 {
            return;
        }
        self.left.clear();
        for i in end..n {
            self.left.extend_from_slice(&a[i * n + first..i * n + end]);
        }
        self.right.clear();
        if symmetric {
            // U = D L'
            self.right.resize(depth * left, 0.0);
            for k in 0..depth {
                let d = a[(first + k) * (n + 1)];
                for i in 0..left {
                    self.right[k * left + i] = d * self.left[i * depth + k];
                }
            }
        } else {
            for k in panel {
                self.right.extend_from_slice(&a[k * n + end..(k + 1) * n]);
            }
        }
        let strip = if symmetric { STRIP } else { left };
        for start in (0..left).step_by(strip) {
            let rows = strip.min(left - start);
            let columns = if symmetric { start + rows } else { left };
            let target = &mut a[(end + start) * n + end..];
            let left_rows = &self.left[start * depth..(start + rows) * depth];
            subtract_product(target, n, left_rows, (&self.right, left), [rows, depth, columns]);
        }
    }
}

/// The upper half of the diagonal block of columns `first` to `end`, from the lower.
fn mirror(a: &mut [f64], n: usize, first: usize, end: usize) {
    for i in first..end {
        for j in first..i {
            a[j * n + i] = a[i * n + j];
        }
    }
}

/// Factorises the rows of a panel, as wide as `width`.
fn factor_rows(
    a: &mut [f64],
    n: usize,
    panel: std::ops::Range<usize>,
    width: usize,
) -> Result<(), usize> {
    let end = panel.end;
    for k in panel {
        let (above, below) = a.split_at_mut((k + 1) * n);
        let pivots = &above[k * n..k * n + width];
        let pivot = pivots[k];
        if pivot == 0.0 || !pivot.is_finite() {
            return Err(k);
        }
        for row in below.chunks_exact_mut(n).take(end - k - 1) {
            let l = row[k] / pivot;
            row[k] = l;
            for (x, &p) in row[k + 1..width].iter_mut().zip(&pivots[k + 1..]) {
                *x -= l * p;
            }
        }
    }
    Ok(())
}

/// C <- C - A B by rows, C with `stride` numbers a row, B with its own; sizes are rows, depth, columns.
fn subtract_product(
    c: &mut [f64],
    stride: usize,
    a: &[f64],
    (b, b_stride): (&[f64], usize),
    [rows, depth, columns]: [usize; 3],
) {
    if rows * depth * columns < FEW {
        for (i, a) in a.chunks_exact(depth).enumerate().take(rows) {
            let c = &mut c[i * stride..i * stride + columns];
            for (k, &a) in a.iter().enumerate() {
                let b = &b[k * b_stride..k * b_stride + columns];
                c.iter_mut().zip(b).for_each(|(c, b)| *c -= a * b);
            }
        }
        return;
    }
    // By columns these are C' = C' - B'A'.
    let one = Dyn(1);
    let a = DMatrixView::from_slice_with_strides_generic(a, Dyn(depth), Dyn(rows), one, Dyn(depth));
    let b = DMatrixView::from_slice_with_strides_generic(
        b,
        Dyn(columns),
        Dyn(depth),
        one,
        Dyn(b_stride),
    );
    let mut c = DMatrixViewMut::from_slice_with_strides_generic(
        c,
        Dyn(columns),
        Dyn(rows),
        one,
        Dyn(stride),
    );
    c.gemm(-1.0, &b, &a, 1.0);
}
