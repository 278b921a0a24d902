//! Viscosity by the rate of Green's strain (`Geilinger20` (19)): stress nu F D, D = (F'V + V'F)/2, V the rate of F. What
//! only turns has none, so that spin is not damped.

use super::material::SolidMaterial;
use super::operand::{Matrix3, Operand, product, sum, transpose_product};
use crate::ad::Real;

/// D, times two.
#[inline(always)]
pub(super) fn doubled_rate<T: Operand<T>>(f: &Matrix3<T>, v: &Matrix3<T>) -> Matrix3<T> {
    sum(&transpose_product(f, v), &transpose_product(v, f))
}

/// The viscous stress (Pa), of `half` the viscosity.
#[inline(always)]
pub(super) fn stress<T: Operand<T>>(half: T, f: &Matrix3<T>, v: &Matrix3<T>) -> Matrix3<T> {
    product(f, &doubled_rate(f, v)).map(|row| row.map(|x| half * x))
}

/// The viscous stress nu F D (Pa) at a deformation gradient F and its rate V (1/s). `Geilinger20` (19)
pub fn viscous_stress<T: Real>(
    material: &SolidMaterial<T>,
    f: &Matrix3<T>,
    v: &Matrix3<T>,
) -> Matrix3<T> {
    stress(material.viscosity * 0.5, f, v)
}

/// The power nu |D|² that viscosity takes out (W/m³).
pub fn dissipation<T: Real>(material: &SolidMaterial<T>, f: &Matrix3<T>, v: &Matrix3<T>) -> T {
    let rate = doubled_rate(f, v);
    let square = rate.iter().flatten().fold(T::zero(), |sum, &x| sum + x * x);
    material.viscosity * square * 0.25
}
