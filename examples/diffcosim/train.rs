//! Learning a task.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Args;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use stiction::learn::{Chunks, Dropped, ErrorSummary, Training, TrainingSettings, TrainingState};
use stiction::maximal::PointScene;

use crate::arrays::{self, Archive};
use crate::data::{self, Data};
use crate::model::{self, Learned, Model};
use crate::table::{self, Outcome};
use crate::{Failure, noise, task};

/// Updates between two looks at the pieces kept to choose by.
const LOOK: usize = 250;
/// Updates that may fail one after the other.
const PATIENCE: usize = 10;
/// Pieces that may be left out of a thousand.
const LEFT_OUT: f64 = 1e-3;
/// How far recorded positions and velocities may be from the constraints, relative.
const OFF: f64 = 0.05;

#[derive(Args)]
pub struct Options {
    /// BP5-e, BP5, CP3-e, CP3, BD5, Rope, Gyro-e or Gyro
    #[arg(required_unless_present_any = ["all", "system"])]
    task: Option<String>,
    /// All tasks, one after the other
    #[arg(long, conflicts_with_all = ["task", "system", "data"])]
    all: bool,
    /// CM-CLNN, CM-CHNN, CMr-CLNN, CMr-CHNN or all
    #[arg(long, default_value = "CM-CLNN")]
    models: String,
    /// Another system than the task's
    #[arg(long)]
    system: Option<PathBuf>,
    /// Pieces of motion (train, val, test); else they are simulated
    #[arg(long)]
    data: Option<PathBuf>,
    /// Pieces to learn from
    #[arg(long, default_value_t = 800)]
    chunks: usize,
    /// Size of normal noise on the angles (rad) and rates (rad/s) of a chain it learns from
    #[arg(long)]
    noise: Option<f64>,
    /// Sizes of the hidden layers of the potential
    #[arg(long, value_delimiter = ',', default_value = "64,64")]
    hidden: Vec<usize>,
    #[arg(long, default_value_t = 4000)]
    updates: usize,
    /// Pieces of an update
    #[arg(long, default_value_t = 200)]
    batch: usize,
    /// Rate of the first update; it falls to zero by a cosine
    #[arg(long, default_value_t = 3e-3)]
    rate: f64,
    /// The largest norm of a gradient; longer ones are shortened
    #[arg(long)]
    clip: Option<f64>,
    /// CMr's epsilon (1/kg)
    #[arg(long)]
    epsilon: Option<f64>,
    /// Of data, first unknowns and the order of pieces
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Threads; results do not depend on them
    #[arg(long)]
    threads: Option<usize>,
    /// Go on with the search of this file
    #[arg(long)]
    resume: Option<PathBuf>,
    /// Stop after so many updates in all, to go on later
    #[arg(long)]
    stop: Option<usize>,
    /// Where to write what is learned (.npz)
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// One line of JSON for each
    #[arg(long)]
    json: bool,
}

