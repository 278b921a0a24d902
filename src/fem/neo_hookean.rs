//! The neo-Hookean solid: energy density mu/2 (|F|² - 3 - 2 ln J) + lambda/2 ((J² - 1)/2 - ln J) (J/m³), J = det F.

use super::material::SolidMaterial;
use super::operand::{Constant, Matrix3, Operand, cofactor, dot, matrix};
use crate::ad::Real;

/// The energy density (J/m³) at a deformation gradient F. Not a number where det F < 0.
pub fn energy_density<T: Real>(material: &SolidMaterial<T>, f: &Matrix3<T>) -> T {
    let j = dot(&f[0], &cofactor(f)[0]);
    let square = f.iter().fold(T::zero(), |sum, row| sum + dot(row, row));
    let log = j.ln();
    material.lame_mu * 0.5 * (square - 3.0 - log * 2.0)
        + material.lame_lambda * 0.5 * ((j * j - 1.0) * 0.5 - log)
}

/// What stress and stiffness share: F^-T, J² and c = mu - lambda/2 (J² - 1).
#[derive(Clone, Copy)]
pub(super) struct Dilatation<T> {
    pub inverse_transpose: Matrix3<T>,
    pub square: T,
    pub c: T,
}

impl<T> Dilatation<T> {
    #[inline(always)]
    pub fn new<S: Constant>(material: &SolidMaterial<T>, f: &Matrix3<T>) -> Self
    where
        T: Operand<S> + Operand<T>,
    {
        let cofactors = cofactor(f);
        let j = dot::<T, T>(&f[0], &cofactors[0]);
        let square = j * j;
        // (J² - 1)/2 without the constant 1, which not all entries have: J²/2 and lambda/2 apart lose nothing that
        // the difference has.
        let lambda = material.lame_lambda * S::from(0.5);
        let c = material.lame_mu - (lambda * square - lambda);
        let inverse_transpose = matrix(|i, k| cofactors[i][k] / j);
        Dilatation { inverse_transpose, square, c }
    }

    /// The first Piola-Kirchhoff stress mu F - c F^-T.
    #[inline(always)]
    pub fn stress(&self, material: &SolidMaterial<T>, f: &Matrix3<T>) -> Matrix3<T>
    where
        T: Operand<T>,
    {
        matrix(|i, k| material.lame_mu * f[i][k] - self.c * self.inverse_transpose[i][k])
    }
}

/// The first Piola-Kirchhoff stress dE/dF (Pa).
pub fn elastic_stress<T: Real>(material: &SolidMaterial<T>, f: &Matrix3<T>) -> Matrix3<T> {
    Dilatation::new::<f64>(material, f).stress(material, f)
}
