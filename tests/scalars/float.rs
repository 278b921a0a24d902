//! Code generic over `num_traits::Float` on our scalars, and the operators that came with it.

use num_traits::{
    Float, FloatConst, FromPrimitive, Inv, MulAdd, Num, NumCast, Pow, Signed, ToPrimitive,
};
use stiction::ad::{self, Dual, Error, Var};

use crate::random::Random;

type D = Dual<f64, 2>;
type Nested = Dual<Dual<f64, 1>, 1>;

fn number<F: Float>(x: f64) -> F {
    F::from(x).unwrap()
}

fn rosenbrock<F: Float>(x: &[F]) -> F {
    let valley = x[1] - x[0] * x[0];
    (F::one() - x[0]).powi(2) + number::<F>(100.0) * valley.powi(2)
}

/// Each method of `Float` that is a function of its arguments, for two numbers in (0.2, 0.9).
fn methods<F: Float>(x: &[F]) -> Vec<F> {
    let (a, b) = (x[0], x[1]);
    let (sin, cos) = (a * b).sin_cos();
    vec![
        a.powf(b),
        a.powf(number(2.5)),
        a.powi(-3),
        a.hypot(b),
        a.atan2(b),
        a.exp_m1() * b.ln_1p(),
        sin / cos,
        a.max(b * number(2.0)),
        a.min(b * number(3.0)),
        a.clamp(b, b + F::one()) - a.clamp(F::zero(), a * a),
        (a + F::one()).abs_sub(b),
        b.abs_sub(a + F::one()),
        (a * number(7.3)) % b,
        -(a * number(7.3)) % b,
        (a * number(7.3)).fract() * b.trunc(),
        a.sqrt() + b.cbrt() + a.recip(),
        a.exp() * b.exp2(),
        a.ln() + b.log2() * a.log10() + a.log(b),
        a.sin() + b.cos() * a.tan(),
        a.asin() + b.acos() * a.atan(),
        a.sinh() + b.cosh() * a.tanh(),
        a.asinh() + (b + F::one()).acosh() * a.atanh(),
        (-a).abs() + a.copysign(-b) + b.signum(),
        a.mul_add(b, a),
        a.to_degrees() * b.to_radians(),
        a * a.floor() + b * (a + b).ceil() + a * (b * number(9.0)).round(),
        a / b - b * F::epsilon(),
        if a > b { a } else { b * b },
    ]
}

#[test]
fn generic_code_has_right_derivatives_on_all_scalars() {
    let mut random = Random(8);
    for _ in 0..30 {
        let x = [random.uniform(0.2, 0.9), random.uniform(0.2, 0.9)];
        let d: [f64; 2] = random.vector(1.0);
        let expected = methods(&x);
        let nested: [Nested; 2] = std::array::from_fn(|k| {
            let inner = Dual::<f64, 1>::new(x[k], [d[k]]);
            Dual::new(inner, [Dual::new(d[k], [0.0])])
        });
        let nested = methods(&nested);
        let (values, forward) = ad::jvp(methods, &x, &d).unwrap();
        let (taped, rows) = ad::jacobian_by_rows(methods, &x).unwrap();
        // Along the line, by central differences of fourth order.
        let h = 1e-3;
        let at = |t: f64| [x[0] + t * d[0], x[1] + t * d[1]];
        let values_at = |t: f64| methods(&at(t));
        let slopes_at = |t: f64| ad::jvp(methods, &at(t), &d).unwrap().1;
        let difference = |of: &dyn Fn(f64) -> Vec<f64>, k: usize| {
            (8.0 * (of(h)[k] - of(-h)[k]) - (of(2.0 * h)[k] - of(-2.0 * h)[k])) / (12.0 * h)
        };
        let kinked = kinks(&at(-2.0 * h)) != kinks(&at(2.0 * h));
        for (k, &value) in expected.iter().enumerate() {
            let close = |found: f64, expected: f64, tolerance: f64| {
                let close = (found - expected).abs() <= tolerance * expected.abs().max(1.0);
                assert!(close, "method {k} at {x:?}: {found} instead of {expected}");
            };
            for found in [values[k], taped[k], nested[k].value.value] {
                close(found, value, 1e-14);
            }
            let slope = forward[k];
            close(rows[(k, 0)] * d[0] + rows[(k, 1)] * d[1], slope, 1e-12);
            close(nested[k].tangent[0].value, slope, 1e-13);
            close(nested[k].value.tangent[0], slope, 1e-13);
            if !kinked {
                close(slope, difference(&values_at, k), 1e-5);
                close(nested[k].tangent[0].tangent[0], difference(&slopes_at, k), 1e-4);
            }
        }
    }
}

/// On which side of its kinks and jumps each of the [`methods`] is.
fn kinks(x: &[f64]) -> [i64; 9] {
    let (a, b) = (x[0], x[1]);
    let side = |yes: bool| yes as i64;
    [
        side(a > b),
        side(a > 2.0 * b),
        side(a < 3.0 * b),
        side(a > b + 1.0),
        (a * 7.3 / b) as i64,
        (a * 7.3) as i64,
        (a + b).ceil() as i64,
        (b * 9.0).round() as i64,
        side(a > 0.0 && b > 0.0),
    ]
}

