//! The nodes against 510 problems with answers computed in 80-bit arithmetic
//! (`reference/qcqp` of the shared folder).

use std::collections::BTreeMap;

use stiction::ad::{self, Dual, Node, NodeRule, Real, Var, with_node_rule};
use stiction::argmin::{
    DiskQcqp, NonnegativeQp, ProjectionMethod, ProjectionSettings, Report, Status,
};

use crate::shared::shared;

const PROBLEMS: usize = 510;
/// Problems of each family; `qp` has no `cube_mix` and no `cube_stick`.
const A_FAMILY: usize = 51;
const FAMILIES: [(&str, &str); 10] = [
    ("qcqp", "cube_mix"),
    ("qcqp", "cube_slide"),
    ("qcqp", "cube_stick"),
    ("qcqp", "illdense"),
    ("qcqp", "illdiag"),
    ("qcqp", "well"),
    ("qp", "cube_slide"),
    ("qp", "illdense"),
    ("qp", "illdiag"),
    ("qp", "well"),
];

/// One problem of the file; names and shapes as in its README.
pub struct Problem {
    kind: String,
    family: String,
    contacts: usize,
    seed: u64,
    n: usize,
    p: Vec<f64>,
    q: Vec<f64>,
    radius: Vec<f64>,
    w: Vec<f64>,
    z: Vec<f64>,
    dq: Vec<f64>,
    dr: Vec<f64>,
    /// n x directions; empty if P has full rank.
    v: Vec<f64>,
    directions: usize,
}

impl Problem {
    fn inputs(&self) -> Vec<f64> {
        let radius = if self.kind == "qp" { &[][..] } else { &self.radius };
        [&self.p, &self.q, radius].concat()
    }

    fn is_full_rank(&self) -> bool {
        self.directions == 0
    }

    fn name(&self) -> String {
        format!("{} {} {} {}", self.kind, self.family, self.contacts, self.seed)
    }

    // V'x where V is given.
    fn pull_back(&self, x: &[f64]) -> Vec<f64> {
        if self.is_full_rank() {
            return x.to_vec();
        }
        let column = |k: usize| self.v.iter().skip(k).step_by(self.directions);
        (0..self.directions).map(|k| column(k).zip(x).map(|(v, x)| v * x).sum()).collect()
    }

    /// |z - Proj(z - (Pz + q))| over max(|z|, |q_i / P_ii|), as the README measures it.
    fn natural_residual(&self, z: &[f64]) -> f64 {
        let target: Vec<f64> =
            product(&self.p, z).iter().zip(&self.q).zip(z).map(|((pz, q), z)| z - pz - q).collect();
        let projected: Vec<f64> = if self.kind == "qp" {
            target.iter().map(|t| t.max(0.0)).collect()
        } else {
            let disks = target.chunks(2).zip(&self.radius);
            disks
                .flat_map(|(t, r)| [0, 1].map(|k| t[k] * (r / t[0].hypot(t[1])).min(1.0)))
                .collect()
        };
        distance(z, &projected) / self.scale(z)
    }

    /// How much higher z is than the reference, over the terms of the objective; also where it is
    /// lower, because it left the set.
    fn objective_gap(&self, z: &[f64]) -> f64 {
        let terms = |z: &[f64]| -> (f64, f64) {
            let pz = product(&self.p, z);
            let each = z.iter().zip(&pz).zip(&self.q).map(|((z, pz), q)| (0.5 * z * pz, z * q));
            each.fold((0.0, 0.0), |(sum, size), (a, b)| (sum + a + b, size + a.abs() + b.abs()))
        };
        let ((found, size), (best, _)) = (terms(z), terms(&self.z));
        let gap = (found - best).abs();
        // Where all is 0, |z| is 1e-23 in the reference.
        if gap <= f64::EPSILON * self.scale(z) { 0.0 } else { gap / size }
    }

