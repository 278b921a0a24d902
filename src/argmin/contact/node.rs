//! The coupled contact problem as a node: what it is asked, how it is answered, and how the answer is differentiated.

use super::node_residual::conditions;
use super::problem::{ContactData, ContactMethod, CoupledContact, Layout};
use super::reaction::Reaction;
use super::response::{ContactResponse, Perturbation};
use super::rule::Selection;
use super::solution::ContactSolution;
use super::solve::cascade::{self, ContactWorkspace};
use crate::ad::{Node, Real};
use crate::argmin::status::Status;
use crate::linalg::{add_scaled, dot, solve_lower_transpose_rows};

/// What counts as dependent where the conditions are singular to rounding, tried one after the other.
/// Velocities do not suffer: what a nearly dependent row would hold is then held by those it depends on.
const COARSE: [f64; 3] = [1e-6, 1e-4, 1e-2];

/// The factorised conditions at a solution, and what its derivatives are made in.
#[derive(Clone, Debug, Default)]
pub struct ContactFactor<T> {
    pub(crate) response: ContactResponse<T>,
    reaction: Reaction<T>,
    /// v+ - v_p, and L' of it.
    change: Vec<T>,
    change_by_factor: Vec<T>,
    perturbation: Perturbation<T>,
    impulses: Vec<T>,
    velocity: Vec<T>,
    velocity2: Vec<T>,
    determined: bool,
}

impl<T> ContactFactor<T> {
    /// Whether the conditions determine the derivative.
    pub(crate) fn is_determined(&self) -> bool {
        self.determined
    }
}

impl<T: Real> ContactFactor<T> {
    /// Takes v+ - v_p, and makes room for velocities.
    fn start(&mut self, data: &ContactData<T>, outputs: &[T]) {
        self.change.clear();
        self.change.extend(outputs.iter().zip(data.free).map(|(&v, &free)| v - free));
        let velocities = self.change.len();
        self.change_by_factor.resize(velocities, T::zero());
        data.times_factor_transpose(&self.change, &mut self.change_by_factor);
        self.velocity.resize(velocities, T::zero());
        self.velocity2.resize(velocities, T::zero());
    }

    /// The velocities under a perturbation, as [`ContactResponse::respond`] has them, with what momenta answer.
    pub(crate) fn velocities(&mut self, node: &CoupledContact, perturbation: &mut Perturbation<T>) {
        self.response.respond(node, perturbation);
        if !node.rest.is_empty() {
            self.reaction.answer(perturbation);
        }
    }

    /// The same of the own perturbation, with all that impulses follow from.
    fn respond(&mut self, node: &CoupledContact) {
        let Self { response, perturbation, reaction, .. } = self;
        match node.rest.is_empty() {
            true => response.respond(node, perturbation),
            false => reaction.respond(node, response, perturbation),
        }
    }

    /// The adjoint of a response and of the impulses, as [`ContactResponse::respond_transpose`] has it, with what momenta answer.
    pub(crate) fn respond_transpose(
        &mut self,
        node: &CoupledContact,
        impulses: &[T],
        adjoint: &mut Perturbation<T>,
    ) {
        let Self { response, reaction, .. } = self;
        match node.rest.is_empty() {
            true => response.respond_transpose(node, impulses, adjoint),
            false => reaction.respond_transpose(node, response, impulses, adjoint),
        }
    }
}

impl CoupledContact {
    /// As [`Node::factor`], with what the solver that found the solution left in its `workspace`.
    pub(crate) fn factor_solved(
        &self,
        solution: &ContactSolution,
        inputs: &[f64],
        outputs: &[f64],
        workspace: &ContactWorkspace<f64>,
        factor: &mut ContactFactor<f64>,
    ) {
        let data = self.data(inputs);
        factor.response.state.start_like(&data, &workspace.search.state);
        self.factor_started(solution, &data, outputs, factor);
    }

    fn factor_started<T: Real>(
        &self,
        solution: &ContactSolution,
        data: &ContactData<T>,
        outputs: &[T],
        factor: &mut ContactFactor<T>,
    ) {
        let (velocity, lambda) = outputs.split_at(self.rows.velocities());
        let state = &mut factor.response.state;
        state.lambda.copy_from_slice(lambda);
        self.rows.times(data.jacobian, velocity, &mut state.u);
        state.take_modes(data, solution);
        let dependent = solution.dependent;
        let coarse = COARSE.map(|coarse| Selection::CoarseLeastNorm(coarse.max(dependent)));
        let mut rules = [Selection::LeastNorm(dependent)].into_iter().chain(coarse);
        factor.determined = self.is_differentiable(solution)
            && rules.any(|rule| factor.response.factor(data, solution, rule))
            && (self.rest.is_empty() || factor.reaction.factor(self, data, &mut factor.response));
        factor.start(data, outputs);
    }

