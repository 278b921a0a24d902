//! A possible contact.

use nalgebra::Vector3;

use crate::ad::Real;
use crate::dynamics::FreeMotion;
use crate::model::Model;

/// A point of a body that may touch a half-space or another body.
#[derive(Clone, Copy, Debug)]
pub struct ContactPoint<T> {
    /// The contact pair, see [`Model::pair`](crate::model::Model::pair).
    pub pair: usize,
    /// The two bodies; nothing is the world, or a body fixed to it. The contact impulse acts on the
    /// second, its opposite on the first.
    pub bodies: [Option<usize>; 2],
    /// Which point. Against a half-space: the corner of a box (bits 0, 1, 2: the upper side in x, y,
    /// z), 0 for a sphere. Of two shapes: see [`Witness::feature`](super::Witness::feature).
    pub feature: usize,
    /// Distance along the normal, m; negative if it penetrates.
    pub gap: T,
    /// Gap of the lowest point of the pair, m.
    pub lowest: T,
    /// Unit normal in the world, out of the first solid.
    pub normal: Vector3<T>,
    /// From the centre of mass of each body to its own point, in that body, m. Zero for the world.
    pub arms: [Vector3<T>; 2],
    /// Whether the bodies may touch here without being thrown at each other in the same step.
    pub near: bool,
}

impl<T: Real> ContactPoint<T> {
    /// The trees it is a point of, one twice if both sides are of it.
    pub fn trees(&self, motion: &FreeMotion<T>) -> [Option<usize>; 2] {
        self.bodies.map(|body| body.and_then(|body| motion.bodies[body].tree))
    }

    /// Whether velocities of all trees at the end of a step, one tree after the other as in the state, move the
    /// point through the surface it may touch; `row` is scratch.
    pub fn escapes(
        &self,
        model: &Model,
        motion: &FreeMotion<T>,
        velocities: &[T],
        row: &mut Vec<T>,
    ) -> bool {
        let (mut closing, mut duration) = (0.0, f64::INFINITY);
        for (side, sign) in [(0, -1.0), (1, 1.0)] {
            let Some(body) = self.bodies[side] else { continue };
            let Some(tree) = motion.bodies[body].tree else { continue };
            let range = model.trees[tree].v.clone();
            row.clear();
            row.resize(range.len(), T::zero());
            motion.add_row(body, self.arms[side], self.normal, sign, row);
            let velocity = &velocities[range];
            closing += row.iter().zip(velocity).map(|(a, b)| a.value() * b.value()).sum::<f64>();
            duration = duration.min(motion.duration(tree).value());
        }
        self.gap.value() + duration * closing < 0.0
    }

    /// The bodies it is a point of.
    pub fn moving(&self) -> impl Iterator<Item = usize> + use<T> {
        self.bodies.into_iter().flatten()
    }
}
