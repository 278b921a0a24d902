//! Many pieces of motion simulated side by side, the loss of their differences, and its gradient.
//!
//! The loss is the mean of |z_predicted - z| over pieces, points in time, positions and velocities. Its gradient goes back through
//! each step: impacts are recorded on the tape one at a time, stages of motion have an adjoint by hand; what comes out for the gradients
//! of the potential goes back through the network for all pieces at once.

use std::fmt;

use super::chunks::Chunks;
use super::network_batch::{AdjointScratch, NetworkBatch};
use super::unknowns::LearnedSystem;
use crate::ad::{self, Var};
use crate::maximal::{
    ConstrainedMotion, MotionAdjoint, PointImpact, PointInertia, PointParameters, Rates, STAGES,
    end, end_transpose, stage, stage_transpose,
};
use crate::parallel::parallel;

/// Pieces that go through the network together. Fixed, so that results have the same bits on any number of threads.
const PART: usize = 50;

/// A piece that was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Which one.
    pub chunk: usize,
    /// In which step, from 0.
    pub step: usize,
    /// Why.
    pub cause: Cause,
}

/// Why a piece is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Constraints do not determine their forces.
    Constraints,
    /// The impulses of an impact were not solved to their tolerance.
    Impact,
    /// Positions or velocities are not finite.
    State,
    /// The gradient is not finite.
    Gradient,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Cause::Constraints => "its constraints do not determine their forces",
            Cause::Impact => "the impulses of an impact were not solved",
            Cause::State => "its state is not finite",
            Cause::Gradient => "its gradient is not finite",
        })
    }
}

/// A loss with its gradient.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LossGradient {
    /// The mean of |z_predicted - z| over the pieces that were simulated; NaN if there were none.
    pub loss: f64,
    /// In all unknowns.
    pub gradient: Vec<f64>,
    /// Pieces that were left out.
    pub dropped: Vec<Dropped>,
}

/// Simulates pieces of a system's motion.
#[derive(Clone, Copy, Debug)]
pub struct Lockstep<'a> {
    /// The system.
    pub learned: &'a LearnedSystem,
    /// How many threads work on parts of a batch.
    pub threads: usize,
}

impl Lockstep<'_> {
    /// Predicts `steps` steps from each of the states `starts` (positions in m, velocities in m/s), by unknowns as many as
    /// [`LearnedSystem::unknowns`] says: states x (steps + 1) x 2 x coordinates. And it says which predictions were given up: they
    /// are NaN from there on.
    pub fn predict(
        &self,
        unknowns: &[f64],
        starts: &[f64],
        steps: usize,
    ) -> (Vec<f64>, Vec<Dropped>) {
        let size = 2 * self.learned.system.coordinates();
        let count = starts.len() / size.max(1);
        let parts = parallel(self.threads, count.div_ceil(PART), |part| {
            let which = part * PART..count.min((part + 1) * PART);
            let states = which.clone().map(|k| &starts[k * size..][..size]);
            let mut run = Run::new(self.learned, unknowns, states);
            let mut frames = vec![run.states.clone()];
            for step in 0..steps {
                run.step(step, false);
                frames.push(run.states.clone());
            }
            let mut out = Vec::with_capacity(which.len() * (steps + 1) * size);
            for (b, alive) in run.given_up.iter().enumerate() {
                for (time, frame) in frames.iter().enumerate() {
                    let lives = alive.is_none_or(|(given_up, _)| time <= given_up);
                    let state = &frame[b * size..][..size];
                    out.extend(state.iter().map(|&x| if lives { x } else { f64::NAN }));
                }
            }
            (out, run.dropped(|b| part * PART + b))
        });
        let mut all = (Vec::new(), Vec::new());
        for (values, dropped) in parts {
            all.0.extend(values);
            all.1.extend(dropped);
        }
        all
    }

    /// The loss over the pieces `which` of `chunks`, and its gradient.
    pub fn loss_gradient(
        &self,
        unknowns: &[f64],
        chunks: &Chunks,
        which: &[usize],
    ) -> LossGradient {
        let parts = parallel(self.threads, which.len().div_ceil(PART), |part| {
            let which = &which[part * PART..which.len().min((part + 1) * PART)];
            // What is left out has a part in nothing: the others begin again without it.
            let (mut left, mut dropped) = (which.to_vec(), Vec::new());
            loop {
                match part_gradient(self.learned, unknowns, chunks, &left) {
                    Ok((loss, gradient)) => return (loss, gradient, dropped, left.len()),
                    Err(failed) => {
                        left.retain(|k| failed.iter().all(|dropped| dropped.chunk != *k));
                        dropped.extend(failed);
                    }
                }
            }
        });
        let mut all = LossGradient { gradient: vec![0.0; unknowns.len()], ..Default::default() };
        let mut lived = 0;
        for (loss, gradient, dropped, alive) in parts {
            all.loss += loss;
            all.gradient.iter_mut().zip(&gradient).for_each(|(a, g)| *a += g);
            all.dropped.extend(dropped);
            lived += alive;
        }
        let scale = ((lived * chunks.times() * 2 * chunks.coordinates()) as f64).recip();
        all.loss *= scale;
        all.gradient.iter_mut().for_each(|g| *g *= scale);
        all
    }
}

