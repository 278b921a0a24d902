//! One step in f64, with warm memory: `step/<cube_slide|cube_rest|free_flight>`, a tower of ten cubes,
//! `step/tower10`, and `step/separate<n>`, n cubes that slide apart from each other; the shared MJCF scenes,
//! `step/<cube|arm7|quad12|tower10|pyramid10>/coupled`.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use stiction::model::Scene;
use stiction::simulation::{Rollout, StepMemory, Workspace, step};

mod scenes;

use scenes::shared;

fn cube(height: f64, velocity: [f64; 3], angular_velocity: [f64; 3]) -> Scene {
    let text = format!(
        "[simulation]
         time_step = 0.01
         [[half_space]]
         name = 'floor'
         normal = [0, 0, 1]
         [[body]]
         name = 'cube'
         mass = 1
         shape = {{ box = [0.05, 0.05, 0.05] }}
         position = [0, 0, {height:?}]
         velocity = {velocity:?}
         angular_velocity = {angular_velocity:?}
         [[contact]]
         mu = 0.4"
    );
    Scene::parse(&text, "cube.toml").expect("a scene")
}

/// `columns` stacks of `levels` cubes, apart from each other; all slide.
fn cubes(columns: usize, levels: usize, speed: f64) -> Scene {
    let mut text = "[simulation]
         time_step = 0.01
         [[half_space]]
         name = 'floor'
         normal = [0, 0, 1]
         [[contact]]
         mu = 0.4\n"
        .to_string();
    for column in 0..columns {
        for level in 0..levels {
            let (x, y) = (0.5 * (column % 8) as f64, 0.5 * (column / 8) as f64);
            text += &format!(
                "[[body]]
                 name = 'cube{column}x{level}'
                 mass = 1
                 shape = {{ box = [0.05, 0.05, 0.05] }}
                 position = [{x:?}, {y:?}, {:?}]
                 velocity = [{speed:?}, 0.2, 0]\n",
                0.05 + 0.1 * level as f64
            );
        }
    }
    Scene::parse(&text, "cubes.toml").expect("a scene")
}

/// `step/<scene>/coupled`, with `keep_impulses`: steps of the shared scenes from the settled state; `perturbed` ones from a state with
/// other velocities and nothing remembered.
fn scenes(c: &mut Criterion) {
    let mut group = c.benchmark_group("step");
    for (name, speed) in [
        ("cube", 0.0),
        ("arm7", 0.0),
        ("quad12", 0.0),
        ("tower10", 0.0),
        ("pyramid10", 0.0),
        ("tower10", 0.1),
        ("pyramid10", 0.1),
    ] {
        let Some((mut scene, memory)) = shared(name) else { return };
        for (k, v) in scene.state.v.iter_mut().enumerate() {
            *v += speed * ((k * 7919 % 13) as f64 / 6.5 - 1.0);
        }
        let Scene { state, inputs, .. } = &scene;
        let system = scene.system();
        let mut rollout = Rollout::new(system, state.clone());
        rollout.memory = memory.clone();
        let mut taken = 0;
        let id = if speed == 0.0 { name.to_string() } else { format!("{name}_perturbed") };
        group.bench_function(format!("{id}/coupled"), |b| {
            b.iter(|| {
                // A hundred steps on, and back to where it starts, as `time_mujoco.py` does.
                if taken % 100 == 0 {
                    rollout.state.clone_from(black_box(state));
                    if speed != 0.0 {
                        rollout.memory.clear();
                    }
                }
                taken += 1;
                rollout.step(inputs)
            });
        });
        assert_eq!(rollout.report.unsolved, 0, "{name}: {:?}", rollout.report);
    }
    group.finish();
}

fn steps(c: &mut Criterion) {
    let mut group = c.benchmark_group("step");
    for (name, scene) in [
        ("cube_slide", cube(0.05, [1.0, 0.2, 0.0], [0.0; 3])),
        ("cube_rest", cube(0.05, [0.0; 3], [0.0; 3])),
        ("free_flight", cube(5.0, [1.0, 0.0, 0.0], [3.0, -2.0, 1.0])),
        ("tower10", cubes(1, 10, 0.0)),
        ("separate1", cubes(1, 1, 1.0)),
        ("separate4", cubes(4, 1, 1.0)),
        ("separate16", cubes(16, 1, 1.0)),
        ("separate64", cubes(64, 1, 1.0)),
    ] {
        let Scene { state, inputs, .. } = &scene;
        let system = scene.system();
        let (mut memory, mut workspace) = (StepMemory::default(), Workspace::default());
        let mut next = state.clone();
        let report = step(&system, state, inputs, &mut memory, &mut workspace, &mut next);
        assert_eq!(report.unsolved, 0, "{name}: {report:?}");
        group.bench_function(name, |b| {
            b.iter(|| {
                step(&system, black_box(state), inputs, &mut memory, &mut workspace, &mut next)
            });
        });
    }
    group.finish();
}

fn quick() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600))
}

criterion_group!(name = benches; config = quick(); targets = steps, scenes);
criterion_main!(benches);
