//! Jacobians in the numbers of x themselves, for solvers that take x as nq + nv free numbers and know no
//! tangent vectors.
//!
//! With G(q) d = q o [0, d], whose columns are orthonormal, a small rotation d (body frame) moves a unit
//! quaternion by dq = 1/2 G(q) d, and a change dq of a quaternion of norm s turns it by
//! d = 2/s G(q/s)' dq; along q it does not turn. To second order dq = 1/2 G(q) d - |d|²/8 q, and
//! d = (1 - (q/s)' dq / s) 2/s G(q/s)' dq.

use nalgebra::DMatrix;

use super::StepJacobian;
use crate::model::Model;
use crate::spatial::{Quaternion, product};

/// `dx+ = A dx + B du + C dp` in changes of the nq + nv numbers of x and x+, where f normalises the
/// quaternions of x first: A is zero along them, and no change of x+ is along its own.
#[derive(Clone, Debug, PartialEq)]
pub struct AmbientJacobian {
    /// dx+/dx, nq + nv each way.
    pub a: DMatrix<f64>,
    /// dx+/du.
    pub b: DMatrix<f64>,
    /// dx+/dp.
    pub c: DMatrix<f64>,
}

impl AmbientJacobian {
    /// Of `jacobian`, taken where the configuration is `q`, its quaternions of any norm but zero.
    pub fn new(model: &Model, q: &[f64], jacobian: &StepJacobian) -> AmbientJacobian {
        let StepJacobian { a, b, c, next, .. } = jacobian;
        let lift = |matrix: &DMatrix<f64>| {
            let half = |q: Quaternion<f64>| q.map(|x| x / 2.0);
            by_columns(model, &next.q, matrix, half)
        };
        let a = by_columns(model, q, &lift(a).transpose(), twice_inverse).transpose();
        AmbientJacobian { a, b: lift(b), c: lift(c) }
    }
}

/// 2/s G(q/s) is G(2 q/s²).
fn twice_inverse(q: Quaternion<f64>) -> Quaternion<f64> {
    let square: f64 = q.iter().map(|x| x * x).sum();
    q.map(|x| 2.0 * x / square)
}

/// A gradient in `[dx; du; dp]` of what is a function of x (+) dx, as one in the numbers of x, u, p; the configuration is `q`.
pub(crate) fn ambient_gradient(model: &Model, q: &[f64], gradient: &[f64]) -> Vec<f64> {
    let column = DMatrix::from_column_slice(gradient.len(), 1, gradient);
    by_columns(model, q, &column, twice_inverse).as_slice().to_vec()
}

/// The weights of a tangent vector at `q` that weigh small changes as `weights` do those of the nq + nv numbers:
/// 1/2 G(q)' of those of a unit quaternion.
pub(crate) fn tangent_weights(model: &Model, q: &[f64], weights: &[f64]) -> Vec<f64> {
    let mut tangent = Vec::with_capacity(2 * model.nv());
    let mut first = 0;
    for joint in model.coordinates() {
        let plain = joint.quaternion().map_or(joint.nq(), |(at, _)| at);
        tangent.extend_from_slice(&weights[first..first + plain]);
        if let Some((at, _)) = joint.quaternion() {
            let [q, weights] = [q, weights].map(|x| quaternion(x, first + at));
            let turned = product([q[0], -q[1], -q[2], -q[3]].map(|x| x / 2.0), weights);
            tangent.extend_from_slice(&turned[1..]);
        }
        first += joint.nq();
    }
    tangent.extend_from_slice(&weights[first..]);
    tangent
}

/// The Hessian of `weights . x+` in the numbers of x, u, p, of which f normalises the quaternions of x first:
/// from that in the tangent space with [`tangent_weights`], `tangent`, and how curved the numbers are there.
/// The configuration is `q`; arguments as of [`AmbientJacobian::new`].
pub(crate) fn ambient_hessian(
    model: &Model,
    q: &[f64],
    jacobian: &StepJacobian,
    weights: &[f64],
    mut tangent: DMatrix<f64>,
) -> DMatrix<f64> {
    let StepJacobian { a, b, c, next, .. } = jacobian;
    let rows =
        DMatrix::from_fn(a.nrows(), tangent.ncols(), |i, k| match k.checked_sub(a.ncols()) {
            None => a[(i, k)],
            Some(k) => k.checked_sub(b.ncols()).map_or_else(|| b[(i, k)], |k| c[(i, k)]),
        });
    let quaternions: Vec<(usize, usize)> = {
        let (mut v, mut first) = (0, 0);
        let starts = model.coordinates().map(|joint| {
            let start = joint.quaternion().map(|(at, turn)| (first + at, v + turn));
            (v, first) = (v + joint.nv(), first + joint.nq());
            start
        });
        starts.flatten().collect()
    };
    // - |d|²/8 q+, where d is what the rows of the Jacobian say.
    for &(first, turn) in &quaternions {
        let end = quaternion(&next.q, first);
        let weight: f64 = end.iter().zip(&weights[first..]).map(|(q, w)| q * w).sum();
        let turns = rows.rows(turn, 3);
        tangent -= turns.tr_mul(&turns) * (weight / 4.0);
    }
    let half = by_columns(model, q, &tangent, twice_inverse).transpose();
    let mut hessian = by_columns(model, q, &half, twice_inverse);
    // - 2/s² (q/s)' dq (G(q/s) g)' dq, where g is the gradient in that rotation.
    let weights = tangent_weights(model, &next.q, weights);
    let gradient = rows.tr_mul(&DMatrix::from_column_slice(weights.len(), 1, &weights));
    for &(first, turn) in &quaternions {
        let q = quaternion(q, first);
        let square: f64 = q.iter().map(|x| x * x).sum();
        let turned = product(q, [0.0, gradient[turn], gradient[turn + 1], gradient[turn + 2]]);
        for i in 0..4 {
            for k in 0..4 {
                let curved = q[i] * turned[k] + q[k] * turned[i];
                hessian[(first + i, first + k)] -= 2.0 * curved / (square * square);
            }
        }
    }
    hessian
}

fn quaternion(numbers: &[f64], first: usize) -> Quaternion<f64> {
    std::array::from_fn(|k| numbers[first + k])
}

/// The matrix whose columns, `[dq; dv; ..]` in tangent vectors, become `[dq; dv; ..]` in numbers: each rotation
/// vector d becomes G(s(q)) d.
fn by_columns(
    model: &Model,
    q: &[f64],
    matrix: &DMatrix<f64>,
    s: impl Fn(Quaternion<f64>) -> Quaternion<f64>,
) -> DMatrix<f64> {
    let (nq, nv) = (model.nq(), model.nv());
    let rows = matrix.nrows() - nv + nq;
    let mut numbers = Vec::with_capacity(rows * matrix.ncols());
    for column in matrix.column_iter() {
        let mut v = 0;
        let mut first = 0;
        for joint in model.coordinates() {
            let plain = joint.quaternion().map_or(joint.nq(), |(at, _)| at);
            numbers.extend(column.rows(v, plain).iter());
            if let Some((at, turn)) = joint.quaternion() {
                let d = column.rows(v + turn, 3);
                let q = quaternion(q, first + at);
                numbers.extend(product(s(q), [0.0, d[0], d[1], d[2]]));
            }
            (v, first) = (v + joint.nv(), first + joint.nq());
        }
        numbers.extend(column.rows_range(nv..).iter());
    }
    DMatrix::from_vec(rows, matrix.ncols(), numbers)
}
