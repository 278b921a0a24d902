//! The contact problem of one island: posed, and handed to the solver of the settings.

use std::ops::Range;

use super::conflict::Conflict;
use super::constraint::{self, Regime, Target};
use super::couple::Couple;
use super::friction_field::FrictionField;
use super::impulses::Impulses;
use super::island_report::IslandReport;
use super::islands::Island;
use super::joint_constraints::{JointConstraint, JointConstraints};
use super::poisson::Restitution;
use super::rebound;
use super::staggered_projections::StaggeredProjections;
use crate::ad::Real;
use crate::argmin::{
    ContactMethod, ContactSolution, CoupledContact, Law, Mode, RegularizedFriction, Relaxation,
    RowBlock, SmoothedContact, SmoothedSolution, contradiction,
};
use crate::collision::ContactPoint;
use crate::dynamics::FreeMotion;
use crate::model::{ContactSolver, Settings, StaggeredDerivative, System};

/// Residuals of the contact law that a solved problem does not have.
const APPRECIABLE: f64 = 1e-3;

/// What a problem is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A time step.
    Step,
    /// An instant, in which bodies strike each other.
    Impact,
}

/// Memory of one problem at a time.
pub(crate) struct ContactProblem<T: Real> {
    node: CoupledContact,
    decisions: Vec<(Target, Regime)>,
    /// What the blocks behind those of all constraints are.
    couples: Vec<Couple>,
    /// The least change of a velocity that decides otherwise, of each; and the largest normal velocity without impulses,
    /// relative to its target.
    kinks: Vec<f64>,
    scale: f64,
    mu: Vec<T>,
    compliance: Vec<T>,
    inputs: Vec<T>,
    outputs: Vec<T>,
    solution: ContactSolution,
    report: IslandReport,
    workspace: T::Workspace<CoupledContact>,
    /// The passes, and on values where only their result counts.
    staggered: StaggeredProjections<T>,
    values: Values,
    row: Vec<T>,
    solved_rows: [Vec<f64>; 3],
    friction: FrictionField<T>,
    smoothed: Smoothed<T>,
    restitution: Restitution<T>,
}

/// Memory of smoothed problems.
struct Smoothed<T: Real> {
    node: SmoothedContact,
    solution: SmoothedSolution,
    workspace: T::Workspace<SmoothedContact>,
    /// With the bounds of the slip at the end.
    outputs: Vec<T>,
}

/// Memory of passes on values.
#[derive(Default)]
struct Values {
    staggered: StaggeredProjections<f64>,
    inputs: Vec<f64>,
    outputs: Vec<f64>,
}

impl<T: Real> Default for ContactProblem<T> {
    fn default() -> Self {
        ContactProblem {
            node: CoupledContact::default(),
            decisions: Vec::new(),
            couples: Vec::new(),
            kinks: Vec::new(),
            scale: 0.0,
            mu: Vec::new(),
            compliance: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            solution: ContactSolution::default(),
            report: IslandReport::default(),
            workspace: Default::default(),
            staggered: StaggeredProjections::default(),
            values: Values::default(),
            row: Vec::new(),
            solved_rows: Default::default(),
            friction: FrictionField::default(),
            smoothed: Smoothed {
                node: SmoothedContact::default(),
                solution: SmoothedSolution::default(),
                workspace: Default::default(),
                outputs: Vec::new(),
            },
            restitution: Restitution::default(),
        }
    }
}

/// What a problem is made of.
pub(super) struct Posed<'a, T: Real> {
    pub system: &'a System<'a, T>,
    pub motion: &'a FreeMotion<T>,
    pub points: &'a Vec<ContactPoint<T>>,
    pub joints: &'a JointConstraints<T>,
    /// Impulses of the last step, tree by tree.
    pub memory: &'a Vec<Impulses<T>>,
    pub event: Event,
}

