//! `nalgebra::RealField` for [`Dual`] and [`Var`], for code that is generic over it: nalgebra's
//! factorisations, rotations and isometries, and what others wrote on top (feature `real_field`).
//!
//! This crate itself does not use it. What is known to be lost:
//!
//! - **Branches on zero.** nalgebra skips what has the value 0, with its derivative. Exponentials and
//!   logarithms of rotations (`from_scaled_axis`, `scaled_axis`) have derivative 0 at the angle 0, where
//!   `stiction::spatial` has the right one. Eigenvectors and singular vectors of a matrix that
//!   is diagonal already have derivative 0. `normalize` of a zero vector is NaN.
//! - **Repeated eigenvalues and singular values**, and their vectors, have arbitrary derivatives that
//!   depend on the steps of the iteration: mathematically there are none, and no error says so.
//!   Iterations stop when the values have converged; derivatives are those of the last iterate.
//!   Cholesky, LU, QR, inverse and determinant have no such losses.
//! - **Tolerances.** `default_epsilon` is that of `f64`; comparisons look at values alone. Pivots are
//!   those of the values.
//! - **Speed.** Each multiplication on the tape is an operation; for large matrices write a
//!   [`Node`](super::Node) or a [block](Var::block).
//! - **Threads.** `RealField` is `Send` and `Sync`, so [`Var`] is, too, with this feature. A variable
//!   used on another thread makes the driver return an error.
//! - **Down to `f64`.** `to_subset` gives a number only for constants; unchecked, it drops derivatives.
//!
//! ```
//! use nalgebra::{Matrix2, Vector2};
//! use stiction::ad::{Real, gradient};
//! // b' A^-1 b in the entry A[0][0]: -(A^-1 b)[0]^2
//! let (_, slope) = gradient(
//!     |x| {
//!         let [zero, one, two] = [0.0, 1.0, 2.0].map(Real::constant);
//!         let a = Matrix2::new(x[0], one, one, two);
//!         let b = Vector2::new(one, zero);
//!         a.cholesky().map_or(zero, |a| b.dot(&a.solve(&b)))
//!     },
//!     &[3.0],
//! )?;
//! assert!((slope[0] + 0.16).abs() < 1e-15);
//! # Ok::<(), stiction::ad::Error>(())
//! ```

use std::f64::consts;
use std::fmt::Display;

use approx::{AbsDiffEq, RelativeEq, UlpsEq};
use nalgebra::{ComplexField, Field, RealField, SimdValue};
use num_traits::Float;
use simba::scalar::SubsetOf;

use super::{Dual, Real, TapeScalar, Var};

