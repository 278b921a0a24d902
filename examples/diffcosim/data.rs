//! Pieces of random motions, as [Zhong21] takes them: one of each motion, its first point without contact; about half of the
//! pieces have contacts.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stiction::learn::Chunks;
use stiction::maximal::{Formulation, ImpactRule, PointScene, PointStep};

use crate::{Failure, arrays, task};

/// So many motions may end early.
const MOST_FAILURES: usize = 100;

/// Points in time of a piece.
pub const LENGTH: usize = 5;

#[derive(Args)]
pub struct Options {
    /// BP5-e, BP5, CP3-e, CP3, BD5, Rope, Gyro-e or Gyro
    task: String,
    /// Another system than the task's
    #[arg(long)]
    system: Option<PathBuf>,
    /// Pieces to learn from
    #[arg(long, default_value_t = 800)]
    chunks: usize,
    /// Of the random motions
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The archive to write
    #[arg(short, long)]
    output: PathBuf,
}

/// Pieces to learn from, to choose by, to judge by, and whole motions.
pub struct Data {
    pub train: Chunks,
    pub validation: Chunks,
    pub test: Chunks,
    /// Whole motions, if they were simulated.
    pub long: Option<Chunks>,
}

pub fn run(options: &Options) -> Result<ExitCode, Failure> {
    let scene = task::load(&options.task, options.system.as_deref())?;
    arrays::check_writable(&options.output)?;
    let data = generate(&scene, &options.task, options.chunks, options.seed)?;
    let array = |name: &str, chunks: &Chunks| {
        let system = &scene.system;
        let shape = vec![chunks.count(), chunks.times(), 2, system.points(), system.dimension()];
        (name.to_string(), shape, chunks.values().to_vec())
    };
    let parameters = &scene.parameters;
    let long = data.long.as_ref().map(|long| array("long", long));
    let written: Vec<_> = [
        ("dt".into(), vec![], vec![scene.system.step]),
        arrays::vector("mus", &parameters.friction),
        arrays::vector("cors", &parameters.restitution),
        array("train", &data.train),
        array("val", &data.validation),
        array("test", &data.test),
    ]
    .into_iter()
    .chain(long)
    .collect();
    arrays::write(&options.output, &written)?;
    let touching = data.train.check(&scene.system, f64::MAX)?;
    println!(
        "{}: {} pieces of {LENGTH} points in time ({touching} with contact), seed {}",
        options.output.display(),
        data.train.count(),
        options.seed
    );
    Ok(ExitCode::SUCCESS)
}

/// Random motions and the pieces of them.
pub fn generate(scene: &PointScene, name: &str, chunks: usize, seed: u64) -> Result<Data, Failure> {
    if chunks == 0 {
        return Err("--chunks: must be at least 1".into());
    }
    let steps = task::steps(name);
    let part = |stream: u64, count: usize| -> Result<(Chunks, Chunks), Failure> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(stream);
        let (long, touched) = motions(scene, count, steps, &mut random)?;
        let values = pieces(&long, &touched, &mut random);
        Ok((Chunks::new(LENGTH, scene.system.coordinates(), values)?, long))
    };
    let (train, _) = part(0, chunks)?;
    let (validation, _) = part(1, 100)?;
    let (test, long) = part(2, 100)?;
    Ok(Data { train, validation, test, long: Some(long) })
}

/// Motions of so many steps, and at which points in time something touched.
fn motions(
    scene: &PointScene,
    count: usize,
    steps: usize,
    random: &mut impl Rng,
) -> Result<(Chunks, Vec<Vec<bool>>), Failure> {
    let system = &scene.system;
    let start = scene.start.as_ref().ok_or("the system does not say how motions start")?;
    let (mut values, mut touched) = (Vec::new(), Vec::new());
    let mut step = PointStep::default();
    let rule = ImpactRule { tolerance: 1e-12, ..ImpactRule::default() };
    let mut failures = 0;
    'motions: while touched.len() < count {
        let (mut x, mut v) = start.sample(system, random)?;
        let (mut motion, mut touches) = ([&x[..], &v[..]].concat(), vec![false]);
        for _ in 0..steps {
            let force = &mut &system.potential;
            step.step(
                system,
                &scene.parameters,
                Formulation::Lagrangian,
                rule,
                force,
                &mut x,
                &mut v,
            );
            if !step.report.is_solved() {
                // Another one instead.
                failures += 1;
                if failures > MOST_FAILURES {
                    let message = match (&step.report.failure, &step.report.impulses) {
                        (Some(failure), _) => {
                            format!("constraints do not determine their forces ({failure})")
                        }
                        (None, impulses) => format!("impacts are not solved ({impulses:?})"),
                    };
                    return Err(format!("{MOST_FAILURES} motions ended early: {message}").into());
                }
                continue 'motions;
            }
            motion.extend(x.iter().chain(&v));
            touches.push(!step.report.active.is_empty());
        }
        values.extend(motion);
        touched.push(touches);
    }
    Ok((Chunks::new(steps + 1, system.coordinates(), values)?, touched))
}

/// A piece of each motion.
fn pieces(long: &Chunks, touched: &[Vec<bool>], random: &mut impl Rng) -> Vec<f64> {
    let share = touched.iter().filter(|t| t.contains(&true)).count() as f64 / touched.len() as f64;
    let mut values = Vec::new();
    for (k, touched) in touched.iter().enumerate() {
        let wanted = random.random::<f64>() < if share > 0.5 { 0.5 / share } else { 1.0 };
        let starts = (0..=touched.len() - LENGTH).filter(|&s| !touched[s]);
        let (with, without): (Vec<usize>, Vec<usize>) =
            starts.partition(|&s| touched[s..s + LENGTH].contains(&true));
        let from = if (wanted && !with.is_empty()) || without.is_empty() { with } else { without };
        let start = from[random.random_range(0..from.len())];
        let size = 2 * long.coordinates();
        values.extend_from_slice(&long.chunk(k)[start * size..][..LENGTH * size]);
    }
    values
}
