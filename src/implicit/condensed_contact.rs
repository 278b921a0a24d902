//! A step with exact contact of vertices: Newton's method, in each iteration of which the contact problem of the vertices that
//! may touch is solved on the condensed matrix.
//!
//! The matrix A = dR/du of an iterate u, condensed on these vertices to S, stands for their mass: with v_p = u - S^-1 R
//! (R condensed likewise), J and Coulomb's law they have the velocities v_p + S^-1 J'p, and the others follow. The law is met in
//! each iteration; what converges is the momentum. Viscosity makes S unsymmetric: its symmetric part is the mass then,
//! and what it misses goes with the iterations.
//!
//! Penalties linear in depth and slip are compliances of the same problem, with p = a f and kt = kn a: (16) is c = 1/(a² kn) along
//! the normal, and with the exact cone that is the hybrid method; (17) is the same along tangents, a bristle of mass 1/c that
//! the vertex drags. So both have a solution where Newton's method on their forces finds none.

use super::condensation::Condensation;
use super::momentum::Momentum;
use super::newton::{NewtonSettings, is_finite, largest, relative};
use super::vertex_contact::VertexContact;
use super::vertex_law::VertexLaw;
use super::vertex_newton::{Demand, VertexNewton};
use crate::ad::Real;
use crate::argmin::{ContactSolution, ContactWorkspace, CoupledContact, Law, Mode, Report, Status};
use crate::linalg::{dot, solve_lower, solve_lower_transpose};

/// Relative residual of the contact problems.
const CONTACT_TOLERANCE: f64 = 1e-13;
/// A step is halved this often at most, so that no element turns inside out.
const MOST_HALVINGS: usize = 30;
/// Rows of a contact along which a bristle gives.
const TANGENTS: usize = 2;
/// The root of the mass of what no impulse moves.
const IMMOVABLE: f64 = 1e30;
/// Iterations without a smaller residual before the search ends.
const PATIENCE: usize = 6;

/// What a step came to.
#[derive(Clone, Debug, Default)]
pub struct ContactStep {
    /// By which law vertices touched.
    pub law: VertexLaw,
    /// Of the momentum: status, iterations, residual.
    pub report: Report,
    /// Of the contact problem solved last.
    pub contact: Report,
    /// v+ of all nodes (m/s).
    pub velocity: Vec<[f64; 3]>,
    /// x+ of all nodes (m).
    pub position: Vec<[f64; 3]>,
    /// The impulse of each contact along normal and tangents of its frame (N s).
    pub impulses: Vec<[f64; 3]>,
    /// What each contact does.
    pub modes: Vec<Mode>,
    /// The contacts that are in the contact problem, and its solution.
    pub(super) active: Vec<usize>,
    pub(super) solution: ContactSolution,
}

impl ContactStep {
    /// What a search begins with: velocities (m/s), and nothing that touches.
    pub fn start(velocity: Vec<[f64; 3]>) -> Self {
        ContactStep { velocity, ..ContactStep::default() }
    }

    /// The same by a law.
    pub fn start_by(law: VertexLaw, velocity: Vec<[f64; 3]>) -> Self {
        ContactStep { law, velocity, ..ContactStep::default() }
    }

    /// How much faster a contact must part, by its compliance (m/s), for a change of its stiffness (N/m).
    pub(super) fn compliance_slope(&self, k: usize, contact: &VertexContact, rate: f64) -> f64 {
        if self.law == VertexLaw::Coupled {
            return 0.0;
        }
        let root = rate * contact.stiffness;
        -self.impulses[k][0] / (root * root)
    }
}

/// The solver, with its memory. Reused with the same elements and vertices, it decides no order twice.
#[derive(Debug, Default)]
pub struct CondensedContact {
    /// When Newton's method ends.
    pub settings: NewtonSettings,
    condensation: Condensation,
    posed: Posed,
    vertices: VertexNewton,
    workspace: ContactWorkspace<f64>,
    residual: Vec<[f64; 3]>,
    change: Vec<[f64; 3]>,
    trial: Vec<[f64; 3]>,
    needed: Vec<usize>,
    /// Of the kept vertices: what is left of the momentum (N s), velocities without contact, before, and their change (m/s).
    left: Vec<f64>,
    free: Vec<f64>,
    start: Vec<f64>,
    moved: Vec<f64>,
}

