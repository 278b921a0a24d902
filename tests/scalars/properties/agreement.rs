//! Values are those of `f64` to the bit; derivatives are the same in all scalars.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use stiction::ad::{self, Dual, Real, TapeScalar, Var};

use super::functions::{Binary, Table, Ternary, Unary};
use super::{any_number, any_pair, check, same, same_bits};

/// The value and the derivatives of a function, in each of its arguments, and the second ones.
type Jet<const M: usize> = (f64, [f64; M], [[f64; M]; M]);

/// By duals, with the arguments in the lanes `at`, `at + 1`, ...; nothing may arrive in others.
fn by_duals<const N: usize, const M: usize>(
    f: impl Fn([Dual<f64, N>; M]) -> Dual<f64, N>,
    x: [f64; M],
    at: usize,
) -> Result<(f64, [f64; M]), TestCaseError> {
    let y = f(std::array::from_fn(|k| Dual::variable(x[k], at + k)));
    for (lane, &t) in y.tangent.iter().enumerate() {
        prop_assert!(t == 0.0 || (at..at + M).contains(&lane), "lane {lane}: {y:?}");
    }
    Ok((y.value, std::array::from_fn(|k| y.tangent[at + k])))
}

/// By nested duals.
fn nested<const M: usize>(
    f: impl Fn([Dual<Dual<f64, M>, M>; M]) -> Dual<Dual<f64, M>, M>,
    x: [f64; M],
) -> Jet<M> {
    let y = f(std::array::from_fn(|k| Dual::variable(Dual::variable(x[k], k), k)));
    (y.value.value, y.value.tangent, y.tangent.map(|t| t.tangent))
}

fn by_tape<const M: usize>(f: impl Fn([Var; M]) -> Var, x: [f64; M]) -> (f64, [f64; M]) {
    let mut slopes = [0.0; M];
    let value = ad::gradient_into(|x| f(std::array::from_fn(|k| x[k])), &x, &mut slopes);
    (value.expect("a recording of its own"), slopes)
}

fn by_hessian<const N: usize, const M: usize>(
    f: impl Fn([Var<Dual<f64, N>>; M]) -> Var<Dual<f64, N>>,
    x: [f64; M],
) -> Jet<M>
where
    Dual<f64, N>: TapeScalar,
{
    let (value, g, h) =
        ad::hessian::<N>(|x| f(std::array::from_fn(|k| x[k])), &x).expect("a recording of its own");
    (
        value,
        std::array::from_fn(|k| g[k]),
        std::array::from_fn(|i| std::array::from_fn(|k| h[(i, k)])),
    )
}

/// Compares all scalars on all functions of a table.
fn compare<F: Table<M>, const M: usize>(x: [f64; M]) -> Result<(), TestCaseError> {
    let eight = F::on::<Dual<f64, 8>>();
    let three = F::on::<Dual<f64, 3>>();
    let five = F::on::<Dual<f64, 5>>();
    let tape = F::on::<Var>();
    let twice = F::on::<Dual<Dual<f64, M>, M>>();
    let four = F::on::<Var<Dual<f64, 4>>>();
    let one = F::on::<Var<Dual<f64, 1>>>();
    for (k, (name, f)) in F::on::<f64>().into_iter().enumerate() {
        // Products are not guarded against infinite factors (see `ad`).
        if name.starts_with("mul") && !x.iter().all(|x| x.is_finite()) {
            continue;
        }
        let value = f(x);
        let (found, slopes) = by_duals(eight[k].1, x, 3)?;
        let firsts = [
            (found, slopes),
            by_duals(three[k].1, x, 0)?,
            by_duals(five[k].1, x, 2)?,
            by_tape(tape[k].1, x),
        ];
        let seconds = [nested(twice[k].1, x), by_hessian(four[k].1, x), by_hessian(one[k].1, x)];
        let all = seconds.iter().map(|(found, first, _)| (*found, *first));
        for (way, (found, first)) in firsts.into_iter().chain(all).enumerate() {
            prop_assert!(same_bits(found, value), "{name}: value {way}: {found} of {value}");
            let equal = first.iter().zip(&slopes).all(|(a, b)| same(*a, *b));
            prop_assert!(equal, "{name}: slopes {way}: {first:?} of {slopes:?}");
        }
        for (way, (.., second)) in seconds.iter().enumerate() {
            let expected = &seconds[0].2;
            let mut pairs = second.iter().flatten().zip(expected.iter().flatten());
            let equal = pairs.all(|(a, b)| same(*a, *b));
            prop_assert!(equal, "{name}: second {way}: {second:?} of {expected:?}");
        }
    }
    Ok(())
}

#[test]
fn functions_of_one_variable() {
    check(1000, any_number(), |x| compare::<Unary, 1>([x]));
}

#[test]
fn functions_of_two_variables() {
    check(2000, any_pair(), |(x, y)| compare::<Binary, 2>([x, y]));
}

