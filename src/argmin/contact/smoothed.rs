//! The coupled contact problem, smoothed: complementarity relaxed to a product kappa, for planning through
//! contact.
//!
//! What does not touch is pushed a little, what touches gives a little, and velocities are smooth in all inputs of
//! the node:
//!
//! ```text
//! lambda_n (u_n - target + c lambda_n) = kappa
//! (mu lambda_n, lambda_t) o (psi, u_t) = (kappa, 0)      psi: a bound of the slip, as in Dojo [Howell22]
//! ```
//!
//! with o the Jordan product of the second-order cone: mu lambda_n psi + lambda_t . u_t = kappa, and
//! mu lambda_n u_t + psi lambda_t = 0: friction opposes the slip exactly. kappa (J) is what each of these products
//! is. As it tends to 0 this is Coulomb's law, and the solution tends to that of
//! [`CoupledContact`](super::CoupledContact), as do derivatives where the modes are strict. A body at rest under its
//! weight m g floats off by kappa / (m g) in the long run, and a contact at the distance d pushes with kappa / d.
//!
//! Both products are conditions on projections [Chen93], [Fukushima02]: lambda = P(lambda - s / g), with
//! P the smoothed projection onto the cone, x -> (x + sqrt(x^2 + 4 kappa / g)) / 2 on its spectral values. So
//! Newton's method needs no interior point to start from. It follows kappa down from a large one.
//!
//! Dry friction is projected onto its interval, smoothed at both ends; without friction (mu = 0) there is no
//! tangential impulse, and no derivative in mu. Equations of closed loops, which may be redundant, give a little.
//!
//! What poses the problem is not smoothed: the target has a kink at a gap of 0, where Baumgarte's share begins, and a
//! contact leaves the problem at the reach, where it still pushes with a hundredth of the weight.
//!
//! # Penalties
//! Contacts that yield may have [friction that does so](RegularizedFriction) in the place of the cone: lambda_t = -phi u_t, with the impulse
//! kt dt of each unit of slip given beside the other inputs, and kappa = 0. These conditions have kinks, as those of Coulomb's law have.

mod answer;
mod relaxed_conditions;
mod relaxed_newton;

use relaxed_conditions::Stage;
pub use relaxed_conditions::{Relaxation, SmoothedContact};
use relaxed_newton::{NewtonMemory, RelaxedNewton};

use super::law::Mode;
use super::node_residual::{add_rest, momentum_residual};
use crate::ad::{Implicit, Real};
use crate::argmin::block_rows::RowBlock;
use crate::argmin::status::{Report, Status};

/// What a solve decided, in f64.
#[derive(Debug, Default)]
pub struct SmoothedSolution {
    /// Status, Newton steps, relative residual. Where it is smooth there are no modes, so no margin.
    pub report: Report,
    /// What each block does most of: for readers; of penalties what it does.
    pub modes: Vec<Mode>,
    /// Impulses to start from, of penalties; none, or one a row.
    pub guess: Vec<f64>,
    /// 1 / g of each block.
    scales: Vec<f64>,
}

// By hand: the derived `clone_from` drops the memory it has.
impl Clone for SmoothedSolution {
    fn clone(&self) -> Self {
        let mut clone = SmoothedSolution::default();
        clone.clone_from(self);
        clone
    }

    fn clone_from(&mut self, other: &Self) {
        self.report = other.report;
        self.modes.clone_from(&other.modes);
        self.guess.clone_from(&other.guess);
        self.scales.clone_from(&other.scales);
    }
}

impl SmoothedSolution {
    /// Of a problem that is none.
    fn invalid(&mut self, blocks: usize) {
        let (status, residual) = (Status::InvalidInput, f64::INFINITY);
        self.report = Report { status, residual, ..Report::default() };
        self.modes.clear();
        self.modes.resize(blocks, Mode::Break);
        self.scales.clear();
        self.scales.resize(blocks, 1.0);
    }
}

