//! How much recordings tell of parameters, before or after anything is fitted.
use crate::identify::data::Dataset;
use crate::identify::experiment::{Experiment, FreeParameter};
use crate::identify::search::{LeastSquares, OBSERVABLE, Problem};
use crate::identify::statistics::UNTELLABLE;
use crate::simulation::StepReport;
use crate::state::State;

use nalgebra::{DMatrix, DVector};

/// A parameter that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Unknown {
    /// Its name.
    pub name: String,
    /// The value at which is asked.
    pub value: f64,
    /// A typical change, in its own unit.
    pub scale: f64,
    /// How far apart its bounds are; ten typical changes where one is missing.
    pub width: f64,
    /// Whether it is not zero and keeps its sign between its bounds, so that shares of it have a meaning.
    pub keeps_sign: bool,
}

impl Unknown {
    /// A parameter at a value.
    pub fn new(parameter: &FreeParameter, value: f64) -> Unknown {
        let &FreeParameter { lower, upper, scale, .. } = parameter;
        let width = upper - lower;
        Unknown {
            name: parameter.name.clone(),
            value,
            scale,
            width: if width.is_finite() { width } else { 10.0 * scale },
            keeps_sign: (lower >= 0.0 && value > 0.0) || (upper <= 0.0 && value < 0.0),
        }
    }
}

/// Fisher's information on the free parameters of an experiment: J'J, with the residuals in standard deviations
/// of the stated noise and fitted initial states eliminated. Its inverse is the least covariance with which
/// these parameters can be known.
#[derive(Clone, Debug)]
pub struct Information {
    /// The free parameters, in their order; n of them.
    pub unknowns: Vec<Unknown>,
    /// What the recordings tell, n x n, in the units of the parameters.
    pub recordings: DMatrix<f64>,
    /// What is known beforehand, likewise.
    pub priors: DMatrix<f64>,
    /// Mean of the squared residuals of the recordings; 1 is noise alone.
    pub loss: f64,
    /// How the contact problems were solved there.
    pub report: StepReport,
}

impl Information {
    /// The information near `values` of all parameters (of fixed ones, which keep their start, too), which
    /// are put inside their bounds. One linearisation; robust losses are left aside, since they bound
    /// what is far off, and nothing is expected to be once the parameters are found.
    pub fn at(
        experiment: &Experiment,
        dataset: &Dataset,
        values: &[f64],
        threads: usize,
    ) -> Information {
        Information::around(experiment, dataset, values, None, threads)
    }

    /// [`at`](Self::at), with the initial states of the windows, if they are known.
    pub(super) fn around(
        experiment: &Experiment,
        dataset: &Dataset,
        values: &[f64],
        initial: Option<&[State<f64>]>,
        threads: usize,
    ) -> Information {
        let parameters = &experiment.parameters;
        let within = |(p, &x): (&FreeParameter, &f64)| x.max(p.lower).min(p.upper);
        let values: Vec<f64> = parameters.iter().zip(values).map(within).collect();
        let mut plain = Experiment { robust: None, ..experiment.clone() };
        plain.parameters.iter_mut().for_each(|parameter| parameter.prior = None);
        let mut problem = match initial {
            Some(initial) => Problem::starting_from(&plain, dataset, initial.to_vec(), threads),
            None => Problem::new(&plain, dataset, threads),
        };
        // Initial states as free as they are at a minimum.
        problem.set_damping(&vec![0.0; dataset.windows.len()]);
        let space = problem.space.clone();
        let x = space.variables(&values);
        let cost = problem.linearize(&x);
        let (h, _) = problem.whole_equations();
        let (recordings, _) = space.in_parameters(&x, h, Vec::new());
        let free: Vec<usize> = space.free().to_vec();
        let known = |&i: &usize| parameters[i].prior.map_or(0.0, |prior| prior.sd.powi(-2));
        let known: Vec<f64> = free.iter().map(known).collect();
        Information {
            unknowns: free.iter().map(|&i| Unknown::new(&parameters[i], values[i])).collect(),
            recordings,
            priors: DMatrix::from_diagonal(&DVector::from_vec(known)),
            loss: 2.0 * cost / problem.residual_count().max(1) as f64,
            report: problem.report,
        }
    }

    /// Singular values of the Jacobian in typical changes of the parameters, decreasing: by how many standard
    /// deviations, over all residuals, a typical change in each of its principal directions moves them.
    pub fn singular_values(&self) -> Vec<f64> {
        let n = self.unknowns.len();
        let scaled = DMatrix::from_fn(n, n, |i, j| {
            self.recordings[(i, j)] * self.unknowns[i].scale * self.unknowns[j].scale
        });
        if scaled.iter().any(|x| !x.is_finite()) {
            return vec![f64::NAN; n];
        }
        let eigenvalues = scaled.symmetric_eigenvalues();
        let mut values: Vec<f64> = eigenvalues.iter().map(|x| x.max(0.0).sqrt()).collect();
        values.sort_by(|a, b| b.total_cmp(a));
        values
    }
}

