//! Terms of contact and drag that a scene does not have: score tests name the one that recordings show, and `--improve` adopts it
//! on a scene that has it.

use stiction::identify::{
    Dataset, Experiment, Fit, FreeParameter, Noise, ScoreTest, fit, improve, score_tests,
};
use stiction::model::Scene;
use stiction::trajectory::Trajectory;

use super::search::motion;
use crate::random::Random;
use crate::scenes::{on_floor, scene};

const NOISE: Noise =
    Noise { position: 1e-3, rotation: 5e-3, velocity: None, angular_velocity: None };

const BALL: &str =
    "[[body]]\nname = 'ball'\nmass = 0.2\nshape = { sphere = 0.05 }\nposition = [0, 0, 0.05]\n";
const SLED: &str = "[[body]]\nname = 'sled'\nmass = 0.5\nshape = { box = [0.1, 0.06, 0.03] }\nposition = [0, 0, 0.03]\n";

fn made(body: &str, contact: &str) -> Scene {
    let text = format!("simulation.time_step = 0.01\n{body}[[contact]]\nmu = 0.4\n{contact}\n");
    scene(&on_floor(&text))
}

/// Motions that begin on the floor, or above it by up to `height`, and turn by up to `spin`.
pub fn motions(
    scene: &Scene,
    count: usize,
    [height, speed, spin]: [f64; 3],
    seed: u64,
) -> Vec<Trajectory> {
    let mut random = Random(seed);
    (0..count)
        .map(|_| {
            let mut start = scene.state.clone();
            start.q[2] += random.uniform(0.0, height);
            let [x, y] = random.vector::<2>(speed);
            start.v.copy_from_slice(&[x, y, 0.0, 0.0, 0.0, random.uniform(-spin, spin)]);
            // Without slip.
            if spin > 0.0 && height == 0.0 {
                (start.v[3], start.v[4]) = (-y / 0.05, x / 0.05);
            }
            motion(scene, start, 50, 1.0, &mut random)
        })
        .collect()
}

pub fn fitted(
    scene: Scene,
    free: &[&str],
    recordings: Vec<Trajectory>,
) -> (Experiment, Dataset, Fit) {
    let parameter = |name: &&str| {
        let slots = scene.model.parameter(name).unwrap();
        let start = scene.parameters.values[slots.slots[0]];
        FreeParameter::new(name, slots, start, [1e-6, 1.0])
    };
    let parameters = free.iter().map(parameter).collect();
    let experiment = Experiment::new("held", scene, parameters, NOISE);
    let dataset = Dataset::new(&experiment, recordings).unwrap();
    let found = fit(&experiment, &dataset, 2, &mut |_| true).unwrap();
    (experiment, dataset, found)
}

/// One term is missing: it is claimed, first of all, and said to be absent.
#[test]
fn the_term_that_is_missing_is_named() {
    let rolls = [0.0, 1.0, 30.0];
    for (body, truth, free, kind, expected) in [
        (BALL, "rolling_resistance = 0.002", "mu", rolls, "floor-ball/rolling_resistance"),
        (BALL, "torsion_radius = 0.004", "mu", rolls, "floor-ball/torsion_radius"),
        (
            SLED,
            "mu_static = 0.7\nstribeck_speed = 0.15",
            "mu",
            [0.0, 1.5, 0.0],
            "floor-sled/mu_static",
        ),
        (
            BALL,
            "restitution = 0.8\nrestitution_falloff = 1",
            "restitution",
            [0.6, 0.5, 0.0],
            "floor-ball/restitution_falloff",
        ),
    ] {
        let recordings = motions(&made(body, truth), 12, kind, 5);
        let held = if free == "restitution" { "restitution = 0.6" } else { "" };
        let (pair, _) = expected.split_once('/').unwrap();
        let free = format!("{pair}/{free}");
        let (experiment, dataset, found) = fitted(made(body, held), &[&free], recordings);
        let tests = score_tests(&experiment, &dataset, &found, 2);
        let first = &tests[0];
        assert!(first.is_significant() && first.absent, "{expected}: {tests:?}");
        assert_eq!(first.name, expected, "{tests:?}");
        assert!(first.held == [0.0] || expected.ends_with("mu_static"), "{first:?}");
    }
}

/// A ball that falls through air of which the scene knows nothing.
#[test]
fn drag_that_is_missing_is_named_whichever_it_is() {
    for (drag, name) in [("linear = 0.05", "linear"), ("quadratic = 0.03", "quadratic")] {
        let body = |drag: &str| format!("{}{drag}", BALL.replace("0, 0, 0.05]", "0, 0, 9]"));
        let truth = made(&body(&format!("drag = {{ {drag} }}\n")), "");
        let recordings = motions(&truth, 10, [1.0, 4.0, 0.0], 2);
        let (experiment, dataset, found) = fitted(made(&body(""), ""), &["ball/mass"], recordings);
        let tests = score_tests(&experiment, &dataset, &found, 2);
        let own = tests.iter().find(|test| test.name == format!("ball/drag/{name}")).unwrap();
        assert!(own.is_significant() && own.absent, "{tests:?}");
    }
}

