//! `stiction identify` of soft bodies, from markers or points of their surface.
//!
//! `-o` writes a folder: `result.json`, of each recording `fit_N.csv`, the motion found, and `motions.html`, which plays them beside
//! the markers or points as they were seen; or one file, the result, where its name ends in `.json`. The result, by `-o` or `--json`, is one JSON object:
//!
//! | key | what it holds |
//! |---|---|
//! | `program`, `version`, `command`, `seed`, `threads` | what made it |
//! | `experiment` | the experiment file |
//! | `status` | `converged`, `stalled` or `iteration_limit` |
//! | `loss`, `loss_at_start` | mean of the squared residuals over their variances, at the result and where the last stage began |
//! | `iterations`, `simulations` | of the search; simulations of one recording, with derivatives |
//! | `seconds` | wall time |
//! | `parameters` | a list: `name`, `initial`, `value`, `at_bound`, `standard_error` and `interval` (95 %; `null` where the recordings do not tell) |
//! | `recordings` | a list: `file`, `distance` (root mean square of markers from where they were seen, or of points from the surface, m), `start` (`position`, `orientation`, `velocity`, `angular_velocity`) |
//! | `errors_from` | `linearisation` |

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Map, Value, json};

use super::outcome::Outcome;
use super::output::{self, json_head, json_text, number, optional, print};
use super::report_folder::Destination;
use super::{interrupt, simulate_soft, whole_files};
use crate::Error;
use crate::identify;
use crate::markers::{MarkerExperiment, MarkerFit, fit_markers};
use crate::soft::SoftRollout;
use crate::view::{Clip, Drawing, Playback, SoftTrackRecorder, recorded_markers};

/// The page of motions in a folder.
const PAGE: &str = "motions.html";
/// A step that ends this much before a frame (in steps) is at it.
const SAME: f64 = 1e-6;
/// Recordings that are played at most.
const MOST_CLIPS: usize = 6;

/// Fits an experiment.
pub(super) fn run(
    experiment: &MarkerExperiment,
    output: Option<&Path>,
    json: bool,
    threads: usize,
) -> Result<Outcome, Error> {
    let begin = Instant::now();
    let destination = output.map(Destination::new).transpose()?;
    let _lock = destination.as_ref().map(Destination::lock).transpose()?;
    experiment.scene.warnings.iter().for_each(|warning| output::warn(warning));
    interrupt::catch();
    if !json {
        let (recordings, markers) =
            (experiment.recordings.len(), experiment.scene.bodies[0].markers.len());
        let seen = match sees_points(experiment) {
            true => "points of the surface".into(),
            false => format!("{markers} markers"),
        };
        let name = &experiment.name;
        print(&format!("{name}: {recordings} recordings of {seen}, {threads} threads"));
    }
    let fit = fit_markers(experiment, threads, &mut |stage, iteration, loss| {
        if !json {
            output::say(&format!(
                "stage {}   iteration {iteration:>3}   loss {loss:.6}",
                stage + 1
            ));
        }
        !interrupt::interrupted()
    })?;
    let mut object = json_head("identify", 0, threads);
    add_fit(&mut object, experiment, &fit, begin);
    let text = json_text(object);
    if let Some(destination) = &destination {
        write(destination, experiment, &fit, &text)?;
    }
    if json {
        print(&text);
    } else {
        report(experiment, &fit);
        if let Some(Destination::Folder(folder)) = &destination {
            let page = folder.join(PAGE);
            let seen = seen_things(experiment);
            print(&format!("{} plays the motions beside the {seen}", page.display()));
        }
    }
    if fit.loss[1] > identify::UNEXPLAINED {
        output::warn(&format!(
            "{} are {:.0} times as far off as their noise: the scene does not explain what was recorded",
            seen_things(experiment),
            fit.loss[1].sqrt()
        ));
    }
    let converged = fit.outcome == identify::Outcome::Converged;
    Ok(if converged { Outcome::Done } else { Outcome::Failed })
}

