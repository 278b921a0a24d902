//! One step backwards.

use super::contact_adjoint::ContactAdjoint;
use super::parts::{Adjoints, IslandAdjoint};
use super::tree_adjoint::{StepOf, TreeAdjoint};
use crate::ad::{self, Node, Var};
use crate::argmin::{ContactFactor, Perturbation};
use crate::linalg::{solve_lower, solve_lower_transpose};
use crate::linearize::Selection;
use crate::linearize::conditions::is_one_problem_an_island;
use crate::linearize::displacement::{Displaced, Point};
use crate::model::{Integrator, Model, ParameterRef, System};
use crate::simulation::{SolvedStep, StepMemory};
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
    /// By the transpose of its structured Jacobian.
    Structured,
    /// By a recording on the tape.
    Tape,
}

/// Adjoints of steps. Reused, it allocates nothing where steps are structured.
#[derive(Default)]
pub struct StepAdjoint {
    trees: TreeAdjoint,
    contacts: ContactAdjoint,
    factor: ContactFactor<f64>,
    conditions: Perturbation<f64>,
    impulses: Vec<f64>,
    weights: Vec<f64>,
    preimage: Vec<f64>,
    visited: Vec<bool>,
    own: Adjoints,
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
    /// By the transpose of the structured Jacobian where the step has one: trees of the default integrator, contacts by the
    /// coupled solver (any law of friction), no closed loops, no impact at which the step was split, no smoothing. By the tape
    /// elsewhere, with the memory of the step before as data. Where the contacts determine no derivative, adjoints
    /// are NaN.
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
            let Adjoints { state, inputs, parameters } = adjoints;
            for (to, from) in
                [(state, &own.state), (inputs, &own.inputs), (parameters, &own.parameters)]
            {
                to.iter_mut().zip(from).for_each(|(to, x)| *to += x);
            }
        }
        self.own = own;
        way
    }

    /// False if the step is not structured; what is added then is of no use.
    fn structured(&mut self, step: &TakenStep, end: &[f64], adjoints: &mut Adjoints) -> bool {
        let System { model, settings, .. } = *step.system;
        let (motion, contacts) = step.solved.parts();
        let analytic = settings.integrator == Integrator::SemiImplicit
            || model.trees.iter().all(|tree| tree.lone);
        if !analytic
            || settings.smoothing > 0.0
            || !is_one_problem_an_island(step.system, (motion, contacts), step.solved.was_split())
        {
            return false;
        }
        let TakenStep { system, state, inputs, .. } = *step;
        let of = StepOf { system, state, inputs, motion, velocities: &contacts.velocities };
        self.trees.start(&of);
        self.contacts.start(system);
        self.visited.clear();
        self.visited.resize(motion.trees(), false);
        for (island, problem) in contacts.solved() {
            let (node, inputs, outputs, solution) = problem.solved();
            node.factor(solution, inputs, outputs, &mut self.factor);
            if !self.factor.is_determined() {
                return false;
            }
            self.conditions.fit_whole(node, 1);
            for (place, &tree) in island.trees.iter().enumerate() {
                self.visited[tree] = true;
                let x = &mut self.conditions.x[node.rows.tree(place)];
                if !self.trees.end(&of, tree, end, x, adjoints) {
                    return false;
                }
                solve_lower(motion.tree(tree).mass_factor, x.len(), x);
            }
            self.impulses.clear();
            self.impulses.resize(node.rows.rows(), 0.0);
            let response = &mut self.factor.response;
            response.respond_transpose(node, &self.impulses, &mut self.conditions);
            self.preimage.clear();
            if response.sharing_matters() {
                self.preimage.extend_from_slice(response.preimage());
            }
            self.weights.clone_from(&self.conditions.x);
            for (place, &tree) in island.trees.iter().enumerate() {
                let a = &mut self.weights[node.rows.tree(place)];
                solve_lower_transpose(motion.tree(tree).mass_factor, a.len(), a);
                self.trees.momenta(&of, tree, a);
            }
            let of = IslandAdjoint {
                system,
                motion,
                contacts,
                island: &island,
                problem,
                conditions: &self.conditions,
                spread_rows: self.factor.response.spread_rows(),
                weights: &self.weights,
                preimage: &self.preimage,
            };
            if !self.contacts.add(&of, &mut self.trees.lone, adjoints) {
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
            if !self.trees.end(&of, tree, end, a, adjoints) {
                return false;
            }
            solve_lower(motion.tree(tree).mass_factor, a.len(), a);
            solve_lower_transpose(motion.tree(tree).mass_factor, a.len(), a);
            self.trees.momenta(&of, tree, a);
        }
        self.trees.finish(&of, adjoints);
        true
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

    fn pull_back(
        &mut self,
        step: &TakenStep,
        end: &[f64],
        adjoints: &mut Adjoints,
    ) -> Result<(), ad::Error> {
        let &TakenStep { system, state, inputs, memory, next, .. } = step;
        self.fit(system.model);
        let selection = Selection { inputs: &self.inputs, parameters: &self.parameters };
        let at = Point { system, state, inputs, selection, memory, next };
        let zero = vec![0.0; at.dimension()];
        let displaced = |d: &[Var]| Displaced::default().step(&at, d).0.to_vec();
        let (_, found) = ad::vjp(displaced, &zero, |_| end.to_vec())?;
        let (state, rest) = found.split_at(adjoints.state.len());
        let (inputs, parameters) = rest.split_at(adjoints.inputs.len());
        adjoints.state.copy_from_slice(state);
        adjoints.inputs.copy_from_slice(inputs);
        adjoints.parameters.copy_from_slice(parameters);
        Ok(())
    }
}
