//! How the force of a body changes with its velocity.

use nalgebra::{Matrix3, Vector3};

use super::BodyKinematics;
use crate::ad::Real;
use crate::spatial::{Force, Motion};

/// The matrix B of V x* I V: twice B m is how that force changes with the velocity by m, in the frame that
/// moves with the body (`Singh22`).
///
/// Of its 36 entries only the twelve here are not zero: with the points x of the body, of mass dm and
/// velocity u, a turn w yields the force w x l and the moment D w, where l is the sum of u dm and D w that
/// of x x (w x u) dm.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coriolis<T> {
    momentum: Vector3<T>,
    moment: Matrix3<T>,
}

impl<T: Real> Coriolis<T> {
    #[inline]
    pub(super) fn new(body: &BodyKinematics<T>) -> Self {
        let (inertia, v, w) = (&body.inertia, &body.velocity.linear, &body.velocity.angular);
        let h = &inertia.moment;
        // The sum of u x' dm = v h' + [w] S, where S is that of x x' dm; D = trace 1 - that.
        let mut second = inertia.rotational.matrix() * -T::one();
        let half = inertia.rotational.trace() * 0.5;
        for k in 0..3 {
            second[(k, k)] += half;
        }
        let trace = v.dot(h);
        let column = |k: usize| {
            let s = Vector3::new(second[(0, k)], second[(1, k)], second[(2, k)]);
            let mut column = -(v * h[k] + w.cross(&s));
            column[k] += trace;
            column
        };
        let moment = Matrix3::from_columns(&[column(0), column(1), column(2)]);
        Coriolis { momentum: v * inertia.mass + w.cross(h), moment }
    }

    /// 2 B m.
    #[inline]
    pub(super) fn twice(&self, m: &Motion<T>) -> Force<T> {
        let w = m.angular * T::constant(2.0);
        Force { linear: w.cross(&self.momentum), angular: self.moment * w }
    }

    /// The moment of 2 B' m; its force is zero.
    #[inline]
    pub(super) fn twice_transposed(&self, m: &Motion<T>) -> Vector3<T> {
        let sum = self.momentum.cross(&m.linear) + self.moment.tr_mul(&m.angular);
        sum * T::constant(2.0)
    }

    #[inline]
    pub(super) fn add(&mut self, other: &Self) {
        self.momentum += other.momentum;
        self.moment += other.moment;
    }
}
