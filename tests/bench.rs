//! `stiction bench`, run as a program.

mod many_bodies;

use serde_json::Value;

use crate::folder::Folder;
use crate::program::{SCENE, close, refuses, succeeds};

fn number(object: &Value, path: &str) -> f64 {
    let found = object.pointer(path).and_then(Value::as_f64);
    found.unwrap_or_else(|| panic!("{path} in {object:#}"))
}

#[test]
fn times_are_positive_and_consistent() {
    let folder = Folder::new("bench");
    folder.write("scene.toml", SCENE);
    let command = ["bench", "scene.toml", "--steps", "40", "--jacobians", "7", "--json"];
    let result: Value = serde_json::from_str(&succeeds(&folder.run(&command))).unwrap();
    for (key, expected) in [("command", "bench"), ("scene", "scene.toml")] {
        assert_eq!(result[key], expected);
    }
    for (path, expected) in [
        ("/steps", 40.0),
        ("/repeats", 3.0),
        ("/threads", 1.0),
        ("/model/nv", 12.0),
        ("/model/nu", 0.0),
        ("/jacobian/count", 7.0),
        ("/jacobian/columns", 36.0),
        ("/jacobian/by_duals", 0.0),
        ("/solver/unsolved", 0.0),
    ] {
        assert_eq!(number(&result, path), expected, "{path}");
    }
    let step = number(&result, "/step/microseconds");
    assert!(step > 0.0);
    close(&result["step"]["per_second"], 1e6 / step);
    close(&result["step"]["real_time_factor"], 1e6 / step * 0.01);
    let jacobian = number(&result, "/jacobian/microseconds");
    close(&result["jacobian"]["per_second"], 1e6 / jacobian);
    close(&result["jacobian"]["steps"], jacobian / step);
    let gradient = number(&result, "/gradient/microseconds");
    assert!(gradient > 0.0);
    close(&result["gradient"]["steps"], gradient / step);
    let stages = result["stages"].as_object().unwrap();
    let mut names: Vec<&str> = stages.keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["collision_detection", "contact_solve", "free_motion", "rest"]);
    assert!(stages.values().all(|time| time.as_f64().unwrap() >= 0.0));
    let sum: f64 = stages.values().map(|time| time.as_f64().unwrap()).sum();
    assert!(sum >= step * (1.0 - 1e-9), "{sum} {step}");
}

/// What the solver did is that of the simulation, whatever is timed on the way.
#[test]
fn statistics_are_those_of_the_simulation() {
    let folder = Folder::new("bench-statistics");
    folder.write("scene.toml", SCENE);
    let text = |command: &[&str]| succeeds(&folder.run(command));
    let bench = ["bench", "scene.toml", "--steps", "60", "--repeats", "1", "--json"];
    let bench: Value = serde_json::from_str(&text(&bench)).unwrap();
    let simulate =
        ["simulate", "scene.toml", "--steps", "60", "-o", "out.csv", "--contacts", "--json"];
    let simulated: Value = serde_json::from_str(&text(&simulate)).unwrap();
    assert_eq!(bench["solver"], simulated["solver"]);
    let contacts = folder.read("out.contacts.csv");
    assert!(contacts.lines().count() > 10);
    let touching = contacts.lines().skip(1).count() as f64;
    close(&bench["per_step"]["contacts"], touching / 60.0);
    let modes = bench["per_step"]["modes"].as_object().unwrap();
    for (mode, count) in modes {
        let rows = contacts.lines().filter(|row| row.split(',').any(|cell| cell == mode)).count();
        close(count, rows as f64 / 60.0);
    }
}

#[test]
fn it_says_what_it_measured() {
    let folder = Folder::new("bench-text");
    folder.write("scene.toml", SCENE);
    let said = succeeds(&folder.run(&["bench", "scene.toml", "--steps", "5", "--repeats", "1"]));
    for part in
        ["scene.toml", "nv 12", "5 steps", "solver coupled", "Jacobians A, B", "free motion"]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
    folder.write("pair.toml", &SCENE.replace("time_step", "solver = \"gauss_seidel\"\ntime_step"));
    let said = succeeds(&folder.run(&["bench", "pair.toml", "--steps", "5", "--repeats", "1"]));
    assert!(said.contains("Jacobians: none by solver gauss_seidel"), "{said}");
}

#[test]
fn bad_counts_are_refused() {
    let folder = Folder::new("bench-bad");
    folder.write("scene.toml", SCENE);
    for option in ["--steps", "--repeats", "--jacobians"] {
        refuses(&folder.run(&["bench", "scene.toml", option, "0"]), &[option, "found 0"]);
    }
    refuses(&folder.run(&["bench", "none.toml"]), &["none.toml"]);
}

