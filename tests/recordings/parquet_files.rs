//! Parquet: many recordings a file, read as the same numbers in CSV are.

use std::fmt::Write as _;

use parquet::basic::Compression;
use parquet::file::properties::{WriterProperties, WriterVersion};
use stiction::identify::{Dataset, Experiment, fit};
use stiction::simulation::Rollout;
use stiction::trajectory::{RecordingFile, Trajectory};

use super::ARM;
use super::parquet_writer::{Cells, write};
use crate::fixtures::folder::Folder;
use crate::fixtures::processes::on_processes;
use crate::fixtures::scenes::scene;

/// How many frames each recording has.
const FRAMES: [usize; 3] = [41, 30, 55];

/// Time and angles of the frames of a recording, in single precision.
fn motion(k: usize) -> Vec<[f64; 3]> {
    let scene = scene(ARM);
    let mut state = scene.state.clone();
    state.q[0] = 0.5 + 0.4 * k as f64;
    state.q[1] = -0.3 * k as f64;
    let mut rollout = Rollout::new(scene.system(), state);
    let rounded = |x: f64| f64::from(x as f32);
    let mut rows = Vec::new();
    for frame in 0..FRAMES[k] {
        let q = &rollout.state.q;
        let error = 1e-3 * ((frame * 37 % 11) as f64 / 5.0 - 1.0);
        rows.push([0.01 * frame as f64, rounded(q[0] + error), rounded(q[1] - error)]);
        rollout.step(&scene.inputs);
    }
    rows
}

/// The frame of a recording whose second angle was not measured.
fn lost(k: usize, frame: usize) -> bool {
    frame > 0 && (frame + k).is_multiple_of(7)
}

fn experiment_text(data: &str, columns: &str) -> String {
    format!(
        "scene = 'scene.toml'\ndata = [{data}]\ninitial_state = 'fitted'\nprofiles = false\n\
         [noise]\nrotation_deg = 0.06\n[noise.joint.hand]\nrotation_deg = 0.1\n\
         [[parameter]]\nname = 'arm/damping'\nstart = 0.05\nlower = 1e-3\nupper = 0.5\n\
         [[parameter]]\nname = 'hand/damping'\nstart = 0.01\nlower = 1e-4\nupper = 0.5\n\
         [columns]\n{columns}"
    )
}

/// Each recording as CSV.
fn csv(folder: &Folder, gaps: bool) {
    for k in 0..FRAMES.len() {
        let mut text = String::from("t,arm/q,hand/q\n");
        for (frame, [t, arm, hand]) in motion(k).into_iter().enumerate() {
            let hand = if gaps && lost(k, frame) { String::new() } else { hand.to_string() };
            writeln!(text, "{t},{arm},{hand}").unwrap();
        }
        folder.write(&format!("{k}.csv"), &text);
    }
}

/// What is found, to the last bit.
fn found(experiment: &Experiment, threads: usize) -> (Vec<Trajectory>, Vec<u64>) {
    let mut dataset = Dataset::load_on(experiment, threads).unwrap();
    let fit = fit(experiment, &dataset, threads, &mut |_| true).unwrap();
    let values = fit.parameters.iter().flat_map(|p| [p.value, p.standard_error.unwrap()]);
    // Only their names differ.
    dataset.trajectories.iter_mut().for_each(|trajectory| trajectory.name.clear());
    (dataset.trajectories, values.map(f64::to_bits).collect())
}

/// Of all recordings, row by row: which it is, its frame, and the numbers there.
fn rows() -> Vec<(usize, usize, [f64; 3])> {
    let of = |k: usize| motion(k).into_iter().enumerate().map(move |(frame, row)| (k, frame, row));
    (0..FRAMES.len()).flat_map(of).collect()
}

fn plain() -> WriterProperties {
    WriterProperties::builder().build()
}

fn packed(compression: Compression, version: WriterVersion, page: usize) -> WriterProperties {
    let builder = WriterProperties::builder().set_compression(compression);
    let builder = builder.set_data_page_row_count_limit(page).set_write_batch_size(8);
    builder.set_writer_version(version).build()
}

/// Numbers of double precision in columns of our names, and `recording`.
fn doubles(gaps: bool) -> Named {
    let rows = rows();
    let hand = |&(k, frame, [.., hand]): &(usize, usize, [f64; 3])| {
        (!gaps || !lost(k, frame)).then_some(hand)
    };
    vec![
        ("t", Cells::numbers(rows.iter().map(|(.., [t, ..])| *t))),
        ("arm/q", Cells::numbers(rows.iter().map(|(.., [_, arm, _])| *arm))),
        ("note", Cells::Text(rows.iter().map(|(_, frame, _)| Some(frame.to_string())).collect())),
        ("hand/q", Cells::Double(rows.iter().map(hand).collect())),
        ("recording", Cells::whole(rows.iter().map(|(k, ..)| 7 - *k as i64))),
    ]
}

