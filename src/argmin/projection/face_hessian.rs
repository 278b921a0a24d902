//! The Hessian on the active face, H = B'PB + diag(gamma), and its pseudo-inverse: the matrix of
//! the Newton steps and of the derivatives.

use super::feasible_set::{Face, FeasibleSet};
use super::quadratic::Problem;
use super::woodbury::Woodbury;
use crate::ad::Real;
use crate::linalg::{PackedCholesky, PivotedCholesky};

/// A pivot below this part of its diagonal entry makes H singular, as in [`PivotedCholesky`].
const SINGULAR: f64 = 1e-12;
/// A least relative pivot below which faces are many and their minimisers far apart.
const ILL_CONDITIONED: f64 = 1e-3;

/// A column of B: a unit vector, or the tangent of a circle.
#[derive(Clone, Copy, Debug)]
enum Direction<T> {
    /// e_k
    Axis(usize),
    /// t in the components k, k + 1; turning along it costs gamma.
    Tangent { k: usize, t: [T; 2], gamma: T },
}

impl<T: Real> Direction<T> {
    // The first component that may be other than zero.
    fn first(&self) -> usize {
        match *self {
            Direction::Axis(k) | Direction::Tangent { k, .. } => k,
        }
    }

    // B_j' x
    fn along(&self, x: &[T]) -> T {
        match *self {
            Direction::Axis(k) => x[k],
            Direction::Tangent { k, t, .. } => t[0] * x[k] + t[1] * x[k + 1],
        }
    }
}

/// How H is factorised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Factor {
    /// Contacts outnumber the degrees of freedom.
    Woodbury,
    /// H is definite.
    #[default]
    Cholesky,
    /// H is singular: with pivots, which is slower.
    Pivoted,
}

/// H = B'PB + diag(gamma) of a face, factorised. Where H is singular its solutions are those of
/// least norm. Reused, it allocates nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct ReducedHessian<T> {
    /// The face, one a block; read by `factor`.
    pub faces: Vec<Face>,
    directions: Vec<Direction<T>>,
    kind: Factor,
    woodbury: Woodbury<T>,
    cholesky: PackedCholesky<T>,
    pivoted: PivotedCholesky<T>,
    hessian: Vec<T>,
    row: Vec<T>,
    reduced: Vec<T>,
}

impl<T: Real> ReducedHessian<T> {
    /// Factorises H on `faces` at the point `z` with gradient `g`, of which only the entries on
    /// circles are read.
    pub fn factor<S: FeasibleSet<T>>(&mut self, problem: &Problem<T, S>, z: &[T], g: &[T]) {
        self.directions.clear();
        for (i, face) in self.faces.iter().enumerate() {
            let range = problem.range(i);
            match face {
                Face::Free => self.directions.extend(range.map(Direction::Axis)),
                Face::Arc => self.directions.push(tangent(range.start, z, g)),
                Face::Fixed => {}
            }
        }
        self.kind = if self.factor_low_rank(problem) {
            Factor::Woodbury
        } else if self.factor_definite(problem) {
            Factor::Cholesky
        } else {
            self.factor_singular(problem);
            Factor::Pivoted
        };
    }

    fn factor_low_rank<S: FeasibleSet<T>>(&mut self, problem: &Problem<T, S>) -> bool {
        let Some(w) = problem.low_rank else { return false };
        self.woodbury.clear(w.rank());
        let (woodbury, directions) = (&mut self.woodbury, &self.directions);
        let pushed = directions.iter().all(|direction| match *direction {
            Direction::Axis(k) => woodbury.push(w.row(k), T::zero()),
            Direction::Tangent { k, t, gamma } => {
                let pair = w.row(k).zip(w.row(k + 1));
                woodbury.push(pair.map(|(x, y)| t[0] * x + t[1] * y), gamma)
            }
        });
        pushed && woodbury.factor()
    }

