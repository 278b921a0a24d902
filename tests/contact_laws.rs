//! Every law of a contact on random problems: solved, obeyed, and differentiated alike in every way.

use approx::assert_relative_eq;
use stiction::ad::{self, NodeRule, with_node_rule};
use stiction::argmin::{CoupledContact, Law, Mode};

use crate::contact_node::{problem, run};
use crate::random::Random;

/// All but Coulomb's, which `contact_node` tests.
const LAWS: [Law; 3] = [Law::Pyramid, Law::Relaxed, Law::RelaxedPyramid];

/// How far impulses `x` and velocities `u`, the first with the compliance in it, are from the law: the impulses from
/// their set, the velocities from theirs, and the power that friction does not take.
fn violations(law: Law, mu: f64, x: [f64; 3], u: [f64; 3]) -> [f64; 3] {
    let power = x[0] * u[0] + x[1] * u[1] + x[2] * u[2];
    let (slip, sum) = (u[1].hypot(u[2]), u[1].abs() + u[2].abs());
    let friction = match law {
        Law::Relaxed => x[1].hypot(x[2]),
        _ => x[1].abs().max(x[2].abs()),
    };
    let beyond = (friction - mu * x[0]).max(-x[0]);
    match law {
        Law::Pyramid => {
            [beyond, -u[0], (x[0] * u[0]).abs().max((power - x[0] * u[0] + mu * x[0] * sum).abs())]
        }
        Law::Relaxed => [beyond, mu * slip - u[0], power.abs()],
        _ => [beyond, mu * sum - u[0], power.abs()],
    }
}

#[test]
fn laws_are_obeyed() {
    for law in LAWS {
        let mut random = Random(1);
        let (mut seen, mut unsolved, mut worst) = ([0; 4], 0, 0.0_f64);
        for case in 0..1000 {
            let contacts = 1 + case % 6;
            let compliance = if case % 2 == 0 { 1e-6 } else { 0.0 };
            let (mut node, x) = problem(&mut random, contacts, case % 3 == 0, compliance);
            node.laws.fill(law);
            let (y, solution) = run(&node, &x);
            unsolved += usize::from(!solution.report.status.is_solved());
            worst = worst.max(solution.report.residual);
            let (v, lambda) = y.split_at(6);
            for (i, lambda) in lambda.chunks_exact(3).enumerate() {
                seen[solution.modes[i] as usize] += 1;
                let row = |r: usize| &x[(3 * i + r) * 6..][..6];
                let u = [0, 1, 2].map(|r| row(r).iter().zip(v).map(|(j, v)| j * v).sum::<f64>());
                let u = [u[0] + compliance * lambda[0], u[1], u[2]];
                let mu = x[x.len() - 2 * contacts + i];
                let found = violations(law, mu, [lambda[0], lambda[1], lambda[2]], u);
                assert!(found.iter().all(|x| *x < 1e-9), "{law:?}, case {case}: {found:?}");
            }
        }
        assert!(unsolved == 0 && worst <= 1e-10, "{law:?}: {unsolved} unsolved, {worst:e}");
        assert!(seen[..3].iter().all(|&count| count > 100), "{law:?}: {seen:?}");
    }
}

