//! What a solve of the coupled contact problem decided.

use super::kkt::DEPENDENT;
use super::law::{Mode, length};
use super::natural_residual::ContactResiduals;
use super::sharing::Sharing;
use crate::argmin::status::{Report, Status};

/// What a solve decided, in f64.
#[derive(Debug, Default)]
pub struct ContactSolution {
    /// Status, iterations, relative natural residual, margin.
    pub report: Report,
    /// The parts of Coulomb's law by themselves.
    pub residuals: ContactResiduals,
    /// The mode of each block.
    pub modes: Vec<Mode>,
    /// The impulses: the starting guess of the next solve.
    pub impulses: Vec<f64>,
    /// Directions that are data. Of clamped contacts that of the friction: across it they do not slip by
    /// themselves, along it they are held by others. Of pyramids and intervals the sides they are at.
    /// Zero of others.
    pub(super) directions: Vec<[f64; 2]>,
    /// The null-space part of the impulses, where the least-norm rule has no admissible
    /// solution: it is held. Zero otherwise.
    pub(super) held: Vec<f64>,
    /// Rows shorter than this part of the longest, less what the others have, count as dependent in the rule and in the
    /// derivative. What they would hold needs more friction than there is, or is beyond what the solver can see.
    pub(super) dependent: f64,
    /// The fastest slip of contacts that hold with their friction at its limit, m/s: so slow that it counts as none.
    pub held_slip: f64,
    /// How many of the conditions that share the rule are independent, where some are not. The solution has a kink
    /// where that changes.
    pub independent: Option<usize>,
    /// How friction is shared: passed in, how it was in the solution that the impulses are of.
    pub sharing: Sharing,
}

// By hand: the tape copies solutions into memory it has, which the derived `clone_from` drops.
impl Clone for ContactSolution {
    fn clone(&self) -> Self {
        let mut clone = ContactSolution::default();
        clone.clone_from(self);
        clone
    }

    fn clone_from(&mut self, other: &Self) {
        (self.report, self.residuals) = (other.report, other.residuals);
        (self.dependent, self.independent) = (other.dependent, other.independent);
        self.held_slip = other.held_slip;
        self.modes.clone_from(&other.modes);
        self.impulses.clone_from(&other.impulses);
        self.directions.clone_from(&other.directions);
        self.held.clone_from(&other.held);
        self.sharing.clone_from(&other.sharing);
    }
}

impl ContactSolution {
    /// Takes the modes and impulses of Coulomb contacts that have been found by other means, and are unique.
    pub(crate) fn take_unique(
        &mut self,
        report: Report,
        blocks: impl Iterator<Item = ([f64; 3], Mode)>,
    ) {
        self.report = report;
        self.residuals = ContactResiduals::default();
        self.held_slip = 0.0;
        (self.dependent, self.independent) = (DEPENDENT, None);
        self.sharing.clear();
        self.modes.clear();
        self.impulses.clear();
        self.directions.clear();
        for (impulse, mode) in blocks {
            let size = length([impulse[1], impulse[2]]);
            let clamps = mode == Mode::Clamp && size > 0.0;
            let along = [impulse[1] / size, impulse[2] / size];
            self.directions.push(if clamps { along } else { [0.0; 2] });
            self.modes.push(mode);
            self.impulses.extend(impulse);
        }
        self.held.clear();
        self.held.resize(self.impulses.len(), 0.0);
    }

    /// That of a problem whose inputs are not admissible.
    pub(super) fn invalid(&mut self, blocks: usize, rows: usize) {
        let residual = f64::INFINITY;
        self.report = Report { status: Status::InvalidInput, residual, ..Report::default() };
        self.residuals = ContactResiduals::default();
        self.held_slip = 0.0;
        self.modes.clear();
        self.modes.resize(blocks, Mode::Break);
        self.directions.clear();
        self.directions.resize(blocks, [0.0; 2]);
        self.held.clear();
        self.held.resize(rows, 0.0);
        (self.dependent, self.independent) = (DEPENDENT, None);
        self.impulses.clear();
        self.sharing.clear();
    }
}