/// What an information matrix resolves.
#[derive(Clone, Debug)]
pub struct Resolution {
    /// The parameters that leave no trace, by their places.
    pub invisible: Vec<usize>,
    /// Directions that leave no trace though each of their parameters does, as changes of all n parameters
    /// in their own units; as few parameters in each as can be.
    pub blind: Vec<DVector<f64>>,
    /// The standard error of each parameter; nothing where it is part of what leaves no trace.
    pub errors: Vec<Option<f64>>,
    /// The covariance, n x n, in the units of the parameters; zero in the directions that leave no trace.
    pub covariance: DMatrix<f64>,
}

/// Parts of a direction, in units of their own trace, below this share of its largest are rounding.
const NEGLIGIBLE: f64 = 1e-3;
/// A parameter is told if no more than this part of it (a squared cosine) lies in blind directions.
const BLIND: f64 = 1e-6;

impl Resolution {
    /// What `matrix`, n x n, resolves of `unknowns`. Nothing if it is not finite.
    pub fn of(unknowns: &[Unknown], matrix: &DMatrix<f64>) -> Option<Resolution> {
        if matrix.iter().any(|x| !x.is_finite()) {
            return None;
        }
        let n = unknowns.len();
        let trace = |i: usize| matrix[(i, i)].max(0.0).sqrt();
        let leaves_trace = |&i: &usize| trace(i) * unknowns[i].width > OBSERVABLE;
        let (seen, invisible): (Vec<usize>, Vec<usize>) = (0..n).partition(leaves_trace);
        let units: Vec<f64> = seen.iter().map(|&i| trace(i)).collect();
        let scaled = DMatrix::from_fn(seen.len(), seen.len(), |a, b| {
            matrix[(seen[a], seen[b])] / (units[a] * units[b])
        });
        let (mut errors, mut covariance) = (vec![None; n], DMatrix::zeros(n, n));
        if seen.is_empty() {
            return Some(Resolution { invisible, blind: Vec::new(), errors, covariance });
        }
        let eigen = scaled.symmetric_eigen();
        let is_blind = |k: &usize| eigen.eigenvalues[*k] <= UNTELLABLE;
        let (blind, told): (Vec<usize>, Vec<usize>) = (0..seen.len()).partition(is_blind);
        let part = |a: usize, k: &usize| eigen.eigenvectors[(a, *k)];
        for (a, &i) in seen.iter().enumerate() {
            for (b, &j) in seen.iter().enumerate() {
                let parts = told.iter().map(|k| part(a, k) * part(b, k) / eigen.eigenvalues[*k]);
                covariance[(i, j)] = parts.sum::<f64>() / (units[a] * units[b]);
            }
            if blind.iter().map(|k| part(a, k).powi(2)).sum::<f64>() <= BLIND {
                errors[i] = Some(covariance[(i, i)].sqrt());
            }
        }
        let basis = blind.iter().map(|&k| eigen.eigenvectors.column(k).into_owned()).collect();
        let blind = reduced(basis).into_iter().map(|direction| {
            let most = direction.amax();
            let mut change = DVector::zeros(n);
            for ((&i, unit), &part) in seen.iter().zip(&units).zip(direction.iter()) {
                if part.abs() > NEGLIGIBLE * most {
                    change[i] = part / unit;
                }
            }
            change
        });
        Some(Resolution { invisible, blind: blind.collect(), errors, covariance })
    }
}

/// A basis of the same space in reduced echelon form with full pivoting: each vector has one entry to itself.
fn reduced(mut basis: Vec<DVector<f64>>) -> Vec<DVector<f64>> {
    let mut free: Vec<usize> = basis.first().map_or(Vec::new(), |v| (0..v.len()).collect());
    for row in 0..basis.len() {
        let size = |&(r, c): &(usize, usize)| basis[r][c].abs();
        let places = (row..basis.len()).flat_map(|r| free.iter().map(move |&c| (r, c)));
        let Some((pivot, column)) = places.max_by(|a, b| size(a).total_cmp(&size(b))) else {
            break;
        };
        basis.swap(row, pivot);
        let own = &basis[row] / basis[row][column];
        for (r, other) in basis.iter_mut().enumerate() {
            if r != row {
                let factor = other[column];
                other.axpy(-factor, &own, 1.0);
            }
        }
        basis[row] = own;
        free.retain(|&c| c != column);
    }
    basis
}
