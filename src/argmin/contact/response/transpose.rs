//! The response to perturbations, transposed.

use super::{ContactResponse, Perturbation, gather_along, reject};
use crate::ad::Real;
use crate::argmin::contact::problem::CoupledContact;
use crate::argmin::contact::solve::newton::NewtonState;
use crate::linalg::{add_combination, add_scaled, counts, zeros};

impl<T: Real> ContactResponse<T> {
    /// The adjoint of [`respond`](Self::respond) and [`impulses`](Self::impulses): on entry `adjoint.x` holds the adjoints
    /// of x (velocities x columns), `impulses` those of the impulses (rows x columns); on return `adjoint`, which is made
    /// by [`Perturbation::fit_whole`], holds those of the perturbation.
    pub fn respond_transpose(
        &mut self,
        node: &CoupledContact,
        impulses: &[T],
        adjoint: &mut Perturbation<T>,
    ) {
        let columns = adjoint.columns;
        if columns == 0 {
            return;
        }
        let of = |k: usize| k * columns..(k + 1) * columns;
        let modes = &self.state.modes;
        // h <- the adjoints of z, -C' impulses
        zeros(&mut self.h, modes.unknowns() * columns);
        for (k, z) in self.h.chunks_exact_mut(columns).enumerate() {
            let (first, _, motion) = modes.unknown(k);
            for (c, adjoint) in
                motion.into_iter().zip(impulses[first * columns..].chunks_exact(columns))
            {
                if !(c.is_zero() && T::ORDER == 0) {
                    add_scaled(z, -c, adjoint);
                }
            }
            for (first, motion) in modes.borrowers(k) {
                let adjoints = impulses[first * columns..].chunks_exact(columns);
                for (c, adjoint) in motion.into_iter().zip(adjoints) {
                    add_scaled(z, -c, adjoint);
                }
            }
        }
        for numbers in [&mut adjoint.rows, &mut adjoint.rotations, &mut adjoint.offsets] {
            numbers.fill(T::zero());
        }
        adjoint.limits.fill(T::zero());
        if self.by_blocks {
            let NewtonState { delassus, modes, .. } = &self.state;
            let (matrix, how) = (modes.matrix(), (true, columns));
            self.blocks.solve(matrix, &delassus.pattern, how, &self.h, &mut adjoint.x);
            let adjoints = (&self.h[..], &adjoint.x[..]);
            self.blocks.share_transpose(modes, adjoints, columns, &mut adjoint.rotations);
            self.h.clear();
            self.h.extend(self.blocks.z.iter().map(|&z| -z));
        } else {
            self.transpose_by_range(adjoint);
        }
        // What the conditions are made of.
        let modes = &self.state.modes;
        let Perturbation { rows, offsets, .. } = adjoint;
        for (k, h) in self.h.chunks_exact(columns).enumerate() {
            let (first, test, _) = modes.unknown(k);
            for (b, row) in test.into_iter().zip(rows[first * columns..].chunks_exact_mut(columns))
            {
                if !(b.is_zero() && T::ORDER == 0) {
                    add_scaled(row, b, h);
                }
            }
        }
        for (k, i) in modes.normals() {
            add_scaled(&mut offsets[of(i)], T::one(), &self.h[of(k)]);
        }
        self.transpose_growth(node, impulses, adjoint);
    }

