//! Stiffness without the directions in which the energy density is not convex: what Newton's method descends by.

use nalgebra::{SMatrix, SymmetricEigen};

use super::kernel::{Blocks, deformation_gradient};
use super::material::SolidMaterial;
use super::operand::{Matrix3, Vector3, cofactor, dot, matrix};
use super::tetrahedron::Tetrahedron;

/// The second derivative of the energy density in F (Pa), in the order F_11, F_12, .. F_33:
/// mu dF + c F^-T dF' F^-T + lambda J² (F^-T : dF) F^-T.
pub fn energy_hessian(material: &SolidMaterial<f64>, f: &Matrix3<f64>) -> SMatrix<f64, 9, 9> {
    let cofactors = cofactor(f);
    let j = dot(&f[0], &cofactors[0]);
    let g = matrix(|i, k| cofactors[i][k] / j);
    let SolidMaterial { lame_lambda: lambda, lame_mu: mu, .. } = *material;
    let c = mu - 0.5 * lambda * (j * j - 1.0);
    SMatrix::from_fn(|row, column| {
        let [(i, k), (m, n)] = [row, column].map(|at| (at / 3, at % 3));
        let own = if row == column { mu } else { 0.0 };
        own + c * g[i][n] * g[m][k] + lambda * j * j * g[i][k] * g[m][n]
    })
}

/// The elastic stiffness (N/m) with the negative eigenvalues of the [second derivative](energy_hessian) set to zero:
/// positive semidefinite. `None` where that is not finite.
pub fn projected_stiffness(
    shape: &Tetrahedron,
    material: &SolidMaterial<f64>,
    x: &[Vector3<f64>; 4],
) -> Option<Blocks<f64>> {
    let hessian = energy_hessian(material, &deformation_gradient(shape, x));
    if !hessian.iter().all(|x| x.is_finite()) {
        return None;
    }
    let eigen = SymmetricEigen::try_new(hessian, f64::EPSILON, 1000)?;
    // Each kept eigenvector moves the nodes by its product with their gradients.
    let mut blocks = Blocks::default();
    for (&value, vector) in eigen.eigenvalues.iter().zip(eigen.eigenvectors.column_iter()) {
        if value <= 0.0 {
            continue;
        }
        let moved = shape.gradients.map(|b| {
            [0, 1, 2]
                .map(|i| vector[3 * i] * b[0] + vector[3 * i + 1] * b[1] + vector[3 * i + 2] * b[2])
        });
        let weight = value * shape.volume;
        for (a, row) in blocks.iter_mut().enumerate() {
            for (b, block) in row.iter_mut().enumerate() {
                for i in 0..3 {
                    for k in 0..3 {
                        block[i][k] += weight * moved[a][i] * moved[b][k];
                    }
                }
            }
        }
    }
    Some(blocks)
}
