//! The distribution function of the beta distribution.

/// Terms of the continued fraction at most.
const MOST: usize = 10_000;

/// The probability that a beta distributed number is below x: the regularised incomplete beta function I_x(a, b), by its
/// continued fraction (DLMF 8.17.22), evaluated after `Lentz76`. a and b are positive.
pub fn beta_below(x: f64, a: f64, b: f64) -> f64 {
    if !(0.0..=1.0).contains(&x) {
        return f64::NAN;
    }
    if x == 0.0 || x == 1.0 {
        return x;
    }
    // Where the fraction is quick.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta_below(1.0 - x, b, a);
    }
    let front = (a * x.ln() + b * (-x).ln_1p() - log_beta(a, b)).exp() / a;
    let (mut value, mut c, mut d) = (1.0, 1.0, 0.0);
    for k in 0..MOST {
        let m = (k / 2) as f64;
        let term = match k {
            0 => 1.0,
            _ if k % 2 == 0 => m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            _ => -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        };
        let safe = |x: f64| if x.abs() < f64::MIN_POSITIVE { f64::MIN_POSITIVE } else { x };
        d = safe(1.0 + term * d).recip();
        c = safe(1.0 + term / c);
        value *= c * d;
        if k > 0 && (c * d - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    (front * (value - 1.0)).clamp(0.0, 1.0)
}

/// ln B(a, b) = ln Gamma(a) + ln Gamma(b) - ln Gamma(a + b).
fn log_beta(a: f64, b: f64) -> f64 {
    log_gamma(a) + log_gamma(b) - log_gamma(a + b)
}

/// ln Gamma(x) of a positive number, by x Gamma(x) = Gamma(x + 1) up to where Stirling's series has all digits.
fn log_gamma(x: f64) -> f64 {
    let (mut x, mut sum) = (x, 0.0);
    while x < 16.0 {
        sum -= x.ln();
        x += 1.0;
    }
    let square = (x * x).recip();
    let series = square.mul_add(square.mul_add(-1.0 / 1680.0, 1.0 / 1260.0), -1.0 / 360.0);
    let rest = square.mul_add(series, 1.0 / 12.0) / x;
    sum + (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + rest
}
