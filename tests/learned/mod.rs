//! Learned terms of scenes: what they do, their derivatives, their files, and how they are found.

mod derivatives;
#[cfg(feature = "cli")]
mod files;
mod found;
mod motion;

use stiction::Scene;

use crate::random::Random;

/// A scene whose weights are drawn.
fn drawn(text: &str, size: f64, random: &mut Random) -> Scene {
    let mut scene = crate::scenes::scene(text);
    for term in 0..scene.model.learned.len() {
        for slot in scene.model.weight_slots(term) {
            scene.parameters.values[slot] = random.uniform(-size, size);
        }
    }
    scene
}

/// A slider and a hinge beside each other, on which nothing acts but what `learned` says.
fn cart_and_rod(settings: &str, learned: &str) -> String {
    format!(
        "gravity = [0, 0, 0]
        [simulation]
        time_step = 0.01
        {settings}
        [[body]]
        name = 'cart'
        joint = {{ type = 'prismatic', axis = [1, 0, 0], q = [0.2], v = [0.7] }}
        mass = {CART}
        inertia = 0.1
        [[body]]
        name = 'rod'
        joint = {{ type = 'revolute', axis = [0, 1, 0], q = [0.5], v = [-1.3] }}
        mass = 0.3
        inertia = {ROD}
        {learned}"
    )
}

/// Mass of the cart, kg, and moment of inertia of the rod, kg m².
const CART: f64 = 1.5;
const ROD: f64 = 0.02;

/// Their kinetic energy, J.
fn kinetic(v: &[f64]) -> f64 {
    0.5 * CART * v[0] * v[0] + 0.5 * ROD * v[1] * v[1]
}
