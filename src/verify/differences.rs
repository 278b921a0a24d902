//! Central differences that do not straddle kinks and know how good they are.

/// Inputs smaller than this are moved by fractions of this.
const LEAST_SIZE: f64 = 1e-2;
/// Half widths, as fractions of the size of an input: the first, and how many in factors of ten.
/// Narrow ones are for kinks nearby: a body at rest has sunk in by 1e-9 m.
const WIDEST: f64 = 1e-2;
const WIDTHS: i32 = 10;
/// Estimated error, relative to the scale of the row, at which narrower ones are not tried.
const ENOUGH: f64 = 1e-8;

/// The columns of the Jacobian of `run` at `x`; none where no width keeps the regime (the second
/// result of `run`) on both sides.
///
/// Of several widths h the one of least estimated error is taken, where D(h) and D(h/2) give the
/// extrapolation (4 D(h/2) - D(h)) / 3 and the error estimate; one lost to rounding by its own
/// estimate is none, too.
pub(super) fn columns<S: PartialEq>(
    mut run: impl FnMut(&[f64]) -> (Vec<f64>, S),
    x: &[f64],
    row_scales: &[f64],
) -> Vec<Option<Vec<f64>>> {
    let (_, regime) = run(x);
    let mut moved = x.to_vec();
    let mut columns = Vec::with_capacity(x.len());
    for j in 0..x.len() {
        // (f(x + h) - f(x - h)) / 2h
        let mut central = |h: f64| -> Option<Vec<f64>> {
            moved[j] = x[j] + h;
            let (above, above_regime) = run(&moved);
            let top = moved[j];
            moved[j] = x[j] - h;
            let (below, below_regime) = run(&moved);
            let width = top - moved[j];
            moved[j] = x[j];
            let kept = above_regime == regime && below_regime == regime;
            kept.then(|| above.iter().zip(&below).map(|(a, b)| (a - b) / width).collect())
        };
        let (mut best, mut least) = (None, f64::INFINITY);
        for k in 0..WIDTHS {
            let h = x[j].abs().max(LEAST_SIZE) * WIDEST * 0.1_f64.powi(k);
            let (Some(wide), Some(narrow)) = (central(h), central(0.5 * h)) else { continue };
            let mut error = 0.0_f64;
            let mut column = Vec::with_capacity(wide.len());
            for ((&wide, &narrow), &scale) in wide.iter().zip(&narrow).zip(row_scales) {
                let change = (narrow - wide) / 3.0;
                column.push(narrow + change);
                // Outputs are rounded in states of order one.
                error = error.max((change.abs() + f64::EPSILON / h) / scale);
            }
            if error < least {
                (best, least) = (Some(column), error);
            }
            if least <= ENOUGH {
                break;
            }
        }
        columns.push(best);
    }
    columns
}
