//! What momenta answer to velocities at the end, M dv+ + S dv+ in the place of M dv+, where a solve is differentiated as it was made.

use super::relaxed_conditions::SmoothedContact;
use crate::ad::Real;
use crate::argmin::contact::problem::ContactData;
use crate::linalg::Lu;

impl SmoothedContact {
    /// M + S of each tree, factorised.
    fn answers<T: Real>(&self, data: &ContactData<T>) -> Vec<Lu<T>> {
        let trees = (0..self.rows.trees()).map(|tree| {
            let (l, rest) = (data.factor(tree), &self.rest[self.rows.square(tree)]);
            let n = self.rows.tree(tree).len();
            let entry = |k: usize| {
                let (i, j) = (k / n, k % n);
                (0..=i.min(j))
                    .fold(T::constant(rest[k]), |sum, c| sum + l[i * n + c] * l[j * n + c])
            };
            let matrix: Vec<T> = (0..n * n).map(entry).collect();
            let mut lu = Lu::default();
            // What cannot be solved is not finite.
            let _ = lu.factor(&matrix, n);
            lu
        });
        trees.collect()
    }

    /// v+ under impulses `lambda`, about the values that it has.
    pub(super) fn answer<T: Real>(&self, data: &ContactData<T>, lambda: &[T], velocity: &mut [T]) {
        let mut change = vec![T::zero(); velocity.len()];
        self.rows.transpose_times(data.jacobian, lambda, &mut change);
        for (tree, lu) in self.answers(data).iter_mut().enumerate() {
            let (range, l) = (self.rows.tree(tree), data.factor(tree));
            let n = range.len();
            let start = |i: usize| T::constant(velocity[range.start + i].value());
            let from = |i: usize| start(i) - data.free[range.start + i];
            let change = &mut change[range.clone()];
            for k in 0..n {
                let half = (k..n).fold(T::zero(), |sum, i| sum + l[i * n + k] * from(i));
                for (i, p) in change.iter_mut().enumerate().skip(k) {
                    *p -= l[i * n + k] * half;
                }
            }
            lu.solve(change);
            for (v, &change) in velocity[range.clone()].iter_mut().zip(&*change) {
                *v = T::constant(v.value()) + change;
            }
        }
    }

    /// J (M + S)^-1 J', row-major.
    pub(super) fn answering_delassus(&self, data: &ContactData<f64>, g: &mut [f64]) {
        let rows = self.rows.rows();
        let mut trees = self.answers(data);
        let mut unit = vec![0.0; rows];
        let mut moved = vec![0.0; self.rows.velocities()];
        let mut column = vec![0.0; rows];
        for l in 0..rows {
            unit.fill(0.0);
            unit[l] = 1.0;
            self.rows.transpose_times(data.jacobian, &unit, &mut moved);
            for (tree, lu) in trees.iter_mut().enumerate() {
                lu.solve(&mut moved[self.rows.tree(tree)]);
            }
            self.rows.times(data.jacobian, &moved, &mut column);
            (0..rows).for_each(|k| g[k * rows + l] = column[k]);
        }
    }
}
