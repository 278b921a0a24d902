//! The projections, `qp/<family>-<n>/<method>` and `qcqp/<family>-<contacts>/<method>`, on problems made
//! here: `default` and `admm` from nothing to the same tolerance, `clarabel` with its set-up,
//! `adjoint` from the factorisation to the adjoints of all inputs.
//!
//! Each id goes round [`PROBLEMS`] problems of the family; a time is that of one.

use std::hint::black_box;

use criterion::{BenchmarkGroup, Criterion, measurement::WallTime};
use stiction::ad::Node;
use stiction::argmin::{DiskQcqp, NonnegativeQp, ProjectionMethod, ProjectionSettings};

use crate::clarabel_peer;
use crate::families::{Family, Problem, disks, half_lines};

const PROBLEMS: u64 = 8;

/// On half-lines; one variable is a division.
pub fn qp(c: &mut Criterion) {
    for family in Family::OF_QP {
        for n in [4, 16, 64] {
            let problems: Vec<Problem> = (0..PROBLEMS).map(|k| half_lines(family, n, k)).collect();
            let mut group = c.benchmark_group(format!("qp/{}-{n}", family.name()));
            measure(&mut group, &problems, |settings| NonnegativeQp { n, settings });
            group.finish();
        }
    }
}

/// On disks.
pub fn qcqp(c: &mut Criterion) {
    for family in Family::ALL {
        for contacts in [1, 4, 16, 64] {
            let problems: Vec<Problem> =
                (0..PROBLEMS).map(|k| disks(family, contacts, k)).collect();
            let mut group = c.benchmark_group(format!("qcqp/{}-{contacts}", family.name()));
            measure(&mut group, &problems, |settings| DiskQcqp { contacts, settings });
            group.finish();
        }
    }
}

fn measure<N: Node>(
    group: &mut BenchmarkGroup<WallTime>,
    problems: &[Problem],
    node: impl Fn(ProjectionSettings) -> N,
) {
    let inputs: Vec<Vec<f64>> = problems.iter().map(Problem::inputs).collect();
    let mut z = vec![0.0; problems[0].q.len()];
    let settings = ProjectionSettings::default();
    let admm = ProjectionSettings { method: ProjectionMethod::Admm, ..settings };
    for (name, node) in [("default", node(settings)), ("admm", node(admm))] {
        let (mut workspace, mut k) = (Default::default(), 0);
        group.bench_function(name, |b| {
            b.iter(|| {
                k = (k + 1) % inputs.len();
                let mut solution = N::Solution::default();
                node.primal(black_box(&inputs[k]), &mut z, &mut solution, &mut workspace);
                solution
            });
        });
    }
    let mut k = 0;
    group.bench_function("clarabel", |b| {
        b.iter(|| {
            k = (k + 1) % problems.len();
            clarabel_peer::solve(black_box(&problems[k]))
        });
    });
    let node = node(settings);
    let mut workspace = Default::default();
    let solved: Vec<(N::Solution, Vec<f64>)> = inputs
        .iter()
        .map(|inputs| {
            let mut solution = N::Solution::default();
            node.primal(inputs, &mut z, &mut solution, &mut workspace);
            (solution, z.clone())
        })
        .collect();
    let (mut factor, mut adjoints, mut k) = (Default::default(), vec![0.0; inputs[0].len()], 0);
    group.bench_function("adjoint", |b| {
        b.iter(|| {
            k = (k + 1) % inputs.len();
            let ((solution, z), x) = (&solved[k], black_box(&inputs[k]));
            node.factor(solution, x, z, &mut factor);
            adjoints.fill(0.0);
            node.vjp(solution, &mut factor, x, z, &problems[k].w, &mut adjoints);
        });
    });
}
