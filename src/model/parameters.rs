//! Every physical number of a scene, in one flat vector that can be differentiated.

use nalgebra::{Matrix3, Vector3};

use super::Model;
use crate::ad::Real;

/// Numbers before the first body: gravity.
pub(super) const GRAVITY: usize = 3;
/// Numbers of a body.
pub(super) const BODY: usize = 13;
/// Numbers of a contact pair.
pub(super) const PAIR: usize = 3;

// Places within the numbers of a body and of a pair.
pub(super) const MASS: usize = 0;
pub(super) const CENTER_OF_MASS: usize = 1;
pub(super) const INERTIA: usize = 4;
pub(super) const SIZE: usize = 10;
pub(super) const MU: usize = 0;
pub(super) const RESTITUTION: usize = 1;
pub(super) const MU_STATIC: usize = 2;

/// Every physical number of a scene.
///
/// Layout of `values`: gravity x, y, z; for each body mass, center of mass x, y, z, inertia xx, yy,
/// zz, xy, xz, yz, and sizes (half extents x, y, z of a box; radius, 0, 0 of a sphere); for each
/// contact pair mu, restitution and mu_static (unused unless the pair has two regimes).
/// [`Model::parameter`] finds the slots by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters<T> {
    /// The numbers, SI units.
    pub values: Vec<T>,
}

impl<T: Real> Parameters<T> {
    /// Acceleration of gravity in the world frame, m/s².
    pub fn gravity(&self) -> Vector3<T> {
        self.vector(0)
    }

    /// Mass of a body, kg.
    pub fn mass(&self, body: usize) -> T {
        self.values[body_slot(body) + MASS]
    }

    /// Centre of mass of a body in its own frame, m.
    pub fn center_of_mass(&self, body: usize) -> Vector3<T> {
        self.vector(body_slot(body) + CENTER_OF_MASS)
    }

    /// Inertia of a body about its centre of mass, along the body axes, kg m².
    pub fn inertia(&self, body: usize) -> Matrix3<T> {
        let i = body_slot(body) + INERTIA;
        let [xx, yy, zz] = [self.values[i], self.values[i + 1], self.values[i + 2]];
        let [xy, xz, yz] = [self.values[i + 3], self.values[i + 4], self.values[i + 5]];
        Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz)
    }

    /// Half extents of a box along the body axes, m.
    pub fn half_extents(&self, body: usize) -> Vector3<T> {
        self.vector(body_slot(body) + SIZE)
    }

    /// Radius of a sphere, m.
    pub fn radius(&self, body: usize) -> T {
        self.values[body_slot(body) + SIZE]
    }

    /// Coefficient of friction of a contact pair: of contacts that slip, and of all where the pair has
    /// one regime.
    pub fn mu(&self, model: &Model, pair: usize) -> T {
        self.values[pair_slot(model, pair) + MU]
    }

    /// Coefficient of friction of contacts at rest, of a pair with two regimes.
    pub fn mu_static(&self, model: &Model, pair: usize) -> T {
        self.values[pair_slot(model, pair) + MU_STATIC]
    }

    /// Coefficient of restitution of a contact pair, 0 to 1.
    pub fn restitution(&self, model: &Model, pair: usize) -> T {
        self.values[pair_slot(model, pair) + RESTITUTION]
    }

    /// The values, without derivatives.
    pub fn value(&self) -> Parameters<f64> {
        Parameters { values: self.values.iter().map(|x| x.value()).collect() }
    }

    fn vector(&self, slot: usize) -> Vector3<T> {
        Vector3::new(self.values[slot], self.values[slot + 1], self.values[slot + 2])
    }
}

impl Parameters<f64> {
    /// The same numbers as constants of another scalar.
    pub fn cast<T: Real>(&self) -> Parameters<T> {
        Parameters { values: self.values.iter().map(|&x| T::constant(x)).collect() }
    }

    /// [`cast`](Self::cast) into existing storage.
    pub fn cast_into<T: Real>(&self, parameters: &mut Parameters<T>) {
        parameters.values.clear();
        parameters.values.extend(self.values.iter().map(|&x| T::constant(x)));
    }
}

/// The first slot of a body.
pub(super) fn body_slot(body: usize) -> usize {
    GRAVITY + BODY * body
}

/// The first slot of a contact pair.
pub(super) fn pair_slot(model: &Model, pair: usize) -> usize {
    body_slot(model.bodies.len()) + PAIR * pair
}
