//! Archives of NumPy: `.npz`, a ZIP of arrays, each in the format `.npy`, version 1.0 (NumPy Enhancement Proposal 1).

use std::io::{Cursor, Read};
#[cfg(feature = "cli")]
use std::io::{Result, Write};

use zip::ZipArchive;
#[cfg(feature = "cli")]
use zip::{ZipWriter, write::SimpleFileOptions};

/// An archive in memory that arrays are added to.
#[cfg(feature = "cli")]
pub(crate) struct Npz(ZipWriter<Cursor<Vec<u8>>>);

#[cfg(feature = "cli")]
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
#[cfg(feature = "cli")]
fn bytes(numbers: impl Iterator<Item = [u8; 8]>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(8 * numbers.size_hint().0);
    numbers.for_each(|number| bytes.extend_from_slice(&number));
    bytes
}

/// What stands before the data: a magic number, the version, a length, and a dictionary of Python, padded so that the
/// data begin at a multiple of 64 bytes.
#[cfg(feature = "cli")]
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

/// An array that was read: its last index runs fastest.
pub(crate) struct Array {
    /// Without the ending `.npy`.
    pub name: String,
    pub shape: Vec<usize>,
    pub values: Vec<f64>,
}

/// The arrays of an archive of at most so many numbers, of floating-point numbers, whole ones or bytes in the byte order of PCs; others are
/// left out. In words what is wrong with it.
pub(crate) fn read(bytes: &[u8], most: u64) -> std::result::Result<Vec<Array>, String> {
    let mut archive = ZipArchive::new(Cursor::new(bytes))
        .map_err(|error| format!("is no .npz archive: {error}"))?;
    let mut arrays = Vec::new();
    let mut left = 8 * most;
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).map_err(|error| error.to_string())?;
        let whole = file.name().to_string();
        let name = whole.strip_suffix(".npy").unwrap_or(&whole).to_string();
        let mut bytes = Vec::new();
        // What it claims to hold may be anything.
        let found = file.by_ref().take(left + 1).read_to_end(&mut bytes);
        let found = found.map_err(|error| format!("{name}: {error}"))? as u64;
        left = left
            .checked_sub(found)
            .ok_or_else(|| format!("holds more than {most} numbers, the most that is read"))?;
        // Names and the like may stand beside numbers.
        let found = array(&bytes).map_err(|message| format!("{name}: {message}"))?;
        arrays.extend(found.map(|(shape, values)| Array { name, shape, values }));
    }
    Ok(arrays)
}

/// Shape and numbers.
type Numbers = (Vec<usize>, Vec<f64>);

/// Shape and numbers of a `.npy` file; nothing if it holds something else than numbers that are read.
fn array(bytes: &[u8]) -> std::result::Result<Option<Numbers>, String> {
    let no_array = || "is no array of NumPy".to_string();
    let rest = bytes.strip_prefix(b"\x93NUMPY").ok_or_else(no_array)?;
    let (version, rest) = rest.split_first_chunk::<2>().ok_or_else(no_array)?;
    let (length, rest) = match version[0] {
        1 => {
            let (length, rest) = rest.split_first_chunk::<2>().ok_or_else(no_array)?;
            (u32::from(u16::from_le_bytes(*length)), rest)
        }
        _ => {
            let (length, rest) = rest.split_first_chunk::<4>().ok_or_else(no_array)?;
            (u32::from_le_bytes(*length), rest)
        }
    };
    let (header, data) = rest.split_at_checked(length as usize).ok_or_else(no_array)?;
    let header = str::from_utf8(header).map_err(|_| no_array())?;
    let after = |key: &str| header.split_once(&format!("'{key}':")).map(|(_, rest)| rest.trim());
    let first_fastest = after("fortran_order").is_some_and(|rest| rest.starts_with("True"));
    let shape = after("shape").and_then(|rest| Some(rest.strip_prefix('(')?.split_once(')')?.0));
    let sizes = shape.ok_or_else(no_array)?.split(',').map(str::trim).filter(|n| !n.is_empty());
    let shape: Vec<usize> =
        sizes.map(str::parse).collect::<std::result::Result<_, _>>().map_err(|_| no_array())?;
    let kind = after("descr").and_then(|rest| rest.strip_prefix('\'')?.split('\'').next());
    let values: Vec<f64> = match kind {
        Some("<f8") => {
            let numbers = data.as_chunks::<8>().0.iter();
            numbers.map(|&number| f64::from_le_bytes(number)).collect()
        }
        Some("<f4") => {
            let numbers = data.as_chunks::<4>().0.iter();
            numbers.map(|&number| f64::from(f32::from_le_bytes(number))).collect()
        }
        Some("<i8") => {
            let numbers = data.as_chunks::<8>().0.iter();
            numbers.map(|&number| i64::from_le_bytes(number) as f64).collect()
        }
        Some("<i4") => {
            let numbers = data.as_chunks::<4>().0.iter();
            numbers.map(|&number| f64::from(i32::from_le_bytes(number))).collect()
        }
        Some("<i2") => {
            let numbers = data.as_chunks::<2>().0.iter();
            numbers.map(|&number| f64::from(i16::from_le_bytes(number))).collect()
        }
        Some("<u2") => {
            let numbers = data.as_chunks::<2>().0.iter();
            numbers.map(|&number| f64::from(u16::from_le_bytes(number))).collect()
        }
        Some("|i1") => data.iter().map(|&byte| f64::from(byte as i8)).collect(),
        Some("<u4") => {
            let numbers = data.as_chunks::<4>().0.iter();
            numbers.map(|&number| f64::from(u32::from_le_bytes(number))).collect()
        }
        Some("<u8") => {
            let numbers = data.as_chunks::<8>().0.iter();
            numbers.map(|&number| u64::from_le_bytes(number) as f64).collect()
        }
        Some("|u1" | "|b1") => data.iter().map(|&byte| f64::from(byte)).collect(),
        // Names, objects, dates and records: the number types have other letters.
        Some(kind) if kind.contains(['U', 'S', 'O', 'M', 'm', 'V']) => return Ok(None),
        None => return Ok(None),
        Some(found) => {
            return Err(format!(
                "must be numbers of 32 or 64 bits in the byte order of PCs, or bytes, found {found}: convert by astype(\"<f8\")"
            ));
        }
    };
    let count = shape.iter().try_fold(1_usize, |product, &n| product.checked_mul(n));
    if count != Some(values.len()) {
        return Err(format!("has {} numbers, but the shape {shape:?}", values.len()));
    }
    let values = if first_fastest { last_fastest(&shape, &values) } else { values };
    Ok(Some((shape, values)))
}

/// The numbers of an array whose first index runs fastest, with its last one running fastest.
fn last_fastest(shape: &[usize], values: &[f64]) -> Vec<f64> {
    let place = |mut index: usize| {
        let mut place = 0;
        let mut stride = values.len();
        for &size in shape.iter().rev() {
            stride /= size;
            place += (index % size) * stride;
            index /= size;
        }
        place
    };
    (0..values.len()).map(|index| values[place(index)]).collect()
}
