//! Sums of products in twice the digits.

use stiction::internals::Sum;

#[test]
fn what_cancels_leaves_its_digits() {
    // (1 + 2^-30)^2 - 1 - 2^-29 = 2^-60, which the square in one double has lost.
    let x = 1.0 + 0.5_f64.powi(30);
    let mut sum = Sum::of(0.0);
    sum.subtract(-x, x);
    sum.subtract(1.0, 1.0);
    sum.subtract(0.5_f64.powi(29), 1.0);
    assert_eq!(sum.total(), 0.5_f64.powi(60));
    // What is added to a large number and what is left when that is gone.
    let mut sum = Sum::of(1.0);
    sum.subtract(-1e8, 1e10);
    sum.subtract(1e10, 1e8);
    assert_eq!(sum.total(), 1.0);
    let mut sum = Sum::of(1e-3);
    sum.subtract(-1e10, 1e10);
    sum.subtract(1e10, 1e10);
    assert_eq!(sum.total(), 1e-3);
}