/// What a stage of a step leaves behind.
#[derive(Default)]
struct Stage {
    position: Vec<f64>,
    velocity: Vec<f64>,
    network: NetworkBatch,
}

/// What a step leaves behind.
#[derive(Default)]
struct Step {
    stages: Vec<Stage>,
    /// Positions at its end.
    end: Vec<f64>,
    /// For each piece that had impacts, the velocity before them.
    before: Vec<Option<Vec<f64>>>,
}

/// Pieces on their way.
struct Run<'a> {
    learned: &'a LearnedSystem,
    weights: &'a [f64],
    parameters: PointParameters<f64>,
    inertia: PointInertia<f64>,
    motion: ConstrainedMotion<f64>,
    impact: PointImpact<f64>,
    /// Position and velocity of each.
    states: Vec<f64>,
    /// The step in which a piece was given up, and why.
    given_up: Vec<Option<(usize, Cause)>>,
    steps: Vec<Step>,
    spare: NetworkBatch,
    rates: Rates<f64>,
    slopes: [Vec<Vec<f64>>; 2],
    at: [Vec<f64>; 2],
    y: [Vec<f64>; 2],
}

impl<'a> Run<'a> {
    fn new<'s>(
        learned: &'a LearnedSystem,
        unknowns: &'a [f64],
        starts: impl Iterator<Item = &'s [f64]>,
    ) -> Run<'a> {
        let (weights, numbers) = unknowns.split_at(learned.network.weights());
        let parameters = learned.parameters(numbers);
        let mut inertia = PointInertia::default();
        inertia.set(learned.system.layout(), &parameters);
        let states: Vec<f64> = starts.flatten().copied().collect();
        let count = states.len() / (2 * learned.system.coordinates());
        Run {
            learned,
            weights,
            parameters,
            inertia,
            motion: ConstrainedMotion::default(),
            impact: PointImpact::default(),
            states,
            given_up: vec![None; count],
            steps: Vec::new(),
            spare: NetworkBatch::default(),
            rates: Rates::default(),
            slopes: [vec![Vec::new(); STAGES], vec![Vec::new(); STAGES]],
            at: Default::default(),
            y: Default::default(),
        }
    }

    fn dropped(&self, name: impl Fn(usize) -> usize) -> Vec<Dropped> {
        let given_up = self.given_up.iter().enumerate();
        given_up
            .filter_map(|(b, found)| {
                found.map(|(step, cause)| Dropped { chunk: name(b), step, cause })
            })
            .collect()
    }

    /// A step of all pieces; `keep` says whether it will be gone back through.
    fn step(&mut self, number: usize, keep: bool) {
        let system = &self.learned.system;
        let (size, h) = (system.coordinates(), system.step);
        let count = self.given_up.len();
        let mut kept = Step::default();
        for (k, y) in self.y.iter_mut().enumerate() {
            y.clear();
            let halves = self.states.chunks_exact(2 * size);
            y.extend(halves.flat_map(|state| &state[k * size..][..size]));
        }
        for k in 0..STAGES {
            for (half, at) in self.at.iter_mut().enumerate() {
                stage(k, h, &self.y[half], &self.slopes[half], at);
            }
            let mut network =
                if keep { NetworkBatch::default() } else { std::mem::take(&mut self.spare) };
            let gradient = network.gradient(&self.learned.network, self.weights, &self.at[0]);
            for slopes in &mut self.slopes {
                slopes[k].clear();
                slopes[k].resize(count * size, 0.0);
            }
            for b in 0..count {
                if self.given_up[b].is_some() {
                    continue;
                }
                let own = b * size..(b + 1) * size;
                let [x, v] = [0, 1].map(|half| &self.at[half][own.clone()]);
                let (inertia, formulation) = (&self.inertia, self.learned.formulation);
                let (pull, rates) = (&gradient[own.clone()], &mut self.rates);
                match self.motion.rates(system, inertia, formulation, x, v, pull, rates) {
                    Ok(()) => {
                        self.slopes[0][k][own.clone()].copy_from_slice(&self.rates.position);
                        self.slopes[1][k][own].copy_from_slice(&self.rates.velocity);
                    }
                    Err(_) => self.given_up[b] = Some((number, Cause::Constraints)),
                }
            }
            if keep {
                let [position, velocity] = self.at.clone();
                kept.stages.push(Stage { position, velocity, network });
            } else {
                self.spare = network;
            }
        }
        for (half, at) in self.at.iter_mut().enumerate() {
            end(h, &self.y[half], &self.slopes[half], at);
        }
        for b in 0..count {
            kept.before.push(None);
            let own = b * size..(b + 1) * size;
            let (x, v) = {
                let [x, v] = &mut self.at;
                (&x[own.clone()], &mut v[own.clone()])
            };
            if self.given_up[b].is_some() {
                continue;
            }
            if self.impact.detect(system, x) {
                kept.before[b] = Some(v.to_vec());
                let (rule, parameters) = (self.learned.rule, &self.parameters);
                let applied = self.impact.apply(system, &self.inertia, parameters, rule, x, v);
                let solved = self.impact.reports.iter().all(|report| report.status.is_solved());
                if applied.is_err() || !solved {
                    let cause = if solved { Cause::Constraints } else { Cause::Impact };
                    self.given_up[b] = Some((number, cause));
                    continue;
                }
            }
            if x.iter().chain(v.iter()).any(|x| !x.is_finite()) {
                self.given_up[b] = Some((number, Cause::State));
                continue;
            }
            let state = &mut self.states[b * 2 * size..][..2 * size];
            state[..size].copy_from_slice(x);
            state[size..].copy_from_slice(v);
        }
        if keep {
            kept.end.clone_from(&self.at[0]);
            self.steps.push(kept);
        }
    }
}