pub fn run(options: &Options) -> Result<ExitCode, Failure> {
    let models = Model::parse(&options.models)?;
    let tasks: Vec<&str> = match (&options.task, options.all) {
        (_, true) => task::TASKS.to_vec(),
        (Some(task), _) => vec![task],
        (None, _) => vec!["system"],
    };
    let many = tasks.len() * models.len() > 1;
    if many && (options.output.is_some() || options.resume.is_some()) {
        return Err("-o and --resume are for one task and one model".into());
    }
    if !(options.rate > 0.0 && options.rate.is_finite()) {
        return Err(format!("--rate: must be positive, found {}", options.rate).into());
    }
    if let Some(clip) = options.clip.filter(|clip| *clip <= 0.0 || clip.is_nan()) {
        return Err(format!("--clip: must be positive, found {clip}").into());
    }
    if options.batch == 0 {
        return Err("--batch: must be at least 1".into());
    }
    let mut outcomes = Vec::new();
    for task in tasks {
        let scene = task::load(task, options.system.as_deref())?;
        let mut data = match &options.data {
            Some(path) => read(path, &scene)?,
            None => data::generate(&scene, task, options.chunks, options.seed)?,
        };
        let from =
            options.data.as_ref().map_or("simulated".into(), |path| path.display().to_string());
        let mut touching = 0;
        for (name, chunks) in
            [("val", &data.validation), ("test", &data.test), ("train", &data.train)]
        {
            let found = chunks.check(&scene.system, OFF);
            touching = found.map_err(|error| format!("{from}: {name}: {error}"))?;
        }
        if touching == 0 {
            let message = "no piece has a contact after its first point in time, so that friction and restitution are not seen: take more or longer recordings";
            return Err(format!("{from}: train: {message}").into());
        }
        if let Some(size) = options.noise {
            let add = |chunks| noise::add(&scene.system, chunks, size, options.seed);
            (data.train, data.validation) = (add(&data.train)?, add(&data.validation)?);
        }
        for &model in &models {
            let outcome = learn(options, task, model, &scene, &data)?;
            table::report(&outcome, &scene, options.json);
            outcomes.push(outcome);
        }
    }
    if many && !options.json {
        table::print(&outcomes);
    }
    let share = |o: &Outcome| o.left_out as f64 / o.simulated.max(1) as f64;
    let worst = outcomes.iter().map(share).fold(0.0, f64::max);
    let unjudged = outcomes.iter().map(|o| o.not_predicted).sum::<usize>();
    if worst > LEFT_OUT {
        eprintln!(
            "warning: {:.2} % of the pieces were left out of updates (see above): what they tell is not learned",
            100.0 * worst
        );
    }
    if unjudged > 0 {
        eprintln!(
            "warning: {unjudged} pieces kept to judge by could not be predicted, and are in no error"
        );
    }
    let sound = worst <= LEFT_OUT && unjudged == 0;
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Pieces of a file.
fn read(path: &Path, scene: &PointScene) -> Result<Data, Failure> {
    let mut archive = Archive::open(path)?;
    if archive.has("dt")? {
        let (found, step) = (archive.number("dt")?, scene.system.step);
        if (found - step).abs() > 1e-9 * step {
            let shown = path.display();
            return Err(format!("{shown}: dt: is {found} s, the system's step {step} s").into());
        }
    }
    let mut chunks = |name: &str| archive.chunks(name, &scene.system);
    let (train, validation, test) = (chunks("train")?, chunks("val")?, chunks("test")?);
    if train.times() != validation.times() || train.times() != test.times() {
        let times = [&train, &validation, &test].map(Chunks::times);
        let shown = path.display();
        return Err(format!(
            "{shown}: train, val and test have {times:?} points in time, and must have as many"
        )
        .into());
    }
    Ok(Data { train, validation, test, long: None })
}

fn learn(
    options: &Options,
    task: &str,
    model: Model,
    scene: &PointScene,
    data: &Data,
) -> Result<Outcome, Failure> {
    let system = model.system(&scene.system, &options.hidden, options.epsilon)?;
    let threads = options
        .threads
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get));
    let settings = TrainingSettings {
        updates: options.updates,
        batch: options.batch,
        rate: options.rate,
        clip: options.clip.unwrap_or(f64::INFINITY),
        seed: options.seed,
        threads,
        ..TrainingSettings::default()
    };
    let training = Training { learned: &system, settings, train: &data.train };
    let recordings = [&data.train, &data.validation];
    let kept = model::settings(scene, &system, model, &settings, recordings);
    let mut learned = if let Some(path) = &options.resume {
        model::resume(path, &system, kept)?
    } else {
        let mut random = ChaCha8Rng::seed_from_u64(options.seed);
        random.set_stream(100);
        let unknowns = system.random(&mut random);
        let state = TrainingState::new(unknowns.clone());
        Learned { best: (f64::INFINITY, unknowns), state, settings: kept }
    };
    let save = |learned: &Learned| match &options.output {
        Some(path) => model::save(path, &system, learned, best_so_far(learned)),
        None => Ok(()),
    };
    if let Some(path) = &options.output {
        arrays::check_writable(path)?;
    }
    let began = Instant::now();
    let (mut left_out, mut simulated, mut failed) = (0, 0, 0);
    let mut cause = None;
    let last = options.stop.unwrap_or(usize::MAX).min(options.updates);
    while learned.state.updates < last {
        let size = training.batch(learned.state.updates).len();
        let update = training.update(&mut learned.state);
        simulated += size;
        left_out += update.dropped.len();
        cause = cause.or(update.dropped.first().copied());
        failed = if update.taken { 0 } else { failed + 1 };
        if failed >= PATIENCE {
            let place = cause.map_or_else(String::new, |Dropped { chunk, step, cause }| {
                format!("; piece {chunk} was left out in step {step}, since {cause}")
            });
            let message = format!(
                "{PATIENCE} updates one after the other had no finite loss and gradient{place}: try a smaller --rate, --clip 1, or look at the recordings"
            );
            return Err(message.into());
        }
        let done = learned.state.updates;
        if done.is_multiple_of(LOOK) || done == options.updates {
            let error = look(&training, &learned.state.unknowns, &data.validation);
            if error < learned.best.0 {
                learned.best = (error, learned.state.unknowns.clone());
            }
            save(&learned)?;
            if !options.json {
                let seconds = began.elapsed().as_secs_f64();
                eprintln!(
                    "{task} {} {done}/{}: loss {:.3e}, error on pieces kept to choose by {error:.3e}, {seconds:.0} s",
                    model.name(),
                    options.updates,
                    update.loss
                );
            }
        }
    }
    save(&learned)?;
    if let Some(Dropped { chunk, step, cause }) = cause {
        eprintln!(
            "{left_out} of {simulated} pieces were left out, the first of them {chunk} in step {step}, since {cause}"
        );
    }
    let best = best_so_far(&learned);
    let times = data::LENGTH.min(data.test.times());
    let (errors, _) = training.errors(best, &data.test, times);
    Ok(Outcome {
        task: task.to_string(),
        model: model.name(),
        error: ErrorSummary::of(&errors),
        times,
        not_predicted: errors.iter().filter(|error| !error.is_finite()).count(),
        parameters: system.parameters(&best[system.network.weights()..]),
        seconds: began.elapsed().as_secs_f64(),
        updates: learned.state.updates,
        seed: options.seed,
        simulated,
        left_out,
        touching: data.train.touching(&scene.system),
    })
}

/// The unknowns that are best on the pieces kept to choose by; before the first look those of the search.
fn best_so_far(learned: &Learned) -> &[f64] {
    if learned.best.0.is_finite() { &learned.best.1 } else { &learned.state.unknowns }
}

/// The mean error on pieces kept to choose by; one that cannot be predicted counts as wrong altogether.
fn look(training: &Training, unknowns: &[f64], validation: &Chunks) -> f64 {
    let times = data::LENGTH.min(validation.times());
    let (errors, _) = training.errors(unknowns, validation, times);
    let count = errors.len() as f64;
    errors
        .into_iter()
        .map(|e| if e.is_finite() { e.min(times as f64) } else { times as f64 })
        .sum::<f64>()
        / count
}