#[test]
fn the_same_numbers_as_in_csv_give_the_same_bits() {
    for gaps in [false, true] {
        let folder = Folder::new(&format!("parquet-bits-{gaps}"));
        folder.write("scene.toml", ARM);
        csv(&folder, gaps);
        let expected = found(&folder.experiment(&experiment_text("'?.csv'", "")).unwrap(), 1);
        // Recordings go across row groups of 16 rows, and pages of 8; two are in one group of 90.
        for (group, properties) in [
            (16, plain()),
            (90, packed(Compression::SNAPPY, WriterVersion::PARQUET_1_0, 8)),
            (1000, packed(Compression::GZIP(Default::default()), WriterVersion::PARQUET_2_0, 8)),
        ] {
            write(&folder.path("all.parquet"), &doubles(gaps), group, properties);
            let experiment = folder.experiment(&experiment_text("'all.parquet'", "")).unwrap();
            let names: Vec<String> = experiment.data.iter().map(|source| source.name()).collect();
            let named = |k: i64| format!("{}: recording {k}", folder.path("all.parquet").display());
            assert_eq!(names, [7, 6, 5].map(named));
            for threads in [1, 2, 3] {
                assert_eq!(found(&experiment, threads), expected, "{group} {threads}");
            }
            // Some of them, too.
            let mut some = experiment.clone();
            some.data.remove(1);
            let dataset = Dataset::load(&some).unwrap();
            let lengths = dataset.trajectories.iter().map(|t| t.times.len());
            assert_eq!(lengths.collect::<Vec<_>>(), [FRAMES[0], FRAMES[2]]);
        }
    }
}

/// Each process reads its own rows, and all come to the same.
#[test]
fn several_processes_read_their_rows() {
    let folder = Folder::new("parquet-processes");
    folder.write("scene.toml", ARM);
    write(&folder.path("all.parquet"), &doubles(true), 16, plain());
    let experiment = folder.experiment(&experiment_text("'all.parquet'", "")).unwrap();
    let expected = found(&experiment, 1).1;
    for count in [2, 3, 4] {
        let all = on_processes(count, |peers| {
            let dataset = Dataset::load_among(&experiment, peers, 1).unwrap();
            let own = dataset.trajectories.iter().filter(|t| !t.states.is_empty()).count();
            let fit = fit(&experiment, &dataset, 1, &mut |_| true).unwrap();
            let values = fit.parameters.iter().flat_map(|p| [p.value, p.standard_error.unwrap()]);
            (own, values.map(f64::to_bits).collect::<Vec<u64>>())
        });
        assert_eq!(all.iter().map(|(own, _)| own).sum::<usize>(), FRAMES.len());
        assert!(all.iter().all(|(_, values)| *values == expected), "{count}");
    }
    // Its rows are wrong: all are told, in the same words as one process.
    let mut wrong = doubles(false);
    let times = rows().into_iter().enumerate();
    wrong[0].1 = Cells::numbers(times.map(|(k, (.., [t, ..]))| if k == 100 { -1.0 } else { t }));
    write(&folder.path("all.parquet"), &wrong, 16, plain());
    let experiment = folder.experiment(&experiment_text("'all.parquet'", "")).unwrap();
    let alone = Dataset::load(&experiment).unwrap_err();
    assert!(alone.to_string().contains(":101"), "{alone}");
    for error in on_processes(3, |peers| Dataset::load_among(&experiment, peers, 1).unwrap_err()) {
        assert_eq!(error, alone);
    }
}

