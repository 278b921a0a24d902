//! What a fit would gain by numbers of the scene that it held, and freeing them one after the other.

use stiction::identify::{
    Dataset, Experiment, Fit, FreeParameter, Noise, ScoreTest, fit, improve, score_tests,
};
use stiction::model::Scene;
use stiction::trajectory::Trajectory;

use super::search::{swings, throws};
use crate::cases;
use crate::scenes::{on_floor, scene};

const NOISE: Noise =
    Noise { position: 1e-3, rotation: 5e-3, velocity: None, angular_velocity: None };

fn cube() -> Scene {
    scene(&on_floor(
        "simulation.time_step = 0.01\n[[body]]\nname = \"cube\"\nmass = 0.4\n\
         shape = { box = [0.05, 0.05, 0.05] }\nposition = [0, 0, 0.15]\n[[contact]]\nmu = 0.3\n\
         restitution = 0.1\n",
    ))
}

const PENDULUM: &str = "simulation.time_step = 0.01\n[[body]]\nname = \"link\"\nposition = [0, 0, 2]\nmass = 0.1\n\
    inertia = [2e-4, 2e-4, 1e-4]\ncenter_of_mass = [0, 0, -0.05]\n\
    joint = { type = \"revolute\", axis = [0, 1, 0], damping = 5e-4 }\n";

fn pendulum() -> Scene {
    Scene::parse(PENDULUM, "pendulum.toml").unwrap()
}

fn with(scene: &Scene, changes: &[(&str, f64)]) -> Scene {
    let mut scene = scene.clone();
    for (name, value) in changes {
        let slots = scene.model.parameter(name).unwrap().slots;
        slots.iter().for_each(|&slot| scene.parameters.values[slot] = *value);
    }
    scene
}

