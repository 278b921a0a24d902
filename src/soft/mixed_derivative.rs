//! The derivative of a step of soft and rigid bodies together, forward and adjoint.
//!
//! What a change leaves of the momenta at fixed velocities is that of each soft body, condensed on the vertices that may touch (see
//! [`StepDerivative`]), and of the rigid ones (see [`HostedJacobian`]). One response of the contact problem that they share tells
//! how all velocities change, and each body what follows from these. What condensed matrices are more than masses, as by viscosity, takes
//! one dense system as for one body.

use nalgebra::Vector3;

use super::mixed_geometry::{GuestGeometry, Touched};
use super::solved_soft_step::SolvedSoftStep;
use crate::ad::Node;
use crate::argmin::{ContactFactor, CoupledContact, Perturbation, SmoothedContact};
use crate::contact::ContactProblem;
use crate::implicit::{DerivativeMemory, StepChange, StepDerivative};
use crate::linalg::Lu;
use crate::linearize::{GuestSlopes, HostedJacobian, HostedStep, Selection, SmoothedResponse};
use crate::model::ParameterRef;

/// Changes of what soft and rigid bodies start a step from, and of what acts in it; or the adjoints of these.
#[derive(Clone, Debug, Default)]
pub(crate) struct MixedChange {
    /// Of each soft body.
    pub soft: Vec<StepChange>,
    /// Of the state of the rigid bodies: a tangent vector.
    pub rigid: Vec<f64>,
    /// Of the inputs of the rigid bodies that are [asked](Asked) for.
    pub inputs: Vec<f64>,
    /// Of their parameters that are.
    pub parameters: Vec<f64>,
}

/// The numbers of rigid bodies that are asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    /// Inputs, in the order of the model.
    pub inputs: Vec<usize>,
    /// Slots of parameters, in that order.
    pub parameters: Vec<ParameterRef>,
}

impl Asked {
    /// The place of a slot among those that are asked for.
    pub fn place_of(&self, slot: usize) -> Option<usize> {
        self.parameters.binary_search_by_key(&Some(&slot), |own| own.slots.first()).ok()
    }

    /// Sets an input among those that are asked for, if it is.
    pub fn set_input(&self, input: usize, value: f64, inputs: &mut [f64]) {
        if let Ok(place) = self.inputs.binary_search(&input) {
            inputs[place] = value;
        }
    }

    fn selection(&self) -> Selection<'_> {
        Selection { inputs: &self.inputs, parameters: &self.parameters }
    }
}

type Nodes = Vec<[f64; 3]>;

/// Memory of derivatives from step to step.
#[derive(Default)]
pub(super) struct MixedMemory {
    bodies: Vec<DerivativeMemory>,
    jacobian: HostedJacobian,
    response: Response,
    inputs: Vec<f64>,
    outputs: Vec<f64>,
    rest: Option<Lu<f64>>,
    perturbation: Perturbation<f64>,
}

/// The response of the contact problem: of the exact law, or of penalties.
#[derive(Default)]
struct Response {
    exact: ContactFactor<f64>,
    relaxed: SmoothedResponse,
}

/// The problem that is shared: the node as it was posed, and what was solved in its place by penalties.
#[derive(Clone, Copy)]
struct Shared<'a> {
    node: &'a CoupledContact,
    relaxed: Option<&'a SmoothedContact>,
}

impl Response {
    fn respond(&mut self, of: Shared, perturbation: &mut Perturbation<f64>) {
        match of.relaxed {
            Some(node) => self.relaxed.respond(node, perturbation),
            None => self.exact.response.respond(of.node, perturbation),
        }
    }

    fn respond_transpose(&mut self, of: Shared, adjoint: &mut Perturbation<f64>) {
        let none = vec![0.0; of.node.rows.rows()];
        match of.relaxed {
            Some(node) => self.relaxed.respond_transpose(node, adjoint),
            None => self.exact.response.respond_transpose(of.node, &none, adjoint),
        }
    }

