//! Archives of NumPy: `.npz`, a ZIP of arrays, each in the format `.npy`, version 1.0 (NumPy Enhancement Proposal 1).

use std::io::{Cursor, Result, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// An archive in memory that arrays are added to.
pub(crate) struct Npz(ZipWriter<Cursor<Vec<u8>>>);

impl Npz {
    pub fn new() -> Self {
        Self(ZipWriter::new(Cursor::new(Vec::new())))
    }

    /// An array of doubles of the shape `shape`, its last index running fastest; no shape is one number.
    pub fn add<'a>(
        &mut self,
        name: &str,
        shape: &[usize],
        values: impl IntoIterator<Item = &'a f64>,
    ) -> Result<()> {
        let values = bytes(values.into_iter().map(|x| x.to_le_bytes()));
        self.write(name, "<f8", shape, &values)
    }

    /// An array of whole numbers.
    pub fn add_integers(
        &mut self,
        name: &str,
        shape: &[usize],
        values: impl IntoIterator<Item = i64>,
    ) -> Result<()> {
        let values = bytes(values.into_iter().map(i64::to_le_bytes));
        self.write(name, "<i8", shape, &values)
    }

    /// An array of bytes.
    pub fn add_bytes(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.write(name, "|u1", &[bytes.len()], bytes)
    }

    fn write(&mut self, name: &str, kind: &str, shape: &[usize], data: &[u8]) -> Result<()> {
        let is_large = data.len() >= u32::MAX as usize;
        let options = SimpleFileOptions::default().large_file(is_large);
        self.0.start_file(format!("{name}.npy"), options)?;
        self.0.write_all(&header(kind, shape))?;
        self.0.write_all(data)
    }

    /// The bytes of the archive.
    pub fn finish(self) -> Result<Vec<u8>> {
        Ok(self.0.finish()?.into_inner())
    }
}

/// The bytes of numbers, one after the other. (A flat iterator is asked for each byte.)
fn bytes(numbers: impl Iterator<Item = [u8; 8]>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(8 * numbers.size_hint().0);
    numbers.for_each(|number| bytes.extend_from_slice(&number));
    bytes
}

/// What stands before the data: a magic number, the version, a length, and a dictionary of Python, padded so that the
/// data begin at a multiple of 64 bytes.
fn header(kind: &str, shape: &[usize]) -> Vec<u8> {
    let shape: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}");
    // Ten bytes come before the text and a line end after it.
    let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
    let padded = format!("{text:width$}\n", width = length - 1);
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    // A shape of the few indices that arrays here have keeps this far below 2^16.
    header.extend((length as u16).to_le_bytes());
    header.extend(padded.as_bytes());
    header
}
