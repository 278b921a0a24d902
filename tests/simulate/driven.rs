//! `stiction simulate` with controls, gains, settling and keyframes, and what `stiction init` writes.

use std::io::Read;

use serde_json::Value;
use stiction::model::Scene;
use stiction::trajectory::{Controls, Trajectory};

use crate::folder::Folder;
use crate::program::{refuses, succeeds};
use crate::scene::assert_message;
use crate::shared::shared;

/// A pendulum with a motor, and a slide with one.
const SCENE: &str = r#"simulation.time_step = 0.01
[[body]]
name = "arm"
joint = { type = "revolute", name = "shoulder", axis = [0, 1, 0], q = 0.5 }
mass = 0.2
inertia = 0.2
center_of_mass = [0, 0, -0.1]
[[body]]
name = "cart"
joint = { type = "prismatic", axis = [1, 0, 0] }
mass = 2
inertia = 1e-3
[[actuator]]
name = "motor"
joint = "shoulder"
[[actuator]]
name = "belt"
joint = "cart"
control = 0.5
[[keyframe]]
name = "up"
q = [3, 0.25]
v = [0, 2]
[[keyframe]]
name = "still"
q = [0, 0]
"#;

fn rows(text: &str) -> Vec<Vec<f64>> {
    text.lines().skip(1).map(|l| l.split(',').map(|x| x.parse().unwrap()).collect()).collect()
}

#[test]
fn controls_are_held_from_row_to_row() {
    let folder = Folder::new("controls");
    folder.write("scene.toml", SCENE);
    folder.write("u.csv", "belt,t\n4,-1\n2,0\n\n-2,0.03\n0,0.07\n");
    let command = ["simulate", "scene.toml", "--controls", "u.csv", "--steps", "10"];
    let text = succeeds(&folder.run(&[&command[..], &["--columns", "cart/v"]].concat()));
    assert!(text.starts_with("t,cart/v\n0,0\n"), "{text}");
    // a = u / m
    let mut expected = 0.0;
    for (step, row) in rows(&text).iter().enumerate() {
        assert!((row[1] - expected).abs() < 1e-12, "{step}: {row:?}");
        expected += 0.01 * [2.0, 2.0, 2.0, -2.0, -2.0, -2.0, -2.0, 0.0, 0.0, 0.0, 0.0][step] / 2.0;
    }
    // A force along a velocity, beside the scene's own control.
    folder.write("u.csv", "t,cart/f\n0,1.5\n");
    let text = succeeds(&folder.run(&[&command[..], &["--columns", "cart/v"]].concat()));
    assert!((rows(&text)[10][1] - 0.1).abs() < 1e-12, "{text}");
}

#[test]
fn bad_controls_are_refused_with_their_place() {
    let model = Scene::parse(SCENE, "scene.toml").unwrap().model;
    for (text, place, says) in [
        ("", "u.csv:1: t", "empty"),
        ("t\n0\n", "u.csv:1", "name an actuator"),
        ("time,motor\n0,1\n", "u.csv:1: time", "is no input of the scene; actuators: motor, belt"),
        ("motor\n1\n", "u.csv:1: t", "is missing"),
        ("t,motor,mtr\n0,1,1\n", "u.csv:1: mtr", "forces: arm/f, cart/f"),
        ("t,motor,motor/u\n0,1,1\n", "u.csv:1: motor/u", "twice"),
        ("t,motor,t\n0,1,0\n", "u.csv:1: t", "twice"),
        ("t,motor\n", "u.csv:1: t", "no rows"),
        ("t,motor\n0.5,1\n", "u.csv:2: t", "after the start"),
        ("t,motor\n0,1\n\n0,2\n", "u.csv:4: t", "increase from row to row, found 0 after 0"),
        ("t,motor\n0,x\n", "u.csv:2: motor", "must be a number, found \"x\""),
        ("t,motor\n0,inf\n", "u.csv:2: motor", "finite"),
        ("t,motor\n0\n", "u.csv:2: motor", "1 fields, the header 2"),
    ] {
        let error = Controls::parse(text, "u.csv", &model).unwrap_err();
        assert_message(&error.to_string(), place, says);
    }
    let folder = Folder::new("bad-controls");
    folder.write("scene.toml", SCENE);
    folder.write("u.csv", "t,mtr\n0,1\n");
    let output = folder.run(&["simulate", "scene.toml", "--controls", "u.csv", "-o", "out.csv"]);
    refuses(&output, &["u.csv:1: mtr"]);
    let output = folder.run(&["simulate", "scene.toml", "--controls", "no.csv"]);
    refuses(&output, &["no.csv", "No such file"]);
    assert_eq!(folder.files(), ["scene.toml", "u.csv"]);
}

