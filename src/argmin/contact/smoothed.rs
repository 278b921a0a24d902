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

use std::ops::Range;

use super::law::{Law, Mode, Support};
use super::node_residual::momentum_residual;
use super::problem::{ContactData, Delassus, Layout, is_admissible};
use crate::ad::{Implicit, Real};
use crate::argmin::block_rows::{BlockRows, RowBlock};
use crate::argmin::status::{Report, Status};
use crate::linalg::{Lu, norm};

/// The smoothed problem as a node. Inputs as those of [`CoupledContact`](super::CoupledContact); outputs: v+,
/// lambda, then psi of each block by Coulomb's law (m/s).
#[derive(Debug, Default)]
pub struct SmoothedContact {
    /// As there.
    pub rows: BlockRows,
    /// As there; cones are taken as Coulomb's law.
    pub laws: Vec<Law>,
    /// Residual of the conditions, relative to the largest impulse that stops a contact, at which the problem
    /// counts as solved.
    pub tolerance: f64,
    /// kappa, J; positive.
    pub smoothing: f64,
}

/// What a solve decided, in f64.
#[derive(Debug, Default)]
pub struct SmoothedSolution {
    /// Status, Newton steps, relative residual. There are no modes, so no margin.
    pub report: Report,
    /// What each block does most of: for readers.
    pub modes: Vec<Mode>,
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
        (self.tolerance, self.smoothing) = (other.tolerance, other.smoothing);
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

/// Newton steps at a kappa, and halvings of each.
const ITERATIONS: usize = 40;
const HALVINGS: usize = 30;
/// By what kappa falls.
const FALL: f64 = 0.1;
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
        self.conditions(&self.data(inputs), (self.smoothing, &solution.scales), at, h);
    }

    /// The conditions of all blocks at impulses and bounds `z` and velocities `u(block, row)` along the rows.
    fn conditions<T: Real>(
        &self,
        data: &ContactData<T>,
        (kappa, scales): (f64, &[f64]),
        (z, u): (&[T], impl Fn(usize, usize) -> T),
        h: &mut [T],
    ) {
        let mut cone = self.rows.rows();
        for (i, block) in data.blocks().iter().enumerate() {
            let (first, scale) = (block.first, scales[i]);
            let product = kappa * scale;
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
                    if data.limit[i].value() > 0.0 {
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

    /// What each block does most of.
    fn modes(
        &self,
        data: &ContactData<f64>,
        scales: &[f64],
        (z, u): (&[f64], &[f64]),
        modes: &mut Vec<Mode>,
    ) {
        let mut cone = self.rows.rows();
        let mode = |(i, law): (usize, &Law)| {
            let first = data.blocks()[i].first;
            let slack = u[first] - data.target[i] + data.compliance[i] * z[first];
            let three = law.rows() == 3;
            cone += usize::from(three);
            if law.support() == Support::Limited {
                let free = data.limit[i] - z[first].abs();
                return if free < u[first].abs() * scales[i] { Mode::Slide } else { Mode::Stick };
            }
            if law.is_one_sided() && z[first] < slack * scales[i] {
                return Mode::Break;
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
    }
}

/// sqrt(x^2 + 4 product)
fn root<T: Real>(x: T, product: f64) -> T {
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

/// Newton's method on values.
struct Newton<'a> {
    node: &'a SmoothedContact,
    data: ContactData<'a, f64>,
    memory: &'a mut NewtonMemory,
    scales: &'a [f64],
    impulse: f64,
}

impl Newton<'_> {
    /// u at z.
    fn velocities(&mut self) {
        let NewtonMemory { delassus, z, u, .. } = &mut *self.memory;
        let rows = self.node.rows.rows();
        u.resize(rows, 0.0);
        delassus.velocity(&self.node.rows, &z[..rows], u);
        // b is less the targets.
        for (block, target) in self.data.blocks().iter().zip(self.data.target) {
            u[block.first] += target;
        }
    }

    /// u and h at z; the largest condition.
    fn conditions(&mut self, kappa: f64) -> f64 {
        self.velocities();
        let NewtonMemory { z, u, h, .. } = &mut *self.memory;
        h.resize(z.len(), 0.0);
        let blocks = self.data.blocks();
        let velocity = |i: usize, r: usize| u[blocks[i].first + r];
        self.node.conditions(&self.data, (kappa, self.scales), (z, velocity), h);
        let largest =
            h.iter().fold(0.0, |most: f64, x| if x.abs() <= most { most } else { x.abs() });
        largest / self.impulse
    }

    /// The derivatives of the conditions in z, with u = G lambda + b.
    fn linearize(&mut self, kappa: f64) -> bool {
        let NewtonMemory { g, matrix, lu, z, u, .. } = &mut *self.memory;
        let (n, rows) = (z.len(), self.node.rows.rows());
        matrix.clear();
        matrix.resize(n * n, 0.0);
        // Adds the weights of z and of u to a condition.
        let mut add = |row: usize, of_z: &[(usize, f64)], of_u: &[(usize, f64)]| {
            let row = &mut matrix[row * n..(row + 1) * n];
            for &(k, weight) in of_z {
                row[k] += weight;
            }
            for &(k, weight) in of_u {
                for (x, g) in row.iter_mut().zip(&g[k * rows..(k + 1) * rows]) {
                    *x += weight * g;
                }
            }
        };
        let mut cone = rows;
        let data = &self.data;
        for (i, block) in data.blocks().iter().enumerate() {
            let (first, scale, c) = (block.first, self.scales[i], data.compliance[i]);
            let product = kappa * scale;
            let slack = u[first] - data.target[i] + c * z[first];
            let x = z[first] - slack * scale;
            match self.node.laws[i].support() {
                Support::Bilateral => {
                    add(first, &[(first, c * scale + GIVE)], &[(first, scale)]);
                }
                support => {
                    let slope = match support {
                        Support::Limited => {
                            let (low, high) = (x + data.limit[i], x - data.limit[i]);
                            (low / root(low, product) - high / root(high, product)) * 0.5
                        }
                        _ => (1.0 + x / root(x, product)) * 0.5,
                    };
                    let own = 1.0 - slope * (1.0 - c * scale);
                    if support == Support::Borrowed {
                        let normal = data.blocks()[block.normal].first;
                        add(first, &[(first, 1.0), (normal, -1.0)], &[]);
                    } else if support == Support::Given {
                        add(first, &[(first, 1.0)], &[]);
                    } else {
                        add(first, &[(first, own)], &[(first, slope * scale)]);
                    }
                    if block.rows == 1 {
                        continue;
                    }
                    let (mu, tangents) = (data.limit[i], [first + 1, first + 2]);
                    if mu > 0.0 {
                        let x = mu * z[first] - z[cone] * scale;
                        let y = tangents.map(|k| z[k] - u[k] * scale);
                        let r = norm(&y);
                        let [a, b] = [x + r, x - r];
                        let [high, low] = [root(a, product), root(b, product)];
                        let sum = high + low;
                        let along = x / sum + 0.5;
                        // d sum = by_x dx + by_r dr,  dr = y dy / r
                        let (by_x, by_r) = (a / high + b / low, a / high - b / low);
                        let unit = y.map(|y| if r > 0.0 { y / r } else { 0.0 });
                        let center = 0.5 + 0.25 * by_x;
                        add(
                            cone,
                            &[
                                (first, mu * (1.0 - center)),
                                (cone, center * scale),
                                (tangents[0], -0.25 * by_r * unit[0]),
                                (tangents[1], -0.25 * by_r * unit[1]),
                            ],
                            &[0, 1].map(|k| (tangents[k], 0.25 * by_r * unit[k] * scale)),
                        );
                        let turn = (1.0 - x * by_x / sum) / sum;
                        let swell = -x * by_r / (sum * sum);
                        for k in 0..2 {
                            let felt = [0, 1].map(|l| {
                                let own = if k == l { along } else { 0.0 };
                                own + y[k] * swell * unit[l]
                            });
                            let same = |l: usize| if k == l { 1.0 } else { 0.0 };
                            add(
                                tangents[k],
                                &[
                                    (first, -y[k] * turn * mu),
                                    (cone, y[k] * turn * scale),
                                    (tangents[0], same(0) - felt[0]),
                                    (tangents[1], same(1) - felt[1]),
                                ],
                                &[0, 1].map(|l| (tangents[l], felt[l] * scale)),
                            );
                        }
                    } else {
                        add(cone, &[(cone, scale)], &[]);
                        tangents.iter().for_each(|&k| add(k, &[(k, 1.0)], &[]));
                    }
                    cone += 1;
                }
            }
        }
        lu.factor(matrix, n)
    }

    /// Newton steps at a kappa until the conditions hold to `tolerance`; returns their residual.
    fn solve(&mut self, kappa: f64, tolerance: f64, steps: &mut usize) -> f64 {
        let mut residual = self.conditions(kappa);
        for _ in 0..ITERATIONS {
            if residual <= tolerance || !self.linearize(kappa) {
                break;
            }
            *steps += 1;
            let NewtonMemory { lu, z, start, h, step, .. } = &mut *self.memory;
            step.clone_from(h);
            lu.solve(step);
            start.clone_from(z);
            let (mut length, mut better) = (1.0, false);
            for _ in 0..HALVINGS {
                let NewtonMemory { z, start, step, .. } = &mut *self.memory;
                for (z, (&start, &step)) in z.iter_mut().zip(start.iter().zip(&*step)) {
                    *z = start - length * step;
                }
                let reached = self.conditions(kappa);
                if reached < (1.0 - 1e-4 * length) * residual {
                    (residual, better) = (reached, true);
                    break;
                }
                length *= 0.5;
            }
            if !better {
                // At rounding.
                let NewtonMemory { z, start, .. } = &mut *self.memory;
                z.clone_from(start);
                self.conditions(kappa);
                break;
            }
        }
        residual
    }
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
        let admissible = is_admissible(&self.rows, &self.laws, values)
            && self.smoothing > 0.0
            && self.smoothing.is_finite();
        if !admissible {
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
        let SmoothedSolution { report, modes, scales } = solution;
        scales.clear();
        scales.extend(data.blocks().iter().enumerate().map(size));
        let strongest = scales.iter().copied().fold(0.0, f64::max);
        let speed = delassus.velocity_scale();
        // The impulse that stops a contact, or that of the smoothing alone.
        let impulse = (speed * strongest).max((self.smoothing * strongest).sqrt());
        let mut kappa = self.smoothing.max(speed * speed * strongest);
        if !(kappa.is_finite() && impulse.is_finite()) {
            // Of velocities whose squares overflow.
            return solution.invalid(self.laws.len());
        }
        let z = &mut memory.z;
        z.clear();
        z.resize(self.unknowns(), 0.0);
        let mut cone = rows;
        for (i, block) in self.rows.blocks().iter().enumerate() {
            let start = (kappa * scales[i]).sqrt();
            if self.laws[i].is_one_sided() {
                z[block.first] = start;
            }
            if self.laws[i].rows() == 3 {
                z[cone] = start / scales[i];
                cone += 1;
            }
        }
        let mut steps = 0;
        let mut newton = Newton { node: self, data, memory, scales, impulse };
        while kappa > self.smoothing {
            newton.solve(kappa, 1e-3, &mut steps);
            kappa = (kappa * FALL).max(self.smoothing);
        }
        let residual = newton.solve(self.smoothing, self.tolerance, &mut steps);
        newton.velocities();
        if T::ORDER > 0 {
            newton.linearize(self.smoothing);
        }
        let NewtonMemory { z, u, step, .. } = &mut *memory;
        step.resize(z.len(), 0.0);
        self.modes(&data, scales, (z, u), modes);
        let solved = residual <= self.tolerance;
        let status = if solved { Status::Solved } else { Status::IterationLimit };
        let margin = f64::INFINITY;
        *report = Report { status, iterations: steps, residual, margin, ..Report::default() };
        let (velocity, rest) = outputs.split_at_mut(self.rows.velocities());
        for (output, &z) in rest.iter_mut().zip(&*z) {
            *output = T::constant(z);
        }
        let data = self.data(inputs);
        self.velocities(&data, rest, velocity);
        for _ in 0..T::ORDER {
            // Unrolled: a Newton step with the slope of the values gains an order.
            let u = |i: usize, r: usize| data.blocks()[i].times(data.row(i, r), velocity);
            let mut h = vec![T::zero(); rest.len()];
            self.conditions(&data, (self.smoothing, scales), (rest, u), &mut h);
            for (k, h) in h.into_iter().enumerate() {
                let NewtonMemory { lu, step, .. } = &mut *memory;
                step.fill(0.0);
                step[k] = 1.0;
                lu.solve(step);
                for (z, &inverse) in rest.iter_mut().zip(&*step) {
                    *z -= h * inverse;
                }
            }
            self.velocities(&data, rest, velocity);
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
        let u = |i: usize, r: usize| data.blocks()[i].times(data.row(i, r), velocity);
        self.conditions(&data, (self.smoothing, &solution.scales), (z, u), conditions);
    }
}
