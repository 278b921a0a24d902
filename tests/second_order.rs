//! Second derivatives through the argmin nodes: the tape over duals (the nodes' `vjp` run on duals)
//! against nested duals by `jvp` and through the iterations, and against differences of gradients.

use std::fmt::Debug;

use nalgebra::DMatrix;
use stiction::ad::{self, Dual, Function, LANES, Node, NodeRule, Real, with_node_rule};
use stiction::argmin::{
    BoundMode, BoundSolution, ContactSolution, CoupledContact, DiskMode, DiskQcqp, DiskSolution,
    Mode, NonnegativeQp, Report,
};

use crate::random::Random;

/// Parameters of a problem.
const N: usize = 3;

/// Inputs of a node as a polynomial of the parameters, and a function of its outputs that is not
/// linear: so that all second derivatives of the node play a part.
#[derive(Clone)]
struct Problem<K> {
    node: K,
    outputs: usize,
    base: Vec<f64>,
    slopes: Vec<[f64; N]>,
    curvatures: Vec<[f64; N]>,
    weights: Vec<f64>,
}

impl<K: Node> Problem<K> {
    /// `symmetric` is the size of the matrix at the front that must stay so.
    fn new(random: &mut Random, node: K, base: Vec<f64>, outputs: usize, symmetric: usize) -> Self {
        let mut slopes: Vec<[f64; N]> = base.iter().map(|_| random.vector(0.05)).collect();
        let mut curvatures: Vec<[f64; N]> = base.iter().map(|_| random.vector(0.05)).collect();
        for i in 0..symmetric {
            for k in 0..i {
                slopes[i * symmetric + k] = slopes[k * symmetric + i];
                curvatures[i * symmetric + k] = curvatures[k * symmetric + i];
            }
        }
        let weights = (0..outputs).map(|_| random.uniform(-1.0, 1.0)).collect();
        Problem { node, outputs, base, slopes, curvatures, weights }
    }

    fn inputs<T: Real>(&self, x: &[T]) -> Vec<T> {
        let input = |k: usize| {
            let (slope, curvature) = (&self.slopes[k], &self.curvatures[k]);
            (0..N).fold(T::constant(self.base[k]), |sum, j| {
                sum + x[j] * slope[j] + x[j] * x[(j + 1) % N] * curvature[j]
            })
        };
        (0..self.base.len()).map(input).collect()
    }

    fn solve<T: Real>(&self, x: &[T]) -> (Vec<T>, K::Solution) {
        let (mut y, mut solution) = (vec![T::zero(); self.outputs], K::Solution::default());
        T::call(&self.node, &self.inputs(x), &mut y, &mut solution, &mut Default::default());
        (y, solution)
    }

    fn loss<T: Real>(&self, x: &[T]) -> T {
        let (y, _) = self.solve(x);
        y.iter().zip(&self.weights).fold(T::zero(), |sum, (&y, &w)| sum + (y * 1.3 + w).sin())
    }
}

impl<K: Node> Function for Problem<K> {
    fn evaluate<T: Real>(&self, x: &[T]) -> Vec<T> {
        vec![self.loss(x)]
    }
}

/// By duals nested in two layers: the gradient and the Hessian.
fn nested(rule: NodeRule, f: &impl Function, at: &[f64; N]) -> ([f64; N], DMatrix<f64>) {
    let seed = |i: usize, k: usize| f64::from(u8::from(i == k));
    let mut slopes = [0.0; N];
    let hessian = DMatrix::from_fn(N, N, |i, j| {
        let lifted = |k: usize| Dual::<f64, 1>::new(at[k], [seed(j, k)]);
        let x: [Dual<Dual<f64, 1>, 1>; N] =
            std::array::from_fn(|k| Dual::new(lifted(k), [Dual::constant(seed(i, k))]));
        let y = with_node_rule(rule, || f.evaluate(&x)[0]);
        slopes[j] = y.value.tangent[0];
        y.tangent[0].tangent[0]
    });
    (slopes, hessian)
}

