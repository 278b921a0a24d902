//! What faces the camera, and its outlines: edges between that and what does not.

use nalgebra::Vector3;

use super::piece::{Edge, Line};
use super::solids::{Solid, Solids};

/// Edges on which layers that face the camera begin or end.
#[derive(Clone, Debug, Default)]
pub(super) struct Outline {
    pub edges: Vec<Edge>,
    /// How many layers more are to the right of each where y grows from its beginning to its end.
    pub layers: Vec<i32>,
}

/// All edges of what faces the camera.
#[derive(Clone, Debug, Default)]
pub(super) struct FrontEdges {
    pub edges: Vec<Edge>,
    /// Where the faces of each edge begin among those of all, and where the last ones end.
    starts: Vec<usize>,
    /// Faces, with 1 if they are to the right of the edge where y grows from its beginning to its end, and -1 if to the left.
    faces: Vec<(u32, i32)>,
}

impl FrontEdges {
    /// The faces of an edge.
    pub fn faces(&self, edge: u32) -> &[(u32, i32)] {
        let edge = edge as usize;
        match (self.starts.get(edge), self.starts.get(edge + 1)) {
            (Some(&from), Some(&to)) => &self.faces[from..to],
            _ => &[],
        }
    }
}

/// What is nearer than this share of the largest coordinate of what is seen is behind the camera.
const NEAR: f64 = 1e-6;

/// What faces the camera.
pub(super) struct Facing<'a> {
    solids: &'a Solids,
    /// Homogeneous coordinates of the corners.
    corners: &'a [Vector3<f64>],
    /// Of each triangle 1: faces the camera; 0: does not; -1: its other side does, of a surface without inside.
    pub faces: Vec<i32>,
    /// What is nearer is behind the camera, m.
    near: f64,
}

impl<'a> Facing<'a> {
    /// Of solids whose corners have these homogeneous coordinates. Nothing where nothing can be seen.
    pub fn new(solids: &'a Solids, corners: &'a [Vector3<f64>]) -> Option<Self> {
        let bounded = || solids.solids.iter().filter(|solid| !solid.is_boundless());
        let of = |solid: &Solid| solid.first..solid.first + solid.corners.len();
        let reach =
            |corners: &[Vector3<f64>]| corners.iter().map(|h| h.z.abs()).fold(0.0, f64::max);
        let near = bounded().map(|solid| reach(&corners[of(solid)])).fold(0.0, f64::max);
        let near = NEAR * if near > 0.0 { near } else { reach(corners) };
        if !(near > 0.0 && near.is_finite()) {
            return None;
        }
        let facing = |(&[a, b, c], &closed): (&[usize; 3], &bool)| {
            let volume = corners[a].dot(&corners[b].cross(&corners[c]));
            match volume < 0.0 {
                true => 1,
                false if closed || volume == 0.0 => 0,
                false => -1,
            }
        };
        let faces = solids.triangles.iter().zip(&solids.closed).map(facing).collect();
        Some(Facing { solids, corners, faces, near })
    }

    /// Finds the outlines.
    pub fn outline(&self, outline: &mut Outline) {
        outline.edges.clear();
        outline.layers.clear();
        for edge in &self.solids.edges {
            let layers: i32 = edge.faces.iter().map(|at| self.along(at)).sum();
            if layers != 0
                && let Some(edge) = self.edge(edge.ends)
            {
                outline.edges.push(edge);
                outline.layers.push(layers);
            }
        }
        for face in 0..self.faces.len() {
            if let Some(edge) = self.cut(face) {
                outline.edges.push(edge);
                outline.layers.push(self.faces[face]);
            }
        }
    }

    /// Finds all edges of what faces the camera.
    pub fn edges(&self, front: &mut FrontEdges) {
        front.edges.clear();
        front.starts.clear();
        front.faces.clear();
        for edge in &self.solids.edges {
            let first = front.faces.len();
            let seen = |at: &(usize, bool)| (at.0 as u32, self.along(at));
            front.faces.extend(edge.faces.iter().map(seen).filter(|(_, along)| *along != 0));
            if front.faces.len() == first {
                continue;
            }
            match self.edge(edge.ends) {
                Some(edge) => {
                    front.edges.push(edge);
                    front.starts.push(first);
                }
                None => front.faces.truncate(first),
            }
        }
        for face in 0..self.faces.len() {
            if let Some(edge) = self.cut(face) {
                front.edges.push(edge);
                front.starts.push(front.faces.len());
                front.faces.push((face as u32, self.faces[face]));
            }
        }
        front.starts.push(front.faces.len());
    }

    fn along(&self, &(face, along): &(usize, bool)) -> i32 {
        if along { self.faces[face] } else { -self.faces[face] }
    }

    /// The part of an edge that is before the camera.
    fn edge(&self, ends: [usize; 2]) -> Option<Edge> {
        let [a, b] = ends.map(|corner| self.corners[corner]);
        let [from, to] = clipped(&a, &b, self.near)?;
        Some(Edge { line: Line::Corners(ends), from, to })
    }

    /// Where a face that reaches behind the camera ends, just before it.
    fn cut(&self, face: usize) -> Option<Edge> {
        let triangle = self.solids.triangles[face];
        if self.faces[face] == 0 {
            return None;
        }
        let near = self.near;
        let (mut from, mut to) = (None, None);
        for k in 0..3 {
            let [a, b] = [triangle[k], triangle[(k + 1) % 3]].map(|corner| self.corners[corner]);
            // Where the way round leaves what is seen, the border of it begins.
            match (a.z < near, b.z < near) {
                (false, true) => from = Some(meeting(&a, &b, near)),
                (true, false) => to = Some(meeting(&a, &b, near)),
                _ => {}
            }
        }
        Some(Edge { line: Line::Fixed, from: from?, to: to? })
    }
}

/// The part of an edge that is before the camera, px.
fn clipped(a: &Vector3<f64>, b: &Vector3<f64>, near: f64) -> Option<[[f64; 2]; 2]> {
    let point = |h: &Vector3<f64>| [h.x / h.z, h.y / h.z];
    match (a.z < near, b.z < near) {
        (false, false) => Some([point(a), point(b)]),
        (true, true) => None,
        (true, false) => Some([meeting(a, b, near), point(b)]),
        (false, true) => Some([point(a), meeting(a, b, near)]),
    }
}

/// Where an edge is as near as can be seen, px.
fn meeting(a: &Vector3<f64>, b: &Vector3<f64>, near: f64) -> [f64; 2] {
    let share = (near - a.z) / (b.z - a.z);
    let h = a + (b - a) * share;
    [h.x / near, h.y / near]
}
