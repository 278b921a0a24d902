//! How often 95 % intervals have the truth by default, and what decides where errors come from.

use stiction::identify::{
    Conclusion, Dataset, Experiment, FreeParameter, Noise, conclude, half_sampling,
};
use stiction::model::Scene;
use stiction::trajectory::Trajectory;

use super::search::swings;

#[path = "../../examples/coverage/repetitions.rs"]
mod repetitions;

use repetitions::{Begin, MOTIONS};

const PENDULUM: &str = "simulation.time_step = 0.01\n[[body]]\nname = \"link\"\nposition = [0, 0, 2]\nmass = 0.1\n\
    inertia = [2e-4, 2e-4, 1e-4]\ncenter_of_mass = [0, 0, -0.05]\n\
    joint = { type = \"revolute\", axis = [0, 1, 0], damping = 5e-4 }\n";

fn damping(recordings: Vec<Trajectory>, half_samples: Option<usize>) -> (Experiment, Dataset) {
    let scene = Scene::parse(PENDULUM, "pendulum.toml").unwrap();
    let slots = scene.model.parameter("link/damping").unwrap();
    let parameters = vec![FreeParameter::new("link/damping", slots, 1e-3, [0.0, 0.1])];
    let noise = Noise { rotation: 5e-3, ..Noise::default() };
    let experiment = Experiment::new("pendulum", scene, parameters, noise);
    let experiment = Experiment { half_samples, profiles: false, ..experiment };
    let dataset = Dataset::new(&experiment, recordings).unwrap();
    (experiment, dataset)
}

fn recordings(count: usize) -> Vec<Trajectory> {
    let scene = Scene::parse(PENDULUM, "pendulum.toml").unwrap();
    swings(&scene, count, 40, 1.0, 21)
}

fn concluded((experiment, dataset): &(Experiment, Dataset), threads: usize) -> Conclusion {
    conclude(experiment, dataset, threads, None, &mut |_| true).unwrap()
}

/// Where starts have noise that the model does not know of, residuals of a recording go together, and those of four recordings say
/// far too little by themselves.
#[test]
fn intervals_by_default_have_the_truth_where_those_of_derivatives_do_not() {
    let hinge = MOTIONS.iter().find(|motion| motion.name == "hinge").unwrap();
    let of = |half_samples| hinge.coverage((4, Begin::Noisy), half_samples, (30, 2)).unwrap();
    let [default, linearised] = [of(None), of(Some(0))];
    println!("{default:?} {linearised:?}");
    for (own, other) in default.covered.iter().zip(&linearised.covered) {
        assert!(own.covered >= 25 && own.without == 0, "{own:?}");
        assert!(other.covered <= 22, "{other:?}");
    }
    let bounce = MOTIONS.iter().find(|motion| motion.name == "bounce").unwrap();
    let fitted = bounce.coverage((4, Begin::Fitted), None, (20, 2)).unwrap();
    println!("{fitted:?}");
    assert!(fitted.covered.iter().all(|own| own.covered >= 16), "{fitted:?}");
    assert!(default.by_halves >= 25 && linearised.by_halves == 0);
    // The work of halves is bounded by twice that of the search; one may go beyond.
    assert!(default.work > 0.0 && default.work < 3.0, "{}", default.work);
}

