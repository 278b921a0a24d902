//! One step backwards.

use super::contact_adjoint::ContactAdjoint;
use super::parts::{Adjoints, Before, IslandAdjoint, StepOf};
use super::recorded_motion::pull_back_recorded;
use super::tree_adjoint::TreeAdjoint;
use crate::ad::{self, Node, Var};
use crate::argmin::{ContactFactor, Perturbation};
use crate::contact::Contacts;
use crate::linalg::{solve_lower, solve_lower_transpose};
use crate::linearize::Selection;
use crate::linearize::conditions::{are_by_conditions, are_smoothed};
use crate::linearize::displacement::{Displaced, Point};
use crate::linearize::end_of_step::WholeMomentum;
use crate::linearize::loop_closure::LoopClosure;
use crate::linearize::smoothed_response::SmoothedResponse;
use crate::linearize::state_force_response::{are_forces, pull_back_forces};
use crate::model::{Integrator, Model, ParameterRef, System};
use crate::simulation::{ClosureStep, SolvedStep, StepMemory};
use crate::state::State;

/// A step that was taken.
#[derive(Clone, Copy)]
pub struct TakenStep<'a> {
    /// Model, parameters, settings.
    pub system: &'a System<'a, f64>,
    /// Where it starts.
    pub state: &'a State<f64>,
    /// Its inputs: generalised forces, then controls.
    pub inputs: &'a [f64],
    /// What the step before left.
    pub memory: &'a StepMemory<f64>,
    /// The solutions of its contact problems.
    pub solved: &'a SolvedStep,
    /// Where it ends.
    pub next: &'a State<f64>,
}

/// How a step was differentiated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// By the transpose of its structured Jacobian, but for flight and impact of bodies at which the step was split.
    Structured,
    /// By a recording of the whole step on the tape.
    Tape,
}

/// Adjoints of steps. Reused, it allocates nothing where nothing is recorded.
#[derive(Default)]
pub struct StepAdjoint {
    trees: TreeAdjoint,
    contacts: ContactAdjoint,
    factor: ContactFactor<f64>,
    smoothed: SmoothedResponse,
    conditions: Perturbation<f64>,
    impulses: Vec<f64>,
    weights: Vec<f64>,
    preimage: Vec<f64>,
    visited: Vec<bool>,
    whole: WholeMomentum,
    ways: Vec<Before>,
    own: Adjoints,
    /// How loops were closed; of one displacement the adjoints, and those of where it ends.
    closing: LoopClosure,
    closed: Adjoints,
    moved: Vec<f64>,
    /// Adjoints of the end of the step before loops were closed.
    before: Vec<f64>,
    recorded: Recorded,
}

/// All that a recording differentiates with respect to.
#[derive(Default)]
struct Recorded {
    inputs: Vec<usize>,
    parameters: Vec<ParameterRef>,
}

impl StepAdjoint {
    /// Adds the derivatives of `end . dx+` to `adjoints`, `dx+` being the tangent vector by which the end of the step moves.
    ///
    /// By the transpose of the structured Jacobian, by any integrator and any law of friction, smoothed or not, with closed loops;
    /// flight and impact of bodies are recorded by themselves where the step was split. The whole step goes by the tape, with the memory
    /// of the step before as data (but for the state before it), by `bdf2`, by `bdf1` with forces that depend on the state or with penalties, where the passes of the staggered solver are to be differentiated, with learned friction
    /// and dissipation and the terms of friction beyond Coulomb's, where impacts rebound by Poisson's law, with hinges and springs among the equalities, with masses that are not positive, and where points of contact are not
    /// found again with derivatives. Where the contacts determine no derivative, adjoints are NaN.
    ///
    /// # Errors
    /// Those of [`ad::gradient`](ad::gradient()), where the tape is used.
    ///
    /// # Panics
    /// If lengths are not those of the model.
    pub fn pull_back(
        &mut self,
        step: &TakenStep,
        end: &[f64],
        adjoints: &mut Adjoints,
    ) -> Result<Way, ad::Error> {
        self.own.fit(step.system.model);
        let mut own = std::mem::take(&mut self.own);
        let way = match self.structured(step, end, &mut own) {
            true => Ok(Way::Structured),
            false => self.recorded.pull_back(step, end, &mut own).map(|()| Way::Tape),
        };
        if way.is_ok() {
            let Adjoints { state, inputs, parameters, past } = adjoints;
            for (to, from) in [
                (state, &own.state),
                (inputs, &own.inputs),
                (parameters, &own.parameters),
                (past, &own.past),
            ] {
                to.iter_mut().zip(from).for_each(|(to, x)| *to += x);
            }
        }
        self.own = own;
        way
    }