/// How far ways may differ, relative to the largest entry.
struct Tolerance {
    /// Both linearise the same conditions: roundings of solves with condition numbers up to some 1e4.
    linearised: f64,
    /// The solver stops at a tolerance; the second derivative converges a step after the first.
    unrolled: f64,
}

const TOLERANCE: Tolerance = Tolerance { linearised: 1e-10, unrolled: 1e-7 };

/// Step of the differences, and how far off they may be: h^2 times derivatives of the fourth order of
/// problems that bend at a scale of some 0.1, and the solver's 1e-10 over h.
const STEP: f64 = 1e-4;
const DIFFERENCES: f64 = 1e-4;

/// Compares all ways at `at`.
fn compare(name: &str, f: &impl Function, at: &[f64; N]) {
    let (_, g, h) = ad::hessian::<LANES>(|x| f.evaluate(x)[0], at).unwrap();
    let (_, first) = ad::gradient(|x| f.evaluate(x)[0], at).unwrap();
    let scale = h.amax().max(g.iter().fold(0.0, |s, g| g.abs().max(s)));
    assert!(scale > 1e-3, "{name}: flat: {g:?} {h}");
    let check = |way: &str, found: &DMatrix<f64>, tolerance: f64| {
        let error = (found - &h).amax();
        assert!(error <= tolerance * scale, "{name}: {way}: {error:e} of {scale}: {found} {h}");
    };
    let check_slopes = |way: &str, found: &[f64], tolerance: f64| {
        for (a, b) in found.iter().zip(&g) {
            assert!((a - b).abs() <= tolerance * scale, "{name}: {way}: {found:?} of {g:?}");
        }
    };
    check("transpose", &h.transpose(), TOLERANCE.linearised);
    check_slopes("first", &first, TOLERANCE.linearised);
    let (slopes, by_jvp) = nested(NodeRule::ByJvp, f, at);
    check("jvp", &by_jvp, TOLERANCE.linearised);
    check_slopes("jvp", &slopes, TOLERANCE.linearised);
    let (slopes, unrolled) = nested(NodeRule::Unrolled, f, at);
    check("unrolled", &unrolled, TOLERANCE.unrolled);
    check_slopes("unrolled", &slopes, TOLERANCE.unrolled);
    // Products with directions, and differences of gradients along them.
    for direction in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.6, -0.5, 0.4]] {
        let along = DMatrix::from_column_slice(N, 1, &direction);
        let (_, slopes, product) =
            ad::hessian_times::<LANES>(|x| f.evaluate(x)[0], at, &along).unwrap();
        check_slopes("product", &slopes, TOLERANCE.linearised);
        let shifted = |h: f64| {
            let x: [f64; N] = std::array::from_fn(|k| at[k] + h * direction[k]);
            ad::gradient(|x| f.evaluate(x)[0], &x).unwrap().1
        };
        let (ahead, behind) = (shifted(STEP), shifted(-STEP));
        for i in 0..N {
            let expected: f64 = (0..N).map(|k| h[(i, k)] * direction[k]).sum();
            let error = (product[i] - expected).abs();
            assert!(error <= TOLERANCE.linearised * scale, "{name}: product: {product:?} of {h}");
            let difference = (ahead[i] - behind[i]) / (2.0 * STEP);
            let error = (product[i] - difference).abs();
            assert!(error <= DIFFERENCES * scale, "{name}: {product:?}, {i}: {difference}, {h}");
        }
    }
}

/// A solution away from the borders between its modes, which are those of its neighbours then.
fn is_regular(report: &Report) -> bool {
    report.status.is_solved() && report.margin > 1e-2
}