impl<T: Real> Posed<'_, T> {
    /// The joint constraint that comes after all points under index `k`.
    fn joint(&self, k: usize) -> Option<&JointConstraint<T>> {
        k.checked_sub(self.points.len()).map(|k| &self.joints.list[k])
    }

    /// Pair and feature under which a constraint is remembered, and by which tree.
    pub fn key(&self, k: usize) -> (usize, usize, usize) {
        let owner = |[first, second]: [Option<usize>; 2]| second.or(first).unwrap_or(0);
        match self.joint(k) {
            Some(joint) => (self.system.model.pair_end() + joint.id, 0, owner(joint.trees)),
            None => {
                let point = &self.points[k];
                (point.pair, point.feature, owner(point.trees(self.motion)))
            }
        }
    }
}

impl<T: Real> ContactProblem<T> {
    /// Solves the problem of an island.
    pub(super) fn solve(&mut self, posed: &Posed<T>, island: &Island) {
        self.pose(posed, island);
        if !self.restitution.is_empty() {
            self.strike(posed, island);
        }
        let mut report = self.solve_posed(posed, island);
        report.report.margin = report.report.margin.min(self.margin());
        let coupled = posed.system.settings.solver.is_exact();
        // What nothing can move is as far from its target as before, in a problem that is solved.
        let stuck = coupled && report.residuals.complementarity > APPRECIABLE;
        if !report.report.status.is_solved() || stuck {
            report.conflict = self.conflict(posed, island);
        }
        if !self.restitution.is_empty() {
            let (_, impulses) = self.outputs.split_at_mut(self.node.rows.velocities());
            self.restitution.add_to(impulses, &mut self.solution.modes, &mut report);
            self.node.data(&self.inputs).lend(impulses);
        }
        self.report = report;
    }

    /// Lets bodies strike each other before the step goes on.
    fn strike(&mut self, posed: &Posed<T>, island: &Island) {
        let ContactProblem { restitution, node, inputs, decisions, .. } = self;
        restitution.clear_trees();
        for &tree in island.trees {
            let factor = restitution.add_tree(posed.motion.tree(tree).velocity);
            posed.motion.push_inertia_factor(posed.system, tree, factor);
        }
        restitution.strike(node, inputs, |block| decisions.get(block).map(|(target, _)| *target));
    }

    /// Whether impacts came before it, so that its inputs are not those of the step alone.
    pub fn follows_impacts(&self) -> bool {
        !self.restitution.is_empty()
    }

    /// How it was solved.
    pub(super) fn report(&self) -> IslandReport {
        self.report
    }

    /// Conditions that nothing meets together.
    fn conflict(&self, posed: &Posed<T>, island: &Island) -> Option<Conflict> {
        let inputs: Vec<f64> = self.inputs.iter().map(|x| x.value()).collect();
        // Couples ask for no velocity.
        let key = |block: usize| Some(posed.key(*island.constraints.get(block)?).0);
        // Guests have no conditions of their own name.
        Conflict::new(contradiction(&self.node.data(&inputs)).into_iter().filter_map(key), None)
    }

    /// The least change of a velocity by which something else would be decided about a constraint that acts, relative
    /// to the largest normal velocity without impulses.
    fn margin(&self) -> f64 {
        let acting = self.kinks.iter().zip(&self.solution.modes);
        let kinks = acting.filter(|(_, mode)| **mode != Mode::Break).map(|(&kink, _)| kink);
        let least = kinks.fold(f64::INFINITY, f64::min);
        if self.scale > 0.0 { least / self.scale } else { f64::INFINITY }
    }

