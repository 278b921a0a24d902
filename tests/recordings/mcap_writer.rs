//! MCAP files as ROS 2 writes them.

use std::collections::BTreeMap;
use std::io::{Cursor, Write};

use mcap::records::MessageHeader;
use mcap::{WriteOptions, Writer};

pub const TIME: &str = "int32 sec\nuint32 nanosec\n";
pub const HEADER: &str =
    "# When, and in which frame.\nbuiltin_interfaces/Time stamp\nstring frame_id\n";
pub const VECTOR: &str = "float64 x\nfloat64 y\nfloat64 z\n";
pub const QUATERNION: &str = "float64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1\n";
pub const POSE: &str = "# A pose.\nPoint position\nQuaternion orientation\n";
pub const JOINT_STATE: &str = "std_msgs/Header header\n\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort\n";

/// A definition with those of the messages that are in it.
pub fn definition(own: &str, others: &[(&str, &str)]) -> String {
    let mut text = own.to_string();
    for (name, other) in others {
        text += &format!("\n{}\nMSG: {name}\n{other}", "=".repeat(80));
    }
    text
}

pub fn pose_stamped() -> String {
    let own = "# A pose with a time.\nstd_msgs/Header header\nPose pose\n";
    definition(
        own,
        &[
            ("std_msgs/Header", HEADER),
            ("builtin_interfaces/Time", TIME),
            ("geometry_msgs/Pose", POSE),
            ("geometry_msgs/Point", VECTOR),
            ("geometry_msgs/Quaternion", QUATERNION),
        ],
    )
}

pub fn wrench_stamped() -> String {
    definition(
        "std_msgs/Header header\nWrench wrench\n",
        &[
            ("std_msgs/Header", HEADER),
            ("geometry_msgs/Wrench", "Vector3  force\nVector3  torque\n"),
            ("geometry_msgs/Vector3", VECTOR),
        ],
    )
}

pub fn joint_state() -> String {
    definition(JOINT_STATE, &[("std_msgs/Header", HEADER)])
}

/// Seconds and nanoseconds.
pub fn split(nanoseconds: i64) -> (i32, u32) {
    let rest = nanoseconds.rem_euclid(1_000_000_000);
    (((nanoseconds - rest) / 1_000_000_000) as i32, rest as u32)
}

/// A message in CDR: each number at a multiple of its size from where the head ends.
pub struct Cdr {
    bytes: Vec<u8>,
    big: bool,
}

impl Cdr {
    pub fn new(big: bool) -> Cdr {
        Cdr { bytes: vec![0, u8::from(!big), 0, 0], big }
    }

    fn raw(mut self, little: &[u8]) -> Cdr {
        while !(self.bytes.len() - 4).is_multiple_of(little.len()) {
            self.bytes.push(0xaa);
        }
        match self.big {
            true => self.bytes.extend(little.iter().rev()),
            false => self.bytes.extend(little),
        }
        self
    }

    pub fn f64(self, x: f64) -> Cdr {
        self.raw(&x.to_le_bytes())
    }

    pub fn f64s(self, xs: &[f64]) -> Cdr {
        xs.iter().fold(self, |cdr, &x| cdr.f64(x))
    }

    pub fn f32(self, x: f32) -> Cdr {
        self.raw(&x.to_le_bytes())
    }

    pub fn u8(self, x: u8) -> Cdr {
        self.raw(&[x])
    }

    pub fn u16(self, x: u16) -> Cdr {
        self.raw(&x.to_le_bytes())
    }

    pub fn u32(self, x: u32) -> Cdr {
        self.raw(&x.to_le_bytes())
    }

    pub fn u64(self, x: u64) -> Cdr {
        self.raw(&x.to_le_bytes())
    }

    pub fn text(self, text: &str) -> Cdr {
        let mut cdr = self.u32(text.len() as u32 + 1);
        cdr.bytes.extend(text.bytes());
        cdr.bytes.push(0);
        cdr
    }

    pub fn texts(self, texts: &[&str]) -> Cdr {
        texts.iter().fold(self.u32(texts.len() as u32), |cdr, text| cdr.text(text))
    }

    pub fn list(self, xs: &[f64]) -> Cdr {
        self.u32(xs.len() as u32).f64s(xs)
    }

    pub fn time(self, nanoseconds: i64) -> Cdr {
        let (seconds, rest) = split(nanoseconds);
        self.raw(&seconds.to_le_bytes()).u32(rest)
    }

    pub fn header(self, stamp: i64) -> Cdr {
        self.time(stamp).text("world")
    }

    pub fn bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// A file that is written.
pub struct Bag {
    writer: Writer<Cursor<Vec<u8>>>,
    count: u32,
}

impl Bag {
    /// Without chunks, or with chunks of so many bytes.
    pub fn new(chunk: Option<u64>) -> Bag {
        let options = WriteOptions::new().compression(None).use_chunks(chunk.is_some());
        let writer = options.chunk_size(chunk).create(Cursor::new(Vec::new())).unwrap();
        Bag { writer, count: 0 }
    }

    /// A topic of ROS 2.
    pub fn topic(&mut self, topic: &str, kind: &str, definition: &str) -> u16 {
        self.channel(topic, ("cdr", "ros2msg"), kind, definition)
    }

    pub fn channel(
        &mut self,
        topic: &str,
        (encoding, described): (&str, &str),
        kind: &str,
        definition: &str,
    ) -> u16 {
        let schema = self.writer.add_schema(kind, described, definition.as_bytes()).unwrap();
        self.writer.add_channel(schema, topic, encoding, &BTreeMap::new()).unwrap()
    }

    /// A message that was recorded and sent at times in ns.
    pub fn message(&mut self, channel_id: u16, [log, publish]: [i64; 2], bytes: Vec<u8>) {
        self.count += 1;
        let header = MessageHeader {
            channel_id,
            sequence: self.count,
            log_time: log as u64,
            publish_time: publish as u64,
        };
        self.writer.write_to_known_channel(&header, &bytes).unwrap();
    }

    pub fn finish(mut self) -> Vec<u8> {
        self.writer.finish().unwrap();
        self.writer.into_inner().into_inner()
    }
}

/// The same file with each chunk packed by `compress`, of a kind. Only what follows the data still says where chunks were.
pub fn packed(file: &[u8], kind: &str, compress: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    const CHUNK: u8 = 6;
    let (magic, mut rest) = file.split_at(8);
    let mut all = magic.to_vec();
    while rest.len() > 8 {
        let length = u64::from_le_bytes(rest[1..9].try_into().unwrap()) as usize;
        let (record, after) = rest.split_at(9 + length);
        rest = after;
        if record[0] != CHUNK {
            all.extend(record);
            continue;
        }
        // Times, size and checksum, then the kind, none before, and the length of what is packed.
        let (head, records) = (&record[9..37], &record[37 + 4 + 8..]);
        let records = compress(records);
        let mut body = head.to_vec();
        body.extend((kind.len() as u32).to_le_bytes());
        body.extend(kind.bytes());
        body.extend((records.len() as u64).to_le_bytes());
        body.extend(records);
        all.push(CHUNK);
        all.extend((body.len() as u64).to_le_bytes());
        all.extend(body);
    }
    all.extend(rest);
    all
}

pub fn lz4(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}