/// By what kappa falls, and by what friction of penalties grows, on the way to what is asked.
const FALL: f64 = 0.1;
/// Where friction of penalties begins, if that is needed.
const LEAST_SHARE: f64 = 1e-6;
/// The least product on that way, as a part of the largest.
const LEAST_PRODUCT: f64 = 1e-12;

impl SmoothedContact {
    /// The conditions of a solution that was found, at impulses and bounds `z` and velocities `u(block, row)` along the rows.
    pub(crate) fn conditions_at<T: Real>(
        &self,
        solution: &SmoothedSolution,
        inputs: &[T],
        at: (&[T], impl Fn(usize, usize) -> T),
        h: &mut [T],
    ) {
        let stage = Stage { kappa: self.relaxation.product(), share: 1.0 };
        let data = (&self.data(inputs), self.creep(inputs));
        self.conditions(data, (stage, &solution.scales), at, h);
    }

    /// Solves at `stage` after stage, from the impulses and bounds that there are.
    fn follow(&self, newton: &mut RelaxedNewton, steps: &mut usize) -> f64 {
        let last = Stage { kappa: self.relaxation.product(), share: 1.0 };
        let mut kappa = newton.largest_product.max(last.kappa);
        let Relaxation::Penalty(_) = self.relaxation else {
            newton.start(kappa);
            while kappa > last.kappa {
                newton.solve(Stage { kappa, ..last }, 1e-3, steps);
                kappa = (kappa * FALL).max(last.kappa);
            }
            return newton.solve(last, self.tolerance, steps);
        };
        let residual = newton.solve(last, self.tolerance, steps);
        if residual <= self.tolerance {
            return residual;
        }
        // From afar: contacts that push each other, and friction that only drags.
        newton.start(kappa);
        let mut share = LEAST_SHARE;
        while share < 1.0 {
            newton.solve(Stage { kappa, share }, 1e-3, steps);
            (kappa, share) = (kappa * FALL, (share / FALL).min(1.0));
        }
        while kappa > newton.largest_product * LEAST_PRODUCT {
            newton.solve(Stage { kappa, share }, 1e-3, steps);
            kappa *= FALL;
        }
        newton.solve(last, self.tolerance, steps)
    }
}

/// Scratch memory of the solver.
#[derive(Clone, Debug, Default)]
pub struct SmoothedWorkspace {
    values: Vec<f64>,
    newton: NewtonMemory,
}

impl Implicit for SmoothedContact {
    type Solution = SmoothedSolution;
    type Workspace = SmoothedWorkspace;

