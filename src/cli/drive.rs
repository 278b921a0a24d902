//! What drives a simulated scene: its own inputs, a file of controls, gains of the motors.

use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;

use super::output;
use super::plausibility;
use super::progress::Progress;
use super::run_length::MOST_STEPS;
use super::scene_options::SceneOptions;
use super::watched::watched;
use crate::Error;
use crate::argmin::Status;
use crate::model::{Joint, Scene};
use crate::simulation::{JointFeedback, Rollout, StepReport};
use crate::state::{NV, State};
use crate::trajectory::Controls;

/// What is said about how a scene is driven, and how long it settles first.
#[derive(clap::Args, Clone, Debug, Default)]
pub(super) struct DriveOptions {
    /// Controls over time, CSV: t and a column for each actuator (by its name) or force (body/f); held
    /// from row to row. Bodies whose velocity is prescribed by their poses (body/px ..)
    #[arg(long, value_name = "IN.csv")]
    pub controls: Option<PathBuf>,
    /// Hold the configuration of the start or keyframe q0 by its motors: each control gets
    /// kp (q0 - q) - kd v more
    #[arg(long, value_name = "GAIN", allow_negative_numbers = true)]
    pub kp: Option<f64>,
    /// See --kp
    #[arg(long, value_name = "GAIN", allow_negative_numbers = true)]
    pub kd: Option<f64>,
    /// Simulate this long from rest first, without --controls, and start from there: at rest, or with the
    /// velocities of the keyframe. What the file starts in each other is pushed apart before
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub settle: Option<f64>,
}

impl DriveOptions {
    /// The drive that was asked for, and the scene settled if that was asked for; nothing if Ctrl-C was pressed
    /// meanwhile. `path` and `options` are those the scene was loaded by; `json`: no progress; `threads`: on how many
    /// large scenes are solved.
    pub fn start(
        &self,
        path: &Path,
        options: &SceneOptions,
        json: bool,
        scene: &mut Scene,
        threads: usize,
    ) -> Result<Option<(Drive, Option<Settled>)>, Error> {
        let drive = Drive { threads, ..self.drive(scene)? };
        match self.settle {
            None => Ok(Some((drive, None))),
            Some(seconds) => self.settled(path, options, json, scene, drive, seconds),
        }
    }

    /// The controls and gains that were asked for.
    fn drive(&self, scene: &mut Scene) -> Result<Drive, Error> {
        let controls = match &self.controls {
            Some(path) => Some(Controls::load(path, &scene.model)?),
            None => None,
        };
        if let Some(controls) = &controls {
            controls.place(&scene.model, &mut scene.state);
        }
        let model = &scene.model;
        for (option, gain) in [("--kp", self.kp), ("--kd", self.kd)] {
            let Some(gain) = gain else { continue };
            if !gain.is_finite() || gain < 0.0 {
                let message = format!("must be finite and not negative, found {gain}");
                return Err(Error::input(option, None, "", message));
            }
            if !model.actuators.iter().any(|actuator| JointFeedback::drives(model, actuator)) {
                let message =
                    "the scene has no motor for it to act on: add an [[actuator]] to each joint";
                return Err(Error::input(option, None, "", message));
            }
        }
        let gains = self.kp.is_some() || self.kd.is_some();
        let feedback = gains.then(|| JointFeedback {
            kp: self.kp.unwrap_or(0.0),
            kd: self.kd.unwrap_or(0.0),
            target: scene.state.q.clone(),
        });
        Ok(Drive { controls, feedback, inputs: Vec::new(), threads: 1 })
    }

    /// Settles the scene.
    fn settled(
        &self,
        path: &Path,
        options: &SceneOptions,
        json: bool,
        scene: &mut Scene,
        drive: Drive,
        seconds: f64,
    ) -> Result<Option<(Drive, Option<Settled>)>, Error> {
        let steps = (seconds / scene.settings.time_step).round();
        if !(0.0..=MOST_STEPS as f64).contains(&steps) {
            let most = MOST_STEPS as f64 * scene.settings.time_step;
            let message = format!("must be 0 to {most} s, found {seconds}");
            return Err(Error::input("--settle", None, "", message));
        }
        let mut v = vec![0.0; scene.model.nv()];
        if let Some(name) = &options.keyframe
            && let Some(keyframe) = scene.keyframes.iter().find(|keyframe| keyframe.name == *name)
            && let Some(given) = &keyframe.v
        {
            v.clone_from(given);
        }
        let steps = steps as usize;
        let progress = Progress::new(steps, json);
        let file = path.display().to_string();
        let settled = settle(&file, scene, drive, steps, v, progress)?;
        Ok(settled.map(|(drive, settled)| (drive, Some(settled))))
    }
}

/// The inputs of each step, and on how many threads it is made.
pub(super) struct Drive {
    pub controls: Option<Controls>,
    pub feedback: Option<JointFeedback>,
    /// The inputs of the last step.
    pub inputs: Vec<f64>,
    /// On how many threads steps are made.
    pub threads: usize,
}