    /// max(|z|, |q_i / P_ii|): |z| alone can be 1e-23.
    fn scale(&self, z: &[f64]) -> f64 {
        let diagonal = self.p.iter().step_by(self.n + 1);
        diagonal.zip(&self.q).map(|(p, q)| (q / p).abs()).fold(largest(z), f64::max)
    }
}

fn product(p: &[f64], z: &[f64]) -> Vec<f64> {
    p.chunks(z.len()).map(|row| row.iter().zip(z).map(|(p, z)| p * z).sum()).collect()
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, x| m.max(x.abs()))
}

fn distance(x: &[f64], y: &[f64]) -> f64 {
    assert_eq!(x.len(), y.len());
    x.iter().zip(y).fold(0.0, |m, (x, y)| m.max((x - y).abs()))
}

fn relative(x: &[f64], reference: &[f64]) -> f64 {
    let error = distance(x, reference);
    if error == 0.0 { 0.0 } else { error / largest(reference) }
}

fn load() -> Option<Vec<Problem>> {
    let path = shared("reference/qcqp/problems.txt")?;
    let text = std::fs::read_to_string(path).expect("problems.txt is readable");
    let lines: Vec<&str> = text.lines().collect();
    Some(lines.chunks(11).map(parse).collect())
}

fn parse(lines: &[&str]) -> Problem {
    let head: Vec<&str> = lines[0].split(' ').collect();
    assert_eq!(head[0], "prob");
    let count = |k: usize| head[k].parse::<usize>().expect("a count");
    let numbers = |k: usize| -> Vec<f64> {
        lines[k].split_whitespace().map(|x| x.parse().expect("a number")).collect()
    };
    let contacts = count(3);
    let (lambda, mu) = (numbers(3), numbers(4));
    Problem {
        kind: head[1].into(),
        family: head[2].into(),
        contacts,
        seed: count(4) as u64,
        n: if head[1] == "qp" { contacts } else { 2 * contacts },
        p: numbers(1),
        q: numbers(2),
        radius: mu.iter().zip(&lambda).map(|(mu, lambda)| mu * lambda).collect(),
        w: numbers(5),
        z: numbers(6),
        dq: numbers(8),
        dr: numbers(9),
        v: numbers(10),
        directions: count(5),
    }
}

/// What the node answers: z, its report, and the adjoints of all inputs for L = w'z.
struct Answer {
    z: Vec<f64>,
    report: Report,
    adjoints: Vec<f64>,
}

fn answer<N: Node>(node: &N, problem: &Problem, report: impl Fn(&N::Solution) -> Report) -> Answer {
    let (inputs, mut z) = (problem.inputs(), vec![0.0; problem.n]);
    let mut solution = N::Solution::default();
    f64::call(node, &inputs, &mut z, &mut solution, &mut Default::default());
    let mut adjoints = vec![0.0; inputs.len()];
    let mut factor = Default::default();
    node.factor(&solution, &inputs, &z, &mut factor);
    node.vjp(&solution, &mut factor, &inputs, &z, &problem.w, &mut adjoints);
    Answer { z, report: report(&solution), adjoints }
}

fn solve(problem: &Problem, settings: ProjectionSettings) -> Answer {
    if problem.kind == "qp" {
        answer(&NonnegativeQp { n: problem.n, settings }, problem, |s| s.report)
    } else {
        answer(&DiskQcqp { contacts: problem.contacts, settings }, problem, |s| s.report)
    }
}

/// The largest of a figure a family, for the messages.
#[derive(Default)]
struct Worst(BTreeMap<(String, String), (f64, String)>);

impl Worst {
    fn note(&mut self, problem: &Problem, value: f64) {
        let entry = self.0.entry((problem.kind.clone(), problem.family.clone())).or_default();
        if entry.1.is_empty() || value.is_nan() || value > entry.0 {
            *entry = (value, problem.name());
        }
    }

