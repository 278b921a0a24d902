//! The contacts of one body over a step: poses the problem, has it solved, keeps the impulses.
//!
//! Bodies touch half-spaces only, so each is an island of its own.

use super::constraint::{self, Target};
use super::coupled::Coupled;
use super::staggered_projections::StaggeredProjections;
use crate::ad::Real;
use crate::argmin::{Mode, Report};
use crate::collision::{ContactPoint, contact_points};
use crate::dynamics::FreeBody;
use crate::model::{ContactSolver, System};
use crate::state::NV;

/// A contact at the end of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactRecord {
    /// The contact pair, an index into [`Model::pairs`](crate::model::Model::pairs).
    pub pair: usize,
    /// The point of the body, see [`ContactPoint::feature`].
    pub feature: usize,
    /// Gap at the start of the step, m.
    pub gap: f64,
    /// Impulse in the contact frame [normal, tangent 1, tangent 2], N s, on the body.
    pub impulse: [f64; 3],
    /// What the contact did.
    pub mode: Mode,
    /// What decided its normal velocity.
    pub target: Target,
}

/// Contact impulses of the last step, part of what a step is a function of: the warm start of the
/// coupled solver, the first friction of the staggered one.
#[derive(Clone, Debug, Default)]
pub struct Impulses<T> {
    known: Vec<(usize, usize, [T; 3])>,
}

impl<T: Real> Impulses<T> {
    /// The impulse of a point in the last step; zero if it was not in contact.
    pub fn of(&self, point: &ContactPoint<T>) -> [T; 3] {
        self.known
            .iter()
            .find(|(pair, feature, _)| (*pair, *feature) == (point.pair, point.feature))
            .map_or([T::zero(); 3], |&(_, _, impulse)| impulse)
    }

    pub(super) fn set(&mut self, points: &[ContactPoint<T>], lambda: &[T]) {
        self.clear();
        for (point, x) in points.iter().zip(lambda.chunks_exact(3)) {
            self.remember(point.pair, point.feature, [x[0], x[1], x[2]]);
        }
    }

    /// Pair, feature and impulse of every point that was in contact.
    pub fn known(&self) -> &[(usize, usize, [T; 3])] {
        &self.known
    }

    /// Adds a point, if there is something to remember of it.
    pub fn remember(&mut self, pair: usize, feature: usize, impulse: [T; 3]) {
        if impulse[0].value() != 0.0 {
            self.known.push((pair, feature, impulse));
        }
    }

    /// Forgets them, and keeps the memory.
    pub fn clear(&mut self) {
        self.known.clear();
    }

    /// The values, without derivatives.
    pub fn value(&self) -> Impulses<f64> {
        let known = self.known.iter().map(|&(p, f, x)| (p, f, x.map(|x| x.value()))).collect();
        Impulses { known }
    }
}

impl Impulses<f64> {
    /// The same impulses as constants of another scalar.
    pub fn cast<T: Real>(&self) -> Impulses<T> {
        Impulses { known: self.known.iter().map(|&(p, f, x)| (p, f, x.map(T::constant))).collect() }
    }
}

/// Scratch memory for the contacts of one body.
pub struct BodyContacts<T: Real> {
    points: Vec<ContactPoint<T>>,
    targets: Vec<Target>,
    modes: Vec<Mode>,
    inputs: Vec<T>,
    outputs: Vec<T>,
    coupled: Coupled<T>,
    staggered: StaggeredProjections<T>,
    /// What each contact of the last step did.
    pub records: Vec<ContactRecord>,
}

impl<T: Real> Default for BodyContacts<T> {
    fn default() -> Self {
        BodyContacts {
            points: Vec::new(),
            targets: Vec::new(),
            modes: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            coupled: Coupled::default(),
            staggered: StaggeredProjections::default(),
            records: Vec::new(),
        }
    }
}

impl<T: Real> BodyContacts<T> {
    /// The velocity of `body` at the end of the step, and how its contact problem was solved.
    pub fn resolve(
        &mut self,
        system: &System<T>,
        free: &FreeBody<T>,
        body: usize,
        impulses: &mut Impulses<T>,
    ) -> ([T; NV], Report) {
        self.records.clear();
        let mut contacts = contact_points(system, free, body, &mut self.points);
        if contacts == 0 {
            impulses.set(&[], &[]);
            let margin = f64::INFINITY;
            return (free.free_velocity, Report { margin, ..Report::default() });
        }
        let mut report = self.solve(system, free, contacts, impulses);
        let escapes = |point: &ContactPoint<T>| point.escapes(system, free, &self.outputs[..NV]);
        if self.points[contacts..].iter().any(escapes) {
            contacts = self.points.len();
            let iterations = report.iterations;
            report = self.solve(system, free, contacts, impulses);
            report.iterations += iterations;
        }
        let points = &self.points[..contacts];
        let (velocity, lambda) = self.outputs.split_at(NV);
        impulses.set(points, lambda);
        for (i, point) in points.iter().enumerate() {
            self.records.push(ContactRecord {
                pair: point.pair,
                feature: point.feature,
                gap: point.gap.value(),
                impulse: std::array::from_fn(|r| lambda[3 * i + r].value()),
                mode: self.modes[i],
                target: self.targets[i],
            });
        }
        (std::array::from_fn(|k| velocity[k]), report)
    }

    /// Solves the problem of the first `contacts` points into `outputs` and `modes`.
    fn solve(
        &mut self,
        system: &System<T>,
        free: &FreeBody<T>,
        contacts: usize,
        impulses: &Impulses<T>,
    ) -> Report {
        self.pose(system, free, contacts);
        self.outputs.clear();
        self.outputs.resize(NV + 3 * contacts, T::zero());
        let points = &self.points[..contacts];
        let (inputs, outputs) = (&self.inputs, &mut self.outputs);
        let tolerance = system.settings.tolerance;
        let (report, modes) = match system.settings.solver {
            ContactSolver::Coupled => {
                self.coupled.solve(points, inputs, tolerance, impulses, outputs)
            }
            ContactSolver::Staggered { n_step } => {
                self.staggered.solve(points, inputs, (n_step, tolerance), impulses, outputs)
            }
        };
        self.modes.clear();
        self.modes.extend_from_slice(modes);
        report
    }

    /// Fills `inputs` as [`CoupledContact`](crate::argmin::CoupledContact) takes them, with the first
    /// `contacts` points.
    fn pose(&mut self, system: &System<T>, free: &FreeBody<T>, contacts: usize) {
        let System { model, parameters, settings } = *system;
        let inputs = &mut self.inputs;
        inputs.clear();
        self.targets.clear();
        let points = &self.points[..contacts];
        for point in points {
            constraint::rows(model, free, point, inputs);
        }
        inputs.extend(free.mass_factor);
        inputs.extend(free.free_velocity);
        let row =
            |inputs: &[T], i: usize| -> [T; NV] { std::array::from_fn(|k| inputs[3 * NV * i + k]) };
        for (i, point) in points.iter().enumerate() {
            let e = parameters.restitution(model, point.pair);
            let (target, kind) = constraint::target(system, free, e, point, &row(inputs, i));
            inputs.push(target);
            self.targets.push(kind);
        }
        inputs.extend(points.iter().map(|point| parameters.mu(model, point.pair)));
        for i in 0..contacts {
            let compliance = constraint::compliance(settings, free, &row(inputs, i));
            inputs.push(compliance);
        }
    }
}
