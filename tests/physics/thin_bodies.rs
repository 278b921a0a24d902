//! Bodies a hundred to a thousand times as long as they are thick: they land, roll by many radians in a step,
//! and come to rest on the floor, not in it, without energy from nowhere.

use nalgebra::{UnitQuaternion, Vector3};
use stiction::simulation::Rollout;

use super::{G, Solid, rotation, scene};
use crate::cases;
use crate::random::Random;
use crate::scenes::FLOOR;

#[test]
fn needles_land_on_the_floor_and_gain_no_energy() {
    let mut random = Random(17);
    let mut fastest = 0.0_f64;
    for case in 0..cases::count(200, 0.1) {
        let half = [0.1, 0.2, 0.5][random.below(3)];
        let radius = half / [50.0, 100.0, 400.0, 1000.0][random.below(4)];
        let shape = match random.below(3) {
            0 => format!("capsule = [{radius:?}, {half:?}]"),
            1 => format!("cylinder = [{radius:?}, {half:?}]"),
            _ => format!("box = [{radius:?}, {radius:?}, {half:?}]"),
        };
        let time_step = [0.001, 0.005, 0.01][random.below(3)];
        // What pushes out of penetrations brings energy in.
        let baumgarte = if case % 2 == 0 { 0.0 } else { 0.2 };
        let turn = UnitQuaternion::from_scaled_axis(Vector3::from(random.vector::<3>(3.0)));
        let scene = scene(&format!(
            "[simulation]
             time_step = {time_step:?}
             baumgarte = {baumgarte:?}
             {FLOOR}
             [[body]]
             name = 'needle'
             mass = 0.1
             shape = {{ {shape} }}
             position = [0, 0, {:?}]
             orientation = [{:?}, {:?}, {:?}, {:?}]
             velocity = [{:?}, 0, 0]
             angular_velocity = {:?}
             [[contact]]
             mu = 0.5",
            half + 0.1,
            turn.w,
            turn.i,
            turn.j,
            turn.k,
            random.uniform(-2.0, 2.0),
            random.vector::<3>(10.0),
        ));
        let solid = Solid::of(&scene);
        let mut rollout = Rollout::new(scene.system(), scene.state.clone());
        let (mut last, mut arc) = (f64::INFINITY, 0.0_f64);
        for step in 0..(0.8 / time_step) as usize {
            let report = rollout.step(&scene.inputs);
            assert_eq!(report.unsolved, 0, "case {case}, step {step}: {report:?}");
            let state = &rollout.state;
            let w = state.angular_velocity(0);
            fastest = fastest.max(w.z.abs() * time_step);
            let height = solid.center(state).z;
            let energy = solid.kinetic_energy(state) + solid.mass * G * height;
            let gained = energy - last;
            assert!(
                baumgarte > 0.0 || gained <= 1e-9,
                "case {case} ({shape}), step {step}: {gained} J"
            );
            last = energy;
            // An end goes straight on where the body turns about the other: by half the square of the angle of a
            // step, of which a fifth is made up for in each.
            arc = arc.max(half * (w.xy().norm() * time_step).powi(2));
            let axis = rotation(state, 0) * Vector3::z();
            let lowest = height - half * axis.z.abs() - radius;
            let least = -5.0 * arc - 1e-3 * half;
            assert!(
                baumgarte == 0.0 || lowest > least,
                "case {case} ({shape}), step {step}: {lowest} m, not {least}"
            );
        }
    }
    assert!(fastest > 5.0, "{fastest} rad a step");
}

/// A body that turns by hundreds of radians in a step keeps its energy; by thousands it is not followed, and that is said.
#[test]
fn what_turns_too_far_in_a_step_is_said() {
    for (turn, solved) in [(900.0, true), (1100.0, false), (1e13, false)] {
        let speed: f64 = turn / 0.01;
        let scene = scene(&format!(
            "[simulation]
             time_step = 0.01
             [[body]]
             name = 'top'
             mass = 1
             inertia = [0.001, 0.002, 0.0025]
             position = [0, 0, 1]
             angular_velocity = [0, {:?}, {:?}]",
            0.01 * speed,
            speed
        ));
        let mut rollout = Rollout::new(scene.system(), scene.state.clone());
        let report = rollout.step(&scene.inputs);
        assert_eq!(report.unsolved == 0, solved, "{turn}: {:?}", report.worst);
        let energy = |w: &[f64]| 0.001 * w[0] * w[0] + 0.002 * w[1] * w[1] + 0.0025 * w[2] * w[2];
        let (before, after) = (energy(&scene.state.v[3..6]), energy(&rollout.state.v[3..6]));
        assert!((after / before - 1.0).abs() < 1e-9, "{turn}: {before} {after}");
    }
}
