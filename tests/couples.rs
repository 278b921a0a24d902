//! Torsional and rolling friction: couples that contacts resist turns with, in the same problem as all else. Random problems
//! solved, obeyed and differentiated in every way; bodies whose motion has a closed form.

use approx::assert_abs_diff_eq;
use nalgebra::Vector3;
use stiction::ad::{self, NodeRule, with_node_rule};
use stiction::argmin::{CoupledContact, Law, Mode};
use stiction::model::Scene;
use stiction::simulation::{Rollout, StepMemory};
use stiction::state::State;

use crate::agreement::step_derivatives_agree;
use crate::contact_node::{problem, run};
use crate::linearize::adjoint::compare;
use crate::random::Random;
use crate::scenes::{FLOOR, after, scene};

/// A [`problem`] of which contacts have torsional friction, rolling friction or both, at an arm of 0.1 m.
fn with_couples(
    random: &mut Random,
    contacts: usize,
    flat: bool,
    compliance: f64,
) -> (CoupledContact, Vec<f64>) {
    const ARM: f64 = 0.1;
    let (mut node, x) = problem(random, contacts, flat, compliance);
    let (rows, rest) = x.split_at(18 * contacts);
    let (bodies, numbers) = rest.split_at(36 + 6);
    let numbers: Vec<&[f64]> = numbers.chunks_exact(contacts).collect();
    let [mut targets, mut limits, mut compliances] = [0, 1, 2].map(|k| numbers[k].to_vec());
    let mut rows = rows.to_vec();
    for of in 0..contacts {
        // Which: by the contact.
        let [torsion, rolling] = [of % 3 != 1, of % 3 != 0];
        let mut add = |axes: [Option<usize>; 2], limit: f64| {
            node.add_couple(of);
            rows.extend([0.0; 6]);
            for axis in axes {
                let turn = |k: usize| if axis == Some(k) { ARM } else { 0.0 };
                rows.extend([0.0, 0.0, 0.0, turn(0), turn(1), turn(2)]);
            }
            targets.push(0.0);
            limits.push(limit);
            compliances.push(compliance);
        };
        if torsion {
            add([Some(2), None], random.uniform(0.02, 0.4));
        }
        if rolling {
            add([Some(0), Some(1)], random.uniform(0.01, 0.3));
        }
    }
    let x = [&rows[..], bodies, &targets, &limits, &compliances].concat();
    (node, x)
}

#[test]
fn couples_obey_their_law() {
    let mut random = Random(7);
    let (mut unsolved, mut worst) = (0, 0.0_f64);
    let mut seen = std::collections::HashMap::<Mode, usize>::new();
    for case in 0..2000 {
        let contacts = 1 + case % 4;
        let compliance = if case % 2 == 0 { 1e-6 } else { 0.0 };
        let (node, x) = with_couples(&mut random, contacts, case % 3 == 0, compliance);
        let (y, solution) = run(&node, &x);
        if !solution.report.status.is_solved() {
            unsolved += 1;
            eprintln!("case {case}: {:?}", solution.report);
            continue;
        }
        worst = worst.max(solution.report.residual);
        let (v, lambda) = y.split_at(6);
        let blocks = lambda.len() / 3;
        let limits = &x[x.len() - 2 * blocks..x.len() - blocks];
        for (i, own) in lambda.chunks_exact(3).enumerate() {
            let row = |r: usize| &x[(3 * i + r) * 6..][..6];
            let u = [0, 1, 2].map(|r| row(r).iter().zip(v).map(|(j, v)| j * v).sum::<f64>());
            let normal = match node.laws[i] {
                Law::Couple => {
                    let of = node.rows.blocks()[i].normal;
                    *seen.entry(solution.modes[i]).or_default() += 1;
                    lambda[3 * of]
                }
                _ => {
                    let pressed = u[0] + compliance * own[0];
                    assert!(pressed > -1e-9 && own[0] > -1e-12 && (pressed * own[0]).abs() < 1e-9);
                    own[0]
                }
            };
            assert!((own[0] - normal).abs() < 1e-12, "case {case}: {own:?} {normal}");
            let (friction, slip) = (own[1].hypot(own[2]), u[1].hypot(u[2]));
            assert!(friction <= limits[i] * normal + 1e-9, "case {case}, block {i}");
            let power = own[1] * u[1] + own[2] * u[2];
            assert!((power + limits[i] * normal * slip).abs() < 1e-8, "case {case}, block {i}");
        }
    }
    assert!(unsolved == 0 && worst <= 1e-10, "{unsolved} unsolved, {worst:e}");
    for mode in [Mode::Break, Mode::Stick, Mode::Slide] {
        assert!(seen[&mode] > 200, "{seen:?}");
    }
}

