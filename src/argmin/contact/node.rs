//! The coupled contact problem as a node: what it is asked, how it is answered, and how the answer is differentiated.

use super::block_rows::BlockRows;
use super::kkt::{Iterate, Selection};
use super::law::{Law, Mode};
use super::problem::{ContactData, Layout, is_admissible};
use super::response::ContactResponse;
use super::solution::ContactSolution;
use super::solve::cascade::{self, ContactWorkspace};
use super::solve::newton::NewtonState;
use crate::ad::{Node, Real};
use crate::argmin::status::Status;
use crate::linalg::{Range, dot, times_lower_transpose};

/// The coupled contact problem as a node.
///
/// Inputs, one after the other (with [`BlockRows`] for the layout of J, and one number a block for
/// the last three): J; L of each tree, row-major, lower triangular; v_p (one number a velocity);
/// target along the first row (m/s); mu of a cone or pyramid, largest impulse of an interval (N s),
/// unused otherwise; compliance c along the first row (1/kg).
/// Outputs: v+, then lambda, one number a row (N s).
#[derive(Debug, Default)]
pub struct CoupledContact {
    /// The velocities, and which of them each block touches.
    pub rows: BlockRows,
    /// The law of each block.
    pub laws: Vec<Law>,
    /// Relative natural residual at which the problem counts as solved.
    pub tolerance: f64,
    /// How it is solved.
    pub method: ContactMethod,
    /// Whether impulses passed in that solve the problem, or do after a few Newton steps, are taken as they
    /// are: where little changes from step to step that saves most of the work. Not for solutions that are
    /// differentiated: of impulses that are not unique these need not be those of least norm.
    pub keep: bool,
}

/// What counts as dependent where the conditions are singular to rounding, tried one after the other.
/// Velocities do not suffer: what a nearly dependent row would hold is then held by those it depends on.
const COARSE: [f64; 3] = [1e-6, 1e-4, 1e-2];

/// How a [`CoupledContact`] is solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContactMethod {
    /// Gauss-Seidel, semi-smooth Newton, and what else it takes.
    #[default]
    Newton,
    /// Gauss-Seidel sweeps alone. The result has no derivative: `jvp` and `vjp` give NaN.
    GaussSeidel,
    /// The impulses of the solution passed in are taken as they are (but for how a joint's limit and dry friction
    /// along it share theirs), and differentiated by the conditions in the modes they suggest.
    Given,
}

// By hand: the tape copies nodes into memory it has, which the derived `clone_from` drops.
impl Clone for CoupledContact {
    fn clone(&self) -> Self {
        let mut clone = CoupledContact::default();
        clone.clone_from(self);
        clone
    }

    fn clone_from(&mut self, other: &Self) {
        self.rows.clone_from(&other.rows);
        self.laws.clone_from(&other.laws);
        (self.tolerance, self.method, self.keep) = (other.tolerance, other.method, other.keep);
    }
}

/// The factorised conditions at a solution.
#[derive(Clone, Debug, Default)]
pub struct ContactFactor<T> {
    state: NewtonState<T>,
    /// M^-1 J' lambda
    kick: Vec<T>,
    z: Vec<T>,
    contact: Vec<T>,
    velocity: Vec<T>,
    velocity2: Vec<T>,
    nonsingular: bool,
}

impl CoupledContact {
    /// `contacts` contacts by Coulomb's law, three rows each, on one tree of `velocities` velocities: J is
    /// then a dense row-major matrix, rows normal, tangent 1, tangent 2 of each contact.
    pub fn on_one_tree(contacts: usize, velocities: usize, tolerance: f64) -> Self {
        let mut node = CoupledContact { tolerance, ..CoupledContact::default() };
        let tree = node.rows.add_tree(velocities);
        for _ in 0..contacts {
            node.add(Law::Coulomb, [tree, tree]);
        }
        node
    }

    /// Adds a block that obeys `law` and touches two trees, or one if they are the same. Trees are
    /// added to `rows` before.
    pub fn add(&mut self, law: Law, trees: [usize; 2]) {
        self.rows.add_block(law.rows(), trees);
        self.laws.push(law);
    }

