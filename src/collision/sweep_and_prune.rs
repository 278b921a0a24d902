//! Broad phase: which pairs of bodies have overlapping bounding boxes, by sorting along one axis (`Cohen95`).

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
    /// Lower end on the axis, body.
    order: Vec<(f64, usize)>,
}

impl SweepAndPrune {
    /// Writes the pairs (i, j), i < j, of bodies whose bounds overlap or touch, in ascending order.
    ///
    /// Sorts along the axis on which the centres spread the most and compares each with those that
    /// begin before it ends: n log n for bodies apart from each other on that axis.
    pub fn pairs(&mut self, bounds: &[Bounds], pairs: &mut Vec<(usize, usize)>) {
        pairs.clear();
        let axis = widest(bounds);
        self.order.clear();
        let ends = bounds.iter().enumerate();
        self.order.extend(ends.map(|(k, i)| (i.center[axis] - i.half[axis], k)));
        // By index where ends are equal, so that an unstable sort, which allocates nothing, will do.
        self.order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for (place, &(_, i)) in self.order.iter().enumerate() {
            let end = bounds[i].center[axis] + bounds[i].half[axis];
            for &(start, j) in &self.order[place + 1..] {
                if start > end {
                    break;
                }
                if bounds[i].overlaps(&bounds[j]) {
                    pairs.push((i.min(j), i.max(j)));
                }
            }
        }
        pairs.sort_unstable();
    }
}

/// The axis on which the centres have the largest variance, of equal ones the first.
fn widest(bounds: &[Bounds]) -> usize {
    let count = bounds.len().max(1) as f64;
    let mean = bounds.iter().map(|i| i.center).sum::<Vector3<f64>>() / count;
    let spread = bounds.iter().fold(Vector3::zeros(), |sum: Vector3<f64>, i| {
        let offset = i.center - mean;
        sum + offset.component_mul(&offset)
    });
    (1..3).fold(0, |best, k| if spread[k] > spread[best] { k } else { best })
}
