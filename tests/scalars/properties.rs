//! Properties of every elementary function in every scalar, on inputs drawn at random from ordinary
//! numbers, zeros, infinities, denormals, huge and tiny numbers, kinks and ties.
//!
//! Everything is drawn from a fixed seed: every run tests the same cases. What fails is printed
//! with its inputs.

mod agreement;
mod closed_forms;
mod functions;
mod identities;
mod num_dual;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

/// Runs `test` on `cases` inputs; nothing is written to files.
fn check<S: Strategy>(
    cases: u32,
    strategy: S,
    test: impl Fn(S::Value) -> Result<(), TestCaseError>,
) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    if let Err(failure) = TestRunner::new_with_rng(config, rng).run(&strategy, test) {
        panic!("{failure}");
    }
}

/// The inputs at which something special happens.
const SPECIAL: [f64; 24] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.0,
    -2.0,
    0.5,
    -0.5,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    f64::MAX,
    f64::MIN,
    f64::MIN_POSITIVE,
    -f64::MIN_POSITIVE,
    5e-324,
    -5e-324,
    f64::EPSILON,
    // The neighbours of 1 and of -1.
    1.0 - f64::EPSILON / 2.0,
    1.0 + f64::EPSILON,
    f64::EPSILON / 2.0 - 1.0,
    -1.0 - f64::EPSILON,
    std::f64::consts::FRAC_PI_2,
    std::f64::consts::PI,
];

/// Numbers of all kinds.
fn any_number() -> impl Strategy<Value = f64> + Clone {
    let sign = prop_oneof![Just(1.0), Just(-1.0)];
    let scaled = move |exponents: std::ops::Range<f64>| {
        (sign.clone(), exponents).prop_map(|(sign, e)| sign * 10.0_f64.powf(e))
    };
    prop_oneof![
        4 => -3.0..3.0,
        2 => scaled(-6.0..6.0),
        1 => scaled(-308.0..-290.0),
        1 => scaled(290.0..308.0),
        // Denormals.
        1 => (1_u64..1 << 52).prop_map(f64::from_bits),
        1 => (1_u64..1 << 20).prop_map(|x| -f64::from_bits(x)),
        3 => proptest::sample::select(&SPECIAL[..]),
    ]
}

/// Pairs of them, one in four a tie, in size or also in sign.
fn any_pair() -> impl Strategy<Value = (f64, f64)> + Clone {
    prop_oneof![
        6 => (any_number(), any_number()),
        1 => any_number().prop_map(|x| (x, x)),
        1 => any_number().prop_map(|x| (x, -x)),
    ]
}

/// The same number, or neither is one. Zeros are equal: tangents and adjoints arrive at them by
/// different sums.
fn same(x: f64, y: f64) -> bool {
    x == y || (x.is_nan() && y.is_nan())
}

/// The same bits, or neither is a number.
fn same_bits(x: f64, y: f64) -> bool {
    x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan())
}

/// Whether `found` is `expected` but for some roundings, relative; what underflows has lost digits
/// below the least normal number.
fn near(found: f64, expected: f64, roundings: f64) -> bool {
    let bound = roundings * f64::EPSILON * expected.abs() + f64::MIN_POSITIVE;
    same(found, expected) || (found - expected).abs() <= bound
}
