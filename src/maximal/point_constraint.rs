//! Equality constraints between points: Phi(x) = 0, J_E(x) v = 0 (`Zhong21` (S.1)).

use super::point_rows::PointRows;
use crate::ad::Real;

/// What keeps points in place, in one or more equations.
#[derive(Clone, Debug, PartialEq)]
pub enum PointConstraint {
    /// |x_i - x_j|^2 = length^2.
    Rod {
        /// i and j.
        points: [usize; 2],
        /// Their distance (m).
        length: f64,
    },
    /// |x_i - anchor|^2 = length^2.
    Tether {
        /// i.
        point: usize,
        /// A place in the world (m).
        anchor: [f64; 3],
        /// The distance from it (m).
        length: f64,
    },
    /// sum of w_i x_i = anchor: a point of a body held in place, in each coordinate.
    BallJoint {
        /// Points and weights; those of a body's centre and axes give one of its points where they sum to one.
        weights: Vec<(usize, f64)>,
        /// A place in the world (m).
        anchor: [f64; 3],
    },
}

/// The difference of two points, or of a point and an anchor.
fn difference<T: Real>(d: usize, x: &[T], i: usize, from: impl Fn(usize) -> T) -> [T; 3] {
    std::array::from_fn(|k| if k < d { x[i * d + k] - from(k) } else { T::zero() })
}

fn square<T: Real>(x: [T; 3], dimension: usize) -> T {
    x.iter().take(dimension).fold(T::zero(), |sum, &x| sum + x * x)
}

impl PointConstraint {
    /// How many equations it is.
    pub fn equations(&self, dimension: usize) -> usize {
        match self {
            PointConstraint::Rod { .. } | PointConstraint::Tether { .. } => 1,
            PointConstraint::BallJoint { .. } => dimension,
        }
    }

    /// The points it holds.
    pub fn points(&self) -> Vec<usize> {
        match self {
            PointConstraint::Rod { points, .. } => points.to_vec(),
            PointConstraint::Tether { point, .. } => vec![*point],
            PointConstraint::BallJoint { weights, .. } => weights.iter().map(|&(p, _)| p).collect(),
        }
    }

    /// Whether it can be met, and is of finite numbers.
    pub(super) fn is_sound(&self) -> bool {
        let positive = |length: f64| length > 0.0 && length.is_finite();
        match self {
            PointConstraint::Rod { length, .. } => positive(*length),
            PointConstraint::Tether { anchor, length, .. } => {
                positive(*length) && anchor.iter().all(|a| a.is_finite())
            }
            PointConstraint::BallJoint { weights, anchor } => {
                let mut numbers = weights.iter().map(|(_, w)| w).chain(anchor);
                weights.iter().any(|(_, w)| *w != 0.0) && numbers.all(|x| x.is_finite())
            }
        }
    }

    /// What Phi is large or small beside: the square of the length (m^2), or the sizes of a ball joint's terms (m).
    pub(super) fn scale(&self, d: usize, x: &[f64]) -> f64 {
        match self {
            PointConstraint::Rod { length, .. } | PointConstraint::Tether { length, .. } => {
                length * length
            }
            PointConstraint::BallJoint { weights, anchor } => {
                let size = |x: &[f64]| x.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
                let terms = weights.iter().map(|(p, w)| w.abs() * size(&x[p * d..(p + 1) * d]));
                terms.sum::<f64>() + size(anchor)
            }
        }
    }

    /// Appends Phi(x) (m^2, or m of a ball joint).
    pub fn violation<T: Real>(&self, d: usize, x: &[T], phi: &mut Vec<T>) {
        match self {
            PointConstraint::Rod { points: [i, j], length } => {
                let w = difference(d, x, *i, |k| x[j * d + k]);
                phi.push(square(w, d) - length * length);
            }
            PointConstraint::Tether { point, anchor, length } => {
                let w = difference(d, x, *point, |k| T::constant(anchor[k]));
                phi.push(square(w, d) - length * length);
            }
            PointConstraint::BallJoint { weights, anchor } => {
                for (k, &anchor) in anchor.iter().take(d).enumerate() {
                    let sum = |sum: T, &(p, w): &(usize, f64)| sum + x[p * d + k] * w;
                    phi.push(weights.iter().fold(T::constant(-anchor), sum));
                }
            }
        }
    }

    /// Appends the rows of D_x (J_E(x) a) for a vector `a`. J_E is linear in places, so that these rows at `x` - anchor in
    /// place of `a` are J_E itself: `anchored` says that `a` is a place.
    pub(super) fn rows<T: Real>(&self, d: usize, a: &[T], anchored: bool, rows: &mut PointRows<T>) {
        match self {
            PointConstraint::Rod { points: [i, j], .. } => {
                let w = difference(d, a, *i, |k| a[j * d + k]).map(|w| w * 2.0);
                rows.push(*i, w);
                rows.push(*j, w.map(|w| -w));
                rows.end_row();
            }
            PointConstraint::Tether { point, anchor, .. } => {
                let from = |k: usize| T::constant(if anchored { anchor[k] } else { 0.0 });
                rows.push(*point, difference(d, a, *point, from).map(|w| w * 2.0));
                rows.end_row();
            }
            PointConstraint::BallJoint { weights, .. } => {
                for k in 0..d {
                    for &(point, weight) in weights.iter().filter(|_| anchored) {
                        let mut entry = [T::zero(); 3];
                        entry[k] = T::constant(weight);
                        rows.push(point, entry);
                    }
                    rows.end_row();
                }
            }
        }
    }
}
