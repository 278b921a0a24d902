//! A height field with its scale: triangles, edges and nodes, and which of them are near a point.
//!
//! The cell from node (i, j) has the triangles [(i, j), (i, j+1), (i+1, j+1)] and [(i, j), (i+1, j+1),
//! (i+1, j)], row first. A node owns the edges from it along x, along y and along the diagonal.

use std::ops::Range;

use nalgebra::Vector3;

use crate::ad::Real;
use crate::collision::hull::Plane;
use crate::collision::rod::Rod;
use crate::linalg::norm;
use crate::model::HeightField;

/// A direction leads further from a point if its cosine with the way there is above this.
const AWAY: f64 = 1e-9;

/// The steps along the edges of a node: x, y, diagonal.
pub(super) const STEPS: [[usize; 2]; 3] = [[0, 1], [1, 0], [1, 1]];

/// A node of the grid: row and column.
pub(in crate::collision) type Node = [usize; 2];

/// One of the two triangles of the cell from a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collision) struct Triangle {
    pub cell: Node,
    /// That on the side of larger y.
    pub upper: bool,
}

/// An edge, by its first node and its direction (x, y, diagonal).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collision) struct Edge {
    pub node: Node,
    pub step: usize,
}

/// A height field of certain sizes.
#[derive(Clone, Copy)]
pub(in crate::collision) struct Terrain<'a, T> {
    pub field: &'a HeightField,
    pub scale: Vector3<T>,
}

impl<'a, T: Real> Terrain<'a, T> {
    pub fn value(&self) -> Terrain<'a, f64> {
        Terrain { field: self.field, scale: self.scale.map(|x| x.value()) }
    }

    pub fn node(&self, [row, column]: Node) -> Vector3<T> {
        self.field.vertex(row, column).map(T::constant).component_mul(&self.scale)
    }

    /// The plane of a triangle, normal upward.
    pub fn plane(&self, triangle: Triangle) -> Plane<T> {
        let [a, b, c] = corners(triangle).map(|node| self.node(node));
        let cross = (b - a).cross(&(c - a));
        let normal = cross / norm(cross.as_slice());
        Plane { normal, offset: normal.dot(&a) }
    }

    /// An edge as a segment without a radius.
    pub fn rod(&self, edge: Edge) -> Rod<T> {
        Rod::between(ends(edge).map(|node| self.node(node)))
    }

    fn number(&self, [row, column]: Node) -> usize {
        row * self.field.columns() + column
    }

    /// The number of a node among all features.
    pub fn feature_of_node(&self, node: Node) -> usize {
        self.number(node)
    }

    pub fn feature_of_triangle(&self, Triangle { cell, upper }: Triangle) -> usize {
        let nodes = self.field.heights().len();
        nodes + 2 * self.number(cell) + usize::from(upper)
    }

    pub fn feature_of_edge(&self, Edge { node, step }: Edge) -> usize {
        3 * self.field.heights().len() + 3 * self.number(node) + step
    }

    /// All numbers of features are below.
    pub fn features(field: &HeightField) -> usize {
        field.heights().len().saturating_mul(6)
    }
}

fn corners(Triangle { cell: [i, j], upper }: Triangle) -> [Node; 3] {
    if upper { [[i, j], [i + 1, j + 1], [i + 1, j]] } else { [[i, j], [i, j + 1], [i + 1, j + 1]] }
}

pub(super) fn ends(Edge { node: [i, j], step }: Edge) -> [Node; 2] {
    let [down, right] = STEPS[step];
    [[i, j], [i + down, j + right]]
}

