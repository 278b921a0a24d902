//! An identification from many recordings: memory, and time over their number and over threads.
//!
//! `cargo run --release --example many [TRAJECTORIES]`
//! `cargo run --release --example many write FOLDER [TRAJECTORIES]`
//!
//! Balls are thrown over a floor at speeds of their own, on which they slide and bounce, and recorded for 100 steps
//! with 1 mm of noise; friction and restitution are identified from a tenth, a fifth, a half and all of the
//! recordings (10,000, or as many as are given), and from all of them with two threads. Time is that of the
//! processor where the system tells it, which others at work on the machine hardly change; the two
//! threads are compared by the clock.
//!
//! `write` keeps the recordings as CSV in a folder, with an experiment that finds where each began, too: for the program, by one process
//! or several. The README has what it measures.

use std::error::Error;
use std::fs::{self, read_to_string};
use std::path::Path;
use std::time::Instant;

use stiction::identify::{Dataset, Experiment, Fit, FreeParameter, Noise, fit};
use stiction::model::Scene;
use stiction::simulation::Rollout;
use stiction::trajectory::{Recorded, Trajectory};

const STEPS: usize = 100;
const NOISE: f64 = 1e-3;
const SCENE: &str = include_str!("scene.toml");
const EXPERIMENT: &str = include_str!("experiment.toml");

/// Numbers between -1 and 1 (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// Of the given standard deviation; a sum of four.
    fn normal(&mut self, sd: f64) -> f64 {
        sd * (0.75_f64).sqrt() * (0..4).map(|_| self.next()).sum::<f64>()
    }
}

/// A throw as it is recorded; its start is known.
fn throw(scene: &Scene, random: &mut Random) -> Trajectory {
    let Scene { model, settings, inputs, .. } = scene;
    let mut state = scene.state.clone();
    state.v[0] = 3.0 + random.next();
    state.v[1] = random.next();
    state.v[2] = 0.5 * random.next();
    let mut rollout = Rollout::new(scene.system(), state);
    let mut states = Vec::with_capacity(STEPS + 1);
    states.push(rollout.state.clone());
    for _ in 0..STEPS {
        rollout.step(inputs);
        let mut seen = rollout.state.clone();
        seen.q[..3].iter_mut().for_each(|x| *x += random.normal(NOISE));
        states.push(seen);
    }
    Trajectory {
        name: "throw".into(),
        times: (0..=STEPS).map(|k| k as f64 * settings.time_step).collect(),
        states,
        recorded: Recorded::configurations(model),
    }
}

fn experiment() -> Result<Experiment, Box<dyn Error>> {
    let scene = Scene::parse(SCENE, "scene.toml")?;
    let mut parameters = Vec::new();
    for (name, start, bounds) in
        [("floor-ball/mu", 0.3, [0.01, 1.0]), ("floor-ball/restitution", 0.4, [0.0, 0.95])]
    {
        let slots = scene.model.parameter(name).ok_or("the scene has no such parameter")?;
        parameters.push(FreeParameter::new(name, slots, start, bounds));
    }
    let noise = Noise { position: NOISE, rotation: 0.1, velocity: None, angular_velocity: None };
    Ok(Experiment::new("many", scene, parameters, noise))
}

/// Seconds by the clock and of the processor; the clock's again where the system does not tell.
struct Watch(Instant, Option<f64>);

impl Watch {
    fn start() -> Watch {
        Watch(Instant::now(), processor_time())
    }

    fn read(&self) -> (f64, f64) {
        let clock = self.0.elapsed().as_secs_f64();
        let own = self.1.zip(processor_time()).map(|(begin, end)| end - begin);
        (clock, own.unwrap_or(clock))
    }
}