#[test]
fn couples_are_differentiated_alike() {
    let mut random = Random(8);
    let (mut checked, mut compared, mut worst) = (0, 0, [0.0_f64; 4]);
    for case in 0..300 {
        let compliance = if case % 2 == 0 { 1e-4 } else { 0.0 };
        let (mut node, x) = with_couples(&mut random, 1 + case % 3, case % 3 == 0, compliance);
        node.tolerance = 1e-13;
        let (y, solution) = run(&node, &x);
        if solution.report.margin < 1e-4 {
            continue;
        }
        checked += 1;
        // Rows that move nothing do not come to move, and no compliance becomes negative.
        let blocks = node.laws.len();
        let zero = |k: usize| (k < 18 * blocks || k >= x.len() - blocks) && x[k] == 0.0;
        let dx = (0..x.len()).map(|k| if zero(k) { 0.0 } else { random.uniform(-1.0, 1.0) });
        let mut dx: Vec<f64> = dx.collect();
        // A couple has the compliance of its contact.
        let compliances = x.len() - blocks;
        for (i, law) in node.laws.iter().enumerate() {
            if *law == Law::Couple {
                dx[compliances + i] = dx[compliances + node.rows.blocks()[i].normal];
            }
        }
        let w: Vec<f64> = y.iter().map(|_| random.uniform(-1.0, 1.0)).collect();
        let by = |rule| with_node_rule(rule, || ad::jvp(|x| run(&node, x).0, &x, &dx).unwrap().1);
        let [jvp, residual, unrolled] =
            [NodeRule::ByJvp, NodeRule::ByResidual, NodeRule::Unrolled].map(by);
        let (_, adjoint) = ad::vjp(|x| run(&node, x).0, &x, |_| w.clone()).unwrap();
        let size = jvp.iter().fold(1.0_f64, |size, x| size.max(x.abs()));
        let moved = |h: f64| {
            let x: Vec<f64> = x.iter().zip(&dx).map(|(x, d)| x + h * d).collect();
            run(&node, &x).0
        };
        let h = 1e-7;
        let (up, down) = (moved(h), moved(-h));
        // Where rows are redundant no change of them is like another; and there may be several solutions.
        let apart =
            |a: &[f64], b: &[f64]| a.iter().zip(b).any(|(a, b)| (a - b).abs() > 1e-3 * size);
        let jumps = apart(&up[..6], &y[..6]) || apart(&down[..6], &y[..6]);
        compared += usize::from(solution.independent.is_none() && !jumps);
        for k in 0..jvp.len() {
            worst[0] = worst[0].max((jvp[k] - residual[k]).abs() / size);
            worst[1] = worst[1].max((jvp[k] - unrolled[k]).abs() / size);
            if k < 6 && solution.independent.is_none() && !jumps {
                worst[3] = worst[3].max((jvp[k] - (up[k] - down[k]) / (2.0 * h)).abs() / size);
            }
        }
        let forward: f64 = w.iter().zip(&jvp).map(|(a, b)| a * b).sum();
        let backward: f64 = adjoint.iter().zip(&dx).map(|(a, b)| a * b).sum();
        worst[2] = worst[2].max((forward - backward).abs() / size);
    }
    assert!(checked > 150 && compared > 80, "{checked} {compared}");
    let [residual, unrolled, adjoint, differences] = worst;
    assert!(residual < 1e-8 && unrolled < 1e-6 && adjoint < 1e-9, "{worst:?}");
    assert!(differences < 1e-5, "{worst:?}");
}

