//! What gradient methods ask of a problem.

use super::Problem;
use crate::ad;
use crate::state::State;

/// A cost with a gradient, and states that are fitted beside its variables, of which there may be none.
pub(crate) trait Descent {
    /// The cost at `x`, and its derivatives in `x` and, after these, in the unknowns of all fitted states.
    ///
    /// # Errors
    /// If there is no derivative.
    fn gradient(&mut self, x: &[f64]) -> Result<(f64, Vec<f64>), ad::Error>;

    /// The states that are fitted.
    fn initial(&self) -> &[State<f64>] {
        &[]
    }

    /// How many unknowns each of them has.
    fn initial_unknowns(&self) -> usize {
        0
    }

    /// Sets them.
    fn set_initial(&mut self, _states: &[State<f64>]) {}

    /// Moves one of them.
    fn move_initial(&mut self, _state: usize, _tangent: &[f64]) {}
}

impl Descent for Problem<'_> {
    fn gradient(&mut self, x: &[f64]) -> Result<(f64, Vec<f64>), ad::Error> {
        Problem::gradient(self, x)
    }

    fn initial(&self) -> &[State<f64>] {
        &self.initial
    }

    fn initial_unknowns(&self) -> usize {
        Problem::initial_unknowns(self)
    }

    fn set_initial(&mut self, states: &[State<f64>]) {
        self.initial.clone_from_slice(states);
    }

    fn move_initial(&mut self, state: usize, tangent: &[f64]) {
        Problem::move_initial(self, state, tangent);
    }
}
