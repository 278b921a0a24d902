//! The coupled contact problem of a cube, `ncp/<scene>/<cold|warm|adjoint>`.

use std::hint::black_box;

use criterion::Criterion;
use stiction::ad::Node;
use stiction::argmin::{ContactSolution, CoupledContact};

const DT: f64 = 0.01;
const HALF: f64 = 0.05;

/// The inputs of the node for a cube of 1 kg: corners given relative to its centre, their targets,
/// and the velocity without contact [linear; angular].
fn problem(corners: &[([f64; 3], f64)], velocity: [f64; 6], mu: f64) -> (CoupledContact, Vec<f64>) {
    let inertia = 2.0 / 3.0 * HALF * HALF;
    let mut x = Vec::new();
    for ([rx, ry, rz], _) in corners {
        x.extend([0.0, 0.0, 1.0, *ry, -rx, 0.0]);
        x.extend([1.0, 0.0, 0.0, 0.0, *rz, -ry]);
        x.extend([0.0, 1.0, 0.0, -rz, 0.0, *rx]);
    }
    for i in 0..6 {
        let root = if i < 3 { 1.0 } else { inertia.sqrt() };
        x.extend((0..6).map(|k| if i == k { root } else { 0.0 }));
    }
    x.extend(velocity);
    x.extend(corners.iter().map(|(_, target)| target));
    x.extend(corners.iter().map(|_| mu));
    x.extend(corners.iter().map(|([rx, ry, _], _)| 1e-6 * (1.0 + (rx * rx + ry * ry) / inertia)));
    (CoupledContact::on_one_tree(corners.len(), 6, 1e-10), x)
}

fn scenes() -> Vec<(&'static str, CoupledContact, Vec<f64>)> {
    let (h, fall) = (HALF, -9.81 * DT);
    let flat = [[-h, -h, -h], [h, -h, -h], [-h, h, -h], [h, h, -h]].map(|r| (r, 0.0));
    // Tilted about both axes, so that one corner arrives first; the others are just above.
    let tilted = [([-0.055, -0.052, -0.045], 0.0), ([0.044, -0.055, -0.035], -0.9)];
    let tilted = [tilted[0], tilted[1], ([-0.052, 0.046, -0.037], -0.7)];
    [
        ("slide", problem(&flat, [1.0, 0.2, fall, 0.0, 0.0, 0.5], 0.4)),
        ("stick", problem(&flat, [0.02, 0.01, fall, 0.0, 0.0, 0.01], 0.5)),
        ("corner", problem(&tilted, [0.6, 0.2, -1.5, 2.0, -1.0, 0.5], 0.3)),
    ]
    .map(|(name, (node, x))| (name, node, x))
    .into()
}

/// Times a node from a default solution, from its own solution, and its adjoint.
fn measure<N: Node>(c: &mut Criterion, name: &str, node: &N, x: &[f64], outputs: usize) {
    let mut group = c.benchmark_group(name);
    let mut y = vec![0.0; outputs];
    let mut solution = N::Solution::default();
    let mut workspace = Default::default();
    group.bench_function("cold", |b| {
        b.iter(|| {
            solution = N::Solution::default();
            node.primal(black_box(x), &mut y, &mut solution, &mut workspace);
        });
    });
    node.primal(x, &mut y, &mut solution, &mut workspace);
    group.bench_function("warm", |b| {
        b.iter(|| node.primal(black_box(x), &mut y, &mut solution, &mut workspace));
    });
    let mut factor = Default::default();
    let seed: Vec<f64> = (0..outputs).map(|k| 1.0 - 0.1 * k as f64).collect();
    let mut adjoint = vec![0.0; x.len()];
    group.bench_function("adjoint", |b| {
        b.iter(|| {
            node.factor(&solution, black_box(x), &y, &mut factor);
            adjoint.fill(0.0);
            node.vjp(&solution, &mut factor, x, &y, black_box(&seed), &mut adjoint);
        });
    });
    group.finish();
}

pub fn ncp(c: &mut Criterion) {
    for (name, node, x) in scenes() {
        let (mut y, mut solution) = (vec![0.0; node.output_len()], ContactSolution::default());
        node.primal(&x, &mut y, &mut solution, &mut Default::default());
        assert!(solution.report.status.is_solved(), "{name}: {:?}", solution.report);
        measure(c, &format!("ncp/{name}"), &node, &x, node.output_len());
    }
}