    fn solve<T: Real>(
        &self,
        inputs: &[T],
        outputs: &mut [T],
        solution: &mut SmoothedSolution,
        workspace: &mut SmoothedWorkspace,
    ) {
        let SmoothedWorkspace { values, newton: memory } = workspace;
        values.clear();
        values.extend(inputs.iter().map(|x| x.value()));
        outputs.fill(T::zero());
        if !self.is_admissible(values) {
            return solution.invalid(self.laws.len());
        }
        let data = self.data(values);
        let NewtonMemory { delassus, g, .. } = &mut *memory;
        delassus.assemble(&data);
        let rows = self.rows.rows();
        g.clear();
        g.resize(rows * rows, 0.0);
        for a in data.blocks() {
            for b in data.blocks() {
                for (r, s) in (0..a.rows).flat_map(|r| (0..b.rows).map(move |s| (r, s))) {
                    let (row, other) = (a.row(&delassus.w, r), b.row(&delassus.w, s));
                    g[(a.first + r) * rows + b.first + s] = a.overlap(row, b, other);
                }
            }
        }
        let size = |(i, block): (usize, &RowBlock)| {
            let own = &delassus.diagonal[i];
            let trace: f64 = (0..block.rows).map(|r| own[r * (block.rows + 1)]).sum();
            let g = trace / block.rows as f64;
            if g > 0.0 { 1.0 / g } else { 1.0 }
        };
        let SmoothedSolution { report, modes, guess, scales } = solution;
        scales.clear();
        scales.extend(data.blocks().iter().enumerate().map(size));
        let strongest = scales.iter().copied().fold(0.0, f64::max);
        let speed = delassus.velocity_scale();
        // The impulse that stops a contact, or that of the smoothing alone.
        let smoothing = self.relaxation.product();
        let impulse = (speed * strongest).max((smoothing * strongest).sqrt());
        let largest_product = speed * speed * strongest;
        if !(largest_product.is_finite() && impulse.is_finite()) {
            // Of velocities whose squares overflow.
            return solution.invalid(self.laws.len());
        }
        let z = &mut memory.z;
        z.clear();
        if guess.len() == rows {
            z.extend_from_slice(guess);
        }
        z.resize(self.unknowns(), 0.0);
        let creep = self.creep(values);
        let mut steps = 0;
        let mut newton =
            RelaxedNewton { node: self, data, creep, memory, scales, impulse, largest_product };
        // Of nothing that moves or presses, nothing.
        let residual = match impulse > 0.0 {
            true => self.follow(&mut newton, &mut steps),
            false => {
                newton.memory.z.fill(0.0);
                0.0
            }
        };
        newton.velocities();
        if T::ORDER > 0 {
            if !self.rest.is_empty() {
                self.answering_delassus(&data, &mut newton.memory.g);
            }
            newton.linearize(Stage { kappa: smoothing, share: 1.0 });
        }
        let NewtonMemory { z, u, step, .. } = &mut *memory;
        step.resize(z.len(), 0.0);
        let margin = self.modes((&data, creep), (scales, impulse), (z, u), modes);
        let solved = residual <= self.tolerance;
        let status = if solved { Status::Solved } else { Status::IterationLimit };
        *report = Report { status, iterations: steps, residual, margin, ..Report::default() };
        let (velocity, rest) = outputs.split_at_mut(self.rows.velocities());
        for (output, &z) in rest.iter_mut().zip(&*z) {
            *output = T::constant(z);
        }
        let data = self.data(inputs);
        self.velocities(&data, rest, velocity);
        let answer = |z: &[T], velocity: &mut [T]| match self.rest.is_empty() {
            true => self.velocities(&data, z, velocity),
            false => self.answer(&data, &z[..rows], velocity),
        };
        for _ in 0..T::ORDER {
            answer(rest, velocity);
            // Unrolled: a Newton step with the slope of the values gains an order.
            let u = |i: usize, r: usize| data.blocks()[i].times(data.row(i, r), velocity);
            let mut h = vec![T::zero(); rest.len()];
            let stage = Stage { kappa: smoothing, share: 1.0 };
            self.conditions((&data, self.creep(inputs)), (stage, scales), (rest, u), &mut h);
            for (k, h) in h.into_iter().enumerate() {
                let NewtonMemory { lu, step, .. } = &mut *memory;
                step.fill(0.0);
                step[k] = 1.0;
                lu.solve(step);
                for (z, &inverse) in rest.iter_mut().zip(&*step) {
                    *z -= h * inverse;
                }
            }
            answer(rest, velocity);
        }
    }

    fn residual<T: Real>(
        &self,
        solution: &SmoothedSolution,
        inputs: &[T],
        outputs: &[T],
        residual: &mut [T],
    ) {
        let data = self.data(inputs);
        let (velocity, z) = outputs.split_at(self.rows.velocities());
        let (momentum, conditions) = residual.split_at_mut(velocity.len());
        momentum_residual(&data, velocity, &z[..self.rows.rows()], momentum);
        add_rest((&self.rows, &self.rest), velocity, momentum);
        let u = |i: usize, r: usize| data.blocks()[i].times(data.row(i, r), velocity);
        self.conditions_at(solution, inputs, (z, u), conditions);
    }
}
