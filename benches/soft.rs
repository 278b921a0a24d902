//! Motions of soft bodies and their gradients: beside rigid ones over the vertices that touch, `soft/<scene>/<nodes>/<what>`, and alone by
//! each law of contact, `soft/toss/<law>/<what>` and `soft/incline/<law>/motion` ([Geilinger20] Figs. 3 and 2, on meshes of
//! `STICTION_SHARED`); of one element `soft/element/<what>`; of a mesh one factorisation, `soft/factor/<nodes>`.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use stiction::ad::Real;
use stiction::fem::{Elements, SolidMaterial, Tetrahedron, force, stiffness};
use stiction::implicit::{Bdf, SolidParameters, VertexLaw};
use stiction::linalg::{BlockMatrix, SparseFactor, Symbolic};
use stiction::model::TetrahedralMesh;
use stiction::soft::{
    SoftBody, SoftContact, SoftGround, SoftParameter, SoftRollout, SoftScene, SoftStart,
};

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

/// A mesh of the reference data, if that is there.
fn mesh(name: &str) -> Option<String> {
    let shared = std::env::var("STICTION_SHARED").unwrap_or_else(|_| "../../shared".into());
    let path = format!("{shared}/reference/add/meshes/{name}");
    let there = std::path::Path::new(&path).exists();
    if !there {
        println!("skipped: there is no {path}");
    }
    there.then_some(path)
}

/// A solid over a floor: its motion by a law, and the adjoint of that.
fn alone(c: &mut Criterion, group: &str, scene: &SoftScene, steps: usize, adjoint: bool) {
    let mut group = c.benchmark_group(group);
    group.bench_function("motion", |b| {
        b.iter(|| {
            let mut rollout = SoftRollout::new(black_box(scene));
            let unsolved: usize = (0..steps).map(|_| rollout.step().unsolved).sum();
            assert_eq!(unsolved, 0);
            rollout.energies()
        });
    });
    if adjoint {
        let names = ["lame_lambda", "lame_mu", "viscosity", "velocity_x", "velocity_z"];
        let parameters: Vec<SoftParameter> = names
            .iter()
            .map(|name| scene.parameter(&format!("solid/{name}")).expect("a parameter"))
            .collect();
        let mut weigh = |step: usize, _: usize, x: &mut [[f64; 3]], _: &mut [[f64; 3]]| {
            if step == steps {
                x.iter_mut().for_each(|x| x[0] += 1.0);
            }
        };
        let record = scene.record(steps);
        group.bench_function("adjoint", |b| {
            b.iter(|| record.gradient(black_box(&parameters), &mut weigh).expect("a gradient"));
        });
    }
    group.finish();
}

/// A solid of 150 kg/m³, 5 cm above the floor.
fn solid(
    path: &str,
    law: VertexLaw,
    (time_step, bdf): (f64, Bdf),
    (material, gravity, start): (SolidMaterial<f64>, [f64; 3], SoftStart),
) -> SoftScene {
    let mesh = TetrahedralMesh::load(path).expect("a mesh");
    let elements = Elements::new(&mesh.nodes, &mesh.tetrahedra).expect("elements");
    let parameters = SolidParameters { material, density: 150.0, gravity };
    let mut body = SoftBody::new("solid", mesh, elements, parameters, start);
    let stiffness = if law.yields() { 1000.0 } else { 0.0 };
    body.touching = vec![SoftContact { friction: 0.4, stiffness, ..SoftContact::default() }];
    let ground = SoftGround { name: "floor".into(), normal: [0.0, 0.0, 1.0], offset: -0.05 };
    body.touch(std::slice::from_ref(&ground), &[]);
    let (grounds, bodies) = (vec![ground], vec![body]);
    SoftScene { time_step, bdf, law, grounds, bodies, ..SoftScene::default() }
}

fn toss(c: &mut Criterion) {
    let Some(path) = mesh("sphere_r25mm_coarse.msh") else { return };
    let material = SolidMaterial { lame_lambda: 10.0, lame_mu: 1e4, viscosity: 0.0125 };
    let (velocity, angular_velocity) = ([0.56, 0.0, 0.16], [0.0, -4.0, 0.0]);
    let start = SoftStart { velocity, angular_velocity, ..SoftStart::default() };
    for law in [VertexLaw::PenaltyLinear, VertexLaw::Coupled] {
        let of = (material, [0.0, 0.0, -9.81], start);
        let scene = solid(&path, law, (1e-3, Bdf::Two), of);
        alone(c, &format!("soft/toss/{}", law.name()), &scene, 250, true);
    }
}

