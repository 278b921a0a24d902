//! The coupled contact problem: non-penetration and Coulomb friction of all contacts at once.
//!
//! Given the rows J of the contacts, M = L L', the velocity v_p without contact, find impulses
//! lambda and v+ = v_p + M^-1 J' lambda such that at each contact, with u = J v+,
//!
//! ```text
//! 0 <= lambda_n  perpendicular to  u_n - target + c lambda_n >= 0     [LeLidec21] (3)
//! |lambda_t| <= mu lambda_n,   lambda_t opposed to u_t and on the cone where u_t != 0     (4)
//! ```
//!
//! The derivative is that of these conditions, taken together, at the modes of the solution, and
//! not that of any alternation that solves them.
//!
//! # Where impulses are not unique
//! One rule, the same in solver, residual, jvp and vjp: a small compliance c in the normal
//! direction makes normal impulses unique; tangential impulses of contacts that do not slip are
//! those of least norm (a tangential compliance would creep). With c = 0 the normal impulses join
//! them, and the least norm is that of both. Where that is not admissible (it would pull, or leave the
//! friction cone), the part of the impulses that no velocity feels is held. A contact that is held by
//! others with its friction at the limit (`Mode::Clamp`) stays at the limit and turns its friction so
//! that it does not slip across it.
//!
//! # Where nothing determines the derivative
//! If the conditions are singular all the same (a problem that was not solved), `jvp` and `vjp` give
//! NaN, which callers check for: `identify` stops, `linearize` marks the step.
//!
//! # Kinks
//! At the border between two modes the derivative is that of the mode the solver names:
//! lambda_n = 0 counts as `Break`, |lambda_t| = mu lambda_n without slip as `Clamp`.

use super::contact_data::{ContactData, Delassus, Layout};
use super::contact_modes::{ContactModes, Iterate, Mode, Selection};
use super::semismooth_newton::{self, ContactSolution, ContactWorkspace};
use super::{Report, Status};
use crate::ad::{Node, Real};
use crate::linalg::{Range, dot, solve_lower, solve_lower_transpose};

/// The coupled contact problem as a node.
///
/// Inputs, one after the other (sizes for nc contacts and nv velocities):
/// J (3 nc x nv, row-major; rows normal, tangent 1, tangent 2 of each contact), L (nv x nv,
/// row-major, lower triangular), v_p (nv), target (nc, m/s), mu (nc), c (nc, 1/kg).
/// Outputs: v+ (nv), lambda (3 nc, N s).
#[derive(Clone, Debug)]
pub struct CoupledContact {
    /// Number of contacts.
    pub contacts: usize,
    /// Number of velocities.
    pub velocities: usize,
    /// Relative natural residual at which the problem counts as solved.
    pub tolerance: f64,
}

/// The factorised conditions at a solution.
#[derive(Clone, Debug, Default)]
pub struct ContactFactor<T> {
    delassus: Delassus<T>,
    modes: ContactModes<T>,
    u: Vec<T>,
    directions: Vec<[T; 2]>,
    /// M^-1 J' lambda
    kick: Vec<T>,
    z: Vec<T>,
    contact: Vec<T>,
    velocity: Vec<T>,
    velocity2: Vec<T>,
    nonsingular: bool,
}

impl CoupledContact {
    /// How many inputs there are.
    pub fn input_len(&self) -> usize {
        Layout::new(self.contacts, self.velocities).end
    }

    /// How many outputs there are.
    pub fn output_len(&self) -> usize {
        self.velocities + 3 * self.contacts
    }

    fn data<'a, T: Real>(&self, inputs: &'a [T]) -> ContactData<'a, T> {
        ContactData::new(self.contacts, self.velocities, inputs)
    }
}

/// v <- M^-1 v
fn solve_mass<T: Real>(data: &ContactData<T>, v: &mut [T]) {
    solve_lower(data.mass_factor, data.velocities, v);
    solve_lower_transpose(data.mass_factor, data.velocities, v);
}

/// v <- J' x
fn transpose_times<T: Real>(data: &ContactData<T>, x: &[T], v: &mut [T]) {
    v.fill(T::zero());
    for (r, &x) in x.iter().enumerate() {
        for (v, &j) in v.iter_mut().zip(data.row(r)) {
            *v += j * x;
        }
    }
}

impl Node for CoupledContact {
    type Solution = ContactSolution;
    type Workspace<T: Real> = ContactWorkspace<T>;
    type Factor<T: Real> = ContactFactor<T>;

