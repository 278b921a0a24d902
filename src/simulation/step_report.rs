//! How the contact problems of steps were solved.

use super::conflicts::Conflicts;
use super::oddity::Plausibility;
use crate::argmin::{ContactResiduals, Report, Status};
use crate::model::{ContactSolver, Settings};
use crate::packed::packed;

/// How the contact problems of a step, or of several, were solved: worst status and residual, least
/// margin, sum of the iterations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepReport {
    /// The worst of the problems.
    pub worst: Report,
    /// How many problems did not meet the tolerance.
    pub unsolved: usize,
    /// The largest residuals of each part of the contact law.
    pub residuals: ContactResiduals,
    /// How many steps there were.
    pub steps: usize,
    /// Those of them that no body makes, see [`plausible`](super::plausible()).
    pub plausibility: Plausibility,
    /// Those in which conditions contradict each other.
    pub conflicts: Conflicts,
}

impl Default for StepReport {
    fn default() -> Self {
        let worst = Report { margin: f64::INFINITY, ..Report::default() };
        let residuals = ContactResiduals::default();
        let (plausibility, conflicts) = (Plausibility::default(), Conflicts::default());
        StepReport { worst, unsolved: 0, residuals, steps: 0, plausibility, conflicts }
    }
}

/// Residuals of the contact law from which on a solver that solves another law is worth a warning.
const APPRECIABLE: f64 = 1e-3;

impl StepReport {
    /// Adds one problem.
    pub(super) fn add(&mut self, report: Report, residuals: ContactResiduals) {
        let unsolved = usize::from(!report.status.is_solved());
        self.merge(&StepReport { worst: report, unsolved, residuals, ..StepReport::default() });
    }

    /// What a reader of the results should know about the solution of the contact problems, in
    /// sentences; nothing if all is well.
    pub fn warnings(&self, settings: &Settings) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.unsolved > 0 {
            let problems = if self.unsolved == 1 { "problem was" } else { "problems were" };
            let backward = settings.integrator.is_backward();
            let kind = if backward { "contact or momentum" } else { "contact" };
            warnings.push(format!(
                "{} {kind} {problems} not solved in {} steps ({}; largest residual {:.1e}, tolerance \
                 {:e}): the results are the best found and complete, but not to be trusted there; try {}",
                self.unsolved,
                self.steps,
                self.worst.status,
                self.worst.residual,
                settings.tolerance,
                match settings.solver {
                    ContactSolver::GaussSeidel => "solver \"coupled\", which solves the same problem",
                    solver if solver.is_penalty() => "a shorter time step or less stiffness",
                    _ if backward => "a shorter time step, or damping of what is stiff",
                    _ => "a shorter time step or more compliance",
                }
            ));
        }
        let ContactResiduals { complementarity, cone, dissipation } = self.residuals;
        let most = complementarity.max(cone).max(dissipation);
        if most > APPRECIABLE && self.unsolved == 0 {
            let parts = [
                (complementarity, "bodies penetrate, pull or push from apart"),
                (cone, "friction leaves its cone"),
                (dissipation, "friction does not oppose the slip"),
            ];
            let parts: Vec<String> = parts
                .iter()
                .filter(|(size, _)| *size > APPRECIABLE)
                .map(|(size, what)| format!("{what} by up to {:.1} %", 100.0 * size))
                .collect();
            let parts = parts.join(", ");
            let of = "of the largest contact velocity of the step";
            warnings.push(match settings.solver {
                ContactSolver::Coupled | ContactSolver::Hybrid => format!(
                    "the contact law is met only up to the tolerance, or as far as what touches can be moved: \
                     {parts} {of}"
                ),
                other => format!(
                    "solver \"{}\" departs from the contact law: {parts} {of}; \"coupled\" does not",
                    other.name()
                ),
            });
        }
        warnings
    }

    /// Adds the steps of another report.
    pub fn merge(&mut self, other: &StepReport) {
        self.unsolved += other.unsolved;
        self.plausibility.merge(&other.plausibility, self.steps);
        self.conflicts.merge(&other.conflicts, self.steps);
        self.steps += other.steps;
        self.residuals = self.residuals.max(other.residuals);
        // An inadmissible input is worse than any residual.
        if !other.worst.status.is_solved() && self.worst.status != Status::InvalidInput {
            self.worst.status = other.worst.status;
        }
        self.worst.iterations += other.worst.iterations;
        let residual = other.worst.residual;
        let residual = if residual.is_nan() { f64::INFINITY } else { residual };
        self.worst.residual = self.worst.residual.max(residual);
        self.worst.margin = self.worst.margin.min(other.worst.margin);
    }
}

packed!(StepReport { worst, unsolved, residuals, steps, plausibility, conflicts });
