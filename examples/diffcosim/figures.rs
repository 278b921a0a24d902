//! Pictures of what was learned: the error of predictions over fifty steps [Zhong21, Fig. 4], the energy of a motion (Fig. 5), and
//! predicted paths over true ones.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use plotters::coord::Shift;
use plotters::prelude::*;
use stiction::learn::{Chunks, Lockstep};
use stiction::maximal::{PointInertia, PointScene};

use crate::model::{self, Model};
use crate::{Failure, data, task};

const STEPS: usize = 50;
const INK: RGBColor = RGBColor(40, 40, 40);
const GRID: RGBColor = RGBColor(225, 225, 225);
const TRUTH: RGBColor = RGBColor(217, 119, 6);
const FOUND: RGBColor = RGBColor(29, 78, 216);

type Drawn<'a> = Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Curve = Vec<(f64, f64)>;

#[derive(Args)]
pub struct Options {
    /// The task that was learned
    task: String,
    /// Another system than the task's
    #[arg(long)]
    system: Option<PathBuf>,
    /// What `train -o` wrote
    #[arg(long)]
    learned: PathBuf,
    #[arg(long, value_delimiter = ',', default_value = "64,64")]
    hidden: Vec<usize>,
    /// Of the motions that are predicted
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The folder to write into
    #[arg(short, long)]
    output: PathBuf,
}

pub fn run(options: &Options) -> Result<ExitCode, Failure> {
    let scene = task::load(&options.task, options.system.as_deref())?;
    let (model, epsilon) = model::kind(&options.learned)?.unwrap_or((Model::CmLagrangian, None));
    let learned = model.system(&scene.system, &options.hidden, epsilon)?;
    let shown = options.output.display();
    std::fs::create_dir_all(&options.output).map_err(|error| format!("{shown}: {error}"))?;
    let unknowns = model::load(&options.learned, &learned)?;
    let data = data::generate(&scene, &options.task, 1, options.seed)?;
    let long = data.long.ok_or("there are no whole motions")?;
    let steps = STEPS.min(long.times() - 1);
    let size = 2 * long.coordinates();
    let starts: Vec<f64> = (0..long.count()).flat_map(|k| long.chunk(k)[..size].to_vec()).collect();
    let lockstep = Lockstep { learned: &learned, threads: 2 };
    let (predicted, _) = lockstep.predict(&unknowns, &starts, steps);
    let motion = |k: usize| &predicted[k * (steps + 1) * size..][..(steps + 1) * size];
    let write = |name: &str, svg: String| -> Result<(), Failure> {
        let path = options.output.join(name);
        std::fs::write(&path, svg).map_err(|error| format!("{}: {error}", path.display()))?;
        println!("{}", path.display());
        Ok(())
    };
    write("error.svg", errors(&long, &motion, steps)?)?;
    write("energy.svg", energies(&scene, &long, &motion, steps)?)?;
    write("paths.svg", paths(&scene, &long, &motion, steps)?)?;
    Ok(ExitCode::SUCCESS)
}

/// Quartiles over all motions of |dz| / |z| at each step, on a logarithmic scale.
fn errors<'a>(
    long: &Chunks,
    motion: &dyn Fn(usize) -> &'a [f64],
    steps: usize,
) -> Result<String, Failure> {
    let size = 2 * long.coordinates();
    let mut curves = vec![Curve::new(); 3];
    for time in 1..=steps {
        let mut errors: Vec<f64> = (0..long.count())
            .map(|k| {
                let (found, expected) =
                    (&motion(k)[time * size..][..size], &long.chunk(k)[time * size..][..size]);
                let squares: f64 = found.iter().zip(expected).map(|(a, b)| (a - b) * (a - b)).sum();
                (squares / expected.iter().map(|b| b * b).sum::<f64>()).sqrt()
            })
            .filter(|error| error.is_finite())
            .collect();
        errors.sort_by(f64::total_cmp);
        if errors.is_empty() {
            return Err("no motion could be predicted".into());
        }
        for (quarter, curve) in [1, 2, 3].into_iter().zip(&mut curves) {
            curve.push((time as f64, errors[quarter * (errors.len() - 1) / 4].max(1e-16).log10()));
        }
    }
    let all = || curves.iter().flatten().map(|&(_, y)| y);
    let high = [all().fold(f64::MAX, f64::min).floor(), all().fold(f64::MIN, f64::max).ceil()];
    drawn((760, 460), |root| {
        let curves: Vec<(Curve, RGBColor)> = curves.iter().map(|c| (c.clone(), FOUND)).collect();
        let caption = "relative error of predictions: quartiles of all motions";
        chart(root, caption, ("step", "log10 |dz| / |z|"), [0.0, steps as f64], high, &curves)
    })
}

