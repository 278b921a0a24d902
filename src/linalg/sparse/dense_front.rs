//! Eliminates the first columns of a dense matrix, in panels, and these half by half (`Golub13` 3.2.11, 4.1).

use std::ops::Range;

use nalgebra::{DMatrixView, DMatrixViewMut, Dyn};

/// Columns of a panel.
const PANEL: usize = 48;
/// As few columns are eliminated one by one.
const NARROW: usize = 8;
/// Rows of a strip of a symmetric update, of which only the lower half counts.
const STRIP: usize = 48;
/// Products of fewer numbers than this are summed at once: calling for more takes longer.
const FEW: usize = 2000;

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
            let panel = first..columns.min(first + PANEL);
            if symmetric {
                mirror(a, n, &panel);
                self.eliminate_panel(a, n, panel.clone(), panel.end)?;
                self.update_symmetric(a, n, panel);
            } else {
                self.eliminate_panel(a, n, panel.clone(), n)?;
                self.update(a, n, panel.clone(), panel.end..n, n);
            }
        }
        Ok(())
    }

    /// Eliminates the columns of a panel: L of all rows below, and U as wide as `width`.
    fn eliminate_panel(
        &mut self,
        a: &mut [f64],
        n: usize,
        panel: Range<usize>,
        width: usize,
    ) -> Result<(), usize> {
        if panel.len() <= NARROW {
            return eliminate_columns(a, n, panel, width);
        }
        let middle = panel.start + panel.len() / 2;
        let (first, second) = (panel.start..middle, middle..panel.end);
        self.eliminate_panel(a, n, first.clone(), width)?;
        self.update(a, n, first.clone(), second.clone(), width);
        self.update(a, n, first, panel.end..n, panel.end);
        self.eliminate_panel(a, n, second, width)
    }

    /// What is left of some rows behind the columns of a panel, up to `width`: A <- A - L U.
    fn update(
        &mut self,
        a: &mut [f64],
        n: usize,
        panel: Range<usize>,
        rows: Range<usize>,
        width: usize,
    ) {
        let (depth, columns) = (panel.len(), width - panel.end);
        if rows.is_empty() || columns == 0 {
            return;
        }
        self.take_left(a, n, &panel, &rows);
        let (above, below) = a.split_at_mut(rows.start * n);
        let upper = &above[panel.start * n + panel.end..];
        let target = &mut below[panel.end..];
        subtract_product(target, n, &self.left, (upper, n), [rows.len(), depth, columns]);
    }

    /// What is left of the lower half behind a panel: A <- A - L D L'.
    fn update_symmetric(&mut self, a: &mut [f64], n: usize, panel: Range<usize>) {
        let (end, depth, left) = (panel.end, panel.len(), n - panel.end);
        if left == 0 {
            return;
        }
        self.take_left(a, n, &panel, &(end..n));
        // U = D L'
        self.right.clear();
        for k in panel {
            let (d, own) = (a[k * (n + 1)], k + depth - end);
            self.right.extend(self.left.iter().skip(own).step_by(depth).map(|l| d * l));
        }
        for start in (0..left).step_by(STRIP) {
            let rows = STRIP.min(left - start);
            let target = &mut a[(end + start) * n + end..];
            let left_rows = &self.left[start * depth..(start + rows) * depth];
            let sizes = [rows, depth, start + rows];
            subtract_product(target, n, left_rows, (&self.right, left), sizes);
        }
    }

    /// L of some rows.
    fn take_left(&mut self, a: &[f64], n: usize, panel: &Range<usize>, rows: &Range<usize>) {
        self.left.clear();
        for row in a[rows.start * n..rows.end * n].chunks_exact(n) {
            self.left.extend_from_slice(&row[panel.clone()]);
        }
    }
}

/// The upper half of the diagonal block of a panel, from the lower.
fn mirror(a: &mut [f64], n: usize, panel: &Range<usize>) {
    for i in panel.clone() {
        for j in panel.start..i {
            a[j * n + i] = a[i * n + j];
        }
    }
}

/// Eliminates columns one by one: their rows as wide as `width`, those below as wide as they are.
fn eliminate_columns(
    a: &mut [f64],
    n: usize,
    panel: Range<usize>,
    width: usize,
) -> Result<(), usize> {
    let (start, end) = (panel.start, panel.end);
    let mut inverses = [0.0; NARROW];
    for k in panel {
        let (above, below) = a.split_at_mut((k + 1) * n);
        let pivots = &above[k * n..k * n + width];
        let pivot = pivots[k];
        if pivot == 0.0 || !pivot.is_finite() {
            return Err(k);
        }
        inverses[k - start] = pivot.recip();
        for row in below.chunks_exact_mut(n).take(end - k - 1) {
            let l = row[k] / pivot;
            row[k] = l;
            for (x, &p) in row[k + 1..width].iter_mut().zip(&pivots[k + 1..]) {
                *x -= l * p;
            }
        }
    }
    // In registers, with zeros where there are fewer columns.
    let (above, below) = a.split_at_mut(end * n);
    let mut upper = [[0.0; NARROW]; NARROW];
    for (k, upper) in (start..end).zip(&mut upper) {
        upper[k + 1 - start..end - start].copy_from_slice(&above[k * n + k + 1..k * n + end]);
    }
    for row in below.chunks_exact_mut(n) {
        let row = &mut row[start..end];
        let mut l = [0.0; NARROW];
        l[..row.len()].copy_from_slice(row);
        for (k, upper) in upper.iter().enumerate() {
            l[k] *= inverses[k];
            let own = l[k];
            for j in k + 1..NARROW {
                l[j] -= own * upper[j];
            }
        }
        row.copy_from_slice(&l[..row.len()]);
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
