//! What one window says of parameters and of its initial state.

use std::borrow::Cow;

use nalgebra::{DMatrix, DMatrixView, DVector};

use crate::argmin::Status;
use crate::simulation::StepReport;

/// The normal equations of one window, in parameters p and initial state x.
pub(super) struct WindowEquations {
    pub cost: f64,
    pub hpp: DMatrix<f64>,
    pub hpx: DMatrix<f64>,
    pub hxx: DMatrix<f64>,
    pub gp: DVector<f64>,
    pub gx: DVector<f64>,
    pub report: StepReport,
    pub passes: usize,
    /// The equations in p alone, with the damping for which they were made.
    reduced: Option<(f64, Reduced)>,
}

/// Normal equations in parameters alone.
pub(super) type Reduced = (DMatrix<f64>, DVector<f64>);

impl WindowEquations {
    /// Those of residuals and their Jacobians in p and x.
    pub fn new(
        r: &DVector<f64>,
        [jp, jx]: [DMatrixView<f64>; 2],
        report: StepReport,
        passes: usize,
    ) -> WindowEquations {
        let admissible = report.worst.status != Status::InvalidInput;
        WindowEquations {
            cost: if admissible { 0.5 * r.norm_squared() } else { f64::INFINITY },
            hpp: jp.tr_mul(&jp),
            hpx: jp.tr_mul(&jx),
            hxx: jx.tr_mul(&jx),
            gp: jp.tr_mul(r),
            gx: jx.tr_mul(r),
            report,
            passes,
            reduced: None,
        }
    }

    /// Makes the equations in p with this damping, unless they are there.
    pub fn reduce(&mut self, damping: f64) {
        if self.gx.is_empty() || self.reduced.as_ref().is_some_and(|(own, _)| *own == damping) {
            return;
        }
        self.reduced = Some((damping, self.schur_complement(damping)));
    }

    /// The equations in p: the Schur complement of the initial state.
    pub fn reduced(&self, damping: f64) -> Cow<'_, Reduced> {
        match &self.reduced {
            Some((own, reduced)) if *own == damping => Cow::Borrowed(reduced),
            _ => Cow::Owned(self.schur_complement(damping)),
        }
    }

    fn schur_complement(&self, damping: f64) -> Reduced {
        let (mut h, mut g) = (self.hpp.clone(), self.gp.clone());
        if !self.gx.is_empty()
            && let Some(cholesky) = self.damped(damping).cholesky()
        {
            h -= &self.hpx * cholesky.solve(&self.hpx.transpose());
            g -= &self.hpx * cholesky.solve(&self.gx);
        }
        (h, g)
    }

    /// hxx with its diagonal damped; a direction the recording says nothing about stays put.
    pub fn damped(&self, damping: f64) -> DMatrix<f64> {
        let mut h = self.hxx.clone();
        let floor = 1e-12 * h.diagonal().max().max(f64::MIN_POSITIVE);
        for i in 0..h.nrows() {
            h[(i, i)] = h[(i, i)] * (1.0 + damping) + floor;
        }
        h
    }
}
