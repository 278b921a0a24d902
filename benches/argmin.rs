//! The contact problems of a cube: the coupled one, `ncp/<scene>/<cold|warm|adjoint>`, and the two that
//! staggered projections alternate, `qp/<scene>/...` and `qcqp/<scene>/...`.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use stiction::ad::Node;
use stiction::argmin::{
    ContactSolution, CoupledContact, DiskQcqp, NonnegativeQp, ProjectionSettings,
};

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

fn ncp(c: &mut Criterion) {
    for (name, node, x) in scenes() {
        let (mut y, mut solution) = (vec![0.0; node.output_len()], ContactSolution::default());
        node.primal(&x, &mut y, &mut solution, &mut Default::default());
        assert!(solution.report.status.is_solved(), "{name}: {:?}", solution.report);
        measure(c, &format!("ncp/{name}"), &node, &x, node.output_len());
    }
}

/// The normal problem without friction, and the friction problem under its impulses.
fn projections(c: &mut Criterion) {
    for (name, node, x) in scenes() {
        let (contacts, nv) = (node.contacts, node.velocities);
        let (rows, rest) = x.split_at(3 * contacts * nv);
        let (l, rest) = rest.split_at(nv * nv);
        let (free, mu) = (&rest[..nv], rest[nv + contacts]);
        // G = J M^-1 J' and b = J v_p; the mass is diagonal here.
        let row = |r: usize| &rows[r * nv..(r + 1) * nv];
        let g = |a: usize, b: usize| -> f64 {
            (0..nv).map(|k| row(a)[k] * row(b)[k] / (l[k * nv + k] * l[k * nv + k])).sum()
        };
        let b = |a: usize| -> f64 { row(a).iter().zip(free).map(|(j, v)| j * v).sum() };
        let problem = |rows: &[usize]| -> Vec<f64> {
            let p = rows.iter().flat_map(|&i| rows.iter().map(move |&j| (i, j)));
            p.map(|(i, j)| g(i, j)).chain(rows.iter().map(|&i| b(i))).collect()
        };
        let normals: Vec<usize> = (0..contacts).map(|i| 3 * i).collect();
        let tangents: Vec<usize> = (0..contacts).flat_map(|i| [3 * i + 1, 3 * i + 2]).collect();
        let settings = ProjectionSettings::default();
        let qp = NonnegativeQp { n: contacts, settings };
        let x = problem(&normals);
        measure(c, &format!("qp/{name}"), &qp, &x, contacts);
        let mut impulses = vec![0.0; contacts];
        qp.primal(&x, &mut impulses, &mut Default::default(), &mut Default::default());
        let mut x = problem(&tangents);
        x.extend(impulses.iter().map(|n| mu * n));
        let qcqp = DiskQcqp { contacts, settings };
        measure(c, &format!("qcqp/{name}"), &qcqp, &x, 2 * contacts);
    }
}

fn quick() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600))
}

criterion_group!(name = benches; config = quick(); targets = ncp, projections);
criterion_main!(benches);