    fn primal<T: Real>(
        &self,
        inputs: &[T],
        outputs: &mut [T],
        solution: &mut ContactSolution,
        workspace: &mut ContactWorkspace<T>,
    ) {
        let data = self.data(inputs);
        let (velocity, lambda) = outputs.split_at_mut(self.velocities);
        if !data.is_admissible() {
            let residual = f64::INFINITY;
            solution.report =
                Report { status: Status::InvalidInput, residual, ..Report::default() };
            solution.modes.clear();
            solution.modes.resize(self.contacts, Mode::Break);
            solution.clamp.clear();
            solution.clamp.resize(self.contacts, [0.0; 2]);
            solution.held.clear();
            solution.held.resize(3 * self.contacts, 0.0);
            solution.impulses.clear();
            outputs.fill(T::zero());
            return;
        }
        semismooth_newton::solve(&data, self.tolerance, lambda, solution, workspace);
        transpose_times(&data, lambda, velocity);
        solve_mass(&data, velocity);
        for (v, &free) in velocity.iter_mut().zip(data.free) {
            *v += free;
        }
    }

    fn residual<T: Real>(
        &self,
        solution: &ContactSolution,
        inputs: &[T],
        outputs: &[T],
        residual: &mut [T],
    ) {
        let data = self.data(inputs);
        let nv = self.velocities;
        let (velocity, lambda) = outputs.split_at(nv);
        // M (v+ - v_p) = J' lambda   [LeLidec21] (2)
        let moved: Vec<T> = velocity.iter().zip(data.free).map(|(&v, &f)| v - f).collect();
        let l = |i: usize, k: usize| data.mass_factor[i * nv + k];
        let half: Vec<T> =
            (0..nv).map(|k| (k..nv).fold(T::zero(), |s, i| s + l(i, k) * moved[i])).collect();
        for (i, r) in residual[..nv].iter_mut().enumerate() {
            *r = (0..=i).fold(T::zero(), |s, k| s + l(i, k) * half[k]);
            for (row, &x) in lambda.iter().enumerate() {
                *r -= data.row(row)[i] * x;
            }
        }
        let u: Vec<T> = (0..lambda.len()).map(|r| dot(data.row(r), velocity)).collect();
        let conditions = &mut residual[nv..];
        for i in 0..self.contacts {
            let (n, t) = (3 * i, [3 * i + 1, 3 * i + 2]);
            let radius = data.mu[i] * lambda[n];
            conditions[n] = u[n] - data.target[i] + data.compliance[i] * lambda[n];
            match solution.modes[i] {
                Mode::Break => {
                    conditions[n..n + 3].copy_from_slice(&lambda[n..n + 3]);
                }
                Mode::Stick => {
                    for r in t {
                        conditions[r] = u[r];
                    }
                }
                Mode::Slide => {
                    let speed = (u[t[0]] * u[t[0]] + u[t[1]] * u[t[1]]).sqrt();
                    for r in t {
                        conditions[r] = lambda[r] + radius * u[r] / speed;
                    }
                }
                Mode::Clamp if data.mu[i].value() > 0.0 => {
                    let [x, y] = solution.clamp[i];
                    conditions[t[0]] = lambda[t[0]] * x + lambda[t[1]] * y - radius;
                    conditions[t[1]] = u[t[1]] * x - u[t[0]] * y;
                }
                Mode::Clamp => {
                    for r in t {
                        conditions[r] = lambda[r] - radius * solution.clamp[i][r - t[0]];
                    }
                }
            }
        }
        // The part of the impulses that no velocity feels vanishes: (I - P) lambda = 0.
        let rigid = data.is_rigid();
        // Condition, first contact-space row, and the row as a combination of three from there.
        let mut shared: Vec<(usize, usize, [f64; 3])> = Vec::new();
        for (i, &mode) in solution.modes.iter().enumerate() {
            let first = 3 * i;
            if rigid && mode != Mode::Break {
                shared.push((first, first, [1.0, 0.0, 0.0]));
            }
            if mode == Mode::Stick {
                shared.push((first + 1, first, [0.0, 1.0, 0.0]));
                shared.push((first + 2, first, [0.0, 0.0, 1.0]));
            }
            if mode == Mode::Clamp && data.mu[i].value() > 0.0 {
                let [x, y] = solution.clamp[i];
                shared.push((first + 2, first, [0.0, -y, x]));
            }
        }
        let mut rows = Vec::new();
        for &(_, first, b) in &shared {
            let mut row = vec![T::zero(); nv];
            for (r, b) in b.into_iter().enumerate() {
                for (x, &j) in row.iter_mut().zip(data.row(first + r)) {
                    *x += j * b;
                }
            }
            solve_lower(data.mass_factor, nv, &mut row);
            rows.extend(row);
        }
        let trace = rows.iter().map(|x| x.value() * x.value()).sum::<f64>();
        let scale = trace / shared.len().max(1) as f64;
        let mut range = Range::default();
        range.factor(&rows, shared.len(), nv);
        let part = |&(_, first, b): &(usize, usize, [f64; 3])| {
            let left = |r: usize| (lambda[first + r] - solution.held[first + r]) * b[r];
            left(0) + left(1) + left(2)
        };
        let mut x: Vec<T> = shared.iter().map(part).collect();
        range.reject(&mut x);
        for (&(r, ..), x) in shared.iter().zip(x) {
            conditions[r] += x * scale;
        }
    }