    fn is_differentiable(&self, solution: &ContactSolution) -> bool {
        solution.report.status != Status::InvalidInput && self.method != ContactMethod::GaussSeidel
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
        if T::ORDER > 0 && self.method != ContactMethod::GaussSeidel {
            // The search runs on values. In impulses alone, where its Newton steps are, feet of one body have squares of
            // nearly dependent rows: what differentiates is carried by all conditions.
            outputs.iter_mut().for_each(|y| *y = T::constant(y.value()));
            workspace.carry.run(self, solution, inputs, outputs);
        }
    }

    fn residual<T: Real>(
        &self,
        solution: &ContactSolution,
        inputs: &[T],
        outputs: &[T],
        residual: &mut [T],
    ) {
        conditions(self, solution, inputs, outputs, residual);
    }

    fn factor<T: Real>(
        &self,
        solution: &ContactSolution,
        inputs: &[T],
        outputs: &[T],
        factor: &mut ContactFactor<T>,
    ) {
        if solution.report.status == Status::InvalidInput {
            factor.determined = false;
            return;
        }
        let data = self.data(inputs);
        factor.response.state.start(&data);
        self.factor_started(solution, &data, outputs, factor);
    }

    fn jvp<T: Real>(
        &self,
        solution: &ContactSolution,
        factor: &mut ContactFactor<T>,
        inputs: &[T],
        outputs: &[T],
        input_tangents: &[T],
        output_tangents: &mut [T],
    ) {
        self.jvp_many(solution, factor, inputs, outputs, 1, input_tangents, output_tangents);
    }

