//! The elementary functions with their derivatives, once for all scalars: each returns (f(x),
//! f'(x)) in the inner scalar. What happens at kinks is tabled in the [module](super).

use super::Real;

#[inline(always)]
pub(super) fn sqrt<T: Real>(x: T) -> (T, T) {
    let root = x.sqrt();
    let slope = if root.value() == 0.0 { root.flat() } else { root.recip() * 0.5 };
    (root, slope)
}

#[inline(always)]
pub(super) fn cbrt<T: Real>(x: T) -> (T, T) {
    let root = x.cbrt();
    (root, (root.guarded_product(root) * 3.0).recip())
}

#[inline(always)]
pub(super) fn recip<T: Real>(x: T) -> (T, T) {
    let r = x.recip();
    (r, -r.guarded_product(r))
}

#[inline(always)]
pub(super) fn abs<T: Real>(x: T) -> (T, T) {
    (x.abs(), T::constant(sign(x.value())))
}

/// 0 at 0, unlike `f64::signum`.
pub(super) fn sign(x: f64) -> f64 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else {
        0.0
    }
}

#[inline(always)]
pub(super) fn exp<T: Real>(x: T) -> (T, T) {
    let e = x.exp();
    (e, e)
}

#[inline(always)]
pub(super) fn exp2<T: Real>(x: T) -> (T, T) {
    let e = x.exp2();
    (e, e * std::f64::consts::LN_2)
}

#[inline(always)]
pub(super) fn exp_m1<T: Real>(x: T) -> (T, T) {
    (x.exp_m1(), x.exp())
}

#[inline(always)]
pub(super) fn ln<T: Real>(x: T) -> (T, T) {
    (x.ln(), unless(x.value() < 0.0, x.recip()))
}

#[inline(always)]
pub(super) fn ln_1p<T: Real>(x: T) -> (T, T) {
    (x.ln_1p(), unless(x.value() < -1.0, (x + 1.0).recip()))
}

#[inline(always)]
pub(super) fn log2<T: Real>(x: T) -> (T, T) {
    (x.log2(), unless(x.value() < 0.0, (x * std::f64::consts::LN_2).recip()))
}

#[inline(always)]
pub(super) fn log10<T: Real>(x: T) -> (T, T) {
    (x.log10(), unless(x.value() < 0.0, (x * std::f64::consts::LN_10).recip()))
}

#[inline(always)]
pub(super) fn sin<T: Real>(x: T) -> (T, T) {
    x.sin_cos()
}

#[inline(always)]
pub(super) fn cos<T: Real>(x: T) -> (T, T) {
    let (sin, cos) = x.sin_cos();
    (cos, -sin)
}

#[inline(always)]
pub(super) fn tan<T: Real>(x: T) -> (T, T) {
    let t = x.tan();
    (t, t.guarded_product(t) + 1.0)
}

#[inline(always)]
pub(super) fn asin<T: Real>(x: T) -> (T, T) {
    (x.asin(), one_minus_square(x).sqrt().recip())
}

#[inline(always)]
pub(super) fn acos<T: Real>(x: T) -> (T, T) {
    (x.acos(), -one_minus_square(x).sqrt().recip())
}

#[inline(always)]
pub(super) fn atan<T: Real>(x: T) -> (T, T) {
    if x.value().abs() <= 1.0 {
        return (x.atan(), (x * x + 1.0).recip());
    }
    // Far out x^2 overflows, and with it the second derivative.
    let r = x.recip();
    let square = r.guarded_product(r);
    (x.atan(), square / (square + 1.0))
}

#[inline(always)]
pub(super) fn sinh<T: Real>(x: T) -> (T, T) {
    (x.sinh(), x.cosh())
}

#[inline(always)]
pub(super) fn cosh<T: Real>(x: T) -> (T, T) {
    (x.cosh(), x.sinh())
}

// 1 - tanh^2 has no digits left where tanh rounds to 1, and 1 / cosh^2 overflows. Near 0 it is the
// derivative of the exponentials that has none left.
#[inline(always)]
pub(super) fn tanh<T: Real>(x: T) -> (T, T) {
    if x.value().abs() < 0.5 {
        let t = x.tanh();
        return (t, one_minus_square(t));
    }
    let e = if x.value() < 0.0 { x * 2.0 } else { x * -2.0 }.exp();
    let root = (e + 1.0).recip();
    (x.tanh(), e.guarded_product(root).guarded_product(root) * 4.0)
}

#[inline(always)]
pub(super) fn asinh<T: Real>(x: T) -> (T, T) {
    (x.asinh(), x.hypot(T::one()).recip())
}

#[inline(always)]
pub(super) fn acosh<T: Real>(x: T) -> (T, T) {
    (x.acosh(), (x - 1.0).sqrt().guarded_product((x + 1.0).sqrt()).recip())
}

