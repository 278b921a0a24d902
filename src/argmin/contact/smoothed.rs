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
//! # Penalties
//! Contacts that yield may have [friction that does so](RegularizedFriction) in the place of the cone: lambda_t = -phi u_t, with the impulse
//! kt dt of each unit of slip given beside the other inputs, and kappa = 0. These conditions have kinks, as those of Coulomb's law have.
//!
//! What poses the problem is not smoothed: the target has a kink at a gap of 0, where Baumgarte's share begins, and a
//! contact leaves the problem at the reach, where it still pushes with a hundredth of the weight.

mod answer;
mod relaxed_newton;

use std::ops::Range;

use relaxed_newton::RelaxedNewton;

use super::law::{Law, Mode, Support};
use super::node_residual::{add_rest, momentum_residual};
use super::problem::{ContactData, Delassus, Layout, is_admissible};
use super::regularized_friction::RegularizedFriction;
use crate::ad::{Implicit, Real};
use crate::argmin::block_rows::{BlockRows, RowBlock};
use crate::argmin::status::{Report, Status};
use crate::linalg::{Lu, norm};

/// What takes the place of complementarity and of the friction cone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Relaxation {
    /// The product kappa, J; positive.
    Product(f64),
    /// Friction by penalty, of contacts that yield: the exact law along their normals.
    Penalty(RegularizedFriction),
}

impl Default for Relaxation {
    fn default() -> Self {
        Relaxation::Product(0.0)
    }
}

impl Relaxation {
    /// kappa.
    fn product(self) -> f64 {
        match self {
            Relaxation::Product(kappa) => kappa,
            Relaxation::Penalty(_) => 0.0,
        }
    }

    /// Whether there is such a problem.
    fn is_admissible(self) -> bool {
        matches!(self, Relaxation::Penalty(_)) || self.product() > 0.0 && self.product().is_finite()
    }
}

/// The smoothed problem as a node. Inputs as those of [`CoupledContact`](super::CoupledContact), of penalties then kt dt of each
/// block (kg; of others than contacts unused); outputs: v+, lambda, then psi of each block by Coulomb's law (m/s; of penalties 0).
#[derive(Debug, Default)]
pub struct SmoothedContact {
    /// As there.
    pub rows: BlockRows,
    /// As there; cones are taken as Coulomb's law.
    pub laws: Vec<Law>,
    /// Residual of the conditions, relative to the largest impulse that stops a contact, at which the problem
    /// counts as solved.
    pub tolerance: f64,
    /// What it is smoothed by.
    pub relaxation: Relaxation,
    /// As there.
    pub rest: Vec<f64>,
}

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
impl Clone for SmoothedContact {
    fn clone(&self) -> Self {
        let mut clone = SmoothedContact::default();
        clone.clone_from(self);
        clone
    }

    fn clone_from(&mut self, other: &Self) {
        self.rows.clone_from(&other.rows);
        self.laws.clone_from(&other.laws);
        (self.tolerance, self.relaxation) = (other.tolerance, other.relaxation);
        self.rest.clone_from(&other.rest);
    }
}

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
/// Compliance of equations, relative to the scale of their row.
const GIVE: f64 = 1e-9;

impl SmoothedContact {
    /// How many outputs there are.
    pub fn output_len(&self) -> usize {
        self.rows.velocities() + self.unknowns()
    }

    fn cones(&self) -> usize {
        self.laws.iter().filter(|law| law.rows() == 3).count()
    }

    fn unknowns(&self) -> usize {
        self.rows.rows() + self.cones()
    }

    pub(crate) fn data<'a, T: Real>(&'a self, inputs: &'a [T]) -> ContactData<'a, T> {
        ContactData::new(&self.rows, &self.laws, inputs)
    }

