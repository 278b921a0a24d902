//! The records of an MCAP file, one after the other, in chunks or not.
//!
//! Of records nobody wants the bytes are not read; of the others no more is held at once than a record, or a chunk.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use super::byte_cursor::{ByteCursor, TooShort};
use super::chunk_bytes::unpacked;
use crate::Error;

/// What a file begins with.
const MAGIC: [u8; 8] = *b"\x89MCAP0\r\n";
/// A record begins with what it is, a byte, and its length.
const HEAD: u64 = 9;
/// A message begins with its channel, its number, and two times.
const MESSAGE_HEAD: u64 = 22;
/// Records are of so many bytes at most.
const MOST_BYTES: u64 = crate::text::MOST_BYTES;

const FOOTER: u8 = 0x02;
const SCHEMA: u8 = 0x03;
const CHANNEL: u8 = 0x04;
const MESSAGE: u8 = 0x05;
const CHUNK: u8 = 0x06;
const DATA_END: u8 = 0x0f;

/// How messages are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct SchemaRecord<'a> {
    pub id: u16,
    /// What they are, as `geometry_msgs/msg/Pose`.
    pub name: &'a str,
    pub encoding: &'a str,
    pub text: &'a [u8],
}

/// Who writes messages about what.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChannelRecord<'a> {
    pub id: u16,
    pub schema: u16,
    pub topic: &'a str,
    pub encoding: &'a str,
}

/// A message; times in ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageRecord<'a> {
    pub channel: u16,
    pub log_time: u64,
    pub publish_time: u64,
    pub bytes: &'a [u8],
}

/// Who is told what a file holds.
pub(super) trait BagReader {
    /// How messages of channels to come are written.
    fn schema(&mut self, schema: SchemaRecord);

    /// A channel that messages will be of.
    fn channel(&mut self, channel: ChannelRecord);

    /// Whether messages of a channel are wanted.
    fn wants(&self, channel: u16) -> bool;

    /// A message that is wanted.
    fn message(&mut self, message: MessageRecord) -> Result<(), Error>;
}

/// Reads a file from its beginning to the end of its data. In words what is missing, if it ends before.
///
/// # Errors
/// If it cannot be read, or is damaged.
pub(super) fn read_records(
    path: &Path,
    reader: &mut dyn BagReader,
) -> Result<Option<String>, Error> {
    let name = path.display().to_string();
    let wrong = |message: String| Error::input(&name, None, "", message);
    let io = |error| Error::io(path, error);
    let file = File::open(path).map_err(io)?;
    let there = file.metadata().map_err(io)?;
    let mut bag = OpenBag { file: BufReader::new(file), left: there.len(), body: Vec::new() };
    if !there.is_file() || bag.take(MAGIC.len() as u64).map_err(io)? != MAGIC {
        return Err(wrong("is not MCAP: it does not begin as such files do".into()));
    }
    let mut messages = 0_u64;
    loop {
        let at = there.len() - bag.left;
        let cut = |what: String| {
            format!(
                "is cut off: {what} (byte {at}); the {messages} messages before are read; `mcap recover` makes it whole"
            )
        };
        let damaged = |what: &str| wrong(format!("{what} (byte {at})"));
        if bag.left == 0 {
            return Ok(Some(cut("its data has no end".into())));
        }
        let head = bag.take(HEAD).map_err(io)?;
        let mut head = ByteCursor::new(head, false);
        let (Ok(kind), Ok(length)) = (head.whole(1), head.whole(8)) else {
            return Ok(Some(cut("a record is not whole".into())));
        };
        let kind = kind as u8;
        if kind == 0 {
            return Err(damaged("is damaged: a record is of no kind; try `mcap recover`"));
        }
        if length > bag.left {
            let left = bag.left;
            let message = format!("a record should have {length} bytes, and {left} are left");
            return Ok(Some(cut(message)));
        }
        let used = matches!(kind, SCHEMA | CHANNEL | MESSAGE | CHUNK);
        if used && length > MOST_BYTES {
            return Err(damaged(&format!(
                "a record has {length} bytes, more than the {MOST_BYTES} that are read at once"
            )));
        }
        match kind {
            DATA_END | FOOTER => return Ok(None),
            CHUNK => {
                let body = bag.take(length).map_err(io)?;
                let records = unpacked(body).map_err(|why| damaged(&format!("a chunk {why}")))?;
                messages += records_in(&records, reader).map_err(|fault| fault.at(&damaged))?;
            }
            MESSAGE => {
                let head = bag.take(length.min(MESSAGE_HEAD)).map_err(io)?;
                let channel = ByteCursor::new(head, false).whole(2).unwrap_or_default() as u16;
                let rest = length.saturating_sub(MESSAGE_HEAD);
                messages += 1;
                if reader.wants(channel) {
                    bag.take_more(rest).map_err(io)?;
                    record(kind, &bag.body, reader).map_err(|fault| fault.at(&damaged))?;
                } else {
                    bag.skip(rest).map_err(io)?;
                }
            }
            SCHEMA | CHANNEL => {
                let body = bag.take(length).map_err(io)?;
                record(kind, body, reader).map_err(|fault| fault.at(&damaged))?;
            }
            _ => bag.skip(length).map_err(io)?,
        }
    }
}