#[test]
fn the_gradient_of_rosenbrock() {
    let x = [-1.2, 1.0];
    let expected = [-215.6, -88.0];
    let (value, by_tape) = ad::gradient(rosenbrock, &x).unwrap();
    assert!((value - rosenbrock(&x)).abs() < 1e-13);
    let dual = rosenbrock(&[D::variable(x[0], 0), D::variable(x[1], 1)]);
    let (_, _, hessian) = ad::hessian::<2>(rosenbrock, &x).unwrap();
    for k in 0..2 {
        assert!((by_tape[k] - expected[k]).abs() < 1e-12);
        assert!((dual.tangent[k] - expected[k]).abs() < 1e-12);
    }
    let expected = nalgebra::dmatrix![1330.0, 480.0; 480.0, 200.0];
    assert!((hessian - expected).amax() < 1e-11);
}

fn d(x: f64) -> D {
    D::new(x, [1.0, 0.0])
}

#[test]
fn conventions_of_float() {
    let (one, two) = (d(1.0), D::new(1.0, [0.0, 1.0]));
    let nan = D::nan();
    assert_eq!(one.max(two).tangent, [1.0, 0.0]);
    assert_eq!(two.min(one).tangent, [0.0, 1.0]);
    for other in [nan.max(one), one.max(nan), nan.min(one), one.min(nan)] {
        assert_eq!((other.value, other.tangent), (1.0, [1.0, 0.0]));
    }
    assert!(Float::is_nan(nan.max(nan)) && Float::is_nan(nan.clamp(one, one)));
    // Where `f64::clamp` panics.
    assert_eq!(d(0.5).clamp(d(3.0), d(2.0)).value, 2.0);
    assert_eq!(Float::abs_sub(d(1.0), d(1.0)).tangent, [0.0; 2]);
    assert!(Float::is_nan(Float::abs_sub(nan, one)));
    assert_eq!((Float::signum(d(-0.0)).value, Float::signum(d(-3.0)).tangent), (-1.0, [0.0; 2]));
    assert!(Float::is_nan(Float::signum(nan)));
    assert_eq!(Float::abs(d(0.0)).tangent, [0.0; 2]);
    assert_eq!(d(2.0).copysign(d(-0.0)).tangent, [-1.0, 0.0]);
    assert_eq!(d(-2.25).fract(), d(-0.25));
    assert_eq!(d(-2.25).fract().tangent, [1.0, 0.0]);
    assert_eq!(d(0.0).sqrt().tangent, [0.0; 2]);
    assert_eq!(d(-2.0).powf(Float::round(d(2.0))).tangent, [-4.0, 0.0]);
    assert_eq!(d(8.0).integer_decode(), 8.0_f64.integer_decode());
    assert_eq!(D::max_value().value, f64::MAX);
    assert_eq!(<D as num_traits::Bounded>::min_value().value, f64::MIN);
    assert!(D::neg_zero().is_sign_negative() && D::infinity().is_infinite());
    assert_eq!(D::PI().value, std::f64::consts::PI);
    assert_eq!((D::TAU().value, D::TAU().tangent), (std::f64::consts::TAU, [0.0; 2]));
    assert!(Signed::is_negative(&d(-1.0)) && !Signed::is_positive(&d(-1.0)));
    assert_eq!(Signed::abs_sub(&d(3.0), &d(1.0)).value, 2.0);
}

#[test]
fn remainders_have_the_exact_value_and_quotient() {
    let rem = |x: f64, y: f64| {
        let duals = D::variable(x, 0) % D::variable(y, 1);
        let (taped, slopes) = ad::gradient(|x| x[0] % x[1], &[x, y]).unwrap();
        assert_eq!((taped.to_bits(), slopes), (duals.value.to_bits(), duals.tangent.to_vec()));
        (duals.value, duals.tangent)
    };
    assert_eq!(rem(7.5, 2.0), (1.5, [1.0, -3.0]));
    assert_eq!(rem(-7.5, 2.0), (-1.5, [1.0, 3.0]));
    assert_eq!(rem(7.5, -2.0), (1.5, [1.0, 3.0]));
    assert_eq!(rem(1.5, f64::INFINITY), (1.5, [1.0, 0.0]));
    // 1 / 0.1 rounds to 10, though 0.1 (a little more than a tenth) goes in 9 times only.
    assert_eq!(rem(1.0, 0.1), (1.0 % 0.1, [1.0, -9.0]));
    assert_eq!(rem(1e300, 7.0).0, 1e300 % 7.0);
    assert!((D::variable(1.0, 0) % D::variable(0.0, 1)).value.is_nan());
    let mut x = d(7.5);
    x %= d(2.0);
    x %= 1.0;
    // 1 of x, -3 of its divisor.
    assert_eq!((x.value, x.tangent), (0.5, [-2.0, 0.0]));
    assert_eq!((7.5 % D::variable(2.0, 1)).tangent, [0.0, -3.0]);
}

