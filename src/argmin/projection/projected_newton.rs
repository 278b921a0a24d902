//! Block Gauss-Seidel sweeps that find the active face, and projected Newton steps on it [Bertsekas82]
//! that find the digits.

use super::face_hessian::ReducedHessian;
use super::feasible_set::{Face, FeasibleSet};
use super::quadratic::{Problem, Scale};
use crate::ad::Real;
use crate::linalg::{add_product, wide_dot};

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
    /// Whether g is Pz + q by P itself, not by its factor or by updates.
    is_exact: bool,
    /// W'z
    u: Vec<T>,
}

impl<T: Real> Point<T> {
    /// Recomputes what belongs to `z`.
    pub fn evaluate<S: FeasibleSet<T>>(&mut self, problem: &Problem<T, S>, scale: &Scale) {
        problem.gradient(&self.z, &mut self.g, &mut self.u);
        self.is_exact = problem.low_rank.is_none();
        self.measure(problem, scale);
    }

    // The same, and by P itself.
    fn evaluate_exactly<S: FeasibleSet<T>>(&mut self, problem: &Problem<T, S>, scale: &Scale) {
        problem.exact_gradient(&self.z, &mut self.g);
        self.is_exact = true;
        self.measure(problem, scale);
    }

    // What belongs to `z` and `g`.
    fn measure<S: FeasibleSet<T>>(&mut self, problem: &Problem<T, S>, scale: &Scale) {
        self.residual = scale.natural_residual(problem, &self.z, &self.g);
        self.objective = problem.objective(&self.z, &self.g);
    }

    /// Takes over `other`, without allocating.
    pub fn copy_from(&mut self, other: &Point<T>) {
        self.z.clone_from(&other.z);
        self.g.clone_from(&other.g);
        self.residual = other.residual;
        self.objective = other.objective;
        self.is_exact = other.is_exact;
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

/// How [`improve`](ProjectedNewton::improve) begins and when it gives up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    /// Whether a sweep comes first; otherwise the face is taken to be nearly known.
    pub sweep: bool,
    /// Rounds of sweep and Newton step that may pass without halving the best residual.
    pub patience: usize,
    /// Whether to give up at once where a face is ill-conditioned and its minimiser is not the
    /// solution: there are many such faces then.
    pub only_well_conditioned: bool,
}

impl Effort {
    /// Until nothing more is to be gained: ill-conditioned problems lower the objective for long
    /// before the residual falls.
    pub const FULL: Effort = Effort { sweep: true, patience: 20, only_well_conditioned: false };
    /// As long as it is the fastest.
    pub const SHORT: Effort = Effort { sweep: true, patience: 5, only_well_conditioned: true };
    /// The last digits.
    pub const POLISH: Effort = Effort { sweep: false, patience: 1, only_well_conditioned: false };
}

/// What became of a Newton step.
enum Step {
    Whole,
    Part,
    None,
}

/// Rounds of sweep and Newton step in one go.
const ROUNDS: usize = 100;
/// Part of the residual a step leaves at most if another with the same factors is to follow it.
const FAST: f64 = 0.03;
/// Part of the decrease that the slope promises which a step must keep (Armijo).
const SUFFICIENT: f64 = 0.1;

impl<T: Real> ProjectedNewton<T> {
    /// Starts at `current.z`, which must lie in the set.
    pub fn start<S: FeasibleSet<T>>(&mut self, problem: &Problem<T, S>, scale: &Scale) {
        if self.current.z.iter().all(|z| z.value() == 0.0) {
            self.current.g.clear();
            self.current.g.extend_from_slice(problem.q);
            self.current.is_exact = true;
            self.current.measure(problem, scale);
        } else {
            self.current.evaluate(problem, scale);
        }
        self.best.copy_from(&self.current);
        self.step.clear();
        self.step.resize(problem.n(), T::zero());
    }

    /// Goes on from a new `current.z`, which must lie in the set.
    pub fn resume<S: FeasibleSet<T>>(&mut self, problem: &Problem<T, S>, scale: &Scale) {
        self.current.evaluate(problem, scale);
        self.keep_best();
    }

    /// Improves `current` and `best` until the residual is below `tolerance`, and lower where the
    /// problem is ill-conditioned, or it gives up. Returns the number of sweeps and Newton steps.
    pub fn improve<S: FeasibleSet<T>>(
        &mut self,
        problem: &Problem<T, S>,
        scale: &Scale,
        tolerance: f64,
        effort: Effort,
    ) -> usize {
        let mut sweep = effort.sweep;
        // On straight faces nothing is left to repeat but rounding.
        let fast = if S::CURVATURE > 0.0 { FAST } else { 0.0 };
        // One more step than asked for reaches the rounding floor, and with the last factors is cheap.
        let goal = 0.01 * tolerance;
        let (mut iterations, mut idle) = (0, 0);
        for _ in 0..ROUNDS {
            if self.best.residual <= goal || idle > effort.patience {
                break;
            }
            let before = self.best.residual;
            if sweep {
                iterations += 1;
                self.gauss_seidel(problem);
                self.current.measure(problem, scale);
                self.keep_best();
                if self.best.residual <= goal {
                    break;
                }
            }
            iterations += 1;
            let start = self.current.residual;
            let step = self.newton(problem, scale);
            let mut rate = self.current.residual / start;
            // The last factors serve on while steps with them converge fast enough.
            while self.current.residual > goal
                && !matches!(step, Step::None)
                && (rate < fast || self.current.residual <= tolerance)
            {
                iterations += 1;
                let start = self.current.residual;
                if !self.refine(problem, scale) {
                    break;
                }
                rate = self.current.residual / start;
            }
            self.keep_best();
            if self.best.residual <= tolerance && self.best.residual > 0.5 * before {
                break;
            }
            if effort.only_well_conditioned
                && problem.blocks() >= S::MANY
                && self.best.residual > tolerance
                && self.hessian.is_ill_conditioned()
            {
                break;
            }
            // Sweeps may release constraints, so the minimiser on the face is found first, or a
            // sweep and the step to a boundary undo each other.
            sweep = match step {
                Step::Whole => self.current.residual > 0.5 * start,
                Step::Part => false,
                Step::None => true,
            };
            idle = if self.best.residual < 0.5 * before { 0 } else { idle + 1 };
        }
        iterations
    }

