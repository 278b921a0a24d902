//! What the loss is made of, by phase of the motion: which part of the model does not fit.

use std::collections::BTreeSet;

use super::evaluate::Errors;
use crate::argmin::Mode;
use crate::contact::ContactRecord;
use crate::identify::data::{Dataset, Window};
use crate::identify::experiment::Experiment;
use crate::identify::parallel;
use crate::identify::peers::Sum as TermSum;
use crate::identify::residuals::{
    Measurement, ROUNDING, StepInputs, replay, residual_count_at, residuals,
};
use crate::identify::search::Fit;
use crate::model::{JointKind, Model, Parameters, System, Tree};
use crate::simulation::Rollout;
use crate::state::State;

/// What the bodies do from one frame to the next in the simulation. Where they do different things, and where
/// there are several steps in a frame, the last of these counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Everything is on something, or on a joint, and all but still.
    Rest,
    /// Something moves and touches nothing, and nothing has been touched since the start of the simulation:
    /// what is off here is the start, gravity, inertia or joints.
    Flight,
    /// The same after a contact: what contacts left behind goes on here.
    FlightAfterContact,
    /// Something moves on contacts that do not slip: it rolls, tips or turns about a corner.
    Roll,
    /// A contact slips.
    Slide,
    /// Something strikes something.
    Impact,
}

impl Phase {
    /// All of them, in the order in which a throw goes through them.
    pub const ALL: [Phase; 6] = [
        Phase::Flight,
        Phase::Impact,
        Phase::FlightAfterContact,
        Phase::Slide,
        Phase::Roll,
        Phase::Rest,
    ];

    /// The name used in results.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Flight => "flight",
            Phase::Impact => "impact",
            Phase::FlightAfterContact => "flight after contact",
            Phase::Slide => "slide",
            Phase::Roll => "roll",
            Phase::Rest => "rest",
        }
    }
}

/// The part of a phase in the loss.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseErrors {
    /// Which.
    pub phase: Phase,
    /// Frames of it.
    pub frames: usize,
    /// Residuals of these frames.
    pub residuals: usize,
    /// Sum of their squares, in standard deviations, as they count in the loss.
    pub square_sum: f64,
    /// Its part in the squares of all phases, 0 to 1.
    pub share: f64,
    /// Mean distance of free bodies and along slides, m, where recorded.
    pub position: Option<f64>,
    /// Mean angle of orientations, where there are none of hinges, rad, where recorded.
    pub rotation: Option<f64>,
}

impl PhaseErrors {
    /// Mean of the squared residuals; 1 is noise alone.
    pub fn mean_square(&self) -> f64 {
        self.square_sum / self.residuals.max(1) as f64
    }
}

/// The residuals of the windows at the result of a fit, by phase; phases that do not occur are left out. A
/// simulation carries its errors on: those of a phase are what has gathered by then.
pub fn errors_by_phase(
    experiment: &Experiment,
    dataset: &Dataset,
    fit: &Fit,
    threads: usize,
) -> Vec<PhaseErrors> {
    let own = dataset.own_windows();
    let found = parallel(threads, own.len(), |at| {
        let k = own[at];
        window_sums(experiment, dataset, &fit.identified, &fit.initial_states[k], k)
    });
    let sums = gathered(dataset, &own, &found);
    let total: f64 = sums.iter().map(|sum| sum.square_sum).sum();
    let phases = Phase::ALL.iter().zip(&sums).filter(|(_, sum)| sum.frames > 0);
    let phases = phases.map(|(&phase, sum)| {
        let [position, orientation, hinge] = sum.errors.means();
        PhaseErrors {
            phase,
            frames: sum.frames,
            residuals: sum.residuals,
            square_sum: sum.square_sum,
            share: if total > 0.0 { sum.square_sum / total } else { 0.0 },
            position,
            rotation: orientation.or(hinge),
        }
    });
    phases.collect()
}

/// Sums over frames of a phase.
#[derive(Default)]
struct Sum {
    frames: usize,
    residuals: usize,
    square_sum: f64,
    errors: Errors,
}

/// One a phase, as in [`Phase::ALL`].
type Sums = [Sum; Phase::ALL.len()];

impl Sum {
    /// Numbers of one.
    const NUMBERS: usize = 3 + Errors::NUMBERS;

