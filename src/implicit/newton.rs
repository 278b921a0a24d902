//! Newton's method on the momentum of a step, or on the balance at rest, with a line search that keeps all elements from
//! turning inside out (`Nocedal06` 3, 11).

use super::momentum::Momentum;
use crate::argmin::{Report, Status};
use crate::linalg::{BlockMatrix, BlockPattern, SparseFactor, Symbolic};

/// A step of the search is halved this often at most.
const MOST_HALVINGS: usize = 25;
/// Of the decrease that the slope promises a step must keep this part.
const SUFFICIENT: f64 = 1e-4;
/// A step that shrinks the residual to this part leaves a factor that is good for one more.
const FAST: f64 = 1e-3;

/// When Newton's method ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewtonSettings {
    /// The residual it aims at, relative to the largest force of an element, gravity and momentum at a node.
    pub tolerance: f64,
    /// The residual with which the problem counts as solved where rounding leaves no smaller one.
    pub accepted: f64,
    /// The most iterations.
    pub iterations: usize,
}

impl Default for NewtonSettings {
    fn default() -> Self {
        NewtonSettings { tolerance: 1e-13, accepted: 1e-10, iterations: 100 }
    }
}

/// Newton's method, with its memory. Reused with the same elements, it decides no order twice.
#[derive(Clone, Debug, Default)]
pub struct Newton {
    /// When it ends.
    pub settings: NewtonSettings,
    symbolic: Option<Symbolic>,
    /// The pattern that is of.
    known: BlockPattern,
    factor: SparseFactor,
    matrix: BlockMatrix<f64>,
    x: Vec<[f64; 3]>,
    residual: Vec<[f64; 3]>,
    /// What that is compared to.
    scale: f64,
    step: Vec<[f64; 3]>,
    trial: Vec<[f64; 3]>,
    trial_x: Vec<[f64; 3]>,
}

/// Which matrix a step is by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Matrix {
    /// That of the step before.
    Last,
    /// That at u.
    Exact,
    /// The same, if it is positive definite.
    Convex,
    /// Made positive definite element by element.
    Projected,
}

/// By what a line search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Merit {
    Residual,
    Potential,
}

impl Newton {
    /// Solves for `u`, from where it is: velocities of a step, places at rest. Without a solution `u` is the best found.
    pub fn solve(&mut self, momentum: &Momentum<f64>, u: &mut Vec<[f64; 3]>) -> Report {
        let pattern = momentum.elements.pattern();
        if self.symbolic.is_none() || self.known != *pattern {
            self.symbolic = Some(Symbolic::new(pattern, &[]));
            self.known.clone_from(pattern);
        }
        let invalid =
            Report { status: Status::InvalidInput, residual: f64::INFINITY, ..Report::default() };
        if u.len() != pattern.nodes() || !is_finite(u) || !momentum.is_consistent() {
            return invalid;
        }
        momentum.positions(u, &mut self.x);
        let is_sound =
            self.x.len() == u.len() && momentum.elements.least_determinant(&self.x) > 0.0;
        if !is_sound {
            return invalid;
        }
        self.scale = momentum.measured_residual(u, &self.x, &mut self.residual);
        let (mut size, mut scale) = (largest(&self.residual), self.scale);
        let mut reusable = false;
        let mut iterations = 0;
        let status = loop {
            let relative = relative(size, scale);
            if relative <= self.settings.tolerance {
                break Status::Solved;
            }
            let ended =
                if relative <= self.settings.accepted { Status::Solved } else { Status::Stalled };
            if iterations == self.settings.iterations {
                let limit = Status::IterationLimit;
                break if ended == Status::Solved { ended } else { limit };
            }
            iterations += 1;
            let by = |matrix, merit| (matrix, merit);
            let by_last = reusable && self.search(momentum, u, by(Matrix::Last, Merit::Residual));
            let found = by_last
                // Viscosity has no potential.
                || (momentum.is_symmetric()
                    && (self.search(momentum, u, by(Matrix::Convex, Merit::Potential))
                        || self.search(momentum, u, by(Matrix::Projected, Merit::Potential))))
                // Near the end the potential has no digits left.
                || self.search(momentum, u, by(Matrix::Exact, Merit::Residual))
                || self.search(momentum, u, by(Matrix::Projected, Merit::Residual));
            if !found {
                break ended;
            }
            let before = std::mem::replace(&mut size, largest(&self.residual));
            reusable = size < FAST * before;
            let behind = std::mem::replace(&mut scale, self.scale);
            // Rounding leaves no smaller one: what still falls, falls by chance.
            let accepts = |size, scale| self::relative(size, scale) <= self.settings.accepted;
            if !by_last && size > 0.5 * before && accepts(size, scale) {
                // The search leaves where it came from as the trial.
                if size > before && accepts(before, behind) {
                    std::mem::swap(u, &mut self.trial);
                    std::mem::swap(&mut self.x, &mut self.trial_x);
                    momentum.residual(u, &self.x, &mut self.residual);
                    (size, scale) = (before, behind);
                }
                break Status::Solved;
            }
        };
        Report { status, iterations, residual: relative(size, scale), ..Report::default() }
    }

