//! The step as a function of small displacements of all it depends on: what is run on duals and on the tape.

use super::selection::Selection;
use crate::ad::Real;
use crate::model::{Parameters, System};
use crate::simulation::{KnownStep, Splits, StepMemory, StepReport, Workspace, step};
use crate::state::State;

/// Where a step is linearised.
pub(super) struct Point<'a> {
    pub system: &'a System<'a, f64>,
    pub state: &'a State<f64>,
    pub inputs: &'a [f64],
    pub selection: Selection<'a>,
    pub memory: &'a StepMemory<f64>,
    /// Where the nominal step ends.
    pub next: &'a State<f64>,
    /// Whether it is a displacement that closes loops: a step from rest on which nothing acts, whose conditions ask for
    /// what is open.
    pub closes: bool,
}

impl Point<'_> {
    /// How many displacements there are: of x, u and p.
    pub fn dimension(&self) -> usize {
        2 * self.state.v.len() + self.selection.inputs.len() + self.selection.parameters.len()
    }
}

/// Memory for steps near a nominal one.
pub(super) struct Displaced<T: Real> {
    pub workspace: Workspace<T>,
    parameters: Parameters<T>,
    state: State<T>,
    inputs: Vec<T>,
    memory: StepMemory<T>,
    next: State<T>,
    nominal: State<T>,
    difference: Vec<T>,
}

impl<T: Real> Default for Displaced<T> {
    fn default() -> Self {
        let state = || State { q: Vec::new(), v: Vec::new() };
        Displaced {
            workspace: Workspace::default(),
            parameters: Parameters { values: Vec::new() },
            state: state(),
            inputs: Vec::new(),
            memory: StepMemory::default(),
            next: state(),
            nominal: state(),
            difference: Vec::new(),
        }
    }
}

impl<T: Real> Displaced<T> {
    /// The step with x, u and p displaced by `[dx; du; dp]`, and perhaps by more numbers the state before x: how far it ends from the
    /// nominal end.
    pub fn step(&mut self, at: &Point, displacement: &[T]) -> (&[T], StepReport) {
        let (displacement, before) = displacement.split_at(at.dimension());
        self.displace(at, displacement);
        let System { model, settings, .. } = *at.system;
        let system = System { model, parameters: &self.parameters, settings };
        at.memory.cast_into(&mut self.memory);
        if !before.is_empty() {
            self.memory.move_past(model, before);
        }
        let (memory, workspace) = (&mut self.memory, &mut self.workspace);
        let report = step(&system, &self.state, &self.inputs, memory, workspace, &mut self.next);
        (self.difference(at), report)
    }

    /// What comes before the contact problems of the displaced step, which was split where `splits` says.
    pub fn before_contacts(
        &mut self,
        at: &Point,
        displacement: &[T],
        splits: &Splits,
    ) -> &Workspace<T> {
        self.displace(at, displacement);
        let System { model, settings, .. } = *at.system;
        let system = System { model, parameters: &self.parameters, settings };
        self.workspace.before_contacts(&system, &self.state, &self.inputs, splits);
        &self.workspace
    }

    /// Poses the contact problems of the displaced step, which are `known` where it is not displaced. False
    /// if what is found is not what was found there.
    #[must_use]
    pub fn pose(&mut self, at: &Point, displacement: &[T], known: KnownStep) -> bool {
        self.displace(at, displacement);
        let System { model, settings, .. } = *at.system;
        let system = System { model, parameters: &self.parameters, settings };
        at.memory.cast_into(&mut self.memory);
        self.workspace.pose(&system, (&self.state, &self.memory), &self.inputs, known)
    }

    /// How far the displaced step ends from the nominal end with the velocities in its workspace. Nothing if a
    /// rotation is not found.
    pub fn end(&mut self, at: &Point, known: KnownStep) -> Option<&[T]> {
        self.next.q.clone_from(&self.state.q);
        self.next.v.clone_from(&self.state.v);
        let System { model, settings, .. } = *at.system;
        let system = System { model, parameters: &self.parameters, settings };
        let found = self.workspace.advance(&system, known, &mut self.next);
        found.then(|| self.difference(at))
    }

    fn difference(&mut self, at: &Point) -> &[T] {
        at.next.cast_into(&mut self.nominal);
        let coordinates = at.system.model.coordinates();
        self.next.difference_into(coordinates, &self.nominal, &mut self.difference);
        &self.difference
    }

    /// Displaces x, u and p by `[dx; du; dp]`.
    fn displace(&mut self, at: &Point, displacement: &[T]) {
        let System { model, parameters, .. } = *at.system;
        let nv = at.state.v.len();
        let (dx, rest) = displacement.split_at(2 * nv);
        let (du, dp) = rest.split_at(at.selection.inputs.len());
        at.state.cast_into(&mut self.state);
        self.state.advance(model.coordinates(), dx);
        self.inputs.clear();
        self.inputs.extend(at.inputs.iter().map(|&u| T::constant(u)));
        for (&k, &du) in at.selection.inputs.iter().zip(du) {
            self.inputs[k] += du;
        }
        parameters.cast_into(&mut self.parameters);
        for (parameter, &dp) in at.selection.parameters.iter().zip(dp) {
            for &slot in &parameter.slots {
                self.parameters.values[slot] += dp;
            }
        }
    }
}