fn write(
    destination: &Destination,
    experiment: &MarkerExperiment,
    fit: &MarkerFit,
    text: &str,
) -> Result<(), Error> {
    let mut files: Vec<(PathBuf, String)> = Vec::new();
    if let Destination::Folder(folder) = destination {
        // Markers that were not recorded are not drawn.
        let mut shown = fit.scene.clone();
        if sees_points(experiment) {
            shown.bodies[0].markers.clear();
        }
        let drawing = Drawing::of_soft_bodies(&shown);
        // The motions farthest off.
        let mut order: Vec<usize> = (0..fit.distances.len()).collect();
        order.sort_by(|&a, &b| fit.distances[b].total_cmp(&fit.distances[a]));
        order.truncate(MOST_CLIPS);
        let mut clips = Vec::new();
        for (k, (recording, start)) in experiment.recordings.iter().zip(&fit.starts).enumerate() {
            let mut scene = fit.scene.clone();
            recording.place(&mut scene, *start);
            let duration = recording.times[recording.times.len() - 1] - recording.times[0];
            let steps = (duration / scene.time_step - SAME).ceil() as usize;
            let span = [0.0, steps as f64 * scene.time_step];
            let place = order.iter().position(|&own| own == k);
            let mut recorder =
                place.map(|_| SoftTrackRecorder::new(&shown, &drawing, span, order.len()));
            let drive = &mut |rollout: &mut SoftRollout| recording.drive(rollout);
            let motion = simulate_soft::motion_csv(&scene, steps, drive, &mut |time, rollout| {
                let Some(recorder) = &mut recorder else { return };
                if let Some(rigid) = rollout.rigid_state() {
                    recorder.beside(rigid, rollout.rigid_contacts());
                }
                recorder.frame(time, rollout.states());
            });
            if let (Some(place), Some(recorder)) = (place, recorder) {
                // Rigid bodies stand where they start in this one.
                let mut seen = shown.clone();
                recording.place(&mut seen, *start);
                let tracks = vec![recorder.finish(), recorded_markers(&seen, &drawing, recording)];
                let distance = 1e3 * fit.distances[k];
                let name = format!("{}, {distance:.2} mm off", recording.name);
                clips.push((place, Clip { name, tracks }));
            }
            files.push((folder.join(format!("fit_{}.csv", k + 1)), motion));
        }
        clips.sort_by_key(|(place, _)| *place);
        let clips = clips.into_iter().map(|(_, clip)| clip).collect();
        let page = Playback { drawing, clips }.html(&experiment.name)?;
        files.push((folder.join(PAGE), page));
    }
    files.push((destination.result(), format!("{text}\n")));
    let all: Vec<(&Path, &[u8])> =
        files.iter().map(|(path, text)| (path.as_path(), text.as_bytes())).collect();
    whole_files::write_files(&all)
}

fn add_fit(
    object: &mut Map<String, Value>,
    experiment: &MarkerExperiment,
    fit: &MarkerFit,
    begin: Instant,
) {
    object.insert("experiment".into(), experiment.name.as_str().into());
    object.insert("status".into(), fit.outcome.name().into());
    object.insert("loss".into(), number(fit.loss[1]));
    object.insert("loss_at_start".into(), number(fit.loss[0]));
    object.insert("iterations".into(), fit.iterations.into());
    object.insert("simulations".into(), fit.simulations.into());
    object.insert("seconds".into(), number(begin.elapsed().as_secs_f64()));
    let parameter = |own: &crate::markers::FittedNumber| {
        json!({
            "name": own.name,
            "initial": number(own.initial),
            "value": number(own.value),
            "at_bound": own.at_bound,
            "standard_error": optional(own.standard_error),
            "interval": own.interval.map(|ends| ends.map(number)),
        })
    };
    object.insert("parameters".into(), fit.parameters.iter().map(parameter).collect());
    let recordings = experiment.recordings.iter().zip(&fit.starts).zip(&fit.distances);
    let recordings = recordings.map(|((recording, start), distance)| {
        json!({
            "file": recording.name,
            "distance": number(*distance),
            "start": {
                "position": start.position,
                "orientation": start.orientation,
                "velocity": start.velocity,
                "angular_velocity": start.angular_velocity,
            },
        })
    });
    object.insert("recordings".into(), recordings.collect());
    object.insert("errors_from".into(), "linearisation".into());
}

/// A number with the digits that say something.
fn told(x: f64) -> String {
    match x.abs() {
        size if size != 0.0 && !(1e-3..1e7).contains(&size) => format!("{x:.5e}"),
        _ => format!("{x:.6}"),
    }
}

fn report(experiment: &MarkerExperiment, fit: &MarkerFit) {
    let how = match fit.outcome {
        identify::Outcome::Converged => "converged",
        identify::Outcome::Stalled => "stalled: no step, however short, lowers the loss",
        _ => "stopped before it converged",
    };
    print(&format!("{how} after {} iterations, loss {:.4}", fit.iterations, fit.loss[1]));
    let width = fit.parameters.iter().map(|own| own.name.len()).max().unwrap_or(0);
    for own in &fit.parameters {
        let known = match (own.interval, own.at_bound) {
            (Some([low, high]), _) => format!("[{}, {}]", told(low), told(high)),
            (None, true) => "at its bound".into(),
            (None, false) => "not told by the recordings".into(),
        };
        print(&format!("  {:<width$}  {}  {known}", own.name, told(own.value)));
    }
    for (recording, distance) in experiment.recordings.iter().zip(&fit.distances) {
        let seen = seen_things(experiment);
        print(&format!("  {}: {seen} {:.3} mm off", recording.name, 1e3 * distance));
    }
}

/// Whether recordings are of points of the surface.
fn sees_points(experiment: &MarkerExperiment) -> bool {
    experiment.recordings.iter().flat_map(|recording| &recording.clouds).any(|own| !own.is_empty())
}

/// What was seen.
fn seen_things(experiment: &MarkerExperiment) -> &'static str {
    if sees_points(experiment) { "points" } else { "markers" }
}
