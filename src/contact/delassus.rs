//! The contact-space matrices of `[LeLidec21]` (5): what impulses do to contact velocities.

use crate::ad::Real;
use crate::argmin::ContactData;
use crate::linalg::solve_lower;

/// The blocks of J M^-1 J', and the contact velocities without impulses. With W = J L^-T, M = L L',
/// each block is W W'. Reused, it allocates nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Delassus<T> {
    w: Vec<T>,
    /// Gn, contacts x contacts   `[LeLidec21]` Algorithm 1, line 3
    pub normal: Vec<T>,
    /// Gt, 2 contacts x 2 contacts   line 3
    pub tangential: Vec<T>,
    /// Gnt, contacts x 2 contacts   line 4
    pub coupling: Vec<T>,
    /// J_n v_p - target, what g_n is without friction   line 6
    pub normal_free: Vec<T>,
    /// J_t v_p, what g_t is without normal impulses   line 8
    pub tangential_free: Vec<T>,
}

impl<T: Real> Delassus<T> {
    pub fn assemble(&mut self, data: &ContactData<T>) {
        let blocks = data.blocks();
        let contacts = blocks.len();
        self.w.clear();
        self.w.extend_from_slice(data.jacobian);
        for block in blocks {
            for r in 0..block.rows {
                let row = block.row_mut(&mut self.w, r);
                for (tree, part) in block.parts() {
                    solve_lower(data.factor(tree), part.len(), &mut row[part]);
                }
            }
        }
        // Row 0 of a contact is its normal, 1 and 2 are its tangents.
        let g = |(i, r): (usize, usize), (k, c): (usize, usize)| {
            let (a, b) = (&blocks[i], &blocks[k]);
            a.overlap(a.row(&self.w, r), b, b.row(&self.w, c))
        };
        self.normal.clear();
        self.coupling.clear();
        for i in 0..contacts {
            self.normal.extend((0..contacts).map(|k| g((i, 0), (k, 0))));
            self.coupling.extend((0..2 * contacts).map(|c| g((i, 0), tangent(c))));
        }
        self.tangential.clear();
        for r in (0..2 * contacts).map(tangent) {
            self.tangential.extend((0..2 * contacts).map(|c| g(r, tangent(c))));
        }
        let free = |(i, r): (usize, usize)| blocks[i].times(data.row(i, r), data.free);
        self.normal_free.clear();
        self.normal_free.extend(data.target.iter().enumerate().map(|(i, &t)| free((i, 0)) - t));
        self.tangential_free.clear();
        self.tangential_free.extend((0..2 * contacts).map(|k| free(tangent(k))));
    }
}

/// Contact and row of the `k`-th tangential direction.
fn tangent(k: usize) -> (usize, usize) {
    (k / 2, 1 + k % 2)
}
