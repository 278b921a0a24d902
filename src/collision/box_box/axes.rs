//! The separating axis test, in `f64`: along which of 15 directions two boxes are furthest apart.

use nalgebra::Vector3;

use crate::collision::Pose;

/// By how much a later axis must be better, as a fraction of the least half extent and of the
/// separation. A face tilted against another one by less than about this angle counts as parallel.
const MARGIN: f64 = 1e-3;

/// Edges at a smaller angle than this (rad) are parallel: they make no axis.
const PARALLEL: f64 = 1e-2;

/// An axis of edges nearer to the normal of the best face than this angle (rad) gives way to the face,
/// whose manifold has the crossing of the edges too, and the other points about it. With one point
/// alone, a box that comes to rest on an edge of another would land on its other end in the next step.
const FLAT: f64 = 0.05;

/// A face of one of two boxes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Face {
    pub body: usize,
    pub axis: usize,
    /// Whether it is the upper of the two on its axis.
    pub upper: bool,
}

/// An edge of each box, by their axes, and the unit normal from first to second, in the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edges {
    pub axes: [usize; 2],
    pub normal: Vector3<f64>,
    /// Whether that is nearly the normal of the best face.
    pub flat: bool,
}

/// Along which axes two boxes are the furthest apart.
pub(super) struct Axes {
    /// The best face.
    pub face: Face,
    /// The best pair of edges, if it is better than the face.
    pub edges: Option<Edges>,
    /// No point of a box lies lower than this over a face of the other, m.
    pub floor: f64,
}

/// The axes of largest separation, or nothing if one separates the boxes by more than `reach`; `second`
/// is the second box as the first one sees it.
pub(super) fn separating(second: &Pose<f64>, half: [Vector3<f64>; 2], reach: f64) -> Option<Axes> {
    let Pose { rotation, position } = second;
    let cosines = rotation.abs();
    let least = half[0].min().min(half[1].min());
    let margin = |best: f64| MARGIN * (least + best.abs());

    let mut best = f64::NEG_INFINITY;
    let mut face = Face { body: 0, axis: 0, upper: true };
    let mut normal = Vector3::zeros();
    let first = position.abs() - half[0] - cosines * half[1];
    let seen = rotation.tr_mul(position);
    let other = seen.abs() - half[1] - cosines.tr_mul(&half[0]);
    for (body, separations) in [first, other].iter().enumerate() {
        for (axis, &separation) in separations.iter().enumerate() {
            if separation > reach {
                return None;
            }
            if (body, axis) == (0, 0) || separation > best + margin(best) {
                best = separation;
                (face, normal) = match body {
                    0 => {
                        (Face { body, axis, upper: position[axis] >= 0.0 }, Vector3::ith(axis, 1.0))
                    }
                    _ => (
                        Face { body, axis, upper: seen[axis] <= 0.0 },
                        rotation.column(axis).into_owned(),
                    ),
                };
            }
        }
    }

    let mut edges = None;
    for i in 0..3 {
        for j in 0..3 {
            let next = |axis: usize| ((axis + 1) % 3, (axis + 2) % 3);
            let ((p, q), (r, s)) = (next(i), next(j));
            // e_i x b_j has the components p, q below; times b_r it is e_i b_s, but for the sign.
            let (along_p, along_q) = (-rotation[(q, j)], rotation[(p, j)]);
            let sine = (along_p * along_p + along_q * along_q).sqrt();
            if sine <= PARALLEL {
                continue;
            }
            let distance = along_p * position[p] + along_q * position[q];
            let extent = cosines[(q, j)] * half[0][p]
                + cosines[(p, j)] * half[0][q]
                + cosines[(i, s)] * half[1][r]
                + cosines[(i, r)] * half[1][s];
            let separation = (distance.abs() - extent) / sine;
            if separation > reach {
                return None;
            }
            if separation > best + margin(best) {
                best = separation;
                let n = Vector3::ith(i, 1.0).cross(&rotation.column(j)) / sine;
                let flat = n.cross(&normal).norm() <= FLAT;
                let normal = if distance >= 0.0 { n } else { -n };
                edges = Some(Edges { axes: [i, j], normal, flat });
            }
        }
    }
    // Boxes that are apart have no points below a face, but by the margin with which it was chosen.
    let floor = if best > 0.0 { -margin(best) } else { f64::NEG_INFINITY };
    Some(Axes { face, edges, floor })
}
