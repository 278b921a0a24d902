//! Recordings beside their simulations: to be played, and number by number over time.

use serde::Serialize;

use super::appearance::Appearance;
use super::pace::MOST_FRAMES;
use super::recording_errors::{RecordingError, duration, file_name};
use super::{Clip, Drawing, Playback, Role, TrackRecorder};
use crate::identify::{Dataset, Experiment, Fit, StepInputs, Trace, traces};
use crate::simulation::Rollout;
use crate::state::State;
use crate::trajectory::Quantity;

/// Recordings that have a rank: worst, second worst, median, and the best ones.
pub(super) const RANKED: usize = 5;
/// Recordings that a page holds at most.
const MOST_CLIPS: usize = 400;
/// Those of which it holds all frames, and poses in them; and poses in all others together, of which frames are left out: a page that
/// one would send on has a few megabytes.
const WHOLE_CLIPS: usize = 40;
const MOST_POSES: usize = 40_000;
const MOST_THINNED_POSES: usize = 10_000;
/// Frames of a recording that are not left out where it has them.
const FEWEST_FRAMES: usize = 12;
/// Numbers of a recording, and points of each, that it holds at most; and of each of those with frames left out.
const MOST_SIGNALS: usize = 60;
const MOST_POINTS: usize = 150;
const FEW_POINTS: usize = 15;

/// Numbers of a recording and its simulation over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SignalClip {
    /// Since the playback begins, s.
    pub times: Vec<f64>,
    /// Bodies, sensors, inputs.
    pub groups: Vec<SignalGroup>,
    /// How many numbers are not shown.
    pub left_out: usize,
}

/// Numbers that belong together.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SignalGroup {
    /// What it is called.
    pub name: String,
    /// Its numbers.
    pub signals: Vec<ReportedSignal>,
}

/// A number over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ReportedSignal {
    /// What it is called.
    pub name: String,
    /// Its unit; empty if that is not known.
    pub unit: &'static str,
    /// What is simulated.
    pub simulated: Vec<Option<f64>>,
    /// Simulated less recorded, or how far the two are apart; nothing where nothing was recorded.
    pub apart: Vec<Option<f64>>,
    /// What was recorded, where that is not simulated less `apart`.
    pub recorded: Option<Vec<Option<f64>>>,
}

/// Which recordings are to be looked at, and what they are called: the two worst, the median and the two best, then the worst of the
/// others, as many as a page holds.
pub(super) fn shown(
    experiment: &Experiment,
    dataset: &Dataset,
    rows: &[RecordingError],
) -> Vec<(usize, &'static str)> {
    // By positions, where there are any.
    let error = |&k: &usize| {
        let row: &RecordingError = &rows[k];
        let error = row.position_percent.or(row.rotation_deg).unwrap_or(0.0);
        if error.is_nan() { f64::INFINITY } else { error }
    };
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|a, b| error(b).total_cmp(&error(a)));
    let last = order.len().saturating_sub(1);
    let wanted = [
        (0, "worst"),
        (1, "second worst"),
        (order.len() / 2, "median"),
        (last, "best"),
        (last.saturating_sub(1), "second best"),
    ];
    let mut shown: Vec<(usize, &'static str)> = Vec::new();
    for (place, name) in wanted {
        if let Some(&recording) = order.get(place)
            && !shown.iter().any(|&(known, _)| known == recording)
        {
            shown.push((recording, name));
        }
    }
    // Of several processes the first would have to fetch all others.
    let order = if dataset.group().is_alone() { order } else { Vec::new() };
    let mut poses = 0;
    for recording in order {
        if shown.iter().any(|&(known, _)| known == recording) {
            continue;
        }
        if shown.len() >= WHOLE_CLIPS {
            let frames = dataset.trajectories[recording].times.len().min(FEWEST_FRAMES);
            poses += frames * experiment.scene.model.bodies.len();
        }
        if shown.len() >= MOST_CLIPS || poses > MOST_THINNED_POSES {
            break;
        }
        shown.push((recording, "next worst"));
    }
    shown
}

/// How many-th frames of each that is shown there are.
fn strides(experiment: &Experiment, dataset: &Dataset, shown: &[(usize, &str)]) -> Vec<usize> {
    let frames = |&(recording, _): &(usize, &str)| dataset.trajectories[recording].times.len();
    let bodies = experiment.scene.model.bodies.len();
    let mut poses = 0;
    let fits = |clip: &&(usize, &str)| {
        poses += frames(clip).min(MOST_FRAMES as usize) * bodies;
        poses <= MOST_POSES
    };
    let whole = shown.iter().take(WHOLE_CLIPS).take_while(fits).count();
    let whole = whole.max(RANKED.min(shown.len()));
    let others: usize = shown[whole..].iter().map(|clip| frames(clip) * bodies).sum();
    let each = others.div_ceil(MOST_THINNED_POSES).max(1);
    let stride = |(place, clip): (usize, &(usize, &str))| match place < whole {
        true => 1,
        false => each.min(frames(clip) / FEWEST_FRAMES).max(1),
    };
    shown.iter().enumerate().map(stride).collect()
}

