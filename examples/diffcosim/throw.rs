//! Throwing a disk [Zhong21, Fig. 8]: so that its second landing is at a place, or so that it rises straight from its first. Planned
//! with the true dynamics or with learned ones, judged by the true.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use stiction::ad::{Dual, Real};
use stiction::learn::{LearnedSystem, Moments, NetworkForce, cosine_rate};
use stiction::maximal::{Formulation, ImpactRule, PointParameters, PointScene, PointStep};

use crate::model::{self, Model};
use crate::{Failure, folder};

/// Where it is thrown from (m).
const FROM: [f64; 2] = [0.25, 0.65];
/// Where its second landing should be (m).
const GOAL: [f64; 2] = [0.75, 0.1];
/// The throw of which the spin is looked for (m/s).
const THROWN: [f64; 2] = [0.6, 0.4];
/// Which of the walls is the floor.
const FLOOR: usize = 1;
const MOST_STEPS: usize = 400;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Aim {
    /// The second landing at (0.75, 0.1), by velocity and spin, from nothing
    Hit,
    /// Straight up after the first landing, by the spin of a throw with (0.6, 0.4) m/s
    Vertical,
}

#[derive(Args)]
pub struct Options {
    aim: Aim,
    /// Plan with what `train --system BD1.toml -o FILE` learned
    #[arg(long)]
    learned: Option<PathBuf>,
    /// Sizes of the hidden layers of what is learned
    #[arg(long, value_delimiter = ',', default_value = "64,64")]
    hidden: Vec<usize>,
    #[arg(long, default_value_t = 200)]
    iterations: usize,
    /// Of AdamW; it falls to zero by a cosine
    #[arg(long, default_value_t = 0.1)]
    rate: f64,
    /// One line of JSON
    #[arg(long)]
    json: bool,
}

/// Dynamics on any scalar: the true ones, or learned ones.
struct Dynamics<'a> {
    scene: &'a PointScene,
    learned: Option<(&'a LearnedSystem, &'a [f64])>,
}

/// A point of the flight: centre, horizontal velocity.
#[derive(Clone, Copy)]
struct Point<T> {
    x: T,
    y: T,
    vx: T,
}

impl Dynamics<'_> {
    /// Points of the throw, and at which of them it landed. A contact that goes on is one landing.
    fn fly<T: Real>(
        &self,
        throw: [T; 3],
        landings: usize,
    ) -> Result<(Vec<Point<T>>, Vec<usize>), Failure> {
        let system = &self.scene.system;
        let constant =
            |numbers: &[f64]| -> Vec<T> { numbers.iter().map(|&x| T::constant(x)).collect() };
        let numbers = match self.learned {
            Some((learned, unknowns)) => learned.parameters(&unknowns[learned.network.weights()..]),
            None => self.scene.parameters.clone(),
        };
        let parameters = PointParameters {
            masses: constant(&numbers.masses),
            moments: constant(&numbers.moments),
            friction: constant(&numbers.friction),
            restitution: constant(&numbers.restitution),
        };
        let weights: Vec<T> = match self.learned {
            Some((learned, unknowns)) => constant(&unknowns[..learned.network.weights()]),
            None => Vec::new(),
        };
        let [x, y] = FROM;
        let mut place: Vec<T> = constant(&[x, y, x + 1.0, y, x, y + 1.0]);
        let [vx, vy, spin] = throw;
        let mut v = vec![vx, vy, vx, vy + spin, vx - spin, vy];
        let (mut points, mut landed): (_, Vec<usize>) =
            (vec![Point { x: place[0], y: place[1], vx }], vec![]);
        let mut before = false;
        let mut step = PointStep::default();
        for k in 1..=MOST_STEPS {
            let (form, rule) = (Formulation::Lagrangian, ImpactRule::default());
            match self.learned {
                Some((learned, _)) => {
                    let force = &mut NetworkForce { network: &learned.network, weights: &weights };
                    step.step(system, &parameters, form, rule, force, &mut place, &mut v);
                }
                None => {
                    let force = &mut &system.potential;
                    step.step(system, &parameters, form, rule, force, &mut place, &mut v);
                }
            }
            if !step.report.is_solved() {
                return Err(format!("the impacts of step {k} were not solved").into());
            }
            points.push(Point { x: place[0], y: place[1], vx: v[0] });
            let lands = step.report.active.contains(&FLOOR);
            if lands && !before {
                landed.push(k);
                if landed.len() == landings {
                    return Ok((points, landed));
                }
            }
            before = lands;
        }
        Err(format!("the disk did not land {landings} times in {MOST_STEPS} steps").into())
    }

    fn loss<T: Real>(&self, aim: Aim, variables: &[T]) -> Result<T, Failure> {
        let constant = |x: f64| T::constant(x);
        Ok(match aim {
            Aim::Hit => {
                let (points, landed) = self.fly([variables[0], variables[1], variables[2]], 2)?;
                let end = points[landed[1]];
                (end.x - GOAL[0]).abs() + (end.y - GOAL[1]).abs()
            }
            Aim::Vertical => {
                let [vx, vy] = THROWN.map(constant);
                let (points, landed) = self.fly([vx, vy, variables[0]], 2)?;
                let after = points[landed[0]];
                // At the second landing it has been up and down.
                let end = points[landed[1] - 1];
                after.vx.abs() + (after.x - end.x).abs()
            }
        })
    }
}

