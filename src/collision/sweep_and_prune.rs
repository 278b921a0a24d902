//! Broad phase: which pairs of bodies have overlapping bounding boxes, by sorting along one axis (`Cohen95`), within bands
//! of another where they are many.

use nalgebra::Vector3;

use super::Pose;
use crate::ad::Real;
use crate::model::Shape;

/// A box along the world axes that contains a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Its centre, m.
    pub center: Vector3<f64>,
    /// Its half extents, m.
    pub half: Vector3<f64>,
}

impl Bounds {
    /// About a shape, wider by `reach` (m) on every side: half the distance at which two shapes are
    /// of interest, or the way that one moves.
    ///
    /// `size`: what [`Shape`] says of each, m.
    pub fn new<T: Real>(shape: &Shape, pose: &Pose<T>, size: Vector3<T>, reach: f64) -> Self {
        let Pose { rotation, position } = pose.value();
        let [center, half] = shape.bounds(size.map(|x| x.value()), &rotation, &position);
        Bounds { center, half: half.add_scalar(reach) }
    }

    fn overlaps(&self, other: &Bounds) -> bool {
        let apart =
            |k: usize| (self.center[k] - other.center[k]).abs() > self.half[k] + other.half[k];
        !(apart(0) || apart(1) || apart(2))
    }
}

/// Finds bodies whose bounds overlap. Holds memory for reuse and nothing else: results do not depend on
/// earlier calls.
#[derive(Clone, Debug, Default)]
pub struct SweepAndPrune {
    /// Band, lower end on the axis, body.
    order: Vec<(usize, f64, usize)>,
}

impl SweepAndPrune {
    /// Writes the pairs (i, j), i < j, of bodies whose bounds overlap or touch, in ascending order.
    ///
    /// Sorts along the axis on which the centres spread the most and compares each with those that begin before it
    /// ends. Many bodies are first divided into bands along the axis on which they spread next to that: for bodies
    /// apart from each other n log n on a line and in a plane, and next to it, n^(4/3), in space.
    pub fn pairs(&mut self, bounds: &[Bounds], pairs: &mut Vec<(usize, usize)>) {
        pairs.clear();
        let [axis, across] = widest(bounds);
        let bands = Bands::new(bounds, across);
        // A body is in two bands on average or in the first and last of its ends: nothing grows later.
        self.order.clear();
        self.order.reserve(3 * bounds.len());
        for (k, i) in bounds.iter().enumerate() {
            let start = i.center[axis] - i.half[axis];
            self.order.extend(bands.of(i).map(|band| (band, start, k)));
        }
        // By index where ends are equal, so that an unstable sort, which allocates nothing, will do.
        self.order
            .sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
        for (place, &(band, _, i)) in self.order.iter().enumerate() {
            let end = bounds[i].center[axis] + bounds[i].half[axis];
            let first = bands.first(&bounds[i]);
            for &(other, start, j) in &self.order[place + 1..] {
                if other != band || start > end {
                    break;
                }
                // Of the bands that both are in, in the first.
                if bounds[i].overlaps(&bounds[j]) && first.max(bands.first(&bounds[j])) == band {
                    pairs.push((i.min(j), i.max(j)));
                }
            }
        }
        pairs.sort_unstable();
    }
}

/// Fewer bodies than this are not divided into bands.
const FEW: usize = 64;

/// Equal parts of an axis, of which a body is in one or a few.
struct Bands {
    axis: usize,
    low: f64,
    width: f64,
    count: usize,
}

impl Bands {
    /// At most as many as the root of the number of bodies, each as wide as a body is on average or wider: then they are
    /// in two each on average, at most.
    fn new(bounds: &[Bounds], axis: usize) -> Bands {
        let whole = Bands { axis, low: 0.0, width: f64::INFINITY, count: 1 };
        if bounds.len() < FEW {
            return whole;
        }
        let ends = bounds.iter().map(|i| i.center[axis]);
        let low = ends.clone().fold(f64::INFINITY, f64::min);
        let range = ends.fold(f64::NEG_INFINITY, f64::max) - low;
        let mean = 2.0 * bounds.iter().map(|i| i.half[axis]).sum::<f64>() / bounds.len() as f64;
        let most = (bounds.len() as f64).sqrt();
        let width = mean.max(range / most);
        // Nothing is divided that has no size, or an infinite one.
        match range / width {
            parts if parts >= 2.0 => Bands { axis, low, width, count: parts.min(most) as usize },
            _ => whole,
        }
    }

    /// The band at a coordinate; what is beyond the ends is in the first or the last.
    fn at(&self, coordinate: f64) -> usize {
        // A negative number becomes 0, as does what is none.
        (((coordinate - self.low) / self.width) as usize).min(self.count - 1)
    }

    fn first(&self, bounds: &Bounds) -> usize {
        self.at(bounds.center[self.axis] - bounds.half[self.axis])
    }

    fn of(&self, bounds: &Bounds) -> std::ops::RangeInclusive<usize> {
        self.first(bounds)..=self.at(bounds.center[self.axis] + bounds.half[self.axis])
    }
}

/// The axis on which the centres have the largest variance, of equal ones the first, and that of the next largest.
fn widest(bounds: &[Bounds]) -> [usize; 2] {
    let count = bounds.len().max(1) as f64;
    let mean = bounds.iter().map(|i| i.center).sum::<Vector3<f64>>() / count;
    let spread = bounds.iter().fold(Vector3::zeros(), |sum: Vector3<f64>, i| {
        let offset = i.center - mean;
        sum + offset.component_mul(&offset)
    });
    let mut axes = [0, 1, 2];
    axes.sort_by(|&a, &b| spread[b].total_cmp(&spread[a]));
    [axes[0], axes[1]]
}
