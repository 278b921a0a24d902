//! Two boxes: the axis that separates them the most (`Gottschalk96`), and the points where they may touch along it.
//!
//! 1. `axes` measures, in `f64`, how far the boxes are apart along the 15 directions that can
//!    separate them: normals of faces, and products of an edge of each. The largest wins, with a
//!    preference: faces of the first box, faces of the second, pairs of edges; a later one must be
//!    larger by a margin, so that faces that are parallel but for rounding or a slight tilt are chosen
//!    in one way on every step. Edges that are nearly parallel make no axis.
//! 2. A face becomes the reference. `face` clips the face that looks at it to the prism over it: in
//!    general up to eight points, their gaps measured along the normal of the reference.
//! 3. A pair of edges gives the one point where their lines are nearest (`edges`). Where its normal is
//!    nearly that of the face, the face is taken: it has the same point and those beside it.
//!
//! # Boxes apart whose nearest features are corners
//! Where the nearest points of two boxes are a corner and an edge, or two corners, the line between
//! them is none of the 15 axes, and there may be nothing in the prism over the reference. Then there is
//! **no contact**, rather than one along that line. A contact with a gap asks that the bodies approach
//! along its normal by no more than the gap. Over a face that is what the shapes ask: what comes
//! down to it would hit it. About a corner it is not: a box that flies by 10 cm a step, 1 cm clear of
//! the edge of another one, would meet a slanted plane in front of it and lose part of its speed (at
//! any clearance below half the way of a step). The price:
//!
//! - Boxes that meet corner to corner or corner to edge overlap at the end of a step, by no more than
//!   they move in it, and are pushed apart in the next. They do not pass through each other unless a
//!   step is longer than a box.
//! - The first point of a face appears when something comes over it from beside, and with it a
//!   constraint. Later ones come and go continuously: a corner that leaves the prism turns into
//!   crossings of its edges with the side.
//!
//! Some of this is left over faces: what passes the rim of a face while it comes down by more than its
//! gap, in one step, is held up.
//!
//! Points of a face lie on both boxes' surfaces or between them, so none has a negative gap where the
//! boxes are apart, whichever face is the reference: a preference costs no false penetration.

mod axes;
mod corners_and_edges;
mod edges;
mod face;

use nalgebra::Vector3;

use super::{Pose, Witness};
use crate::ad::Real;

/// Pushes the points where two boxes may touch, those with gaps of at most `reach` (m): none if the
/// boxes are further apart than that.
///
/// Features: corner of the incident box against the reference face (0 to 95), edge crossing a side
/// of the reference face (96 to 671), corner of the reference face under the incident face (672 to
/// 959), pair of edges (960 to 1103).
pub fn box_box<T: Real>(
    poses: [&Pose<T>; 2],
    half_extents: [Vector3<T>; 2],
    reach: f64,
    out: &mut Vec<Witness<T>>,
) {
    let values = poses.map(Pose::value);
    let sizes = half_extents.map(|half| half.map(|x| x.value()));
    let relative = values[0].relative(&values[1]);
    let Some(axes) = axes::separating(&relative, sizes, reach) else {
        return;
    };
    let face = |out: &mut _| {
        face::manifold(poses, half_extents, &relative, axes.face, axes.floor, reach, out)
    };
    let edge =
        |edges: &_, out: &mut _| edges::point(poses, half_extents, &relative, edges, reach, out);
    // Each says whether it has a point; within reach or not.
    let _ = match axes.edges {
        Some(edges) if edges.flat => face(out) || edge(&edges, out),
        Some(edges) => edge(&edges, out) || face(out),
        None => face(out),
    };
}