    /// Solves what was posed, with blocks of others after its own, whose impulses start as given: its own as they were in the last step, or
    /// where it is solved `again` in this one.
    pub(super) fn solve_from(
        &mut self,
        posed: &Posed<T>,
        island: &Island,
        (others, again): (impl Iterator<Item = f64>, bool),
    ) {
        self.outputs.clear();
        self.outputs.resize(self.node.output_len(), T::zero());
        let own = self.decisions.len() + self.couples.len();
        self.solution.sharing.clear();
        let rows = self.node.rows.blocks()[..own].last().map_or(0, |block| block.range().end);
        match again && self.solution.impulses.len() >= rows {
            true => self.solution.impulses.truncate(rows),
            false => {
                self.solution.impulses.clear();
                for (k, law) in self.node.laws[..own].iter().enumerate() {
                    let impulse = remembered(posed, island, &self.couples, k).map(|x| x.value());
                    self.solution.impulses.extend_from_slice(&impulse[..law.rows()]);
                }
            }
        }
        self.solution.impulses.extend(others);
        match relaxation(posed.system.settings) {
            Some(relaxation) => _ = self.solve_relaxed(relaxation),
            None => self.call(),
        }
        let ContactSolution { report, residuals, .. } = self.solution;
        self.report = IslandReport { report, residuals, conflict: None };
        self.report.report.margin = report.margin.min(self.margin());
        if !report.status.is_solved() {
            self.report.conflict = self.conflict(posed, island);
        }
    }

    /// Puts a node and its inputs in the place of those there are.
    pub(super) fn exchange(&mut self, node: &mut CoupledContact, inputs: &mut Vec<T>) {
        std::mem::swap(&mut self.node, node);
        std::mem::swap(&mut self.inputs, inputs);
    }

    fn solve_posed(&mut self, posed: &Posed<T>, island: &Island) -> IslandReport {
        self.outputs.clear();
        self.outputs.resize(self.node.output_len(), T::zero());
        let couples = &self.couples;
        let remembered = |k: usize| remembered(posed, island, couples, k);
        self.solution.impulses.clear();
        self.solution.sharing.clear();
        if let ContactSolver::Staggered { n_step, derivative } = posed.system.settings.solver {
            if derivative == StaggeredDerivative::Unrolled {
                let (inputs, outputs) = (&self.inputs, &mut self.outputs);
                let report = self.staggered.solve(&self.node, inputs, n_step, remembered, outputs);
                self.solution.modes.clear();
                self.solution.modes.extend_from_slice(self.staggered.modes());
                return report;
            }
            let Values { staggered, inputs, outputs } = &mut self.values;
            inputs.clear();
            inputs.extend(self.inputs.iter().map(|x| x.value()));
            outputs.clear();
            outputs.resize(self.outputs.len(), 0.0);
            let remembered = |k: usize| remembered(k).map(|x| x.value());
            let report = staggered.solve(&self.node, inputs, n_step, remembered, outputs);
            // The contact law at the impulses of the passes.
            let impulses = &outputs[self.node.rows.velocities()..];
            self.solution.impulses.extend_from_slice(impulses);
            self.node.method = ContactMethod::Given;
            self.call();
            return report;
        }
        for (k, law) in self.node.laws.iter().enumerate() {
            let impulse = remembered(k).map(|x| x.value());
            self.solution.impulses.extend_from_slice(&impulse[..law.rows()]);
        }
        if let Some(relaxation) = relaxation(posed.system.settings) {
            return self.solve_relaxed(relaxation);
        }
        self.recall_sharing(posed, island);
        self.call();
        let ContactSolution { report, residuals, .. } = self.solution;
        IslandReport { report, residuals, conflict: None }
    }

    /// How friction was shared in the last step, where all trees were in one island then, too.
    fn recall_sharing(&mut self, posed: &Posed<T>, island: &Island) {
        let sharing = &mut self.solution.sharing;
        sharing.clear();
        if posed.event == Event::Impact {
            return;
        }
        let of = |tree: usize| &posed.memory[tree].sharing;
        let first = of(island.trees[0]);
        sharing.start_like(first);
        for (place, &tree) in island.trees.iter().enumerate() {
            let known = of(tree);
            let velocities = self.node.rows.tree(place).len();
            if !known.is_like(first) || !(known.unique || known.y.len() == velocities) {
                return sharing.clear();
            }
            sharing.y.extend_from_slice(&known.y);
        }
    }

