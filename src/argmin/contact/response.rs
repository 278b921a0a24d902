//! How a solved contact problem responds to small changes of what it is made of: the derivative of contact, written
//! once, forward and transposed, for any number of changes (columns), from one factorisation.
//!
//! With the conditions of [`kkt`](super::kkt) at the modes of the solution, W = J L^-T, x = L' v:
//!
//! ```text
//! x = x0 - (C W)' z,   B W x - D z = -h on conditions of their own,   W_m x = -h_m on the m that share the rule
//! ```
//!
//! where x0 and h are what a [`Perturbation`] does at fixed impulses. The rows that share the least-norm rule are
//! W_m = Q T, Q'Q = 1, T' = Z R, Z'Z = 1. Along Z, x is known; the rest is solved for in what is left:
//!
//! ```text
//! alpha = Z'x0 + R^-T Q'h_m,    x1 = x0 - S alpha                    S = Z, unless sharing matters
//! (B W P (C W)' + D) z = h + B W x1,   x  = x1 - P (C W)' z                 P = 1 - S Z' on the columns of (C W)'
//! ```
//!
//! Conditions that give way, as those with a compliance do, and are more than the motions they see join those of their
//! own by their range: [`compliant_rows`](super::compliant_rows).
//!
//! No square of T is ever taken, so rows that are nearly dependent (feet of one body at heights that differ by a tilt)
//! lose no more digits than they must. Only rows that are clearly independent go into one matrix with the others, as
//! K of [`kkt_matrix`](super::kkt_matrix), which has their squares but is smaller.
//!
//! Of the impulses `z_m` that share the rule, Q'z_m follows from x; the null-space part (I - QQ') z_m from the rule. Velocities
//! do not depend on the latter, unless rows that count as dependent are not quite, or friction follows normal impulses that
//! share the rule (rigid contacts that slide): then the columns (C W)_m = W_m + F differ from the rows, and S (Z'S) =
//! Z + F'Q R^-1. How the rows of relaxed contacts turn with mu and the slip is left out of the null-space part.
//!
//! All of that is dense. Islands of many trees do it by [sparse blocks](super::block_response) where these settle.

mod transpose;

use super::block_response::BlockResponse;
use super::compliant_rows::{CompliantRows, Projection};
use super::kkt::{ContactModes, Iterate, NEGLIGIBLE, shares_only_friction};
use super::problem::ContactData;
use super::problem::CoupledContact;
use super::rule::Selection;
use super::solution::ContactSolution;
use super::solve::newton::NewtonState;
use crate::ad::Real;
use crate::linalg::{Lu, Range, add_combination, add_scaled, counts, zeros};

/// Small changes of a problem at its solution (v+, lambda), a column each; matrices are row-major. What does not change
/// is zero. The same numbers are adjoints in [`ContactResponse::respond_transpose`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Perturbation<T> {
    /// How many columns there are.
    pub columns: usize,
    /// How many of them, the first, change the rows J.
    pub moving: usize,
    /// L' dv+ at fixed impulses, L^-1 (d(M v_p + J' lambda) - dM (v+ - v_p)): velocities x `columns`.
    pub x: Vec<T>,
    /// dJ v+: rows x `moving`.
    pub rows: Vec<T>,
    /// dJ y at the [preimage](ContactResponse::preimage) y of the impulses that are shared: rows x `moving`, or empty.
    pub rotations: Vec<T>,
    /// dc lambda - d target, along the first row of each block: blocks x `columns`.
    pub offsets: Vec<T>,
    /// Changes of mu and of the largest impulses of intervals: blocks x `columns`, or empty.
    pub limits: Vec<T>,
}

impl<T: Real> Perturbation<T> {
    /// Room for `columns` changes of `node`, `moving` of which change J, all zero, without rotations and limits.
    pub fn fit(&mut self, node: &CoupledContact, columns: usize, moving: usize) {
        (self.columns, self.moving) = (columns, moving);
        for (numbers, size) in [
            (&mut self.x, node.rows.velocities() * columns),
            (&mut self.rows, node.rows.rows() * moving),
            (&mut self.rotations, 0),
            (&mut self.offsets, node.rows.blocks().len() * columns),
            (&mut self.limits, 0),
        ] {
            numbers.clear();
            numbers.resize(size, T::zero());
        }
    }