    /// False if the step is not structured; what is added then is of no use.
    fn structured(&mut self, step: &TakenStep, end: &[f64], adjoints: &mut Adjoints) -> bool {
        let TakenStep { system, state, inputs, solved, .. } = *step;
        let System { model, settings, .. } = *system;
        let (motion, contacts) = step.solved.parts();
        let staged = settings.integrator == Integrator::RungeKutta;
        let admissible = (0..motion.trees()).all(|tree| motion.is_admissible(tree));
        // Stages of lone bodies, which a model has that was made for another integrator, are not known here.
        let mixed = staged && model.has_state_forces() && model.trees.iter().any(|tree| tree.lone);
        let by_conditions = are_by_conditions(settings) && !contacts.follow_impacts();
        let from_two = settings.integrator == Integrator::Bdf2;
        let of_end = settings.integrator.is_backward() && model.has_state_forces();
        let backward =
            from_two || of_end || settings.integrator.is_backward() && are_smoothed(settings);
        if !are_forces(model) || !admissible || !by_conditions || mixed || backward {
            return false;
        }
        let mut before = std::mem::take(&mut self.before);
        before.clear();
        before.extend_from_slice(end);
        let closed = !model.has_loops() || self.open(step, &mut before, adjoints);
        let mut ways = std::mem::take(&mut self.ways);
        ways.clear();
        ways.extend(model.trees.iter().enumerate().map(|(tree, entry)| match entry.lone {
            true if solved.splits().trees.contains(&tree) => Before::Recorded,
            false if staged && solved.is_untouched(model, tree) => Before::Alone,
            _ => Before::ByHand,
        }));
        let velocities = &contacts.velocities[..];
        let of = StepOf { system, state, inputs, motion, velocities, before: &ways, closes: false };
        let mut done = closed && self.sweep(&of, contacts, &before, adjoints);
        if done && model.has_state_forces() {
            // Of bodies that are recorded, forces are recorded too; stages have their own.
            let mut forces = adjoints.inputs[..model.nv()].to_vec();
            for (entry, way) in model.trees.iter().zip(&ways) {
                if *way == Before::Recorded || staged && !entry.lone {
                    forces[entry.v.clone()].fill(0.0);
                }
            }
            let Adjoints { state: to_state, inputs: to_inputs, parameters, .. } = &mut *adjoints;
            let to = [&mut to_state[..], to_inputs, parameters];
            let at = (state, inputs, settings.time_step);
            done = pull_back_forces(system, at, &forces, to).is_ok();
        }
        if done && ways.contains(&Before::Recorded) {
            let at = (&self.recorded.point(step), &of, solved);
            done = pull_back_recorded(at, &self.trees, &before, adjoints).is_ok();
        }
        self.ways = ways;
        self.before = before;
        done
    }

    /// Takes the adjoints of the `end` of a step back to before its loops were closed. False if they are not to be had.
    fn open(&mut self, step: &TakenStep, end: &mut [f64], adjoints: &mut Adjoints) -> bool {
        let TakenStep { system, state, solved, .. } = *step;
        let System { model, settings, .. } = *system;
        let mut closing = std::mem::take(&mut self.closing);
        let mut own = std::mem::take(&mut self.closed);
        closing.find(system, state, solved.parts());
        let (parameters, inputs) = closing.numbers();
        let weightless = System { model, parameters, settings };
        // Velocities stay as they are.
        let coordinates = &mut end[..model.nv()];
        let mut moved = std::mem::take(&mut self.moved);
        let done = closing.iter().rev().all(|ClosureStep { state, motion, contacts }| {
            moved.clear();
            moved.extend_from_slice(coordinates);
            moved.resize(2 * model.nv(), 0.0);
            own.fit(model);
            let (system, velocities) = (&weightless, &contacts.velocities[..]);
            let of =
                StepOf { system, state, inputs, motion, velocities, before: &[], closes: true };
            let done = self.sweep(&of, contacts, &moved, &mut own);
            coordinates.copy_from_slice(&own.state[..model.nv()]);
            own.parameters[model.gravity_slots()].fill(0.0);
            for (to, x) in adjoints.parameters.iter_mut().zip(&own.parameters) {
                *to += x;
            }
            done
        });
        (self.closing, self.closed, self.moved) = (closing, own, moved);
        done
    }