    /// Hands on to the next step how friction is shared, tree by tree.
    pub(super) fn remember_sharing(&self, island: &Island, memory: &mut [Impulses<T>]) {
        let sharing = &self.solution.sharing;
        for (place, &tree) in island.trees.iter().enumerate() {
            let own = &mut memory[tree].sharing;
            own.start_like(sharing);
            if !sharing.y.is_empty() {
                own.y.extend_from_slice(&sharing.y[self.node.rows.tree(place)]);
            }
        }
    }

    /// The same problem with its conditions smoothed, or by penalty.
    fn solve_relaxed(&mut self, relaxation: Relaxation) -> IslandReport {
        let Smoothed { node, solution, workspace, outputs } = &mut self.smoothed;
        node.rows.clone_from(&self.node.rows);
        node.laws.clone_from(&self.node.laws);
        (node.tolerance, node.relaxation) = (self.node.tolerance, relaxation);
        node.rest.clone_from(&self.node.rest);
        solution.guess.clone_from(&self.solution.impulses);
        outputs.clear();
        outputs.resize(node.output_len(), T::zero());
        T::call(node, &self.inputs, outputs, solution, workspace);
        let shared = self.outputs.len();
        self.outputs.copy_from_slice(&outputs[..shared]);
        self.solution.modes.clone_from(&solution.modes);
        self.solution.impulses.clear();
        let impulses = &self.outputs[self.node.rows.velocities()..];
        self.solution.impulses.extend(impulses.iter().map(|x| x.value()));
        (self.solution.report, self.solution.residuals) = (solution.report, Default::default());
        IslandReport { report: solution.report, ..IslandReport::default() }
    }

    fn call(&mut self) {
        let ContactProblem { node, inputs, outputs, solution, workspace, .. } = self;
        T::call(node, inputs, outputs, solution, workspace);
    }

    /// The problem: the node, its inputs and outputs, and what its solver decided.
    pub fn solved(&self) -> (&CoupledContact, &[T], &[T], &ContactSolution) {
        (&self.node, &self.inputs, &self.outputs, &self.solution)
    }

    /// Where it is smoothed, or by penalty, the node that was solved instead, and its outputs.
    pub fn smoothed(&self) -> (&SmoothedContact, &SmoothedSolution, &[T]) {
        (&self.smoothed.node, &self.smoothed.solution, &self.smoothed.outputs)
    }

    /// Copies the problem and its solution, but not what its solver left.
    pub(super) fn keep(&mut self, other: &ContactProblem<T>) {
        self.node.clone_from(&other.node);
        self.decisions.clone_from(&other.decisions);
        self.couples.clone_from(&other.couples);
        self.inputs.clone_from(&other.inputs);
        self.outputs.clone_from(&other.outputs);
        self.restitution.keep(&other.restitution);
        self.solution.clone_from(&other.solution);
        if other.smoothed.outputs.is_empty() {
            return;
        }
        let Smoothed { node, solution, outputs, .. } = &mut self.smoothed;
        node.clone_from(&other.smoothed.node);
        solution.clone_from(&other.smoothed.solution);
        outputs.clone_from(&other.smoothed.outputs);
    }

    /// What its solver left.
    pub fn workspace(&self) -> &T::Workspace<CoupledContact> {
        &self.workspace
    }

    /// Velocities of the trees of the island, and impulses of its constraints.
    pub fn outputs(&self) -> (&[T], &[T]) {
        self.outputs.split_at(self.node.rows.velocities())
    }

    /// The impulses of the `k`-th constraint of the island, zeros where it has fewer than three.
    pub fn impulse(&self, k: usize) -> [T; 3] {
        let (_, impulses) = self.outputs();
        let block = &self.node.rows.blocks()[k];
        let mut impulse = [T::zero(); 3];
        impulse[..block.rows].copy_from_slice(&impulses[block.first..block.first + block.rows]);
        impulse
    }

