//! The inertia of a rigid body, ten numbers.

use std::ops::{Add, AddAssign, Mul};

use nalgebra::{Matrix3, Vector3};

use super::{Force, Motion, Symmetric};
use crate::ad::Real;

/// Inertia of a rigid body or of several that move as one, along the axes of one frame, about one
/// point O. The numbers are additive, and all dynamics is linear in them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inertia<T> {
    /// Mass m, kg.
    pub mass: T,
    /// First moment m c with the centre of mass c relative to O, kg m.
    pub moment: Vector3<T>,
    /// Rotational inertia about O, kg m².
    pub rotational: Symmetric<T>,
}

impl<T: Real> Inertia<T> {
    /// No inertia.
    #[inline]
    pub fn zero() -> Self {
        Inertia { mass: T::zero(), moment: Vector3::zeros(), rotational: Symmetric::zero() }
    }

    /// The inertia of the mass `mass` (kg) with its centre at `center` (m, relative to O) and the inertia
    /// `rotational` about that centre (kg m²).
    #[inline]
    pub fn about_origin(mass: T, center: &Vector3<T>, rotational: Symmetric<T>) -> Self {
        Inertia {
            mass,
            moment: center * mass,
            rotational: rotational + Symmetric::point_inertia(mass, center),
        }
    }

    /// The inertia along other axes, `r` from the old to the new ones, about the same point.
    pub fn rotated(&self, r: &Matrix3<T>) -> Self {
        Inertia { mass: self.mass, moment: r * self.moment, rotational: self.rotational.rotated(r) }
    }

    /// The inertia about another point O', which sees O at `shift`.
    ///
    /// Linear in the numbers, so that differences of inertias may be shifted too.
    pub fn shifted(&self, shift: &Vector3<T>) -> Self {
        let (h, m) = (&self.moment, self.mass);
        // J + (d.h + h.d) 1 - d h' - h d' + m (d'd 1 - d d')
        let s = |a: T, b: T, c: T, d: T| a * b + c * d;
        let cross = Symmetric {
            xx: (shift.y * h.y + shift.z * h.z) * 2.0,
            yy: (shift.x * h.x + shift.z * h.z) * 2.0,
            zz: (shift.x * h.x + shift.y * h.y) * 2.0,
            xy: -s(shift.x, h.y, shift.y, h.x),
            xz: -s(shift.x, h.z, shift.z, h.x),
            yz: -s(shift.y, h.z, shift.z, h.y),
        };
        Inertia {
            mass: m,
            moment: h + shift * m,
            rotational: self.rotational + cross + Symmetric::point_inertia(m, shift),
        }
    }
}

impl<T: Real> Default for Inertia<T> {
    fn default() -> Self {
        Inertia::zero()
    }
}

impl<T: Real> Mul<Motion<T>> for Inertia<T> {
    type Output = Force<T>;
    #[inline]
    fn mul(self, m: Motion<T>) -> Force<T> {
        Force {
            linear: m.linear * self.mass + m.angular.cross(&self.moment),
            angular: self.rotational * m.angular + self.moment.cross(&m.linear),
        }
    }
}

impl<T: Real> Add for Inertia<T> {
    type Output = Self;
    #[inline]
    fn add(self, b: Self) -> Self {
        Inertia {
            mass: self.mass + b.mass,
            moment: self.moment + b.moment,
            rotational: self.rotational + b.rotational,
        }
    }
}

impl<T: Real> AddAssign for Inertia<T> {
    #[inline]
    fn add_assign(&mut self, b: Self) {
        *self = *self + b;
    }
}
