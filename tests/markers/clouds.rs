//! Fits of points of a surface, as depth cameras see them.

use std::fmt::Write;

use stiction::identify::Outcome;
use stiction::markers::{MarkerExperiment, MarkerFit, MarkerRecording, fit_markers};
use stiction::soft::{SoftRollout, SoftScene, SoftStart};

use super::fits::THROWS;
use super::{PARAMETERS, TRUTH, scene};
use crate::cases::count;
use crate::folder::Folder;
use crate::random::Random;
use crate::shared::shared;

/// What a camera sees of a motion in frames 1/30 s apart: in each some `points` of what is turned to it, on average as many on each
/// area, off by uniform noise of this standard deviation (m).
fn seen(
    scene: &SoftScene,
    frames: usize,
    points: usize,
    noise: f64,
    random: &mut Random,
) -> String {
    let steps = (1.0 / 30.0 / scene.time_step).round() as usize;
    let camera = [0.3, -0.8, 0.5];
    let mut rollout = SoftRollout::new(scene);
    let mut text = String::from("t,x,y,z\n");
    for frame in 0..frames {
        for _ in 0..if frame > 0 { steps } else { 0 } {
            assert_eq!(rollout.step().unsolved, 0);
        }
        let x = &rollout.states()[0].position;
        let turned: Vec<([[f64; 3]; 3], f64)> = (scene.bodies[0].mesh.surface().iter())
            .filter_map(|triangle| {
                let [a, b, c] = triangle.map(|node| x[node]);
                let side = |p: [f64; 3]| [0, 1, 2].map(|k| p[k] - a[k]);
                let (u, v) = (side(b), side(c));
                let area = [1, 2, 0].map(|k| u[k] * v[(k + 1) % 3] - u[(k + 1) % 3] * v[k]);
                let towards = camera[0] * area[0] + camera[1] * area[1] + camera[2] * area[2];
                (towards > 0.0).then(|| ([a, b, c], area.iter().map(|x| x * x).sum::<f64>().sqrt()))
            })
            .collect();
        let total: f64 = turned.iter().map(|(_, area)| area).sum();
        for _ in 0..points {
            let mut left = random.uniform(0.0, total);
            let own = turned.iter().find(|(_, area)| {
                left -= area;
                left <= 0.0
            });
            let (corners, _) = own.unwrap_or(&turned[0]);
            let (s, t) = (random.uniform(0.0, 1.0).sqrt(), random.uniform(0.0, 1.0));
            let weights = [1.0 - s, s * (1.0 - t), s * t];
            write!(text, "{}", frame as f64 / 30.0).unwrap();
            for k in 0..3 {
                let place: f64 = (0..3).map(|i| weights[i] * corners[i][k]).sum();
                let half = noise * 3.0_f64.sqrt();
                write!(text, ",{}", place + random.uniform(-half, half)).unwrap();
            }
            text.push('\n');
        }
    }
    text
}

fn load(folder: &Folder, text: &str) -> MarkerExperiment {
    folder.write("experiment.toml", text);
    let found = MarkerExperiment::load(folder.path("experiment.toml"), &[]);
    found.unwrap_or_else(|error| panic!("{error}")).expect("a soft body")
}

fn fit(experiment: &MarkerExperiment, threads: usize) -> MarkerFit {
    fit_markers(experiment, threads, &mut |_, _, _| true).unwrap()
}

/// Throws of the block of the other tests at steps of 1/300 s, in 15 frames.
pub fn record(folder: &Folder, count: usize, points: usize, noise: f64) -> String {
    let text = scene().replace("time_step = 0.002", "time_step = 0.0033333333333333335");
    let mut random = Random(5);
    for number in 0..count {
        let mut block = SoftScene::parse(&text, "scene.toml").unwrap().unwrap();
        let start = SoftStart {
            position: [0.0, 0.0, 0.25],
            velocity: [1.0, 0.3, -1.0],
            angular_velocity: [3.0, 6.0, 2.0],
            ..SoftStart::default()
        };
        let mut start = start.moved(&random.vector(0.3));
        start.position[2] = 0.25;
        block.bodies[0].start_at(start);
        let text = seen(&block, 15, points, noise, &mut random);
        folder.write(&format!("throw_{number}.csv"), &text);
    }
    // Where it starts, the scene knows in part.
    let text = format!("{text}velocity = [1, 0.3, -1]\nangular_velocity = [3, 6, 2]\n");
    folder.write("scene.toml", &text);
    format!(
        "scene = 'scene.toml'\nseen = 'points'\ndata = ['throw_*.csv']\nstages = [0.11, 0.17, 0.25]\n"
    )
}

