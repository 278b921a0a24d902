//! Motions of soft bodies as they are played.

use std::collections::BTreeMap;

use stiction::markers::MarkerRecording;
use stiction::soft::{SoftRollout, SoftScene};
use stiction::view::{Drawing, Role, SoftTrackRecorder, Track, recorded_markers};

const BALL: &str = include_str!("../../examples/soft_ball/scene.toml");
const GRAVITY: f64 = 9.81;

fn scene() -> SoftScene {
    SoftScene::parse(BALL, "scene.toml").unwrap().unwrap()
}

/// The motion over so many steps, and the velocity of the centre in the end.
fn record(scene: &SoftScene, steps: usize) -> (Drawing, Track, [f64; 3]) {
    let drawing = Drawing::of_soft_bodies(scene);
    let span = [0.0, steps as f64 * scene.time_step];
    let mut recorder = SoftTrackRecorder::new(scene, &drawing, span, 1);
    let mut rollout = SoftRollout::new(scene);
    recorder.frame(0.0, rollout.states());
    for step in 1..=steps {
        rollout.step();
        recorder.frame(step as f64 * scene.time_step, rollout.states());
    }
    let velocity = scene.bodies[0].mean(&rollout.states()[0].velocity);
    (drawing, recorder.finish(), velocity)
}

/// The volume that triangles enclose (divergence theorem).
fn volume(triangles: &[usize], vertices: &[f64]) -> f64 {
    let corner = |k: usize| nalgebra::Vector3::from_column_slice(&vertices[3 * k..3 * k + 3]);
    let parts = triangles.chunks(3).map(|t| corner(t[0]).dot(&corner(t[1]).cross(&corner(t[2]))));
    parts.sum::<f64>() / 6.0
}

#[test]
fn a_surface_is_closed_and_moves_as_the_body_does() {
    let scene = scene();
    let (drawing, track, _) = record(&scene, 200);
    let body = &scene.bodies[0];
    let triangles = &drawing.soft[0].triangles;
    let mut edges = BTreeMap::new();
    for t in triangles.chunks(3) {
        for (a, b) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
            *edges.entry((a, b)).or_insert(0) += 1;
        }
    }
    assert!(edges.iter().all(|(&(a, b), &n)| n == 1 && edges.get(&(b, a)) == Some(&1)));
    // At rest it encloses what the mesh fills, and weighs as much.
    let mass = body.parameters.density * volume(triangles, &track.surfaces[0][0]);
    assert!((mass / body.mass() - 1.0).abs() < 1e-3, "{mass}");
    assert_eq!(track.times.len(), track.surfaces.len());
    assert_eq!((track.times[0], *track.times.last().unwrap()), (0.0, 0.2));
    // Where the nodes of the surface are in the end, to 5 µm and a rounding.
    let mut rollout = SoftRollout::new(&scene);
    (0..200).for_each(|_| _ = rollout.step());
    let places = body.surface.iter().flat_map(|&node| rollout.states()[0].position[node]);
    let last = &track.surfaces.last().unwrap()[0];
    assert_eq!(last.len(), 3 * body.surface.len());
    assert!(last.iter().zip(places).all(|(a, b)| (a - b).abs() < 5.001e-6));
    assert!((drawing.size - 0.025).abs() < 1e-3, "{}", drawing.size);
}

#[test]
fn forces_of_all_frames_are_what_changes_the_momentum() {
    let scene = scene();
    let steps = 301;
    let (_, track, end) = record(&scene, steps);
    let body = &scene.bodies[0];
    let (mass, start) = (body.mass(), body.mean(&body.velocity));
    let mut impulse = [0.0; 3];
    for (times, forces) in track.times.windows(2).zip(&track.forces[1..]) {
        for force in forces {
            (0..3).for_each(|k| impulse[k] += (times[1] - times[0]) * force[3 + k]);
            // At the floor.
            assert!(force[2].abs() < 1e-3, "{force:?}");
        }
    }
    let weight = [0.0, 0.0, mass * GRAVITY * steps as f64 * scene.time_step];
    for k in 0..3 {
        let expected = mass * (end[k] - start[k]) + weight[k];
        assert!((impulse[k] - expected).abs() < 1e-3 * weight[2], "{k}: {impulse:?} {expected}");
    }
    assert!(impulse[2] > 0.1 * weight[2]);
}

#[test]
fn of_large_meshes_fewer_frames_are_kept() {
    let fine = BALL.replace("resolution = 0.009", "resolution = 0.004");
    let scene = SoftScene::parse(&fine, "scene.toml").unwrap().unwrap();
    let drawing = Drawing::of_soft_bodies(&scene);
    let rollout = SoftRollout::new(&scene);
    let mut recorder = SoftTrackRecorder::new(&scene, &drawing, [0.0, 40.0], 1);
    (0..=4000).for_each(|k| recorder.frame(0.01 * f64::from(k), rollout.states()));
    let track = recorder.finish();
    let numbers: usize = track.surfaces.iter().flatten().map(Vec::len).sum();
    let vertices = scene.bodies[0].surface.len();
    // 3,000 frames would be more.
    assert!(3000 * 3 * vertices > 2_100_000, "{vertices}");
    assert!((500_000..1_100_000).contains(&numbers), "{numbers}");
    assert_eq!(*track.times.last().unwrap(), 40.0);
}

