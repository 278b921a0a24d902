//! The differentiation engine beside its peers: `ad/<case>/<engine>`. Engines: primal (on f64), lanes
//! (duals), tape, steps (a block a step), num-dual, echidna. The rates criterion prints are per
//! operation of the function, as the tape counts them. Linear systems are the cases `spd6` to `spd48`;
//! `long` and `threads` compare the engine with itself and have names of their own.

#[path = "ad/pendulum.rs"]
mod pendulum;

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use num_traits::One;
use stiction::ad::{self, Accumulation, Checkpointing, Dual, Real, Recording, Var};
use stiction::linalg::SpdSolve;

/// The operations that `f` records.
fn operations(f: impl FnOnce(&[Var]) -> Var, x: &[f64]) -> Throughput {
    let recording = Recording::start();
    let x = recording.variables(x);
    black_box(f(&x));
    Throughput::Elements((recording.operations() - x.len()) as u64)
}

fn six<T: Copy>(x: &[T]) -> [T; 6] {
    std::array::from_fn(|k| x[k])
}

fn pendulum_rollout<T: Real>(p: &[T]) -> T {
    pendulum::generic::rollout(&six(p), T::constant)
}

fn pendulum_case(c: &mut Criterion) {
    let p = pendulum::P;
    let mut group = c.benchmark_group("ad/pendulum");
    group.throughput(operations(pendulum_rollout, &p));
    group.bench_function("primal", |b| b.iter(|| pendulum_rollout(black_box(&p))));
    group.bench_function("lanes", |b| {
        b.iter(|| {
            let x: [Dual<f64, 6>; 6] = std::array::from_fn(|k| Dual::variable(black_box(p)[k], k));
            pendulum_rollout(&x)
        });
    });
    let mut slopes = [0.0; 6];
    group.bench_function("tape", |b| {
        b.iter(|| ad::gradient_into(pendulum_rollout, black_box(&p), &mut slopes));
    });
    let (steps, count) = (pendulum::Steps { count: pendulum::STEPS }, pendulum::STEPS);
    let lanes = Checkpointing { budget: None, accumulation: Accumulation::Lanes };
    group.bench_function("steps", |b| b.iter(|| lanes.gradient(&steps, count, black_box(&p))));
    group.bench_function("num-dual", |b| b.iter(|| pendulum::num_dual::gradient(black_box(&p))));
    group.bench_function("echidna", |b| {
        b.iter(|| {
            let f = |x: &[pendulum::echidna::Scalar]| {
                pendulum::echidna::rollout(&six(x), pendulum::echidna::Scalar::constant)
            };
            echidna::grad(f, black_box(&p))
        });
    });
    group.finish();
}

macro_rules! rosenbrock {
    ($name:ident, [$($generics:tt)*] $s:ty) => {
        fn $name $($generics)* (x: &[$s], one: $s) -> $s {
            let term = |x: $s, y: $s| -> $s {
                let (a, b) = (one - x, y - x * x);
                a * a + b * b * 100.0
            };
            let mut sum = term(x[0], x[1]);
            for k in 1..x.len() - 1 {
                sum += term(x[k], x[k + 1]);
            }
            sum
        }
    };
}

rosenbrock!(rosenbrock, [<T: Real>] T);
rosenbrock!(rosenbrock_num_dual, [] num_dual::DualSVec64<100>);
rosenbrock!(rosenbrock_echidna, [] echidna::Reverse<f64>);

fn rosenbrock100(c: &mut Criterion) {
    const N: usize = 100;
    let x: [f64; N] = std::array::from_fn(|k| 0.3 + 0.01 * k as f64);
    let mut group = c.benchmark_group("ad/rosenbrock100");
    group.throughput(operations(|x| rosenbrock(x, Var::one()), &x));
    group.bench_function("primal", |b| b.iter(|| rosenbrock(black_box(&x), 1.0)));
    group.bench_function("lanes", |b| {
        b.iter(|| ad::jacobian::<8>(|x| vec![rosenbrock(x, Dual::one())], black_box(&x)));
    });
    let mut slopes = [0.0; N];
    group.bench_function("tape", |b| {
        let f = |x: &[Var]| rosenbrock(x, Var::one());
        b.iter(|| ad::gradient_into(f, black_box(&x), &mut slopes));
    });
    group.bench_function("num-dual", |b| {
        b.iter(|| {
            num_dual::gradient(
                |x: nalgebra::SVector<num_dual::DualSVec64<N>, N>| {
                    rosenbrock_num_dual(x.as_slice(), num_dual::DualSVec64::one())
                },
                &black_box(x).into(),
            )
        });
    });
    group.bench_function("echidna", |b| {
        let f = |x: &[echidna::Reverse<f64>]| rosenbrock_echidna(x, echidna::Reverse::one());
        b.iter(|| echidna::grad(f, black_box(&x)));
    });
    group.finish();
}

/// c'x with A x = b.
fn spd<T: Real>(
    n: usize,
    inputs: &[T],
    outputs: &mut [T],
    solution: &mut stiction::linalg::SpdSolution,
    workspace: &mut T::Workspace<SpdSolve>,
) -> T {
    T::call(&SpdSolve { n, columns: 1 }, inputs, outputs, solution, workspace);
    outputs.iter().fold(T::zero(), |sum, &x| sum + x)
}