    /// The same with rotations and limits.
    pub fn fit_whole(&mut self, node: &CoupledContact, columns: usize) {
        self.fit(node, columns, columns);
        self.rotations.resize(self.rows.len(), T::zero());
        self.limits.resize(self.offsets.len(), T::zero());
    }
}

/// The conditions at a solution, factorised. Reused, it allocates nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContactResponse<T> {
    pub(super) state: NewtonState<T>,
    /// Whether the columns of the unknowns that share the rule differ from their rows.
    is_oblique: bool,
    /// Whether velocities depend on the null-space part of the impulses.
    sharing_matters: bool,
    /// T', row-major, its range Z, and its rank.
    range_rows: Vec<T>,
    known: Range<T>,
    rank: usize,
    /// S by rows, velocities x rank of `known`; empty where it is Z. Z'S (Z'S being the one before it is normalised).
    oblique: Vec<T>,
    overlap: Lu<T>,
    /// The unknowns with a condition of their own, and which those are that share the rule.
    own: Vec<usize>,
    shares: Vec<bool>,
    /// Of the others, those that give way, where they are more than the motions they see.
    compliant: CompliantRows<T>,
    /// P (C W)' of the columns of those of their own and then the compliant, velocities x columns; Z'(C W)', rank x columns.
    motions: Vec<T>,
    along_motions: Vec<T>,
    matrix: Vec<T>,
    lu: Lu<T>,
    /// Of many trees all of this, by blocks.
    by_blocks: bool,
    blocks: BlockResponse<T>,
    /// Scratch memory: h or its adjoint by unknown; z; the part along Z; of the members what is outside the range.
    h: Vec<T>,
    z: Vec<T>,
    along: Vec<T>,
    outside: Vec<T>,
    coefficients: Vec<T>,
}

impl<T: Real> ContactResponse<T> {
    /// W = J L^-T, in the structure of J.
    pub fn spread_rows(&self) -> &[T] {
        &self.state.delassus.w
    }

    /// The motion y with J y = lambda - held where the least-norm rule has something to choose; nothing elsewhere.
    pub fn preimage(&self) -> &[T] {
        if self.by_blocks {
            return self.blocks.preimage();
        }
        if self.state.modes.members().1.is_deficient() { self.state.modes.preimage() } else { &[] }
    }

    /// Whether velocities depend on how redundant contacts share their impulses, and so on `rotations`.
    pub fn sharing_matters(&self) -> bool {
        self.sharing_matters
    }

    /// Sets up the conditions where `state` is and factorises them. False if they are singular.
    pub(super) fn factor(
        &mut self,
        data: &ContactData<T>,
        solution: &ContactSolution,
        selection: Selection,
    ) -> bool {
        let rule = match selection {
            Selection::LeastNorm(dependent) => (None, dependent),
            Selection::CoarseLeastNorm(coarse) => (Some(coarse), coarse),
            _ => return false,
        };
        self.by_blocks = shares_only_friction(data, &solution.modes)
            && self.blocks.factor(&mut self.state, data, solution, rule);
        if self.by_blocks {
            self.is_oblique = false;
            self.sharing_matters = self.blocks.sharing_matters();
            return true;
        }
        let NewtonState { delassus, modes, lambda, u, directions, guess, .. } = &mut self.state;
        let at = Iterate { modes: guess, directions, lambda, u, held: &solution.held };
        modes.set_up(data, delassus, &at, selection);
        let velocities = data.rows.velocities();
        let modes = &self.state.modes;
        self.is_oblique = false;
        self.sharing_matters = false;
        let (mut members, range) = modes.members();
        self.shares.clear();
        self.shares.resize(modes.unknowns(), false);
        self.rank = if range.is_clear() { 0 } else { range.rank() };
        if !range.is_clear() {
            members.by_ref().for_each(|unknown| self.shares[unknown] = true);
            self.is_oblique = modes.friction_follows_members();
            let exactly = range.dropped_pivot() <= NEGLIGIBLE;
            self.sharing_matters = range.is_deficient() && (self.is_oblique || !exactly);
        }
        drop(members);
        if !self.factor_range(velocities) {
            return false;
        }
        let (NewtonState { modes, lambda, u, .. }, shares) = (&self.state, &self.shares);
        let rest = Projection { range: &self.known, oblique: &self.oblique };
        let yielding = modes.yielding(data, lambda, u);
        self.compliant.set_up(modes.matrix(), yielding, velocities, rest);
        self.own.clear();
        self.own.extend((0..modes.unknowns()).filter(|&k| !(shares[k] || self.compliant.hold(k))));
        self.factor_own(velocities)
    }

