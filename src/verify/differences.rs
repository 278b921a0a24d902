//! Central differences of a program that knows when it crosses a kink.

use super::ladder::Ladder;

/// Estimated error, relative to the scale of the row, at which narrower ones are not tried.
const ENOUGH: f64 = 1e-8;
/// Estimated error above which a difference decides nothing.
const TRUSTED: f64 = 1e-6;

/// The columns of the Jacobian of `run` at `x`; none where there is no difference of which both sides
/// keep the regime (the second result of `run`) and which can be trusted.
pub(super) fn columns<S: PartialEq>(
    mut run: impl FnMut(&[f64]) -> (Vec<f64>, S),
    x: &[f64],
    row_scales: &[f64],
) -> Vec<Option<Vec<f64>>> {
    let (_, regime) = run(x);
    let mut kept = |x: &[f64]| {
        let (y, found) = run(x);
        (found == regime).then_some(y)
    };
    let column = |ladder: &Ladder, within: f64| {
        let (column, error) = ladder.column(row_scales)?;
        (error <= within).then_some(column)
    };
    let mut of_input = |j: usize| {
        let enough = |ladder: &Ladder| column(ladder, ENOUGH).is_some();
        column(&Ladder::descend(&mut kept, x, j, &enough), TRUSTED)
    };
    (0..x.len()).map(&mut of_input).collect()
}
