//! A step by any law of contact.

use super::condensed_contact::CondensedContact;
use super::contact_step::ContactStep;
use super::momentum::Momentum;
use super::newton::{Newton, NewtonSettings, is_finite};
use super::penalty::Penalty;
use super::sequential_quadratic::SequentialQuadratic;
use super::vertex_contact::VertexContact;
use super::vertex_law::VertexLaw;
use crate::argmin::{Report, Status};

/// The solver of steps, with its memory. Reused with the same elements and vertices, it decides no order twice.
#[derive(Debug, Default)]
pub struct StepSolver {
    /// When it ends.
    pub settings: NewtonSettings,
    condensed: CondensedContact,
    newton: Newton,
    quadratic: SequentialQuadratic,
    start: Vec<[f64; 3]>,
    places: Vec<[f64; 3]>,
}

impl StepSolver {
    /// Solves a step by the law in `step.law`, from the velocities in `step.velocity`; see [`CondensedContact::solve`].
    ///
    /// Penalties are forces, and Newton's method on them is quick where it works. At their kinks it may stall: linear
    /// penalties are then solved as the contact problem that they are too, and the smooth ones from there.
    pub fn solve(
        &mut self,
        momentum: &Momentum<f64>,
        contacts: &[VertexContact],
        step: &mut ContactStep,
    ) {
        self.condensed.settings = self.settings;
        self.newton.settings = self.settings;
        if step.law == VertexLaw::Sqp {
            self.quadratic.settings = self.settings;
            return self.quadratic.solve(momentum, contacts, step);
        }
        if !step.law.is_penalty() || contacts.iter().any(|contact| contact.is_tie) {
            return self.condensed.solve(momentum, contacts, step);
        }
        step.report =
            Report { status: Status::InvalidInput, residual: f64::INFINITY, ..Report::default() };
        step.active.clear();
        step.modes.clear();
        step.impulses.clear();
        let nodes = momentum.elements.node_count();
        let (Some(predicted), true) = (
            momentum.step,
            momentum.is_consistent() && contacts.iter().all(|own| own.is_admissible(nodes)),
        ) else {
            return;
        };
        let sized =
            [&step.velocity, &predicted.x, &predicted.v].map(|x| x.len() == nodes && is_finite(x));
        if sized != [true; 3] {
            return;
        }
        let law = step.law;
        let forced = Momentum { penalty: Some(Penalty { law, contacts }), ..*momentum };
        self.start.clone_from(&step.velocity);
        forced.positions(&step.velocity, &mut self.places);
        let is_sound = forced.elements.least_determinant(&self.places) > 0.0;
        if !is_sound {
            forced.let_rest(&mut step.velocity);
        }
        step.report = self.newton.solve(&forced, &mut step.velocity);
        if !step.report.status.is_solved() {
            self.solve_as_compliance(momentum, &forced, contacts, step);
        }
        step.position.clear();
        step.position.extend(predicted.positions(&step.velocity));
        for contact in contacts {
            let (rate, v) = (predicted.rate, &step.velocity[contact.node]);
            let gap = forced.gap(contact, &step.velocity);
            step.modes.push(contact.penalty_mode(rate, gap, v));
            let force = contact.penalty_force(law, rate, gap, v).unwrap_or_default();
            let along = |axis: [f64; 3]| (0..3).map(|k| axis[k] * force[k] * rate).sum();
            step.impulses.push(contact.frame().map(along));
        }
    }

    /// Solves the linear penalty as a contact problem, and the penalty from there.
    fn solve_as_compliance(
        &mut self,
        momentum: &Momentum<f64>,
        forced: &Momentum<f64>,
        contacts: &[VertexContact],
        step: &mut ContactStep,
    ) {
        let spent = step.report.iterations;
        let mut other = ContactStep::start_by(VertexLaw::PenaltyLinear, self.start.clone());
        // Damping is no compliance: without it is near.
        let undamped: Vec<VertexContact> =
            contacts.iter().map(|own| VertexContact { damping: 0.0, ..*own }).collect();
        self.condensed.solve(momentum, &undamped, &mut other);
        if other.report.status == Status::InvalidInput {
            return;
        }
        let report = self.newton.solve(forced, &mut other.velocity);
        if report.residual < step.report.residual {
            step.report = report;
            std::mem::swap(&mut step.velocity, &mut other.velocity);
        }
        step.report.iterations = spent + other.report.iterations + report.iterations;
    }
}