#[test]
fn gains_hold_the_start_or_the_keyframe() {
    let folder = Folder::new("gains");
    folder.write("scene.toml", SCENE);
    let gains = ["simulate", "scene.toml", "--kp", "100", "--kd", "20", "--steps", "300"];
    let text = succeeds(&folder.run(&[&gains[..], &["--columns", "arm/q,cart/*"]].concat()));
    let last = rows(&text).pop().unwrap();
    // kp (q0 - q) holds the weight: 0.2 kg, 0.1 m.
    let held = 100.0 * (0.5 - last[1]) - 0.2 * 9.81 * 0.1 * last[1].sin();
    assert!(held.abs() < 1e-6, "{last:?}");
    // The scene's own control is added.
    assert!((100.0 * last[2] - 0.5).abs() < 1e-3, "{last:?}");

    let keyframe = ["--keyframe", "up", "--columns", "arm/q,arm/v"];
    let text = succeeds(&folder.run(&[&gains[..], &keyframe].concat()));
    let (first, last) = (&rows(&text)[0], &rows(&text)[300]);
    assert_eq!(first[1..], [3.0, 0.0]);
    assert!((last[1] - 3.0).abs() < 1e-2 && last[2].abs() < 1e-6, "{last:?}");

    let refused = |more: &[&str], says: &[&str]| {
        refuses(&folder.run(&[&["simulate", "scene.toml"], more].concat()), says);
    };
    refused(&["--keyframe", "down"], &["no keyframe \"down\"; there are up, still"]);
    refused(&["--kp", "-1"], &["--kp", "not negative"]);
    refused(&["--kd", "inf"], &["--kd", "finite"]);
    refused(&["--settle", "-1"], &["--settle"]);
    refused(&["--settle", "nan"], &["--settle", "0 to"]);
    refused(&["--columns", "arm/x"], &["--columns", "\"arm\" has q, v"]);
    refused(&["--columns", "arm/q", "-o", "out.npz"], &["--columns", "is for CSV"]);
    refused(&["--floating-base"], &["scene.toml", "only a URDF"]);
    refused(&["--kp", "1e300"], &["does not give finite numbers", "nothing was written"]);
    folder.write("scene.toml", SCENE.split("[[actuator]]").next().unwrap());
    refused(&["--kp", "1"], &["--kp", "no motor"]);
    assert_eq!(folder.files(), ["scene.toml"]);
}

