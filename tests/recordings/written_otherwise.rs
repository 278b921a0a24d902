//! The same motion in other units, orders, frames and files.

use std::fmt::Write as _;
#[cfg(feature = "cli")]
use std::io::Write as _;

use nalgebra::{Isometry3, Rotation3, Translation3, UnitQuaternion, Vector3};
#[cfg(feature = "cli")]
use stiction::identify::evaluate;
use stiction::identify::{Dataset, Experiment};
use stiction::model::System;
use stiction::simulation::Rollout;
use stiction::state::State;
use stiction::trajectory::{RecordingFile, Trajectory};

use crate::fixtures::folder::Folder;
use crate::fixtures::scenes::scene;

const FLYING: &str = "[simulation]
time_step = 0.01
[[body]]
name = 'kite'
mass = 0.4
inertia = [1e-3, 2e-3, 2.5e-3]
position = [0.1, -0.2, 3]
orientation = [0.5, -0.5, 0.5, 0.5]
velocity = [1, 0.4, 2]
angular_velocity = [2, -3, 4]
[[body]]
name = 'wheel'
joint = { type = 'revolute', axis = [0, 1, 0], q = 0.4, v = 3 }
position = [5, 0, 1]
mass = 0.2
inertia = 1e-3
";

fn motion() -> Vec<(f64, State<f64>)> {
    let scene = scene(FLYING);
    let system =
        System { model: &scene.model, parameters: &scene.parameters, settings: &scene.settings };
    let mut rollout = Rollout::new(system, scene.state.clone());
    let mut rows = vec![(0.0, scene.state)];
    for k in 1..=30 {
        rollout.step(&scene.inputs);
        rows.push((0.01 * f64::from(k), rollout.state.clone()));
    }
    rows
}

/// The pose of the kite.
fn pose(state: &State<f64>) -> Isometry3<f64> {
    let q = &state.q;
    let turn = UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(q[3], q[4], q[5], q[6]));
    Isometry3::from_parts(Translation3::new(q[0], q[1], q[2]), turn)
}

fn vector(x: &[f64]) -> Vector3<f64> {
    Vector3::new(x[0], x[1], x[2])
}

/// A CSV file of what `write` gives of each frame.
fn file(header: &str, write: impl Fn(f64, &State<f64>) -> Vec<f64>) -> String {
    let mut text = format!("{header}\n");
    for (t, state) in motion() {
        let row: Vec<String> = write(t, &state).iter().map(f64::to_string).collect();
        writeln!(text, "{}", row.join(",")).unwrap();
    }
    text
}

fn load(name: &str, recording: &str, tables: &str) -> Result<(Experiment, Dataset), String> {
    let folder = Folder::new(name);
    folder.write("scene.toml", FLYING);
    folder.write("motion.csv", recording);
    let experiment = folder.experiment(&format!(
        "scene = 'scene.toml'\ndata = ['motion.csv']\n[noise]\nposition = 1e-3\nrotation_deg = 0.1\n{tables}\
         [[parameter]]\nname = 'kite/mass'\nstart = 0.4\n"
    ))?;
    let dataset = Dataset::load(&experiment).map_err(|error| error.to_string())?;
    Ok((experiment, dataset))
}

/// That what is read is the motion: configurations, and velocities where they are recorded.
fn is_motion(name: &str, read: &Trajectory, velocities: &[usize]) {
    let motion = motion();
    assert_eq!(read.times.len(), motion.len(), "{name}");
    for ((t, found), (time, state)) in read.times.iter().zip(&read.states).zip(&motion) {
        assert!((t - time).abs() < 1e-12, "{name}: {t} {time}");
        let sign =
            if found.q[3] * state.q[3] + found.q[4] * state.q[4] + found.q[5] * state.q[5] < 0.0 {
                -1.0
            } else {
                1.0
            };
        for k in 0..8 {
            let factor = if (3..7).contains(&k) { sign } else { 1.0 };
            assert!(
                (factor * found.q[k] - state.q[k]).abs() < 1e-11,
                "{name} {k}: {:?} {:?}",
                found.q,
                state.q
            );
        }
        for &k in velocities {
            assert!(
                (found.v[k] - state.v[k]).abs() < 1e-11,
                "{name} {k}: {:?} {:?}",
                found.v,
                state.v
            );
        }
    }
}