/// The contact problem: what contacts ask, and the same as its node takes it.
#[derive(Debug, Default)]
pub(super) struct Posed {
    pub demands: Vec<Demand>,
    /// Whether contacts give along tangents as along the normal.
    bristles: bool,
    /// Whether a surface goes along.
    drifts: bool,
    pub node: CoupledContact,
    pub inputs: Vec<f64>,
    pub outputs: Vec<f64>,
}

impl Posed {
    /// What the `active` ones of the contacts ask.
    pub fn ask(
        &mut self,
        momentum: &Momentum<f64>,
        contacts: &[VertexContact],
        step: &ContactStep,
        kept: &[usize],
    ) {
        let (places, rate) = (momentum.step.map(|step| &step.x), momentum.rate());
        self.bristles = step.law == VertexLaw::PenaltyLinear;
        let compliance = |contact: &VertexContact| match step.law {
            VertexLaw::Coupled => 0.0,
            _ => 1.0 / (rate * rate * contact.stiffness),
        };
        self.demands.clear();
        self.demands.extend(step.active.iter().map(|&k| &contacts[k]).map(|contact| Demand {
            place: kept.binary_search(&contact.node).unwrap_or_default(),
            frame: contact.frame(),
            target: places.map_or(0.0, |places| -contact.gap(&places[contact.node]) / rate),
            friction: contact.friction,
            compliance: compliance(contact),
            drift: {
                let [_, first, second] = contact.frame();
                let drift = contact.drift();
                [0.0, dot(&first, &drift), dot(&second, &drift)]
            },
        }));
        self.drifts = self.demands.iter().any(|demand| demand.drift != [0.0; 3]);
    }

    /// Whether no vertex has two contacts. It has as many velocities as conditions then: impulses are unique, and nothing is
    /// to be shared.
    pub fn is_unique(&self) -> bool {
        self.demands.is_sorted_by(|a, b| a.place < b.place)
    }

    /// Takes velocities of the kept vertices relative to the surfaces that go along with them; with that no surface moves. False where
    /// a vertex is at two that move differently along themselves.
    #[must_use]
    pub fn follow_surfaces(
        &mut self,
        (contacts, active): (&[VertexContact], &[usize]),
        velocity: &mut [f64],
    ) -> bool {
        if !self.drifts {
            return true;
        }
        let of = |&k: &usize| contacts[k].surface;
        let mut active = active;
        if !self.demands.is_sorted_by_key(|demand| demand.place) {
            return false;
        }
        // Those of a vertex stand one after the other.
        for demands in self.demands.chunk_by_mut(|a, b| a.place == b.place) {
            let (own, others) = active.split_at(demands.len());
            active = others;
            let mut shift = own.first().map_or([0.0; 3], of);
            if !own.iter().all(|k| of(k) == shift) {
                // How they rise counts for their targets alone: what goes along their planes may be the same.
                let drifts = || own.iter().map(|&k| contacts[k].drift());
                shift = drifts().next().unwrap_or_default();
                if !drifts().all(|other| other == shift) {
                    return false;
                }
            }
            if let Some(first) = demands.first() {
                let own = &mut velocity[3 * first.place..][..3];
                own.iter_mut().zip(shift).for_each(|(v, shift)| *v -= shift);
            }
            for demand in demands {
                demand.target -= dot(&demand.frame[0], &shift);
                demand.drift = [0.0; 3];
            }
        }
        self.drifts = false;
        true
    }

