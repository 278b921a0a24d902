//! VTK XML (.vtu): unstructured grids whose arrays are text, or base64 of binary numbers, compressed by zlib or not.

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use roxmltree::{Document, Node, ParsingOptions};

use super::mesh_cursor::{Cursor, Encoding};
use super::raw_mesh::{CellKind, RawMesh, vtk_kind};
use crate::Error;

/// No compression of zlib makes more of a byte.
const MOST_EXPANSION: usize = 1100;

/// Elements of one file.
const MOST_ELEMENTS: u32 = 100_000;

/// Reads a file.
pub(super) fn parse(bytes: &[u8], name: &str) -> Result<RawMesh, Error> {
    let text = std::str::from_utf8(bytes).map_err(|_| {
        Error::input(
            name,
            None,
            "",
            "is not text in UTF-8: raw appended data is not read, write it as base64",
        )
    })?;
    let options = ParsingOptions { nodes_limit: MOST_ELEMENTS, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| {
        let line = error.pos().row as usize;
        Error::input(name, line, "", format!("is no XML: {error}"))
    })?;
    let file = File { root: document.root_element(), document: &document, name };
    file.read()
}

/// A file that is being read.
struct File<'a> {
    root: Node<'a, 'a>,
    document: &'a Document<'a>,
    name: &'a str,
}