/// Families are solved at each size, whichever way their matrices are factorised, and the exponents are there.
#[test]
fn families_grow() {
    let folder = Folder::new("bench-families");
    for (family, sizes) in [
        ("tower", "4,40"),
        ("heap", "5,20"),
        ("wall", "2,3"),
        ("chain", "3,6"),
        ("arch", "4,8"),
        ("cards", "1,2"),
        ("dominoes", "3,6"),
        ("hopper", "4,12"),
        ("cradle", "2,4"),
        ("net", "1,2"),
    ] {
        let command = ["bench", "--family", family, "--sizes", sizes, "--steps", "30"];
        let command = [&command[..], &["--repeats", "1", "--jacobians", "1", "--json"]].concat();
        let result: Value = serde_json::from_str(&succeeds(&folder.run(&command))).unwrap();
        assert_eq!(result["family"], family);
        let found = result["sizes"].as_array().unwrap();
        let asked: Vec<u64> = sizes.split(',').map(|n| n.parse().unwrap()).collect();
        assert_eq!(found.iter().map(|size| size["n"].as_u64().unwrap()).collect::<Vec<_>>(), asked);
        for size in found {
            assert_eq!(number(size, "/result/solver/unsolved"), 0.0, "{family}");
        }
        for figure in ["step", "jacobian", "gradient"] {
            assert!(number(&result, &format!("/growth/{figure}")).is_finite());
        }
    }
}

/// Their scenes are files that other simulators and other commands read.
#[test]
fn families_are_written() {
    let folder = Folder::new("bench-written");
    for (family, size, bodies) in [
        ("tower", "3", 3),
        ("hulls", "8", 2),
        ("wall", "3", 10),
        ("heap", "5", 5),
        ("chain", "4", 4),
        ("arch", "5", 5),
        ("cards", "3", 15),
        ("dominoes", "4", 4),
        ("hopper", "6", 6),
        ("net", "2", 12),
    ] {
        let write = ["bench", "--family", family, "--sizes", size, "--write", "scenes"];
        succeeds(&folder.run(&write));
        let file = format!("scenes/{family}{size}.xml");
        let bench = ["bench", &file, "--steps", "2", "--repeats", "1", "--json"];
        let result: Value = serde_json::from_str(&succeeds(&folder.run(&bench))).unwrap();
        assert_eq!(number(&result, "/model/bodies"), f64::from(bodies), "{family}");
    }
    // What rebounds is a spring in MJCF, of which a reader of rigid contacts says that it is none here.
    succeeds(&folder.run(&["bench", "--family", "cradle", "--sizes", "3", "--write", "scenes"]));
    let read = folder.run(&["bench", "scenes/cradle3.xml", "--steps", "2", "--repeats", "1"]);
    let said = String::from_utf8_lossy(&read.stderr);
    assert!(read.status.success() && said.contains("solref"), "{said}");
}

/// What is timed has the restitution that the file for others cannot have: two balls meet for a step or so, and do not
/// go on together.
#[test]
fn a_cradle_rebounds() {
    let folder = Folder::new("bench-cradle");
    let command = ["bench", "--family", "cradle", "--sizes", "2", "--steps", "180", "--json"];
    let timed: Value = serde_json::from_str(&succeeds(&folder.run(&command))).unwrap();
    succeeds(&folder.run(&["bench", "--family", "cradle", "--sizes", "2", "--write", "."]));
    let command = ["bench", "cradle2.xml", "--steps", "180", "--json"];
    let output = folder.run(&command);
    let written: Value = serde_json::from_slice(&output.stdout).unwrap();
    let contacts = |object: &Value, path: &str| number(object, path) * 180.0;
    let rebounds = contacts(&timed["sizes"][0]["result"], "/per_step/contacts");
    assert!(rebounds > 0.5 && rebounds < 4.5, "{rebounds}");
    assert!(contacts(&written, "/per_step/contacts") > rebounds, "{written}");
}

#[test]
fn sizes_that_are_none_are_refused() {
    let folder = Folder::new("bench-sizes");
    for (sizes, family, said) in [
        ("0", "tower", "from 1 to"),
        ("3", "hulls", "from 4 to"),
        ("500", "chain", "to 190"),
        ("2", "arch", "from 3 to"),
        ("1", "cradle", "from 2 to"),
    ] {
        let command = ["bench", "--family", family, "--sizes", sizes];
        refuses(&folder.run(&command), &["--sizes", said]);
    }
}