    fn check(&self, what: &str, limit: impl Fn(&str) -> f64) {
        for ((kind, family), (value, name)) in &self.0 {
            println!("{what}: {kind} {family} {value:.1e} ({name})");
        }
        for ((_, family), (value, name)) in &self.0 {
            assert!(*value <= limit(family), "{what} of {name}: {value:e} > {:e}", limit(family));
        }
    }
}

#[test]
fn the_file_is_complete() {
    let Some(problems) = load() else { return };
    assert_eq!(problems.len(), PROBLEMS);
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for problem in &problems {
        *counts.entry((&problem.kind, &problem.family)).or_default() += 1;
        assert_eq!(problem.p.len(), problem.n * problem.n);
        assert_eq!(problem.v.len(), problem.n * problem.directions);
    }
    assert_eq!(counts, FAMILIES.map(|family| (family, A_FAMILY)).into());
}

#[test]
fn every_problem_is_solved() {
    let Some(problems) = load() else { return };
    let [mut residual, mut gap, mut error, mut motion] = <[Worst; 4]>::default();
    let mut solved = 0;
    for problem in &problems {
        let Answer { z, report, .. } = solve(problem, ProjectionSettings::default());
        let honest = (report.status == Status::Solved) == (report.residual <= 1e-12);
        assert!(honest, "{}: {report:?}", problem.name());
        solved += usize::from(report.status.is_solved());
        residual.note(problem, problem.natural_residual(&z));
        gap.note(problem, problem.objective_gap(&z));
        if problem.is_full_rank() {
            error.note(problem, distance(&z, &problem.z) / problem.scale(&z));
        }
        // Pz is unique for every P.
        let (pz, reference) = (product(&problem.p, &z), product(&problem.p, &problem.z));
        motion.note(problem, distance(&pz, &reference) / largest(&problem.q));
    }
    assert_eq!(solved, PROBLEMS);
    residual.check("natural residual", |_| 1e-10);
    gap.check("objective gap", |_| 1e-12);
    // Condition numbers of up to e^20 = 5e8 are left of 1e-16 in illdense.
    error.check("error of z", |family| if family == "illdense" { 1e-7 } else { 1e-12 });
    motion.check("error of Pz over q", |_| 1e-10);
}

#[test]
fn gradients_agree_with_the_reference() {
    let Some(problems) = load() else { return };
    let (mut dq, mut dr) = <(Worst, Worst)>::default();
    let mut all = Vec::new();
    for problem in &problems {
        let Answer { adjoints, .. } = solve(problem, ProjectionSettings::default());
        let (n, square) = (problem.n, problem.n * problem.n);
        let found = problem.pull_back(&adjoints[square..square + n]);
        let error = relative(&found, &problem.pull_back(&problem.dq));
        dq.note(problem, error);
        all.push(error);
        if problem.kind == "qcqp" {
            dr.note(problem, relative(&adjoints[square + n..], &problem.dr));
        }
    }
    dq.check("dL/dq", |_| 2e-8);
    dr.check("dL/dR", |_| 2e-8);
    all.sort_by(f64::total_cmp);
    let median = all[all.len() / 2];
    println!("median error of dL/dq: {median:.1e}");
    assert!(median <= 1e-10);
}

#[test]
fn admm_alone_solves_well_conditioned_problems() {
    let Some(problems) = load() else { return };
    let method = ProjectionMethod::Admm;
    let settings = ProjectionSettings { method, tolerance: 1e-9 };
    let mut residual = Worst::default();
    for problem in problems.iter().filter(|problem| !problem.family.starts_with("ill")) {
        let Answer { z, report, .. } = solve(problem, settings);
        assert!(report.status.is_solved(), "{}: {report:?}", problem.name());
        residual.note(problem, problem.natural_residual(&z));
    }
    residual.check("natural residual of ADMM", |_| 1e-8);
}

