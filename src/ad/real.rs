//! The scalar trait every numerical function of the crate is generic over.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use super::Node;

/// A differentiable real number: `f64`, a forward-mode [`Dual`](super::Dual) or a variable
/// [`Var`](super::Var) on the reverse-mode tape.
///
/// Comparisons look at the value alone. Where a function has a kink, the derivative is one fixed
/// element of its generalised derivative; the [module documentation](super) lists them.
pub trait Real:
    Copy
    + Debug
    + Default
    + PartialEq
    + PartialOrd
    + num_traits::Zero
    + num_traits::One
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
    + Div<f64, Output = Self>
    + 'static
{
    /// How many times the scalar differentiates: 0 for `f64`, one more for each layer of duals or
    /// tape. Solvers that run unrolled repeat their last Newton step this often, because tangents
    /// converge one step after the values.
    const ORDER: usize;

    /// What a [`Node`] call keeps between calls, so that repeated calls allocate nothing.
    type Workspace<N: Node>: Default;

    /// The number `x`, with derivative 0.
    fn constant(x: f64) -> Self;
    /// The value, without derivatives. Branches are decided on it.
    fn value(self) -> f64;

    /// Square root; the derivative at 0 is 0.
    fn sqrt(self) -> Self;
    /// Absolute value; the derivative at 0 is 0.
    fn abs(self) -> Self;
    /// The larger; of equal values the first.
    fn max(self, other: Self) -> Self {
        if other.value() > self.value() { other } else { self }
    }
    /// The smaller; of equal values the first.
    fn min(self, other: Self) -> Self {
        if other.value() < self.value() { other } else { self }
    }
    /// Exponential.
    fn exp(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// Sine.
    fn sin(self) -> Self;
    /// Cosine.
    fn cos(self) -> Self;
    /// Tangent.
    fn tan(self) -> Self;
    /// Arc sine.
    fn asin(self) -> Self;
    /// Arc cosine.
    fn acos(self) -> Self;
    /// Arc tangent.
    fn atan(self) -> Self;
    /// Angle of the point (`x`, `self`); the derivative at the origin is 0.
    fn atan2(self, x: Self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
    /// Integer power; `x^0` is the constant 1, also at 0.
    fn powi(self, n: i32) -> Self;
    /// Power with a constant exponent.
    fn powf(self, a: f64) -> Self;
    /// 1 / self.
    fn recip(self) -> Self {
        Self::one() / self
    }

    /// `outputs = node(inputs)`, differentiated as this scalar does it (see [`Node`]).
    ///
    /// `solution` is read as a starting guess and overwritten.
    fn call<N: Node>(
        node: &N,
        inputs: &[Self],
        outputs: &mut [Self],
        solution: &mut N::Solution,
        workspace: &mut Self::Workspace<N>,
    );
}

impl Real for f64 {
    const ORDER: usize = 0;
    type Workspace<N: Node> = N::Workspace<f64>;

    fn constant(x: f64) -> f64 {
        x
    }
    fn value(self) -> f64 {
        self
    }
    fn sqrt(self) -> f64 {
        f64::sqrt(self)
    }
    fn abs(self) -> f64 {
        f64::abs(self)
    }
    fn exp(self) -> f64 {
        f64::exp(self)
    }
    fn ln(self) -> f64 {
        f64::ln(self)
    }
    fn sin(self) -> f64 {
        f64::sin(self)
    }
    fn cos(self) -> f64 {
        f64::cos(self)
    }
    fn tan(self) -> f64 {
        f64::tan(self)
    }
    fn asin(self) -> f64 {
        f64::asin(self)
    }
    fn acos(self) -> f64 {
        f64::acos(self)
    }
    fn atan(self) -> f64 {
        f64::atan(self)
    }
    fn atan2(self, x: f64) -> f64 {
        f64::atan2(self, x)
    }
    fn tanh(self) -> f64 {
        f64::tanh(self)
    }
    fn powi(self, n: i32) -> f64 {
        f64::powi(self, n)
    }
    fn powf(self, a: f64) -> f64 {
        f64::powf(self, a)
    }
    fn call<N: Node>(
        node: &N,
        inputs: &[f64],
        outputs: &mut [f64],
        solution: &mut N::Solution,
        workspace: &mut N::Workspace<f64>,
    ) {
        node.primal(inputs, outputs, solution, workspace);
    }
}
