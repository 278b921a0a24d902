//! A step of a body with the contacts of its vertices, as it is searched for and as it was found.

use super::convergence::Convergence;
use super::momentum::Momentum;
use super::newton::is_finite;
use super::vertex_contact::VertexContact;
use super::vertex_law::VertexLaw;
use crate::argmin::{ContactSolution, Mode, Report, Status};

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
    /// The vertices that were kept, ascending, where the contact problem is one of others too; else none.
    pub(super) kept: Vec<usize>,
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
    pub(crate) fn compliance_slope(&self, k: usize, contact: &VertexContact, rate: f64) -> f64 {
        if !self.law.yields() || contact.is_tie {
            return 0.0;
        }
        let root = rate * contact.stiffness;
        -self.impulses[k][0] / (root * root)
    }

    /// The contacts that are in the contact problem.
    pub(crate) fn active(&self) -> &[usize] {
        &self.active
    }

    /// The first of the three velocities of a node among those of the vertices that were kept.
    pub(crate) fn place(&self, node: usize) -> usize {
        3 * self.kept.binary_search(&node).unwrap_or_default()
    }

    /// Whether the contact problem is one of others too.
    pub(crate) fn is_guest(&self) -> bool {
        !self.kept.is_empty()
    }

    /// Whether its contacts are forces of the momentum: penalties, but where they are in a contact problem of others too.
    pub(super) fn is_forced(&self) -> bool {
        self.law.is_penalty() && !self.is_guest()
    }

    /// Begins a search by exact contact or compliance. False, with the step reported as invalid, if it is none of a body that is sound.
    #[must_use]
    pub(super) fn begin(&mut self, momentum: &Momentum<f64>, contacts: &[VertexContact]) -> bool {
        let nodes = momentum.elements.node_count();
        self.report =
            Report { status: Status::InvalidInput, residual: f64::INFINITY, ..Report::default() };
        self.kept.clear();
        self.modes.clear();
        self.modes.resize(contacts.len(), Mode::Break);
        self.impulses.resize(contacts.len(), [0.0; 3]);
        let Some(predicted) = momentum.step else { return false };
        let is_stiff = |contact: &VertexContact| {
            !self.law.yields()
                || contact.is_tie
                || contact.stiffness > 0.0 && contact.damping == 0.0
        };
        let admissible = contacts.iter().all(|contact| {
            contact.is_admissible(nodes) && !momentum.is_fixed(contact.node) && is_stiff(contact)
        });
        let sized =
            [&self.velocity, &predicted.x, &predicted.v].map(|x| x.len() == nodes && is_finite(x));
        if !admissible || sized != [true; 3] || !momentum.is_consistent() {
            return false;
        }
        let is_sound = |step: &mut ContactStep| {
            momentum.positions(&step.velocity, &mut step.position);
            momentum.elements.least_determinant(&step.position) > 0.0
        };
        if is_sound(self) {
            return true;
        }
        // At rest, or along with what is held, hardly anything is turned inside out that was not before.
        momentum.let_rest(&mut self.velocity);
        is_sound(self)
    }

    /// The same of a body that is solved by itself, and its contacts that may touch. What is tied to a body is solved with that.
    #[must_use]
    pub(super) fn begin_alone(
        &mut self,
        momentum: &Momentum<f64>,
        contacts: &[VertexContact],
    ) -> bool {
        let sound = self.begin(momentum, contacts) && !contacts.iter().any(|own| own.is_tie);
        if sound {
            self.activate(momentum, contacts);
        }
        sound
    }

    /// Finds the contacts that may touch: those that did, and that the vertex would pass.
    pub(super) fn activate(&mut self, momentum: &Momentum<f64>, contacts: &[VertexContact]) {
        let Some(predicted) = momentum.step else { return };
        let pull = momentum.parameters.gravity;
        let a = momentum.rate();
        self.active.clear();
        for (k, contact) in contacts.iter().enumerate() {
            let (x, v) = (&predicted.x[contact.node], &predicted.v[contact.node]);
            let falls = [0, 1, 2].map(|i| x[i] + a * (v[i] + a * pull[i]));
            let passes =
                [x, &falls, &self.position[contact.node]].iter().any(|x| contact.gap(x) < 0.0);
            // What was touched and is beyond reach now is not touched.
            if contact.is_beyond() {
                self.impulses[k] = [0.0; 3];
            }
            if passes || contact.is_tie || self.impulses[k] != [0.0; 3] {
                self.active.push(k);
            }
        }
    }

    /// Adds contacts that a vertex has passed: whether there are any.
    pub(super) fn add_passing(&mut self, contacts: &[VertexContact]) -> bool {
        let before = self.active.len();
        for (k, contact) in contacts.iter().enumerate() {
            let passed = contact.gap(&self.position[contact.node]) < 0.0;
            if passed && self.active[..before].binary_search(&k).is_err() {
                self.active.push(k);
            }
        }
        self.active.sort_unstable();
        self.active.len() > before
    }

    /// Takes the impulses of the contact problem.
    pub(super) fn take_impulses(&mut self) {
        self.impulses.fill([0.0; 3]);
        for (&k, own) in self.active.iter().zip(self.solution.impulses.as_chunks::<3>().0) {
            self.impulses[k] = *own;
        }
    }

    /// Ends a search: what was found is accepted, or said not to be.
    pub(super) fn finish(&mut self, status: Status, search: &Convergence) {
        let solved = self.report.residual <= search.settings.accepted;
        self.report.status = match status {
            Status::Solved if solved && self.contact.status.is_solved() => Status::Solved,
            Status::Solved => Status::Stalled,
            other => other,
        };
        self.report.iterations = search.iterations;
        self.report.margin = self.contact.margin;
        self.modes.fill(Mode::Break);
        for (&k, &mode) in self.active.iter().zip(&self.solution.modes) {
            self.modes[k] = mode;
        }
    }
}
