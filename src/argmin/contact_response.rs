//! How the velocities of a coupled contact problem respond to many perturbations at once: the forward twin
//! of the node with all right-hand sides in one matrix, from one factorisation.

use super::ContactFactor;
use super::coupled_contact::CoupledContact;
use crate::ad::Real;
use crate::linalg::add_scaled;

/// Perturbations of a problem, a column each. What does not change is zero.
#[derive(Clone, Debug, Default)]
pub struct ContactPerturbations<T> {
    /// How many there are.
    pub columns: usize,
    /// How many of them, the first, change the rows J.
    pub moving: usize,
    /// dJ v+ at the velocities of the solution: rows x `moving`, row-major.
    pub rows: Vec<T>,
    /// What the condition along the first row of each block changes by: `dc lambda - d target`, blocks x
    /// `columns`, row-major.
    pub offsets: Vec<T>,
    z: Vec<T>,
}

impl<T: Real> ContactPerturbations<T> {
    /// Room for `columns` perturbations of `node`, `moving` of which change J, all zero.
    pub fn fit(&mut self, node: &CoupledContact, columns: usize, moving: usize) {
        (self.columns, self.moving) = (columns, moving);
        for (numbers, size) in [
            (&mut self.rows, node.rows.rows() * moving),
            (&mut self.offsets, node.rows.blocks().len() * columns),
        ] {
            numbers.clear();
            numbers.resize(size, T::zero());
        }
    }
}

impl CoupledContact {
    /// The velocities v+ under all `perturbations`, in the coordinates x = L'v: on entry `x` holds L' dv+ at
    /// fixed impulses (velocities x columns, row-major), which is L^-1 d(M v_p + J' lambda) less dM (v+ -
    /// v_p); on return that of the solution. Limits mu do not change.
    ///
    /// False, and nothing done, if this does not determine it: where the conditions are singular, or where
    /// velocities depend on how redundant contacts share their impulses; `jvp` says what is then.
    #[must_use]
    pub fn respond<T: Real>(
        &self,
        factor: &mut ContactFactor<T>,
        perturbations: &mut ContactPerturbations<T>,
        x: &mut [T],
    ) -> bool {
        let Some(modes) = factor.modes() else { return false };
        if modes.sharing_matters() {
            return false;
        }
        let ContactPerturbations { columns, moving, rows, offsets, z } = perturbations;
        let (columns, moving) = (*columns, *moving);
        if columns == 0 {
            return true;
        }
        z.clear();
        z.resize(modes.unknowns() * columns, T::zero());
        modes.matrix().add_tests(x, columns, z);
        if moving > 0 {
            modes.add_rows(rows, moving, z, columns);
        }
        modes.for_each_normal(|k, i| {
            let offset = &offsets[i * columns..(i + 1) * columns];
            add_scaled(&mut z[k * columns..(k + 1) * columns], T::one(), offset);
        });
        modes.matrix().solve_rows(columns, z);
        modes.matrix().subtract_motions(z, columns, x);
        true
    }
}