const ALL: [usize; 7] = [0, 1, 2, 3, 4, 5, 6];

#[test]
fn orientations_are_read_as_they_are_written() {
    let wheel = "'wheel/q' = 'wheel'\n'wheel/v' = false\n'kite/velocity' = false\n'kite/angular_velocity' = false\n'kite/position' = ['x', 'y', 'z']\n";
    let angles = |state: &State<f64>| {
        // Roll, pitch, yaw about fixed axes x, y, z.
        let (roll, pitch, yaw) = pose(state).rotation.euler_angles();
        vec![roll, pitch, yaw]
    };
    let degrees = |x: Vec<f64>| x.into_iter().map(f64::to_degrees).collect::<Vec<f64>>();
    type Written<'a> = Box<dyn Fn(&State<f64>) -> Vec<f64> + 'a>;
    let cases: Vec<(&str, &str, Written)> = vec![
        (
            "xyzw",
            "columns = ['a', 'b', 'c', 'd'], as = 'xyzw'",
            Box::new(|s| vec![s.q[4], s.q[5], s.q[6], s.q[3]]),
        ),
        ("wxyz", "columns = ['a', 'b', 'c', 'd']", Box::new(|s| s.q[3..7].to_vec())),
        (
            "vector",
            "columns = ['a', 'b', 'c'], as = 'rotation_vector'",
            Box::new(|s| pose(s).rotation.scaled_axis().as_slice().to_vec()),
        ),
        (
            "fixed",
            "columns = ['a', 'b', 'c'], as = 'euler', sequence = 'xyz', axes = 'fixed'",
            Box::new(angles),
        ),
        (
            "moving",
            "columns = ['a', 'b', 'c'], as = 'euler', sequence = 'zyx', axes = 'moving', unit = 'deg'",
            Box::new(|s| degrees(angles(s).into_iter().rev().collect())),
        ),
        (
            "matrix",
            "columns = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'], as = 'matrix'",
            Box::new(|s| {
                Rotation3::from(pose(s).rotation).matrix().transpose().as_slice().to_vec()
            }),
        ),
    ];
    for (name, said, write) in cases {
        let count = write(&motion()[0].1).len();
        let letters: Vec<String> = ('a'..='i').take(count).map(String::from).collect();
        let text = file(&format!("t,x,y,z,{},wheel", letters.join(",")), |t, s| {
            [&[t], &s.q[..3], &write(s), &s.q[7..]].concat()
        });
        let columns = format!("[columns]\n{wheel}'kite/orientation' = {{ {said} }}\n");
        let (_, dataset) = load(&format!("turned-{name}"), &text, &columns).unwrap();
        is_motion(name, &dataset.trajectories[0], &[]);
    }
}

