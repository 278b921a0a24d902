//! The classical Runge-Kutta method on the manifold (`MuntheKaas98`), in the form that `MuJoCo` uses.

use nalgebra::Vector3;

use super::{Aba, Kinematics, forward_dynamics};
use crate::ad::Real;
use crate::linalg::FactorError;
use crate::model::{Model, Parameters};
use crate::spatial::rotation_vector_rate;
use crate::state::{Coordinates, State};

/// Scratch memory of [`runge_kutta`].
#[derive(Clone, Debug, Default)]
pub struct RungeKutta<T> {
    kinematics: Kinematics<T>,
    aba: Aba<T>,
    stage: State<T>,
    forces: Vec<T>,
    /// x and x'.
    offset: Vec<T>,
    rate: Vec<T>,
    acceleration: Vec<T>,
    /// Sums of b_i x'_i and of b_i a_i.
    mean_rate: Vec<T>,
    mean_acceleration: Vec<T>,
}

/// b_i, and c of the stage after it.
pub(crate) const STAGES: [(f64, f64); 4] =
    [(1.0 / 6.0, 0.5), (1.0 / 3.0, 0.5), (1.0 / 3.0, 1.0), (1.0 / 6.0, 0.0)];

/// One step of `dt` seconds without contact, of fourth order: `next` is the state after it. `forces`
/// writes the generalised forces in a state.
///
/// The method runs in the chart q(x) = q (+) x about the start of the step, in which x' is v, of rotations
/// the rate of the rotation vector x while the body turns at v (`MuntheKaas98`).
///
/// # Errors
/// [`FactorError::Pivot`] with the velocity that has no inertia; `next` has then no meaning.
pub fn runge_kutta<T: Real>(
    model: &Model,
    parameters: &Parameters<T>,
    state: &State<T>,
    dt: T,
    mut forces: impl FnMut(&State<T>, &mut [T]),
    scratch: &mut RungeKutta<T>,
    next: &mut State<T>,
) -> Result<(), FactorError> {
    let s = scratch;
    let n = state.v.len();
    for buffer in [&mut s.mean_rate, &mut s.mean_acceleration, &mut s.acceleration] {
        buffer.clear();
        buffer.resize(n, T::zero());
    }
    copy(state, &mut s.stage);
    s.rate.clone_from(&state.v);
    for (i, (weight, ahead)) in STAGES.into_iter().enumerate() {
        s.forces.clear();
        s.forces.resize(n, T::zero());
        forces(&s.stage, &mut s.forces);
        s.kinematics.update(model, parameters, &s.stage);
        forward_dynamics(
            model,
            parameters,
            &s.kinematics,
            &s.forces,
            None,
            &mut s.aba,
            &mut s.acceleration,
        )?;
        for k in 0..n {
            s.mean_rate[k] += s.rate[k] * weight;
            s.mean_acceleration[k] += s.acceleration[k] * weight;
        }
        if i < 3 {
            let dt = dt * ahead;
            advance(model, state, &s.rate, &s.acceleration, dt, &mut s.offset, &mut s.stage);
            find_rate(model, &s.offset, &s.stage.v, &mut s.rate);
        }
    }
    advance(model, state, &s.mean_rate, &s.mean_acceleration, dt, &mut s.offset, next);
    Ok(())
}

/// `to` = `from` moved by `offset` = dt `rate`, and with dt `acceleration` more velocity.
pub(crate) fn advance<T: Real>(
    model: &Model,
    from: &State<T>,
    rate: &[T],
    acceleration: &[T],
    dt: T,
    offset: &mut Vec<T>,
    to: &mut State<T>,
) {
    copy(from, to);
    offset.clear();
    offset.extend(rate.iter().map(|&rate| rate * dt));
    for body in &model.bodies {
        let joint = &body.joint;
        let Some(coordinates) = joint.kind.coordinates() else { continue };
        let (nq, nv) = (coordinates.nq(), coordinates.nv());
        let q = &mut to.q[joint.q..joint.q + nq];
        coordinates.advance(q, &offset[joint.v..joint.v + nv]);
    }
    for (v, &a) in to.v.iter_mut().zip(acceleration) {
        *v += a * dt;
    }
}

/// x' at the offset x with the velocities `velocity`.
pub(crate) fn find_rate<T: Real>(model: &Model, offset: &[T], velocity: &[T], rate: &mut [T]) {
    rate.copy_from_slice(velocity);
    for body in &model.bodies {
        let coordinates = body.joint.kind.coordinates();
        let Some((_, turn)) = coordinates.and_then(Coordinates::quaternion) else { continue };
        let range = body.joint.v + turn..body.joint.v + turn + 3;
        let vector = |x: &[T]| Vector3::from_column_slice(&x[range.clone()]);
        let turned = rotation_vector_rate(vector(offset), vector(velocity));
        rate[range.clone()].copy_from_slice(turned.as_slice());
    }
}

/// Into existing storage, which the derived `clone_from` does not reuse.
fn copy<T: Real>(from: &State<T>, to: &mut State<T>) {
    to.q.clone_from(&from.q);
    to.v.clone_from(&from.v);
}