/// A direction in which z is differentiable: within the range of P where P is singular.
fn direction(problem: &Problem, random: &mut impl FnMut() -> f64) -> Vec<f64> {
    let (n, m) = (problem.n, problem.directions);
    let mut tangent = Vec::new();
    if problem.is_full_rank() {
        tangent.extend((0..n * n).map(|k| random() * largest(&problem.p[k..=k])));
        tangent.extend(problem.q.iter().map(|q| random() * q));
    } else {
        // dP = V C V', dq = V c
        let row = |i: usize| &problem.v[i * m..][..m];
        let inner = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        let c: Vec<Vec<f64>> = (0..=m).map(|_| (0..m).map(|_| random()).collect()).collect();
        for i in 0..n {
            let left: Vec<f64> = c[..m].iter().map(|c| inner(c, row(i))).collect();
            tangent.extend((0..n).map(|j| inner(&left, row(j))));
        }
        tangent.extend((0..n).map(|i| inner(&c[m], row(i))));
    }
    if problem.kind == "qcqp" {
        tangent.extend(problem.radius.iter().map(|r| random() * r));
    }
    tangent
}

/// w'dz by duals that pass nodes by `rule`.
fn forward<N: Node>(rule: NodeRule, node: &N, problem: &Problem, tangent: &[f64]) -> f64 {
    let inputs: Vec<Dual<f64, 1>> =
        problem.inputs().iter().zip(tangent).map(|(&x, &dx)| Dual::new(x, [dx])).collect();
    let mut z = vec![Dual::default(); problem.n];
    with_node_rule(rule, || {
        Real::call(node, &inputs, &mut z, &mut Default::default(), &mut Default::default());
    });
    z.iter().zip(&problem.w).map(|(z, w)| z.tangent[0] * w).sum()
}

/// The adjoints of all inputs, by the tape.
fn backward<N: Node>(node: &N, problem: &Problem) -> Vec<f64> {
    let record = |x: &[Var]| {
        let mut z = vec![Var::constant(0.0); problem.n];
        Real::call(node, x, &mut z, &mut Default::default(), &mut Default::default());
        z
    };
    ad::vjp(record, &problem.inputs(), |_| problem.w.clone()).expect("a fresh recording").1
}

fn compare_derivatives<N: Node>(node: &N, problem: &Problem, errors: &mut [Worst; 3]) {
    let mut state = 0x9e37_79b9_7f4a_7c15 ^ problem.seed;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    let tangent = direction(problem, &mut random);
    let adjoints = backward(node, problem);
    let terms = adjoints.iter().zip(&tangent).map(|(a, t)| a * t);
    let (vjp, scale): (f64, f64) = terms.fold((0.0, 0.0), |(s, m), t| (s + t, m + t.abs()));
    let jvp = forward(NodeRule::ByJvp, node, problem, &tangent);
    let residual = forward(NodeRule::ByResidual, node, problem, &tangent);
    let error = |a: f64, b: f64| {
        let difference = (a - b).abs();
        if difference == 0.0 { 0.0 } else { difference / scale.max(a.abs()).max(b.abs()) }
    };
    errors[0].note(problem, error(vjp, jvp));
    errors[1].note(problem, error(jvp, residual));
    if problem.contacts <= 4 {
        let unrolled = forward(NodeRule::Unrolled, node, problem, &tangent);
        errors[2].note(problem, error(jvp, unrolled));
    }
}

#[test]
fn derivatives_agree_with_each_other() {
    let Some(problems) = load() else { return };
    let mut errors = <[Worst; 3]>::default();
    for problem in problems.iter().filter(|problem| problem.contacts <= 16) {
        if problem.kind == "qp" {
            let node = NonnegativeQp { n: problem.n, ..Default::default() };
            compare_derivatives(&node, problem, &mut errors);
        } else {
            let node = DiskQcqp { contacts: problem.contacts, ..Default::default() };
            compare_derivatives(&node, problem, &mut errors);
        }
    }
    errors[0].check("vjp and jvp", |_| 1e-8);
    errors[1].check("jvp and residual duals", |_| 1e-8);
    errors[2].check("jvp and unrolled duals", |_| 1e-6);
}