    fn numbers(&self) -> impl Iterator<Item = f64> {
        let own = [self.frames as f64, self.residuals as f64, self.square_sum];
        own.into_iter().chain(self.errors.numbers())
    }

    fn of(numbers: &[f64]) -> Sum {
        let &[frames, residuals, square_sum, ref errors @ ..] = numbers else {
            return Sum::default();
        };
        let (frames, residuals) = (frames as usize, residuals as usize);
        Sum { frames, residuals, square_sum, errors: Errors::of(errors) }
    }

    fn merge(&mut self, other: &Sum) {
        self.frames += other.frames;
        self.residuals += other.residuals;
        self.square_sum += other.square_sum;
        self.errors.merge(&other.errors);
    }
}

/// The sums over all windows, of those of each of `own`.
fn gathered(dataset: &Dataset, own: &[usize], found: &[Sums]) -> Sums {
    let recordings: Vec<usize> = own.iter().map(|&k| dataset.windows[k].trajectory).collect();
    let begin = [0.0; Phase::ALL.len() * Sum::NUMBERS];
    let places: Vec<usize> = (0..begin.len()).collect();
    let sum = TermSum { what: "phases", alike: 0, places: &places, begin: &begin };
    let sums = dataset.shares.sum(&sum, &recordings, |k, to| {
        found[k].iter().for_each(|sum| to.extend(sum.numbers()));
    });
    let mut numbers = sums.chunks_exact(Sum::NUMBERS);
    Sums::default().map(|_| Sum::of(numbers.next().unwrap_or_default()))
}

fn window_sums(
    experiment: &Experiment,
    dataset: &Dataset,
    parameters: &Parameters<f64>,
    initial: &State<f64>,
    window: usize,
) -> Sums {
    let window = &dataset.windows[window];
    let &Window { trajectory, first, steps, .. } = window;
    let model = &experiment.scene.model;
    let recording = &dataset.trajectories[trajectory];
    let measurement = Measurement::new(experiment, dataset);
    let system = dataset.system(&experiment.scene, parameters);
    let inputs = &experiment.scene.inputs;
    let phases = phases(system, dataset, window, initial, inputs);
    let mut r = Vec::new();
    residuals(&measurement, window, parameters, initial, &mut r);
    let mut r = r.as_slice();
    let mut sums = Sums::default();
    let part = (trajectory, first, steps);
    replay(system, dataset, part, initial.clone(), inputs, |frame, state| {
        let [entries, count] = residual_count_at(&measurement, window, frame);
        let (own, rest) = r.split_at(entries.min(r.len()));
        r = rest;
        // The start, unless it is fitted.
        if own.is_empty() {
            return;
        }
        let mut errors = Errors::default();
        errors.add(model, recording.recorded.at(frame), state, &recording.states[frame]);
        let square_sum = own.iter().map(|r| r * r).sum();
        // A start that counts belongs to the phase that it leads into.
        let phase = phases.get(frame.saturating_sub(first + 1)).copied().unwrap_or(Phase::Rest);
        let place = Phase::ALL.iter().position(|&known| known == phase).unwrap_or(0);
        sums[place].merge(&Sum { frames: 1, residuals: count, square_sum, errors });
    });
    sums
}

/// The phase between each frame of a window and the one before, in the simulation.
fn phases(
    system: System<f64>,
    dataset: &Dataset,
    window: &Window,
    initial: &State<f64>,
    inputs: &[f64],
) -> Vec<Phase> {
    let &Window { trajectory, first, steps, .. } = window;
    let mut rollout = Rollout::new(system, initial.clone());
    let mut inputs = StepInputs::new(dataset, (trajectory, first), inputs);
    rollout.set_time(Some(inputs.begin));
    let mut watcher = Watcher::new(system);
    let mut done = 0;
    let mut phase = Phase::Rest;
    let mut of_frames = Vec::with_capacity(steps.max(1));
    for frame in first + 1..=first + steps {
        let time = dataset.time_from(trajectory, first, frame);
        let end = (time / dataset.settings.time_step - ROUNDING).ceil() as usize;
        // Of frames within one step, the phase of the step.
        if done < end {
            phase = Phase::Rest;
        }
        while done < end {
            rollout.step(inputs.next(system.parameters));
            phase = phase.max(watcher.phase(&rollout.state, rollout.workspace.contacts()));
            done += 1;
        }
        of_frames.push(phase);
    }
    of_frames
}