    /// Makes `best` and its residual those of P itself.
    pub fn finish<S: FeasibleSet<T>>(&mut self, problem: &Problem<T, S>, scale: &Scale) {
        if !self.best.is_exact {
            self.best.evaluate_exactly(problem, scale);
        }
    }

    fn keep_best(&mut self) {
        if self.current.residual < self.best.residual {
            self.best.copy_from(&self.current);
        }
    }

    // Each block in turn to its minimiser, the others fixed; g kept up to date.
    fn gauss_seidel<S: FeasibleSet<T>>(&mut self, problem: &Problem<T, S>) {
        let n = problem.n();
        let Point { z, g, u, is_exact, .. } = &mut self.current;
        *is_exact = false;
        if let Some(w) = problem.low_rank {
            w.transposed_product(z, u);
        }
        let (mut before, mut change) = ([T::zero(); 2], [T::zero(); 2]);
        for i in 0..problem.blocks() {
            let range = problem.range(i);
            let (before, change) = (&mut before[..S::BLOCK], &mut change[..S::BLOCK]);
            before.copy_from_slice(&z[range.clone()]);
            if let Some(w) = problem.low_rank {
                for k in range.clone() {
                    g[k] = w.row(k).zip(&*u).fold(problem.q[k], |sum, (w, &u)| sum + w * u);
                }
            }
            problem.set.minimise(i, problem.p, n, &mut z[range.clone()], &g[range.clone()]);
            for ((change, &z), &before) in change.iter_mut().zip(&z[range.clone()]).zip(&*before) {
                *change = z - before;
            }
            if T::ORDER == 0 && change.iter().all(|c| c.vanishes()) {
                continue;
            }
            match problem.low_rank {
                Some(w) => {
                    for (k, &change) in range.zip(&*change) {
                        u.iter_mut().zip(w.row(k)).for_each(|(u, w)| *u += w * change);
                    }
                }
                // P is symmetric: its rows serve as columns.
                None => add_product(&problem.p[range.start * n..range.end * n], change, g),
            }
        }
        if let Some(w) = problem.low_rank {
            g.copy_from_slice(problem.q);
            w.add_product(u, g);
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
        for (length, change) in projected {
            if self.attempt(problem, scale, length, change) {
                return if length == 1.0 { Step::Whole } else { Step::Part };
            }
        }
        let inside = self.first_boundary(problem);
        for part in [1.0, 0.25, 0.0625, 0.015625] {
            if self.attempt(problem, scale, part * inside, 0.0) {
                return Step::Part;
            }
        }
        Step::None
    }

    // A step with the factors of the last one, taken if it halves the residual.
    fn refine<S: FeasibleSet<T>>(&mut self, problem: &Problem<T, S>, scale: &Scale) -> bool {
        self.hessian.turn(&self.current.z);
        self.hessian.solve(&self.current.g, &mut self.step);
        self.step.iter_mut().for_each(|s| *s = -*s);
        self.attempt(problem, scale, 1.0, f64::NEG_INFINITY)
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
        for (i, &face) in self.hessian.faces.iter().enumerate() {
            let range = problem.range(i);
            let z = &mut trial.z[range.clone()];
            match face {
                Face::Free => problem.set.project(i, 1.0, z),
                _ => problem.set.enter(i, face, z, &current.g[range]),
            }
        }
        trial.evaluate(problem, scale);
        let taken = trial.residual <= 0.5 * current.residual
            || trial.objective < current.objective + change;
        if taken {
            std::mem::swap(&mut self.current, &mut self.trial);
        }
        taken
    }

    /// Moves `best` by one Newton step on `faces`, unchecked: the step that carries derivatives
    /// through the last iterate. By P itself: a factor has no derivative across its rank.
    pub fn differentiate<S: FeasibleSet<T>>(&mut self, problem: &Problem<T, S>, scale: &Scale) {
        let (hessian, best, step) = (&mut self.hessian, &mut self.best, &mut self.step);
        hessian.faces.clear();
        let blocks = scale.blocks(problem, &best.z, &best.g);
        hessian.faces.extend(blocks.enumerate().map(|(i, block)| problem.set.face(i, &block)));
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
