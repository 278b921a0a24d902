//! STL: triangles one by one, as text or as 50 bytes each.

use super::binary::Bytes;
use super::triangles::{Mesh, check_count};
use crate::Error;

/// Bytes before the triangles of a binary file: 80 of comment, 4 of their number.
const HEAD: usize = 84;
/// Bytes of a binary triangle: normal and corners of three 32-bit floats, two bytes of attributes.
const TRIANGLE: usize = 50;

/// Reads a file. Binary ones may begin with the word of those of text, so that their length decides.
pub(super) fn parse(bytes: &[u8], name: &str) -> Result<Mesh, Error> {
    let count = Bytes { bytes, name }.u32(80).map(|count| count as usize).unwrap_or(0);
    let binary = count.checked_mul(TRIANGLE).and_then(|size| size.checked_add(HEAD));
    let text = bytes.trim_ascii_start().starts_with(b"solid");
    match text && binary != Some(bytes.len()) {
        true => parse_text(bytes, name),
        false => parse_binary(bytes, name, count),
    }
}

fn parse_binary(bytes: &[u8], name: &str, count: usize) -> Result<Mesh, Error> {
    check_count(count, name, None)?;
    let bytes = Bytes { bytes, name };
    let needed = HEAD + TRIANGLE * count;
    bytes.demand(needed)?;
    let mut corners = Vec::with_capacity(3 * count);
    for triangle in 0..count {
        // The normal, which comes first, follows from the corners.
        let first = HEAD + TRIANGLE * triangle + 12;
        for corner in 0..3 {
            corners.push(bytes.point(first + 12 * corner)?);
        }
    }
    Ok(Mesh::welded(&corners))
}

fn parse_text(bytes: &[u8], name: &str) -> Result<Mesh, Error> {
    let mut corners = Vec::new();
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let line_number = index + 1;
        let line = String::from_utf8_lossy(line);
        let mut words = line.split_ascii_whitespace();
        let word = words.next().unwrap_or_default().to_ascii_lowercase();
        if word == "vertex" {
            let mut point = [0.0; 3];
            for x in &mut point {
                *x = match words.next().map(str::parse::<f64>) {
                    Some(Ok(number)) if number.is_finite() => number,
                    _ => {
                        let message = "a vertex must be three finite numbers";
                        return Err(Error::input(name, line_number, "", message));
                    }
                };
            }
            corners.push(point);
            check_count(corners.len() / 3, name, Some(line_number))?;
        } else if word == "endfacet" && corners.len() % 3 != 0 {
            let message = "a facet must have three vertices";
            return Err(Error::input(name, line_number, "", message));
        }
    }
    if corners.len() % 3 != 0 {
        return Err(Error::input(name, None, "", "ends in the middle of a facet"));
    }
    Ok(Mesh::welded(&corners))
}
