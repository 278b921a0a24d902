//! Broad phase: which pairs of bodies have overlapping bounding boxes, by sorting along one axis.

use nalgebra::Vector3;

use super::Pose;
use crate::ad::Real;
use crate::model::Shape;

/// A box along the world axes that holds a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Its centre, m.
    pub center: Vector3<f64>,
    /// Its half extents, m.
    pub half: Vector3<f64>,
}

impl Interval {
    fn overlaps(&self, other: &Interval) -> bool {
        let apart =
            |k: usize| (self.center[k] - other.center[k]).abs() > self.half[k] + other.half[k];
        !(apart(0) || apart(1) || apart(2))
    }
}

/// The box along the world axes about a shape, widened by `reach` (m) to all sides.
///
/// `size`: half extents of a box, or radius and two numbers that are not read, m.
pub fn bounds<T: Real>(shape: Shape, pose: &Pose<T>, size: Vector3<T>, reach: f64) -> Interval {
    let Pose { rotation, position } = pose.value();
    let size = size.map(|x| x.value());
    let half = match shape {
        Shape::Box => rotation.abs() * size,
        Shape::Sphere => Vector3::repeat(size.x),
    };
    Interval { center: position, half: half.add_scalar(reach) }
}

/// Finds overlapping intervals. Holds memory for reuse and nothing else: results do not depend on
/// earlier calls.
#[derive(Clone, Debug, Default)]
pub struct SweepAndPrune {
    /// Lower end on the axis, body.
    order: Vec<(f64, usize)>,
}

impl SweepAndPrune {
    /// Writes the pairs (i, j), i < j, of `intervals` that overlap or touch, in ascending order.
    ///
    /// Sorts along the axis on which the centres spread the most and compares each with those that
    /// begin before it ends: n log n for bodies apart from each other on that axis.
    pub fn pairs(&mut self, intervals: &[Interval], pairs: &mut Vec<(usize, usize)>) {
        pairs.clear();
        let axis = widest(intervals);
        self.order.clear();
        let ends = intervals.iter().enumerate();
        self.order.extend(ends.map(|(k, i)| (i.center[axis] - i.half[axis], k)));
        // By index where ends are equal, so that an unstable sort, which allocates nothing, will do.
        self.order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for (place, &(_, i)) in self.order.iter().enumerate() {
            let end = intervals[i].center[axis] + intervals[i].half[axis];
            for &(start, j) in &self.order[place + 1..] {
                if start > end {
                    break;
                }
                if intervals[i].overlaps(&intervals[j]) {
                    pairs.push((i.min(j), i.max(j)));
                }
            }
        }
        pairs.sort_unstable();
    }
}

/// The axis on which the centres have the largest variance, of equal ones the first.
fn widest(intervals: &[Interval]) -> usize {
    let count = intervals.len().max(1) as f64;
    let mean = intervals.iter().map(|i| i.center).sum::<Vector3<f64>>() / count;
    let spread = intervals.iter().fold(Vector3::zeros(), |sum: Vector3<f64>, i| {
        let offset = i.center - mean;
        sum + offset.component_mul(&offset)
    });
    (1..3).fold(0, |best, k| if spread[k] > spread[best] { k } else { best })
}
