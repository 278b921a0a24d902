//! The memory that a step works in, which tells afterwards what it did.

use nalgebra::Vector3;

use super::closure::Closure;
use super::impacts::Impacts;
use super::implicit_step::ImplicitStep;
use super::known_step::KnownStep;
use super::splits::Splits;
use super::step_memory::StepMemory;
use super::step_report::StepReport;
use crate::ad::Real;
use crate::argmin::Mode;
use crate::contact::{ContactRecord, Contacts, Decisions, JointRecord};
use crate::dynamics::{FreeMotion, ImplicitTangent};
use crate::model::{Model, Settings, System};
use crate::state::State;

/// Scratch memory of a step. Results do not depend on what it held before.
pub struct Workspace<T: Real> {
    pub(super) motion: FreeMotion<T>,
    pub(super) contacts: Contacts<T>,
    pub(super) impacts: Impacts<T>,
    pub(super) closure: Closure<T>,
    pub(super) implicit: ImplicitStep<T>,
}

impl<T: Real> Default for Workspace<T> {
    fn default() -> Self {
        Workspace {
            motion: FreeMotion::default(),
            contacts: Contacts::default(),
            impacts: Impacts::default(),
            closure: Closure::default(),
            implicit: ImplicitStep::default(),
        }
    }
}

impl Workspace<f64> {
    /// The last step.
    pub(crate) fn known(&self) -> KnownStep<'_> {
        let Workspace { motion, contacts, impacts, implicit, .. } = self;
        let tangent = implicit.tangent();
        KnownStep { motion, contacts, tangent, splits: &impacts.splits, impacts: &impacts.records }
    }
}

impl<T: Real> Workspace<T> {
    /// Has steps on `f64` solve the contact problems of groups of bodies that do not touch each other (islands) on as many
    /// threads, where there is enough for each to do. The results have the same bits. A step then allocates what threads
    /// take. Steps with derivatives go on one thread.
    pub fn use_threads(&mut self, threads: usize) {
        self.contacts.threads = threads;
    }

    /// The contacts of the last step; first the impacts it was split at.
    pub fn contacts(&self) -> impl Iterator<Item = &ContactRecord> {
        self.impacts.records.iter().chain(&self.contacts.records)
    }

    /// The impulses of the contacts of the last step on the second solid of each pair, in the world, N s, with their derivatives;
    /// first those of the impacts it was split at.
    pub fn contact_impulses(
        &self,
        system: &System<T>,
    ) -> impl Iterator<Item = (usize, Vector3<T>)> {
        let own = self.contacts.world_impulses(system, &self.motion);
        self.impacts.impulses.iter().copied().chain(own)
    }

    /// Of an implicit step what it started from, (q̄, v̄), and a (s).
    pub(crate) fn implicit_start(&self, settings: &Settings) -> Option<(&State<T>, f64)> {
        let own = &self.implicit;
        settings.integrator.is_backward().then_some((&own.start, own.rate))
    }

    /// What limits and dry friction did to a velocity in the last step, N s or N m s, with derivatives.
    pub(crate) fn joint_impulse(&self, model: &Model, velocity: usize) -> T {
        self.contacts.joint_impulse(model, velocity)
    }

    /// The free motion and the constraints of the last step, for its derivatives.
    pub(crate) fn parts(&self) -> (&FreeMotion<T>, &Contacts<T>) {
        (&self.motion, &self.contacts)
    }

    /// Poses the contact problems of a step that was solved on values; what comes before them, the impacts at
    /// which it was split, is made again, at the times that are known. False if what the scalar finds
    /// is not what was found there.
    #[must_use]
    pub(crate) fn pose(
        &mut self,
        system: &System<T>,
        (state, memory): (&State<T>, &StepMemory<T>),
        inputs: &[T],
        known: KnownStep,
    ) -> bool {
        if system.settings.integrator.is_backward() {
            let Workspace { motion, contacts, implicit, .. } = self;
            let Some(tangent) = known.tangent else { return false };
            implicit.pose(system, (state, memory), inputs, motion, tangent);
            motion.hasten_like(known.motion);
            return contacts.pose(system, &implicit.start, motion, known.contacts);
        }
        self.before_contacts(system, state, inputs, known.splits);
        let Workspace { motion, contacts, impacts, .. } = self;
        let struck = impacts.records.iter().map(struck);
        if !struck.eq(known.impacts.iter().map(self::struck)) {
            return false;
        }
        motion.hasten_like(known.motion);
        contacts.pose(system, state, motion, known.contacts)
    }

    /// The motion without contact of a step that was split on values where `known` says.
    pub(crate) fn before_contacts(
        &mut self,
        system: &System<T>,
        state: &State<T>,
        inputs: &[T],
        known: &Splits,
    ) {
        let Workspace { motion, impacts, .. } = self;
        motion.start(system, state, inputs, T::constant(system.settings.time_step));
        impacts.clear();
        if !known.trees.is_empty() {
            impacts.split(system, state, motion, Some(known));
        }
    }

    /// What a split step adds to the velocities of a tree at its end, if that ends in flight.
    pub(crate) fn taken_back(&self, tree: usize) -> [T; 3] {
        let mut velocities = [T::zero(); 3];
        self.impacts.take_back(tree, &mut velocities);
        velocities
    }

    /// Where Newton's method on the momenta of the last implicit step ended.
    pub(super) fn tangent(&self) -> Option<&ImplicitTangent> {
        self.implicit.tangent()
    }

