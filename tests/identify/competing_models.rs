//! `identify --model A --model B`: which of several models explains recordings better that it was not fitted to.

use serde_json::Value;
use stiction::identify::{
    Contender, Dataset, Experiment, FreeParameter, Noise, compare_models, fit,
};
use stiction::model::Scene;

use super::search::swings;
use crate::cases;
use crate::folder::Folder;
use crate::program::refuses;

const SCENE: &str = "simulation.time_step = 0.01\n[[body]]\nname = \"link\"\nposition = [0, 0, 2]\nmass = 0.1\n\
    inertia = [2e-4, 2e-4, 1e-4]\ncenter_of_mass = [0, 0, -0.05]\n\
    joint = { type = \"revolute\", axis = [0, 1, 0], damping = 5e-4, friction = 0 }\n";

const PLAIN: &str = "scene = \"scene.toml\"\ndata = [\"swings\"]\n[noise]\nposition = 0.001\nrotation_deg = 0.2865\n\
    [[parameter]]\nname = \"link/damping\"\nstart = 1e-3\n";
const FRICTION: &str = "[[parameter]]\nname = \"link/friction\"\nstart = 1e-3\n";
const OFFSET: &str = "[[parameter]]\nname = \"link/center_of_mass/x\"\nstart = 0\n";

/// Swings of a pendulum whose joint has dry friction, and models with it and without.
fn prepared(name: &str, count: usize) -> Folder {
    let folder = Folder::new(name);
    folder.write("scene.toml", SCENE);
    let truth = SCENE.replace("friction = 0", "friction = 2e-3");
    let truth = Scene::parse(&truth, "truth.toml").unwrap();
    std::fs::create_dir(folder.path("swings")).unwrap();
    for (k, recording) in swings(&truth, count, 60, 1.0, 4).iter().enumerate() {
        let mut text = Vec::new();
        recording.write(&truth.model, &mut text).unwrap();
        folder.write(&format!("swings/{k:02}.csv"), &String::from_utf8(text).unwrap());
    }
    folder.write("plain.toml", PLAIN);
    folder.write("friction.toml", &format!("{PLAIN}{FRICTION}"));
    folder.write("more.toml", &format!("{PLAIN}{FRICTION}{OFFSET}"));
    folder
}

fn pair<'a>(object: &'a Value, one: &str, other: &str) -> &'a Value {
    let names = [one, other];
    let of =
        |pair: &&Value| ["better", "other"].iter().all(|key| names.iter().any(|n| pair[key] == *n));
    object["pairs"].as_array().unwrap().iter().find(of).unwrap()
}

/// The model that has what the truth has is better, and one with a number too many cannot be told from it.
#[test]
fn the_right_model_is_better_and_its_like_cannot_be_told_apart() {
    let folder = prepared("competing", 12);
    let command =
        ["identify", "--model", "plain.toml", "--model", "friction.toml", "--model", "more.toml"];
    let json = folder.run(&[&command[..], &["-o", "fit", "--json", "--no-profiles"]].concat());
    assert!(json.status.success(), "{json:?}");
    let object: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!((object["recordings"].as_u64(), object["folds"].as_u64()), (Some(12), Some(5)));
    assert_eq!(object["ranking"][2], "plain.toml");
    for better in ["friction.toml", "more.toml"] {
        let pair = pair(&object, better, "plain.toml");
        assert_eq!((&pair["better"], &pair["is_told"]), (&better.into(), &true.into()));
        let interval = [0, 1].map(|k| pair["log_loss"]["interval"][k].as_f64().unwrap());
        assert!(interval[0] < interval[1] && interval[1] < 0.0, "{pair}");
        assert!(pair["rotation_deg"]["difference"].as_f64().unwrap() < 0.0, "{pair}");
    }
    let alike = pair(&object, "friction.toml", "more.toml");
    assert_eq!(alike["is_told"], false, "{alike}");
    let interval = [0, 1].map(|k| alike["log_loss"]["interval"][k].as_f64().unwrap());
    assert!(interval[0] < 0.0 && 0.0 < interval[1], "{alike}");
    // Of neighbours all together: Holm.
    let adjusted = |pair: &Value| pair["adjusted_p_value"].as_f64();
    assert!(adjusted(alike).unwrap() >= alike["p_value"].as_f64().unwrap());
    let first = object["ranking"][0].as_str().unwrap();
    assert_eq!(adjusted(pair(&object, first, "plain.toml")), None);
    // What is in the folder: the same object, and of each model what `identify` writes.
    assert_eq!(serde_json::from_str::<Value>(&folder.read("fit/comparison.json")).unwrap(), object);
    for (k, name) in ["plain", "friction", "more"].iter().enumerate() {
        let file = object["models"][k]["result"].as_str().unwrap();
        assert_eq!(file, format!("{name}/result.json"));
        let result: Value = serde_json::from_str(&folder.read(&format!("fit/{file}"))).unwrap();
        assert_eq!(result["loss"], object["models"][k]["loss"]);
        assert!(folder.path(&format!("fit/{name}/report.html")).is_file());
        assert!(folder.path(&format!("fit/{name}/scene.toml")).is_file());
    }
    // In words, and the same on one thread.
    let words = folder
        .run(&[&command[..], &["--threads", "1", "--no-profiles", "-o", "alone.json"]].concat());
    let words = String::from_utf8(words.stdout).unwrap();
    for says in [
        "friction.toml is better than plain.toml: the loss of friction.toml is 0.",
        "cannot be told apart",
        "in 12 of 12 recordings",
        "from the best to the worst",
    ] {
        assert!(words.contains(says), "{says}: {words}");
    }
    let alone: Value = serde_json::from_str(&folder.read("alone.json")).unwrap();
    assert_eq!(alone["pairs"], object["pairs"]);
    assert_eq!(alone["models"][0]["result"], Value::Null);
    assert_eq!(alone["models"][0]["parameters"], object["models"][0]["parameters"]);
}

