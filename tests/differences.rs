//! Derivatives by differences.

/// The derivative of `f` at 0 by central differences of fourth order:
/// f' = (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12 h + O(h^4).
pub fn central(h: f64, mut f: impl FnMut(f64) -> Vec<f64>) -> Vec<f64> {
    let mut derivative = Vec::new();
    for (steps, weight) in [(1.0, 8.0), (-1.0, -8.0), (2.0, -1.0), (-2.0, 1.0)] {
        let value = f(steps * h);
        derivative.resize(value.len(), 0.0);
        for (sum, x) in derivative.iter_mut().zip(value) {
            *sum += weight * x / (12.0 * h);
        }
    }
    derivative
}
