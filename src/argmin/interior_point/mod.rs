//! A primal-dual interior point for contact impulses: Mehrotra's predictor and corrector [Mehrotra92] with the
//! Nesterov-Todd scaling of the friction cones [Nesterov97].
//!
//! ```text
//! min 1/2 |W'f|^2 + 1/2 sum_i c_i f_n,i^2 + b'f,   |f_t,i| <= mu_i f_n,i,   f_n,i >= t_i
//! ```
//!
//! It works on x_i = (f_n, f_t / mu) times a size of the contact, for which the cones are those of
//! [`second_order_cone`](second_order_cone) and W W' has a diagonal near 1. With u = W W'x +
//! c x_n + b, z in the cone and w >= 0 it finds u = z + w e, x o z = 0, (x_n - t) w = 0 along the
//! central path. A contact with mu = 0 has zero tangential rows, and x_t = z_t = 0 throughout.
//!
//! Each iteration factorises one matrix with as many rows as there are velocities, or as there are
//! impulses if those are fewer.
//!
//! # Coulomb's law
//! With `shift`, b_n is replaced by b_n + mu |u_t| [DeSaxce98], so that u_n >= 0 and f_n u_n = 0: the
//! exact law instead of its convex relaxation. The problem is no program then; the path follows the
//! shift while it closes in.

mod contact;
mod normal_equations;
pub mod second_order_cone;

use self::contact::{Contact, larger};
use self::normal_equations::NormalEquations;
use self::second_order_cone::{Point, divide, product, tangent_norm};
use super::block_rows::BlockRows;
use super::status::{Report, Status};
use crate::linalg::dot;

/// Iterations; a program needs 8 to 20, with the shift up to three times as many.
const ITERATIONS: usize = 80;
/// Iterations without a smaller residual before it gives up.
const PATIENCE: usize = 12;
/// Part of the way to the boundary that a step goes.
const TO_BOUNDARY: f64 = 0.99;
/// A step shorter than this one is followed by one towards the middle of the path.
const SHORT: f64 = 0.2;
/// |u_t| is rounded off at zero over this part of the complementarity.
const SMOOTH: f64 = 1e-3;
/// The path does not close faster than the dual residual: least complementarity relative to it.
const BEHIND: f64 = 1e-3;

/// A cone program. Impulses stand in the order of the rows: a block of three rows is normal, tangent
/// 1, tangent 2 of a contact, of two normal and tangent, of one a normal only.
#[derive(Clone, Copy, Debug)]
pub struct ConeProgramData<'a> {
    /// The structure of W, a block a contact.
    pub rows: &'a BlockRows,
    /// The entries of W.
    pub w: &'a [f64],
    /// One a row.
    pub b: &'a [f64],
    /// One a contact, >= 0.
    pub mu: &'a [f64],
    /// One a contact, >= 0.
    pub compliance: &'a [f64],
    /// t, one a contact; zero or less bounds nothing.
    pub least: &'a [f64],
}

/// How the path is followed.
#[derive(Clone, Copy, Debug, Default)]
struct Attempt {
    /// Whether steps know how the shift changes; otherwise it follows behind.
    newton: bool,
    /// Least part of the complementarity that a step leaves.
    centring: f64,
    /// Whether the dual residual is to fall no faster than the complementarity: slower, but it gets
    /// to impulses a thousand times those of the start.
    together: bool,
}

/// Without the shift: the textbook's steps come first.
const CONVEX: [Attempt; 2] = [
    Attempt { newton: false, centring: 0.0, together: false },
    Attempt { newton: false, centring: 0.0, together: true },
];
/// With the shift the problem is not monotone, and long steps run into corners.
const COULOMB: [Attempt; 3] = [
    Attempt { newton: true, centring: 0.3, together: false },
    Attempt { newton: true, centring: 0.6, together: false },
    Attempt { newton: false, centring: 0.0, together: false },
];
/// Attempts are made one after the other until one comes this close; the best counts.
const CLOSE: f64 = 1e-6;
/// The same of many trees, where what rounding leaves of large programs stops the first attempt near 1e-5 and the others
/// too: another method goes on from there. Within that distance patience is less.
const CLOSE_OF_MANY: f64 = 1e-2;
const PATIENCE_OF_MANY: usize = 4;

/// The solver and its memory.
#[derive(Clone, Debug, Default)]
pub struct ConeInteriorPoint {
    contacts: Vec<Contact>,
    /// W in scaled coordinates.
    w: Vec<f64>,
    equations: NormalEquations,
    attempt: Attempt,
    last_step: f64,
    /// W'x
    y: Vec<f64>,
    best: Vec<Point>,
}

