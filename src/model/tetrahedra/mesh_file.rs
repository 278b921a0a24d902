//! Meshes from files: which reader reads which, and the sections of Gmsh's files.

use std::path::Path;

use super::mesh_cursor::{Cursor, Encoding};
use super::raw_mesh::RawMesh;
use super::soundness::checked;
use super::tetrahedral_mesh::TetrahedralMesh;
use super::{gmsh2, gmsh4, medit, vtk_legacy, vtu};
use crate::Error;
use crate::text::read_bytes;

/// Bytes of one file.
const MOST_BYTES: u64 = 512 << 20;

/// Reads the bytes of a file, whose name is for messages.
type Read = fn(&[u8], &str) -> Result<RawMesh, Error>;

/// By the endings of their names, who reads the files: a format is a line here and a file beside this one.
const FORMATS: [(&str, Read); 4] =
    [("msh", msh), ("vtk", vtk_legacy::parse), ("vtu", vtu::parse), ("mesh", medit::parse)];

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
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        reader(ending, &name)?;
        TetrahedralMesh::parse(&read_bytes(path, MOST_BYTES)?, ending, &name)
    }

    /// Reads the bytes of a file with that ending; `name` stands for the file in messages.
    ///
    /// # Errors
    /// If no format has this ending, the bytes are not of it, or it is no solid.
    pub fn parse(bytes: &[u8], ending: &str, name: &str) -> Result<TetrahedralMesh, Error> {
        checked(reader(ending, name)?(bytes, name)?, name)
    }
}

/// The reader of files with this ending.
fn reader(ending: &str, name: &str) -> Result<Read, Error> {
    let ending = ending.to_ascii_lowercase();
    let found = FORMATS.into_iter().find(|(known, _)| *known == ending);
    found.map(|(_, read)| read).ok_or_else(|| {
        let known = FORMATS.map(|(known, _)| format!(".{known}")).join(", ");
        let message =
            format!("{ending:?} meshes of tetrahedra are not read; convert it to one of {known}");
        Error::input(name, None, "", message)
    })
}

/// A section of Gmsh's files.
type Section = fn(&mut Cursor, &mut RawMesh) -> Result<(), Error>;

/// Reads MSH 2.2 or 4.1, of text or binary.
fn msh(bytes: &[u8], name: &str) -> Result<RawMesh, Error> {
    let (mut cursor, mut mesh) = (Cursor::new(bytes, name), RawMesh::default());
    let mut format: Option<([Section; 2], Encoding)> = None;
    loop {
        cursor.encoding = Encoding::Text;
        let Some(head) = cursor.try_word() else { return Ok(mesh) };
        let head = String::from_utf8_lossy(head).to_string();
        let Some(section) = head.strip_prefix('$') else {
            return Err(cursor.error(format!("must be a section such as $Nodes, found {head:?}")));
        };
        match (section, format) {
            ("MeshFormat", _) => format = Some(read_format(&mut cursor)?),
            (_, None) => return Err(cursor.error("must begin with $MeshFormat")),
            ("Nodes" | "Elements", Some((sections, encoding))) => {
                cursor.rest_of_line();
                cursor.encoding = encoding;
                sections[usize::from(section == "Elements")](&mut cursor, &mut mesh)?;
            }
            _ => {
                skip_section(&mut cursor, section)?;
                continue;
            }
        }
        cursor.encoding = Encoding::Text;
        let end = String::from_utf8_lossy(cursor.word()?).to_string();
        if end != format!("$End{section}") {
            return Err(cursor.error(format!("must be $End{section}, found {end:?}")));
        }
    }
}

/// Version, and how numbers are written.
fn read_format(cursor: &mut Cursor) -> Result<([Section; 2], Encoding), Error> {
    let version = String::from_utf8_lossy(cursor.word()?).to_string();
    let (binary, size) = (cursor.int()?, cursor.int()?);
    let sections: [Section; 2] = match version.as_str() {
        "2.2" | "2" | "2.0" | "2.1" => [gmsh2::nodes, gmsh2::elements],
        "4.1" => [gmsh4::nodes, gmsh4::elements],
        _ => {
            let message = format!("MSH {version} is not read: save it as version 2.2 or 4.1");
            return Err(cursor.error(message));
        }
    };
    if size != 8 {
        return Err(cursor.error(format!("must have numbers of 8 bytes, found {size}")));
    }
    if binary == 0 {
        return Ok((sections, Encoding::Text));
    }
    cursor.rest_of_line();
    // The number 1 shows the order of bytes.
    let encoding = match cursor.take(4)? {
        [1, 0, 0, 0] => Encoding::LittleEndian,
        [0, 0, 0, 1] => Encoding::BigEndian,
        _ => return Err(cursor.error("must have a 1 of 4 bytes after the version")),
    };
    Ok((sections, encoding))
}

/// Passes a section that says nothing about nodes and elements.
fn skip_section(cursor: &mut Cursor, section: &str) -> Result<(), Error> {
    let end = format!("$End{section}");
    let found = cursor.rest().windows(end.len()).position(|bytes| bytes == end.as_bytes());
    match found {
        Some(at) => cursor.take(at + end.len()).map(|_| ()),
        None => Err(cursor.error(format!("there is no {end}"))),
    }
}
