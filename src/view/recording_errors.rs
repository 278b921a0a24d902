//! How far simulations are from recordings, recording by recording.

use serde::Serialize;

use crate::identify::{Dataset, Evaluation, stand_out};
use crate::trajectory::Trajectory;

/// How far the simulation of a whole recording is off.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RecordingError {
    /// The file.
    pub name: String,
    /// Recorded frames.
    pub frames: usize,
    /// Duration, s.
    pub duration: f64,
    /// Mean distance, % of the length scale, if positions are recorded.
    pub position_percent: Option<f64>,
    /// Mean angle, degrees, if any is recorded.
    pub rotation_deg: Option<f64>,
    /// Mean angle of hinges, degrees, where `rotation_deg` is not that.
    pub joint_deg: Option<f64>,
    /// Whether it is far beyond the others.
    pub outlier: bool,
    /// Whether it was held back from the fit.
    pub held_out: bool,
    /// Where it is among the clips of the playback.
    pub clip: Option<usize>,
}

/// How far whole simulations are off.
pub(super) fn recording_errors(dataset: &Dataset, evaluation: &Evaluation) -> Vec<RecordingError> {
    let rows = dataset.trajectories.iter().zip(&evaluation.trajectories);
    let mut rows: Vec<RecordingError> = rows
        .map(|(recording, error)| RecordingError {
            name: recording.name.clone(),
            frames: error.frames,
            duration: duration(recording),
            position_percent: error.position_error_percent,
            rotation_deg: error.rotation_error_deg,
            joint_deg: error.joint_error_deg.filter(|_| !error.turns_by_hinges_only()),
            ..RecordingError::default()
        })
        .collect();
    let kinds: [fn(&RecordingError) -> Option<f64>; 3] =
        [|row| row.position_percent, |row| row.rotation_deg, |row| row.joint_deg];
    for of in kinds {
        let known: Vec<usize> = (0..rows.len()).filter(|&k| of(&rows[k]).is_some()).collect();
        let errors: Vec<f64> = known.iter().filter_map(|&k| of(&rows[k])).collect();
        for (k, stands_out) in known.into_iter().zip(stand_out(&errors)) {
            rows[k].outlier |= stands_out;
        }
    }
    rows
}

/// How long it is, s.
pub(super) fn duration(recording: &Trajectory) -> f64 {
    recording.times.last().zip(recording.times.first()).map_or(0.0, |(end, begin)| end - begin)
}

/// The last part of a path, if it has one.
pub(super) fn file_name(path: &str) -> &str {
    std::path::Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or(path)
}
