//! Billiards [Zhong21, Fig. 7]: where to put the white ball, and how fast to shoot it, so that the last ball of the rack ends at a place.
//! Derivatives are duals through a thousand steps and all impacts.

use std::process::ExitCode;

use clap::Args;
use stiction::ad::{Dual, Real};
use stiction::learn::{Moments, cosine_rate};
use stiction::maximal::{
    ExtendedBody, Formulation, Geometry, ImpactRule, PointContact, PointParameters, PointStep,
    PointSystem, Potential,
};

use crate::Failure;

const RADIUS: f64 = 0.03;
const GOAL: [f64; 2] = [0.9, 0.75];
const STEPS: usize = 1023;
/// Of the white ball: position (m) and velocity (m/s).
const START: [f64; 4] = [0.1, 0.5, 0.3, 0.0];
/// Below this loss (m²) nothing is left to gain.
const DONE: f64 = 1e-16;

#[derive(Args)]
pub struct Options {
    /// By Adam, gradient descent (as the paper), or Gauss's and Newton's steps of least length
    #[arg(long, value_parser = ["adam", "descent", "gauss-newton"], default_value = "adam")]
    method: String,
    #[arg(long, default_value_t = 200)]
    iterations: usize,
    /// Of Adam or descent
    #[arg(long, default_value_t = 0.009)]
    rate: f64,
    /// One line of JSON
    #[arg(long)]
    json: bool,
}

/// The table: eleven balls without friction.
fn table() -> Result<(PointSystem, Vec<[f64; 2]>), Failure> {
    let mut rack = Vec::new();
    for i in 0..4 {
        for j in 0..=i {
            let (i, j) = (f64::from(i), f64::from(j));
            rack.push([0.5 + 2.0 * i * RADIUS, 0.5 + 2.0 * j * RADIUS - 0.7 * i * RADIUS]);
        }
    }
    let balls = rack.len() + 1;
    let mut contacts = Vec::new();
    for i in 0..balls {
        for j in i + 1..balls {
            contacts.push(PointContact { geometry: Geometry::Disks([i, j]), surface: 0 });
        }
    }
    let bodies = vec![ExtendedBody { axes: 0, radius: RADIUS }; balls];
    let system = PointSystem::new(2, bodies, vec![], contacts, Potential::default(), 0.003)?;
    Ok((system, rack))
}

/// Where the last ball ends, from its goal.
fn shoot<T: Real>(system: &PointSystem, rack: &[[f64; 2]], white: &[T]) -> Result<[T; 2], Failure> {
    let balls = rack.len() + 1;
    let parameters = PointParameters {
        masses: vec![T::constant(1.0); balls],
        moments: Vec::new(),
        friction: vec![T::zero()],
        restitution: vec![T::constant(0.8)],
    };
    let mut x = white[..2].to_vec();
    x.extend(rack.iter().flatten().map(|&x| T::constant(x)));
    let mut v = white[2..].to_vec();
    v.resize(2 * balls, T::zero());
    let mut step = PointStep::default();
    for k in 0..STEPS {
        let (form, rule) = (Formulation::Lagrangian, ImpactRule::default());
        step.step(system, &parameters, form, rule, &mut &system.potential, &mut x, &mut v);
        if !step.report.is_solved() {
            return Err(format!(
                "the impacts of step {k} were not solved: {:?}",
                step.report.impulses
            )
            .into());
        }
    }
    let last = &x[2 * (balls - 1)..];
    Ok([last[0] - GOAL[0], last[1] - GOAL[1]])
}

/// J'(J J')^-1 r, no longer than a radius: impacts change with the start.
fn least_step(off: [Dual<f64, 4>; 2]) -> [f64; 4] {
    let [a, b] = off.map(|o| o.tangent);
    let dot = |x: [f64; 4], y: [f64; 4]| (0..4).map(|k| x[k] * y[k]).sum::<f64>();
    let (aa, ab, bb) = (dot(a, a), dot(a, b), dot(b, b));
    let determinant = aa * bb - ab * ab;
    let [r, s] = off.map(|o| o.value);
    let weights = [(bb * r - ab * s) / determinant, (aa * s - ab * r) / determinant];
    let step: [f64; 4] = std::array::from_fn(|k| weights[0] * a[k] + weights[1] * b[k]);
    let length = dot(step, step).sqrt();
    step.map(|s| s * (RADIUS / length).min(1.0))
}

pub fn run(options: &Options) -> Result<ExitCode, Failure> {
    let (system, rack) = table()?;
    let mut white = START;
    let mut best = (f64::INFINITY, white, 0);
    let mut losses = Vec::new();
    let mut moments = [[0.0; 2]; 4];
    for iteration in 0..=options.iterations {
        let seeded: [Dual<f64, 4>; 4] = std::array::from_fn(|k| {
            Dual::new(white[k], std::array::from_fn(|l| f64::from(u8::from(k == l))))
        });
        let off = shoot(&system, &rack, &seeded)?;
        let [r, s] = off.map(|o| o.value);
        let loss = r * r + s * s;
        losses.push(loss);
        // The loss jumps where impacts change, and a search that only goes down is caught before the first jump: this one
        // goes on, and keeps the best.
        if loss < best.0 {
            best = (loss, white, iteration);
        }
        if !options.json && (iteration % 20 == 0 || loss <= DONE) {
            eprintln!("{iteration}: loss {loss:.8e} m², white ball {white:.4?}");
        }
        if loss <= DONE {
            break;
        }
        let [a, b] = off.map(|o| o.tangent);
        let gradient = |k: usize| 2.0 * (r * a[k] + s * b[k]);
        let step = match options.method.as_str() {
            "descent" => std::array::from_fn(|k| options.rate * gradient(k)),
            "adam" => {
                let rate = cosine_rate(options.rate, iteration, options.iterations);
                let t = iteration as i32 + 1;
                std::array::from_fn(|k| {
                    let [mean, square] = &mut moments[k];
                    rate * Moments::default().direction(t, gradient(k), mean, square)
                })
            }
            _ => least_step(off),
        };
        white = std::array::from_fn(|k| white[k] - step[k]);
        if white.iter().any(|x| !x.is_finite()) {
            return Err(format!("iteration {iteration}: the last ball does not move with the white one, or --rate {} is too large", options.rate).into());
        }
    }
    let (loss, white, iteration) = best;
    if options.json {
        let line = serde_json::json!({ "version": env!("CARGO_PKG_VERSION"), "method": options.method, "loss": loss, "white": white, "iteration": iteration, "losses": losses });
        println!("{line}");
    } else {
        println!(
            "loss {:.8} m² -> {loss:.3e} m² in {iteration} iterations of {}; the last ball ends {:.2e} m from its goal",
            losses[0],
            options.method,
            loss.sqrt()
        );
        println!(
            "white ball at ({:.6}, {:.6}) m with ({:.6}, {:.6}) m/s",
            white[0], white[1], white[2], white[3]
        );
    }
    Ok(ExitCode::SUCCESS)
}
