//! The traits of `num_traits` on our scalars, and the operators these and plain formulas want.
//!
//! Only names are given here: what a function and its derivative are is said in
//! [`elementary`](super::elementary) and [`Real`].

use std::fmt;
use std::iter::{Product, Sum};
use std::num::FpCategory;
use std::ops::{
    Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Rem, RemAssign, Sub, SubAssign,
};

use num_traits::{
    Bounded, Float, FloatConst, FromPrimitive, Inv, MulAdd, MulAddAssign, Num, NumCast, One,
    ParseFloatError, Pow, Signed, ToPrimitive, Zero,
};

use super::{Dual, Real, TapeScalar, Var};

macro_rules! float {
    ([$($g:tt)*] $t:ty) => {
        impl<$($g)*> Float for $t {
            float!(@constant nan NAN, infinity INFINITY, neg_infinity NEG_INFINITY, min_value MIN,
                min_positive_value MIN_POSITIVE, epsilon EPSILON, max_value MAX);
            float!(@same abs signum floor ceil round trunc recip sqrt cbrt exp exp2 exp_m1 ln ln_1p
                log2 log10 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh);
            float!(@same2 atan2 hypot copysign);
            float!(@ask is_nan bool, is_infinite bool, is_finite bool, is_normal bool,
                is_subnormal bool, classify FpCategory, is_sign_positive bool,
                is_sign_negative bool);

            fn neg_zero() -> Self {
                Self::constant(-0.0)
            }
            #[track_caller]
            fn sin_cos(self) -> (Self, Self) {
                Real::sin_cos(self)
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
            fn log(self, base: Self) -> Self {
                Real::ln(self) / Real::ln(base)
            }
            #[track_caller]
            fn mul_add(self, a: Self, b: Self) -> Self {
                Real::mul_add(self, a, b)
            }
            fn fract(self) -> Self {
                self - self.value().trunc()
            }
            #[track_caller]
            fn to_degrees(self) -> Self {
                self * 1.0_f64.to_degrees()
            }
            #[track_caller]
            fn to_radians(self) -> Self {
                self * 1.0_f64.to_radians()
            }
            // As on `f64`, the other operand if one is not a number.
            fn max(self, other: Self) -> Self {
                if Real::value(self).is_nan() { other } else { Real::max(self, other) }
            }
            fn min(self, other: Self) -> Self {
                if Real::value(self).is_nan() { other } else { Real::min(self, other) }
            }
            fn clamp(self, min: Self, max: Self) -> Self {
                Real::clamp(self, min, max)
            }
            #[track_caller]
            fn abs_sub(self, other: Self) -> Self {
                if self <= other { Self::constant(0.0) } else { self - other }
            }
            fn integer_decode(self) -> (u64, i16, i8) {
                Float::integer_decode(self.value())
            }
        }

        impl<$($g)*> FloatConst for $t {
            float!(@float_const E FRAC_1_PI FRAC_1_SQRT_2 FRAC_2_PI FRAC_2_SQRT_PI FRAC_PI_2
                FRAC_PI_3 FRAC_PI_4 FRAC_PI_6 FRAC_PI_8 LN_10 LN_2 LOG10_2 LOG10_E LOG2_10 LOG2_E
                PI SQRT_2 TAU);
        }

        impl<$($g)*> Bounded for $t {
            float!(@constant min_value MIN, max_value MAX);
        }

        impl<$($g)*> Signed for $t {
            #[track_caller]
            fn abs(&self) -> Self {
                Real::abs(*self)
            }
            #[track_caller]
            fn abs_sub(&self, other: &Self) -> Self {
                Float::abs_sub(*self, *other)
            }
            fn signum(&self) -> Self {
                Real::signum(*self)
            }
            fn is_positive(&self) -> bool {
                self.value().is_sign_positive()
            }
            fn is_negative(&self) -> bool {
                self.value().is_sign_negative()
            }
        }

        impl<$($g)*> Num for $t {
            type FromStrRadixErr = ParseFloatError;
            fn from_str_radix(text: &str, radix: u32) -> Result<Self, ParseFloatError> {
                f64::from_str_radix(text, radix).map(Self::constant)
            }
        }

        impl<$($g)*> ToPrimitive for $t {
            float!(@to to_i64 i64, to_i128 i128, to_u64 u64, to_u128 u128, to_f32 f32, to_f64 f64);
        }

        impl<$($g)*> FromPrimitive for $t {
            float!(@from from_i64 i64, from_i128 i128, from_u64 u64, from_u128 u128, from_f32 f32,
                from_f64 f64);
        }

        impl<$($g)*> NumCast for $t {
            fn from<A: ToPrimitive>(x: A) -> Option<Self> {
                x.to_f64().map(Self::constant)
            }
        }

        impl<$($g)*> From<f64> for $t {
            fn from(x: f64) -> Self {
                Self::constant(x)
            }
        }

        impl<$($g)*> Inv for $t {
            type Output = Self;
            #[track_caller]
            fn inv(self) -> Self {
                Real::recip(self)
            }
        }

        impl<$($g)*> Pow<i32> for $t {
            type Output = Self;
            #[track_caller]
            fn pow(self, n: i32) -> Self {
                Real::powi(self, n)
            }
        }

        impl<$($g)*> Pow<f64> for $t {
            type Output = Self;
            #[track_caller]
            fn pow(self, a: f64) -> Self {
                Real::powf(self, a)
            }
        }

        impl<$($g)*> Pow<$t> for $t {
            type Output = Self;
            #[track_caller]
            fn pow(self, a: Self) -> Self {
                Real::pow(self, a)
            }
        }

        impl<$($g)*> MulAdd for $t {
            type Output = Self;
            #[track_caller]
            fn mul_add(self, a: Self, b: Self) -> Self {
                Real::mul_add(self, a, b)
            }
        }

        impl<$($g)*> MulAddAssign for $t {
            #[track_caller]
            fn mul_add_assign(&mut self, a: Self, b: Self) {
                *self = Real::mul_add(*self, a, b);
            }
        }

        // Not from 0 or 1 on: the tape would record one operation more.
        impl<$($g)*> Sum for $t {
            fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
                iter.reduce(|sum, x| sum + x).unwrap_or_else(Self::zero)
            }
        }

        impl<$($g)*> Product for $t {
            fn product<I: Iterator<Item = Self>>(iter: I) -> Self {
                iter.reduce(|product, x| product * x).unwrap_or_else(Self::one)
            }
        }

        impl<'a, $($g)*> Sum<&'a $t> for $t {
            fn sum<I: Iterator<Item = &'a Self>>(iter: I) -> Self {
                iter.copied().sum()
            }
        }

        impl<'a, $($g)*> Product<&'a $t> for $t {
            fn product<I: Iterator<Item = &'a Self>>(iter: I) -> Self {
                iter.copied().product()
            }
        }

        impl<$($g)*> Rem for $t {
            type Output = Self;
            #[track_caller]
            fn rem(self, other: Self) -> Self {
                Real::rem(self, other)
            }
        }

        impl<$($g)*> RemAssign for $t {
            #[track_caller]
            fn rem_assign(&mut self, other: Self) {
                *self = Real::rem(*self, other);
            }
        }

        impl<$($g)*> Rem<f64> for $t {
            type Output = Self;
            #[track_caller]
            fn rem(self, other: f64) -> Self {
                Real::rem(self, Self::constant(other))
            }
        }

        impl<$($g)*> Neg for &$t {
            type Output = $t;
            #[inline(always)]
            #[track_caller]
            fn neg(self) -> $t {
                -*self
            }
        }

        float!(@operator [$($g)*] $t, Add add AddAssign add_assign, |c, x| x + c);
        float!(@operator [$($g)*] $t, Sub sub SubAssign sub_assign, |c, x| -x + c);
        float!(@operator [$($g)*] $t, Mul mul MulAssign mul_assign, |c, x| x * c);
        float!(@operator [$($g)*] $t, Div div DivAssign div_assign, |c, x| <$t>::constant(c) / x);
        float!(@operator [$($g)*] $t, Rem rem RemAssign rem_assign, |c, x| <$t>::constant(c) % x);
    };
    (@constant $($f:ident $c:ident),*) => {$(
        fn $f() -> Self {
            Self::constant(f64::$c)
        }
    )*};
    (@float_const $($c:ident)*) => {$(
        fn $c() -> Self {
            Self::constant(<f64 as FloatConst>::$c())
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
    (@ask $($f:ident $out:ty),*) => {$(
        fn $f(self) -> $out {
            f64::$f(self.value())
        }
    )*};
    (@to $($f:ident $out:ty),*) => {$(
        fn $f(&self) -> Option<$out> {
            self.value().$f()
        }
    )*};
    (@from $($f:ident $from:ty),*) => {$(
        fn $f(x: $from) -> Option<Self> {
            <f64 as FromPrimitive>::$f(x).map(Self::constant)
        }
    )*};
    // References on either side, a number on the left, a number in the assigning form.
    (@operator [$($g:tt)*] $t:ty, $Op:ident $op:ident $Assign:ident $assign:ident,
        |$c:ident, $x:ident| $left:expr) => {
        impl<$($g)*> $Op<&$t> for $t {
            type Output = $t;
            #[inline(always)]
            #[track_caller]
            fn $op(self, other: &$t) -> $t {
                $Op::$op(self, *other)
            }
        }
        impl<$($g)*> $Op<$t> for &$t {
            type Output = $t;
            #[inline(always)]
            #[track_caller]
            fn $op(self, other: $t) -> $t {
                $Op::$op(*self, other)
            }
        }
        impl<$($g)*> $Op<&$t> for &$t {
            type Output = $t;
            #[inline(always)]
            #[track_caller]
            fn $op(self, other: &$t) -> $t {
                $Op::$op(*self, *other)
            }
        }
        impl<$($g)*> $Op<$t> for f64 {
            type Output = $t;
            #[inline(always)]
            #[track_caller]
            fn $op(self, $x: $t) -> $t {
                let $c = self;
                $left
            }
        }
        impl<$($g)*> $Assign<f64> for $t {
            #[inline(always)]
            #[track_caller]
            fn $assign(&mut self, other: f64) {
                *self = $Op::$op(*self, other);
            }
        }
        impl<$($g)*> $Assign<&$t> for $t {
            #[inline(always)]
            #[track_caller]
            fn $assign(&mut self, other: &$t) {
                *self = $Op::$op(*self, *other);
            }
        }
    };
}

float!([T: Real, const N: usize] Dual<T, N>);
float!([T: TapeScalar] Var<T>);

/// The value, then the tangents in brackets: `3 [1, 0]`. Width and precision are those of each number.
impl<T: fmt::Display, const N: usize> fmt::Display for Dual<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.value, f)?;
        for (k, t) in self.tangent.iter().enumerate() {
            f.write_str(if k == 0 { " [" } else { ", " })?;
            fmt::Display::fmt(t, f)?;
        }
        f.write_str(if N == 0 { "" } else { "]" })
    }
}

/// The value.
impl<T: TapeScalar + fmt::Display> fmt::Display for Var<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.inner(), f)
    }
}
