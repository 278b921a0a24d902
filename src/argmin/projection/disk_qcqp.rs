//! The friction impulses of [LeLidec21] (5), (6): a quadratic program on a product of disks.

use super::derivative::ProjectionFactor;
use super::disk;
use super::feasible_set::{Disks, Face};
use super::quadratic::Problem;
use super::solve::{self, ProjectionSettings, ProjectionWorkspace};
use crate::ad::{Node, Real};
use crate::argmin::status::{Report, Status};
use crate::linalg::{norm, wide_dot};

/// z = argmin 1/2 z'Pz + q'z, |z_i| <= R_i with z_i in the plane   \[LeLidec21\] (5), second line.
///
/// Inputs P (n x n row-major, n = 2 contacts), q (n) and R (contacts), outputs z (n). The paper's
/// radius mu_i lambda_n,i is multiplied outside. P is symmetric positive semi-definite and may be
/// singular; z is then one of the minimisers, and its derivative that of least norm. A weakly
/// active contact (|z_i| = R_i with multiplier 0) is differentiated as a sticking one; at R_i = 0
/// the derivative is the one-sided dz_i/dR_i = -g/|g|, dz_i/dq = 0.
#[derive(Clone, Debug, Default)]
pub struct DiskQcqp {
    /// Number of disks.
    pub contacts: usize,
    /// How it is solved.
    pub settings: ProjectionSettings,
}

/// How a contact of a [`DiskQcqp`] ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskMode {
    /// (Pz + q)_i = 0.
    Stick,
    /// |z_i| = R_i with (Pz + q)_i opposite to z_i.
    Slide,
    /// R_i = 0.
    None,
}

/// What [`DiskQcqp`] found.
#[derive(Debug, Default)]
pub struct DiskSolution {
    /// How the solve ended. The margin is the least of (R_i - |z_i|) / R_i where it sticks and
    /// gamma_i R_i / max(|q_i|, P_ii R_i) where it slides, with (Pz + q)_i + 2 gamma_i z_i = 0.
    pub report: Report,
    /// One a contact.
    pub modes: Vec<DiskMode>,
    /// -g_i / |g_i| where the mode is `None`, 0 if g_i = 0; 0 elsewhere.
    pub directions: Vec<[f64; 2]>,
    /// The starting guess of the next call, n or empty: the last z.
    pub warm_start: Vec<f64>,
}

// By hand: the tape copies solutions into memory it has, which the derived `clone_from` drops.
impl Clone for DiskSolution {
    fn clone(&self) -> Self {
        DiskSolution {
            report: self.report,
            modes: self.modes.clone(),
            directions: self.directions.clone(),
            warm_start: self.warm_start.clone(),
        }
    }

    fn clone_from(&mut self, other: &Self) {
        self.report = other.report;
        self.modes.clone_from(&other.modes);
        self.directions.clone_from(&other.directions);
        self.warm_start.clone_from(&other.warm_start);
    }
}

impl DiskQcqp {
    fn n(&self) -> usize {
        2 * self.contacts
    }

    fn inputs(&self) -> usize {
        self.n() * self.n() + self.n() + self.contacts
    }

    fn problem<'a, T: Real>(&self, inputs: &'a [T]) -> Problem<'a, T, Disks<'a, T>> {
        let (p, rest) = inputs.split_at(self.n() * self.n());
        let (q, radius) = rest.split_at(self.n());
        Problem { p, q, set: Disks { radius }, low_rank: None }
    }

    fn is_admissible<T: Real>(&self, inputs: &[T]) -> bool {
        if inputs.len() != self.inputs() {
            return false;
        }
        let problem = self.problem(inputs);
        let radii = problem.set.radius.iter().map(|r| r.value());
        problem.is_admissible() && { radii }.all(|r| r >= 0.0 && r.is_finite())
    }
}

impl Node for DiskQcqp {
    type Solution = DiskSolution;
    type Workspace<T: Real> = ProjectionWorkspace<T>;
    type Factor<T: Real> = ProjectionFactor<T>;

    fn primal<T: Real>(
        &self,
        inputs: &[T],
        outputs: &mut [T],
        solution: &mut DiskSolution,
        workspace: &mut ProjectionWorkspace<T>,
    ) {
        solution.modes.clear();
        solution.directions.clear();
        if !self.is_admissible(inputs) {
            solution.report = solve::invalid();
            solution.modes.resize(self.contacts, DiskMode::None);
            solution.directions.resize(self.contacts, [0.0; 2]);
            solution.warm_start.clear();
            outputs.fill(T::zero());
            return;
        }
        let problem = self.problem(inputs);
        let start = &solution.warm_start;
        solution.report = solve::solve(&problem, &self.settings, start, workspace, outputs);
        let (modes, directions) = (&mut solution.modes, &mut solution.directions);
        solution.report.margin = solve::classify(&problem, workspace, |_, face, g| {
            modes.push(match face {
                Face::Free => DiskMode::Stick,
                Face::Arc => DiskMode::Slide,
                Face::Fixed => DiskMode::None,
            });
            directions.push(if face == Face::Fixed { disk::against(g) } else { [0.0; 2] });
        });
        solution.warm_start.clear();
        solution.warm_start.extend(outputs.iter().map(|z| z.value()));
    }

    // Stick: (Pz + q)_i = 0. Slide: z_i x (Pz + q)_i = 0, |z_i|^2 = R_i^2. None: z_i = R_i d_i.
    fn residual<T: Real>(
        &self,
        solution: &DiskSolution,
        inputs: &[T],
        outputs: &[T],
        residual: &mut [T],
    ) {
        let n = self.n();
        let (p, rest) = inputs.split_at(n * n);
        let (q, radius) = rest.split_at(n);
        let gradient = |k: usize| q[k] + wide_dot(&p[k * n..][..n], outputs);
        for (i, mode) in solution.modes.iter().enumerate() {
            let (k, z) = (2 * i, [outputs[2 * i], outputs[2 * i + 1]]);
            let rows = match mode {
                DiskMode::Stick => [gradient(k), gradient(k + 1)],
                DiskMode::Slide => [
                    z[0] * gradient(k + 1) - z[1] * gradient(k),
                    z[0] * z[0] + z[1] * z[1] - radius[i] * radius[i],
                ],
                DiskMode::None => {
                    let d = solution.directions[i];
                    [z[0] - radius[i] * d[0], z[1] - radius[i] * d[1]]
                }
            };
            residual[k..k + 2].copy_from_slice(&rows);
        }
    }

    fn factor<T: Real>(
        &self,
        solution: &DiskSolution,
        inputs: &[T],
        outputs: &[T],
        factor: &mut ProjectionFactor<T>,
    ) {
        if solution.report.status == Status::InvalidInput {
            return;
        }
        let faces = solution.modes.iter().map(|mode| match mode {
            DiskMode::Stick => Face::Free,
            DiskMode::Slide => Face::Arc,
            DiskMode::None => Face::Fixed,
        });
        factor.factor(&self.problem(inputs), outputs, faces);
        let normals = factor.normals();
        for (i, mode) in solution.modes.iter().enumerate() {
            let z = &outputs[2 * i..2 * i + 2];
            normals.extend(match mode {
                DiskMode::Stick => [T::zero(); 2],
                DiskMode::Slide => {
                    let length = norm(z);
                    [z[0] / length, z[1] / length]
                }
                DiskMode::None => solution.directions[i].map(T::constant),
            });
        }
    }

    fn jvp<T: Real>(
        &self,
        solution: &DiskSolution,
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
        solution: &DiskSolution,
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