#[test]
fn conversions_take_the_value_and_give_constants() {
    let x = D::new(2.75, [1.0, 5.0]);
    assert_eq!(
        (x.to_f64(), x.to_i32(), x.to_u8(), x.to_f32()),
        (Some(2.75), Some(2), Some(2), Some(2.75))
    );
    assert_eq!(D::constant_of(-1.0).to_u64(), None);
    assert_eq!((D::from_i32(-3).unwrap().value, D::from_u64(3).unwrap().tangent), (-3.0, [0.0; 2]));
    // The derivative does not pass through a number.
    let cast = <D as NumCast>::from(x).unwrap();
    assert_eq!((cast.value, cast.tangent), (2.75, [0.0; 2]));
    assert_eq!(D::from_str_radix("1.5", 10).unwrap().value, 1.5);
    assert!(D::from_str_radix("nonsense", 10).is_err());
    assert_eq!(<D as From<f64>>::from(1.5), D::constant_of(1.5));
    assert_eq!(format!("{:.1} {}", x, <Var as From<f64>>::from(2.0)), "2.8 [1.0, 5.0] 2");
}

trait ConstantOf {
    fn constant_of(x: f64) -> Self;
}

impl<T: FromPrimitive> ConstantOf for T {
    fn constant_of(x: f64) -> T {
        T::from_f64(x).unwrap()
    }
}

/// Operators with references, and with a number on either side; sums and products.
macro_rules! operators {
    ($x:expr, $y:expr) => {{
        let (x, y) = ($x, $y);
        let mut z = x + &y;
        z += &x;
        z *= 2.0;
        z -= 1.0;
        z /= &y;
        let list = [x, y, z, &x * y, -&y];
        let sum = list.iter().sum::<_>();
        let total = list.into_iter().fold(x * 0.0, |s, x| s + x);
        vec![
            &x * &y - &x / y,
            3.0 * x + (2.0 - y) / 4.0,
            (3.0 / x) * (1.0 + y),
            z,
            same(sum, total),
            list.iter().product::<_>(),
            list.into_iter().product::<_>(),
            MulAdd::mul_add(x, y, z),
            Pow::pow(x, 3) + Pow::pow(x, 1.5) + Pow::pow(x, y) + Inv::inv(y),
        ]
    }};
}

fn same<T: PartialEq + std::fmt::Debug + ToPrimitive>(x: T, y: T) -> T {
    let (a, b) = (x.to_f64().unwrap(), y.to_f64().unwrap());
    assert!((a - b).abs() < 1e-13 * a.abs(), "{x:?} {y:?}");
    x
}

#[test]
fn operators_with_references_and_numbers() {
    let (x, y) = (1.3_f64, 0.7_f64);
    let z = ((2.0 * x + y) * 2.0 - 1.0) / y;
    let expected = [
        x * y - x / y,
        3.0 * x + (2.0 - y) / 4.0,
        3.0 / x * (1.0 + y),
        z,
        x + y + z + x * y - y,
        -(x * y * z * x * y * y),
        -(x * y * z * x * y * y),
        x * y + z,
        x.powi(3) + x.powf(1.5) + x.powf(y) + 1.0 / y,
    ];
    let (values, duals) = ad::jacobian::<2>(|x| operators!(x[0], x[1]), &[x, y]);
    let (taped, rows) = ad::jacobian_by_rows(|x| operators!(x[0], x[1]), &[x, y]).unwrap();
    let h = 1e-5;
    let at = |x: f64, y: f64| ad::jacobian::<1>(|x| operators!(x[0], x[1]), &[x, y]).0;
    for (k, expected) in expected.into_iter().enumerate() {
        assert!((values[k] - expected).abs() < 1e-14 * expected.abs().max(1.0), "{k}");
        assert!((taped[k] - values[k]).abs() < 1e-14 * expected.abs().max(1.0), "{k}");
        let differences = [
            (at(x + h, y)[k] - at(x - h, y)[k]) / (2.0 * h),
            (at(x, y + h)[k] - at(x, y - h)[k]) / (2.0 * h),
        ];
        for (j, difference) in differences.into_iter().enumerate() {
            assert!((duals[(k, j)] - difference).abs() < 1e-6, "{k} {j}");
            assert!((duals[(k, j)] - rows[(k, j)]).abs() < 1e-12, "{k} {j}");
        }
    }
    assert_eq!(std::iter::empty::<D>().sum::<D>().value, 0.0);
    assert_eq!(std::iter::empty::<D>().product::<D>().value, 1.0);
}

// The diagnosis names the user's line, not ours.
#[test]
fn faults_are_located_where_float_is_called() {
    fn root<F: Float>(x: F) -> F {
        (x - F::one()).ln()
    }
    let found = ad::diagnose(|| ad::gradient(|x| root(x[0]), &[1.0]));
    let Err(Error::NonFinite { function: "ln", location, .. }) = found else {
        panic!("{found:?}");
    };
    assert_eq!(location.file(), file!());
}
