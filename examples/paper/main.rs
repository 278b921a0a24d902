//! The experiments of Le Lidec et al., "Differentiable simulation for physical system identification"
//! (2021), Fig. 4 to 6, from many starts. The recordings are made by a simulator independent of the crate
//! (`examples/slides/simulator.rs`, for two cubes `collision.rs`) at a time step of 1/1920 s, with
//! 1 mm and 0.2 degrees of noise per axis; they are identified at 1/480 or 1/960 s.
//!
//! `cargo run --release --example paper -- [fig4a|fig4b|fig5|fig6|all] [--out FOLDER]` prints what is found
//! and writes each figure as SVG into FOLDER (default `examples/paper`).

mod collision;
mod fig4;
mod fig5;
mod fig6;
mod picture;
#[path = "../slides/recording.rs"]
mod recording;
#[path = "../slides/simulator.rs"]
mod simulator;
mod study;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use stiction::identify::{Dataset, Experiment};

use study::{Run, Unknown};

const STARTS: usize = 20;
/// All eight corners of the bounds are among them.
const STARTS_OF_THREE: usize = 24;
/// Directions of Fig. 5, degrees, and starts in each.
const DIRECTIONS: usize = 13;
const STARTS_PER_DIRECTION: usize = 3;

fn main() -> ExitCode {
    match arguments().and_then(|(figure, folder)| run(&figure, &folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn arguments() -> Result<(String, PathBuf), String> {
    let (mut figure, mut folder) = ("all".to_string(), PathBuf::from("examples/paper"));
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--out" => folder = arguments.next().ok_or("--out needs a folder")?.into(),
            "fig4a" | "fig4b" | "fig5" | "fig6" | "all" => figure = argument,
            other => return Err(format!("{other}: give fig4a, fig4b, fig5, fig6 or all")),
        }
    }
    Ok((figure, folder))
}

fn run(figure: &str, folder: &Path) -> Result<(), String> {
    let wanted = |name: &str| figure == name || figure == "all";
    if wanted("fig4a") {
        let unknowns = [fig4::FRICTION];
        let runs = identify("Fig. 4a, friction", fig4::friction()?, &unknowns, STARTS)?;
        let svg = picture::convergence("Fig. 4a", &unknowns, &runs)?;
        write(folder, "fig4a.svg", &svg)?;
    }
    if wanted("fig4b") {
        let unknowns = [fig4::WEIGHT];
        let runs = identify("Fig. 4b, mass", fig4::mass()?, &unknowns, STARTS)?;
        let svg = picture::convergence("Fig. 4b", &unknowns, &runs)?;
        write(folder, "fig4b.svg", &svg)?;
    }
    if wanted("fig5") {
        cone_and_pyramid(folder)?;
    }
    if wanted("fig6") {
        let title = "Fig. 6, against a known cube";
        let runs = identify(title, fig6::collisions()?, &fig6::UNKNOWNS, STARTS_OF_THREE)?;
        let svg = picture::convergence("Fig. 6", &fig6::UNKNOWNS, &runs)?;
        write(folder, "fig6.svg", &svg)?;
        println!("Fig. 6 without the collision");
        let (experiment, dataset) = fig6::misses()?;
        let starts = study::starts(&fig6::UNKNOWNS, 3);
        for run in study::study(&experiment, &dataset, &starts)? {
            println!("  {:.3?}: {}", run.estimate(), run.status);
            run.warnings.iter().for_each(|warning| println!("    {warning}"));
        }
    }
    Ok(())
}

fn cone_and_pyramid(folder: &Path) -> Result<(), String> {
    let mu = fig5::FRICTION.truth;
    for (solver, expected) in [("coupled", mu), ("pyramid", mu / 2.0_f64.sqrt())] {
        let unknowns = [Unknown { truth: expected, ..fig5::FRICTION }];
        let title = format!("Fig. 5 at 45 degrees, {solver}");
        identify(&title, fig5::slides(45.0, solver)?, &unknowns, STARTS)?;
    }
    println!("Fig. 5 by direction: degrees, cone / mu, pyramid / mu, closed form");
    let starts = study::starts(&[fig5::FRICTION], STARTS_PER_DIRECTION);
    let (mut cone, mut pyramid, mut theory) = (Vec::new(), Vec::new(), Vec::new());
    for k in 0..DIRECTIONS {
        let direction = 90.0 * k as f64 / (DIRECTIONS - 1) as f64;
        for (solver, curve) in [("coupled", &mut cone), ("pyramid", &mut pyramid)] {
            let (experiment, dataset) = fig5::slides(direction, solver)?;
            let runs = study::study(&experiment, &dataset, &starts)?;
            // The start that ends farthest from the truth.
            let estimates = runs.iter().map(|run| run.estimate()[0] / mu);
            let worst = estimates.max_by(|a, b| (a - 1.0).abs().total_cmp(&(b - 1.0).abs()));
            curve.push((direction, worst.unwrap_or(f64::NAN)));
        }
        theory.push((direction, fig5::theory(direction)));
        println!("  {direction:5.1}  {:.4}  {:.4}  {:.4}", cone[k].1, pyramid[k].1, theory[k].1);
    }
    write(folder, "fig5.svg", &picture::directions(&cone, &pyramid, &theory)?)
}

/// Identifies from many starts and prints where they end.
fn identify(
    title: &str,
    (experiment, dataset): (Experiment, Dataset),
    unknowns: &[Unknown],
    count: usize,
) -> Result<Vec<Run>, String> {
    let begin = Instant::now();
    let runs = study::study(&experiment, &dataset, &study::starts(unknowns, count))?;
    println!("{title}: {count} starts, {:.1} s", begin.elapsed().as_secs_f64());
    for run in &runs {
        let Run { start, status, iterations, loss, .. } = run;
        let name = status.name();
        println!(
            "  {start:.3?} -> {:.5?}  loss {loss:.4}, {iterations} it., {name}",
            run.estimate()
        );
    }
    for (index, unknown) in unknowns.iter().enumerate() {
        let study::Spread { worst, median, sd, within } =
            study::spread(&runs, index, unknown.truth);
        println!(
            "  {} = {:.4}: worst {:+.3} %, median {:+.3} %, sd {:.4} %, within 1 %: {within} of {count}",
            unknown.name,
            unknown.truth,
            100.0 * worst,
            100.0 * median,
            100.0 * sd,
        );
    }
    Ok(runs)
}

fn write(folder: &Path, name: &str, svg: &str) -> Result<(), String> {
    let path = folder.join(name);
    let error = |e| format!("cannot write {}: {e}", path.display());
    std::fs::create_dir_all(folder).map_err(error)?;
    std::fs::write(&path, svg).map_err(error)?;
    println!("wrote {}", path.display());
    Ok(())
}
