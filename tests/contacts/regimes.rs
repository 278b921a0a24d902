//! Friction in two regimes.

use stiction::contact::Regime;
use stiction::model::Scene;
use stiction::simulation::StepMemory;
use stiction::verify::{Gradcheck, StepProgram};

use super::{G, on_floor, rollout};

const DT: f64 = 0.01;
const KINETIC: f64 = 0.2;
const STATIC: f64 = 0.5;

/// A box on a slope of tangent `slope` that starts at `speed` down the slope.
fn on_slope(slope: f64, speed: f64) -> Scene {
    let mut scene = on_floor(
        &format!("time_step = {DT:?}"),
        &format!(
            "[[body]]
             name = 'box'
             mass = 2
             shape = {{ box = [0.1, 0.1, 0.02] }}
             position = [0, 0, 0.02]
             velocity = [{speed:?}, 0, 0]
             [[contact]]
             mu = {KINETIC:?}
             mu_static = {STATIC:?}"
        ),
    );
    let (sin, cos) = slope.atan().sin_cos();
    scene.parameters.values[..3].copy_from_slice(&[G * sin, 0.0, -G * cos]);
    scene
}

fn speed_after(scene: &Scene, steps: usize) -> f64 {
    let mut rollout = rollout(scene);
    rollout.advance(steps, &scene.inputs);
    assert_eq!(rollout.report.unsolved, 0);
    rollout.state.velocity(0).x
}

// Between the two coefficients what rests stays, and what moves goes on.
#[test]
fn what_rests_stays_and_what_slides_goes_on() {
    for slope in [0.3_f64, 0.45] {
        assert!(speed_after(&on_slope(slope, 0.0), 100).abs() < 1e-12, "{slope}");
        // Slower than `static_speed` counts as at rest.
        assert!(speed_after(&on_slope(slope, 5e-4), 100).abs() < 1e-12, "{slope}");
        let (sin, cos) = slope.atan().sin_cos();
        let expected = 0.1 + G * (sin - KINETIC * cos) * DT * 100.0;
        let found = speed_after(&on_slope(slope, 0.1), 100);
        assert!((found - expected).abs() < 1e-6, "{slope}: {found} of {expected}");
    }
    // Steeper than the static one: it starts by itself, held back by the static coefficient in the
    // first step and by the kinetic one from then on.
    let (sin, cos) = 0.6_f64.atan().sin_cos();
    let first = G * (sin - STATIC * cos) * DT;
    let expected = first + G * (sin - KINETIC * cos) * DT * 99.0;
    let found = speed_after(&on_slope(0.6, 0.0), 100);
    assert!((found - expected).abs() < 1e-6, "{found} of {expected}");
}

#[test]
fn the_regime_is_recorded_and_a_kink() {
    let scene = on_slope(0.3, 0.0);
    assert!(scene.model.parameter_names().contains(&"floor-box/mu_static".to_string()));
    let system = scene.system();
    let memory = StepMemory::default();
    let regime = |speed: f64| {
        let mut state = scene.state.clone();
        state.v[0] = speed;
        let program = StepProgram::new(system, &state, &scene.inputs, &memory, 1);
        let check = Gradcheck::of(&program).unwrap();
        assert!(check.passed(), "{speed}: {check:?}");
        let modes = program.contact_modes().modes.clone();
        assert!(!modes.is_empty());
        let (.., (_, regime)) = modes[0];
        (regime, check.skipped_at_kinks())
    };
    let (at_rest, _) = regime(1e-4);
    assert_eq!(at_rest, Regime::Static);
    let (moving, skipped) = regime(0.3);
    assert_eq!(moving, Regime::Kinetic);
    // Right at the threshold differences span the switch: they are counted, not compared.
    let (_, at_threshold) = regime(1e-3);
    assert!(at_threshold > skipped, "{at_threshold} {skipped}");
}
