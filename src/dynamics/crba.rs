//! The mass matrix: the composite-rigid-body algorithm (`Featherstone08`, section 6.2).

use super::links::{Links, NONE};
use super::{BlockDiagonal, Kinematics};
use crate::ad::Real;
use crate::model::{Model, Parameters};
use crate::spatial::Inertia;

/// The joint-space mass matrix M, of which only entries of velocities that move a common body are stored:
/// for each velocity those on the path to the root.
#[derive(Clone, Debug, Default)]
pub struct MassMatrix<T> {
    pub(super) links: Links,
    /// Row k: the entries with itself and those before it on its path, in the order of the path.
    pub(super) values: Vec<T>,
    /// How large the terms of each diagonal entry are, to judge its rounding by.
    pub(super) magnitude: Vec<f64>,
}

/// Scratch memory of [`mass_matrix`].
#[derive(Clone, Debug, Default)]
pub struct Crba<T> {
    composite: Vec<Inertia<T>>,
}

/// M with the armature on its diagonal.
pub fn mass_matrix<T: Real>(
    model: &Model,
    parameters: &Parameters<T>,
    kinematics: &Kinematics<T>,
    scratch: &mut Crba<T>,
    matrix: &mut MassMatrix<T>,
) {
    let links = &kinematics.links;
    matrix.fit(links);
    let composite = &mut scratch.composite;
    composite.clear();
    composite.extend(kinematics.bodies.iter().map(|body| body.inertia));
    for (index, link) in links.bodies.iter().enumerate().rev() {
        let inertia = composite[index];
        if link.parent != NONE {
            composite[link.parent] += inertia;
        }
        if link.nv == 0 {
            continue;
        }
        let armature = parameters.armature(model, index);
        let traces = (3.0 * inertia.mass.value(), inertia.rotational.trace().value());
        for k in link.range() {
            let axis = &kinematics.axes[k].motion;
            let force = inertia * *axis;
            let (start, path) = (links.start[k], links.path(k));
            for (value, &j) in matrix.values[start..].iter_mut().zip(path) {
                *value = kinematics.axes[j].motion.dot(&force);
            }
            matrix.values[start] += armature;
            matrix.magnitude[k] = axis.magnitude(traces) + armature.value();
        }
    }
}

impl<T: Real> MassMatrix<T> {
    /// Makes room for the velocities of `links`.
    pub(super) fn fit(&mut self, links: &Links) {
        if self.links != *links {
            self.links.clone_from(links);
        }
        self.values.resize(links.path.len(), T::zero());
        self.magnitude.resize(links.parent.len(), 0.0);
    }

    /// How many velocities there are.
    pub fn len(&self) -> usize {
        self.magnitude.len()
    }

    /// Whether there are no velocities.
    pub fn is_empty(&self) -> bool {
        self.magnitude.is_empty()
    }

    /// y = M x.
    pub fn multiply(&self, x: &[T], y: &mut [T]) {
        y.fill(T::zero());
        for k in 0..self.len() {
            let row = &self.values[self.links.start[k]..];
            y[k] += row[0] * x[k];
            for (&m, &j) in row[1..].iter().zip(&self.links.path(k)[1..]) {
                y[k] += m * x[j];
                y[j] += m * x[k];
            }
        }
    }

    /// All entries, tree by tree.
    pub fn blocks(&self, model: &Model, blocks: &mut BlockDiagonal<T>) {
        blocks.fit(model);
        for k in 0..self.len() {
            let row = &self.values[self.links.start[k]..];
            for (&m, &j) in row.iter().zip(self.links.path(k)) {
                *blocks.entry(k, j) = m;
                *blocks.entry(j, k) = m;
            }
        }
    }

    /// All entries, row-major; `matrix` is overwritten.
    pub fn dense(&self, matrix: &mut [T]) {
        let n = self.len();
        matrix.fill(T::zero());
        for k in 0..n {
            let row = &self.values[self.links.start[k]..];
            for (&m, &j) in row.iter().zip(self.links.path(k)) {
                matrix[k * n + j] = m;
                matrix[j * n + k] = m;
            }
        }
    }
}
