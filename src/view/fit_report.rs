//! The report of an identification as a page.

use serde::Serialize;

use super::Playback;
use super::learned_terms::{ReportedFunction, reported};
use super::mask_playback::{MaskClip, mask_clips};
use super::page::{May, Page};
use super::player::{PLAYER, program};
use super::recorded_clips::{RANKED, SignalClip, playback, shown, signals};
use super::recording_errors::{RecordingError, file_name, recording_errors};
use crate::Error;
use crate::identify::{Dataset, Evaluation, Experiment, Fit, Window, evaluate_with, is_weight};
use crate::model::Model;
use crate::state::State;
use crate::trajectory::Trajectory;

/// Everything the report of an identification shows. A section without data is left out of the page.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FitReport {
    /// Program and version.
    pub program: String,
    /// The experiment file as it was given.
    pub experiment: String,
    /// Seed of what was random.
    pub seed: u64,
    /// How it ended: the name used in results.
    pub status: String,
    /// How it ended, as a sentence.
    pub status_text: String,
    /// What was found, in sentences.
    pub result: Vec<String>,
    /// Mean of the squared residuals in standard deviations: 1 is noise alone.
    pub loss: f64,
    /// The loss where the search started.
    pub loss_at_start: f64,
    /// The loss with the scene's own values.
    pub loss_of_scene: f64,
    /// Iterations of the search.
    pub iterations: usize,
    /// Wall time, s.
    pub seconds: Option<f64>,
    /// Work in simulations of one recording without derivatives.
    pub rollouts: Option<f64>,
    /// How many recordings there were.
    pub recording_count: usize,
    /// How many windows they were cut into.
    pub window_count: usize,
    /// Time step of the simulation, s.
    pub time_step: f64,
    /// What position errors are quoted in, m.
    pub length_scale: f64,
    /// The parameters, but for weights.
    pub parameters: Vec<ReportedParameter>,
    /// What a user should know, in sentences.
    pub warnings: Vec<String>,
    /// What learned terms came to be.
    pub learned: Vec<ReportedFunction>,
    /// How the search went.
    pub convergence: Option<Convergence>,
    /// Where the first stage led from each start, where there were several.
    pub starts: Vec<ReportedStart>,
    /// How the loss depends on each parameter.
    pub profiles: Vec<Profile>,
    /// What the fit would gain by numbers that it held.
    pub score_tests: Vec<ReportedTest>,
    /// What standard errors come from, and why, in a sentence.
    pub errors_from: Option<String>,
    /// What was tried to improve the model, and what came of it, in sentences.
    pub improvement: Vec<String>,
    /// How far simulations are off, over time.
    pub errors_over_time: Option<ErrorsOverTime>,
    /// What the loss is made of, by phase of the motion.
    pub phases: Vec<PhaseResidual>,
    /// Correlations of the estimates.
    pub correlations: Option<Correlations>,
    /// How far whole simulations are off, recording by recording.
    pub recordings: Vec<RecordingError>,
    /// Where those simulations start, in words.
    pub start_text: String,
    /// What cameras saw.
    pub masks: Vec<MaskClip>,
    /// Recordings and simulations to look at.
    pub playback: Option<Playback>,
    /// The numbers of the same recordings and simulations over time.
    pub signals: Vec<SignalClip>,
}

/// A parameter and what is known about it, in its own unit.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ReportedParameter {
    /// Its name.
    pub name: String,
    /// Its unit; empty if it has none.
    pub unit: String,
    /// Others that have its value.
    pub tied: Vec<String>,
    /// Where the search started.
    pub start: f64,
    /// Where it ended.
    pub value: f64,
    /// Least value allowed; not finite if there is none.
    pub lower: f64,
    /// Largest value allowed; not finite if there is none.
    pub upper: f64,
    /// Standard deviation of the estimate.
    pub standard_error: Option<f64>,
    /// 95 % interval.
    pub interval: Option<[f64; 2]>,
    /// Whether any recording depends on it.
    pub observable: bool,
    /// Whether it ended at a bound.
    pub at_bound: bool,
    /// Whether it was not searched for.
    pub fixed: bool,
    /// What was known beforehand: expected value and standard deviation.
    pub prior: Option<[f64; 2]>,
    /// The true value, where the experiment states it.
    pub truth: Option<f64>,
}

