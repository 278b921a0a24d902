//! The scenes of `stiction bench --family`, over seconds: all is solved, and they do what they are named after.

use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use stiction::assemble::Description;
use stiction::formats::LoadOptions;
use stiction::model::Scene;
use stiction::simulation::Rollout;
use stiction::state::State;

use crate::folder::Folder;
use crate::program::succeeds;

/// The scene of a family as it is written for others.
fn written(family: &str, n: usize) -> Description {
    let folder = Folder::new(&format!("many-bodies-{family}{n}"));
    let sizes = n.to_string();
    succeeds(&folder.run(&["bench", "--family", family, "--sizes", &sizes, "--write", "."]));
    let file = folder.path(&format!("{family}{n}.xml"));
    Description::load(file, LoadOptions::default()).unwrap()
}

/// A motion, and what is asked of its steps.
fn under_way(scene: &Scene) -> Rollout<'_, f64> {
    Rollout::new(scene.system(), scene.state.clone())
}

#[track_caller]
fn is_well(rollout: &Rollout<f64>, name: &str) {
    let report = &rollout.report;
    assert_eq!(report.unsolved, 0, "{name}: {report:?}");
    assert!(report.plausibility.first.is_none(), "{name}: {:?}", report.plausibility);
}

fn furthest(state: &State<f64>, other: &State<f64>) -> f64 {
    state.q.iter().zip(&other.q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Of a free body: its position and its orientation.
fn pose(state: &State<f64>, body: usize) -> (Vector3<f64>, UnitQuaternion<f64>) {
    let q = &state.q[7 * body..7 * body + 7];
    let rotation = UnitQuaternion::from_quaternion(Quaternion::new(q[3], q[4], q[5], q[6]));
    (Vector3::new(q[0], q[1], q[2]), rotation)
}

#[test]
fn what_stands_stays() {
    for (family, n, bodies) in
        [("tower", 8, 8), ("wall", 4, 18), ("arch", 9, 9), ("cards", 3, 15), ("chain", 6, 6)]
    {
        let scene = written(family, n).scene().unwrap();
        assert_eq!(scene.warnings, []);
        assert_eq!(scene.model.bodies.len(), bodies, "{family}");
        let mut rollout = under_way(&scene);
        rollout.advance(400, &scene.inputs);
        is_well(&rollout, family);
        let moved = furthest(&rollout.state, &scene.state);
        assert!(moved < 1e-6, "{family}: {moved}");
    }
}

#[test]
fn what_falls_is_solved() {
    for (family, n) in [("heap", 8), ("hulls", 16)] {
        let scene = written(family, n).scene().unwrap();
        let mut rollout = under_way(&scene);
        rollout.advance(500, &scene.inputs);
        is_well(&rollout, family);
        assert!(furthest(&rollout.state, &scene.state) > 0.01, "{family}");
    }
}

/// Each falls after the one before it, and the last one lies flat.
#[test]
fn dominoes_fall_in_turn() {
    let scene = written("dominoes", 6).scene().unwrap();
    let mut rollout = under_way(&scene);
    let mut fell = Vec::new();
    for step in 0..400 {
        rollout.step(&scene.inputs);
        let tilt = |body| (pose(&rollout.state, body).1 * Vector3::z()).z.acos();
        while fell.len() < 6 && tilt(fell.len()) > 0.6 {
            fell.push(step);
        }
    }
    is_well(&rollout, "dominoes");
    assert!(fell.len() == 6 && fell.windows(2).all(|pair| pair[0] < pair[1]), "{fell:?}");
    let (place, turn) = pose(&rollout.state, 5);
    let lies = (turn * Vector3::x()).z.abs();
    assert!((lies - 1.0).abs() < 1e-6 && (place.z - 0.02).abs() < 1e-6, "{lies} {place}");
}

#[test]
fn a_hopper_empties() {
    let scene = written("hopper", 12).scene().unwrap();
    let mut rollout = under_way(&scene);
    rollout.advance(500, &scene.inputs);
    is_well(&rollout, "hopper");
    for body in 0..12 {
        let (place, _) = pose(&rollout.state, body);
        assert!((place.z - 0.025).abs() < 1e-5, "{body}: {place}");
    }
}

/// The last ball goes as high as the first came from, and those between hardly move.
#[test]
fn a_cradle_hands_its_motion_on() {
    let mut description = written("cradle", 6);
    // What MJCF cannot say.
    for shape in description.bodies.iter_mut().flat_map(|body| &mut body.colliders) {
        shape.material.as_mut().unwrap().restitution = 1.0;
    }
    let scene = description.scene().unwrap();
    let mut rollout = under_way(&scene);
    let mut highest = [0.0_f64; 6];
    for _ in 0..180 {
        rollout.step(&scene.inputs);
        for (most, q) in highest.iter_mut().zip(&rollout.state.q) {
            *most = most.max(q.abs());
        }
    }
    is_well(&rollout, "cradle");
    let drawn = 8_f64.to_radians();
    assert!((highest[5] / drawn - 1.0).abs() < 0.02, "{highest:?}");
    assert!(highest[1..5].iter().all(|most| *most < 0.05 * drawn), "{highest:?}");
}

/// The ends of rods that a knot holds together stay together, and the net lies on the ball.
#[test]
fn a_net_holds() {
    let description = written("net", 2);
    let scene = description.scene().unwrap();
    assert_eq!((scene.model.bodies.len(), description.equalities.len()), (12, 24 - 9));
    let mut rollout = under_way(&scene);
    rollout.advance(400, &scene.inputs);
    is_well(&rollout, "net");
    let place = |name: &Option<String>, anchor: [f64; 3]| {
        let bodies = &scene.model.bodies;
        let body = bodies.iter().position(|body| Some(&body.name) == name.as_ref()).unwrap();
        let (place, turn) = pose(&rollout.state, body);
        place + turn * Vector3::from(anchor)
    };
    let ball = Vector3::new(0.1, 0.1, 0.05);
    let mut lowest = f64::INFINITY;
    for knot in &description.equalities {
        let [a, b] = [0, 1].map(|k| place(&knot.bodies[k], knot.anchors[k]));
        assert!((a - b).norm() < 1e-12, "{}: {}", knot.name, (a - b).norm());
        assert!((a - ball).norm() > 0.054, "{}", (a - ball).norm());
        lowest = lowest.min(a.z);
    }
    assert!(lowest < 0.05, "{lowest}");
}

/// A tower that has settled drifts by less than a micrometre in 1,000 s of steps, in what a tenth of a minute is of that.
#[test]
fn a_tower_at_rest_does_not_drift() {
    const STEPS: usize = 2000;
    let scene = written("tower", 50).scene().unwrap();
    let mut rollout = under_way(&scene);
    rollout.advance(STEPS / 10, &scene.inputs);
    let settled = rollout.state.clone();
    rollout.advance(STEPS, &scene.inputs);
    is_well(&rollout, "tower");
    let seconds = STEPS as f64 * scene.settings.time_step;
    let drift = furthest(&rollout.state, &settled);
    assert!(drift < 1e-6 * seconds / 1000.0, "{drift} in {seconds} s");
}
