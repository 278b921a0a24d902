//! Ellipsoids touch as polyhedra.

use std::collections::HashMap;

use nalgebra::Vector3;

use crate::model::{HullError, Polyhedron};

/// By how much the polyhedron falls short at most, relative to the radii.
pub(super) const SHORT: f64 = 0.02;

/// The hull of 162 points on an ellipsoid of these radii: those of an icosahedron, whose triangles are cut in four twice.
pub(super) fn hull(radii: [f64; 3]) -> Result<Polyhedron, HullError> {
    let golden = (1.0 + 5.0_f64.sqrt()) / 2.0;
    let mut points: Vec<Vector3<f64>> = Vec::new();
    for [a, b] in [[1.0, golden], [1.0, -golden], [-1.0, golden], [-1.0, -golden]] {
        points.extend([[0.0, a, b], [a, b, 0.0], [b, 0.0, a]].map(Vector3::from));
    }
    let mut triangles = Vec::new();
    for a in 0..points.len() {
        for b in a + 1..points.len() {
            for c in b + 1..points.len() {
                let near = |i: usize, j: usize| (points[i] - points[j]).norm() < 2.1;
                if near(a, b) && near(b, c) && near(a, c) {
                    triangles.push([a, b, c]);
                }
            }
        }
    }
    for _ in 0..2 {
        let mut middles = HashMap::new();
        let mut cut = Vec::new();
        for &[a, b, c] in &triangles {
            let [ab, bc, ca] = [[a, b], [b, c], [c, a]].map(|[i, j]| {
                *middles.entry((i.min(j), i.max(j))).or_insert_with(|| {
                    points.push(points[i].normalize() + points[j].normalize());
                    points.len() - 1
                })
            });
            cut.extend([[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]);
        }
        triangles = cut;
    }
    let radii = Vector3::from(radii);
    let points: Vec<_> = points.iter().map(|p| p.normalize().component_mul(&radii)).collect();
    Polyhedron::hull(&points)
}
