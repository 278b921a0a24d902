//! Material, friction and starts of soft bodies from recorded markers.

mod clouds;
mod fits;
#[cfg(feature = "cli")]
mod program;
mod surface;

use std::fmt::Write;

use stiction::soft::{SoftRollout, SoftScene, SoftStart};

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
