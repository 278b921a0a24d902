//! A sphere that skids until it rolls.
//!
//! Friction acts at the contact point, so the angular momentum about a point of the ground,
//! v + 2/5 r w (over m r, w the spin in the sense of rolling), stays what it was, in every step of
//! the map as well. Rolling, v = r w, makes it 7/5 v: a sphere without spin ends at 5/7 of its
//! speed, after v0 = 7/2 mu g t.

use approx::assert_relative_eq;
use nalgebra::Vector3;
use stiction::model::Scene;
use stiction::state::State;

use super::{G, history, rotation, scene};
use crate::scenes::FLOOR;

const RADIUS: f64 = 0.11;
const MU: f64 = 0.2;
const DT: f64 = 0.002;

fn sphere(height: f64, speed: f64, spin: [f64; 3]) -> Scene {
    scene(&format!(
        "[simulation]
         time_step = {DT:?}
         compliance = 0
         {FLOOR}
         [[body]]
         name = 'ball'
         mass = 5
         shape = {{ sphere = {RADIUS:?} }}
         position = [0, 0, {:?}]
         velocity = [{speed:?}, 0, 0]
         angular_velocity = {spin:?}
         [[contact]]
         mu = {MU:?}",
        RADIUS + height,
    ))
}

/// Velocity of the lowest point, m/s.
fn slip(state: &State<f64>) -> f64 {
    let w = rotation(state, 0) * state.angular_velocity(0);
    let v = state.velocity(0) + w.cross(&Vector3::new(0.0, 0.0, -RADIUS));
    v.xy().norm()
}

#[test]
fn a_skidding_sphere_rolls_at_five_sevenths_of_its_speed() {
    let v0 = 2.0;
    let states = history(&sphere(0.0, v0, [0.0; 3]), 600);
    assert_relative_eq!(states[600].velocity(0).x, 5.0 / 7.0 * v0, max_relative = 1e-10);
    assert!(slip(&states[600]) < 1e-10);
    // When it starts to roll is resolved to the step.
    let first = states.iter().position(|state| slip(state) < 1e-9).unwrap();
    let time = 2.0 * v0 / (7.0 * MU * G);
    assert!((first as f64 * DT - time).abs() <= DT, "{} s, not {time} s", first as f64 * DT);
}

#[test]
fn dropped_with_any_spin_it_keeps_its_angular_momentum_about_the_ground() {
    let (v0, spin) = (2.0, [7.0, -12.0, 30.0]);
    let states = history(&sphere(0.1, v0, spin), 1500);
    let last = &states[1500];
    // Spin about y carries the ball along x, about -x along y; about the vertical nothing acts.
    let expected = [(v0 + 0.4 * RADIUS * spin[1]) / 1.4, (-0.4 * RADIUS * spin[0]) / 1.4];
    assert_relative_eq!(last.velocity(0).x, expected[0], max_relative = 1e-9);
    assert_relative_eq!(last.velocity(0).y, expected[1], max_relative = 1e-9);
    let w = rotation(last, 0) * last.angular_velocity(0);
    assert_relative_eq!(w.z, spin[2], max_relative = 1e-9);
    assert!(slip(last) < 1e-9);
}
