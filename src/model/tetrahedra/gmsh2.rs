//! Gmsh's MSH 2.2: nodes with numbers, then elements with their tags.

use super::mesh_cursor::{Cursor, Encoding};
use super::raw_mesh::{CellKind, RawMesh, gmsh_kind};
use crate::Error;

/// Reads `$Nodes`.
pub(super) fn nodes(cursor: &mut Cursor, mesh: &mut RawMesh) -> Result<(), Error> {
    let count = count(cursor, 28, "nodes")?;
    for _ in 0..count {
        let number = cursor.int()?;
        let point = [cursor.float()?, cursor.float()?, cursor.float()?];
        mesh.add_point(number, point, cursor)?;
    }
    Ok(())
}

/// Reads `$Elements`.
pub(super) fn elements(cursor: &mut Cursor, mesh: &mut RawMesh) -> Result<(), Error> {
    let count = count(cursor, 8, "elements")?;
    if cursor.encoding == Encoding::Text {
        for _ in 0..count {
            let number = cursor.int()?;
            let kind = gmsh_kind(cursor.int()?, cursor)?;
            let tags = cursor.int()?;
            element(cursor, mesh, (number, kind, tags))?;
        }
        return Ok(());
    }
    let mut read = 0;
    while read < count {
        let kind = gmsh_kind(cursor.int()?, cursor)?;
        let (block, tags) = (cursor.int()?, cursor.int()?);
        let block = cursor.count(block, 8, "elements")?;
        // A block of none would be repeated for ever.
        if block == 0 || block > count - read {
            return Err(cursor.error(format!("announces {block} elements of {}", count - read)));
        }
        for _ in 0..block {
            let number = cursor.int()?;
            element(cursor, mesh, (number, kind, tags))?;
        }
        read += block;
    }
    Ok(())
}

fn element(
    cursor: &mut Cursor,
    mesh: &mut RawMesh,
    (number, kind, tags): (i64, CellKind, i64),
) -> Result<(), Error> {
    for _ in 0..cursor.count(tags, 4, "tags")? {
        cursor.int()?;
    }
    match kind {
        CellKind::Tetrahedron => {
            let points = [cursor.int()?, cursor.int()?, cursor.int()?, cursor.int()?];
            mesh.add_tetrahedron(number, points, cursor)?;
        }
        CellKind::Other(nodes) => {
            for _ in 0..nodes {
                cursor.int()?;
            }
            mesh.others += 1;
        }
    }
    Ok(())
}

/// A count, which is a line of text in binary files too.
fn count(cursor: &mut Cursor, bytes: usize, what: &str) -> Result<usize, Error> {
    let encoding = std::mem::replace(&mut cursor.encoding, Encoding::Text);
    let count = cursor.int();
    cursor.rest_of_line();
    cursor.encoding = encoding;
    cursor.count(count?, bytes, what)
}