#[test]
fn scenes_settle_before_they_start() {
    let folder = Folder::new("settle");
    folder.write("scene.toml", SCENE);
    let command = ["simulate", "scene.toml", "--kp", "100", "--kd", "20", "--settle", "4"];
    let output =
        folder.run(&[&command[..], &["--steps", "5", "--columns", "arm/*,cart/*"]].concat());
    assert_eq!(output.status.code(), Some(0));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.starts_with("note: settled for 4 s: left are "), "{message}");
    let rows = rows(std::str::from_utf8(&output.stdout).unwrap());
    assert_eq!((rows[0][0], rows[0][2], rows[0][4]), (0.0, 0.0, 0.0));
    assert!((rows[0][1] - rows[5][1]).abs() < 1e-6 && rows[0][1] != 0.5, "{rows:?}");

    // With the velocities of the keyframe; the controls of a file come after it.
    folder.write("u.csv", "t,belt\n0,1e3\n");
    let more = ["--keyframe", "up", "--controls", "u.csv", "--steps", "1", "--json"];
    let said = succeeds(&folder.run(&[&command[..], &more].concat()));
    let said: Value = serde_json::from_str(&said).unwrap();
    assert!(said["settled"]["speed"].as_f64().unwrap() < 1e-6, "{said}");
    assert!(said["settled"]["angular_speed"].as_f64().unwrap() < 1e-6);
    assert_eq!(said["settled"]["seconds"], 4.0);
    let cart = &said["final_state"]["cart"];
    // 2 m/s, less kd times it, and the new force less what holds the offset of the old one.
    let expected = 2.0 + 0.01 * (1e3 - 0.5 - 20.0 * 2.0) / 2.0;
    assert!((cart["v"].as_f64().unwrap() - expected).abs() < 1e-5, "{cart} {expected}");
}

#[test]
fn archives_hold_everything() {
    let folder = Folder::new("npz");
    folder.write("scene.toml", SCENE);
    folder.write("u.csv", "t,motor\n0,0.1\n0.05,0.2\n");
    let command = ["simulate", "scene.toml", "--controls", "u.csv", "--steps", "8"];
    succeeds(&folder.run(&[&command[..], &["-o", "out.csv"]].concat()));
    succeeds(&folder.run(&[&command[..], &["-o", "out.npz", "--contacts"]].concat()));
    let files = ["out.contacts.csv", "out.csv", "out.npz", "out.solver.csv", "scene.toml", "u.csv"];
    assert_eq!(folder.files(), files);
    let model = Scene::load(folder.path("scene.toml")).unwrap().model;
    let motion = Trajectory::load(folder.path("out.csv"), &model).unwrap();
    let mut archive =
        ndarray_npy::NpzReader::new(std::fs::File::open(folder.path("out.npz")).unwrap()).unwrap();
    let times: ndarray::Array1<f64> = archive.by_name("t").unwrap();
    assert_eq!(times.to_vec(), motion.times);
    let [q, v, u]: [ndarray::Array2<f64>; 3] =
        ["q", "v", "u"].map(|name| archive.by_name(name).unwrap());
    for (k, state) in motion.states.iter().enumerate() {
        assert_eq!((q.row(k).to_vec(), v.row(k).to_vec()), (state.q.clone(), state.v.clone()));
    }
    assert_eq!(u.dim(), (8, 4));
    assert_eq!(u.row(4).to_vec(), [0.0, 0.0, 0.1, 0.5]);
    assert_eq!(u.row(5).to_vec(), [0.0, 0.0, 0.2, 0.5]);
    let meta: ndarray::Array1<u8> = archive.by_name("meta").unwrap();
    let meta: Value = serde_json::from_slice(&meta.to_vec()).unwrap();
    assert_eq!(meta["q_names"], serde_json::json!(["arm/q", "cart/q"]));
    assert_eq!(meta["v_names"], serde_json::json!(["arm/v", "cart/v"]));
    assert_eq!(meta["u_names"], serde_json::json!(["arm/f", "cart/f", "motor/u", "belt/u"]));
    let mut bytes = Vec::new();
    std::fs::File::open(folder.path("out.npz")).unwrap().read_to_end(&mut bytes).unwrap();
    assert!(bytes.starts_with(b"PK"));
}

