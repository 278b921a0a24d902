//! MCAP files that are packed, cut off or damaged: none makes the library panic, or take more memory than a file may.

use stiction::Error;
use stiction::trajectory::{RecordingFile, load_recordings, recordings_of};

use super::mcap_writer::{Bag, Cdr, joint_state, lz4, packed, pose_stamped, zstd};
use crate::fixtures::folder::Folder;
use crate::fixtures::{cases, random::Random};

const MESSAGES: usize = 60;
/// Of a file of some ten thousand bytes nothing takes as many.
const MOST_BYTES: u64 = 1 << 27;

/// Files of 24 messages about `/x`, 0, 1/8, .., as the libraries in C pack them that ROS uses; up to the end of their data.
const BY_ZSTD: &str = "\
    894d434150300d0a01080000000000000000000000000000000677010000000000000000000000000000c0f35e0100000000650400000000\
    0000941f03f3040000007a7374644b0100000000000028b52ffd0058150a0066d038383071d31843b41b234e6c5d350ade470fc12516eaac\
    21a4d18751ddec11bd9911a22eaba447b878431b5d883e8dfa1f66fe8cd9f75313b2532b0029002a001d3f06d2fdd7b29485bcd1fb1450bf\
    089ce1c31453ff06711a3df183a20367d84d70861cdf387fd2f213169f190f96fa6f311924f4f7b02c2af6d75e2240ffd9caa4aa3fd69220\
    42ff4ba28e26f6970cda7fea0b3fb0c382a9ff48c7e584fe02392a8dfd45382b08ff013728abfa03b44c4ae81faa19c1d81f4413c2fd07bb\
    6dd8d4ffc073a1427f036dc5fd4b9983e99f842dc8d4bfe0e252e8cf4989a1f627d85b0d1f62a8113a91f0d96b33c083a40311204022c012\
    23ef1b08bb7120eb6e3e125977530e643d04f877b666b991ba98e5467ed42c375217b3dcc88f9ae546ea62961bf951b3dc485d942ed0fd1a\
    4e96ba21b40a83bc2a24f057862b58e8010f04000000000000004a8d8866";
const BY_LZ4: &str = "\
    894d434150300d0a01080000000000000000000000000000000678020000000000000000000000000000c0f35e0100000000650400000000\
    0000941f03f3030000006c7a344d0200000000000004224d1844405e3a020000320336000100f21b0100140000007374645f6d7367732f6d\
    73672f466c6f6174363407000000726f73326d73670d0000006616008220646174610a04153e00f5090001000100020000002f7803000000\
    6364720000000005221e000309000a0200071700072b00710100000040420f2b00040800062b0027c03f2b00710200000080841e2b000408\
    00062b0018d02b007103000000c0c62d2b00040800062b0018d82b00710400000000093d2b0005080005810018e02b007105000000404b4c\
    2b0004080006560018e42b007106000000808d5b2b00040800062b0018e82b007107000000c0cf6a2b00040800062b0018ec2b0071080000\
    0000127a2b0005080005ac0018f02b0071090000004054892b0004080006560018f22b00710a0000008096982b00040800062b0018f42b00\
    710b000000c0d8a72b00040800062b0018f62b00710c000000001bb72b0005080005ac0018f82b00710d000000405dc62b00040800065600\
    18fa2b00710e000000809fd52b00040800062b0018fc2b00710f000000c0e1e42b00040800062b0018fe2b0071100000000024f42b000508\
    0005ac00270040850271110000004066031d0004080006560018012b00711200000080a8122b00040800062b0018022b007113000000c0ea\
    212b00040800062b0018032b007114000000002d312b00050800020e0048000000042b007115000000406f401d0004080006560018052b00\
    711600000080b14f2b00040800062b0018062b007117000000c0f35e2b00040800032b0050000000074000000000a457a3a10f0400000000\
    0000001339fd22";

