//! Parquet files with mistakes in them: none makes the library panic, or take more memory than a file may.

use parquet::basic::Compression;
use parquet::file::properties::{WriterProperties, WriterVersion};
use stiction::trajectory::{RecordingFile, load_recordings, recordings_of};

use super::parquet_writer::{Cells, write};
use crate::fixtures::folder::Folder;
use crate::fixtures::{cases, random::Random};

const ROWS: usize = 300;
/// Of a file of some ten thousand bytes nothing takes as many.
const MOST_BYTES: u64 = 1 << 27;

fn columns() -> Vec<(&'static str, Cells)> {
    let number = |k: usize| (!k.is_multiple_of(9)).then_some((k as f64).sin());
    let list = |k: usize| {
        let entry = |i: usize| (!(k + i).is_multiple_of(11)).then_some((k * i) as f32);
        (!k.is_multiple_of(13)).then(|| (0..3).map(entry).collect())
    };
    let text = |k: usize| Some(format!("throw {}", k / 60));
    vec![
        ("t", Cells::numbers((0..ROWS).map(|k| k as f64))),
        ("x", Cells::Double((0..ROWS).map(number).collect())),
        ("state", Cells::Lists((0..ROWS).map(list).collect())),
        ("steady", Cells::Float(vec![Some(0.5); ROWS])),
        ("done", Cells::Flag((0..ROWS).map(|k| Some(k % 60 == 59)).collect())),
        ("recording", Cells::Text((0..ROWS).map(text).collect())),
        ("episode_index", Cells::whole((0..ROWS).map(|k| k as i64 / 50))),
    ]
}

/// One to three bytes become others, or a piece is left out; mostly at the end, where the file says what it holds.
fn damaged(whole: &[u8], random: &mut Random) -> Vec<u8> {
    const SAID: usize = 1500;
    let mut bytes = whole.to_vec();
    let end = bytes.len() - 4;
    for _ in 0..1 + random.below(3) {
        let at = match random.below(2) {
            0 => 4 + random.below(end - 4),
            _ => end - 1 - random.below(SAID.min(end - 5)),
        };
        let changed = [random.bits() as u8, bytes[at] ^ 1 << random.below(8), 0, 0x7f, 0xff];
        bytes[at] = changed[random.below(changed.len())];
    }
    if random.below(10) == 0 {
        let at = 4 + random.below(end - 40);
        bytes.drain(at..at + 1 + random.below(32));
    }
    bytes
}

#[test]
fn damaged_files_are_refused_or_used() {
    let folder = Folder::new("parquet-damaged");
    let path = folder.path("all.parquet");
    let with = |compression, version, dictionary| {
        let builder = WriterProperties::builder().set_compression(compression);
        let builder = builder.set_data_page_row_count_limit(40).set_write_batch_size(8);
        builder.set_writer_version(version).set_dictionary_enabled(dictionary).build()
    };
    let (one, two) = (WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0);
    let kinds = [
        with(Compression::UNCOMPRESSED, one, false),
        with(Compression::SNAPPY, one, true),
        with(Compression::GZIP(Default::default()), two, true),
        with(Compression::UNCOMPRESSED, two, false),
    ];
    let wholes = kinds.map(|properties| {
        write(&path, &columns(), 130, properties);
        std::fs::read(&path).unwrap()
    });
    let mut random = Random(24);
    let mut used = 0;
    let count = cases::count(20_000, 0.05);
    for case in 0..count {
        let bytes = damaged(&wholes[case % wholes.len()], &mut random);
        std::fs::write(&path, &bytes).unwrap();
        let name = [None, Some("episode_index")][random.below(2)];
        let mut results = Vec::new();
        let measured = allocation_counter::measure(|| {
            let sources = recordings_of(vec![path.clone()], name).unwrap_or_default();
            results = load_recordings(&sources, 1, &|_: &str| true, |file| file.numbers(&["x"]));
            results.push(RecordingFile::load(&path).and_then(|file| file.numbers(&["state[2]"])));
        });
        assert!(measured.bytes_max < MOST_BYTES, "case {case}: {measured:?}");
        used += usize::from(results.iter().all(Result::is_ok));
        for error in results.into_iter().filter_map(Result::err) {
            let text = error.to_string();
            assert!(text.contains("all.parquet") && text.lines().count() == 1, "{text}");
        }
    }
    assert!((count / 100..count).contains(&used), "{used} of {count}");
}
