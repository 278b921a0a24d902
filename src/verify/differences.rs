//! Differences of a program that knows when it crosses a kink.

use std::cell::Cell;

use nalgebra::DMatrix;

use super::ladder::{Ladder, size};

/// Estimated error, relative to the scale of the row, at which narrower ones are not tried.
const ENOUGH: f64 = 1e-8;
/// Estimated error above which a difference decides nothing.
const TRUSTED: f64 = 1e-6;

/// A column of a Jacobian by differences.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The derivatives of all outputs.
    pub column: Vec<f64>,
    /// Whether it is that of one side, because a kink is on the other.
    pub one_sided: bool,
}

/// Which smooth piece of a function that has kinks a value is of.
pub trait Piece: PartialEq {
    /// What the outputs are known to besides rounding, in their units: differences that are smaller say nothing.
    fn resolution(&self) -> f64 {
        0.0
    }
}

impl Piece for () {}
impl Piece for bool {}

/// The columns of the Jacobian of `run` at `x`, which is about `jacobian`: by central differences where both sides keep
/// the modes (the second result of `run`), by those of one side where only one does; none where there is no
/// difference that can be trusted. Nothing if `go_on`, asked before each value of `run`, says no.
pub(super) fn columns<S: Piece>(
    mut run: impl FnMut(&[f64]) -> (Vec<f64>, S),
    x: &[f64],
    jacobian: &DMatrix<f64>,
    row_scales: &[f64],
    go_on: &mut dyn FnMut() -> bool,
) -> Option<Vec<Option<Difference>>> {
    let (y, modes) = run(x);
    let stopped = Cell::new(false);
    let mut kept = |x: &[f64]| {
        // A value can take long where it is hard to solve; the ladder ends where there are none.
        if stopped.get() || !go_on() {
            stopped.set(true);
            return None;
        }
        let (y, found) = run(x);
        (found == modes).then_some(y)
    };
    // Outputs may be small differences of numbers that are rounded on the scale of what moves them.
    let magnitude = |row: usize| {
        let parts = x.iter().enumerate().map(|(j, &x)| jacobian[(row, j)].abs() * size(x));
        let least = row_scales[row] * size(0.0);
        let least = least.max(modes.resolution() / f64::EPSILON);
        parts.filter(|part| part.is_finite()).fold(least, f64::max)
    };
    let magnitudes: Vec<f64> = (0..row_scales.len()).map(magnitude).collect();
    let trusted = |found: Option<(Vec<f64>, f64)>, within: f64| {
        found.and_then(|(column, error)| (error <= within).then_some(column))
    };
    let mut of_input = |j: usize| {
        let central =
            |ladder: &Ladder, within: f64| trusted(ladder.column(row_scales, &magnitudes), within);
        let enough = |ladder: &Ladder| central(ladder, ENOUGH).is_some();
        let ladder = Ladder::descend(&mut kept, x, j, &enough);
        if let Some(column) = central(&ladder, TRUSTED) {
            return Some(Difference { column, one_sided: false });
        }
        let side =
            |above: bool| trusted(ladder.side_column(&y, row_scales, &magnitudes, above), TRUSTED);
        match [side(false), side(true)] {
            [Some(column), None] | [None, Some(column)] => {
                Some(Difference { column, one_sided: true })
            }
            _ => None,
        }
    };
    let column = |j: usize| {
        let column = of_input(j);
        (!stopped.get()).then_some(column)
    };
    (0..x.len()).map(column).collect()
}
