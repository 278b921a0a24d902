//! The solver behind [`NonnegativeQp`](super::NonnegativeQp) and [`DiskQcqp`](super::DiskQcqp):
//! argmin 1/2 z'Pz + q'z over a simple set, the projections of [LeLidec21] (5).

use super::admm::Admm;
use super::feasible_set::{Face, FeasibleSet};
use super::projected_newton::ProjectedNewton;
use super::quadratic::{Problem, Scale};
use super::{Report, Status};
use crate::ad::Real;

/// How [`NonnegativeQp`](super::NonnegativeQp) and [`DiskQcqp`](super::DiskQcqp) are solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProjectionSettings {
    /// Relative natural residual, |z - Proj(z - D(Pz + q))| / max(|z|, |Dq|) with D the inverse of
    /// the (block) diagonal of P and largest entries as norms, at which a problem counts as solved.
    pub tolerance: f64,
    /// Limit of ADMM iterations.
    pub admm_iterations: usize,
    /// Weight alpha of the proximal term of ADMM, relative to the largest eigenvalue.
    pub proximal: f64,
    /// Whether sweeps and projected Newton steps come before and after ADMM. Without, it is the
    /// paper's method.
    pub polish: bool,
}

impl Default for ProjectionSettings {
    fn default() -> Self {
        ProjectionSettings { tolerance: 1e-12, admm_iterations: 2000, proximal: 1e-6, polish: true }
    }
}

/// Scratch memory of a solve.
#[derive(Clone, Debug, Default)]
pub struct ProjectionWorkspace<T> {
    scale: Scale,
    newton: ProjectedNewton<T>,
    admm: Admm<T>,
}

/// The report on inputs that are not admissible.
pub(super) fn invalid() -> Report {
    Report { status: Status::InvalidInput, iterations: 0, residual: f64::INFINITY, margin: 0.0 }
}

/// Solves `problem` from the guess `start` (used if it has the right length) into `z`.
///
/// The polish goes first: on most problems it ends there. ADMM is what it falls back on, until
/// the active set settles, in growing turns.
pub(super) fn solve<T: Real, S: FeasibleSet<T>>(
    problem: &Problem<T, S>,
    settings: &ProjectionSettings,
    start: &[f64],
    w: &mut ProjectionWorkspace<T>,
    z: &mut [T],
) -> Report {
    let n = problem.n();
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
    if settings.polish {
        report.iterations += newton.improve(problem, &w.scale, settings.tolerance);
    }
    report.status = Status::Solved;
    if newton.best.residual > settings.tolerance {
        report.status = fall_back(problem, settings, w, &mut report.iterations);
    }
    if w.newton.best.residual <= settings.tolerance {
        for _ in 0..T::ORDER {
            w.newton.differentiate(problem, &w.scale);
        }
    }
    z.copy_from_slice(&w.newton.best.z);
    report.residual = w.newton.best.residual;
    report
}

// ADMM and the polish in turns.
fn fall_back<T: Real, S: FeasibleSet<T>>(
    problem: &Problem<T, S>,
    settings: &ProjectionSettings,
    w: &mut ProjectionWorkspace<T>,
    iterations: &mut usize,
) -> Status {
    /// Turns without a better residual after which more of the same is hopeless.
    const IDLE_TURNS: usize = 4;
    let (newton, admm) = (&mut w.newton, &mut w.admm);
    admm.start(problem, &w.scale, (&newton.best.z, &newton.best.g), settings.proximal);
    let (mut left, mut patience, mut idle) = (settings.admm_iterations, 10, 0);
    while left > 0 {
        if !settings.polish {
            patience = usize::MAX;
        }
        let tolerance = if settings.polish { settings.tolerance } else { 0.1 * settings.tolerance };
        let spent = admm.iterate(problem, tolerance, (patience, left), &mut newton.current.z);
        left -= spent;
        *iterations += spent;
        let before = newton.best.residual;
        newton.resume(problem, &w.scale);
        if settings.polish {
            *iterations += newton.improve(problem, &w.scale, settings.tolerance);
        }
        if newton.best.residual <= settings.tolerance {
            return Status::Solved;
        }
        idle = if newton.best.residual < 0.5 * before { 0 } else { idle + 1 };
        if idle >= IDLE_TURNS || !settings.polish {
            break;
        }
        patience *= 2;
    }
    if left == 0 { Status::IterationLimit } else { Status::Stalled }
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
    for i in 0..problem.blocks() {
        let block = w.scale.block(problem, i, &point.z, &point.g);
        let face = problem.set.face(i, &block);
        margin = margin.min(problem.set.margin(i, face, &block));
        visit(i, face, block.g);
    }
    // A weakly active block lies on the wrong side of its own rule by rounding.
    margin.max(0.0)
}
