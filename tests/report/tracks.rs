//! Motions as they are played.

use stiction::model::Scene;
use stiction::simulation::Rollout;
use stiction::view::{Appearance, Drawing, Role, Track, TrackRecorder};

use crate::scenes::{on_floor, scene};

const BALLS: &str = "[simulation]\ntime_step = 0.001\n[[body]]\nname = \"low\"\nmass = 0.2\nshape = { sphere = 0.05 }\nposition = [0.3, 0, 0.05]\n\
    [[body]]\nname = \"high\"\nmass = 0.1\nshape = { sphere = 0.05 }\nposition = [0.3, 0, 0.3]\n\
    [[contact]]\nmu = 0.3\nrestitution = 0.5\n";

/// The motion of a scene over so many steps, and its end.
fn record(scene: &Scene, steps: usize) -> (Track, Vec<f64>) {
    let Scene { model, parameters, state, settings, inputs, .. } = scene;
    let drawing = Drawing::new(model, parameters, &Appearance::default());
    let span = [0.0, steps as f64 * settings.time_step];
    let name = ("simulation", Role::Simulation);
    let mut recorder = TrackRecorder::new(model, parameters, &drawing, name, span);
    let mut rollout = Rollout::new(scene.system(), state.clone());
    recorder.frame(0.0, state);
    for step in 1..=steps {
        rollout.step(inputs);
        recorder.contacts(rollout.workspace.contacts());
        recorder.frame(step as f64 * settings.time_step, &rollout.state);
    }
    (recorder.finish(), rollout.state.q)
}

#[test]
fn forces_at_rest_are_weights_at_the_ground() {
    let scene = scene(&on_floor(BALLS).replace("0, 0.3]", "0, 0.15]"));
    let (track, _) = record(&scene, 2000);
    assert_eq!(track.forces[0].len(), 0);
    let last = track.forces.last().unwrap();
    assert_eq!(last.len(), 2);
    for force in last {
        // 0.3 kg on the floor, 0.1 kg between the balls.
        let on_floor = force[2] < 0.02;
        let expected = 9.81 * if on_floor { 0.3 } else { 0.1 };
        assert!((force[5] - expected).abs() < 1e-3 * expected, "{force:?}");
        assert!(
            (force[0] - 0.3).abs() < 1e-4 && force[3].abs() + force[4].abs() < 1e-6,
            "{force:?}"
        );
        assert!((force[2] - if on_floor { 0.0 } else { 0.1 }).abs() < 1e-3, "{force:?}");
    }
}

#[test]
fn frames_that_are_left_out_keep_their_impulses() {
    let scene = scene(&on_floor(BALLS));
    let steps = 5000;
    let (track, end) = record(&scene, steps);
    // 100 a second of 1000.
    assert_eq!(track.times.len(), 501);
    assert_eq!(track.poses.len(), track.times.len());
    assert_eq!((track.times[0], *track.times.last().unwrap()), (0.0, 5.0));
    assert!(track.times.windows(2).all(|pair| pair[1] > pair[0]));
    // What the floor gives is what gravity takes; both rest in the end.
    let lifted: f64 = track
        .times
        .windows(2)
        .zip(&track.forces[1..])
        .map(|(pair, forces)| {
            let floor = forces.iter().filter(|force| force[2] < 0.02);
            floor.map(|force| force[5]).sum::<f64>() * (pair[1] - pair[0])
        })
        .sum();
    assert!((lifted / (0.3 * 9.81 * 5.0) - 1.0).abs() < 1e-3, "{lifted}");
    let last = track.poses.last().unwrap();
    for (found, expected) in [(&last[..3], &end[..3]), (&last[7..10], &end[7..10])] {
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() < 1e-5);
        }
    }
}

#[test]
fn short_motions_keep_every_frame_and_the_last() {
    let scene = scene(&on_floor(BALLS));
    assert_eq!(record(&scene, 250).0.times.len(), 251);
    // 300 of 301 or so: never fewer than the last.
    let track = record(&scene, 301).0;
    assert_eq!(track.times.last(), Some(&0.301));
}

#[test]
fn a_motion_ends_where_its_numbers_do() {
    let scene = scene(&on_floor(BALLS));
    let Scene { model, parameters, state, .. } = &scene;
    let drawing = Drawing::new(model, parameters, &Appearance::default());
    let name = ("simulation", Role::Simulation);
    let mut recorder = TrackRecorder::new(model, parameters, &drawing, name, [0.0, 1.0]);
    recorder.frame(0.0, state);
    recorder.frame(0.5, state);
    let mut lost = state.clone();
    lost.q[2] = f64::NAN;
    recorder.frame(0.6, &lost);
    recorder.frame(0.7, state);
    assert_eq!(recorder.finish().times, [0.0, 0.5]);
}

#[test]
fn poses_of_joints_are_those_in_the_world() {
    let text = "gravity = [0, 0, 0]\n[simulation]\ntime_step = 0.001\n[[body]]\nname = \"arm\"\nmass = 1\n\
        joint = { type = \"revolute\", axis = [0, 0, 1], v = 1.5707963267948966 }\nposition = [1, 0, 0]\n\
        shape = { box = [0.1, 0.1, 0.1] }\n[[body]]\nname = \"hand\"\nparent = \"arm\"\nmass = 1e-9\n\
        joint = { type = \"fixed\" }\nposition = [0.5, 0, 0]\ninertia = 1e-12\n";
    let scene = Scene::parse(text, "scene.toml").unwrap();
    let (track, _) = record(&scene, 1000);
    // A quarter of a turn in 1 s: the hand is beside the arm.
    let hand = &track.poses.last().unwrap()[7..14];
    let half = 0.5_f64.sqrt();
    for (found, expected) in hand.iter().zip([1.0, 0.5, 0.0, half, 0.0, 0.0, half]) {
        assert!((found - expected).abs() < 2e-4, "{hand:?}");
    }
}