macro_rules! real_field {
    ([$($g:tt)*] $t:ty, |$x:ident| $constant:expr) => {
        impl<$($g)*> RealField for $t {
            fn is_sign_positive(&self) -> bool {
                self.value().is_sign_positive()
            }
            fn is_sign_negative(&self) -> bool {
                self.value().is_sign_negative()
            }
            fn max(self, other: Self) -> Self {
                Float::max(self, other)
            }
            fn min(self, other: Self) -> Self {
                Float::min(self, other)
            }
            fn clamp(self, min: Self, max: Self) -> Self {
                Real::clamp(self, min, max)
            }
            fn min_value() -> Option<Self> {
                Some(Self::constant(f64::MIN))
            }
            fn max_value() -> Option<Self> {
                Some(Self::constant(f64::MAX))
            }
            real_field!(@same2 copysign atan2);
            real_field!(@constant pi PI, two_pi TAU, frac_pi_2 FRAC_PI_2, frac_pi_3 FRAC_PI_3,
                frac_pi_4 FRAC_PI_4, frac_pi_6 FRAC_PI_6, frac_pi_8 FRAC_PI_8,
                frac_1_pi FRAC_1_PI, frac_2_pi FRAC_2_PI, frac_2_sqrt_pi FRAC_2_SQRT_PI, e E,
                log2_e LOG2_E, log10_e LOG10_E, ln_2 LN_2, ln_10 LN_10);
        }

        impl<$($g)*> ComplexField for $t {
            type RealField = Self;

            fn from_real(re: Self) -> Self {
                re
            }
            fn real(self) -> Self {
                self
            }
            fn imaginary(self) -> Self {
                Self::constant(0.0)
            }
            #[track_caller]
            fn modulus(self) -> Self {
                Real::abs(self)
            }
            #[track_caller]
            fn modulus_squared(self) -> Self {
                self * self
            }
            fn argument(self) -> Self {
                Self::constant(if self.value() >= 0.0 { 0.0 } else { consts::PI })
            }
            #[track_caller]
            fn norm1(self) -> Self {
                Real::abs(self)
            }
            #[track_caller]
            fn scale(self, factor: Self) -> Self {
                self * factor
            }
            #[track_caller]
            fn unscale(self, factor: Self) -> Self {
                self / factor
            }
            #[track_caller]
            fn to_exp(self) -> (Self, Self) {
                let sign = if self.value() >= 0.0 { 1.0 } else { -1.0 };
                (self * sign, Self::constant(sign))
            }
            fn fract(self) -> Self {
                Float::fract(self)
            }
            #[track_caller]
            fn mul_add(self, a: Self, b: Self) -> Self {
                Real::mul_add(self, a, b)
            }
            fn conjugate(self) -> Self {
                self
            }
            #[track_caller]
            fn sin_cos(self) -> (Self, Self) {
                Real::sin_cos(self)
            }
            #[track_caller]
            fn log(self, base: Self) -> Self {
                Float::log(self, base)
            }
            #[track_caller]
            fn powi(self, n: i32) -> Self {
                Real::powi(self, n)
            }
            #[track_caller]
            fn powf(self, a: Self) -> Self {
                Real::pow(self, a)
            }
            #[track_caller]
            fn powc(self, a: Self) -> Self {
                Real::pow(self, a)
            }
            fn is_finite(&self) -> bool {
                self.value().is_finite()
            }
            #[track_caller]
            fn try_sqrt(self) -> Option<Self> {
                (self.value() >= 0.0).then(|| Real::sqrt(self))
            }
            real_field!(@same signum floor ceil round trunc abs recip sin cos tan asin acos atan
                sinh cosh tanh asinh acosh atanh log2 log10 ln ln_1p sqrt exp exp2 exp_m1 cbrt);
            real_field!(@same2 hypot);
        }

        impl<$($g)*> Field for $t {}

        // One lane. What the trait declares as `unsafe` is safe here; the keyword must be repeated.
        impl<$($g)*> SimdValue for $t {
            const LANES: usize = 1;
            type Element = Self;
            type SimdBool = bool;

            fn splat(x: Self) -> Self {
                x
            }
            fn extract(&self, _: usize) -> Self {
                *self
            }
            #[expect(unsafe_code, reason = "the trait's signature; nothing unsafe is done")]
            unsafe fn extract_unchecked(&self, _: usize) -> Self {
                *self
            }
            fn replace(&mut self, _: usize, x: Self) {
                *self = x;
            }
            #[expect(unsafe_code, reason = "the trait's signature; nothing unsafe is done")]
            unsafe fn replace_unchecked(&mut self, _: usize, x: Self) {
                *self = x;
            }
            fn select(self, condition: bool, other: Self) -> Self {
                if condition { self } else { other }
            }
        }

        impl<$($g)*> SubsetOf<$t> for $t {
            fn to_superset(&self) -> Self {
                *self
            }
            fn from_superset_unchecked(x: &Self) -> Self {
                *x
            }
            fn is_in_subset(_: &Self) -> bool {
                true
            }
        }

        impl<$($g)*> SubsetOf<$t> for f64 {
            fn to_superset(&self) -> $t {
                <$t>::constant(*self)
            }
            fn from_superset_unchecked(x: &$t) -> f64 {
                x.value()
            }
            fn is_in_subset($x: &$t) -> bool {
                $constant
            }
        }

        impl<$($g)*> SubsetOf<$t> for f32 {
            fn to_superset(&self) -> $t {
                <$t>::constant(f64::from(*self))
            }
            fn from_superset_unchecked(x: &$t) -> f32 {
                x.value() as f32
            }
            fn is_in_subset($x: &$t) -> bool {
                $constant
            }
        }

        impl<$($g)*> AbsDiffEq for $t {
            type Epsilon = Self;

            fn default_epsilon() -> Self {
                Self::constant(f64::EPSILON)
            }
            fn abs_diff_eq(&self, other: &Self, epsilon: Self) -> bool {
                self.value().abs_diff_eq(&other.value(), epsilon.value())
            }
        }

        impl<$($g)*> RelativeEq for $t {
            fn default_max_relative() -> Self {
                Self::constant(f64::EPSILON)
            }
            fn relative_eq(&self, other: &Self, epsilon: Self, max_relative: Self) -> bool {
                let (x, y) = (self.value(), other.value());
                x.relative_eq(&y, epsilon.value(), max_relative.value())
            }
        }

        impl<$($g)*> UlpsEq for $t {
            fn default_max_ulps() -> u32 {
                f64::default_max_ulps()
            }
            fn ulps_eq(&self, other: &Self, epsilon: Self, max_ulps: u32) -> bool {
                self.value().ulps_eq(&other.value(), epsilon.value(), max_ulps)
            }
        }
    };
    (@constant $($f:ident $c:ident),*) => {$(
        fn $f() -> Self {
            Self::constant(consts::$c)
        }
    )*};
    (@same $($f:ident)*) => {$(
        #[track_caller]
        fn $f(self) -> Self {
            Real::$f(self)
        }
    )*};
    (@same2 $($f:ident)*) => {$(
        #[track_caller]
        fn $f(self, other: Self) -> Self {
            Real::$f(self, other)
        }
    )*};
}

real_field!(
    [T: Real + Display + Send + Sync, const N: usize] Dual<T, N>,
    |x| x.tangent.iter().all(|t| t.vanishes())
);
real_field!([T: TapeScalar + Display + Send + Sync] Var<T>, |x| x.is_constant());
