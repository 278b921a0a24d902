//! Outlines: edges between what faces the camera and what does not.

use nalgebra::Vector3;

use super::solids::Solids;

/// An edge on which layers that face the camera begin or end, of which the interior is to the right of where it goes up
/// (against y), times how many.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutlineEdge {
    /// The corners that its line goes through; nothing of one where a surface is cut off just before the camera.
    pub ends: Option<[usize; 2]>,
    /// Its ends in the image, px.
    pub from: [f64; 2],
    pub to: [f64; 2],
    /// How many layers more are to its right where y grows from `from` to `to`.
    pub layers: i32,
}

/// What is nearer than this share of the largest coordinate of what is seen is behind the camera.
const NEAR: f64 = 1e-6;

/// Appends the outlines of solids whose corners have these homogeneous coordinates.
pub(super) fn outline(solids: &Solids, corners: &[Vector3<f64>], edges: &mut Vec<OutlineEdge>) {
    edges.clear();
    let near = NEAR * corners.iter().map(|h| h.z.abs()).fold(0.0, f64::max);
    if !(near > 0.0 && near.is_finite()) {
        return;
    }
    // 1: faces the camera; 0: does not; -1: its other side does, of a surface without inside.
    let faces: Vec<i32> = solids
        .triangles
        .iter()
        .zip(&solids.closed)
        .map(|(&[a, b, c], &closed)| {
            let volume = corners[a].dot(&corners[b].cross(&corners[c]));
            match volume < 0.0 {
                true => 1,
                false if closed || volume == 0.0 => 0,
                false => -1,
            }
        })
        .collect();
    for edge in &solids.edges {
        let along = |&(face, along): &(usize, bool)| if along { faces[face] } else { -faces[face] };
        let layers: i32 = edge.faces.iter().map(along).sum();
        if layers == 0 {
            continue;
        }
        let [a, b] = edge.ends.map(|corner| corners[corner]);
        if let Some([from, to]) = clipped(&a, &b, near) {
            edges.push(OutlineEdge { ends: Some(edge.ends), from, to, layers });
        }
    }
    // Surfaces that reach behind the camera end just before it.
    for (&triangle, &facing) in solids.triangles.iter().zip(&faces) {
        let behind = triangle.iter().filter(|&&corner| corners[corner].z < near).count();
        if facing == 0 || behind == 0 || behind == 3 {
            continue;
        }
        let mut cut = [None; 2];
        for k in 0..3 {
            let [a, b] = [triangle[k], triangle[(k + 1) % 3]].map(|corner| corners[corner]);
            // Where the way round leaves what is seen, the border of it begins.
            match (a.z < near, b.z < near) {
                (false, true) => cut[0] = Some(meeting(&a, &b, near)),
                (true, false) => cut[1] = Some(meeting(&a, &b, near)),
                _ => {}
            }
        }
        if let [Some(from), Some(to)] = cut {
            edges.push(OutlineEdge { ends: None, from, to, layers: facing });
        }
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
