//! Whether a mesh is that of a solid: every element has a volume, every node an element, no face more than two sides.

use std::collections::HashMap;

use super::raw_mesh::RawMesh;
use super::tetrahedral_mesh::{FACES, TetrahedralMesh};
use crate::Error;

/// Elements whose volume is less than this part of the cube of their longest edge are flat: what rounding in files of
/// single precision leaves of a plane.
const FLAT: f64 = 1e-9;

/// The mesh of what a file holds. Elements that are turned inside out are turned back, with a warning.
pub(super) fn checked(raw: RawMesh, name: &str) -> Result<TetrahedralMesh, Error> {
    if raw.tetrahedra.is_empty() {
        let message = match (raw.others, raw.points.len()) {
            (0, 0) => "is empty".to_string(),
            (0, points) => format!("has {points} nodes, but no tetrahedra"),
            (others, _) => {
                format!(
                    "has {others} faces, lines or points, but no tetrahedra: mesh the inside too"
                )
            }
        };
        return Err(Error::input(name, None, "", message));
    }
    let error = |k: usize, message: String| {
        let own = raw.tetrahedra[k];
        Error::input(name, own.line, "", format!("tetrahedron {} {message}", own.number))
    };
    let number = |k: usize| raw.tetrahedra[k].number;
    let mut tetrahedra = Vec::with_capacity(raw.tetrahedra.len());
    let mut turned = Vec::new();
    let mut seen = HashMap::new();
    for (k, own) in raw.tetrahedra.iter().enumerate() {
        let mut sorted = own.points;
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            let node = raw.numbers[pair[0]];
            return Err(error(k, format!("has node {node} twice")));
        }
        if let Some(before) = seen.insert(sorted, k) {
            return Err(error(k, format!("has the nodes of tetrahedron {}", number(before))));
        }
        let (volume, longest) = measure(own.points.map(|point| raw.points[point]));
        let is_solid = volume.abs() > FLAT * longest.powi(3) && volume.is_finite();
        if !is_solid {
            let message =
                format!("is flat: a volume of {volume:.3e} with an edge of {longest:.3e}");
            return Err(error(k, message));
        }
        let mut points = own.points;
        if volume < 0.0 {
            points.swap(2, 3);
            turned.push(k);
        }
        tetrahedra.push(points);
    }
    check_faces(&tetrahedra, &raw, &error)?;
    let mut used = vec![false; raw.points.len()];
    tetrahedra.iter().flatten().for_each(|&point| used[point] = true);
    if let Some(unused) = used.iter().position(|used| !used) {
        let message = format!("node {} is of no tetrahedron: it has no mass", raw.numbers[unused]);
        return Err(Error::input(name, None, "", message));
    }
    let warnings = turned.first().map(|&first| {
        let (count, all) = (turned.len(), tetrahedra.len());
        format!(
            "{name}: {count} of {all} tetrahedra were turned inside out, the first is {}; their nodes were exchanged",
            number(first)
        )
    });
    Ok(TetrahedralMesh { nodes: raw.points, tetrahedra, warnings: warnings.into_iter().collect() })
}

/// The volume, signed, and the longest edge.
fn measure(x: [[f64; 3]; 4]) -> (f64, f64) {
    let edge = |a: usize, b: usize| [0, 1, 2].map(|i| x[b][i] - x[a][i]);
    let [p, q, r] = [edge(0, 1), edge(0, 2), edge(0, 3)];
    let cross = [0, 1, 2].map(|i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        p[j] * q[k] - p[k] * q[j]
    });
    let volume = (0..3).map(|i| cross[i] * r[i]).sum::<f64>() / 6.0;
    let edges = [p, q, r, edge(1, 2), edge(1, 3), edge(2, 3)];
    let longest = edges.map(|e| e.iter().map(|x| x * x).sum::<f64>().sqrt());
    (volume, longest.into_iter().fold(0.0, f64::max))
}

/// That two elements at most share a face, and are on its two sides.
fn check_faces(
    tetrahedra: &[[usize; 4]],
    raw: &RawMesh,
    error: &dyn Fn(usize, String) -> Error,
) -> Result<(), Error> {
    let mut sides: HashMap<[usize; 3], [Option<usize>; 2]> = HashMap::new();
    for (k, points) in tetrahedra.iter().enumerate() {
        for face in FACES {
            let face = face.map(|a| points[a]);
            let (sorted, side) = sorted_face(face);
            let sides = sides.entry(sorted).or_default();
            let numbers = face.map(|point| raw.numbers[point]);
            match (sides[side], sides[1 - side]) {
                (None, _) => sides[side] = Some(k),
                (Some(first), Some(second)) => {
                    let message = format!(
                        "is the third on face {numbers:?}, after {} and {}",
                        raw.tetrahedra[first].number, raw.tetrahedra[second].number
                    );
                    return Err(error(k, message));
                }
                (Some(other), None) => {
                    let message = format!(
                        "is on the same side of face {numbers:?} as tetrahedron {}: they overlap",
                        raw.tetrahedra[other].number
                    );
                    return Err(error(k, message));
                }
            }
        }
    }
    Ok(())
}

/// The nodes of a face in ascending order, and on which side of it the element is.
fn sorted_face(face: [usize; 3]) -> ([usize; 3], usize) {
    let mut sorted = face;
    sorted.sort_unstable();
    let first = face.iter().position(|&node| node == sorted[0]).unwrap_or(0);
    let turns = face[(first + 1) % 3] == sorted[1];
    (sorted, usize::from(turns))
}
