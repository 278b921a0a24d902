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
use super::condensed_body::CondensedBody;
use super::contact_step::ContactStep;
use super::convergence::Convergence;
use super::momentum::Momentum;
use super::newton::NewtonSettings;
use super::vertex_contact::VertexContact;
use super::vertex_law::VertexLaw;
use super::vertex_newton::{Demand, VertexNewton};
use crate::ad::Real;
use crate::argmin::{ContactWorkspace, CoupledContact, Law, Status};
use crate::linalg::dot;

/// Relative residual of the contact problems.
const CONTACT_TOLERANCE: f64 = 1e-13;
/// Rows of a contact along which a bristle gives.
const TANGENTS: usize = 2;
/// The root of the mass of what no impulse moves.
const IMMOVABLE: f64 = 1e30;

/// The solver, with its memory. Reused with the same elements and vertices, it decides no order twice.
#[derive(Debug, Default)]
pub struct CondensedContact {
    /// When Newton's method ends.
    pub settings: NewtonSettings,
    body: CondensedBody,
    posed: Posed,
    vertices: VertexNewton,
    workspace: ContactWorkspace<f64>,
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
            law if !law.yields() => 0.0,
            _ if contact.is_tie => 0.0,
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
        if !step.begin_alone(momentum, contacts) {
            return;
        }
        let mut search = Convergence::new(self.settings);
        let status = loop {
            if !search.next() {
                break Status::IterationLimit;
            }
            let Some(whole) = self.advance(momentum, contacts, step, search.reusable) else {
                break Status::Stalled;
            };
            let added = step.add_passing(contacts);
            step.report.residual = self.body.measure(momentum, contacts, step);
            if let Some(status) = search.ended(whole && !added, step.report.residual) {
                break status;
            }
        };
        step.finish(status, &search);
    }

    /// One iteration: whether its step was taken whole; nothing if there is none.
    fn advance(
        &mut self,
        momentum: &Momentum<f64>,
        contacts: &[VertexContact],
        step: &mut ContactStep,
        reusable: bool,
    ) -> Option<bool> {
        if !reusable {
            self.vertices.forget();
        }
        if !self.body.condense(momentum, contacts, step, reusable) {
            return None;
        }
        self.posed.ask(momentum, contacts, step, self.body.condensation.kept());
        let by_vertices = self.posed.is_unique() && !self.posed.bristles;
        if !(by_vertices && self.solve_by_velocities(step)) {
            self.solve_by_node(step);
        }
        step.take_impulses();
        self.body.follow(momentum, step)
    }

    /// The contact problem by its vertices; false if that is not enough.
    fn solve_by_velocities(&mut self, step: &mut ContactStep) -> bool {
        let Self { body, posed, vertices, .. } = self;
        let CondensedBody { condensation, left, free, start, moved, .. } = body;
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
        let Self { body, posed, workspace, .. } = self;
        let CondensedBody { condensation, free, start, moved, .. } = body;
        posed.pose(condensation, free);
        step.solution.impulses.clear();
        step.solution.impulses.extend(step.active.iter().flat_map(|&k| step.impulses[k]));
        f64::call(&posed.node, &posed.inputs, &mut posed.outputs, &mut step.solution, workspace);
        step.contact = step.solution.report;
        moved.clear();
        moved.extend(posed.outputs.iter().zip(start).map(|(v, u)| v - *u));
    }
}
