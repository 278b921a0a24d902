//! What readers find in files, before it is checked.

use std::collections::HashMap;

use super::mesh_cursor::Cursor;
use crate::Error;

/// A mesh as it stands in a file.
#[derive(Clone, Debug, Default)]
pub(super) struct RawMesh {
    /// m
    pub points: Vec<[f64; 3]>,
    /// The number of each point in the file.
    pub numbers: Vec<i64>,
    /// Which point has a number.
    places: HashMap<i64, usize>,
    pub tetrahedra: Vec<RawTetrahedron>,
    /// How many other cells there are: points, lines and faces, which no solid is made of.
    pub others: usize,
}

/// A tetrahedron as it stands in a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawTetrahedron {
    /// Its points, by place.
    pub points: [usize; 4],
    /// Its number in the file.
    pub number: i64,
    /// The line, in a text.
    pub line: Option<usize>,
}

impl RawMesh {
    /// Adds a point, whose coordinates are finite.
    pub fn add_point(
        &mut self,
        number: i64,
        point: [f64; 3],
        cursor: &Cursor,
    ) -> Result<(), Error> {
        if self.places.insert(number, self.points.len()).is_some() {
            return Err(cursor.error(format!("there is a node {number} already")));
        }
        self.points.push(point);
        self.numbers.push(number);
        Ok(())
    }

    /// Adds a tetrahedron of the points with these numbers.
    pub fn add_tetrahedron(
        &mut self,
        number: i64,
        points: [i64; 4],
        cursor: &Cursor,
    ) -> Result<(), Error> {
        let mut places = [0; 4];
        for (place, point) in places.iter_mut().zip(points) {
            *place = *self.places.get(&point).ok_or_else(|| {
                cursor.error(format!("tetrahedron {number}: there is no node {point}"))
            })?;
        }
        let line = cursor.line();
        self.tetrahedra.push(RawTetrahedron { points: places, number, line });
        Ok(())
    }
}

/// What a reader does with a kind of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellKind {
    Tetrahedron,
    /// A point, a line or a face with so many nodes, passed over.
    Other(usize),
}

/// The kind of a cell by the number it has in Gmsh.
pub(super) fn gmsh_kind(kind: i64, cursor: &Cursor) -> Result<CellKind, Error> {
    Ok(match kind {
        4 => CellKind::Tetrahedron,
        15 => CellKind::Other(1),
        1 => CellKind::Other(2),
        2 | 8 => CellKind::Other(3),
        3 => CellKind::Other(4),
        9 => CellKind::Other(6),
        16 => CellKind::Other(8),
        10 => CellKind::Other(9),
        _ => return Err(unreadable(gmsh_name(kind), kind, cursor)),
    })
}

fn gmsh_name(kind: i64) -> &'static str {
    match kind {
        5 | 12 | 17 => "a hexahedron",
        6 | 13 | 18 => "a prism",
        7 | 14 | 19 => "a pyramid",
        11 | 29 | 30 | 31 => "a tetrahedron of second order or higher",
        _ => "of another kind",
    }
}

/// The kind of a cell by the number it has in VTK.
pub(super) fn vtk_kind(kind: i64, cursor: &Cursor) -> Result<CellKind, Error> {
    let name = match kind {
        10 => return Ok(CellKind::Tetrahedron),
        // How many nodes a cell has stands beside it.
        1..=9 | 21..=23 => return Ok(CellKind::Other(0)),
        11 | 12 | 25 => "a hexahedron",
        13 | 26 => "a prism",
        14 | 27 => "a pyramid",
        24 | 71 => "a tetrahedron of second order or higher",
        _ => "of another kind",
    };
    Err(unreadable(name, kind, cursor))
}

/// The error about a solid that is no linear tetrahedron.
pub(super) fn unreadable(name: &str, kind: i64, cursor: &Cursor) -> Error {
    cursor.error(format!(
        "only linear tetrahedra are read, found {name} (type {kind}): mesh again with tetrahedra of first order"
    ))
}
