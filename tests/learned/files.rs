//! Learned terms in files: round trips, what is wrong with them, the program.

use stiction::Scene;
use stiction::assemble::Description;

use super::drawn;
use crate::folder::Folder;
use crate::program::{refuses, succeeds};
use crate::random::Random;
use crate::scenes::FLOOR;

const SCENE: &str = "[simulation]
    time_step = 0.01
    [[body]]
    name = 'rod'
    joint = { type = 'revolute', axis = [0, 1, 0], q = [0.4] }
    mass = 0.3
    center_of_mass = [0, 0, -0.2]
    inertia = 1e-3
    [[body]]
    name = 'ball'
    mass = 0.1
    shape = { sphere = 0.1 }
    position = [0, 0, 0.1]
    [[contact]]
    pair = 'floor-ball'
    mu = 0.3
    ";

fn with(learned: &str) -> String {
    format!("{SCENE}{FLOOR}[[learned]]\nname = 'cam'\n{learned}")
}

#[test]
fn a_scene_is_written_with_its_terms_and_read_again() {
    let text = with(
        "kind = 'potential'
        of = ['rod/q', 'ball/px']
        layers = [4, 3]
        activation = 'softplus'
        amplitude = 0.25
        range = [[-1, 2], [0.5, 0.75]]
        [[learned]]
        name = 'drag'
        kind = 'dissipation'
        of = 'ball/vx'
        on = 'ball/fx'
        [[learned]]
        name = 'patch'
        kind = 'friction'
        of = ['floor/x', 'floor/y']
        on = 'floor-ball'",
    );
    let scene = drawn(&text, 1.0, &mut Random(4));
    let written = Description::of(&scene, &scene.parameters, "scene.toml").to_toml("");
    let again = Scene::parse(&written, "scene.toml").unwrap();
    assert_eq!(scene.model, again.model);
    assert_eq!(scene.parameters, again.parameters);
    // Without weights none are written.
    let blank = crate::scenes::scene(&text);
    let written = Description::of(&blank, &blank.parameters, "scene.toml").to_toml("");
    assert!(!written.contains("weights"), "{written}");
    assert_eq!(Scene::parse(&written, "scene.toml").unwrap().parameters, blank.parameters);
}

/// Asserts that `simulate` refuses a scene in a sentence.
#[track_caller]
fn refused(learned: &str, says: &[&str]) {
    let folder = Folder::new("learned_refused");
    folder.write("scene.toml", &with(learned));
    let output = folder.run(&["simulate", "scene.toml", "--steps", "1"]);
    refuses(&output, &[&["scene.toml", "cam"], says].concat());
}

#[test]
fn what_is_wrong_with_a_term_is_said_with_its_field() {
    let force = "kind = 'force'\non = 'rod/f'\n";
    refused(&format!("{force}of = 'rod/angle'"), &["of", "rod/angle", "rod/q"]);
    refused(&format!("{force}of = []"), &["of", "must name"]);
    refused(&format!("{force}of = ['rod/q', 'rod/q']"), &["of", "twice"]);
    refused("kind = 'force'\nof = 'rod/q'", &["on", "rod/f"]);
    refused("kind = 'force'\nof = 'rod/q'\non = 'rod/torque'", &["on", "rod/torque"]);
    refused("kind = 'energy'\nof = 'rod/q'", &["kind", "potential"]);
    refused("kind = 'potential'\nof = 'rod/v'", &["of", "velocity"]);
    refused("kind = 'potential'\nof = 'rod/q'\non = 'rod/f'", &["on", "no meaning"]);
    refused(
        "kind = 'friction'\nof = 'floor/x'\non = 'floor-rod'",
        &["on", "never touch", "floor-ball"],
    );
    refused("kind = 'friction'\nof = 'rod/q'\non = 'floor-ball'", &["of", "floor/x", "ball/z"]);
    refused(&format!("{force}of = 'rod/q'\nlayers = [0]"), &["layers"]);
    refused(&format!("{force}of = 'rod/q'\nlayers = [50000, 50000]"), &["layers", "weights"]);
    refused(&format!("{force}of = 'rod/q'\namplitude = 0"), &["amplitude", "positive"]);
    refused(&format!("{force}of = 'rod/q'\nrange = [[1, 0]]"), &["range"]);
    refused(&format!("{force}of = 'rod/q'\nrange = [[0, 1], [0, 1]]"), &["range", "1 pairs"]);
    refused(
        &format!("{force}of = 'rod/q'\nlayers = [2]\nweights = [1, 2]"),
        &["weights", "9 numbers", "[2, 2, 1]"],
    );
    refused(&format!("{force}of = 'rod/q'\nweights = 'none.npz'"), &["weights", "none.npz"]);
    refused(&format!("{force}of = 'rod/q'\nweights = 'scene.toml'"), &["weights", "npz archive"]);
    refused(&format!("{force}of = 'rod/q'\nactivation = 'sigmoid'"), &["activation", "tanh"]);
}