    fn factor<T: Real>(
        &self,
        solution: &ContactSolution,
        inputs: &[T],
        outputs: &[T],
        factor: &mut ContactFactor<T>,
    ) {
        let data = self.data(inputs);
        let (velocity, lambda) = outputs.split_at(self.velocities);
        factor.delassus.assemble(&data);
        factor.u.clear();
        factor.u.extend((0..lambda.len()).map(|r| dot(data.row(r), velocity)));
        let direction = |i: usize| {
            let u = [factor.u[3 * i + 1], factor.u[3 * i + 2]];
            match solution.modes[i] {
                Mode::Slide => {
                    let speed = (u[0] * u[0] + u[1] * u[1]).sqrt();
                    [-u[0] / speed, -u[1] / speed]
                }
                Mode::Clamp => solution.clamp[i].map(T::constant),
                _ => [T::zero(); 2],
            }
        };
        factor.directions.clear();
        factor.directions.extend((0..self.contacts).map(direction));
        factor.nonsingular = solution.report.status != Status::InvalidInput
            && factor.modes.factor(
                &data,
                &factor.delassus,
                &Iterate {
                    modes: &solution.modes,
                    directions: &factor.directions,
                    lambda,
                    u: &factor.u,
                    held: &solution.held,
                },
                Selection::LeastNorm,
            );
        factor.kick.clear();
        factor.kick.extend(velocity.iter().zip(data.free).map(|(&v, &f)| v - f));
        factor.velocity.resize(self.velocities, T::zero());
        factor.velocity2.resize(self.velocities, T::zero());
        factor.contact.resize(lambda.len(), T::zero());
    }

    fn jvp<T: Real>(
        &self,
        _: &ContactSolution,
        f: &mut ContactFactor<T>,
        inputs: &[T],
        outputs: &[T],
        input_tangents: &[T],
        output_tangents: &mut [T],
    ) {
        let data = self.data(inputs);
        let d = self.data(input_tangents);
        let nv = self.velocities;
        let (velocity, lambda) = outputs.split_at(nv);
        let (dvelocity, dlambda) = output_tangents.split_at_mut(nv);
        if !f.nonsingular {
            output_tangents.fill(T::constant(f64::NAN));
            return;
        }
        // dlambda at fixed unknowns: the cone opens with mu.
        dlambda.fill(T::zero());
        for i in (0..self.contacts).filter(|&i| f.modes.follows(i)) {
            for k in 0..2 {
                dlambda[3 * i + 1 + k] = d.mu[i] * lambda[3 * i] * f.modes.direction[i][k];
            }
        }
        // dv+ at fixed unknowns: dv_p + M^-1 (dJ' lambda + J' dlambda) + d(M^-1) J' lambda, where
        // d(M^-1) M = -M^-1 dL L' - L^-T dL'
        let half = &mut f.velocity2;
        for (k, h) in half.iter_mut().enumerate() {
            // L' kick
            *h = (k..nv).fold(T::zero(), |s, i| s + data.mass_factor[i * nv + k] * f.kick[i]);
        }
        for (i, v) in f.velocity.iter_mut().enumerate() {
            let mut sum = T::zero();
            for (r, &x) in lambda.iter().enumerate() {
                sum += d.row(r)[i] * x + data.row(r)[i] * dlambda[r];
            }
            for (k, &h) in half.iter().enumerate().take(i + 1) {
                sum -= d.mass_factor[i * nv + k] * h;
            }
            *v = sum;
        }
        solve_mass(&data, &mut f.velocity);
        for (k, h) in half.iter_mut().enumerate() {
            // dL' kick
            *h = (k..nv).fold(T::zero(), |s, i| s + d.mass_factor[i * nv + k] * f.kick[i]);
        }
        solve_lower_transpose(data.mass_factor, nv, half);
        for (v, (&free, &h)) in f.velocity.iter_mut().zip(d.free.iter().zip(half.iter())) {
            *v += free - h;
        }
        // dh at fixed unknowns, and K dz = -dh
        for (r, c) in f.contact.iter_mut().enumerate() {
            *c = dot(d.row(r), velocity) + dot(data.row(r), &f.velocity);
        }
        f.modes.reduce_rows(&f.contact, &mut f.z);
        let z = &mut f.z;
        f.modes.for_each_normal(|k, i| z[k] += d.compliance[i] * lambda[3 * i] - d.target[i]);
        f.modes.add_rotated(d.jacobian, nv, z);
        f.modes.solve(z);
        for z in z.iter_mut() {
            *z = -*z;
        }
        f.contact.fill(T::zero());
        f.modes.expand_columns(z, &mut f.contact);
        transpose_times(&data, &f.contact, dvelocity);
        solve_mass(&data, dvelocity);
        for (dv, &fixed) in dvelocity.iter_mut().zip(&f.velocity) {
            *dv += fixed;
        }
        for (dl, &c) in dlambda.iter_mut().zip(&f.contact) {
            *dl += c;
        }
    }