    /// Forgets trees and blocks, and keeps the memory.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.laws.clear();
    }

    /// How many inputs there are.
    pub fn input_len(&self) -> usize {
        Layout::new(&self.rows).end
    }

    /// How many outputs there are.
    pub fn output_len(&self) -> usize {
        self.rows.velocities() + self.rows.rows()
    }

    /// L of a tree, among the inputs.
    pub(crate) fn mass_factor<'a, T: Real>(&'a self, inputs: &'a [T], tree: usize) -> &'a [T] {
        self.data(inputs).factor(tree)
    }

    /// A view of inputs, which are as many as [`input_len`](Self::input_len) says.
    pub(crate) fn data<'a, T: Real>(&'a self, inputs: &'a [T]) -> ContactData<'a, T> {
        ContactData::new(&self.rows, &self.laws, inputs)
    }

    /// The response of the velocities to perturbations (see [`ContactResponse`]) at a solution, with what the
    /// solver that found it left in its `workspace`. False if the conditions do not determine it.
    #[must_use]
    pub(crate) fn response(
        &self,
        solution: &ContactSolution,
        inputs: &[f64],
        outputs: &[f64],
        workspace: &ContactWorkspace<f64>,
        response: &mut ContactResponse<f64>,
    ) -> bool {
        if !self.is_differentiable(solution) {
            return false;
        }
        let data = self.data(inputs);
        let (velocity, lambda) = outputs.split_at(self.rows.velocities());
        let state = &mut response.state;
        state.start_like(&data, &workspace.search.state);
        self.rows.times(data.jacobian, velocity, &mut state.u);
        state.lambda.copy_from_slice(lambda);
        state.take_modes(&data, solution);
        let mut rules =
            [Selection::LeastNorm].into_iter().chain(COARSE.map(Selection::CoarseLeastNorm));
        rules.any(|rule| response.factor(&data, solution, rule))
    }

    fn is_differentiable(&self, solution: &ContactSolution) -> bool {
        solution.report.status != Status::InvalidInput && self.method != ContactMethod::GaussSeidel
    }

    /// Whether there is a problem to be solved.
    pub(super) fn is_admissible<T: Real>(&self, inputs: &[T]) -> bool {
        is_admissible(&self.rows, &self.laws, inputs)
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
        if !self.is_admissible(inputs) {
            solution.invalid(self.laws.len(), self.rows.rows());
            outputs.fill(T::zero());
            return;
        }
        let data = self.data(inputs);
        let (velocity, lambda) = outputs.split_at_mut(self.rows.velocities());
        cascade::solve(self, inputs, lambda, solution, workspace);
        self.rows.transpose_times(data.jacobian, lambda, velocity);
        data.solve_mass(velocity);
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
        let nv = self.rows.velocities();
        let (velocity, lambda) = outputs.split_at(nv);
        let (momentum, conditions) = residual.split_at_mut(nv);
        momentum_residual(&data, velocity, lambda, momentum);
        let mut u = vec![T::zero(); lambda.len()];
        self.rows.times(data.jacobian, velocity, &mut u);
        for (i, block) in data.blocks().iter().enumerate() {
            let (u, x) = (&u[block.range()], &lambda[block.range()]);
            let h = &mut conditions[block.range()];
            let (mode, d) = (solution.modes[i], solution.directions[i]);
            h[0] = u[0] - data.target[i] + data.compliance[i] * x[0];
            let radius = data.limit[i] * x[0];
            match (data.laws[i], mode) {
                (_, Mode::Break) => h.copy_from_slice(x),
                (Law::Interval, Mode::Slide) => h[0] = x[0] - data.limit[i] * d[0],
                (Law::Equality | Law::NonNegative | Law::Interval, _) => {}
                (Law::Pyramid, _) => {
                    for k in 0..2 {
                        h[1 + k] = if d[k] == 0.0 { u[1 + k] } else { x[1 + k] - radius * d[k] };
                    }
                }
                (_, Mode::Stick) => h[1..].copy_from_slice(&u[1..]),
                (law, Mode::Slide) => {
                    let speed = (u[1] * u[1] + u[2] * u[2]).sqrt();
                    if law == Law::Relaxed {
                        h[0] -= data.limit[i] * speed;
                    }
                    for r in 1..3 {
                        h[r] = x[r] + radius * u[r] / speed;
                    }
                }
                (_, Mode::Clamp) if data.limit[i].value() > 0.0 => {
                    h[1] = x[1] * d[0] + x[2] * d[1] - radius;
                    h[2] = u[2] * d[0] - u[1] * d[1];
                }
                (_, Mode::Clamp) => {
                    for r in 1..3 {
                        h[r] = x[r] - radius * d[r - 1];
                    }
                }
            }
        }
        self.reject(solution, &data, lambda, conditions);
    }

    fn factor<T: Real>(
        &self,
        solution: &ContactSolution,
        inputs: &[T],
        outputs: &[T],
        factor: &mut ContactFactor<T>,
    ) {
        factor.nonsingular = self.is_differentiable(solution);
        if !factor.nonsingular {
            return;
        }
        let data = self.data(inputs);
        let (velocity, lambda) = outputs.split_at(self.rows.velocities());
        let state = &mut factor.state;
        state.start(&data);
        state.lambda.copy_from_slice(lambda);
        self.rows.times(data.jacobian, velocity, &mut state.u);
        state.take_modes(&data, solution);
        let NewtonState { delassus, modes, lambda, u, directions, guess, .. } = state;
        let at = Iterate { modes: guess, directions, lambda, u, held: &solution.held };
        let mut rules =
            [Selection::LeastNorm].into_iter().chain(COARSE.map(Selection::CoarseLeastNorm));
        factor.nonsingular = rules.any(|rule| modes.factor(&data, delassus, &at, rule));
        factor.kick.clear();
        factor.kick.extend(velocity.iter().zip(data.free).map(|(&v, &f)| v - f));
        factor.velocity.resize(velocity.len(), T::zero());
        factor.velocity2.resize(velocity.len(), T::zero());
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
        if !f.nonsingular {
            output_tangents.fill(T::constant(f64::NAN));
            return;
        }
        let data = self.data(inputs);
        let d = self.data(input_tangents);
        let (velocity, lambda) = outputs.split_at(self.rows.velocities());
        let (dvelocity, dlambda) = output_tangents.split_at_mut(self.rows.velocities());
        let modes = &mut f.state.modes;
        // dlambda at fixed unknowns: the cone opens with mu, an interval with its limit.
        dlambda.fill(T::zero());
        for (i, block) in data.blocks().iter().enumerate() {
            if modes.follows(i) {
                for k in 0..2 {
                    dlambda[block.first + 1 + k] =
                        d.limit[i] * lambda[block.first] * modes.direction[i][k];
                }
            } else if modes.is_at_limit(i) {
                dlambda[block.first] = d.limit[i] * modes.direction[i][0];
            }
        }
        // dv+ at fixed unknowns: dv_p + M^-1 (dJ' lambda + J' dlambda) + d(M^-1) J' lambda, where
        // d(M^-1) M = -M^-1 dL L' - L^-T dL'
        self.rows.transpose_times(d.jacobian, lambda, &mut f.velocity);
        self.rows.transpose_times(data.jacobian, dlambda, &mut f.velocity2);
        for (v, &x) in f.velocity.iter_mut().zip(&f.velocity2) {
            *v += x;
        }
        for tree in 0..self.rows.trees() {
            let range = self.rows.tree(tree);
            let (n, l, dl) = (range.len(), data.factor(tree), d.factor(tree));
            let kick = &f.kick[range.clone()];
            let (v, half) = (&mut f.velocity[range.clone()], &mut f.velocity2[range]);
            // L' kick
            times_lower_transpose(l, n, kick, half);
            for (i, v) in v.iter_mut().enumerate() {
                *v -= dot(&dl[i * n..i * n + i + 1], &half[..i + 1]);
            }
            // dL' kick
            times_lower_transpose(dl, n, kick, half);
        }
        data.solve_mass(&mut f.velocity);
        data.solve_factor_transpose(&mut f.velocity2);
        for (v, (&free, &h)) in f.velocity.iter_mut().zip(d.free.iter().zip(&f.velocity2)) {
            *v += free - h;
        }
        // dh at fixed unknowns, and K dz = -dh
        for (i, block) in data.blocks().iter().enumerate() {
            for r in 0..block.rows {
                f.contact[block.first + r] =
                    block.times(d.row(i, r), velocity) + block.times(data.row(i, r), &f.velocity);
            }
        }
        modes.reduce_rows(&f.contact, &mut f.z);
        let z = &mut f.z;
        modes.for_each_normal(|k, i| {
            z[k] += d.compliance[i] * lambda[data.blocks()[i].first] - d.target[i]
                + d.limit[i] * modes.opening(i, &f.state.u, data.blocks());
        });
        modes.add_rotated(&d, z);
        modes.solve(z);
        for z in z.iter_mut() {
            *z = -*z;
        }
        f.contact.fill(T::zero());
        modes.expand_columns(z, &mut f.contact);
        self.rows.transpose_times(data.jacobian, &f.contact, dvelocity);
        data.solve_mass(dvelocity);
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
        if !f.nonsingular {
            input_adjoints.fill(T::constant(f64::NAN));
            return;
        }
        let data = self.data(inputs);
        let at = Layout::new(&self.rows);
        let (velocity, lambda) = outputs.split_at(self.rows.velocities());
        let (velocity_adjoint, lambda_adjoint) = output_adjoints.split_at(velocity.len());
        let modes = &mut f.state.modes;
        // K' eta = -C' (lambda_bar + J M^-1 v_bar)
        let a = &mut f.velocity;
        a.copy_from_slice(velocity_adjoint);
        data.solve_mass(a);
        self.rows.times(data.jacobian, a, &mut f.contact);
        for (c, &adjoint) in f.contact.iter_mut().zip(lambda_adjoint) {
            *c += adjoint;
        }
        modes.reduce_columns(&f.contact, &mut f.z);
        modes.solve_transpose(&mut f.z);
        for z in &mut f.z {
            *z = -*z;
        }
        let eta = &f.z;
        // beta = B eta, xi = v_bar + J' beta, a = M^-1 xi
        let beta = &mut f.contact;
        beta.fill(T::zero());
        modes.expand_rows(eta, beta);
        let xi = &mut f.velocity2;
        self.rows.transpose_times(data.jacobian, beta, xi);
        for (x, &v) in xi.iter_mut().zip(velocity_adjoint) {
            *x += v;
        }
        for (adjoint, &x) in input_adjoints[at.free..at.target].iter_mut().zip(xi.iter()) {
            *adjoint += x;
        }
        a.copy_from_slice(xi);
        data.solve_factor(a);
        // L_bar = -kick (L^-1 xi)' - (M^-1 xi) (L' kick)'
        for tree in 0..self.rows.trees() {
            let (range, square) = (self.rows.tree(tree), self.rows.square(tree));
            let (n, l, kick) = (range.len(), data.factor(tree), &f.kick[range.clone()]);
            let adjoint = &mut input_adjoints[at.mass_factor..at.free][square];
            let half = &a[range.clone()];
            for i in 0..n {
                for k in 0..=i {
                    adjoint[i * n + k] -= kick[i] * half[k];
                }
            }
            // xi is not needed any more.
            times_lower_transpose(l, n, kick, &mut xi[range]);
        }
        data.solve_factor_transpose(a);
        for tree in 0..self.rows.trees() {
            let (range, square) = (self.rows.tree(tree), self.rows.square(tree));
            let (n, a, h) = (range.len(), &a[range.clone()], &xi[range.clone()]);
            let adjoint = &mut input_adjoints[at.mass_factor..at.free][square];
            for i in 0..n {
                for k in 0..=i {
                    adjoint[i * n + k] -= a[i] * h[k];
                }
            }
        }
        // J_bar = lambda a' + beta v+'
        let adjoint = &mut input_adjoints[at.jacobian..at.mass_factor];
        for block in data.blocks() {
            for r in 0..block.rows {
                let (x, b) = (lambda[block.first + r], beta[block.first + r]);
                let row = block.row_mut(adjoint, r);
                for (columns, part) in block.segments() {
                    let felt = a[columns.clone()].iter().zip(&velocity[columns]);
                    for (j, (&a, &v)) in row[part].iter_mut().zip(felt) {
                        *j += x * a + b * v;
                    }
                }
            }
        }
        modes.add_rotated_adjoint(&data, eta, adjoint);
        modes.for_each_normal(|k, i| {
            input_adjoints[at.target + i] -= eta[k];
            input_adjoints[at.compliance + i] += eta[k] * lambda[data.blocks()[i].first];
            input_adjoints[at.limit + i] += eta[k] * modes.opening(i, &f.state.u, data.blocks());
        });
        for (i, block) in data.blocks().iter().enumerate() {
            let felt = |r: usize| lambda_adjoint[block.first + r] + block.times(data.row(i, r), a);
            if modes.follows(i) {
                for k in 0..2 {
                    input_adjoints[at.limit + i] +=
                        lambda[block.first] * modes.direction[i][k] * felt(1 + k);
                }
            } else if modes.is_at_limit(i) {
                input_adjoints[at.limit + i] += modes.direction[i][0] * felt(0);
            }
        }
    }
}

