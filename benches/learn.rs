//! What an update of a learned system costs, forward and back: batches of 200 pieces of five points in time (`update`), single pieces
//! of ropes (`rope`, as Table 3 of [Zhong21] has them), and, as the peer in the same run, one tape through all of a piece's motion
//! and its network (`piece`).

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use stiction::ad::gradient;
use stiction::learn::{Activation, Chunks, LearnedSystem, Lockstep, Network};
use stiction::maximal::{Formulation, ImpactRule, PointScene, PointStep};

const TIMES: usize = 5;

fn scene(task: &str, points: Option<usize>) -> PointScene {
    let path = format!("{}/../examples/diffcosim/{task}.toml", env!("CARGO_MANIFEST_DIR"));
    let mut text = std::fs::read_to_string(&path).expect("a task of the example");
    if let Some(points) = points {
        text = text.replace("points = 10", &format!("points = {points}"));
    }
    PointScene::parse(&text, &path).expect("a system")
}

/// Pieces from the middle of random motions.
fn pieces(scene: &PointScene, count: usize, before: usize) -> Chunks {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let start = scene.start.as_ref().expect("a start");
    let mut values = Vec::new();
    for _ in 0..count {
        let (mut x, mut v) = start.sample(&scene.system, &mut random).expect("room");
        let mut step = PointStep::default();
        for time in 0..before + TIMES {
            if time >= before {
                values.extend(x.iter().chain(&v));
            }
            let (form, rule) = (Formulation::Lagrangian, ImpactRule::default());
            let force = &mut &scene.system.potential;
            step.step(&scene.system, &scene.parameters, form, rule, force, &mut x, &mut v);
        }
    }
    Chunks::new(TIMES, scene.system.coordinates(), values).expect("pieces")
}

fn learned(scene: &PointScene, hidden: &[usize]) -> (LearnedSystem, Vec<f64>) {
    let sizes = [&[scene.system.coordinates()], hidden, &[1]].concat();
    let network = Network::new(&sizes, Activation::Softplus).expect("a network");
    let (form, rule) = (Formulation::Lagrangian, ImpactRule::default());
    let learned = LearnedSystem::new(scene.system.clone(), network, form, rule).expect("fits");
    let unknowns = learned.random(&mut ChaCha8Rng::seed_from_u64(2));
    (learned, unknowns)
}

/// Batches of 200 on one thread and on two.
fn update(c: &mut Criterion) {
    let mut group = c.benchmark_group("update");
    group.sample_size(10);
    for task in ["BP5", "CP3", "Gyro"] {
        for hidden in [&[64, 64][..], &[256, 256, 256]] {
            let scene = scene(task, None);
            let chunks = pieces(&scene, 200, 20);
            let (learned, unknowns) = learned(&scene, hidden);
            let which: Vec<usize> = (0..200).collect();
            for threads in [1, 2] {
                let lockstep = Lockstep { learned: &learned, threads };
                let name = format!("{task}/{}x{}/threads", hidden.len(), hidden[0]);
                group.bench_function(BenchmarkId::new(name, threads), |b| {
                    b.iter(|| lockstep.loss_gradient(&unknowns, &chunks, &which));
                });
            }
        }
    }
}

/// Ropes of 50, 100, 200 points, the paper's network: a single piece, and 50 together.
fn rope(c: &mut Criterion) {
    let mut group = c.benchmark_group("rope");
    group.sample_size(10);
    for points in [50, 100, 200] {
        let scene = scene("Rope", Some(points));
        let chunks = pieces(&scene, 50, 10);
        let (learned, unknowns) = learned(&scene, &[256, 256, 256]);
        let lockstep = Lockstep { learned: &learned, threads: 1 };
        for count in [1, 50] {
            let which: Vec<usize> = (0..count).collect();
            group.bench_function(BenchmarkId::new(format!("pieces_{count}"), points), |b| {
                b.iter(|| lockstep.loss_gradient(&unknowns, &chunks, &which));
            });
        }
    }
}

/// A piece by hand and by one tape.
fn piece(c: &mut Criterion) {
    let mut group = c.benchmark_group("piece");
    group.sample_size(10);
    for hidden in [&[16, 16][..], &[64, 64]] {
        let scene = scene("CP3", None);
        let chunks = pieces(&scene, 1, 20);
        let (learned, unknowns) = learned(&scene, hidden);
        let name = format!("{}x{}", hidden.len(), hidden[0]);
        let lockstep = Lockstep { learned: &learned, threads: 1 };
        group.bench_function(BenchmarkId::new("lockstep", &name), |b| {
            b.iter(|| lockstep.loss_gradient(&unknowns, &chunks, &[0]));
        });
        group.bench_function(BenchmarkId::new("tape", &name), |b| {
            b.iter(|| {
                gradient(|u| learned.piece_loss(u, chunks.chunk(0)), &unknowns).expect("finite")
            });
        });
    }
}

criterion_group!(benches, update, rope, piece);
criterion_main!(benches);
