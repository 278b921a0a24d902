//! `stiction evaluate` of scenes, of results that are scenes, of several files, and what it sums up.

use serde_json::Value;
use stiction::identify::{Dataset, Experiment, evaluate};
use stiction::model::Scene;
use stiction::simulation::Rollout;
use stiction::trajectory::{Recorded, Trajectory};

use super::command::SCENE;
use crate::folder::Folder;
use crate::program::{close, refuses, succeeds};

const EXPERIMENT: &str = "scene = \"scene.toml\"
data = [\"slides\"]
length_scale = 0.2
[[parameter]]
name = \"floor-puck/mu\"
start = 0.2
lower = 0.01
upper = 1
";

/// Slides without spin with another friction each, so that each is off by another distance, which grows with its number.
fn prepared(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("scene.toml", SCENE);
    folder.write("rough.toml", &SCENE.replace("mu = 0.3", "mu = 0.35"));
    folder.write("experiment.toml", EXPERIMENT);
    std::fs::create_dir(folder.path("slides")).unwrap();
    for (k, mu) in ["0.30", "0.31", "0.33", "0.36", "0.42"].into_iter().enumerate() {
        let text = SCENE.replace("mu = 0.3", &format!("mu = {mu}"));
        let scene = Scene::parse(&text, "scene").unwrap();
        let Scene { model, state, inputs, .. } = &scene;
        let mut rollout = Rollout::new(scene.system(), state.clone());
        let mut states = vec![state.clone()];
        for _ in 0..30 {
            rollout.advance(1, inputs);
            states.push(rollout.state.clone());
        }
        let trajectory = Trajectory {
            name: String::new(),
            times: (0..states.len()).map(|frame| 0.005 * frame as f64).collect(),
            states,
            recorded: Recorded::all(model),
        };
        // Against the order of their errors.
        let mut text = Vec::new();
        trajectory.write(model, &mut text).unwrap();
        folder.write(&format!("slides/{}.csv", 5 - k), &String::from_utf8(text).unwrap());
    }
    folder
}

fn object(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn errors_are_summed_up() {
    let folder = prepared("evaluate-summary");
    let said = object(&succeeds(&folder.run(&["evaluate", "experiment.toml", "--json"])));
    let rows = said["trajectories"].as_array().unwrap();
    let errors: Vec<f64> =
        rows.iter().map(|row| row["position_error_percent"].as_f64().unwrap()).collect();
    assert!(errors.is_sorted_by(|a, b| a > b), "{errors:?}");
    let summary = &said["summary"]["position_error_percent"];
    close(&summary["mean"], errors.iter().sum::<f64>() / 5.0);
    close(&summary["median"], errors[2]);
    close(&summary["most_of_nine_tenths"], errors[0]);
    close(&summary["largest"]["error"], errors[0]);
    assert_eq!(summary["largest"]["name"], "slides/1.csv");
    assert_eq!(summary["least"]["name"], "slides/5.csv");
    // People read the worst last, beside the sum.
    let text = succeeds(&folder.run(&["evaluate", "experiment.toml"]));
    let places: Vec<usize> =
        (1..=5).map(|k| text.find(&format!("slides/{k}.csv\n")).unwrap()).collect();
    assert!(places.is_sorted_by(|a, b| a > b), "{text}");
    let median = format!("median {:.3}, nine tenths at most {:.3}", errors[2], errors[0]);
    assert!(text.contains(&median) && text.contains("(slides/1.csv)"), "{text}");
    // Of an even number it lies between the two in the middle; nine of ten are not more than the ninth.
    let experiment = Experiment::load(folder.path("experiment.toml"), &[]).unwrap();
    let dataset = Dataset::load(&experiment).unwrap();
    let mut evaluation = evaluate(&experiment, &dataset, &experiment.scene.parameters, 1);
    let again = evaluation.trajectories.clone();
    evaluation.trajectories.extend(again);
    for (k, t) in evaluation.trajectories.iter_mut().enumerate() {
        t.rotation_error_deg = Some(((3 * k) % 10) as f64);
    }
    let summary = evaluation.summary(|t| t.rotation_error_deg).unwrap();
    assert_eq!((summary.median, summary.most_of_nine_tenths), (4.5, 8.0));
    assert_eq!((summary.least, summary.largest), ((0.0, 0), (9.0, 3)));
    assert_eq!(evaluation.summary(|_| None), None);
}

#[test]
fn scenes_stand_for_experiments_and_for_results() {
    let folder = prepared("evaluate-scene");
    let error = |arguments: &[&str]| {
        let text = succeeds(&folder.run(&[&["evaluate"], arguments, &["--json"]].concat()));
        let said = object(&text);
        (said["position_error_percent"].as_f64().unwrap(), said["count"].as_u64().unwrap())
    };
    let own = error(&["experiment.toml"]);
    assert_eq!(own.1, 5);
    // Another scene in place of its own, as by its parameters.
    let rough = error(&["experiment.toml", "--scene", "rough.toml"]);
    assert_eq!(rough, error(&["experiment.toml", "--parameters", "rough.toml"]));
    assert!((rough.0 - own.0).abs() > 0.1 * own.0, "{rough:?} {own:?}");
    // Without an experiment lengths are in metres: a fifth of the share of 0.2 m.
    let alone = error(&["--scene", "scene.toml", "--data", "slides"]);
    assert!((5.0 * alone.0 / own.0 - 1.0).abs() < 1e-12, "{alone:?} {own:?}");
    // Several files, patterns, folders; none twice; before the experiment too.
    let two = error(&["experiment.toml", "--data", "slides/1.csv", "slides/2.csv"]);
    assert_eq!(two.1, 2);
    assert_eq!(
        two,
        error(&["experiment.toml", "--data", "slides/1.csv", "--data", "slides/2.csv"])
    );
    assert_eq!(two, error(&["--data", "slides/[12].csv", "slides/1.csv", "experiment.toml"]));
    assert_eq!(
        two,
        error(&[
            "--data",
            "slides/1.csv",
            "experiment.toml",
            "./slides/2.csv",
            "slides/../slides/1.csv"
        ])
    );
    // Archives beside tables, as of weights, are no recordings.
    folder.write("slides/weights.npz", "anything");
    assert_eq!(own, error(&["experiment.toml"]));
    // What identify writes is read back, whichever of the two.
    let fit = ["identify", "experiment.toml", "--data", "slides/4.csv", "slides/5.csv"];
    succeeds(&folder.run(&[&fit[..], &["-o", "fit", "--no-profiles"]].concat()));
    let result = error(&["experiment.toml", "--parameters", "fit/result.json"]);
    let scene = error(&["experiment.toml", "--parameters", "fit/scene.toml"]);
    assert!((result.0 / scene.0 - 1.0).abs() < 1e-9, "{result:?} {scene:?}");
    assert!(result.0 < own.0);
    let text =
        succeeds(&folder.run(&["evaluate", "experiment.toml", "--compare", "fit/scene.toml"]));
    assert!(text.contains("position error") && text.contains("of 5 recordings"), "{text}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let folder = prepared("evaluate-refuses");
    let with_ball = format!(
        "{SCENE}[[body]]\nname = \"ball\"\nmass = 1\nshape = {{ sphere = 0.1 }}\nposition = [0, 0, 5]\n"
    );
    folder.write("more.toml", &with_ball);
    folder.write("less.toml", &SCENE.replace("puck", "stone"));
    let cases: [(&[&str], &[&str]); 9] = [
        (&["--data", "experiment.toml"], &["--data", "and no recordings"]),
        (&[], &["experiment", "is missing", "--scene SCENE --data RECORDINGS"]),
        (&["--data", "slides"], &["--data", "slides", "of which experiment"]),
        (&["--scene", "scene.toml"], &["--scene", "scene.toml", "needs recordings"]),
        (&["experiment.toml", "--keyframe", "up"], &["--keyframe", "given by --scene"]),
        (&["experiment.toml", "--parameters", "more.toml"], &["more.toml", "has a ball/mass"]),
        (&["experiment.toml", "--parameters", "less.toml"], &["less.toml", "has no puck/mass"]),
        (&["experiment.toml", "--scene", "less.toml"], &["floor-puck/mu"]),
        (&["experiment.toml", "--data", "slides/1.csv", "no.csv"], &["no.csv", "no such file"]),
    ];
    for (arguments, says) in cases {
        refuses(&folder.run(&[&["evaluate"], arguments].concat()), says);
    }
    refuses(&folder.run(&["identify", "--data", "slides"]), &["--data", "of which experiment"]);
    refuses(&folder.run(&["identify", "--improve"]), &["--improve", "needs an experiment"]);
}