impl ConeInteriorPoint {
    /// Solves for the impulses `f`, one a row; with `shift` by Coulomb's law. The residual is the
    /// natural map's, relative to the larger of b and t in units of impulse; the margin the least
    /// x + z of a contact, relative likewise.
    pub fn solve(
        &mut self,
        data: &ConeProgramData,
        shift: bool,
        tolerance: f64,
        f: &mut [f64],
    ) -> Report {
        f.fill(0.0);
        if !is_admissible(data) {
            let residual = f64::INFINITY;
            return Report { status: Status::InvalidInput, residual, ..Report::default() };
        }
        let size = self.set_up(data);
        if size == 0.0 {
            return Report { margin: 0.0, ..Report::default() };
        }
        let mut report = Report { residual: f64::INFINITY, ..Report::default() };
        let close = if shift && data.rows.is_large() { CLOSE_OF_MANY } else { CLOSE };
        for attempt in if shift { &COULOMB[..] } else { &CONVEX[..] } {
            self.attempt = *attempt;
            self.follow_path(data.rows, shift, tolerance, &mut report);
            if report.status.is_solved() || report.residual <= close {
                break;
            }
        }
        for (block, (contact, &x)) in
            data.rows.blocks().iter().zip(self.contacts.iter().zip(&self.best))
        {
            for (r, f) in f[block.range()].iter_mut().enumerate() {
                let x = if contact.unit > 0.0 { x[r] * contact.unit * size } else { 0.0 };
                *f = if r == 0 { x } else { x * contact.mu };
            }
        }
        // What touches nothing that moves is not felt, but may be bounded.
        for (i, block) in data.rows.blocks().iter().enumerate() {
            if self.contacts[i].unit == 0.0 {
                f[block.first] = data.least[i].max(0.0);
            }
        }
        report
    }

    /// Scales the data and places the iterate; returns the size of the impulses.
    fn set_up(&mut self, data: &ConeProgramData) -> f64 {
        let blocks = data.rows.blocks();
        self.contacts.clear();
        self.w.clear();
        self.w.extend_from_slice(data.w);
        for (i, block) in blocks.iter().enumerate() {
            let mu = if block.rows > 1 { data.mu[i] } else { 0.0 };
            let square = |r: usize| {
                let row = block.row(data.w, r);
                dot(row, row)
            };
            let tangents: f64 = (1..block.rows).map(square).sum();
            let diagonal = square(0) + data.compliance[i];
            let diagonal = diagonal.max(mu * mu * tangents);
            let unit = if diagonal > 0.0 { diagonal.sqrt().recip() } else { 0.0 };
            let mut contact = Contact {
                unit,
                mu,
                compliance: data.compliance[i] * unit * unit,
                least: if unit > 0.0 { data.least[i].max(0.0) / unit } else { 0.0 },
                ..Contact::default()
            };
            for r in 0..block.rows {
                let scale = if r == 0 { unit } else { unit * mu };
                contact.b[r] = data.b[block.first + r] * scale;
                block.row_mut(&mut self.w, r).iter_mut().for_each(|w| *w *= scale);
            }
            self.contacts.push(contact);
        }
        let sizes = self.contacts.iter().map(|c| c.least.max(tangent_norm(c.b)).max(c.b[0].abs()));
        let size = sizes.fold(0.0, f64::max);
        let inverse = if size > 0.0 { size.recip() } else { 0.0 };
        for c in &mut self.contacts {
            c.b = c.b.map(|b| b * inverse);
            c.least *= inverse;
        }
        self.equations.prepare(data.rows, &self.w);
        size
    }

    /// Iterates from the middle of the cones until the residual is below the tolerance or no longer
    /// falls; updates `best` and the report if it finds something better.
    fn follow_path(&mut self, rows: &BlockRows, shift: bool, tolerance: f64, report: &mut Report) {
        let mut degree = 0.0;
        for c in &mut self.contacts {
            c.x = [c.least + 1.0, 0.0, 0.0];
            c.z = [1.0, 0.0, 0.0];
            (c.slack, c.multiplier) = (1.0, if c.is_bounded() { 1.0 } else { 0.0 });
            degree += 1.0 + c.multiplier;
        }
        self.last_step = 1.0;
        let (mut best, mut best_at) = (f64::INFINITY, 0);
        report.status = Status::IterationLimit;
        for iteration in 0..ITERATIONS {
            let smooth = SMOOTH * self.complementarity(0.0) / degree;
            self.velocities(rows, shift, smooth);
            let residuals = self.contacts.iter().map(|c| c.natural_residual(shift));
            let residual = residuals.fold(0.0, larger);
            if residual < best {
                (best, best_at) = (residual, iteration);
            }
            if residual < report.residual {
                report.residual = residual;
                let margins = self.contacts.iter().map(Contact::margin);
                report.margin = margins.fold(f64::INFINITY, f64::min).max(0.0);
                self.best.clear();
                self.best.extend(self.contacts.iter().map(|c| c.x));
            }
            if residual <= tolerance {
                report.status = Status::Solved;
                return;
            }
            let hasty = shift && rows.is_large() && best <= CLOSE_OF_MANY;
            let patience = if hasty { PATIENCE_OF_MANY } else { PATIENCE };
            if iteration - best_at >= patience || !self.factor(rows) || !self.step(rows, degree) {
                report.status = Status::Stalled;
                return;
            }
            report.iterations += 1;
        }
    }