    /// One step whose contact problems are solved. False if it is not structured.
    fn sweep(
        &mut self,
        of: &StepOf,
        contacts: &Contacts<f64>,
        end: &[f64],
        adjoints: &mut Adjoints,
    ) -> bool {
        let &StepOf { system, state, motion, closes, .. } = of;
        let model = system.model;
        let smooth = are_smoothed(system.settings);
        self.trees.start(of);
        self.contacts.start(system);
        self.visited.clear();
        self.visited.resize(motion.trees(), false);
        for (island, problem) in contacts.solved() {
            let (node, inputs, outputs, solution) = problem.solved();
            let determined = match smooth {
                true => {
                    let (node, solution, outputs) = problem.smoothed();
                    self.smoothed.factor(node, solution, inputs, outputs)
                }
                false => {
                    node.factor(solution, inputs, outputs, &mut self.factor);
                    self.factor.is_determined()
                }
            };
            self.conditions.fit_whole(node, 1);
            for (place, &tree) in island.trees.iter().enumerate() {
                self.visited[tree] = true;
                let x = &mut self.conditions.x[node.rows.tree(place)];
                if !self.trees.end(of, tree, end, x, adjoints) {
                    return false;
                }
                solve_lower(motion.tree(tree).mass_factor, x.len(), x);
            }
            if !determined {
                if self.conditions.x.iter().any(|&x| x != 0.0) {
                    adjoints.undetermine(model, island.trees);
                }
                continue;
            }
            self.preimage.clear();
            if smooth {
                self.smoothed.respond_transpose(problem.smoothed().0, &mut self.conditions);
            } else {
                self.impulses.clear();
                self.impulses.resize(node.rows.rows(), 0.0);
                let factor = &mut self.factor;
                factor.respond_transpose(node, &self.impulses, &mut self.conditions);
                let response = &factor.response;
                if response.sharing_matters() {
                    self.preimage.extend_from_slice(response.preimage());
                }
            }
            self.weights.clone_from(&self.conditions.x);
            for (place, &tree) in island.trees.iter().enumerate() {
                let a = &mut self.weights[node.rows.tree(place)];
                solve_lower_transpose(motion.tree(tree).mass_factor, a.len(), a);
                self.trees.momenta(of, tree, a);
            }
            let island_of = IslandAdjoint {
                system,
                state,
                closes,
                motion,
                contacts,
                island: &island,
                problem,
                conditions: &self.conditions,
                smooth,
                spread_rows: match smooth {
                    true => self.smoothed.spread_rows(),
                    false => self.factor.response.spread_rows(),
                },
                weights: &self.weights,
                creep: match smooth {
                    true => self.smoothed.creep(),
                    false => &[],
                },
                preimage: &self.preimage,
            };
            if !self.contacts.add(&island_of, &mut self.trees.lone, adjoints) {
                return false;
            }
        }
        for (tree, entry) in model.trees.iter().enumerate() {
            if self.visited[tree] {
                continue;
            }
            self.weights.clear();
            self.weights.resize(entry.v.len(), 0.0);
            let a = &mut self.weights[..];
            if !self.trees.end(of, tree, end, a, adjoints) {
                return false;
            }
            let own = motion.tree(tree);
            if own.rest.is_empty() {
                solve_lower(own.mass_factor, a.len(), a);
                solve_lower_transpose(own.mass_factor, a.len(), a);
            } else {
                if !self.whole.factor(&own) {
                    return false;
                }
                self.whole.solve_transpose(a);
            }
            self.trees.momenta(of, tree, a);
        }
        self.trees.finish(of, (self.contacts.squares(), end), adjoints)
    }
}

impl Recorded {
    fn fit(&mut self, model: &Model) {
        let (inputs, parameters) = (model.nv() + model.nu(), model.parameter_count());
        if (self.inputs.len(), self.parameters.len()) != (inputs, parameters) {
            self.inputs = (0..inputs).collect();
            let slot = |k: usize| ParameterRef { slots: vec![k] };
            self.parameters = (0..parameters).map(slot).collect();
        }
    }

    /// A step, in all numbers.
    fn point<'a>(&'a mut self, step: &TakenStep<'a>) -> Point<'a> {
        let &TakenStep { system, state, inputs, memory, next, .. } = step;
        self.fit(system.model);
        let selection = Selection { inputs: &self.inputs, parameters: &self.parameters };
        Point { system, state, inputs, selection, memory, next, closes: false }
    }

    fn pull_back(
        &mut self,
        step: &TakenStep,
        end: &[f64],
        adjoints: &mut Adjoints,
    ) -> Result<(), ad::Error> {
        let at = self.point(step);
        let past = if step.memory.has_past(step.system.model) { end.len() } else { 0 };
        let zero = vec![0.0; at.dimension() + past];
        let displaced = |d: &[Var]| Displaced::default().step(&at, d).0.to_vec();
        let (_, found) = ad::vjp(displaced, &zero, |_| end.to_vec())?;
        let (state, rest) = found.split_at(adjoints.state.len());
        let (inputs, rest) = rest.split_at(adjoints.inputs.len());
        let (parameters, before) = rest.split_at(adjoints.parameters.len());
        adjoints.state.copy_from_slice(state);
        adjoints.inputs.copy_from_slice(inputs);
        adjoints.parameters.copy_from_slice(parameters);
        adjoints.past[..past].copy_from_slice(before);
        Ok(())
    }
}