/// How the search went, iteration by iteration.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Convergence {
    /// The stage of each iteration, from 0.
    pub stage: Vec<usize>,
    /// The start its search began from, from 0.
    pub start: Vec<usize>,
    /// Mean of the squared residuals that count in its stage.
    pub loss: Vec<Option<f64>>,
    /// The values of all parameters, in their order.
    pub values: Vec<Vec<f64>>,
}

/// Where the first stage led from one of several starts.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ReportedStart {
    /// The parameters at the start.
    pub start: Vec<f64>,
    /// The parameters at the end.
    pub values: Vec<f64>,
    /// Mean of the squared residuals that count in the stage, at the end.
    pub loss: Option<f64>,
}

/// How the loss depends on a parameter.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Profile {
    /// Index of the parameter.
    pub parameter: usize,
    /// Its values, increasing.
    pub values: Vec<f64>,
    /// Mean of the squared residuals at each.
    pub loss: Vec<f64>,
    /// Whether the other parameters were fitted anew at each value; otherwise they were held.
    pub others_fitted: bool,
}

/// What the fit would gain by freeing numbers that it held.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ReportedTest {
    /// What they are together.
    pub name: String,
    /// Their names, what they are held at, and where a Newton step leads.
    pub members: Vec<(String, f64, f64)>,
    /// The share of the loss that it takes off.
    pub gain: f64,
    /// The part of the recordings, from their first frames on, over which it shows most.
    pub part: f64,
    /// How likely chance makes as much of them, of all that was tested together.
    pub p_value: f64,
    /// Whether that is a claim.
    pub is_claim: bool,
    /// How many recordings would be better explained, and of how many.
    pub better: [usize; 2],
    /// The recordings that gain most.
    pub strongest: Vec<String>,
}

/// Quantiles over recordings at each time: of one tenth, of one half, of nine tenths of them it is at most
/// this.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// One tenth.
    pub low: Vec<f64>,
    /// One half.
    pub median: Vec<f64>,
    /// Nine tenths.
    pub high: Vec<f64>,
    /// Of how many recordings.
    pub count: Vec<usize>,
}

/// How far whole simulations are off, over time since the first frame.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ErrorsOverTime {
    /// Times, s.
    pub times: Vec<f64>,
    /// How many recordings last until then.
    pub count: Vec<usize>,
    /// Distance, mean over the bodies, m.
    pub position: Option<Spread>,
    /// Angle, mean over the bodies, degrees.
    pub rotation_deg: Option<Spread>,
    /// Angle, mean over the hinges, degrees, where `rotation_deg` is not that.
    pub joint_deg: Option<Spread>,
}

/// The part of a phase of the motion in the loss.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PhaseResidual {
    /// What it is called: flight, impact, slide, rest.
    pub phase: String,
    /// How many frames are of it.
    pub frames: usize,
    /// Mean of the squared residuals of its frames: 1 is noise alone.
    pub mean_square: f64,
    /// Its part of the sum of all squared residuals, 0 to 1.
    pub share: f64,
    /// Mean distance, m.
    pub position: Option<f64>,
    /// Mean angle, degrees.
    pub rotation_deg: Option<f64>,
}

/// Correlations of the estimates.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Correlations {
    /// Names of the parameters it is about.
    pub names: Vec<String>,
    /// Row by row, -1 to 1; not finite where it is not known.
    pub matrix: Vec<Vec<f64>>,
    /// Which combinations of parameters are not identifiable, in sentences.
    pub remarks: Vec<String>,
}

/// Points of a curve over time at most.
const POINTS: usize = 400;
/// Fewest recordings with quantiles worth drawing; below, one recording decides.
const FEWEST: usize = 2;

