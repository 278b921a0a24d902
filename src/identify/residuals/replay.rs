//! A simulation beside a recording: the states at its frames, and between the steps.

use super::step_loads::StepLoads;
use crate::ad::Real;
use crate::identify::data::Dataset;
use crate::identify::experiment::StepLoad;
use crate::model::{Model, Parameters, System};
use crate::simulation::{Rollout, StepReport};
use crate::state::{Coordinates, State};

/// Times within this share of a step of the end of a step are that end.
pub(crate) const ROUNDING: f64 = 1e-6;

/// Simulates `frames` (the first and how many follow) of a trajectory of `dataset` from `initial`, and hands
/// the state at each to `see`, with the number of the frame.
///
/// Where frames are evenly spaced, they are ends of steps. Where they are not, the scene's time step is kept, and
/// a state within a step lies between those at its ends: the configuration on the shortest way from one to the
/// other, velocities in proportion.
///
/// `inputs` are those of every step, but for what was recorded of them.
pub fn replay<T: Real>(
    system: System<T>,
    dataset: &Dataset,
    part: (usize, usize, usize),
    initial: State<T>,
    inputs: &[f64],
    see: impl FnMut(usize, &State<T>),
) -> StepReport {
    let mut rollout = Rollout::new(system, initial.clone());
    let mut inputs = StepInputs::new(dataset, (part.0, part.1), inputs);
    rollout.set_time(Some(inputs.begin));
    let next = |state: &mut State<T>| {
        rollout.step(inputs.next(system.parameters));
        state.clone_from(&rollout.state);
    };
    frames(system.model, dataset, part, initial, next, see);
    rollout.report
}

/// The inputs of one step after the other from a frame of a recording on.
pub(crate) struct StepInputs<'a, T> {
    dataset: &'a Dataset,
    trajectory: usize,
    /// The time of the recording at which the first step begins, s.
    pub begin: f64,
    taken: usize,
    now: Vec<T>,
}

impl<'a, T: Real> StepInputs<'a, T> {
    /// From a frame of a trajectory on. `constant`: those that were not recorded.
    pub fn new(
        dataset: &'a Dataset,
        (trajectory, frame): (usize, usize),
        constant: &[f64],
    ) -> Self {
        let begin = dataset.clock(trajectory, frame);
        let now = constant.iter().map(|&u| T::constant(u)).collect();
        StepInputs { dataset, trajectory, begin, taken: 0, now }
    }

    /// Those of the next step.
    pub fn next(&mut self, parameters: &Parameters<T>) -> &[T] {
        let since = self.taken as f64 * self.dataset.settings.time_step;
        self.taken += 1;
        self.at(parameters, T::constant(since))
    }

    /// Those of a step that would begin so long (s) after the first.
    pub fn at(&mut self, parameters: &Parameters<T>, since: T) -> &[T] {
        let time = T::constant(self.begin) + since;
        let duration = self.dataset.settings.time_step;
        self.dataset.drive(self.trajectory, parameters, (time, duration), &mut self.now);
        &self.now
    }
}

/// The states at frames of a simulation: as [`replay`], with `next` for a step.
pub(super) fn frames<T: Real>(
    model: &Model,
    dataset: &Dataset,
    (trajectory, first, count): (usize, usize, usize),
    mut state: State<T>,
    mut next: impl FnMut(&mut State<T>),
    mut see: impl FnMut(usize, &State<T>),
) {
    see(first, &state);
    if dataset.even {
        for frame in first + 1..=first + count {
            (0..dataset.substeps).for_each(|_| next(&mut state));
            see(frame, &state);
        }
        return;
    }
    let mut before = state.clone();
    let mut steps = 0;
    for frame in first + 1..=first + count {
        let time = dataset.time_from(trajectory, first, frame) / dataset.settings.time_step;
        let last = (time - ROUNDING).ceil() as usize;
        while steps < last {
            before.clone_from(&state);
            next(&mut state);
            steps += 1;
        }
        let share = time - (steps as f64 - 1.0);
        if (share - 1.0).abs() <= ROUNDING {
            see(frame, &state);
        } else {
            let coordinates = model.coordinates();
            see(frame, &between(coordinates, &before, &state, T::constant(share)));
        }
    }
}

/// The states at the ends of all steps of a simulation.
pub(crate) struct StepEnds<T> {
    states: Vec<State<T>>,
    loads: StepLoads<T>,
    time_step: f64,
}

impl<T: Real> StepEnds<T> {
    /// Simulates for at least `duration`, s, under these inputs. `asked`: what is asked for of what acts in steps.
    pub fn simulate(
        system: System<T>,
        initial: State<T>,
        mut inputs: StepInputs<T>,
        (duration, asked): (f64, Vec<StepLoad>),
    ) -> (StepEnds<T>, StepReport) {
        let time_step = system.settings.time_step;
        let steps = StepEnds::<T>::steps(duration, time_step);
        let mut rollout = Rollout::new(system, initial);
        rollout.set_time(Some(inputs.begin));
        let mut states = vec![rollout.state.clone()];
        let mut loads = StepLoads::new(asked, system.settings);
        for step in 0..steps {
            let now = inputs.next(system.parameters);
            rollout.step(now);
            states.push(rollout.state.clone());
            loads.add(&system, (&states[step], now), &rollout);
        }
        (StepEnds { states, loads, time_step }, rollout.report)
    }

    /// How many steps that takes.
    pub fn steps(duration: f64, time_step: f64) -> usize {
        (duration / time_step - ROUNDING).ceil().max(1.0) as usize
    }

    /// Of states at the ends of all steps.
    pub fn new(states: Vec<State<T>>, time_step: f64) -> Self {
        StepEnds { states, loads: StepLoads::default(), time_step }
    }

    /// What acts at a time after the start, s; nothing if it was not asked for.
    pub fn load(&self, load: StepLoad, time: T) -> Option<Vec<T>> {
        self.loads.at(load, time / self.time_step)
    }

    /// The state at a time after the start, s; outside of what was simulated, the first or last step goes on.
    pub fn at(&self, coordinates: impl Iterator<Item = Coordinates>, time: T) -> State<T> {
        let place = time / self.time_step;
        let last = self.states.len().saturating_sub(2);
        let step = ((place.value() - ROUNDING).ceil() - 1.0).clamp(0.0, last as f64) as usize;
        let share = place - T::constant(step as f64);
        between(coordinates, &self.states[step], &self.states[step + 1], share)
    }
}

/// The state at a share of the way from one to another.
fn between<T: Real>(
    coordinates: impl Iterator<Item = Coordinates>,
    from: &State<T>,
    to: &State<T>,
    share: T,
) -> State<T> {
    let coordinates: Vec<Coordinates> = coordinates.collect();
    let mut way = to.difference(coordinates.iter().copied(), from);
    way.iter_mut().for_each(|x| *x *= share);
    from.moved(coordinates.into_iter(), &way)
}