/// A number too many: which of two models is better is hardly ever claimed, and never that it is the larger one by much.
#[test]
fn chance_makes_next_to_no_model_better() {
    let scene = Scene::parse(SCENE, "scene.toml").unwrap();
    let model = |names: &[&str], recordings| {
        let free = |name: &&str| {
            let slots = scene.model.parameter(name).unwrap();
            let start = scene.parameters.values[slots.slots[0]];
            FreeParameter::new(name, slots, start, [-0.1, 0.1])
        };
        let parameters = names.iter().map(free).collect();
        let noise = Noise { rotation: 5e-3, ..Noise::default() };
        let experiment = Experiment::new(&names.join(" "), scene.clone(), parameters, noise);
        let dataset = Dataset::new(&experiment, recordings).unwrap();
        let fit = fit(&experiment, &dataset, 2, &mut |_| true).unwrap();
        Contender { experiment, dataset, fit }
    };
    let count = cases::count(100, 0.3);
    let mut claims = 0;
    for k in 0..count {
        let recordings = swings(&scene, 8, 40, 1.0, 300 + k as u64);
        let models = [
            model(&["link/damping"], recordings.clone()),
            model(&["link/damping", "link/center_of_mass/x"], recordings),
        ];
        let found = compare_models(&models, 5, 2, &mut |_| true).unwrap().unwrap();
        claims += usize::from(found.pairs[0].is_told());
    }
    println!("{claims} claims in {count}");
    // More than this has a probability below 1e-3 where each has 0.05.
    assert!(claims <= 2 + count * 11 / 100, "{claims} of {count}");
}

/// Copies of a recording are judged by fits that know neither, and a model without a fit comes last.
#[test]
fn copies_stay_together_and_a_model_without_a_fit_comes_last() {
    let folder = prepared("competing-failed", 5);
    for k in 0..5 {
        let text = folder.read(&format!("swings/0{k}.csv"));
        folder.write(&format!("swings/copy{k}.csv"), &text);
    }
    let start = OFFSET.replace("start = 0", "start = 1e200");
    folder.write("failed.toml", &format!("{PLAIN}{start}"));
    let output = folder.run(&[
        "identify",
        "--model",
        "failed.toml",
        "--model",
        "plain.toml",
        "--model",
        "friction.toml",
        "--holdout",
        "0.5",
        "--no-profiles",
        "--json",
    ]);
    // What a fit simulates that no body does is an exit code of its own.
    assert!([Some(1), Some(3)].contains(&output.status.code()), "{output:?}");
    let object: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((object["recordings"].as_u64(), object["folds"].as_u64()), (Some(5), Some(2)));
    assert_eq!(
        object["ranking"],
        serde_json::json!(["friction.toml", "plain.toml", "failed.toml"])
    );
    assert_eq!(
        (&object["models"][0]["held_out_loss"], &object["models"][0]["rank"]),
        (&Value::Null, &3.into())
    );
    assert_eq!(object["pairs"].as_array().unwrap().len(), 1);
    assert_eq!(object["pairs"][0]["log_loss"]["count"], 5);
    let said = object["sentences"].to_string();
    assert!(said.contains("failed.toml has no fit to judge (infeasible"), "{said}");
}