    /// T' = Z R, and S.
    fn factor_range(&mut self, velocities: usize) -> bool {
        let matrix = self.state.modes.matrix();
        let (members, range) = self.state.modes.members();
        zeros(&mut self.range_rows, velocities * self.rank);
        for k in 0..self.rank {
            for (unknown, &q) in members.clone().zip(range.basis(k)) {
                if !(q.is_zero() && T::ORDER == 0) {
                    for (velocity, w) in matrix.test(unknown) {
                        self.range_rows[velocity * self.rank + k] += q * w;
                    }
                }
            }
        }
        self.known.factor(&self.range_rows, velocities, self.rank);
        self.oblique.clear();
        if !self.is_oblique {
            return true;
        }
        // (S (Z'S))' = Z' + R^-T Q'F by rows; `coefficients` holds Q'F on the pivots.
        let rank = self.known.rank();
        zeros(&mut self.coefficients, rank * velocities);
        for (&pivot, row) in
            self.known.pivots().iter().zip(self.coefficients.chunks_exact_mut(velocities.max(1)))
        {
            for (unknown, &q) in members.clone().zip(range.basis(pivot)) {
                matrix.motion(unknown).for_each(|(velocity, c)| row[velocity] += q * c);
                matrix.test(unknown).for_each(|(velocity, b)| row[velocity] -= q * b);
            }
        }
        self.known.solve_transpose(&mut self.coefficients, velocities);
        for (k, row) in self.coefficients.chunks_exact_mut(velocities.max(1)).enumerate() {
            add_scaled(row, T::one(), self.known.basis(k));
        }
        // Z'S, row-major
        self.matrix.clear();
        for k in 0..rank {
            for row in self.coefficients.chunks_exact(velocities) {
                let terms = self.known.basis(k).iter().zip(row);
                self.matrix.push(terms.fold(T::zero(), |sum, (&z, &s)| sum + z * s));
            }
        }
        if !self.overlap.factor(&self.matrix, rank) {
            return false;
        }
        // S <- S (Z'S)^-1, whose transpose is (Z'S)^-T S'.
        if rank > 0 {
            self.overlap.solve_transpose_rows(velocities, &mut self.coefficients);
        }
        zeros(&mut self.oblique, velocities * rank);
        for (k, row) in self.coefficients.chunks_exact(velocities.max(1)).enumerate() {
            for (velocity, &s) in row.iter().enumerate() {
                self.oblique[velocity * rank + k] = s;
            }
        }
        true
    }

    /// The conditions of their own and the compliant, in what is left of the velocities.
    fn factor_own(&mut self, velocities: usize) -> bool {
        let matrix = self.state.modes.matrix();
        let (own, rank) = (self.own.len(), self.known.rank());
        let size = own + self.compliant.rank();
        zeros(&mut self.motions, velocities * size);
        zeros(&mut self.along_motions, rank * size);
        for (j, &unknown) in self.own.iter().enumerate() {
            for (velocity, c) in matrix.motion(unknown) {
                self.motions[velocity * size + j] += c;
                for k in 0..rank {
                    self.along_motions[k * size + j] += self.known.basis(k)[velocity] * c;
                }
            }
        }
        if size > 0 {
            let (motions, along) = (&mut self.motions, &self.along_motions);
            subtract_along(&self.oblique, &self.known, along, size, motions);
        }
        for j in own..size {
            for (velocity, &c) in self.compliant.motion(j - own).iter().enumerate() {
                self.motions[velocity * size + j] = c;
            }
            for k in 0..rank {
                self.along_motions[k * size + j] = self.compliant.along(k, j - own);
            }
        }
        self.matrix.clear();
        self.matrix.resize(size * size, T::zero());
        for (i, &unknown) in self.own.iter().enumerate() {
            let row = &mut self.matrix[i * size..(i + 1) * size];
            let rows = matrix.test(unknown);
            add_combination(row, rows.map(|(v, b)| (b, &self.motions[v * size..(v + 1) * size])));
            row[i] += matrix.diagonal[unknown];
        }
        for i in own..size {
            let row = &mut self.matrix[i * size..(i + 1) * size];
            let test = self.compliant.test(i - own).iter().copied();
            add_combination(row, test.zip(self.motions.chunks_exact(size)).filter(counts));
            row[i] += T::one();
        }
        self.lu.factor(&self.matrix, size)
    }