    /// The slip of a contact by penalty over its stiffness: friction is one of their product.
    fn slip_by_stiffness(&self, of: Shared, block: usize, stiffness: f64) -> [f64; 2] {
        let block = &of.node.rows.blocks()[block];
        match of.relaxed {
            Some(_) if block.rows == 3 => {
                [1, 2].map(|r| self.relaxed.speed(block.first + r) / stiffness)
            }
            _ => [0.0; 2],
        }
    }
}

/// A step, factorised.
pub(super) struct MixedDerivative<'a> {
    steps: &'a [SolvedSoftStep<'a>],
    rigid: HostedStep<'a>,
    bodies: Vec<StepDerivative<'a>>,
    /// The bodies that are guests of the contact problem, in its order.
    guests: Vec<usize>,
    contacts: Vec<GuestGeometry>,
    /// The problem, and the trees of its rigid bodies.
    problem: Option<(&'a ContactProblem<f64>, Vec<usize>)>,
    asked: &'a Asked,
    memory: MixedMemory,
}

impl<'a> MixedDerivative<'a> {
    /// Factorises at a solution. None where a step was not solved, or its conditions determine no derivative.
    pub fn new(
        mut memory: MixedMemory,
        steps: &'a [SolvedSoftStep<'a>],
        rigid: HostedStep<'a>,
        asked: &'a Asked,
    ) -> Option<Self> {
        memory.bodies.resize_with(steps.len(), DerivativeMemory::default);
        let mut bodies = Vec::with_capacity(steps.len());
        for (solved, memory) in steps.iter().zip(&mut memory.bodies) {
            bodies.push(solved.derivative(memory)?);
        }
        let is_guest = |&k: &usize| steps[k].step.is_guest();
        let guests: Vec<usize> = (0..steps.len()).filter(is_guest).collect();
        let island = rigid.known.contacts.solved().find(|(island, _)| island.has_guests);
        let problem = island.map(|(island, problem)| (problem, island.trees.to_vec()));
        let contacts = Vec::new();
        let mut own =
            MixedDerivative { steps, rigid, bodies, guests, contacts, problem, asked, memory };
        own.factor().then_some(own)
    }

    /// The memory, for the derivative of another step.
    pub fn into_memory(mut self) -> MixedMemory {
        for (memory, body) in self.memory.bodies.iter_mut().zip(self.bodies) {
            *memory = body.into_memory();
        }
        self.memory
    }

    fn factor(&mut self) -> bool {
        let asked = self.asked.selection();
        let Some((problem, trees)) = &self.problem else {
            return self.guests.is_empty() && self.memory.jacobian.update(self.rigid, asked, None);
        };
        let (node, inputs, outputs, solution) = problem.solved();
        let first = trees.len();
        if node.rows.trees() != first + self.guests.len() {
            return false;
        }
        let MixedMemory {
            jacobian, response, inputs: own, outputs: found, rest, perturbation, ..
        } = &mut self.memory;
        let shared = shared(problem, &self.rigid);
        let outputs = match shared.relaxed {
            Some(_) => problem.smoothed().2,
            None => outputs,
        };
        own.clear();
        own.extend_from_slice(inputs);
        found.clear();
        found.extend_from_slice(outputs);
        // Condensed at the solution, not where the last iteration began; with v_p = v+ - S^-1 J'p.
        let (masses, free) = (node.rows.entries(), node.rows.entries() + node.rows.squares());
        let mut kept = Vec::new();
        for (k, &body) in self.guests.iter().enumerate() {
            let l = self.bodies[body].mass_factor();
            let (square, range) = (node.rows.square(first + k), node.rows.tree(first + k));
            self.bodies[body].gather(&self.steps[body].step.velocity, &mut kept);
            if square.len() != l.len() || range.len() != kept.len() {
                return false;
            }
            own[masses..][square].copy_from_slice(l);
            found[range].copy_from_slice(&kept);
        }
        let (velocity, impulses) = found.split_at(node.rows.velocities());
        let mut moved = vec![0.0; velocity.len()];
        let data = node.data(own);
        let impulses = &impulses[..node.rows.rows()];
        node.rows.transpose_times(data.jacobian, impulses, &mut moved);
        data.solve_mass(&mut moved);
        for k in 0..self.guests.len() {
            for i in node.rows.tree(first + k) {
                own[free + i] = velocity[i] - moved[i];
            }
        }
        let is_determined = match shared.relaxed {
            Some(node) => response.relaxed.factor(node, problem.smoothed().1, own, found),
            None => {
                let factor = &mut response.exact;
                node.factor(solution, own, found, factor);
                factor.is_determined() && !factor.response.sharing_matters()
            }
        };
        if !is_determined {
            return false;
        }
        *rest = None;
        let rests: Vec<Option<Vec<f64>>> =
            self.guests.iter().map(|&body| self.bodies[body].rest()).collect();
        if rests.iter().any(Option::is_some) || !node.rest.is_empty() {
            let own = (own.as_slice(), first, &rests[..]);
            let Some(lu) = factor_rest(shared, own, response, perturbation) else {
                return false;
            };
            *rest = Some(lu);
        }
        let mut block = node.rows.blocks().len();
        block -=
            self.guests.iter().map(|&body| self.steps[body].step.active().len()).sum::<usize>();
        self.contacts.clear();
        for (guest, &body) in self.guests.iter().enumerate() {
            for &k in self.steps[body].step.active() {
                let of = Touched { guest, body, contact: k, block };
                let own = GuestGeometry::new(of, &self.steps[body], &self.rigid);
                self.contacts.push(own);
                block += 1;
            }
        }
        let slopes: Vec<GuestSlopes> = self.contacts.iter().filter_map(|own| own.slopes).collect();
        jacobian.update(self.rigid, asked, Some((&slopes, &response.exact.response)))
    }

    /// What a change makes of all bodies at the end of the step: velocities and places of each soft one, the tangent vector of the
    /// rigid ones.
    pub fn tangent(&mut self, change: &MixedChange) -> (Vec<[Nodes; 2]>, Vec<f64>) {
        let steps = self.bodies.iter_mut().zip(&change.soft).zip(self.steps);
        let mut begun = Vec::new();
        let mut ends = Vec::new();
        for ((derivative, change), solved) in steps {
            if solved.step.is_guest() {
                begun.push(derivative.begin_tangent(change));
                ends.push([Vec::new(), Vec::new()]);
            } else {
                ends.push(derivative.tangent(change));
            }
        }
        let MixedMemory { jacobian, response, inputs, rest, perturbation, .. } = &mut self.memory;
        let numbers = [&change.rigid[..], &change.inputs, &change.parameters].concat();
        let mut rigid = jacobian.end(&numbers);
        let Some((problem, trees)) = &self.problem else { return (ends, rigid) };
        let shared = shared(problem, &self.rigid);
        let (node, ..) = problem.solved();
        let data = node.data(inputs);
        let first = trees.len();
        perturbation.fit_whole(node, 1);
        jacobian.perturb(&numbers, perturbation);
        let mut kept = Vec::new();
        for (k, (&body, begun)) in self.guests.iter().zip(&begun).enumerate() {
            self.bodies[body].gather(&begun.b, &mut kept);
            let own = &mut perturbation.x[node.rows.tree(first + k)];
            own.iter_mut().zip(&kept).for_each(|(x, b)| *x += b);
        }
        for own in &self.contacts {
            let change = &change.soft[own.of.body];
            let moved = &change.x[own.node];
            let block = &node.rows.blocks()[own.of.block];
            for r in 0..block.rows {
                perturbation.rows[block.first + r] += product(&own.rows[r], moved);
            }
            let contact = own.of.contact;
            perturbation.offsets[own.of.block] += product(&own.gap, moved) / own.rate
                + own.compliance_slope * change.stiffness[contact];
            perturbation.limits[own.of.block] += change.friction[contact];
            let slip = response.slip_by_stiffness(shared, own.of.block, own.stiffness);
            for (r, slip) in slip.into_iter().enumerate().take(block.rows.saturating_sub(1)) {
                perturbation.rows[block.first + 1 + r] += slip * change.stiffness[contact];
            }
            if let Some(slopes) = &own.slopes {
                let [force, moment] =
                    [&own.forces, &own.moments].map(|rows| rows.map(|row| product(&row, moved)));
                let tree = self.rigid.known.motion.bodies[slopes.body].tree;
                let place = trees.iter().position(|&own| Some(own) == tree);
                let Some(place) = place else { continue };
                let x = &mut perturbation.x[node.rows.tree(place)];
                let motion = self.rigid.known.motion;
                motion.add_row(slopes.body, Vector3::zeros(), -Vector3::from(force), 1.0, x);
                motion.add_turn(slopes.body, moment.into(), 1.0, x);
            }
        }
        data.solve_factor(&mut perturbation.x);
        jacobian.perturb_momenta(&numbers, &mut perturbation.x);
        response.respond(shared, perturbation);
        if let Some(rest) = rest {
            rest.solve_rows(1, &mut perturbation.x);
        }
        data.solve_factor_transpose(&mut perturbation.x);
        let changed = &perturbation.x;
        jacobian.add_velocities(changed, &mut rigid);
        for (k, (&body, mut begun)) in self.guests.iter().zip(begun).enumerate() {
            self.bodies[body].scatter(&changed[node.rows.tree(first + k)], &mut begun.b);
            ends[body] = self.bodies[body].end_tangent(begun);
        }
        (ends, rigid)
    }

    /// The adjoints of what the step is made of, from those of what it ends with: velocities and places of each soft body, the state of
    /// the rigid ones.
    pub fn adjoint(&mut self, soft: &[[&[[f64; 3]]; 2]], rigid: &[f64]) -> MixedChange {
        let mut begun = Vec::new();
        let mut change = MixedChange::default();
        for ((derivative, [v, x]), solved) in self.bodies.iter_mut().zip(soft).zip(self.steps) {
            if solved.step.is_guest() {
                begun.push(derivative.begin_adjoint(v, x));
                change.soft.push(StepChange::default());
            } else {
                change.soft.push(derivative.adjoint(v, x));
            }
        }
        let MixedMemory { jacobian, response, inputs, rest, perturbation, .. } = &mut self.memory;
        let Asked { inputs: asked, .. } = self.asked;
        let split = |numbers: &[f64]| {
            let (state, rest) = numbers.split_at(rigid.len());
            let (inputs, parameters) = rest.split_at(asked.len());
            [state, inputs, parameters].map(<[f64]>::to_vec)
        };
        let Some((problem, trees)) = &self.problem else {
            let numbers = jacobian.end_transpose(rigid, &mut []);
            [change.rigid, change.inputs, change.parameters] = split(&numbers);
            return change;
        };
        let shared = shared(problem, &self.rigid);
        let (node, ..) = problem.solved();
        let data = node.data(inputs);
        let first = trees.len();
        perturbation.fit_whole(node, 1);
        let mut numbers = jacobian.end_transpose(rigid, &mut perturbation.x);
        let mut kept = Vec::new();
        for (k, (&body, begun)) in self.guests.iter().zip(&begun).enumerate() {
            self.bodies[body].gather(&begun.w, &mut kept);
            perturbation.x[node.rows.tree(first + k)].copy_from_slice(&kept);
        }
        data.solve_factor(&mut perturbation.x);
        if let Some(rest) = rest {
            rest.solve_transpose_rows(1, &mut perturbation.x);
        }
        response.respond_transpose(shared, perturbation);
        jacobian.perturb_momenta_transpose(&perturbation.x, &mut numbers);
        data.solve_factor_transpose(&mut perturbation.x);
        jacobian.perturb_transpose(perturbation, &mut numbers);
        [change.rigid, change.inputs, change.parameters] = split(&numbers);
        let Perturbation { x, rows, offsets, limits, .. } = perturbation;
        for own in &self.contacts {
            let begun = &mut begun[own.of.guest];
            let block = &node.rows.blocks()[own.of.block];
            let offset = offsets[own.of.block];
            let mut moved = [0.0; 3];
            for r in 0..block.rows {
                (0..3).for_each(|k| moved[k] += rows[block.first + r] * own.rows[r][k]);
            }
            (0..3).for_each(|k| moved[k] += offset * own.gap[k] / own.rate);
            if let Some(slopes) = &own.slopes {
                let tree = self.rigid.known.motion.bodies[slopes.body].tree;
                if let Some(place) = trees.iter().position(|&own| Some(own) == tree) {
                    let x = &x[node.rows.tree(place)];
                    let [linear, angular] = own.twist(&self.rigid, x);
                    for k in 0..3 {
                        for (i, (force, moment)) in own.forces.iter().zip(&own.moments).enumerate()
                        {
                            moved[k] += angular[i] * moment[k] - linear[i] * force[k];
                        }
                    }
                }
            }
            let (contact, adjoint) = (own.of.contact, &mut begun.adjoint);
            (0..3).for_each(|k| adjoint.x[own.node][k] += moved[k]);
            adjoint.friction[contact] = limits[own.of.block];
            let slip = response.slip_by_stiffness(shared, own.of.block, own.stiffness);
            let turned = slip.iter().enumerate().take(block.rows.saturating_sub(1));
            let turned = turned.map(|(r, slip)| rows[block.first + 1 + r] * slip).sum::<f64>();
            adjoint.stiffness[contact] = own.compliance_slope * offset + turned;
            // What the impulse turns is left to the body.
            begun.normals.push((contact, [0.0; 3]));
        }
        for (k, (&body, mut begun)) in self.guests.iter().zip(begun).enumerate() {
            let derivative = &mut self.bodies[body];
            derivative.scatter(&x[node.rows.tree(first + k)], &mut begun.w);
            let [v, x] = soft[body];
            change.soft[body] = derivative.end_adjoint((v, x), begun);
        }
        change
    }
}