    /// Where the last step was split at impacts.
    pub(super) fn splits(&self) -> &Splits {
        &self.impacts.splits
    }

    /// The velocities of all trees at the end of the step, in the coordinates of its contact problems.
    pub(crate) fn velocities_mut(&mut self) -> &mut [T] {
        &mut self.contacts.velocities
    }

    /// The state at the end of the step that was solved on values, from the velocities there; `next` is
    /// that at its start. False if a rotation is not found.
    #[must_use]
    pub(crate) fn advance(
        &mut self,
        system: &System<T>,
        known: KnownStep,
        next: &mut State<T>,
    ) -> bool {
        let Workspace { motion, contacts, impacts, closure, implicit } = self;
        let model = system.model;
        if system.settings.integrator.is_backward() {
            next.clone_from(&implicit.start);
        }
        let at_values = (known.motion, known.contacts);
        let found = advance_trees(model, (motion, &contacts.velocities), at_values, next);
        for &(tree, _) in &impacts.back {
            if is_untouched(model, known.motion, known.contacts, tree) {
                impacts.take_back(tree, &mut next.v[model.trees[tree].v.clone()]);
            }
        }
        if model.has_loops() {
            // Loops that stay open are reported by the step that was solved.
            let _open = closure.close(system, next, &mut StepReport::default());
        }
        found
    }

    /// Whether the last step was split at an impact, so that it is more than its one contact problem.
    pub(crate) fn was_split(&self) -> bool {
        !self.impacts.records.is_empty()
    }

    /// What limits, dry friction and closed loops did in the last step.
    pub fn joints(&self) -> &[JointRecord] {
        &self.contacts.joint_records
    }

    /// What the touching contacts of the last step did: pair, feature, mode, what decided the target and
    /// the coefficient of friction. Two states between which this differs are separated by a kink of
    /// the step.
    /// The conditions of joints follow, as pairs from [`usize::MAX`] down.
    pub fn modes(&self) -> impl Iterator<Item = (usize, usize, Mode, Decisions)> {
        let contacts = self.contacts().filter(|contact| contact.mode != Mode::Break);
        let contacts = contacts.flat_map(|contact| {
            let (pair, feature) = (contact.pair, contact.feature);
            let couples = contact.couples.iter().flatten().map(move |couple| {
                (pair, couple.kind.feature(feature), couple.mode, Default::default())
            });
            let own = (pair, feature, contact.mode, (contact.target, contact.regime));
            std::iter::once(own).chain(couples)
        });
        let joints = self.joints().iter().filter(|joint| joint.mode != Mode::Break);
        contacts.chain(joints.map(|joint| {
            (usize::MAX - joint.id, 0, joint.mode, (joint.target, Default::default()))
        }))
    }

    /// What the velocities of the last step are known to where friction is at its limit and holds, m/s and rad/s: what
    /// slips so slowly that it counts as none does as it likes. Zero where nothing is held so.
    pub fn slip_resolution(&self) -> f64 {
        let slips = self.contacts.solved().map(|(_, problem)| problem.solved().3.held_slip);
        let slip = slips.fold(0.0, f64::max);
        let held = |contact: &&ContactRecord| {
            let couples = || contact.couples.iter().flatten();
            contact.mode == Mode::Clamp && contact.impulse[1..] != [0.0; 2]
                || couples().any(|couple| couple.mode == Mode::Clamp)
        };
        // Of a body that holds at several points some may slip for others, by which it turns.
        let turns = |contact: &ContactRecord| {
            let longest = contact.arms.iter().map(|arm| arm.norm()).fold(0.0, f64::max);
            if longest > 0.0 { 1.0_f64.max(1.0 / longest) } else { 1.0 }
        };
        slip * self.contacts().filter(held).map(turns).fold(0.0, f64::max)
    }

    /// Of each island whose contacts share their impulses in more than one way, how many of the conditions they
    /// share are independent. States between which this differs are separated by a kink, too.
    pub fn independent(&self) -> impl Iterator<Item = usize> {
        self.contacts.solved().filter_map(|(_, problem)| problem.solved().3.independent)
    }
}

/// What an impact was.
fn struck(record: &ContactRecord) -> (usize, usize, Mode) {
    (record.pair, record.feature, record.mode)
}

/// Moves all trees of `next` over the step of `motion` with these velocities, as where `solved` was found on values:
/// loops are left open. False if a rotation is not found.
pub(super) fn advance_trees<T: Real>(
    model: &Model,
    (motion, velocities): (&FreeMotion<T>, &[T]),
    (free, contacts): (&FreeMotion<f64>, &Contacts<f64>),
    next: &mut State<T>,
) -> bool {
    let mut found = true;
    for (tree, entry) in model.trees.iter().enumerate() {
        let untouched = is_untouched(model, free, contacts, tree);
        found &= motion.advance(model, tree, &velocities[entry.v.clone()], untouched, next);
    }
    found
}

/// Whether nothing acted on a tree in the step but its own forces.
pub(super) fn is_untouched<T: Real>(
    model: &Model,
    motion: &FreeMotion<T>,
    contacts: &Contacts<T>,
    tree: usize,
) -> bool {
    let velocity = &contacts.velocities[model.trees[tree].v.clone()];
    let free = motion.tree(tree).free_velocity;
    velocity.iter().zip(free).all(|(a, b)| a.value() == b.value())
}
