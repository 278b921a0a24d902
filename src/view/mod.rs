//! Pictures: plots (SVG), and pages with figures and 3-D playbacks (HTML).

mod drawing;
mod page;
mod playback;
mod player;
#[cfg(feature = "plots")]
mod plots;
mod report;
mod trust;

pub use drawing::{Drawing, DrawnGround, DrawnShape, Triangles};
pub use playback::{Clip, Playback, Role, Track, TrackRecorder};
#[cfg(feature = "plots")]
pub use plots::fit_plot;
pub use report::{
    Convergence, Correlations, ErrorsOverTime, PhaseResidual, Profile, RecordingError, Report,
    ReportedParameter, ReportedStart, Spread,
};
