//! Which reader reads a file, and the sections of Gmsh's files.

use super::mesh_cursor::{Cursor, Encoding};
use super::raw_mesh::RawMesh;
use super::{gmsh2, gmsh4, medit, vtk_legacy, vtu};
use crate::Error;

/// Reads the bytes of a file, whose name is for messages.
pub(super) type Read = fn(&[u8], &str) -> Result<RawMesh, Error>;

/// By the endings of their names, who reads the files: a format is a line here and a file beside this one.
const FORMATS: [(&str, Read); 4] =
    [("msh", msh), ("vtk", vtk_legacy::parse), ("vtu", vtu::parse), ("mesh", medit::parse)];

/// The reader of files with this ending.
pub(super) fn reader(ending: &str, name: &str) -> Result<Read, Error> {
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
