//! Jacobians in the numbers of x themselves, for solvers that take x as nq + nv free numbers and know no
//! tangent vectors.
//!
//! With G(q) d = q o [0, d], whose columns are orthonormal, a small rotation d (body frame) moves a unit
//! quaternion by dq = 1/2 G(q) d, and a change dq of a quaternion of norm s turns it by
//! d = 2/s G(q/s)' dq; along q it does not turn.

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
        // 2/s G(q/s) is G(2 q/s²).
        let twice_inverse = |q: Quaternion<f64>| {
            let square: f64 = q.iter().map(|x| x * x).sum();
            q.map(|x| 2.0 * x / square)
        };
        let a = by_columns(model, q, &lift(a).transpose(), twice_inverse).transpose();
        AmbientJacobian { a, b: lift(b), c: lift(c) }
    }
}

/// The matrix whose columns, `[dq; dv]` in tangent vectors, become `[dq; dv]` in numbers: each rotation
/// vector d becomes G(s(q)) d.
fn by_columns(
    model: &Model,
    q: &[f64],
    matrix: &DMatrix<f64>,
    s: impl Fn(Quaternion<f64>) -> Quaternion<f64>,
) -> DMatrix<f64> {
    let (nq, nv) = (model.nq(), model.nv());
    let mut numbers = Vec::with_capacity((nq + nv) * matrix.ncols());
    for column in matrix.column_iter() {
        let mut v = 0;
        let mut first = 0;
        for joint in model.coordinates() {
            let plain = joint.quaternion().map_or(joint.nq(), |(at, _)| at);
            numbers.extend(column.rows(v, plain).iter());
            if let Some((at, turn)) = joint.quaternion() {
                let q = &q[first + at..first + at + 4];
                let d = column.rows(v + turn, 3);
                numbers.extend(product(s([q[0], q[1], q[2], q[3]]), [0.0, d[0], d[1], d[2]]));
            }
            (v, first) = (v + joint.nv(), first + joint.nq());
        }
        numbers.extend(column.rows(nv, nv).iter());
    }
    DMatrix::from_vec(nq + nv, matrix.ncols(), numbers)
}