    /// The velocities under a perturbation, in the coordinates x = L'v: `perturbation.x` becomes that of the solution.
    pub fn respond(&mut self, node: &CoupledContact, perturbation: &mut Perturbation<T>) {
        let columns = perturbation.columns;
        if columns == 0 {
            return;
        }
        self.add_growth(node, perturbation);
        self.ask(perturbation);
        if self.by_blocks {
            let NewtonState { delassus, modes, .. } = &self.state;
            let (matrix, how) = (modes.matrix(), (false, columns));
            if self.sharing_matters {
                let Perturbation { moving, rotations, .. } = &*perturbation;
                self.blocks.share(modes, (columns, *moving), rotations);
                self.blocks.move_by_shared(matrix, columns, &mut perturbation.x);
            }
            let x = &mut perturbation.x;
            return self.blocks.solve(matrix, &delassus.pattern, how, &self.h, x);
        }
        if self.sharing_matters {
            self.share(perturbation);
        }
        let x = &mut perturbation.x[..];
        let of = |k: usize| k * columns..(k + 1) * columns;
        let matrix = self.state.modes.matrix();
        let (members, _) = self.state.modes.members();
        if self.sharing_matters {
            // x <- x - (C W)' (I - QQ') z_m
            for (outside, unknown) in self.outside.chunks_exact(columns).zip(members.clone()) {
                matrix.motion(unknown).for_each(|(v, c)| add_scaled(&mut x[of(v)], -c, outside));
            }
        }
        // alpha, and x <- x - S alpha
        gather_along(&self.state.modes, &self.known, (&self.h, columns), &mut self.along);
        if self.known.rank() > 0 {
            for (k, sum) in self.along.chunks_exact_mut(columns).enumerate() {
                let basis = self.known.basis(k).iter().copied();
                add_combination(sum, basis.zip(x.chunks_exact(columns)).filter(counts));
            }
            subtract_along(&self.oblique, &self.known, &self.along, columns, x);
        }
        // z, and x <- x - P (C W)' z
        self.z.clear();
        for &unknown in &self.own {
            self.z.extend_from_slice(&self.h[of(unknown)]);
        }
        self.compliant.ask(matrix, (&self.h, x), columns, &mut self.z);
        for (&unknown, sum) in self.own.iter().zip(self.z.chunks_exact_mut(columns)) {
            add_combination(sum, matrix.test(unknown).map(|(v, b)| (b, &x[of(v)])));
        }
        self.lu.solve_rows(columns, &mut self.z);
        let size = self.z.len() / columns;
        if size > 0 {
            let rows = self.motions.chunks_exact(size);
            for (x, row) in x.chunks_exact_mut(columns).zip(rows) {
                let terms = row.iter().map(|&c| -c).zip(self.z.chunks_exact(columns));
                add_combination(x, terms.filter(counts));
            }
        }
    }