/// As LeRobot has them: single precision, lists, whole numbers beside.
#[test]
fn lists_of_single_precision_are_read() {
    let folder = Folder::new("parquet-lists");
    folder.write("scene.toml", ARM);
    csv(&folder, true);
    let expected = found(&folder.experiment(&experiment_text("'?.csv'", "")).unwrap(), 1);
    let rows = rows();
    let list = |&(k, frame, [_, arm, hand]): &(usize, usize, [f64; 3])| {
        let hand = (!lost(k, frame)).then_some(hand as f32);
        Some(vec![Some(0.25), Some(arm as f32), hand])
    };
    let episode = Cells::whole(rows.iter().map(|(k, ..)| *k as i64));
    let columns = vec![
        ("observation.state", Cells::Lists(rows.iter().map(list).collect())),
        ("language", Cells::Text(vec![Some("pick".into()); rows.len()])),
        ("timestamp", Cells::numbers(rows.iter().map(|(.., [t, ..])| *t))),
        ("next.done", Cells::Flag(vec![Some(false); rows.len()])),
        ("frame_index", Cells::whole(rows.iter().map(|(_, frame, _)| *frame as i64))),
        ("episode_index", episode),
    ];
    let names = "recording = 'episode_index'\nt = 'timestamp'\n'arm/q' = 'observation.state[1]'\n\
                 'hand/q' = 'observation.state[2]'\n";
    for group in [16, 1000] {
        let properties = packed(Compression::SNAPPY, WriterVersion::PARQUET_1_0, 24);
        write(&folder.path("chunk.parquet"), &columns, group, properties);
        let experiment = folder.experiment(&experiment_text("'chunk.parquet'", names)).unwrap();
        assert_eq!(found(&experiment, 2), expected);
    }
    let file = RecordingFile::load(folder.path("chunk.parquet")).unwrap();
    let header: Vec<&str> = file.columns().collect();
    let first = ["observation.state[0]", "observation.state[1]", "observation.state[2]"];
    assert_eq!(header[..3], first);
    assert_eq!(header[3..], ["timestamp", "next.done", "frame_index", "episode_index"]);
    let read = file.numbers(&["observation.state[0]", "next.done"]).unwrap();
    assert!(read.iter().all(|row| *row == [Some(0.25), Some(0.0)]));
    // Single precision in columns of their own.
    let single = |k: usize| {
        let cells = rows.iter().map(|(.., row)| Some(row[k] as f32));
        Cells::Float(cells.collect())
    };
    csv(&folder, false);
    let expected = found(&folder.experiment(&experiment_text("'?.csv'", "")).unwrap(), 1);
    let mut columns = doubles(false);
    (columns[1].1, columns[3].1) = (single(1), single(2));
    write(&folder.path("chunk.parquet"), &columns, 50, plain());
    let experiment = folder.experiment(&experiment_text("'chunk.parquet'", "")).unwrap();
    assert_eq!(found(&experiment, 1), expected);
}

/// Stamps of nanoseconds since 1970 have more digits than double precision; recordings may have names.
#[test]
fn stamps_keep_all_digits_and_recordings_may_have_names() {
    let folder = Folder::new("parquet-stamps");
    folder.write("scene.toml", ARM);
    let stamp = |frame: usize| 1_700_000_000_123_456_789 + 10_000_000 * frame as i64;
    for k in 0..FRAMES.len() {
        let mut text = String::from("stamp,arm/q,hand/q\n");
        for (frame, [_, arm, hand]) in motion(k).into_iter().enumerate() {
            writeln!(text, "{},{arm},{hand}", stamp(frame)).unwrap();
        }
        folder.write(&format!("{k}.csv"), &text);
    }
    let mut columns = doubles(false);
    columns[0] = ("stamp", Cells::whole(rows().iter().map(|(_, frame, _)| stamp(*frame))));
    let names = rows().iter().map(|(k, ..)| Some(format!("throw {k}"))).collect();
    columns[4] = ("recording", Cells::Text(names));
    write(&folder.path("all.parquet"), &columns, 64, plain());
    let stamped = "t = { column = 'stamp', unit = 'ns' }\n";
    let [csv, parquet] = ["'?.csv'", "'all.parquet'"]
        .map(|data| folder.experiment(&experiment_text(data, stamped)).unwrap());
    assert!(parquet.data[1].name().ends_with("all.parquet: recording throw 1"));
    let [csv, parquet] = [csv, parquet].map(|e| Dataset::load(&e).unwrap().trajectories);
    for (csv, parquet) in csv.iter().zip(&parquet) {
        assert_eq!((&csv.times, &csv.states), (&parquet.times, &parquet.states));
    }
}

#[test]
fn a_file_without_recordings_is_one_and_folders_have_parquet() {
    let folder = Folder::new("parquet-one");
    folder.write("scene.toml", ARM);
    let mut columns = doubles(false);
    columns.pop();
    for (_, cells) in &mut columns {
        match cells {
            Cells::Double(cells) => cells.truncate(FRAMES[0]),
            Cells::Text(cells) => cells.truncate(FRAMES[0]),
            _ => {}
        }
    }
    let inside = folder.path("inside");
    std::fs::create_dir_all(&inside).unwrap();
    write(&inside.join("one.parquet"), &columns, 16, plain());
    std::fs::write(inside.join("meta.npz"), "PK").unwrap();
    let experiment = folder.experiment(&experiment_text("'inside'", "")).unwrap();
    assert_eq!(experiment.data.len(), 1);
    let dataset = Dataset::load(&experiment).unwrap();
    assert_eq!(dataset.trajectories[0].times.len(), FRAMES[0]);
    assert!(dataset.trajectories[0].name.ends_with("one.parquet"));
    let says = folder.experiment(&experiment_text("'inside'", "recording = 'episode_index'\n"));
    let says = says.unwrap_err();
    assert!(
        says.contains("one.parquet: episode_index: the column is missing, which tells recordings apart; the file begins with t,arm/q,"),
        "{says}"
    );
}