impl FitReport {
    /// What can be said from a fit alone. Simulates all recordings once, on `threads` threads. Of several processes all have to ask,
    /// and the first one gets it; with five recordings to look at, one process alone up to 400.
    ///
    /// `profiles`, `phases`, the remarks of `correlations`, `seconds` and `rollouts` are left for whoever knows
    /// them.
    pub fn new(experiment: &Experiment, dataset: &Dataset, fit: &Fit, threads: usize) -> FitReport {
        let starts = starts(dataset, fit);
        let evaluation =
            evaluate_with(experiment, dataset, &fit.identified, threads, |k| starts[k].clone());
        let mut recordings = recording_errors(dataset, &evaluation);
        let shown = shown(experiment, dataset, &recordings);
        let numbers: Vec<usize> = shown.iter().map(|(recording, _)| *recording).collect();
        let learned = reported(experiment, dataset, fit);
        let some = dataset.with_recordings(&numbers);
        // Of several processes the first one draws.
        if !dataset.group().is_first() {
            return FitReport::default();
        }
        let dataset = &*some;
        for (clip, &(recording, _)) in shown.iter().enumerate() {
            recordings[recording].clip = Some(clip);
        }
        FitReport {
            program: program(),
            experiment: experiment.name.clone(),
            seed: experiment.seed,
            status: fit.status.name().to_string(),
            status_text: fit.status.to_string(),
            result: result(experiment, fit),
            loss: fit.loss,
            loss_at_start: fit.loss_at_start,
            loss_of_scene: fit.loss_of_scene,
            iterations: fit.iterations,
            recording_count: dataset.trajectories.len(),
            window_count: dataset.windows.len(),
            time_step: dataset.settings.time_step,
            length_scale: experiment.length_scale,
            parameters: parameters(experiment, fit),
            warnings: fit.warnings.clone(),
            learned,
            convergence: convergence(fit),
            starts: starts_tried(fit),
            correlations: correlations(fit),
            errors_over_time: errors_over_time(dataset, &evaluation),
            recordings,
            start_text:
                "Each recording is simulated as a whole with the identified parameters, from where \
                         its first window starts at the result."
                    .to_string(),
            masks: mask_clips(experiment, dataset, fit, &starts, &shown[..shown.len().min(RANKED)]),
            playback: Some(playback(experiment, dataset, fit, &starts, &shown)),
            signals: signals(experiment, dataset, fit, &starts, &shown),
            ..FitReport::default()
        }
    }

    /// The page: one HTML file that loads nothing.
    ///
    /// # Errors
    /// If the report has no JSON.
    pub fn html(&self) -> Result<String, Error> {
        let title = format!("{} - identification", file_name(&self.experiment));
        let scripts = [PLAYER, include_str!("web/charts.js"), include_str!("web/report.js")];
        Page { title: &title, class: "report", may: May::Nothing, scripts: &scripts }.html(self)
    }
}

/// Of more parameters the count is told.
const FEW: usize = 4;

/// What was found, in sentences: the values, and how far recordings and simulation are apart.
fn result(experiment: &Experiment, fit: &Fit) -> Vec<String> {
    let found = fit.parameters.iter().filter(|p| !p.fixed && !is_weight(&p.name));
    let told = found.clone().map(|p| {
        let value = match p.interval {
            // Two digits of how far it may be off.
            Some([low, high]) if high > low && (high - low).is_finite() => {
                let digits = (1.0 - (0.5 * (high - low)).log10().floor()).clamp(0.0, 12.0) as usize;
                format!("{:.digits$} ({low:.digits$} to {high:.digits$})", p.value)
            }
            _ => format!("{:.5}", p.value),
        };
        let unit = unit(&experiment.scene.model, &p.name);
        format!("{} is {value}{}{unit}", p.name, if unit.is_empty() { "" } else { " " })
    });
    let count = found.count();
    let mut sentences = Vec::new();
    if (1..=FEW).contains(&count) {
        let any = fit.parameters.iter().any(|p| !p.fixed && p.interval.is_some());
        let note = if any { "; in brackets, 95 % intervals" } else { "" };
        sentences.push(format!("{}{note}.", told.collect::<Vec<_>>().join(", ")));
    } else if count > 0 {
        sentences.push(format!("{count} numbers of the scene are found."));
    }
    let misfit = fit.loss.sqrt();
    if misfit.is_finite() {
        let robust = if experiment.robust.is_some() { " (outliers weighed less)" } else { "" };
        sentences.push(match misfit {
            0.0..=1.5 => format!(
                "Recordings and simulation are apart by {misfit:.2} times the stated noise{robust}: the model explains them."
            ),
            _ => format!(
                "Recordings and simulation are apart by {misfit:.1} times the stated noise{robust}: the noise is stated too low, or the \
                 model lacks something."
            ),
        });
    }
    sentences
}

