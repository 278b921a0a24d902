//! A function along one input, at distances that halve on both sides.

use super::limit::{Estimate, Term, diverges, estimates, limit};

/// Inputs smaller than this are moved by fractions of this.
const LEAST_SIZE: f64 = 1e-2;
/// The widest half width, as a fraction of the size of an input.
const WIDEST: f64 = 1e-2;
/// How many half widths. Narrow ones are for kinks nearby: a body at rest has sunk in by 1e-9 m.
const LEVELS: i32 = 36;

/// What an input is measured by: its absolute value, unless it is small.
pub(super) fn size(x: f64) -> f64 {
    x.abs().max(LEAST_SIZE)
}

/// How far from `x` a function is looked at.
pub(super) fn reach(x: f64) -> f64 {
    size(x) * WIDEST
}

/// The half widths about `x`, from the widest on.
pub(super) fn widths(x: f64) -> impl Iterator<Item = f64> {
    (0..LEVELS).map(move |k| reach(x) * 0.5_f64.powi(k)).take_while(move |&h| h > resolution(x))
}

/// Below this a distance from `x` is rounding.
pub(super) fn resolution(x: f64) -> f64 {
    4.0 * f64::EPSILON * x.abs()
}

/// A value at a distance that was really gone: rounded as input and distance are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub offset: f64,
    pub value: f64,
}

/// The outputs at one distance; none where they cannot be compared with those at the origin.
struct Rung {
    offset: f64,
    values: Option<Vec<f64>>,
}

/// One function along one input.
pub(super) struct Ladder {
    x: f64,
    above: Vec<Rung>,
    below: Vec<Rung>,
}

impl Ladder {
    /// Moves `x[input]` by ever less until `enough` is seen or the widths end. `run` gives the
    /// outputs, or none where they belong to another regime.
    pub(super) fn descend(
        run: &mut dyn FnMut(&[f64]) -> Option<Vec<f64>>,
        x: &[f64],
        input: usize,
        enough: &dyn Fn(&Ladder) -> bool,
    ) -> Ladder {
        let mut moved = x.to_vec();
        let x = x[input];
        let mut ladder = Ladder { x, above: Vec::new(), below: Vec::new() };
        for h in widths(x) {
            for (step, side) in [(h, &mut ladder.above), (-h, &mut ladder.below)] {
                moved[input] = x + step;
                side.push(Rung { offset: moved[input] - x, values: run(&moved) });
            }
            if enough(&ladder) {
                break;
            }
        }
        ladder
    }

    /// How many widths there are.
    pub(super) fn len(&self) -> usize {
        self.above.len()
    }

    /// The derivative of one output by central differences of half widths under `below`.
    pub(super) fn central(&self, output: usize, below: f64) -> Option<Estimate> {
        limit(&self.secants(output, below), 2)
    }

    /// The derivatives of as many outputs as there are scales, all by the same widths, and the
    /// largest of their errors relative to the scales. Where all have to agree with their neighbours
    /// at once, a chance does not look like convergence. Outputs are rounded relative to their
    /// `magnitudes` at least.
    pub(super) fn column(&self, scales: &[f64], magnitudes: &[f64]) -> Option<(Vec<f64>, f64)> {
        let table = |i: usize| {
            let pairs = self.points(i, true).into_iter().zip(self.points(i, false));
            let secants = pairs.map(|(a, b)| secant(self.x, a?, b?, magnitudes[i]));
            estimates(&secants.collect::<Vec<_>>(), 2)
        };
        best((0..scales.len()).map(table).collect(), scales)
    }

    /// The same of one side, seen from that side alone. None if its limit is not `y`, the outputs at the origin: then
    /// something happens nearer to it than these widths see, and the slope there is another.
    pub(super) fn side_column(
        &self,
        y: &[f64],
        scales: &[f64],
        magnitudes: &[f64],
        above: bool,
    ) -> Option<(Vec<f64>, f64)> {
        /// How many times its error a limit may be off.
        const SURE: f64 = 100.0;
        let mut tables = Vec::new();
        for (i, (&y, &magnitude)) in y.iter().zip(magnitudes).enumerate() {
            let points = self.points(i, above);
            let value = |point: Point| {
                let noise = f64::EPSILON * point.value.abs().max(magnitude);
                Term { value: point.value, noise }
            };
            let values: Vec<Option<Term>> = points.iter().map(|point| point.map(value)).collect();
            let end = limit(&values, 1)?;
            if (end.value - y).abs() > SURE * end.error {
                return None;
            }
            let pairs = points.windows(2);
            let secants = pairs.map(|pair| secant(self.x, pair[0]?, pair[1]?, magnitude));
            tables.push(estimates(&secants.collect::<Vec<_>>(), 1));
        }
        best(tables, scales)
    }

