//! Central differences that do not straddle kinks and know how good they are.

/// Inputs smaller than this are moved by fractions of this.
const LEAST_SIZE: f64 = 1e-2;
/// Half widths, as fractions of the size of an input: the first, and how many in factors of ten.
/// Narrow ones are for kinks nearby: a body at rest has sunk in by 1e-9 m.
const WIDEST: f64 = 1e-2;
const WIDTHS: i32 = 10;
/// Estimated error, relative to the scale of the row, at which narrower ones are not tried.
const ENOUGH: f64 = 1e-8;
/// Estimated error above which a difference decides nothing.
const TRUSTED: f64 = 1e-6;

/// The columns of the Jacobian of `run` at `x`; none where no two neighbouring widths keep the regime
/// (the second result of `run`) on both sides and confirm each other.
///
/// Each width h gives the extrapolation (4 D(h/2) - D(h)) / 3 of the central differences D; its
/// change from the width before estimates its error, of truncation and rounding alike. The one of
/// least estimated error is taken.
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
        let mut extrapolated = |h: f64| -> Option<Vec<f64>> {
            let (wide, narrow) = (central(h)?, central(0.5 * h)?);
            Some(wide.iter().zip(&narrow).map(|(w, n)| n + (n - w) / 3.0).collect())
        };
        let (mut best, mut least) = (None, TRUSTED);
        let mut last: Option<Vec<f64>> = None;
        for k in 0..WIDTHS {
            let h = x[j].abs().max(LEAST_SIZE) * WIDEST * 0.1_f64.powi(k);
            let column = extrapolated(h);
            if let (Some(column), Some(last)) = (&column, &last) {
                let error = change(column, last, row_scales).max(f64::EPSILON / h);
                if error <= least {
                    (best, least) = (Some(column.clone()), error);
                }
                if least <= ENOUGH {
                    break;
                }
            }
            last = column;
        }
        columns.push(best);
    }
    columns
}

/// The largest difference of two columns, relative to the scales of the rows.
fn change(a: &[f64], b: &[f64], row_scales: &[f64]) -> f64 {
    let pairs = a.iter().zip(b).zip(row_scales);
    pairs.fold(0.0_f64, |worst, ((a, b), scale)| worst.max((a - b).abs() / scale))
}
