//! Fits of points of a surface, as depth cameras see them.

use std::fmt::Write;

use stiction::markers::{MarkerExperiment, MarkerRecording};
use stiction::soft::{SoftRollout, SoftScene, SoftStart};

use super::{PARAMETERS, TRUTH, fit, is_exact, is_the_same_on_one_thread, load, scene, tells};
use crate::folder::Folder;
use crate::random::Random;
use crate::soft::block;

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
            for axis in 0..3 {
                let place: f64 =
                    weights.iter().zip(corners).map(|(weight, corner)| weight * corner[axis]).sum();
                let half = noise * 3.0_f64.sqrt();
                write!(text, ",{}", place + random.uniform(-half, half)).unwrap();
            }
            text.push('\n');
        }
    }
    text
}

/// The block of the other tests at steps of 1/300 s, with a wall before it.
fn walled() -> String {
    let text = scene().replace("time_step = 0.002", "time_step = 0.0033333333333333335");
    text.replace(
        "[[contact]]",
        "[[half_space]]\nname = 'wall'\nnormal = [-1, 0, 0]\noffset = -0.2\n[[contact]]",
    )
}

/// How it starts in some throws.
fn throws(count: usize) -> Vec<SoftStart> {
    let mut random = Random(5);
    let start = SoftStart {
        position: [0.0, 0.0, 0.25],
        velocity: [1.0, 0.3, -1.0],
        angular_velocity: [3.0, 6.0, 2.0],
        ..SoftStart::default()
    };
    let moved = |_| SoftStart { position: start.position, ..start.moved(&random.vector(0.3)) };
    (0..count).map(moved).collect()
}

/// Throws of the block in 15 frames, and a scene that knows in part how it starts.
pub fn record(folder: &Folder, count: usize, points: usize, noise: f64) -> String {
    let mut random = Random(7);
    let mut block = SoftScene::parse(&walled(), "scene.toml").unwrap().unwrap();
    for (number, start) in throws(count).into_iter().enumerate() {
        block.bodies[0].start_at(start);
        let text = seen(&block, 15, points, noise, &mut random);
        folder.write(&format!("throw_{number}.csv"), &text);
    }
    let text = format!("{}velocity = [1, 0.3, -1]\nangular_velocity = [3, 6, 2]\n", walled());
    folder.write("scene.toml", &text);
    String::from(
        "scene = 'scene.toml'\nseen = 'points'\ndata = ['throw_*.csv']\nstages = [0.11, 0.17, 0.25]\n",
    )
}

#[test]
fn what_is_seen_without_noise_is_found_again() {
    let folder = Folder::new("clouds-exact");
    let text = record(&folder, 2, 60, 0.0);
    let found = fit(&load(&folder, &format!("{text}iterations = 60\n{PARAMETERS}")), 2);
    is_exact(&found);
}

/// Against a floor and a wall: what is found from three throws predicts a fourth.
#[test]
fn truth_is_in_the_intervals_and_residuals_are_the_noise_on_any_number_of_threads() {
    let folder = Folder::new("clouds-noise");
    let text = record(&folder, 4, 80, 1e-3);
    let wall = "[[parameter]]\nname = 'wall-block/mu'\nstart = 0.2\n";
    let text = format!("{text}{PARAMETERS}{wall}");
    let experiment = load(&folder, &text.replace("throw_*", "throw_[0-2]"));
    let found = fit(&experiment, 2);
    let truth: Vec<_> = TRUTH.into_iter().chain([("wall-block/mu", 0.35)]).collect();
    tells(&found, &truth);
    assert!((found.loss[1] - 1.0).abs() < 0.1, "{:?}", found.loss);
    // Of a point only its distance from the surface is told.
    for distance in &found.distances {
        assert!((distance / 1e-3 - 1.0).abs() < 0.1, "{distance}");
    }
    // Of the other its start alone, against and off the wall.
    let mut scene = found.scene.clone();
    let other = load(&folder, &text.replace("throw_*", "throw_3"));
    let seen = fit(&MarkerExperiment { parameters: Vec::new(), scene: scene.clone(), ..other }, 2);
    assert!((seen.distances[0] / 1e-3 - 1.0).abs() < 0.1, "{:?}", seen.distances);
    scene.bodies[0].start_at(seen.starts[0]);
    let end = end_of(&scene);
    let mut truth = SoftScene::parse(&walled(), "scene.toml").unwrap().unwrap();
    truth.bodies[0].start_at(throws(4)[3]);
    let expected = end_of(&truth);
    println!("{end:?} {expected:?}");
    assert!((0..3).all(|k| (end[k] - expected[k]).abs() < 1e-3), "{end:?} {expected:?}");
    is_the_same_on_one_thread(&experiment, &found);
}

/// Where the middle of the surface is after all frames.
fn end_of(scene: &SoftScene) -> [f64; 3] {
    let mut rollout = SoftRollout::new(scene);
    (0..140).for_each(|_| assert_eq!(rollout.step().unsolved, 0));
    scene.bodies[0].surface_mean(&rollout.states()[0].position)
}