    /// What is left of the second differences about the origin, where the output is `y`, after those of half
    /// the width are subtracted: a slope. Of a smooth function it is of third order; a kink anywhere inside
    /// adds a fraction of its jump.
    pub(super) fn roughness(&self, output: usize, y: f64) -> f64 {
        let (above, below) = (self.points(output, true), self.points(output, false));
        let bends = above.iter().zip(&below).map(|(above, below)| {
            let (above, below) = ((*above)?, (*below)?);
            Some((above.offset, (above.value - y) + (below.value - y)))
        });
        let bends: Vec<Option<(f64, f64)>> = bends.collect();
        let rest = |pair: &[Option<(f64, f64)>]| match pair {
            [Some((width, wide)), Some((_, narrow))] => (wide - 4.0 * narrow).abs() / width,
            _ => f64::INFINITY,
        };
        bends.windows(2).map(rest).fold(0.0, f64::max)
    }

    fn secants(&self, output: usize, below: f64) -> Vec<Option<Term>> {
        let pairs = self.points(output, true).into_iter().zip(self.points(output, false));
        let pairs = pairs.filter(|(above, _)| above.is_none_or(|point| point.offset < below));
        pairs.map(|(a, b)| secant(self.x, a?, b?, 0.0)).collect()
    }

    /// What one output does on one side.
    pub(super) fn side(&self, output: usize, above: bool) -> Side {
        Side::of(self.x, &self.points(output, above))
    }

    fn points(&self, output: usize, above: bool) -> Vec<Option<Point>> {
        let rungs = if above { &self.above } else { &self.below };
        let point = |rung: &Rung| {
            let value = *rung.values.as_ref()?.get(output)?;
            value.is_finite().then_some(Point { offset: rung.offset, value })
        };
        rungs.iter().map(point).collect()
    }
}

/// What a function does on one side of a place, seen from that side alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    /// The limit of its values.
    pub value: Option<Estimate>,
    /// The limit of its slopes; infinite where they grow without bound.
    pub slope: Option<Estimate>,
}

impl Side {
    /// From points at distances that halve from one to the next. The value at the place itself is not
    /// used: at a jump it may belong to the other side.
    pub(super) fn of(x: f64, points: &[Option<Point>]) -> Side {
        let secants = points.windows(2).map(|pair| secant(x, pair[0]?, pair[1]?, 0.0));
        let slopes: Vec<Option<Term>> = secants.collect();
        let value =
            |point: Point| Term { value: point.value, noise: f64::EPSILON * point.value.abs() };
        let values: Vec<Option<Term>> = points.iter().map(|point| point.map(value)).collect();
        let steepest = slopes.last().copied().flatten();
        let slope = match steepest {
            Some(Term { value, .. }) if diverges(&slopes) => {
                Some(Estimate { value: f64::INFINITY.copysign(value), error: 0.0 })
            }
            _ => limit(&slopes, 1),
        };
        Side { value: limit(&values, 1), slope }
    }
}

/// The entry of tables, one an output, at which the largest error relative to the `scales` is least; with that error.
fn best(tables: Vec<Vec<Estimate>>, scales: &[f64]) -> Option<(Vec<f64>, f64)> {
    let entries = tables.iter().map(Vec::len).min().unwrap_or(0);
    let error = |k: usize| {
        let errors = tables.iter().zip(scales).map(|(table, scale)| table[k].error / scale);
        errors.fold(0.0_f64, |most, e| if e <= most { most } else { e })
    };
    let best = (0..entries).min_by(|&a, &b| error(a).total_cmp(&error(b)))?;
    Some((tables.iter().map(|table| table[best].value).collect(), error(best)))
}

/// The slope between two points. Values are rounded, as those of `magnitude` at least, and the input inside the
/// function is, too.
fn secant(x: f64, a: Point, b: Point, magnitude: f64) -> Option<Term> {
    let width = (a.offset - b.offset).abs();
    let value = (a.value - b.value) / (a.offset - b.offset);
    let size = a.value.abs().max(b.value.abs()).max(magnitude) + x.abs() * value.abs();
    let noise = f64::EPSILON * size / width;
    value.is_finite().then_some(Term { value, noise })
}
