//! The classical Runge-Kutta method on the manifold, as `MuJoCo` takes it.

use super::{Aba, Kinematics, forward_dynamics};
use crate::ad::Real;
use crate::linalg::FactorError;
use crate::model::{Model, Parameters};
use crate::state::State;

/// Scratch memory of [`runge_kutta`].
#[derive(Clone, Debug, Default)]
pub struct RungeKutta<T> {
    kinematics: Kinematics<T>,
    aba: Aba<T>,
    stage: State<T>,
    forces: Vec<T>,
    velocity: Vec<T>,
    acceleration: Vec<T>,
    /// Sums of b_i v_i and of b_i a_i.
    mean_velocity: Vec<T>,
    mean_acceleration: Vec<T>,
}

/// One step of `dt` seconds without contact, of fourth order: `next` is the state after it. `forces`
/// writes the generalised forces in a state.
///
/// Stage i stands at q (+) c_i dt v_(i-1), v + c_i dt a_(i-1), all from the start of the step; at the end q
/// (+) dt sum b_i v_i, v + dt sum b_i a_i. On orientations that is of fourth order only where the
/// angular velocity keeps its axis, otherwise of second.
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
    // b_i, and c of the stage after it.
    const STAGES: [(f64, f64); 4] =
        [(1.0 / 6.0, 0.5), (1.0 / 3.0, 0.5), (1.0 / 3.0, 1.0), (1.0 / 6.0, 0.0)];
    let s = scratch;
    let n = state.v.len();
    for buffer in [&mut s.mean_velocity, &mut s.mean_acceleration] {
        buffer.clear();
        buffer.resize(n, T::zero());
    }
    s.acceleration.resize(n, T::zero());
    copy(state, &mut s.stage);
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
            s.mean_velocity[k] += s.stage.v[k] * weight;
            s.mean_acceleration[k] += s.acceleration[k] * weight;
        }
        if i < 3 {
            s.velocity.clone_from(&s.stage.v);
            advance(model, state, &s.velocity, &s.acceleration, dt * ahead, &mut s.stage);
        }
    }
    advance(model, state, &s.mean_velocity, &s.mean_acceleration, dt, next);
    Ok(())
}

/// `to` = `from` (+) dt (velocity, acceleration).
fn advance<T: Real>(
    model: &Model,
    from: &State<T>,
    velocity: &[T],
    acceleration: &[T],
    dt: T,
    to: &mut State<T>,
) {
    copy(from, to);
    let mut dq = [T::zero(); 6];
    for body in &model.bodies {
        let joint = &body.joint;
        let Some(coordinates) = joint.kind.coordinates() else { continue };
        let nv = coordinates.nv();
        for (dq, &v) in dq.iter_mut().zip(&velocity[joint.v..joint.v + nv]) {
            *dq = v * dt;
        }
        coordinates.advance(&mut to.q[joint.q..joint.q + coordinates.nq()], &dq[..nv]);
    }
    for (v, &a) in to.v.iter_mut().zip(acceleration) {
        *v += a * dt;
    }
}

/// Into existing storage, which the derived `clone_from` does not reuse.
fn copy<T: Real>(from: &State<T>, to: &mut State<T>) {
    to.q.clone_from(&from.q);
    to.v.clone_from(&from.v);
}