/// A ball of 0.7 kg and 0.05 m on a floor, with `contact` between both.
fn ball(velocity: [f64; 3], spin: [f64; 3], contact: &str) -> Scene {
    scene(&format!(
        "[simulation]\ntime_step = 0.01\ntolerance = 1e-13\ncompliance = 0\n{FLOOR}
         [[body]]
         name = 'ball'
         mass = {MASS:?}
         shape = {{ sphere = {RADIUS:?} }}
         position = [0, 0, {RADIUS:?}]
         velocity = {velocity:?}
         angular_velocity = {spin:?}
         [[contact]]
         mu = 0.5
         {contact}"
    ))
}

const MASS: f64 = 0.7;
const RADIUS: f64 = 0.05;
const G: f64 = 9.81;

/// Of a ball that rolls, friction does 2/7 of what the couple takes: a = 5 c g / (7 R), so that it stops after
/// 7 R v² / (10 c g), and then rests.
#[test]
fn a_rolling_ball_comes_to_rest() {
    let resistance = 0.002;
    let scene =
        ball([1.0, 0.0, 0.0], [0.0, 20.0, 0.0], &format!("rolling_resistance = {resistance:?}"));
    let slowing = 5.0 * resistance * G / (7.0 * RADIUS);
    for steps in [1, 50, 300] {
        let speed = 1.0 - slowing * 0.01 * steps as f64;
        let state = after(&scene, steps);
        assert_abs_diff_eq!(state.v[0], speed, epsilon = 1e-9);
        assert_abs_diff_eq!(state.v[4], speed / RADIUS, epsilon = 1e-7);
    }
    let state = after(&scene, 400);
    assert!(state.v.iter().all(|v| v.abs() < 1e-12), "{:?}", state.v);
    let way = 7.0 * RADIUS / (10.0 * resistance * G);
    assert!((state.q[0] - way).abs() < 0.01, "{} of {way}", state.q[0]);
}

/// A ball that spins about the normal is slowed by mu r m g, and one that does not roll is not.
#[test]
fn a_spinning_ball_comes_to_rest() {
    let scene = ball([0.0; 3], [0.0, 0.0, 30.0], "torsion_radius = 0.004");
    let inertia = 0.4 * MASS * RADIUS * RADIUS;
    let slowing = 0.5 * 0.004 * MASS * G / inertia;
    for steps in [1, 40] {
        let spin = 30.0 - slowing * 0.01 * steps as f64;
        assert_abs_diff_eq!(after(&scene, steps).v[5], spin, epsilon = 1e-8);
    }
    let state = after(&scene, (30.0 / slowing / 0.01) as usize + 2);
    assert!(state.v.iter().all(|v| v.abs() < 1e-12), "{:?}", state.v);
    // Neither term does what the other does.
    let rolls = ball([1.0, 0.0, 0.0], [0.0, 20.0, 0.0], "torsion_radius = 0.004");
    assert_abs_diff_eq!(after(&rolls, 50).v[0], 1.0, epsilon = 1e-9);
    let spins = ball([0.0; 3], [0.0, 0.0, 30.0], "rolling_resistance = 0.004");
    assert_abs_diff_eq!(after(&spins, 50).v[5], 30.0, epsilon = 1e-9);
}

/// On a slope a ball rests up to c / R, and rolls off with 5/7 of what is left beyond.
#[test]
fn a_ball_rests_on_a_slope_up_to_its_resistance() {
    let scene = ball([0.0; 3], [0.0; 3], "rolling_resistance = 0.002");
    for slope in [0.039_f64, 0.041, 0.1] {
        let (sin, cos) = slope.atan().sin_cos();
        let mut scene = scene.clone();
        scene.parameters.values[..3].copy_from_slice(&[G * sin, 0.0, -G * cos]);
        let beyond = (sin - 0.002 / RADIUS * cos).max(0.0);
        assert_abs_diff_eq!(after(&scene, 100).v[0], 5.0 / 7.0 * G * beyond, epsilon = 1e-9);
    }
}

