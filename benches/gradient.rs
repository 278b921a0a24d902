//! The rollout, and the gradient of its way in all parameters, for a cube that slides for 100 steps and for a quadruped
//! that stands for as many, by each integrator: `gradient/<slide100|quad100|quad100_implicit|quad100_runge_kutta|quad100_bdf1>/<primal|adjoint|tape|dual1|dual8>`.

mod scenes;

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use stiction::ad::{self, Real};
use stiction::linearize::RolloutAdjoint;
use stiction::model::{Integrator, Parameters, Scene};
use stiction::simulation::{Rollout, StepMemory};

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

const STEPS: usize = 100;

/// How far the first body is from the origin, over the ground, after all steps.
fn way<T: Real>(scene: &Scene, memory: &StepMemory<f64>, parameters: &[T]) -> T {
    let parameters = Parameters { values: parameters.to_vec() };
    let system = scene.system_with(&parameters);
    let mut rollout = Rollout::new(system, scene.state.cast());
    rollout.memory = memory.cast();
    let inputs: Vec<T> = scene.inputs.iter().map(|&u| T::constant(u)).collect();
    rollout.advance(STEPS, &inputs);
    let p = rollout.state.position(0);
    (p.x * p.x + p.y * p.y).sqrt()
}

/// The gradient of the same by adjoints of steps.
fn adjoint(
    scene: &Scene,
    memory: &StepMemory<f64>,
    parameters: &Parameters<f64>,
    rollout: &mut RolloutAdjoint,
) -> f64 {
    let system = scene.system_with(parameters);
    rollout.start_with(&scene.state, memory);
    for _ in 0..STEPS {
        rollout.step(&system, &scene.inputs);
    }
    let p = rollout.state(STEPS).position(0);
    let way = (p.x * p.x + p.y * p.y).sqrt();
    let seed = |k: usize, adjoint: &mut [f64]| {
        if k == STEPS {
            (adjoint[0], adjoint[1]) = (p.x / way, p.y / way);
        }
    };
    rollout.reverse(&system, seed).expect("a gradient");
    way
}

fn compare(c: &mut Criterion, name: &str, scene: &Scene, memory: &StepMemory<f64>) {
    let parameters = &scene.parameters;
    let x = &parameters.values;
    let mut group = c.benchmark_group(format!("gradient/{name}"));
    group.bench_function("primal", |b| b.iter(|| way(scene, memory, black_box(x))));
    let mut rollout = RolloutAdjoint::default();
    group.bench_function("adjoint", |b| {
        b.iter(|| adjoint(scene, memory, black_box(parameters), &mut rollout));
    });
    group.bench_function("tape", |b| {
        b.iter(|| ad::gradient(|x| way(scene, memory, x), black_box(x)).expect("a gradient"));
    });
    if x.len() <= 32 {
        group.bench_function("dual1", |b| {
            b.iter(|| ad::jacobian::<1>(|x| vec![way(scene, memory, x)], black_box(x)));
        });
        group.bench_function("dual8", |b| {
            b.iter(|| ad::jacobian::<8>(|x| vec![way(scene, memory, x)], black_box(x)));
        });
    }
    group.finish();
}

fn slide100(c: &mut Criterion) {
    let scene = Scene::parse(SCENE, "slide.toml").expect("a scene");
    compare(c, "slide100", &scene, &StepMemory::default());
}

fn quad100(c: &mut Criterion) {
    let Some((mut scene, memory)) = scenes::shared("quad12") else { return };
    compare(c, "quad100", &scene, &memory);
    for (name, integrator) in [
        ("quad100_implicit", Integrator::Implicit),
        ("quad100_runge_kutta", Integrator::RungeKutta),
        ("quad100_bdf1", Integrator::Bdf1),
    ] {
        scene.settings.integrator = integrator;
        compare(c, name, &scene, &memory);
    }
}

fn quick() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1))
}

criterion_group!(name = benches; config = quick(); targets = slide100, quad100);
criterion_main!(benches);
