//! The shape of a linear tetrahedron at rest.

use super::operand::{Vector3, cofactor, dot, matrix};

/// A linear tetrahedron at rest: what all its closed forms know of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tetrahedron<S = f64> {
    /// B_a, the gradient of the shape function of each node (1/m). They sum to zero.
    pub gradients: [Vector3<S>; 4],
    /// m³, positive where the fourth node is on the side of the first three from which they turn counterclockwise to
    /// the left: (x1 - x0) x (x2 - x0) . (x3 - x0) > 0.
    pub volume: S,
}

impl Tetrahedron {
    /// Of four points (m). A flat one has gradients that are not finite, one of turned nodes a negative volume: callers
    /// check these.
    pub fn new(x: [Vector3<f64>; 4]) -> Self {
        // Columns are edges.
        let edges = matrix(|i, a| x[a + 1][i] - x[0][i]);
        let cofactors = cofactor(&edges);
        let determinant = dot(&edges[0], &cofactors[0]);
        // E^-T = cof(E) / det(E): its columns are B_1, B_2, B_3.
        let of = |a: usize| [0, 1, 2].map(|i| cofactors[i][a] / determinant);
        let [b1, b2, b3] = [of(0), of(1), of(2)];
        let b0 = [0, 1, 2].map(|i| -(b1[i] + b2[i] + b3[i]));
        Tetrahedron { gradients: [b0, b1, b2, b3], volume: determinant / 6.0 }
    }
}
