//! AdamW (`Loshchilov19`) over batches of pieces.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::chunks::Chunks;
use super::lockstep::{Dropped, Lockstep};
use super::relative_error::relative_errors;
use super::unknowns::LearnedSystem;
use crate::adaptive_moments::Moments;

/// How a search goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrainingSettings {
    /// How many updates there are; the rate falls to zero over them by a cosine.
    pub updates: usize,
    /// Pieces of an update.
    pub batch: usize,
    /// The rate to begin with.
    pub rate: f64,
    /// By how much of the rate unknowns decay an update.
    pub decay: f64,
    /// The largest norm a gradient has; longer ones are shortened.
    pub clip: f64,
    /// Of the order of the pieces.
    pub seed: u64,
    /// Threads that work on it; results do not depend on them.
    pub threads: usize,
}

impl Default for TrainingSettings {
    fn default() -> Self {
        TrainingSettings {
            updates: 4000,
            batch: 200,
            rate: 3e-3,
            decay: 1e-4,
            clip: f64::INFINITY,
            seed: 0,
            threads: 1,
        }
    }
}

/// Where a search stands between two updates: all that it goes on from.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingState {
    /// The unknowns.
    pub unknowns: Vec<f64>,
    /// Adam's means of gradients.
    pub mean: Vec<f64>,
    /// And of their squares.
    pub square: Vec<f64>,
    /// Updates done.
    pub updates: usize,
}

impl TrainingState {
    /// Before the first update.
    pub fn new(unknowns: Vec<f64>) -> TrainingState {
        let zeros = vec![0.0; unknowns.len()];
        TrainingState { unknowns, mean: zeros.clone(), square: zeros, updates: 0 }
    }
}

/// What an update came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Update {
    /// The loss before it.
    pub loss: f64,
    /// The norm of the gradient.
    pub norm: f64,
    /// Pieces that were left out.
    pub dropped: Vec<Dropped>,
    /// Whether unknowns were changed: not if the gradient was not finite, or all pieces were left out.
    pub taken: bool,
}

/// The rate of iteration `k` of `count`, which falls from `rate` to zero by a cosine.
pub fn cosine_rate(rate: f64, k: usize, count: usize) -> f64 {
    let part = (k as f64 / count.max(1) as f64).min(1.0);
    0.5 * rate * (1.0 + (std::f64::consts::PI * part).cos())
}

/// A search for the unknowns of a system.
#[derive(Clone, Copy, Debug)]
pub struct Training<'a> {
    /// The system.
    pub learned: &'a LearnedSystem,
    /// How it goes.
    pub settings: TrainingSettings,
    /// What it learns from.
    pub train: &'a Chunks,
}

impl Training<'_> {
    fn lockstep(&self) -> Lockstep<'_> {
        Lockstep { learned: self.learned, threads: self.settings.threads }
    }

    /// The pieces of update `k`: all are taken once, in an order of their own, before any is taken again; the last batch of a round is
    /// what is left.
    pub fn batch(&self, k: usize) -> Vec<usize> {
        let count = self.train.count();
        let batch = self.settings.batch.clamp(1, count);
        let batches = count.div_ceil(batch);
        let (round, place) = (k / batches, k % batches);
        let mut random = ChaCha8Rng::seed_from_u64(self.settings.seed);
        random.set_stream(round as u64 + 1);
        let mut order: Vec<usize> = (0..count).collect();
        order.shuffle(&mut random);
        order[place * batch..count.min((place + 1) * batch)].to_vec()
    }

    /// The rate of update `k`.
    pub fn rate(&self, k: usize) -> f64 {
        cosine_rate(self.settings.rate, k, self.settings.updates)
    }

    /// Does an update.
    pub fn update(&self, state: &mut TrainingState) -> Update {
        let which = self.batch(state.updates);
        let found = self.lockstep().loss_gradient(&state.unknowns, self.train, &which);
        let norm = found.gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
        let taken = found.loss.is_finite() && norm.is_finite();
        let rate = self.rate(state.updates);
        state.updates += 1;
        if taken {
            let scale = if norm > self.settings.clip { self.settings.clip / norm } else { 1.0 };
            let t = state.updates.min(i32::MAX as usize) as i32;
            let moments = state.mean.iter_mut().zip(&mut state.square);
            let unknowns = state.unknowns.iter_mut().zip(&found.gradient);
            for ((x, gradient), (mean, square)) in unknowns.zip(moments) {
                let direction = Moments::default().direction(t, gradient * scale, mean, square);
                *x -= rate * (direction + self.settings.decay * *x);
            }
        }
        Update { loss: found.loss, norm, dropped: found.dropped, taken }
    }

    /// The relative error of each piece of `chunks`, over `times` points in time, by these unknowns, and which were given up.
    pub fn errors(
        &self,
        unknowns: &[f64],
        chunks: &Chunks,
        times: usize,
    ) -> (Vec<f64>, Vec<Dropped>) {
        let size = 2 * chunks.coordinates();
        let starts: Vec<f64> =
            (0..chunks.count()).flat_map(|k| &chunks.chunk(k)[..size]).copied().collect();
        let (values, dropped) = self.lockstep().predict(unknowns, &starts, chunks.times() - 1);
        (relative_errors(&values, chunks, times), dropped)
    }
}
