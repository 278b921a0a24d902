//! A mesh of linear tetrahedra, and its surface.

use std::collections::BTreeMap;

/// The faces of a tetrahedron by its nodes, counterclockwise from outside.
pub(super) const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// A solid in linear tetrahedra: each has a positive volume, each node is of one at least, each face of two at most.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TetrahedralMesh {
    /// m
    pub nodes: Vec<[f64; 3]>,
    /// The four nodes of each, counted from 0: (x1 - x0) x (x2 - x0) . (x3 - x0) > 0.
    pub tetrahedra: Vec<[usize; 4]>,
    /// What was mended, for people.
    pub warnings: Vec<String>,
}

impl TetrahedralMesh {
    /// The volume (m³).
    pub fn volume(&self) -> f64 {
        let of = |points: &[usize; 4]| {
            let [o, p, q, r] = points.map(|point| self.nodes[point]);
            let edge = |x: [f64; 3]| [0, 1, 2].map(|i| x[i] - o[i]);
            let [p, q, r] = [edge(p), edge(q), edge(r)];
            let term = |i: usize, j: usize, k: usize| p[i] * (q[j] * r[k] - q[k] * r[j]);
            (term(0, 1, 2) + term(1, 2, 0) + term(2, 0, 1)) / 6.0
        };
        self.tetrahedra.iter().map(of).sum()
    }

    /// The triangles of the surface, counterclockwise from outside, in the order of the tetrahedra.
    pub fn surface(&self) -> Vec<[usize; 3]> {
        let faces =
            || self.tetrahedra.iter().flat_map(|points| FACES.map(|face| face.map(|a| points[a])));
        let sorted = |mut face: [usize; 3]| {
            face.sort_unstable();
            face
        };
        let mut counts = BTreeMap::new();
        faces().for_each(|face| *counts.entry(sorted(face)).or_insert(0) += 1);
        faces().filter(|&face| counts[&sorted(face)] == 1).collect()
    }

    /// The nodes of the surface, ascending.
    pub fn surface_nodes(&self) -> Vec<usize> {
        let mut nodes: Vec<usize> = self.surface().into_iter().flatten().collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// The same, this many times as large.
    pub fn scaled(mut self, factor: f64) -> TetrahedralMesh {
        self.nodes.iter_mut().flatten().for_each(|x| *x *= factor);
        self
    }
}
