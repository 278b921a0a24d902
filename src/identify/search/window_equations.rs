//! What one window says of parameters and of its initial state.

use nalgebra::{DMatrix, DVector};

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
}

impl WindowEquations {
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
