//! The end of a solve of the coupled contact problem: the modes of the solution, and Newton at those
//! modes by the rule that makes impulses unique.

use super::contact_data::ContactData;
use super::contact_law::{Law, Mode};
use super::contact_modes::{Iterate, Selection};
use super::contact_solution::ContactSolution;
use super::natural_map::length;
use super::newton_step::NewtonState;
use super::semismooth_newton::Search;

/// Newton iterations at the final modes. Without compliance the least-norm rule can move impulses
/// that a spinning slide depends on by a finite amount.
const POLISH_ITERATIONS: usize = 12;
/// Slip below this fraction of the velocity scale counts as none. Rounding leaves 1e-15.
const SLIP_TOLERANCE: f64 = 1e-11;

impl Search {
    /// Decides the mode of each block at the solution.
    pub(super) fn classify(
        &mut self,
        data: &ContactData<f64>,
        scale: f64,
        solution: &mut ContactSolution,
    ) {
        self.state.follow(data);
        self.guess_modes(data);
        let state = &self.state;
        solution.modes.clear();
        solution.directions.clear();
        for (i, block) in data.blocks().iter().enumerate() {
            let (mut mode, mut direction) = (state.guess[i], state.directions[i]);
            if let [_, a, b] = state.u[block.range()] {
                let at_rest = length([a, b]) <= SLIP_TOLERANCE * scale;
                match data.laws[i] {
                    Law::Coulomb if mode == Mode::Slide && at_rest => mode = Mode::Clamp,
                    Law::Relaxed if mode == Mode::Slide && at_rest => mode = Mode::Stick,
                    _ => {}
                }
            }
            // Without friction a contact that slips needs no direction but for d/d mu: one-sided,
            // against the slip.
            let data_only =
                mode == Mode::Clamp || matches!(data.laws[i], Law::Pyramid | Law::Interval);
            if !data_only {
                direction = [0.0; 2];
            }
            solution.modes.push(mode);
            solution.directions.push(direction);
        }
    }

    /// Newton on the conditions at the final modes, by the least-norm rule; returns the iterations. It
    /// removes what the proximal term left.
    pub(super) fn polish(
        &mut self,
        data: &ContactData<f64>,
        solution: &mut ContactSolution,
        scale: f64,
        reached: f64,
    ) -> usize {
        let mut iterations = 0;
        solution.held.clear();
        solution.held.resize(data.rows.rows(), 0.0);
        self.best.clone_from(&self.state.lambda);
        self.state.follow(data);
        for attempt in 0..2 {
            self.state.take_modes(data, solution);
            for _ in 0..POLISH_ITERATIONS {
                let step = self.state.newton_step(data, Selection::LeastNorm, &solution.held);
                let Some(length) = step else { break };
                iterations += 1;
                // Quadratic convergence: after a step this short the next one is rounding.
                if length <= 1e-7 {
                    break;
                }
            }
            if self.residual(data, scale) <= reached {
                // Clamps have turned.
                for (i, direction) in solution.directions.iter_mut().enumerate() {
                    if solution.modes[i] == Mode::Clamp {
                        *direction = self.state.directions[i];
                    }
                }
                break;
            }
            self.return_to_best(data);
            if attempt == 0 && !self.hold(data, solution) {
                break;
            }
        }
        iterations
    }

    /// Holds the part of the impulses that no velocity feels where it is. False if the conditions are
    /// singular.
    pub(super) fn hold(&mut self, data: &ContactData<f64>, solution: &mut ContactSolution) -> bool {
        self.state.take_modes(data, solution);
        let NewtonState { delassus, modes, lambda, u, directions, guess, .. } = &mut self.state;
        let at = Iterate { modes: guess, directions, lambda, u, held: &solution.held };
        let factored = modes.factor(data, delassus, &at, Selection::LeastNorm);
        if factored {
            modes.hold(lambda, &mut solution.held);
        }
        factored
    }
}
