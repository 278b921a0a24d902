//! VTK legacy: unstructured grids, of text or of binary numbers, big-endian. Versions up to 4.2 have cells with their
//! counts before them, those from 5 on offsets.

use super::mesh_cursor::{Cursor, Encoding};
use super::raw_mesh::{CellKind, RawMesh, vtk_kind};
use crate::Error;

/// Reads a file.
pub(super) fn parse(bytes: &[u8], name: &str) -> Result<RawMesh, Error> {
    let mut cursor = Cursor::new(bytes, name);
    let head = cursor.rest_of_line().unwrap_or_default();
    if !head.starts_with("# vtk DataFile") {
        return Err(Error::input(name, 1, "", "must begin with \"# vtk DataFile\""));
    }
    cursor.rest_of_line();
    let encoding = match cursor.rest_of_line().unwrap_or_default().as_str() {
        "ASCII" => Encoding::Text,
        "BINARY" => Encoding::BigEndian,
        other => {
            let message = format!("must be ASCII or BINARY, found {other:?}");
            return Err(Error::input(name, 3, "", message));
        }
    };
    let mut mesh = RawMesh::default();
    let mut cells = Vec::new();
    loop {
        cursor.encoding = Encoding::Text;
        let Some(word) = cursor.try_word() else {
            return Err(cursor.error("ends before CELL_TYPES"));
        };
        let word = String::from_utf8_lossy(word).to_ascii_uppercase();
        match word.as_str() {
            "DATASET" => {
                let kind = String::from_utf8_lossy(cursor.word()?).to_ascii_uppercase();
                if kind != "UNSTRUCTURED_GRID" {
                    let message = format!("must be an UNSTRUCTURED_GRID, found {kind}");
                    return Err(cursor.error(message));
                }
            }
            "POINTS" => read_points(&mut cursor, encoding, &mut mesh)?,
            "CELLS" => cells = read_cells(&mut cursor, encoding)?,
            "CELL_TYPES" => {
                read_types(&mut cursor, encoding, &cells, &mut mesh)?;
                return Ok(mesh);
            }
            "METADATA" => skip_metadata(&mut cursor),
            _ => return Err(cursor.error(format!("{word:?} is not understood here"))),
        }
    }
}

/// A block of lines that an empty line ends.
fn skip_metadata(cursor: &mut Cursor) {
    cursor.rest_of_line();
    while cursor.rest_of_line().is_some_and(|line| !line.is_empty()) {}
}

/// Reads a number of a width.
type ReadNumber = fn(&mut Cursor) -> Result<f64, Error>;

fn read_points(cursor: &mut Cursor, encoding: Encoding, mesh: &mut RawMesh) -> Result<(), Error> {
    let count = cursor.int()?;
    let kind = String::from_utf8_lossy(cursor.word()?).to_ascii_lowercase();
    let (read, bytes): (ReadNumber, usize) = match kind.as_str() {
        "float" => (|cursor| cursor.single(), 12),
        "double" => (|cursor| cursor.float(), 24),
        _ => return Err(cursor.error(format!("points must be float or double, found {kind:?}"))),
    };
    cursor.rest_of_line();
    cursor.encoding = encoding;
    for number in 0..cursor.count(count, bytes, "points")? as i64 {
        let point = [read(cursor)?, read(cursor)?, read(cursor)?];
        mesh.add_point(number, point, cursor)?;
    }
    Ok(())
}

/// A cell: the line it stands in, and its points, of which no more are kept than a tetrahedron has.
struct Cell<'a> {
    place: Cursor<'a>,
    points: [i64; 4],
    count: usize,
}

fn read_cells<'a>(cursor: &mut Cursor<'a>, encoding: Encoding) -> Result<Vec<Cell<'a>>, Error> {
    let (first, second) = (cursor.int()?, cursor.int()?);
    cursor.rest_of_line();
    // From version 5 on a line names the offsets, in binary files too.
    let ahead = cursor.rest().trim_ascii_start();
    if ahead.starts_with(b"OFFSETS") {
        return read_offsets(cursor, encoding, (first, second));
    }
    cursor.encoding = encoding;
    let mut cells = Vec::new();
    for _ in 0..cursor.count(first, 4, "cells")? {
        let count = cursor.int()?;
        let count = cursor.count(count, 4, "points of a cell")?;
        let mut points = [0; 4];
        for k in 0..count {
            let point = cursor.int()?;
            if let Some(place) = points.get_mut(k) {
                *place = point;
            }
        }
        cells.push(Cell { place: *cursor, points, count });
    }
    Ok(cells)
}

fn read_offsets<'a>(
    cursor: &mut Cursor<'a>,
    encoding: Encoding,
    (offsets, connections): (i64, i64),
) -> Result<Vec<Cell<'a>>, Error> {
    let mut numbers = |heading: &str, count: i64| -> Result<Vec<(i64, Cursor<'a>)>, Error> {
        cursor.encoding = Encoding::Text;
        let word = String::from_utf8_lossy(cursor.word()?).to_ascii_uppercase();
        if word != heading {
            return Err(cursor.error(format!("must be {heading}, found {word:?}")));
        }
        let kind = String::from_utf8_lossy(cursor.word()?).to_ascii_lowercase();
        cursor.rest_of_line();
        cursor.encoding = encoding;
        let long = kind == "vtktypeint64";
        let mut numbers = Vec::new();
        for _ in 0..cursor.count(count, if long { 8 } else { 4 }, "numbers")? {
            let number = if long { cursor.long()? } else { cursor.int()? };
            numbers.push((number, *cursor));
        }
        Ok(numbers)
    };
    let offsets = numbers("OFFSETS", offsets)?;
    let connections = numbers("CONNECTIVITY", connections)?;
    let mut cells = Vec::new();
    for pair in offsets.windows(2) {
        let [(start, _), (end, place)] = [pair[0], pair[1]];
        let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
        let found = range.and_then(|(start, end)| connections.get(start..end));
        let found = found.ok_or_else(|| {
            place.error(format!("offsets {start} and {end} are not among the connections"))
        })?;
        let mut points = [0; 4];
        points.iter_mut().zip(found).for_each(|(point, (found, _))| *point = *found);
        // Where the cell stands is where its last point does.
        let place = found.last().map_or(place, |(_, place)| *place);
        cells.push(Cell { place, points, count: found.len() });
    }
    Ok(cells)
}

fn read_types(
    cursor: &mut Cursor,
    encoding: Encoding,
    cells: &[Cell],
    mesh: &mut RawMesh,
) -> Result<(), Error> {
    let count = cursor.int()?;
    cursor.rest_of_line();
    cursor.encoding = encoding;
    let count = cursor.count(count, 4, "types")?;
    if count != cells.len() {
        let message = format!("there are {} cells, but {count} types", cells.len());
        return Err(cursor.error(message));
    }
    for (number, cell) in (0..).zip(cells) {
        let kind = cursor.int()?;
        match vtk_kind(kind, cursor)? {
            CellKind::Other(_) => mesh.others += 1,
            CellKind::Tetrahedron if cell.count == 4 => {
                mesh.add_tetrahedron(number, cell.points, &cell.place)?;
            }
            CellKind::Tetrahedron => {
                let message = format!("tetrahedron {number} has {} nodes", cell.count);
                return Err(cell.place.error(message));
            }
        }
    }
    Ok(())
}
