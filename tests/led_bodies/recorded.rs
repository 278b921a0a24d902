//! A hand that comes to a box off its middle, slips along it as it pushes, and stops; and the box slides on: from files.

use std::fmt::Write;

use serde_json::Value;

use crate::folder::Folder;
use crate::program::{refuses, succeeds};

const SCENE: &str = "[simulation]
time_step = 0.005
[[half_space]]
name = 'floor'
normal = [0, 0, 1]
[[body]]
name = 'hand'
prescribed = true
position = [-0.2, -0.03, 0.05]
shape = { sphere = 0.03 }
[[body]]
name = 'box'
mass = 0.8
position = [0, 0, 0.04]
shape = { box = [0.08, 0.06, 0.04] }
[[contact]]
mu = 0.35
[[contact]]
pair = 'hand-box'
mu = 0.25
";

/// The hand over time: it speeds up to 1 m/s and stops within a step; a row each 20 ms.
fn hand(with_turns: bool) -> String {
    let mut text = String::from("t,hand/px,hand/py,hand/pz");
    text.push_str(if with_turns { ",hand/qw,hand/qx,hand/qy,hand/qz\n" } else { "\n" });
    for k in 0..=40 {
        let t = 0.02 * f64::from(k);
        let way = if t < 0.4 { 1.25 * t * t } else { 0.2 };
        write!(text, "{t},{},{},0.05", way - 0.2, 0.35 * way - 0.03).unwrap();
        let half = 0.3 * t;
        match with_turns {
            true => writeln!(text, ",{},0,0,{}", half.cos(), half.sin()).unwrap(),
            false => text.push('\n'),
        }
    }
    text
}

fn simulated(folder: &Folder) {
    folder.write("scene.toml", SCENE);
    folder.write("hand.csv", &hand(true));
    succeeds(&folder.run(&[
        "simulate",
        "scene.toml",
        "--controls",
        "hand.csv",
        "--steps",
        "160",
        "-o",
        "run.csv",
        "--json",
    ]));
}

fn column(folder: &Folder, name: &str) -> Vec<f64> {
    let text = folder.read("run.csv");
    let place = text.lines().next().unwrap().split(',').position(|own| own == name).unwrap();
    text.lines().skip(1).map(|row| row.split(',').nth(place).unwrap().parse().unwrap()).collect()
}

