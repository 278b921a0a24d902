//! Block Gauss-Seidel sweeps that find the active face, and projected Newton steps on it that find
//! the digits.

use super::feasible_set::FeasibleSet;
use super::quadratic::{Problem, Scale};
use super::reduced_hessian::ReducedHessian;
use crate::ad::Real;
use crate::linalg::{add_scaled, wide_dot};

/// A point with what is known about it. Reused, it allocates nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Point<T> {
    /// z
    pub z: Vec<T>,
    /// g = Pz + q
    pub g: Vec<T>,
    /// Relative natural residual.
    pub residual: f64,
    objective: f64,
}

impl<T: Real> Point<T> {
    /// Recomputes what belongs to `z`.
    pub fn evaluate<S: FeasibleSet<T>>(&mut self, problem: &Problem<T, S>, scale: &Scale) {
        self.g.resize(problem.n(), T::zero());
        problem.gradient(&self.z, &mut self.g);
        self.residual = scale.natural_residual(problem, &self.z, &self.g);
        self.objective = problem.objective(&self.z, &self.g);
    }

    /// Takes over `other`, without allocating.
    pub fn copy_from(&mut self, other: &Point<T>) {
        self.z.clone_from(&other.z);
        self.g.clone_from(&other.g);
        self.residual = other.residual;
        self.objective = other.objective;
    }
}

/// The memory of [`improve`](ProjectedNewton::improve).
#[derive(Clone, Debug, Default)]
pub(super) struct ProjectedNewton<T> {
    hessian: ReducedHessian<T>,
    /// The best point so far, by residual.
    pub best: Point<T>,
    /// Where the iterations are.
    pub current: Point<T>,
    trial: Point<T>,
    step: Vec<T>,
}

/// What became of a Newton step.
enum Step {
    Whole,
    Part,
    None,
}

/// Rounds of sweep and Newton step in one go, and how many of them may pass without halving the
/// best residual: ill-conditioned problems lower the objective for long before the residual falls.
const ROUNDS: usize = 100;
const PATIENCE: usize = 20;
/// Part of the decrease that the slope promises which a step must keep (Armijo).
const SUFFICIENT: f64 = 0.1;

impl<T: Real> ProjectedNewton<T> {
    /// Starts at `current.z`, which must lie in the set.
    pub fn start<S: FeasibleSet<T>>(&mut self, problem: &Problem<T, S>, scale: &Scale) {
        self.current.evaluate(problem, scale);
        self.best.copy_from(&self.current);
        self.step.clear();
        self.step.resize(problem.n(), T::zero());
    }

    /// Goes on from a new `current.z`, which must lie in the set.
    pub fn resume<S: FeasibleSet<T>>(&mut self, problem: &Problem<T, S>, scale: &Scale) {
        self.current.evaluate(problem, scale);
        self.keep_best();
    }

    /// Improves `current` and `best` until the residual is below `tolerance` and does not fall
    /// further, or it gives up. Returns the number of sweeps and Newton steps.
    pub fn improve<S: FeasibleSet<T>>(
        &mut self,
        problem: &Problem<T, S>,
        scale: &Scale,
        tolerance: f64,
    ) -> usize {
        // One more step than asked for is cheap and reaches the rounding floor.
        let goal = 0.01 * tolerance;
        let (mut iterations, mut idle) = (0, 0);
        let mut sweep = true;
        for _ in 0..ROUNDS {
            if self.best.residual <= goal || idle > PATIENCE {
                break;
            }
            let before = self.best.residual;
            if sweep {
                iterations += 1;
                gauss_seidel(problem, &mut self.current);
                self.current.evaluate(problem, scale);
                self.keep_best();
                if self.best.residual <= goal {
                    break;
                }
            }
            iterations += 1;
            let start = self.current.residual;
            let step = self.newton(problem, scale);
            self.keep_best();
            if self.best.residual <= tolerance && self.best.residual > 0.5 * before {
                break;
            }
            // Sweeps may release constraints, so the minimiser on the face is found first, or a
            // sweep and the step to a boundary undo each other.
            sweep = match step {
                Step::Whole => self.current.residual > 0.1 * start,
                Step::Part => false,
                Step::None => true,
            };
            idle = if self.best.residual < 0.5 * before { 0 } else { idle + 1 };
        }
        iterations
    }

    fn keep_best(&mut self) {
        if self.current.residual < self.best.residual {
            self.best.copy_from(&self.current);
        }
    }

