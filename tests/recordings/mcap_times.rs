//! Messages of several topics, each at times of its own, in the rows of one.

use stiction::Error;
use stiction::trajectory::{
    ColumnMap, ColumnSource, RecordingFile, WantedColumns, load_recordings, recordings_of,
};

use super::mcap_writer::{Bag, Cdr, HEADER, definition};
use crate::fixtures::folder::Folder;
use crate::fixtures::scenes::scene;

const MS: i64 = 1_000_000;
/// A time that is no date, as of a simulation.
const BEGIN: i64 = 100_000 * MS;
/// ns since 1970.
const DATE: i64 = 1_700_000_000_123_456_789;

/// A column of times, others, and inputs among these.
struct Asked(&'static str, &'static [&'static str], &'static [&'static str]);

impl WantedColumns for Asked {
    fn has(&self, name: &str) -> bool {
        name == self.0 || self.1.contains(&name)
    }

    fn may_begin(&self, start: &str) -> bool {
        [self.0].iter().chain(self.1).any(|name| name.starts_with(start))
    }

    fn time(&self) -> Option<&str> {
        Some(self.0)
    }

    fn is_input(&self, name: &str) -> bool {
        self.2.contains(&name)
    }
}

/// Messages `x` of a topic: when they were measured (ns), if they say so, recorded, and the number.
struct Series(&'static str, Vec<(Option<i64>, i64, f64)>);

fn load(folder: &str, all: &[Series], asked: &Asked) -> Result<RecordingFile, Error> {
    let folder = Folder::new(folder);
    let mut bag = Bag::new(Some(500));
    for Series(topic, messages) in all {
        let stamped = messages[0].0.is_some();
        let text = match stamped {
            true => definition("std_msgs/Header header\nfloat64 x", &[("std_msgs/Header", HEADER)]),
            false => "float64 x".to_string(),
        };
        let kind = if stamped { "a_msgs/msg/Stamped" } else { "a_msgs/msg/Plain" };
        let channel = bag.topic(topic, kind, &text);
        for &(stamp, log, x) in messages {
            let cdr = Cdr::new(false);
            let cdr = if let Some(stamp) = stamp { cdr.header(stamp) } else { cdr };
            bag.message(channel, [log, log - MS], cdr.f64(x).bytes());
        }
    }
    let path = folder.path("run.mcap");
    std::fs::write(&path, bag.finish()).unwrap();
    let sources = recordings_of(vec![path], None).unwrap();
    load_recordings(&sources, 1, asked, Ok).remove(0)
}

/// Times and numbers of the columns that are asked for.
fn rows(folder: &str, all: &[Series], asked: &Asked) -> Vec<Vec<Option<f64>>> {
    let file = load(folder, all, asked).unwrap();
    let names = [&[asked.0], asked.1].concat();
    assert_eq!(file.columns().count(), names.len());
    file.numbers(&names).unwrap()
}

/// Ten rows, 10 ms apart, recorded 5 ms later.
fn frames(begin: i64) -> Series {
    let message = |k: i64| (Some(begin + 10 * MS * k), begin + (10 * k + 5) * MS, k as f64);
    Series("/a", (0..10).map(message).collect())
}

fn near(found: Option<f64>, expected: Option<f64>) -> bool {
    match (found, expected) {
        (Some(found), Some(expected)) => (found - expected).abs() < 1e-9,
        (found, expected) => found == expected,
    }
}

#[test]
fn numbers_are_brought_to_the_rows_of_the_times() {
    // Every 4 ms from 5 ms on to 73 ms, but for what is between 25 and 49; recorded in another order, late.
    let at = |k: i64| BEGIN + (5 + 4 * k) * MS;
    let line = |k: i64| (Some(at(k)), BEGIN + (50 - k) * MS, (5 + 4 * k) as f64);
    let b = || Series("/b", (0..18).filter(|k| !(6..11).contains(k)).rev().map(line).collect());
    // Without stamps, the time it was recorded at; the two before last are at one time, and the first of them is no number.
    let mut plain: Vec<_> = (0..25).map(|k| (None, BEGIN + 4 * k * MS, (4 * k) as f64)).collect();
    plain.push((None, BEGIN + 200 * MS, f64::NAN));
    plain.push((None, BEGIN + 200 * MS, 200.0));
    let c = || Series("/c", plain.clone());
    let asked = Asked("/a.header.stamp", &["/a.x", "/b.x", "/c.x"], &[]);
    let found = rows("mcap-rows", &[c(), b(), frames(BEGIN)], &asked);
    assert_eq!(found.len(), 10);
    for (k, row) in found.iter().enumerate() {
        let ms = 10.0 * k as f64;
        assert!(near(row[0], Some(100.0 + 1e-3 * ms)), "{row:?}");
        assert_eq!(row[1], Some(k as f64));
        // Nothing before and after, nor where it is unknown for too long.
        let known = (5.0..=25.0).contains(&ms) || (49.0..=73.0).contains(&ms);
        assert!(near(row[2], known.then_some(ms)), "{ms} {row:?}");
        // By when both were recorded.
        assert!(near(row[3], Some(ms + 5.0)), "{ms} {row:?}");
    }
    // By when all were recorded, or sent.
    for (time, later) in [("/a.log_time", 5.0), ("/a.publish_time", 4.0)] {
        let asked = Asked(time, &["/c.x"], &[]);
        let found = rows("mcap-log", &[frames(BEGIN), c()], &asked);
        assert!(
            near(found[3][0], Some(100.03 + 1e-3 * later)) && near(found[3][1], Some(35.0)),
            "{found:?}"
        );
    }
    // The rows of the plain topic: the two of one time are one.
    let asked = Asked("/c.log_time", &["/c.x"], &[]);
    let mut file = load("mcap-equal", &[c()], &asked).unwrap();
    let model =
        scene("simulation.time_step = 0.01\n[[body]]\nname = 'a'\nmass = 1\ninertia = 1").model;
    let mut map = ColumnMap::new(&model);
    map.set(&model, "t", Some("/c.log_time")).unwrap();
    assert_eq!(file.merge_times(&map).unwrap(), 0);
    let last = file.numbers(&["/c.x"]).unwrap();
    assert_eq!((last.len(), last[25][0]), (26, Some(200.0)));
}

#[test]
fn inputs_keep_their_times() {
    let b =
        || Series("/b", (-3..97).map(|k| (Some(DATE + k * MS), DATE + 7 * MS, k as f64)).collect());
    let asked = Asked("/a.header.stamp", &["/a.x", "/b.x"], &["/b.x"]);
    let found = rows("mcap-inputs", &[frames(DATE), b()], &asked);
    assert_eq!(found.len(), 110);
    assert!(found.windows(2).all(|pair| pair[0][0] <= pair[1][0]));
    let known: Vec<_> = found.iter().filter(|row| row[2].is_some()).collect();
    for (k, row) in known.iter().enumerate() {
        assert!(row[1].is_none() && near(row[0], Some(1e-3 * (k as f64 - 3.0))), "{row:?}");
        assert_eq!(row[2], Some(k as f64 - 3.0));
    }
    assert_eq!(known.len(), 100);
    // Without stamps they have no times among those of stamps.
    let plain: Vec<_> = (0..100).map(|k| (None, DATE + k * MS, k as f64)).collect();
    let found = rows("mcap-plain", &[frames(DATE), Series("/b", plain)], &asked);
    assert_eq!(found.len(), 10);
    assert!(near(found[4][2], Some(45.0)), "{found:?}");
}

#[test]
fn dates_count_from_the_first_row_to_the_nanosecond() {
    let stamps = [DATE + 20 * MS + 1, DATE, DATE + 10 * MS + 3];
    let a = || Series("/a", stamps.iter().map(|&stamp| (Some(stamp), stamp, 0.0)).collect());
    let asked = Asked("/a.header.stamp", &["/a.x", "/a.log_time"], &[]);
    let found = rows("mcap-dates", &[a()], &asked);
    for (row, ns) in found.iter().zip([0_u32, 10_000_003, 20_000_001]) {
        assert_eq!(row[0], Some(1e-9 * f64::from(ns)));
        // Other times count from there, too.
        assert_eq!(row[2], row[0]);
    }
    // Whole numbers are what their unit says.
    let folder = Folder::new("mcap-whole");
    let mut bag = Bag::new(None);
    let channel = bag.topic("/n", "a_msgs/msg/N", "uint64 at\nfloat32 x");
    for &stamp in &stamps {
        bag.message(channel, [5, 5], Cdr::new(true).u64(stamp as u64).f32(0.5).bytes());
    }
    std::fs::write(folder.path("run.mcap"), bag.finish()).unwrap();
    let sources = recordings_of(vec![folder.path("run.mcap")], None).unwrap();
    let asked = Asked("/n.at", &["/n.x"], &[]);
    let mut file = load_recordings(&sources, 1, &asked, Ok).remove(0).unwrap();
    let model =
        scene("simulation.time_step = 0.01\n[[body]]\nname = 'a'\nmass = 1\ninertia = 1").model;
    let mut map = ColumnMap::new(&model);
    let source = ColumnSource {
        columns: vec!["/n.at".into()],
        unit: Some("ns".into()),
        ..ColumnSource::default()
    };
    map.set_source(&model, "t", &source).unwrap();
    file.merge_times(&map).unwrap();
    let times = file.times(&map).unwrap();
    assert_eq!(times, [0.0, 1e-9 * 10_000_003.0, 1e-9 * 20_000_001.0]);
}

/// Turns about z at 2 rad/s, of which every other message has the other sign.
#[test]
fn quaternions_stay_turns() {
    let folder = Folder::new("mcap-turns");
    let mut bag = Bag::new(None);
    let a = bag.topic("/a", "a_msgs/msg/A", "float64 x");
    let text = definition(
        "Quaternion rotation",
        &[("a_msgs/Quaternion", "float64 x\nfloat64 y\nfloat64 z\nfloat64 w")],
    );
    let b = bag.topic("/b", "a_msgs/msg/B", &text);
    for k in 0..40 {
        let time = BEGIN + 10 * MS * k;
        let half = 1e-2 * k as f64;
        let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
        let message = Cdr::new(false).f64s(&[0.0, 0.0, sign * half.sin(), sign * half.cos()]);
        bag.message(b, [time, time], message.bytes());
        bag.message(a, [time + 4 * MS, time], Cdr::new(false).f64(0.0).bytes());
    }
    std::fs::write(folder.path("run.mcap"), bag.finish()).unwrap();
    let sources = recordings_of(vec![folder.path("run.mcap")], None).unwrap();
    const TURNS: &[&str] = &["/b.rotation.z", "/b.rotation.w", "/b.rotation.x", "/b.rotation.y"];
    let file =
        load_recordings(&sources, 1, &Asked("/a.log_time", TURNS, &[]), Ok).remove(0).unwrap();
    let found = file.numbers(&TURNS[..2]).unwrap();
    for (k, row) in found[..39].iter().enumerate() {
        let half = 1e-2 * (k as f64 + 0.4);
        let [Some(z), Some(w)] = row[..] else { panic!("{k}: {row:?}") };
        assert!((z * z + w * w - 1.0).abs() < 1e-12);
        // The chord instead of the arc between two messages.
        assert!((z - half.sin()).abs() < 1e-7 && (w - half.cos()).abs() < 1e-7, "{k}: {row:?}");
    }
    assert_eq!(found[39], [None, None]);
}

#[test]
fn which_messages_are_rows_is_said_or_clear() {
    let two = || [frames(BEGIN), Series("/b", frames(BEGIN).1)];
    // One topic needs no time.
    let asked = Asked("t", &["/a.x"], &[]);
    let found = rows("mcap-alone", &two(), &asked);
    assert!(near(found[3][0], Some(100.03)), "{found:?}");
    let error =
        load("mcap-which", &two(), &Asked("t", &["/a.x", "/b.x"], &[])).unwrap_err().to_string();
    assert!(
        error.contains(
            "run.mcap: t: which messages are the rows? `t = \"/a.header.stamp\"` in [columns]"
        ) && error.ends_with("columns are read of /a, /b"),
        "{error}"
    );
    let model =
        scene("simulation.time_step = 0.01\n[[body]]\nname = 'a'\nmass = 1\ninertia = 1").model;
    let mut map = ColumnMap::new(&model);
    map.set(&model, "t", Some("/a.stamp")).unwrap();
    let mut file = load("mcap-none", &two(), &Asked("/a.stamp", &["/b.x"], &[])).unwrap();
    let error = file.merge_times(&map).unwrap_err().to_string();
    assert!(
        error.contains("run.mcap: /a.stamp: the column is missing; [columns]")
            && error.contains("/a.header.stamp"),
        "{error}"
    );
}

/// Where angles begin again, and where nine of ten intervals are short, what lies between is not made up.
#[test]
fn what_lies_between_is_not_made_up() {
    let asked = Asked("/a.header.stamp", &["/b.x"], &[]);
    let every = |k: i64| BEGIN + (4 + 10 * k) * MS;
    // 2.9, 3.0, 3.1, -3.1, ..: what turns on.
    let turning = |k: i64| if k < 3 { 2.9 + 0.1 * k as f64 } else { -3.1 + 0.1 * (k - 3) as f64 };
    let b = (0..10).map(|k| (Some(every(k)), every(k), turning(k)));
    let found = rows("mcap-turn", &[frames(BEGIN), Series("/b", b.collect())], &asked);
    let known: Vec<bool> = found.iter().map(|row| row[1].is_some()).collect();
    assert_eq!(known, [false, true, true, false, true, true, true, true, true, true]);
    assert!(near(found[1][1], Some(2.96)) && near(found[4][1], Some(-3.04)), "{found:?}");
    // Ten intervals, one of which is long.
    let late = |k: i64| every(k) - if k < 5 { 100 * MS } else { 0 };
    let b = (0..11).map(|k| (Some(late(k)), late(k), 500.0 + k as f64));
    let found = rows("mcap-ten", &[frames(BEGIN), Series("/b", b.collect())], &asked);
    let known: Vec<bool> = found.iter().map(|row| row[1].is_some()).collect();
    assert_eq!(known, [false, false, false, false, false, false, true, true, true, true]);
}

/// Stamps of one topic since 1970 and of another since its computer was started have no time in common, which is said.
#[test]
fn clocks_that_never_meet_are_told() {
    let boot = |k: i64| (Some(4 * k * MS), DATE + 4 * k * MS, k as f64);
    let all = || [frames(DATE), Series("/b", (0..30).map(boot).collect())];
    for inputs in [&[][..], &["/b.x"]] {
        let asked = Asked("/a.header.stamp", &["/a.x", "/b.x"], inputs);
        let error = load("mcap-clocks", &all(), &asked).unwrap_err().to_string();
        assert!(
            error.contains(
                "run.mcap: /b.x: no message is of the time of the rows, which are those of /a"
            ) && error.contains("`t = \"/a.log_time\"`"),
            "{error}"
        );
        let asked = Asked("/a.log_time", &["/a.x", "/b.x"], inputs);
        load("mcap-clocks", &all(), &asked).unwrap();
    }
}

/// Numbers that are called as those of a quaternion and are no turn stay what they are.
#[test]
fn forces_of_four_wheels_are_no_quaternion() {
    let folder = Folder::new("mcap-wheels");
    let mut bag = Bag::new(None);
    let head = definition("std_msgs/Header header\nfloat64 x", &[("std_msgs/Header", HEADER)]);
    let a = bag.topic("/a", "a_msgs/msg/A", &head);
    let four = "std_msgs/Header header\nfloat64 x\nfloat64 y\nfloat64 z\nfloat64 w";
    let b = bag.topic("/b", "a_msgs/msg/B", &definition(four, &[("std_msgs/Header", HEADER)]));
    for k in 0..10_i64 {
        let time = BEGIN + 10 * MS * k;
        bag.message(a, [time, time], Cdr::new(false).header(time).f64(0.0).bytes());
        let (time, sign) = (time + 5 * MS, if k % 2 == 0 { 1.0 } else { -1.0 });
        let cdr = Cdr::new(false).header(time).f64(80.0 * sign).f64(300.0).f64(0.0).f64(2.0);
        bag.message(b, [time, time], cdr.bytes());
    }
    let path = folder.path("run.mcap");
    std::fs::write(&path, bag.finish()).unwrap();
    let sources = recordings_of(vec![path], None).unwrap();
    let asked = Asked("/a.header.stamp", &["/b.x", "/b.y", "/b.z", "/b.w"], &[]);
    let file = load_recordings(&sources, 1, &asked, Ok).remove(0).unwrap();
    let found = file.numbers(&["/b.x", "/b.y", "/b.z", "/b.w"]).unwrap();
    assert_eq!(found[0], [None; 4]);
    assert!(
        found[1..].iter().all(|row| *row == [Some(0.0), Some(300.0), Some(0.0), Some(2.0)]),
        "{found:?}"
    );
}