#[test]
fn a_body_is_led_along_the_poses_of_a_file() {
    let folder = Folder::new("led-poses");
    simulated(&folder);
    let [x, qz, slid] = ["hand/px", "hand/qz", "box/px"].map(|name| column(&folder, name));
    for k in 0..=40 {
        let t = 0.02 * f64::from(k);
        let way = if t < 0.4 { 1.25 * t * t } else { 0.2 };
        let step = 4 * k as usize;
        assert!((x[step] - (way - 0.2)).abs() < 1e-13, "{t}: {}", x[step]);
        assert!((qz[step] - (0.3 * t).sin()).abs() < 1e-13, "{t}: {}", qz[step]);
    }
    // It slid on after the hand had stopped, and stopped.
    assert!(slid[160] > slid[82] + 0.02 && (slid[160] - slid[155]).abs() < 1e-9);
    // A motion that was written drives another one: the hand goes where it went.
    succeeds(&folder.run(&[
        "simulate",
        "scene.toml",
        "--controls",
        "run.csv",
        "--steps",
        "160",
        "-o",
        "again.csv",
        "--json",
    ]));
    let rows = |name: &str| -> Vec<Vec<f64>> {
        let row = |row: &str| row.split(',').map(|x| x.parse().unwrap()).collect();
        folder.read(name).lines().skip(1).map(row).collect()
    };
    for (a, b) in rows("run.csv").into_iter().flatten().zip(rows("again.csv").into_iter().flatten())
    {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
}

#[test]
fn friction_is_identified_from_a_recorded_push() {
    let folder = Folder::new("led-identify");
    simulated(&folder);
    for start in ["recorded", "fitted"] {
        folder.write(
                "experiment.toml",
                &format!(
                    "scene = 'scene.toml'\ndata = ['run.csv']\ninitial_state = '{start}'\nprofiles = false\n\
                     [noise]\nposition = 0.001\nrotation_deg = 0.2\n\
                     [[parameter]]\nname = 'floor-box/mu'\nstart = 0.5\nlower = 0.05\nupper = 1\n\
                     [[parameter]]\nname = 'hand-box/mu'\nstart = 0.5\nlower = 0.05\nupper = 1\n"
                ),
            );
        // Which warns of recordings without noise.
        let output = folder.run(&["identify", "experiment.toml", "--json"]);
        assert!(output.status.success(), "{output:?}");
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        let parameters = found["parameters"].as_array().unwrap();
        for (parameter, truth) in parameters.iter().zip([0.35, 0.25]) {
            let value = parameter["value"].as_f64().unwrap();
            assert!((value - truth).abs() < 1e-3, "{start}: {parameter}");
        }
    }
}

/// Velocities that are prescribed are u where nothing else is asked for, in their units, from where the poses begin.
#[test]
fn linearisations_are_in_what_leads() {
    let folder = Folder::new("led-linearize");
    let scene = SCENE.replace("position = [-0.2, -0.03, 0.05]", "position = [-0.5, 0.2, 0.05]");
    folder.write("scene.toml", &scene);
    folder.write("hand.csv", &hand(true));
    let controls = ["--controls", "hand.csv", "--steps", "3", "-o", "l.json"];
    let output = folder.run(&[&["linearize", "scene.toml"], &controls[..]].concat());
    assert!(output.status.success(), "{output:?}");
    let found: Value = serde_json::from_str(&folder.read("l.json")).unwrap();
    let meta = &found["meta"];
    let texts = |key: &str| -> Vec<&str> {
        meta[key].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect()
    };
    let set = ["vx", "vy", "vz", "wx", "wy", "wz"].map(|field| format!("hand/set_{field}"));
    assert_eq!(texts("input_names"), set);
    assert_eq!(texts("input_units"), ["m/s", "m/s", "m/s", "rad/s", "rad/s", "rad/s"]);
    let first: Vec<f64> = (0..3).map(|k| found["x"][0][k].as_f64().unwrap()).collect();
    assert_eq!(first, [-0.2, -0.03, 0.05]);
    let speed = found["u"][0][0].as_f64().unwrap();
    assert!((speed - 1.25 * 0.02).abs() < 1e-12, "{speed}");
}

#[test]
fn poses_that_are_not_whole_are_refused() {
    let folder = Folder::new("led-refused");
    folder.write("scene.toml", SCENE);
    for (text, says) in [
        ("t,hand/px,hand/py\n0,0,0\n".to_string(), "of which px, py and pz are needed"),
        (
            "t,hand/px,hand/py,hand/pz,hand/qw\n0,0,0,0,1\n".to_string(),
            "all of qw, qx, qy and qz or none",
        ),
        (hand(true).replacen(",1,0,0,0", ",2,0,0,0", 1), "must be a unit quaternion"),
        ("t,box/px\n0,0\n".to_string(), "there is no column beside t"),
    ] {
        folder.write("hand.csv", &text);
        let output =
            folder.run(&["simulate", "scene.toml", "--controls", "hand.csv", "--steps", "2"]);
        refuses(&output, &[says]);
    }
    folder.write("hand.csv", &hand(false));
    succeeds(&folder.run(&[
        "simulate",
        "scene.toml",
        "--controls",
        "hand.csv",
        "--steps",
        "8",
        "-o",
        "run.csv",
        "--json",
    ]));
    assert!((column(&folder, "hand/px")[8] + 0.2 - 1.25 * 0.04 * 0.04).abs() < 1e-12);
}

/// Poses that begin late are waited for; a position without an orientation leaves that as the scene has it.
#[test]
fn what_is_led_later_waits() {
    let folder = Folder::new("led-late");
    let turned = SCENE.replace(
        "shape = { sphere = 0.03 }",
        "orientation = [0.6, 0, 0, 0.8]\nshape = { sphere = 0.03 }",
    );
    folder.write("scene.toml", &turned);
    folder.write(
        "late.csv",
        "t,hand/px,hand/py,hand/pz\n0,,,\n0.2,1,0.5,1\n0.4,2,0.5,1\n0.6,2,0.5,1\n",
    );
    succeeds(&folder.run(&[
        "simulate",
        "scene.toml",
        "--controls",
        "late.csv",
        "--steps",
        "160",
        "-o",
        "run.csv",
        "--json",
    ]));
    let [x, qw] = ["hand/px", "hand/qw"].map(|name| column(&folder, name));
    for (step, at) in [(0, 1.0), (40, 1.0), (60, 1.5), (80, 2.0), (160, 2.0)] {
        assert!((x[step] - at).abs() < 1e-12, "{step}: {}", x[step]);
        assert!((qw[step] - 0.6).abs() < 1e-15, "{step}: {}", qw[step]);
    }
}

/// An archive of a motion has poses and what led them: it is gone along again, from where it began.
#[test]
fn an_archive_drives_another_motion() {
    let folder = Folder::new("led-archive");
    simulated(&folder);
    let first = column(&folder, "box/px");
    let away = SCENE.replace("position = [-0.2, -0.03, 0.05]", "position = [-0.9, 0.4, 0.05]");
    folder.write("away.toml", &away);
    let run = ["--controls", "hand.csv", "--steps", "160", "-o", "run.npz", "--json"];
    succeeds(&folder.run(&[&["simulate", "scene.toml"], &run[..]].concat()));
    let again = ["--controls", "run.npz", "--steps", "160", "-o", "run.csv", "--json"];
    succeeds(&folder.run(&[&["simulate", "away.toml"], &again[..]].concat()));
    let found = column(&folder, "box/px");
    for (a, b) in first.iter().zip(&found) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
    folder.write("mix.csv", "t,hand/px,hand/py,hand/pz,hand/set_vx\n0,0,0,0,1\n");
    let mixed = folder.run(&["simulate", "scene.toml", "--controls", "mix.csv", "--steps", "2"]);
    refuses(&mixed, &["of set_vx, set_vy and set_vz there must be none, or all"]);
}

/// Along a trajectory bodies are led as they went.
#[test]
fn a_trajectory_is_linearised_as_it_was_led() {
    let folder = Folder::new("led-along");
    simulated(&folder);
    let run = ["--trajectory", "run.csv", "-o", "l.json"];
    let output = folder.run(&[&["linearize", "scene.toml"], &run[..]].concat());
    assert!(output.status.success(), "{output:?}");
    let found: Value = serde_json::from_str(&folder.read("l.json")).unwrap();
    let x = column(&folder, "hand/px");
    for step in [10, 50, 100, 150] {
        let speed = found["u"][step][0].as_f64().unwrap();
        assert!((speed - (x[step + 1] - x[step]) / 0.005).abs() < 1e-9, "{step}: {speed}");
        let end = found["f"][step][0].as_f64().unwrap();
        assert!((end - x[step + 1]).abs() < 1e-12, "{step}: {end}");
    }
}

/// A recorded velocity whose gain is asked for leads, and not the poses beside it.
#[test]
fn the_gain_of_a_recorded_velocity_is_found() {
    let folder = Folder::new("led-gain");
    simulated(&folder);
    let [x, time] = ["hand/px", "t"].map(|name| column(&folder, name));
    let rows = folder.read("run.csv");
    let mut text = String::new();
    for (k, row) in rows.lines().enumerate() {
        let speed = match k {
            0 => "drive".to_string(),
            _ => {
                let next = x.get(k).copied().unwrap_or(x[k - 1]);
                format!("{}", (next - x[k - 1]) / 0.005 / 1.25)
            }
        };
        writeln!(text, "{row},{speed}").unwrap();
    }
    assert_eq!(time.len(), x.len());
    folder.write("driven.csv", &text);
    folder.write(
        "experiment.toml",
        "scene = 'scene.toml'\ndata = ['driven.csv']\nprofiles = false\n\
         [noise]\nposition = 0.001\nrotation_deg = 0.2\n\
         [[input]]\nname = 'drive'\ndrives = ['hand/set_vx']\ncolumns = ['drive']\n\
         [[parameter]]\nname = 'drive/gain'\nstart = 1.1\nlower = 0.5\nupper = 2\n",
    );
    let output = folder.run(&["identify", "experiment.toml", "--json"]);
    assert!(output.status.success(), "{output:?}");
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let gain = found["parameters"][0]["value"].as_f64().unwrap();
    assert!((gain - 1.25).abs() < 1e-4, "{gain}");
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(!complaints.contains("pushes it"), "{complaints}");
}

/// A hand that is driven by velocities, where nobody saw it, pushes: no question about what it pushes.
#[test]
fn nobody_asks_what_pushes_where_a_hand_was_not_seen() {
    let folder = Folder::new("led-unseen");
    simulated(&folder);
    folder.write(
        "scene.toml",
        &SCENE.replace("position = [-0.2, -0.03, 0.05]", "position = [-3, 0, 0.05]"),
    );
    let experiment = |columns: &str| {
        format!(
            "scene = 'scene.toml'\ndata = ['run.csv']\nprofiles = false\nmax_iterations = 1\n\
             [noise]\nposition = 0.001\nrotation_deg = 0.2\n{columns}\
             [[parameter]]\nname = 'floor-box/mu'\nstart = 0.3\nlower = 0.05\nupper = 1\n"
        )
    };
    folder.write("experiment.toml", &experiment("[columns]\n'hand/*' = false\n"));
    let output = folder.run(&["identify", "experiment.toml", "--check"]);
    let said = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    assert!(!said.contains("pushes it"), "{said}");
}

#[test]
fn a_led_body_is_not_pulled_by_the_mouse() {
    use stiction::view::{Live, LiveRequest, Pull};
    let mut live = Live::new(stiction::Scene::parse(SCENE, "scene.toml").unwrap());
    let names: Vec<String> = live.controls().inputs.into_iter().map(|input| input.name).collect();
    assert_eq!(names.len(), 6);
    assert_eq!(names[0], "hand/set_vx");
    let pull = Pull { body: 0, point: [0.0; 3], to: [0.3, 0.0, 0.5] };
    let reply = live.answer(&LiveRequest { steps: 5, pull: Some(pull), ..LiveRequest::default() });
    assert!(reply.error.unwrap().contains("the velocity of \"hand\" is prescribed"));
    assert_eq!(live.scene().state.q[0], -0.2);
}
