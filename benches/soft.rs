//! Motions of soft bodies beside rigid ones, and their gradients, over the vertices that touch: `soft/<scene>/<nodes>/<what>`.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use stiction::soft::{SoftParameter, SoftRollout, SoftScene};

const PUSH: &str = include_str!("../examples/soft_push/scene.toml");
const FEET: &str = include_str!("../examples/soft_feet/scene.toml");

/// A scene, how many steps of it, and numbers that they depend on.
fn measure(c: &mut Criterion, name: &str, text: &str, steps: usize, numbers: &[&str]) {
    let parsed = SoftScene::parse(text, name).expect("a scene");
    let scene = parsed.expect("soft bodies");
    let nodes: usize = scene.bodies.iter().map(|body| body.position.len()).sum();
    let parameters: Vec<SoftParameter> =
        numbers.iter().map(|name| scene.parameter(name).expect("a parameter")).collect();
    let mut group = c.benchmark_group(format!("soft/{name}/{nodes}"));
    group.bench_function("motion", |b| {
        b.iter(|| {
            let mut rollout = SoftRollout::new(black_box(&scene));
            (0..steps).for_each(|_| _ = rollout.step());
            rollout.energies()
        });
    });
    // Of where the first body is at the end, from a motion that was kept.
    let mut weigh = |step: usize, body: usize, x: &mut [[f64; 3]], _: &mut [[f64; 3]]| {
        if (step, body) == (steps, 0) {
            x.iter_mut().for_each(|x| x[0] += 1.0);
        }
    };
    let record = scene.record(steps);
    group.bench_function("adjoint", |b| {
        b.iter(|| record.gradient(black_box(&parameters), &mut weigh).expect("a gradient"));
    });
    group.finish();
}

fn push(c: &mut Criterion) {
    for resolution in ["0.02", "0.0125", "0.01"] {
        let finer = format!("resolution = {resolution}");
        let text = PUSH.replace("resolution = 0.02", &finer);
        measure(c, "push", &text, 20, &["block/density", "motor/u", "box/vx"]);
    }
}

fn feet(c: &mut Criterion) {
    measure(c, "feet", FEET, 50, &["fl_foot/density", "fl_swing/u", "trunk/vx"]);
}

fn quick() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1))
}

criterion_group!(name = benches; config = quick(); targets = push, feet);
criterion_main!(benches);
