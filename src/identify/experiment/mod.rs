//! What an experiment file says: recordings, scene, parameters, and how the distance is measured.
//!
//! All else of identification is written in these terms; here nothing is computed from recordings.

mod calibrations;
mod density;
mod file;
mod input;
mod mask_sensor;
mod method;
mod noise;
mod parameter;
mod recordings;
mod robust_loss;
mod sensor;
mod step_load;
mod weights;

use std::collections::BTreeMap;

use crate::model::{AddedTerm, ParameterRef, Parameters, Scene};
use crate::trajectory::{ColumnMap, Excerpt, RecordingSource, WantedColumns, input_named};
use calibrations::Calibrations;

pub use input::{Calibration, RecordedInput};
pub use mask_sensor::MaskSensor;
pub use method::{AdamSettings, Method};
pub use noise::Noise;
pub(crate) use parameter::is_weight;
pub use parameter::{FreeParameter, Prior, Transform};
pub(crate) use parameter::{from_log_cholesky, log_cholesky, log_cholesky_scales};
pub use robust_loss::RobustLoss;
pub(crate) use sensor::hinge;
pub use sensor::{Reading, Sensor, StateNumber};
pub use step_load::{LoadedSolid, StepLoad};

/// Iterations, likewise.
const DEFAULT_ITERATIONS: usize = 60;

/// Where the simulation of a window starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InitialState {
    /// From the recorded state.
    #[default]
    Recorded,
    /// From the state from which the motion up to the first contact, with the scene's own parameters, comes
    /// nearest to the recorded frames; the recorded state where there are too few of them.
    Flight,
    /// From a state that is fitted together with the parameters.
    Fitted,
}

/// How long windows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowLength {
    /// The whole trajectory.
    Whole,
    /// So many recorded steps; 1 is the one-step loss of `LeLidec21` IV.B.
    Steps(usize),
}

/// What is to be identified from what.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The file it comes from.
    pub name: String,
    /// Bodies and the values of all parameters that are not identified.
    pub scene: Scene,
    /// Which columns of the recordings hold what. What they do not hold starts as in the scene.
    pub columns: ColumnMap,
    /// Which part of the recordings is used.
    pub excerpt: Excerpt,
    /// Where the recordings are.
    pub data: Vec<RecordingSource>,
    /// What measures other than the columns of the state. Their parameters stand behind those of the scene.
    pub sensors: Vec<Sensor>,
    /// Cameras that recorded masks.
    pub masks: Vec<MaskSensor>,
    /// Inputs that recordings have under other names than ours, or with numbers of their own; others of our names are taken as they are.
    /// Their parameters stand behind those of the sensors.
    pub inputs: Vec<RecordedInput>,
    /// Inputs that stay those of the scene, whatever columns there are.
    pub unused_inputs: Vec<usize>,
    /// The parameters to identify.
    pub parameters: Vec<FreeParameter>,
    /// Where windows start from.
    pub initial_state: InitialState,
    /// How long windows are.
    pub window: WindowLength,
    /// Simulation steps per recorded step; if not given, what the time steps imply.
    pub substeps: Option<usize>,
    /// The line of the file that gives `substeps`, for messages.
    pub substeps_line: Option<usize>,
    /// A recorded velocity belongs to this long before its frame, s; of what nothing touches, the start
    /// of a window is corrected for the acceleration in that time.
    pub velocity_lag: f64,
    /// What position errors are quoted in, m.
    pub length_scale: f64,
    /// Weights.
    pub noise: Noise,
    /// Weights of the joints that have their own, by the index of the body that hangs on the joint.
    pub joint_noise: BTreeMap<usize, Noise>,
    /// How residuals count, if not by half their square.
    pub robust: Option<RobustLoss>,
    /// Search.
    pub method: Method,
    /// Most iterations of the search, and of each that goes on from a lower point.
    pub max_iterations: usize,
    /// Whether whole recordings are fitted from short horizons on (see `continuation` in [`Experiment::load`]).
    pub continuation: bool,
    /// How many starts the first stage of the search is made from; 0: four where there is continuation, else one.
    pub starts: usize,
    /// How many random halves of the recordings standard errors are taken from; 0 for those of the linearisation; nothing
    /// where a test is to decide ([`conclude`](super::conclude)).
    pub half_samples: Option<usize>,
    /// Whether the result has a profile of the loss along each parameter, and the search goes on from a lower point
    /// that one meets ([`conclude`](super::conclude)).
    pub profiles: bool,
    /// Seed of everything random: further starts, halves, recordings held out.
    pub seed: u64,
    /// The true values, where the experiment states them.
    pub truth: BTreeMap<String, f64>,
}

impl Experiment {
    /// The same on a scene with more terms.
    pub(crate) fn with_terms(&self, added: &[AddedTerm]) -> Experiment {
        let (scene, places) = self.scene.with_terms(added);
        let more = scene.model.parameter_count() - places.len();
        let mut experiment = Experiment { scene, ..self.clone() };
        for slot in experiment.parameters.iter_mut().flat_map(|p| &mut p.slots.slots) {
            *slot = places.get(*slot).copied().unwrap_or(*slot + more);
        }
        experiment.sensors.iter_mut().for_each(|sensor| sensor.shift(more));
        experiment.inputs.iter_mut().for_each(|input| input.shift(more));
        experiment
    }