#[test]
fn what_is_seen_without_noise_is_found_again() {
    let folder = Folder::new("clouds-exact");
    let text = record(&folder, 2, 60, 0.0);
    let found = fit(&load(&folder, &format!("{text}iterations = 60\n{PARAMETERS}")), 2);
    println!("{:?} {:?} {} {:?}", found.outcome, found.loss, found.iterations, found.parameters);
    for (number, (name, truth)) in found.parameters.iter().zip(TRUTH) {
        assert_eq!(number.name, name);
        assert!((number.value / truth - 1.0).abs() < 1e-5, "{name}: {number:?}");
    }
    assert!(found.distances.iter().all(|distance| *distance < 1e-8), "{:?}", found.distances);
}

#[test]
fn truth_is_in_the_intervals_and_residuals_are_the_noise_on_any_number_of_threads() {
    let folder = Folder::new("clouds-noise");
    let text = record(&folder, 3, 80, 1e-3);
    let experiment = load(&folder, &format!("{text}{PARAMETERS}"));
    let found = fit(&experiment, 2);
    println!("{:?} {:?} {} {:?}", found.outcome, found.loss, found.iterations, found.parameters);
    assert_eq!(found.outcome, Outcome::Converged);
    for (number, (name, truth)) in found.parameters.iter().zip(TRUTH) {
        let [low, high] = number.interval.unwrap();
        assert!(low < truth && truth < high && !number.at_bound, "{name}: {number:?}");
        assert!(high - low < truth, "{name}: {number:?}");
    }
    assert!((found.loss[1] - 1.0).abs() < 0.1, "{:?}", found.loss);
    // Of a point only its distance from the surface is told.
    for distance in &found.distances {
        assert!((distance / 1e-3 - 1.0).abs() < 0.1, "{distance}");
    }
    if count(2, 0.0) == 2 {
        let again = fit(&experiment, 1);
        assert_eq!(again.parameters, found.parameters);
        assert_eq!(again.starts, found.starts);
    }
}