    // A Newton step on the binding face, shortened until it lowers the residual or the objective.
    fn newton<S: FeasibleSet<T>>(&mut self, problem: &Problem<T, S>, scale: &Scale) -> Step {
        let (hessian, current, step) = (&mut self.hessian, &self.current, &mut self.step);
        hessian.faces.clear();
        hessian.faces.extend((0..problem.blocks()).map(|i| {
            let range = problem.range(i);
            problem.set.binding(i, &current.z[range.clone()], &current.g[range])
        }));
        loop {
            // s = -B H+ B'g
            hessian.factor(problem, &current.z, &current.g);
            hessian.solve(&current.g, step);
            step.iter_mut().for_each(|s| *s = -*s);
            // Constraints that allow no step at all join the face, or the next step has length 0.
            let mut blocked = false;
            for i in 0..problem.blocks() {
                let range = problem.range(i);
                if hessian.is_free(i)
                    && let Some(face) =
                        problem.set.blocking(i, &current.z[range.clone()], &step[range])
                {
                    hessian.faces[i] = face;
                    blocked = true;
                }
            }
            if !blocked {
                break;
            }
        }
        // A projected step may lower the objective by nearly nothing. Up to the first boundary the
        // quadratic falls in any case, and on circles for steps short enough.
        let slope = wide_dot(&current.g, step).value();
        let projected = [1.0, 0.5, 0.25].map(|length| (length, SUFFICIENT * length * slope));
        let inside = self.first_boundary(problem);
        let turning = [1.0, 0.25, 0.0625, 0.015625].map(|part| (part * inside, 0.0));
        for (length, change) in projected.into_iter().chain(turning) {
            if self.attempt(problem, scale, length, change) {
                std::mem::swap(&mut self.current, &mut self.trial);
                return if length == 1.0 { Step::Whole } else { Step::Part };
            }
        }
        Step::None
    }

    fn first_boundary<S: FeasibleSet<T>>(&self, problem: &Problem<T, S>) -> f64 {
        let reach = |i| {
            let range = problem.range(i);
            problem.set.reach(i, &self.current.z[range.clone()], &self.step[range])
        };
        let free = (0..problem.blocks()).filter(|&i| self.hessian.is_free(i));
        free.map(reach).fold(1.0, f64::min)
    }

    fn attempt<S: FeasibleSet<T>>(
        &mut self,
        problem: &Problem<T, S>,
        scale: &Scale,
        length: f64,
        change: f64,
    ) -> bool {
        let (trial, current) = (&mut self.trial, &self.current);
        trial.z.clear();
        trial.z.extend(current.z.iter().zip(&self.step).map(|(&z, &s)| z + s * length));
        problem.project(&mut trial.z);
        for (i, &face) in self.hessian.faces.iter().enumerate() {
            let range = problem.range(i);
            problem.set.enter(i, face, &mut trial.z[range.clone()], &current.g[range]);
        }
        trial.evaluate(problem, scale);
        trial.residual <= 0.5 * current.residual || trial.objective < current.objective + change
    }

    /// Moves `best` by one Newton step on `faces`, unchecked: the step that carries derivatives
    /// through the last iterate.
    pub fn differentiate<S: FeasibleSet<T>>(&mut self, problem: &Problem<T, S>, scale: &Scale) {
        let (hessian, best, step) = (&mut self.hessian, &mut self.best, &mut self.step);
        hessian.faces.clear();
        hessian.faces.extend(
            (0..problem.blocks())
                .map(|i| problem.set.face(i, &scale.block(problem, i, &best.z, &best.g))),
        );
        for (i, &face) in hessian.faces.iter().enumerate() {
            let range = problem.range(i);
            problem.set.enter(i, face, &mut best.z[range.clone()], &best.g[range]);
        }
        best.evaluate(problem, scale);
        hessian.factor(problem, &best.z, &best.g);
        hessian.solve(&best.g, step);
        for (z, &s) in best.z.iter_mut().zip(&*step) {
            *z -= s;
        }
        for (i, &face) in hessian.faces.iter().enumerate() {
            let range = problem.range(i);
            problem.set.enter(i, face, &mut best.z[range.clone()], &best.g[range]);
        }
        best.evaluate(problem, scale);
    }
}

// Each block in turn to its minimiser, the others fixed; g kept up to date.
fn gauss_seidel<T: Real, S: FeasibleSet<T>>(problem: &Problem<T, S>, point: &mut Point<T>) {
    let mut before = [T::zero(); 2];
    for i in 0..problem.blocks() {
        let range = problem.range(i);
        let before = &mut before[..S::BLOCK];
        before.copy_from_slice(&point.z[range.clone()]);
        problem.set.minimise(
            i,
            problem.p,
            problem.n(),
            &mut point.z[range.clone()],
            &point.g[range.clone()],
        );
        for (k, &before) in range.zip(&*before) {
            let change = point.z[k] - before;
            // P is symmetric: its rows serve as columns.
            if !change.is_zero() || T::ORDER > 0 {
                add_scaled(&mut point.g, change, problem.row(k));
            }
        }
    }
}