/// Speeds up to which something rests: m/s, and rad/s.
const STILL: [f64; 2] = [0.01, 0.1];
/// A contact that begins with an impulse beyond this many times that of gravity in a step, per mass, is an
/// impact: bodies that are laid down have about one of these.
const STRIKES: f64 = 2.0;

/// Tells the phase of step after step.
struct Watcher<'a> {
    model: &'a Model,
    /// Mass of each tree, kg.
    masses: Vec<f64>,
    /// Velocity from which on a beginning contact is an impact, m/s.
    threshold: f64,
    /// Points that touched in the last step, and in the one before: pair and feature.
    touching: [BTreeSet<(usize, usize)>; 2],
    touched: bool,
}

impl<'a> Watcher<'a> {
    fn new(system: System<'a, f64>) -> Self {
        let System { model, parameters, settings } = system;
        let mass = |bodies: &[usize]| bodies.iter().map(|&b| parameters.mass(model, b)).sum();
        // What is led is never the lightest.
        let heavy = |tree: usize| model.is_prescribed_tree(tree);
        let trees = model.trees.iter().enumerate();
        let of = |(index, tree): (usize, &Tree)| match heavy(index) {
            true => f64::INFINITY,
            false => mass(&tree.bodies),
        };
        Watcher {
            model,
            masses: trees.map(of).collect(),
            threshold: STRIKES * parameters.gravity().norm() * settings.time_step,
            touching: Default::default(),
            touched: false,
        }
    }

    /// The phase of the step that led to `state`.
    fn phase<'r>(
        &mut self,
        state: &State<f64>,
        contacts: impl Iterator<Item = &'r ContactRecord>,
    ) -> Phase {
        let contacts: Vec<&ContactRecord> = contacts.filter(|c| c.mode != Mode::Break).collect();
        let now = contacts.iter().map(|contact| (contact.pair, contact.feature)).collect();
        let before = std::mem::take(&mut self.touching);
        self.touching = [now, before[0].clone()];
        let since_start = self.touched || !contacts.is_empty();
        self.touched = since_start;
        let strikes = |contact: &&ContactRecord| {
            // What lands does so in two steps: it may come down to the plane first.
            let new = !before.iter().all(|b| b.contains(&(contact.pair, contact.feature)));
            let trees = contact.bodies.iter().flatten().filter_map(|&b| self.model.bodies[b].tree);
            let lightest = trees.map(|tree| self.masses[tree]).fold(f64::INFINITY, f64::min);
            contact.target.rebounds() || (new && contact.impulse[0] > self.threshold * lightest)
        };
        if contacts.iter().any(strikes) {
            return Phase::Impact;
        }
        if contacts.iter().any(|contact| contact.mode == Mode::Slide) {
            return Phase::Slide;
        }
        let mut phase = Phase::Rest;
        let trees = self.model.trees.iter().enumerate();
        for (index, tree) in trees.filter(|&(index, _)| !self.model.is_prescribed_tree(index)) {
            let own = |&b: &usize| self.model.bodies[b].tree == Some(index);
            let touches = contacts.iter().any(|contact| contact.bodies.iter().flatten().any(own));
            let kind = tree.bodies.first().map(|&body| self.model.bodies[body].joint.kind);
            let free = kind == Some(JointKind::Free);
            let still = self.is_still(&tree.bodies, state);
            let what = match (touches, free, still) {
                (false, false, true) | (true, _, true) => Phase::Rest,
                (true, _, false) => Phase::Roll,
                (false, ..) if since_start => Phase::FlightAfterContact,
                (false, ..) => Phase::Flight,
            };
            phase = phase.max(what);
        }
        phase
    }

    fn is_still(&self, bodies: &[usize], state: &State<f64>) -> bool {
        bodies.iter().map(|&body| &self.model.bodies[body].joint).all(|joint| {
            let linear = joint.kind.translations();
            let v = &state.v[joint.v..joint.v + joint.kind.nv()];
            let [along, about] = [&v[..linear], &v[linear..]].map(crate::linalg::norm);
            along <= STILL[0] && about <= STILL[1]
        })
    }
}