/// Impacts on the tape.
#[derive(Default)]
struct Recorded {
    inertia: PointInertia<Var>,
    impact: PointImpact<Var>,
    inputs: Vec<f64>,
}

impl Recorded {
    /// The adjoints of x and v and of all parameters, one after the other, by those of the velocity after impacts.
    fn impact(
        &mut self,
        learned: &LearnedSystem,
        run: &Run,
        state: [&[f64]; 2],
        adjoints: Vec<f64>,
    ) -> Option<Vec<f64>> {
        let system = &learned.system;
        let size = system.coordinates();
        self.inputs.clear();
        let PointParameters { masses, moments, friction, restitution } = &run.parameters;
        for numbers in state.into_iter().chain([&masses[..], moments, friction, restitution]) {
            self.inputs.extend_from_slice(numbers);
        }
        let Recorded { inertia, impact, inputs, .. } = self;
        let mut failure = None;
        let record = |inputs: &[Var]| {
            let (state, mut numbers) = inputs.split_at(2 * size);
            let [masses, moments, friction, restitution] = [masses, moments, friction, restitution]
                .map(|like| {
                    let (these, rest) = numbers.split_at(like.len());
                    numbers = rest;
                    these.to_vec()
                });
            let parameters = PointParameters { masses, moments, friction, restitution };
            inertia.set(system.layout(), &parameters);
            let (x, v) = state.split_at(size);
            let mut v = v.to_vec();
            impact.detect(system, x);
            failure = impact.apply(system, inertia, &parameters, learned.rule, x, &mut v).err();
            v
        };
        let swept = ad::vjp(record, inputs, |_| adjoints);
        swept.ok().filter(|_| failure.is_none()).map(|(_, adjoints)| adjoints)
    }
}

