//! Where the bodies are and how they move.

use nalgebra::Vector3;

use crate::ad::Real;
use crate::spatial::{conjugate, exp, log, normalized, product};

/// Numbers a body has in [`State::q`].
pub const NQ: usize = 7;
/// Numbers a body has in [`State::v`].
pub const NV: usize = 6;

/// Configuration and velocity of all bodies, in the order of the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State<T> {
    /// Seven numbers a body: position of the body origin in the world, m; unit quaternion
    /// w, x, y, z, body to world.
    pub q: Vec<T>,
    /// Six numbers a body: velocity of the body origin in the world frame, m/s; angular velocity
    /// in the body frame, rad/s.
    pub v: Vec<T>,
}

impl<T: Real> State<T> {
    /// `bodies` bodies at rest at the origin of the world, aligned with it.
    pub fn at_origin(bodies: usize) -> State<T> {
        let mut q = vec![T::zero(); NQ * bodies];
        for body in q.chunks_exact_mut(NQ) {
            body[3] = T::one();
        }
        State { q, v: vec![T::zero(); NV * bodies] }
    }

    /// The number of bodies.
    pub fn bodies(&self) -> usize {
        self.q.len() / NQ
    }

    /// Position of the origin of a body in the world, m.
    pub fn position(&self, body: usize) -> Vector3<T> {
        let q = &self.q[NQ * body..];
        Vector3::new(q[0], q[1], q[2])
    }

    /// Orientation of a body: quaternion w, x, y, z, body to world.
    pub fn orientation(&self, body: usize) -> [T; 4] {
        let q = &self.q[NQ * body + 3..];
        [q[0], q[1], q[2], q[3]]
    }

    /// Velocity of the origin of a body in the world frame, m/s.
    pub fn velocity(&self, body: usize) -> Vector3<T> {
        let v = &self.v[NV * body..];
        Vector3::new(v[0], v[1], v[2])
    }

    /// Angular velocity of a body in its own frame, rad/s.
    pub fn angular_velocity(&self, body: usize) -> Vector3<T> {
        let v = &self.v[NV * body + 3..];
        Vector3::new(v[0], v[1], v[2])
    }

    /// The state moved by a tangent vector `[dq (6 a body); dv (6 a body)]`: positions by addition
    /// in the world, orientations by R exp(dq) (rad, body frame), velocities by addition.
    pub fn moved(&self, tangent: &[T]) -> State<T> {
        let mut state = self.clone();
        let (dq, dv) = tangent.split_at(self.v.len());
        for (body, dq) in dq.chunks_exact(NV).enumerate() {
            let q = &mut state.q[NQ * body..NQ * (body + 1)];
            for k in 0..3 {
                q[k] += dq[k];
            }
            let turned = product(self.orientation(body), exp(Vector3::new(dq[3], dq[4], dq[5])));
            q[3..].copy_from_slice(&normalized(turned));
        }
        for (v, &dv) in state.v.iter_mut().zip(dv) {
            *v += dv;
        }
        state
    }

    /// The tangent vector `[dq; dv]` that moves `from` to this state: the inverse of [`Self::moved`].
    pub fn difference(&self, from: &State<T>) -> Vec<T> {
        let mut tangent = Vec::with_capacity(2 * self.v.len());
        for body in 0..self.bodies() {
            tangent.extend((self.position(body) - from.position(body)).iter());
            let turn = product(conjugate(from.orientation(body)), self.orientation(body));
            tangent.extend(log(turn).iter());
        }
        tangent.extend(self.v.iter().zip(&from.v).map(|(&a, &b)| a - b));
        tangent
    }

    /// The values, without derivatives.
    pub fn value(&self) -> State<f64> {
        State {
            q: self.q.iter().map(|x| x.value()).collect(),
            v: self.v.iter().map(|x| x.value()).collect(),
        }
    }
}

impl State<f64> {
    /// The same state as constants of another scalar.
    pub fn cast<T: Real>(&self) -> State<T> {
        State {
            q: self.q.iter().map(|&x| T::constant(x)).collect(),
            v: self.v.iter().map(|&x| T::constant(x)).collect(),
        }
    }
}

/// A quaternion scaled to norm 1; its norm as the error if that is off by more than 1e-3.
///
/// One that is unit up to rounding is kept bit for bit, so that files survive being read and
/// written again.
pub(crate) fn unit_quaternion(q: [f64; 4]) -> Result<[f64; 4], f64> {
    let square: f64 = q.iter().map(|x| x * x).sum();
    if (square - 1.0).abs() <= 8.0 * f64::EPSILON {
        return Ok(q);
    }
    let norm = square.sqrt();
    if (norm - 1.0).abs() <= 1e-3 { Ok(q.map(|x| x / norm)) } else { Err(norm) }
}
