//! Steps by backward differentiation formulas: momenta and contacts at the end of a step, both at once.
//!
//! A contact problem takes momenta that are linear in the velocities v+. So Newton's method on the [momentum](crate::dynamics) R of
//! trees of joints poses, in each iteration, the problem of the step with R linearised where it stands: with G = dR/dv+, what nothing
//! touches goes at v - G^-1 R, and what touches has the symmetric part of G for its mass, as impulses act through that alone. The
//! contacts are met in each iteration; what converges is R = J' lambda.
//!
//! All of that is on values. The solution is then posed once in the scalar of the step (as often as that differentiates), where the
//! problem has what the symmetric part of G misses as its [rest](crate::argmin::CoupledContact::rest): derivatives are those of R =
//! J' lambda and the conditions of all contacts together.

use super::anderson_mixing::AndersonMixing;
use super::step_memory::{SMOOTH, StepMemory};
use crate::ad::Real;
use crate::argmin::{Report, Status};
use crate::contact::Contacts;
use crate::dynamics::{FreeMotion, ImplicitMatrix, ImplicitMomentum, ImplicitTangent};
use crate::linalg::{dot, solve_lower, times_lower_transpose};
use crate::model::{Integrator, Model, Parameters, Settings, System};
use crate::state::State;

/// Iterations of Newton's method, at most.
const MOST_ITERATIONS: usize = 60;
/// Halvings of one step of it, at most.
const MOST_HALVINGS: usize = 12;
/// A residual that counts as none: a part of what counts as solved, so that derivatives by differences are not of what is left.
const NONE: f64 = 1e-13;
/// A part of q / a to which velocities count: at a residual of 1e-10 five units of the last digit of q.
const KNOWN_PLACES: f64 = 1e-5;
/// A part of a tau to which momenta count, likewise.
const KNOWN_FORCES: f64 = 1e-3;

/// Memory of implicit steps.
pub(super) struct ImplicitStep<T: Real> {
    momentum: ImplicitMomentum<T>,
    velocity: Vec<T>,
    /// (q̄, v̄) and a, s.
    pub start: State<T>,
    pub rate: f64,
    change: Vec<T>,
    /// Pair and feature of what touched in the step before.
    touching: Vec<(usize, usize)>,
    values: Option<Box<Values>>,
}

/// The step on values.
#[derive(Default)]
struct Values {
    parameters: Parameters<f64>,
    state: State<f64>,
    inputs: Vec<f64>,
    memory: StepMemory<f64>,
    motion: FreeMotion<f64>,
    contacts: Contacts<f64>,
    search: Search,
}

/// Newton's method.
#[derive(Default)]
pub(super) struct Search {
    momentum: ImplicitMomentum<f64>,
    tangent: ImplicitTangent,
    matrix: ImplicitMatrix,
    /// J' lambda of all trees, as it was found last, and what it was before; and so velocities.
    impulses: Vec<f64>,
    before: [Vec<f64>; 2],
    scratch: [Vec<f64>; 2],
    mixing: AndersonMixing,
    touched: Vec<bool>,
    /// How it goes, and the residual of the iteration before.
    pub report: Report,
    last: f64,
    halvings: usize,
    /// What a step of it is to lessen, and that before it.
    merit: f64,
    least: f64,
}

/// What Newton's method goes on with.
enum Next {
    /// An iteration.
    Iterate,
    /// The last one half.
    Halve,
    /// Nothing: it has ended.
    End,
}

impl<T: Real> Default for ImplicitStep<T> {
    fn default() -> Self {
        ImplicitStep {
            momentum: ImplicitMomentum::default(),
            velocity: Vec::new(),
            start: State::default(),
            rate: 0.0,
            change: Vec::new(),
            touching: Vec::new(),
            values: None,
        }
    }
}

