//! Material, friction and starts of soft bodies from recorded markers.

mod beside;
mod clouds;
mod fits;
#[cfg(feature = "cli")]
mod program;
mod surface;

use std::fmt::Write;

use stiction::identify::Outcome;
use stiction::markers::{MarkerExperiment, MarkerFit, fit_markers};
use stiction::soft::{SoftRollout, SoftScene, SoftStart};

use crate::cases::count;
use crate::folder::Folder;
use crate::random::Random;
use crate::soft::block;

/// The scene, with four markers.
pub fn scene() -> String {
    block(
        "penalty_linear",
        0.002,
        "markers = { a = [-0.05, -0.03, -0.02], b = [0.05, -0.03, -0.02], c = [-0.05, 0.03, 0.02], d = [0.05, 0.03, -0.02] }",
    )
}

/// What is searched for, and what it is in the scene.
pub const TRUTH: [(&str, f64); 4] = [
    ("block/youngs_modulus", 3e4),
    ("block/poisson_ratio", 0.3),
    ("block/viscosity", 4.0),
    ("floor-block/mu", 0.35),
];

pub const PARAMETERS: &str = "[[parameter]]
name = 'block/youngs_modulus'
start = 2e4
[[parameter]]
name = 'block/poisson_ratio'
start = 0.2
[[parameter]]
name = 'block/viscosity'
start = 2
[[parameter]]
name = 'floor-block/mu'
start = 0.2
";

/// Throws of the block, with uniform noise of this standard deviation (m).
pub fn record(folder: &Folder, count: usize, noise: f64) {
    let mut random = Random(3);
    for number in 0..count {
        let start = SoftStart {
            position: [0.0, 0.0, 0.15],
            velocity: [1.5, 0.3, -1.0],
            angular_velocity: [3.0, 6.0, 2.0],
            ..SoftStart::default()
        };
        let mut start = start.moved(&random.vector(0.3));
        start.position[2] = 0.15;
        throw(folder, number, start, noise, &mut random);
    }
}

/// A throw of the block, seen each 8 ms for 0.4 s.
pub fn throw(folder: &Folder, number: usize, start: SoftStart, noise: f64, random: &mut Random) {
    let mut block = SoftScene::parse(&scene(), "scene.toml").unwrap().unwrap();
    block.bodies[0].start_at(start);
    let mut rollout = SoftRollout::new(&block);
    let body = &block.bodies[0];
    let mut text = String::from("time");
    for marker in &body.markers {
        for axis in ["x", "y", "z"] {
            write!(text, ",{}_{axis}", marker.name).unwrap();
        }
    }
    for step in 0..=200 {
        if step > 0 {
            assert_eq!(rollout.step().unsolved, 0);
        }
        if step % 4 > 0 {
            continue;
        }
        write!(text, "\n{}", f64::from(step) * 0.002).unwrap();
        for marker in &body.markers {
            for x in rollout.states()[0].position[marker.node] {
                let half = noise * 3.0_f64.sqrt();
                write!(text, ",{}", x + random.uniform(-half, half)).unwrap();
            }
        }
    }
    folder.write(&format!("throw_{number}.csv"), &text);
    folder.write("scene.toml", &scene());
}

/// An experiment on these recordings.
pub fn experiment(more: &str) -> String {
    let columns: String = ["a", "b", "c", "d"]
        .map(|marker| format!("{marker} = ['{marker}_x', '{marker}_y', '{marker}_z']\n"))
        .concat();
    format!(
        "scene = 'scene.toml'\ndata = ['throw_*.csv']\n{more}\n[columns]\nt = 'time'\n{columns}{PARAMETERS}"
    )
}

/// An experiment from its text.
fn load(folder: &Folder, text: &str) -> MarkerExperiment {
    folder.write("experiment.toml", text);
    let found = MarkerExperiment::load(folder.path("experiment.toml"), &[]);
    found.unwrap_or_else(|error| panic!("{error}")).expect("a soft body")
}

fn fit(experiment: &MarkerExperiment, threads: usize) -> MarkerFit {
    fit_markers(experiment, threads, &mut |_, _, _| true).unwrap()
}

/// What was seen without noise is found to the last digits.
fn is_exact(found: &MarkerFit) {
    println!("{:?} {:?} {} {:?}", found.outcome, found.loss, found.iterations, found.parameters);
    for (number, (name, truth)) in found.parameters.iter().zip(TRUTH) {
        assert_eq!(number.name, name);
        assert!((number.value / truth - 1.0).abs() < 1e-5, "{name}: {number:?}");
    }
    assert!(found.distances.iter().all(|distance| *distance < 1e-8), "{:?}", found.distances);
}

/// The intervals have the truth in them, and are no wider than it is large.
fn tells(found: &MarkerFit, truth: &[(&str, f64)]) {
    println!("{:?} {:?} {} {:?}", found.outcome, found.loss, found.iterations, found.parameters);
    assert_eq!((found.outcome, found.parameters.len()), (Outcome::Converged, truth.len()));
    for (number, &(name, truth)) in found.parameters.iter().zip(truth) {
        assert_eq!(number.name, name);
        let [low, high] = number.interval.unwrap();
        assert!(low < truth && truth < high && !number.at_bound, "{name}: {number:?}");
        assert!(high - low < truth, "{name}: {number:?}");
    }
}

/// In full runs of the tests.
fn is_the_same_on_one_thread(experiment: &MarkerExperiment, found: &MarkerFit) {
    if count(2, 0.0) == 2 {
        let again = fit(experiment, 1);
        assert_eq!(again.parameters, found.parameters);
        assert_eq!(again.starts, found.starts);
    }
}
