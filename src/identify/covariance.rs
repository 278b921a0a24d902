//! Covariance of parameters.

use nalgebra::{DMatrix, DVector};

/// Fewest recordings whose disagreement says how far parameters are off.
pub(super) const LEAST_RECORDINGS: usize = 10;

/// A combination of parameters, each in units that make its trace 1, leaves none of its own below this.
pub(super) const UNTELLABLE: f64 = 1e-8;

/// The covariance of some of the parameters, kept in units in which the diagonal of J'J is 1, so that nothing
/// depends on their own.
#[derive(Clone, Debug)]
pub(super) struct Covariance {
    unit: Vec<f64>,
    scaled: DMatrix<f64>,
}

impl Covariance {
    /// H^-1 S H^-1 for the parameters `free`, where H = `h` = J'J and S is the sum of the squares of `scores`,
    /// the gradients of the recordings. Holds for any errors that are independent from one recording to
    /// another, those of the model included. `known`: the part of H that is of the priors, which hold as
    /// stated. Nothing with fewer than [`LEAST_RECORDINGS`], or if H is not definite.
    pub fn of_recordings(
        h: &DMatrix<f64>,
        known: &DMatrix<f64>,
        scores: &[DVector<f64>],
        free: &[usize],
    ) -> Option<Covariance> {
        let told = |score: &&DVector<f64>| free.iter().any(|&i| score[i] != 0.0);
        let recordings = scores.iter().filter(told).count();
        if recordings < LEAST_RECORDINGS {
            return None;
        }
        let (unit, inverse) = inverse(h, free)?;
        let mut spread = DMatrix::zeros(free.len(), free.len());
        for score in scores {
            let own = DVector::from_fn(free.len(), |a, _| score[free[a]] / unit[a]);
            spread += &own * own.transpose();
        }
        spread *= recordings as f64 / (recordings as f64 - 1.0);
        let scaled = &inverse * (spread + part(known, free, &unit)) * &inverse;
        Some(Covariance { unit, scaled })
    }

    /// H^-1 times the mean square of the residuals, `variance`, which takes all of them for independent.
    pub fn of_residuals(
        h: &DMatrix<f64>,
        known: &DMatrix<f64>,
        variance: f64,
        free: &[usize],
    ) -> Option<Covariance> {
        let (unit, inverse) = inverse(h, free)?;
        let stated = &inverse * part(known, free, &unit) * &inverse;
        let scaled = inverse * variance + stated * (1.0 - variance);
        Some(Covariance { unit, scaled })
    }

    /// The standard error of the `a`-th of the parameters.
    pub fn error(&self, a: usize) -> f64 {
        self.scaled[(a, a)].sqrt() / self.unit[a]
    }

    /// The correlation of two of them.
    pub fn correlation(&self, a: usize, b: usize) -> f64 {
        let size = (self.scaled[(a, a)] * self.scaled[(b, b)]).sqrt();
        (self.scaled[(a, b)] / size).clamp(-1.0, 1.0)
    }
}

/// The units in which the part of H of `free` has a unit diagonal, and its inverse there.
fn inverse(h: &DMatrix<f64>, free: &[usize]) -> Option<(Vec<f64>, DMatrix<f64>)> {
    let finite = free.iter().all(|&i| free.iter().all(|&j| h[(i, j)].is_finite()));
    if free.is_empty() || !finite || free.iter().any(|&i| h[(i, i)] <= 0.0) {
        return None;
    }
    let unit: Vec<f64> = free.iter().map(|&i| h[(i, i)].sqrt()).collect();
    let scaled = part(h, free, &unit);
    if scaled.clone().symmetric_eigenvalues().iter().any(|&x| x <= UNTELLABLE) {
        return None;
    }
    Some((unit, scaled.cholesky()?.inverse()))
}

/// The part of a matrix that is of `free`, in their units.
fn part(matrix: &DMatrix<f64>, free: &[usize], unit: &[f64]) -> DMatrix<f64> {
    DMatrix::from_fn(free.len(), free.len(), |a, b| {
        matrix[(free[a], free[b])] / (unit[a] * unit[b])
    })
}
