//! The volume of bodies.

use super::{Model, Parameters};

impl Model {
    /// The volume of the shapes of a body, m³: of meshes that of what they look like. Where shapes of it overlap they count
    /// twice; of a mesh that is not closed it is no number.
    pub fn volume(&self, parameters: &Parameters<f64>, body: usize) -> f64 {
        let shapes = self.colliders_of(Some(body)).map(|index| {
            let (collider, size) = (&self.colliders[index], parameters.size(self, index));
            match &collider.visual {
                // What is open has none.
                Some(visual) if !visual.is_closed() => f64::NAN,
                Some(visual) => visual.volume() * size.product().abs(),
                None => collider.shape.uniform_solid(size.into()).volume,
            }
        });
        shapes.sum()
    }
}