fn bytes_of(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|k| u8::from_str_radix(&hex[k..k + 2], 16).unwrap()).collect()
}

/// Two topics, in chunks or not.
fn bag(chunk: Option<u64>) -> Vec<u8> {
    let mut bag = Bag::new(chunk);
    let pose = bag.topic("/pose", "geometry_msgs/msg/PoseStamped", &pose_stamped());
    let joints = bag.topic("/joints", "sensor_msgs/msg/JointState", &joint_state());
    let json = bag.channel("/json", ("json", "jsonschema"), "a", "{}");
    for k in 0..MESSAGES {
        let x = k as f64;
        let time = 1_700_000_000_000_000_000 + 10_000_000 * k as i64;
        let message = Cdr::new(k % 2 == 0).header(time).f64s(&[x, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
        bag.message(pose, [time, time], message.bytes());
        let message = Cdr::new(false).header(time).texts(&["a", "b"]).list(&[x, -x]).list(&[]);
        bag.message(joints, [time, time], message.list(&[x, x]).bytes());
        let text = format!("{{\"x\": [{k}, {{\"y\": true}}]}}");
        bag.message(json, [time, time], text.into());
    }
    bag.finish()
}

fn kinds() -> Vec<Vec<u8>> {
    let chunked = bag(Some(6000));
    let lz4 = packed(&chunked, "lz4", lz4);
    let zstd = packed(&chunked, "zstd", zstd);
    vec![bag(None), chunked, lz4, zstd]
}

fn load(folder: &Folder, bytes: &[u8]) -> Result<RecordingFile, Error> {
    let path = folder.path("run.mcap");
    std::fs::write(&path, bytes).unwrap();
    RecordingFile::load(path)
}

fn numbers(file: &RecordingFile, column: &str) -> Vec<f64> {
    file.numbers(&[column]).unwrap().into_iter().map(|row| row[0].unwrap()).collect()
}

#[test]
fn packed_chunks_are_read() {
    let folder = Folder::new("mcap-packed");
    let expected: Vec<f64> = (0..24).map(|k| f64::from(k) / 8.0).collect();
    for hex in [BY_ZSTD, BY_LZ4] {
        assert_eq!(numbers(&load(&folder, &bytes_of(hex)).unwrap(), "/x.data"), expected);
    }
    for bytes in kinds() {
        let file = load(&folder, &bytes).unwrap();
        let found = numbers(&file, "/joints.position.b");
        assert!(
            found.len() == MESSAGES && found.iter().enumerate().all(|(k, x)| *x == -(k as f64))
        );
        assert!(file.remarks().is_empty());
    }
    let other = packed(&bag(Some(6000)), "brotli", |bytes| bytes.to_vec());
    let error = load(&folder, &other).unwrap_err().to_string();
    assert!(error.contains("run.mcap: a chunk is compressed by \"brotli\": only lz4 and zstd are read; `mcap compress`"), "{error}");
}

/// What is complete is read, and that there should be more is said.
#[test]
fn files_that_are_cut_off_are_read_up_to_there() {
    let folder = Folder::new("mcap-cut");
    for bytes in kinds() {
        let mut last = 0;
        for k in 1..40 {
            let cut = bytes.len() * k / 40;
            let Ok(file) = load(&folder, &bytes[..cut]) else {
                assert_eq!(last, 0);
                continue;
            };
            let found = numbers(&file, "/pose.pose.position.x");
            assert!(found.iter().enumerate().all(|(k, x)| *x == k as f64) && found.len() >= last);
            last = found.len();
            // What follows the data is not needed.
            match file.remarks() {
                [] => assert_eq!(last, MESSAGES),
                [remark] => assert!(
                    remark.contains("is cut off: ") && remark.contains("`mcap recover`"),
                    "{remark}"
                ),
                more => panic!("{more:?}"),
            }
        }
        assert!(last > MESSAGES / 2);
        let error = load(&folder, &bytes[..60]).unwrap_err().to_string();
        assert!(error.contains("run.mcap: is cut off: "), "{error}");
    }
}

#[test]
fn damage_is_told() {
    let folder = Folder::new("mcap-told");
    let chunked = bag(Some(6000));
    // A digit of a number in the first chunk.
    let at = chunked.windows(6).position(|bytes| bytes == b"\"x\": [").unwrap() + 6;
    let mut checksum = chunked.clone();
    checksum[at] = b'7';
    let mut kind = bag(None);
    kind[8] = 0;
    let mut magic = kind.clone();
    magic[3] = b'B';
    for (bytes, message) in [
        (&checksum[..], "run.mcap: a chunk is damaged: its checksum is "),
        (&kind, "run.mcap: is damaged: a record is of no kind; try `mcap recover` (byte 8)"),
        (&magic, "run.mcap: is not MCAP: it does not begin as such files do"),
        (b"\x89MCAP", "run.mcap: is not MCAP"),
        (b"", "run.mcap: is not MCAP"),
    ] {
        let error = load(&folder, bytes).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    let error = RecordingFile::load(folder.path("none.mcap")).unwrap_err().to_string();
    assert!(error.contains("none.mcap") && error.contains("No such file"), "{error}");
}

/// One to three bytes become others, or a piece is left out.
fn damaged(whole: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    for _ in 0..1 + random.below(3) {
        let at = 8 + random.below(bytes.len() - 8);
        let changed = [random.bits() as u8, bytes[at] ^ 1 << random.below(8), 0, 0x7f, 0xff];
        bytes[at] = changed[random.below(changed.len())];
    }
    if random.below(10) == 0 {
        let at = 8 + random.below(bytes.len() - 48);
        bytes.drain(at..at + 1 + random.below(32));
    }
    bytes
}

#[test]
fn damaged_files_are_refused_or_used() {
    let folder = Folder::new("mcap-damaged");
    let path = folder.path("all.mcap");
    let mut wholes = kinds();
    wholes.extend([BY_ZSTD, BY_LZ4].map(bytes_of));
    // Without checksums, so that what is wrong goes further.
    let without: Vec<Vec<u8>> = wholes.iter().map(|whole| without_checksums(whole)).collect();
    wholes.extend(without);
    let mut random = Random(24);
    let mut used = 0;
    let count = cases::count(20_000, 0.05);
    for case in 0..count {
        let bytes = damaged(&wholes[case % wholes.len()], &mut random);
        std::fs::write(&path, &bytes).unwrap();
        let mut results = Vec::new();
        let measured = allocation_counter::measure(|| {
            let sources = recordings_of(vec![path.clone()], None).unwrap_or_default();
            let wanted = |name: &str| name.starts_with("/pose") || name.starts_with("/x");
            results = load_recordings(&sources, 1, &wanted, |file| {
                file.numbers(&[file.columns().last().unwrap_or_default()])
            });
            results.push(RecordingFile::load(&path).and_then(|file| file.numbers(&["t"])));
        });
        assert!(measured.bytes_max < MOST_BYTES, "case {case}: {measured:?}");
        used += usize::from(results.iter().all(Result::is_ok));
        for error in results.into_iter().filter_map(Result::err) {
            let text = error.to_string();
            assert!(text.contains("all.mcap") && text.lines().count() == 1, "{text}");
        }
    }
    assert!((count / 100..count).contains(&used), "{used} of {count}");
}

/// The same file, of whose chunks nothing is checked.
fn without_checksums(file: &[u8]) -> Vec<u8> {
    let mut all = file.to_vec();
    let mut at = 8;
    while at + 9 < all.len() {
        let length = u64::from_le_bytes(all[at + 1..at + 9].try_into().unwrap()) as usize;
        if all[at] == 6 {
            all[at + 9 + 24..at + 9 + 28].fill(0);
        }
        at += 9 + length;
    }
    all
}
