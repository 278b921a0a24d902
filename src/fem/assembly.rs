//! Energy, forces and stiffness of all elements, in any scalar, one element after the other.

use super::elements::{Elements, gather};
use super::green_viscosity::dissipation;
use super::kernel::{damping, deformation_gradient, energy, force, tangent, velocity_gradient};
use super::material::SolidMaterial;
use super::operand::{Matrix3, Vector3, cofactor, dot};
use super::spd_projection::projected_stiffness;
use crate::ad::Real;
use crate::linalg::BlockMatrix;

impl Elements {
    /// The elastic energy (J) of nodes at `x`. Not a number where an element is turned inside out.
    pub fn energy<T: Real>(&self, material: &SolidMaterial<T>, x: &[Vector3<T>]) -> T {
        let of = |(nodes, shape)| energy(shape, material, &gather(nodes, x));
        self.nodes().iter().zip(self.shapes()).map(of).fold(T::zero(), |sum, energy| sum + energy)
    }

    /// The power (W) that viscosity takes out.
    pub fn dissipation_rate<T: Real>(
        &self,
        material: &SolidMaterial<T>,
        x: &[Vector3<T>],
        v: &[Vector3<T>],
    ) -> T {
        let mut sum = T::zero();
        for (nodes, shape) in self.nodes().iter().zip(self.shapes()) {
            let f = deformation_gradient(shape, &gather(nodes, x));
            let rate = velocity_gradient(shape, &gather(nodes, v));
            sum += dissipation(material, &f, &rate) * shape.volume;
        }
        sum
    }

    /// The least det F of an element: not positive where one is turned inside out, NaN where one is not a number.
    pub fn least_determinant(&self, x: &[Vector3<f64>]) -> f64 {
        let mut least = f64::INFINITY;
        for (nodes, shape) in self.nodes().iter().zip(self.shapes()) {
            let f: Matrix3<f64> = deformation_gradient(shape, &gather(nodes, x));
            let determinant = dot(&f[0], &cofactor(&f)[0]);
            if determinant.is_nan() {
                return determinant;
            }
            least = least.min(determinant);
        }
        least
    }

    /// As [`add_forces`](Self::add_forces); returns the largest force (N) that an element puts on a node, and no less than mu F does alone,
    /// which the rest cancels at rest: what rounding of forces is relative to.
    pub fn add_forces_measured(
        &self,
        material: &SolidMaterial<f64>,
        x: &[Vector3<f64>],
        v: &[Vector3<f64>],
        sum: &mut [Vector3<f64>],
    ) -> f64 {
        let largest = |x: &[[f64; 3]]| x.iter().flatten().fold(0.0, |m: f64, x| m.max(x.abs()));
        let viscous = material.viscosity != 0.0;
        let mut most: f64 = 0.0;
        for (nodes, shape) in self.nodes().iter().zip(self.shapes()) {
            let (x, v) = (gather(nodes, x), viscous.then(|| gather(nodes, v)));
            let f: Matrix3<f64> = deformation_gradient(shape, &x);
            let alone = shape.volume * material.lame_mu * largest(&f) * largest(&shape.gradients);
            let forces = force(shape, material, &x, v.as_ref());
            most = most.max(alone).max(largest(&forces));
            for (&node, force) in nodes.iter().zip(forces) {
                (0..3).for_each(|k| sum[node][k] += force[k]);
            }
        }
        most
    }

    /// f += the forces (N) of elasticity at `x` and, where the material has viscosity, of that at the velocities `v`.
    pub fn add_forces<T: Real>(
        &self,
        material: &SolidMaterial<T>,
        x: &[Vector3<T>],
        v: &[Vector3<T>],
        f: &mut [Vector3<T>],
    ) {
        let viscous = !material.viscosity.vanishes();
        for (nodes, shape) in self.nodes().iter().zip(self.shapes()) {
            let v = viscous.then(|| gather(nodes, v));
            let forces = force(shape, material, &gather(nodes, x), v.as_ref());
            for (&node, force) in nodes.iter().zip(forces) {
                (0..3).for_each(|k| f[node][k] += force[k]);
            }
        }
    }

    /// matrix += `weights[0]` times -df/dx and `weights[1]` times -df/dv.
    pub fn add_stiffness<T: Real>(
        &self,
        material: &SolidMaterial<T>,
        weights: [f64; 2],
        x: &[Vector3<T>],
        v: &[Vector3<T>],
        matrix: &mut BlockMatrix<T>,
    ) {
        let viscous = !material.viscosity.vanishes();
        for ((nodes, shape), places) in self.nodes().iter().zip(self.shapes()).zip(self.places()) {
            let (x, v) = (gather(nodes, x), viscous.then(|| gather(nodes, v)));
            tangent(shape, weights, material, &x, v.as_ref(), |a, b, block| {
                add(block, &mut matrix.blocks[places[4 * a + b]]);
            });
        }
    }

    /// The same without directions in which an element's energy is not convex, and of viscosity the damping alone: symmetric
    /// and positive semidefinite. False if it is not finite.
    #[must_use]
    pub fn add_projected_stiffness(
        &self,
        material: &SolidMaterial<f64>,
        weights: [f64; 2],
        x: &[Vector3<f64>],
        matrix: &mut BlockMatrix<f64>,
    ) -> bool {
        let viscous = material.viscosity != 0.0;
        for ((nodes, shape), places) in self.nodes().iter().zip(self.shapes()).zip(self.places()) {
            let x = gather(nodes, x);
            let Some(blocks) = projected_stiffness(shape, material, &x) else { return false };
            let damping = viscous.then(|| damping(shape, material, &x));
            for (k, &place) in places.iter().enumerate() {
                let (a, b) = (k / 4, k % 4);
                let target = &mut matrix.blocks[place];
                add(&blocks[a][b].map(|row| row.map(|x| weights[0] * x)), target);
                if let Some(damping) = &damping {
                    add(&damping[a][b].map(|row| row.map(|x| weights[1] * x)), target);
                }
            }
        }
        true
    }
}

/// target += block
fn add<T: Real>(block: &Matrix3<T>, target: &mut Matrix3<T>) {
    for (target, row) in target.iter_mut().zip(block) {
        (0..3).for_each(|j| target[j] += row[j]);
    }
}
