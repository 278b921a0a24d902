//! `stiction identify` on markers.

use serde_json::Value;

use super::{PARAMETERS, TRUTH, clouds, experiment, record};
use crate::folder::Folder;
use crate::program::{refuses, succeeds, succeeds_aloud};

#[test]
fn it_finds_the_material_and_writes_the_motion_it_found() {
    let folder = Folder::new("identify-soft");
    record(&folder, 2, 5e-4);
    folder.write(
        "experiment.toml",
        &experiment("stages = [0.08, 0.15, 0.2, 0.3]\n[noise]\nposition = 5e-4"),
    );
    let arguments = ["identify", "experiment.toml", "--json", "-o", "found", "--threads", "2"];
    let result: Value = serde_json::from_str(&succeeds(&folder.run(&arguments))).unwrap();
    assert_eq!(result["status"], "converged");
    for (number, (name, truth)) in result["parameters"].as_array().unwrap().iter().zip(TRUTH) {
        assert_eq!(number["name"], name);
        let [low, high] = [0, 1].map(|k| number["interval"][k].as_f64().unwrap());
        assert!(low < truth && truth < high, "{number}");
    }
    let kept: Value = serde_json::from_str(&folder.read("found/result.json")).unwrap();
    assert_eq!(kept["parameters"], result["parameters"]);
    let motion = folder.read("found/fit_1.csv");
    assert!(motion.starts_with("t,block/px") && motion.lines().count() == 202, "{motion}");
}

/// From points of the surface, which the page shows beside the motion.
#[test]
fn it_finds_the_material_from_points_of_the_surface() {
    let folder = Folder::new("identify-points");
    let text = clouds::record(&folder, 2, 40, 5e-4);
    folder.write("experiment.toml", &format!("{text}[noise]\nposition = 5e-4\n{PARAMETERS}"));
    let log = succeeds_aloud(&folder.run(&["identify", "experiment.toml", "-o", "found"]));
    assert!(log.contains("2 recordings of points of the surface"), "{log}");
    assert!(log.contains("beside the points") && log.contains("throw_1.csv: points 0."), "{log}");
    let result: Value = serde_json::from_str(&folder.read("found/result.json")).unwrap();
    assert_eq!(result["status"], "converged");
    let page = folder.read("found/motions.html");
    assert!(page.contains("\"points\":[["), "points are played");
}

#[test]
fn what_is_wrong_with_points_is_said_with_its_place() {
    let folder = Folder::new("identify-points-wrong");
    let text = format!("{}{PARAMETERS}", clouds::record(&folder, 1, 8, 0.0));
    for (from, to, says) in [
        ("'points'", "'cloud'", "seen: must be \"markers\" or \"points\""),
        ("seen = 'points'\n", "", "is no column; there are t, x, y, z"),
        ("seen = 'points'\n", "region = [[0, 0, 0], [1, 1, 1]]\n", "goes seen = \"points\""),
        ("stages", "region = [[0, 0, 0], [1, 0, 1]]\nstages", "region: must be two corners"),
        ("stages", "region = [[0, 0]]\nstages", "region: must be 2 lists of 3 numbers"),
        (
            "stages",
            "region = [[8, 8, 8], [9, 9, 9]]\nstages",
            "throw_0.csv: has points in the region at fewer than two",
        ),
        (
            "[[parameter]]",
            "[columns]\na = ['x', 'y', 'z']\n[[parameter]]",
            "columns.a: is not known; there are points and t",
        ),
        (
            "[[parameter]]",
            "[columns]\npoints = ['x', 'y']\n[[parameter]]",
            "columns.points: must be the names of three",
        ),
        (
            "[[parameter]]",
            "[columns]\npoints = ['x', 'y', 'q']\n[[parameter]]",
            "throw_0.csv:1: q: is no column",
        ),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text);
        folder.write("experiment.toml", &changed);
        refuses(&folder.run(&["identify", "experiment.toml"]), &[says]);
    }
    folder.write("experiment.toml", &text);
    let good = folder.read("throw_0.csv");
    let few: String = good
        .lines()
        .enumerate()
        .filter(|(k, _)| k % 2 == 0)
        .map(|(_, line)| format!("{line}\n"))
        .collect();
    folder.write("throw_0.csv", &few);
    let output = folder.run(&["identify", "experiment.toml", "--json"]);
    refuses(&output, &["six points of its surface"]);
    folder.write("throw_0.csv", &format!("{good}9,1e300,0,0\n"));
    let says = "x: must be at most 1e12, found \"1e300\": in m and s?";
    refuses(&folder.run(&["identify", "experiment.toml"]), &["throw_0.csv:122", says]);
    folder.write("throw_0.csv", &format!("{good}0.1,0,0,0\n"));
    refuses(
        &folder.run(&["identify", "experiment.toml"]),
        &["throw_0.csv:122: t: must not decrease"],
    );
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let folder = Folder::new("identify-soft-wrong");
    record(&folder, 1, 0.0);
    let text = experiment("");
    for (from, to, says) in [
        ("start = 2e4", "start = -1", "parameter.block/youngs_modulus.start: must be within 0"),
        ("'block/viscosity'", "'block/lame_mu'", "is told twice"),
        ("'block/viscosity'", "'block/mass'", "is no parameter of the scene"),
        ("'block/viscosity'", "'block/velocity_x'", "starts are found with them"),
        ("t = 'time'", "t = 'clock'", "throw_0.csv:1: clock: is no column"),
        (
            "a = ['a_x', 'a_y', 'a_z']",
            "a = ['a_x', 'a_y']",
            "columns.a: must be the names of three",
        ),
        ("\na = [", "\nq = [", "columns.q: is no marker; there are a, b, c, d"),
        ("throw_*.csv", "toss_*.csv", "no such file"),
        ("data = ", "stages = [0.2, 0.1]\ndata = ", "stages: must be times"),
        ("data = ", "stages = [9]\ndata = ", "stages: 9 s must end between the second frame"),
        ("data = ", "stages = [1e-3]\ndata = ", "must end between the second frame"),
        ("data = ", "window = 5\ndata = ", "window"),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text);
        folder.write("experiment.toml", &changed);
        refuses(&folder.run(&["identify", "experiment.toml"]), &[says]);
    }
    folder.write("experiment.toml", &text);
    refuses(&folder.run(&["identify", "experiment.toml", "--check"]), &["--check: is not of soft"]);
    let good = folder.read("throw_0.csv");
    for (from, to, says) in [
        ("\n0.008,", "\n0.00,", "must increase from row to row"),
        ("\n0.008,", "\n0.008,x", "must be a finite number"),
    ] {
        folder.write("throw_0.csv", &good.replacen(from, to, 1));
        refuses(&folder.run(&["identify", "experiment.toml"]), &["throw_0.csv:3", says]);
    }
    let unseen: String = good
        .lines()
        .enumerate()
        .map(|(k, line)| match k {
            0 => format!("{line}\n"),
            _ => format!("{}{}\n", line.split(',').next().unwrap(), ",".repeat(12)),
        })
        .collect();
    folder.write("throw_0.csv", &unseen);
    let output = folder.run(&["identify", "experiment.toml", "--json"]);
    refuses(&output, &["do not tell how the body starts"]);
}
