//! Friction that is not the same all over a surface, by a learned term.

use crate::ad::Real;
use crate::collision::ContactPoint;
use crate::dynamics::FreeMotion;
use crate::model::{Feature, System};
use crate::network::Pass;

/// Evaluates [`LearnedKind::Friction`](crate::model::LearnedKind::Friction). Scratch memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct FrictionField<T> {
    /// Of each learned term.
    passes: Vec<Pass<T>>,
    inputs: Vec<T>,
}

impl<T: Real> FrictionField<T> {
    /// What multiplies the coefficients of friction at a point, if its pair has such a term.
    pub fn factor(
        &mut self,
        system: &System<T>,
        motion: &FreeMotion<T>,
        point: &ContactPoint<T>,
    ) -> Option<T> {
        let System { model, parameters, .. } = *system;
        if model.learned.is_empty() {
            return None;
        }
        let index = model.friction_field(point.pair)?;
        let term = &model.learned[index];
        self.inputs.clear();
        for &feature in &term.features {
            let Feature::Place { body, axis, .. } = feature else { return None };
            self.inputs.push(place(motion, point, body, axis));
        }
        self.passes.resize_with(model.learned.len(), Pass::default);
        let pass = &mut self.passes[index];
        pass.forward(&term.network, parameters.weights(model, index), &self.inputs);
        Some((pass.output[0] * term.amplitude).exp())
    }
}

/// A coordinate of the point in the frame of a body, or in the world.
fn place<T: Real>(
    motion: &FreeMotion<T>,
    point: &ContactPoint<T>,
    body: Option<usize>,
    axis: usize,
) -> T {
    let local = |side: usize, body: usize| motion.bodies[body].center_of_mass + point.arms[side];
    if let Some(body) = body {
        let side = usize::from(point.bodies[1] == Some(body));
        return local(side, body)[axis];
    }
    // The point of the side that moves, less what is between both.
    let found = point.bodies.iter().enumerate().find_map(|(side, body)| Some((side, (*body)?)));
    let Some((side, body)) = found else { return T::zero() };
    let pose = &motion.bodies[body];
    (pose.position + pose.rotation * local(side, body))[axis]
}
