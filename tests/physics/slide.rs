//! A box that slides to rest on level ground, without compliance.
//!
//! With a = mu g the map takes v to v - a dt as long as v > a dt, and then to 0. Of r = v0 / (a dt)
//! = N + f steps (N whole, 0 < f < 1) the first N slide, the last one stops the body where it is:
//! with v_k = v0 - k a dt the way is
//!
//! D = dt (v_1 + ... + v_N) = N v0 dt - a dt² N (N + 1) / 2,
//! dD/dmu = -g dt² N (N + 1) / 2.

use approx::assert_relative_eq;
use stiction::ad::{self, Dual, LANES, NodeRule, Real, with_node_rule};
use stiction::model::{Parameters, Scene};

use super::{G, final_state, history, scene, slot};
use crate::scenes::on_floor;

const SPEED: f64 = 1.0;
const MU: f64 = 0.23;

fn sliding_box(dt: f64) -> Scene {
    let mut scene = scene(&on_floor(
        "[simulation]
         time_step = 1
         compliance = 0
         [[body]]
         name = 'box'
         mass = 0.7
         shape = { box = [0.1, 0.08, 0.05] }
         position = [0, 0, 0.05]
         velocity = [0.8, 0.6, 0]
         [[contact]]
         mu = 0.23",
    ));
    scene.settings.time_step = dt;
    scene
}

/// N of the module's documentation; f stays away from 0 and 1, where the map has its kinks.
fn sliding_steps(dt: f64) -> f64 {
    let r = SPEED / (MU * G * dt);
    assert!((0.01..0.99).contains(&r.fract()), "{r}");
    r.floor()
}

/// The way made in `steps` steps, as a function of mu.
fn distance<T: Real>(scene: &Scene, mu: T, steps: usize) -> T {
    let mut parameters: Parameters<T> = scene.parameters.cast();
    parameters.values[slot(scene, "floor-box/mu")] = mu;
    let p = final_state(scene, &parameters, steps).position(0);
    p.x * 0.8 + p.y * 0.6
}

#[test]
fn stopping_distance_is_the_sum_of_the_map_and_so_is_its_derivative() {
    for dt in [0.03, 0.01, 0.003, 0.001] {
        let scene = sliding_box(dt);
        let n = sliding_steps(dt);
        let steps = n as usize + 5;
        let states = history(&scene, steps);
        let last = &states[steps];
        assert!(last.velocity(0).norm() < 1e-13 && last.angular_velocity(0).norm() < 1e-12);
        let way = last.position(0).x * 0.8 + last.position(0).y * 0.6;
        let triangle = 0.5 * n * (n + 1.0) * dt * dt;
        assert_relative_eq!(way, n * SPEED * dt - MU * G * triangle, max_relative = 1e-12);

        let (_, tape) = ad::gradient(|mu| distance(&scene, mu[0], steps), &[MU]).unwrap();
        let (_, duals) = ad::jacobian::<LANES>(|mu| vec![distance(&scene, mu[0], steps)], &[MU]);
        assert_relative_eq!(tape[0], -G * triangle, max_relative = 1e-12);
        assert_relative_eq!(duals[(0, 0)], -G * triangle, max_relative = 1e-12);
    }
}

// D = v0² / (2 a) - v0 dt / 2 + a dt² (f - f²) / 2: first order, and the last term is at most
// a dt² / 8.
#[test]
fn stopping_distance_converges_at_first_order() {
    let exact = SPEED * SPEED / (2.0 * MU * G);
    let mut errors = Vec::new();
    for dt in [0.04, 0.02, 0.01, 0.005, 0.0025] {
        let way = distance(&sliding_box(dt), MU, (SPEED / (MU * G * dt)) as usize + 5);
        let beyond = way - (exact - SPEED * dt / 2.0);
        assert!((-1e-12..=MU * G * dt * dt / 8.0 + 1e-12).contains(&beyond), "{dt}: {beyond}");
        errors.push(exact - way);
    }
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((order - 1.0).abs() < 0.05, "{errors:?}");
    }
}

// The code published with [LeLidec21] gives 0.99996, 0.474 and 0.0089 of it.
#[test]
fn speed_after_a_sliding_step_falls_by_g_dt_with_mu() {
    for dt in [0.01, 0.003, 0.001] {
        let scene = sliding_box(dt);
        fn speed<T: Real>(scene: &Scene, mu: T) -> T {
            let mut parameters: Parameters<T> = scene.parameters.cast();
            parameters.values[slot(scene, "floor-box/mu")] = mu;
            let v = final_state(scene, &parameters, 1).velocity(0);
            v.x * 0.8 + v.y * 0.6
        }
        let (_, tape) = ad::gradient(|mu| speed(&scene, mu[0]), &[MU]).unwrap();
        let [dual, residual] = [NodeRule::ByJvp, NodeRule::ByResidual].map(|rule| {
            let mu = Dual::<f64, LANES>::variable(MU, 0);
            with_node_rule(rule, || speed(&scene, mu))
        });
        for slope in [tape[0], dual.tangent[0], residual.tangent[0]] {
            assert_relative_eq!(slope, -G * dt, max_relative = 1e-10);
        }
    }
}
