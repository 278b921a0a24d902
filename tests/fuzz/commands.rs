//! What was found wrong with the program on mutated files.

use std::fmt::Write;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::texts::LOOP;
use crate::folder::Folder;
use crate::program::{SCENE, refuses};
use crate::random::Random;

/// A loop whose violation is not a number is as closed as it gets.
#[test]
fn loops_of_numbers_that_are_not_finite_are_reported() {
    let folder = Folder::new("fuzz-loop");
    for (name, before, after) in [
        ("anchor", "[[1.2, 0, 0]", "[[1e300, 0, 0]"),
        ("speed", "v = 5.0", "v = 1e300"),
        ("step", "time_step = 0.002", "time_step = 1e150"),
    ] {
        assert!(LOOP.contains(before));
        folder.write("scene.toml", &LOOP.replace(before, after));
        for command in
            [["gradcheck", "scene.toml", "--steps"], ["simulate", "scene.toml", "--steps"]]
        {
            let output = folder.run(&[&command[..], &["2"]].concat());
            let said = String::from_utf8_lossy(&output.stderr);
            let code = output.status.code();
            assert!(matches!(code, Some(1..=3)), "{name}: {said}");
            assert!(!said.contains("panicked") && !said.is_empty(), "{name}: {said}");
        }
    }
}

#[test]
fn long_names_are_cut_in_messages() {
    let folder = Folder::new("fuzz-names");
    let long = "x".repeat(10_000);
    folder.write("scene.toml", &SCENE.replace("mass = 0.2", &format!("{long} = 0.2")));
    let output = folder.run(&["simulate", "scene.toml"]);
    refuses(&output, &["xxx[.. ", " characters ..]xxx", "is not a field here"]);
    assert!(output.stderr.len() < 2_000, "{}", output.stderr.len());
    let contact = format!("[[contact]]\npair = \"{long}\"\nmu = 0.1\n");
    folder.write("scene.toml", &format!("{SCENE}{contact}"));
    let output = folder.run(&["simulate", "scene.toml"]);
    refuses(&output, &["characters ..]"]);
    assert!(output.stderr.len() < 2_000, "{}", output.stderr.len());
}

#[test]
fn times_that_are_not_finite_are_refused() {
    let folder = Folder::new("fuzz-times");
    let still = "gravity = [0, 0, 0]\n[simulation]\ntime_step = 1e308\n[[body]]\nname = \"ball\"\nmass = 1\n\
                 shape = { sphere = 1 }\n";
    folder.write("scene.toml", still);
    let output = folder.run(&["simulate", "scene.toml", "--steps", "5", "--json", "-o", "out.csv"]);
    refuses(&output, &["step 2", "does not give finite numbers"]);
    assert_eq!(folder.files(), ["scene.toml"]);
}

#[test]
fn a_check_ends_at_its_limit_and_says_so() {
    let folder = Folder::new("fuzz-limit");
    folder.write("scene.toml", SCENE);
    let output = folder.run(&["gradcheck", "scene.toml", "--limit", "0", "--json"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("0 of 10 states were checked: 0 s are over (--limit)"), "{said}");
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["states"], serde_json::json!({ "asked": 10, "checked": 0 }));
    let output = folder.run(&["gradcheck", "scene.toml", "--limit", "-1"]);
    assert_eq!(output.status.code(), Some(2));
    folder.write("scene.toml", &SCENE.replace("time_step = 0.01", "time_step = 1e-150"));
    let output = folder.run(&["gradcheck", "scene.toml"]);
    refuses(&output, &["simulation.time_step", "1.000e150 steps"]);
}

/// Runs the program and presses Ctrl-C.
#[cfg(unix)]
fn interrupted(folder: &Folder, command: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_stiction"));
    program.args(command).current_dir(folder.path("."));
    program.stdout(Stdio::piped()).stderr(Stdio::piped());
    // A busy machine may take its time until the program listens.
    let interrupted = |milliseconds| {
        let child = program.spawn().unwrap();
        std::thread::sleep(Duration::from_millis(milliseconds));
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        let output = child.wait_with_output().unwrap();
        output.status.code().is_some().then_some(output)
    };
    [300, 1_000, 10_000].into_iter().find_map(interrupted).unwrap()
}