    fn jvp_many<T: Real>(
        &self,
        _: &ContactSolution,
        f: &mut ContactFactor<T>,
        inputs: &[T],
        outputs: &[T],
        columns: usize,
        input_tangents: &[T],
        output_tangents: &mut [T],
    ) {
        if !f.determined {
            output_tangents.fill(T::constant(f64::NAN));
            return;
        }
        let data = self.data(inputs);
        self.perturb(&data, outputs, columns, input_tangents, f);
        f.respond(self);
        f.response.impulses(self, &f.perturbation, &mut f.impulses);
        let x = &mut f.perturbation.x;
        for tree in 0..self.rows.trees() {
            let (range, l) = (self.rows.tree(tree), data.factor(tree));
            let x = &mut x[range.start * columns..range.end * columns];
            solve_lower_transpose_rows(l, range.len(), columns, x);
        }
        for (column, tangents) in output_tangents.chunks_exact_mut(outputs.len().max(1)).enumerate()
        {
            let changes = x.iter().skip(column).step_by(columns);
            let impulses = f.impulses.iter().skip(column).step_by(columns);
            for (tangent, &change) in tangents.iter_mut().zip(changes.chain(impulses)) {
                *tangent = change;
            }
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
        if !f.determined {
            input_adjoints.fill(T::constant(f64::NAN));
            return;
        }
        let data = self.data(inputs);
        let (velocity_adjoints, impulse_adjoints) =
            output_adjoints.split_at(self.rows.velocities());
        let adjoint = &mut f.perturbation;
        adjoint.fit_whole(self, 1);
        adjoint.x.copy_from_slice(velocity_adjoints);
        data.solve_factor(&mut adjoint.x);
        let mut adjoint = std::mem::take(&mut f.perturbation);
        f.respond_transpose(self, impulse_adjoints, &mut adjoint);
        f.perturbation = adjoint;
        self.perturb_transpose(&data, outputs, f, input_adjoints);
    }
}

impl CoupledContact {
    /// What tangents of the inputs, one after the other, do to momenta and conditions at a solution, with nothing factorised: for who
    /// answers to that, where the problem is part of another one.
    pub(crate) fn perturbed<'f>(
        &self,
        inputs: &[f64],
        outputs: &[f64],
        columns: usize,
        tangents: &[f64],
        factor: &'f mut ContactFactor<f64>,
    ) -> &'f Perturbation<f64> {
        let data = self.data(inputs);
        factor.start(&data, outputs);
        self.perturb(&data, outputs, columns, tangents, factor);
        &factor.perturbation
    }

    /// The perturbation of the problem that tangents of its inputs are, one after the other in `tangents`.
    fn perturb<T: Real>(
        &self,
        data: &ContactData<T>,
        outputs: &[T],
        columns: usize,
        tangents: &[T],
        f: &mut ContactFactor<T>,
    ) {
        let (velocity, lambda) = outputs.split_at(self.rows.velocities());
        f.perturbation.fit_whole(self, columns);
        let Perturbation { x, rows, rotations, offsets, limits, .. } = &mut f.perturbation;
        let preimage = f.response.preimage();
        if preimage.is_empty() {
            rotations.clear();
        }
        for (column, tangents) in tangents.chunks_exact(self.input_len().max(1)).enumerate() {
            let d = self.data(tangents);
            // L^-1 (dJ' lambda - dL L'(v+ - v_p)) - dL'(v+ - v_p) + L' dv_p
            let (momentum, half) = (&mut f.velocity, &mut f.velocity2);
            self.rows.transpose_times(d.jacobian, lambda, momentum);
            for tree in 0..self.rows.trees() {
                let (range, dl) = (self.rows.tree(tree), d.factor(tree));
                let (n, change) = (range.len(), &f.change_by_factor[range.clone()]);
                for (i, p) in momentum[range].iter_mut().enumerate() {
                    *p -= dot(&dl[i * n..i * n + i + 1], &change[..i + 1]);
                }
            }
            data.solve_factor(momentum);
            data.times_factor_transpose(d.free, half);
            for (p, &h) in momentum.iter_mut().zip(half.iter()) {
                *p += h;
            }
            d.times_factor_transpose(&f.change, half);
            for ((x, &p), &h) in
                x.iter_mut().skip(column).step_by(columns).zip(&*momentum).zip(&*half)
            {
                *x = p - h;
            }
            for (i, block) in self.rows.blocks().iter().enumerate() {
                for r in 0..block.rows {
                    let (row, at) = (d.row(i, r), (block.first + r) * columns + column);
                    rows[at] = block.times(row, velocity);
                    if !preimage.is_empty() {
                        rotations[at] = block.times(row, preimage);
                    }
                }
                let at = i * columns + column;
                offsets[at] = d.compliance[i] * lambda[block.first] - d.target[i];
                limits[at] = d.limit[i];
            }
        }
    }

    /// The transpose of [`Self::perturb`] for the one column of the perturbation in `f`: adds to the adjoints of inputs.
    fn perturb_transpose<T: Real>(
        &self,
        data: &ContactData<T>,
        outputs: &[T],
        f: &mut ContactFactor<T>,
        adjoints: &mut [T],
    ) {
        let at = Layout::new(&self.rows);
        let (velocity, lambda) = outputs.split_at(self.rows.velocities());
        let Perturbation { x, rows, rotations, offsets, limits, .. } = &f.perturbation;
        let preimage = f.response.preimage();
        // a = L^-T x
        let a = &mut f.velocity;
        a.copy_from_slice(x);
        data.solve_factor_transpose(a);
        for tree in 0..self.rows.trees() {
            let (range, l) = (self.rows.tree(tree), data.factor(tree));
            let (n, a, x) = (range.len(), &a[range.clone()], &x[range.clone()]);
            let (change, by_factor) =
                (&f.change[range.clone()], &f.change_by_factor[range.clone()]);
            let factor = &mut adjoints[at.mass_factor..at.free][self.rows.square(tree)];
            for i in 0..n {
                for k in 0..=i {
                    factor[i * n + k] -= a[i] * by_factor[k] + change[i] * x[k];
                }
            }
            let free = &mut adjoints[at.free..at.target][range];
            for (i, free) in free.iter_mut().enumerate() {
                *free += dot(&l[i * n..i * n + i + 1], &x[..i + 1]);
            }
        }
        // lambda a' + rows v+' + rotations y'
        let jacobian = &mut adjoints[at.jacobian..at.mass_factor];
        for block in data.blocks() {
            for r in 0..block.rows {
                let k = block.first + r;
                let row = block.row_mut(jacobian, r);
                for (columns, part) in block.segments() {
                    let terms = a[columns.clone()].iter().zip(&velocity[columns.clone()]);
                    for (j, (&a, &v)) in row[part.clone()].iter_mut().zip(terms) {
                        *j += lambda[k] * a + rows[k] * v;
                    }
                    if !preimage.is_empty() {
                        add_scaled(&mut row[part], rotations[k], &preimage[columns]);
                    }
                }
            }
        }
        for (i, block) in data.blocks().iter().enumerate() {
            adjoints[at.target + i] -= offsets[i];
            adjoints[at.compliance + i] += offsets[i] * lambda[block.first];
            adjoints[at.limit + i] += limits[i];
        }
    }
}
