//! The distribution function of the beta distribution against closed forms and sums of binomials.

use stiction::internals::beta_below;

#[test]
fn it_is_that_of_closed_forms_and_sums() {
    let near = |found: f64, expected: f64, of: &str| {
        assert!((found - expected).abs() < 1e-12 + 1e-10 * expected, "{of}: {found} {expected}");
    };
    for x in [1e-6_f64, 0.01, 0.2, 0.5, 0.77, 0.999] {
        near(beta_below(x, 0.5, 0.5), x.sqrt().asin() / std::f64::consts::FRAC_PI_2, "arc sine");
        near(beta_below(x, 2.0, 2.0), x * x * (3.0 - 2.0 * x), "parabola");
        for b in [0.5, 1.0, 7.5, 200.0] {
            near(beta_below(x, 1.0, b), -(b * (-x).ln_1p()).exp_m1(), "powers");
            near(beta_below(x, b, 1.0), x.powf(b), "powers");
        }
        // How likely at least a of a + b - 1 trials succeed.
        for (a, b) in [(3_i32, 5_i32), (20, 4), (40, 60)] {
            let n = a + b - 1;
            let choose =
                |j: i32| (1..=j).map(|k| f64::from(n - j + k) / f64::from(k)).product::<f64>();
            let at = |j: i32| choose(j) * x.powi(j) * (1.0 - x).powi(n - j);
            let sum: f64 = (a..=n).map(at).sum();
            near(beta_below(x, f64::from(a), f64::from(b)), sum, "binomials");
        }
    }
    assert_eq!([beta_below(0.0, 3.0, 0.5), beta_below(1.0, 3.0, 0.5)], [0.0, 1.0]);
    assert!(beta_below(f64::NAN, 1.0, 1.0).is_nan() && beta_below(1.5, 1.0, 1.0).is_nan());
    // Far in the tail digits are left.
    near(beta_below(1e-30, 2.0, 1.5) * 1e60, 1.875, "tail");
}
