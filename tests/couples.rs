//! Torsional and rolling friction: couples that contacts resist turns with, in the same problem as all else. Random problems
//! solved, obeyed and differentiated in every way; bodies whose motion has a closed form.

use stiction::ad::{self, NodeRule, with_node_rule};
use stiction::argmin::{CoupledContact, Law, Mode};

use crate::contact_node::{problem, run};
use crate::random::Random;

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
    let tree = [0, 0];
    for of in 0..contacts {
        // Which: by the contact.
        let [torsion, rolling] = [of % 3 != 1, of % 3 != 0];
        let mut add = |axes: [Option<usize>; 2], limit: f64| {
            node.add(Law::Couple { of }, tree);
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
                Law::Couple { of } => {
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
    let (mut checked, mut worst) = (0, [0.0_f64; 4]);
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
        let dx: Vec<f64> = dx.collect();
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
        for k in 0..jvp.len() {
            worst[0] = worst[0].max((jvp[k] - residual[k]).abs() / size);
            worst[1] = worst[1].max((jvp[k] - unrolled[k]).abs() / size);
            // Impulses that are shared are chosen by a rule; velocities are unique.
            if k < 6 {
                worst[3] = worst[3].max((jvp[k] - (up[k] - down[k]) / (2.0 * h)).abs() / size);
            }
        }
        let forward: f64 = w.iter().zip(&jvp).map(|(a, b)| a * b).sum();
        let backward: f64 = adjoint.iter().zip(&dx).map(|(a, b)| a * b).sum();
        worst[2] = worst[2].max((forward - backward).abs() / size);
    }
    assert!(checked > 150, "{checked}");
    let [residual, unrolled, adjoint, differences] = worst;
    assert!(residual < 1e-8 && unrolled < 1e-6 && adjoint < 1e-9, "{worst:?}");
    assert!(differences < 1e-5, "{worst:?}");
}
