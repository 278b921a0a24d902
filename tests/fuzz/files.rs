//! Mutated files in this process: read, and what can be read taken a few steps.

use std::panic::{AssertUnwindSafe, catch_unwind};

use stiction::assemble::Description;
use stiction::formats::{LoadOptions, Mesh};
use stiction::identify::{Checkpoint, Dataset, Experiment, Method, Problem, fit_from};
use stiction::model::Scene;
use stiction::simulation::Rollout;
use stiction::trajectory::{Controls, Trajectory};

use super::mutation::mutated;
use crate::cases;
use crate::folder::Folder;
use crate::random::Random;
use crate::scenes::scene;

/// Scenes with about everything that is read.
const SCENES: [&str; 8] = [
    include_str!("../../examples/ilqr/arm.toml"),
    include_str!("../../examples/ilqr/hopper.toml"),
    include_str!("../../examples/cube_tosses/scene.toml"),
    include_str!("../../examples/elbow_tosses/scene.toml"),
    include_str!("../../examples/many.toml"),
    include_str!("../../src/cli/init/scene.toml"),
    LOOP,
    SHAPES,
];

/// A driven four-bar linkage.
pub const LOOP: &str = "[simulation]
time_step = 0.002
[[body]]
name = 'crank'
mass = 1
center_of_mass = [0.25, 0, 0]
inertia = [1e-3, 0.02, 0.02]
joint = { type = 'revolute', axis = [0, 1, 0], v = 5.0 }
[[body]]
name = 'coupler'
parent = 'crank'
mass = 1
center_of_mass = [0.6, 0, 0]
inertia = [1e-3, 0.12, 0.12]
joint = { type = 'revolute', axis = [0, 1, 0], q = -0.825 }
position = [0.5, 0, 0]
[[body]]
name = 'rocker'
mass = 1
center_of_mass = [0.45, 0, 0]
inertia = [1e-3, 0.07, 0.07]
joint = { type = 'revolute', axis = [0, 1, 0], q = -1.37, limits = [-3, 3], damping = 0.1, friction = 0.01 }
position = [1, 0, 0]
[[equality]]
name = 'loop'
type = 'connect'
bodies = ['coupler', 'rocker']
anchors = [[1.2, 0, 0], [0.9, 0, 0]]
[[actuator]]
name = 'motor'
joint = 'crank'
type = 'position'
kp = 10
kd = 1
control = 0.3
";

/// Shapes of all kinds, on each other.
const SHAPES: &str = "[simulation]
time_step = 0.01
solver = 'coupled'
compliance = 1e-6
[[half_space]]
name = 'floor'
normal = [0, 0, 1]
[[body]]
name = 'hull'
mass = 1
shape = { convex = [[0.1, 0, 0], [-0.1, 0, 0], [0, 0.1, 0], [0, -0.1, 0], [0, 0, 0.1], [0, 0, -0.1]] }
position = [0, 0, 0.11]
[[body]]
name = 'drum'
mass = 1
shape = { cylinder = [0.05, 0.1] }
position = [0.5, 0, 0.1001]
angular_velocity = [0, 1, 3]
[[body]]
name = 'pill'
mass = 1
shape = { capsule = [0.05, 0.1] }
position = [0.5, 0, 0.3501]
[[shape]]
name = 'terrain'
height_field = [[0, 0.1, 0], [0.1, 0.2, 0], [0, 0.05, 0]]
spacing = [0.5, 0.5]
position = [2, 0, 0]
[[body]]
name = 'box'
mass = 1
shape = { box = [0.1, 0.1, 0.1] }
position = [0, 0, 0.32]
[[contact]]
mu = 0.4
mu_static = 0.5
restitution = 0.3
";

const MODELS: [&str; 4] = [
    include_str!("../import/models/kinds.xml"),
    include_str!("../import/models/classes.xml"),
    include_str!("../import/models/arm.urdf"),
    include_str!("../import/models/kinds.urdf"),
];

const MESH: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

/// A ball that hits the floor, what it does, and what is asked about it.
const BALL: &str = "[simulation]
time_step = 0.01
[[half_space]]
name = 'floor'
normal = [0, 0, 1]
[[body]]
name = 'ball'
mass = 0.3
shape = { sphere = 0.05 }
position = [0, 0, 0.07]
velocity = [1, 0, -1]
[[contact]]
mu = 0.3
restitution = 0.4
";

const EXPERIMENT: &str = "scene = 'scene.toml'
data = ['recording.csv']
starts = 2
window = 5
substeps = 1
initial_state = 'fitted'
max_iterations = 4
length_scale = 0.1
[noise]
position = 0.001
rotation_deg = 0.3
[[parameter]]
name = 'floor-ball/restitution'
start = 0.3
lower = 0
upper = 1
[[parameter]]
name = 'ball/mass'
start = 0.2
lower = 0.1
upper = 1
transform = 'log'
prior = { mean = 0.3, sd = 0.1 }
";

/// Steps that a scene takes, if it can be read.
const STEPS: usize = 3;

fn steps(scene: &Scene) {
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    rollout.advance(STEPS, &scene.inputs);
}

/// A recording of [`BALL`].
fn recording() -> String {
    let scene = scene(BALL);
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    let mut states = vec![rollout.state.clone()];
    for _ in 0..10 {
        rollout.step(&scene.inputs);
        states.push(rollout.state.clone());
    }
    let times = (0..states.len()).map(|k| k as f64 * 0.01).collect();
    let recorded = stiction::trajectory::Recorded::all(&scene.model);
    let mut text = Vec::new();
    Trajectory { name: "ball".into(), times, states, recorded }
        .write(&scene.model, &mut text)
        .unwrap();
    String::from_utf8(text).unwrap()
}