    /// An experiment without recordings and without noise, with what [`Experiment::load`] takes where a file
    /// says nothing: whole windows from recorded states, Levenberg-Marquardt.
    pub fn new(name: &str, scene: Scene, parameters: Vec<FreeParameter>, noise: Noise) -> Self {
        Experiment {
            name: name.to_string(),
            columns: ColumnMap::new(&scene.model),
            scene,
            data: Vec::new(),
            excerpt: Excerpt::default(),
            sensors: Vec::new(),
            masks: Vec::new(),
            inputs: Vec::new(),
            unused_inputs: Vec::new(),
            parameters,
            initial_state: InitialState::default(),
            window: WindowLength::Whole,
            substeps: None,
            substeps_line: None,
            velocity_lag: 0.0,
            length_scale: 1.0,
            noise,
            joint_noise: BTreeMap::new(),
            robust: None,
            method: Method::default(),
            max_iterations: DEFAULT_ITERATIONS,
            continuation: true,
            starts: 0,
            half_samples: None,
            profiles: true,
            seed: 1,
            truth: BTreeMap::new(),
        }
    }

    /// What recordings are of that have our names of columns, if nobody says more than their scene.
    pub fn of_scene(name: &str, scene: Scene) -> Self {
        let mut experiment = Experiment::new(name, scene, Vec::new(), Noise::default());
        experiment.columns.fill.clone_from(&experiment.scene.state);
        experiment
    }

    /// The slots of a parameter, of the scene, of a sensor or of a recorded input.
    pub fn parameter(&self, name: &str) -> Option<ParameterRef> {
        self.scene.model.parameter(name).or_else(|| self.calibrations().parameter(name))
    }

    /// Sets what a name stands for among `parameters`, of the scene, of a sensor, or the density of a body, as experiments have
    /// it. False if there is no such parameter.
    #[must_use]
    pub fn set(&self, name: &str, value: f64, parameters: &mut Parameters<f64>) -> bool {
        let (slots, factors) = match (self.parameter(name), density::find(&self.scene, name)) {
            (Some(found), _) => (found, Vec::new()),
            (None, Some(found)) => found,
            (None, None) => return false,
        };
        let mut parameter = FreeParameter::new(name, slots, value, [value; 2]);
        parameter.factors = factors;
        parameter.set(value, parameters);
        true
    }

    /// The names of single parameters, of the scene, of sensors and of recorded inputs.
    pub fn parameter_names(&self) -> Vec<String> {
        let mut names = self.scene.model.parameter_names();
        names.extend(self.calibrations().parameters().map(|(name, _)| name));
        names
    }

    /// Whether a column of this name in a recording may be used.
    pub fn reads(&self, column: &str) -> bool {
        self.columns.reads(&self.scene.model, column)
            || input_named(&self.scene.model, column).is_some()
            || self.columns_beside().any(|name| name == column)
    }

    /// The columns that are read beside those of states.
    fn columns_beside(&self) -> impl Iterator<Item = &str> {
        let sensors = self.sensors.iter().flat_map(|sensor| &sensor.columns);
        let inputs = self.inputs.iter().flat_map(|input| &input.columns);
        let masks = self.masks.iter().map(|mask| &mask.column);
        sensors.chain(inputs).chain(masks).map(String::as_str)
    }

    /// The names of the numbers of sensors and of recorded inputs, with their slots.
    pub(crate) fn calibrated(&self) -> Vec<(String, usize)> {
        self.calibrations().parameters().collect()
    }

    /// Between which values a number can be where that is no property of its name: the delay of a sensor.
    pub(crate) fn delay_range(&self, slot: usize) -> Option<[f64; 2]> {
        let delayed = self.sensors.iter().find(|sensor| sensor.delay_slot() == slot);
        delayed.map(|sensor| sensor.delay_range)
    }

    /// Lets sensors whose delay is held read later than they do by at most `more` (s), each.
    pub(crate) fn let_delay(&mut self, more: impl Fn(&str) -> Option<f64>) {
        for sensor in &mut self.sensors {
            let [lower, upper] = sensor.delay_range;
            let held = lower == upper;
            if let Some(more) = more(&sensor.name).filter(|_| held) {
                sensor.delay_range = [lower, upper + more.max(0.0)];
            }
        }
    }

    fn calibrations(&self) -> Calibrations<'_> {
        Calibrations { sensors: &self.sensors, inputs: &self.inputs }
    }

    /// The single parameters that are tied to one that is searched for.
    pub fn tied(&self, parameter: &FreeParameter) -> Vec<String> {
        // What a density stands for has other values.
        if !parameter.factors.is_empty() {
            return Vec::new();
        }
        let own = self.parameter(&parameter.name).map_or(0, |own| own.slots.len());
        let tied = parameter.slots.slots.get(own..).unwrap_or_default();
        let mut names = self.parameter_names();
        names.retain(|name| {
            let found = self.parameter(name);
            found.is_some_and(|p| p.slots.iter().all(|slot| tied.contains(slot)))
        });
        names
    }
}

impl WantedColumns for Experiment {
    fn has(&self, name: &str) -> bool {
        self.reads(name)
    }

    // Our own names are of no topic.
    fn may_begin(&self, start: &str) -> bool {
        self.columns.named().chain(self.columns_beside()).any(|name| name.starts_with(start))
    }

    fn time(&self) -> Option<&str> {
        Some(self.columns.time())
    }

    fn is_input(&self, name: &str) -> bool {
        self.inputs.iter().flat_map(|input| &input.columns).any(|column| column == name)
    }
}