    fn vjp<T: Real>(
        &self,
        _: &ContactSolution,
        f: &mut ContactFactor<T>,
        inputs: &[T],
        outputs: &[T],
        output_adjoints: &[T],
        input_adjoints: &mut [T],
    ) {
        let data = self.data(inputs);
        let at = Layout::new(self.contacts, self.velocities);
        let nv = self.velocities;
        let (velocity, lambda) = outputs.split_at(nv);
        let (velocity_adjoint, lambda_adjoint) = output_adjoints.split_at(nv);
        if !f.nonsingular {
            input_adjoints.fill(T::constant(f64::NAN));
            return;
        }
        // K' eta = -C' (lambda_bar + J M^-1 v_bar)
        let a = &mut f.velocity;
        a.copy_from_slice(velocity_adjoint);
        solve_mass(&data, a);
        for (r, c) in f.contact.iter_mut().enumerate() {
            *c = lambda_adjoint[r] + dot(data.row(r), a);
        }
        f.modes.reduce_columns(&f.contact, &mut f.z);
        f.modes.solve_transpose(&mut f.z);
        for z in &mut f.z {
            *z = -*z;
        }
        let eta = &f.z;
        // beta = B eta, xi = v_bar + J' beta, a = M^-1 xi
        let beta = &mut f.contact;
        beta.fill(T::zero());
        f.modes.expand_rows(eta, beta);
        let xi = &mut f.velocity2;
        transpose_times(&data, beta, xi);
        for (x, &v) in xi.iter_mut().zip(velocity_adjoint) {
            *x += v;
        }
        a.copy_from_slice(xi);
        solve_lower(data.mass_factor, nv, a);
        // L_bar = -kick (L^-1 xi)' - (M^-1 xi) (L' kick)'
        let adjoint = &mut input_adjoints[at.mass_factor..at.free];
        for i in 0..nv {
            for k in 0..=i {
                adjoint[i * nv + k] -= f.kick[i] * a[k];
            }
        }
        solve_lower_transpose(data.mass_factor, nv, a);
        for k in 0..nv {
            let h = (k..nv).fold(T::zero(), |s, i| s + data.mass_factor[i * nv + k] * f.kick[i]);
            for i in k..nv {
                adjoint[i * nv + k] -= a[i] * h;
            }
        }
        // J_bar = lambda a' + beta v+'
        let adjoint = &mut input_adjoints[at.jacobian..at.mass_factor];
        for (r, row) in adjoint.chunks_exact_mut(nv).enumerate() {
            for (k, j) in row.iter_mut().enumerate() {
                *j += lambda[r] * a[k] + beta[r] * velocity[k];
            }
        }
        f.modes.add_rotated_adjoint(eta, nv, adjoint);
        for (adjoint, &x) in input_adjoints[at.free..at.target].iter_mut().zip(xi.iter()) {
            *adjoint += x;
        }
        f.modes.for_each_normal(|k, i| {
            input_adjoints[at.target + i] -= eta[k];
            input_adjoints[at.compliance + i] += eta[k] * lambda[3 * i];
        });
        for i in (0..self.contacts).filter(|&i| f.modes.follows(i)) {
            for k in 0..2 {
                let r = 3 * i + 1 + k;
                let felt = lambda_adjoint[r] + dot(data.row(r), a);
                input_adjoints[at.mu + i] += lambda[3 * i] * f.modes.direction[i][k] * felt;
            }
        }
    }
}
