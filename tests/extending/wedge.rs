//! A shape that was added: the wedge.

use std::sync::Arc;

use approx::assert_relative_eq;
use nalgebra::{Matrix3, Vector3};
use stiction::assemble::Description;
use stiction::model::{Polyhedron, Scene, Shape};

use super::{after, check_gradients};
use crate::scenes::scene;

/// Half extents, m.
const SIZE: [f64; 3] = [0.4, 0.2, 0.3];

fn angle() -> f64 {
    (SIZE[2] / SIZE[0]).atan()
}

/// A box on the middle of a ramp, which stands on the ground, turned about the vertical.
fn box_on_ramp(mu: f64, ramp: &str) -> Scene {
    let half = 0.02;
    // Normal of the slope, up and towards -x.
    let (sin, cos) = angle().sin_cos();
    let (half_sin, half_cos) = (-0.5 * angle()).sin_cos();
    let [hx, hy, hz] = SIZE;
    scene(&format!(
        "[simulation]
         time_step = 0.005
         [[half_space]]
         name = 'floor'
         normal = [0, 0, 1]
         {ramp}
         wedge = [{hx}, {hy}, {hz}]
         [[body]]
         name = 'box'
         mass = 0.6
         shape = {{ box = [0.05, 0.04, {half}] }}
         position = [{:?}, 0.01, {:?}]
         orientation = [{half_cos:?}, 0, {half_sin:?}, 0]
         [[contact]]
         mu = 0.9
         [[contact]]
         pair = 'ramp-box'
         mu = {mu:?}",
        -half * sin,
        hz + half * cos,
    ))
}

const FIXED: &str = "[[shape]]\nname = 'ramp'\nposition = [0, 0, 0.3]";
const LOOSE: &str = "[[body]]\nname = 'ramp'\nmass = 2\nposition = [0, 0, 0.3]\n[body.shape]";

#[test]
fn volume_centre_and_inertia_are_those_of_half_a_box() {
    let [a, b, c] = SIZE;
    let solid = Shape::Wedge.uniform_solid(SIZE);
    assert_relative_eq!(solid.volume, 4.0 * a * b * c, max_relative = 1e-14);
    assert_relative_eq!(
        solid.center_of_mass,
        Vector3::new(a / 3.0, 0.0, -c / 3.0),
        max_relative = 1e-14
    );
    // Of a right triangle with legs 2a and 2c about its centroid: ∫x² = (2a)²/18, ∫xz = (2a)(2c)/36 where it rises
    // along x; across it ∫y² = b²/3; of each unit of volume.
    let [xx, yy, zz, xz] = [2.0 * a * a / 9.0, b * b / 3.0, 2.0 * c * c / 9.0, a * c / 9.0];
    let expected = Matrix3::new(yy + zz, 0.0, -xz, 0.0, xx + zz, 0.0, -xz, 0.0, xx + yy);
    assert_relative_eq!(solid.inertia, expected, epsilon = 1e-16, max_relative = 1e-13);
    // A hull of the same points has the same numbers.
    let scale = Vector3::from(SIZE);
    let points = Polyhedron::wedge().vertices().iter().map(|v| v.component_mul(&scale));
    let hull = Polyhedron::hull(&points.collect::<Vec<_>>()).unwrap();
    assert_eq!((hull.faces().len(), hull.edges().len(), hull.vertices().len()), (5, 9, 6));
    let other = Shape::Convex(Arc::new(hull)).uniform_solid([1.0; 3]);
    assert_relative_eq!(solid.inertia, other.inertia, epsilon = 1e-16, max_relative = 1e-13);
}

#[test]
fn a_box_stays_on_a_ramp_below_the_angle_of_friction_and_slides_above() {
    let slope = angle().tan();
    let start = box_on_ramp(1.01 * slope, FIXED);
    let rest = after(&start, 200);
    let moved = rest.position(0) - start.state.position(0);
    assert!(moved.norm() < 1e-6 && rest.velocity(0).norm() < 1e-9, "{moved} {rest:?}");

    let mu = 0.6 * slope;
    let steps = 40;
    let slid = after(&box_on_ramp(mu, FIXED), steps);
    let (sin, cos) = angle().sin_cos();
    let speed = 9.81 * (sin - mu * cos) * steps as f64 * 0.005;
    let downhill = Vector3::new(-cos, 0.0, -sin);
    assert_relative_eq!(slid.velocity(0).dot(&downhill), speed, max_relative = 1e-6);
}

#[test]
fn steps_of_a_box_on_a_ramp_have_their_derivatives() {
    for (mu, steps) in [(0.9, 10), (0.3, 10), (0.3, 60)] {
        check_gradients(&box_on_ramp(mu, FIXED), steps);
        check_gradients(&box_on_ramp(mu, LOOSE), steps);
    }
}

#[test]
fn a_ramp_is_written_as_it_was_read() {
    let before = box_on_ramp(0.5, LOOSE);
    let text = Description::of(&before, &before.parameters, "ramp").to_toml("");
    assert!(text.contains("wedge = [0.4, 0.2, 0.3]"), "{text}");
    let after = scene(&text);
    assert_eq!((&before.model, &before.parameters), (&after.model, &after.parameters));
    assert_eq!(after.model.colliders[0].shape, Shape::Wedge);
    for name in ["ramp/half_extents/x", "ramp/half_extents/z", "ramp/half_extents"] {
        assert!(after.model.parameter(name).is_some(), "{name}");
    }
    let wrong = "[simulation]\ntime_step = 0.01\n[[shape]]\nname = 'ramp'\nwedge = [1, 2]";
    let message = Scene::parse(wrong, "a.toml").unwrap_err().to_string();
    assert!(message.starts_with("a.toml:5: shape.ramp.wedge"), "{message}");
}
