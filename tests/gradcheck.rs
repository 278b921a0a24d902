//! `verify::check`: any function, every way, kinks.

mod kinks;
mod orders;

use approx::assert_relative_eq;
use stiction::ad::{Error, Function, Real};
use stiction::verify::{Check, Options, Verdict, check, check_with};

/// [`check`] of the function that a body in `x` defines.
macro_rules! checked {
    (|$x:ident| $body:expr, $at:expr) => {{
        struct F;
        impl stiction::ad::Function for F {
            fn evaluate<T: stiction::ad::Real>(&self, $x: &[T]) -> Vec<T> {
                $body
            }
        }
        stiction::verify::check(&F, &$at).unwrap()
    }};
}
use checked;

fn count(report: &Check, verdict: Verdict) -> usize {
    report.first.of(verdict).count()
}

/// The true derivative must be as near to the difference as the report says, and that be near.
fn honest(report: &Check, entry: usize, truth: f64, relative: f64) {
    let found = &report.first.entries[entry];
    assert!((found.difference - truth).abs() <= found.error, "{truth}: {found:?}");
    assert!(found.error <= relative * truth.abs(), "{truth}: {found:?}");
}

#[test]
fn smooth_functions_pass_with_tight_estimates() {
    let x = [0.7_f64, -1.3];
    let report = checked!(|x| vec![(x[0] * x[1]).sin() * x[1].exp(), x[0].tanh() / x[1]], x);
    assert!(report.passed() && report.first.kinks.is_empty(), "{report}");
    assert_eq!((count(&report, Verdict::Agrees), report.first.ways.len()), (4, 3));
    let (c, s, e) = ((x[0] * x[1]).cos(), (x[0] * x[1]).sin(), x[1].exp());
    let t = x[0].tanh();
    let truth = [x[1] * c * e, (x[0] * c + s) * e, (1.0 - t * t) / x[1], -t / (x[1] * x[1])];
    for (entry, truth) in truth.into_iter().enumerate() {
        honest(&report, entry, truth, 1e-8);
    }
    for way in &report.first.ways {
        assert!(way.worst.unwrap().relative < 1e-14, "{report}");
    }
}

#[test]
fn scales_of_inputs_do_not_matter() {
    // ln is steep at 1e-8, where differences as wide as for 1 leave its domain.
    let report =
        checked!(|x| vec![x[0].ln() + x[1].ln(), x[0] * x[1], (x[0] * 1e8).sin()], [1e-8, 1e8]);
    assert!(report.passed(), "{report}");
    assert_eq!(count(&report, Verdict::Agrees), 6, "{report}");
    for (entry, truth) in [(0, 1e8), (1, 1e-8), (2, 1e8), (3, 1e-8), (4, 1e8 * 1.0_f64.cos())] {
        honest(&report, entry, truth, 1e-5);
    }
    assert_eq!(report.first.entries[5].difference, 0.0);
}

/// Adds to a sine a value that changes with every bit of the input: rounding, large.
struct Noisy(f64);

impl Function for Noisy {
    fn evaluate<T: Real>(&self, x: &[T]) -> Vec<T> {
        let noise = (x[0].value().to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11) as f64;
        vec![x[0].sin() + (noise / (1u64 << 53) as f64 - 0.5) * self.0]
    }
}

#[test]
fn noise_widens_the_estimate_and_is_no_error() {
    let truth = 0.8_f64.cos();
    for (noise, decided) in [(1e-13, true), (1e-10, true), (1e-5, false), (1e-3, false)] {
        let report = check(&Noisy(noise), &[0.8]).unwrap();
        let entry = report.first.entries[0];
        let expected = if decided { Verdict::Agrees } else { Verdict::Undecided };
        assert_eq!(entry.verdict, expected, "{noise}: {report}");
        assert!(report.first.kinks.is_empty(), "{noise}: {report}");
        assert!((entry.difference - truth).abs() <= entry.error, "{noise}: {entry:?}");
        // Nothing decided is nothing confirmed.
        assert_eq!(report.passed(), decided);
    }
}

#[test]
fn what_is_no_number_never_passes() {
    let report = checked!(|x| vec![x[0] * x[0], (x[0] - 5.0).sqrt(), x[0] / (x[0] - 2.0)], [2.0]);
    assert_eq!(report.not_finite, [1, 2]);
    assert!(!report.passed(), "{report}");
    assert_eq!(report.first.entries[0].verdict, Verdict::Agrees);
    assert_eq!(report.first.entries[1].verdict, Verdict::Disagrees);
    assert!(report.first.ways[0].worst.unwrap().relative.is_infinite());
    // Also where the derivative is a number: that of a constant.
    let report = checked!(|x| vec![x[0], T::constant(f64::NAN)], [2.0]);
    assert!(!report.passed() && report.to_string().contains("output 1 is not a finite number"));
    let report = checked!(|x| vec![x[0] * 2.0], [f64::NAN]);
    assert!(!report.passed(), "{report}");
    let report = checked!(|x| vec![x[0] * 2.0], [f64::INFINITY]);
    assert!(!report.passed(), "{report}");
    assert!(!checked!(|x| vec![x[0] * 2.0], [f64::MAX]).passed());
    // Nothing to move to.
    checked!(|x| vec![x[0] * 0.5, x[0].sin()], [f64::MAX]);
    assert!(checked!(|x| vec![x[0] * 2.0 + x[1]], [f64::MIN_POSITIVE, -0.0]).passed());
}

#[test]
fn nothing_is_not_agreement() {
    let none: [f64; 0] = [];
    for report in [
        checked!(|_x| vec![T::one()], none),
        checked!(|_x| vec![], [1.0]),
        checked!(|x| x.to_vec(), none),
    ] {
        assert!(!report.passed());
        assert!(report.to_string().starts_with("nothing to compare"), "{report}");
    }
    // A constant, though, has a derivative.
    assert!(checked!(|_x| vec![T::constant(3.0)], [1.0]).passed());
    assert!(checked!(|_x| vec![T::zero()], [1.0]).passed());
}

/// A function with more outputs on duals than on the tape.
struct Growing;

impl Function for Growing {
    fn evaluate<T: Real>(&self, x: &[T]) -> Vec<T> {
        vec![x[0]; 1 + std::mem::size_of::<T>() / 64]
    }
}

#[test]
fn shapes_are_checked() {
    assert!(matches!(check(&Growing, &[1.0]), Err(Error::Shape { expected: 1, .. })));
    let options = Options { names: vec!["a".into()], ..Options::default() };
    let found = check_with(&Noisy(0.0), &[0.5, 0.5], &options);
    assert_eq!(found.unwrap_err(), Error::Shape { expected: 2, found: 1 });
}

#[test]
fn reports_are_words_and_data() {
    let options = Options { names: vec!["angle".into()], ..Options::default() };
    let report = check_with(&Noisy(0.0), &[0.8], &options).unwrap();
    let text = report.to_string();
    assert!(text.contains("duals agree with the tape"), "{text}");
    assert!(text.contains("output 0, input angle") && text.ends_with("passed"), "{text}");
    let data = serde_json::to_value(&report).unwrap();
    assert_eq!(data["first"]["entries"][0]["verdict"], "agrees");
    assert_relative_eq!(
        data["first"]["entries"][0]["derivative"].as_f64().unwrap(),
        0.8_f64.cos(),
        max_relative = 1e-15
    );
}
