//! `stiction identify` and `stiction evaluate`, run as programs.

use std::process::Output;

use serde_json::Value;
use stiction::model::Scene;
use stiction::simulation::Rollout;
use stiction::trajectory::{Recorded, Trajectory};

use crate::folder::Folder;
use crate::program::{close, complaints};

/// A puck that slides to rest.
pub const SCENE: &str = "[simulation]
time_step = 0.005
[[half_space]]
name = \"floor\"
normal = [0, 0, 1]
[[body]]
name = \"puck\"
mass = 0.4
shape = { box = [0.1, 0.1, 0.02] }
position = [0, 0, 0.02]
velocity = [1, 0.5, 0]
[[contact]]
mu = 0.3
restitution = 0
";

const EXPERIMENT: &str = "scene = \"scene.toml\"
data = [\"slides\"]
window = 10
substeps = 2
length_scale = 0.2
[noise]
position = 0.001
rotation_deg = 0.5
[[parameter]]
name = \"floor-puck/mu\"
start = 0.2
lower = 0.01
upper = 1
[truth]
\"floor-puck/mu\" = 0.3
";

/// A folder with an experiment and two recordings of its scene, every second step.
fn prepared(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("scene.toml", SCENE);
    folder.write("experiment.toml", EXPERIMENT);
    std::fs::create_dir(folder.path("slides")).unwrap();
    let mut scene = Scene::load(folder.path("scene.toml")).unwrap();
    for (name, spin) in [("slides/a.csv", 0.0), ("slides/b.csv", 4.0)] {
        scene.state.v[5] = spin;
        let Scene { model, state, inputs, .. } = &scene;
        let mut rollout = Rollout::new(scene.system(), state.clone());
        let mut states = vec![state.clone()];
        for _ in 0..25 {
            rollout.advance(2, inputs);
            states.push(rollout.state.clone());
        }
        let times = (0..=25).map(|k| k as f64 * 0.01).collect();
        let recording =
            Trajectory { name: name.to_string(), times, states, recorded: Recorded::all(model) };
        let mut text = Vec::new();
        recording.write(model, &mut text).unwrap();
        folder.write(name, &String::from_utf8(text).unwrap());
    }
    folder
}

/// The one JSON object on standard output, in which every number is finite.
#[track_caller]
fn object(output: &Output) -> Value {
    let text = std::str::from_utf8(&output.stdout).unwrap();
    let value: Value = serde_json::from_str(text).unwrap();
    assert!(value.is_object());
    assert!(no_null(&value), "{text}");
    value
}

/// Null stands for a number that is not finite.
fn no_null(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(list) => list.iter().all(no_null),
        Value::Object(map) => map.values().all(no_null),
        _ => true,
    }
}

