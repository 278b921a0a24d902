//! Energy, forces and stiffness of one element, in closed form; or of four, in entries of four numbers.
//!
//! With g_a = F^-T B_a and c = mu - lambda/2 (J² - 1), and the viscous stress nu F D, D = (F'V + V'F)/2:
//!
//! ```text
//! force    -V (mu F B_a - c g_a + nu F D B_a)
//! -df/dx    V (mu B_a.B_b 1 + c g_b g_a' + lambda J² g_a g_b')
//!         + V nu (B_a.D B_b 1 + (F B_b (V B_a)' + B_a.B_b F V')/2)
//! -df/dv    V nu/2 (B_a.B_b F F' + F B_b (F B_a)')
//! ```

use super::entry::{
    Constant, Entry, Matrix3, Vector3, apply, dot, matrix, product_transpose, sum, transpose,
};
use super::green_viscosity::{doubled_rate, stress};
use super::material::Material;
use super::neo_hookean::{Dilatation, energy_density};
use super::tetrahedron::Tetrahedron;
use crate::ad::Real;

/// A matrix on the nodes of an element: block (a, b) is row a, column b.
pub type Blocks<T> = [[Matrix3<T>; 4]; 4];

/// F: how the element is deformed where its nodes are at x (m).
#[inline(always)]
pub fn deformation_gradient<S: Copy, T: Entry<S>>(
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
pub fn velocity_gradient<S: Copy, T: Entry<S>>(
    shape: &Tetrahedron<S>,
    v: &[Vector3<T>; 4],
) -> Matrix3<T> {
    deformation_gradient(shape, v)
}

/// The elastic energy (J).
pub fn energy<T: Real>(shape: &Tetrahedron, material: &Material<T>, x: &[Vector3<T>; 4]) -> T {
    energy_density(material, &deformation_gradient(shape, x)) * shape.volume
}

/// The forces on the nodes (N); without viscosity where there is no `v`.
#[inline(always)]
pub fn force<S: Constant, T: Entry<S> + Entry<T>>(
    shape: &Tetrahedron<S>,
    material: &Material<T>,
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

/// `weight` times -df/dx (N/m): of elasticity, and of viscosity where there is `v`.
#[inline(always)]
pub fn stiffness<S, T>(
    shape: &Tetrahedron<S>,
    weight: S,
    material: &Material<T>,
    x: &[Vector3<T>; 4],
    v: Option<&[Vector3<T>; 4]>,
) -> Blocks<T>
where
    S: Constant,
    T: Entry<S> + Entry<T>,
{
    let b = &shape.gradients;
    let f = deformation_gradient(shape, x);
    let at = Dilatation::new::<S>(material, &f);
    let volume = weight * shape.volume;
    let g = [1, 2, 3].map(|a| apply(&at.inverse_transpose, &b[a]));
    let (mu, c) = (material.lame_mu * volume, at.c * volume);
    let lambda = material.lame_lambda * at.square * volume;
    // c g_b and lambda J² g_b
    let turned = g.map(|g| g.map(|x| c * x));
    let pressed = g.map(|g| g.map(|x| lambda * x));
    let block = |(a, k): (usize, usize)| {
        let shear = mu * dot(&b[a + 1], &b[k + 1]);
        matrix(|i, j| {
            let entry = turned[k][i] * g[a][j] + pressed[a][i] * g[k][j];
            if i == j { entry + shear } else { entry }
        })
    };
    let [b00, b01, b02, b11, b12, b22] =
        [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)].map(block);
    let mut inner = [
        [b00, b01, b02],
        [transpose(&b01), b11, b12],
        [transpose(&b02), transpose(&b12), b22],
    ];
    if let Some(v) = v {
        let nu = material.viscosity * S::from(0.5) * volume;
        let rate = velocity_gradient(shape, v);
        let doubled = doubled_rate(&f, &rate);
        let across = product_transpose(&f, &rate);
        for a in 0..3 {
            let (moved, turned) = (apply(&rate, &b[a + 1]), apply(&doubled, &b[a + 1]));
            for k in 0..3 {
                let stretched = apply(&f, &b[k + 1]);
                let (both, along) = (dot(&b[a + 1], &b[k + 1]), nu * dot(&turned, &b[k + 1]));
                let target = &mut inner[a][k];
                for i in 0..3 {
                    for j in 0..3 {
                        let entry = stretched[i] * moved[j] + across[i][j] * both;
                        target[i][j] = target[i][j] + nu * entry;
                    }
                    target[i][i] = target[i][i] + along;
                }
            }
        }
    }
    complete(&inner)
}

/// `weight` times -df/dv (N s/m), where nodes are at x.
#[inline(always)]
pub fn damping<S, T>(
    shape: &Tetrahedron<S>,
    weight: S,
    material: &Material<T>,
    x: &[Vector3<T>; 4],
) -> Blocks<T>
where
    S: Constant,
    T: Entry<S> + Entry<T>,
{
    let b = &shape.gradients;
    let f = deformation_gradient(shape, x);
    let nu = material.viscosity * (S::from(0.5) * weight * shape.volume);
    let stretch = product_transpose(&f, &f);
    let moved = [1, 2, 3].map(|a| apply(&f, &b[a]));
    let inner = [0, 1, 2].map(|a| {
        [0, 1, 2].map(|k| {
            let both = dot(&b[a + 1], &b[k + 1]);
            matrix(|i, j| nu * (stretch[i][j] * both + moved[k][i] * moved[a][j]))
        })
    });
    complete(&inner)
}

/// All blocks, from those of the last three nodes: rows and columns of blocks sum to zero, as forces do and as moving
/// all nodes alike deforms nothing.
#[inline(always)]
fn complete<T: Entry<T>>(inner: &[[Matrix3<T>; 3]; 3]) -> Blocks<T> {
    let less = |[x, y, z]: [&Matrix3<T>; 3]| matrix(|i, j| -(x[i][j] + y[i][j] + z[i][j]));
    let column = [0, 1, 2].map(|a| less([&inner[a][0], &inner[a][1], &inner[a][2]]));
    let row = [0, 1, 2].map(|k| less([&inner[0][k], &inner[1][k], &inner[2][k]]));
    let corner = less([&row[0], &row[1], &row[2]]);
    let [r0, r1, r2] = *inner;
    [
        [corner, row[0], row[1], row[2]],
        [column[0], r0[0], r0[1], r0[2]],
        [column[1], r1[0], r1[1], r1[2]],
        [column[2], r2[0], r2[1], r2[2]],
    ]
}
