//! `stiction simulate`, run as a program.

use std::process::Command;

use serde_json::Value;
use stiction::model::Scene;
use stiction::simulation::Rollout;
use stiction::trajectory::Trajectory;

use crate::folder::Folder;
use crate::program::{SCENE, close, refuses, succeeds};

fn rows(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    reader.records().map(|r| r.unwrap().iter().map(str::to_string).collect()).collect()
}

#[test]
fn trajectories_are_written_bit_for_bit() {
    let folder = Folder::new("simulate");
    folder.write("scene.toml", SCENE);
    let said = succeeds(&folder.run(&["simulate", "scene.toml", "--steps", "60", "-o", "out.csv"]));
    assert!(said.contains("60 steps") && said.contains("out.csv"), "{said}");
    assert_eq!(folder.files(), ["out.csv", "scene.toml"]);

    let scene = Scene::load(folder.path("scene.toml")).unwrap();
    let Scene { model, state, inputs, .. } = &scene;
    let read = Trajectory::load(folder.path("out.csv"), model).unwrap();
    assert_eq!(read.states.len(), 61);
    let mut rollout = Rollout::new(scene.system(), state.clone());
    for (k, state) in read.states.iter().enumerate() {
        assert_eq!(read.times[k], k as f64 * 0.01);
        assert_eq!(state, &rollout.state, "frame {k}");
        rollout.step(inputs);
    }
    let printed = succeeds(&folder.run(&["simulate", "scene.toml", "--steps", "60"]));
    assert_eq!(printed, folder.read("out.csv"));
    // One second if not said otherwise.
    let printed = succeeds(&folder.run(&["simulate", "scene.toml"]));
    assert_eq!(printed.lines().count(), 102);
}

#[test]
fn contacts_are_written_beside_the_trajectory() {
    let folder = Folder::new("contacts");
    folder.write("scene.toml", SCENE);
    let command = ["simulate", "scene.toml", "-o", "out.csv", "--contacts", "--steps", "100"];
    succeeds(&folder.run(&command));
    assert_eq!(folder.files(), ["out.contacts.csv", "out.csv", "out.solver.csv", "scene.toml"]);
    let contacts = rows(&folder.read("out.contacts.csv"));
    let header =
        "step,t,pair,point,mode,target,gap,impulse_n,impulse_t1,impulse_t2,friction,couple_n,couple_t1,couple_t2"
            .split(',');
    assert!(contacts[0].iter().eq(header));
    let solver = rows(&folder.read("out.solver.csv"));
    let header =
        "step,t,status,iterations,residual,margin,contacts,complementarity,cone,dissipation"
            .split(',');
    assert!(solver[0].iter().eq(header));
    assert_eq!(solver.len(), 101);
    for (k, row) in solver.iter().enumerate().skip(1) {
        assert_eq!((row[0].as_str(), row[2].as_str()), (k.to_string().as_str(), "solved"));
        assert_eq!(row[1].parse(), Ok(k as f64 * 0.01));
        let touching = contacts.iter().filter(|contact| contact[0] == row[0]);
        assert_eq!(row[6].parse(), Ok(touching.count()));
    }
    // The impulses are those that change the motion of the ball.
    let scene = Scene::load(folder.path("scene.toml")).unwrap();
    let motion = Trajectory::load(folder.path("out.csv"), &scene.model).unwrap();
    let mut touched = 0;
    for row in contacts[1..].iter().filter(|row| row[2] == "floor-ball") {
        touched += 1;
        let step: usize = row[0].parse().unwrap();
        let number = |column: usize| row[column].parse::<f64>().unwrap();
        assert_eq!(number(1), motion.times[step]);
        let change = motion.states[step].velocity(1) - motion.states[step - 1].velocity(1);
        let free = change.z + 9.81 * 0.01;
        assert!((number(7) / 0.2 - free).abs() < 1e-12, "{row:?}");
        assert!((number(8) / 0.2 - change.x).abs() < 1e-12, "{row:?}");
        assert!((number(9) / 0.2 - change.y).abs() < 1e-12, "{row:?}");
        let gap = motion.states[step - 1].position(1).z - 0.05;
        assert!((number(6) - gap).abs() < 1e-15, "{row:?}");
    }
    assert!(touched > 5);
    assert!(contacts.iter().any(|row| row[2] == "floor-cube, red"));
    assert!(contacts.iter().any(|row| row[5] == "restitution"));
    let output = folder.run(&["simulate", "scene.toml", "--contacts"]);
    refuses(&output, &["--contacts", "needs -o"]);
}

