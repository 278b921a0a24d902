//! Steps of the conditions with one weight for all friction that holds, by sparse blocks: what rests is carried on by these.

use super::super::problem::{ContactData, Delassus};
use super::super::rule::Selection;
use super::{ContactModes, Iterate, Kind};
use crate::ad::Real;

impl<T: Real> ContactModes<T> {
    /// Sets up the conditions of contacts with a compliance, with one weight for normal impulses and one for friction that
    /// holds, of clamps times their `stretch` by block, and factorises them by blocks. False if they are singular.
    #[must_use]
    pub fn factor_evenly(
        &mut self,
        data: &ContactData<T>,
        delassus: &Delassus<T>,
        at: &Iterate<T>,
        (weights, stretch): ([f64; 2], &[f64]),
    ) -> bool {
        self.stretch.clear();
        self.stretch.extend_from_slice(stretch);
        self.set_up(data, delassus, at, Selection::Even(weights));
        self.matrix.factor_by_blocks(&delassus.pattern)
    }

    /// A step of the conditions that are [factorised](Self::factor_evenly), from the impulses `lambda`, contact velocities
    /// `u` and velocities `v`, these in the coordinates of W: the normal impulses are changed, `v` becomes what it is then.
    pub fn step_evenly(
        &mut self,
        data: &ContactData<T>,
        delassus: &Delassus<T>,
        (lambda, u): (&mut [T], &[T]),
        v: &mut [T],
    ) {
        let [mut h, mut x, mut asked] =
            [&mut self.scratch, &mut self.preimage, &mut self.rows].map(std::mem::take);
        self.reduce_rows(u, &mut h);
        asked.clear();
        asked.resize(h.len(), T::zero());
        for (k, i) in self.normals() {
            let give = data.compliance[i] * lambda[data.blocks()[i].first];
            h[k] += give;
            asked[k] = data.target[i] - give;
        }
        self.matrix.advance(&delassus.pattern, &h, &mut x);
        for (k, unknown) in self.unknowns.iter().enumerate() {
            if unknown.kind == Kind::Normal {
                lambda[unknown.first] -= self.matrix.change(k, h[k], &x);
            }
        }
        // v + x has no digits where friction holds, but this has: 0 is asked there, of nothing else.
        self.matrix.damp(&delassus.pattern, &asked, v);
        (self.scratch, self.preimage, self.rows) = (h, x, asked);
    }
}
