//! `stiction identify -o DIR` and `stiction simulate --view`, run as programs.

use serde_json::Value;
use stiction::model::Scene;

use super::builtin;
use super::pages::parts;
use crate::folder::Folder;
use crate::outputs;
use crate::program::{SCENE, refuses, succeeds};

#[test]
fn identify_writes_a_folder() {
    let folder = Folder::new("report-folder");
    let said = builtin::identify(&folder);
    assert!(said.trim_end().ends_with("report.html"), "{said}");
    let entries = || {
        let entries = std::fs::read_dir(folder.path("out")).unwrap();
        let mut names: Vec<String> = entries
            .map(|e| format!("out/{}", e.unwrap().file_name().into_string().unwrap()))
            .collect();
        names.sort();
        names
    };
    let result: Value = serde_json::from_str(&folder.read("out/result.json")).unwrap();
    assert_eq!(result["status"], "converged");
    let mu = result["parameters"][0]["value"].as_f64().unwrap();

    // The scene has the identified friction, and can be simulated.
    let scene = Scene::load(folder.path("out/scene.toml")).unwrap();
    let builtin = stiction::identify::Experiment::builtin().unwrap().scene;
    assert_eq!(scene.model, builtin.model);
    assert_eq!(scene.settings, builtin.settings);
    let slot = scene.model.parameter("floor-box/mu").unwrap().slots[0];
    for (k, (x, y)) in scene.parameters.values.iter().zip(&builtin.parameters.values).enumerate() {
        let expected = if k == slot { mu } else { *y };
        assert!((x - expected).abs() <= 1e-15, "{k} {x} {expected}");
    }
    let text = folder.read("out/scene.toml");
    assert!(
        text.contains(&format!("#   floor-box/mu = {}", scene.parameters.values[slot])),
        "{text}"
    );

    // The report says the same, with the course of the search.
    let page = folder.read("out/report.html");
    let report: Value = serde_json::from_str(parts(&page).1).unwrap();
    assert_eq!(report["parameters"][0]["value"], result["parameters"][0]["value"]);
    assert_eq!(report["status"], result["status"]);
    let losses = report["convergence"]["loss"].as_array().unwrap();
    assert_eq!(losses.len(), result["iterations"].as_u64().unwrap() as usize);
    assert!(page.len() < 600_000, "{}", page.len());

    // Once more into the same folder; and the result alone, as before.
    std::fs::write(folder.path("out/scene.toml"), "old").unwrap();
    let other = outputs::folder("report-again");
    let again = folder.path("out");
    let again = again.to_str().unwrap();
    succeeds(&other.run(&["identify", "experiment.toml", "-o", again]));
    assert_eq!(entries(), builtin::FILES);
    let other_text = folder.read("out/scene.toml");
    assert!(other_text.contains("#   floor-ball/mu = ") && other_text != text, "{other_text}");
    let before = other.files();
    succeeds(&other.run(&["identify", "experiment.toml", "-o", "alone.json"]));
    assert_eq!(other.files(), [&["alone.json".to_string()], &before[..]].concat());
}

#[test]
fn simulate_writes_a_page() {
    let folder = Folder::new("view");
    folder.write("scene.toml", SCENE);
    let command = ["simulate", "scene.toml", "--steps", "400", "--view", "out.html"];
    let said = succeeds(&folder.run(&command));
    assert_eq!(said, "400 steps written to out.html\n");
    assert_eq!(folder.files(), ["out.html", "scene.toml"]);
    let page = folder.read("out.html");
    let data: Value = serde_json::from_str(parts(&page).1).unwrap();
    assert_eq!(data["title"], "scene.toml");
    let track = &data["playback"]["clips"][0]["tracks"][0];
    assert_eq!(track["times"].as_array().unwrap().len(), 401);
    assert_eq!(track["poses"][400].as_array().unwrap().len(), 14);
    assert!(page.len() < 250_000, "{}", page.len());

    // The trajectory is as it is without.
    let both = ["--view", "out.html", "-o", "out.csv", "--contacts"];
    let both = [&command[..4], &both].concat();
    succeeds(&folder.run(&both));
    assert_eq!(folder.read("out.html"), page);
    let files = ["out.contacts.csv", "out.csv", "out.html", "out.solver.csv", "scene.toml"];
    assert_eq!(folder.files(), files);
    let plain = succeeds(&folder.run(&command[..4]));
    assert_eq!(folder.read("out.csv"), plain);
    refuses(
        &folder.run(&["simulate", "scene.toml", "--view", "no/out.html"]),
        &["no directory no"],
    );
}

#[test]
fn folders_that_cannot_be_are_refused() {
    let folder = Folder::new("report-refused");
    folder.write("file", "");
    refuses(&folder.run(&["identify", "-o", "file"]), &["file", "is a file", ".json"]);
    refuses(&folder.run(&["identify", "-o", "no/out"]), &["no/out", "no directory no"]);
    refuses(&folder.run(&["identify", "-o", "no/out.json"]), &["no directory no"]);
    assert_eq!(folder.files(), ["file"]);
}

#[test]
fn two_things_are_not_written_into_one_file() {
    let folder = Folder::new("report-twice");
    folder.write("scene.toml", SCENE);
    let twice = &["hold two things"][..];
    let simulate = ["simulate", "scene.toml", "--steps", "2", "-o", "a.csv", "--view"];
    refuses(&folder.run(&[&simulate[..], &["./a.csv"]].concat()), twice);
    refuses(&folder.run(&[&simulate[..], &["a.contacts.csv", "--contacts"]].concat()), twice);
    refuses(&folder.run(&["identify", "-o", "a.json", "--plot", "a.json"]), twice);
    std::fs::create_dir(folder.path("out")).unwrap();
    refuses(&folder.run(&["identify", "-o", "out", "--plot", "out/result.json"]), twice);
}
