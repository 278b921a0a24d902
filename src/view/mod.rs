//! Pictures: plots (SVG), and pages with figures and 3-D playbacks (HTML).

mod appearance;
mod contact_forces;
mod drawing;
mod fit_report;
#[cfg(feature = "plots")]
mod landscape_plot;
mod learned_terms;
mod live;
#[cfg(feature = "live_module")]
#[expect(unsafe_code, reason = "unmangled names of what a page calls")]
mod live_module;
mod mask_playback;
mod pace;
mod page;
mod playback;
mod player;
#[cfg(feature = "plots")]
mod plots;
mod recorded_clips;
mod recording_errors;
mod soft_playback;
mod still;
mod trust;

pub use appearance::{Appearance, PackedTriangles};
pub use drawing::{
    Drawing, DrawnAxis, DrawnGround, DrawnLook, DrawnShape, DrawnSoftBody, DrawnTendon, Triangles,
};
pub use fit_report::{
    Convergence, Correlations, ErrorsOverTime, FitReport, PhaseResidual, Profile,
    ReportedParameter, ReportedStart, Spread,
};
#[cfg(feature = "plots")]
pub use landscape_plot::landscape_plot;
pub use learned_terms::ReportedFunction;
pub use live::{Live, LiveControls, LiveNumber, LiveReply, LiveRequest, LiveSolver, Pull};
pub use mask_playback::{MaskClip, SensitivityPicture};
pub use playback::{Clip, Playback, Role, Track, TrackRecorder};
#[cfg(feature = "plots")]
pub use plots::fit_plot;
pub use recorded_clips::{ReportedSignal, SignalClip, SignalGroup};
pub use recording_errors::RecordingError;
pub use soft_playback::{SoftTrackRecorder, recorded_markers};
pub use still::{Still, StillPicture};
