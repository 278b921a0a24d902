//! The solver behind [`NonnegativeQp`](super::NonnegativeQp) and [`DiskQcqp`](super::DiskQcqp):
//! argmin 1/2 z'Pz + q'z over a simple set, the projections of [LeLidec21] (5).

use super::admm::{Admm, ITERATIONS};
use super::feasible_set::{Face, FeasibleSet};
use super::low_rank::LowRank;
use super::primal_dual::InteriorPoint;
use super::projected_newton::{Effort, ProjectedNewton};
use super::quadratic::{Problem, Scale};
use crate::ad::Real;
use crate::argmin::status::{Report, Status};

/// By what [`NonnegativeQp`](super::NonnegativeQp) and [`DiskQcqp`](super::DiskQcqp) are solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProjectionMethod {
    /// The fastest: projected Newton steps, and the interior point where they make no headway.
    #[default]
    Auto,
    /// Sweeps of block Gauss-Seidel and projected Newton steps alone.
    ProjectedNewton,
    /// A primal-dual interior point, then projected Newton steps for the last digits.
    InteriorPoint,
    /// The regularised ADMM of the paper's appendix A, and nothing after it.
    Admm,
}

/// How [`NonnegativeQp`](super::NonnegativeQp) and [`DiskQcqp`](super::DiskQcqp) are solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProjectionSettings {
    /// Relative natural residual, |z - Proj(z - D(Pz + q))| / max(|z|, |Dq|) with D the inverse of
    /// the (block) diagonal of P and largest entries as norms, at which a problem counts as solved.
    pub tolerance: f64,
    /// By what.
    pub method: ProjectionMethod,
}

impl Default for ProjectionSettings {
    fn default() -> Self {
        ProjectionSettings { tolerance: 1e-12, method: ProjectionMethod::Auto }
    }
}

/// Scratch memory of a solve.
#[derive(Clone, Debug, Default)]
pub struct ProjectionWorkspace<T> {
    scale: Scale,
    low_rank: LowRank<T>,
    newton: ProjectedNewton<T>,
    interior: InteriorPoint,
    admm: Admm<T>,
}

/// The report on inputs that are not admissible.
pub(super) fn invalid() -> Report {
    Report { status: Status::InvalidInput, residual: f64::INFINITY, ..Report::default() }
}

/// Solves `problem` from the guess `start` (used if it has the right length) into `z`.
pub(super) fn solve<T: Real, S: FeasibleSet<T>>(
    problem: &Problem<T, S>,
    settings: &ProjectionSettings,
    start: &[f64],
    w: &mut ProjectionWorkspace<T>,
    z: &mut [T],
) -> Report {
    let (n, tolerance) = (problem.n(), settings.tolerance);
    w.scale.measure(problem);
    let newton = &mut w.newton;
    newton.current.z.clear();
    if start.len() == n && start.iter().all(|z| z.is_finite()) {
        newton.current.z.extend(start.iter().map(|&z| T::constant(z)));
        problem.project(&mut newton.current.z);
    } else {
        newton.current.z.resize(n, T::zero());
    }
    newton.start(problem, &w.scale);

    let mut report = Report::default();
    let spent = &mut report.iterations;
    let mut status = Status::Stalled;
    let (by_newton, by_interior) = match settings.method {
        ProjectionMethod::Auto => (Some(Effort::SHORT), true),
        ProjectionMethod::ProjectedNewton => (Some(Effort::FULL), false),
        ProjectionMethod::InteriorPoint => (None, true),
        ProjectionMethod::Admm => (None, false),
    };
    if let Some(effort) = by_newton {
        if newton.best.residual > tolerance && w.low_rank.detect(problem.p, n) {
            let factored = problem.with_factor(Some(&w.low_rank));
            // Steps that cheap are worth taking for longer.
            *spent += newton.improve(&factored, &w.scale, tolerance, Effort::FULL);
            newton.finish(problem, &w.scale);
        }
        if newton.best.residual > tolerance {
            *spent += newton.improve(problem, &w.scale, tolerance, effort);
            newton.finish(problem, &w.scale);
        }
    }
    if by_interior && newton.best.residual > tolerance {
        *spent += interior_point(problem, tolerance, w);
    }
    let newton = &mut w.newton;
    if by_interior && newton.best.residual > tolerance {
        newton.current.copy_from(&newton.best);
        *spent += newton.improve(problem, &w.scale, tolerance, Effort::FULL);
        newton.finish(problem, &w.scale);
    }
    if settings.method == ProjectionMethod::Admm && w.newton.best.residual > tolerance {
        status = admm(problem, tolerance, w, spent);
    }
    if w.newton.best.residual <= tolerance {
        status = Status::Solved;
        for _ in 0..T::ORDER {
            w.newton.differentiate(problem, &w.scale);
        }
    }
    z.copy_from_slice(&w.newton.best.z);
    Report { status, residual: w.newton.best.residual, ..report }
}

// The interior point and projected Newton steps in turns, until the face it names is the right one.
fn interior_point<T: Real, S: FeasibleSet<T>>(
    problem: &Problem<T, S>,
    tolerance: f64,
    w: &mut ProjectionWorkspace<T>,
) -> usize {
    /// Complementarity at which Newton steps are tried.
    const GOALS: [f64; 4] = [1e-7, 1e-9, 1e-11, 1e-13];
    const ITERATIONS: usize = 40;
    let (newton, interior) = (&mut w.newton, &mut w.interior);
    interior.start(problem, &w.scale);
    let mut spent = 0;
    for goal in GOALS {
        spent += interior.iterate::<T, S>(goal, ITERATIONS, &mut newton.current.z);
        problem.project(&mut newton.current.z);
        newton.resume(problem, &w.scale);
        spent += newton.improve(problem, &w.scale, tolerance, Effort::POLISH);
        newton.finish(problem, &w.scale);
        if newton.best.residual <= tolerance {
            break;
        }
    }
    spent
}

// ADMM to a tenth of the tolerance in its own residuals.
fn admm<T: Real, S: FeasibleSet<T>>(
    problem: &Problem<T, S>,
    tolerance: f64,
    w: &mut ProjectionWorkspace<T>,
    iterations: &mut usize,
) -> Status {
    let (newton, admm) = (&mut w.newton, &mut w.admm);
    admm.start(problem, &w.scale, (&newton.best.z, &newton.best.g));
    let spent = admm.iterate(problem, 0.1 * tolerance, &mut newton.current.z);
    *iterations += spent;
    newton.resume(problem, &w.scale);
    if spent < ITERATIONS { Status::Stalled } else { Status::IterationLimit }
}

/// The face and the margin of each block at the solution `z`; `visit` takes the block, its face
/// and its gradient. Returns the least margin.
pub(super) fn classify<T: Real, S: FeasibleSet<T>>(
    problem: &Problem<T, S>,
    w: &mut ProjectionWorkspace<T>,
    mut visit: impl FnMut(usize, Face, &[T]),
) -> f64 {
    let point = &w.newton.best;
    let mut margin = f64::INFINITY;
    for (i, block) in w.scale.blocks(problem, &point.z, &point.g).enumerate() {
        let face = problem.set.face(i, &block);
        margin = margin.min(problem.set.margin(i, face, &block));
        visit(i, face, block.g);
    }
    // A weakly active block lies on the wrong side of its own rule by rounding.
    margin.max(0.0)
}