#[test]
fn urdf_and_mjcf_are_scenes_too() {
    let folder = Folder::new("kinds");
    folder.write(
        "arm.urdf",
        "<robot name=\"arm\"><link name=\"base\"><inertial><mass value=\"1\"/>\
         <inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial></link>\
         <link name=\"arm\"><inertial><origin xyz=\"0 0 -0.1\"/><mass value=\"1\"/>\
         <inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial></link>\
         <joint name=\"j\" type=\"continuous\"><parent link=\"base\"/><child link=\"arm\"/>\
         <axis xyz=\"0 1 0\"/></joint></robot>",
    );
    folder.write(
        "arm.xml",
        "<mujoco><worldbody><body name=\"arm\"><joint name=\"j\" axis=\"0 1 0\"/>\
         <inertial pos=\"0 0 -0.1\" mass=\"1\" diaginertia=\"1 1 1\"/></body></worldbody>\
         <keyframe><key name=\"side\" qpos=\"1.5\"/></keyframe></mujoco>",
    );
    let header = |arguments: &[&str]| {
        let output = folder.run(&[&["simulate"], arguments, &["--steps", "1"]].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).unwrap().lines().take(2).collect::<Vec<_>>().join(";")
    };
    assert_eq!(header(&["arm.urdf"]), "t,q,v;0,0,0");
    assert!(header(&["arm.urdf", "--floating-base"]).starts_with("t,base/px,base/py"));
    assert_eq!(header(&["arm.xml", "--keyframe", "side"]), "t,q,v;0,1.5,0");
    for command in ["gradcheck", "linearize"] {
        let output = ["-o", "out.json"];
        let output = if command == "linearize" { &output[..] } else { &[] };
        let command =
            [&[command, "arm.xml", "--keyframe", "side", "--steps", "2"], output].concat();
        let output = folder.run(&command);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
    let written: Value = serde_json::from_str(&folder.read("out.json")).unwrap();
    assert_eq!(written["x"][0], serde_json::json!([1.5, 0.0]));
    let output = folder.run(&["simulate", "arm.xml", "--keyframe", "up"]);
    refuses(&output, &["arm.xml", "no keyframe \"up\"; there are side"]);
}

#[test]
fn quad12_stands_under_gains() {
    let Some(path) = shared("reference/scenes/quad12.xml") else { return };
    let folder = Folder::new("quad12");
    let path = path.canonicalize().unwrap();
    let path = path.to_str().unwrap();
    let start = ["--keyframe", "k", "--kp", "100", "--kd", "2", "--settle", "16", "--steps", "100"];
    let output = folder.run(&[&["simulate", path, "--json"], &start[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    // It sways for a while: 33 kg on soft legs.
    assert!(said["settled"]["speed"].as_f64().unwrap() < 1e-5, "{said}");
    let bodies = said["final_state"].as_object().unwrap();
    let trunk = bodies.values().find(|body| body.get("position").is_some()).unwrap();
    assert!(trunk["position"][2].as_f64().unwrap() > 0.33, "{trunk}");
}

/// Runs all commands in a text.
#[track_caller]
fn runs_what_is_said(folder: &Folder, said: &str) {
    for line in said.lines().filter_map(|line| line.trim().strip_prefix("stiction ")) {
        let command: Vec<&str> = line.split('#').next().unwrap().split_whitespace().collect();
        let output = folder.run(&command);
        assert_eq!(output.status.code(), Some(0), "{line}: {output:?}");
    }
}

#[test]
fn what_init_writes_runs() {
    let folder = Folder::new("init");
    let said = succeeds(&folder.run(&["init"]));
    assert!(said.contains("stiction simulate scene.toml --steps 60 -o recording.csv"), "{said}");
    assert_eq!(folder.files(), ["experiment.toml", "scene.toml"]);
    // What it says to run next.
    runs_what_is_said(&folder, &said);
    let output = folder.run(&["identify", "experiment.toml", "--json"]);
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mu = said["parameters"][0]["value"].as_f64().unwrap();
    assert!((mu - 0.3).abs() < 1e-6, "{mu}");
    succeeds(&folder.run(&["evaluate", "experiment.toml"]));

    // With all that is in comments. A lid on the box has no recording.
    let uncommented = |text: &str, tables: &[&str]| {
        let mut active = false;
        let lines = text.lines().map(|line| {
            let bare = line.strip_prefix("# ").unwrap_or(line);
            if line.trim() == "#" || line.is_empty() {
                active = false;
            }
            active |= tables.contains(&bare);
            if active { bare } else { line }
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    let scene = uncommented(&folder.read("scene.toml"), &["[[body]]", "[[actuator]]"]);
    folder.write("lid.toml", &scene);
    let command = ["simulate", "lid.toml", "--kp", "0.1", "--kd", "0.01", "--columns", "lid/q"];
    succeeds(&folder.run(&command));
    let experiment = uncommented(&folder.read("experiment.toml"), &["[columns]"]);
    let experiment = experiment.replace("scene.toml", "lid.toml");
    assert!(experiment.contains("\n\"lid/q\" = \"angle\""), "{experiment}");
    folder.write("lid_experiment.toml", &experiment);
    let recording =
        folder.read("recording.csv").replace(",v", ",object_v").replace(",w", ",object_w");
    let recording = recording.replace(",p", ",object_p").replace(",q", ",object_q");
    let mut lines = recording.lines();
    let header = lines.next().unwrap().replacen('t', "time", 1);
    let rows: Vec<String> = lines.map(|line| format!("{line},-1")).collect();
    folder.write("recording.csv", &format!("{header},angle\n{}\n", rows.join("\n")));
    let output = folder.run(&["evaluate", "lid_experiment.toml", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn what_init_writes_of_a_soft_body_runs() {
    let folder = Folder::new("init-soft");
    let said = succeeds(&folder.run(&["init", "--soft"]));
    runs_what_is_said(&folder, &said);
    let output = folder.run(&["identify", "experiment.toml", "--json"]);
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    for (k, expected) in [3e4, 0.4].into_iter().enumerate() {
        let found = said["parameters"][k]["value"].as_f64().unwrap();
        assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
    }
    // With all that is in comments.
    for (name, from, to) in [
        ("scene.toml", "# solver", "solver"),
        ("scene.toml", "# stiffness", "stiffness"),
        ("experiment.toml", "# [columns]\n# t =", "[columns]\nt ="),
        ("experiment.toml", "# top =", "top ="),
    ] {
        let text = folder.read(name);
        assert!(text.contains(from), "{name}: {from}");
        folder.write(name, &text.replace(from, to));
    }
    succeeds(&folder.run(&["simulate", "scene.toml", "--steps", "150", "-o", "recording.csv"]));
    let named = ["px", "py", "pz"].into_iter().zip(["x", "y", "z"]);
    let mut recording = folder.read("recording.csv").replacen("t,", "time,", 1);
    for (ours, theirs) in named {
        recording = recording.replacen(&format!("ball/top/{ours}"), &format!("top_{theirs}"), 1);
    }
    folder.write("recording.csv", &recording);
    succeeds(&folder.run(&["identify", "experiment.toml", "--json"]));
}

#[test]
fn init_overwrites_nothing() {
    let folder = Folder::new("init-twice");
    let said = succeeds(&folder.run(&["init", "new place/it's", "--json"]));
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said["files"][0], "new place/it's/scene.toml");
    let there = folder.path("new place/it's/experiment.toml");
    std::fs::write(&there, "mine").unwrap();
    std::fs::remove_file(folder.path("new place/it's/scene.toml")).unwrap();
    refuses(&folder.run(&["init", "new place/it's"]), &["experiment.toml", "not overwritten"]);
    assert_eq!(std::fs::read_to_string(there).unwrap(), "mine");
    assert!(!folder.path("new place/it's/scene.toml").exists());
    let said = succeeds(&folder.run(&["init", "a b"]));
    assert!(said.contains("stiction gradcheck 'a b/scene.toml'"), "{said}");
}