    /// u of each contact, and its shift.
    fn velocities(&mut self, rows: &BlockRows, shift: bool, smooth: f64) {
        self.y.clear();
        self.y.resize(rows.velocities(), 0.0);
        for (block, c) in rows.blocks().iter().zip(&self.contacts) {
            for r in 0..block.rows {
                block.add_times(block.row(&self.w, r), c.x[r], &mut self.y);
            }
        }
        for (block, c) in rows.blocks().iter().zip(&mut self.contacts) {
            c.u = c.b;
            c.u[0] += c.compliance * c.x[0];
            for r in 0..block.rows {
                c.u[r] += block.times(block.row(&self.w, r), &self.y);
            }
            (c.shift, c.turn) = (0.0, [0.0; 3]);
            if shift {
                let t = tangent_norm(c.u).hypot(smooth);
                c.shift = t;
                if t > 0.0 {
                    c.turn = [0.0, c.u[1] / t, c.u[2] / t];
                }
            }
        }
    }

    /// Factorises at the iterate. False if it cannot be.
    fn factor(&mut self, rows: &BlockRows) -> bool {
        self.contacts.iter_mut().for_each(Contact::scale);
        self.equations.factor(rows, &self.w, &self.contacts, self.attempt.newton)
    }

    /// The step to each contact's aim that leaves 1 - `reduction` of the dual residual; returns how
    /// far it can go.
    fn direction(&mut self, rows: &BlockRows, reduction: f64) -> f64 {
        for c in &mut self.contacts {
            let mut r = c.dual_residual().map(|r| -r * reduction);
            if c.is_bounded() {
                r[0] += c.bound;
            }
            let r = c.scaling.times(r);
            c.right = std::array::from_fn(|k| c.aim[k] + r[k]);
        }
        self.equations.solve(rows, &mut self.contacts);
        let mut longest = f64::INFINITY;
        for c in &mut self.contacts {
            c.dx = c.scaling.times(c.scaled_dx);
            // Not by V^-2 dx, which would magnify the rounding of dx.
            c.dz = c.scaling.divide(std::array::from_fn(|k| c.aim[k] - c.scaled_dx[k]));
            if c.is_bounded() {
                c.dmultiplier = c.bound - c.multiplier * c.dx[0] / c.slack;
            }
            longest = longest.min(c.longest_step());
        }
        longest
    }

    /// One predictor and corrector. False if no step can be taken.
    fn step(&mut self, rows: &BlockRows, degree: f64) -> bool {
        // The predictor aims at complementarity zero.
        for c in &mut self.contacts {
            c.aim = c.scaling.scaled.map(|l| -l);
            c.bound = -c.multiplier;
        }
        let longest = self.direction(rows, 1.0).min(1.0);
        let now = self.complementarity(0.0) / degree;
        let after = self.complementarity(longest) / degree;
        let dual = self.contacts.iter().flat_map(|c| c.dual_residual()).map(f64::abs);
        let dual = dual.fold(0.0, f64::max);
        let mut centre = now * (after / now).powi(3);
        let mut second_order = 1.0;
        if self.last_step < SHORT {
            // It crept along the boundary: back to the middle.
            centre = centre.max(0.5 * now);
            second_order = 0.0;
        }
        let centre = centre.max(self.attempt.centring * now).max(now.min(BEHIND * dual));

        for c in &mut self.contacts {
            // lambda o aim = centre e - lambda o lambda - (V^-1 dx) o (V dz)
            let lambda = c.scaling.scaled;
            let square = product(lambda, lambda);
            let second = product(c.scaled_dx, std::array::from_fn(|k| c.aim[k] - c.scaled_dx[k]));
            let mut d: Point = std::array::from_fn(|k| -square[k] - second_order * second[k]);
            d[0] += centre;
            c.aim = divide(lambda, d);
            if c.is_bounded() {
                c.bound =
                    (centre - second_order * c.dx[0] * c.dmultiplier) / c.slack - c.multiplier;
            }
        }
        let together = self.attempt.together;
        let reduction = if together { 1.0 - (centre / now).min(1.0) } else { 1.0 };
        let step = (TO_BOUNDARY * self.direction(rows, reduction)).min(1.0);
        self.last_step = step;
        // Also refuses NaN.
        if !(step > 1e-10 && self.contacts.iter().all(|c| c.dx.iter().all(|x| x.is_finite()))) {
            return false;
        }
        for c in &mut self.contacts {
            for k in 0..3 {
                c.x[k] += step * c.dx[k];
                c.z[k] += step * c.dz[k];
            }
            if c.is_bounded() {
                c.slack += step * c.dx[0];
                c.multiplier += step * c.dmultiplier;
            }
        }
        true
    }

    fn complementarity(&self, step: f64) -> f64 {
        self.contacts.iter().map(|c| c.complementarity(step)).sum()
    }
}

/// Whether there is a program to solve.
fn is_admissible(data: &ConeProgramData) -> bool {
    let finite = |x: &[f64]| x.iter().all(|x| x.is_finite());
    let nonnegative = |x: &[f64]| x.iter().all(|&x| x >= 0.0 && x.is_finite());
    finite(data.w)
        && finite(data.b)
        && finite(data.least)
        && nonnegative(data.mu)
        && nonnegative(data.compliance)
}
