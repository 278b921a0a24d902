//! Covariance of parameters.
use super::student::quantile_95;
use crate::identify::peers::{Equations, Group};

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

/// Fewest recordings whose disagreement says how far parameters are off.
pub(crate) const LEAST_RECORDINGS: usize = 10;

/// A combination of parameters, each in units that make its trace 1, leaves none of its own below this.
pub(crate) const UNTELLABLE: f64 = 1e-8;
/// The same of weights, each of which is known beforehand: less is rounding.
pub(crate) const LEAST_OF_WEIGHTS: f64 = 1e-13;

/// The covariance of some of the parameters, kept in units in which the diagonal of J'J is 1, so that nothing
/// depends on their own.
#[derive(Clone, Debug)]
pub(crate) struct Covariance {
    unit: Vec<f64>,
    scaled: DMatrix<f64>,
    /// From how many squares it is estimated, beyond those it takes to find the parameters.
    freedom: usize,
}

impl Covariance {
    /// The jackknife over recordings for the parameters `free`: (n - 1) / n times the sum of the squares of the
    /// changes (H - H_c)^-1 g_c that the estimate undergoes without each recording c, where H = `h` = J'J, and
    /// H_c and the gradient g_c of `recordings`, those held here, are its share. Holds for any errors that are independent from one
    /// recording to another, those of the model included. H^-1 (sum g_c g_c') H^-1, to which it tends with
    /// many recordings, is too small with few: each draws the estimate to itself (`MacKinnon23`, CV3). `known`: the
    /// part of H that is of the priors, which hold as stated. Nothing with fewer than [`LEAST_RECORDINGS`], if H is not definite, or if
    /// one recording alone tells of a combination, so that none disagrees with it. H is definite where all combinations have `least` of
    /// their own, in units that make its diagonal 1.
    pub fn of_recordings(
        [h, known]: [&DMatrix<f64>; 2],
        (recordings, group): (&[Equations], &Group),
        free: &[usize],
        least: f64,
    ) -> Option<Covariance> {
        let (unit, inverse) = inverse(h, free, least)?;
        let whole = part(h, free, &unit);
        let tells = |(_, g): &&Equations| free.iter().any(|&i| g[i] != 0.0);
        // Of each recording that is held here; nothing where it alone tells of something.
        let changes = recordings.iter().filter(tells).map(|(own, g)| {
            let others = definite(&whole - part(own, free, &unit), least)?;
            let g = DVector::from_fn(free.len(), |a, _| g[free[a]] / unit[a]);
            Some(others.solve(&g).as_slice().to_vec())
        });
        let all = group.gather("changes", 0, changes.collect::<Vec<_>>()).into_iter().flatten();
        let changes: Vec<Option<Vec<f64>>> = all.collect();
        let count = changes.len();
        if count < LEAST_RECORDINGS {
            return None;
        }
        let mut scaled = DMatrix::zeros(free.len(), free.len());
        for change in changes {
            let change = DVector::from_vec(change?);
            scaled += &change * change.transpose();
        }
        scaled *= (count as f64 - 1.0) / count as f64;
        scaled += &inverse * part(known, free, &unit) * &inverse;
        Some(Covariance { unit, scaled, freedom: count - 1 })
    }

    /// H^-1 times the mean square of the residuals, `variance` with so many degrees of freedom, which takes all
    /// of them for independent.
    pub fn of_residuals(
        h: &DMatrix<f64>,
        known: &DMatrix<f64>,
        (variance, freedom): (f64, usize),
        free: &[usize],
        least: f64,
    ) -> Option<Covariance> {
        let (unit, inverse) = inverse(h, free, least)?;
        let stated = &inverse * part(known, free, &unit) * &inverse;
        let scaled = inverse * variance + stated * (1.0 - variance);
        Some(Covariance { unit, scaled, freedom })
    }

    /// Half the width of the 95 % interval of the `a`-th of the parameters.
    pub fn half_width(&self, a: usize) -> f64 {
        quantile_95(self.freedom) * self.error(a)
    }

    /// From how many squares it is estimated.
    pub fn freedom(&self) -> usize {
        self.freedom
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
fn inverse(h: &DMatrix<f64>, free: &[usize], least: f64) -> Option<(Vec<f64>, DMatrix<f64>)> {
    let finite = free.iter().all(|&i| free.iter().all(|&j| h[(i, j)].is_finite()));
    if free.is_empty() || !finite || free.iter().any(|&i| h[(i, i)] <= 0.0) {
        return None;
    }
    let unit: Vec<f64> = free.iter().map(|&i| h[(i, i)].sqrt()).collect();
    let inverse = definite(part(h, free, &unit), least)?.inverse();
    Some((unit, inverse))
}

/// The factor of a matrix in these units, if all combinations have at least this of their own.
fn definite(scaled: DMatrix<f64>, least: f64) -> Option<Cholesky<f64, Dyn>> {
    if scaled.symmetric_eigenvalues().iter().all(|&x| x > least) {
        return scaled.cholesky();
    }
    None
}

/// The part of a matrix that is of `free`, in their units.
fn part(matrix: &DMatrix<f64>, free: &[usize], unit: &[f64]) -> DMatrix<f64> {
    DMatrix::from_fn(free.len(), free.len(), |a, b| {
        matrix[(free[a], free[b])] / (unit[a] * unit[b])
    })
}
