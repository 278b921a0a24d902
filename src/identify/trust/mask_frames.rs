//! What cameras recorded beside what they would see of the simulation, and how that changes with parameters.

use crate::ad::{Dual, LANES, Real};
use crate::dynamics::Kinematics;
use crate::identify::data::Dataset;
use crate::identify::experiment::{Experiment, MaskSensor};
use crate::identify::residuals::replay;
use crate::identify::search::Fit;
use crate::model::{Parameters, System};
use crate::render::Picture;
use crate::state::State;

type Lanes = Dual<f64, LANES>;

/// A frame of a camera.
#[derive(Clone, Debug, PartialEq)]
pub struct MaskFrame {
    /// Its time, s.
    pub time: f64,
    /// What was recorded.
    pub recorded: Picture,
    /// What is seen of the simulation.
    pub seen: Picture,
    /// The root of the mean square of their difference, of all pixels.
    pub difference: f64,
}

/// How what is seen of a simulation changes with a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct MaskSensitivity {
    /// The parameter.
    pub name: String,
    /// The frame in which it changes the most, s.
    pub time: f64,
    /// Width and height, px.
    pub size: [usize; 2],
    /// Of each pixel the change by one standard error of the parameter; by a hundredth of its scale, where there is no such
    /// error.
    pub change: Vec<f64>,
}

/// The frames of a recording by a camera, beside the simulation from `start` with these `parameters`: of those that have a
/// mask at most so many, evenly.
pub fn mask_frames(
    experiment: &Experiment,
    dataset: &Dataset,
    parameters: &Parameters<f64>,
    (trajectory, sensor): (usize, usize),
    start: &State<f64>,
    most: usize,
) -> Vec<MaskFrame> {
    let Some(masks) = dataset.masks.get(trajectory) else { return Vec::new() };
    let there = |frame: &usize| masks[*frame][sensor].is_some();
    let with_masks: Vec<usize> = (0..masks.len()).filter(there).collect();
    let stride = with_masks.len().div_ceil(most.max(1)).max(1);
    let wanted: Vec<usize> = with_masks.into_iter().step_by(stride).collect();
    let fit = &experiment.masks[sensor].fit;
    let model = &experiment.scene.model;
    let times = &dataset.trajectories[trajectory].times;
    let mut frames = Vec::new();
    let mut kinematics = Kinematics::default();
    let system = dataset.system(&experiment.scene, parameters);
    watch(experiment, dataset, system, trajectory, start.clone(), |frame, state| {
        let Some(mask) = masks[frame][sensor].as_ref().filter(|_| wanted.contains(&frame)) else {
            return;
        };
        kinematics.update(model, parameters, state);
        let seen: Vec<f64> = fit.image((model, parameters), &kinematics);
        let mut recorded = vec![0.0; seen.len()];
        mask.each(|pixel, covered| recorded[pixel] = covered);
        let square: f64 = seen.iter().zip(&recorded).map(|(a, b)| (a - b).powi(2)).sum();
        frames.push(MaskFrame {
            time: times[frame],
            recorded: Picture::of(fit.size(), &recorded),
            seen: Picture::of(fit.size(), &seen),
            difference: (square / seen.len() as f64).sqrt(),
        });
    });
    frames
}

/// How what a camera sees of the simulation of a recording changes with each parameter that was searched for, but for weights.
pub fn mask_sensitivities(
    experiment: &Experiment,
    dataset: &Dataset,
    fit: &Fit,
    (trajectory, sensor): (usize, usize),
    start: &State<f64>,
) -> Vec<MaskSensitivity> {
    let MaskSensor { fit: camera, .. } = &experiment.masks[sensor];
    let model = &experiment.scene.model;
    let free = experiment.parameters.iter().zip(&fit.parameters);
    let free: Vec<_> = free.filter(|(free, _)| !free.fixed && !free.is_weight()).collect();
    let times = &dataset.trajectories[trajectory].times;
    let mut found = Vec::new();
    for free in free.chunks(LANES) {
        let mut parameters: Parameters<Lanes> = fit.identified.cast();
        for (lane, (free, fitted)) in free.iter().enumerate() {
            free.set(Lanes::variable(fitted.value, lane), &mut parameters);
        }
        let mut most: Vec<(f64, f64, Vec<f64>)> = vec![(0.0, 0.0, Vec::new()); free.len()];
        let mut kinematics = Kinematics::default();
        let system = dataset.system(&experiment.scene, &parameters);
        watch(experiment, dataset, system, trajectory, start.cast(), |frame, state| {
            kinematics.update(model, &parameters, state);
            let image: Vec<Lanes> = camera.image((model, &parameters), &kinematics);
            for (lane, most) in most.iter_mut().enumerate() {
                let size: f64 = image.iter().map(|pixel| pixel.tangent[lane].powi(2)).sum();
                if size > most.0 {
                    *most = (size, times[frame], image.iter().map(|p| p.tangent[lane]).collect());
                }
            }
        });
        for ((free, fitted), (_, time, mut change)) in free.iter().zip(most) {
            let by = fitted.standard_error.unwrap_or(0.01 * free.scale);
            change.iter_mut().for_each(|x| *x *= by);
            found.push(MaskSensitivity {
                name: free.name.clone(),
                time,
                size: camera.size(),
                change,
            });
        }
    }
    found
}

/// Simulates a recording.
fn watch<T: Real>(
    experiment: &Experiment,
    dataset: &Dataset,
    system: System<T>,
    trajectory: usize,
    start: State<T>,
    see: impl FnMut(usize, &State<T>),
) {
    let recording = &dataset.trajectories[trajectory];
    let first = recording.first_complete();
    let part = (trajectory, first, recording.steps() - first);
    replay(system, dataset, part, start, &experiment.scene.inputs, see);
}
