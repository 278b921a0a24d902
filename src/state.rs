//! Where the bodies are and how they move.

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use crate::ad::Real;
use crate::packed::packed;
use crate::spatial::{conjugate, exp, log, normalized, product};

/// Numbers a free body has in [`State::q`].
pub const NQ: usize = 7;
/// Numbers a free body has in [`State::v`].
pub const NV: usize = 6;

/// How the numbers of a joint move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coordinates {
    /// The numbers of a free joint. q: position of the body origin in the world, m; unit quaternion w, x, y, z, body to
    /// world. v: velocity of the origin in the world frame, m/s; angular velocity in the body frame,
    /// rad/s.
    Pose,
    /// The numbers of a ball joint. q: unit quaternion w, x, y, z, body to parent. v: angular velocity in the body
    /// frame, rad/s.
    Rotation,
    /// A coordinate and its rate, rad or m.
    Number,
}

impl Coordinates {
    /// How many numbers of a configuration.
    pub fn nq(self) -> usize {
        match self {
            Coordinates::Pose => NQ,
            Coordinates::Rotation => 4,
            Coordinates::Number => 1,
        }
    }

    /// How many velocities.
    pub fn nv(self) -> usize {
        match self {
            Coordinates::Pose => NV,
            Coordinates::Rotation => 3,
            Coordinates::Number => 1,
        }
    }

    /// Where the quaternion starts among its numbers of a configuration, and among its velocities.
    pub fn quaternion(self) -> Option<(usize, usize)> {
        match self {
            Coordinates::Pose => Some((3, 3)),
            Coordinates::Rotation => Some((0, 0)),
            Coordinates::Number => None,
        }
    }

    /// The first number of the configuration that velocity `k` moves: a component of a position, or a
    /// quaternion.
    pub fn moved_by(self, k: usize) -> usize {
        match self.quaternion() {
            Some((first, turn)) if k >= turn => first,
            _ => k,
        }
    }

    /// q (+) dq: moves its numbers, positions by addition, orientations to R exp(dq).
    pub fn advance<T: Real>(self, q: &mut [T], dq: &[T]) {
        let plain = self.quaternion().map_or(1, |(q, _)| q);
        for (q, &dq) in q[..plain].iter_mut().zip(dq) {
            *q += dq;
        }
        if let Some((first, turn)) = self.quaternion() {
            let q = &mut q[first..first + 4];
            let turn = exp(Vector3::new(dq[turn], dq[turn + 1], dq[turn + 2]));
            q.copy_from_slice(&normalized(product([q[0], q[1], q[2], q[3]], turn)));
        }
    }

    /// Pushes the tangent vector that moves `from` to `to`: the inverse of [`advance`](Self::advance).
    pub fn difference<T: Real>(self, from: &[T], to: &[T], dq: &mut Vec<T>) {
        let plain = self.quaternion().map_or(1, |(q, _)| q);
        dq.extend(to[..plain].iter().zip(from).map(|(&to, &from)| to - from));
        if let Some((first, _)) = self.quaternion() {
            let quaternion = |q: &[T]| [q[first], q[first + 1], q[first + 2], q[first + 3]];
            dq.extend(log(product(conjugate(quaternion(from)), quaternion(to))).iter());
        }
    }
}

/// Configuration and velocity of all joints, in the order of the model's bodies.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State<T> {
    /// The numbers of each joint, see [`Coordinates`]; seven of a free body.
    pub q: Vec<T>,
    /// The velocities of each joint; six of a free body.
    pub v: Vec<T>,
}

// By hand: the derived `clone_from` drops the memory it has.
impl<T: Clone> Clone for State<T> {
    fn clone(&self) -> Self {
        State { q: self.q.clone(), v: self.v.clone() }
    }

    fn clone_from(&mut self, other: &Self) {
        self.q.clone_from(&other.q);
        self.v.clone_from(&other.v);
    }
}

impl<T: Real> State<T> {
    /// `bodies` free bodies at rest at the origin of the world, aligned with it.
    pub fn at_origin(bodies: usize) -> State<T> {
        State::at_zero(std::iter::repeat_n(Coordinates::Pose, bodies))
    }

    /// At rest, with all joints at 0.
    pub fn at_zero(coordinates: impl Iterator<Item = Coordinates>) -> State<T> {
        let mut state = State { q: Vec::new(), v: Vec::new() };
        for joint in coordinates {
            let first = state.q.len();
            state.q.resize(first + joint.nq(), T::zero());
            if let Some((quaternion, _)) = joint.quaternion() {
                state.q[first + quaternion] = T::one();
            }
            state.v.resize(state.v.len() + joint.nv(), T::zero());
        }
        state
    }

    /// Position of the origin of a body in the world, m. This and the next three are of scenes in which
    /// all bodies are free; for others see [`Kinematics`](crate::dynamics::Kinematics).
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

    /// The state moved by a tangent vector `[dq; dv]`, each with as many numbers as there are velocities:
    /// positions by addition (of free bodies in the world), orientations by R exp(dq) (rad, body frame),
    /// velocities by addition. `coordinates`: those of the model.
    pub fn moved(&self, coordinates: impl Iterator<Item = Coordinates>, tangent: &[T]) -> State<T> {
        let mut state = self.clone();
        state.advance(coordinates, tangent);
        state
    }

    /// Moves the state by a tangent vector: [`moved`](Self::moved) in place.
    pub fn advance(&mut self, coordinates: impl Iterator<Item = Coordinates>, tangent: &[T]) {
        let (dq, dv) = tangent.split_at(self.v.len());
        let (mut q, mut v) = (0, 0);
        for joint in coordinates {
            joint.advance(&mut self.q[q..q + joint.nq()], &dq[v..v + joint.nv()]);
            (q, v) = (q + joint.nq(), v + joint.nv());
        }
        for (v, &dv) in self.v.iter_mut().zip(dv) {
            *v += dv;
        }
    }

    /// The tangent vector `[dq; dv]` that moves `from` to this state: the inverse of [`Self::moved`].
    pub fn difference(
        &self,
        coordinates: impl Iterator<Item = Coordinates>,
        from: &State<T>,
    ) -> Vec<T> {
        let mut tangent = Vec::with_capacity(2 * self.v.len());
        self.difference_into(coordinates, from, &mut tangent);
        tangent
    }

    /// [`difference`](Self::difference) into memory of the caller's, which is overwritten.
    pub fn difference_into(
        &self,
        coordinates: impl Iterator<Item = Coordinates>,
        from: &State<T>,
        tangent: &mut Vec<T>,
    ) {
        tangent.clear();
        let mut q = 0;
        for joint in coordinates {
            let range = q..q + joint.nq();
            joint.difference(&from.q[range.clone()], &self.q[range], tangent);
            q += joint.nq();
        }
        tangent.extend(self.v.iter().zip(&from.v).map(|(&a, &b)| a - b));
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
    /// This state as constants of another scalar.
    pub fn cast<T: Real>(&self) -> State<T> {
        let mut state = State { q: Vec::new(), v: Vec::new() };
        self.cast_into(&mut state);
        state
    }

    /// [`cast`](Self::cast) into memory of the caller's.
    pub fn cast_into<T: Real>(&self, state: &mut State<T>) {
        for (from, to) in [(&self.q, &mut state.q), (&self.v, &mut state.v)] {
            to.clear();
            to.extend(from.iter().map(|&x| T::constant(x)));
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

packed!(State<f64> { q, v });