#[test]
fn units_and_frames_are_those_of_the_tracker() {
    // The tracker's world, in ours; and what it tracks, in the kite.
    let turn = UnitQuaternion::from_euler_angles(0.3, -0.5, 1.1);
    let world = Isometry3::from_parts(Translation3::new(0.4, -0.2, 0.7), turn);
    let turn = UnitQuaternion::from_euler_angles(-0.8, 0.2, 0.4);
    let tracked = Isometry3::from_parts(Translation3::new(0.05, -0.02, 0.03), turn);
    let of = |pose: &Isometry3<f64>| {
        let (p, q) = (pose.translation.vector, pose.rotation);
        format!(
            "position = [{}, {}, {}], orientation = [{}, {}, {}, {}]",
            p.x, p.y, p.z, q.w, q.i, q.j, q.k
        )
    };
    let tables = format!(
        "[columns]\nt = {{ unit = 'us' }}\n'kite/position' = {{ unit = 'mm' }}\n\
         'kite/velocity' = {{ unit = 'cm/s', frame = 'body' }}\n'kite/angular_velocity' = {{ unit = 'rpm', frame = 'world' }}\n\
         'wheel/q' = {{ unit = 'deg', scale = -1, offset = 0.1 }}\n'wheel/v' = {{ unit = 'rpm' }}\n\
         [recordings]\n{}\n[recordings.tracked]\nkite = {{ {} }}\n",
        of(&world).replace("], o", "]\no"),
        of(&tracked)
    );
    let header = "t,kite/px,kite/py,kite/pz,kite/qw,kite/qx,kite/qy,kite/qz,kite/vx,kite/vy,kite/vz,kite/wx,kite/wy,kite/wz,wheel/q,wheel/v";
    let rpm = 60.0 / std::f64::consts::TAU;
    let text = file(header, |t, state| {
        let body = pose(state);
        let seen = world.inverse() * body * tracked;
        // Of the body in our world, then of the point that is tracked, then along the axes of what is tracked.
        let spin = body.rotation * vector(&state.v[3..6]);
        let speed =
            vector(&state.v[..3]) + spin.cross(&(body.rotation * tracked.translation.vector));
        let (speed, spin) = (world.rotation.inverse() * speed, world.rotation.inverse() * spin);
        let speed = seen.rotation.inverse() * speed;
        let (p, q) = (seen.translation.vector, seen.rotation);
        let wheel = [(0.1 - state.q[7]).to_degrees(), state.v[6] * rpm];
        [
            &[1e6 * t, 1e3 * p.x, 1e3 * p.y, 1e3 * p.z, q.w, q.i, q.j, q.k],
            (100.0 * speed).as_slice(),
            (rpm * spin).as_slice(),
            &wheel,
        ]
        .concat()
    });
    let (_, dataset) = load("tracker", &text, &tables).unwrap();
    is_motion("tracker", &dataset.trajectories[0], &ALL);
    // What is not recorded is where the scene has it, whatever the frame of the recordings.
    let places =
        file("t,kite/px,kite/py,wheel/q", |t, s| vec![t, s.q[0] - 1.0, s.q[1] - 2.0, s.q[7]]);
    let moved = "[columns]\n'kite/pz' = false\n'kite/orientation' = false\n[recordings]\nposition = [1, 2, 5]\n";
    let (_, dataset) = load("not-moved", &places, moved).unwrap();
    let (read, first) = (&dataset.trajectories[0].states[0].q, &motion()[0].1.q);
    assert!((0..3).all(|k| (read[k] - first[k]).abs() < 1e-12), "{read:?} {first:?}");
    // A number that is missing takes with it what is turned from it, at that frame alone.
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    let mut fields: Vec<String> = lines[9].split(',').map(String::from).collect();
    fields[2].clear();
    lines[9] = fields.join(",");
    let (_, dataset) = load("tracker-gap", &lines.join("\n"), &tables).unwrap();
    let recorded = &dataset.trajectories[0].recorded;
    assert!(
        (0..3).all(|k| recorded.at(8).misses_configuration(k))
            && !recorded.at(8).misses_configuration(3)
    );
    assert!(recorded.at(7).is_complete() && recorded.at(9).is_complete());
}

