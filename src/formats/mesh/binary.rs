//! Numbers in binary files, little-endian; errors name the byte.

use super::triangles::{Mesh, check_count};
use crate::Error;

/// A binary file.
pub(super) struct Bytes<'a> {
    pub bytes: &'a [u8],
    pub name: &'a str,
}

impl Bytes<'_> {
    /// An error unless the file is at least this long.
    pub fn demand(&self, length: usize) -> Result<(), Error> {
        let found = self.bytes.len();
        match found < length {
            true => {
                let message = format!("byte {found}: ends early, {length} bytes were announced");
                Err(Error::input(self.name, None, "", message))
            }
            false => Ok(()),
        }
    }

    /// The four bytes at an offset.
    fn four(&self, at: usize) -> Result<[u8; 4], Error> {
        let end = at.saturating_add(4);
        let four = self.bytes.get(at..end).and_then(|four| four.try_into().ok());
        four.ok_or_else(|| {
            let found = self.bytes.len();
            let message = format!("byte {found}: ends early, at least {end} bytes are needed");
            Error::input(self.name, None, "", message)
        })
    }

    /// A 32-bit count.
    pub fn u32(&self, at: usize) -> Result<u32, Error> {
        self.four(at).map(u32::from_le_bytes)
    }

    /// Three finite 32-bit floats.
    pub fn point(&self, at: usize) -> Result<[f64; 3], Error> {
        let mut point = [0.0; 3];
        for (k, x) in point.iter_mut().enumerate() {
            *x = f64::from(f32::from_le_bytes(self.four(at + 4 * k)?));
            if !x.is_finite() {
                let message = format!("byte {}: must be finite, found {x}", at + 4 * k);
                return Err(Error::input(self.name, None, "", message));
            }
        }
        Ok(point)
    }
}

/// Reads MuJoCo's MSH: numbers of points, normals, texture coordinates and faces, then these.
pub(super) fn msh(bytes: &[u8], name: &str) -> Result<Mesh, Error> {
    let bytes = Bytes { bytes, name };
    let mut counts = [0; 4];
    for (k, count) in counts.iter_mut().enumerate() {
        *count = bytes.u32(4 * k)? as usize;
        check_count(*count, name, None)?;
    }
    let [points, normals, textures, faces] = counts;
    let first_face = 16 + 12 * (points + normals) + 8 * textures;
    bytes.demand(first_face + 12 * faces)?;
    let mut mesh = Mesh::default();
    for k in 0..points {
        mesh.points.push(bytes.point(16 + 12 * k)?);
    }
    for k in 0..faces {
        let mut triangle = [0; 3];
        for (corner, point) in triangle.iter_mut().enumerate() {
            let at = first_face + 12 * k + 4 * corner;
            *point = bytes.u32(at)? as usize;
            if *point >= points {
                let message = format!("byte {at}: there is no point {point}");
                return Err(Error::input(name, None, "", message));
            }
        }
        mesh.triangles.push(triangle);
    }
    Ok(mesh)
}
