//! A polyhedron with fewer vertices, and how far it falls short.

use nalgebra::Vector3;

use super::{HullError, Polyhedron};

impl Polyhedron {
    /// The fewest vertices that a polyhedron can be [reduced](Self::reduced) to.
    pub const LEAST_VERTICES: usize = 4;

    /// A polyhedron inside of this one with at most `most` of its vertices, those that stand out the most, and the largest
    /// distance of a point of this one to it, m.
    ///
    /// # Errors
    /// If so few span no volume. Fewer than [`LEAST_VERTICES`](Self::LEAST_VERTICES) never do.
    pub fn reduced(&self, most: usize) -> Result<(Polyhedron, f64), HullError> {
        if most < Polyhedron::LEAST_VERTICES {
            return Err(HullError::TooFew(most));
        }
        if self.vertices().len() <= most {
            return Ok((self.clone(), 0.0));
        }
        let reduced = Polyhedron::hull_of_most(self.vertices(), most)?;
        // The distance to a convex solid is convex: it is the largest at a vertex.
        let short =
            self.vertices().iter().map(|vertex| reduced.distance(vertex)).fold(0.0, f64::max);
        Ok((reduced, short))
    }

    /// The distance of a point, m; 0 inside.
    fn distance(&self, point: &Vector3<f64>) -> f64 {
        let mut nearest = f64::INFINITY;
        for (index, face) in self.faces().iter().enumerate() {
            let height = face.normal.dot(point) - face.offset;
            if height <= 0.0 {
                continue;
            }
            let (corners, mut over) = (self.corners(index), true);
            for (k, &corner) in corners.iter().enumerate() {
                let start = self.vertices()[corner];
                let along = self.vertices()[corners[(k + 1) % corners.len()]] - start;
                let way = point - start;
                if along.cross(&face.normal).dot(&way) > 0.0 {
                    // Beside this side of the face, which may be the nearest.
                    over = false;
                    let place = (along.dot(&way) / along.norm_squared()).clamp(0.0, 1.0);
                    nearest = nearest.min((way - along * place).norm());
                }
            }
            if over {
                return height;
            }
        }
        if nearest.is_finite() { nearest } else { 0.0 }
    }
}
