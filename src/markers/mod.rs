//! Material and friction of soft bodies from the recorded motion of markers on them, or of points of their surface (`Geilinger20` 6.1).
//!
//! A [`MarkerExperiment`] names a scene with one soft body whose `markers` were followed, or of which a depth camera saw the surface
//! as clouds of points, recordings of these, and the parameters to find. [`fit_markers`] finds them together with how the body starts in each recording, twelve numbers each, by
//! Levenberg-Marquardt on forward sensitivities; with `stages` how it starts from the flight at first, then all from longer and
//! longer parts of the recordings.

mod closest_point;
mod marker_experiment;
mod marker_fit;
mod marker_problem;
mod marker_recording;
mod marker_table;
mod recorded_inputs;
mod rigid_fit;
mod surface_tracker;

/// What tests look at beside the public items.
#[doc(hidden)]
pub mod internals {
    pub use crate::markers::closest_point::signed_distance;
}

pub use marker_experiment::{MarkerExperiment, MarkerParameter};
pub use marker_fit::{FittedNumber, MarkerFit, fit_markers};
pub use marker_recording::{MarkerRecording, Region};