/// What a scene finds in recordings of another one: some of its numbers, all others held.
fn fitted(scene: Scene, free: &[&str], recordings: Vec<Trajectory>) -> (Experiment, Dataset, Fit) {
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

const FREE: [&str; 2] = ["floor-cube/mu", "floor-cube/restitution"];

fn of_cube(changes: &[(&str, f64)], count: usize, seed: u64) -> (Experiment, Dataset, Fit) {
    let recordings = throws(&with(&cube(), changes), count, 40, 1.0, seed);
    fitted(cube(), &FREE, recordings)
}

fn of_pendulum(changes: &[(&str, f64)], count: usize, seed: u64) -> (Experiment, Dataset, Fit) {
    let recordings = swings(&with(&pendulum(), changes), count, 80, 1.0, seed);
    fitted(pendulum(), &["link/damping"], recordings)
}

fn tested((experiment, dataset, found): &(Experiment, Dataset, Fit)) -> Vec<ScoreTest> {
    score_tests(experiment, dataset, found, 2)
}

/// One thing is wrong: it is among the first that are claimed, mostly the first.
#[test]
fn what_is_held_wrong_is_named() {
    let cases: Vec<(&str, Vec<(&str, f64)>)> = vec![
        ("cube/center_of_mass", vec![("cube/center_of_mass/x", 0.004)]),
        (
            "cube/center_of_mass",
            vec![("cube/center_of_mass/y", -0.003), ("cube/center_of_mass/z", 0.003)],
        ),
        ("cube/half_extents", vec![("cube/half_extents/x", 0.053)]),
        ("cube/half_extents", vec![("cube/half_extents/z", 0.047)]),
        ("floor/tilt", vec![("floor/tilt/x", 0.02)]),
        ("floor/tilt", vec![("floor/tilt/y", -0.03)]),
        ("floor/offset", vec![("floor/offset", 0.004)]),
        ("floor/offset", vec![("floor/offset", -0.003)]),
        ("cube/inertia", vec![("cube/inertia/xx", 9e-4)]),
        ("cube/inertia", vec![("cube/inertia/xy", 1e-4)]),
        ("link/friction", vec![("link/friction", 2e-3)]),
        ("link/center_of_mass", vec![("link/center_of_mass/x", 0.004)]),
    ];
    let mut first = 0;
    let mut wrong = Vec::new();
    for (k, (name, changes)) in cases.iter().enumerate() {
        let seed = 100 + k as u64;
        let all = match name.starts_with("link") {
            true => tested(&of_pendulum(changes, 12, seed)),
            false => tested(&of_cube(changes, 40, seed)),
        };
        let told: Vec<String> = all
            .iter()
            .take(4)
            .map(|t| format!("{} {:.3} {:.1e}", t.name, t.gain, t.adjusted_p_value))
            .collect();
        println!("{name} {changes:?}: {}", told.join("; "));
        // What does the same to all motions, as two points of a pendulum, cannot be told apart.
        let as_good = |test: &&ScoreTest| (test.gain - all[0].gain).abs() < 1e-3 * all[0].gain;
        first += usize::from(all.iter().filter(as_good).any(|test| test.name == *name));
        let place = all.iter().position(|test| test.name == *name && test.is_significant());
        if place.is_none_or(|place| place >= 3) {
            wrong.push(format!("{name} {changes:?}: {told:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(10 * first >= 9 * cases.len(), "{first} of {}", cases.len());
}

/// Where nothing is wrong, hardly anything is claimed: five in a hundred.
#[test]
fn where_nothing_is_wrong_next_to_nothing_is_claimed() {
    let count = cases::count(100, 0.08);
    let mut claims = 0;
    for k in 0..count {
        let seed = 1000 + k as u64;
        let all = if k % 2 == 0 {
            tested(&of_cube(&[], 16, seed))
        } else {
            tested(&of_pendulum(&[], 12, seed))
        };
        assert!(all.len() > 3, "{all:?}");
        let named: Vec<&ScoreTest> = all.iter().filter(|test| test.is_significant()).collect();
        if !named.is_empty() {
            println!("{k}: {named:?}");
        }
        claims += usize::from(!named.is_empty());
    }
    // More than this in so many has a probability below 1e-3 where each has 0.05.
    assert!(claims <= 2 + count * 11 / 100, "{claims} of {count}");
}

/// With one recording the residuals themselves say how far they are off.
#[test]
fn one_recording_alone_is_tested_by_its_residuals() {
    let wrong = tested(&of_pendulum(&[("link/center_of_mass/x", 0.004)], 1, 5));
    let place = wrong.iter().find(|test| test.name == "link/center_of_mass").unwrap();
    assert!(place.is_significant() && place.recordings == 1, "{place:?}");
    let along_x = place.members.iter().position(|name| name.ends_with("/x")).unwrap();
    assert!((place.proposed[along_x] - 0.004).abs() < 0.001, "{place:?}");
    let right = tested(&of_pendulum(&[], 1, 6));
    assert!(right.iter().all(|test| !test.is_significant()), "{right:?}");
}

#[test]
fn recordings_without_noise_are_not_tested() {
    let recordings = throws(&cube(), 6, 40, 0.0, 3);
    let exact = fitted(cube(), &FREE, recordings);
    assert!(exact.2.is_exact());
    assert!(tested(&exact).is_empty());
}

/// What was held wrong is freed and found within its interval, and nothing else.
#[test]
fn a_model_is_improved_by_what_it_lacks_and_by_nothing_else() {
    let truth = [("cube/center_of_mass/x", 0.004), ("cube/center_of_mass/y", 0.0)];
    let (experiment, dataset, found) = of_cube(&truth, 40, 7);
    let improved = improve(&experiment, &dataset, &found, 4, 2, &mut |_, _| true).unwrap();
    let adopted: Vec<&str> = improved.adopted().map(|tried| tried.test.name.as_str()).collect();
    assert_eq!(adopted, ["cube/center_of_mass"], "{:?}", improved.rounds);
    for (name, value) in truth {
        let parameter = improved.fit.parameters.iter().find(|p| p.name == name).unwrap();
        let [lower, upper] = parameter.interval.unwrap();

        assert!((lower..=upper).contains(&value), "{parameter:?}");
    }
    assert!(improved.fit.loss < found.loss);
    // The same bits on one thread.
    let alone = improve(&experiment, &dataset, &found, 4, 1, &mut |_, _| true).unwrap();
    assert_eq!(format!("{:?}", alone.fit.parameters), format!("{:?}", improved.fit.parameters));

    let (experiment, dataset, found) = of_cube(&[], 20, 8);
    let same = improve(&experiment, &dataset, &found, 4, 2, &mut |_, _| true).unwrap();
    assert_eq!(same.adopted().count(), 0, "{:?}", same.rounds);
    assert!(same.end.contains("no number that is held shows"), "{}", same.end);
    // Copies of one recording say no more than it: in tests as one.
    let (experiment, dataset, found) = {
        let one = swings(&pendulum(), 1, 80, 1.0, 10);
        let copies = (0..8).map(|_| one[0].clone()).collect();
        fitted(pendulum(), &["link/damping"], copies)
    };
    for test in score_tests(&experiment, &dataset, &found, 2) {
        assert!(test.recordings == 1 && !test.is_significant(), "{test:?}");
    }
    let (experiment, dataset, found) = {
        let one = throws(&with(&cube(), &[("floor/offset", 0.004)]), 1, 40, 1.0, 9);
        let copies = (0..8).map(|_| one[0].clone()).collect();
        fitted(cube(), &FREE, copies)
    };
    let copied = improve(&experiment, &dataset, &found, 4, 2, &mut |_, _| true).unwrap();
    assert_eq!((copied.rounds.len(), copied.adopted().count()), (0, 0));
    assert!(copied.end.contains("too few recordings"), "{}", copied.end);
}

/// `--improve` writes an experiment beside the result that finds what it says; the result has the tests, and the page a table.
#[cfg(feature = "cli")]
#[test]
fn the_program_improves_a_model_and_writes_the_experiment() {
    use crate::folder::Folder;
    use crate::program::refuses;
    use serde_json::Value;

    let folder = Folder::new("improve");
    folder.write("scene.toml", PENDULUM);
    let truth = with(&pendulum(), &[("link/friction", 2e-3)]);
    std::fs::create_dir(folder.path("swings")).unwrap();
    for (k, recording) in swings(&truth, 12, 80, 1.0, 4).iter().enumerate() {
        let mut text = Vec::new();
        recording.write(&truth.model, &mut text).unwrap();
        folder.write(&format!("swings/{k:02}.csv"), &String::from_utf8(text).unwrap());
    }
    let experiment = "# of a pendulum\nscene = \"scene.toml\"\ndata = [\"swings\"]\n[noise]\nposition = 0.001\n\
                      rotation_deg = 0.2865\n[[parameter]]\nname = \"link/damping\"\nstart = 1e-3\n";
    folder.write("experiment.toml", experiment);
    std::fs::create_dir(folder.path("out")).unwrap();
    let told = |arguments: &[&str]| {
        let output = folder.run(arguments);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let words = told(&["identify", "experiment.toml", "--improve", "-o", "out/fit"]);
    assert!(words.contains("adopted: link/friction"), "{words}");
    let result: Value = serde_json::from_str(&folder.read("out/fit/result.json")).unwrap();
    assert_eq!(result["score_tests"][0]["name"], "link/friction");
    assert!(result["score_tests"][0]["adjusted_p_value"].as_f64().unwrap() < 0.05);
    let improvement = &result["improvement"];
    let found = improvement["parameters"]["link/friction"].as_f64().unwrap();
    assert!((found - 2e-3).abs() < 2e-4, "{found}");
    assert!(improvement["rounds"][0][0]["adopted"].as_bool().unwrap());
    let page = folder.read("out/fit/report.html");
    assert!(page.contains("\"is_claim\":true") && page.contains("adopted: link/friction"));
    // What is written runs, from elsewhere, and finds the same.
    told(&["identify", "out/fit/improved.toml", "-o", "again"]);
    let result: Value = serde_json::from_str(&folder.read("again/result.json")).unwrap();
    let parameters = result["parameters"].as_array().unwrap();
    let friction = parameters.iter().find(|p| p["name"] == "link/friction").unwrap();
    assert!((friction["value"].as_f64().unwrap() - found).abs() < 1e-6, "{friction}");
    let interval = friction["interval"].as_array().unwrap();
    let [lower, upper] = [0, 1].map(|k| interval[k].as_f64().unwrap());
    assert!(lower < 2e-3 && 2e-3 < upper, "{lower} {upper}");
    // A second run from there finds nothing more, and leaves the file as it is.
    let improved = folder.read("out/fit/improved.toml");
    let words = told(&["identify", "out/fit/improved.toml", "--improve", "1", "-o", "out/fit"]);
    assert!(words.contains("nothing was added to the model"), "{words}");
    assert_eq!(folder.read("out/fit/improved.toml"), improved);
    // What was given is not touched.
    assert_eq!(folder.read("experiment.toml"), experiment);
    let words = told(&["identify", "experiment.toml"]);
    assert!(words.contains("link/friction") && words.contains("--improve"), "{words}");
    refuses(&folder.run(&["identify", "--improve"]), &["--improve", "needs an experiment"]);
}
