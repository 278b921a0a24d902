//! Material and friction of soft bodies from the recorded motion of markers on them (`Geilinger20` 6.1).
//!
//! A [`MarkerExperiment`] names a scene with one soft body whose `markers` were followed, recordings of these, and the parameters
//! to find. [`fit_markers`] finds them together with how the body starts in each recording, twelve numbers each, by
//! Levenberg-Marquardt on forward sensitivities; with `stages` how it starts from the flight at first, then all from longer and
//! longer parts of the recordings.

mod marker_experiment;
mod marker_fit;
mod marker_problem;
mod marker_recording;
mod rigid_fit;

pub use marker_experiment::{MarkerExperiment, MarkerParameter};
pub use marker_fit::{FittedNumber, MarkerFit, fit_markers};
pub use marker_recording::MarkerRecording;