    fn factor_definite<S: FeasibleSet<T>>(&mut self, problem: &Problem<T, S>) -> bool {
        let (directions, scratch) = (&self.directions, &mut self.row);
        let push =
            |j: usize, rows: &mut Vec<T>| push_row(problem, directions, (j, j), scratch, rows);
        self.cholesky.factor_rows(directions.len(), SINGULAR, push).is_ok()
    }

    fn factor_singular<S: FeasibleSet<T>>(&mut self, problem: &Problem<T, S>) {
        self.hessian.clear();
        for j in 0..self.directions.len() {
            push_row(problem, &self.directions, (j, 0), &mut self.row, &mut self.hessian);
        }
        self.pivoted.factor(&self.hessian, self.directions.len());
    }

    /// Turns the tangents to those at `z` without another factorisation: H changes little, but
    /// along the old ones the force across the circle would have a part.
    pub fn turn(&mut self, z: &[T]) {
        for direction in &mut self.directions {
            if let Direction::Tangent { k, t, .. } = direction {
                (*t, _) = unit_tangent(&z[*k..*k + 2]);
            }
        }
    }

    /// Whether H is definite, but only just.
    pub fn is_ill_conditioned(&self) -> bool {
        self.kind == Factor::Cholesky && self.cholesky.least_pivot() < ILL_CONDITIONED
    }

    /// Whether all variables of block `i` are unknowns.
    pub fn is_free(&self, i: usize) -> bool {
        self.faces[i] == Face::Free
    }

    /// y = B H+ B' x; all n long.
    pub fn solve(&mut self, x: &[T], y: &mut [T]) {
        self.reduced.clear();
        self.reduced.extend(self.directions.iter().map(|direction| direction.along(x)));
        match self.kind {
            Factor::Woodbury => self.woodbury.solve(&mut self.reduced),
            Factor::Cholesky => self.cholesky.solve(&mut self.reduced),
            Factor::Pivoted => self.pivoted.solve(&mut self.reduced),
        }
        y.fill(T::zero());
        for (direction, &value) in self.directions.iter().zip(&self.reduced) {
            match *direction {
                Direction::Axis(k) => y[k] = value,
                Direction::Tangent { k, t, .. } => {
                    y[k] = t[0] * value;
                    y[k + 1] = t[1] * value;
                }
            }
        }
    }
}

// Appends row j of B'PB + diag(gamma) from column `first` on.
fn push_row<T: Real, S: FeasibleSet<T>>(
    problem: &Problem<T, S>,
    directions: &[Direction<T>],
    (j, first): (usize, usize),
    scratch: &mut Vec<T>,
    rows: &mut Vec<T>,
) {
    let start = rows.len();
    let others = &directions[first..];
    match directions[j] {
        Direction::Axis(k) => {
            let row = problem.row(k);
            rows.extend(others.iter().map(|other| other.along(row)));
        }
        Direction::Tangent { k, t, gamma } => {
            // A row of B'P, from where the others start.
            let from = others[0].first();
            scratch.clear();
            scratch.resize(from, T::zero());
            let pair = problem.row(k)[from..].iter().zip(&problem.row(k + 1)[from..]);
            scratch.extend(pair.map(|(&x, &y)| t[0] * x + t[1] * y));
            rows.extend(others.iter().map(|other| other.along(scratch)));
            rows[start + j - first] += gamma;
        }
    }
}

// gamma = -(g.z) / R^2: the force that presses z against the circle, over the radius.
fn tangent<T: Real>(k: usize, z: &[T], g: &[T]) -> Direction<T> {
    let (z, g) = (&z[k..k + 2], &g[k..k + 2]);
    let (t, square) = unit_tangent(z);
    // Where g pulls z off the circle, the face is not binding and adds nothing.
    let gamma = (-(g[0] * z[0] + g[1] * z[1]) / square).max(T::zero());
    Direction::Tangent { k, t, gamma }
}

// The tangent at `z` of the circle through it, and |z|^2.
fn unit_tangent<T: Real>(z: &[T]) -> ([T; 2], T) {
    let square = z[0] * z[0] + z[1] * z[1];
    let inverse = square.sqrt().recip();
    ([-z[1] * inverse, z[0] * inverse], square)
}