#[test]
fn what_cannot_be_compared_is_refused_before_anything_is_fitted() {
    let folder = prepared("competing-refused", 5);
    let with = |name: &str, from: &str, to: &str| {
        assert!(PLAIN.contains(from));
        folder.write(name, &PLAIN.replace(from, to));
    };
    with("noise.toml", "rotation_deg = 0.2865", "rotation_deg = 0.5");
    with("few.toml", "data = [\"swings\"]", "data = [\"swings/00.csv\", \"swings/01.csv\"]");
    with("window.toml", "scene =", "window = 10\nscene =");
    with("fitted.toml", "scene =", "initial_state = \"fitted\"\nscene =");
    let sensor =
        "[[sensor]]\nname = \"encoder\"\nreads = [\"link/q\"]\ncolumns = [\"q\"]\nnoise = 5e-3\n";
    folder.write("sensor.toml", &format!("{PLAIN}{sensor}"));
    with("few-too.toml", "data = [\"swings\"]", "data = [\"swings/00.csv\", \"swings/01.csv\"]");
    folder.write("copy.csv", &folder.read("swings/01.csv"));
    with(
        "copies.toml",
        "data = [\"swings\"]",
        "data = [\"swings/00.csv\", \"swings/01.csv\", \"copy.csv\", \"swings/02.csv\"]",
    );
    with(
        "copies-too.toml",
        "data = [\"swings\"]",
        "data = [\"swings/00.csv\", \"swings/01.csv\", \"copy.csv\", \"swings/02.csv\"]",
    );
    with("other.toml", "data = [\"swings\"]", "data = [\"swings/0[1-4].csv\", \"copy.csv\"]");
    let refused = |models: &[&str], more: &[&str], says: &[&str]| {
        let models = models.iter().flat_map(|model| ["--model", model]);
        let arguments: Vec<&str> =
            ["identify"].into_iter().chain(models).chain(more.iter().copied()).collect();
        refuses(&folder.run(&arguments), says);
    };
    let both = &["plain.toml", "friction.toml"];
    refused(&["plain.toml"], &[], &["--model", "one model alone"]);
    refused(&["plain.toml", "./plain.toml"], &[], &["given twice"]);
    refused(both, &["more.toml"], &["more.toml", "give it by --model too"]);
    refused(both, &["--holdout", "0.7"], &["--holdout", "at most 0.5"]);
    refused(both, &["--resume", "-o", "out.json"], &["--resume", "-o DIR"]);
    refused(&["plain.toml", "there-is-none.toml"], &[], &["there-is-none.toml"]);
    refused(
        &["plain.toml", "noise.toml"],
        &["-o", "out"],
        &["noise.toml: noise", "another noise than in plain.toml"],
    );
    refused(&["plain.toml", "few.toml"], &[], &["few.toml: data", "2 recordings, not 5"]);
    refused(
        &["plain.toml", "other.toml"],
        &[],
        &["other.toml: data", "other ones than in plain.toml"],
    );
    refused(&["plain.toml", "window.toml"], &[], &["window.toml: window"]);
    refused(&["plain.toml", "fitted.toml"], &[], &["fitted.toml: initial_state"]);
    refused(&["plain.toml", "sensor.toml"], &[], &["sensor.toml", "than in plain.toml"]);
    refused(
        &["few.toml", "few-too.toml"],
        &[],
        &["few.toml: data", "2 recordings that differ are too few"],
    );
    refused(&["copies.toml", "copies-too.toml"], &[], &["3 recordings that differ are too few"]);
    let conflict =
        folder.run(&["identify", "--model", "plain.toml", "--model", "friction.toml", "--check"]);
    assert_eq!(conflict.status.code(), Some(2));
    assert!(!folder.path("out").exists() && !folder.path("out.json").exists());
}