impl Drive {
    /// Finds the inputs of a step from a state; before the simulation begins, there is no time, the
    /// controls of the file do not act, and bodies whose velocity is prescribed stand still.
    pub fn update(&mut self, scene: &Scene, time: Option<f64>, state: &State<f64>) {
        self.inputs.clone_from(&scene.inputs);
        let (model, still) = (&scene.model, time.is_none());
        for body in (0..model.bodies.len()).filter(|&body| still && model.is_prescribed(body)) {
            let v = model.bodies[body].joint.v;
            self.inputs[v..v + NV].fill(0.0);
        }
        if let (Some(controls), Some(time)) = (&self.controls, time) {
            controls.apply(time, scene.settings.time_step, &mut self.inputs);
        }
        if let Some(feedback) = &self.feedback {
            feedback.add(&scene.model, state, &mut self.inputs);
        }
    }
}

/// An error unless the state after a step can be gone on from.
pub(super) fn check_step(
    file: &str,
    (step, time): (usize, f64),
    state: &State<f64>,
    report: &StepReport,
) -> Result<(), Error> {
    let finite = state.q.iter().chain(&state.v).chain([&time]).all(|x| x.is_finite());
    if finite && report.worst.status != Status::InvalidInput {
        return Ok(());
    }
    let message = format!(
        "step {step}, to {time} s, does not give finite numbers: an input, a gain or a velocity is too \
         large, a number of the scene too extreme, or something that moves has no mass or an \
         inertia that no solid has; nothing was written"
    );
    Err(Error::input(file, None, "", message))
}

/// The motion that is left after settling.
pub(super) struct Settled {
    pub seconds: f64,
    /// Speed of the fastest body or slide, m/s.
    pub speed: f64,
    /// Speed of the fastest turn, rad/s.
    pub angular_speed: f64,
    pub report: StepReport,
}

impl Settled {
    /// In words.
    pub fn sentence(&self) -> String {
        format!(
            "settled for {} s: left are {:.1e} m/s and {:.1e} rad/s",
            self.seconds, self.speed, self.angular_speed
        )
    }

    /// Says on standard error what no body does, if it did.
    pub fn warn(&self, scene: &Scene) {
        let (model, time_step) = (&scene.model, scene.settings.time_step);
        plausibility::warn(&self.report.plausibility, "while it settled", model, time_step);
    }

    pub fn json(&self, scene: &Scene) -> serde_json::Value {
        let (model, time_step) = (&scene.model, scene.settings.time_step);
        serde_json::json!({
            "seconds": self.seconds,
            "speed": output::number(self.speed),
            "angular_speed": output::number(self.angular_speed),
            "unsolved": self.report.unsolved,
            "implausible": self.report.plausibility.json(model, time_step),
        })
    }
}

/// Simulates a scene for so many steps from rest, and makes where it gets to its start: with the velocities `v`.
/// Nothing if Ctrl-C was pressed before.
fn settle(
    file: &str,
    scene: &mut Scene,
    mut drive: Drive,
    steps: usize,
    v: Vec<f64>,
    mut progress: Progress,
) -> Result<Option<(Drive, Settled)>, Error> {
    scene.state.v.fill(0.0);
    let (own, file) = (scene.clone(), file.to_string());
    let work = move |sender: &SyncSender<()>| {
        let mut rollout = Rollout::new(own.system(), own.state.clone());
        rollout.set_time(None);
        rollout.workspace.use_threads(drive.threads);
        for step in 1..=steps {
            drive.update(&own, None, &rollout.state);
            let report = rollout.step(&drive.inputs);
            let time = step as f64 * own.settings.time_step;
            check_step(&file, (step, time), &rollout.state, &report)?;
            if sender.send(()).is_err() {
                break;
            }
        }
        Ok((drive, rollout.state, rollout.report))
    };
    let mut done = 0;
    let count = |()| {
        done += 1;
        progress.set(done);
        Ok(())
    };
    let Some(settled) = watched(work, count)? else {
        let of = format!("interrupted while it settled, after {done} of {steps} steps");
        output::warn(&format!("{of}; nothing was written"));
        return Ok(None);
    };
    let (drive, state, report) = settled?;
    let Scene { model, settings, .. } = &*scene;
    let (mut speed, mut angular_speed) = (0.0_f64, 0.0_f64);
    for &Joint { kind, v, .. } in model.bodies.iter().map(|body| &body.joint) {
        let size = |range: std::ops::Range<usize>| crate::linalg::norm(&state.v[range]);
        let linear = kind.translations();
        speed = speed.max(size(v..v + linear));
        angular_speed = angular_speed.max(size(v + linear..v + kind.nv()));
    }
    let seconds = steps as f64 * settings.time_step;
    scene.state = State { q: state.q, v };
    Ok(Some((drive, Settled { seconds, speed, angular_speed, report })))
}