#[test]
fn a_test_decides_where_nothing_is_asked_for() {
    let by_test = damping(recordings(12), None);
    let [one, three] = [1, 3].map(|threads| concluded(&by_test, threads));
    let test = one.halves_test.unwrap();
    assert_eq!(Some(test), three.halves_test);
    assert_eq!(one.fit.parameters, three.fit.parameters);
    assert_eq!(test.is_beyond(), one.halves.is_some());
    assert!(test.splits == 3 && test.statistic > 0.0 && test.threshold > 0.0, "{test:?}");
    assert!(test.sentence().contains("halves of the recordings"));
    // What is asked for is done, and nothing else.
    let never = concluded(&damping(recordings(12), Some(0)), 2);
    assert!(never.halves_test.is_none() && never.halves.is_none());
    let always = concluded(&damping(recordings(12), Some(6)), 2);
    assert_eq!((always.halves_test, always.halves.unwrap().values.len()), (None, 6));
    // Three recordings have no halves, nor four of which one is a copy.
    let three = concluded(&damping(recordings(3), None), 1);
    assert!(three.halves_test.is_none() && three.fit.parameters[0].interval.is_some());
    let copied: Vec<Trajectory> = recordings(3).into_iter().chain(recordings(1)).collect();
    assert!(concluded(&damping(copied, None), 1).halves_test.is_none());
}

/// No split comes twice, and what splits have in common is counted once.
#[test]
fn four_recordings_have_three_splits() {
    let (experiment, dataset) = damping(recordings(4), Some(0));
    let fit = concluded(&(experiment.clone(), dataset.clone()), 1).fit;
    let halves = |dataset: &Dataset, count| {
        half_sampling(&experiment, dataset, &fit, count, 1, &mut |_| true).unwrap()
    };
    let all = halves(&dataset, 40);
    assert_eq!(all.values.len(), 6);
    // They are orthogonal: as many squares as are left of four recordings.
    assert!((all.freedom - 3.0).abs() < 1e-12, "{}", all.freedom);
    assert_eq!(halves(&dataset, 2).values, all.values[..2]);
    let (experiment, dataset) = damping(recordings(12), Some(0));
    let fit = concluded(&(experiment.clone(), dataset.clone()), 1).fit;
    let twelve = half_sampling(&experiment, &dataset, &fit, 20, 1, &mut |_| true).unwrap();
    assert!((3.0..10.0).contains(&twelve.freedom), "{}", twelve.freedom);
}

#[cfg(feature = "cli")]
#[test]
fn the_program_says_where_errors_come_from() {
    use crate::folder::Folder;
    use serde_json::Value;

    let folder = Folder::new("errors-from");
    folder.write("scene.toml", PENDULUM);
    let (experiment, _) = damping(recordings(4), None);
    for (k, recording) in recordings(4).iter().enumerate() {
        let mut text = Vec::new();
        recording.write(&experiment.scene.model, &mut text).unwrap();
        folder.write(&format!("{k}.csv"), &String::from_utf8(text).unwrap());
    }
    let text = "scene = \"scene.toml\"\ndata = [\"*.csv\"]\nprofiles = false\n[noise]\nrotation_deg = 0.2865\n[[parameter]]\n\
                name = \"link/damping\"\nstart = 1e-3\n";
    folder.write("experiment.toml", text);
    folder.write("never.toml", &format!("half_samples = 0\n{text}"));
    let result = |arguments: &[&str]| -> Value {
        let output = folder.run(&[&["identify"], arguments, &["--json"]].concat());
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let found = result(&["experiment.toml"]);
    let (test, from) = (&found["errors_test"], found["errors_from"].as_str().unwrap());
    let [statistic, threshold] = ["statistic", "threshold"].map(|key| test[key].as_f64().unwrap());
    assert_eq!(from, if statistic > threshold { "halves" } else { "linearisation" });
    assert_eq!((&test["splits"], &test["is_cut_short"]), (&3.into(), &false.into()));
    assert!(found["half_rollouts"].as_f64().unwrap() > 0.0);
    for never in [result(&["never.toml"]), result(&["experiment.toml", "--half-samples", "0"])] {
        assert_eq!((never.get("errors_test"), never.get("half_rollouts")), (None, None));
        assert_eq!(never["errors_from"], "linearisation");
    }
    let words = folder.run(&["identify", "experiment.toml", "-o", "fit"]);
    let words = String::from_utf8(words.stdout).unwrap();
    assert!(words.contains("errors are taken from"), "{words}");
    assert!(folder.read("fit/report.html").contains("errors are taken from"));
}
