//! Trajectory files: what is read, and what is said about bad ones.

use approx::assert_relative_eq;
use stiction::model::{Model, Scene};
use stiction::state::State;
use stiction::trajectory::{Recorded, Trajectory, expand};

use crate::scene::{assert_message, scene};

const CSV: &str = "t,px,py,pz,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz\n\
    0,0,0,1,1,0,0,0,0,0,0,0,0,0\n\
    0.1,0,0,1,1,0,0,0,0,0,0,0,0,0\n";

fn one_body() -> Model {
    let text = "simulation.time_step = 0.1\n[[body]]\nname = \"cube\"\nmass = 1\n\
        shape = { box = [1, 1, 1] }\n";
    Scene::parse(text, "scene.toml").unwrap().model
}

/// A tumbling motion of two bodies, with numbers that use all their bits.
fn tumbling() -> Trajectory {
    let times: Vec<f64> = (0..20).map(|k| k as f64 / 3.0).collect();
    let states = times.iter().map(|&t| {
        let mut state = State::at_origin(2);
        for body in 0..2 {
            let angle = t * (1.0 + body as f64);
            let [x, y, z] = [(0.1 * angle).sin(), angle.cos() / 3.0, 1e-17 * angle.exp()];
            let q = [
                x,
                y,
                z,
                (angle / 2.0).cos(),
                0.6 * (angle / 2.0).sin(),
                0.0,
                0.8 * (angle / 2.0).sin(),
            ];
            state.q[7 * body..7 * (body + 1)].copy_from_slice(&q);
            let v = [1.0 / 3.0, t.exp(), -t, 0.6, -angle, 1e9 * t].map(|x: f64| x + 0.0);
            state.v[6 * body..6 * (body + 1)].copy_from_slice(&v);
        }
        state
    });
    let states = states.collect();
    let recorded = Recorded::all(&scene().model);
    Trajectory { name: "motion.csv".to_string(), times, states, recorded }
}

