//! The implicit function theorem by duals: dy = -(dF/dy)^-1 dF/dx dx, to any order.

use std::ops::Mul;

use super::least_norm::least_norm_inverse;
use super::{Dual, Node, Real};

/// Columns of a Jacobian found in one pass through a residual.
const LANES: usize = 4;

/// Steps of a refined solution, at most.
const REFINEMENTS: usize = 40;

/// A change of a solution, relative to it, that is lost in twice the digits.
const ROUNDING: f64 = 1e-28;

/// The residual F of a node, linearised at its solution: dF/dy with the inverse G of its values,
/// and, for the adjoint, dF/dx. Reused, it allocates nothing where dF/dy is regular.
///
/// A system in a scalar that itself differentiates is solved by y <- y + G (b - dF/dy y): what G
/// misses is a perturbation whose products end at the order of the scalar, so that as many steps
/// give the solution, and more take the rounding out of G.
#[derive(Clone, Debug, Default)]
pub struct Linearization<T> {
    /// dF/dy, row-major.
    in_outputs: Vec<T>,
    /// dF/dx, row-major; empty until an adjoint asks for it.
    in_inputs: Vec<T>,
    inverse: Vec<f64>,
    scaled: Vec<f64>,
    exchanges: Vec<(usize, usize)>,
    columns: Pass<T, LANES>,
    tangent: Pass<T, 1>,
    right: Vec<T>,
    solution: Vec<T>,
    /// What the values of the solution have beyond their digits.
    rest: Vec<f64>,
    error: Vec<T>,
    change: Vec<T>,
}

/// A pass of duals through a residual.
#[derive(Clone, Debug, Default)]
struct Pass<T, const N: usize> {
    inputs: Vec<Dual<T, N>>,
    outputs: Vec<Dual<T, N>>,
    residual: Vec<Dual<T, N>>,
}

impl<T: Real, const N: usize> Pass<T, N> {
    fn run<K: Node>(
        &mut self,
        node: &K,
        solution: &K::Solution,
        inputs: impl Iterator<Item = Dual<T, N>>,
        outputs: impl Iterator<Item = Dual<T, N>>,
    ) {
        self.inputs.clear();
        self.inputs.extend(inputs);
        self.outputs.clear();
        self.outputs.extend(outputs);
        self.residual.clear();
        self.residual.resize(self.outputs.len(), Real::constant(0.0));
        node.residual(solution, &self.inputs, &self.outputs, &mut self.residual);
    }

    fn write_columns(&self, jacobian: &mut [T], columns: usize, first: usize) {
        for (row, r) in jacobian.chunks_exact_mut(columns.max(1)).zip(&self.residual) {
            for (entry, &t) in row[first..].iter_mut().zip(&r.tangent) {
                *entry = t;
            }
        }
    }
}

fn constants<T: Real, const N: usize>(x: &[T]) -> impl Iterator<Item = Dual<T, N>> {
    x.iter().map(|&x| Dual::new(x, [T::zero(); N]))
}

fn seeded<T: Real, const N: usize>(x: &[T], first: usize) -> impl Iterator<Item = Dual<T, N>> {
    x.iter().enumerate().map(move |(j, &x)| Dual::variable(x, j.wrapping_sub(first)))
}

impl<T: Real> Linearization<T> {
    /// Linearises the residual of `node` in its outputs.
    pub(super) fn factor<K: Node>(
        &mut self,
        node: &K,
        solution: &K::Solution,
        inputs: &[T],
        outputs: &[T],
    ) {
        let n = outputs.len();
        self.in_inputs.clear();
        self.in_outputs.clear();
        self.in_outputs.resize(n * n, T::zero());
        for first in (0..n).step_by(LANES) {
            self.columns.run(node, solution, constants(inputs), seeded(outputs, first));
            self.columns.write_columns(&mut self.in_outputs, n, first);
        }
        self.inverse.clear();
        self.inverse.extend(self.in_outputs.iter().map(|a| a.value()));
        least_norm_inverse(&mut self.inverse, n, &mut self.scaled, &mut self.exchanges);
    }

    /// dy = -(dF/dy)^-1 dF/dx dx
    pub(super) fn jvp<K: Node>(
        &mut self,
        node: &K,
        solution: &K::Solution,
        inputs: &[T],
        outputs: &[T],
        dx: impl Iterator<Item = T>,
    ) -> &[T] {
        let moving = inputs.iter().zip(dx).map(|(&x, dx)| Dual::new(x, [dx]));
        self.tangent.run(node, solution, moving, constants(outputs));
        self.right.clear();
        self.right.extend(self.tangent.residual.iter().map(|r| -r.tangent[0]));
        self.solve(false);
        &self.solution
    }

