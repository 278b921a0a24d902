//! Kutta's 3/8 rule (`Kutta01`), which `Zhong21` integrates by: four stages, fourth order.

use crate::ad::Real;

/// How often rates are asked for in a step.
pub const STAGES: usize = 4;

/// Stage k begins at y + h sum of a_kj times rate j.
const A: [[f64; 3]; STAGES] =
    [[0.0, 0.0, 0.0], [1.0 / 3.0, 0.0, 0.0], [-1.0 / 3.0, 1.0, 0.0], [1.0, -1.0, 1.0]];
const B: [f64; STAGES] = [0.125, 0.375, 0.375, 0.125];

/// Where stage `k` of a step of length `h` from `y` asks for rates, by those of the stages before.
pub fn stage<T: Real>(k: usize, h: f64, y: &[T], rates: &[Vec<T>], at: &mut Vec<T>) {
    combine(&A[k][..k], h, y, rates, at);
}

/// The end of a step from `y`.
pub fn end<T: Real>(h: f64, y: &[T], rates: &[Vec<T>], at: &mut Vec<T>) {
    combine(&B, h, y, rates, at);
}

fn combine<T: Real>(weights: &[f64], h: f64, y: &[T], rates: &[Vec<T>], at: &mut Vec<T>) {
    at.clear();
    at.extend_from_slice(y);
    for (&weight, rates) in weights.iter().zip(rates).filter(|(w, _)| **w != 0.0) {
        at.iter_mut().zip(rates).for_each(|(at, &rate)| *at += rate * (h * weight));
    }
}

/// The transpose of [`stage`]: what an adjoint of its result says of those of `y` and of the rates before.
pub(crate) fn stage_transpose(k: usize, h: f64, at: &[f64], y: &mut [f64], rates: &mut [Vec<f64>]) {
    spread(&A[k][..k], h, at, y, rates);
}

/// The transpose of [`end`].
pub(crate) fn end_transpose(h: f64, at: &[f64], y: &mut [f64], rates: &mut [Vec<f64>]) {
    spread(&B, h, at, y, rates);
}

fn spread(weights: &[f64], h: f64, at: &[f64], y: &mut [f64], rates: &mut [Vec<f64>]) {
    y.iter_mut().zip(at).for_each(|(y, at)| *y += at);
    for (&weight, rates) in weights.iter().zip(rates) {
        rates.iter_mut().zip(at).for_each(|(rate, at)| *rate += h * weight * at);
    }
}