/// A box that tumbles has rounder edges than its scene.
#[test]
fn edges_that_are_round_are_named() {
    let body = |radius: &str| SLED.replace("0.03] }", &format!("0.03]{radius} }}"));
    let truth = made(&body(", radius = 0.012"), "");
    let recordings = motions(&truth, 12, [0.06, 0.8, 4.0], 5);
    let (experiment, dataset, found) = fitted(made(&body(""), ""), &["floor-sled/mu"], recordings);
    let tests = score_tests(&experiment, &dataset, &found, 2);
    let names: Vec<&str> = tests.iter().map(|test| test.name.as_str()).collect();
    let own = tests.iter().position(|test| test.name == "sled/radius").unwrap();
    assert!(own < 3 && tests[own].is_significant() && tests[own].absent, "{names:?}");
    assert_eq!(tests[own].held, [0.0]);
}

/// Two terms are missing: one after the other is adopted, each free number stays what its name says.
#[test]
fn two_terms_are_adopted_one_after_the_other() {
    let truth = made(BALL, "torsion_radius = 0.004\nrolling_resistance = 0.002");
    // They slip first, which tells the friction that torsion is a multiple of.
    let recordings = motions(&truth, 12, [1e-3, 1.0, 30.0], 9);
    let (experiment, dataset, found) = fitted(made(BALL, ""), &["floor-ball/mu"], recordings);
    let improved = improve(&experiment, &dataset, &found, 3, 2, &mut |_, _| true).unwrap();
    let mut adopted: Vec<&str> = improved.adopted().map(|tried| tried.test.name.as_str()).collect();
    adopted.sort_unstable();
    let expected = ["floor-ball/rolling_resistance", "floor-ball/torsion_radius"];
    assert_eq!(adopted, expected, "{:?}", improved.rounds);
    let scene = &improved.experiment.scene;
    for p in &improved.experiment.parameters {
        assert_eq!(scene.model.parameter(&p.name).unwrap(), p.slots, "{}", p.name);
    }
    for (name, value) in expected.into_iter().zip([0.002, 0.004]) {
        let found = improved.fit.parameters.iter().find(|p| p.name == name).unwrap();
        let [lower, upper] = found.interval.unwrap();
        assert!((lower..=upper).contains(&value), "{found:?}");
        assert!((found.value / value - 1.0).abs() < 0.1, "{found:?}");
    }
}

/// Whatever terms there are and come, every number stays with its name.
#[test]
fn numbers_stay_with_their_names_where_terms_are_added() {
    let text = on_floor(&format!(
        "simulation.time_step = 0.01\n[[material]]\nname = 'clay'\nmu = 0.3\ntorsion_radius = 0.011\n
         {BALL}drag = {{ linear = 0.1, quadratic = 0.2 }}
         {}[[body]]\nname = 'lump'\nmass = 1\nshape = {{ sphere = 0.1, material = 'clay' }}\nposition = [2, 0, 1]
         drag = {{ linear = 0.3 }}
         [[body]]\nname = 'other'\nmass = 1\nshape = {{ sphere = 0.1, material = 'clay' }}\nposition = [3, 0, 1]
         [[contact]]\nmu = 0.5\nrolling_resistance = 0.003
         [[contact]]\npair = 'floor-sled'\nmu = 0.25\nmu_across = 0.4\ngrain = [1, 0, 0]\nrestitution_falloff = 0.7",
        SLED.replace("[0, 0, 0.03]", "[-1, 0, 0.03]")
    ));
    let scene = scene(&text);
    let names = scene.model.parameter_names();
    let parameters = names.iter().enumerate().map(|(k, name)| {
        let slots = scene.model.parameter(name).unwrap();
        FreeParameter::new(name, slots, 1.0 + k as f64, [0.0, 1e9])
    });
    let parameters: Vec<FreeParameter> = parameters.collect();
    let mut experiment = Experiment::new("all", scene.clone(), parameters, NOISE);
    for (k, name) in names.iter().enumerate() {
        let slot = scene.model.parameter(name).unwrap().slots[0];
        experiment.scene.parameters.values[slot] = 1.0 + k as f64;
    }
    for members in [
        &["floor-ball/torsion_radius"][..],
        &["floor-sled/rolling_resistance", "floor-ball/restitution_falloff"],
        &["sled/drag/linear", "sled/drag/quadratic", "floor-lump/mu_static"],
        &["sled/radius", "sled/drag/linear", "floor-ball/softness"],
    ] {
        let test = ScoreTest {
            name: "several".into(),
            members: members.iter().map(|name| name.to_string()).collect(),
            absent: true,
            held: vec![0.0; members.len()],
            proposed: vec![0.5; members.len()],
            gain: 0.1,
            part: 1.0,
            p_value: 0.0,
            adjusted_p_value: 0.0,
            better: 1,
            recordings: 1,
            strongest: Vec::new(),
        };
        let freed = test.freed(&experiment, &experiment.scene.parameters);
        let model = &freed.scene.model;
        assert_eq!(freed.scene.parameters.values.len(), model.parameter_count());
        for (k, name) in names.iter().enumerate() {
            let slots = model.parameter(name).unwrap();
            assert_eq!(freed.scene.parameters.values[slots.slots[0]], 1.0 + k as f64, "{name}");
            assert_eq!(freed.parameters[k].slots, slots, "{name}");
        }
        let added = &freed.parameters[names.len()..];
        // How fast friction at rest is forgotten is free with it.
        let with_it = members.iter().filter(|member| member.ends_with("/mu_static")).count();
        assert_eq!(added.len(), members.len() + with_it);
        for (p, member) in added.iter().zip(members) {
            assert_eq!(p.name, *member);
            // Edges are tried at a twentieth of the least half extent.
            let half = |axis: &str| {
                let slots = model.parameter(&format!("sled/half_extents/{axis}")).unwrap().slots;
                freed.scene.parameters.values[slots[0]]
            };
            let least = ["x", "y", "z"].map(half).into_iter().fold(f64::INFINITY, f64::min);
            let off = if *member == "sled/radius" { 0.05 * least } else { 0.0 };
            assert_eq!(p.start, off);
            assert_eq!(model.parameter(member).unwrap(), p.slots);
        }
    }
}