    /// As the node takes it, with free velocities `free` of the kept vertices.
    pub fn pose(&mut self, condensation: &Condensation, free: &[f64]) {
        let n = free.len();
        // What gives along tangents, or goes along, is a body of its own.
        let apart = self.bristles || self.drifts;
        self.node.clear();
        (self.node.tolerance, self.node.keep) = (CONTACT_TOLERANCE, self.is_unique());
        let tree = self.node.rows.add_tree(n);
        let width = n + if apart { TANGENTS } else { 0 };
        self.inputs.clear();
        for demand in &self.demands {
            let other = if apart { self.node.rows.add_tree(TANGENTS) } else { tree };
            self.node.add(Law::default(), [tree, other]);
            for (k, row) in demand.frame.iter().enumerate() {
                let start = self.inputs.len();
                self.inputs.resize(start + width, 0.0);
                self.inputs[start + 3 * demand.place..][..3].copy_from_slice(row);
                if apart && k > 0 {
                    self.inputs[start + n + k - 1] = 1.0;
                }
            }
        }
        self.inputs.extend_from_slice(&condensation.mass_factor);
        for demand in self.demands.iter().filter(|_| apart) {
            let root = if self.bristles { demand.compliance.sqrt().recip() } else { IMMOVABLE };
            self.inputs.extend_from_slice(&[root, 0.0, 0.0, root]);
        }
        self.inputs.extend_from_slice(free);
        for demand in self.demands.iter().filter(|_| apart) {
            self.inputs.extend(demand.drift[1..].iter().map(|x| -x));
        }
        self.inputs.extend(self.demands.iter().map(|demand| demand.target));
        self.inputs.extend(self.demands.iter().map(|demand| demand.friction));
        self.inputs.extend(self.demands.iter().map(|demand| demand.compliance));
        self.outputs.clear();
        self.outputs.resize(self.node.output_len(), 0.0);
    }

    /// The largest contact velocity (m/s) at the free velocities: what contact residuals are relative to.
    fn velocity_scale(&self, free: &[f64]) -> f64 {
        let of = |demand: &Demand| {
            let own = &free[3 * demand.place..][..3];
            let [normal, a, b] = [0, 1, 2].map(|k| dot(&demand.frame[k], own) - demand.drift[k]);
            (normal - demand.target).abs().max(a.abs()).max(b.abs())
        };
        self.demands.iter().map(of).fold(0.0, f64::max)
    }
}

impl CondensedContact {
    /// Solves a step from the velocities in `step.velocity` (v+ of the last step, or v̄); impulses and contacts of the last step
    /// are where the search begins. Without a solution the step is the last iterate, with its residual.
    pub fn solve(
        &mut self,
        momentum: &Momentum<f64>,
        contacts: &[VertexContact],
        step: &mut ContactStep,
    ) {
        let nodes = momentum.elements.node_count();
        step.report =
            Report { status: Status::InvalidInput, residual: f64::INFINITY, ..Report::default() };
        step.modes.clear();
        step.modes.resize(contacts.len(), Mode::Break);
        step.impulses.resize(contacts.len(), [0.0; 3]);
        let Some(predicted) = momentum.step else { return };
        let is_stiff = |contact: &VertexContact| {
            step.law == VertexLaw::Coupled || contact.stiffness > 0.0 && contact.damping == 0.0
        };
        let admissible = contacts.iter().all(|contact| {
            contact.is_admissible(nodes) && !momentum.is_fixed(contact.node) && is_stiff(contact)
        });
        let sized =
            [&step.velocity, &predicted.x, &predicted.v].map(|x| x.len() == nodes && is_finite(x));
        if !admissible || sized != [true; 3] || !momentum.is_consistent() {
            return;
        }
        let is_sound = |step: &mut ContactStep| {
            momentum.positions(&step.velocity, &mut step.position);
            momentum.elements.least_determinant(&step.position) > 0.0
        };
        if !is_sound(step) {
            // At rest, or along with what is held, hardly anything is turned inside out that was not before.
            momentum.let_rest(&mut step.velocity);
            if !is_sound(step) {
                return;
            }
        }
        self.activate(momentum, contacts, step);
        self.iterate(momentum, contacts, step);
        step.modes.fill(Mode::Break);
        for (&k, &mode) in step.active.iter().zip(&step.solution.modes) {
            step.modes[k] = mode;
        }
    }

