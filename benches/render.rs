//! What a mask costs over the triangles of a body, 256 x 256 px: the image (`image`), its adjoint as a node (`gradient`), the distance
//! from a recorded mask on values (`cost`) and with its derivatives in eight directions (`lanes`), from corners to few residuals.
//! Peers in the same run: the tape (`tape`) and duals through the pieces (`duals`).

use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use nalgebra::Vector3;
use stiction::Scene;
use stiction::ad::{self, Dual, LANES, Node, NodeRule, Real, Var, with_node_rule};
use stiction::dynamics::Kinematics;
use stiction::model::Triangulation;
use stiction::render::{
    ColourImage, ColourInputs, ImageFit, ImageFitScratch, Light, Picture, RecordedImage, Sampling,
    Silhouette, SilhouetteInputs, Solids,
};

const SIZE: [usize; 2] = [256, 256];

/// A bumpy ball of 20 times a power of 4 triangles.
fn surface(refinements: usize) -> Triangulation {
    let g = 0.5 * (1.0 + 5.0_f64.sqrt());
    let mut vertices: Vec<Vector3<f64>> = Vec::new();
    for (a, b) in [(-1.0, -g), (-1.0, g), (1.0, -g), (1.0, g)] {
        for k in 0..3 {
            let mut corner = Vector3::zeros();
            (corner[(k + 1) % 3], corner[(k + 2) % 3]) = (a, b);
            vertices.push(corner.normalize());
        }
    }
    let near = |a: &Vector3<f64>, b: &Vector3<f64>| (a - b).norm() < 1.1;
    let mut triangles = Vec::new();
    for i in 0..12 {
        for j in i + 1..12 {
            for k in j + 1..12 {
                let [a, b, c] = [vertices[i], vertices[j], vertices[k]];
                if near(&a, &b) && near(&b, &c) && near(&c, &a) {
                    let outward = a.dot(&b.cross(&c)) > 0.0;
                    triangles.push(if outward { [i, j, k] } else { [i, k, j] });
                }
            }
        }
    }
    for _ in 0..refinements {
        let mut middles = std::collections::HashMap::new();
        let mut finer = Vec::new();
        for [a, b, c] in triangles {
            let mut middle = |i: usize, j: usize| {
                *middles.entry((i.min(j), i.max(j))).or_insert_with(|| {
                    vertices.push((vertices[i] + vertices[j]).normalize());
                    vertices.len() - 1
                })
            };
            let [p, q, r] = [middle(a, b), middle(b, c), middle(c, a)];
            finer.extend([[a, p, r], [p, b, q], [r, q, c], [p, q, r]]);
        }
        triangles = finer;
    }
    for v in &mut vertices {
        *v *= 1.0 + 0.15 * (5.0 * v.x).sin() * (4.0 * v.y).cos();
    }
    Triangulation { vertices, triangles }
}

fn scene(refinements: usize, x: f64) -> Scene {
    let text = format!(
        "[simulation]\ntime_step = 0.01\n[[camera]]\nname = 'front'\neye = [0.3, -4, 1]\ntarget = [0, 0, 0]\nfov_y_deg = 40\n\
         size = {SIZE:?}\n[[body]]\nname = 'ball'\nmass = 1\nshape = {{ sphere = 1 }}\nposition = [{x}, 0, 0]"
    );
    let mut scene = Scene::parse(&text, "scene.toml").expect("a scene");
    scene.model.colliders[0].visual = Some(Arc::new(surface(refinements)));
    // Scales of the mesh.
    let first = scene.model.collider_slot(0);
    scene.parameters.values[first..first + 3].fill(1.0);
    scene
}

/// What a node gives that has so many numbers a pixel.
fn drawn<T: Real>(node: &impl Node, inputs: &[T], channels: usize) -> Vec<T> {
    let mut image = vec![T::zero(); channels * SIZE[0] * SIZE[1]];
    T::call(node, inputs, &mut image, &mut Default::default(), &mut Default::default());
    image
}

fn image<T: Real>(node: &Silhouette, inputs: &[T]) -> Vec<T> {
    drawn(node, inputs, 1)
}

