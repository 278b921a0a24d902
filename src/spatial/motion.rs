//! Spatial velocities and accelerations.

use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

use nalgebra::Vector3;

use super::Force;
use crate::ad::Real;

/// A spatial motion vector (`Featherstone08`, chapter 2): a velocity, an acceleration, a joint axis.
///
/// Along the axes of one frame, with respect to one point O: the linear part is that of the point of
/// the body which is at O.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion<T> {
    /// Velocity of the point at O, m/s.
    pub linear: Vector3<T>,
    /// Angular velocity, rad/s.
    pub angular: Vector3<T>,
}

impl<T: Real> Motion<T> {
    /// No motion.
    #[inline]
    pub fn zero() -> Self {
        Motion { linear: Vector3::zeros(), angular: Vector3::zeros() }
    }

    /// A translation.
    #[inline]
    pub fn translation(linear: Vector3<T>) -> Self {
        Motion { linear, angular: Vector3::zeros() }
    }

    /// A turn about an axis through `point`, relative to O.
    #[inline]
    pub fn rotation(angular: Vector3<T>, point: &Vector3<T>) -> Self {
        Motion { linear: point.cross(&angular), angular }
    }

    /// The linear velocity of the point `point`, relative to O.
    #[inline]
    pub fn at(&self, point: &Vector3<T>) -> Vector3<T> {
        self.linear + self.angular.cross(point)
    }

    /// self x m: how m changes when it moves along with this motion.
    #[inline]
    pub fn cross(&self, m: &Self) -> Self {
        Motion {
            linear: self.angular.cross(&m.linear) + self.linear.cross(&m.angular),
            angular: self.angular.cross(&m.angular),
        }
    }

    /// self x* f: how f changes when it moves along with this motion.
    #[inline]
    pub fn cross_force(&self, f: &Force<T>) -> Force<T> {
        Force {
            linear: self.angular.cross(&f.linear),
            angular: self.angular.cross(&f.angular) + self.linear.cross(&f.linear),
        }
    }

    /// The power of a force in this motion, W.
    #[inline]
    pub fn dot(&self, f: &Force<T>) -> T {
        self.linear.dot(&f.linear) + self.angular.dot(&f.angular)
    }

    /// How large the terms are that m . I m of this motion m is the sum of, to judge its rounding by; of
    /// the inertia I the traces of its linear and its angular block.
    #[inline]
    pub fn magnitude(&self, traces: (f64, f64)) -> f64 {
        let square = |a: &Vector3<T>| a.fold(0.0, |sum, x| sum + x.value() * x.value());
        traces.0 * square(&self.linear) + traces.1 * square(&self.angular)
    }
}

impl<T: Real> Default for Motion<T> {
    fn default() -> Self {
        Motion::zero()
    }
}

impl<T: Real> Add for Motion<T> {
    type Output = Self;
    #[inline]
    fn add(self, m: Self) -> Self {
        Motion { linear: self.linear + m.linear, angular: self.angular + m.angular }
    }
}

impl<T: Real> Sub for Motion<T> {
    type Output = Self;
    #[inline]
    fn sub(self, m: Self) -> Self {
        Motion { linear: self.linear - m.linear, angular: self.angular - m.angular }
    }
}

impl<T: Real> Neg for Motion<T> {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Motion { linear: -self.linear, angular: -self.angular }
    }
}

impl<T: Real> Mul<T> for Motion<T> {
    type Output = Self;
    #[inline]
    fn mul(self, s: T) -> Self {
        Motion { linear: self.linear * s, angular: self.angular * s }
    }
}

impl<T: Real> AddAssign for Motion<T> {
    #[inline]
    fn add_assign(&mut self, m: Self) {
        *self = *self + m;
    }
}

impl<T: Real> SubAssign for Motion<T> {
    #[inline]
    fn sub_assign(&mut self, m: Self) {
        *self = *self - m;
    }
}