    /// The impulses under the perturbation that was [responded](Self::respond) to last, rows x columns. Once for each.
    pub fn impulses(
        &mut self,
        node: &CoupledContact,
        perturbation: &Perturbation<T>,
        impulses: &mut Vec<T>,
    ) {
        let columns = perturbation.columns;
        zeros(impulses, self.state.lambda.len() * columns);
        if columns == 0 {
            return;
        }
        if self.by_blocks {
            if !self.sharing_matters {
                let Perturbation { moving, rotations, .. } = perturbation;
                self.blocks.share(&self.state.modes, (columns, *moving), rotations);
            }
            self.blocks.add_shared(columns);
            self.h.clone_from(&self.blocks.z);
        } else {
            self.gather_impulses(perturbation);
        }
        let of = |k: usize| k * columns..(k + 1) * columns;
        for (k, z) in self.h.chunks_exact(columns).enumerate() {
            let (first, _, motion) = self.state.modes.unknown(k);
            for (r, c) in
                motion.into_iter().enumerate().filter(|(_, c)| !c.is_zero() || T::ORDER > 0)
            {
                if first + r < self.state.lambda.len() {
                    add_scaled(&mut impulses[of(first + r)], -c, z);
                }
            }
            for (first, motion) in self.state.modes.borrowers(k) {
                for (r, c) in motion.into_iter().enumerate() {
                    add_scaled(&mut impulses[of(first + r)], -c, z);
                }
            }
        }
        if perturbation.limits.is_empty() {
            return;
        }
        self.for_each_growth(node, |i, row, growth| {
            add_scaled(&mut impulses[of(row)], growth, &perturbation.limits[of(i)]);
        });
    }

    /// z by unknown into `h`, of the perturbation that was responded to last.
    fn gather_impulses(&mut self, perturbation: &Perturbation<T>) {
        let columns = perturbation.columns;
        if !self.sharing_matters {
            self.share(perturbation);
        }
        let of = |k: usize| k * columns..(k + 1) * columns;
        let modes = &self.state.modes;
        let (members, range) = modes.members();
        // (Z'S)^-1 (alpha - Z'(C W)' z), then by R to those of the pivots
        let size = self.z.len() / columns;
        if size > 0 {
            let rows = self.along_motions.chunks_exact(size);
            for (along, row) in self.along.chunks_exact_mut(columns).zip(rows) {
                let terms = row.iter().map(|&c| -c).zip(self.z.chunks_exact(columns));
                add_combination(along, terms.filter(counts));
            }
        }
        if !self.along.is_empty() {
            self.compliant.subtract_along(columns, &mut self.along);
            if self.is_oblique {
                self.overlap.solve_rows(columns, &mut self.along);
            }
            self.known.solve_rows(&mut self.along, columns);
        }
        for (j, unknown) in members.enumerate().filter(|&(_, unknown)| self.shares[unknown]) {
            let own = &mut self.outside[of(j)];
            let q = self.known.pivots().iter().map(|&pivot| range.basis(pivot)[j]);
            add_combination(own, q.zip(self.along.chunks_exact(columns)).filter(counts));
            self.h[of(unknown)].copy_from_slice(own);
        }
        for (&unknown, z) in self.own.iter().zip(self.z.chunks_exact(columns)) {
            self.h[of(unknown)].copy_from_slice(z);
        }
        let w = &self.z[self.own.len() * columns..];
        self.compliant.impulses(w, columns, &mut self.h);
    }

    /// Friction at its limit and intervals at theirs grow with the limit, and relaxed cones open.
    fn add_growth(&self, node: &CoupledContact, perturbation: &mut Perturbation<T>) {
        let Perturbation { columns, x, offsets, limits, .. } = perturbation;
        if limits.is_empty() {
            return;
        }
        let of = |k: usize| k * *columns..(k + 1) * *columns;
        let NewtonState { delassus, modes, u, .. } = &self.state;
        let blocks = node.rows.blocks();
        self.for_each_growth(node, |i, row, growth| {
            let w = blocks[i].row(&delassus.w, row - blocks[i].first);
            for (velocities, part) in blocks[i].segments() {
                for (velocity, &w) in velocities.zip(&w[part]) {
                    add_scaled(&mut x[of(velocity)], growth * w, &limits[of(i)]);
                }
            }
        });
        for i in 0..blocks.len() {
            let opening = modes.opening(i, u, blocks);
            if !(opening.is_zero() && T::ORDER == 0) {
                add_scaled(&mut offsets[of(i)], opening, &limits[of(i)]);
            }
        }
    }

