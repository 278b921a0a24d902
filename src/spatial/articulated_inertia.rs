//! The inertia a body has with what hangs on it by joints that may move.

use std::ops::{AddAssign, Mul};

use nalgebra::{Matrix3, Vector3};

use super::{Force, Inertia, Motion, Symmetric, cross_matrix};
use crate::ad::Real;

/// Articulated-body inertia (`Featherstone08`, chapter 7): a symmetric 6 x 6 matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArticulatedInertia<T> {
    /// Force by linear acceleration, kg.
    pub linear: Symmetric<T>,
    /// Force by angular acceleration, kg m; transposed: moment by linear acceleration.
    pub coupling: Matrix3<T>,
    /// Moment by angular acceleration, kg m².
    pub angular: Symmetric<T>,
}

impl<T: Real> ArticulatedInertia<T> {
    /// No inertia.
    #[inline]
    pub fn zero() -> Self {
        ArticulatedInertia {
            linear: Symmetric::zero(),
            coupling: Matrix3::zeros(),
            angular: Symmetric::zero(),
        }
    }

    /// What is left when a joint yields: self - u u' / d, with `u` and `scaled` = u / d.
    #[inline]
    pub fn subtract_square(&mut self, u: &Force<T>, scaled: &Force<T>) {
        let outer = |a: &Vector3<T>, b: &Vector3<T>| Symmetric {
            xx: a.x * b.x,
            yy: a.y * b.y,
            zz: a.z * b.z,
            xy: a.x * b.y,
            xz: a.x * b.z,
            yz: a.y * b.z,
        };
        self.linear = self.linear - outer(&u.linear, &scaled.linear);
        self.angular = self.angular - outer(&u.angular, &scaled.angular);
        for k in 0..3 {
            for i in 0..3 {
                self.coupling[(i, k)] -= u.linear[i] * scaled.angular[k];
            }
        }
    }
}

impl<T: Real> From<Inertia<T>> for ArticulatedInertia<T> {
    #[inline]
    fn from(inertia: Inertia<T>) -> Self {
        ArticulatedInertia {
            linear: Symmetric::diagonal(inertia.mass),
            coupling: cross_matrix(-inertia.moment),
            angular: inertia.rotational,
        }
    }
}

impl<T: Real> Mul<Motion<T>> for ArticulatedInertia<T> {
    type Output = Force<T>;
    #[inline]
    fn mul(self, m: Motion<T>) -> Force<T> {
        let (h, v, w) = (&self.coupling, m.linear, m.angular);
        let mut f = Force { linear: self.linear * v, angular: self.angular * w };
        for i in 0..3 {
            f.linear[i] += h[(i, 0)] * w.x + h[(i, 1)] * w.y + h[(i, 2)] * w.z;
            f.angular[i] += h[(0, i)] * v.x + h[(1, i)] * v.y + h[(2, i)] * v.z;
        }
        f
    }
}

impl<T: Real> AddAssign for ArticulatedInertia<T> {
    #[inline]
    fn add_assign(&mut self, b: Self) {
        self.linear += b.linear;
        self.coupling += b.coupling;
        self.angular += b.angular;
    }
}
