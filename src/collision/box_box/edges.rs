//! Two edges that cross: the points where their lines are nearest.

use nalgebra::Vector3;

use super::axes::Edges;
use super::corners_and_edges::{feature_of, signed};
use crate::ad::Real;
use crate::collision::{Pose, Witness};

/// The first feature of a pair of edges.
const PAIRS: usize = 96 + 576 + 288;

/// How far beyond the end of an edge its point may be by rounding, as a fraction of its half length.
const BEYOND: f64 = 1e-6;

/// The nearest points of two lines, in the frame of the first box.
struct Nearest<T> {
    gap: T,
    normal: Vector3<T>,
    first: Vector3<T>,
    /// Along the edges, from their middles, m.
    along: [T; 2],
}

/// Pushes the point of two edges. False if the nearest points of their lines are not on the edges: then
/// the boxes are apart, and something else is nearest.
pub(super) fn point<T: Real>(
    poses: [&Pose<T>; 2],
    half: [Vector3<T>; 2],
    relative: &Pose<f64>,
    edges: &Edges,
    reach: f64,
    out: &mut Vec<Witness<T>>,
) -> bool {
    let [i, j] = edges.axes;
    // The edges that face each other: of the first box along the normal, of the second against it.
    let seen = relative.rotation.tr_mul(&edges.normal);
    let sides =
        [std::array::from_fn(|k| edges.normal[k] >= 0.0), std::array::from_fn(|k| seen[k] <= 0.0)];
    let lengths = [half[0][i].value(), half[1][j].value()];
    let values = half.map(|half| half.map(|x| x.value()));
    let near = nearest(relative, values, edges, sides);
    if (0..2).any(|k| near.along[k].abs() > lengths[k] * (1.0 + BEYOND)) {
        return false;
    }
    if near.gap > reach {
        return true;
    }
    let Nearest { gap, normal, first, .. } =
        nearest(&poses[0].relative(poses[1]), half, edges, sides);
    let feature = PAIRS + 12 * feature_of(i, sides[0]) + feature_of(j, sides[1]);
    let normal = poses[0].rotation * normal;
    let first = poses[0].position + poses[0].rotation * first;
    out.push(Witness::single(feature, gap, normal, first));
    true
}

fn nearest<T: Real>(
    second: &Pose<T>,
    half: [Vector3<T>; 2],
    edges: &Edges,
    sides: [[bool; 3]; 2],
) -> Nearest<T> {
    let [i, j] = edges.axes;
    let (a, b) = (Vector3::ith(i, T::one()), second.rotation.column(j).into_owned());
    let middle =
        |body: usize, axis: usize| {
            Vector3::from_fn(|k, _| {
                if k == axis { T::zero() } else { signed(sides[body][k], half[body][k]) }
            })
        };
    let first = middle(0, i);
    let offset = second.position + second.rotation * middle(1, j) - first;
    let cross = a.cross(&b);
    let square = cross.dot(&cross);
    let upper = edges.normal.dot(&cross.map(|x| x.value())) >= 0.0;
    let normal = cross * (signed(upper, T::one()) / square.sqrt());
    // offset + t b - s a is perpendicular to a and b; 1 - (a.b)^2 = |a x b|^2.
    let (along_a, along_b, cosine) = (offset[i], offset.dot(&b), b[i]);
    let s = (along_a - cosine * along_b) / square;
    let t = (cosine * along_a - along_b) / square;
    Nearest { gap: normal.dot(&offset), normal, first: first + a * s, along: [s, t] }
}