/// The sum of losses over some pieces, and its gradient; those that have to be left out if there are any.
fn part_gradient(
    learned: &LearnedSystem,
    unknowns: &[f64],
    chunks: &Chunks,
    which: &[usize],
) -> Result<(f64, Vec<f64>), Vec<Dropped>> {
    let size = learned.system.coordinates();
    let starts = which.iter().map(|&k| &chunks.chunk(k)[..2 * size]);
    let mut run = Run::new(learned, unknowns, starts);
    let steps = chunks.times() - 1;
    let mut loss = 0.0;
    // Signs of the differences at each point in time but the first, where there are none.
    let mut signs = Vec::with_capacity(steps);
    for step in 0..steps {
        run.step(step, true);
        let dropped = run.dropped(|b| which[b]);
        if !dropped.is_empty() {
            return Err(dropped);
        }
        let mut sign = Vec::with_capacity(run.states.len());
        for (&k, state) in which.iter().zip(run.states.chunks_exact(2 * size)) {
            let recorded = &chunks.chunk(k)[(step + 1) * 2 * size..][..2 * size];
            for (a, b) in state.iter().zip(recorded) {
                loss += (a - b).abs();
                sign.push(if a == b { 0.0 } else { (a - b).signum() });
            }
        }
        signs.push(sign);
    }
    let mut gradient = vec![0.0; unknowns.len()];
    let mut back = Backward::new(&run, which.len());
    for step in (0..steps).rev() {
        back.add_loss(&signs[step]);
        let failed = back.step(learned, &run, &run.steps[step]);
        if !failed.is_empty() {
            let cause = Cause::Gradient;
            return Err(failed.iter().map(|&b| Dropped { chunk: which[b], step, cause }).collect());
        }
    }
    let inertias = [&back.rates.inertias.masses[..], &back.rates.inertias.moments].concat();
    add(&mut back.parameters[..inertias.len()], &inertias);
    let (weights, numbers) = gradient.split_at_mut(learned.network.weights());
    weights.copy_from_slice(&back.weights);
    // Through what parameters are made of.
    let raw = &unknowns[weights.len()..];
    let record = |numbers: &[Var]| {
        let PointParameters { masses, moments, friction, restitution } =
            learned.parameters(numbers);
        [masses, moments, friction, restitution].concat()
    };
    if let Ok((_, adjoints)) = ad::vjp(record, raw, |_| back.parameters.clone()) {
        numbers.copy_from_slice(&adjoints);
    }
    Ok((loss, gradient))
}

/// Adjoints on their way back.
struct Backward {
    size: usize,
    /// Of positions and velocities of all pieces.
    states: [Vec<f64>; 2],
    weights: Vec<f64>,
    /// Of masses, moments, friction, restitution.
    parameters: Vec<f64>,
    slopes: [Vec<Vec<f64>>; 2],
    at: [Vec<f64>; 2],
    pull: Vec<f64>,
    motion: ConstrainedMotion<f64>,
    rates: MotionAdjoint<f64>,
    recorded: Recorded,
    scratch: AdjointScratch,
}

