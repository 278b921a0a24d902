//! When a step of soft bodies is made.

use crate::implicit::Bdf;

/// A step in time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SoftTime {
    /// Its formula.
    pub bdf: Bdf,
    /// When it begins and ends (s).
    pub span: [f64; 2],
}