/// Where the first window of each recording starts at the result; the recorded state where there is none.
fn starts(dataset: &Dataset, fit: &Fit) -> Vec<State<f64>> {
    let recorded = |t: &Trajectory| t.states.get(t.first_complete()).cloned().unwrap_or_default();
    let mut starts: Vec<State<f64>> = dataset.trajectories.iter().map(recorded).collect();
    let windows = dataset.windows.iter().zip(&fit.initial_states);
    let first = |window: &Window| dataset.trajectories[window.trajectory].first_complete();
    for (window, state) in windows.filter(|(window, _)| window.first == first(window)) {
        starts[window.trajectory].clone_from(state);
    }
    let own = dataset.own_recordings().into_iter().map(|k| starts[k].clone()).collect();
    dataset.shares.all("starts of recordings", own, starts.len())
}

fn parameters(experiment: &Experiment, fit: &Fit) -> Vec<ReportedParameter> {
    let model = &experiment.scene.model;
    let described = experiment.parameters.iter().zip(&fit.parameters);
    let described = described.filter(|(free, _)| !free.is_weight());
    let reported = described.map(|(free, fitted)| ReportedParameter {
        name: fitted.name.clone(),
        unit: unit(model, &fitted.name).to_string(),
        tied: experiment.tied(free),
        start: fitted.initial,
        value: fitted.value,
        lower: fitted.lower,
        upper: fitted.upper,
        standard_error: fitted.standard_error,
        interval: fitted.interval,
        observable: fitted.observable,
        at_bound: fitted.at_bound,
        fixed: fitted.fixed,
        prior: free.prior.as_ref().map(|prior| [prior.mean, prior.sd]),
        truth: experiment.truth.get(&fitted.name).copied(),
    });
    reported.collect()
}

/// Of numbers of all parameters those that are no weights.
fn without_weights(fit: &Fit, values: &[f64]) -> Vec<f64> {
    let shown = values.iter().zip(&fit.parameters).filter(|(_, p)| !is_weight(&p.name));
    shown.map(|(&x, _)| x).collect()
}

fn convergence(fit: &Fit) -> Option<Convergence> {
    let of = &fit.history;
    (!of.is_empty()).then(|| Convergence {
        stage: of.iter().map(|iteration| iteration.stage).collect(),
        start: of.iter().map(|iteration| iteration.start).collect(),
        loss: of.iter().map(|iteration| iteration.loss).collect(),
        values: of.iter().map(|iteration| without_weights(fit, &iteration.values)).collect(),
    })
}

fn starts_tried(fit: &Fit) -> Vec<ReportedStart> {
    let starts = fit.starts.iter().map(|tried| ReportedStart {
        start: without_weights(fit, &tried.start),
        values: without_weights(fit, &tried.values),
        loss: tried.loss,
    });
    starts.collect()
}

fn correlations(fit: &Fit) -> Option<Correlations> {
    let name = |row: &usize| fit.parameters[fit.told[*row]].name.clone();
    let shown: Vec<usize> = (0..fit.told.len()).filter(|row| !is_weight(&name(row))).collect();
    let matrix = &fit.correlations;
    let known = matrix.shape() == (fit.told.len(), fit.told.len());
    (shown.len() > 1 && known).then(|| Correlations {
        names: shown.iter().map(name).collect(),
        matrix: shown.iter().map(|&a| shown.iter().map(|&b| matrix[(a, b)]).collect()).collect(),
        remarks: Vec::new(),
    })
}

