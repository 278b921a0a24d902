//! What cameras see: coverage, its derivative, masks of other renderers, files, and fits to masks.

mod bad_input;
mod closed_forms;
mod colours;
#[cfg(feature = "cli")]
mod command;
mod derivatives;
mod fits;
mod other_renderers;
mod pictures;

use std::sync::Arc;

use stiction::Scene;
use stiction::ad::{self, Dual, Node, NodeRule, Real, Var, with_node_rule};
use stiction::dynamics::Kinematics;
use stiction::render::{ColourImage, Silhouette, SilhouetteInputs, Solids};

use crate::random::Random;

/// A scene of these bodies that pass through each other, seen by a camera.
fn seen(camera: &str, bodies: &str) -> Scene {
    let text = format!(
        "[simulation]\ntime_step = 0.01\n[[contact]]\ncollide = false\n\
         [[camera]]\nname = 'front'\n{camera}\n{bodies}"
    );
    Scene::parse(&text, "scene.toml").unwrap()
}

/// All bodies of a scene as a node, with its inputs where they start.
fn silhouette(scene: &Scene) -> (Silhouette, Vec<f64>) {
    let bodies: Vec<usize> = (0..scene.model.bodies.len()).collect();
    let at = (&scene.model, &scene.parameters);
    let solids = Arc::new(Solids::new(at.0, at.1, &bodies));
    let kinematics = Kinematics::new(at.0, at.1, &scene.state);
    let inputs = SilhouetteInputs::new(&solids, at, &kinematics, 0).flat();
    (Silhouette { solids, size: scene.model.cameras[0].size }, inputs)
}

/// The largest difference.
fn furthest(a: &[f64], b: impl Fn(usize) -> f64) -> f64 {
    a.iter().enumerate().map(|(k, a)| (a - b(k)).abs()).fold(0.0, f64::max)
}

/// Nodes that give an image.
trait Drawn: Node {
    /// How many numbers an image has.
    fn numbers(&self) -> usize;
}

impl Drawn for Silhouette {
    fn numbers(&self) -> usize {
        self.size[0] * self.size[1]
    }
}

impl Drawn for ColourImage {
    fn numbers(&self) -> usize {
        4 * self.size[0] * self.size[1]
    }
}

/// What the node gives.
fn image<T: Real, N: Drawn>(node: &N, inputs: &[T]) -> Vec<T> {
    let mut image = vec![T::zero(); node.numbers()];
    T::call(node, inputs, &mut image, &mut Default::default(), &mut Default::default());
    image
}

/// The derivative of all numbers in input `k`.
fn along<N: Drawn>(node: &N, inputs: &[f64], k: usize, rule: NodeRule) -> Vec<f64> {
    with_node_rule(rule, || {
        let place = |i: usize| if i == k { 0 } else { usize::MAX };
        let x: Vec<Dual<f64, 1>> =
            inputs.iter().enumerate().map(|(i, &x)| Dual::variable(x, place(i))).collect();
        image(node, &x).iter().map(|number| number.tangent[0]).collect()
    })
}

/// The derivative by hand in input `k` beside central differences of step `h`: off by less than 1e-5 of the largest, and beside
/// that of another rule, if one is given with how far it may be off.
fn agrees<N: Drawn>(
    node: &N,
    inputs: &[f64],
    k: usize,
    h: impl Fn(f64) -> f64,
    other: Option<(NodeRule, f64)>,
) {
    let by_hand = along(node, inputs, k, NodeRule::ByJvp);
    let size = by_hand.iter().map(|x| x.abs()).fold(1.0, f64::max);
    let h = h(size);
    let at = |h: f64| {
        let mut moved = inputs.to_vec();
        moved[k] += h;
        image(node, &moved)
    };
    let (after, before) = (at(h), at(-h));
    let off = furthest(&by_hand, |number| (after[number] - before[number]) / (2.0 * h));
    assert!(off < 1e-5 * size, "input {k}: {off:e} of {size:e}");
    if let Some((rule, tolerance)) = other {
        let found = along(node, inputs, k, rule);
        let off = furthest(&found, |number| by_hand[number]);
        assert!(off < tolerance * size, "input {k}, {rule:?}: {off:e} of {size:e}");
    }
}

/// A step that is the smaller the more an image changes.
fn step(size: f64) -> f64 {
    1e-6 / (1.0 + size / 1e3)
}

/// The adjoint beside the derivative by hand, along random weights; the terms of input `k` are at least of the size `least(k)`.
fn is_transpose<N: Drawn>(node: &N, inputs: &[f64], least: impl Fn(usize) -> f64) {
    let mut random = Random(3);
    let weights: Vec<f64> = (0..node.numbers()).map(|_| random.uniform(-1.0, 1.0)).collect();
    let (_, adjoint) = ad::vjp(|x: &[Var]| image(node, x), inputs, |_| weights.clone()).unwrap();
    for (k, &found) in adjoint.iter().enumerate() {
        let column = along(node, inputs, k, NodeRule::ByJvp);
        let expected: f64 = column.iter().zip(&weights).map(|(a, b)| a * b).sum();
        let size: f64 = column.iter().zip(&weights).map(|(a, b)| (a * b).abs()).sum();
        let off = (found - expected).abs();
        assert!(off <= 1e-12 * size.max(least(k)), "input {k}: {found} {expected}");
    }
}

/// The mask of all bodies of a scene.
fn mask(scene: &Scene) -> Vec<f64> {
    let (node, inputs) = silhouette(scene);
    image(&node, &inputs)
}

/// A unit quaternion as a scene has it.
fn turned(q: [f64; 4]) -> String {
    let size = q.iter().map(|x| x * x).sum::<f64>().sqrt();
    format!("orientation = {:?}", q.map(|x| x / size))
}
