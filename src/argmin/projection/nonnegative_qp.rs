//! The normal impulses of [LeLidec21] (5): a quadratic program on the non-negative orthant.

use super::derivative::ProjectionFactor;
use super::feasible_set::{Face, HalfLines};
use super::quadratic::Problem;
use super::solve::{self, ProjectionSettings, ProjectionWorkspace};
use crate::ad::{Node, Real};
use crate::argmin::status::{Report, Status};
use crate::linalg::wide_dot;

/// z = argmin 1/2 z'Pz + q'z, z >= 0   \[LeLidec21\] (5), first line.
///
/// Inputs P (n x n row-major) and q (n), outputs z (n). P is symmetric positive semi-definite and
/// may be singular, as long as the minimum exists; z is then one of the minimisers, and its
/// derivative that of least norm. A weakly active variable (z_i = 0 with multiplier 0) is
/// differentiated as a free one.
#[derive(Clone, Debug, Default)]
pub struct NonnegativeQp {
    /// Number of variables.
    pub n: usize,
    /// How it is solved.
    pub settings: ProjectionSettings,
}

/// How a variable of a [`NonnegativeQp`] ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundMode {
    /// z_i >= 0 with (Pz + q)_i = 0.
    Free,
    /// z_i = 0 with (Pz + q)_i > 0.
    Active,
}

/// What [`NonnegativeQp`] found.
#[derive(Debug, Default)]
pub struct BoundSolution {
    /// How the solve ended. The margin is the least of z_i and (Pz + q)_i / P_ii over
    /// max(|z|, |q_i / P_ii|).
    pub report: Report,
    /// One a variable.
    pub modes: Vec<BoundMode>,
    /// The starting guess of the next call, n or empty: the last z.
    pub warm_start: Vec<f64>,
}

// By hand: the tape copies solutions into memory it has, which the derived `clone_from` drops.
impl Clone for BoundSolution {
    fn clone(&self) -> Self {
        BoundSolution {
            report: self.report,
            modes: self.modes.clone(),
            warm_start: self.warm_start.clone(),
        }
    }

    fn clone_from(&mut self, other: &Self) {
        self.report = other.report;
        self.modes.clone_from(&other.modes);
        self.warm_start.clone_from(&other.warm_start);
    }
}

impl NonnegativeQp {
    fn inputs(&self) -> usize {
        self.n * self.n + self.n
    }

    fn problem<'a, T: Real>(&self, inputs: &'a [T]) -> Problem<'a, T, HalfLines> {
        let (p, q) = inputs.split_at(self.n * self.n);
        Problem { p, q: &q[..self.n], set: HalfLines, low_rank: None }
    }
}

impl Node for NonnegativeQp {
    type Solution = BoundSolution;
    type Workspace<T: Real> = ProjectionWorkspace<T>;
    type Factor<T: Real> = ProjectionFactor<T>;

    fn primal<T: Real>(
        &self,
        inputs: &[T],
        outputs: &mut [T],
        solution: &mut BoundSolution,
        workspace: &mut ProjectionWorkspace<T>,
    ) {
        solution.modes.clear();
        if inputs.len() != self.inputs() || !self.problem(inputs).is_admissible() {
            solution.report = solve::invalid();
            solution.modes.resize(self.n, BoundMode::Active);
            solution.warm_start.clear();
            outputs.fill(T::zero());
            return;
        }
        let problem = self.problem(inputs);
        let start = &solution.warm_start;
        solution.report = solve::solve(&problem, &self.settings, start, workspace, outputs);
        let modes = &mut solution.modes;
        solution.report.margin = solve::classify(&problem, workspace, |_, face, _| {
            modes.push(if face == Face::Fixed { BoundMode::Active } else { BoundMode::Free });
        });
        solution.warm_start.clear();
        solution.warm_start.extend(outputs.iter().map(|z| z.value()));
    }

    // Free: (Pz + q)_i = 0, active: z_i = 0.
    fn residual<T: Real>(
        &self,
        solution: &BoundSolution,
        inputs: &[T],
        outputs: &[T],
        residual: &mut [T],
    ) {
        let (p, q) = inputs.split_at(self.n * self.n);
        for (i, mode) in solution.modes.iter().enumerate() {
            residual[i] = match mode {
                BoundMode::Free => q[i] + wide_dot(&p[i * self.n..][..self.n], outputs),
                BoundMode::Active => outputs[i],
            };
        }
    }

    fn factor<T: Real>(
        &self,
        solution: &BoundSolution,
        inputs: &[T],
        outputs: &[T],
        factor: &mut ProjectionFactor<T>,
    ) {
        if solution.report.status == Status::InvalidInput {
            return;
        }
        let faces = solution.modes.iter().map(|mode| match mode {
            BoundMode::Free => Face::Free,
            BoundMode::Active => Face::Fixed,
        });
        factor.factor(&self.problem(inputs), outputs, faces);
    }

    fn jvp<T: Real>(
        &self,
        solution: &BoundSolution,
        factor: &mut ProjectionFactor<T>,
        inputs: &[T],
        outputs: &[T],
        input_tangents: &[T],
        output_tangents: &mut [T],
    ) {
        if solution.report.status == Status::InvalidInput {
            output_tangents.fill(T::zero());
            return;
        }
        factor.jvp(&self.problem(inputs), outputs, input_tangents, output_tangents);
    }

    fn vjp<T: Real>(
        &self,
        solution: &BoundSolution,
        factor: &mut ProjectionFactor<T>,
        inputs: &[T],
        outputs: &[T],
        output_adjoints: &[T],
        input_adjoints: &mut [T],
    ) {
        if solution.report.status != Status::InvalidInput {
            factor.vjp(&self.problem(inputs), outputs, output_adjoints, input_adjoints);
        }
    }
}