    /// The contacts that may touch: those that did, and that the vertex would pass.
    fn activate(
        &mut self,
        momentum: &Momentum<f64>,
        contacts: &[VertexContact],
        step: &mut ContactStep,
    ) {
        let Some(predicted) = momentum.step else { return };
        let pull = momentum.parameters.gravity;
        let a = momentum.rate();
        step.active.clear();
        for (k, contact) in contacts.iter().enumerate() {
            let (x, v) = (&predicted.x[contact.node], &predicted.v[contact.node]);
            let falls = [0, 1, 2].map(|i| x[i] + a * (v[i] + a * pull[i]));
            let passes =
                [x, &falls, &step.position[contact.node]].iter().any(|x| contact.gap(x) < 0.0);
            // What was touched and is beyond reach now is not touched.
            if contact.is_beyond() {
                step.impulses[k] = [0.0; 3];
            }
            if passes || step.impulses[k] != [0.0; 3] {
                step.active.push(k);
            }
        }
    }

    fn iterate(
        &mut self,
        momentum: &Momentum<f64>,
        contacts: &[VertexContact],
        step: &mut ContactStep,
    ) {
        let (mut best, mut before) = (f64::INFINITY, f64::INFINITY);
        let (mut waited, mut reusable) = (0, false);
        let mut iterations = 0;
        let status = loop {
            if iterations == self.settings.iterations {
                break Status::IterationLimit;
            }
            iterations += 1;
            let Some(whole) = self.advance(momentum, contacts, step, reusable) else {
                break Status::Stalled;
            };
            let added = add_passing(contacts, step);
            let residual = self.measure(momentum, contacts, step);
            step.report.residual = residual;
            // One more step by the same matrix is enough.
            reusable = whole && !added && residual * residual <= self.settings.tolerance * before;
            before = residual;
            // The law is met where the step was taken whole, by all that touch.
            if whole && !added {
                if residual <= self.settings.tolerance {
                    break Status::Solved;
                }
                let (improves, rests) = (residual < 0.5 * best, best <= self.settings.accepted);
                if !improves && rests {
                    break Status::Solved;
                }
                waited = if improves { 0 } else { waited + 1 };
                best = best.min(residual);
                if waited > PATIENCE {
                    break Status::Stalled;
                }
            }
        };
        let solved = step.report.residual <= self.settings.accepted;
        step.report.status = match status {
            Status::Solved if solved && step.contact.status.is_solved() => Status::Solved,
            Status::Solved => Status::Stalled,
            other => other,
        };
        step.report.iterations = iterations;
        step.report.margin = step.contact.margin;
    }

    /// One iteration: whether its step was taken whole; nothing if there is none.
    fn advance(
        &mut self,
        momentum: &Momentum<f64>,
        contacts: &[VertexContact],
        step: &mut ContactStep,
        reusable: bool,
    ) -> Option<bool> {
        self.needed.clear();
        self.needed.extend(step.active.iter().map(|&k| contacts[k].node));
        self.needed.sort_unstable();
        self.needed.dedup();
        let Self { condensation, posed, residual, change, left, free, .. } = self;
        let (u, x) = (&step.velocity, &step.position);
        if !reusable {
            self.vertices.forget();
            condensation.keep(momentum, &self.needed);
            if !(condensation.factor(momentum, u, x, false)
                || condensation.factor(momentum, u, x, true))
            {
                return None;
            }
        }
        momentum.residual(u, x, residual);
        change.clone_from(residual);
        change.iter_mut().flatten().for_each(|x| *x = -*x);
        condensation.forward(false, change);
        condensation.gather(change, left);
        posed.ask(momentum, contacts, step, condensation.kept());
        // v_p = u - S^-1 R, by the symmetric part of S.
        free.clone_from(left);
        let n = free.len();
        solve_lower(&condensation.mass_factor, n, free);
        solve_lower_transpose(&condensation.mass_factor, n, free);
        condensation.gather(u, &mut self.start);
        free.iter_mut().zip(&self.start).for_each(|(free, u)| *free += u);
        let by_vertices = self.posed.is_unique() && !self.posed.bristles;
        if !(by_vertices && self.solve_by_velocities(step)) {
            self.solve_by_node(step);
        }
        self.condensation.scatter(&self.moved, &mut self.change);
        self.condensation.backward(false, &mut self.change);
        if !is_finite(&self.change) {
            return None;
        }
        step.impulses.fill([0.0; 3]);
        for (&k, own) in step.active.iter().zip(step.solution.impulses.as_chunks::<3>().0) {
            step.impulses[k] = *own;
        }
        self.take(momentum, step)
    }

