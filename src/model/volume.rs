//! The volume of bodies.

use super::{Model, Parameters};

impl Model {
    /// The volume of the shapes of a body, m³: of meshes that of what they look like. Where shapes of it overlap they count
    /// twice.
    pub fn volume(&self, parameters: &Parameters<f64>, body: usize) -> f64 {
        let shapes = self.colliders_of(Some(body)).map(|index| {
            let (collider, size) = (&self.colliders[index], parameters.size(self, index));
            match &collider.visual {
                Some(visual) => visual.volume() * size.product().abs(),
                None => collider.shape.uniform_solid(size.into()).volume,
            }
        });
        shapes.sum()
    }
}
