//! Recordings, cut into windows.

use super::{Experiment, InitialState, WindowLength, initial_state};
use crate::Error;
use crate::model::Settings;
use crate::simulation::Trajectory;
use crate::state::State;

/// A stretch of a trajectory that is simulated from a state of its own.
#[derive(Clone, Debug)]
pub struct Window {
    /// Index into [`Dataset::trajectories`].
    pub trajectory: usize,
    /// The frame it starts from.
    pub first: usize,
    /// How many recorded steps it has.
    pub steps: usize,
    /// The state it starts from.
    pub initial: State<f64>,
}

/// The recordings of an experiment.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// The recordings.
    pub trajectories: Vec<Trajectory>,
    /// The windows, trajectory by trajectory.
    pub windows: Vec<Window>,
    /// Simulation steps per recorded step.
    pub substeps: usize,
    /// Settings of the simulation; the time step is that of the recordings over `substeps`.
    pub settings: Settings,
}

impl Dataset {
    /// Reads the recordings of an experiment.
    pub fn load(experiment: &Experiment) -> Result<Dataset, Error> {
        let Experiment { scene, columns, .. } = experiment;
        let load = |path| Trajectory::load_with(path, &scene.model, columns);
        let trajectories = experiment.data.iter().map(load);
        Dataset::new(experiment, trajectories.collect::<Result<_, _>>()?)
    }

    /// Cuts `trajectories` into windows.
    ///
    /// # Errors
    /// If recorded steps are not uniform, or are not `substeps` times the time step of the scene.
    pub fn new(experiment: &Experiment, trajectories: Vec<Trajectory>) -> Result<Dataset, Error> {
        let mut settings = experiment.scene.settings;
        let mut interval = None;
        for trajectory in &trajectories {
            interval = Some(check_times(trajectory, interval)?);
        }
        let interval = interval.unwrap_or(settings.time_step);
        let implied = (interval / settings.time_step).round().max(1.0) as usize;
        let substeps = experiment.substeps.unwrap_or(implied);
        let step = interval / substeps as f64;
        // Recorded times are rounded, so a little is allowed.
        if (step / settings.time_step - 1.0).abs() > 0.01 {
            let message = format!(
                "{substeps} steps of the scene's {} s are {} s, but the recordings have a frame \
                 every {interval} s; change `substeps` here or `time_step` in the scene",
                settings.time_step,
                substeps as f64 * settings.time_step,
            );
            return Err(Error::input(
                &experiment.name,
                experiment.substeps_line,
                "substeps",
                message,
            ));
        }
        settings.time_step = step;
        let mut dataset = Dataset { trajectories, windows: Vec::new(), substeps, settings };
        let mut windows = Vec::new();
        for (index, trajectory) in dataset.trajectories.iter().enumerate() {
            let last = trajectory.times.len() - 1;
            let length = match experiment.window {
                WindowLength::Whole => last,
                WindowLength::Steps(steps) => steps.min(last),
            };
            for first in (0..last).step_by(length) {
                let steps = length.min(last - first);
                let initial = match experiment.initial_state {
                    InitialState::Recorded => {
                        initial_state::recorded(experiment, &settings, trajectory, first)
                    }
                    InitialState::Flight => initial_state::flight_or_recorded(
                        experiment,
                        &dataset,
                        (index, first),
                        steps,
                    ),
                    InitialState::Fitted => {
                        initial_state::smoothed(experiment, &dataset, (index, first), steps)
                    }
                };
                windows.push(Window { trajectory: index, first, steps, initial });
            }
        }
        dataset.windows = windows;
        Ok(dataset)
    }

    /// Mean number of recorded steps of a trajectory.
    pub fn mean_steps(&self) -> f64 {
        let steps: usize = self.trajectories.iter().map(|t| t.times.len() - 1).sum();
        steps as f64 / self.trajectories.len().max(1) as f64
    }
}

/// The mean interval of a trajectory, which must be uniform within 5 % (times are often rounded),
/// and that of the others within 1 %.
fn check_times(trajectory: &Trajectory, others: Option<f64>) -> Result<f64, Error> {
    let times = &trajectory.times;
    let mean = (times[times.len() - 1] - times[0]) / (times.len() - 1) as f64;
    for (k, pair) in times.windows(2).enumerate() {
        let step = pair[1] - pair[0];
        if (step / mean - 1.0).abs() > 0.05 {
            let message = format!(
                "frames must be evenly spaced: a step of {step} s where the mean is {mean} s; \
                 resample the recording"
            );
            // Line 1 is the header.
            return Err(Error::input(&trajectory.name, k + 3, "t", message));
        }
    }
    match others {
        Some(other) if (mean / other - 1.0).abs() > 0.01 => {
            let message = format!(
                "has a frame every {mean} s, the recordings before it one every {other} s; \
                 identify from recordings of one rate"
            );
            Err(Error::input(&trajectory.name, None, "t", message))
        }
        Some(other) => Ok(other),
        None => Ok(mean),
    }
}