/// Ctrl-C while a scene settles ends as it does elsewhere.
#[cfg(unix)]
#[test]
fn an_interrupted_settling_writes_nothing_and_says_so() {
    let folder = Folder::new("fuzz-settle");
    folder.write("scene.toml", SCENE);
    let command = ["simulate", "scene.toml", "--settle", "50000", "--steps", "1", "-o", "out.csv"];
    let output = interrupted(&folder, &command);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("warning: interrupted while it settled, after "), "{said}");
    assert_eq!(folder.files(), ["scene.toml"]);
}

/// Boxes that all strike each other in the first step, of masses up to 1e4 apart: a step of them takes minutes.
#[cfg(unix)]
fn collision(count: usize) -> String {
    let mut random = Random(5);
    let mut text = String::from("[simulation]\ntime_step = 0.05\n[[contact]]\nmu = 0.8\n");
    for k in 0..count {
        let place = [k % 6, k / 6 % 6, k / 36].map(|at| 0.215 * at as f64);
        let velocity = place.map(|x| 20.0 * (0.5 - x));
        let turn: [f64; 4] = std::array::from_fn(|_| random.uniform(0.3, 0.4));
        let size = turn.iter().map(|x| x * x).sum::<f64>().sqrt();
        let turn = turn.map(|x| x / size);
        let mass = 10.0_f64.powf(random.uniform(-2.0, 2.0));
        let _ = writeln!(
            text,
            "[[body]]\nname = 'box{k}'\nmass = {mass}\nshape = {{ box = [0.06, 0.05, 0.04] }}\n\
             position = {place:?}\norientation = {turn:?}\nvelocity = {velocity:?}"
        );
    }
    text
}

/// Ctrl-C does not wait for the end of a step.
#[cfg(unix)]
#[test]
fn a_long_step_is_interrupted_as_well() {
    let folder = Folder::new("fuzz-long-step");
    folder.write("scene.toml", &collision(216));
    let output = interrupted(&folder, &["simulate", "scene.toml", "-o", "out.csv"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("interrupted after 0 of 20 steps"), "{said}");
    assert_eq!(folder.read("out.csv").lines().count(), 2);
}

/// Ctrl-C leaves the steps that were made.
#[cfg(unix)]
#[test]
fn an_interrupted_simulation_writes_what_it_has() {
    let folder = Folder::new("fuzz-interrupt");
    folder.write("scene.toml", SCENE);
    let command = ["simulate", "scene.toml", "--steps", "5000000", "-o", "out.csv", "--json"];
    let output = interrupted(&folder, &command);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("interrupted after "), "{said}");
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    let made = result["steps"].as_u64().unwrap() as usize;
    assert!(made > 0 && folder.read("out.csv").lines().count() == made + 2);
}

/// Counts that nobody means, and recordings whose times would take years to simulate.
#[test]
fn counts_without_end_are_refused() {
    let folder = Folder::new("fuzz-counts");
    folder.write("scene.toml", SCENE);
    let text = "scene = 'scene.toml'\ndata = ['recording.csv']\n[noise]\nposition = 0.001\n[[parameter]]\n\
                name = 'floor-ball/mu'\nstart = 0.2\nlower = 0\nupper = 1\n";
    for field in ["max_iterations", "starts", "half_samples", "substeps"] {
        let found = folder.experiment(&format!("{field} = 99999999999\n{text}"));
        let message = found.err().unwrap();
        assert!(
            message.contains(&format!("experiment.toml:1: {field}: must be at most")),
            "{message}"
        );
    }
    let output = folder.run(&["simulate", "scene.toml", "--steps", "4", "-o", "recording.csv"]);
    assert!(output.status.success());
    folder.write("experiment.toml", text);
    let recording = folder.read("recording.csv");
    let at = recording.rfind("\n0.04,").unwrap();
    folder.write("recording.csv", &recording.replacen("\n0.04,", "\n1e7,", 1));
    assert!(at > 0);
    for command in ["identify", "evaluate"] {
        refuses(
            &folder.run(&[command, "experiment.toml"]),
            &["recording.csv: t: ", "1.000e9 steps"],
        );
    }
}