/// Columns by their names.
type Named = Vec<(&'static str, Cells)>;

/// Columns that cannot be meant, what an experiment names beside our names, and what is said of them.
fn wrong() -> Vec<(Named, &'static str, &'static str)> {
    let count = rows().len();
    let cells = |of: usize, row: usize, x: Option<f64>| {
        let mut columns = doubles(false);
        if let Cells::Double(cells) = &mut columns[of].1 {
            cells[row] = x;
        }
        columns
    };
    let replaced = |of: usize, name: &'static str, cells: Cells| {
        let mut columns = doubles(false);
        columns[of] = (name, cells);
        columns
    };
    let twice = Cells::whole((0..count).map(|row| i64::from(row >= 41) * i64::from(row < 71)));
    let mut missing: Vec<Option<i64>> = vec![Some(0); count];
    missing[50] = None;
    let list = |odd: Option<usize>| {
        let of = |row: usize| vec![Some(row as f32); if Some(row) == odd { 3 } else { 2 }];
        Cells::Lists((0..count).map(|row| Some(of(row))).collect())
    };
    let listed = "'hand/q' = 'state[1]'\n";
    let text = || Cells::Text(vec![Some("x".to_string()); count]);
    vec![
        (
            replaced(4, "recording", twice),
            "",
            "all.parquet:72: recording: recording 0 is in two places: rows 1 to 41, and again here",
        ),
        (
            replaced(4, "recording", Cells::Whole(missing)),
            "",
            "all.parquet:51: recording: is empty",
        ),
        (
            replaced(4, "recording", Cells::numbers(vec![0.5; count])),
            "",
            "all.parquet: recording: tells recordings apart by whole numbers or text, and is of numbers that are not whole",
        ),
        (
            cells(0, 60, Some(0.1)),
            "",
            "all.parquet:61: t: must increase from row to row, found 0.1 after 0.18",
        ),
        (cells(1, 60, Some(f64::INFINITY)), "", "all.parquet:61: arm/q: must be finite, found inf"),
        (cells(0, 60, None), "", "all.parquet:61: t: must be finite"),
        (
            doubles(false),
            "'hand/q' = 'elbow'\n",
            "all.parquet: elbow: the column is missing (hand/q); the file begins with t,arm/q,note,hand/q,recording;",
        ),
        (
            doubles(false),
            "'hand/q' = 'note'\n",
            "all.parquet: note: must be of numbers, and is of text",
        ),
        (
            replaced(3, "hand/q", text()),
            "",
            "all.parquet: hand/q: must be of numbers, and is of text",
        ),
        (
            replaced(3, "state", list(None)),
            "'hand/q' = 'state[2]'\n",
            "all.parquet: state[2]: is a list of 2 numbers: ask for state[0] to state[1]",
        ),
        (
            replaced(3, "state", list(None)),
            "'hand/q' = 'state'\n",
            "all.parquet: state: is a list of 2 numbers",
        ),
        (
            replaced(3, "state", list(Some(80))),
            listed,
            "all.parquet:81: state[1]: is a list of 3 numbers, and the first of the file has 2",
        ),
    ]
}

#[test]
fn what_cannot_be_meant_is_one_message() {
    let folder = Folder::new("parquet-wrong");
    folder.write("scene.toml", ARM);
    for (columns, named, says) in wrong() {
        write(&folder.path("all.parquet"), &columns, 64, plain());
        let experiment = folder.experiment(&experiment_text("'all.parquet'", named));
        for threads in [1, 3] {
            let read = experiment.clone().and_then(|experiment| {
                let read = Dataset::load_on(&experiment, threads);
                read.map_err(|error| error.to_string())
            });
            let error = read.map(|_| ()).unwrap_err();
            assert!(error.contains(says), "{error}\n{says}");
        }
    }
    folder.write("all.parquet", "t,arm/q\n0,1\n0.1,1\n");
    let error = folder.experiment(&experiment_text("'all.parquet'", "")).unwrap_err();
    assert_eq!(
        error,
        "all.parquet: is not Parquet, or is cut off: it does not begin and end with PAR1"
    );
    let error = folder.experiment(&experiment_text("'none.parquet'", "")).unwrap_err();
    assert!(error.contains("none.parquet: no such file"), "{error}");
}