#[test]
fn functions_of_three_variables() {
    check(1000, (any_pair(), any_number()), |((x, y), z)| {
        compare::<Ternary, 3>([x, y, z])?;
        compare::<Ternary, 3>([x, z, y])?;
        compare::<Ternary, 3>([z, x, y])
    });
}

/// The functions of the standard library, by their own names.
#[test]
fn values_on_f64_are_those_of_the_standard_library() {
    macro_rules! standard {
        ($x:expr, $($f:ident)*) => {
            [$((stringify!($f), Real::$f($x), f64::$f($x)),)*]
        };
    }
    check(2000, any_pair(), |(x, y)| {
        let ours = standard!(x, recip sqrt cbrt abs exp exp2 exp_m1 ln ln_1p log2 log10 sin cos tan
            asin acos atan sinh cosh tanh asinh acosh atanh signum floor ceil round trunc);
        let others = [
            ("sin_cos.0", Real::sin_cos(x).0, f64::sin(x)),
            ("sin_cos.1", Real::sin_cos(x).1, f64::cos(x)),
            ("powi", Real::powi(x, 7), f64::powi(x, 7)),
            ("powf", Real::powf(x, y), f64::powf(x, y)),
            ("pow", Real::pow(x, y), f64::powf(x, y)),
            ("atan2", Real::atan2(x, y), f64::atan2(x, y)),
            ("hypot", Real::hypot(x, y), f64::hypot(x, y)),
            ("copysign", Real::copysign(x, y), f64::copysign(x, y)),
            ("mul_add", Real::mul_add(x, y, 0.3), x * y + 0.3),
        ];
        for (name, found, expected) in ours.into_iter().chain(others) {
            prop_assert!(same_bits(found, expected), "{name}: {found} of {expected}");
        }
        // Unlike the standard library, these hold on to an operand that is not a number; equal zeros
        // of two signs are a tie.
        if !x.is_nan() && !y.is_nan() {
            prop_assert_eq!(Real::max(x, y), f64::max(x, y));
            prop_assert_eq!(Real::min(x, y), f64::min(x, y));
            let (low, high) = (f64::min(y, 1.0), f64::max(y, 1.0));
            prop_assert_eq!(Real::clamp(x, low, high), f64::clamp(x, low, high));
        } else {
            prop_assert!(same_bits(Real::max(x, y), x) && same_bits(Real::min(x, y), x));
        }
        Ok(())
    });
}

// No value, no slope: what is not a number is noticed at the first of it, also by the diagnosis.
#[test]
fn outside_of_the_domain_there_is_no_slope() {
    check(1000, any_number(), |x| {
        for (name, f) in Unary::on::<Dual<f64, 1>>() {
            let y = f([Dual::variable(x, 0)]);
            // Constants; and 0 / 0, of a line of infinite slope.
            let exempt = ["signum", "floor", "ceil", "round", "trunc", "x / 0"].contains(&name);
            if y.value.is_nan() && !x.is_nan() && !exempt {
                prop_assert!(y.tangent[0].is_nan(), "{name} at {x}: {y:?}");
            }
        }
        Ok(())
    });
}

// A function of x leaves the direction of another variable alone, whatever its slope: in both modes and
// both orders.
#[test]
fn nothing_flows_through_a_zero_tangent() {
    let (duals, tape) = (Unary::on::<Dual<f64, 2>>(), Unary::on::<Var>());
    let (twice, both) = (Unary::on::<Dual<Dual<f64, 2>, 2>>(), Unary::on::<Var<Dual<f64, 2>>>());
    check(1000, any_number(), |x| {
        for (k, (name, f)) in duals.iter().enumerate() {
            let y = f([Dual::variable(x, 1)]) + Dual::variable(2.0, 0) * 3.0;
            prop_assert_eq!(y.tangent[0], 3.0, "{}", name);
            let (_, slopes) = ad::gradient(|v| tape[k].1([v[1]]) + v[0] * v[0], &[2.0, x]).unwrap();
            prop_assert_eq!(slopes[0], 4.0, "{}", name);
            let z: Dual<Dual<f64, 2>, 2> = Dual::variable(Dual::variable(2.0, 0), 0);
            let y = twice[k].1([Dual::variable(Dual::variable(x, 1), 1)]) + z * z;
            prop_assert_eq!(y.tangent[0].value, 4.0, "{}", name);
            prop_assert_eq!(y.tangent[0].tangent, [2.0, 0.0], "{}", name);
            prop_assert_eq!(y.tangent[1].tangent[0], 0.0, "{}", name);
            let (_, g, h) =
                ad::hessian::<2>(|v| both[k].1([v[1]]) + v[0] * v[0], &[2.0, x]).unwrap();
            prop_assert_eq!(g[0], 4.0, "{}", name);
            prop_assert_eq!([h[(0, 0)], h[(0, 1)], h[(1, 0)]], [2.0, 0.0, 0.0], "{}", name);
        }
        Ok(())
    });
}
