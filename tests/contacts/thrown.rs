//! What an impact throws further than it would have gone by itself meets what was out of its reach, in the same step.

use std::fmt::Write as _;

use stiction::model::Scene;
use stiction::simulation::Rollout;

use super::scene;
use crate::agreement::step_derivatives_agree;

const HALF: f64 = 0.1;

/// Cubes in a row along x with gaps of these sizes, m, the first of which comes with 10 m/s, a step of 0.1 m; each beside the last by `aside`, m.
fn row(shape: &str, gaps: &[f64], aside: f64) -> Scene {
    let mut text = String::from(
        "gravity = [0, 0, 0]\nsimulation.time_step = 0.01\ncontact = [{ mu = 0, restitution = 0 }]\n",
    );
    let mut x = 0.0;
    for (k, gap) in [0.0].iter().chain(gaps).enumerate() {
        x += if k > 0 { 2.0 * HALF + gap } else { 0.0 };
        let (y, velocity) = (aside * k as f64, if k == 0 { 10 } else { 0 });
        writeln!(
            text,
            "[[body]]\nname = \"{k}\"\nmass = 1\ninertia = [0.01, 0.02, 0.03]\nshape = {{ {shape} }}\n\
             position = [{x}, {y}, 0]\nvelocity = [{velocity}, 0, 0]"
        )
        .unwrap();
    }
    scene(&text)
}

fn hull() -> String {
    let corner = |k: usize| [0, 1, 2].map(|i| if k >> i & 1 == 0 { -HALF } else { HALF });
    let corners: Vec<[f64; 3]> = (0..8).map(corner).collect();
    format!("convex = {corners:?}")
}

/// Speeds along x after some steps; nothing has gone into anything.
fn speeds(scene: &Scene, steps: usize) -> Vec<f64> {
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    let count = scene.model.bodies.len();
    for _ in 0..steps {
        rollout.step(&scene.inputs);
        let x = |body: usize| rollout.state.position(body).x;
        for body in 1..count {
            let gap = x(body) - x(body - 1) - 2.0 * HALF;
            // But for the compliance of contact.
            assert!(gap > -1e-6, "{body}: {gap}");
        }
    }
    assert_eq!(rollout.report.unsolved, 0);
    (0..count).map(|body| rollout.state.velocity(body).x).collect()
}

#[test]
fn a_row_is_pushed_on_in_the_step_in_which_it_is_struck() {
    // Of two, 0.01 m apart, the second goes on with 4.5 m/s, 0.045 m in the step; of three 0.03 m apart each the last with 0.33 m/s.
    for (gaps, moving) in
        [(vec![0.01, 0.01, 0.005, 0.005], 5), (vec![0.01, 0.06, 0.01], 2), (vec![0.03; 3], 3)]
    {
        let found = speeds(&row(&hull(), &gaps, 0.0), 1);
        let boxes = speeds(&row(&format!("box = [{HALF}, {HALF}, {HALF}]"), &gaps, 0.0), 1);
        assert_eq!(found.iter().filter(|v| v.abs() > 1e-6).count(), moving, "{gaps:?}: {found:?}");
        for (found, expected) in found.iter().zip(&boxes) {
            assert!((found - expected).abs() < 1e-9, "{gaps:?}: {found} {expected}");
        }
        assert!((found.iter().sum::<f64>() - 10.0).abs() < 1e-9);
    }
    // And on, until nothing meets anything any more.
    speeds(&row(&hull(), &[0.01, 0.03, 0.06, 0.2, 0.001, 0.3], 0.0), 40);
}

#[test]
fn its_derivatives_are_those_of_all_that_meet() {
    for (k, gaps) in [[0.01, 0.03, 0.02], [0.02, 0.02, 0.2], [0.03, 0.06, 0.01]].iter().enumerate()
    {
        step_derivatives_agree(&format!("row {k}"), &row(&hull(), gaps, 0.013), 0);
    }
}