impl ImplicitStep<f64> {
    /// The start of a step on values (q̄, v̄), a, and Newton's method, for who solves contact problems with others.
    pub fn hosted(
        &mut self,
        system: &System<f64>,
        state: &State<f64>,
        inputs: &[f64],
        memory: &StepMemory<f64>,
    ) -> (&State<f64>, f64, &mut Search) {
        self.begin(system, state, inputs, memory);
        let values = self.values.get_or_insert_default();
        (&self.start, self.rate, &mut values.search)
    }
}

impl<T: Real> ImplicitStep<T> {
    /// Begins a step: finds what it starts from, and a.
    fn begin(
        &mut self,
        system: &System<T>,
        state: &State<T>,
        inputs: &[T],
        memory: &StepMemory<T>,
    ) {
        let System { model, settings, .. } = *system;
        self.start.clone_from(state);
        self.rate = settings.time_step;
        let past = &memory.past;
        // The first step of BDF2 is one of BDF1, which keeps its order.
        if settings.integrator == Integrator::Bdf1 || !memory.has_past(model) {
            return;
        }
        self.rate *= 2.0 / 3.0;
        // x + (x - x_old) / 3
        state.difference_into(model.coordinates(), past, &mut self.change);
        self.change.iter_mut().for_each(|x| *x = *x * (1.0 / 3.0));
        // What is led goes as it is told over the whole step.
        let ahead = settings.time_step - self.rate;
        for tree in (0..model.trees.len()).filter(|&tree| model.is_prescribed_tree(tree)) {
            for k in model.trees[tree].v.clone() {
                self.change[k] = inputs[k] * ahead;
            }
        }
        self.start.advance(model.coordinates(), &self.change);
    }

    /// Solves a step from `state`: leaves the motion that it comes to in `motion` and its contacts in `contacts`. Says how Newton's
    /// method ended.
    pub fn solve(
        &mut self,
        system: &System<T>,
        state: &State<T>,
        inputs: &[T],
        memory: &mut StepMemory<T>,
        (motion, contacts): (&mut FreeMotion<T>, &mut Contacts<T>),
    ) -> Report {
        let System { model, parameters, settings } = *system;
        self.begin(system, state, inputs, memory);
        self.touching.clear();
        self.touching.extend(memory.touching());
        self.touching.sort_unstable();
        let before = state;
        let (state, rate) = (&self.start, self.rate);
        let values = self.values.get_or_insert_default();
        values_of(&parameters.values, &mut values.parameters.values);
        values_of(&state.q, &mut values.state.q);
        values_of(&state.v, &mut values.state.v);
        values_of(inputs, &mut values.inputs);
        memory.value_into(&mut values.memory);
        values.contacts.threads = contacts.threads;
        let mut report = values.solve(model, settings, rate);
        let step = (state, inputs, T::constant(rate));
        motion.start(system, state, inputs, T::constant(rate));
        contacts.find(system, state, motion);
        // Where solvers start from has no derivatives; the state before has.
        values.memory.cast_impulses_into(memory);
        take_velocity(model, &values.search.tangent.velocity, inputs, &mut self.velocity);
        let (mut passes, mut marked) = (0, false);
        while passes < T::ORDER.max(1) {
            self.momentum.update(system, step, &self.velocity);
            let at = (&self.velocity[..], self.momentum.residual());
            motion.follow(model, &values.search.tangent, at);
            contacts.settle(system, motion, &mut memory.trees);
            passes += 1;
            // What only came near on the way is not in the contact problems now, or the other way round: once more, with G as it is now.
            if values.search.mark(motion.trees(), contacts) && !marked {
                if !values.search.factor(model) {
                    report.status = Status::Stalled;
                }
                (passes, marked) = (0, true);
            } else {
                self.velocity.clone_from(&contacts.velocities);
            }
        }
        memory.past.q.clear();
        memory.past.v.clear();
        // Where velocities jump, what they were before says nothing of what they will be: the next steps are those of BDF1.
        let known = |key: (usize, usize)| self.touching.binary_search(&key).is_ok();
        let struck = contacts.has_struck(system, known);
        memory.smooth = if struck { 0 } else { (memory.smooth + 1).min(SMOOTH) };
        if settings.integrator == Integrator::Bdf2 && memory.smooth == SMOOTH {
            memory.past.clone_from(before);
        }
        report
    }

