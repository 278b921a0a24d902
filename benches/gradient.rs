//! A cube that slides for 100 steps: the rollout, and the gradient of its way in all parameters:
//! `gradient/slide100/<primal|tape|dual1|dual8>`.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use stiction::ad::{self, Real};
use stiction::model::{Parameters, Scene};
use stiction::simulation::Rollout;

const SCENE: &str = "[simulation]
    time_step = 0.002
    [[half_space]]
    name = 'floor'
    normal = [0, 0, 1]
    [[body]]
    name = 'cube'
    mass = 1
    shape = { box = [0.05, 0.05, 0.05] }
    position = [0, 0, 0.05]
    velocity = [2, 0.5, 0]
    angular_velocity = [0, 0, 1]
    [[contact]]
    mu = 0.4";

fn way<T: Real>(scene: &Scene, parameters: &[T]) -> T {
    let parameters = Parameters { values: parameters.to_vec() };
    let system = scene.system_with(&parameters);
    let mut rollout = Rollout::new(system, scene.state.cast());
    rollout.advance(100, &[T::zero(); 6]);
    let p = rollout.state.position(0);
    (p.x * p.x + p.y * p.y).sqrt()
}

fn slide100(c: &mut Criterion) {
    let scene = Scene::parse(SCENE, "slide.toml").expect("a scene");
    let x = &scene.parameters.values;
    let mut group = c.benchmark_group("gradient/slide100");
    group.bench_function("primal", |b| b.iter(|| way(&scene, black_box(x))));
    group.bench_function("tape", |b| {
        b.iter(|| ad::gradient(|x| way(&scene, x), black_box(x)).expect("a gradient"));
    });
    group.bench_function("dual1", |b| {
        b.iter(|| ad::jacobian::<1>(|x| vec![way(&scene, x)], black_box(x)));
    });
    group.bench_function("dual8", |b| {
        b.iter(|| ad::jacobian::<8>(|x| vec![way(&scene, x)], black_box(x)));
    });
    group.finish();
}

fn quick() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1))
}

criterion_group!(name = benches; config = quick(); targets = slide100);
criterion_main!(benches);
