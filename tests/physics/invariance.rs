//! Physics does not depend on where a scene is, nor on how it is turned.

use nalgebra::{Quaternion, Unit, UnitQuaternion, Vector3};
use stiction::model::Scene;
use stiction::state::State;

use super::{history, rotation, scene};
use crate::random::Random;
use crate::scenes::on_floor;

/// The scene turned by `turn` about the origin of the world, and then shifted.
fn moved(scene: &Scene, turn: UnitQuaternion<f64>, shift: Vector3<f64>) -> Scene {
    let mut scene = scene.clone();
    let mut places = Vec::new();
    for plane in &mut scene.model.half_spaces {
        plane.normal = turn * plane.normal;
        let place = format!("{}/offset", plane.name);
        places.push((place, plane.normal.dot(&shift)));
    }
    for (place, further) in places {
        let slot = scene.model.parameter(&place).unwrap().slots[0];
        scene.parameters.values[slot] += further;
    }
    let gravity = turn * scene.parameters.gravity();
    scene.parameters.values[..3].copy_from_slice(gravity.as_slice());
    let position = turn * scene.state.position(0) + shift;
    let Quaternion { coords } = (turn * rotation(&scene.state, 0)).into_inner();
    let velocity = turn * scene.state.velocity(0);
    let State { q, v } = &mut scene.state;
    q[..3].copy_from_slice(position.as_slice());
    q[3..].copy_from_slice(&[coords.w, coords.x, coords.y, coords.z]);
    v[..3].copy_from_slice(velocity.as_slice());
    scene
}

/// Largest difference between the motion of `scene`, moved, and the motion of the moved scene.
fn difference(scene: &Scene, turn: UnitQuaternion<f64>, shift: Vector3<f64>, steps: usize) -> f64 {
    let other = history(&moved(scene, turn, shift), steps);
    let mut worst = 0.0_f64;
    for (a, b) in history(scene, steps).iter().zip(&other) {
        let errors = [
            (turn * a.position(0) + shift - b.position(0)).norm(),
            (turn * a.velocity(0) - b.velocity(0)).norm(),
            (a.angular_velocity(0) - b.angular_velocity(0)).norm(),
            (turn * rotation(a, 0)).angle_to(&rotation(b, 0)),
        ];
        worst = errors.into_iter().fold(worst, f64::max);
    }
    worst
}

/// A box that slides and spins on level ground.
fn spinning_slide() -> Scene {
    scene(&on_floor(
        "[simulation]
         time_step = 0.01
         [[body]]
         name = 'box'
         mass = 0.7
         shape = { box = [0.1, 0.08, 0.05] }
         position = [0, 0, 0.05]
         velocity = [1.2, 0.5, 0]
         angular_velocity = [0, 0, 3]
         [[contact]]
         mu = 0.3",
    ))
}

/// An uneven box that falls onto a slope, bounces, tumbles and slides.
fn tumble_down_a_slope() -> Scene {
    scene(
        "[simulation]
         time_step = 0.01
         [[half_space]]
         name = 'slope'
         normal = [0.3, -0.1, 1]
         offset = 0.2
         [[body]]
         name = 'box'
         mass = 0.7
         inertia = [2e-3, 3e-3, 4e-3, 1e-4, -3e-4, 5e-4]
         center_of_mass = [0.01, -0.02, 0.01]
         shape = { box = [0.1, 0.08, 0.05] }
         position = [0, 0, 0.5]
         orientation = [0.5, -0.5, 0.5, 0.5]
         velocity = [0.6, 0.3, 0]
         angular_velocity = [3, -2, 1]
         [[contact]]
         mu = 0.3
         restitution = 0.4",
    )
}

#[test]
fn a_slide_is_the_same_in_all_directions_and_places() {
    let scene = spinning_slide();
    let mut random = Random(7);
    for case in 0..20 {
        let turn = UnitQuaternion::from_scaled_axis(Vector3::z() * random.uniform(-3.2, 3.2));
        let [x, y] = random.vector(5.0);
        let shift = if case % 2 == 0 { Vector3::zeros() } else { Vector3::new(x, y, 0.0) };
        let worst = difference(&scene, turn, shift, 80);
        assert!(worst < 1e-9, "turned by {}, shifted by {shift}: {worst:e}", turn.angle());
    }
}

#[test]
fn a_tumble_is_the_same_with_up_in_any_direction() {
    let scene = tumble_down_a_slope();
    let mut random = Random(8);
    for _ in 0..20 {
        let axis = Unit::new_normalize(Vector3::from(random.vector::<3>(1.0)));
        let turn = UnitQuaternion::from_axis_angle(&axis, random.uniform(0.0, 3.1));
        let shift = Vector3::from(random.vector::<3>(2.0));
        let worst = difference(&scene, turn, shift, 150);
        assert!(worst < 1e-9, "turned by {turn}, shifted by {shift}: {worst:e}");
    }
}