fn spd_case(c: &mut Criterion) {
    for n in [6, 12, 24, 48] {
        let mut inputs: Vec<f64> = (0..n * n)
            .map(|k| if k % (n + 1) == 0 { 2.0 + k as f64 } else { ((k * 7) % 13) as f64 * 0.02 })
            .collect();
        inputs.extend((0..n).map(|k| 1.0 + k as f64));
        let mut group = c.benchmark_group(format!("ad/spd{n}"));
        group.bench_function("primal", |b| {
            let (mut outputs, mut solution) = (vec![0.0; n], Default::default());
            let mut workspace = Default::default();
            b.iter(|| spd(n, black_box(&inputs), &mut outputs, &mut solution, &mut workspace));
        });
        group.bench_function("tape", |b| {
            let (mut outputs, mut solution) = (vec![Var::default(); n], Default::default());
            let mut workspace = Default::default();
            let mut slopes = vec![0.0; inputs.len()];
            b.iter(|| {
                let f = |x: &[Var]| spd(n, x, &mut outputs, &mut solution, &mut workspace);
                ad::gradient_into(f, black_box(&inputs), &mut slopes)
            });
        });
        group.finish();
    }
}

fn hessian6(c: &mut Criterion) {
    let p = pendulum::P;
    let mut group = c.benchmark_group("ad/hessian6");
    group.throughput(operations(pendulum_rollout, &p));
    group.bench_function("primal", |b| b.iter(|| pendulum_rollout(black_box(&p))));
    group.bench_function("tape", |b| {
        b.iter(|| ad::hessian::<6>(pendulum_rollout, black_box(&p)));
    });
    group.bench_function("num-dual", |b| {
        b.iter(|| pendulum::num_dual_second_order::hessian(black_box(&p)))
    });
    group.finish();
}

/// `all` keeps every state, `quarter` too of a quarter of the steps; `steps` keeps as many as fit in
/// 256 KB.
fn long(c: &mut Criterion) {
    const COUNT: usize = 100_000;
    let p = pendulum::P;
    let run = |budget, count| {
        let of = Checkpointing { budget, accumulation: Accumulation::Auto };
        of.gradient(&pendulum::Steps { count }, count, black_box(&p)).expect("a gradient")
    };
    let primal = || {
        let (mut q, mut v) = (pendulum::Q, pendulum::V);
        for _ in 0..COUNT {
            pendulum::generic::step(black_box(&p), &mut q, &mut v);
        }
        pendulum::generic::loss(&q, &v)
    };
    let mut group = c.benchmark_group("ad/long");
    group.sample_size(10).measurement_time(Duration::from_secs(4));
    group.bench_function("primal", |b| b.iter(primal));
    group.bench_function("all", |b| b.iter(|| run(None, COUNT)));
    group.bench_function("quarter", |b| b.iter(|| run(None, COUNT / 4)));
    group.bench_function("steps", |b| b.iter(|| run(Some(256 * 1024), COUNT)));
    group.finish();

    // What the schedule promises: so many advances more.
    let primal = least_time(|| _ = black_box(primal()));
    let all = least_time(|| _ = black_box(run(None, COUNT)));
    let steps = least_time(|| _ = black_box(run(Some(256 * 1024), COUNT)));
    let report = run(Some(256 * 1024), COUNT).report;
    let promised = all + primal * (report.advances as f64 / COUNT as f64 - 1.0);
    println!(
        "ad/long: {} steps, {} checkpoints, {} advances, {} bytes; time over promised {:.3}",
        report.steps,
        report.checkpoints,
        report.advances,
        report.bytes,
        steps / promised
    );
}

/// The shortest time of ten, in seconds.
fn least_time(mut f: impl FnMut()) -> f64 {
    let time = |_| {
        let start = Instant::now();
        f();
        start.elapsed().as_secs_f64()
    };
    (0..10).map(time).fold(f64::INFINITY, f64::min)
}

/// As many gradients on each of one or two threads: twice the work in the same time.
fn threads(c: &mut Criterion) {
    let p = pendulum::P;
    let gradients = |count: u64| {
        let mut slopes = [0.0; 6];
        for _ in 0..count {
            ad::gradient_into(pendulum_rollout, black_box(&p), &mut slopes).expect("a gradient");
        }
        slopes.map(f64::to_bits)
    };
    let mut group = c.benchmark_group("ad/threads");
    group.measurement_time(Duration::from_secs(3));
    for count in [1, 2] {
        group.bench_function(count.to_string(), |b| {
            b.iter_custom(|iterations| {
                let start = Instant::now();
                let found: Vec<_> = std::thread::scope(|scope| {
                    let threads: Vec<_> =
                        (0..count).map(|_| scope.spawn(|| gradients(iterations))).collect();
                    threads.into_iter().map(|thread| thread.join().expect("a result")).collect()
                });
                assert!(found.iter().all(|bits| *bits == found[0]));
                start.elapsed()
            });
        });
    }
    group.finish();
}

fn features(_: &mut Criterion) {
    let compiled = [
        ("sse2", cfg!(target_feature = "sse2")),
        ("avx", cfg!(target_feature = "avx")),
        ("avx2", cfg!(target_feature = "avx2")),
        ("fma", cfg!(target_feature = "fma")),
        ("avx512f", cfg!(target_feature = "avx512f")),
    ];
    let names: Vec<_> = compiled.iter().filter(|x| x.1).map(|x| x.0).collect();
    println!("compiled for {} with {}", std::env::consts::ARCH, names.join(", "));
}

fn quick() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1))
}

criterion_group!(
    name = benches;
    config = quick();
    targets = features, pendulum_case, rosenbrock100, spd_case, hessian6, long, threads
);
criterion_main!(benches);