#[test]
fn json_is_one_object() {
    let folder = Folder::new("json");
    folder.write("scene.toml", SCENE);
    let command = ["simulate", "scene.toml", "--steps", "10", "--json"];
    let said: Value = serde_json::from_str(&succeeds(&folder.run(&command))).unwrap();
    assert_eq!((&said["command"], &said["steps"]), (&"simulate".into(), &10.into()));
    assert_eq!(said["time_step"], 0.01);
    assert_eq!(said["solver"]["status"], "solved");
    assert_eq!(said["solver"]["unsolved"], 0);
    assert_eq!(said["files"], Value::Array(Vec::new()));
    assert_eq!(folder.files(), ["scene.toml"]);
    let command = [&command[..], &["-o", "out.csv", "--contacts"]].concat();
    let said: Value = serde_json::from_str(&succeeds(&folder.run(&command))).unwrap();
    assert_eq!(said["files"].as_array().unwrap().len(), 3);
    let scene = Scene::load(folder.path("scene.toml")).unwrap();
    let motion = Trajectory::load(folder.path("out.csv"), &scene.model).unwrap();
    let last = &motion.states[10];
    for (k, &x) in last.position(0).iter().enumerate() {
        close(&said["final_state"]["cube, red"]["position"][k], x);
    }
    for (k, x) in last.orientation(1).into_iter().enumerate() {
        close(&said["final_state"]["ball"]["orientation"][k], x);
    }
}

#[test]
fn bad_input_is_refused_and_nothing_written() {
    let folder = Folder::new("bad");
    for (passage, replacement, says) in [
        ("mass = 0.4", "mass = -1", vec!["scene.toml:8", "mass", "positive"]),
        ("mu = 0.3", "mu = \"rough\"", vec!["scene.toml:21", "mu"]),
        ("time_step = 0.01", "time_step = 0.01\nstep = 1", vec!["scene.toml:3", "step"]),
        ("[simulation]", "[simulation", vec!["scene.toml:1"]),
        ("time_step = 0.01", "time_step = 1e-12", vec!["scene.toml", "time_step", "--steps"]),
        (
            "velocity = [1, 0, 0]",
            "velocity = [1.7e308, 0, 0]\nforce = [1e308, 0, 0]",
            vec!["scene.toml", "does not give finite numbers", "nothing was written"],
        ),
    ] {
        assert_eq!(SCENE.matches(passage).count(), 1, "{passage}");
        folder.write("scene.toml", &SCENE.replace(passage, replacement));
        let output = folder.run(&["simulate", "scene.toml", "-o", "out.csv", "--contacts"]);
        refuses(&output, &says);
        assert_eq!(folder.files(), ["scene.toml"], "{passage}");
    }
    folder.write("scene.toml", SCENE);
    refuses(&folder.run(&["simulate", "no.toml"]), &["no.toml", "No such file"]);
    let output = folder.run(&["simulate", "scene.toml", "-o", "no/out.csv"]);
    refuses(&output, &["no/out.csv", "no directory no"]);
    refuses(&folder.run(&["simulate", "scene.toml", "-o", "."]), &["is a directory"]);
    refuses(&folder.run(&["simulate", "scene.toml", "--steps", "0"]), &["--steps", "1 to"]);
    refuses(&folder.run(&["simulate", "scene.toml", "--steps", "many"]), &["--steps"]);
    assert_eq!(folder.files(), ["scene.toml"]);
}

#[test]
fn unsolved_problems_are_said_in_words() {
    let folder = Folder::new("unsolved");
    let scene = SCENE.replace("time_step = 0.01", "time_step = 0.01\ntolerance = 1e-30");
    folder.write("scene.toml", &scene);
    let command = ["simulate", "scene.toml", "-o", "out.csv", "--contacts", "--json"];
    let output = folder.run(&command);
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.starts_with("warning: ") && message.contains("not solved"), "{message}");
    assert!(message.contains("tolerance 1e-30"), "{message}");
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(said["solver"]["unsolved"].as_u64().unwrap() > 0);
    assert_eq!(rows(&folder.read("out.csv")).len(), 102);
    assert_eq!(rows(&folder.read("out.solver.csv")).len(), 101);
}

#[cfg(unix)]
#[test]
fn outputs_go_through_links_and_to_devices() {
    let folder = Folder::new("links");
    folder.write("scene.toml", SCENE);
    folder.write("real.csv", "");
    std::os::unix::fs::symlink("real.csv", folder.path("link.csv")).unwrap();
    succeeds(&folder.run(&["simulate", "scene.toml", "--steps", "3", "-o", "link.csv"]));
    assert!(std::fs::symlink_metadata(folder.path("link.csv")).unwrap().is_symlink());
    assert_eq!(folder.read("real.csv").lines().count(), 5);

    use std::os::unix::fs::FileTypeExt;
    succeeds(&folder.run(&["simulate", "scene.toml", "--steps", "3", "-o", "/dev/null"]));
    assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}

#[cfg(target_os = "linux")]
#[test]
fn a_result_that_could_not_be_printed_is_an_error() {
    let folder = Folder::new("full");
    folder.write("scene.toml", SCENE);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_stiction"))
        .args(["simulate", "scene.toml", "--steps", "3", "--json"])
        .current_dir(folder.path("."))
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard output"));
}

#[test]
fn gradcheck_refuses_durations_that_are_none() {
    let folder = Folder::new("durations");
    for duration in ["nan", "-1", "1e300"] {
        let option = format!("--duration={duration}");
        refuses(&folder.run(&["gradcheck", &option]), &["--duration", "between 0 and"]);
    }
}