fn incline(c: &mut Criterion) {
    let Some(path) = mesh("cylinder_r40_h30mm.msh") else { return };
    let material = SolidMaterial { lame_lambda: 10.0, lame_mu: 200.0, viscosity: 0.0 };
    let slope = 20.0_f64.to_radians();
    let gravity = [9.81 * slope.sin(), 0.0, -9.81 * slope.cos()];
    for law in VertexLaw::ALL {
        let scene = solid(&path, law, (5e-3, Bdf::One), (material, gravity, SoftStart::default()));
        alone(c, &format!("soft/incline/{}", law.name()), &scene, 100, false);
    }
}

/// Forces and stiffness in closed form, and the latter as duals make it of the former.
fn element(c: &mut Criterion) {
    let rest = [[0.0, 0.0, 0.0], [0.01, 0.0, 0.001], [0.0, 0.011, 0.0], [0.001, 0.0, 0.009]];
    let shape = Tetrahedron::new(rest);
    let material = SolidMaterial { lame_lambda: 1e4, lame_mu: 8e3, viscosity: 0.1 };
    let x = rest.map(|p| [1.1 * p[0] + 0.2 * p[1], p[1] - 0.1 * p[2], 0.9 * p[2]]);
    let v = rest.map(|p| [p[1], -p[0], 2.0 * p[2]]);
    let mut group = c.benchmark_group("soft/element");
    group.bench_function("force", |b| {
        b.iter(|| force(&shape, &material, black_box(&x), Some(&v)));
    });
    group.bench_function("stiffness", |b| {
        b.iter(|| stiffness(&shape, &material, black_box(&x), Some(&v)));
    });
    group.bench_function("stiffness_by_duals", |b| {
        let at: Vec<f64> = x.as_flattened().to_vec();
        let forces = |x: &[stiction::ad::Dual<f64, 12>]| {
            let lift = stiction::ad::Dual::constant;
            let nodes: [[_; 3]; 4] = std::array::from_fn(|a| std::array::from_fn(|k| x[3 * a + k]));
            let material = SolidMaterial {
                lame_lambda: lift(material.lame_lambda),
                lame_mu: lift(material.lame_mu),
                viscosity: lift(material.viscosity),
            };
            force(&shape, &material, &nodes, Some(&v.map(|v| v.map(lift)))).concat()
        };
        b.iter(|| {
            let variable = |(k, &x): (usize, &f64)| stiction::ad::Dual::variable(x, k);
            forces(&black_box(&at).iter().enumerate().map(variable).collect::<Vec<_>>())
        });
    });
    group.finish();
}

/// One numeric factorisation of K + M of a mesh, on a pattern that is known.
fn factor(c: &mut Criterion) {
    for name in ["sphere_r25mm_coarse.msh", "cylinder_r40_h30mm.msh"] {
        let Some(path) = mesh(name) else { continue };
        let solid = TetrahedralMesh::load(path).expect("a mesh");
        let elements = Elements::new(&solid.nodes, &solid.tetrahedra).expect("elements");
        let material = SolidMaterial { lame_lambda: 1e4, lame_mu: 8e3, viscosity: 0.0 };
        let mut matrix = BlockMatrix::default();
        matrix.start(elements.pattern());
        let still = vec![[0.0; 3]; solid.nodes.len()];
        elements.add_stiffness(&material, [1e-6, 0.0], &solid.nodes, &still, &mut matrix);
        for (block, &volume) in matrix.blocks.iter_mut().zip(elements.unit_mass()) {
            (0..3).for_each(|k| block[k][k] += 150.0 * volume);
        }
        let symbolic = Symbolic::new(elements.pattern(), &[]);
        let mut factor = SparseFactor::default();
        c.bench_function(&format!("soft/factor/{}", solid.nodes.len()), |b| {
            b.iter(|| factor.factor(&symbolic, black_box(&matrix), true).is_ok());
        });
    }
}

fn quick() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1))
}

criterion_group!(name = benches; config = quick(); targets = element, factor, toss, incline, push, feet);
criterion_main!(benches);
