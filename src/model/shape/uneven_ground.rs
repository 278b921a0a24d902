//! Height fields, by their scale along x, y and z.

use nalgebra::{Matrix3, Vector3};

use super::geometry::{Geometry, UniformSolid, bounds_of_points};
use super::triangulation::Triangulation;
use crate::model::HeightField;

/// Nodes that are drawn along each side at most; of finer ones some are left out.
const NODES: usize = 97;

impl Geometry for HeightField {
    fn uniform_solid(&self, _size: [f64; 3]) -> UniformSolid {
        UniformSolid::about_origin(0.0, [0.0; 3])
    }

    fn contact_points(&self) -> usize {
        self.heights().len()
    }

    fn reach(&self, size: [f64; 3], normal: Vector3<f64>) -> f64 {
        let scaled = normal.component_mul(&Vector3::from(size));
        let [x, y] = self.half_extents();
        let [low, high] = self.range();
        let z = (-scaled.z * low).max(-scaled.z * high);
        scaled.x.abs() * x + scaled.y.abs() * y + z
    }

    fn thickness(&self, size: [f64; 3]) -> f64 {
        let [x, y] = self.spacing();
        0.5 * (x * size[0]).min(y * size[1])
    }

    fn bounding_radius(&self, size: [f64; 3]) -> f64 {
        let [x, y] = self.half_extents();
        let [low, high] = self.range();
        let z = low.abs().max(high.abs());
        Vector3::new(x * size[0], y * size[1], z * size[2]).norm()
    }

    fn bounds(
        &self,
        size: Vector3<f64>,
        rotation: &Matrix3<f64>,
        position: &Vector3<f64>,
    ) -> [Vector3<f64>; 2] {
        let [x, y] = self.half_extents();
        let corner = |k: usize| {
            let sign = |bit: usize| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
            Vector3::new(sign(0) * x, sign(1) * y, self.range()[k >> 2])
        };
        let corners = (0..8).map(corner).map(|v| v.component_mul(&size));
        bounds_of_points(corners.map(|v| position + rotation * v))
    }

    /// Two triangles a cell, along the same diagonal as in contact.
    fn surface(&self, scale: Vector3<f64>, _: usize) -> Triangulation {
        let thinned = |count: usize| {
            let shown = count.min(NODES);
            (0..shown).map(|k| k * (count - 1) / (shown - 1)).collect::<Vec<_>>()
        };
        let (rows, columns) = (thinned(self.rows()), thinned(self.columns()));
        let nodes = rows.iter().flat_map(|&i| columns.iter().map(move |&j| (i, j)));
        let vertices = nodes.map(|(i, j)| self.vertex(i, j).component_mul(&scale)).collect();
        let width = columns.len();
        let mut triangles = Vec::new();
        for i in 1..rows.len() {
            for j in 1..width {
                let (a, b) = ((i - 1) * width + j - 1, (i - 1) * width + j);
                triangles.extend([[a, b, b + width], [a, b + width, a + width]]);
            }
        }
        Triangulation { vertices, triangles }
    }

    fn is_solid(&self) -> bool {
        false
    }
}