    /// Where Newton's method ended, if there was a step.
    pub fn tangent(&self) -> Option<&ImplicitTangent> {
        self.values.as_ref().map(|values| &values.search.tangent)
    }

    /// Poses the momenta of a step that was solved on values, where Newton's method ended with `tangent`, as far as first derivatives
    /// go.
    pub fn pose(
        &mut self,
        system: &System<T>,
        (state, memory): (&State<T>, &StepMemory<T>),
        inputs: &[T],
        motion: &mut FreeMotion<T>,
        tangent: &ImplicitTangent,
    ) {
        take_velocity(system.model, &tangent.velocity, inputs, &mut self.velocity);
        self.begin(system, state, inputs, memory);
        let step = (&self.start, inputs, T::constant(self.rate));
        motion.start(system, &self.start, inputs, T::constant(self.rate));
        self.momentum.update(system, step, &self.velocity);
        let at = (&self.velocity[..], self.momentum.residual());
        motion.follow(system.model, tangent, at);
    }
}

impl Values {
    fn solve(&mut self, model: &Model, settings: &Settings, rate: f64) -> Report {
        let Values { parameters, state, inputs, memory, motion, contacts, search } = self;
        // Which of all impulses that do is chosen at the end.
        let settings = &Settings { keep_impulses: true, ..*settings };
        let system = System { model, parameters, settings };
        motion.start(&system, state, inputs, rate);
        contacts.find(&system, state, motion);
        contacts.settle(&system, motion, &mut memory.trees);
        let step = (&*state, &inputs[..], rate);
        search.begin(&system, step, (motion, contacts));
        loop {
            match search.next(&system, step, motion) {
                Next::End => break,
                Next::Halve => search.halve(),
                Next::Iterate => {
                    if !search.advance(&system, step, motion) {
                        break;
                    }
                    contacts.settle(&system, motion, &mut memory.trees);
                    search.take(motion, contacts);
                }
            }
        }
        // Where it stands.
        search.matrix.update(&system, step, &search.momentum);
        search.mark(motion.trees(), contacts);
        if !search.factor(model) {
            search.report.status = Status::Stalled;
        }
        search.report
    }
}

impl Search {
    /// Begins where a step stands that is not implicit.
    pub fn begin(
        &mut self,
        system: &System<f64>,
        step: (&State<f64>, &[f64], f64),
        (motion, contacts): (&FreeMotion<f64>, &Contacts<f64>),
    ) {
        self.report = Report { margin: f64::INFINITY, ..Report::default() };
        (self.last, self.halvings) = (f64::INFINITY, 0);
        self.mixing.clear();
        // No further from the momenta than where velocities stay as they are: what is stiff throws what is not implicit far.
        let (start, _, _) = step;
        self.tangent.velocity.clone_from(&start.v);
        self.impulses.clear();
        self.impulses.resize(start.v.len(), 0.0);
        self.measure(system, step, motion);
        self.least = if self.merit.is_finite() { self.merit } else { f64::INFINITY };
        let [velocity, impulses] = &mut self.before;
        velocity.clone_from(&self.tangent.velocity);
        impulses.clone_from(&self.impulses);
        self.take(motion, contacts);
    }