    /// Calls `f(block, row, growth)` for the rows whose impulse grows with the limit of their block.
    fn for_each_growth(&self, node: &CoupledContact, mut f: impl FnMut(usize, usize, T)) {
        let NewtonState { modes, lambda, .. } = &self.state;
        for (i, block) in node.rows.blocks().iter().enumerate() {
            let (first, d) = (block.first, modes.direction[i]);
            if modes.follows(i) {
                f(i, first + 1, lambda[first] * d[0]);
                f(i, first + 2, lambda[first] * d[1]);
            } else if modes.is_at_limit(i) {
                f(i, first, d[0]);
            }
        }
    }

    /// h: what each condition asks, but for what x itself does.
    fn ask(&mut self, perturbation: &Perturbation<T>) {
        let Perturbation { columns, moving, rows, offsets, .. } = perturbation;
        let (columns, moving) = (*columns, *moving);
        let modes = &self.state.modes;
        zeros(&mut self.h, modes.unknowns() * columns);
        if moving > 0 {
            for (k, h) in self.h.chunks_exact_mut(columns).enumerate() {
                let (first, test, _) = modes.unknown(k);
                let rows = rows[first * moving..].chunks_exact(moving);
                add_combination(&mut h[..moving], test.into_iter().zip(rows).filter(counts));
            }
        }
        let h = &mut self.h;
        for (k, i) in modes.normals() {
            let offset = &offsets[i * columns..(i + 1) * columns];
            add_scaled(&mut h[k * columns..(k + 1) * columns], T::one(), offset);
        }
    }

    /// The null-space part of z, by the rule: -(I - QQ') dJ y.
    fn share(&mut self, perturbation: &Perturbation<T>) {
        let Perturbation { columns, moving, rotations, .. } = perturbation;
        let (columns, moving) = (*columns, *moving);
        let modes = &self.state.modes;
        let (_, range) = modes.members();
        self.outside.clear();
        if range.is_clear() {
            return;
        }
        self.outside.resize(range.rows() * columns, T::zero());
        if !range.is_deficient() || rotations.is_empty() {
            return;
        }
        for (j, outside) in self.outside.chunks_exact_mut(columns).enumerate() {
            let (first, row) = modes.member(j);
            let rotations = rotations[first * moving..].chunks_exact(moving);
            let terms = row.into_iter().map(|b| -b).zip(rotations);
            add_combination(&mut outside[..moving], terms.filter(counts));
        }
        reject(range, &mut self.coefficients, columns, &mut self.outside);
    }
}

/// X <- X - S A, with S by rows, or the basis of `range` where there is none.
fn subtract_along<T: Real>(oblique: &[T], range: &Range<T>, a: &[T], columns: usize, x: &mut [T]) {
    let rank = range.rank();
    for (velocity, x) in x.chunks_exact_mut(columns).enumerate() {
        let terms = (0..rank).map(|k| match oblique.is_empty() {
            true => -range.basis(k)[velocity],
            false => -oblique[velocity * rank + k],
        });
        add_combination(x, terms.zip(a.chunks_exact(columns)).filter(counts));
    }
}

/// `along` <- R^-T Q'z_m of the unknowns that share the rule, z by unknown with `columns` numbers each.
fn gather_along<T: Real>(
    modes: &ContactModes<T>,
    known: &Range<T>,
    (z, columns): (&[T], usize),
    along: &mut Vec<T>,
) {
    zeros(along, known.rank() * columns);
    if along.is_empty() {
        return;
    }
    let (members, range) = modes.members();
    for (&pivot, sum) in known.pivots().iter().zip(along.chunks_exact_mut(columns)) {
        let of = members.clone().map(|unknown| &z[unknown * columns..(unknown + 1) * columns]);
        add_combination(sum, range.basis(pivot).iter().copied().zip(of).filter(counts));
    }
    known.solve_transpose(along, columns);
}

/// X <- (I - QQ') X
fn reject<T: Real>(range: &Range<T>, scratch: &mut Vec<T>, columns: usize, x: &mut [T]) {
    if !range.is_deficient() {
        return;
    }
    for k in 0..range.rank() {
        zeros(scratch, columns);
        let basis = range.basis(k).iter().copied();
        add_combination(scratch, basis.zip(x.chunks_exact(columns)).filter(counts));
        for (x, &q) in x.chunks_exact_mut(columns).zip(range.basis(k)) {
            if !(q.is_zero() && T::ORDER == 0) {
                add_scaled(x, -q, scratch);
            }
        }
    }
}