/// The unit of a parameter by its name; empty if it has none, or more than one.
fn unit(model: &Model, name: &str) -> &'static str {
    let path: Vec<&str> = name.split('/').collect();
    let kind = path.first().and_then(|owner| {
        let body = model.bodies.iter().find(|body| body.name == *owner);
        body.map(|body| body.joint.kind)
    });
    let by_joint = |turns: &'static str, slides: &'static str| match kind {
        Some(kind) if kind.turns() => turns,
        Some(kind) if kind.slides() => slides,
        _ => "",
    };
    match path.as_slice() {
        ["gravity", ..] => "m/s²",
        [.., "mass"] => "kg",
        [.., "density"] => "kg/m³",
        [.., "inertia"] | [.., "inertia", _] => "kg m²",
        [.., "center_of_mass" | "half_extents" | "position" | "anchor", _] => "m",
        [.., "half_extents" | "radius" | "half_length" | "distance"] => "m",
        [.., "first" | "second" | "eye" | "target" | "point", _] => "m",
        [.., "force", "x" | "y" | "z"] => "N",
        [.., "fov_y"] => "rad",
        [_, "tilt", _] => "rad",
        [_, "offset"] if model.half_spaces.iter().any(|ground| ground.name == path[0]) => "m",
        [.., "delay"] => "s",
        [.., "armature"] => by_joint("kg m²", "kg"),
        [.., "damping"] => by_joint("N m s/rad", "N s/m"),
        [_, "friction"] => by_joint("N m", "N"),
        [.., "stiffness"] => by_joint("N m/rad", "N/m"),
        [_, "rest" | "lower" | "upper"] => by_joint("rad", "m"),
        _ => "",
    }
}

/// The value that a part `p` of numbers do not exceed, between two of them in proportion; infinite numbers are
/// the largest, and NaN if there are none.
fn quantile(numbers: &[f64], p: f64) -> f64 {
    let mut sorted: Vec<f64> = numbers.iter().copied().filter(|x| !x.is_nan()).collect();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = p * last as f64;
    let (below, part) = (place.floor() as usize, place.fract());
    let above = sorted[(below + 1).min(last)];
    if part == 0.0 { sorted[below] } else { sorted[below] + part * (above - sorted[below]) }
}

fn errors_over_time(dataset: &Dataset, evaluation: &Evaluation) -> Option<ErrorsOverTime> {
    let longest = evaluation.trajectories.iter().map(|t| t.over_time.len()).max()?;
    let interval = dataset.settings.time_step * dataset.substeps as f64;
    let lasting =
        |frame: usize| evaluation.trajectories.iter().filter_map(move |t| t.over_time.get(frame));
    let fewest = FEWEST.min(evaluation.trajectories.len());
    let end = (0..longest).take_while(|&frame| lasting(frame).count() >= fewest).count();
    let stride = end.div_ceil(POINTS).max(1);
    let frames: Vec<usize> = (0..end).step_by(stride).collect();
    let spread = |of: &dyn Fn(usize) -> Vec<f64>| {
        let mut spread = Spread::default();
        for &frame in &frames {
            let errors = of(frame);
            if errors.is_empty() {
                return None;
            }
            spread.low.push(quantile(&errors, 0.1));
            spread.median.push(quantile(&errors, 0.5));
            spread.high.push(quantile(&errors, 0.9));
            spread.count.push(errors.len());
        }
        (!frames.is_empty()).then_some(spread)
    };
    Some(ErrorsOverTime {
        times: frames.iter().map(|&frame| frame as f64 * interval).collect(),
        count: frames.iter().map(|&frame| lasting(frame).count()).collect(),
        position: spread(&|frame| lasting(frame).filter_map(|error| error.position).collect()),
        rotation_deg: spread(&|frame| {
            lasting(frame).filter_map(|error| Some(error.rotation?.to_degrees())).collect()
        }),
        joint_deg: spread(&|frame| {
            let hinges = evaluation.trajectories.iter().filter(|t| !t.turns_by_hinges_only());
            let lasting = hinges.filter_map(|t| t.over_time.get(frame));
            lasting.filter_map(|error| Some(error.joint?.to_degrees())).collect()
        }),
    })
}
