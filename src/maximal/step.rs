//! One step of a system (`Zhong21` Algorithm 1): motion, then impacts of what penetrates at its end, which change velocities only.
//! Positions and constraints are not stabilised.

use super::constrained_motion::{ConstrainedMotion, Formulation, Rates};
use super::impact::{ImpactRule, PointImpact};
use super::kutta::{self, STAGES};
use super::point_inertia::PointInertia;
use super::point_parameters::PointParameters;
use super::point_system::PointSystem;
use super::potential::ConservativeForce;
use crate::ad::Real;
use crate::argmin::{Report, Status};
use crate::linalg::FactorError;

/// How a step was solved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointReport {
    /// The contacts that were active, by their place in the system.
    pub active: Vec<usize>,
    /// Of compression and restitution, where there were impacts.
    pub impulses: Option<[Report; 2]>,
    /// Why constraints had no multipliers, if they had none.
    pub failure: Option<FactorError>,
}

impl PointReport {
    /// Whether everything was solved to the tolerance asked for.
    pub fn is_solved(&self) -> bool {
        let solved = |report: &Report| report.status == Status::Solved;
        self.failure.is_none() && self.impulses.as_ref().is_none_or(|both| both.iter().all(solved))
    }
}

/// The memory of steps. Reused, it allocates nothing.
pub struct PointStep<T: Real> {
    motion: ConstrainedMotion<T>,
    impact: PointImpact<T>,
    inertia: PointInertia<T>,
    at: [Vec<T>; 2],
    gradient: Vec<T>,
    rates: Rates<T>,
    slopes: [Vec<Vec<T>>; 2],
    /// How the last step was solved.
    pub report: PointReport,
}

impl<T: Real> Default for PointStep<T> {
    fn default() -> Self {
        PointStep {
            motion: ConstrainedMotion::default(),
            impact: PointImpact::default(),
            inertia: PointInertia::default(),
            at: Default::default(),
            gradient: Vec::new(),
            rates: Rates { position: Vec::new(), velocity: Vec::new() },
            slopes: [vec![Vec::new(); STAGES], vec![Vec::new(); STAGES]],
            report: PointReport::default(),
        }
    }
}

impl<T: Real> PointStep<T> {
    /// x, v <- those a step later (m, m/s; [`PointSystem::coordinates`] numbers each), moved by `force`, with parameters that
    /// [`PointSystem::check`] accepts. Where `report` says that a step was not
    /// solved, x and v are not to be used.
    #[expect(
        clippy::too_many_arguments,
        reason = "a system, its numbers, what moves it, its state"
    )]
    pub fn step(
        &mut self,
        system: &PointSystem,
        parameters: &PointParameters<T>,
        formulation: Formulation,
        rule: ImpactRule,
        force: &mut impl ConservativeForce<T>,
        x: &mut Vec<T>,
        v: &mut Vec<T>,
    ) {
        self.inertia.set(system.layout(), parameters);
        self.report.failure = None;
        self.report.impulses = None;
        self.report.active.clear();
        if let Err(failure) = self.advance(system, formulation, force, x, v) {
            self.report.failure = Some(failure);
            return;
        }
        if self.impact.detect(system, x) {
            self.report.active.extend_from_slice(&self.impact.active);
            let applied = self.impact.apply(system, &self.inertia, parameters, rule, x, v);
            self.report.failure = applied.err();
            self.report.impulses = Some(self.impact.reports);
        }
    }

    /// The motion of a step.
    fn advance(
        &mut self,
        system: &PointSystem,
        formulation: Formulation,
        force: &mut impl ConservativeForce<T>,
        x: &mut Vec<T>,
        v: &mut Vec<T>,
    ) -> Result<(), FactorError> {
        let h = system.step;
        let ([at_x, at_v], [slopes_x, slopes_v]) = (&mut self.at, &mut self.slopes);
        for k in 0..STAGES {
            kutta::stage(k, h, x, slopes_x, at_x);
            kutta::stage(k, h, v, slopes_v, at_v);
            force.gradient(&self.inertia, at_x, &mut self.gradient);
            let (inertia, rates) = (&self.inertia, &mut self.rates);
            self.motion.rates(system, inertia, formulation, at_x, at_v, &self.gradient, rates)?;
            slopes_x[k].clone_from(&rates.position);
            slopes_v[k].clone_from(&rates.velocity);
        }
        kutta::end(h, x, slopes_x, at_x);
        kutta::end(h, v, slopes_v, at_v);
        std::mem::swap(x, at_x);
        std::mem::swap(v, at_v);
        Ok(())
    }
}
