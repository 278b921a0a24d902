//! The defects of a trajectory of 1000 steps, of a cart with a pole: their Jacobian by columns, by rows
//! and dense, and the Hessian of their squares: `sparse/trajectory1000/<what>`.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use stiction::ad::sparse::{SparseHessian, SparseJacobian, hessian_pattern, jacobian_pattern};
use stiction::ad::{self, Real};

const BLOCK: usize = 5;
const STEPS: usize = 1000;

fn defects<T: Real>(z: &[T]) -> Vec<T> {
    let mut defects = Vec::with_capacity(z.len());
    for pair in z.windows(2 * BLOCK).step_by(BLOCK) {
        let [_, angle, velocity, rate, force] = [0, 1, 2, 3, 4].map(|k| pair[k]);
        let (sin, cos) = angle.sin_cos();
        let mass = sin * sin * 0.3 + 1.0;
        let cart = (force + sin * (rate * rate * 0.15 + cos * 2.9)) / mass;
        let pole = (sin * 19.6 + cos * cart) * -2.0;
        for (k, slope) in [velocity, rate, cart, pole].into_iter().enumerate() {
            defects.push(pair[BLOCK + k] - (pair[k] + slope * 0.02));
        }
    }
    defects
}

fn squares<T: Real>(z: &[T]) -> T {
    defects(z).into_iter().fold(T::zero(), |sum, d| sum + d * d)
}

fn trajectory1000(c: &mut Criterion) {
    let z: Vec<f64> = (0..BLOCK * (STEPS + 1)).map(|k| (k as f64).sin()).collect();
    let mut group = c.benchmark_group("sparse/trajectory1000");
    group.bench_function("primal", |b| b.iter(|| defects(black_box(&z))));
    group.bench_function("detect", |b| b.iter(|| jacobian_pattern(defects, black_box(&z))));
    let pattern = jacobian_pattern(defects, &z).expect("a pattern");
    group.bench_function("color", |b| b.iter(|| SparseJacobian::new(pattern.clone())));
    let jacobian = SparseJacobian::new(pattern);
    let mut values = vec![0.0; jacobian.pattern().nnz()];
    group.bench_function("columns", |b| {
        b.iter(|| jacobian.evaluate_by_columns::<8>(defects, black_box(&z), &mut values));
    });
    group.bench_function("rows", |b| {
        b.iter(|| jacobian.evaluate_by_rows(defects, black_box(&z), &mut values));
    });
    group.bench_function("record", |b| {
        b.iter(|| {
            let recording = ad::Recording::start();
            let z = recording.variables(black_box(&z));
            defects(&z)
        });
    });
    group.bench_function("dense", |b| b.iter(|| ad::jacobian::<8>(defects, black_box(&z))));
    group.bench_function("gradient", |b| b.iter(|| ad::gradient(squares, black_box(&z))));
    group.bench_function("hessian_detect", |b| b.iter(|| hessian_pattern(squares, black_box(&z))));
    let pattern = hessian_pattern(squares, &z).expect("a pattern");
    group.bench_function("hessian_color", |b| b.iter(|| SparseHessian::new(pattern.clone())));
    let hessian = SparseHessian::new(pattern).expect("a square pattern");
    let mut gradient = vec![0.0; z.len()];
    let mut values = vec![0.0; hessian.pattern().nnz()];
    group.bench_function("hessian", |b| {
        b.iter(|| hessian.evaluate::<8>(squares, black_box(&z), &mut gradient, &mut values));
    });
    group.finish();
}

fn quick() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1))
}

criterion_group!(name = benches; config = quick(); targets = trajectory1000);
criterion_main!(benches);
