//! A system with its numbers, as a file describes it.

use super::point_parameters::PointParameters;
use super::point_start::PointStart;
use super::point_system::PointSystem;

/// A system of points with its parameters, and how its motions begin.
#[derive(Clone, Debug)]
pub struct PointScene {
    /// The file it is from.
    pub name: String,
    /// What is fixed.
    pub system: PointSystem,
    /// What may be unknown.
    pub parameters: PointParameters<f64>,
    /// How motions of it begin, if the file says it.
    pub start: Option<PointStart>,
}