    /// The couples of contacts: each with its mode and its impulses.
    pub(super) fn couples(&self) -> impl Iterator<Item = (&Couple, Mode, [T; 3])> {
        let first = self.decisions.len();
        let all = self.couples.iter().enumerate();
        all.map(move |(k, couple)| {
            (couple, self.solution.modes[first + k], self.impulse(first + k))
        })
    }

    /// What was decided about a constraint.
    pub fn decisions(&self, k: usize) -> (Mode, Target, Regime) {
        let (target, regime) = self.decisions[k];
        (self.solution.modes[k], target, regime)
    }

    /// Whether the same was decided about all constraints before they were solved.
    pub(super) fn is_decided_like(&self, other: &ContactProblem<f64>) -> bool {
        self.decisions == other.decisions
    }

    /// Fills `node` and `inputs`.
    pub(super) fn pose(&mut self, posed: &Posed<T>, island: &Island) {
        let Posed { system, motion, points, joints, event, .. } = *posed;
        let node = &mut self.node;
        node.clear();
        node.tolerance = system.settings.tolerance;
        node.method = match system.settings.solver {
            ContactSolver::GaussSeidel => ContactMethod::GaussSeidel,
            _ => ContactMethod::Newton,
        };
        node.keep = T::ORDER == 0 && system.settings.keep_impulses;
        let law = match system.settings.solver {
            ContactSolver::ConvexRelaxation => Law::Relaxed,
            ContactSolver::Pyramid => Law::Pyramid,
            ContactSolver::ConvexPyramid => Law::RelaxedPyramid,
            _ => Law::Coulomb,
        };
        for &tree in island.trees {
            node.rows.add_tree(motion.tree(tree).velocity.len());
        }
        self.inputs.clear();
        self.mu.clear();
        self.compliance.clear();
        self.decisions.clear();
        self.kinks.clear();
        self.scale = 0.0;
        self.restitution.clear();
        let mut frames = constraint::Frames::default();
        for &k in island.constraints {
            let joint = posed.joint(k);
            let [first, second] = match joint {
                Some(joint) => joint.trees,
                None => points[k].trees(motion),
            };
            let sides = [first.or(second), second.or(first)];
            let places = sides.map(|tree| tree.map_or(0, |tree| island.place(tree)));
            match joint {
                Some(joint) => {
                    node.add(joint.law, places);
                    self.inputs.extend_from_slice(joints.row(joint));
                }
                None => {
                    node.add(law, places);
                    constraint::rows(system, motion, &points[k], &mut frames, &mut self.inputs);
                }
            }
        }
        self.couples.clear();
        let has_couples = Couple::are_in(system.model);
        for (block, &k) in island.constraints.iter().enumerate().filter(|_| has_couples) {
            let Some(point) = points.get(k) else { continue };
            self.couples.extend(Couple::all(system, point, block));
        }
        for couple in &self.couples {
            let point = &points[island.constraints[couple.of]];
            node.add_couple(couple.of);
            couple.rows(motion, point, &mut self.inputs);
        }
        let answers = island.trees.iter().any(|&tree| !motion.tree(tree).rest.is_empty());
        for &tree in island.trees {
            let own = motion.tree(tree);
            self.inputs.extend_from_slice(own.mass_factor);
            if answers {
                node.rest.extend_from_slice(own.rest);
                // Of what is prescribed nothing.
                node.rest.resize(node.rest.len() + own.mass_factor.len() - own.rest.len(), 0.0);
            }
        }
        let free = self.inputs.len();
        for &tree in island.trees {
            self.inputs.extend_from_slice(motion.tree(tree).free_velocity);
        }
        let free = free..self.inputs.len();
        for (place, (&k, block)) in island.constraints.iter().zip(node.rows.blocks()).enumerate() {
            if let Some(joint) = posed.joint(k) {
                self.inputs.push(joint.target);
                self.mu.push(joint.limit);
                // Joints stop where their limits are; equalities may yield.
                self.compliance.push(joint.compliance);
                self.decisions.push((joint.decided_by, Regime::default()));
                self.kinks.push(joint.kink);
                self.scale = self.scale.max(speed(block, &self.inputs, free.clone(), joint.target));
                continue;
            }
            let point = &points[k];
            let field = self.friction.factor(system, motion, point);
            let normal = block.row(&self.inputs, 0);
            let (target, kind, kink) = match event {
                Event::Step => {
                    let rows = [0, 1, 2].map(|r| block.row(&self.inputs, r));
                    constraint::target(system, motion, point, rows, &mut self.solved_rows, field)
                }
                Event::Impact => constraint::rebound(system, motion, point, normal),
            };
            let compliance = constraint::compliance(system, motion, point, normal, &mut self.row);
            if kind == Target::Compression {
                let part = rebound::returned_part(system, motion, point, normal);
                self.restitution.add(place, part);
            }
            let tangents = [1, 2].map(|r| block.row(&self.inputs, r));
            let (mu, regime, friction_kink) =
                constraint::friction(system, motion, point, tangents, field);
            self.inputs.push(target);
            self.mu.push(mu);
            self.compliance.push(compliance);
            self.decisions.push((kind, regime));
            self.kinks.push(kink.min(friction_kink));
            self.scale = self.scale.max(speed(block, &self.inputs, free.clone(), target));
        }
        for couple in &self.couples {
            let pair = points[island.constraints[couple.of]].pair;
            self.inputs.push(T::zero());
            self.mu.push(couple.limit(system, pair, self.mu[couple.of]));
            self.compliance.push(self.compliance[couple.of]);
        }
        self.inputs.extend_from_slice(&self.mu);
        self.inputs.extend_from_slice(&self.compliance);
        if system.settings.solver.is_penalty() {
            let creep = |&k: &usize| match points.get(k).filter(|_| posed.joint(k).is_none()) {
                Some(point) => constraint::creep(system, motion, point),
                None => T::zero(),
            };
            self.inputs.extend(island.constraints.iter().map(creep));
            self.inputs.extend(self.couples.iter().map(|_| T::zero()));
        }
    }
}

