//! Pages: the report of an identification and the player, as text and in a browser.

mod appearance;
mod browser;
mod builtin;
mod command;
mod drawing;
mod live;
mod pages;
mod soft;
mod tracks;

use std::sync::LazyLock;

use stiction::identify::{Dataset, Experiment, Fit, fit};
use stiction::view::{
    Convergence, Correlations, FitReport, PhaseResidual, Profile, RecordingError,
    ReportedParameter, ReportedStart,
};

/// What a file may be called to break a page.
pub const HOSTILE: &str =
    "</script><script>alert('1')</script><img src=x onerror=\"alert(2)\">&amp;\u{2028}";

/// The built-in experiment, identified about as well as its noise allows: pages do not ask for the last digits.
pub fn identified() -> &'static (Experiment, Dataset, Fit) {
    static FIT: LazyLock<(Experiment, Dataset, Fit)> = LazyLock::new(|| {
        let mut experiment = Experiment::builtin().unwrap();
        experiment.max_iterations = 8;
        let dataset = Dataset::builtin(&experiment).unwrap();
        let result = fit(&experiment, &dataset, 2, &mut |_| true).unwrap();
        (experiment, dataset, result)
    });
    &FIT
}

/// Its report.
pub fn builtin() -> FitReport {
    let (experiment, dataset, result) = identified();
    FitReport::new(experiment, dataset, result, 2)
}

/// The same with something in every section, and with hostile names.
pub fn full() -> FitReport {
    let mut report = builtin();
    let mut told = report.parameters[0].clone();
    told.name = HOSTILE.to_string();
    told.tied = vec![HOSTILE.to_string()];
    told.prior = Some([0.3, 0.01]);
    let lost = ReportedParameter {
        name: "box/mass".to_string(),
        unit: "kg".to_string(),
        start: 0.5,
        value: 0.5,
        lower: 1e-9,
        upper: f64::INFINITY,
        ..ReportedParameter::default()
    };
    report.experiment = HOSTILE.to_string();
    report.warnings = vec![HOSTILE.to_string()];
    report.parameters = vec![told, lost];
    report.convergence = Some(Convergence {
        stage: vec![0, 0, 0, 0, 1, 1],
        start: vec![0, 0, 1, 1, 0, 0],
        loss: vec![Some(700.0), Some(2.0), None, Some(3.0), Some(1.5), Some(1.0)],
        values: (0..6).map(|k| vec![0.3 + 0.01 * f64::from(k), 0.5]).collect(),
    });
    report.starts = [(0.5, Some(2.0)), (0.1, None)]
        .map(|(start, loss)| ReportedStart { start: vec![start; 2], values: vec![0.3; 2], loss })
        .to_vec();
    report.profiles = vec![Profile {
        parameter: 0,
        values: vec![0.29, 0.295, 0.3, 0.305, 0.31],
        loss: vec![1.4, 1.1, 1.0, 1.1, 1.5],
        others_fitted: true,
    }];
    report.phases = ["flight", "impact", "slide", HOSTILE]
        .map(|phase| PhaseResidual {
            phase: phase.to_string(),
            frames: 40,
            mean_square: 1.5,
            share: 0.25,
            position: Some(0.001),
            rotation_deg: None,
        })
        .to_vec();
    report.correlations = Some(Correlations {
        names: vec![HOSTILE.to_string(), "box/mass".to_string()],
        matrix: vec![vec![1.0, f64::NAN], vec![f64::NAN, 1.0]],
        remarks: vec![HOSTILE.to_string()],
    });
    report.recordings.push(RecordingError {
        name: HOSTILE.to_string(),
        position_percent: Some(f64::NAN),
        rotation_deg: Some(f64::INFINITY),
        outlier: true,
        ..RecordingError::default()
    });
    if let Some(playback) = &mut report.playback {
        playback.clips[0].name = HOSTILE.to_string();
    }
    report
}