    /// kt dt of each block; nothing where friction is no penalty.
    fn creep<'a, T: Real>(&self, inputs: &'a [T]) -> &'a [T] {
        &inputs[Layout::new(&self.rows).end..]
    }

    /// Where these are among the inputs.
    pub(crate) fn creep_range(&self) -> Range<usize> {
        let end = Layout::new(&self.rows).end;
        let blocks = self.rows.blocks().len();
        match self.relaxation {
            Relaxation::Penalty(_) => end..end + blocks,
            Relaxation::Product(_) => end..end,
        }
    }

    fn is_admissible(&self, inputs: &[f64]) -> bool {
        let creep = self.creep_range();
        if inputs.len() != creep.end || !self.relaxation.is_admissible() {
            return false;
        }
        let creeps = |(law, &kt): (&Law, &f64)| {
            law.rows() != 3 || kt >= 0.0 && kt.is_finite() && law.support() == Support::Unilateral
        };
        is_admissible(&self.rows, &self.laws, &inputs[..creep.start])
            && self.laws.iter().zip(&inputs[creep]).all(creeps)
    }

    /// v+ under the impulses that `z` begins with.
    fn velocities<T: Real>(&self, data: &ContactData<T>, z: &[T], velocity: &mut [T]) {
        self.rows.transpose_times(data.jacobian, &z[..self.rows.rows()], velocity);
        data.solve_mass(velocity);
        for (v, &free) in velocity.iter_mut().zip(data.free) {
            *v += free;
        }
    }

    /// Where the limits are among the inputs.
    pub(crate) fn limits(&self) -> Range<usize> {
        let at = Layout::new(&self.rows);
        at.limit..at.compliance
    }

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

    /// The conditions of all blocks at impulses and bounds `z` and velocities `u(block, row)` along the rows.
    fn conditions<T: Real>(
        &self,
        (data, creep): (&ContactData<T>, &[T]),
        (stage, scales): (Stage, &[f64]),
        (z, u): (&[T], impl Fn(usize, usize) -> T),
        h: &mut [T],
    ) {
        let mut cone = self.rows.rows();
        for (i, block) in data.blocks().iter().enumerate() {
            let (first, scale) = (block.first, scales[i]);
            let product = stage.kappa * scale;
            let slack = u(i, 0) - data.target[i] + data.compliance[i] * z[first];
            match self.laws[i].support() {
                Support::Bilateral => h[first] = slack * scale + z[first] * GIVE,
                Support::Limited => {
                    let x = z[first] - slack * scale;
                    let (low, high) = (x + data.limit[i], x - data.limit[i]);
                    h[first] = z[first] - (root(low, product) - root(high, product)) * 0.5;
                }
                support => {
                    let x = z[first] - slack * scale;
                    h[first] = z[first]
                        - match support {
                            Support::Borrowed => z[data.blocks()[block.normal].first],
                            Support::Given => T::one(),
                            _ => (x + root(x, product)) * 0.5,
                        };
                    if block.rows == 1 {
                        continue;
                    }
                    let (t, psi) = ([z[first + 1], z[first + 2]], z[cone]);
                    if let Relaxation::Penalty(friction) = self.relaxation {
                        let slip = [1, 2].map(|r| u(i, r));
                        let square = slip[0] * slip[0] + slip[1] * slip[1];
                        let limit = data.limit[i] * z[first];
                        let phi = friction.coefficient(creep[i] * stage.share, limit, square);
                        h[cone] = psi * scale;
                        (0..2).for_each(|k| h[first + 1 + k] = t[k] + phi * slip[k]);
                    } else if data.limit[i].value() > 0.0 {
                        let radius = data.limit[i] * z[first];
                        let x = radius - psi * scale;
                        let y = [0, 1].map(|k| t[k] - u(i, 1 + k) * scale);
                        let (center, along) = projected(x, y, product);
                        h[cone] = radius - center;
                        for k in 0..2 {
                            h[first + 1 + k] = t[k] - y[k] * along;
                        }
                    } else {
                        (h[cone], h[first + 1], h[first + 2]) = (psi * scale, t[0], t[1]);
                    }
                    cone += 1;
                }
            }
        }
    }

    /// What each block does most of; of penalties also how far from another mode one is, as a part of `impulse`.
    fn modes(
        &self,
        (data, creep): (&ContactData<f64>, &[f64]),
        (scales, impulse): (&[f64], f64),
        (z, u): (&[f64], &[f64]),
        modes: &mut Vec<Mode>,
    ) -> f64 {
        let mut cone = self.rows.rows();
        let mut margin = f64::INFINITY;
        let penalty = match self.relaxation {
            Relaxation::Penalty(friction) => Some(friction),
            Relaxation::Product(_) => None,
        };
        let mode = |(i, law): (usize, &Law)| {
            let first = data.blocks()[i].first;
            let slack = u[first] - data.target[i] + data.compliance[i] * z[first];
            let three = law.rows() == 3;
            cone += usize::from(three);
            let mut kink = |distance: f64| {
                if penalty.is_some() && impulse > 0.0 {
                    margin = margin.min(distance.abs() / impulse);
                }
            };
            if law.support() == Support::Limited {
                let free = data.limit[i] - z[first].abs();
                kink(free - u[first].abs() * scales[i]);
                return if free < u[first].abs() * scales[i] { Mode::Slide } else { Mode::Stick };
            }
            if law.is_one_sided() {
                kink(z[first] - slack * scales[i]);
            }
            if law.is_one_sided() && z[first] < slack * scales[i] {
                return Mode::Break;
            }
            if let Some(friction) = penalty.filter(|_| three) {
                let free = data.limit[i] * z[first] - creep[i] * norm(&u[first + 1..first + 3]);
                // The other goes over smoothly.
                if friction == RegularizedFriction::Linear {
                    kink(free);
                }
                return if free < 0.0 { Mode::Slide } else { Mode::Stick };
            }
            let friction = norm(&z[first..first + law.rows()][1..]);
            let free = data.limit[i] * z[first] - friction;
            match three && free < z[cone - 1] * scales[i] {
                true => Mode::Slide,
                false => Mode::Stick,
            }
        };
        modes.clear();
        modes.extend(self.laws.iter().enumerate().map(mode));
        margin
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

/// A kappa, and the part of the stiffness of friction by penalty.
#[derive(Clone, Copy, Debug)]
struct Stage {
    kappa: f64,
    share: f64,
}

/// sqrt(x^2 + 4 product)
fn root<T: Real>(x: T, product: f64) -> T {
    if product == 0.0 {
        return if x.value() < 0.0 { -x } else { x };
    }
    (x * x + 4.0 * product).sqrt()
}

/// The smoothed projection of (x, y) onto the second-order cone: its first number, and by what y is multiplied.
fn projected<T: Real>(x: T, y: [T; 2], product: f64) -> (T, T) {
    let r = norm(&y);
    let sum = root(x + r, product) + root(x - r, product);
    // (root(x + r) - root(x - r)) / 4 r, without the division by r.
    (x * 0.5 + sum * 0.25, x / sum + T::constant(0.5))
}

/// Scratch memory of the solver.
#[derive(Clone, Debug, Default)]
pub struct SmoothedWorkspace {
    values: Vec<f64>,
    newton: NewtonMemory,
}

#[derive(Clone, Debug, Default)]
struct NewtonMemory {
    delassus: Delassus<f64>,
    /// G, and the matrix of the conditions; row-major.
    g: Vec<f64>,
    matrix: Vec<f64>,
    lu: Lu<f64>,
    /// Impulses and bounds, and those a step starts from.
    z: Vec<f64>,
    start: Vec<f64>,
    u: Vec<f64>,
    h: Vec<f64>,
    step: Vec<f64>,
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
