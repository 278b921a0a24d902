//! The bytes of a column, page by page, none of which may claim more than it can hold.
//!
//! The reader of the crate believes headers of pages: it takes the memory that one asks for before it looks at what is there. So their
//! sizes and counts are read here first.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::ops::Range;

use bytes::Bytes;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

/// Headers of pages are shorter.
const LONGEST_HEADER: u64 = 1 << 16;

/// The bytes of one column of a row group.
pub(super) struct PageGuard {
    pages: Pages,
    /// Where they are in the file.
    range: Range<u64>,
    limits: Limits,
}

/// What a page may claim.
#[derive(Clone, Copy)]
struct Limits {
    /// How many times longer what is unpacked may be.
    packed: u64,
    /// How many values a page may have.
    values: u64,
}

/// Where pages are taken from.
enum Pages {
    /// All of them, read at once.
    Whole(Bytes),
    /// One after the other.
    File(File),
}

impl PageGuard {
    /// `bytes`: those that were read of the file already, and where they begin; else all of the column are read now if it is to be
    /// `whole`, or page by page.
    pub fn new(
        file: &File,
        range: Range<u64>,
        (compression, values): (Compression, u64),
        bytes: Option<&(u64, Bytes)>,
        whole: bool,
    ) -> Result<PageGuard, ParquetError> {
        let packed = match compression {
            Compression::UNCOMPRESSED => 1,
            // A copy of 64 bytes takes 3.
            Compression::SNAPPY => 32,
            // Deflate: 258 bytes in 2 bits.
            _ => 1100,
        };
        let pages = match bytes {
            Some((first, bytes)) => {
                let inside = (range.start - first) as usize..(range.end - first) as usize;
                Pages::Whole(bytes.slice(inside))
            }
            None if whole => Pages::Whole(bytes_at(file, range.clone())?),
            None => Pages::File(file.try_clone()?),
        };
        Ok(PageGuard { pages, range, limits: Limits { packed, values } })
    }

    fn read(&self, start: u64, length: u64) -> Result<Bytes, ParquetError> {
        let end = start.checked_add(length).filter(|&end| end <= self.range.end);
        if start < self.range.start || end.is_none() {
            return Err(ParquetError::EOF("a page ends behind its column".into()));
        }
        match &self.pages {
            Pages::Whole(bytes) => {
                let first = (start - self.range.start) as usize;
                Ok(bytes.slice(first..first + length as usize))
            }
            Pages::File(file) => bytes_at(file, start..start + length),
        }
    }
}

impl Limits {
    /// An error unless the header of a page may be true.
    fn check(&self, header: &[u8]) -> Result<(), ParquetError> {
        let wrong = |what: &str| Err(ParquetError::General(format!("a page {what}")));
        let mut header = Header(header);
        // In the order of their numbers: kind, size as it is unpacked, size, maybe a checksum, and by kind what it holds.
        let (Some(_), Some(unpacked), Some(packed)) =
            (header.integer(), header.integer(), header.integer())
        else {
            return wrong("has no sizes");
        };
        let most = (packed.max(0) as u64).saturating_mul(self.packed);
        if unpacked < 0 || unpacked as u64 > most.saturating_add(64) {
            return wrong("claims to be longer than it can be");
        }
        let mut field = 3;
        if header.0.first() == Some(&INTEGER) {
            header.integer();
            field = 4;
        }
        const INDEX: u8 = 6;
        const DICTIONARY: u8 = 7;
        let most = match header.structure(field) {
            Some(INDEX) => return Ok(()),
            // Each takes a byte, at least.
            Some(DICTIONARY) => unpacked as u64,
            Some(_) => self.values,
            None => return wrong("is of no kind"),
        };
        match header.integer() {
            Some(count) if count >= 0 && count as u64 <= most => Ok(()),
            _ => wrong("claims to have more values than the column"),
        }
    }
}

/// Some of the bytes of a file.
pub(super) fn bytes_at(mut file: &File, range: Range<u64>) -> Result<Bytes, ParquetError> {
    let mut bytes = vec![0; (range.end - range.start) as usize];
    file.seek(SeekFrom::Start(range.start))?;
    file.read_exact(&mut bytes)?;
    Ok(bytes.into())
}

/// A field whose number is the next one, of an integer; as thrift writes it.
const INTEGER: u8 = 0x15;

/// The rest of a header.
struct Header<'a>(&'a [u8]);

impl Header<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    fn integer(&mut self) -> Option<i64> {
        if self.byte()? != INTEGER {
            return None;
        }
        let mut number = 0_u64;
        for k in 0..5 {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << (7 * k);
            if byte < 0x80 {
                return Some((number >> 1) as i64 ^ -((number & 1) as i64));
            }
        }
        None
    }

    /// The number of the structure that follows the field of a number.
    fn structure(&mut self, after: u8) -> Option<u8> {
        let byte = self.byte()?;
        (byte & 0xf == 0xc && byte >> 4 > 0).then_some(after + (byte >> 4))
    }
}

impl Length for PageGuard {
    fn len(&self) -> u64 {
        self.range.end
    }
}

impl ChunkReader for PageGuard {
    type T = HeaderBytes;

    // What is read this way, if it is, is the header of a page.
    fn get_read(&self, start: u64) -> Result<HeaderBytes, ParquetError> {
        let rest = self.range.end.saturating_sub(start);
        let bytes = Cursor::new(self.read(start, rest.min(LONGEST_HEADER))?);
        Ok(HeaderBytes { bytes, unchecked: Some(self.limits) })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        self.read(start, length as u64)
    }
}

/// The header of a page, which is looked at before anyone reads it.
pub(super) struct HeaderBytes {
    bytes: Cursor<Bytes>,
    unchecked: Option<Limits>,
}

impl Read for HeaderBytes {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if let Some(limits) = self.unchecked.take() {
            limits.check(self.bytes.get_ref()).map_err(io::Error::other)?;
        }
        self.bytes.read(into)
    }
}