    /// The contact problem by its vertices; false if that is not enough.
    fn solve_by_velocities(&mut self, step: &mut ContactStep) -> bool {
        let Self { condensation, posed, vertices, left, free, start, moved, .. } = self;
        let goal = (posed.velocity_scale(free), CONTACT_TOLERANCE);
        left.iter_mut().for_each(|x| *x = -*x);
        step.contact = vertices.solve(condensation, &posed.demands, (start, left), goal);
        if !step.contact.status.is_solved() {
            return false;
        }
        moved.clear();
        moved.extend_from_slice(vertices.change());
        let outcomes = posed.demands.iter().map(|demand| vertices.outcome(demand.place));
        step.solution.take_unique(step.contact, outcomes);
        true
    }

    /// The contact problem by its node.
    fn solve_by_node(&mut self, step: &mut ContactStep) {
        let Self { condensation, posed, workspace, free, start, moved, .. } = self;
        posed.pose(condensation, free);
        step.solution.impulses.clear();
        step.solution.impulses.extend(step.active.iter().flat_map(|&k| step.impulses[k]));
        f64::call(&posed.node, &posed.inputs, &mut posed.outputs, &mut step.solution, workspace);
        step.contact = step.solution.report;
        moved.clear();
        moved.extend(posed.outputs.iter().zip(start).map(|(v, u)| v - *u));
    }

    /// What is left of the momentum with the impulses, relative to its scale.
    fn measure(
        &mut self,
        momentum: &Momentum<f64>,
        contacts: &[VertexContact],
        step: &ContactStep,
    ) -> f64 {
        momentum.residual(&step.velocity, &step.position, &mut self.residual);
        let mut scale = momentum.scale(&step.velocity, &step.position);
        for (contact, impulse) in contacts.iter().zip(&step.impulses) {
            let target = &mut self.residual[contact.node];
            for (row, p) in contact.frame().iter().zip(impulse) {
                (0..3).for_each(|k| target[k] -= row[k] * p);
                scale = scale.max(p.abs());
            }
        }
        relative(largest(&self.residual), scale)
    }

    /// Adds the change to the velocities, halved until no element is inside out: whether it was taken whole.
    fn take(&mut self, momentum: &Momentum<f64>, step: &mut ContactStep) -> Option<bool> {
        let mut share = 1.0;
        for halvings in 0..=MOST_HALVINGS {
            self.trial.clear();
            let moved =
                |(u, change): (&[f64; 3], &[f64; 3])| [0, 1, 2].map(|k| u[k] + share * change[k]);
            self.trial.extend(step.velocity.iter().zip(&self.change).map(moved));
            momentum.positions(&self.trial, &mut step.position);
            if momentum.elements.least_determinant(&step.position) > 0.0 {
                std::mem::swap(&mut step.velocity, &mut self.trial);
                return Some(halvings == 0);
            }
            share *= 0.5;
        }
        momentum.positions(&step.velocity, &mut step.position);
        None
    }
}

/// Adds contacts that a vertex has passed: whether there are any.
fn add_passing(contacts: &[VertexContact], step: &mut ContactStep) -> bool {
    let before = step.active.len();
    for (k, contact) in contacts.iter().enumerate() {
        let passed = contact.gap(&step.position[contact.node]) < 0.0;
        if passed && step.active[..before].binary_search(&k).is_err() {
            step.active.push(k);
        }
    }
    step.active.sort_unstable();
    step.active.len() > before
}
