//! How the velocities of a coupled contact problem respond to many perturbations at once: the forward twin
//! of the node with all right-hand sides in one matrix, from one factorisation.
//!
//! Velocities do not depend on how redundant contacts share what they carry. So the conditions that share the
//! least-norm rule, with rows W_m = Q T of which Q has orthonormal columns, count as T x = -Q' h, and with T' = Z R the
//! part of x along Z is known: Z' x = -R^-T Q' h. The other conditions are solved for in what is left, x less its part
//! along Z: with few bodies and many contacts they are much fewer than K has, and no square of T is ever taken, in
//! which rows that are nearly dependent would be lost. With few contacts K is taken as it is. Rows of a body 1e14 times
//! as heavy as another of its island are too short to be seen. (Where friction follows a normal impulse that is shared,
//! velocities do depend on it; then there is no response, and `jvp` says what is.)

use super::kkt::{Iterate, Selection};
use super::node::CoupledContact;
use super::problem::ContactData;
use super::solution::ContactSolution;
use super::solve::newton::NewtonState;
use crate::ad::Real;
use crate::linalg::{Lu, Range, add_combination, add_scaled};

/// Rows this much shorter than the longest, less what others have, count as dependent: in K, which has their squares,
/// they are lost in rounding.
const DEPENDENT: f64 = 1e-7;

/// Rows for each velocity up to which K is taken as it is.
const WHOLE: usize = 2;