fn written(trajectory: &Trajectory, model: &Model) -> String {
    let mut text = Vec::new();
    trajectory.write(model, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn trajectories_survive_their_file_bit_for_bit() {
    let model = scene().model;
    let trajectory = tumbling();
    let text = written(&trajectory, &model);
    assert!(text.starts_with("t,cube/px,cube/py,cube/pz,cube/qw,"), "{text}");
    let read = Trajectory::parse(&text, "motion.csv", &model).unwrap();
    assert_eq!(read, trajectory);
    assert_eq!(written(&read, &model), text);

    let without = Trajectory { recorded: Recorded::configurations(&model), ..trajectory };
    let text = written(&without, &model);
    assert!(!text.contains("cube/vx"));
    let read = Trajectory::parse(&text, "motion.csv", &model).unwrap();
    assert_eq!(read.recorded, Recorded::configurations(&model));
    assert_eq!(written(&read, &model), text);
}

#[test]
fn columns_may_stand_anywhere() {
    let text = "cube/wz,extra,t,wx,wy,vx,vy,vz,cube/px,py,pz,qz,qy,qx,cube/qw\n\
        9,x, 0 ,7,8,4,5,6,1,2,3,0,0,0,-1\n\n9,,1,7,8,4,5,6,1,2,3,0,0,0,1\n";
    let read = Trajectory::parse(text, "motion.csv", &one_body()).unwrap();
    assert_eq!(read.times, [0.0, 1.0]);
    let state = State {
        q: vec![1.0, 2.0, 3.0, -1.0, 0.0, 0.0, 0.0],
        v: vec![4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
    };
    assert_eq!(read.states, [state.clone(), state]);
    let text = written(&read, &one_body());
    assert!(text.starts_with("t,px,py,pz,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz\n"), "{text}");
    assert!(!text.contains("-0"), "{text}");
}

#[test]
fn absent_velocities_are_differences() {
    // Steady motion: velocity in the world, turning about an axis fixed in the body.
    let (velocity, spin) = ([0.3, -0.2, 0.1], [0.6, 0.0, 0.8].map(|x| 3.0 * x));
    let mut text = "t,px,py,pz,qw,qx,qy,qz\n".to_string();
    for t in [0.0, 0.1, 0.3, 0.4, 1.2, 2.1] {
        let half = 1.5 * t;
        let q = [f64::cos(half), 0.6 * f64::sin(half), 0.0, 0.8 * f64::sin(half)];
        // The other sign of the same rotation now and then.
        let sign = if t == 0.3 || t == 0.4 { -1.0 } else { 1.0 };
        let numbers = velocity.iter().map(|v| v * t).chain(q.iter().map(|x| sign * x));
        let fields: Vec<String> = numbers.map(|x| x.to_string()).collect();
        text += &format!("{t},{}\n", fields.join(","));
    }
    let read = Trajectory::parse(&text, "motion.csv", &one_body()).unwrap();
    assert_eq!(read.recorded, Recorded::configurations(&one_body()));
    for state in &read.states {
        assert_relative_eq!(state.velocity(0).as_slice(), &velocity[..], epsilon = 1e-12);
        assert_relative_eq!(state.angular_velocity(0).as_slice(), &spin[..], epsilon = 1e-12);
    }
}

#[test]
fn bad_trajectories_are_refused_with_their_place() {
    let row = "\n0.1,0,0,1,1,0,0,0,0,0,0,0,0,0\n";
    for (passage, replacement, place, says) in [
        (",qw,", ",q0,", "motion.csv:1: qw", "missing; the file begins with t,px,py"),
        (",vz,", ",v3,", "motion.csv:1: vz", "missing"),
        ("t,", "time,", "motion.csv:1: t", "missing"),
        (",vz,", ",vx,", "motion.csv:1: vx", "twice"),
        ("px", "ball/px", "motion.csv:1: px", "missing"),
        (row, "\nnan,0,0,1,1,0,0,0,0,0,0,0,0,0\n", "motion.csv:3: t", "finite, found nan"),
        (row, "\n0.1,0,0,1,1,0,0,0,0,inf,0,0,0,0\n", "motion.csv:3: vy", "finite, found inf"),
        (row, "\n0.1,0,0,1,1,0,0,0,0,0,0,0,0,zero\n", "motion.csv:3: wz", "number, found \"zero\""),
        (row, "\n\n\n,0,1,1,1,0,0,0,0,0,0,0,0,0\n", "motion.csv:5: t", "number, found \"\""),
        (
            row,
            "\n0.0,0,0,1,1,0,0,0,0,0,0,0,0,0\n",
            "motion.csv:3: t",
            "increase from row to row, found 0 after 0",
        ),
        (row, "\n0.1,0,0,1,0.99,0,0,0,0,0,0,0,0,0\n", "motion.csv:3: qw", "norm 0.99"),
        (row, "\n0.1,0,0,1,1,0,0,0,0\n", "motion.csv:3: vy", "9 fields, the header 14"),
        (
            row,
            "\n0.1,0,0,1,1,0,0,0,0,0,0,0,0,0,0\n",
            "motion.csv:3: wz",
            "15 fields, the header 14",
        ),
        (row, "\n", "motion.csv:2: t", "at least 2 frames are needed, found 1"),
    ] {
        assert_eq!(CSV.matches(passage).count(), 1, "{passage}");
        let text = CSV.replace(passage, replacement);
        let error = Trajectory::parse(&text, "motion.csv", &one_body()).unwrap_err();
        assert!(error.is_input());
        assert_message(&error.to_string(), place, says);
        let text = text.replace('\n', "\r\n");
        let error = Trajectory::parse(&text, "motion.csv", &one_body()).unwrap_err();
        assert_message(&error.to_string(), place, says);
    }
    for empty in ["", "\n", "\n\n"] {
        let error = Trajectory::parse(empty, "motion.csv", &one_body()).unwrap_err();
        assert_message(&error.to_string(), "motion.csv:1: t", "empty");
    }
    let header = "t,px,py,pz,qw,qx,qy,qz";
    let error = Trajectory::parse(header, "motion.csv", &one_body()).unwrap_err();
    assert_message(&error.to_string(), "motion.csv:1: t", "2 frames are needed, found 0");
    let error = Trajectory::parse(CSV, "motion.csv", &scene().model).unwrap_err();
    assert_message(&error.to_string(), "motion.csv:1: cube/px", "missing");
    Trajectory::parse(&format!("\u{feff}{CSV}"), "motion.csv", &one_body()).unwrap();
    assert!(!Trajectory::load("no/such.csv", &one_body()).unwrap_err().is_input());
}

#[test]
fn trajectories_that_are_not_finite_are_not_written() {
    let mut trajectory = tumbling();
    trajectory.states[3].v[7] = f64::NAN;
    let error = trajectory.write(&scene().model, Vec::new()).unwrap_err();
    assert_message(&error.to_string(), "motion.csv:5: ball/vy", "NaN in frame 3");
    let error = tumbling().write(&one_body(), Vec::new()).unwrap_err();
    assert_message(&error.to_string(), "motion.csv:2", "27 numbers, the model 14");
}

#[test]
fn patterns_stand_for_files() {
    let directory = std::env::temp_dir().join(format!("stiction-expand-{}", std::process::id()));
    std::fs::create_dir_all(directory.join("empty")).unwrap();
    for name in ["b.csv", "a.csv", "c[1].csv", "notes.txt"] {
        std::fs::write(directory.join(name), "").unwrap();
    }
    let names = |pattern: &str| -> Vec<String> {
        let files = expand(directory.join(pattern).to_str().unwrap()).unwrap();
        files.iter().map(|f| f.file_name().unwrap().to_str().unwrap().to_string()).collect()
    };
    assert_eq!(names(""), ["a.csv", "b.csv", "c[1].csv"]);
    assert_eq!(names("c[1].csv"), ["c[1].csv"]);
    assert_eq!(names("[ab].*"), ["a.csv", "b.csv"]);
    for (pattern, says) in [
        ("empty", "no *.csv, *.parquet, *.mcap or *.npz"),
        ("x*.csv", "no file matches"),
        ("[", "valid"),
    ] {
        let pattern = directory.join(pattern);
        let error = expand(pattern.to_str().unwrap()).unwrap_err();
        assert_message(&error.to_string(), pattern.to_str().unwrap(), says);
    }
    std::fs::remove_dir_all(&directory).unwrap();
}
