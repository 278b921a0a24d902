//! Symmetric matrices of three rows.

use std::ops::{Add, AddAssign, Mul, Sub};

use nalgebra::{Matrix3, Vector3};

use crate::ad::Real;

/// A symmetric 3 x 3 matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Symmetric<T> {
    /// Row 1, column 1.
    pub xx: T,
    /// Row 2, column 2.
    pub yy: T,
    /// Row 3, column 3.
    pub zz: T,
    /// Rows 1 and 2.
    pub xy: T,
    /// Rows 1 and 3.
    pub xz: T,
    /// Rows 2 and 3.
    pub yz: T,
}

impl<T: Real> Symmetric<T> {
    /// All entries zero.
    #[inline]
    pub fn zero() -> Self {
        Symmetric::diagonal(T::zero())
    }

    /// `s` times the identity.
    #[inline]
    pub fn diagonal(s: T) -> Self {
        let zero = T::zero();
        Symmetric { xx: s, yy: s, zz: s, xy: zero, xz: zero, yz: zero }
    }

    /// The lower triangle of `m`.
    #[inline]
    pub fn from_lower(m: &Matrix3<T>) -> Self {
        Symmetric {
            xx: m[(0, 0)],
            yy: m[(1, 1)],
            zz: m[(2, 2)],
            xy: m[(1, 0)],
            xz: m[(2, 0)],
            yz: m[(2, 1)],
        }
    }

    /// s a a'.
    #[inline]
    pub fn square(s: T, a: &Vector3<T>) -> Self {
        let b = a * s;
        Symmetric {
            xx: a.x * b.x,
            yy: a.y * b.y,
            zz: a.z * b.z,
            xy: a.x * b.y,
            xz: a.x * b.z,
            yz: a.y * b.z,
        }
    }

    /// s (a'a 1 - a a'): the inertia of the mass `s` at `a` about the origin.
    #[inline]
    pub fn point_inertia(s: T, a: &Vector3<T>) -> Self {
        let Symmetric { xx, yy, zz, xy, xz, yz } = Symmetric::square(s, a);
        Symmetric { xx: yy + zz, yy: xx + zz, zz: xx + yy, xy: -xy, xz: -xz, yz: -yz }
    }

    /// Sum of the diagonal.
    #[inline]
    pub fn trace(&self) -> T {
        self.xx + self.yy + self.zz
    }

    /// All nine entries.
    #[inline]
    pub fn matrix(&self) -> Matrix3<T> {
        let Symmetric { xx, yy, zz, xy, xz, yz } = *self;
        Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz)
    }

    /// R self R'.
    #[inline]
    pub fn rotated(&self, r: &Matrix3<T>) -> Self {
        let row = |i: usize| Vector3::new(r[(i, 0)], r[(i, 1)], r[(i, 2)]);
        let (x, y, z) = (row(0), row(1), row(2));
        let (sx, sy, sz) = (*self * x, *self * y, *self * z);
        Symmetric {
            xx: x.dot(&sx),
            yy: y.dot(&sy),
            zz: z.dot(&sz),
            xy: x.dot(&sy),
            xz: x.dot(&sz),
            yz: y.dot(&sz),
        }
    }
}

impl<T: Real> Mul<Vector3<T>> for Symmetric<T> {
    type Output = Vector3<T>;
    #[inline]
    fn mul(self, a: Vector3<T>) -> Vector3<T> {
        Vector3::new(
            self.xx * a.x + self.xy * a.y + self.xz * a.z,
            self.xy * a.x + self.yy * a.y + self.yz * a.z,
            self.xz * a.x + self.yz * a.y + self.zz * a.z,
        )
    }
}

impl<T: Real> Add for Symmetric<T> {
    type Output = Self;
    #[inline]
    fn add(self, b: Self) -> Self {
        Symmetric {
            xx: self.xx + b.xx,
            yy: self.yy + b.yy,
            zz: self.zz + b.zz,
            xy: self.xy + b.xy,
            xz: self.xz + b.xz,
            yz: self.yz + b.yz,
        }
    }
}

impl<T: Real> Sub for Symmetric<T> {
    type Output = Self;
    #[inline]
    fn sub(self, b: Self) -> Self {
        Symmetric {
            xx: self.xx - b.xx,
            yy: self.yy - b.yy,
            zz: self.zz - b.zz,
            xy: self.xy - b.xy,
            xz: self.xz - b.xz,
            yz: self.yz - b.yz,
        }
    }
}

impl<T: Real> AddAssign for Symmetric<T> {
    #[inline]
    fn add_assign(&mut self, b: Self) {
        *self = *self + b;
    }
}
