//! A mesh of linear tetrahedra, and its surface.

use std::collections::BTreeMap;
use std::path::Path;

use super::mesh_cursor::Cursor;
use super::mesh_file::reader;
use super::raw_mesh::RawMesh;
use super::soundness::checked;
use crate::Error;

/// Bytes of one file.
const MOST_BYTES: u64 = 512 << 20;

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
    /// From nodes (m) and tetrahedra, whose nodes are counted from 0; `name` stands for them in messages.
    ///
    /// # Errors
    /// If it is no solid.
    pub fn new(
        nodes: &[[f64; 3]],
        tetrahedra: &[[usize; 4]],
        name: &str,
    ) -> Result<TetrahedralMesh, Error> {
        let cursor = Cursor::unplaced(name);
        let mut raw = RawMesh::default();
        for (number, point) in (0..).zip(nodes) {
            if point.iter().any(|x| !x.is_finite()) {
                let message = format!("node {number} must be finite, found {point:?}");
                return Err(Error::input(name, None, "", message));
            }
            raw.add_point(number, *point, &cursor)?;
        }
        for (number, points) in (0..).zip(tetrahedra) {
            // What is no i64 is no node either.
            let points = points.map(|point| i64::try_from(point).unwrap_or(-1));
            raw.add_tetrahedron(number, points, &cursor)?;
        }
        checked(raw, name)
    }

    /// Reads a file by the ending of its name.
    ///
    /// # Errors
    /// If it cannot be read, is of no known format, or is no solid: with file, line and number.
    pub fn load(path: impl AsRef<Path>) -> Result<TetrahedralMesh, Error> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let io = |error| Error::io(path, error);
        let there = std::fs::metadata(path).map_err(io)?;
        // A pipe or device may never end.
        if !there.is_file() || there.len() > MOST_BYTES {
            let message = format!("must be a file of at most {MOST_BYTES} bytes");
            return Err(Error::input(name, None, "", message));
        }
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        reader(ending, &name)?;
        TetrahedralMesh::parse(&std::fs::read(path).map_err(io)?, ending, &name)
    }

    /// Reads the bytes of a file with that ending; `name` stands for the file in messages.
    ///
    /// # Errors
    /// If no format has this ending, the bytes are not of it, or it is no solid.
    pub fn parse(bytes: &[u8], ending: &str, name: &str) -> Result<TetrahedralMesh, Error> {
        checked(reader(ending, name)?(bytes, name)?, name)
    }

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
