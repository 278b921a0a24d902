//! Gmsh's MSH 4.1: nodes and elements in blocks, one for each entity of the geometry.

use super::mesh_cursor::Cursor;
use super::raw_mesh::{CellKind, RawMesh, gmsh_kind};
use crate::Error;

/// Reads `$Nodes`.
pub(super) fn nodes(cursor: &mut Cursor, mesh: &mut RawMesh) -> Result<(), Error> {
    let mut numbers = Vec::new();
    for _ in 0..blocks(cursor)? {
        let (dimension, _, parametric) = (cursor.int()?, cursor.int()?, cursor.int()?);
        let count = cursor.long()?;
        let count = cursor.count(count, 32, "nodes")?;
        numbers.clear();
        for _ in 0..count {
            numbers.push(cursor.long()?);
        }
        // Coordinates on the curve, surface or volume that the node is on.
        let more = if parametric != 0 { dimension.clamp(0, 3) } else { 0 };
        for &number in &numbers {
            let point = [cursor.float()?, cursor.float()?, cursor.float()?];
            for _ in 0..more {
                cursor.float()?;
            }
            mesh.add_point(number, point, cursor)?;
        }
    }
    Ok(())
}

/// Reads `$Elements`.
pub(super) fn elements(cursor: &mut Cursor, mesh: &mut RawMesh) -> Result<(), Error> {
    for _ in 0..blocks(cursor)? {
        let (_, _, kind) = (cursor.int()?, cursor.int()?, cursor.int()?);
        let kind = gmsh_kind(kind, cursor)?;
        let count = cursor.long()?;
        for _ in 0..cursor.count(count, 16, "elements")? {
            let number = cursor.long()?;
            match kind {
                CellKind::Tetrahedron => {
                    let points = [cursor.long()?, cursor.long()?, cursor.long()?, cursor.long()?];
                    mesh.add_tetrahedron(number, points, cursor)?;
                }
                CellKind::Other(nodes) => {
                    for _ in 0..nodes {
                        cursor.long()?;
                    }
                    mesh.others += 1;
                }
            }
        }
    }
    Ok(())
}

/// How many blocks come, from the head of a section.
fn blocks(cursor: &mut Cursor) -> Result<usize, Error> {
    let blocks = cursor.long()?;
    // How many in all blocks, the least and the largest number.
    let _ = [cursor.long()?, cursor.long()?, cursor.long()?];
    cursor.count(blocks, 20, "blocks")
}