/// A positive definite matrix.
fn matrix(random: &mut Random, n: usize) -> Vec<f64> {
    let a: Vec<f64> = (0..n * n).map(|_| random.uniform(-1.0, 1.0)).collect();
    let dot = |i: usize, k: usize| (0..n).map(|l| a[i * n + l] * a[k * n + l]).sum::<f64>();
    (0..n * n).map(|i| dot(i / n, i % n) + f64::from(u8::from(i / n == i % n))).collect()
}

fn bounded(random: &mut Random) -> Problem<NonnegativeQp> {
    let n = 4;
    let mut base = matrix(random, n);
    base.extend((0..n).map(|_| random.uniform(-2.0, 2.0)));
    let node = NonnegativeQp { n, ..Default::default() };
    Problem::new(random, node, base, n, n)
}

/// Of three disks one may be a point.
fn disks(random: &mut Random, point: bool) -> Problem<DiskQcqp> {
    let contacts = 3;
    let n = 2 * contacts;
    let mut base = matrix(random, n);
    base.extend((0..n).map(|_| random.uniform(-2.0, 2.0)));
    base.extend((0..contacts).map(|_| random.uniform(0.2, 1.5)));
    let node = DiskQcqp { contacts, ..Default::default() };
    let mut problem = Problem::new(random, node, base, n, n);
    if point {
        // A radius that stays 0: its derivative is one-sided.
        let last = problem.base.len() - 1;
        problem.base[last] = 0.0;
        problem.slopes[last] = [0.0; N];
        problem.curvatures[last] = [0.0; N];
    }
    problem
}

fn contact(random: &mut Random, contacts: usize, compliance: f64) -> Problem<CoupledContact> {
    let node = CoupledContact::on_one_tree(contacts, 6, 1e-11);
    let mut base = Vec::new();
    for _ in 0..contacts {
        let r = [random.uniform(-0.3, 0.3), random.uniform(-0.3, 0.3), -0.1];
        base.extend([0.0, 0.0, 1.0, r[1], -r[0], 0.0]);
        base.extend([1.0, 0.0, 0.0, 0.0, r[2], -r[1]]);
        base.extend([0.0, 1.0, 0.0, -r[2], 0.0, r[0]]);
    }
    for i in 0..36 {
        let size = if i / 6 < 3 { 1.0 } else { 0.5 };
        base.push(match i % 6 {
            k if k == i / 6 => size,
            k if k < i / 6 => random.uniform(-0.05, 0.05),
            _ => 0.0,
        });
    }
    let mut v = random.vector::<6>(0.5);
    v[2] = random.uniform(-1.0, 0.2);
    base.extend(v);
    base.extend((0..contacts).map(|_| 0.0));
    base.extend((0..contacts).map(|_| random.uniform(0.1, 1.5)));
    base.extend((0..contacts).map(|_| compliance));
    let outputs = node.output_len();
    let len = base.len();
    let mut problem = Problem::new(random, node, base, outputs, 0);
    // Compliances stay positive, or zero.
    for k in len - contacts..len {
        problem.slopes[k] = problem.slopes[k].map(|x| x * compliance);
        problem.curvatures[k] = [0.0; N];
    }
    problem
}

/// Counts how often each mode was compared.
fn count<M: PartialEq + Copy + Debug>(seen: &mut Vec<(M, usize)>, modes: &[M]) {
    for &mode in modes {
        match seen.iter_mut().find(|(m, _)| *m == mode) {
            Some((_, n)) => *n += 1,
            None => seen.push((mode, 1)),
        }
    }
}

fn assert_seen<M: PartialEq + Copy + Debug>(seen: &[(M, usize)], modes: &[M], least: usize) {
    for mode in modes {
        let n = seen.iter().find(|(m, _)| m == mode).map_or(0, |(_, n)| *n);
        assert!(n >= least, "{mode:?} only {n} times: {seen:?}");
    }
}