    /// The places of the nodes (m) at the `u` found last.
    pub fn positions(&self) -> &[[f64; 3]] {
        &self.x
    }

    /// A step by a matrix, shortened until it helps. False if it does not.
    fn search(
        &mut self,
        momentum: &Momentum<f64>,
        u: &mut Vec<[f64; 3]>,
        (matrix, merit): (Matrix, Merit),
    ) -> bool {
        let Some(symbolic) = &self.symbolic else { return false };
        if matrix != Matrix::Last {
            let projected = matrix == Matrix::Projected;
            let symmetric = momentum.is_symmetric() || projected;
            let finite = momentum.tangent(u, &self.x, projected, &mut self.matrix);
            if !finite || self.factor.factor(symbolic, &self.matrix, symmetric).is_err() {
                return false;
            }
            if matrix == Matrix::Convex && self.factor.negative_pivots() > 0 {
                return false;
            }
        }
        self.step.clone_from(&self.residual);
        self.step.iter_mut().flatten().for_each(|x| *x = -*x);
        self.factor.solve(symbolic, false, &mut self.step);
        if !is_finite(&self.step) {
            return false;
        }
        let by_potential = merit == Merit::Potential;
        let (start, slope) = if by_potential {
            (momentum.potential(u, &self.x), inner(&self.residual, &self.step))
        } else {
            let square = inner(&self.residual, &self.residual);
            (square, -2.0 * square)
        };
        let mut share = 1.0;
        for _ in 0..=MOST_HALVINGS {
            self.trial.clear();
            let moved =
                |(u, step): (&[f64; 3], &[f64; 3])| [0, 1, 2].map(|k| u[k] + share * step[k]);
            self.trial.extend(u.iter().zip(&self.step).map(moved));
            momentum.positions(&self.trial, &mut self.trial_x);
            if momentum.elements.least_determinant(&self.trial_x) > 0.0 {
                let value = if by_potential {
                    momentum.potential(&self.trial, &self.trial_x)
                } else {
                    let at = (&self.trial, &self.trial_x);
                    self.scale = momentum.measured_residual(at.0, at.1, &mut self.residual);
                    inner(&self.residual, &self.residual)
                };
                if value < start + SUFFICIENT * share * slope {
                    std::mem::swap(u, &mut self.trial);
                    std::mem::swap(&mut self.x, &mut self.trial_x);
                    if by_potential {
                        self.scale = momentum.measured_residual(u, &self.x, &mut self.residual);
                    }
                    return true;
                }
            }
            share *= 0.5;
        }
        self.scale = momentum.measured_residual(u, &self.x, &mut self.residual);
        false
    }
}

pub(super) fn is_finite(x: &[[f64; 3]]) -> bool {
    x.iter().flatten().all(|x| x.is_finite())
}

/// The largest entry; infinite where one is no number.
pub(super) fn largest(x: &[[f64; 3]]) -> f64 {
    let larger = |most: f64, x: &f64| if x.is_nan() { f64::INFINITY } else { most.max(x.abs()) };
    x.iter().flatten().fold(0.0, larger)
}

/// A residual relative to its scale; of nothing it is zero.
pub(super) fn relative(size: f64, scale: f64) -> f64 {
    if size == 0.0 { 0.0 } else { size / scale }
}

fn inner(x: &[[f64; 3]], y: &[[f64; 3]]) -> f64 {
    x.as_flattened().iter().zip(y.as_flattened()).map(|(x, y)| x * y).sum()
}