    /// Measures where it stands, and decides what comes next.
    fn next(
        &mut self,
        system: &System<f64>,
        step: (&State<f64>, &[f64], f64),
        motion: &FreeMotion<f64>,
    ) -> Next {
        let residual = self.measure(system, step, motion);
        let (tolerance, halved) = (system.settings.tolerance, residual <= 0.5 * self.last);
        let Search { report, last, halvings, merit, least, mixing, .. } = self;
        report.residual = residual;
        if !residual.is_finite() {
            if *halvings < MOST_HALVINGS {
                *halvings += 1;
                mixing.clear();
                return Next::Halve;
            }
            report.status = Status::InvalidInput;
            return Next::End;
        }
        if residual <= NONE || residual <= tolerance && !halved {
            report.status = Status::Solved;
            return Next::End;
        }
        if report.iterations == MOST_ITERATIONS {
            let solved = residual <= tolerance;
            report.status = if solved { Status::Solved } else { Status::IterationLimit };
            return Next::End;
        }
        if *merit > *least && residual > tolerance && *halvings < MOST_HALVINGS {
            mixing.clear();
            *halvings += 1;
            return Next::Halve;
        }
        (*last, *least, *halvings) = (residual, *merit, 0);
        report.iterations += 1;
        Next::Iterate
    }

    /// Whether it has ended where it stands: without halves, beside what others search in the same problems.
    pub fn has_ended(
        &mut self,
        system: &System<f64>,
        step: (&State<f64>, &[f64], f64),
        motion: &FreeMotion<f64>,
    ) -> bool {
        self.halvings = MOST_HALVINGS;
        matches!(self.next(system, step, motion), Next::End)
    }

    /// Says which trees are in contact problems. True if they are others than before.
    fn mark<T: Real>(&mut self, trees: usize, contacts: &Contacts<T>) -> bool {
        let touched = &mut self.tangent.touched;
        self.touched.clone_from(touched);
        touched.clear();
        touched.resize(trees, false);
        for (island, _) in contacts.solved() {
            island.trees.iter().for_each(|&tree| touched[tree] = true);
        }
        self.touched != *touched
    }

    /// Takes velocities and impulses, J' lambda = L L' (v+ - v_p), from a problem that was solved.
    pub fn take(&mut self, motion: &FreeMotion<f64>, contacts: &Contacts<f64>) {
        self.mark(motion.trees(), contacts);
        self.tangent.velocity.clone_from(&contacts.velocities);
        self.impulses.clear();
        self.impulses.resize(contacts.velocities.len(), 0.0);
        let [change, half] = &mut self.scratch;
        for tree in (0..motion.trees()).filter(|&tree| self.tangent.touched[tree]) {
            let own = motion.tree(tree);
            let (range, l) = (motion.velocities(tree), own.mass_factor);
            let n = range.len();
            change.clear();
            let both = contacts.velocities[range.clone()].iter().zip(own.free_velocity);
            change.extend(both.map(|(v, free)| v - free));
            half.resize(n, 0.0);
            times_lower_transpose(l, n, change, half);
            for (i, p) in self.impulses[range].iter_mut().enumerate() {
                *p = l[i * n..].iter().zip(&*half).take(i + 1).map(|(l, x)| l * x).sum();
            }
        }
    }

