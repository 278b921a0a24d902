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
use stiction::ad::Real;
use stiction::dynamics::Kinematics;
use stiction::render::{Silhouette, SilhouetteInputs, Solids};

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

/// What the node gives.
fn image<T: Real>(node: &Silhouette, inputs: &[T]) -> Vec<T> {
    let mut image = vec![T::zero(); node.size[0] * node.size[1]];
    T::call(node, inputs, &mut image, &mut Default::default(), &mut Default::default());
    image
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