/// What couples do is recorded, and turns both bodies.
#[test]
fn couples_are_recorded() {
    let contact = "torsion_radius = 0.004\nrolling_resistance = 0.002";
    let scene = ball([1.0, 0.0, 0.0], [0.0, 20.0, 9.0], contact);
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    rollout.advance(1, &scene.inputs);
    let contacts: Vec<_> = rollout.workspace.contacts().cloned().collect();
    let [contact] = &contacts[..] else { panic!("{contacts:?}") };
    let couple = contact.world_couple();
    let impulse = contact.impulse[0];
    assert_abs_diff_eq!(couple.z, -0.5 * 0.004 * impulse, epsilon = 1e-12);
    assert_abs_diff_eq!(couple.y, -0.002 * impulse, epsilon = 1e-12);
    let inertia = 0.4 * MASS * RADIUS * RADIUS;
    let turned = inertia * (rollout.state.v[5] - 9.0);
    assert_abs_diff_eq!(couple.z, turned, epsilon = 1e-9);
}

/// A box that lands, a ball on it, one beside it, a link that drags its end. What rests on several points has no use for
/// rolling friction: the compliance of contacts lets it turn by 1e-9 rad/s, which would decide the direction of that.
const SCENE: &str = "[[body]]
    name = 'box'
    mass = 0.7
    center_of_mass = [0.01, -0.02, 0.01]
    inertia = [2e-3, 3e-3, 4e-3, 1e-4, -3e-4, 5e-4]
    shape = { box = [0.1, 0.08, 0.05] }
    position = [0, 0, 0.06]
    velocity = [0.3, 0.2, -0.5]
    angular_velocity = [0.1, 0.3, 2]
    [[body]]
    name = 'ball'
    mass = 0.2
    shape = { sphere = 0.05 }
    position = [0.01, 0.02, 0.159]
    velocity = [0.4, 0.3, -0.2]
    angular_velocity = [3, -2, 5]
    [[body]]
    name = 'roller'
    mass = 0.4
    shape = { sphere = 0.08 }
    position = [1, 0, 0.0801]
    velocity = [0.5, 0.1, -0.1]
    angular_velocity = [-1, 6, 3]
    [[body]]
    name = 'arm'
    joint = { type = 'revolute', axis = [0, 1, 0], q = [0.9], v = [0.5] }
    position = [3, 0, 0.2985]
    mass = 0.3
    center_of_mass = [0, 0, -0.2]
    inertia = [1e-3, 2e-3, 1e-3]
    [[body]]
    name = 'wheel'
    parent = 'arm'
    joint = { type = 'ball', v = [2, 60, 20] }
    position = [0, 0, -0.4]
    mass = 0.2
    inertia = [2e-4, 2e-4, 2e-4]
    shape = { sphere = 0.05 }
    [[contact]]
    mu = 0.4
    restitution = 0.2
    torsion_radius = 0.02
    rolling_resistance = 0.003
    [[contact]]
    pair = 'floor-box'
    mu = 0.4
    restitution = 0.2
    torsion_radius = 0.02
    ";

#[test]
fn derivatives_with_couples_agree_in_all_ways() {
    for settings in ["", "integrator = 'implicit'", "compliance = 0", "smoothing = 1e-4"] {
        let text = format!(
            "[simulation]\ntime_step = 0.01\ntolerance = 1e-13\n{settings}\n{FLOOR}{SCENE}"
        );
        let scene = scene(&text);
        let mut moved = [0.0_f64; 3];
        for steps in [0, 1, 3, 6, 9] {
            let found = step_derivatives_agree(settings, &scene, steps);
            for (most, name) in moved.iter_mut().zip([
                "floor-roller/torsion_radius",
                "floor-roller/rolling_resistance",
                "floor-wheel/rolling_resistance",
            ]) {
                let slot = scene.model.parameter(name).unwrap().slots[0];
                *most = most.max(found.c.column(slot).norm());
            }
        }
        assert!(moved.iter().all(|&most| most > 1e-3), "{settings}: {moved:?}");
        let tally = compare("couples", &scene, 12, 0.5);
        assert!(tally.structured + tally.recorded > 8);
    }
}

