//! The scalar that every numerical function of the crate is generic over, and what is solved on it: two traits that
//! name each other.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use super::{instance, lanes};

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

    // Which of the scalars that programs are compiled for once this is (see `instance`), if it is one.
    #[doc(hidden)]
    const INSTANCE: Option<usize> = None;

    /// What a [`Node`] call keeps between calls, so that repeated calls allocate nothing.
    type Workspace<N: Node>: Default;

    /// The number `x`, with derivative 0.
    fn constant(x: f64) -> Self;
    /// The value, without derivatives. Branches are decided on it.
    fn value(self) -> f64;

    /// Whether the value and all derivatives are zero.
    fn vanishes(self) -> bool {
        self.is_zero()
    }

    // A slope that is 0 by convention, at a kink: a constant, but to a scalar that detects what depends
    // on what, which must also find the slopes beside the kink.
    #[doc(hidden)]
    #[inline(always)]
    fn flat(self) -> Self {
        Self::zero()
    }

    // Whether the value and all derivatives are finite.
    #[doc(hidden)]
    #[inline(always)]
    fn is_bounded(self) -> bool {
        self.value().is_finite()
    }

    // A product in which nothing flows through a zero: an infinite factor harms no direction in
    // which the other one does not move. Dearer than `*` for duals.
    #[doc(hidden)]
    #[inline(always)]
    fn guarded_product(self, other: Self) -> Self {
        self * other
    }

    /// 1 / self.
    fn recip(self) -> Self;
    /// Square root; the derivative at 0 is 0.
    fn sqrt(self) -> Self;
    /// Cube root.
    fn cbrt(self) -> Self;
    /// Absolute value; the derivative at 0 is 0.
    fn abs(self) -> Self;
    /// Exponential.
    fn exp(self) -> Self;
    /// 2 to the power of self.
    fn exp2(self) -> Self;
    /// e^x - 1, exact near 0.
    fn exp_m1(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// ln(1 + x), exact near 0.
    fn ln_1p(self) -> Self;
    /// Logarithm to base 2.
    fn log2(self) -> Self;
    /// Logarithm to base 10.
    fn log10(self) -> Self;
    /// Sine.
    fn sin(self) -> Self;
    /// Cosine.
    fn cos(self) -> Self;
    /// Sine and cosine, for hardly more than the price of one.
    fn sin_cos(self) -> (Self, Self);
    /// Tangent.
    fn tan(self) -> Self;
    /// Arc sine.
    fn asin(self) -> Self;
    /// Arc cosine.
    fn acos(self) -> Self;
    /// Arc tangent.
    fn atan(self) -> Self;
    /// Hyperbolic sine.
    fn sinh(self) -> Self;
    /// Hyperbolic cosine.
    fn cosh(self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
    /// Inverse hyperbolic sine.
    fn asinh(self) -> Self;
    /// Inverse hyperbolic cosine.
    fn acosh(self) -> Self;
    /// Inverse hyperbolic tangent.
    fn atanh(self) -> Self;
    /// Integer power; `x^0` is the constant 1, also at 0.
    fn powi(self, n: i32) -> Self;
    /// Power with a constant exponent.
    fn powf(self, a: f64) -> Self;
    /// Power; the derivative in the exponent is 0 where the base is 0.
    fn pow(self, a: Self) -> Self;
    /// Angle of the point (`x`, `self`); the derivative at the origin is 0.
    fn atan2(self, x: Self) -> Self;
    /// sqrt(x^2 + y^2) without overflow; the derivative at the origin is 0.
    fn hypot(self, y: Self) -> Self;
    /// What is left of x by division by y, with the sign of x: x - q y with the integer
    /// q = trunc(x / y), which is a constant. The value is exact.
    fn rem(self, y: Self) -> Self;

    /// The larger; of equal values the first. `self` if one is not a number.
    fn max(self, other: Self) -> Self {
        if other.value() > self.value() { other } else { self }
    }
    /// The smaller; of equal values the first. `self` if one is not a number.
    fn min(self, other: Self) -> Self {
        if other.value() < self.value() { other } else { self }
    }
    /// `low` below it, else `high` above it, else `self`, on both borders too.
    fn clamp(self, low: Self, high: Self) -> Self {
        self.max(low).min(high)
    }
    /// The size of `self` with the sign of `sign`, also that of a zero.
    fn copysign(self, sign: Self) -> Self {
        if self.value().is_sign_negative() == sign.value().is_sign_negative() {
            self
        } else {
            -self
        }
    }
    /// 1 with the sign of `self`, a constant.
    fn signum(self) -> Self {
        Self::constant(self.value().signum())
    }
    /// The largest integer not above `self`, a constant.
    fn floor(self) -> Self {
        Self::constant(self.value().floor())
    }
    /// The smallest integer not below `self`, a constant.
    fn ceil(self) -> Self {
        Self::constant(self.value().ceil())
    }
    /// The nearest integer, halves away from 0, a constant.
    fn round(self) -> Self {
        Self::constant(self.value().round())
    }
    /// The integer part, a constant.
    fn trunc(self) -> Self {
        Self::constant(self.value().trunc())
    }
    /// `self * a + b`, rounded twice.
    #[track_caller]
    fn mul_add(self, a: Self, b: Self) -> Self {
        self * a + b
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

    // Arithmetic on arrays, the tangents of a dual over this scalar.
    #[doc(hidden)]
    #[inline(always)]
    fn axpby<const N: usize>(a: Self, x: &[Self; N], b: Self, y: &[Self; N]) -> [Self; N] {
        std::array::from_fn(|k| a * x[k] + b * y[k])
    }
    #[doc(hidden)]
    #[inline(always)]
    fn axpy<const N: usize>(a: Self, x: &[Self; N], y: &[Self; N]) -> [Self; N] {
        std::array::from_fn(|k| a * x[k] + y[k])
    }
    #[doc(hidden)]
    #[inline(always)]
    fn accumulate<const N: usize>(y: &mut [Self; N], a: Self, x: &[Self; N]) {
        for (y, &x) in y.iter_mut().zip(x) {
            *y += a * x;
        }
    }
    #[doc(hidden)]
    #[inline(always)]
    fn scale<const N: usize>(a: Self, x: &[Self; N]) -> [Self; N] {
        x.map(|x| a * x)
    }
    #[doc(hidden)]
    #[inline(always)]
    fn plus<const N: usize>(x: &[Self; N], y: &[Self; N]) -> [Self; N] {
        std::array::from_fn(|k| x[k] + y[k])
    }
    #[doc(hidden)]
    #[inline(always)]
    fn minus<const N: usize>(x: &[Self; N], y: &[Self; N]) -> [Self; N] {
        std::array::from_fn(|k| x[k] - y[k])
    }
}

/// Something that is *solved* for (an argmin, an equilibrium, a root) and therefore differentiated
/// through its optimality conditions rather than through the iterations that found it.
///
/// `outputs = primal(inputs)` is any solver; `residual(inputs, outputs) = 0` are the conditions it
/// meets, which define the derivative by the implicit function theorem; `jvp` and `vjp` are that
/// derivative, derived by hand from one factorisation. How a call is differentiated depends on the
/// scalar:
///
/// | scalar | value | derivative |
/// |---|---|---|
/// | `f64` | `primal` | none |
/// | [`Dual`](super::Dual) | `primal` on the values | `jvp` of each tangent |
/// | [`Var`](super::Var) | `primal` on the values | `vjp` in the sweep |
/// | `Dual` under [`NodeRule::ByResidual`] | `primal` on the values | linear solve with duals through `residual` |
/// | `Dual` under [`NodeRule::Unrolled`] | `primal` on the duals | what the iterations carry |
///
/// The last two share no derivative formula with `jvp` and `vjp`; they are how gradients are
/// verified.
///
/// [`NodeRule::ByResidual`]: super::NodeRule::ByResidual
/// [`NodeRule::Unrolled`]: super::NodeRule::Unrolled
///
/// Whoever has a solver and a residual need not write the rest: see [`Implicit`](super::Implicit).
pub trait Node: Clone + 'static {
    /// What the solver decided in `f64`, handed down as data to all derivatives: report, modes,
    /// ranks. Also the starting guess of the next call.
    type Solution: Clone + Default + Debug + 'static;
    /// The solver's scratch memory.
    type Workspace<T: Real>: Default;
    /// The factorisation behind `jvp` and `vjp`, with their scratch memory.
    type Factor<T: Real>: Default + 'static;

    /// Solves for `outputs`. Generic, so that it also runs on duals and on the tape, unrolled.
    fn primal<T: Real>(
        &self,
        inputs: &[T],
        outputs: &mut [T],
        solution: &mut Self::Solution,
        workspace: &mut Self::Workspace<T>,
    );

    /// The conditions that hold at the solution, as many as there are outputs, with a nonsingular
    /// Jacobian in the outputs wherever the outputs are differentiable.
    fn residual<T: Real>(
        &self,
        solution: &Self::Solution,
        inputs: &[T],
        outputs: &[T],
        residual: &mut [T],
    );

    /// Factorises the linearised conditions at the solution.
    fn factor<T: Real>(
        &self,
        solution: &Self::Solution,
        inputs: &[T],
        outputs: &[T],
        factor: &mut Self::Factor<T>,
    );

    /// `output_tangents = (d outputs / d inputs) input_tangents`.
    fn jvp<T: Real>(
        &self,
        solution: &Self::Solution,
        factor: &mut Self::Factor<T>,
        inputs: &[T],
        outputs: &[T],
        input_tangents: &[T],
        output_tangents: &mut [T],
    );

    /// The same for `columns` tangents at once, one after the other.
    #[expect(clippy::too_many_arguments, reason = "as jvp, and how many")]
    fn jvp_many<T: Real>(
        &self,
        solution: &Self::Solution,
        factor: &mut Self::Factor<T>,
        inputs: &[T],
        outputs: &[T],
        columns: usize,
        input_tangents: &[T],
        output_tangents: &mut [T],
    ) {
        for k in 0..columns {
            let (dx, dy) = (k * inputs.len(), k * outputs.len());
            let (dx, dy) = (&input_tangents[dx..dx + inputs.len()], dy..dy + outputs.len());
            self.jvp(solution, factor, inputs, outputs, dx, &mut output_tangents[dy]);
        }
    }

    /// `input_adjoints += (d outputs / d inputs)' output_adjoints`.
    fn vjp<T: Real>(
        &self,
        solution: &Self::Solution,
        factor: &mut Self::Factor<T>,
        inputs: &[T],
        outputs: &[T],
        output_adjoints: &[T],
        input_adjoints: &mut [T],
    );
}

macro_rules! forwarded {
    ($($f:ident($($a:ident: $t:ty)?))*) => {$(
        #[inline(always)]
        fn $f(self $(, $a: $t)?) -> f64 {
            f64::$f(self $(, $a)?)
        }
    )*};
}

impl Real for f64 {
    const ORDER: usize = 0;
    const INSTANCE: Option<usize> = Some(instance::PLAIN);
    type Workspace<N: Node> = N::Workspace<f64>;

    #[inline(always)]
    fn constant(x: f64) -> f64 {
        x
    }
    #[inline(always)]
    fn value(self) -> f64 {
        self
    }
    forwarded! {
        recip() sqrt() cbrt() abs() exp() exp2() exp_m1() ln() ln_1p() log2() log10() sin() cos()
        tan() asin() acos() atan() sinh() cosh() tanh() asinh() acosh() atanh() powi(n: i32)
        powf(a: f64) atan2(x: f64) hypot(y: f64)
    }
    #[inline(always)]
    fn sin_cos(self) -> (f64, f64) {
        f64::sin_cos(self)
    }
    #[inline(always)]
    fn pow(self, a: f64) -> f64 {
        f64::powf(self, a)
    }
    #[inline(always)]
    fn rem(self, y: f64) -> f64 {
        self % y
    }
    #[inline(always)]
    fn axpby<const N: usize>(a: f64, x: &[f64; N], b: f64, y: &[f64; N]) -> [f64; N] {
        lanes::axpby(a, x, b, y)
    }
    #[inline(always)]
    fn axpy<const N: usize>(a: f64, x: &[f64; N], y: &[f64; N]) -> [f64; N] {
        lanes::axpy(a, x, y)
    }
    #[inline(always)]
    fn accumulate<const N: usize>(y: &mut [f64; N], a: f64, x: &[f64; N]) {
        *y = lanes::axpy(a, x, y);
    }
    #[inline(always)]
    fn scale<const N: usize>(a: f64, x: &[f64; N]) -> [f64; N] {
        lanes::scale(a, x)
    }
    #[inline(always)]
    fn plus<const N: usize>(x: &[f64; N], y: &[f64; N]) -> [f64; N] {
        lanes::add(x, y)
    }
    #[inline(always)]
    fn minus<const N: usize>(x: &[f64; N], y: &[f64; N]) -> [f64; N] {
        lanes::sub(x, y)
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
