//! The light of a scene.

use super::Color;

/// By what a scene is seen in colour: light from one direction, by Lambert's law, and from all around.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lighting {
    /// Where the light goes, world frame, of any length.
    pub direction: [f64; 3],
    /// How much brighter a white face is that looks into the light, from 0 to 1.
    pub direct: f64,
    /// How bright a face is that turns away from it, from 0 to 1.
    pub ambient: f64,
    /// What is behind all bodies.
    pub background: Color,
}

impl Default for Lighting {
    fn default() -> Self {
        Lighting {
            direction: [0.4, 0.8, -1.0],
            direct: 0.5,
            ambient: 0.5,
            background: [0.92, 0.94, 0.96, 1.0],
        }
    }
}