/// The true energy of a predicted motion and of the true one.
fn energies<'a>(
    scene: &PointScene,
    long: &Chunks,
    motion: &dyn Fn(usize) -> &'a [f64],
    steps: usize,
) -> Result<String, Failure> {
    let size = long.coordinates();
    let mut inertia = PointInertia::default();
    inertia.set(scene.system.layout(), &scene.parameters);
    let energy = |state: &[f64]| {
        let (x, v) = state.split_at(size);
        let mut momentum = v.to_vec();
        inertia.multiply(&mut momentum);
        let kinetic: f64 = momentum.iter().zip(v).map(|(p, v)| 0.5 * p * v).sum();
        kinetic + scene.system.potential.energy(&inertia, x)
    };
    let step = scene.system.step;
    let curve = |states: &[f64]| -> Curve {
        let states = states.chunks_exact(2 * size).take(steps + 1).enumerate();
        states.map(|(k, state)| (k as f64 * step, energy(state))).collect()
    };
    let mut curves = Vec::new();
    for k in 0..long.count().min(4) {
        curves.push((curve(long.chunk(k)), TRUTH));
        curves.push((curve(motion(k)), FOUND));
    }
    let all = || curves.iter().flat_map(|(c, _)| c).map(|&(_, y)| y).filter(|y| y.is_finite());
    let (low, most) = (all().fold(f64::MAX, f64::min), all().fold(f64::MIN, f64::max));
    let room = 0.05 * (most - low).max(1e-3);
    drawn((760, 460), |root| {
        let caption = "energy of four motions: true (orange), predicted (blue)";
        let wide = [0.0, steps as f64 * step];
        chart(root, caption, ("time (s)", "J"), wide, [low - room, most + room], &curves)
    })
}

/// Centres of bodies in the first four motions.
fn paths<'a>(
    scene: &PointScene,
    long: &Chunks,
    motion: &dyn Fn(usize) -> &'a [f64],
    steps: usize,
) -> Result<String, Failure> {
    let (system, size) = (&scene.system, 2 * long.coordinates());
    let d = system.dimension();
    // In space seen along y.
    let axes = if d == 2 { [0, 1] } else { [0, 2] };
    let of = |states: &[f64], color: RGBColor| -> Vec<(Curve, RGBColor)> {
        (0..system.bodies().len())
            .map(|body| {
                let centre = system.layout().centre(body) * d;
                let place = |state: &[f64]| (state[centre + axes[0]], state[centre + axes[1]]);
                (states.chunks_exact(size).take(steps + 1).map(place).collect(), color)
            })
            .collect()
    };
    let count = long.count().min(4);
    let panels: Vec<Vec<(Curve, RGBColor)>> =
        (0..count).map(|k| [of(long.chunk(k), TRUTH), of(motion(k), FOUND)].concat()).collect();
    let range = |pick: fn(&(f64, f64)) -> f64| {
        let all =
            || panels.iter().flatten().flat_map(|(c, _)| c).map(pick).filter(|x| x.is_finite());
        [all().fold(f64::MAX, f64::min) - 0.05, all().fold(f64::MIN, f64::max) + 0.05]
    };
    let (wide, high) = (range(|p| p.0), range(|p| p.1));
    drawn((300 * count as u32, 340), |root| {
        for (area, curves) in root.split_evenly((1, count)).iter().zip(&panels) {
            chart(area, "true (orange), predicted", ("m", "m"), wide, high, curves)?;
        }
        Ok(())
    })
}

fn drawn(
    size: (u32, u32),
    draw: impl for<'a> Fn(&Area<'a>) -> Drawn<'a>,
) -> Result<String, Failure> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        let result = root.fill(&WHITE).and_then(|()| draw(&root)).and_then(|()| root.present());
        result.map_err(|error| error.to_string())?;
    }
    Ok(svg)
}

fn chart<'a>(
    area: &Area<'a>,
    caption: &str,
    (x, y): (&str, &str),
    wide: [f64; 2],
    high: [f64; 2],
    curves: &[(Curve, RGBColor)],
) -> Drawn<'a> {
    let mut chart = ChartBuilder::on(area)
        .margin(14)
        .caption(caption, ("sans-serif", 18, &INK))
        .x_label_area_size(44)
        .y_label_area_size(56)
        .build_cartesian_2d(wide[0]..wide[1], high[0]..high[1])?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .axis_style(INK)
        .label_style(("sans-serif", 14, &INK))
        .x_labels(5)
        .y_labels(6)
        .x_desc(x)
        .y_desc(y)
        .draw()?;
    for (curve, color) in curves {
        let width = if *color == TRUTH { 4 } else { 1 };
        let finite = curve.iter().copied().filter(|p| p.0.is_finite() && p.1.is_finite());
        chart.draw_series(LineSeries::new(finite, color.stroke_width(width)))?;
    }
    Ok(())
}
