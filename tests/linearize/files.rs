//! `stiction linearize`, run as a program, and the files it writes.

use std::process::Command;

use ndarray::{Array1, Array2, Array3};
use ndarray_npy::NpzReader;
use serde_json::Value;

use crate::folder::Folder;
use crate::program::{SCENE, close, refuses, succeeds};
use crate::skipped::skip;

/// Compares all arrays of out.npz with out.json, to the last bit (Python reads JSON exactly).
const PYTHON: &str = "
import json, numpy
z, j = numpy.load('out.npz'), json.load(open('out.json'))
meta = json.loads(bytes(z['meta']))
assert meta == j['meta']
assert set(z.files) == set(j), (z.files, list(j))
for name in set(z.files) - {'meta', 'margins'}:
    assert (z[name] == numpy.array(j[name])).all(), name
margins = [numpy.inf if margin is None else margin for margin in j['margins']]
assert (z['margins'] == numpy.array(margins)).all()
assert z['A'].shape == (30, 24, 24) and z['dt'] == 0.01
assert z['C'].shape == (30, 24, len(meta['parameter_names']))
print('read')
";

#[test]
fn archives_and_json_hold_the_same() {
    let folder = Folder::new("linearize");
    folder.write("scene.toml", SCENE);
    for file in ["out.npz", "out.json"] {
        let said = succeeds(&folder.run(&["linearize", "scene.toml", "--steps", "30", "-o", file]));
        assert!(said.contains("30 steps") && said.contains("A 24 x 24"), "{said}");
    }
    assert_eq!(folder.files(), ["out.json", "out.npz", "scene.toml"]);
    let json: Value = serde_json::from_str(&folder.read("out.json")).unwrap();
    let mut npz = NpzReader::new(std::fs::File::open(folder.path("out.npz")).unwrap()).unwrap();
    let bytes: Array1<u8> = npz.by_name("meta").unwrap();
    let meta: Value = serde_json::from_slice(&bytes.to_vec()).unwrap();
    assert_eq!(meta, json["meta"]);
    for name in ["A", "B", "C"] {
        let array: Array3<f64> = npz.by_name(name).unwrap();
        assert_eq!(array.dim().0, 30);
        for ((k, i, j), entry) in array.indexed_iter() {
            close(&json[name][k][i][j], *entry);
        }
    }
    for name in ["x", "f", "u"] {
        let array: Array2<f64> = npz.by_name(name).unwrap();
        for ((k, i), entry) in array.indexed_iter() {
            close(&json[name][k][i], *entry);
        }
    }
    for (names, length) in [
        ("state_names", 26),
        ("tangent_names", 24),
        ("input_names", 12),
        ("parameter_names", json["C"][0][0].as_array().unwrap().len()),
        ("parameter_values", json["C"][0][0].as_array().unwrap().len()),
        ("modes", 30),
        ("state_units", 26),
        ("tangent_units", 24),
        ("input_units", 12),
    ] {
        assert_eq!(meta[names].as_array().unwrap().len(), length, "{names}");
    }
    assert_eq!(meta["state_names"][7], "ball/px");
    assert_eq!(meta["tangent_names"][12], "cube, red/dvx");
    assert_eq!(meta["time_step"], 0.01);
    assert_eq!(meta["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(meta["convention"], "stiction");
    assert_eq!(&meta["state_units"][7], "m");
    let said = meta["conventions"].to_string();
    for words in ["on the right", "in the WORLD", "in the BODY", "w x y z", "[dq; dv]"] {
        assert!(said.contains(words), "{words}");
    }

    let numpy = Command::new("python3").args(["-c", "import numpy"]).output();
    if !numpy.is_ok_and(|output| output.status.success()) {
        skip("there is no python3 with numpy to read the archive in", "STICTION_REQUIRE_NUMPY");
        return;
    }
    let python =
        Command::new("python3").args(["-c", PYTHON]).current_dir(folder.path("")).output().unwrap();
    assert_eq!(succeeds(&python), "read\n");
}

#[test]
fn recorded_states_are_linearised() {
    let folder = Folder::new("recorded");
    folder.write("scene.toml", SCENE);
    succeeds(&folder.run(&["simulate", "scene.toml", "--steps", "20", "-o", "motion.csv"]));
    let command = ["linearize", "scene.toml", "--trajectory", "motion.csv", "-o", "out.json"];
    let command = [&command[..], &["--json"]].concat();
    let said: Value = serde_json::from_str(&succeeds(&folder.run(&command))).unwrap();
    assert_eq!((&said["steps"], &said["shapes"]["A"][0]), (&21.into(), &21.into()));
    assert_eq!(said["solver"]["status"], "solved");
    let recorded: Value = serde_json::from_str(&folder.read("out.json")).unwrap();
    succeeds(&folder.run(&["linearize", "scene.toml", "--steps", "21", "-o", "out.json"]));
    let rollout: Value = serde_json::from_str(&folder.read("out.json")).unwrap();
    assert_eq!(recorded["x"], rollout["x"]);
    assert_eq!(recorded["times"], rollout["times"]);

    // Another time step is remarked upon; 1 % is let pass.
    for (time_step, remarked) in [("0.0101", false), ("0.005", true)] {
        folder.write("scene.toml", &SCENE.replace("0.01", time_step));
        let output = folder.run(&command);
        assert!(output.status.success());
        let note = String::from_utf8_lossy(&output.stderr);
        assert_eq!(note.starts_with("note: motion.csv: the frames are"), remarked, "{note}");
        assert_eq!(note.is_empty(), !remarked, "{note}");
    }
}

#[test]
fn bad_input_is_refused() {
    let folder = Folder::new("linearize-bad");
    folder.write("scene.toml", SCENE);
    folder.write("motion.csv", "t,px\n0,1\n");
    let refused = |arguments: &[&str], says: &[&str]| {
        refuses(&folder.run(&[&["linearize"], arguments].concat()), says);
        assert_eq!(folder.files(), ["motion.csv", "scene.toml"]);
    };
    refused(&["scene.toml", "-o", "out.csv"], &["out.csv", "must end in .npz or .json"]);
    refused(&["scene.toml", "-o", "npz"], &["must end in .npz or .json"]);
    refused(&["scene.toml"], &["--output"]);
    refused(&["scene.toml", "-o", "no/out.npz"], &["no/out.npz", "no directory"]);
    let recorded = ["scene.toml", "-o", "out.npz", "--trajectory", "motion.csv"];
    refused(&recorded, &["motion.csv:1", "column is missing"]);
    refused(&[&recorded[..], &["--steps", "3"]].concat(), &["--steps", "cannot be used with"]);
    folder.write("scene.toml", &SCENE.replace("mass = 0.4", "mass = 0"));
    refused(&["scene.toml", "-o", "out.npz"], &["scene.toml:8", "mass"]);
}

#[test]
fn unsolved_problems_are_said_in_words() {
    let folder = Folder::new("linearize-unsolved");
    let scene = SCENE.replace("time_step = 0.01", "time_step = 0.01\ntolerance = 1e-30");
    folder.write("scene.toml", &scene);
    let output = folder.run(&["linearize", "scene.toml", "-o", "out.json"]);
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.starts_with("warning: ") && message.contains("not solved"), "{message}");
    let json: Value = serde_json::from_str(&folder.read("out.json")).unwrap();
    let modes = json["meta"]["modes"].as_array().unwrap();
    assert!(modes.len() == 100 && modes.iter().any(|step| step["status"] != "solved"));
}