impl<'a> File<'a> {
    /// The place of a node, for errors.
    fn place(&self, node: Node) -> Cursor<'a> {
        let line = self.document.text_pos_at(node.range().start).row as usize;
        Cursor::at_line(self.name, line)
    }

    fn error(&self, node: Node, message: impl std::fmt::Display) -> Error {
        self.place(node).error(message)
    }

    fn child(&self, node: Node<'a, 'a>, name: &str) -> Result<Node<'a, 'a>, Error> {
        let mut found = node.children().filter(|child| child.has_tag_name(name));
        match (found.next(), found.next()) {
            (Some(child), None) => Ok(child),
            (None, _) => Err(self.error(node, format!("there is no {name}"))),
            (Some(_), Some(second)) => {
                Err(self.error(second, format!("there is a second {name}: only one is read")))
            }
        }
    }

    fn read(&self) -> Result<RawMesh, Error> {
        let root = self.root;
        if !root.has_tag_name("VTKFile") || root.attribute("type") != Some("UnstructuredGrid") {
            return Err(self.error(root, "must be a VTKFile of type UnstructuredGrid"));
        }
        let piece = self.child(self.child(root, "UnstructuredGrid")?, "Piece")?;
        let points = self.child(self.child(piece, "Points")?, "DataArray")?;
        let mut mesh = RawMesh::default();
        let coordinates = self.array(points)?;
        self.demand_count(piece, "NumberOfPoints", points, coordinates.len(), 3)?;
        for (number, point) in (0..).zip(coordinates.as_chunks::<3>().0) {
            if point.iter().any(|x| !x.is_finite()) {
                return Err(self.error(points, format!("node {number} must be finite")));
            }
            mesh.add_point(number, *point, &self.place(points))?;
        }
        let cells = self.child(piece, "Cells")?;
        let array = |name: &str| -> Result<(Node, Vec<i64>), Error> {
            let mut arrays = cells.children().filter(|child| child.has_tag_name("DataArray"));
            let array = arrays.find(|array| array.attribute("Name") == Some(name));
            let array =
                array.ok_or_else(|| self.error(cells, format!("there is no array {name:?}")))?;
            let numbers = self.array(array)?;
            Ok((array, numbers.into_iter().map(|x| x as i64).collect()))
        };
        let (connections, offsets, types) =
            (array("connectivity")?, array("offsets")?, array("types")?);
        self.demand_count(piece, "NumberOfCells", offsets.0, offsets.1.len(), 1)?;
        self.demand_count(piece, "NumberOfCells", types.0, types.1.len(), 1)?;
        let mut start = 0;
        for (number, (&end, &kind)) in (0..).zip(offsets.1.iter().zip(&types.1)) {
            let end = usize::try_from(end).ok().filter(|&end| end >= start);
            let points = end.and_then(|end| connections.1.get(start..end)).ok_or_else(|| {
                self.error(offsets.0, format!("cell {number}: its offset is not possible"))
            })?;
            start += points.len();
            match vtk_kind(kind, &self.place(types.0))? {
                CellKind::Other(_) => mesh.others += 1,
                CellKind::Tetrahedron => {
                    let points = points.try_into().map_err(|_| {
                        let message = format!("tetrahedron {number} has {} nodes", points.len());
                        self.error(connections.0, message)
                    })?;
                    mesh.add_tetrahedron(number, points, &self.place(connections.0))?;
                }
            }
        }
        Ok(mesh)
    }

    /// That an array has as many numbers as the piece says.
    fn demand_count(
        &self,
        piece: Node,
        attribute: &str,
        array: Node,
        found: usize,
        each: usize,
    ) -> Result<(), Error> {
        let said = piece.attribute(attribute).and_then(|said| said.trim().parse::<usize>().ok());
        match said.and_then(|said| said.checked_mul(each)) {
            Some(said) if said == found => Ok(()),
            Some(said) => {
                let message = format!("must be {said} numbers by {attribute}, found {found}");
                Err(self.error(array, message))
            }
            None => Err(self.error(piece, format!("must have a number {attribute}"))),
        }
    }

    /// The numbers of an array. Whole ones are exact up to 2^53, beyond what files can hold.
    fn array(&self, array: Node<'a, 'a>) -> Result<Vec<f64>, Error> {
        match array.attribute("format") {
            None | Some("ascii") => {
                let mut numbers = Vec::new();
                for word in array.text().unwrap_or_default().split_ascii_whitespace() {
                    let number = word.parse();
                    numbers.push(number.map_err(|_| {
                        self.error(array, format!("must be numbers, found {word:?}"))
                    })?);
                }
                Ok(numbers)
            }
            Some("binary") => self.numbers(array, array.text().unwrap_or_default().trim()),
            Some("appended") => {
                let appended = self.child(self.root, "AppendedData")?;
                if appended.attribute("encoding") != Some("base64") {
                    return Err(self.error(appended, "raw appended data is not read: write base64"));
                }
                let text = appended.text().unwrap_or_default().trim().trim_start_matches('_');
                let offset = array.attribute("offset").and_then(|offset| offset.parse().ok());
                let text = offset.and_then(|offset: usize| text.get(offset..));
                let text =
                    text.ok_or_else(|| self.error(array, "its offset is not in AppendedData"))?;
                self.numbers(array, text)
            }
            Some(other) => Err(self.error(array, format!("format {other:?} is not read"))),
        }
    }

    /// The numbers of an array that begins with its length, in base64.
    fn numbers(&self, array: Node, text: &str) -> Result<Vec<f64>, Error> {
        let bytes = match self.root.attribute("compressor") {
            None => self.plain(array, text)?,
            Some("vtkZLibDataCompressor") => self.inflated(array, text)?,
            Some(other) => {
                let message = format!("compressor {other:?} is not read: write it with zlib");
                return Err(self.error(self.root, message));
            }
        };
        let kind = array.attribute("type").unwrap_or_default();
        let (size, read): (usize, fn([u8; 8]) -> f64) = match kind {
            "Float64" => (8, f64::from_le_bytes),
            "Float32" => (4, |b| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
            "Int64" => (8, |b| i64::from_le_bytes(b) as f64),
            "UInt64" => (8, |b| u64::from_le_bytes(b) as f64),
            "Int32" => (4, |b| f64::from(i32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
            "UInt32" => (4, |b| f64::from(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
            "Int8" => (1, |b| f64::from(b[0] as i8)),
            "UInt8" => (1, |b| f64::from(b[0])),
            _ => return Err(self.error(array, format!("numbers of type {kind:?} are not read"))),
        };
        let number = |bytes: &[u8]| {
            let mut eight = [0; 8];
            eight[..size].copy_from_slice(bytes);
            if self.encoding() == Encoding::BigEndian {
                eight[..size].reverse();
            }
            read(eight)
        };
        Ok(bytes.chunks_exact(size).map(number).collect())
    }

    fn encoding(&self) -> Encoding {
        match self.root.attribute("byte_order") {
            Some("BigEndian") => Encoding::BigEndian,
            _ => Encoding::LittleEndian,
        }
    }

    /// Numbers of the head, of 4 or 8 bytes.
    fn head(&self, bytes: &[u8]) -> Vec<usize> {
        let word = |bytes: &[u8]| {
            let next = |sum: usize, &byte: &u8| sum.saturating_mul(256).saturating_add(byte.into());
            match self.encoding() {
                Encoding::BigEndian => bytes.iter().fold(0, next),
                _ => bytes.iter().rev().fold(0, next),
            }
        };
        bytes.chunks_exact(self.head_size()).map(word).collect()
    }

    fn head_size(&self) -> usize {
        if self.root.attribute("header_type") == Some("UInt64") { 8 } else { 4 }
    }

    /// The length, then as many bytes.
    fn plain(&self, array: Node, text: &str) -> Result<Vec<u8>, Error> {
        // What follows in appended data belongs to other arrays.
        let size = self.head_size();
        let start = self.decoded(array, text.get(..size.div_ceil(3) * 4).unwrap_or(text))?;
        let Some(&length) = self.head(&start).first() else {
            return Err(self.error(array, "ends early"));
        };
        // In one run with the length or, where that is padded, after it.
        let padded = text.get(..size.div_ceil(3) * 4).is_some_and(|start| start.ends_with('='));
        let (skipped, text) = match padded {
            true => (0, &text[size.div_ceil(3) * 4..]),
            false => (size, text),
        };
        let end = length.saturating_add(skipped).div_ceil(3).saturating_mul(4);
        let mut bytes = self.decoded(array, text.get(..end.min(text.len())).unwrap_or(text))?;
        bytes.drain(..skipped.min(bytes.len()));
        if bytes.len() < length {
            let message = format!("announces {length} bytes, found {}", bytes.len());
            return Err(self.error(array, message));
        }
        bytes.truncate(length);
        Ok(bytes)
    }

    /// The number of blocks, their length, that of the last if it is shorter, their lengths as compressed; then the blocks.
    fn inflated(&self, array: Node, text: &str) -> Result<Vec<u8>, Error> {
        let size = self.head_size();
        let first = self.decoded(array, text.get(..(3 * size) / 3 * 4).unwrap_or(text))?;
        let head = self.head(&first);
        let &[blocks, block, last, ..] = head.as_slice() else {
            return Err(self.error(array, "ends early"));
        };
        if blocks > text.len() {
            return Err(self.error(array, format!("announces {blocks} blocks: ends early")));
        }
        let chars = ((3 + blocks) * size).div_ceil(3) * 4;
        let head = self.decoded(array, text.get(..chars).unwrap_or(text))?;
        let lengths: Vec<usize> = self.head(&head).into_iter().skip(3).collect();
        if lengths.len() < blocks {
            return Err(self.error(array, format!("announces {blocks} blocks: ends early")));
        }
        let total = lengths.iter().fold(0, |sum: usize, &length| sum.saturating_add(length));
        let text = text.get(chars..).unwrap_or_default();
        let end = total.div_ceil(3).saturating_mul(4).min(text.len());
        let data = self.decoded(array, text.get(..end).unwrap_or(text))?;
        let (mut rest, mut bytes) = (data.as_slice(), Vec::new());
        for (k, &length) in lengths.iter().enumerate() {
            let whole = if k + 1 == blocks && last > 0 { last } else { block };
            let Some((own, after)) = rest.split_at_checked(length) else {
                return Err(self.error(array, "ends early"));
            };
            rest = after;
            if whole > length.saturating_mul(MOST_EXPANSION) {
                let message = format!("announces {whole} bytes in a block of {length}");
                return Err(self.error(array, message));
            }
            let before = bytes.len();
            let read = ZlibDecoder::new(own).take(whole as u64).read_to_end(&mut bytes);
            read.map_err(|error| self.error(array, format!("is no block of zlib: {error}")))?;
            if bytes.len() - before != whole {
                let found = bytes.len() - before;
                let message = format!("announces a block of {whole} bytes, found {found}");
                return Err(self.error(array, message));
            }
        }
        Ok(bytes)
    }

    fn decoded(&self, array: Node, text: &str) -> Result<Vec<u8>, Error> {
        STANDARD.decode(text).map_err(|error| self.error(array, format!("is no base64: {error}")))
    }
}
