//! What is in a chunk, unpacked.

use std::borrow::Cow;
use std::io::Read;

use lz4_flex::frame::FrameDecoder;
use ruzstd::decoding::StreamingDecoder;

use super::byte_cursor::{ByteCursor, TooShort};

/// Unpacked, a chunk is of so many bytes at most.
const MOST_BYTES: u64 = crate::text::MOST_BYTES;

/// The records in the body of a chunk.
///
/// # Errors
/// In words, if they cannot be unpacked, or are not those that were packed.
pub(super) fn unpacked(body: &[u8]) -> Result<Cow<'_, [u8]>, String> {
    let short = |TooShort| "is shorter than it says".to_string();
    let mut body = ByteCursor::new(body, false);
    body.bytes(16).map_err(short)?;
    let size = body.whole(8).map_err(short)?;
    let checksum = body.whole(4).map_err(short)?;
    let compression = body.text().map_err(short)?;
    let length = body.whole(8).map_err(short)?;
    let length = usize::try_from(length).map_err(|_| short(TooShort))?;
    let packed = body.bytes(length).map_err(short)?;
    if size > MOST_BYTES {
        return Err(format!("has {size} bytes, more than the {MOST_BYTES} that are read at once"));
    }
    let found = match &*compression {
        "" => Cow::Borrowed(packed),
        "lz4" => Cow::Owned(read(FrameDecoder::new(packed), size)?),
        "zstd" => Cow::Owned(of_zstd(packed, size)?),
        other => {
            return Err(format!(
                "is compressed by {other:?}: only lz4 and zstd are read; `mcap compress` packs it anew"
            ));
        }
    };
    if found.len() as u64 != size {
        return Err(format!("should have {size} bytes, and has {}", found.len()));
    }
    // 0: none was made.
    let own = if checksum == 0 { 0 } else { u64::from(crc32(&found)) };
    if own != checksum {
        return Err(format!(
            "is damaged: its checksum is {own:08x}, and should be {checksum:08x}; `mcap recover` keeps what is whole"
        ));
    }
    Ok(found)
}

/// One byte more than there should be at most: what claims to be short may be without end.
fn read(from: impl Read, size: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = from.take(size + 1).read_to_end(&mut bytes);
    read.map(|_| bytes).map_err(|error| format!("cannot be unpacked: {error}"))
}

/// All frames, one after the other.
fn of_zstd(mut packed: &[u8], size: u64) -> Result<Vec<u8>, String> {
    let mut all = Vec::new();
    while !packed.is_empty() && all.len() as u64 <= size {
        let frame = StreamingDecoder::new(&mut packed);
        let frame = frame.map_err(|error| format!("cannot be unpacked: {error}"))?;
        all.append(&mut read(frame, size - all.len() as u64)?);
    }
    Ok(all)
}

/// The checksum of zip files.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}