/// Perturbations of a problem, a column each. What does not change is zero.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContactPerturbations<T> {
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
pub(crate) struct ContactResponse<T> {
    pub(super) state: NewtonState<T>,
    /// Whether K is taken as it is.
    whole: bool,
    /// T', row-major, and its range Z.
    together: Vec<T>,
    known: Range<T>,
    rank: usize,
    /// The unknowns that stand for themselves.
    alone: Vec<usize>,
    shares: Vec<bool>,
    /// Their rows of B W less what is along Z.
    tests: Vec<T>,
    matrix: Vec<T>,
    lu: Lu<T>,
    z: Vec<T>,
    along: Vec<T>,
    reduced: Vec<T>,
    kick: Vec<T>,
    /// -(C W)' by rows, where K is taken as it is: so each velocity is written once.
    motions: Vec<T>,
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
        let velocities = data.rows.velocities();
        // K as it is costs less where it is not much larger than there are velocities.
        self.whole = data.rows.rows() <= WHOLE * velocities;
        if self.whole {
            let regular = modes.factor(data, delassus, &at, selection);
            self.whole = modes.matrix().is_whole();
            if self.whole {
                let unknowns = modes.unknowns();
                self.motions.clear();
                self.motions.resize(velocities * unknowns, T::zero());
                for k in 0..unknowns {
                    for (velocity, a) in modes.matrix().motion(k) {
                        self.motions[velocity * unknowns + k] = -a;
                    }
                }
                return regular && !modes.sharing_matters();
            }
        } else {
            modes.set_up(data, delassus, &at, selection);
        }
        if modes.sharing_matters() {
            return false;
        }
        let modes = &self.state.modes;
        let matrix = modes.matrix();
        let (members, range) = modes.members();
        self.rank = if range.is_deficient() { range.rank() } else { 0 };
        self.together.clear();
        self.together.resize(velocities * self.rank, T::zero());
        for k in 0..self.rank {
            for (unknown, &q) in members.clone().zip(range.basis(k)) {
                if !(q.is_zero() && T::ORDER == 0) {
                    for (velocity, x) in matrix.test(unknown) {
                        self.together[velocity * self.rank + k] += q * x;
                    }
                }
            }
        }
        self.known.factor_within(&self.together, velocities, self.rank, DEPENDENT);
        self.shares.clear();
        self.shares.resize(modes.unknowns(), false);
        if self.rank > 0 {
            members.for_each(|unknown| self.shares[unknown] = true);
        }
        self.alone.clear();
        self.alone.extend((0..modes.unknowns()).filter(|&k| !self.shares[k]));
        let size = self.alone.len();
        self.tests.clear();
        self.tests.resize(size * velocities, T::zero());
        self.matrix.clear();
        for (i, &k) in self.alone.iter().enumerate() {
            let row = &mut self.tests[i * velocities..(i + 1) * velocities];
            matrix.test(k).for_each(|(velocity, x)| row[velocity] = x);
            self.known.reject(row);
            for &l in &self.alone {
                let overlap = |sum, (velocity, x): (usize, T)| sum + row[velocity] * x;
                self.matrix.push(matrix.motion(l).fold(T::zero(), overlap));
            }
            self.matrix[i * (size + 1)] += matrix.diagonal[k];
        }
        self.lu.factor(&self.matrix, size)
    }

    /// As `respond` by K itself, of which `z` holds what each condition asks but for what x does.
    fn respond_whole(&mut self, columns: usize, x: &mut [T]) {
        let of = |k: usize| k * columns..(k + 1) * columns;
        let modes = &mut self.state.modes;
        for (k, z) in self.z.chunks_exact_mut(columns).enumerate() {
            add_combination(z, modes.matrix().test(k).map(|(v, a)| (a, &x[of(v)])));
        }
        modes.matrix_mut().solve_rows(columns, &mut self.z);
        let rows = self.motions.chunks_exact(modes.unknowns().max(1));
        for (x, row) in x.chunks_exact_mut(columns).zip(rows) {
            let terms = row.iter().copied().zip(self.z.chunks_exact(columns));
            add_combination(x, terms.filter(|(a, _)| !(a.is_zero() && T::ORDER == 0)));
        }
    }

    /// Adds changes of the `limits` (blocks x columns, row-major) to `perturbations` and to `x`, which is that of
    /// [`respond`](Self::respond): friction at its limit grows with it, and relaxed cones open.
    pub fn add_limits(
        &self,
        node: &CoupledContact,
        limits: &[T],
        perturbations: &mut ContactPerturbations<T>,
        x: &mut [T],
    ) {
        let columns = perturbations.columns;
        let of = |k: usize| k * columns..(k + 1) * columns;
        let NewtonState { delassus, modes, lambda, u, .. } = &self.state;
        for (i, block) in node.rows.blocks().iter().enumerate() {
            let d = modes.direction[i];
            let growth = match (modes.follows(i), modes.is_at_limit(i)) {
                (true, _) => [T::zero(), lambda[block.first] * d[0], lambda[block.first] * d[1]],
                (_, true) => [d[0], T::zero(), T::zero()],
                _ => continue,
            };
            let limits = &limits[of(i)];
            for (r, &growth) in growth.iter().enumerate().take(block.rows) {
                let row = block.row(&delassus.w, r);
                for (velocities, part) in block.segments() {
                    for (velocity, &w) in velocities.zip(&row[part]) {
                        add_scaled(&mut x[of(velocity)], growth * w, limits);
                    }
                }
            }
            let opening = modes.opening(i, u, node.rows.blocks());
            add_scaled(&mut perturbations.offsets[of(i)], opening, limits);
        }
    }

    /// The velocities v+ under all `perturbations`, in the coordinates x = L'v: on entry `x` holds L' dv+ at
    /// fixed impulses (velocities x columns, row-major), which is L^-1 (d(M v_p + J' lambda) less dM (v+ -
    /// v_p)); on return that of the solution. Changes of limits are [added](Self::add_limits) before.
    pub fn respond(&mut self, perturbations: &ContactPerturbations<T>, x: &mut [T]) {
        let ContactPerturbations { columns, moving, rows, offsets } = perturbations;
        let (columns, moving) = (*columns, *moving);
        if columns == 0 {
            return;
        }
        let modes = &self.state.modes;
        let matrix = modes.matrix();
        // h: what each condition asks, but for what x itself does.
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
        if self.whole {
            return self.respond_whole(columns, x);
        }
        let z = &self.z;
        let of = |k: usize| k * columns..(k + 1) * columns;
        let counts = |(a, _): &(T, &[T])| !(a.is_zero() && T::ORDER == 0);
        // x <- x - Z (Z'x + R^-T Q'h)
        let (members, range) = modes.members();
        self.along.clear();
        self.along.resize(self.known.rank() * columns, T::zero());
        for (&pivot, sum) in self.known.pivots().iter().zip(self.along.chunks_exact_mut(columns)) {
            let shared = range.basis(pivot).iter().copied();
            let shared = shared.zip(members.clone().map(|unknown| &z[of(unknown)]));
            add_combination(sum, shared.filter(counts));
        }
        self.known.solve_transpose(&mut self.along, columns);
        for (k, sum) in self.along.chunks_exact_mut(columns).enumerate() {
            let own = self.known.basis(k).iter().copied();
            add_combination(sum, own.zip(x.chunks_exact(columns)).filter(counts));
        }
        self.take_along(columns, x);
        self.reduced.clear();
        self.reduced.resize(self.alone.len() * columns, T::zero());
        for (&unknown, sum) in self.alone.iter().zip(self.reduced.chunks_exact_mut(columns)) {
            sum.copy_from_slice(&z[of(unknown)]);
            add_combination(sum, matrix.test(unknown).map(|(v, a)| (a, &x[of(v)])));
        }
        self.lu.solve_rows(columns, &mut self.reduced);
        // x <- x - (1 - Z Z') (C W)' z
        self.kick.clear();
        self.kick.resize(x.len(), T::zero());
        for (&unknown, z) in self.alone.iter().zip(self.reduced.chunks_exact(columns)) {
            for (velocity, a) in matrix.motion(unknown) {
                add_scaled(&mut self.kick[of(velocity)], a, z);
            }
        }
        for (k, sum) in self.along.chunks_exact_mut(columns).enumerate() {
            sum.fill(T::zero());
            let own = self.known.basis(k).iter().map(|&a| -a);
            add_combination(sum, own.zip(self.kick.chunks_exact(columns)).filter(counts));
        }
        self.take_along(columns, x);
        for (x, &kick) in x.iter_mut().zip(&self.kick) {
            *x -= kick;
        }
    }

    /// x <- x - Z along
    fn take_along(&self, columns: usize, x: &mut [T]) {
        let rank = self.known.rank();
        for (velocity, x) in x.chunks_exact_mut(columns).enumerate() {
            let own = (0..rank).map(|k| -self.known.basis(k)[velocity]);
            let terms = own.zip(self.along.chunks_exact(columns));
            add_combination(x, terms.filter(|(a, _)| !(a.is_zero() && T::ORDER == 0)));
        }
    }
}