    /// x' += -(dF/dx)' (dF/dy)^-T y'
    pub(super) fn vjp<K: Node>(
        &mut self,
        node: &K,
        solution: &K::Solution,
        inputs: &[T],
        outputs: &[T],
        output_adjoints: &[T],
        input_adjoints: &mut [T],
    ) {
        let (m, n) = (inputs.len(), outputs.len());
        if self.in_inputs.is_empty() {
            self.in_inputs.resize(n * m, T::zero());
            for first in (0..m).step_by(LANES) {
                self.columns.run(node, solution, seeded(inputs, first), constants(outputs));
                self.columns.write_columns(&mut self.in_inputs, m, first);
            }
        }
        self.right.clear();
        self.right.extend_from_slice(output_adjoints);
        self.solve(true);
        for (row, &w) in self.in_inputs.chunks_exact(m.max(1)).zip(&self.solution) {
            for (adjoint, &slope) in input_adjoints.iter_mut().zip(row) {
                *adjoint -= slope * w;
            }
        }
    }

    // The system with the matrix dF/dy or its transpose. What is left of it is summed, and the solution kept, in twice the
    // digits (`Higham02` 12): parts of a solution that cancel in what they do may be large, and the inverse may have few
    // digits of its own, so that it takes as many steps as bring anything.
    fn solve(&mut self, transpose: bool) {
        let n = self.right.len();
        multiply(&self.inverse, &self.right, transpose, &mut self.solution);
        self.rest.clear();
        self.rest.resize(n, 0.0);
        let mut before = f64::INFINITY;
        for count in 0..REFINEMENTS {
            self.error.clear();
            for (i, &right) in self.right.iter().enumerate() {
                let mut sum = Sum::of(right);
                for (k, (&x, &rest)) in self.solution.iter().zip(&self.rest).enumerate() {
                    let a = self.in_outputs[if transpose { k * n + i } else { i * n + k }];
                    sum.subtract(a, x);
                    sum.subtract(a, T::constant(rest));
                }
                self.error.push(sum.total());
            }
            multiply(&self.inverse, &self.error, transpose, &mut self.change);
            for ((x, rest), &change) in
                self.solution.iter_mut().zip(&mut self.rest).zip(&self.change)
            {
                *rest += lost(x.value(), change.value());
                *x += change;
            }
            let largest = |x: &[T]| x.iter().fold(0.0, |most: f64, x| most.max(x.value().abs()));
            let now = largest(&self.change);
            let gains = now < 0.5 * before && now > ROUNDING * largest(&self.solution);
            if count > T::ORDER && !gains {
                break;
            }
            before = now;
        }
    }
}

/// The end of a solver that runs on values, for a scalar that differentiates: Newton steps with the slope of the
/// values, of which each gains an order (`Griewank08` 15).
#[derive(Clone, Debug, Default)]
pub struct Carry<T> {
    linearization: Linearization<f64>,
    inputs: Vec<f64>,
    outputs: Vec<f64>,
    residual: Vec<T>,
    change: Vec<T>,
}

impl<T: Real> Carry<T> {
    /// y <- y - G (F(x, y) - its value), with the inverse G of dF/dy at the values of x and y, and once more against the
    /// rounding in G. The values stay as they are; NaN where they do not determine the derivative.
    pub fn run<K: Node>(
        &mut self,
        node: &K,
        solution: &K::Solution,
        inputs: &[T],
        outputs: &mut [T],
    ) {
        let Carry { linearization, inputs: x, outputs: y, residual, change } = self;
        x.clear();
        x.extend(inputs.iter().map(|x| x.value()));
        y.clear();
        y.extend(outputs.iter().map(|y| y.value()));
        linearization.factor(node, solution, x, y);
        for _ in 0..=T::ORDER {
            residual.clear();
            residual.resize(outputs.len(), T::zero());
            node.residual(solution, inputs, outputs, residual);
            residual.iter_mut().for_each(|r| *r -= T::constant(r.value()));
            multiply(&linearization.inverse, residual, false, change);
            outputs.iter_mut().zip(&*change).for_each(|(y, &change)| *y -= change);
        }
    }
}

/// A sum whose value is kept in twice the digits.
pub struct Sum<T> {
    sum: T,
    rest: f64,
}

impl<T: Real> Sum<T> {
    /// A sum that starts with x.
    pub fn of(x: T) -> Self {
        Sum { sum: x, rest: 0.0 }
    }

    /// Subtracts a x.
    pub fn subtract(&mut self, a: T, x: T) {
        let product = a * x;
        self.rest -= a.value().mul_add(x.value(), -product.value());
        self.rest += lost(self.sum.value(), -product.value());
        self.sum -= product;
    }

    /// The sum, with what was lost put back.
    pub fn total(self) -> T {
        self.sum + T::constant(self.rest)
    }
}

/// What rounding takes from x + y.
fn lost(x: f64, y: f64) -> f64 {
    let sum = x + y;
    let part = sum - x;
    (x - (sum - part)) + (y - part)
}

// y <- A x or A' x, A row-major and square.
fn multiply<C: Copy, T: Real + Mul<C, Output = T>>(
    a: &[C],
    x: &[T],
    transpose: bool,
    y: &mut Vec<T>,
) {
    y.clear();
    y.resize(x.len(), T::zero());
    for (i, row) in a.chunks_exact(x.len().max(1)).enumerate() {
        for (j, &a) in row.iter().enumerate() {
            let (from, to) = if transpose { (i, j) } else { (j, i) };
            y[to] += x[from] * a;
        }
    }
}