#[inline(always)]
pub(super) fn atanh<T: Real>(x: T) -> (T, T) {
    (x.atanh(), unless(x.value().abs() > 1.0, one_minus_square(x).recip()))
}

/// The slope, unless outside of the domain of the function: there the formula may give a number, but
/// there is nothing it is the slope of.
#[inline(always)]
fn unless<T: Real>(outside: bool, slope: T) -> T {
    if outside { slope.guarded_product(T::constant(f64::NAN)) } else { slope }
}

/// 1 - x^2, exact near 1; near 0 its derivative is, which is the difference of two numbers about 1
/// in the product.
#[inline(always)]
fn one_minus_square<T: Real>(x: T) -> T {
    if x.value().abs() < 0.5 { T::one() - x * x } else { (T::one() - x).guarded_product(x + 1.0) }
}

#[inline(always)]
pub(super) fn powi<T: Real>(x: T, n: i32) -> (T, T) {
    // n - 1 does not exist for the least n, where x^n is 0, 1 or infinite anyway.
    let slope = if n == 0 { T::zero() } else { x.powi(n.saturating_sub(1)) * f64::from(n) };
    (x.powi(n), slope)
}

#[inline(always)]
pub(super) fn powf<T: Real>(x: T, a: f64) -> (T, T) {
    let slope = if a == 0.0 { T::zero() } else { x.powf(a - 1.0) * a };
    (x.powf(a), slope)
}

/// x^a with its two derivatives, a x^(a-1) and x^a ln x; the latter is 0 at x = 0.
#[inline(always)]
pub(super) fn pow<T: Real>(x: T, a: T) -> (T, T, T) {
    let y = x.pow(a);
    let below = x.pow(a - 1.0);
    // At a = 0 the slope vanishes but not its derivative in a, 1 / x; at x = 0 both do.
    let dx = match a.value() == 0.0 && !below.is_bounded() {
        true => y.flat(),
        false => a.guarded_product(below),
    };
    let da = if x.value() == 0.0 { y.flat() } else { y.guarded_product(x.ln()) };
    (y, dx, da)
}

/// The angle of (x, y), and its derivatives in y and x.
#[inline(always)]
pub(super) fn atan2<T: Real>(y: T, x: T) -> (T, T, T) {
    let r = y.hypot(x);
    if r.value() == 0.0 {
        return (y.atan2(x), r.flat(), r.flat());
    }
    // Divided twice, so that r^2 may under- or overflow.
    (y.atan2(x), x / r / r, -y / r / r)
}

/// sqrt(x^2 + y^2) without overflow, and its derivatives.
#[inline(always)]
pub(super) fn hypot<T: Real>(x: T, y: T) -> (T, T, T) {
    let r = x.hypot(y);
    if r.value() == 0.0 {
        return (r, r.flat(), r.flat());
    }
    (r, x / r, y / r)
}

/// x - q y with q = trunc(x / y), and its derivatives, 1 and -q.
#[inline(always)]
pub(super) fn rem<T: Real>(x: T, y: T) -> (T, T, T) {
    let r = x.rem(y);
    // From the exact remainder, because x / y itself may round up to the next integer.
    let q = ((x.value() - r.value()) / y.value()).round();
    (r, T::one(), T::constant(-q))
}

/// The methods of [`Real`] that follow from the functions above, for a scalar with a field `value` and
/// methods `unary(name, f, f')` and `binary(name, other, f, fx, fy)`.
macro_rules! methods {
    () => {
        $crate::elementary::methods!(@unary recip sqrt cbrt abs exp exp2 exp_m1 ln ln_1p log2
            log10 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh);
        $crate::elementary::methods!(@binary pow atan2 hypot rem);

        #[inline(always)]
        #[track_caller]
        fn sin_cos(self) -> (Self, Self) {
            let (sin, cos) = self.value.sin_cos();
            (self.unary(&"sin", sin, cos), self.unary(&"cos", cos, -sin))
        }
        #[inline(always)]
        #[track_caller]
        fn powi(self, n: i32) -> Self {
            let (y, dy) = $crate::elementary::powi(self.value, n);
            self.unary(&"powi", y, dy)
        }
        #[inline(always)]
        #[track_caller]
        fn powf(self, a: f64) -> Self {
            let (y, dy) = $crate::elementary::powf(self.value, a);
            self.unary(&"powf", y, dy)
        }
    };
    (@unary $($f:ident)*) => {$(
        #[inline(always)]
        #[track_caller]
        fn $f(self) -> Self {
            let (y, dy) = $crate::elementary::$f(self.value);
            self.unary(&stringify!($f), y, dy)
        }
    )*};
    (@binary $($f:ident)*) => {$(
        #[inline(always)]
        #[track_caller]
        fn $f(self, other: Self) -> Self {
            let (z, dx, dy) = $crate::elementary::$f(self.value, other.value);
            self.binary(&stringify!($f), other, z, dx, dy)
        }
    )*};
}

pub(crate) use methods;
