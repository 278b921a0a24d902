//! The proximal point method [Rockafellar76] on the coupled contact problem: where contacts are nearly redundant, the
//! velocities that decide who carries what are a millionth of those that matter, and modes guessed from
//! anything but the solution are wrong.
//!
//! Around an anchor a each contact is given a soft law, its own with u + rho (lambda - a) for u.
//! It makes the impulse a function of the velocity, lambda = P(a - u / rho), so that the problem has as many
//! unknowns as there are velocities,
//!
//! ```text
//! F(d) = d - W'(P(a - u / rho) - a) = 0,   u = W (W'a + d) + b
//! ```
//!
//! and Newton on F, with steps shortened until |F| falls, solves it. The solution is the next anchor. Its
//! residual is that of the exact law but for rho (lambda - a), which shrinks with rho: the weight falls
//! tenfold from one anchor to the next, and grows where Newton fails. Since all is counted from the
//! anchor, digits are lost of the differences only, and weights of 1e-12 of the diagonal do no harm.
//!
//! Of many trees, where Newton with sparse blocks finishes what is left, anchors are solved no better than they are
//! known, what makes no progress is given up, and after that the weight falls by less.

use super::super::law::{Slope, soften};
use super::super::natural_residual::natural_residual;
use super::super::problem::{ContactData, Delassus};
use crate::argmin::block_rows::RowBlock;
use crate::linalg::{BlockLu, Lu, norm};

/// The least weight relative to the scales of the contacts, and the largest.
const WEIGHT: (f64, f64) = (1e-12, 1e3);
/// What the weight is multiplied with from an anchor to the next, at least and at most, and where Newton fails.
const SHRINK: (f64, f64) = (0.1, 0.7);
const GROW: f64 = 5.0;
/// Newton steps around one anchor.
const STEPS: usize = 25;
/// Of many trees: steps after which |F| is at most that part of the first, or never, and steps that may make it larger.
const PATIENCE: (usize, f64) = (8, 0.1);
const WORSE: usize = 2;
/// Steps in all.
const ALL_STEPS: usize = 1000;
/// Anchors. Most problems take ten.
const ANCHORS: usize = 80;
/// How often a step is halved.
const HALVINGS: i32 = 8;
/// |F| relative to |d|: where Newton stops, of many trees relative to the weight too, which is what the anchor leaves,
/// and what still counts as solved where rounding stops it.
const CLOSE: (f64, f64) = (1e-9, 0.5);
const USABLE: f64 = 1e-3;

/// What the weights of contacts are relative to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::argmin::contact) enum Weights {
    /// The least scale of all: where a light body carries a heavy one.
    Uniform,
    /// Each contact's own scale.
    Own,
}

/// How far the method goes.
#[derive(Clone, Copy, Debug)]
pub(in crate::argmin::contact) struct Goal {
    /// What residuals are relative to.
    pub scale: f64,
    /// The residual at which it stops, and the one at which it stops once it no longer falls.
    pub enough: f64,
    pub tolerance: f64,
    /// Newton steps that are left.
    pub iterations: usize,
    /// The first weight relative to the scales of the contacts: less where the start is nearly a solution.
    pub weight: f64,
}

/// How far it got.
#[derive(Clone, Copy, Debug)]
pub(in crate::argmin::contact) struct Reached {
    pub residual: f64,
    pub iterations: usize,
}

/// The memory of the method.
#[derive(Clone, Debug, Default)]
pub(in crate::argmin::contact) struct ProximalPoint {
    scales: Vec<[f64; 2]>,
    weight: f64,
    /// Whether there are many trees.
    large: bool,
    anchor: Vec<f64>,
    /// The velocities at the anchor.
    velocity: Vec<f64>,
    /// d, and where a step of Newton starts.
    moved: Vec<f64>,
    start: Vec<f64>,
    step: Vec<f64>,
    /// W'delta, then F.
    f: Vec<f64>,
    u: Vec<f64>,
    /// lambda less the anchor.
    delta: Vec<f64>,
    slopes: Vec<Slope>,
    sloped: Vec<f64>,
    matrix: Vec<f64>,
    lu: Lu<f64>,
    blocks: BlockLu<f64>,
    candidate: Vec<f64>,
}

