//! Pictures: plots (SVG), and pages with figures and 3-D playbacks (HTML).

mod drawing;
mod fit_report;
mod page;
mod playback;
mod player;
#[cfg(feature = "plots")]
mod plots;
mod trust;

pub use drawing::{Drawing, DrawnGround, DrawnShape, Triangles};
pub use fit_report::{
    Convergence, Correlations, ErrorsOverTime, FitReport, PhaseResidual, Profile, RecordingError,
    ReportedParameter, ReportedStart, Spread,
};
pub use playback::{Clip, Playback, Role, Track, TrackRecorder};
#[cfg(feature = "plots")]
pub use plots::fit_plot;
