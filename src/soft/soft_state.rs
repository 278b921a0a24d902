//! Where soft bodies are after a step, and how it was solved.

use crate::argmin::Report;
use crate::simulation::StepReport;

/// Where the nodes of a body are, and what it is in contact with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SoftState {
    /// m
    pub position: Vec<[f64; 3]>,
    /// m/s
    pub velocity: Vec<[f64; 3]>,
    /// The impulses of the contacts on the nodes in the last step, its time times their forces (N s).
    pub impulse: Vec<[f64; 3]>,
    /// The length (m) and tension (N) of each cable.
    pub cables: Vec<[f64; 2]>,
    /// The force of each hold on the body in the last step (N).
    pub holds: Vec<[f64; 3]>,
}

/// How a step was solved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SoftStepReport {
    /// Of what was solved worst: status, iterations, residual of the momentum.
    pub worst: Report,
    /// Bodies whose step was not solved: it is the last iterate of the search. One more, if the rigid ones beside them were not.
    pub unsolved: usize,
    /// Contacts of soft bodies that stick, and that slide.
    pub sticking: usize,
    /// See `sticking`.
    pub sliding: usize,
    /// How the rigid bodies beside them did.
    pub rigid: StepReport,
}

impl SoftStepReport {
    /// Takes over what was solved worse: what was not solved at all, then what has the larger residual.
    pub fn take_worse(&mut self, other: &Report) {
        let rank = |report: &Report| (!report.status.is_solved(), report.residual);
        if self.worst.iterations == 0 || rank(other) > rank(&self.worst) {
            self.worst = *other;
        }
    }

    /// Takes over how the rigid bodies did.
    pub(super) fn take_rigid(&mut self) {
        if self.rigid.unsolved > 0 {
            self.unsolved += 1;
            let rigid = self.rigid.worst;
            self.take_worse(&rigid);
        }
    }
}