/// Throws of a ball against a floor and a wall, by a motion of finer steps: what is found from two of them predicts a third.
#[test]
fn two_throws_of_a_ball_predict_a_third() {
    let Some(mesh) = shared("reference/add/meshes/sphere_r25mm_coarse.msh") else { return };
    if count(2, 0.0) == 1 {
        return;
    }
    let folder = Folder::new("clouds-ball");
    folder.write("ball.msh", &std::fs::read_to_string(mesh).unwrap());
    let truth = [3e4, 1.2e4, 8.0, 0.45, 0.35];
    let parameters =
        ["ball/lame_lambda", "ball/lame_mu", "ball/viscosity", "floor-ball/mu", "wall-ball/mu"];
    folder.write("scene.toml", &THROWS.replace("0.0016666666666666668", "0.0008333333333333334"));
    let mut fine = SoftScene::load(folder.path("scene.toml")).unwrap().unwrap();
    for (name, truth) in parameters.iter().zip(truth) {
        fine.set(fine.parameter(name).unwrap(), truth);
    }
    folder.write("scene.toml", THROWS);
    let mut random = Random(11);
    let throws = [
        ([0.35, 0.0, 0.3], [-0.8, 0.4, -1.0], [5.0, -20.0, 0.0]),
        ([0.3, 0.1, 0.35], [-0.9, -0.3, -0.5], [-10.0, 15.0, 10.0]),
        ([0.4, 0.0, 0.28], [-1.0, 0.2, -0.8], [0.0, 10.0, -15.0]),
    ];
    let mut ends = Vec::new();
    for (number, (position, velocity, angular_velocity)) in throws.into_iter().enumerate() {
        let start = SoftStart { position, velocity, angular_velocity, ..SoftStart::default() };
        fine.bodies[0].start_at(start);
        folder.write(&format!("throw_{number}.csv"), &seen(&fine, 24, 150, 1e-3, &mut random));
        let mut rollout = SoftRollout::new(&fine);
        (0..23 * 40).for_each(|_| assert_eq!(rollout.step().unsolved, 0));
        ends.push(fine.bodies[0].surface_mean(&rollout.states()[0].position));
    }
    let unknown: String = parameters
        .iter()
        .zip([2e4, 1e4, 5.0, 0.3, 0.3])
        .map(|(name, start)| format!("[[parameter]]\nname = '{name}'\nstart = {start}\n"))
        .collect();
    let text = format!(
        "scene = 'scene.toml'\nseen = 'points'\ndata = ['throw_0.csv', 'throw_1.csv']\nstages = [0.14, 0.35]\n{unknown}"
    );
    let found = fit(&load(&folder, &text), 2);
    println!("{:#?} {:?} {:?}", found.parameters, found.loss, found.distances);
    for (number, truth) in found.parameters.iter().zip(truth) {
        let [low, high] = number.interval.unwrap();
        assert!(low < truth && truth < high, "{number:?}");
    }
    // The third: its start alone, then as it goes on.
    let mut scene = found.scene.clone();
    let third = load(&folder, &text.replace("'throw_0.csv', 'throw_1.csv'", "'throw_2.csv'"));
    let held = MarkerExperiment { parameters: Vec::new(), scene: scene.clone(), ..third };
    let seen = fit(&held, 2);
    scene.bodies[0].start_at(seen.starts[0]);
    let mut rollout = SoftRollout::new(&scene);
    (0..23 * 20).for_each(|_| assert_eq!(rollout.step().unsolved, 0));
    let end = scene.bodies[0].surface_mean(&rollout.states()[0].position);
    println!("{:?} {:?} {end:?} {:?}", seen.distances, seen.starts, ends[2]);
    assert!((0..3).all(|k| (end[k] - ends[2][k]).abs() < 1e-3), "{end:?} {:?}", ends[2]);
    assert!((seen.distances[0] / 1e-3 - 1.0).abs() < 0.1, "{:?}", seen.distances);
}

#[test]
fn only_points_in_the_region_count_and_rows_of_one_time_are_a_frame() {
    let text =
        "time,a,b,c\n0,0,0,1\n0,0,0,-1\n0,,0,1\n0.5,0,0,2\n1,0,5,1\n2,0.5,0.5,0.5\n2,0.1,0.2,0.3\n";
    let columns = |names: &[(&str, &[&str])]| {
        names
            .iter()
            .map(|(key, names)| (key.to_string(), names.iter().map(|s| s.to_string()).collect()))
            .collect()
    };
    let columns = columns(&[("t", &["time"]), ("points", &["a", "b", "c"])]);
    let region = [[-1.0, -1.0, 0.0], [1.0, 1.0, 1.5]];
    let found = MarkerRecording::parse_clouds(text, "cloud.csv", &columns, Some(region)).unwrap();
    assert_eq!(found.times, [0.0, 2.0]);
    assert_eq!(found.clouds, [vec![[0.0, 0.0, 1.0]], vec![[0.5, 0.5, 0.5], [0.1, 0.2, 0.3]]]);
    assert_eq!(found.count(), 3);
    let all = MarkerRecording::parse_clouds(text, "cloud.csv", &columns, None).unwrap();
    assert_eq!(all.times, [0.0, 0.5, 1.0, 2.0]);
    assert_eq!(
        all.until(0.5).clouds,
        [vec![[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]], vec![[0.0, 0.0, 2.0]]]
    );
}
