//! The step as a function of small displacements of all it depends on: what is run on duals and on the tape.

use super::Selection;
use crate::ad::Real;
use crate::model::{Parameters, System};
use crate::simulation::{StepMemory, StepReport, Workspace, step};
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
    next: State<T>,
}

impl<T: Real> Default for Displaced<T> {
    fn default() -> Self {
        Displaced {
            workspace: Workspace::default(),
            parameters: Parameters { values: Vec::new() },
            next: State { q: Vec::new(), v: Vec::new() },
        }
    }
}

impl<T: Real> Displaced<T> {
    /// The step with x, u and p displaced by `[dx; du; dp]`: how far it ends from the nominal end.
    pub fn step(&mut self, at: &Point, displacement: &[T]) -> (Vec<T>, StepReport) {
        let nv = at.state.v.len();
        let (dx, rest) = displacement.split_at(2 * nv);
        let (du, dp) = rest.split_at(at.selection.inputs.len());
        let state = at.state.cast::<T>().moved(at.system.model.coordinates(), dx);
        let mut inputs: Vec<T> = at.inputs.iter().map(|&u| T::constant(u)).collect();
        for (&k, &du) in at.selection.inputs.iter().zip(du) {
            inputs[k] += du;
        }
        at.system.parameters.cast_into(&mut self.parameters);
        for (parameter, &dp) in at.selection.parameters.iter().zip(dp) {
            for &slot in &parameter.slots {
                self.parameters.values[slot] += dp;
            }
        }
        let System { model, settings, .. } = *at.system;
        let system = System { model, parameters: &self.parameters, settings };
        let mut memory = at.memory.cast::<T>();
        let (workspace, next) = (&mut self.workspace, &mut self.next);
        let report = step(&system, &state, &inputs, &mut memory, workspace, next);
        (self.next.difference(model.coordinates(), &at.next.cast()), report)
    }
}
