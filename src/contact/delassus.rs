//! The contact-space matrices of `[LeLidec21]` (5): what impulses do to contact velocities.

use crate::ad::Real;
use crate::argmin::ContactData;
use crate::linalg::{dot, solve_lower};

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
        let (contacts, nv) = (data.contacts, data.velocities);
        self.w.clear();
        self.w.extend_from_slice(data.jacobian);
        for row in self.w.chunks_exact_mut(nv) {
            solve_lower(data.mass_factor, nv, row);
        }
        let w = |r: usize| &self.w[r * nv..(r + 1) * nv];
        self.normal.clear();
        self.coupling.clear();
        for r in (0..contacts).map(normal) {
            self.normal.extend((0..contacts).map(|c| dot(w(r), w(normal(c)))));
            self.coupling.extend((0..2 * contacts).map(|c| dot(w(r), w(tangent(c)))));
        }
        self.tangential.clear();
        for r in (0..2 * contacts).map(tangent) {
            self.tangential.extend((0..2 * contacts).map(|c| dot(w(r), w(tangent(c)))));
        }
        let free = |r: usize| dot(data.row(r), data.free);
        self.normal_free.clear();
        self.normal_free.extend(data.target.iter().enumerate().map(|(i, &t)| free(normal(i)) - t));
        self.tangential_free.clear();
        self.tangential_free.extend((0..2 * contacts).map(|k| free(tangent(k))));
    }
}

/// The row of J of the `i`-th normal direction.
fn normal(i: usize) -> usize {
    3 * i
}

/// The row of J of the `k`-th tangential direction.
fn tangent(k: usize) -> usize {
    3 * (k / 2) + 1 + k % 2
}