#[test]
fn steps_that_are_not_implicit_take_no_dissipation() {
    let folder = Folder::new("learned_integrator");
    let text = with("kind = 'dissipation'\nof = 'rod/q'\non = 'rod/f'");
    folder.write(
        "scene.toml",
        &text.replace("[simulation]", "[simulation]\nintegrator = 'runge_kutta'"),
    );
    refuses(&folder.run(&["simulate", "scene.toml", "--steps", "1"]), &["kind", "implicit"]);
}

#[test]
fn identified_weights_are_an_archive_beside_the_scene() {
    let folder = Folder::new("learned_archive");
    let scene = with("kind = 'force'\nof = 'rod/q'\non = 'rod/f'\nlayers = [3]\namplitude = 0.2");
    folder.write("scene.toml", &scene.replace("position = [0, 0, 0.1]", "position = [0, 0, 0.5]"));
    // A torque of 0.1 N m at the hinge, which the scene does not know.
    let pushed = scene.replace("position = [0, 0, 0.1]", "position = [0, 0, 0.5]");
    folder.write(
        "true.toml",
        &format!("{pushed}\nweights = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.5]"),
    );
    succeeds(&folder.run(&["simulate", "true.toml", "--steps", "25", "-o", "recording.csv"]));
    folder.write(
        "experiment.toml",
        "scene = 'scene.toml'
        data = ['recording.csv']
        profiles = false
        max_iterations = 12
        window = 5
        [[parameter]]
        name = 'cam/weights'
        prior = { sd = 2 }",
    );
    let found = folder.run(&["identify", "experiment.toml", "-o", "fit", "--json"]);
    let result: serde_json::Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!(result["learned"][0]["name"], "cam");
    let values = result["learned"][0]["values"][0].as_array().unwrap();
    let middle = values[values.len() / 2].as_f64().unwrap();
    assert!((middle - 0.1).abs() < 0.005, "{middle}");
    assert_eq!(folder.files().iter().filter(|name| name.ends_with(".npz")).count(), 0);
    let written = folder.read("fit/scene.toml");
    assert!(written.contains("weights = \"cam.npz\"") && written.contains("range = "), "{written}");
    let again = succeeds(&folder.run(&["simulate", "fit/scene.toml", "--steps", "25"]));
    let true_end = folder.read("recording.csv").lines().last().unwrap().to_string();
    let angle = |line: &str| line.split(',').nth(1).unwrap().parse::<f64>().unwrap();
    assert!((angle(again.lines().last().unwrap()) - angle(&true_end)).abs() < 1e-3);
    // The page shows it, and no weight by itself.
    let page = folder.read("fit/report.html");
    assert!(page.contains("\"learned\":[{\"name\":\"cam\"") && !page.contains("cam/weights/0"));
    // An archive of another layout is refused.
    folder.write(
        "other.toml",
        &scene.replace("layers = [3]", "layers = [4]\nweights = 'fit/cam.npz'"),
    );
    refuses(
        &folder.run(&["simulate", "other.toml", "--steps", "1"]),
        &["other.toml", "weights", "[3]"],
    );
    // One of many weights cannot be asked for alone.
    let single = folder
        .read("experiment.toml")
        .replace("'cam/weights'\n        prior = { sd = 2 }", "'cam/weights/4'\nstart = 1");
    folder.write("single.toml", &single);
    refuses(&folder.run(&["identify", "single.toml"]), &["single.toml", "name", "cam/weights"]);
    // Beyond what was learned from there is a warning, once.
    folder.write(
        "far.toml",
        &written
            .replace("weights = \"cam.npz\"", "weights = \"fit/cam.npz\"")
            .replace("q = 0.4", "q = 3"),
    );
    let far = folder.run(&["simulate", "far.toml", "--steps", "20"]);
    let said = String::from_utf8_lossy(&far.stderr).into_owned();
    assert!(folder.read("far.toml").contains("q = 3"), "{written}");
    assert_eq!(said.matches("beyond what it was learned from").count(), 1, "{said}");
}
