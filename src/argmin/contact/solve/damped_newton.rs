//! Newton with damping (Levenberg, Marquardt) on the coupled contact problem: the last that is tried.

use super::super::problem::ContactData;
use super::super::rule::Selection;
use super::cascade::Search;

/// Steps of a damped descent. Most problems that need one take fewer than 30.
const ITERATIONS: usize = 60;
/// Damping that a descent starts with, and its least and largest; relative to the diagonal.
const DAMPING: (f64, f64, f64) = (1e-3, 1e-9, 1e3);

impl Search {
    /// Steps that are only taken where they lower the residual. With
    /// nearly redundant contacts (a box that lands almost flat) the solution at guessed modes is far
    /// off, and full steps go round in a circle. Starts and ends at the best iterate.
    pub(super) fn descend(
        &mut self,
        data: &ContactData<f64>,
        scale: f64,
        enough: f64,
        best: &mut f64,
        iterations: &mut usize,
    ) {
        let (mut damping, least, most) = DAMPING;
        for _ in 0..ITERATIONS {
            if *best <= enough || damping > most || *iterations >= self.most {
                break;
            }
            *iterations += 1;
            self.guess_modes(data);
            let before = *best;
            if self.state.newton_step(data, Selection::Damped(damping), &[]).is_some() {
                self.keep_best(data, scale, best);
            }
            if *best < before {
                damping = (0.1 * damping).max(least);
            } else {
                damping *= 4.0;
                self.return_to_best(data);
            }
        }
    }
}