impl ProximalPoint {
    /// Follows anchors from `lambda`; leaves the best impulses in it.
    pub fn run(
        &mut self,
        data: &ContactData<f64>,
        delassus: &mut Delassus<f64>,
        weights: Weights,
        Goal { scale, enough, tolerance, iterations, weight }: Goal,
        lambda: &mut [f64],
    ) -> Reached {
        self.take_scales(delassus, data, weights);
        self.anchor.clear();
        self.anchor.extend_from_slice(lambda);
        self.velocity.resize(lambda.len(), 0.0);
        self.u.resize(lambda.len(), 0.0);
        let (least, most) = WEIGHT;
        self.weight = weight;
        self.large = data.rows.is_large();
        delassus.velocity(data.rows, &self.anchor, &mut self.velocity);
        let mut best = natural_residual(data, delassus, lambda, &self.velocity, scale);
        let (mut spent, mut shrink) = (0, SHRINK.0);
        for _ in 0..ANCHORS {
            let solved = self.solve_around_anchor(data, delassus, scale, &mut spent);
            self.candidate.clear();
            self.candidate.extend(self.anchor.iter().zip(&self.delta).map(|(a, d)| a + d));
            delassus.velocity(data.rows, &self.candidate, &mut self.u);
            let residual = natural_residual(data, delassus, &self.candidate, &self.u, scale);
            let before = best;
            if residual < best {
                best = residual;
                lambda.copy_from_slice(&self.candidate);
            }
            let rounded = best <= tolerance && residual > 0.5 * before;
            if best <= enough || rounded || spent >= iterations.min(ALL_STEPS) {
                break;
            }
            if solved {
                std::mem::swap(&mut self.anchor, &mut self.candidate);
                std::mem::swap(&mut self.velocity, &mut self.u);
                self.weight = (shrink * self.weight).max(least);
                shrink = shrink.powi(2).max(SHRINK.0);
            } else {
                self.weight = (GROW * self.weight).min(most);
                if self.large {
                    shrink = shrink.sqrt().min(SHRINK.1);
                }
            }
        }
        Reached { residual: best, iterations: spent }
    }

    fn take_scales(&mut self, delassus: &Delassus<f64>, data: &ContactData<f64>, weights: Weights) {
        let own = |i: usize| {
            let tangential =
                if data.blocks()[i].rows == 3 { delassus.tangential_scale(i) } else { 0.0 };
            [delassus.normal_scale(i), tangential]
        };
        self.scales.clear();
        self.scales.extend((0..data.laws.len()).map(own));
        let mut least = [f64::INFINITY; 2];
        for scale in &self.scales {
            for (least, &scale) in least.iter_mut().zip(scale) {
                *least = if scale > 0.0 { least.min(scale) } else { *least };
            }
        }
        for scale in &mut self.scales {
            for (scale, &least) in scale.iter_mut().zip(&least) {
                // What does not move takes any weight.
                if *scale <= 0.0 || weights == Weights::Uniform {
                    *scale = if least.is_finite() { least } else { 1.0 };
                }
            }
        }
    }

    /// Solves F = 0 for `moved` and `delta`. False if Newton does not.
    fn solve_around_anchor(
        &mut self,
        data: &ContactData<f64>,
        delassus: &Delassus<f64>,
        scale: f64,
        spent: &mut usize,
    ) -> bool {
        self.moved.clear();
        self.moved.resize(data.rows.velocities(), 0.0);
        let first = self.evaluate(data, delassus);
        let (mut now, mut before) = (first, f64::INFINITY);
        let close = if self.large { (CLOSE.1 * self.weight).max(CLOSE.0) } else { CLOSE.0 };
        let mut worse = 0;
        for count in 0..STEPS {
            if self.large && count >= PATIENCE.0 && now > PATIENCE.1 * first {
                return false;
            }
            let size = norm(&self.moved);
            let usable = now <= (USABLE * size).max(1e-14 * scale);
            if now <= (close * size).max(1e-11 * first).max(1e-15 * scale)
                || (usable && now > 0.3 * before)
            {
                return true;
            }
            before = now;
            *spent += 1;
            if !self.factor(data, delassus) {
                return usable;
            }
            self.step.clone_from(&self.f);
            match self.large {
                true => self.blocks.solve(&delassus.pattern, &mut self.step),
                false => self.lu.solve(&mut self.step),
            }
            self.start.clone_from(&self.moved);
            let (mut least, mut best) = (f64::INFINITY, 1.0);
            for halvings in 0..HALVINGS {
                let length = 0.5_f64.powi(halvings);
                now = self.go(data, delassus, length);
                if now < least {
                    (least, best) = (now, length);
                }
                if now <= (1.0 - 1e-4 * length) * before {
                    break;
                }
            }
            if now > before || now.is_nan() {
                if usable {
                    self.go(data, delassus, 0.0);
                    return true;
                }
                // A step that makes it worse can lead on, but where several do the weight is too small.
                now = self.go(data, delassus, best);
                worse += 1;
                if self.large && worse > WORSE {
                    return false;
                }
            }
        }
        false
    }