pub fn run(options: &Options) -> Result<ExitCode, Failure> {
    let scene = PointScene::load(folder().join("BD1.toml"))?;
    let learned = match &options.learned {
        Some(path) => {
            let system = Model::CmLagrangian.system(&scene.system, &options.hidden, None)?;
            let unknowns = model::load(path, &system)?;
            Some((system, unknowns))
        }
        None => None,
    };
    let plan = Dynamics {
        scene: &scene,
        learned: learned.as_ref().map(|(system, unknowns)| (system, &unknowns[..])),
    };
    let judge = Dynamics { scene: &scene, learned: None };
    let count = if options.aim == Aim::Hit { 3 } else { 1 };
    let mut variables = vec![0.0; count];
    let (mut mean, mut square) = (vec![0.0; count], vec![0.0; count]);
    let mut best = (f64::INFINITY, variables.clone());
    for iteration in 0..options.iterations {
        let seeded: Vec<Dual<f64, 4>> = (0..count)
            .map(|k| Dual::new(variables[k], std::array::from_fn(|l| f64::from(u8::from(k == l)))))
            .collect();
        let loss = plan.loss(options.aim, &seeded)?;
        if loss.value < best.0 {
            best = (loss.value, variables.clone());
        }
        if !options.json && iteration % 20 == 0 {
            eprintln!("{iteration}: loss {:.4e}, {variables:.4?}", loss.value);
        }
        let rate = cosine_rate(options.rate, iteration, options.iterations);
        // A spin is in rad/s, ten of which are a speed of 1 m/s at the rim.
        let scale = |k: usize| if k + 1 == count { 10.0 } else { 1.0 };
        for k in 0..count {
            let gradient = loss.tangent[k] * scale(k);
            let direction = Moments::default().direction(
                iteration as i32 + 1,
                gradient,
                &mut mean[k],
                &mut square[k],
            );
            variables[k] -= rate * scale(k) * direction;
        }
    }
    let (planned, found) = best;
    let true_loss = judge.loss(options.aim, &found)?;
    let by = if options.learned.is_some() { "learned" } else { "true" };
    if options.json {
        let aim = if options.aim == Aim::Hit { "hit" } else { "vertical" };
        let line = serde_json::json!({ "version": env!("CARGO_PKG_VERSION"), "aim": aim, "dynamics": by, "found": found, "planned_loss": planned, "true_loss": true_loss });
        println!("{line}");
        return Ok(ExitCode::SUCCESS);
    }
    match options.aim {
        Aim::Hit => {
            let (points, landed) = judge.fly([found[0], found[1], found[2]], 2)?;
            let end = points[landed[1]];
            let off = ((end.x - GOAL[0]).powi(2) + (end.y - GOAL[1]).powi(2)).sqrt();
            println!(
                "thrown with ({:.4}, {:.4}) m/s and {:.3} rad/s, planned by {by} dynamics",
                found[0], found[1], found[2]
            );
            println!(
                "its second landing is at ({:.4}, {:.4}) m, {:.1} mm from the goal",
                end.x,
                end.y,
                1e3 * off
            );
        }
        Aim::Vertical => {
            println!(
                "spin {:.4} rad/s, planned by {by} dynamics (12 in closed form, if all happened at the moment of landing)",
                found[0]
            );
            println!("after the first landing: horizontal speed and drift {true_loss:.2e}");
        }
    }
    Ok(ExitCode::SUCCESS)
}