/// The program writes the scene that has the term beside the experiment, again and again under new names, and reads it.
#[cfg(feature = "cli")]
#[test]
fn the_scene_that_has_the_term_is_written_beside_the_experiment() {
    use crate::folder::Folder;
    use serde_json::Value;

    let folder = Folder::new("absent-terms");
    let text = |contact: &str| {
        on_floor(&format!("simulation.time_step = 0.01\n{BALL}[[contact]]\nmu = 0.4\n{contact}\n"))
    };
    folder.write("scene.toml", &text(""));
    std::fs::create_dir(folder.path("rolls")).unwrap();
    let truth = made(BALL, "rolling_resistance = 0.002");
    for (k, recording) in motions(&truth, 12, [1e-3, 1.0, 30.0], 4).iter().enumerate() {
        let mut text = Vec::new();
        recording.write(&truth.model, &mut text).unwrap();
        folder.write(&format!("rolls/{k:02}.csv"), &String::from_utf8(text).unwrap());
    }
    folder.write(
        "experiment.toml",
        "scene = \"scene.toml\"\ndata = [\"rolls\"]\n[noise]\nposition = 0.001\nrotation_deg = 0.2865\n\
         [[parameter]]\nname = \"floor-ball/mu\"\nstart = 0.3\n",
    );
    let told = |arguments: &[&str]| {
        let output = folder.run(arguments);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let words = told(&["identify", "experiment.toml", "--improve", "-o", "fit"]);
    assert!(words.contains("rolling_resistance, which the scene does not have"), "{words}");
    assert!(words.contains("adopted: floor-ball/rolling_resistance"), "{words}");
    let result: Value = serde_json::from_str(&folder.read("fit/result.json")).unwrap();
    assert_eq!(result["score_tests"][0]["absent"], true);
    assert!(folder.read("fit/improved.toml").contains("scene = \"improved-scene.toml\""));
    told(&["identify", "fit/improved.toml", "-o", "again"]);
    let again: Value = serde_json::from_str(&folder.read("again/result.json")).unwrap();
    let parameters = again["parameters"].as_array().unwrap();
    let found = parameters.iter().find(|p| p["name"] == "floor-ball/rolling_resistance").unwrap();
    assert!((found["value"].as_f64().unwrap() - 0.002).abs() < 2e-4, "{found}");
    // The experiment is called otherwise now, and the scene is still its own.
    std::fs::rename(folder.path("fit/improved.toml"), folder.path("fit/mine.toml")).unwrap();
    let scene = folder.read("fit/improved-scene.toml") + "# my own\n";
    folder.write("fit/improved-scene.toml", &scene);
    told(&["identify", "experiment.toml", "--improve", "-o", "fit"]);
    assert_eq!(folder.read("fit/improved-scene.toml"), scene);
    assert!(folder.read("fit/improved-2.toml").contains("scene = \"improved-2-scene.toml\""));
}
