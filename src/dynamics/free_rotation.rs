//! How a rigid body turns when nothing acts on it.
//!
//! I w+ = exp(-h (w + w+) / 2) I w with turns of h (w + w+) / 2 conserves angular momentum and energy (see
//! [`free_body`](super::free_body)); h is the time of the step, or an equal part of it where the body would turn by
//! more than a radian.

use nalgebra::{Matrix3, Vector3};

use crate::ad::Real;
use crate::spatial::{Quaternion, cross_matrix, exp, left_jacobian, product, rotation_matrix};

/// The most that a body turns in one part, rad: Newton's method finds it from there.
const LARGEST_TURN: f64 = 1.0;
/// More parts are not made: what turns a hundred times within a step is not followed.
const MOST_PARTS: f64 = 1000.0;

/// A rotation to be made.
#[derive(Clone, Copy, Debug)]
pub(super) struct FreeRotation<T> {
    /// About the centre of mass, kg m².
    pub inertia: Matrix3<T>,
    /// Angular velocity at the start, in the body, rad/s.
    pub spin: Vector3<T>,
    /// How long a part is, s.
    pub duration: T,
    /// How many there are; 0 if it would be too many.
    pub parts: usize,
}

/// Derivatives of the end of a [`FreeRotation`].
#[derive(Clone, Copy, Debug)]
pub(super) struct FreeRotationDerivative<T> {
    /// Of the turn in turns at the start, in the body.
    pub turn: Matrix3<T>,
    /// Of the turn in the angular velocity.
    pub turn_by_spin: Matrix3<T>,
    /// Of the angular velocity.
    pub spin: Matrix3<T>,
}

impl<T: Real> FreeRotation<T> {
    pub fn new(inertia: Matrix3<T>, spin: Vector3<T>, duration: T) -> Self {
        let turn = spin.map(|x| x.value()).norm() * duration.value().abs();
        let parts = (turn / LARGEST_TURN).ceil().max(1.0);
        // None: there is no end.
        let count = if parts <= MOST_PARTS { parts as usize } else { 0 };
        FreeRotation { inertia, spin, duration: duration / parts, parts: count }
    }

    /// How the body has turned, and its angular velocity. Nothing if Newton's method does not converge, or there are too
    /// many parts.
    pub fn end(&self) -> Option<(Quaternion<T>, Vector3<T>)> {
        let mut spin = self.spin;
        let mut turned = None;
        for _ in 0..self.parts {
            let next = self.part(spin, self.duration)?;
            let turn = exp((spin + next) * (self.duration * 0.5));
            turned = Some(turned.map_or(turn, |turned| product(turned, turn)));
            spin = next;
        }
        turned.map(|turned| (turned, spin))
    }

    /// How the end changes with the start.
    pub fn derivative(&self) -> Option<FreeRotationDerivative<T>> {
        let (mut turn, mut spin) = (Matrix3::identity(), Matrix3::identity());
        let mut turn_by_spin = Matrix3::zeros();
        let mut start = self.spin;
        for _ in 0..self.parts {
            let end = self.part(start, self.duration)?;
            let slope = FreeRotationSlope::new(self.inertia, [start, end], self.duration)?;
            let next = slope.inverse * slope.by_start * spin;
            let way = slope.angle(self.duration);
            let back = rotation_matrix(exp(-way));
            let jacobian = left_jacobian(-way) * (self.duration * 0.5);
            turn = back * turn;
            turn_by_spin = back * turn_by_spin + jacobian * (spin + next);
            (start, spin) = (end, next);
        }
        (self.parts > 0).then_some(FreeRotationDerivative { turn, turn_by_spin, spin })
    }