/// A file, how many bytes of it are left, and the last that were taken.
struct OpenBag {
    file: BufReader<File>,
    left: u64,
    body: Vec<u8>,
}

impl OpenBag {
    /// The next bytes; fewer where the file ends.
    fn take(&mut self, count: u64) -> io::Result<&[u8]> {
        self.body.clear();
        self.take_more(count)?;
        Ok(&self.body)
    }

    /// Puts the next bytes behind the last.
    fn take_more(&mut self, count: u64) -> io::Result<()> {
        let read = self.file.by_ref().take(count).read_to_end(&mut self.body)?;
        self.left = self.left.saturating_sub(read as u64);
        Ok(())
    }

    fn skip(&mut self, count: u64) -> io::Result<()> {
        self.left = self.left.saturating_sub(count);
        match i64::try_from(count) {
            Ok(count) => self.file.seek_relative(count),
            Err(_) => self.file.seek(SeekFrom::End(0)).map(|_| ()),
        }
    }
}

/// What is wrong with a record: of the file, or of what its message says.
enum Fault {
    Record(&'static str),
    Message(Error),
}

impl Fault {
    fn at(self, damaged: &dyn Fn(&str) -> Error) -> Error {
        match self {
            Fault::Record(what) => damaged(what),
            Fault::Message(error) => error,
        }
    }
}

impl From<TooShort> for Fault {
    fn from(_: TooShort) -> Fault {
        Fault::Record("is damaged: a record is shorter than what it holds; try `mcap recover`")
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::Message(error)
    }
}

/// Reads the records of a chunk; how many are messages.
fn records_in(bytes: &[u8], reader: &mut dyn BagReader) -> Result<u64, Fault> {
    let mut rest = ByteCursor::new(bytes, false);
    let mut messages = 0;
    while !rest.rest().is_empty() {
        let kind = rest.whole(1)? as u8;
        let length = usize::try_from(rest.whole(8)?).map_err(|_| TooShort)?;
        record(kind, rest.bytes(length)?, reader)?;
        messages += u64::from(kind == MESSAGE);
    }
    Ok(messages)
}

/// Reads a record that describes messages, or is one; others have nothing of interest.
fn record(kind: u8, body: &[u8], reader: &mut dyn BagReader) -> Result<(), Fault> {
    let mut body = ByteCursor::new(body, false);
    match kind {
        SCHEMA => {
            let id = body.whole(2)? as u16;
            let (name, encoding) = (body.text()?, body.text()?);
            let length = body.length()?;
            let text = body.bytes(length)?;
            reader.schema(SchemaRecord { id, name: &name, encoding: &encoding, text });
        }
        CHANNEL => {
            let (id, schema) = (body.whole(2)? as u16, body.whole(2)? as u16);
            let (topic, encoding) = (body.text()?, body.text()?);
            reader.channel(ChannelRecord { id, schema, topic: &topic, encoding: &encoding });
        }
        MESSAGE => {
            let channel = body.whole(2)? as u16;
            let _number = body.whole(4)?;
            let (log_time, publish_time) = (body.whole(8)?, body.whole(8)?);
            let bytes = body.rest();
            if reader.wants(channel) {
                reader.message(MessageRecord { channel, log_time, publish_time, bytes })?;
            }
        }
        _ => {}
    }
    Ok(())
}
