//! Fewer triangles for the same look: vertices that lie in one cell of a grid become one (`Rossignac93`), where the planes of
//! their triangles are nearest (`Lindstrom00`).

use std::collections::{HashMap, HashSet};

use nalgebra::{Matrix3, Vector3};

use super::Triangulation;

/// The finest grid has so many cells along the longest side.
const FINEST: u32 = 4096;

/// How much the mean of the vertices counts beside the planes of their triangles, which alone may have no common point.
const TO_MEAN: f64 = 1e-2;

/// What becomes one vertex.
#[derive(Clone, Default)]
struct Cluster {
    sum: Vector3<f64>,
    count: f64,
    /// Of x'Ax - 2b'x + c, the sum of squared distances from planes, weighted by squared areas.
    a: Matrix3<f64>,
    b: Vector3<f64>,
}

impl Cluster {
    fn place(&self, half_cell: f64) -> Vector3<f64> {
        let mean = self.sum / self.count;
        let weight = TO_MEAN * self.a.trace();
        let matrix = self.a + Matrix3::from_diagonal_element(weight);
        let found = matrix.cholesky().map(|factor| factor.solve(&(self.b + weight * mean)));
        // Planes that nearly agree may have their point far away.
        match found {
            Some(point) if (point - mean).amax() <= 2.0 * half_cell => point,
            _ => mean,
        }
    }
}

impl Triangulation {
    /// This surface, or one that looks like it and has at most `most` triangles, or 12 if that is more; without vertices
    /// that no triangle has.
    pub fn clustered(&self, most: usize) -> Triangulation {
        let most = most.max(12);
        let (low, size) = self.bounds();
        if self.triangles.len() <= most || !(size > 0.0 && size.is_finite()) {
            return self.clone();
        }
        // The finest grid that leaves so few; one cell leaves none.
        let (mut coarse, mut fine) = (1, FINEST);
        while fine - coarse > 1 {
            let middle = coarse.midpoint(fine);
            let kept = self.kept(&self.cells(low, size / f64::from(middle)));
            if kept.len() <= most { coarse = middle } else { fine = middle }
        }
        let cell = size / f64::from(coarse);
        self.merged(&self.cells(low, cell), cell)
    }

    /// The corner of least coordinates, and the longest side.
    fn bounds(&self) -> (Vector3<f64>, f64) {
        let Some(first) = self.vertices.first() else { return (Vector3::zeros(), 0.0) };
        let fold = |(low, high): (Vector3<f64>, Vector3<f64>), v| (low.inf(v), high.sup(v));
        let (low, high) = self.vertices.iter().fold((*first, *first), fold);
        (low, (high - low).max())
    }

    /// Of each vertex the number of its cell among those that have any.
    fn cells(&self, low: Vector3<f64>, cell: f64) -> Vec<usize> {
        let mut numbers = HashMap::new();
        let of = |v: &Vector3<f64>| {
            let at = ((v - low) / cell).map(|x| x as u32);
            let next = numbers.len();
            *numbers.entry((at.x, at.y, at.z)).or_insert(next)
        };
        self.vertices.iter().map(of).collect()
    }

    /// The triangles whose corners lie in three cells, each once.
    fn kept(&self, cells: &[usize]) -> Vec<[usize; 3]> {
        let mut seen = HashSet::new();
        let mut kept = Vec::new();
        for triangle in &self.triangles {
            let [a, b, c] = triangle.map(|corner| cells[corner]);
            if a == b || b == c || a == c {
                continue;
            }
            // The least first, which keeps the side that is outside.
            let turned = if a < b && a < c {
                [a, b, c]
            } else if b < c {
                [b, c, a]
            } else {
                [c, a, b]
            };
            if seen.insert(turned) {
                kept.push(turned);
            }
        }
        kept
    }

    fn merged(&self, cells: &[usize], cell: f64) -> Triangulation {
        let count = cells.iter().max().map_or(0, |last| last + 1);
        let mut clusters = vec![Cluster::default(); count];
        for (vertex, &cell) in self.vertices.iter().zip(cells) {
            clusters[cell].sum += vertex;
            clusters[cell].count += 1.0;
        }
        for triangle in &self.triangles {
            let [a, b, c] = triangle.map(|corner| self.vertices[corner]);
            let normal = (b - a).cross(&(c - a));
            let offset = normal.dot(&a);
            for corner in triangle {
                let cluster = &mut clusters[cells[*corner]];
                cluster.a += normal * normal.transpose();
                cluster.b += normal * offset;
            }
        }
        let triangles = self.kept(cells);
        let mut places = vec![usize::MAX; count];
        let mut merged = Triangulation { vertices: Vec::new(), triangles: Vec::new() };
        for triangle in triangles {
            let corners = triangle.map(|cluster| {
                if places[cluster] == usize::MAX {
                    places[cluster] = merged.vertices.len();
                    merged.vertices.push(clusters[cluster].place(0.5 * cell));
                }
                places[cluster]
            });
            merged.triangles.push(corners);
        }
        merged
    }
}