    /// The transpose of [`derivative`](Self::derivative): from the adjoints of turn and angular velocity at the
    /// end those at the start. `add_inertia` is told of each b a' by which the adjoint of the inertia grows.
    pub fn vjp(
        &self,
        [mut turned, mut angular]: [Vector3<T>; 2],
        mut add_inertia: impl FnMut(Vector3<T>, Vector3<T>),
    ) -> Option<[Vector3<T>; 2]> {
        let (_, mut end) = self.end()?;
        for part in (0..self.parts).rev() {
            // The rule is the same in both directions of time.
            let start = if part == 0 { self.spin } else { self.part(end, -self.duration)? };
            let slope = FreeRotationSlope::new(self.inertia, [start, end], self.duration)?;
            let way = slope.angle(self.duration);
            let shared = left_jacobian(-way).tr_mul(&turned) * (self.duration * 0.5);
            let y = slope.inverse.tr_mul(&(angular + shared));
            add_inertia(-y, end);
            add_inertia(slope.turn.tr_mul(&y), start);
            angular = shared + slope.by_start.tr_mul(&y);
            turned = rotation_matrix(exp(way)) * turned;
            end = start;
        }
        Some([turned, angular])
    }

    /// w+ of I w+ = exp(-h (w + w+) / 2) I w, or nothing if Newton's method does not converge.
    fn part(&self, w: Vector3<T>, h: T) -> Option<Vector3<T>> {
        let duration = h.value();
        let values = self.inertia.map(|x| x.value());
        let start = w.map(|x| x.value());
        let mut x = start;
        let mut inverse = values.try_inverse()?;
        let mut converged = false;
        for _ in 0..30 {
            let half = (start + x) * (-0.5 * duration);
            let momentum = rotation_matrix(exp(half)) * (values * start);
            let slope = values - cross_matrix(momentum) * left_jacobian(half) * (0.5 * duration);
            inverse = slope.try_inverse()?;
            let step = inverse * (values * x - momentum);
            x -= step;
            if converged {
                break;
            }
            // Quadratic convergence: one more step after this reaches rounding.
            converged = step.amax() <= 1e-9 * x.amax().max(f64::MIN_POSITIVE) || step.amax() == 0.0;
        }
        if !converged || !x.iter().all(|x| x.is_finite()) {
            return None;
        }
        // The root's derivatives: each Newton step in T with the slope of the values gains one order.
        let mut root = x.map(T::constant);
        for _ in 0..T::ORDER {
            let half = (w + root) * (h * -0.5);
            let defect = self.inertia * root - rotation_matrix(exp(half)) * (self.inertia * w);
            root -= inverse.map(T::constant) * defect;
        }
        Some(root)
    }
}

/// The defect I w+ - E I w of a part, E = exp(-h (w + w+) / 2), linearised where it is zero.
struct FreeRotationSlope<T> {
    /// E.
    turn: Matrix3<T>,
    /// Of the slope in w+.
    inverse: Matrix3<T>,
    /// How the defect falls with w.
    by_start: Matrix3<T>,
    /// w + w+.
    sum: Vector3<T>,
}

impl<T: Real> FreeRotationSlope<T> {
    fn new(inertia: Matrix3<T>, [w, end]: [Vector3<T>; 2], h: T) -> Option<FreeRotationSlope<T>> {
        let sum = w + end;
        let half = sum * (h * -0.5);
        let turn = rotation_matrix(exp(half));
        let bend = cross_matrix(turn * (inertia * w)) * left_jacobian(half) * (h * 0.5);
        let inverse = inverse(&(inertia - bend))?;
        Some(FreeRotationSlope { turn, inverse, by_start: turn * inertia + bend, sum })
    }

    /// By how much the body turns in the part.
    fn angle(&self, h: T) -> Vector3<T> {
        self.sum * (h * 0.5)
    }
}

/// By the adjugate.
fn inverse<T: Real>(a: &Matrix3<T>) -> Option<Matrix3<T>> {
    let row = |k: usize| Vector3::new(a[(k, 0)], a[(k, 1)], a[(k, 2)]);
    let [r0, r1, r2] = [row(0), row(1), row(2)];
    let columns = [r1.cross(&r2), r2.cross(&r0), r0.cross(&r1)];
    let determinant = r0.dot(&columns[0]);
    let usable = determinant.value() != 0.0 && determinant.value().is_finite();
    usable.then(|| Matrix3::from_columns(&columns.map(|column| column / determinant)))
}
