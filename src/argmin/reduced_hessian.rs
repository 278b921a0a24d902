//! The Hessian on the active face, H = B'PB + diag(gamma), and its pseudo-inverse: the matrix of
//! the Newton steps and of the derivatives.

use super::feasible_set::{Face, FeasibleSet};
use super::quadratic::Problem;
use crate::ad::Real;
use crate::linalg::{PivotedCholesky, wide_dot};

/// A column of B: a unit vector, or the tangent of a circle.
#[derive(Clone, Copy, Debug)]
enum Direction<T> {
    /// e_k
    Axis(usize),
    /// t in the components k, k + 1; turning along it costs gamma.
    Tangent { k: usize, t: [T; 2], gamma: T },
}

impl<T: Real> Direction<T> {
    // B_j' x
    fn along(&self, x: &[T]) -> T {
        match *self {
            Direction::Axis(k) => x[k],
            Direction::Tangent { k, t, .. } => t[0] * x[k] + t[1] * x[k + 1],
        }
    }
}

/// H = B'PB + diag(gamma) of a face, factorised. Where H is singular its solutions are those of
/// least norm. Reused, it allocates nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct ReducedHessian<T> {
    /// The face, one a block; read by `factor`.
    pub faces: Vec<Face>,
    directions: Vec<Direction<T>>,
    hessian: Vec<T>,
    row: Vec<T>,
    cholesky: PivotedCholesky<T>,
    reduced: Vec<T>,
}

impl<T: Real> ReducedHessian<T> {
    /// Factorises H on `faces` at the point `z` with gradient `g`.
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
        let m = self.directions.len();
        self.hessian.clear();
        for direction in &self.directions {
            // A row of B'P, then of B'PB + diag(gamma).
            let row = match *direction {
                Direction::Axis(k) => problem.row(k),
                Direction::Tangent { k, t, .. } => {
                    self.row.clear();
                    let pair = problem.row(k).iter().zip(problem.row(k + 1));
                    self.row.extend(pair.map(|(&x, &y)| t[0] * x + t[1] * y));
                    &self.row
                }
            };
            let j = self.hessian.len() + self.hessian.len() / m.max(1);
            self.hessian.extend(self.directions.iter().map(|other| other.along(row)));
            if let Direction::Tangent { gamma, .. } = *direction {
                self.hessian[j] += gamma;
            }
        }
        self.cholesky.factor(&self.hessian, m);
    }

    /// Whether all variables of block `i` are unknowns.
    pub fn is_free(&self, i: usize) -> bool {
        self.faces[i] == Face::Free
    }

    /// y = B H+ B' x; all n long.
    pub fn solve(&mut self, x: &[T], y: &mut [T]) {
        self.reduced.clear();
        self.reduced.extend(self.directions.iter().map(|direction| direction.along(x)));
        self.cholesky.solve(&mut self.reduced);
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

// gamma = -(g.z) / R^2: the force that presses z against the circle, over the radius.
fn tangent<T: Real>(k: usize, z: &[T], g: &[T]) -> Direction<T> {
    let (z, g) = (&z[k..k + 2], &g[k..k + 2]);
    let square = wide_dot(z, z);
    let inverse = square.sqrt().recip();
    let t = [-z[1] * inverse, z[0] * inverse];
    // Where g pulls z off the circle, the face is not binding and adds nothing.
    let gamma = (-wide_dot(g, z) / square).max(T::zero());
    Direction::Tangent { k, t, gamma }
}
