//! The scenes that staggered projections leave up to half of the force undetermined in: all solved to
//! 1e-9, and checked against the balance of momentum, which no solver knows of.

use approx::assert_relative_eq;
use stiction::model::Scene;

use super::{G, impulses, on_floor, rollout, stack};

const DT: f64 = 0.01;

/// Runs a scene and asserts that every problem of every step is solved to 1e-9, in every part of the law.
/// `load` gives the force on each body in a step.
fn solved(name: &str, scene: &Scene, steps: usize, load: impl Fn(usize, &mut [f64])) {
    let mut rollout = rollout(scene);
    let mut touched = 0;
    for step in 0..steps {
        let mut inputs = scene.inputs.clone();
        load(step, &mut inputs);
        let report = rollout.step(&inputs);
        assert!(report.worst.status.is_solved(), "{name}, step {step}: {report:?}");
        let r = report.residuals;
        let worst = report.worst.residual.max(r.complementarity).max(r.cone).max(r.dissipation);
        assert!(worst <= 1e-9, "{name}, step {step}: {report:?}");
        touched += usize::from(rollout.workspace.modes().next().is_some());
    }
    assert!(touched > 5, "{name}: only {touched} steps of {steps} with contact");
}

/// A cube on level ground under gravity `g`.
pub fn cube(g: [f64; 3], mu: f64, restitution: f64, start: &str) -> Scene {
    let mut scene = on_floor(
        &format!("time_step = {DT:?}"),
        &format!(
            "[[body]]
             name = 'cube'
             mass = 1
             shape = {{ box = [0.05, 0.05, 0.05] }}
             {start}
             [[contact]]
             mu = {mu:?}
             restitution = {restitution:?}"
        ),
    );
    scene.parameters.values[..3].copy_from_slice(&g);
    scene
}

#[test]
fn a_cube_slides_sticks_and_bounces() {
    let down = [0.0, 0.0, -G];
    let (sin, cos) = 0.35_f64.sin_cos();
    let slope = [G * sin, 0.0, -G * cos];
    let flat = "position = [0, 0, 0.05]";
    let spin = "position = [0, 0, 0.05]\nvelocity = [1, 0.3, 0]\nangular_velocity = [0, 0, 5]";
    solved("slide with spin", &cube(down, 0.3, 0.0, spin), 100, |_, _| {});
    solved("sticks on a slope", &cube(slope, 0.5, 0.0, flat), 100, |_, _| {});
    solved("slips on a slope", &cube(slope, 0.2, 0.0, flat), 100, |_, _| {});
    for (k, e) in [0.0, 0.4, 0.8].into_iter().enumerate() {
        let tilt = 0.1 + 0.3 * k as f64;
        let start = format!(
            "position = [0, 0, 0.12]
             orientation = [{:?}, {:?}, 0, 0]
             velocity = [1.5, -0.7, -2]
             angular_velocity = [3, -5, 2]",
            (0.5 * tilt).cos(),
            (0.5 * tilt).sin()
        );
        solved("oblique impact", &cube(down, 0.4, e, &start), 120, |_, _| {});
    }
}

#[test]
fn stacks_stand_are_pushed_and_shaken() {
    let ten = stack(&[1.0; 10], 0.5, DT);
    solved("stack of ten", &ten, 60, |_, _| {});
    // 0.3 of its own weight on the fifth: everything sticks. 3 of its weights: it is driven out.
    solved("pushed", &ten, 40, |_, w| w[6 * 4] = 0.3 * G);
    solved("pushed hard", &ten, 40, |_, w| w[6 * 4] = 3.0 * G);
    let shake = |step: usize, w: &mut [f64]| {
        let phase = 0.7 * step as f64;
        for body in w.chunks_exact_mut(6) {
            body[0] = 0.4 * G * phase.sin();
            body[1] = 0.3 * G * (1.3 * phase).cos();
        }
    };
    solved("shaken", &ten, 60, shake);
    let mut light_below = [1.0; 10];
    light_below[0] = 0.01;
    solved("100 times lighter below", &stack(&light_below, 0.5, DT), 60, |_, _| {});
    solved("100 times lighter, shaken", &stack(&light_below, 0.5, DT), 60, shake);
}

// Each interface carries the weight of what is above it, and no more.
#[test]
fn every_interface_carries_what_is_above_it() {
    let masses = [0.5, 1.0, 0.5, 2.0, 1.0, 3.0, 0.1, 1.0, 1.5, 1.0];
    let scene = stack(&masses, 0.5, DT);
    let mut rollout = rollout(&scene);
    for step in 0..5 {
        rollout.step(&scene.inputs);
        for k in 0..masses.len() {
            let pair = match k {
                0 => "floor-cube0".to_string(),
                k => format!("cube{}-cube{k}", k - 1),
            };
            let [normal, across, along] = impulses(&rollout, &scene, &pair);
            let weight: f64 = masses[k..].iter().sum::<f64>() * G * DT;
            // They sink into their compliance, a millionth, in the first step, and stop in the second.
            let off = if step < 2 { 5e-4 } else { 1e-6 };
            assert_relative_eq!(normal, weight, max_relative = off);
            assert!(across.abs().max(along.abs()) < 1e-9 * weight, "{pair}: {across} {along}");
        }
    }
}

// Pushed by less than friction holds, the stack passes the push on to the floor.
#[test]
fn a_push_goes_down_to_the_floor() {
    let scene = stack(&[1.0; 6], 0.5, DT);
    let mut rollout = rollout(&scene);
    let mut inputs = scene.inputs.clone();
    inputs[6 * 3] = 2.0;
    for _ in 0..10 {
        rollout.step(&inputs);
    }
    for k in 0..6 {
        let pair = if k == 0 { "floor-cube0".into() } else { format!("cube{}-cube{k}", k - 1) };
        let [_, push, _] = impulses(&rollout, &scene, &pair);
        let expected = if k <= 3 { -2.0 * DT } else { 0.0 };
        assert!((push - expected).abs() < 1e-6, "{pair}: {push} of {expected}");
    }
}