/// Hands mutated texts to `attempt`; panics with the text where that panics, or takes long.
#[track_caller]
fn fuzz(count: usize, seed: u64, texts: &[&str], mut attempt: impl FnMut(&str)) {
    let mut random = Random(seed);
    for case in 0..count {
        let text = mutated(texts[case % texts.len()], &mut random);
        let outcome = catch_unwind(AssertUnwindSafe(|| attempt(&text)));
        assert!(outcome.is_ok(), "case {case} of seed {seed} panics:\n{text}");
    }
}

/// One line, and not too long for one.
#[track_caller]
fn is_a_message(error: &stiction::Error) {
    let text = error.to_string();
    assert!(!error.message().is_empty() && text.len() < 10_000, "{text}");
}

#[test]
fn mutated_scenes_are_refused_or_simulated() {
    fuzz(cases::count(26_000, 0.05), 1, &SCENES, |text| match Scene::parse(text, "scene.toml") {
        Ok(scene) => steps(&scene),
        Err(error) => is_a_message(&error),
    });
}

#[test]
fn mutated_models_are_refused_or_simulated() {
    let read =
        |text: &str| Description::parse_xml(text, "model.xml", LoadOptions::default())?.scene();
    fuzz(cases::count(4_000, 0.05), 2, &MODELS, |text| match read(text) {
        Ok(scene) => steps(&scene),
        Err(error) => is_a_message(&error),
    });
}

#[test]
fn mutated_meshes_touch_or_are_refused() {
    let folder = Folder::new("fuzz-mesh");
    let scene =
        format!("{BALL}[[shape]]\nname = 'rock'\nmesh = 'rock.obj'\nposition = [0, 0, -0.5]\n");
    folder.write("scene.toml", &scene);
    fuzz(cases::count(2_000, 0.05), 3, &[MESH], |text| {
        folder.write("rock.obj", text);
        match Scene::load(folder.path("scene.toml")) {
            Ok(scene) => steps(&scene),
            Err(error) => is_a_message(&error),
        }
        if let Err(error) = Mesh::parse(text.as_bytes(), "obj", "rock.obj") {
            is_a_message(&error);
        }
    });
}

/// The cost of an experiment at its start.
fn cost(experiment: &Experiment) -> Result<f64, stiction::Error> {
    let dataset = Dataset::load(experiment)?;
    let mut problem = Problem::new(experiment, &dataset, 1);
    let x = problem.space.start();
    Ok(problem.cost(&x))
}

#[test]
fn mutated_experiments_and_recordings_are_refused_or_compared() {
    let folder = Folder::new("fuzz-experiment");
    let recording = recording();
    folder.write("scene.toml", BALL);
    folder.write("recording.csv", &recording);
    let attempt = |text: &str| {
        folder.write("experiment.toml", text);
        let read = Experiment::load(folder.path("experiment.toml"), None);
        if let Err(error) = read.and_then(|experiment| cost(&experiment)) {
            is_a_message(&error);
        }
    };
    fuzz(cases::count(4_000, 0.05), 4, &[EXPERIMENT], attempt);
    folder.write("experiment.toml", EXPERIMENT);
    let experiment = Experiment::load(folder.path("experiment.toml"), None).unwrap();
    fuzz(cases::count(4_000, 0.05), 5, &[&recording], |text| {
        folder.write("recording.csv", text);
        if let Err(error) = cost(&experiment) {
            is_a_message(&error);
        }
    });
    let controls = "t,ball/fx,ball/tz\n0,1,2\n0.01,2,3\n0.02,0,0\n";
    let model = &scene(BALL).model;
    fuzz(cases::count(2_000, 0.05), 6, &[controls], |text| {
        if let Err(error) = Controls::parse(text, "controls.csv", model) {
            is_a_message(&error);
        }
    });
}

/// A search goes on from a checkpoint that is as it was written, and from no other.
#[test]
fn mutated_checkpoints_are_not_gone_on_from() {
    let folder = Folder::new("fuzz-checkpoint");
    folder.write("scene.toml", BALL);
    folder.write("recording.csv", &recording());
    let mut random = Random(7);
    for method in ["levenberg-marquardt", "adam", "l-bfgs-b"] {
        let text = match method {
            "levenberg-marquardt" => EXPERIMENT.to_string(),
            _ => EXPERIMENT.replace("starts = 2\nwindow = 5", &format!("method = '{method}'")),
        };
        let experiment = folder.experiment(&text).unwrap();
        assert_eq!(experiment.method == Method::LevenbergMarquardt, method.starts_with("lev"));
        let dataset = Dataset::load(&experiment).unwrap();
        let mut kept = None;
        fit_from(&experiment, &dataset, 1, None, &mut |progress| {
            kept = Some(progress.checkpoint());
            progress.iteration < 2
        })
        .unwrap();
        let whole = kept.unwrap();
        let text = serde_json::to_string(&whole).unwrap();
        let read: Checkpoint = serde_json::from_str(&text).unwrap();
        assert!(read == whole && read.is_whole() && read.is_of(&experiment, &dataset));
        let mut changed = 0;
        for _ in 0..cases::count(4_000, 0.05) {
            let text = mutated(&text, &mut random);
            let Ok(other) = serde_json::from_str::<Checkpoint>(&text) else { continue };
            assert!(other == whole || !other.is_whole(), "{text}");
            changed += usize::from(other != whole);
            fit_from(&experiment, &dataset, 1, Some(other), &mut |_| false).unwrap();
        }
        assert!(changed > 0, "{method}");
    }
}
