//! One experiment identified from many starts.

use std::sync::atomic::{AtomicUsize, Ordering};

use stiction::identify::{
    Dataset, Experiment, FitStatus, FreeParameter, InitialState, Progress, WindowLength, fit,
};
use stiction::model::Scene;
use stiction::state::State;
use stiction::trajectory::{Recorded, Trajectory};

use super::recording;
use super::simulator::Frame;

/// Time between recorded frames (s).
pub const FRAME_TIME: f64 = 1.0 / 240.0;
/// Standard deviations of the noise per axis.
pub const POSITION_NOISE: f64 = 1e-3; // m
pub const ROTATION_NOISE: f64 = 0.2; // degrees

/// A parameter, its true value and the bounds of the search.
#[derive(Clone, Copy, Debug)]
pub struct Unknown {
    pub name: &'static str,
    pub truth: f64,
    pub bounds: [f64; 2],
}

/// What came of one start; a number for each unknown.
#[derive(Clone, Debug)]
pub struct Run {
    pub start: Vec<f64>,
    /// The parameters after each iteration, the start first and the result last.
    pub path: Vec<Vec<f64>>,
    pub status: FitStatus,
    pub iterations: usize,
    pub loss: f64,
    pub warnings: Vec<String>,
}

impl Run {
    pub fn estimate(&self) -> &[f64] {
        self.path.last().unwrap_or(&self.start)
    }
}

/// The frames of one recording: for each body of the scene its noisy motion, then its number.
pub fn noisy(name: String, mut bodies: Vec<Vec<Frame>>, seed: u64) -> Trajectory {
    for (body, frames) in (0..).zip(&mut bodies) {
        let seed = seed.wrapping_mul(1009).wrapping_add(body);
        // They are released from where they are known to be.
        recording::add_noise(
            frames.get_mut(1..).unwrap_or_default(),
            POSITION_NOISE,
            ROTATION_NOISE.to_radians(),
            seed,
        );
    }
    let count = bodies.iter().map(Vec::len).min().unwrap_or(0);
    let state = |k: usize| State {
        q: bodies.iter().flat_map(|b| b[k].p.into_iter().chain(b[k].q)).collect(),
        v: bodies.iter().flat_map(|b| b[k].v.into_iter().chain(b[k].w)).collect(),
    };
    let n = bodies.len();
    Trajectory {
        name,
        times: (0..count).map(|k| bodies[0][k].t).collect(),
        states: (0..count).map(state).collect(),
        recorded: Recorded::new(vec![true; 7 * n], vec![true; 6 * n]),
    }
}

/// The experiment in `scene`: whole recordings from known initial states, weights of the stated noise.
pub fn experiment(mut scene: Scene, unknowns: &[Unknown]) -> Result<Experiment, String> {
    let free = |unknown: &Unknown| {
        let &Unknown { name, bounds: [lower, upper], .. } = unknown;
        let slots = scene.model.parameter(name).ok_or_else(|| format!("no parameter {name}"))?;
        Ok(FreeParameter::new(name, slots, 0.5 * (lower + upper), [lower, upper]))
    };
    let parameters = unknowns.iter().map(free).collect::<Result<_, String>>()?;
    let mut experiment = Experiment::builtin().map_err(|e| e.to_string())?;
    // What the noise of a first frame has put into the floor must not be thrown out of it.
    scene.settings.baumgarte = 0.0;
    scene.settings.split_impacts = true;
    experiment.noise.position = POSITION_NOISE;
    experiment.noise.rotation = ROTATION_NOISE.to_radians();
    Ok(Experiment {
        name: "paper".into(),
        scene,
        parameters,
        initial_state: InitialState::Recorded,
        window: WindowLength::Whole,
        substeps: None,
        // Each start by itself.
        starts: 1,
        truth: unknowns.iter().map(|u| (u.name.into(), u.truth)).collect(),
        ..experiment
    })
}

/// `count` points spread over the bounds: first the corners, opposite ones in turn, then Halton's.
pub fn starts(unknowns: &[Unknown], count: usize) -> Vec<Vec<f64>> {
    let last = (1_usize << unknowns.len()) - 1;
    let corners = (0..=last).map(|k| if k % 2 == 0 { k / 2 } else { last - k / 2 });
    let corner = |bits: usize| -> Vec<f64> {
        unknowns.iter().enumerate().map(|(i, u)| u.bounds[bits >> i & 1]).collect()
    };
    let inside = (1..).map(|index| {
        let primes = [2, 3, 5, 7];
        let at = |(u, prime): (&Unknown, usize)| {
            let [lower, upper] = u.bounds;
            lower + (upper - lower) * radical_inverse(index, prime)
        };
        unknowns.iter().zip(primes).map(at).collect()
    });
    corners.map(corner).chain(inside).take(count).collect()
}

/// The digits of `index` in a base, mirrored at the point.
fn radical_inverse(mut index: usize, base: usize) -> f64 {
    let (mut sum, mut digit) = (0.0, 1.0);
    while index > 0 {
        digit /= base as f64;
        sum += digit * (index % base) as f64;
        index /= base;
    }
    sum
}

/// Identifies from each start, two at a time.
pub fn study(
    experiment: &Experiment,
    dataset: &Dataset,
    starts: &[Vec<f64>],
) -> Result<Vec<Run>, String> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let k = next.fetch_add(1, Ordering::Relaxed);
            let Some(start) = starts.get(k) else { return done };
            done.push((k, run(experiment, dataset, start)));
        }
    };
    let mut runs = std::thread::scope(|scope| {
        let other = scope.spawn(work);
        let mut runs = work();
        match other.join() {
            Ok(done) => runs.extend(done),
            Err(panic) => std::panic::resume_unwind(panic),
        }
        runs
    });
    runs.sort_by_key(|(k, _)| *k);
    runs.into_iter().map(|(_, run)| run).collect()
}

fn run(experiment: &Experiment, dataset: &Dataset, start: &[f64]) -> Result<Run, String> {
    let mut experiment = experiment.clone();
    for (parameter, &start) in experiment.parameters.iter_mut().zip(start) {
        parameter.start = start;
    }
    let mut path = vec![start.to_vec()];
    let mut watch = |progress: Progress| {
        path.push(progress.values.to_vec());
        true
    };
    let fit = fit(&experiment, dataset, 1, &mut watch).map_err(|e| e.to_string())?;
    path.push(fit.parameters.iter().map(|p| p.value).collect());
    Ok(Run {
        start: start.to_vec(),
        path,
        status: fit.status,
        iterations: fit.iterations,
        loss: fit.loss,
        warnings: fit.warnings,
    })
}

/// How far the estimates of one unknown are from a value, relative to it.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    pub worst: f64,
    pub median: f64,
    /// Standard deviation from start to start.
    pub sd: f64,
    /// How many are within 1 %.
    pub within: usize,
}

/// The errors of unknown `index` relative to `truth`.
pub fn spread(runs: &[Run], index: usize, truth: f64) -> Spread {
    let mut errors: Vec<f64> = runs.iter().map(|r| r.estimate()[index] / truth - 1.0).collect();
    errors.sort_by(f64::total_cmp);
    let count = errors.len().max(1) as f64;
    let mean = errors.iter().sum::<f64>() / count;
    let variance = errors.iter().map(|e| (e - mean) * (e - mean)).sum::<f64>() / count;
    let worst = errors.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs()));
    Spread {
        worst: worst.unwrap_or(f64::NAN),
        median: errors.get(errors.len() / 2).copied().unwrap_or(f64::NAN),
        sd: variance.sqrt(),
        within: errors.iter().filter(|e| e.abs() <= 0.01).count(),
    }
}
