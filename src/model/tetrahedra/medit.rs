//! MEDIT's .mesh as text: keywords, each with a count and lines.

use super::mesh_cursor::Cursor;
use super::raw_mesh::{RawMesh, unreadable};
use crate::Error;

/// Reads a file.
pub(super) fn parse(bytes: &[u8], name: &str) -> Result<RawMesh, Error> {
    let (mut cursor, mut mesh) = (Cursor::new(bytes, name), RawMesh::default());
    let mut begun = false;
    while let Some(word) = cursor.try_word() {
        if word.starts_with(b"#") {
            cursor.rest_of_line();
            continue;
        }
        if !begun && word != b"MeshVersionFormatted" {
            return Err(cursor.error("must begin with MeshVersionFormatted"));
        }
        begun = true;
        match word {
            b"Dimension" => {
                let dimension = cursor.int()?;
                if dimension != 3 {
                    return Err(cursor.error(format!("must be of dimension 3, found {dimension}")));
                }
            }
            b"Vertices" => {
                for number in 1..=count(&mut cursor, "vertices")? {
                    let point = [cursor.float()?, cursor.float()?, cursor.float()?];
                    cursor.float()?;
                    mesh.add_point(number, point, &cursor)?;
                }
            }
            b"Tetrahedra" => {
                for number in 1..=count(&mut cursor, "tetrahedra")? {
                    let points = [cursor.int()?, cursor.int()?, cursor.int()?, cursor.int()?];
                    cursor.float()?;
                    mesh.add_tetrahedron(number, points, &cursor)?;
                }
            }
            b"Hexahedra" | b"Prisms" | b"Pyramids" | b"TetrahedraP2" => {
                let kind = String::from_utf8_lossy(word).to_string();
                if count(&mut cursor, "solids")? > 0 {
                    return Err(unreadable(&kind, 0, &cursor));
                }
            }
            b"Triangles" | b"Quadrilaterals" => {
                mesh.others += count(&mut cursor, "faces")?.unsigned_abs() as usize;
            }
            b"End" => break,
            // Numbers of what is passed over, and keywords that say nothing about the solid.
            _ => {}
        }
    }
    match begun {
        true => Ok(mesh),
        false => Err(cursor.error("must begin with MeshVersionFormatted")),
    }
}

fn count(cursor: &mut Cursor, what: &str) -> Result<i64, Error> {
    let count = cursor.int()?;
    cursor.count(count, 1, what)?;
    Ok(count)
}
