//! `identify --check`, `evaluate --compare`, `design`, and the comparison with the result before, run as programs.

use serde_json::Value;

use crate::folder::Folder;
use crate::scenes::FLOOR;

const EXPERIMENT: &str = "scene = \"scene.toml\"
data = [\"slide.csv\"]
[[parameter]]
name = \"floor-box/mu\"
start = 0.25
lower = 0.01
upper = 1
";
const MASS: &str = "[[parameter]]\nname = \"box/mass\"\nstart = 0.3\nlower = 0.1\nupper = 1\n";

fn scene(body: &str) -> String {
    format!(
        "[simulation]\ntime_step = 0.005\n{FLOOR}[[body]]\nname = \"box\"\nmass = 0.4\nshape = {{ box = [0.1, 0.1, 0.02] }}\n{body}\n\
         [[contact]]\nmu = 0.3\nrestitution = 0.5\n"
    )
}

/// A folder with a slide, recorded, and an experiment for its friction.
fn prepared(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("scene.toml", &scene("position = [0, 0, 0.02]\nvelocity = [1, 0, 0]"));
    folder.write("experiment.toml", EXPERIMENT);
    let made = folder.run(&["simulate", "scene.toml", "--steps", "100", "-o", "slide.csv"]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    folder
}

/// The JSON object that a command prints, and its exit code.
#[track_caller]
fn object(folder: &Folder, arguments: &[&str]) -> (Value, i32) {
    let output = folder.run(arguments);
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}{errors}"));
    (value, output.status.code().unwrap())
}

#[test]
fn a_check_says_what_is_visible_and_fits_nothing() {
    let folder = prepared("check");
    let (found, code) = object(&folder, &["identify", "experiment.toml", "--check", "--json"]);
    assert_eq!((found["status"].as_str(), code), (Some("observable"), 0));
    let mu = &found["at_start"]["parameters"][0];
    assert_eq!((mu["visibility"].as_str(), mu["value"].as_f64()), (Some("visible"), Some(0.25)));
    assert_eq!(found["at_scene"]["parameters"][0]["value"], 0.3);
    folder.write("both.toml", &format!("{EXPERIMENT}{MASS}"));
    let (found, code) = object(&folder, &["identify", "both.toml", "--check", "--json"]);
    assert_eq!((found["status"].as_str(), code), (Some("unobservable"), 1));
    assert_eq!(found["at_start"]["parameters"][1]["visibility"], "invisible");
    let text = folder.run(&["identify", "both.toml", "--check"]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("box/mass leaves no trace in the recordings"), "{text}");
    let refused = folder.run(&["identify", "both.toml", "--check", "-o", "out"]);
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn a_check_is_judged_where_a_short_fit_leads_if_nothing_before_explains_the_recordings() {
    let folder = prepared("check-far-off");
    let (found, _) = object(&folder, &["identify", "experiment.toml", "--check", "--json"]);
    assert_eq!(
        (found["judged"].as_str(), &found["after_short_fit"]),
        (Some("at_scene"), &Value::Null)
    );
    let far = folder.read("scene.toml").replace("mu = 0.3", "mu = 0.8");
    folder.write("scene.toml", &far);
    folder.write("far.toml", &EXPERIMENT.replace("0.25", "0.9"));
    let (found, code) = object(&folder, &["identify", "far.toml", "--check", "--json"]);
    assert_eq!((found["status"].as_str(), code), (Some("observable"), 0), "{found}");
    assert_eq!((&found["explained"], &found["judged"]), (&true.into(), &"after_short_fit".into()));
    let after = &found["after_short_fit"];
    assert!((after["parameters"][0]["value"].as_f64().unwrap() - 0.3).abs() < 0.02, "{after}");
    assert!(after["iterations"].as_u64().unwrap() <= 8 && after["recordings"] == 1, "{after}");
    let text = folder.run(&["identify", "far.toml", "--check"]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(
        text.contains(
            "observable: the recordings can tell these parameters (judged after a short fit"
        ),
        "{text}"
    );
}

#[test]
fn a_mass_over_a_fixed_inertia_is_said_to_be_that_before_a_fit_and_after() {
    let folder = prepared("over-inertia");
    folder.write(
        "scene.toml",
        &scene("position = [0, 0, 0.2]\nangular_velocity = [4, 2, 1]\nvelocity = [0.5, 0, 0]"),
    );
    let made = folder.run(&["simulate", "scene.toml", "--steps", "100", "-o", "slide.csv"]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let of_mass = EXPERIMENT.replace("floor-box/mu", "box/mass").replace("0.25", "0.4");
    folder.write("mass.toml", &of_mass);
    let (found, code) = object(&folder, &["identify", "mass.toml", "--check", "--json"]);
    assert_eq!((found["status"].as_str(), code), (Some("observable"), 0), "{found}");
    assert_eq!(found["at_start"]["masses_over_inertia"][0]["parameters"][0], "box/mass");
    let text = folder.run(&["identify", "mass.toml", "--check"]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("if that inertia is not known, neither is box/mass"), "{text}");
    assert!(text.contains("if the inertia that the scene holds fixed is right"), "{text}");
    let (found, _) = object(&folder, &["identify", "mass.toml", "--json"]);
    let warnings = found["warnings"].to_string();
    assert!(warnings.contains("box/mass is the ratio to the inertia"), "{warnings}");
}

#[test]
fn a_check_asks_about_recordings_that_cannot_be_right() {
    let folder = prepared("questions");
    let (found, _) = object(&folder, &["identify", "experiment.toml", "--check", "--json"]);
    assert_eq!(found["warnings"].as_array().map(Vec::len), Some(0));
    let text = folder.read("slide.csv");
    let scaled = |line: &str| {
        let fields = line.split(',').enumerate().map(|(k, field)| match field.parse::<f64>() {
            Ok(x) if (1..4).contains(&k) => (1e3 * x).to_string(),
            _ => field.to_string(),
        });
        fields.collect::<Vec<_>>().join(",") + "\n"
    };
    folder.write("slide.csv", &text.lines().map(scaled).collect::<String>());
    let (found, _) = object(&folder, &["identify", "experiment.toml", "--check", "--json"]);
    assert_eq!(found["explained"], false);
    let question = found["warnings"][0].as_str().unwrap();
    assert!(question.contains("are positions in millimetres?"), "{question}");
    let output = folder.run(&["identify", "experiment.toml", "--check"]);
    let (text, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!text.contains("observable: the recordings can tell"), "{text}");
    assert!(errors.starts_with("warning: box:") && errors.contains("millimetres"), "{errors}");
    let (found, _) = object(&folder, &["identify", "experiment.toml", "--json"]);
    let said = found["warnings"].to_string();
    assert!(
        said.contains("millimetres") && said.contains("does not explain the recordings"),
        "{said}"
    );
}

#[test]
fn a_result_is_compared_with_the_one_it_replaces() {
    let folder = prepared("compare");
    let identify = ["identify", "experiment.toml", "-o", "result.json", "--json"];
    let (first, code) = object(&folder, &identify);
    assert_eq!((first.get("comparison"), code), (None, 0));
    // What the other result says is read before it is replaced.
    let mut other = first.clone();
    other["parameters"][0]["value"] = 0.4.into();
    folder.write("other.json", &other.to_string());
    folder.write("result.json", &other.to_string());
    let (second, _) = object(&folder, &identify);
    let pairs = &second["comparison"]["position_percent"];
    assert_eq!((pairs["better"].as_u64(), pairs["count"].as_u64()), (Some(1), Some(1)));
    let difference = pairs["difference"].as_f64().unwrap();
    assert!(difference < -1.0 && pairs["standard_error"].is_null());
    // `evaluate` says the same, and what each recording's errors were.
    let (again, code) = object(
        &folder,
        &[
            "evaluate",
            "experiment.toml",
            "--parameters",
            "result.json",
            "--compare",
            "other.json",
            "--json",
        ],
    );
    assert_eq!(code, 0);
    assert_eq!(again["comparison"]["position_percent"], *pairs);
    let row = &again["trajectories"][0];
    let error = |row: &Value| row["position_error_percent"].as_f64().unwrap();
    assert!((error(row) - error(&row["before"]) - difference).abs() < 1e-9);
    // The result of another experiment is not compared with.
    other["experiment"] = "another.toml".into();
    folder.write("result.json", &other.to_string());
    let (third, _) = object(&folder, &identify);
    assert_eq!(third.get("comparison"), None);
}

#[test]
fn markers_alone_are_fitted_but_have_no_error_of_poses() {
    let folder = prepared("markers");
    let markers = "[columns]\n\"box/*\" = false\n[[sensor]]\nname = \"tag\"\nmarker = \"box\"\n\
                   columns = [\"mx\", \"my\", \"mz\"]\nnoise = 1e-3\n";
    let seen = folder.read("slide.csv").replacen("px,py,pz", "mx,my,mz", 1);
    folder.write("slide.csv", &seen);
    folder.write("markers.toml", &format!("{EXPERIMENT}{markers}"));
    let (found, code) = object(&folder, &["identify", "markers.toml", "--json"]);
    assert_eq!(code, 0, "{found}");
    assert!((found["parameters"][0]["value"].as_f64().unwrap() - 0.3).abs() < 1e-3, "{found}");
    let refused = folder.run(&["evaluate", "markers.toml", "--json"]);
    let message = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{message}");
    assert!(message.contains("markers.toml: data: record no position"), "{message}");
}

#[test]
fn experiments_without_recordings_are_ranked() {
    let folder = prepared("design");
    let restitution =
        "[[parameter]]\nname = \"floor-box/restitution\"\nstart = 0.5\nlower = 0\nupper = 1\n";
    for (name, body) in [
        ("rest", "position = [0, 0, 0.02]"),
        ("slide", "position = [0, 0, 0.02]\nvelocity = [1.5, 0, 0]"),
        ("drop", "position = [0, 0, 0.12]"),
    ] {
        folder.write(&format!("scene_{name}.toml"), &scene(body));
        let text = EXPERIMENT
            .replace("scene.toml", &format!("scene_{name}.toml"))
            .replace("data = [\"slide.csv\"]\n", "");
        folder.write(&format!("{name}.toml"), &format!("{text}{restitution}"));
    }
    let command = ["design", "rest.toml", "slide.toml", "drop.toml", "--json"];
    let (found, code) = object(&folder, &command);
    assert_eq!(code, 0);
    let mut pair: Vec<&str> = found["best_pair"]["experiments"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    pair.sort_unstable();
    assert_eq!(pair, ["drop.toml", "slide.toml"]);
    assert_eq!(found["ranking"][2]["experiment"], "rest.toml");
    assert_eq!(found["ranking"][2]["open"], 2);
    assert_eq!(found["ranking"][0]["frames"], 201);
    let (found, _) =
        object(&folder, &[&command[..], &["--parameters", "floor-box/restitution"]].concat());
    assert_eq!(found["ranking"][0]["experiment"], "drop.toml");
    // One with recordings takes part as it is.
    let (found, _) = object(
        &folder,
        &["design", "experiment.toml", "rest.toml", "--parameters", "floor-box/mu", "--json"],
    );
    assert_eq!(found["ranking"][0]["experiment"], "experiment.toml");
    assert_eq!(found["ranking"][0]["frames"], 101);
    let refused = folder.run(&["design", "rest.toml", "--parameters", "box/mass"]);
    assert_eq!(refused.status.code(), Some(2));
    let alone = folder.run(&["design", "rest.toml", "--parameters", "floor-box/mu"]);
    assert_eq!(alone.status.code(), Some(1));
}
