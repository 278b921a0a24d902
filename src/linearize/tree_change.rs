//! How a tree of bodies changes over a step without contact: what it starts from and what acts on it, in columns.

use std::ops::Range;

use crate::dynamics::AppliedForceDerivatives;
use crate::linalg::add_scaled;
use crate::model::Model;

/// The change of a tree. Matrices are row-major, with a row for each velocity, and columns of q, of v, of a force along each velocity
/// and of each control.
#[derive(Clone, Debug, Default)]
pub(super) struct TreeChange {
    pub velocities: Range<usize>,
    controls: Vec<usize>,
    /// Of v_p.
    pub v: Vec<f64>,
    /// Of M v_p, less dM (v+ - v_p): kg m/s and kg m^2/s.
    pub momenta: Vec<f64>,
    /// By Runge and Kutta, of the place at the end where nothing touches.
    pub places: Vec<f64>,
}

impl TreeChange {
    /// No change of a tree yet; no velocities of a lone body.
    pub fn start(&mut self, model: &Model, index: usize) {
        let tree = &model.trees[index];
        let own = |c: &usize| model.driven_tree(*c) == Some(index);
        self.velocities = if tree.lone { 0..0 } else { tree.v.clone() };
        self.controls.clear();
        self.controls.extend((0..model.actuators.len()).filter(own).filter(|_| !tree.lone));
        self.v.clear();
        self.places.clear();
    }

    /// How many columns.
    pub fn columns(&self) -> usize {
        3 * self.velocities.len() + self.controls.len()
    }

    /// The column of an input, a force along a velocity or a control, if it acts on the tree.
    pub fn column_of(&self, model: &Model, input: usize) -> Option<usize> {
        let (n, start) = (self.velocities.len(), self.velocities.start);
        match input.checked_sub(model.nv()) {
            None => self.velocities.contains(&input).then(|| 2 * n + input - start),
            Some(control) => {
                let place = self.controls.iter().position(|&own| own == control);
                place.map(|place| 3 * n + place)
            }
        }
    }

    /// `matrix` <- no change, but of each of the velocities that of the column after `first`.
    pub fn unit(&self, first: usize, matrix: &mut Vec<f64>) {
        let (n, columns) = (self.velocities.len(), self.columns());
        matrix.clear();
        matrix.resize(n * columns, 0.0);
        (0..n).for_each(|i| matrix[i * columns + first + i] = 1.0);
    }

    /// `right` <- d(tau - D v) - by_q dq - by_v dv, of the changes dq and dv and the `slopes` by_q and by_v: N and N m.
    pub fn forces(
        &self,
        model: &Model,
        (applied, damping): (&AppliedForceDerivatives<f64>, &[f64]),
        slopes: [impl Fn(usize) -> f64; 2],
        [q, v]: [&[f64]; 2],
        right: &mut Vec<f64>,
    ) {
        let (n, columns, start) = (self.velocities.len(), self.columns(), self.velocities.start);
        self.unit(2 * n, right);
        for (i, row) in right.chunks_exact_mut(columns.max(1)).enumerate() {
            for (k, (q, v)) in q.chunks_exact(columns).zip(v.chunks_exact(columns)).enumerate() {
                let [mut by_q, mut by_v] = slopes.each_ref().map(|slope| -slope(i * n + k));
                if i == k {
                    by_q += applied.by_q[start + i];
                    by_v += applied.by_v[start + i] - damping[start + i];
                }
                add_scaled(row, by_q, q);
                add_scaled(row, by_v, v);
            }
        }
        for (place, &control) in self.controls.iter().enumerate() {
            let Some(joint) = model.driven_joint(control) else { continue };
            right[(joint.v - start) * columns + 3 * n + place] += applied.by_control[control];
        }
    }
}
