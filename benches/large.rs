//! Scenes of many bodies, by their number: `large/<tower<n>|heap<n>>/<step|gradient|jvp|vjp>`. A tower of n cubes at rest, and a
//! heap of n bodies that is coming down. `step` are [`WINDOW`] steps on from there, `gradient` the same with their
//! adjoints, which give the gradient in the start and all parameters, `jvp` and `vjp` a product each with (A, B) of the first step.
//! The ratio of two sizes gives the growth.

use std::hint::black_box;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main};
use stiction::assemble::Description;
use stiction::formats::LoadOptions;
use stiction::linearize::{RolloutAdjoint, Selection, StepProducts};
use stiction::model::Scene;
use stiction::simulation::{Rollout, StepMemory};

#[path = "../src/cli/bench/piles.rs"]
mod piles;

use piles::{Furnishing, heap, tower};

/// How many steps are timed together, and how many come before: towers rest by then, heaps are in the middle of it.
const WINDOW: usize = 20;
const BEFORE: usize = 60;

/// A scene some steps on.
fn under_way(scene: &Furnishing, name: &str) -> (Scene, StepMemory<f64>) {
    let description = Description::parse_xml(&scene.mjcf(name), name, LoadOptions::default());
    let mut scene = description.expect("MJCF").scene().expect("a scene");
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    rollout.advance(BEFORE, &scene.inputs);
    let (state, memory) = (rollout.state.clone(), rollout.memory.clone());
    scene.state = state;
    (scene, memory)
}

fn compare(group: &mut BenchmarkGroup<WallTime>, name: &str, furnishing: &Furnishing) {
    let (scene, memory) = under_way(furnishing, name);
    let Scene { model, state, inputs, .. } = &scene;
    let system = scene.system();
    let mut rollout = Rollout::new(system, state.clone());
    group.bench_function(format!("{name}/step"), |b| {
        b.iter(|| {
            rollout.state.clone_from(black_box(state));
            rollout.memory.clone_from(&memory);
            rollout.advance(WINDOW, inputs);
        });
    });
    assert_eq!(rollout.report.unsolved, 0, "{name}: {:?}", rollout.report);
    let mut adjoint = RolloutAdjoint::default();
    group.bench_function(format!("{name}/gradient"), |b| {
        b.iter(|| {
            adjoint.start_with(black_box(state), &memory);
            for _ in 0..WINDOW {
                adjoint.step(&system, inputs);
            }
            let seed = |step: usize, seed: &mut [f64]| {
                if step == WINDOW {
                    seed.fill(1.0);
                }
            };
            adjoint.reverse(&system, seed).expect("a gradient");
        });
    });
    rollout.state.clone_from(state);
    rollout.memory.clone_from(&memory);
    rollout.step(inputs);
    let every: Vec<usize> = (0..model.nv()).collect();
    let selection = Selection { inputs: &every, parameters: &[] };
    let next = &rollout.state;
    let products =
        StepProducts { system: &system, state, inputs, selection, memory: &memory, next };
    let (direction, weights) = (vec![1.0; 3 * model.nv()], vec![1.0; 2 * model.nv()]);
    group.bench_function(format!("{name}/jvp"), |b| {
        b.iter(|| products.jvp(black_box(&direction)).expect("a product"));
    });
    group.bench_function(format!("{name}/vjp"), |b| {
        b.iter(|| products.vjp(black_box(&weights)).expect("a product"));
    });
}

fn large(c: &mut Criterion) {
    let mut group = c.benchmark_group("large");
    for n in [10, 50, 200] {
        compare(&mut group, &format!("tower{n}"), &tower(n));
    }
    for n in [10, 30, 100] {
        compare(&mut group, &format!("heap{n}"), &heap(n));
    }
    group.finish();
}

fn quick() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_secs(1))
}

criterion_group!(name = benches; config = quick(); targets = large);
criterion_main!(benches);
