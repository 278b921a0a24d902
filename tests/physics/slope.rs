//! A box on an inclined plane, with the default settings: it stays below the angle of friction and
//! slides above it.

use approx::assert_relative_eq;
use stiction::model::Scene;

use super::{G, history, scene};

const MU: f64 = 0.5;

/// A box laid on a plane inclined by `angle` about the y axis, downhill along +x.
fn box_on_slope(angle: f64) -> Scene {
    let (sin, cos) = angle.sin_cos();
    let (half_sin, half_cos) = (0.5 * angle).sin_cos();
    let half = 0.05;
    scene(&format!(
        "[simulation]
         time_step = 0.01
         [[half_space]]
         name = 'slope'
         normal = [{sin:?}, 0, {cos:?}]
         [[body]]
         name = 'box'
         mass = 1.3
         shape = {{ box = [0.1, 0.08, {half}] }}
         position = [{:?}, 0, {:?}]
         orientation = [{half_cos:?}, 0, {half_sin:?}, 0]
         [[contact]]
         mu = {MU}",
        half * sin,
        half * cos,
    ))
}

#[test]
fn rests_below_the_angle_of_friction() {
    for fraction in [0.5, 0.9, 0.99] {
        let states = history(&box_on_slope(fraction * MU.atan()), 1000);
        let (first, last) = (&states[0], &states[1000]);
        let speed = last.velocity(0).norm();
        assert!(speed < 1e-9, "{fraction} of the angle: {speed} m/s");
        assert!(last.angular_velocity(0).norm() < 1e-8, "{fraction} of the angle");
        // No creep either: the compliance acts along the normal only.
        let way = (last.position(0) - first.position(0)).norm();
        assert!(way < 1e-6, "{fraction} of the angle: moved {way} m");
    }
}

#[test]
fn slides_above_the_angle_of_friction() {
    let angle = 1.01 * MU.atan();
    let states = history(&box_on_slope(angle), 100);
    let downhill = nalgebra::vector![angle.cos(), 0.0, -angle.sin()];
    let acceleration = G * (angle.sin() - MU * angle.cos());
    assert_relative_eq!(states[100].velocity(0).dot(&downhill), acceleration, max_relative = 1e-6);
}
