//! How the velocities of a coupled contact problem respond to many perturbations at once: the forward twin
//! of the node with all right-hand sides in one matrix, from one factorisation.
//!
//! Velocities do not depend on how redundant contacts share what they carry. So the conditions that share the
//! least-norm rule, with rows W_m = Q T of which Q has orthonormal columns, count as T x = Q' h: with few bodies and
//! many contacts much fewer than K has. (Where friction follows a normal impulse that is shared it is not so; then
//! there is no response, and `jvp` says what is.)

use super::contact_data::ContactData;
use super::contact_modes::{Iterate, Selection};
use super::contact_solution::ContactSolution;
use super::coupled_contact::CoupledContact;
use super::newton_step::NewtonState;
use crate::ad::Real;
use crate::linalg::{Lu, add_combination, add_scaled};

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

/// The conditions at a solution, those of redundant contacts put together, factorised.
#[derive(Clone, Debug, Default)]
pub struct ContactResponse<T> {
    pub(super) state: NewtonState<T>,
    /// T by rows, then the unknowns that stand for themselves.
    together: Vec<T>,
    alone: Vec<usize>,
    shares: Vec<bool>,
    rank: usize,
    velocities: usize,
    matrix: Vec<T>,
    lu: Lu<T>,
    z: Vec<T>,
    reduced: Vec<T>,
}

impl<T: Real> ContactResponse<T> {
    /// W = J L^-T, in the structure of J.
    pub fn spread_rows(&self) -> &[T] {
        &self.state.delassus.w
    }

    /// Sets up the conditions where `state` is, puts together what is shared, and factorises them. False if they
    /// are singular, or velocities depend on how impulses are shared.
    pub(super) fn factor(
        &mut self,
        data: &ContactData<T>,
        solution: &ContactSolution,
        selection: Selection,
    ) -> bool {
        let NewtonState { delassus, modes, lambda, u, directions, guess, .. } = &mut self.state;
        let at = Iterate { modes: guess, directions, lambda, u, held: &solution.held };
        modes.set_up(data, delassus, &at, selection);
        if modes.sharing_matters() {
            return false;
        }
        let velocities = data.rows.velocities();
        let modes = &self.state.modes;
        let matrix = modes.matrix();
        let (members, range) = modes.members();
        self.velocities = velocities;
        self.rank = if range.is_deficient() { range.rank() } else { 0 };
        self.together.clear();
        self.together.resize(self.rank * velocities, T::zero());
        for k in 0..self.rank {
            let row = &mut self.together[k * velocities..(k + 1) * velocities];
            for (unknown, &q) in members.clone().zip(range.basis(k)) {
                if !(q.is_zero() && T::ORDER == 0) {
                    matrix.test(unknown).for_each(|(velocity, x)| row[velocity] += q * x);
                }
            }
        }
        self.shares.clear();
        self.shares.resize(modes.unknowns(), false);
        if self.rank > 0 {
            members.clone().for_each(|unknown| self.shares[unknown] = true);
        }
        self.alone.clear();
        self.alone.extend((0..modes.unknowns()).filter(|&k| !self.shares[k]));
        let (rank, size) = (self.rank, self.rank + self.alone.len());
        self.matrix.clear();
        self.matrix.resize(size * size, T::zero());
        let sparse = |row: &[T], entries: &mut dyn Iterator<Item = (usize, T)>| {
            entries.fold(T::zero(), |sum, (velocity, x)| sum + row[velocity] * x)
        };
        for i in 0..rank {
            let row = &self.together[i * velocities..(i + 1) * velocities];
            for j in 0..=i {
                let other = &self.together[j * velocities..(j + 1) * velocities];
                let x = crate::linalg::dot(row, other);
                self.matrix[i * size + j] = x;
                self.matrix[j * size + i] = x;
            }
            for (j, &unknown) in self.alone.iter().enumerate() {
                self.matrix[i * size + rank + j] = sparse(row, &mut matrix.motion(unknown));
                self.matrix[(rank + j) * size + i] = sparse(row, &mut matrix.test(unknown));
            }
        }
        for (i, &k) in self.alone.iter().enumerate() {
            for (j, &l) in self.alone.iter().enumerate() {
                self.matrix[(rank + i) * size + rank + j] = matrix.overlap(k, l);
            }
            self.matrix[(rank + i) * (size + 1)] += matrix.diagonal[k];
        }
        self.lu.factor(&self.matrix, size)
    }

    /// The velocities v+ under all `perturbations`, in the coordinates x = L'v: on entry `x` holds L' dv+ at
    /// fixed impulses (velocities x columns, row-major), which is L^-1 (d(M v_p + J' lambda) less dM (v+ -
    /// v_p)); on return that of the solution. Limits mu do not change.
    pub fn respond(&mut self, perturbations: &ContactPerturbations<T>, x: &mut [T]) {
        let ContactPerturbations { columns, moving, rows, offsets } = perturbations;
        let (columns, moving) = (*columns, *moving);
        if columns == 0 {
            return;
        }
        let modes = &self.state.modes;
        let matrix = modes.matrix();
        // What each condition asks, but for what x itself does to those that are put together.
        self.z.clear();
        self.z.resize(modes.unknowns() * columns, T::zero());
        for (k, z) in self.z.chunks_exact_mut(columns).enumerate() {
            if moving > 0 {
                add_combination(&mut z[..moving], modes.tested(k, rows, moving));
            }
        }
        let z = &mut self.z;
        modes.for_each_normal(|k, i| {
            let offset = &offsets[i * columns..(i + 1) * columns];
            add_scaled(&mut z[k * columns..(k + 1) * columns], T::one(), offset);
        });
        let z = &self.z;
        let of = |k: usize| k * columns..(k + 1) * columns;
        self.reduced.clear();
        self.reduced.resize((self.rank + self.alone.len()) * columns, T::zero());
        let (together, alone) = self.reduced.split_at_mut(self.rank * columns);
        let (members, range) = modes.members();
        let counts = |(a, _): &(T, &[T])| !(a.is_zero() && T::ORDER == 0);
        for (k, sum) in together.chunks_exact_mut(columns).enumerate() {
            let own = &self.together[k * self.velocities..(k + 1) * self.velocities];
            let moved = own.iter().copied().zip(x.chunks_exact(columns));
            let shared = range.basis(k).iter().copied();
            let shared = shared.zip(members.clone().map(|unknown| &z[of(unknown)]));
            add_combination(sum, moved.chain(shared).filter(counts));
        }
        for (&unknown, sum) in self.alone.iter().zip(alone.chunks_exact_mut(columns)) {
            sum.copy_from_slice(&z[of(unknown)]);
            add_combination(sum, matrix.test(unknown).map(|(v, a)| (a, &x[of(v)])));
        }
        self.lu.solve_rows(columns, &mut self.reduced);
        let (together, alone) = self.reduced.split_at(self.rank * columns);
        let felt = if self.rank > 0 { x.chunks_exact_mut(columns) } else { [].chunks_exact_mut(1) };
        for (velocity, x) in felt.enumerate() {
            let own = self.together[velocity..].iter().step_by(self.velocities).map(|&a| -a);
            add_combination(x, own.zip(together.chunks_exact(columns)).filter(counts));
        }
        for (&unknown, z) in self.alone.iter().zip(alone.chunks_exact(columns)) {
            for (velocity, a) in matrix.motion(unknown) {
                add_scaled(&mut x[velocity * columns..(velocity + 1) * columns], -a, z);
            }
        }
    }
}