#[test]
fn markers_are_played_where_they_were_seen_and_between() {
    let scene = scene();
    let (drawing, track, _) = record(&scene, 50);
    assert_eq!(drawing.bodies, ["ball/top"]);
    // In the simulation it is a vertex of the surface.
    let node = scene.bodies[0].markers[0].node;
    let vertex = scene.bodies[0].surface.iter().position(|&own| own == node).unwrap();
    for (pose, surfaces) in track.poses.iter().zip(&track.surfaces) {
        assert_eq!(pose[..3], surfaces[0][3 * vertex..3 * vertex + 3]);
    }
    let columns = std::collections::HashMap::new();
    let text = "t,ball/top/px,ball/top/py,ball/top/pz\n\
                1,,,\n2,0.1,0,0.5\n2.5,,,\n4,0.3,0,0.1\n5,,,\n";
    let body = &scene.bodies[0];
    let recording = MarkerRecording::parse(text, "seen.csv", body, &columns).unwrap();
    let seen = recorded_markers(&scene, &drawing, &recording);
    assert_eq!((seen.role, &seen.times[..]), (Role::Recording, &[0.0, 1.0, 1.5, 3.0, 4.0][..]));
    let expected = [[0.1, 0.5], [0.1, 0.5], [0.15, 0.4], [0.3, 0.1], [0.3, 0.1]];
    for (pose, [x, z]) in seen.poses.iter().zip(expected) {
        assert!((pose[0] - x).abs() < 1e-5 && (pose[2] - z).abs() < 1e-5, "{pose:?}");
        assert_eq!(pose[3..], [1.0, 0.0, 0.0, 0.0]);
    }
}

/// Cables go through the places of their nodes, and points that do not move.
#[test]
fn cables_are_drawn_through_their_points() {
    let text = format!(
        "{BALL}\n[[cable]]\nname = 'line'\npoints = [{{ world = [0, 0, 0.5] }}, {{ marker = 'top' }}]\nstiffness = 10\n"
    );
    let scene = SoftScene::parse(&text, "scene.toml").unwrap().unwrap();
    let (_, track, _) = record(&scene, 50);
    let top = scene.bodies[0].markers.iter().position(|marker| marker.name == "top").unwrap();
    assert_eq!(track.cables.len(), track.times.len());
    for (lines, poses) in track.cables.iter().zip(&track.poses) {
        assert_eq!(lines[0][..3], [0.0, 0.0, 0.5]);
        assert_eq!(lines[0][3..], poses[7 * top..7 * top + 3]);
    }
    let (_, without, _) = record(&self::scene(), 5);
    assert!(without.cables.is_empty());
}

/// Shapes that move are bodies of the page, after the markers, in the motion and beside recorded markers.
#[test]
fn shapes_that_move_go_as_they_are_told() {
    let text = include_str!("../../examples/soft_gripper/scene.toml");
    let scene = SoftScene::parse(text, "scene.toml").unwrap().unwrap();
    let (drawing, track, _) = record(&scene, 100);
    assert_eq!(drawing.bodies, ["left", "right"]);
    let of = |name: &str| drawing.shapes.iter().find(|shape| shape.name == name).unwrap().body;
    assert_eq!([of("left"), of("right")], [Some(0), Some(1)]);
    // At 0.4 s both have closed and are lifted halfway.
    let last = track.poses.last().unwrap();
    let expected = [-0.0365, 0.0, 0.085, 0.0365, 0.0, 0.085];
    let places = [&last[..3], &last[7..10]].concat();
    assert!(places.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5), "{places:?}");
    let times = vec![5.0, 5.4];
    let recording = MarkerRecording { times, ..MarkerRecording::default() };
    let seen = recorded_markers(&scene, &drawing, &recording);
    assert_eq!(seen.poses.last().unwrap()[..3], last[..3]);
}

/// Rigid bodies stand before the markers of soft ones, and go with their state; what they stand on is drawn once.
#[test]
fn rigid_bodies_are_drawn_beside_soft_ones() {
    let text = include_str!("../../examples/soft_push/scene.toml");
    let text = text.replace("[[soft]]", "[[soft]]\nmarkers = { top = [0, 0, 0.02] }");
    let scene = SoftScene::parse(&text, "scene.toml").unwrap().unwrap();
    let drawing = Drawing::of_soft_bodies(&scene);
    assert_eq!(drawing.bodies, ["box", "arm", "block/top"]);
    assert_eq!((drawing.grounds.len(), drawing.soft.len()), (1, 1));
    let of = |name: &str| drawing.shapes.iter().find(|shape| shape.name == name).unwrap().body;
    assert_eq!([of("box"), of("arm"), of("block/top")], [Some(0), Some(1), Some(2)]);
    let mut recorder = SoftTrackRecorder::new(&scene, &drawing, [0.0, 0.12], 1);
    let mut rollout = SoftRollout::new(&scene);
    let mut pressed = 0;
    for step in 0..=30 {
        if step > 0 {
            rollout.step();
        }
        recorder.beside(rollout.rigid_state().unwrap(), rollout.rigid_contacts());
        recorder.frame(step as f64 * scene.time_step, rollout.states());
        pressed = rollout.rigid_contacts().count();
    }
    assert!(pressed > 0, "the box stands on the floor");
    let track = recorder.finish();
    let (last, forces) = (track.poses.last().unwrap(), track.forces.last().unwrap());
    assert_eq!(last.len(), 21);
    let q = &rollout.rigid_state().unwrap().q;
    assert!((0..7).all(|k| (last[k] - q[k]).abs() < 1e-4), "{last:?} {q:?}");
    let top = rollout.states()[0].position[scene.bodies[0].markers[0].node];
    assert!((0..3).all(|k| (last[14 + k] - top[k]).abs() < 1e-5));
    // Of the box on the floor, and of the block on the box.
    let low = |height: f64| forces.iter().filter(|f| (f[2] - height).abs() < 2e-3).count();
    assert!(low(0.0) > 0 && low(0.04) > 0, "{forces:?}");
    let none = MarkerRecording { times: vec![0.0], ..MarkerRecording::default() };
    assert_eq!(recorded_markers(&scene, &drawing, &none).poses[0].len(), 21);
}