/// What takes the place of the contact law, by the settings.
fn relaxation(settings: &Settings) -> Option<Relaxation> {
    match settings.solver {
        ContactSolver::PenaltyLinear => Some(Relaxation::Penalty(RegularizedFriction::Linear)),
        ContactSolver::PenaltyTanh => Some(Relaxation::Penalty(RegularizedFriction::Tanh)),
        ContactSolver::Coupled if settings.smoothing > 0.0 => {
            Some(Relaxation::Product(settings.smoothing))
        }
        _ => None,
    }
}

/// The impulse of a block in the last step.
fn remembered<T: Real>(posed: &Posed<T>, island: &Island, couples: &[Couple], k: usize) -> [T; 3] {
    if posed.event == Event::Impact {
        return [T::zero(); 3];
    }
    let couple = k.checked_sub(island.constraints.len()).map(|k| couples[k]);
    let of = couple.map_or(k, |couple| couple.of);
    let (pair, feature, tree) = posed.key(island.constraints[of]);
    let feature = couple.map_or(feature, |couple| couple.kind.feature(feature));
    posed.memory[tree].of(pair, feature)
}

/// How far the velocity along the first row of a block is from its target without impulses; `free` is where velocities
/// are among the inputs.
fn speed<T: Real>(block: &RowBlock, inputs: &[T], free: Range<usize>, target: T) -> f64 {
    let (row, free) = (block.row(inputs, 0), &inputs[free]);
    let mut sum = -target.value();
    for (columns, part) in block.segments() {
        let terms = row[part].iter().zip(&free[columns]);
        sum += terms.map(|(r, v)| r.value() * v.value()).sum::<f64>();
    }
    sum.abs()
}
