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
        let normals = || (0..contacts).map(normal);
        let tangents = || (0..2 * contacts).map(tangent);
        let block = |out: &mut Vec<T>, rows: &mut dyn Iterator<Item = usize>, tangential: bool| {
            out.clear();
            for r in rows {
                match tangential {
                    true => out.extend(tangents().map(|c| dot(w(r), w(c)))),
                    false => out.extend(normals().map(|c| dot(w(r), w(c)))),
                }
            }
        };
        block(&mut self.normal, &mut normals(), false);
        block(&mut self.tangential, &mut tangents(), true);
        block(&mut self.coupling, &mut normals(), true);
        self.normal_free.clear();
        let targets = normals().zip(data.target);
        self.normal_free.extend(targets.map(|(r, &target)| dot(data.row(r), data.free) - target));
        self.tangential_free.clear();
        self.tangential_free.extend(tangents().map(|r| dot(data.row(r), data.free)));
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
