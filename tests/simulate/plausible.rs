//! Steps that no body makes are said to be none.

use serde_json::Value;
use stiction::model::Scene;
use stiction::simulation::Rollout;
use stiction::verify::{Oddity, plausible};

use crate::folder::Folder;
use crate::program::{SCENE, refuses, succeeds};

/// Two arms on a plate, crossed in the very plane in which they turn: no impulse can part them.
const CROSSED: &str = "[simulation]
time_step = 0.005
[[body]]
name = 'plate'
mass = 1
shape = { box = [0.2, 0.2, 0.02] }
position = [0, 0, 1]
[[body]]
name = 'left'
mass = 0.5
parent = 'plate'
position = [0.2, 0.2, 0.3]
joint = { type = 'revolute', axis = [0, 0, 1] }
shape = { box = [0.05, 0.3, 0.05], position = [-0.2, -0.2, 0] }
[[body]]
name = 'right'
mass = 0.5
parent = 'plate'
position = [-0.2, 0.2, 0.3]
joint = { type = 'revolute', axis = [0, 0, 1] }
shape = { box = [0.3, 0.05, 0.05], position = [0.2, -0.2, 0] }
[[contact]]
mu = 0.5
";

#[test]
fn a_deep_start_is_said_or_refused() {
    let folder = Folder::new("deep_start");
    // Free bodies, whatever their shapes.
    let free = "[simulation]
time_step = 0.005
[[contact]]
mu = 0.5
[[body]]
name = 'rod'
mass = 1
shape = { capsule = [0.1, 0.3] }
[[body]]
name = 'drum'
mass = 1
shape = { cylinder = [0.1, 0.3] }
position = [0.15, 0, 0]
";
    folder.write("scene.toml", free);
    let output = folder.run(&["simulate", "scene.toml", "-o", "out.csv"]);
    refuses(&output, &["scene.toml:13: body.drum.position", "m deep in \"rod\""]);
    assert_eq!(folder.files(), ["scene.toml"]);
    // What is on joints is said.
    let named = format!("{CROSSED}[[contact]]\npair = 'left-right'\nmu = 0.5\n");
    folder.write("scene.toml", &named);
    let output = folder.run(&["simulate", "scene.toml", "--json", "--steps", "1"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("body.right.position") && said.contains("m deep in \"left\""), "{said}");
    // Of its own accord nobody lets them touch.
    folder.write("scene.toml", CROSSED);
    let output = folder.run(&["simulate", "scene.toml", "--json", "--steps", "50"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("pass through each other"), "{said}");
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(said["implausible"].is_null(), "{said}");
}

/// The exit code of what no body does.
const IMPLAUSIBLE: i32 = 3;

/// A bar that is welded where its hinge may not be.
const HELD: &str = "[simulation]
time_step = 0.005
[[body]]
name = 'bar'
mass = 1
inertia = 0.01
joint = { type = 'revolute', axis = [0, 1, 0], limits = [0.5, 1] }
[[equality]]
name = 'weld'
type = 'weld'
bodies = ['bar', 'world']
anchors = [[0.3, 0, 0], [0.3, 0, 0]]
";

#[test]
fn what_starts_deep_where_no_impulse_can_part_it_is_left_there() {
    let folder = Folder::new("left_there");
    let pair = "<contact><pair geom1='left' geom2='right'/></contact></mujoco>";
    folder.write("ant.xml", &crate::import::overlap::ANT.replace("</mujoco>", pair));
    let output = folder.run(&["simulate", "ant.xml", "--steps", "100", "--json"]);
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(said["implausible"].is_null(), "{said}");
}

#[test]
fn motions_of_nothing_are_said_to_be_none() {
    let folder = Folder::new("implausible");
    folder.write("held.toml", HELD);
    let output = folder.run(&["simulate", "held.toml", "--steps", "3", "--json"]);
    let warnings = String::from_utf8_lossy(&output.stderr);
    assert!(warnings.contains("plausible") && warnings.contains("0.0"), "{warnings}");
    assert!(!warnings.contains("\"coupled\" does not"), "{warnings}");
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let odd = &said["implausible"];
    assert!(odd["steps"].as_u64().unwrap() > 0 && odd["time"].as_f64().unwrap() <= 0.015, "{odd}");
    assert!(odd["body"].is_string() && odd["what"].is_string(), "{odd}");
    // An impulse that nothing could have is no solution.
    assert_ne!(said["solver"]["status"], "solved");
    assert_eq!(output.status.code(), Some(IMPLAUSIBLE));
    // Nor where it settles first.
    let output =
        folder.run(&["simulate", "held.toml", "--settle", "0.015", "--steps", "1", "--json"]);
    let warnings = String::from_utf8_lossy(&output.stderr);
    assert!(
        warnings.contains("while it settled: ") && warnings.contains("plausible"),
        "{warnings}"
    );
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(said["settled"]["implausible"]["body"].is_string(), "{said}");
    assert_eq!(output.status.code(), Some(IMPLAUSIBLE));
}

/// A box that slides faster than light, and what it does.
fn faster_than_light(folder: &Folder) {
    let scene = "[simulation]\ntime_step = 0.01\n[[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\n[[body]]\n\
                 name = 'box'\nmass = 1\nshape = { box = [0.1, 0.1, 0.1] }\nposition = [0, 0, 0.1]\n\
                 velocity = [4e8, 0, 0]\n[[contact]]\nmu = 0.3\n";
    let experiment = "scene = 'scene.toml'\ndata = ['recording.csv']\n[noise]\nposition = 0.001\n[[parameter]]\n\
                      name = 'floor-box/mu'\nstart = 0.2\nlower = 0\nupper = 1\n";
    folder.write("scene.toml", scene);
    folder.write("experiment.toml", experiment);
    let output = folder.run(&["simulate", "scene.toml", "--steps", "20", "-o", "recording.csv"]);
    assert_eq!(output.status.code(), Some(IMPLAUSIBLE), "{output:?}");
    assert_eq!(folder.read("recording.csv").lines().count(), 22);
}

/// Whatever simulates says so, writes what it has all the same, and has an exit code for it.
#[test]
fn every_command_says_what_no_body_does() {
    let folder = Folder::new("implausible-commands");
    faster_than_light(&folder);
    for (command, files) in [
        ("identify experiment.toml -o fit", "fit/result.json fit/scene.toml fit/report.html"),
        ("identify experiment.toml --check", ""),
        ("evaluate experiment.toml -o errors.json", "errors.json"),
        ("evaluate experiment.toml --compare fit/result.json", ""),
        ("design experiment.toml", ""),
        ("linearize scene.toml --steps 3 -o out.npz", "out.npz"),
        ("gradcheck scene.toml --steps 2 --duration 0.02", ""),
        ("bench scene.toml --steps 3 --repeats 1", ""),
    ] {
        let arguments: Vec<&str> = command.split(' ').collect();
        let output = folder.run(&arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(IMPLAUSIBLE), "{command}: {said}");
        assert!(
            said.contains("plausible") && said.contains("\"box\": its velocity is 4.0e8"),
            "{command}: {said}"
        );
        assert!(files.split_whitespace().all(|file| folder.path(file).is_file()), "{command}");
    }
    let result: Value = serde_json::from_str(&folder.read("fit/result.json")).unwrap();
    assert!(
        result["warnings"][0].as_str().unwrap().contains("recording.csv, simulated from 0 s"),
        "{result}"
    );
    assert!(folder.read("fit/report.html").contains("its velocity is 4.0e8"));
}

#[test]
fn what_bodies_do_is_plausible() {
    let folder = Folder::new("plausible");
    folder.write("scene.toml", SCENE);
    let output = folder.run(&["simulate", "scene.toml", "--steps", "300", "--json"]);
    let said: Value = serde_json::from_str(&succeeds(&output)).unwrap();
    assert!(said["implausible"].is_null(), "{said}");
}

#[test]
fn scenes_of_examples_are_plausible() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for name in [
        "cube_tosses/scene.toml",
        "elbow_tosses/scene.toml",
        "ilqr/arm.toml",
        "ilqr/hopper.toml",
        "ilqr/push.toml",
        "ilqr/quadruped.toml",
        "slides/scene.toml",
    ] {
        let scene = Scene::load(root.join(name)).unwrap();
        let mut rollout = Rollout::new(scene.system(), scene.state.clone());
        for step in 0..300 {
            let report = rollout.step(&scene.inputs);
            let found = plausible(&scene.system(), &rollout.state, &rollout.workspace, &report);
            assert_eq!(found, None, "{name}, step {step}");
        }
    }
}

/// A door that stands 10 um in a wall with a stop 1 cm from its hinge is pushed out over that lever.
#[test]
fn short_levers_are_plausible() {
    let text = "gravity = [0, 0, 0]
        [simulation]
        time_step = 0.001
        [[half_space]]
        name = 'wall'
        normal = [0, 1, 0]
        [[contact]]
        mu = 0.5
        [[body]]
        name = 'door'
        mass = 30
        inertia = [15, 15, 15]
        joint = { type = 'revolute', axis = [0, 0, 1] }
        shape = { sphere = 0.005, position = [0.01, 0.00499, 0] }";
    let scene = Scene::parse(text, "door.toml").unwrap();
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    for step in 0..10 {
        let report = rollout.step(&scene.inputs);
        let found = plausible(&scene.system(), &rollout.state, &rollout.workspace, &report);
        assert_eq!(found, None, "step {step}");
    }
    assert!(rollout.state.q[0] > 1e-4, "{:?}", rollout.state.q);
}

#[test]
fn each_oddity_is_found() {
    let scene = Scene::parse(SCENE, "scene.toml").unwrap();
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    let report = rollout.step(&scene.inputs);
    let seen = |rollout: &Rollout<f64>, report| {
        let found = plausible(&scene.system(), &rollout.state, &rollout.workspace, report);
        found.map(|found| (scene.model.bodies[found.body].name.as_str(), found.oddity))
    };
    assert_eq!(seen(&rollout, &report), None);
    let mut unsolved = report;
    unsolved.worst.residual = f64::INFINITY;
    assert!(matches!(seen(&rollout, &unsolved), Some((_, Oddity::Impulse))));
    let ball = &scene.model.bodies[1].joint;
    let kept = std::mem::replace(&mut rollout.state.v[ball.v], 1e9);
    assert_eq!(seen(&rollout, &report), Some(("ball", Oddity::Speed(1e9))));
    rollout.state.v[ball.v] = f64::NAN;
    assert_eq!(seen(&rollout, &report), Some(("ball", Oddity::NotFinite)));
    rollout.state.v[ball.v] = kept;
    // Far below the floor, which it is in by more than it is thick.
    rollout.state.q[ball.q + 2] = -0.2;
    let report = rollout.step(&scene.inputs);
    let found = seen(&rollout, &report);
    assert!(matches!(found, Some(("ball", Oddity::Depth(depth))) if depth > 0.2), "{found:?}");
}