/// 1 + H K, K of rigid bodies and the `rests` of guests, L^-1 S_k L^-T of what their condensed matrices are more than L L'; nothing if it is singular.
fn factor_rest(
    shared: Shared,
    (inputs, first, rests): (&[f64], usize, &[Option<Vec<f64>>]),
    response: &mut Response,
    perturbation: &mut Perturbation<f64>,
) -> Option<Lu<f64>> {
    let node = shared.node;
    let all = node.rows.velocities();
    perturbation.fit(node, all, 0);
    node.write_couplings(inputs, &mut perturbation.x);
    for (k, rest) in rests.iter().enumerate() {
        let Some(rest) = rest else { continue };
        let range = node.rows.tree(first + k);
        for (i, row) in range.clone().zip(rest.chunks_exact(range.len().max(1))) {
            perturbation.x[i * all + range.start..][..row.len()].copy_from_slice(row);
        }
    }
    response.respond(shared, perturbation);
    (0..all).for_each(|k| perturbation.x[k * (all + 1)] += 1.0);
    let mut lu = Lu::default();
    lu.factor(&perturbation.x, all).then_some(lu)
}

fn shared<'a>(problem: &'a ContactProblem<f64>, rigid: &HostedStep) -> Shared<'a> {
    let relaxed = rigid.system.settings.is_relaxed().then(|| problem.smoothed().0);
    Shared { node: problem.solved().0, relaxed }
}

fn product(x: &[f64; 3], y: &[f64; 3]) -> f64 {
    x[0] * y[0] + x[1] * y[1] + x[2] * y[2]
}