/// A recording that is cut in two by files is told; recordings of one name in two files are two.
#[test]
fn a_recording_in_two_files_is_refused() {
    let folder = Folder::new("parquet-cut");
    folder.write("scene.toml", ARM);
    let whole = doubles(false);
    let rows = |first: usize, last: usize| -> Named {
        let part = |cells: &Cells| match cells {
            Cells::Double(x) => Cells::Double(x[first..last].to_vec()),
            Cells::Whole(x) => Cells::Whole(x[first..last].to_vec()),
            Cells::Text(x) => Cells::Text(x[first..last].to_vec()),
            _ => unreachable!(),
        };
        whole.iter().map(|(name, cells)| (*name, part(cells))).collect()
    };
    let count = self::rows().len();
    let read = |place: usize, end: usize| {
        write(&folder.path("a.parquet"), &rows(0, place), 64, plain());
        write(&folder.path("b.parquet"), &rows(end, count), 64, plain());
        let experiment = folder.experiment(&experiment_text("'a.parquet', 'b.parquet'", ""));
        Dataset::load_on(&experiment.unwrap(), 1).map(|dataset| dataset.trajectories.len())
    };
    // In the middle of the second recording; between two; and with the first one in both.
    let said = read(FRAMES[0] + 10, FRAMES[0] + 10).unwrap_err().to_string();
    assert!(said.contains("b.parquet: recording 6: goes on where"), "{said}");
    assert!(said.contains("a.parquet: recording 6 ends"), "{said}");
    assert_eq!(read(FRAMES[0], FRAMES[0]).unwrap(), 3);
    assert_eq!(read(FRAMES[0], 0).unwrap(), 4);
}

/// From one of several processes, too, whichever has it.
#[cfg(all(feature = "cli", unix))]
#[test]
fn what_cannot_be_meant_is_said_by_one_process() {
    use crate::fixtures::mpirun::{processes, refused, there_is_mpi};
    if !there_is_mpi() {
        return;
    }
    let folder = Folder::new("parquet-wrong-mpi");
    folder.write("scene.toml", ARM);
    let refused = |count: usize, named: &str, says: &str| {
        folder.write("e.toml", &experiment_text("'all.parquet'", named));
        refused(&mut processes(&folder, count, &["e.toml", "--threads", "1"]), says);
    };
    for (k, (columns, named, says)) in wrong().into_iter().enumerate() {
        write(&folder.path("all.parquet"), &columns, 64, plain());
        refused([2, 3, 5][k % 3], named, says);
    }
    folder.write("all.parquet", "t,arm/q\n0,1\n0.1,1\n");
    refused(3, "", "all.parquet: is not Parquet");
    std::fs::remove_file(folder.path("all.parquet")).unwrap();
    refused(3, "", "all.parquet: no such file");
}

#[cfg(feature = "cli")]
#[test]
fn commands_read_it() {
    use crate::fixtures::program::{refuses, succeeds};
    let folder = Folder::new("parquet-command");
    folder.write("scene.toml", ARM);
    folder.write("e.toml", &experiment_text("'all.parquet'", ""));
    write(&folder.path("all.parquet"), &doubles(true), 64, plain());
    let said = succeeds(&folder.run(&["evaluate", "e.toml", "--json"]));
    assert!(said.contains("all.parquet: recording 6"), "{said}");
    succeeds(&folder.run(&["evaluate", "--scene", "scene.toml", "--data", "all.parquet"]));
    let init = |made| ["init", made, "--scene", "scene.toml", "--recordings", "all.parquet"];
    assert!(folder.run(&init("made")).status.success());
    assert!(!folder.read("made/experiment.toml").contains("recording ="));
    let mut columns = doubles(true);
    columns[4].0 = "episode_index";
    write(&folder.path("all.parquet"), &columns, 64, plain());
    assert!(folder.run(&init("episodes")).status.success());
    let made = folder.read("episodes/experiment.toml");
    assert!(made.contains("\"recording\" = \"episode_index\""), "{made}");
    assert!(!made.contains("not used: episode"), "{made}");
    let whole = std::fs::read(folder.path("all.parquet")).unwrap();
    std::fs::write(folder.path("all.parquet"), &whole[..whole.len() / 2]).unwrap();
    refuses(&folder.run(&["evaluate", "e.toml"]), &["all.parquet: is not Parquet, or is cut off"]);
}
