//! What an impact throws further than it would have gone by itself meets what was out of its reach, in the same step.

use std::fmt::Write as _;

use stiction::model::Scene;
use stiction::simulation::{Rollout, Workspace, step};
use stiction::state::State;

use super::scene;
use crate::agreement::step_derivatives_agree;
use crate::cases;
use crate::random::Random;

const HALF: f64 = 0.1;

/// Cubes in a row along x with gaps of these sizes, m, the first of which comes with 10 m/s, a step of 0.1 m; each beside the last by `aside`, m.
fn row(shape: &str, gaps: &[f64], aside: f64) -> Scene {
    scene(&text_of_row(shape, gaps, aside))
}

fn text_of_row(shape: &str, gaps: &[f64], aside: f64) -> String {
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
    text
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

/// Dry friction of a slider beside the row, which is counted behind all points, stays its own.
#[test]
fn joints_beside_it_keep_their_impulses() {
    let slider = "[[body]]\nname = \"slider\"\nmass = 2\ninertia = 0.01\nposition = [0, 9, 0]\n\
                  joint = { type = \"prismatic\", axis = [1, 0, 0], v = 1, friction = 3 }\n";
    let of = |gaps: &[f64]| {
        let text = format!("{}{slider}", text_of_row(&hull(), gaps, 0.0));
        let scene = scene(&text);
        let (mut workspace, mut next) = (Workspace::default(), State::default());
        let mut memory = Rollout::new(scene.system(), scene.state.clone()).memory;
        let (system, inputs) = (scene.system(), &scene.inputs);
        step(&system, &scene.state, inputs, &mut memory, &mut workspace, &mut next);
        let joints: Vec<f64> = workspace.joints().iter().map(|joint| joint.impulse).collect();
        let pushed: Vec<f64> = (1..=gaps.len())
            .map(|body| {
                let own =
                    workspace.contacts().filter(|contact| contact.bodies.contains(&Some(body)));
                own.map(|contact| {
                    let sign = if contact.bodies[1] == Some(body) { 1.0 } else { -1.0 };
                    sign * contact.world_impulse().x
                })
                .sum()
            })
            .collect();
        let speeds: Vec<f64> = (1..=gaps.len()).map(|body| next.velocity(body).x).collect();
        (joints, pushed, speeds)
    };
    // 3 N over 0.01 s, against the motion; each cube of 1 kg has the impulses of its contacts.
    let (joints, pushed, speeds) = of(&[0.01, 0.01, 0.005, 0.005]);
    assert_eq!(joints.len(), 1);
    assert!((joints[0].abs() - 0.03).abs() < 1e-12, "{joints:?}");
    for (impulse, speed) in pushed.iter().zip(&speeds) {
        assert!((impulse - speed).abs() < 1e-9 && *speed > 1e-3, "{pushed:?} {speeds:?}");
    }
}

#[test]
fn its_derivatives_are_those_of_all_that_meet() {
    for (k, gaps) in [[0.01, 0.03, 0.02], [0.02, 0.02, 0.2], [0.03, 0.06, 0.01]].iter().enumerate()
    {
        step_derivatives_agree(&format!("row {k}"), &row(&hull(), gaps, 0.013), 0);
    }
}

/// Hulls that begin to touch others that stand still, beside or above their edges, by less than what is beside a face counts for,
/// and a cylinder that lies; with something fast far away or not.
fn beginnings(random: &mut Random, fast: bool) -> Scene {
    let mut text = String::from(
        "gravity = [0, 0, 0]\nsimulation.time_step = 0.001\ncontact = [{ mu = 0.3, restitution = 0 }]\n",
    );
    let hull = hull();
    let small = |random: &mut Random, from: f64, to: f64| {
        10.0_f64.powf(random.uniform(from, to)) * random.uniform(-1.0, 1.0)
    };
    for k in 0..8 {
        let aside = [0, 1].map(|_| match random.uniform(0.0, 1.0) < 0.5 {
            true => random.uniform(-HALF, HALF),
            false => 2.0 * HALF + small(random, -6.0, -4.7),
        });
        let height = 2.0 * HALF + small(random, -7.0, -4.0);
        let [tx, ty, tz] = [0; 3].map(|_| small(random, -6.0, -3.0));
        let length = (1.0 + tx * tx + ty * ty + tz * tz).sqrt();
        let turn = [1.0, tx, ty, tz].map(|x| x / length);
        let velocity = [0; 3].map(|_| small(random, -5.0, -2.0));
        let x = 3.0 * f64::from(k);
        writeln!(
            text,
            "[[shape]]\nname = \"s{k}\"\n{hull}\nposition = [{x}, 0, 0]\n\
             [[body]]\nname = \"b{k}\"\nmass = 1\ninertia = 0.01\nshape = {{ {hull} }}\n\
             position = [{}, {}, {height}]\norientation = {turn:?}\nvelocity = {velocity:?}",
            x + aside[0],
            aside[1]
        )
        .unwrap();
    }
    let turn = random.uniform(0.0, 0.2);
    let [w, z] = [turn.cos() / 2.0_f64.sqrt(), turn.sin() / 2.0_f64.sqrt()];
    writeln!(
        text,
        "[[shape]]\nname = \"slab\"\nbox = [5, 5, 0.5]\nposition = [0, 20, -0.5]\n\
         [[body]]\nname = \"roll\"\nmass = 1\ninertia = [0.1, 0.1, 0.125]\nshape = {{ cylinder = [0.5, 0.3] }}\n\
         position = [0, 20, {}]\norientation = [{w}, {w}, {}, {z}]\nvelocity = [0, 0, -1e-4]",
        0.5 + small(random, -9.0, -7.0),
        -z
    )
    .unwrap();
    if fast {
        text += "[[body]]\nname = \"fast\"\nmass = 1\ninertia = 0.01\nshape = { sphere = 0.1 }\n\
                 position = [-20, 0, 5]\nvelocity = [0, 0, 20]\n";
    }
    scene(&text)
}

#[test]
fn what_is_fast_far_away_changes_nothing() {
    let mut touching = 0;
    for seed in 0..cases::count(200, 0.1) {
        let [with, without] = [true, false].map(|fast| {
            let scene = beginnings(&mut Random(seed as u64), fast);
            let mut rollout = Rollout::new(scene.system(), scene.state.clone());
            rollout.advance(20, &scene.inputs);
            assert_eq!(rollout.report.unsolved, 0);
            let of = |body| (rollout.state.velocity(body), rollout.state.angular_velocity(body));
            let start = |body| (scene.state.velocity(body), scene.state.angular_velocity(body));
            let found: Vec<_> = (0..9).map(of).collect();
            // What lies has not sunk.
            let sunk = 0.5 - rollout.state.position(8).z;
            assert!(sunk < 3e-7, "{seed}: {sunk}");
            (found.clone(), (0..9).filter(|&body| found[body] != start(body)).count())
        });
        assert_eq!(with, without, "{seed}");
        touching += with.1;
    }
    assert!(touching > 20, "{touching}");
}