/// User and system time of this process so far, s (fields 14 and 15 of proc(5), in hundredths).
fn processor_time() -> Option<f64> {
    let text = read_to_string("/proc/self/stat").ok()?;
    let after_name = text.rsplit_once(')')?.1;
    let ticks = after_name.split_whitespace().skip(11).take(2).map(str::parse::<f64>);
    Some(0.01 * ticks.collect::<Result<Vec<f64>, _>>().ok()?.iter().sum::<f64>())
}

/// The most memory this process ever held, MB.
fn peak_memory() -> Option<f64> {
    let text = read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse::<f64>().ok().map(|kilobytes| kilobytes / 1024.0)
}

fn identify(
    experiment: &Experiment,
    dataset: &Dataset,
    threads: usize,
) -> Result<(Fit, f64, f64), Box<dyn Error>> {
    let watch = Watch::start();
    let fit = fit(experiment, dataset, threads, &mut |_| true)?;
    let (clock, processor) = watch.read();
    let count = dataset.trajectories.len();
    let steps = (fit.effort.steps + fit.effort.derivative_steps) as f64;
    let values: Vec<String> = fit
        .parameters
        .iter()
        .map(|p| format!("{:.5} ± {:.5}", p.value, p.standard_error.unwrap_or(f64::NAN)))
        .collect();
    println!(
        "{count:8} {threads:8} {clock:8.2} {processor:10.2} {:16.3} {:16.3} {:12.0} {:10.0}   {}",
        1e3 * processor / count as f64,
        1e6 * processor / steps,
        steps / clock,
        peak_memory().unwrap_or(f64::NAN),
        values.join(", ")
    );
    Ok((fit, clock, processor))
}

/// Writes the recordings, the scene and the experiment into a folder.
fn write(folder: &Path, count: usize) -> Result<(), Box<dyn Error>> {
    let scene = Scene::parse(SCENE, "scene.toml")?;
    fs::create_dir_all(folder.join("throws"))?;
    fs::write(folder.join("scene.toml"), SCENE)?;
    fs::write(folder.join("experiment.toml"), EXPERIMENT)?;
    let mut random = Random(1);
    for k in 0..count {
        let throw = throw(&scene, &mut random);
        let mut text = Vec::new();
        throw.write(&scene.model, &mut text)?;
        fs::write(folder.join(format!("throws/{k:06}.csv")), text)?;
    }
    println!("{count} recordings in {}", folder.display());
    Ok(())
}

/// How many recordings there are to be.
fn count(given: Option<String>) -> Result<usize, Box<dyn Error>> {
    let Some(text) = given else { return Ok(10_000) };
    Ok(text.parse::<usize>().map_err(|e| format!("{text:?} is no number: {e}"))?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next();
    if first.as_deref() == Some("write") {
        let folder = arguments.next().ok_or("write: into which folder?")?;
        return write(Path::new(&folder), count(arguments.next())?);
    }
    let most = count(first)?;
    let experiment = experiment()?;
    let mut random = Random(1);
    println!(
        "{:>8} {:>8} {:>8} {:>10} {:>16} {:>16} {:>12} {:>10}   mu, restitution",
        "count",
        "threads",
        "time, s",
        "of CPU, s",
        "ms a trajectory",
        "us a step",
        "steps/s",
        "peak, MB"
    );
    let mut last = None;
    for count in [most / 10, most / 5, most / 2, most] {
        let count = count.max(2);
        random.0 = 1;
        let throws = (0..count).map(|_| throw(&experiment.scene, &mut random)).collect();
        let dataset = Dataset::new(&experiment, throws)?;
        last = Some((identify(&experiment, &dataset, 1)?, dataset));
    }
    let Some(((one, clock, _), dataset)) = last else { return Ok(()) };
    let (two, faster, _) = identify(&experiment, &dataset, 2)?;
    let bits = |fit: &Fit| fit.parameters.iter().map(|p| p.value.to_bits()).collect::<Vec<_>>();
    let same = if bits(&one) == bits(&two) { "the same bits" } else { "other bits" };
    println!("two threads are {:.2} times as fast as one, with {same}", clock / faster);
    Ok(())
}
