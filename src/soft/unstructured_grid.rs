//! Soft bodies for ParaView: VTK XML, a file a step, and a collection that gives their times.

use std::fmt::Write;

use super::soft_scene::SoftBody;
use super::soft_state::SoftState;

/// VTK's number of a linear tetrahedron.
const TETRAHEDRON: u8 = 10;

/// A grid (`.vtu`, text) of all bodies in these states, with velocities (m/s), displacements from the start (m), impulses of
/// the contacts (N s) at the nodes, and the number of its body in each tetrahedron.
pub fn unstructured_grid(bodies: &[SoftBody], states: &[SoftState]) -> String {
    let nodes: usize = states.iter().map(|state| state.position.len()).sum();
    let cells: usize = bodies.iter().map(|body| body.mesh.tetrahedra.len()).sum();
    let mut text = String::from(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"0.1\" byte_order=\"LittleEndian\">\n\
         <UnstructuredGrid>\n",
    );
    // Writing to a String does not fail.
    let _ = writeln!(text, "<Piece NumberOfPoints=\"{nodes}\" NumberOfCells=\"{cells}\">");
    text.push_str("<PointData Vectors=\"velocity\">\n");
    vectors(&mut text, "velocity", states.iter().flat_map(|state| state.velocity.iter().copied()));
    let moved = bodies.iter().zip(states).flat_map(|(body, state)| {
        let pairs = state.position.iter().zip(&body.position);
        pairs.map(|(x, start)| [0, 1, 2].map(|k| x[k] - start[k]))
    });
    vectors(&mut text, "displacement", moved);
    vectors(&mut text, "impulse", states.iter().flat_map(|state| state.impulse.iter().copied()));
    text.push_str("</PointData>\n<CellData Scalars=\"body\">\n");
    let numbers = bodies.iter().enumerate();
    let of = numbers.flat_map(|(k, body)| body.mesh.tetrahedra.iter().map(move |_| k));
    integers(&mut text, "body", "Int32", of);
    text.push_str("</CellData>\n<Points>\n");
    vectors(&mut text, "points", states.iter().flat_map(|state| state.position.iter().copied()));
    text.push_str("</Points>\n<Cells>\n");
    let mut first = 0;
    let mut corners = Vec::with_capacity(4 * cells);
    for body in bodies {
        corners.extend(body.mesh.tetrahedra.iter().flatten().map(|node| first + node));
        first += body.position.len();
    }
    integers(&mut text, "connectivity", "Int64", corners);
    integers(&mut text, "offsets", "Int64", (1..=cells).map(|k| 4 * k));
    integers(&mut text, "types", "UInt8", (0..cells).map(|_| usize::from(TETRAHEDRON)));
    text.push_str("</Cells>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n");
    text
}

/// A collection (`.pvd`) of files and their times (s).
pub fn collection<'a>(files: impl IntoIterator<Item = (f64, &'a str)>) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">\n\
         <Collection>\n",
    );
    for (time, file) in files {
        let _ = writeln!(text, "<DataSet timestep=\"{time}\" part=\"0\" file=\"{file}\"/>");
    }
    text.push_str("</Collection>\n</VTKFile>\n");
    text
}

fn vectors(text: &mut String, name: &str, values: impl Iterator<Item = [f64; 3]>) {
    let _ = writeln!(
        text,
        "<DataArray type=\"Float64\" Name=\"{name}\" NumberOfComponents=\"3\" format=\"ascii\">"
    );
    for [x, y, z] in values {
        let _ = writeln!(text, "{x:e} {y:e} {z:e}");
    }
    text.push_str("</DataArray>\n");
}

fn integers(text: &mut String, name: &str, kind: &str, values: impl IntoIterator<Item = usize>) {
    let _ = writeln!(text, "<DataArray type=\"{kind}\" Name=\"{name}\" format=\"ascii\">");
    for value in values {
        let _ = writeln!(text, "{value}");
    }
    text.push_str("</DataArray>\n");
}