#[test]
fn rows_and_separators_are_as_they_come() {
    let header = "t,kite/px,kite/py,kite/pz,kite/qw,kite/qx,kite/qy,kite/qz,wheel/q";
    let plain = file(header, |t, s| [&[t], &s.q[..]].concat());
    for (name, text) in [
        ("semicolons", plain.replace(',', ";")),
        ("tabs", plain.replace(',', "\t")),
        ("decimal-commas", plain.replace(',', ";").replace('.', ",")),
    ] {
        let (_, dataset) = load(name, &text, "").unwrap();
        is_motion(name, &dataset.trajectories[0], &[]);
    }
    // Rows of one time are one: what the first has not the second has.
    let mut merged = String::new();
    for (k, line) in plain.lines().enumerate() {
        match line.rsplit_once(',') {
            Some((pose, wheel)) if k > 0 => {
                let t = pose.split(',').next().unwrap();
                writeln!(merged, "{pose},\n{t},,,,,,,,{wheel}").unwrap();
            }
            _ => writeln!(merged, "{line}").unwrap(),
        }
    }
    let (experiment, dataset) = load("same-times", &merged, "").unwrap();
    is_motion("same-times", &dataset.trajectories[0], &[]);
    assert!(
        dataset.questions(&experiment.scene).iter().all(|note| !note.contains("time of the row"))
    );
    // The same number in another spelling is the same.
    let spelled: String = plain
        .lines()
        .map(|line| match line.strip_prefix("0.05,") {
            Some(rest) => format!("{line}\n5e-2,{}\n", rest.replace(",0.", ",+0.")),
            None => format!("{line}\n"),
        })
        .collect();
    let (experiment, dataset) = load("spelled", &spelled, "").unwrap();
    is_motion("spelled", &dataset.trajectories[0], &[]);
    assert!(spelled.lines().count() == plain.lines().count() + 1);
    assert!(
        dataset.questions(&experiment.scene).iter().all(|note| !note.contains("time of the row"))
    );
    // Others are said to be dropped.
    let twice: String = plain
        .lines()
        .enumerate()
        .map(|(k, line)| match k {
            5 => format!("{line}\n{}\n", line.replace(",0.", ",1.")),
            _ => format!("{line}\n"),
        })
        .collect();
    let (experiment, dataset) = load("twice", &twice, "").unwrap();
    is_motion("twice", &dataset.trajectories[0], &[]);
    assert!(
        dataset.questions(&experiment.scene)[0].contains("1 rows have the time of the row before")
    );
    // A part of it, and every third row.
    let (_, dataset) =
        load("part", &plain, "[recordings]\nfrom = 0.05\nuntil = 0.25\nevery = 4\n").unwrap();
    let times = &dataset.trajectories[0].times;
    assert_eq!((times.len(), times[0], dataset.substeps), (6, 0.05, 4));
    // So many a second: the nearest rows, whatever lies between.
    let (_, dataset) = load("rate", &plain, "[recordings]\nrate = 25\n").unwrap();
    let expected: Vec<f64> = (0..).map(|k| 0.04 * f64::from(k)).take_while(|t| *t < 0.3).collect();
    let times = &dataset.trajectories[0].times;
    assert!(times.len() == expected.len() && dataset.substeps == 4, "{times:?}");
    for (time, expected) in times.iter().zip(&expected) {
        assert!((time - expected).abs() < 1e-12, "{times:?}");
    }
    // Rows that jitter, and some with nothing but an input, which are no frames; two frames are missing.
    let jittered = |k: usize, by: f64| (0.01 * k as f64 + by).to_string();
    let mut rows: Vec<String> = plain.lines().map(String::from).collect();
    let header = format!("{},kite/fx", rows.remove(0));
    let mut text = format!("{header}\n");
    for (k, row) in rows.iter().enumerate().filter(|(k, _)| ![12, 13].contains(k)) {
        let rest = row.split_once(',').unwrap().1;
        let by = if k == 30 { -0.001 } else { 0.002 * [0.0, 1.0, -1.0][k % 3] };
        let blank = ",".repeat(rest.matches(',').count() + 1);
        text += &format!("{},{rest},1\n{}{blank},2\n", jittered(k, by), jittered(k, 0.0045));
    }
    let (_, dataset) = load("jitter", &text, "[recordings]\nrate = 25\n").unwrap();
    // Of 0.12 the nearest is 0.11 - 0.002.
    let kept = [0, 4, 8, 11, 16, 20, 24, 28]
        .map(|k: usize| 0.01 * k as f64 + 0.002 * [0.0, 1.0, -1.0][k % 3]);
    let times = &dataset.trajectories[0].times;
    assert_eq!(times.len(), kept.len(), "{times:?}");
    for (time, kept) in times.iter().zip(kept) {
        assert!((time - kept).abs() < 1e-12, "{times:?}");
    }
    // More than there are: all of them.
    let (_, all) = load("all", &plain, "").unwrap();
    let (_, dataset) = load("fast", &plain, "[recordings]\nrate = 1000\n").unwrap();
    assert_eq!(dataset.trajectories[0].times, all.trajectories[0].times);
}