/// Frames between steps, several in one and some steps apart, of a block that nothing turns or slows down: where it is then is known.
#[test]
fn frames_between_steps_are_met() {
    let folder = Folder::new("clouds-between");
    let dt = 0.004;
    let text = block(
        "coupled",
        dt,
        "markers = { a = [-0.05, -0.03, -0.02], b = [0.05, -0.03, -0.02], c = [-0.05, 0.03, 0.02] }",
    );
    folder.write(
        "scene.toml",
        &format!("gravity = [0, 0, 0]\n{}", text.replace("stiffness = 400\n", "")),
    );
    let scene = SoftScene::load(folder.path("scene.toml")).unwrap().unwrap();
    let body = &scene.bodies[0];
    let velocity = [1.0, -2.0, 3.0];
    let at = |time: f64, node: usize| {
        let x = body.mesh.nodes[node];
        [0, 1, 2].map(|k| x[k] + [0.0, 0.0, 0.2][k] + velocity[k] * time)
    };
    let shares = [0.0, 0.3, 0.7, 1.0, 2.5, 2.75, 3.0, 7.1];
    let (mut markers, mut points) = (
        String::from(
            "t,block/a/px,block/a/py,block/a/pz,block/b/px,block/b/py,block/b/pz,block/c/px,block/c/py,block/c/pz",
        ),
        String::from("t,x,y,z"),
    );
    for time in shares.map(|share| 5.0 + share * dt) {
        write!(markers, "\n{time}").unwrap();
        for marker in &body.markers {
            let [x, y, z] = at(time - 5.0, marker.node);
            write!(markers, ",{x},{y},{z}").unwrap();
        }
        for &node in &body.surface {
            let [x, y, z] = at(time - 5.0, node);
            write!(points, "\n{time},{x},{y},{z}").unwrap();
        }
    }
    for (seen, file) in [("markers", markers), ("points", points)] {
        folder.write("seen.csv", &file);
        let text = format!(
            "scene = 'scene.toml'\nseen = '{seen}'\ndata = ['seen.csv']\n[[parameter]]\nname = 'block/viscosity'\n"
        );
        let experiment = load(&folder, &text);
        // As it starts by what the first frames tell.
        let found =
            fit(&MarkerExperiment { parameters: Vec::new(), iterations: 1, ..experiment }, 1);
        let start = found.starts[0].velocity;
        assert!((0..3).all(|k| (start[k] - velocity[k]).abs() < 1e-7), "{seen}: {start:?}");
        assert!(found.distances[0] < 1e-9, "{seen}: {:?}", found.distances);
    }
}

/// How it spins about its centre of mass, which is not the origin of its mesh.
#[test]
fn a_spinning_start_is_found_about_the_centre_of_mass() {
    let folder = Folder::new("clouds-centre");
    let mesh = include_str!("../../examples/soft_upright/solid.msh");
    folder.write("solid.msh", mesh);
    let text = "gravity = [0, 0, -9.81]\nsimulation = { time_step = 0.0033333333333333335, integrator = 'bdf2' }\n\
                [[soft]]\nname = 'solid'\nmesh = 'solid.msh'\ndensity = 90\nyoungs_modulus = 1e6\npoisson_ratio = 0.3\n\
                position = [0, 0, 2]\nvelocity = [1, 0, 2]\nangular_velocity = [8, -15, 3]\n";
    folder.write("scene.toml", text);
    let scene = SoftScene::load(folder.path("scene.toml")).unwrap().unwrap();
    folder.write("seen.csv", &seen(&scene, 10, 100, 0.0, &mut Random(1)));
    // What the scene says of the start is not quite so.
    let near = text
        .replace("velocity = [1, 0, 2]", "velocity = [1.2, 0, 2.3]")
        .replace("[8, -15, 3]", "[9, -13, 3]");
    folder.write("scene.toml", &near);
    let text = "scene = 'scene.toml'\nseen = 'points'\ndata = ['seen.csv']\n[[parameter]]\nname = 'solid/viscosity'\n";
    let experiment = load(&folder, text);
    let held = MarkerExperiment { parameters: Vec::new(), iterations: 1, ..experiment };
    // As it starts by what the first frames tell.
    let start = fit(&held, 1).starts[0];
    let body = &scene.bodies[0];
    let of = |own: &[[f64; 3]]| body.mean(own);
    let [found, expected] =
        [start.place(&body.mesh.nodes), [body.position.clone(), body.velocity.clone()]]
            .map(|own| own.map(|own| of(&own)));
    println!("{found:?} {expected:?} {:?}", start.angular_velocity);
    for k in 0..3 {
        assert!((found[0][k] - expected[0][k]).abs() < 2e-3, "{found:?} {expected:?}");
        assert!((found[1][k] - expected[1][k]).abs() < 1e-2, "{found:?} {expected:?}");
    }
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
