//! Spatial forces and momenta.

use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

use nalgebra::Vector3;

use crate::ad::Real;

/// A spatial force vector (`Featherstone08`, chapter 2): a force with its moment, or a momentum.
///
/// Along the axes of one frame, with respect to one point O.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Force<T> {
    /// Force, N; linear momentum, N s.
    pub linear: Vector3<T>,
    /// Moment about O, N m; angular momentum, N m s.
    pub angular: Vector3<T>,
}

impl<T: Real> Force<T> {
    /// No force.
    #[inline]
    pub fn zero() -> Self {
        Force { linear: Vector3::zeros(), angular: Vector3::zeros() }
    }

    /// A force that acts at `point`, relative to O.
    #[inline]
    pub fn at(linear: Vector3<T>, point: &Vector3<T>) -> Self {
        Force { linear, angular: point.cross(&linear) }
    }

    /// This force with respect to the point `point`, relative to O.
    #[inline]
    pub fn about(&self, point: &Vector3<T>) -> Self {
        Force { linear: self.linear, angular: self.angular - point.cross(&self.linear) }
    }
}

impl<T: Real> Default for Force<T> {
    fn default() -> Self {
        Force::zero()
    }
}

impl<T: Real> Add for Force<T> {
    type Output = Self;
    #[inline]
    fn add(self, f: Self) -> Self {
        Force { linear: self.linear + f.linear, angular: self.angular + f.angular }
    }
}

impl<T: Real> Sub for Force<T> {
    type Output = Self;
    #[inline]
    fn sub(self, f: Self) -> Self {
        Force { linear: self.linear - f.linear, angular: self.angular - f.angular }
    }
}

impl<T: Real> Neg for Force<T> {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Force { linear: -self.linear, angular: -self.angular }
    }
}

impl<T: Real> Mul<T> for Force<T> {
    type Output = Self;
    #[inline]
    fn mul(self, s: T) -> Self {
        Force { linear: self.linear * s, angular: self.angular * s }
    }
}

impl<T: Real> AddAssign for Force<T> {
    #[inline]
    fn add_assign(&mut self, f: Self) {
        *self = *self + f;
    }
}

impl<T: Real> SubAssign for Force<T> {
    #[inline]
    fn sub_assign(&mut self, f: Self) {
        *self = *self - f;
    }
}