impl Terrain<'_, f64> {
    /// The least spacing of nodes, m.
    pub fn spacing(&self) -> f64 {
        let [x, y] = self.field.spacing();
        (x * self.scale.x).min(y * self.scale.y)
    }

    /// The triangle over or under a point; nothing beside the grid.
    pub fn triangle_at(&self, point: &Vector3<f64>) -> Option<Triangle> {
        let [half_x, half_y] = self.field.half_extents();
        let [dx, dy] = self.field.spacing();
        let (columns, rows) = (self.field.columns() - 1, self.field.rows() - 1);
        let x = (point.x / self.scale.x + half_x) / dx;
        let y = (point.y / self.scale.y + half_y) / dy;
        let within = |x: f64, count: usize| (0.0..=count as f64).contains(&x);
        if !within(x, columns) || !within(y, rows) {
            return None;
        }
        let (j, i) = ((x as usize).min(columns - 1), (y as usize).min(rows - 1));
        Some(Triangle { cell: [i, j], upper: y - i as f64 > x - j as f64 })
    }

    /// Whether a point is under the triangles.
    pub fn is_in_ground(&self, point: &Vector3<f64>) -> bool {
        self.triangle_at(point).is_some_and(|triangle| {
            let plane = self.plane(triangle);
            plane.normal.dot(point) <= plane.offset
        })
    }

    /// The rows and columns of nodes, with a cell beside, about what is between two corners.
    pub fn nodes_about(&self, low: &Vector3<f64>, high: &Vector3<f64>) -> [Range<usize>; 2] {
        let half = self.field.half_extents();
        let spacing = self.field.spacing();
        let range = |axis: usize, count: usize| {
            let place = |x: f64| (x / self.scale[axis] + half[axis]) / spacing[axis];
            // Casts saturate: what is not a number is at 0.
            let first = (place(low[axis]) - 1.0).max(0.0) as usize;
            let last = (place(high[axis]) + 2.0).max(0.0) as usize;
            first.min(count)..last.saturating_add(1).min(count)
        };
        [range(1, self.field.rows()), range(0, self.field.columns())]
    }

    /// Whether a node has the cell that begins at it.
    pub fn has_cell(&self, [row, column]: Node) -> bool {
        row + 1 < self.field.rows() && column + 1 < self.field.columns()
    }

    pub fn has_edge(&self, edge: Edge) -> bool {
        let [_, [row, column]] = ends(edge);
        row < self.field.rows() && column < self.field.columns()
    }

    /// Whether no way from an edge into a triangle beside it leads further along `normal`: from there the
    /// edge is nearest. Beside the rim it goes straight down.
    pub fn is_outermost_edge(&self, edge: Edge, normal: &Vector3<f64>) -> bool {
        let [a, b] = ends(edge).map(|node| self.node(node));
        let along = (b - a).normalize();
        // The third corners of the triangles beside.
        let [i, j] = edge.node;
        let thirds = match edge.step {
            0 => [Some([i + 1, j + 1]), i.checked_sub(1).map(|i| [i, j])],
            1 => [Some([i + 1, j + 1]), j.checked_sub(1).map(|j| [i, j])],
            _ => [Some([i, j + 1]), Some([i + 1, j])],
        };
        thirds.into_iter().all(|third| match third {
            Some([row, column]) if row < self.field.rows() && column < self.field.columns() => {
                let way = self.node([row, column]) - a;
                let inward = way - along * along.dot(&way);
                normal.dot(&inward) <= AWAY * inward.norm()
            }
            _ => normal.z >= 0.0,
        })
    }

    /// The largest and the least cosine of the normal with an edge from a node.
    pub fn slopes(&self, [row, column]: Node, normal: &Vector3<f64>) -> [f64; 2] {
        let here = self.node([row, column]);
        let mut range = [f64::NEG_INFINITY, f64::INFINITY];
        for [down, right] in STEPS {
            let after = [Some(row + down), Some(column + right)];
            let before = [row.checked_sub(down), column.checked_sub(right)];
            for node in [after, before] {
                let [Some(i), Some(j)] = node else { continue };
                if i < self.field.rows() && j < self.field.columns() {
                    let cosine = (self.node([i, j]) - here).normalize().dot(normal);
                    range = [range[0].max(cosine), range[1].min(cosine)];
                }
            }
        }
        range
    }

    /// Whether a node is nearest to what is along `normal` from it.
    pub fn is_outermost_node(&self, node: Node, normal: &Vector3<f64>) -> bool {
        normal.z >= 0.0 && self.slopes(node, normal)[0] <= AWAY
    }
}