    /// |L^-1 (R - J' lambda)| beside |L' v+|, of the tree where it is largest, with L of the problem that was solved last; in `merit` the sum
    /// of the squares with L of the start of the step.
    fn measure(
        &mut self,
        system: &System<f64>,
        step: (&State<f64>, &[f64], f64),
        motion: &FreeMotion<f64>,
    ) -> f64 {
        let velocity = &self.tangent.velocity;
        self.momentum.update(system, step, velocity);
        let residual = self.momentum.residual();
        let [left, moved] = &mut self.scratch;
        let (mut worst, mut merit) = (0.0_f64, 0.0);
        let gravity = system.parameters.gravity().norm();
        let (start, _, rate) = step;
        for (tree, entry) in system.model.trees.iter().enumerate().filter(|(_, tree)| !tree.lone) {
            let (range, l) = (entry.v.clone(), motion.tree(tree).mass_factor);
            let n = range.len();
            let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
            left.clear();
            let both = residual[range.clone()].iter().zip(&self.impulses[range.clone()]);
            left.extend(both.map(|(r, p)| r - p));
            moved.clear();
            moved.extend_from_slice(left);
            solve_lower(motion.tree(tree).start_factor, n, moved);
            merit += dot(moved, moved);
            solve_lower(l, n, left);
            moved.resize(n, 0.0);
            times_lower_transpose(l, n, &velocity[range.clone()], moved);
            let mut scale = norm(moved);
            times_lower_transpose(l, n, &start.v[range.clone()], moved);
            scale = scale.max(norm(moved));
            moved.copy_from_slice(&self.impulses[range]);
            solve_lower(l, n, moved);
            scale = scale.max(norm(moved));
            // Places are known to rounding, and what stiff springs make of that is no error.
            let reach = start.q[entry.q.clone()].iter().fold(0.0, |most: f64, q| most.max(q.abs()));
            scale = scale.max(KNOWN_PLACES * norm(l) * reach / rate);
            // So are forces that cancel.
            for (moved, force) in moved.iter_mut().zip(&self.momentum.forces()[entry.v.clone()]) {
                *moved = rate * force;
            }
            solve_lower(l, n, moved);
            scale = scale.max(KNOWN_FORCES * norm(moved).max(norm(l) * gravity * rate));
            let left = norm(left);
            // What is not a number is the worst.
            let relative = if left == 0.0 { 0.0 } else { left / scale };
            worst = if worst.is_nan() || relative <= worst { worst } else { relative };
        }
        self.merit = merit;
        worst
    }

    /// Linearises where it was measured, for the next problem. False if there is none.
    #[must_use]
    pub fn advance(
        &mut self,
        system: &System<f64>,
        step: (&State<f64>, &[f64], f64),
        motion: &mut FreeMotion<f64>,
    ) -> bool {
        let [velocity, impulses] = &mut self.before;
        velocity.clone_from(&self.tangent.velocity);
        impulses.clone_from(&self.impulses);
        self.matrix.update(system, step, &self.momentum);
        let sound = self.matrix.factor(system.model, &mut self.tangent);
        if sound {
            // What S does to a change is met by iterations alone, which go by it as by a linear map.
            self.mixing.take(velocity, self.momentum.residual(), impulses);
            for (tree, entry) in system.model.trees.iter().enumerate() {
                if self.tangent.touched[tree] && !entry.lone {
                    self.mixing.mix(entry.v.clone(), self.tangent.mass_factor(tree));
                }
            }
            let at = (&self.mixing.velocity[..], &self.mixing.momentum[..]);
            motion.follow(system.model, &self.tangent, at);
        } else {
            self.report.status = Status::Stalled;
        }
        sound
    }

    /// Splits and inverts G. False if that cannot be.
    #[must_use]
    fn factor(&mut self, model: &Model) -> bool {
        self.matrix.factor(model, &mut self.tangent)
    }

    /// Goes half of the way back.
    fn halve(&mut self) {
        let [velocity, impulses] = &self.before;
        for (x, &before) in self.tangent.velocity.iter_mut().zip(velocity) {
            *x = 0.5 * (*x + before);
        }
        for (x, &before) in self.impulses.iter_mut().zip(impulses) {
            *x = 0.5 * (*x + before);
        }
    }
}

/// Velocities as they were found, but of what is led as it is told: others feel how that changes.
fn take_velocity<T: Real>(model: &Model, found: &[f64], inputs: &[T], velocity: &mut Vec<T>) {
    velocity.clear();
    velocity.extend(found.iter().map(|&v| T::constant(v)));
    for tree in (0..model.trees.len()).filter(|&tree| model.is_prescribed_tree(tree)) {
        let own = model.trees[tree].v.clone();
        velocity[own.clone()].copy_from_slice(&inputs[own]);
    }
}

fn values_of<T: Real>(from: &[T], to: &mut Vec<f64>) {
    to.clear();
    to.extend(from.iter().map(|x| x.value()));
}
