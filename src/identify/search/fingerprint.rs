//! What tells one identification from another.

use crate::fnv::Fnv;
use crate::identify::data::Dataset;
use crate::identify::experiment::Experiment;

impl Experiment {
    /// A hash of the scene, the parameters and how they are searched for.
    pub(crate) fn digest(&self) -> u64 {
        let mut hash = Fnv::default();
        let mut add = |text: String| hash.add(text.as_bytes());
        let Experiment { parameters, noise, joint_noise, robust, method, .. } = self;
        let Experiment { initial_state, window, continuation, starts, seed, .. } = self;
        let options = (initial_state, window, continuation, starts, seed, self.max_iterations);
        add(format!("{parameters:?}{noise:?}{joint_noise:?}{robust:?}{method:?}{options:?}"));
        add(format!("{:?}{:?}", self.sensors, self.scene.model));
        for sensor in &self.masks {
            let identity = sensor.fit.identity();
            add(format!("{}{}{:?}{identity}", sensor.name, sensor.noise, sensor.blur));
        }
        for numbers in [&self.scene.parameters.values, &self.scene.inputs] {
            hash.add(&Fnv::of(numbers).to_le_bytes());
        }
        hash.value()
    }
}

/// A hash of all that decides an identification: of the experiment, and of each recording where it is.
pub(super) fn fingerprint(experiment: &Experiment, dataset: &Dataset) -> u64 {
    let mut hash = Fnv::default();
    let mut add = |bytes: &[u8]| hash.add(bytes);
    add(&experiment.digest().to_le_bytes());
    add(format!("{:?}{}{}", dataset.settings, dataset.substeps, dataset.even).as_bytes());
    let recordings = dataset.each_recording("hashes", 1, |k| recording_hash(dataset, k));
    recordings.iter().for_each(|own| add(&own.to_le_bytes()));
    for window in &dataset.windows {
        add(&window.first.to_le_bytes());
        add(&window.steps.to_le_bytes());
    }
    add(&dataset.velocity_lag.to_bits().to_le_bytes());
    hash.value()
}

fn recording_hash(dataset: &Dataset, recording: usize) -> u64 {
    let trajectory = &dataset.trajectories[recording];
    let mut hash = Fnv::default();
    let mut add = |bytes: &[u8]| hash.add(bytes);
    add(&Fnv::of(&trajectory.times).to_le_bytes());
    add(format!("{:?}", trajectory.recorded).as_bytes());
    for state in &trajectory.states {
        state.q.iter().chain(&state.v).for_each(|x| add(&x.to_bits().to_le_bytes()));
    }
    let (readings, inputs) = (dataset.readings.get(recording), dataset.inputs.get(recording));
    add(format!("{readings:?}{inputs:?}").as_bytes());
    for mask in dataset.masks.get(recording).into_iter().flatten().flatten() {
        add(&[u8::from(mask.is_some())]);
        mask.iter().for_each(|mask| mask.bytes(&mut add));
    }
    hash.value()
}
