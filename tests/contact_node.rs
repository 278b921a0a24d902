//! The coupled contact node on random problems: laws, and derivatives against each other.

use stiction::ad::{self, NodeRule, Real, with_node_rule};
use stiction::argmin::{ContactSolution, CoupledContact, Mode};

use crate::random::Random;

/// A random problem: generic rows, or those of corners of a flat box (dependent).
fn problem(
    random: &mut Random,
    contacts: usize,
    flat: bool,
    compliance: f64,
) -> (CoupledContact, Vec<f64>) {
    let node = CoupledContact::on_one_tree(contacts, 6, 1e-10);
    let mut x = Vec::new();
    for i in 0..contacts {
        let r = if flat {
            [[-1.0, 1.0][i % 2] * 0.3, [-1.0, 1.0][i / 2 % 2] * 0.2, -0.1]
        } else {
            [random.uniform(-0.3, 0.3), random.uniform(-0.3, 0.3), -0.1]
        };
        // Point velocity v + w x r, rows z, x, y.
        let rows = [
            [0.0, 0.0, 1.0, r[1], -r[0], 0.0],
            [1.0, 0.0, 0.0, 0.0, r[2], -r[1]],
            [0.0, 1.0, 0.0, -r[2], 0.0, r[0]],
        ];
        x.extend(rows.iter().flatten());
    }
    let mut l = [0.0; 36];
    for i in 0..6 {
        for k in 0..i {
            l[i * 6 + k] = if flat { 0.0 } else { random.uniform(-0.05, 0.05) };
        }
        l[i * 6 + i] = if i < 3 { 1.0 } else { random.uniform(0.1, 0.3) };
    }
    x.extend(l);
    let mut v = random.vector::<6>(1.0);
    v[2] = -random.uniform(0.05, 1.0);
    x.extend(v);
    x.extend((0..contacts).map(|_| 0.0));
    x.extend((0..contacts).map(|_| random.uniform(0.1, 1.0)));
    x.extend((0..contacts).map(|_| compliance));
    (node, x)
}

fn run<T: Real>(node: &CoupledContact, x: &[T]) -> (Vec<T>, ContactSolution) {
    let mut y = vec![T::zero(); node.output_len()];
    let mut solution = ContactSolution::default();
    T::call(node, x, &mut y, &mut solution, &mut Default::default());
    (y, solution)
}

#[test]
fn solutions_obey_the_laws() {
    let mut random = Random(1);
    let mut seen = std::collections::HashMap::<Mode, usize>::new();
    let mut unsolved = 0;
    for case in 0..2000 {
        let contacts = 1 + case % 6;
        let flat = case % 3 == 0;
        let compliance = if case % 2 == 0 { 1e-6 } else { 0.0 };
        let (node, x) = problem(&mut random, contacts, flat, compliance);
        let (y, solution) = run(&node, &x);
        // Compliances this small leave a few of the crooked ones unsolved, and said to be so.
        if !solution.report.status.is_solved() {
            assert!(
                !flat && solution.report.residual > 1e-10,
                "case {case}: {:?}",
                solution.report
            );
            unsolved += 1;
            continue;
        }
        let (v, lambda) = y.split_at(6);
        for i in 0..contacts {
            *seen.entry(solution.modes[i]).or_default() += 1;
            let u: Vec<f64> =
                (0..3).map(|r| (0..6).map(|k| x[(3 * i + r) * 6 + k] * v[k]).sum()).collect();
            let mu = x[x.len() - 2 * contacts + i];
            let (n, t) = (lambda[3 * i], lambda[3 * i + 1].hypot(lambda[3 * i + 2]));
            let gap = u[0] + compliance * n;
            assert!(n >= -1e-12 && gap >= -1e-9 && n * gap < 1e-9, "case {case}: {n} {gap}");
            assert!(t <= mu * n + 1e-9, "case {case}: friction {t} over {}", mu * n);
            // Maximum dissipation: lambda_t . u_t = -mu lambda_n |u_t|
            let power = lambda[3 * i + 1] * u[1] + lambda[3 * i + 2] * u[2];
            assert!((power + mu * n * u[1].hypot(u[2])).abs() < 1e-9, "case {case}");
        }
    }
    assert!(unsolved <= 20, "{unsolved}");
    for mode in [Mode::Break, Mode::Stick, Mode::Slide] {
        assert!(seen.get(&mode).copied().unwrap_or(0) > 200, "{mode:?} hardly occurs: {seen:?}");
    }
}

#[test]
fn four_ways_to_differentiate_agree() {
    let mut random = Random(2);
    let (mut checked, mut worst_unrolled) = (0, 0.0_f64);
    for case in 0..300 {
        let contacts = 1 + case % 4;
        let flat = case % 3 == 0;
        let compliance = if case % 2 == 0 { 1e-4 } else { 0.0 };
        let (node, x) = problem(&mut random, contacts, flat, compliance);
        let (y, solution) = run(&node, &x);
        if solution.report.margin < 1e-6 {
            continue;
        }
        checked += 1;
        let dx: Vec<f64> = x.iter().map(|_| random.uniform(-1.0, 1.0)).collect();
        let w: Vec<f64> = y.iter().map(|_| random.uniform(-1.0, 1.0)).collect();
        let [jvp, residual, unrolled] = [NodeRule::ByJvp, NodeRule::ByResidual, NodeRule::Unrolled]
            .map(|rule| with_node_rule(rule, || ad::jvp(|x| run(&node, x).0, &x, &dx).unwrap().1));
        let (_, adjoint) = ad::vjp(|x| run(&node, x).0, &x, |_| w.clone()).unwrap();
        let scale = jvp.iter().fold(1.0_f64, |s, t| s.max(t.abs()));
        for k in 0..y.len() {
            assert!(
                (jvp[k] - residual[k]).abs() <= 1e-8 * scale,
                "case {case}, {:?}: jvp {jvp:?}, residual {residual:?}",
                solution.modes,
            );
            worst_unrolled = worst_unrolled.max((jvp[k] - unrolled[k]).abs() / scale);
        }
        let forward: f64 = w.iter().zip(&jvp).map(|(a, b)| a * b).sum();
        let backward: f64 = adjoint.iter().zip(&dx).map(|(a, b)| a * b).sum();
        assert!((forward - backward).abs() <= 1e-8 * scale, "case {case}: {forward} {backward}");
    }
    assert!(checked > 250, "{checked}");
    assert!(worst_unrolled < 1e-6, "{worst_unrolled}");
}
