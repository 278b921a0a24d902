//! What each process holds of the recordings, and how it gets what others hold.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use super::{Dataset, DrivenInput, Window};
use crate::Error;
use crate::fnv::Fnv;
use crate::identify::experiment::Experiment;
use crate::identify::peers::{Gathered, Group, Peers, Shares};
use crate::packed::{Packed, packed};
use crate::parallel::parallel;
use crate::render::RecordedImage;
use crate::state::State;
use crate::trajectory::Trajectory;

/// All of a recording, with its number.
#[derive(Clone)]
struct Whole {
    number: usize,
    trajectory: Trajectory,
    readings: Option<Vec<Vec<Option<f64>>>>,
    masks: Option<Vec<Vec<Option<RecordedImage>>>>,
    inputs: Option<Vec<DrivenInput>>,
}

packed!(Whole { number, trajectory, readings, masks, inputs });

impl Dataset {
    /// Shares recordings that all of several processes have: each keeps those that it holds.
    pub fn among(mut self, peers: Box<dyn Peers>) -> Dataset {
        self.shares = Shares::new(Arc::new(Group::new(peers)), self.trajectories.len());
        for k in 0..self.trajectories.len() {
            if self.holds(k) {
                continue;
            }
            self.trajectories[k].states = Vec::new();
            self.readings.get_mut(k).into_iter().for_each(Vec::clear);
            self.masks.get_mut(k).into_iter().for_each(Vec::clear);
            self.inputs.get_mut(k).into_iter().for_each(Vec::clear);
        }
        self
    }

    /// Whether a recording is held by this process.
    pub fn holds(&self, recording: usize) -> bool {
        self.shares.holds(recording)
    }

    /// The windows of the recordings that are held here.
    pub(crate) fn own_windows(&self) -> Vec<usize> {
        (0..self.windows.len()).filter(|&k| self.holds(self.windows[k].trajectory)).collect()
    }

    /// The recordings that are held here.
    pub(crate) fn own_recordings(&self) -> Vec<usize> {
        (0..self.trajectories.len()).filter(|&k| self.holds(k)).collect()
    }

    /// The processes that work on it.
    pub(crate) fn group(&self) -> &Group {
        &self.shares.group
    }

    /// How much this process gathered so far.
    pub fn gathered(&self) -> Gathered {
        self.group().gathered()
    }

    /// What ended the work of several processes, if anything did; what was found since is void.
    ///
    /// # Errors
    /// It.
    pub fn demand_agreement(&self) -> Result<(), Error> {
        self.group().failure().map_or(Ok(()), Err)
    }

    /// What `f` says of each window, each asked where its recording is.
    pub(crate) fn each_window<T: Packed + Clone + Default + Send>(
        &self,
        what: &str,
        threads: usize,
        f: impl Fn(usize) -> T + Sync,
    ) -> Vec<T> {
        let own = self.own_windows();
        let found = parallel(threads, own.len(), |k| f(own[k]));
        self.shares.all(what, found, self.windows.len())
    }

    /// What `f` says of each recording, each asked where it is.
    pub(crate) fn each_recording<T: Packed + Clone + Default + Send>(
        &self,
        what: &str,
        threads: usize,
        f: impl Fn(usize) -> T + Sync,
    ) -> Vec<T> {
        let own = self.own_recordings();
        let found = parallel(threads, own.len(), |k| f(own[k]));
        self.shares.all(what, found, self.trajectories.len())
    }

    /// Of each recording the first one that is the same: copies say no more than it.
    pub(crate) fn originals(&self) -> Vec<usize> {
        let hashes = self.each_recording("copies", 1, |k| {
            let mut hash = Fnv::default();
            for state in &self.trajectories[k].states {
                // 0 and -0 are the same.
                let numbers = state.q.iter().chain(&state.v);
                numbers.for_each(|x| hash.add(&(x + 0.0).to_bits().to_le_bytes()));
            }
            (hash.value(), self.trajectories[k].states.len())
        });
        let mut first = HashMap::new();
        let numbered = hashes.into_iter().enumerate();
        numbered.map(|(k, hash)| *first.entry(hash).or_insert(k)).collect()
    }

    /// Lets learned terms whose scene says nothing range over what was recorded, wherever it is
    /// ([`Experiment::take_ranges`]).
    pub fn give_ranges(&self, experiment: &mut Experiment) {
        experiment.take_ranges_among(self.states(), |own| {
            let mut all = self.group().gather("ranges", 0, own).into_iter();
            let first = all.next().unwrap_or_default();
            all.fold(first, |sum, other| {
                let both = sum.iter().zip(&other);
                both.map(|(a, b)| [a[0].min(b[0]), a[1].max(b[1])]).collect()
            })
        });
    }

    /// States of windows, each where its recording is, at all processes.
    pub fn all_states(&self, states: &[State<f64>]) -> Vec<State<f64>> {
        let own = self.own_windows().into_iter().map(|k| states[k].clone()).collect();
        self.shares.all("states", own, self.windows.len())
    }

    /// One recording alone, at all processes, each of which then works on it by itself.
    pub fn only(&self, recording: usize) -> Dataset {
        let some = self.with_recordings(&[recording]);
        let one = |window: &&Window| window.trajectory == recording;
        let windows = some.windows.iter().filter(one).map(|w| Window { trajectory: 0, ..*w });
        fn own<T: Clone>(list: &[T], place: usize) -> Vec<T> {
            list.get(place).cloned().into_iter().collect()
        }
        Dataset {
            trajectories: own(&some.trajectories, recording),
            windows: windows.collect(),
            readings: own(&some.readings, recording),
            masks: own(&some.masks, recording),
            inputs: own(&some.inputs, recording),
            notes: Vec::new(),
            shares: Shares::default(),
            ..*some
        }
    }

    /// A dataset with some of the recordings, for who has to look at them: of the others there are names alone. It is this one
    /// where one process has all.
    pub(crate) fn with_recordings(&self, wanted: &[usize]) -> Cow<'_, Dataset> {
        if self.group().is_alone() {
            return Cow::Borrowed(self);
        }
        let own = wanted.iter().filter(|&&k| self.holds(k)).map(|&k| Whole {
            number: k,
            trajectory: self.trajectories[k].clone(),
            readings: self.readings.get(k).cloned(),
            masks: self.masks.get(k).cloned(),
            inputs: self.inputs.get(k).cloned(),
        });
        let wholes = self.group().gather("recordings to look at", 0, own.collect::<Vec<Whole>>());
        let name = |trajectory: &Trajectory| Trajectory {
            name: trajectory.name.clone(),
            times: Vec::new(),
            states: Vec::new(),
            recorded: trajectory.recorded.clone(),
        };
        let mut some = Dataset {
            trajectories: self.trajectories.iter().map(name).collect(),
            windows: self.windows.clone(),
            readings: vec![Vec::new(); self.readings.len()],
            masks: vec![Vec::new(); self.masks.len()],
            inputs: vec![Vec::new(); self.inputs.len()],
            notes: self.notes.clone(),
            shares: Shares::default(),
            ..*self
        };
        for Whole { number, trajectory, readings, masks, inputs } in wholes.into_iter().flatten() {
            some.trajectories[number] = trajectory;
            readings.into_iter().for_each(|own| some.readings[number] = own);
            masks.into_iter().for_each(|own| some.masks[number] = own);
            inputs.into_iter().for_each(|own| some.inputs[number] = own);
        }
        Cow::Owned(some)
    }
}
