//! What the parts of a step hand to each other on the way back.

use std::ops::Range;

use crate::argmin::{Mode, Perturbation, RowBlock};
use crate::contact::{ContactProblem, Contacts, Island};
use crate::dynamics::FreeMotion;
use crate::model::{Integrator, Model, System};
use crate::state::State;

/// Adjoints of what a step depends on: the derivatives of one number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Adjoints {
    /// Of the state at the start, as a tangent vector `[dq; dv]`, 2 nv numbers.
    pub state: Vec<f64>,
    /// Of the inputs: generalised forces, then controls.
    pub inputs: Vec<f64>,
    /// Of the values of all [`Parameters`](crate::model::Parameters).
    pub parameters: Vec<f64>,
    /// Of the state before that at the start, which steps by [`Bdf2`](Integrator::Bdf2) start from too, as a tangent vector; zeros by others.
    pub past: Vec<f64>,
}

impl Adjoints {
    /// Zeros, as many as a model has numbers.
    pub fn fit(&mut self, model: &Model) {
        let (nv, nu) = (model.nv(), model.nu());
        for (numbers, size) in [
            (&mut self.state, 2 * nv),
            (&mut self.inputs, nv + nu),
            (&mut self.parameters, model.parameter_count()),
            (&mut self.past, 2 * nv),
        ] {
            numbers.clear();
            numbers.resize(size, 0.0);
        }
    }

    /// Says that what these trees do has no derivative.
    pub(super) fn undetermine(&mut self, model: &Model, trees: &[usize]) {
        let nv = model.nv();
        for &tree in trees {
            let velocities = model.trees[tree].v.clone();
            self.state[velocities.clone()].fill(f64::NAN);
            self.v_mut()[velocities.clone()].fill(f64::NAN);
            self.inputs[velocities].fill(f64::NAN);
        }
        for control in 0..model.actuators.len() {
            if model.driven_tree(control).is_some_and(|tree| trees.contains(&tree)) {
                self.inputs[nv + control] = f64::NAN;
            }
        }
        self.parameters.fill(f64::NAN);
    }

    /// Of the velocities at the start.
    pub(super) fn v_mut(&mut self) -> &mut [f64] {
        let nv = self.state.len() / 2;
        &mut self.state[nv..]
    }
}

/// What differentiates what a tree does before its contact problem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Before {
    /// Formulas.
    #[default]
    ByHand,
    /// A recording of it: of a lone body whose step was split.
    Recorded,
    /// Formulas, where nothing but its own forces acted on a tree whose step ends where the stages of Runge and Kutta do.
    Alone,
}

/// An island with its solution and the adjoints of its conditions.
pub(super) struct IslandAdjoint<'a> {
    pub system: &'a System<'a, f64>,
    /// Where the step starts.
    pub state: &'a State<f64>,
    /// Whether it closes loops: see [`Point`](crate::linearize::displacement::Point).
    pub closes: bool,
    pub motion: &'a FreeMotion<f64>,
    pub contacts: &'a Contacts<f64>,
    pub island: &'a Island<'a>,
    pub problem: &'a ContactProblem<f64>,
    pub conditions: &'a Perturbation<f64>,
    /// J L^-T, in the structure of J.
    pub spread_rows: &'a [f64],
    /// a = L^-T x of the adjoint x of momenta.
    pub weights: &'a [f64],
    /// Whether all conditions act: smoothed ones do, and penalties say themselves.
    pub smooth: bool,
    /// Adjoints of the stiffness of friction by penalty, of each block; or nothing.
    pub creep: &'a [f64],
    /// y of shared impulses; nothing where it does not count.
    pub preimage: &'a [f64],
}

impl IslandAdjoint<'_> {
    /// v+ of the trees of the island.
    pub fn velocity(&self) -> &[f64] {
        let (node, _, outputs, _) = self.problem.solved();
        &outputs[..node.rows.velocities()]
    }

    /// The tree of a body that moves, and the velocities of that in the island.
    pub fn rows_of(&self, body: usize) -> Option<(usize, Range<usize>)> {
        let tree = self.motion.bodies[body].tree?;
        let place = self.island.trees.binary_search(&tree).ok()?;
        let (node, ..) = self.problem.solved();
        Some((tree, node.rows.tree(place)))
    }

    /// Whether a condition acts.
    pub fn acts(&self, block: usize) -> bool {
        let (_, _, _, solution) = self.problem.solved();
        self.smooth || solution.modes[block] != Mode::Break
    }

    /// The trees of a block, as many as it has segments.
    pub fn trees(&self, entry: &RowBlock) -> impl Iterator<Item = usize> {
        entry.trees.map(|place| self.island.trees[place]).into_iter()
    }
}

/// A step that was taken.
#[derive(Clone, Copy)]
pub(super) struct StepOf<'a> {
    pub system: &'a System<'a, f64>,
    pub state: &'a State<f64>,
    pub inputs: &'a [f64],
    pub motion: &'a FreeMotion<f64>,
    /// Velocities at the end, in the coordinates of the contact problems.
    pub velocities: &'a [f64],
    /// Of each tree what differentiates its motion without contact; nothing where all of them are like most.
    pub before: &'a [Before],
    /// Whether it closes loops: see [`Point`](crate::linearize::displacement::Point).
    pub closes: bool,
}

impl StepOf<'_> {
    /// What differentiates the motion of a tree without contact.
    pub fn before(&self, tree: usize) -> Before {
        self.before.get(tree).copied().unwrap_or_default()
    }

    /// By what joints move without contact. Displacements that close loops begin at rest, where one is like the other but for
    /// the mass matrix.
    pub fn integrator(&self) -> Integrator {
        if self.closes { Integrator::SemiImplicit } else { self.system.settings.integrator }
    }
}