/// J' lambda less M (v+ - v_p), which is 0: [LeLidec21] (2).
pub(super) fn momentum_residual<T: Real>(
    data: &ContactData<T>,
    velocity: &[T],
    lambda: &[T],
    momentum: &mut [T],
) {
    data.rows.transpose_times(data.jacobian, lambda, momentum);
    momentum.iter_mut().for_each(|r| *r = -*r);
    for tree in 0..data.rows.trees() {
        let (range, l) = (data.rows.tree(tree), data.factor(tree));
        let n = range.len();
        let moved = |i: usize| velocity[range.start + i] - data.free[range.start + i];
        let momentum = &mut momentum[range.clone()];
        for k in 0..n {
            let half = (k..n).fold(T::zero(), |sum, i| sum + l[i * n + k] * moved(i));
            for (i, r) in momentum.iter_mut().enumerate().skip(k) {
                *r += l[i * n + k] * half;
            }
        }
    }
}

impl CoupledContact {
    /// Adds to the conditions that the part of the impulses that no velocity feels vanishes, or is what
    /// it is held at: (I - P) (lambda - held) = 0.
    fn reject<T: Real>(
        &self,
        solution: &ContactSolution,
        data: &ContactData<T>,
        lambda: &[T],
        conditions: &mut [T],
    ) {
        // Condition, block, and the row as a combination of three of the block.
        let mut shared: Vec<(usize, usize, [f64; 3])> = Vec::new();
        for (i, block) in data.blocks().iter().enumerate() {
            let (mode, d) = (solution.modes[i], solution.directions[i]);
            let law = data.laws[i];
            let closed = mode != Mode::Break && !(law == Law::Interval && mode == Mode::Slide);
            if closed && data.is_rigid(i) {
                shared.push((block.first, i, [1.0, 0.0, 0.0]));
            }
            if law.rows() == 1 {
                continue;
            }
            let axes = match mode {
                Mode::Stick => [true, true],
                Mode::Slide if law == Law::Pyramid => d.map(|d| d == 0.0),
                _ => [false, false],
            };
            if axes[0] {
                shared.push((block.first + 1, i, [0.0, 1.0, 0.0]));
            }
            if axes[1] {
                shared.push((block.first + 2, i, [0.0, 0.0, 1.0]));
            }
            if mode == Mode::Clamp && data.limit[i].value() > 0.0 {
                shared.push((block.first + 2, i, [0.0, -d[1], d[0]]));
            }
        }
        let nv = self.rows.velocities();
        let mut rows = Vec::new();
        for &(_, i, b) in &shared {
            let (block, mut row) = (&data.blocks()[i], vec![T::zero(); nv]);
            for (r, b) in b.into_iter().enumerate().take(block.rows) {
                block.add_times(data.row(i, r), T::constant(b), &mut row);
            }
            data.solve_factor(&mut row);
            rows.extend(row);
        }
        let trace = rows.iter().map(|x| x.value() * x.value()).sum::<f64>();
        let scale = trace / shared.len().max(1) as f64;
        let mut range = Range::default();
        range.factor(&rows, shared.len(), nv);
        let part = |&(_, i, b): &(usize, usize, [f64; 3])| {
            let rows = data.blocks()[i].range();
            let left = lambda[rows.clone()].iter().zip(&solution.held[rows]);
            left.zip(b).fold(T::zero(), |sum, ((&x, &held), b)| sum + (x - held) * b)
        };
        let mut x: Vec<T> = shared.iter().map(part).collect();
        range.reject(&mut x);
        for (&(r, ..), x) in shared.iter().zip(x) {
            conditions[r] += x * scale;
        }
    }
}