/// Writes arrays of doubles, of these shapes and bytes.
#[cfg(feature = "cli")]
fn archive(path: &std::path::Path, arrays: &[(&str, &str, &[u8])]) {
    let plain = |&(name, shape, bytes)| (name, "'<f8', 'fortran_order': False", shape, bytes);
    let arrays: Vec<(&str, &str, &str, &[u8])> = arrays.iter().map(plain).collect();
    archive_of(path, &arrays);
}

/// Writes arrays of these kinds and orders, shapes and bytes.
#[cfg(feature = "cli")]
fn archive_of(path: &std::path::Path, arrays: &[(&str, &str, &str, &[u8])]) {
    let mut archive = zip::ZipWriter::new(std::fs::File::create(path).unwrap());
    for (name, kind, shape, bytes) in arrays {
        let header = format!("{{'descr': {kind}, 'shape': {shape}, }}\n");
        archive
            .start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default())
            .unwrap();
        archive.write_all(b"\x93NUMPY\x01\x00").unwrap();
        archive.write_all(&(header.len() as u16).to_le_bytes()).unwrap();
        archive.write_all(header.as_bytes()).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap();
}

#[cfg(feature = "cli")]
#[test]
fn archives_of_numpy_are_read_back() {
    let folder = Folder::new("npz");
    folder.write("scene.toml", FLYING);
    folder.write("e.toml", "scene = 'scene.toml'\ndata = ['motion.npz']\n[noise]\nposition = 1e-3\nrotation_deg = 0.1\n[[parameter]]\nname = 'kite/mass'\nstart = 0.4\n");
    crate::fixtures::program::succeeds(&folder.run(&[
        "simulate",
        "scene.toml",
        "--steps",
        "30",
        "-o",
        "motion.npz",
    ]));
    let experiment = Experiment::load(folder.path("e.toml"), &[]).unwrap();
    let dataset = Dataset::load(&experiment).unwrap();
    is_motion("npz", &dataset.trajectories[0], &ALL);
    // What drove it is read with it, as far as that is not what the scene has.
    assert_eq!(dataset.inputs.len(), 0);
    folder.write("u.csv", "t,wheel/f,kite/ty\n0,0.02,0\n0.1,-0.01,1e-3\n0.205,0.03,0\n");
    let driven =
        ["simulate", "scene.toml", "--steps", "30", "-o", "driven.npz", "--controls", "u.csv"];
    crate::fixtures::program::succeeds(&folder.run(&driven));
    let path = folder.path("driven.npz");
    let experiment =
        Experiment::load(folder.path("e.toml"), &[path.display().to_string()]).unwrap();
    let dataset = Dataset::load(&experiment).unwrap();
    let places: Vec<usize> = dataset.inputs[0].iter().map(|input| input.place).collect();
    assert_eq!(places, [4, 6]);
    let errors = evaluate(&experiment, &dataset, &experiment.scene.parameters, 1);
    assert!(
        errors.position_error_percent.unwrap() < 1e-9 && errors.rotation_error_deg.unwrap() < 1e-7
    );
    // Arrays of others are columns by their names, and one that has no numbers has no rows, whatever it claims.
    let times: Vec<u8> = [0.0_f64, 0.01].iter().flat_map(|t| t.to_le_bytes()).collect();
    archive(&folder.path("claims.npz"), &[("t", "(2,)", &times), ("q", "(1000000000000, 0)", &[])]);
    let experiment =
        Experiment::load(folder.path("e.toml"), &[folder.path("claims.npz").display().to_string()]);
    let error = Dataset::load(&experiment.unwrap()).unwrap_err().to_string();
    assert!(error.contains("claims.npz:1: kite/px") && error.contains("begins with t;"), "{error}");
    // What is stored column by column is read as well, and names beside numbers are no hindrance.
    let numbers: Vec<u8> =
        [1.0_f64, 2.0, 3.0, 4.0, 5.0, 6.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let arrays: [(&str, &str, &str, &[u8]); 3] = [
        ("t", "'<f8', 'fortran_order': False", "(2,)", &times),
        ("x", "'<f8', 'fortran_order': True", "(2, 3)", &numbers),
        ("labels", "'<U1', 'fortran_order': False", "(2,)", &[65, 0, 0, 0, 66, 0, 0, 0]),
    ];
    archive_of(&folder.path("columns.npz"), &arrays);
    let file = RecordingFile::load(folder.path("columns.npz")).unwrap();
    assert_eq!(file.columns().collect::<Vec<_>>(), ["t", "x/0", "x/1", "x/2"]);
    let read = file.numbers(&["x/0", "x/1", "x/2"]).unwrap();
    let rows = [[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]].map(|row| row.map(Some).to_vec());
    assert_eq!(read, rows);
    folder.write("bad.npz", "PK");
    let error =
        Experiment::load(folder.path("e.toml"), &[folder.path("bad.npz").display().to_string()]);
    let error = Dataset::load(&error.unwrap()).unwrap_err().to_string();
    assert!(error.contains("bad.npz") && error.contains("is no .npz archive"), "{error}");
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let header =
        "t,kite/px,kite/py,kite/pz,kite/qw,kite/qx,kite/qy,kite/qz,kite/vx,kite/vy,kite/vz,wheel/q";
    let plain = file(header, |t, s| [&[t], &s.q[..7], &s.v[..3], &s.q[7..]].concat());
    for (tables, place, says) in [
        ("[columns]\n'kite/px' = { unit = 'inch' }\n", "columns.kite/px.unit", "one of m, cm, mm"),
        ("[columns]\n'kite/px' = { unit = 'deg' }\n", "columns.kite/px.unit", "found \"deg\""),
        ("[columns]\nt = { unit = 'h' }\n", "columns.t.unit", "s, ms, us, ns"),
        ("[columns]\nt = { scale = -1 }\n", "columns.t.scale", "times increase"),
        ("[columns]\n'kite/px' = { scale = 0 }\n", "columns.kite/px.scale", "must not be 0"),
        (
            "[columns]\n'kite/px' = { colum = 'x' }\n",
            "columns.kite/px.colum",
            "is not a field here",
        ),
        (
            "[columns]\n'kite/px' = { column = 'x', columns = ['x'] }\n",
            "columns.kite/px.columns",
            "beside",
        ),
        (
            "[columns]\n'kite/position' = ['kite/px', 'kite/py']\n",
            "columns.kite/position",
            "3 names",
        ),
        (
            "[columns]\n'kite/position' = 'kite/px'\n",
            "columns.kite/position",
            "list of as many columns",
        ),
        (
            "[columns]\n'wheel/position' = ['a', 'b', 'c']\n",
            "columns.wheel/position",
            "\"wheel\" has q, v",
        ),
        (
            "[columns]\n'kite/place' = ['a', 'b', 'c']\n",
            "columns.kite/place",
            "position, orientation, velocity",
        ),
        (
            "[columns]\n'kite/position' = { as = 'xyzw' }\n",
            "columns.kite/position.as",
            "orientation",
        ),
        (
            "[columns]\n'kite/position' = { frame = 'body' }\n",
            "columns.kite/position.frame",
            "velocity",
        ),
        (
            "[columns]\n'kite/velocity' = { frame = 'lab' }\n",
            "columns.kite/velocity.frame",
            "\"world\" or \"body\"",
        ),
        (
            "[columns]\n'kite/orientation' = { as = 'xyzw' }\n",
            "columns.kite/orientation.columns",
            "4 names",
        ),
        (
            "[columns]\n'kite/orientation' = { as = 'quaternion' }\n",
            "columns.kite/orientation.as",
            "\"euler\"",
        ),
        (
            "[columns]\n'kite/orientation' = { columns = ['a', 'b', 'c'], as = 'euler', axes = 'fixed' }\n",
            "columns.kite/orientation.sequence",
            "missing",
        ),
        (
            "[columns]\n'kite/orientation' = { columns = ['a', 'b', 'c'], as = 'euler', sequence = 'xxy', axes = 'fixed' }\n",
            "columns.kite/orientation.sequence",
            "three axes",
        ),
        (
            "[columns]\n'kite/orientation' = { columns = ['a', 'b', 'c'], as = 'euler', sequence = 'xyz' }\n",
            "columns.kite/orientation.axes",
            "moving",
        ),
        (
            "[columns]\n'kite/orientation' = { sequence = 'xyz' }\n",
            "columns.kite/orientation.sequence",
            "of as = \"euler\"",
        ),
        (
            "[columns]\n'kite/orientation' = { columns = ['a', 'b', 'c', 'd'], as = 'xyzw', unit = 'deg' }\n",
            "columns.kite/orientation.unit",
            "none",
        ),
        (
            "[columns]\n'kite/orientation' = { columns = ['kite/qw', 'kite/qx', 'kite/qy', 'q'], as = 'xyzw' }\n",
            "q",
            "the column is missing",
        ),
        (
            "[columns]\n'kite/orientation' = { columns = ['kite/qw', 'kite/qx', 'kite/qy', 'kite/px'], as = 'xyzw' }\n",
            "kite/px",
            "stands for both",
        ),
        ("[recordings]\nfrom = 3\n", "motion.csv: t", "no row is from 3 to inf s"),
        ("[recordings]\nfrom = 3\nuntil = 2\n", "recordings.until", "after `from`"),
        ("[recordings]\nevery = 0\n", "recordings.every", "must be"),
        ("[recordings]\nrate = 0\n", "recordings.rate", "must be positive, found 0 (Hz)"),
        ("[recordings]\nrate = 50\nevery = 2\n", "recordings.rate", "beside `every`"),
        ("[recordings]\nup = 'w'\n", "recordings.up", "\"x\", \"y\" or \"z\""),
        (
            "[recordings]\nup = 'y'\norientation = [1, 0, 0, 0]\n",
            "recordings.orientation",
            "beside `up`",
        ),
        ("[recordings]\norientation = [1, 1, 0, 0]\n", "recordings.orientation", "norm 1"),
        ("[recordings.tracked]\nkit = {}\n", "recordings.tracked.kit", "it has kite, wheel"),
        ("[recordings.tracked]\nwheel = {}\n", "wheel", "hangs on a joint"),
        ("[columns]\n'kite/pz' = false\n[recordings]\nup = 'y'\n", "kite", "all of x, y and z"),
        (
            "[columns]\n'kite/orientation' = false\n[recordings.tracked]\nkite = {}\n",
            "kite",
            "position and orientation",
        ),
        ("[recordings.tracked]\nkite = {}\n", "kite", "angular velocity, which is not recorded"),
        (
            "[columns]\n'kite/orientation' = false\n'kite/velocity' = { frame = 'body' }\n",
            "kite",
            "take the orientation",
        ),
    ] {
        let message = load("refused", &plain, tables).map(|_| ()).unwrap_err();
        assert!(message.contains(place) && message.contains(says), "{tables}: {message}");
    }
    let matrix = plain.replacen(
        "kite/qw,kite/qx,kite/qy,kite/qz,kite/vx,kite/vy,kite/vz",
        "a,b,c,d,e,f,g",
        1,
    );
    let said = "[columns]\n'kite/velocity' = false\n'kite/orientation' = { columns = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'kite/px', 'kite/py'], as = 'matrix' }\n'kite/position' = false\n";
    let message = load("matrix", &matrix, said).map(|_| ()).unwrap_err();
    assert!(
        message.contains("motion.csv:2: a") && message.contains("not those of a rotation"),
        "{message}"
    );
}