    /// From the adjoints of z in `h`, those of impulses by the rule, and of x to those of what the conditions ask, of x0 and
    /// of the rotations.
    fn transpose_by_range(&mut self, adjoint: &mut Perturbation<T>) {
        let columns = adjoint.columns;
        let of = |k: usize| k * columns..(k + 1) * columns;
        let modes = &self.state.modes;
        let matrix = modes.matrix();
        let (members, range) = modes.members();
        let rank = self.known.rank();
        let shared = self.shares.iter().filter(|&&shares| shares).count();
        // w <- (Z'S)^-T R^-T Q'z_m
        gather_along(modes, &self.known, (&self.h, columns), &mut self.along);
        zeros(&mut self.outside, if range.is_deficient() { shared * columns } else { 0 });
        if rank > 0 && self.is_oblique {
            self.overlap.solve_transpose_rows(columns, &mut self.along);
        }
        for (outside, unknown) in self.outside.chunks_exact_mut(columns).zip(members.clone()) {
            outside.copy_from_slice(&self.h[of(unknown)]);
        }
        // h of their own <- A^-T (z - (P C' W')' x - (Z'C W')' w)
        self.z.clear();
        for &unknown in &self.own {
            self.z.extend_from_slice(&self.h[of(unknown)]);
        }
        self.compliant.impulses_transpose(&self.h, columns, &mut self.z);
        let x = &mut adjoint.x[..];
        let size = self.z.len() / columns;
        if size > 0 {
            for (rows, adjoints) in [(&self.motions, &*x), (&self.along_motions, &self.along[..])] {
                for (row, adjoint) in rows.chunks_exact(size).zip(adjoints.chunks_exact(columns)) {
                    for (z, &c) in self.z.chunks_exact_mut(columns).zip(row) {
                        add_scaled(z, -c, adjoint);
                    }
                }
            }
            self.lu.solve_transpose_rows(columns, &mut self.z);
        }
        for (&unknown, z) in self.own.iter().zip(self.z.chunks_exact(columns)) {
            self.h[of(unknown)].copy_from_slice(z);
            matrix.test(unknown).for_each(|(v, b)| add_scaled(&mut x[of(v)], b, z));
        }
        let asked = &self.z[self.own.len() * columns..];
        self.compliant.ask_transpose(matrix, (&self.along, asked), columns, x, &mut self.h);
        // alpha <- w - S'x, x <- x + Z alpha
        for (k, alpha) in self.along.chunks_exact_mut(columns).enumerate() {
            for (velocity, x) in x.chunks_exact(columns).enumerate() {
                let s = match self.oblique.is_empty() {
                    true => self.known.basis(k)[velocity],
                    false => self.oblique[velocity * rank + k],
                };
                add_scaled(alpha, -s, x);
            }
        }
        for (velocity, x) in x.chunks_exact_mut(columns).enumerate() {
            let basis = (0..rank).map(|k| self.known.basis(k)[velocity]);
            add_combination(x, basis.zip(self.along.chunks_exact(columns)).filter(counts));
        }
        // h_m <- Q R^-1 alpha, and of the rotations -(I - QQ') (z_m - C W x)
        if rank > 0 {
            self.known.solve_rows(&mut self.along, columns);
        }
        if self.sharing_matters {
            for (outside, unknown) in self.outside.chunks_exact_mut(columns).zip(members.clone()) {
                matrix.motion(unknown).for_each(|(v, c)| add_scaled(outside, -c, &x[of(v)]));
            }
        }
        reject(range, &mut self.coefficients, columns, &mut self.outside);
        for (j, unknown) in members.clone().enumerate().filter(|&(_, k)| self.shares[k]) {
            let h = &mut self.h[of(unknown)];
            h.fill(T::zero());
            let q = self.known.pivots().iter().map(|&pivot| range.basis(pivot)[j]);
            add_combination(h, q.zip(self.along.chunks_exact(columns)).filter(counts));
        }
        for (j, outside) in self.outside.chunks_exact(columns).enumerate() {
            let (first, row) = modes.member(j);
            for (b, rotation) in
                row.into_iter().zip(adjoint.rotations[first * columns..].chunks_exact_mut(columns))
            {
                if !(b.is_zero() && T::ORDER == 0) {
                    add_scaled(rotation, -b, outside);
                }
            }
        }
    }

    /// The transpose of [`Self::add_growth`] and of what limits do to impulses.
    fn transpose_growth(
        &self,
        node: &CoupledContact,
        impulses: &[T],
        adjoint: &mut Perturbation<T>,
    ) {
        let Perturbation { columns, x, offsets, limits, .. } = adjoint;
        let of = |k: usize| k * *columns..(k + 1) * *columns;
        let NewtonState { delassus, modes, u, .. } = &self.state;
        let blocks = node.rows.blocks();
        self.for_each_growth(node, |i, row, growth| {
            add_scaled(&mut limits[of(i)], growth, &impulses[of(row)]);
            let w = blocks[i].row(&delassus.w, row - blocks[i].first);
            for (velocities, part) in blocks[i].segments() {
                for (velocity, &w) in velocities.zip(&w[part]) {
                    add_scaled(&mut limits[of(i)], growth * w, &x[of(velocity)]);
                }
            }
        });
        for i in 0..blocks.len() {
            let opening = modes.opening(i, u, blocks);
            add_scaled(&mut limits[of(i)], opening, &offsets[of(i)]);
        }
    }
}