#[test]
fn through_a_quadratic_program() {
    let (mut random, mut seen) = (Random(31), Vec::new());
    for case in 0..40 {
        let problem = bounded(&mut random);
        let at = random.vector(0.2);
        let BoundSolution { report, modes, .. } = problem.solve(&at).1;
        // Where all are at their bounds nothing moves.
        if is_regular(&report) && modes.contains(&BoundMode::Free) {
            count(&mut seen, &modes);
            compare(&format!("bounds {case}: {modes:?}"), &problem, &at);
        }
    }
    assert_seen(&seen, &[BoundMode::Free, BoundMode::Active], 20);
}

#[test]
fn through_projections_on_disks() {
    let (mut random, mut seen) = (Random(32), Vec::new());
    for case in 0..40 {
        let problem = disks(&mut random, case % 4 == 0);
        let at = random.vector(0.2);
        let DiskSolution { report, modes, .. } = problem.solve(&at).1;
        if is_regular(&report) {
            count(&mut seen, &modes);
            compare(&format!("disks {case}: {modes:?}"), &problem, &at);
        }
    }
    assert_seen(&seen, &[DiskMode::Stick, DiskMode::Slide, DiskMode::None], 5);
}

#[test]
fn through_the_coupled_contact_problem() {
    let (mut random, mut seen) = (Random(33), Vec::new());
    for case in 0..60 {
        let contacts = 1 + case % 3;
        let problem = contact(&mut random, contacts, if case % 2 == 0 { 1e-2 } else { 0.0 });
        let at = random.vector(0.2);
        let ContactSolution { report, modes, .. } = problem.solve(&at).1;
        if is_regular(&report) {
            count(&mut seen, &modes);
            compare(&format!("contact {case}: {modes:?}"), &problem, &at);
        }
    }
    assert_seen(&seen, &[Mode::Break, Mode::Stick, Mode::Slide], 10);
}

/// All three nodes in one function, the outputs of one among the inputs of the next.
struct Chain {
    bounded: Problem<NonnegativeQp>,
    disks: Problem<DiskQcqp>,
    contact: Problem<CoupledContact>,
}

impl Function for Chain {
    fn evaluate<T: Real>(&self, x: &[T]) -> Vec<T> {
        let (z, _) = self.bounded.solve(x);
        let (w, _) = self.disks.solve(&[x[0] + z[0] * 0.1, x[1] - z[1] * 0.1, x[2] * 0.5]);
        let y = self.contact.loss(&[x[0] - w[0] * 0.1, x[1] + w[3] * 0.1, x[2]]);
        let sum = z.iter().chain(&w).fold(T::zero(), |sum, &z| sum + z * 0.4);
        vec![y * 2.0 + sum.sin() - self.disks.loss(x) * 0.5 + self.bounded.loss(&w[..3]) * 0.1]
    }
}

#[test]
fn through_combinations_of_nodes() {
    let mut random = Random(34);
    let mut compared = 0;
    for case in 0..20 {
        let chain = Chain {
            bounded: bounded(&mut random),
            disks: disks(&mut random, false),
            contact: contact(&mut random, 2, 1e-2),
        };
        let at: [f64; N] = random.vector(0.1);
        // All problems along the chain are away from borders.
        let (z, first) = chain.bounded.solve(&at);
        let moved = [at[0] + z[0] * 0.1, at[1] - z[1] * 0.1, at[2] * 0.5];
        let (w, second) = chain.disks.solve(&moved);
        let third = chain.contact.solve(&[at[0] - w[0] * 0.1, at[1] + w[3] * 0.1, at[2]]).1;
        let (fourth, fifth) = (chain.disks.solve(&at).1, chain.bounded.solve(&w[..3]).1);
        let reports = [first.report, second.report, third.report, fourth.report, fifth.report];
        if reports.iter().all(is_regular) {
            compared += 1;
            compare(&format!("chain {case}"), &chain, &at);
        }
    }
    assert!(compared >= 8, "{compared}");
}