#[track_caller]
fn ends_with_code(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Exit code 2, nothing on standard output, and one line that says all this.
#[track_caller]
fn refuses(output: &Output, says: &[&str]) {
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(output.stdout.is_empty(), "{output:?}");
    assert!(message.starts_with("error: ") && message.ends_with('\n'), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    for says in says {
        assert!(message.contains(says), "{says:?} is not in {message}");
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// From little friction; `tests/identify/fit.rs` begins at more.
#[test]
fn the_builtin_experiment_is_one_json_object() {
    let folder = Folder::new("identify-builtin");
    let start = ["--start", "floor-box/mu=0.05", "--no-profiles"];
    let output = folder.run(&[&["identify", "--json", "--threads", "2"], &start[..]].concat());
    ends_with_code(&output, 0);
    assert_eq!(complaints(&output), "");
    let said = object(&output);
    assert_eq!(said["status"], "converged");
    assert_eq!(
        (&said["threads"], &said["version"]),
        (&2.into(), &env!("CARGO_PKG_VERSION").into())
    );
    assert!(said["seed"].is_u64() && said["iterations"].as_u64().unwrap() > 1);
    assert_eq!(said["truth"]["floor-box/mu"], 0.3);
    // Noise alone: 1 less the share of the unknowns, with 5 standard deviations of a mean square.
    let (residuals, unknowns) = (6.0 * 1167.0, 1.0 + 6.0 * 12.0);
    let (loss, expected) = (number(&said["loss"]), 1.0 - unknowns / residuals);
    assert!((loss - expected).abs() < 5.0 * f64::sqrt(2.0 / residuals), "{loss}");
    assert!(loss < number(&said["loss_of_scene"]) && loss < number(&said["loss_at_start"]));
    assert_eq!(said["warnings"].as_array().map(Vec::len), Some(0));
    assert!(number(&said["rollouts"]) > 6.0 && number(&said["seconds"]) > 0.0);
    let parameters = said["parameters"].as_array().unwrap();
    assert_eq!(parameters.len(), 1);
    let mu = &parameters[0];
    assert_eq!(mu["name"], "floor-box/mu");
    assert_eq!(
        (&mu["initial"], &mu["lower"], &mu["upper"]),
        (&0.05.into(), &0.01.into(), &1.5.into())
    );
    assert!((number(&mu["value"]) - 0.3).abs() < 0.006, "{mu}");
    assert!(folder.files().is_empty());
}

#[test]
fn results_are_written_and_evaluated() {
    let folder = prepared("identify-write");
    let output = folder.run(&["identify", "experiment.toml", "-o", "result.json", "--json"]);
    ends_with_code(&output, 0);
    let said = object(&output);
    let written: Value = serde_json::from_str(&folder.read("result.json")).unwrap();
    assert_eq!(said, written);
    assert_eq!(folder.files(), ["experiment.toml", "result.json", "scene.toml", "slides"]);
    let mu = number(&said["parameters"][0]["value"]);
    assert!((mu - 0.3).abs() < 3e-7, "{mu}");

    // The scene's own numbers are the truth; those of a result take their place.
    let evaluate = |more: &[&str]| {
        let output = folder.run(&[&["evaluate", "experiment.toml", "--json"], more].concat());
        ends_with_code(&output, 0);
        object(&output)
    };
    let exact = evaluate(&[]);
    assert!(number(&exact["position_error_percent"]) < 1e-9, "{exact}");
    assert!(number(&exact["rotation_error_deg"]) < 1e-9, "{exact}");
    let wrong = r#"{"parameters": [{"name": "floor-puck/mu", "value": 0.2}]}"#;
    folder.write("wrong.json", wrong);
    let worse = evaluate(&["--parameters", "wrong.json", "-o", "errors.json"]);
    let written: Value = serde_json::from_str(&folder.read("errors.json")).unwrap();
    assert_eq!(worse, written);
    assert_eq!(worse["count"], 2);
    let rows = worse["trajectories"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    for (row, name) in rows.iter().zip(["slides/a.csv", "slides/b.csv"]) {
        assert_eq!((&row["name"], &row["frames"]), (&name.into(), &26.into()));
    }
    for key in ["position_error_percent", "rotation_error_deg"] {
        let mean = rows.iter().map(|row| number(&row[key])).sum::<f64>() / 2.0;
        close(&worse[key], mean);
    }
    // Sliding without spin from speed √1.25 m/s: it is 0.1 g t² / 2 too far until it would have
    // stopped; of 0.2 m, in the mean over the frames of 0.25 s.
    let error = |t: f64| 0.5 * 0.1 * 9.81 * t * (t + 0.005);
    let mean = (0..26).map(|k| error(0.01 * k as f64)).sum::<f64>() / 26.0;
    let found = number(&rows[0]["position_error_percent"]);
    assert!((found / (100.0 * mean / 0.2) - 1.0).abs() < 1e-6, "{found} {mean}");

    let good = evaluate(&["--parameters", "result.json", "--data", "slides/b.csv"]);
    assert_eq!(good["trajectories"].as_array().unwrap().len(), 1);
    assert!(number(&good["position_error_percent"]) < 1e-3, "{good}");
}

#[test]
fn what_cannot_be_identified_ends_with_1() {
    let folder = prepared("identify-unobservable");
    let text = EXPERIMENT.replace("floor-puck/mu\"\nstart", "puck/mass\"\nstart");
    folder.write("experiment.toml", &text);
    let command = ["identify", "experiment.toml", "--data", "slides/a.csv", "--json"];
    let output = folder.run(&command);
    ends_with_code(&output, 1);
    let said = object(&output);
    assert_eq!(said["status"], "unobservable");
    assert_eq!(
        (&said["parameters"][0]["value"], &said["parameters"][0]["observable"]),
        (&0.2.into(), &false.into())
    );
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.starts_with("warning: puck/mass is unobservable"), "{message}");
    assert_eq!(said["warnings"].as_array().unwrap().len(), 1);
    // And for people.
    let output = folder.run(&command[..4]);
    ends_with_code(&output, 1);
    assert!(String::from_utf8_lossy(&output.stdout).contains("unobservable"));

    let text = EXPERIMENT.replace("window = 10", "window = 10\nmax_iterations = 2");
    folder.write("experiment.toml", &text);
    // Profiles lead on from there, to the end.
    let output = folder.run(&["identify", "experiment.toml", "--json"]);
    ends_with_code(&output, 0);
    let text = text.replace("window = 10", "profiles = false\nwindow = 10");
    folder.write("experiment.toml", &text);
    let output = folder.run(&["identify", "experiment.toml", "--json", "-o", "result.json"]);
    ends_with_code(&output, 1);
    assert_eq!(object(&output)["status"], "iteration_limit");
    // The best so far is written all the same.
    assert!(folder.files().contains(&"result.json".to_string()));
}

/// One change to one file of the experiment, and what is said about it.
struct Mistake {
    file: &'static str,
    passage: &'static str,
    replacement: &'static str,
    says: &'static [&'static str],
}

const fn mistake(
    file: &'static str,
    passage: &'static str,
    replacement: &'static str,
    says: &'static [&'static str],
) -> Mistake {
    Mistake { file, passage, replacement, says }
}

const MISTAKES: [Mistake; 29] = [
    mistake("scene.toml", "mass = 0.4\n", "", &["scene.toml:6", "mass", "missing"]),
    mistake("scene.toml", "mass = 0.4", "weight = 0.4", &["scene.toml:8", "weight", "mass"]),
    mistake("scene.toml", "mass = 0.4", "mass = 0", &["scene.toml:8", "mass", "positive, found 0"]),
    mistake("scene.toml", "mass = 0.4", "mass = -1", &["scene.toml:8", "mass", "positive"]),
    mistake("scene.toml", "mu = 0.3", "mu = -0.1", &["scene.toml:13", "mu", "negative"]),
    mistake(
        "scene.toml",
        "restitution = 0",
        "restitution = 1.1",
        &["scene.toml:14", "between 0 and 1"],
    ),
    mistake(
        "scene.toml",
        "restitution = 0",
        "restitution = -0.1",
        &["scene.toml:14", "restitution"],
    ),
    mistake(
        "scene.toml",
        "position = [0, 0, 0.02]",
        "position = [0, 0, 0.0179]",
        &["scene.toml:10", "body.puck.position", "deep in \"floor\""],
    ),
    mistake(
        "scene.toml",
        "time_step = 0.005",
        "time_step = 0.004",
        &["experiment.toml:4", "substeps", "0.01"],
    ),
    mistake(
        "experiment.toml",
        "substeps = 2",
        "substeps = 3",
        &["experiment.toml:4", "substeps", "0.01"],
    ),
    mistake(
        "experiment.toml",
        "substeps = 2",
        "substep = 2",
        &["experiment.toml:4", "substep", "substeps"],
    ),
    mistake(
        "experiment.toml",
        "scene = \"scene.toml\"\n",
        "",
        &["experiment.toml:1", "scene", "missing"],
    ),
    mistake(
        "experiment.toml",
        "\"scene.toml\"",
        "\"no.toml\"",
        &["experiment.toml:1", "scene", "no.toml"],
    ),
    mistake(
        "experiment.toml",
        "\"slides\"",
        "\"no/*.csv\"",
        &["experiment.toml:2", "data", "no/*.csv"],
    ),
    mistake(
        "experiment.toml",
        "\"slides\"",
        "\"no.csv\"",
        &["experiment.toml:2", "data", "no.csv"],
    ),
    mistake(
        "experiment.toml",
        "\"slides\"",
        "\"empty\"",
        &["experiment.toml:2", "data", "no *.csv, *.parquet, *.mcap or *.npz"],
    ),
    mistake("experiment.toml", "\"slides\"", "", &["experiment.toml:2", "data", "--data"]),
    mistake(
        "experiment.toml",
        "floor-puck/mu\"\nstart",
        "floor-disc/mu\"\nstart",
        &["experiment.toml:10", "floor-disc/mu", "floor-puck/mu"],
    ),
    mistake(
        "experiment.toml",
        "\"floor-puck/mu\" = 0.3",
        "\"mu\" = 0.3",
        &["experiment.toml:15", "mu", "no such parameter"],
    ),
    mistake(
        "experiment.toml",
        "start = 0.2",
        "start = 1.2",
        &["experiment.toml:11", "start", "[0.01, 1]"],
    ),
    mistake("experiment.toml", "start = 0.2\n", "", &["experiment.toml:9", "start", "missing"]),
    mistake(
        "experiment.toml",
        "lower = 0.01",
        "lower = -0.5",
        &["experiment.toml:12", "lower", "-0.5"],
    ),
    mistake("experiment.toml", "window = 10", "window = 0", &["experiment.toml:3", "window"]),
    mistake(
        "experiment.toml",
        "position = 0.001",
        "position = 0",
        &["experiment.toml:7", "position", "positive"],
    ),
    mistake("slides/a.csv", "vz,", "v3,", &["slides/a.csv:1", "vz", "missing"]),
    mistake("slides/a.csv", "\n0.01,", "\n0.01,nan,", &["slides/a.csv:3", "15 fields"]),
    mistake("slides/a.csv", "\n0,0,0,", "\n0,inf,0,", &["slides/a.csv:2", "px", "finite"]),
    mistake("slides/a.csv", "\n0.02,", "\n0.005,", &["slides/a.csv:4", "t", "increase"]),
    mistake(
        "slides/a.csv",
        "\n0,0,0,0.02,1,",
        "\n0,0,0,0.02,0.9,",
        &["slides/a.csv:2", "qw", "norm 0.9"],
    ),
];

#[test]
fn mistakes_in_files_are_refused_with_their_place() {
    let folder = prepared("identify-mistakes");
    std::fs::create_dir(folder.path("empty")).unwrap();
    let files = folder.files();
    for Mistake { file, passage, replacement, says } in MISTAKES {
        let text = folder.read(file);
        assert_eq!(text.matches(passage).count(), 1, "{passage}");
        folder.write(file, &text.replace(passage, replacement));
        for command in ["identify", "evaluate"] {
            let output = folder.run(&[command, "experiment.toml", "-o", "out.json", "--json"]);
            refuses(&output, says);
            assert_eq!(folder.files(), files, "{passage}");
        }
        folder.write(file, &text);
    }
    // Put right again, it works.
    ends_with_code(&folder.run(&["identify", "experiment.toml"]), 0);
}

#[test]
fn mistakes_on_the_command_line_are_refused() {
    let folder = prepared("identify-arguments");
    std::fs::create_dir(folder.path("empty")).unwrap();
    folder.write("text.json", "{\"parameters\": [");
    folder.write("other.json", "{\"loss\": 1}");
    folder.write("name.json", r#"{"parameters": [{"name": "mu", "value": 1}]}"#);
    folder.write("value.json", r#"{"parameters": [{"name": "floor-puck/mu", "value": null}]}"#);
    folder.write("negative.json", r#"{"parameters": [{"name": "floor-puck/mu", "value": -1}]}"#);
    let files = folder.files();
    let identify: [(&[&str], &[&str]); 12] = [
        (&["--start", "floor-puck/mu"], &["--start", "floor-puck/mu", "NAME=VALUE"]),
        (&["--start", "floor-puck/mu=much"], &["--start", "\"much\" is not a number"]),
        (&["--start", "floor-puck/mu=nan"], &["--start", "floor-puck/mu=nan", "within its bounds"]),
        (&["--start", "floor-puck/mu=3"], &["--start", "floor-puck/mu=3", "[0.01, 1]"]),
        (&["--start", "mu=0.3"], &["--start", "no parameter \"mu\"", "floor-puck/mu"]),
        (&["--threads", "0"], &["--threads", "at least 1"]),
        (&["--data", "no/*.csv"], &["no/*.csv", "no file matches"]),
        (&["--data", "no.csv"], &["no.csv", "no such file"]),
        (&["--data", "empty"], &["empty", "no *.csv, *.parquet, *.mcap or *.npz"]),
        (&["--data", "scene.toml"], &["scene.toml:1", "t", "missing"]),
        (&["-o", "no/out.json"], &["no/out.json", "no directory no"]),
        (&["-o", "scene.toml"], &["scene.toml", "is a file"]),
    ];
    for (arguments, says) in identify {
        let command = [&["identify", "experiment.toml", "-o", "out.json"], arguments].concat();
        let command =
            if arguments[0] == "-o" { [&command[..2], arguments].concat() } else { command };
        refuses(&folder.run(&command), says);
        assert_eq!(folder.files(), files, "{arguments:?}");
    }
    let evaluate: [(&[&str], &[&str]); 10] = [
        (&["--parameters", "text.json"], &["text.json:1"]),
        (&["--parameters", "other.json"], &["other.json", "parameters", "stiction identify"]),
        (&["--parameters", "name.json"], &["name.json", "parameters[0].name", "\"mu\""]),
        (&["--parameters", "value.json"], &["value.json", "parameters[0].value", "number"]),
        (&["--parameters", "negative.json"], &["negative.json", "parameters[0].value", "-1"]),
        (&["--parameters", "no.json"], &["no.json", "No such file"]),
        (&["--threads", "0"], &["--threads", "at least 1"]),
        (&["--data", "empty"], &["empty", "no *.csv, *.parquet, *.mcap or *.npz"]),
        (&["-o", "no/out.json"], &["no/out.json", "no directory no"]),
        (&["-o", "empty"], &["empty", "is a directory"]),
    ];
    for (arguments, says) in evaluate {
        let command = [&["evaluate", "experiment.toml", "-o", "out.json"], arguments].concat();
        let command =
            if arguments[0] == "-o" { [&command[..2], arguments].concat() } else { command };
        refuses(&folder.run(&command), says);
        assert_eq!(folder.files(), files, "{arguments:?}");
    }
    for command in ["identify", "evaluate"] {
        refuses(&folder.run(&[command, "no.toml"]), &["no.toml", "No such file"]);
    }
}

/// Names that are no text are told like others.
#[cfg(unix)]
#[test]
fn a_name_that_is_no_text_is_told() {
    use std::os::unix::ffi::OsStrExt;
    let name = std::ffi::OsStr::from_bytes(b"no\xfftext.toml");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_stiction"));
    let output = command.arg("identify").arg(name).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.starts_with("error: no") && said.contains("text.toml"), "{said}");
}