impl Backward {
    fn new(run: &Run, count: usize) -> Backward {
        let size = run.learned.system.coordinates();
        let PointParameters { masses, moments, friction, restitution } = &run.parameters;
        let parameters = masses.len() + moments.len() + friction.len() + restitution.len();
        let zeros = || vec![0.0; count * size];
        let mut rates = MotionAdjoint::default();
        rates.inertias.masses.resize(masses.len(), 0.0);
        rates.inertias.moments.resize(moments.len(), 0.0);
        Backward {
            size,
            states: [zeros(), zeros()],
            weights: vec![0.0; run.weights.len()],
            parameters: vec![0.0; parameters],
            slopes: [0, 1].map(|_| (0..STAGES).map(|_| zeros()).collect()),
            at: [zeros(), zeros()],
            pull: zeros(),
            motion: ConstrainedMotion::default(),
            rates,
            recorded: Recorded::default(),
            scratch: AdjointScratch::default(),
        }
    }

    /// Adds the adjoints of the loss at a point in time.
    fn add_loss(&mut self, signs: &[f64]) {
        for (b, signs) in signs.chunks_exact(2 * self.size).enumerate() {
            for (half, signs) in signs.chunks_exact(self.size).enumerate() {
                let own = &mut self.states[half][b * self.size..][..self.size];
                own.iter_mut().zip(signs).for_each(|(a, sign)| *a += sign);
            }
        }
    }

    /// Goes back through a step; says for which pieces that failed.
    fn step(&mut self, learned: &LearnedSystem, run: &Run, step: &Step) -> Vec<usize> {
        let (size, h) = (self.size, learned.system.step);
        let mut failed = Vec::new();
        self.slopes.iter_mut().flatten().for_each(|slopes| slopes.fill(0.0));
        for b in 0..step.before.len() {
            let Some(before) = &step.before[b] else { continue };
            let own = b * size..(b + 1) * size;
            let adjoints = self.states[1][own.clone()].to_vec();
            let x = &step.end[own.clone()];
            match self.recorded.impact(learned, run, [x, before], adjoints) {
                Some(found) if found.iter().all(|a| a.is_finite()) => {
                    let (dx, rest) = found.split_at(size);
                    let (dv, parameters) = rest.split_at(size);
                    add(&mut self.states[0][own.clone()], dx);
                    self.states[1][own].copy_from_slice(dv);
                    add(&mut self.parameters, parameters);
                }
                _ => failed.push(b),
            }
        }
        for half in [0, 1] {
            let adjoints = std::mem::take(&mut self.states[half]);
            self.states[half] = vec![0.0; adjoints.len()];
            end_transpose(h, &adjoints, &mut self.states[half], &mut self.slopes[half]);
        }
        for (k, stage) in step.stages.iter().enumerate().rev() {
            self.pull.fill(0.0);
            self.at.iter_mut().for_each(|at| at.fill(0.0));
            for b in 0..step.before.len() {
                let own = b * size..(b + 1) * size;
                let adjoints = [0, 1].map(|half| &self.slopes[half][k][own.clone()]);
                let state = [
                    &stage.position[own.clone()],
                    &stage.velocity[own.clone()],
                    &stage.network.last_gradient()[own.clone()],
                ];
                let (inertia, formulation) = (&run.inertia, learned.formulation);
                let (motion, system) = (&mut self.motion, &learned.system);
                let set = self.rates.set(motion, system, inertia, formulation, state, adjoints);
                let MotionAdjoint { position, velocity, gradient, .. } = &self.rates;
                let mut found = position.iter().chain(velocity).chain(gradient);
                if set.is_err() || !found.all(|a| a.is_finite()) {
                    failed.push(b);
                    continue;
                }
                self.at[0][own.clone()].copy_from_slice(position);
                self.at[1][own.clone()].copy_from_slice(velocity);
                self.pull[own].copy_from_slice(gradient);
            }
            let (weights, x) = (&mut self.weights, &mut self.at[0]);
            stage.network.adjoint(
                &learned.network,
                run.weights,
                &self.pull,
                &mut self.scratch,
                weights,
                x,
            );
            for half in [0, 1] {
                let (y, slopes) = (&mut self.states[half], &mut self.slopes[half]);
                stage_transpose(k, h, &self.at[half], y, slopes);
            }
        }
        failed.sort_unstable();
        failed.dedup();
        failed
    }
}

fn add(sum: &mut [f64], more: &[f64]) {
    sum.iter_mut().zip(more).for_each(|(a, b)| *a += b);
}