    /// d <- start - length step; returns |F|.
    fn go(&mut self, data: &ContactData<f64>, delassus: &Delassus<f64>, length: f64) -> f64 {
        for (d, (&start, &step)) in self.moved.iter_mut().zip(self.start.iter().zip(&self.step)) {
            *d = start - length * step;
        }
        self.evaluate(data, delassus)
    }

    /// Updates `delta`, its slopes and F; returns |F|.
    fn evaluate(&mut self, data: &ContactData<f64>, delassus: &Delassus<f64>) -> f64 {
        delassus.felt(data.rows, &self.moved, &mut self.u);
        self.delta.clear();
        self.slopes.clear();
        for (i, block) in data.blocks().iter().enumerate() {
            let (mut u, mut anchor) = ([0.0; 3], [0.0; 3]);
            for (r, k) in block.range().enumerate() {
                u[r] = self.velocity[k] + self.u[k];
                anchor[r] = self.anchor[k];
            }
            let rho = self.scales[i].map(|scale| scale * self.weight);
            let (delta, slope) =
                soften(data.laws[i], data.limit[i], data.compliance[i], rho, anchor, u);
            self.delta.extend_from_slice(&delta[..block.rows]);
            self.slopes.push(slope);
        }
        self.f.resize(self.moved.len(), 0.0);
        data.rows.transpose_times(&delassus.w, &self.delta, &mut self.f);
        for (f, &d) in self.f.iter_mut().zip(&self.moved) {
            *f = d - *f;
        }
        norm(&self.f)
    }

    /// Factorises I + W' slope W, the Jacobian of F.
    fn factor(&mut self, data: &ContactData<f64>, delassus: &Delassus<f64>) -> bool {
        let velocities = self.moved.len();
        if self.large {
            self.blocks.start(&delassus.pattern, self.slopes.iter().all(is_symmetric));
        } else {
            self.matrix.clear();
            self.matrix.resize(velocities * velocities, 0.0);
            for k in 0..velocities {
                self.matrix[k * (velocities + 1)] = 1.0;
            }
        }
        for (block, slope) in data.blocks().iter().zip(&self.slopes) {
            let normal = &data.blocks()[block.normal];
            let width = block.width();
            self.sloped.clear();
            self.sloped.resize(block.rows * width, 0.0);
            for (r, slope) in slope.iter().enumerate().take(block.rows) {
                let sloped = &mut self.sloped[r * width..(r + 1) * width];
                for (q, &slope) in slope.iter().enumerate().take(block.rows) {
                    if slope != 0.0 {
                        // Friction of a couple follows the normal velocity of its contact.
                        let felt = if q == 0 { normal } else { block };
                        let row = felt.row(&delassus.w, q);
                        for (sum, &w) in sloped.iter_mut().zip(row) {
                            *sum += slope * w;
                        }
                    }
                }
            }
            let rows = block.all_rows(&delassus.w);
            if self.large {
                self.blocks.add(&delassus.pattern, block.trees, block.rows, rows, &self.sloped);
                continue;
            }
            for (row, sloped) in
                rows.chunks_exact(width.max(1)).zip(self.sloped.chunks_exact(width.max(1)))
            {
                add_product(&mut self.matrix, velocities, block, row, sloped);
            }
        }
        if self.large {
            return self.blocks.factor(&delassus.pattern);
        }
        self.lu.factor(&self.matrix, velocities)
    }
}

fn is_symmetric(slope: &Slope) -> bool {
    (0..3).all(|r| (0..r).all(|c| slope[r][c] == slope[c][r]))
}

/// matrix += x y' at the columns of the block.
fn add_product(matrix: &mut [f64], side: usize, block: &RowBlock, x: &[f64], y: &[f64]) {
    for (columns, part) in block.segments() {
        for (i, &x) in columns.zip(&x[part]) {
            for (others, part) in block.segments() {
                for (m, &y) in matrix[i * side..][others].iter_mut().zip(&y[part]) {
                    *m += x * y;
                }
            }
        }
    }
}