/// Recordings with their simulations from `starts`.
pub(super) fn playback(
    experiment: &Experiment,
    dataset: &Dataset,
    fit: &Fit,
    starts: &[State<f64>],
    shown: &[(usize, &str)],
) -> Playback {
    let (model, parameters) = (&experiment.scene.model, &fit.identified);
    let drawing = Drawing::new(model, parameters, &Appearance::read(model));
    let strides = strides(experiment, dataset, shown);
    let clips = shown.iter().zip(strides).map(|(&(index, rank), each)| {
        let recording = &dataset.trajectories[index];
        let times = &recording.times;
        let span = [times[0], times[0] + duration(recording)];
        let track =
            |name, role| TrackRecorder::new(model, parameters, &drawing, (name, role), span);
        let mut recorded = track("recording", Role::Recording);
        for (&time, state) in times.iter().zip(&recording.states).step_by(each) {
            recorded.frame(time, state);
        }
        let mut simulated = track("simulation", Role::Simulation);
        let system = dataset.system(&experiment.scene, parameters);
        let mut rollout = Rollout::new(system, starts[index].clone());
        let first = (index, recording.first_complete());
        let mut inputs = StepInputs::new(dataset, first, &experiment.scene.inputs);
        rollout.set_time(Some(inputs.begin));
        // Where frames are uneven, they are no ends of steps: the steps are shown.
        let step = dataset.settings.time_step;
        let begin = recording.first_complete();
        let start = times[begin];
        let steps = 0..=((times[times.len() - 1] - start) / step) as usize;
        let own: Vec<f64> = steps.map(|k| start + k as f64 * step).collect();
        let (times, between) =
            if dataset.even { (&times[begin..], dataset.substeps) } else { (&own[..], 1) };
        for (frame, &time) in times.iter().enumerate() {
            for _ in 0..if frame == 0 { 0 } else { between } {
                rollout.step(inputs.next(parameters));
                // Forces take more room than all else.
                if each == 1 {
                    simulated.contacts(rollout.workspace.contacts());
                }
            }
            if frame.is_multiple_of(each) {
                simulated.frame(time, &rollout.state);
            }
        }
        Clip {
            name: match each {
                1 => format!("{} ({rank})", file_name(&recording.name)),
                _ => format!("{} ({rank}, every {each}. frame)", file_name(&recording.name)),
            },
            tracks: vec![simulated.finish(), recorded.finish()],
        }
    });
    let clips = clips.collect();
    Playback { drawing, clips }
}

/// The numbers of recordings and of their simulations from `starts`.
pub(super) fn signals(
    experiment: &Experiment,
    dataset: &Dataset,
    fit: &Fit,
    starts: &[State<f64>],
    shown: &[(usize, &str)],
) -> Vec<SignalClip> {
    let strides = strides(experiment, dataset, shown);
    let clips = shown.iter().zip(strides).map(|(&(index, _), each)| {
        let most = if each == 1 { MOST_POINTS } else { FEW_POINTS };
        let start = &starts[index];
        let (times, groups) = traces(experiment, dataset, &fit.identified, index, start);
        let begin = dataset.trajectories[index].times[0];
        let every = times.len().div_ceil(most).max(1);
        let mut left = MOST_SIGNALS;
        let mut clip = SignalClip {
            times: times.iter().step_by(every).map(|&x| rounded(x - begin, 7)).collect(),
            ..SignalClip::default()
        };
        for group in groups {
            let kept = group.traces.len().min(left);
            (left, clip.left_out) = (left - kept, clip.left_out + group.traces.len() - kept);
            let signals = group.traces.iter().take(kept).map(|trace| signal(trace, every));
            let group = SignalGroup { name: group.name.clone(), signals: signals.collect() };
            if kept > 0 {
                clip.groups.push(group);
            }
        }
        clip
    });
    clips.collect()
}

/// Every so many-th point of a trace, in the unit it is shown in.
fn signal(trace: &Trace, every: usize) -> ReportedSignal {
    let (unit, factor) = match trace.quantity {
        Some(Quantity::Angle) => ("°", 1f64.to_degrees()),
        Some(Quantity::Length) => ("m", 1.0),
        Some(Quantity::Speed) => ("m/s", 1.0),
        Some(Quantity::AngularSpeed) => ("rad/s", 1.0),
        Some(Quantity::Force) => ("N", 1.0),
        Some(Quantity::Torque) => ("N m", 1.0),
        _ => ("", 1.0),
    };
    let shown = |x: f64, digits: i32| x.is_finite().then(|| rounded(factor * x, digits));
    let apart = |frame: usize| match &trace.apart {
        Some(apart) => apart[frame],
        None => Some(trace.simulated[frame] - trace.recorded[frame]?),
    };
    let frames = || (0..trace.simulated.len()).step_by(every);
    let recorded = || frames().map(|frame| shown(trace.recorded[frame]?, 5)).collect();
    ReportedSignal {
        name: trace.name.clone(),
        unit,
        simulated: frames().map(|frame| shown(trace.simulated[frame], 6)).collect(),
        apart: frames().map(|frame| shown(apart(frame)?, 3)).collect(),
        recorded: trace.apart.as_ref().map(|_| recorded()),
    }
}

/// With so many digits, which are enough to draw.
fn rounded(x: f64, digits: i32) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return 0.0;
    }
    let power = 10f64.powi(digits - 1 - x.abs().log10().floor() as i32);
    let rounded = (x * power).round() / power;
    if rounded.is_finite() { rounded } else { x }
}