#[test]
fn laws_are_differentiated_alike() {
    for law in LAWS {
        let mut random = Random(2);
        let (mut checked, mut worst) = (0, [0.0_f64; 3]);
        for case in 0..200 {
            let compliance = if case % 2 == 0 { 1e-4 } else { 0.0 };
            let (mut node, x) = problem(&mut random, 1 + case % 4, case % 3 == 0, compliance);
            node.laws.fill(law);
            let (y, solution) = run(&node, &x);
            if solution.report.margin < 1e-6 {
                continue;
            }
            checked += 1;
            let dx: Vec<f64> = x.iter().map(|_| random.uniform(-1.0, 1.0)).collect();
            let w: Vec<f64> = y.iter().map(|_| random.uniform(-1.0, 1.0)).collect();
            let by =
                |rule| with_node_rule(rule, || ad::jvp(|x| run(&node, x).0, &x, &dx).unwrap().1);
            let [jvp, residual, unrolled] =
                [NodeRule::ByJvp, NodeRule::ByResidual, NodeRule::Unrolled].map(by);
            let (_, adjoint) = ad::vjp(|x| run(&node, x).0, &x, |_| w.clone()).unwrap();
            let size = jvp.iter().fold(1.0_f64, |size, x| size.max(x.abs()));
            for (k, x) in jvp.iter().enumerate() {
                worst[0] = worst[0].max((x - residual[k]).abs() / size);
                worst[1] = worst[1].max((x - unrolled[k]).abs() / size);
            }
            let forward: f64 = w.iter().zip(&jvp).map(|(a, b)| a * b).sum();
            let backward: f64 = adjoint.iter().zip(&dx).map(|(a, b)| a * b).sum();
            worst[2] = worst[2].max((forward - backward).abs() / size);
        }
        assert!(checked > 150, "{law:?}: {checked}");
        let [residual, unrolled, adjoint] = worst;
        assert!(residual < 1e-8 && unrolled < 1e-6 && adjoint < 1e-9, "{law:?}: {worst:?}");
    }
}

/// A point of unit mass that comes down by 1 with `slip` along the tangents.
fn point(law: Law, mu: f64, slip: [f64; 2]) -> ([f64; 6], Mode, f64) {
    let mut node = CoupledContact::on_one_tree(1, 3, 1e-12);
    node.laws.fill(law);
    let unit = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let x: Vec<f64> =
        unit.into_iter().chain(unit).chain([-1.0, slip[0], slip[1], 0.0, mu, 0.0]).collect();
    let (y, solution) = run(&node, &x);
    assert!(solution.report.status.is_solved(), "{:?}", solution.report);
    (y.try_into().unwrap(), solution.modes[0], solution.report.margin)
}

#[test]
fn a_relaxed_pyramid_projects_onto_its_faces() {
    let law = Law::RelaxedPyramid;
    let (mu, a, b) = (0.5, 2.0, 3.0);
    // Both sides: along (1, mu, -mu).
    let n = (1.0 + mu * (a + b)) / (1.0 + 2.0 * mu * mu);
    let (y, mode, margin) = point(law, mu, [-a, b]);
    let slip = [-a + mu * n, b - mu * n];
    let expected = [mu * (slip[1] - slip[0]), slip[0], slip[1], n, mu * n, -mu * n];
    assert_relative_eq!(y[..], expected[..], epsilon = 1e-12);
    assert_eq!(mode, Mode::Slide);
    // It stops slipping along the first tangent where its slip is 0.
    assert_relative_eq!(margin, -slip[0] / b, epsilon = 1e-12);
    // One side; along the other tangent friction holds.
    let n = (1.0 + mu * b) / (1.0 + mu * mu);
    let (y, mode, margin) = point(law, mu, [0.3, b]);
    assert_relative_eq!(y[1], 0.0, epsilon = 1e-12);
    assert_relative_eq!(y[3..], [n, -0.3, -mu * n][..], epsilon = 1e-12);
    assert_eq!(mode, Mode::Slide);
    assert_relative_eq!(margin, (n / b).min(1.0 - 0.3 / (mu * n)), epsilon = 1e-12);
    // Inside, and without friction.
    let (y, mode, margin) = point(law, mu, [0.3, -0.4]);
    assert_relative_eq!(y[..], [0.0, 0.0, 0.0, 1.0, -0.3, 0.4][..], epsilon = 1e-12);
    assert_eq!(mode, Mode::Stick);
    assert_relative_eq!(margin, 1.0 - 0.4 / mu, epsilon = 1e-12);
    let (y, ..) = point(law, 0.0, [0.3, -0.4]);
    assert_relative_eq!(y[..], [0.0, 0.3, -0.4, 1.0, 0.0, 0.0][..], epsilon = 1e-12);
}
