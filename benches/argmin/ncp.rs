//! The coupled contact problem, `ncp/<scene>/<cold|warm|adjoint>`: from nothing; from the impulses of the
//! step before, as along a trajectory; factorisation and adjoint.

use std::hint::black_box;

use criterion::Criterion;
use stiction::ad::Node;
use stiction::argmin::ContactSolution;

use crate::contact_problems::{Step, all};

pub fn ncp(c: &mut Criterion) {
    for (name, Step { node, inputs, before }) in all() {
        let mut group = c.benchmark_group(format!("ncp/{name}"));
        let (mut y, mut workspace) = (vec![0.0; node.output_len()], Default::default());
        let mut solution = ContactSolution::default();
        node.primal(&before, &mut y, &mut solution, &mut workspace);
        let last = solution.impulses.clone();
        for (way, start) in [("cold", &[][..]), ("warm", &last)] {
            group.bench_function(way, |b| {
                b.iter(|| {
                    solution.impulses.clear();
                    solution.impulses.extend_from_slice(start);
                    node.primal(black_box(&inputs), &mut y, &mut solution, &mut workspace);
                });
            });
            assert!(solution.report.status.is_solved(), "{name}: {:?}", solution.report);
        }
        let mut factor = Default::default();
        let seed: Vec<f64> = (0..y.len()).map(|k| 1.0 - 0.1 * k as f64).collect();
        let mut adjoint = vec![0.0; inputs.len()];
        group.bench_function("adjoint", |b| {
            b.iter(|| {
                node.factor(&solution, black_box(&inputs), &y, &mut factor);
                adjoint.fill(0.0);
                node.vjp(&solution, &mut factor, &inputs, &y, black_box(&seed), &mut adjoint);
            });
        });
        group.finish();
    }
}
