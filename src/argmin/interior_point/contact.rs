//! One contact of a [cone program](super::), and its part of the interior point's
//! iterate.

use super::second_order_cone::{
    Matrix, Point, Scaling, depth, inner, longest_step, project_above, tangent_norm,
};

/// The larger of the two; a NaN must not pass for a small residual.
pub(super) fn larger(a: f64, b: f64) -> f64 {
    if b <= a { a } else { b }
}

/// One contact: its data and its part of the iterate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Contact {
    /// f = unit * (x_0, mu x_1, mu x_2); 0 if nothing that moves is touched.
    pub unit: f64,
    pub mu: f64,
    pub compliance: f64,
    pub b: Point,
    /// x_0 is bounded below by it, if positive.
    pub least: f64,
    pub x: Point,
    pub z: Point,
    /// x_0 less its bound, and the multiplier; kept, since the difference would lose its digits.
    pub slack: f64,
    pub multiplier: f64,
    /// W W'x + c x_0 e + b
    pub u: Point,
    /// |u_1|, and its derivative by u; 0 without De Saxcé's correction.
    pub shift: f64,
    pub turn: Point,
    pub scaling: Scaling,
    /// What the block of the contact has on the axis besides V^-2: its compliance and the bound's.
    pub extra: f64,
    /// R = (I + extra p p')^-1/2 with p = V e, R V, and R V (I + e turn').
    pub root: Matrix,
    pub rows: Matrix,
    pub turned: Matrix,
    /// The step is to make V^-1 dx + V dz this, and dmultiplier = bound - multiplier dx_0 / slack.
    pub aim: Point,
    pub bound: f64,
    /// Right-hand side of the scaled system, and its solution V^-1 dx.
    pub right: Point,
    pub scaled_dx: Point,
    pub dx: Point,
    pub dz: Point,
    pub dmultiplier: f64,
}

impl Contact {
    /// Whether there is a bound beyond the cone's.
    pub fn is_bounded(&self) -> bool {
        self.least > 0.0
    }

    /// u + shift e - z - w e
    pub fn dual_residual(&self) -> Point {
        let (u, z) = (self.u, self.z);
        [u[0] + self.shift - z[0] - self.multiplier, u[1] - z[1], u[2] - z[2]]
    }

    /// |x - Proj(x - u - |u_1| e)|, or without |u_1|.
    pub fn natural_residual(&self, shift: bool) -> f64 {
        let shift = if shift { tangent_norm(self.u) } else { 0.0 };
        let (x, u) = (self.x, self.u);
        let p = project_above([x[0] - u[0] - shift, x[1] - u[1], x[2] - u[2]], self.least);
        (0..3).map(|k| (x[k] - p[k]).abs()).fold(0.0, larger)
    }

    /// Least x + z of the cone and of the bound: 0 where they are not strictly complementary.
    pub fn margin(&self) -> f64 {
        let cone = depth(std::array::from_fn(|k| self.x[k] + self.z[k]));
        if self.is_bounded() { cone.min(self.slack + self.multiplier) } else { cone }
    }

    /// The scaling and what follows from it.
    pub fn scale(&mut self) {
        self.scaling = Scaling::new(self.x, self.z);
        let bound = if self.is_bounded() { self.multiplier / self.slack } else { 0.0 };
        self.extra = self.compliance + bound;
        self.root = self.scaling.root(self.extra);
        // V is symmetric: row r of R V is V times row r of R.
        self.rows = self.root.map(|row| self.scaling.times(row));
        self.turned = self.rows.map(|row| std::array::from_fn(|q| row[q] + row[0] * self.turn[q]));
    }

    /// The longest step that stays inside.
    pub fn longest_step(&self) -> f64 {
        let mut step = longest_step(self.x, self.dx).min(longest_step(self.z, self.dz));
        if self.is_bounded() {
            let ratio = |x: f64, dx: f64| if dx < 0.0 { -x / dx } else { f64::INFINITY };
            step = step.min(ratio(self.slack, self.dx[0]));
            step = step.min(ratio(self.multiplier, self.dmultiplier));
        }
        step
    }

    /// x'z + slack multiplier after a step.
    pub fn complementarity(&self, step: f64) -> f64 {
        let along = |x: Point, d: Point| std::array::from_fn(|k| x[k] + step * d[k]);
        let mut sum = inner(along(self.x, self.dx), along(self.z, self.dz));
        if self.is_bounded() {
            let slack = self.slack + step * self.dx[0];
            sum += slack * (self.multiplier + step * self.dmultiplier);
        }
        sum
    }
}
