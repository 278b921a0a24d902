//! Restitution.
//!
//! A body falls from rest at height h. In the step of the impact it is at height p, at the speed a
//! of the step's start, and leaves at e a; p <= (a + g dt) dt, since the free motion closes the gap.
//! Summing the fall and the rise of semi-implicit Euler, the apex is
//!
//! e² h + (1 - e²) p + (e - e²) a dt / 2 + g dt² (f - f²) / 2,   0 <= f < 1.
//!
//! All three terms beyond e² h are of first order in dt, and none is negative.

use approx::assert_relative_eq;
use stiction::model::Scene;

use super::{G, history, scene};
use crate::scenes::FLOOR;

const SHAPES: [&str; 2] = ["{ sphere = 0.05 }", "{ box = [0.07, 0.06, 0.05] }"];

/// A body of half height 0.05 m whose lowest point is at `height`.
fn dropped(shape: &str, restitution: f64, height: f64, dt: f64) -> Scene {
    scene(&format!(
        "[simulation]
         time_step = {dt:?}
         compliance = 0
         {FLOOR}
         [[body]]
         name = 'body'
         mass = 0.3
         shape = {shape}
         position = [0, 0, {:?}]
         [[contact]]
         mu = 0.4
         restitution = {restitution:?}",
        0.05 + height,
    ))
}

#[test]
fn rebounds_to_e_squared_of_the_height() {
    let height = 0.8;
    let a = (2.0 * G * height).sqrt();
    for shape in SHAPES {
        for e in [0.2, 0.5, 0.8, 1.0] {
            for dt in [0.01, 0.003, 0.001, 0.0003] {
                // Until well into the rise: the fall takes 0.404 s.
                let steps = (0.41 * (1.0 + e) / dt) as usize;
                let states = history(&dropped(shape, e, height, dt), steps);
                let up = states.iter().position(|s| s.velocity(0).z > 0.0).unwrap();
                let apex = states[up..].iter().map(|s| s.position(0).z - 0.05).fold(0.0, f64::max);
                let beyond = apex - e * e * height;
                let rest = (1.0 - e * e) * (a + G * dt) * dt
                    + (e - e * e) * a * dt / 2.0
                    + G * dt * dt / 8.0;
                assert!(
                    (-1e-12..=rest + 1e-12).contains(&beyond),
                    "{shape}, e = {e}, dt = {dt}: {beyond} over, at most {rest}"
                );
                assert!(states[up].angular_velocity(0).norm() < 1e-10);
            }
        }
    }
}

#[test]
fn rebound_speed_is_e_times_the_approach_also_from_a_penetration() {
    for shape in SHAPES {
        for e in [0.1, 0.5, 1.0] {
            for depth in [0.0, 1e-4, 4e-3] {
                let mut scene = dropped(shape, e, -depth, 0.01);
                scene.state.v[2] = -2.0;
                let states = history(&scene, 1);
                assert_relative_eq!(states[1].velocity(0).z, 2.0 * e, max_relative = 1e-12);
            }
        }
    }
}

// A body that lies still does not hop, whatever the restitution and the step.
#[test]
fn a_resting_body_does_not_rebound() {
    for shape in SHAPES {
        for dt in [0.05, 0.01, 0.001] {
            let states = history(&dropped(shape, 0.9, 0.0, dt), 50);
            let highest = states.iter().map(|s| s.position(0).z - 0.05).fold(0.0, f64::max);
            assert!(highest < 1e-12, "{shape}, dt = {dt}: {highest}");
        }
    }
}

#[test]
fn an_end_thrown_down_by_an_impact_at_the_other_stays_above_the_floor() {
    // The centre of mass is near the end that hits, and there is hardly any inertia: the impact
    // throws the other end much faster than anything moved before.
    for (restitution, tilt) in [(0.0, 0.05_f64), (1.0, 0.01), (1.0, 0.05)] {
        let (sin, cos) = (0.5 * tilt).sin_cos();
        let scene = scene(&format!(
            "[simulation]
             time_step = 0.01
             {FLOOR}
             [[body]]
             name = 'plank'
             mass = 1
             inertia = 1e-4
             center_of_mass = [0.45, 0, 0]
             shape = {{ box = [0.5, 0.05, 0.01] }}
             position = [0, 0, 0.05]
             orientation = [{cos:?}, 0, {sin:?}, 0]
             velocity = [0, 0, -1]
             [[contact]]
             mu = 0.3
             restitution = {restitution:?}"
        ));
        let half = scene.parameters.size(&scene.model, 0);
        for state in history(&scene, 30) {
            let rotation = stiction::spatial::rotation_matrix(state.orientation(0));
            for corner in 0..8 {
                let side = |k: usize| if corner >> k & 1 == 1 { half[k] } else { -half[k] };
                let corner = nalgebra::Vector3::new(side(0), side(1), side(2));
                let height = (state.position(0) + rotation * corner).z;
                // Turning by dt w takes a corner off its straight way by (dt w)^2 / 2 of its arm.
                let turn = 0.01 * state.angular_velocity(0).norm();
                assert!(height > -0.5 * turn * turn - 1e-3, "{restitution} {tilt}: {height}");
            }
        }
    }
}