/// Heaps of balls and boxes that are thrown: all problems are solved, and nothing gains energy.
#[test]
fn thrown_things_with_couples_are_solved_and_lose_energy() {
    let mut random = Random(3);
    for case in 0..40 {
        let mut bodies = String::new();
        for k in 0..3 {
            let shape = ["sphere = 0.05", "box = [0.05, 0.04, 0.03]", "capsule = [0.03, 0.04]"]
                [(case + k) % 3];
            let [x, y, z] = random.vector::<3>(0.02);
            bodies += &format!(
                "[[body]]\nname = 'b{k}'\nmass = {:?}\nshape = {{ {shape} }}
                 position = [{x:?}, {y:?}, {:?}]\nvelocity = {:?}\nangular_velocity = {:?}\n",
                random.uniform(0.1, 1.0),
                0.12 + z + 0.2 * k as f64,
                random.vector::<3>(0.5),
                random.vector::<3>(5.0),
            );
        }
        let scene = scene(&format!(
            "[simulation]\ntime_step = 0.005\nbaumgarte = 0\n{FLOOR}{bodies}[[contact]]\nmu = {:?}
             torsion_radius = {:?}\nrolling_resistance = {:?}",
            random.uniform(0.1, 0.8),
            random.uniform(0.001, 0.03),
            random.uniform(0.0005, 0.01),
        ));
        let mut rollout = Rollout::new(scene.system(), scene.state.clone());
        // Of bodies whose origins are their centres.
        let energy = |state: &State<f64>| {
            let of = |body: usize| {
                let mass = scene.parameters.mass(&scene.model, body);
                let inertia = scene.parameters.inertia(&scene.model, body);
                let v = Vector3::from_column_slice(&state.v[6 * body..6 * body + 3]);
                let w = Vector3::from_column_slice(&state.v[6 * body + 3..6 * body + 6]);
                let kinetic = 0.5 * (mass * v.norm_squared() + w.dot(&(inertia * w)));
                kinetic + mass * G * state.q[7 * body + 2]
            };
            (0..3).map(of).sum::<f64>()
        };
        let mut before = energy(&rollout.state);
        for step in 0..300 {
            rollout.advance(1, &scene.inputs);
            let now = energy(&rollout.state);
            assert!(now <= before + 1e-6, "case {case}, step {step}: {before} to {now}");
            before = now;
        }
        assert_eq!(rollout.report.unsolved, 0, "case {case}: {:?}", rollout.report.worst);
    }
}

/// What a step remembers of couples survives as numbers: the next step has the same bits.
#[test]
fn couples_are_remembered_as_numbers() {
    let scene =
        scene(&format!("[simulation]\ntime_step = 0.01\ntolerance = 1e-13\n{FLOOR}{SCENE}"));
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    rollout.advance(9, &scene.inputs);
    let mut numbers = vec![f64::NAN; StepMemory::<f64>::numbers(&scene.model)];
    rollout.memory.write(&scene.model, &mut numbers);
    let mut other = Rollout::new(scene.system(), rollout.state.clone());
    other.memory.read(&scene.model, &numbers);
    let mut again = vec![0.0; numbers.len()];
    other.memory.write(&scene.model, &mut again);
    assert_eq!(numbers, again);
    for rollout in [&mut rollout, &mut other] {
        let report = rollout.step(&scene.inputs);
        assert_eq!(report.unsolved, 0);
    }
    assert_eq!(rollout.state, other.state);
    // Without couples it would hold less.
    let couples = rollout.workspace.contacts().flat_map(|record| record.couples).flatten();
    assert!(couples.count() > 1);
}