fn masks(c: &mut Criterion) {
    let mut group = c.benchmark_group("mask");
    group.sample_size(20);
    for refinements in [1, 2, 3, 4, 5] {
        let scene = scene(refinements, 0.0);
        let at = (&scene.model, &scene.parameters);
        let solids = Arc::new(Solids::new(at.0, at.1, &[0]));
        let kinematics = Kinematics::new(at.0, at.1, &scene.state);
        let inputs = SilhouetteInputs::new(&solids, at, &kinematics, 0).flat();
        let node = Silhouette { solids, size: SIZE };
        let other = self::scene(refinements, 0.02);
        let there = Kinematics::new(&other.model, &other.parameters, &other.state);
        let moved =
            SilhouetteInputs::new(&node.solids, (&other.model, &other.parameters), &there, 0);
        let recorded = image(&node, &moved.flat());
        let target = RecordedImage::of(&Picture::of(SIZE, &recorded));
        let fit = ImageFit::new(at, 0, &[0]);
        let triangles = 20 * 4_usize.pow(refinements as u32);
        let id = |name: &str| BenchmarkId::new(name, triangles);
        group.bench_function(id("image"), |b| b.iter(|| image(&node, &inputs)));
        let cost = |x: &[Var]| {
            let seen = image(&node, x);
            let away = seen.iter().zip(&recorded).filter(|(x, y)| x.value() != **y);
            away.map(|(&x, &y)| (x - Var::constant(y)) * (x - Var::constant(y)))
                .fold(Var::constant(0.0), |sum, square| sum + square)
        };
        group.bench_function(id("gradient"), |b| b.iter(|| ad::gradient(cost, &inputs)));
        if refinements < 4 {
            let tape = || with_node_rule(NodeRule::Unrolled, || ad::gradient(cost, &inputs));
            group.bench_function(id("tape"), |b| b.iter(tape));
        }
        let mut scratch = ImageFitScratch::default();
        let compared = (&target, Sampling::default(), 0.02);
        group.bench_function(id("cost"), |b| {
            b.iter(|| {
                let mut residuals: Vec<f64> = Vec::new();
                fit.compare(at, &kinematics, compared, &mut scratch, &mut residuals);
                residuals
            });
        });
        type Lanes = Dual<f64, LANES>;
        let parameters = scene.parameters.cast::<Lanes>();
        let mut displacement = vec![Lanes::constant(0.0); 12];
        (0..6).for_each(|k| displacement[k] = Lanes::variable(0.0, k));
        let state = scene.state.cast::<Lanes>().moved(scene.model.coordinates(), &displacement);
        let lanes = Kinematics::new(&scene.model, &parameters, &state);
        group.bench_function(id("lanes"), |b| {
            b.iter(|| {
                let mut residuals: Vec<Lanes> = Vec::new();
                fit.compare((at.0, &parameters), &lanes, compared, &mut scratch, &mut residuals);
                residuals
            });
        });
        let duals: Vec<Lanes> =
            inputs.iter().enumerate().map(|(k, &x)| Lanes::variable(x, k)).collect();
        group.bench_function(id("duals"), |b| {
            b.iter(|| with_node_rule(NodeRule::Unrolled, || image(&node, &duals)));
        });
    }
}

/// The same ball in colour: its image (`image`) and the adjoint of its distance from another one (`gradient`).
fn colours(c: &mut Criterion) {
    let mut group = c.benchmark_group("colour");
    group.sample_size(20);
    for refinements in [1, 2, 3, 4, 5] {
        let scene = scene(refinements, 0.0);
        let at = (&scene.model, &scene.parameters);
        let solids = Arc::new(Solids::of_scene(at.0, at.1, &[]));
        let kinematics = Kinematics::new(at.0, at.1, &scene.state);
        let places = SilhouetteInputs::new(&solids, at, &kinematics, 0);
        let inputs = ColourInputs { places, colours: solids.colours(), light: Light::default() };
        let inputs = inputs.flat();
        let node = ColourImage { solids, size: SIZE };
        let triangles = 20 * 4_usize.pow(refinements as u32);
        let id = |name: &str| BenchmarkId::new(name, triangles);
        group.bench_function(id("image"), |b| b.iter(|| seen_in_colour(&node, &inputs)));
        let cost = |x: &[Var]| {
            let seen = seen_in_colour(&node, x);
            let squares = seen.iter().filter(|x| x.value() != 0.0).map(|&x| x * x);
            squares.fold(Var::constant(0.0), |sum, square| sum + square)
        };
        group.bench_function(id("gradient"), |b| b.iter(|| ad::gradient(cost, &inputs)));
    }
}

fn seen_in_colour<T: Real>(node: &ColourImage, inputs: &[T]) -> Vec<T> {
    drawn(node, inputs, 4)
}

criterion_group!(benches, masks, colours);
criterion_main!(benches);
