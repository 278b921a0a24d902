//! Energy, forces and stiffness of one element, in closed form.
//!
//! With g_a = F^-T B_a and c = mu - lambda/2 (J² - 1), and the viscous stress nu F D, D = (F'V + V'F)/2:
//!
//! ```text
//! force    -V (mu F B_a - c g_a + nu F D B_a)
//! -df/dx    V (mu B_a.B_b 1 + c g_b g_a' + lambda J² g_a g_b')
//!         + V nu (B_a.D B_b 1 + (F B_b (V B_a)' + B_a.B_b F V')/2)
//! -df/dv    V nu/2 (B_a.B_b F F' + F B_b (F B_a)')
//! ```

use super::green_viscosity::{doubled_rate, stress};
use super::material::SolidMaterial;
use super::neo_hookean::{Dilatation, energy_density};
use super::operand::{
    Constant, Matrix3, Operand, Vector3, apply, dot, matrix, product_transpose, sum, transpose,
};
use super::tetrahedron::Tetrahedron;
use crate::ad::Real;

/// A matrix on the nodes of an element: block (a, b) is row a, column b.
pub type Blocks<T> = [[Matrix3<T>; 4]; 4];

/// F: how the element is deformed where its nodes are at x (m).
#[inline(always)]
pub fn deformation_gradient<S: Copy, T: Operand<S>>(
    shape: &Tetrahedron<S>,
    x: &[Vector3<T>; 4],
) -> Matrix3<T> {
    let b = &shape.gradients;
    // By edges: the difference of points near each other has no rounding, wherever they are.
    let edges = [1, 2, 3].map(|a| [0, 1, 2].map(|i| x[a][i] - x[0][i]));
    matrix(|i, j| edges[0][i] * b[1][j] + edges[1][i] * b[2][j] + edges[2][i] * b[3][j])
}

/// The rate of F where nodes have the velocities v (m/s).
#[inline(always)]
pub fn velocity_gradient<S: Copy, T: Operand<S>>(
    shape: &Tetrahedron<S>,
    v: &[Vector3<T>; 4],
) -> Matrix3<T> {
    deformation_gradient(shape, v)
}

/// The elastic energy (J).
pub fn energy<T: Real>(shape: &Tetrahedron, material: &SolidMaterial<T>, x: &[Vector3<T>; 4]) -> T {
    energy_density(material, &deformation_gradient(shape, x)) * shape.volume
}

/// The forces on the nodes (N); without viscosity where there is no `v`.
#[inline(always)]
pub fn force<S: Constant, T: Operand<S> + Operand<T>>(
    shape: &Tetrahedron<S>,
    material: &SolidMaterial<T>,
    x: &[Vector3<T>; 4],
    v: Option<&[Vector3<T>; 4]>,
) -> [Vector3<T>; 4] {
    let f = deformation_gradient(shape, x);
    let mut piola = Dilatation::new::<S>(material, &f).stress(material, &f);
    if let Some(v) = v {
        let rate = velocity_gradient(shape, v);
        piola = sum(&piola, &stress(material.viscosity * S::from(0.5), &f, &rate));
    }
    let of = |a: usize| apply(&piola, &shape.gradients[a]).map(|x| -(x * shape.volume));
    let [f1, f2, f3] = [of(1), of(2), of(3)];
    // They sum to zero.
    [[0, 1, 2].map(|i| -(f1[i] + f2[i] + f3[i])), f1, f2, f3]
}

/// `weights[0]` times -df/dx and `weights[1]` times -df/dv: hands block after block to `put`, each once. Without viscosity
/// where there is no `v`.
#[inline(always)]
pub fn tangent<S, T>(
    shape: &Tetrahedron<S>,
    weights: [S; 2],
    material: &SolidMaterial<T>,
    x: &[Vector3<T>; 4],
    v: Option<&[Vector3<T>; 4]>,
    mut put: impl FnMut(usize, usize, &Matrix3<T>),
) where
    S: Constant,
    T: Operand<S> + Operand<T>,
{
    let b = &shape.gradients;
    let f = deformation_gradient(shape, x);
    let at = Dilatation::new::<S>(material, &f);
    let volume = weights[0] * shape.volume;
    let normal = |a: usize| apply(&at.inverse_transpose, &b[a]);
    let g = [normal(0), normal(1), normal(2), normal(3)];
    let (mu, c) = (material.lame_mu * volume, at.c * volume);
    let lambda = material.lame_lambda * at.square * volume;
    let elastic = |a: usize, k: usize| {
        let shear = mu * dot(&b[a], &b[k]);
        let turned = [c * g[k][0], c * g[k][1], c * g[k][2]];
        let pressed = [lambda * g[a][0], lambda * g[a][1], lambda * g[a][2]];
        matrix(|i, j| {
            let entry = turned[i] * g[a][j] + pressed[i] * g[k][j];
            if i == j { entry + shear } else { entry }
        })
    };
    let Some(v) = v else {
        for a in 0..4 {
            put(a, a, &elastic(a, a));
            for k in a + 1..4 {
                let block = elastic(a, k);
                put(a, k, &block);
                put(k, a, &transpose(&block));
            }
        }
        return;
    };
    let half = material.viscosity * (S::from(0.5) * shape.volume);
    let (in_x, in_v) = (half * weights[0], half * weights[1]);
    let rate = velocity_gradient(shape, v);
    let doubled = doubled_rate(&f, &rate);
    // What multiplies B_a.B_k: of both F V' and F F'.
    let (of_rate, of_stretch) = (product_transpose(&f, &rate), product_transpose(&f, &f));
    let across = matrix(|i, j| in_x * of_rate[i][j] + in_v * of_stretch[i][j]);
    // What stands beside F B_k.
    let beside = matrix(|i, j| in_x * rate[i][j] + in_v * f[i][j]);
    for a in 0..4 {
        let (moved, turned) = (apply(&beside, &b[a]), apply(&doubled, &b[a]));
        for k in 0..4 {
            let stretched = apply(&f, &b[k]);
            let (both, along) = (dot(&b[a], &b[k]), in_x * dot(&turned, &b[k]));
            let block = elastic(a, k);
            let block = matrix(|i, j| {
                let entry = block[i][j] + stretched[i] * moved[j] + across[i][j] * both;
                if i == j { entry + along } else { entry }
            });
            put(a, k, &block);
        }
    }
}

/// -df/dx (N/m) as a whole: of elasticity, and of viscosity where there is `v`.
pub fn stiffness<T: Real>(
    shape: &Tetrahedron,
    material: &SolidMaterial<T>,
    x: &[Vector3<T>; 4],
    v: Option<&[Vector3<T>; 4]>,
) -> Blocks<T> {
    let mut blocks = [[[[T::zero(); 3]; 3]; 4]; 4];
    tangent(shape, [1.0, 0.0], material, x, v, |a, k, block| blocks[a][k] = *block);
    blocks
}

/// -df/dv (N s/m) as a whole, where nodes are at x.
pub fn damping<T: Real>(
    shape: &Tetrahedron,
    material: &SolidMaterial<T>,
    x: &[Vector3<T>; 4],
) -> Blocks<T> {
    let mut blocks = [[[[T::zero(); 3]; 3]; 4]; 4];
    tangent(shape, [0.0, 1.0], material, x, Some(x), |a, k, block| blocks[a][k] = *block);
    blocks
}
