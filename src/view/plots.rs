//! Pictures of results, as SVG.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::Error;
use crate::identify::{Dataset, Experiment, Fit, FittedParameter, Window, initial_state, replay};
use crate::model::{JointKind, Model, Parameters};
use crate::state::{Coordinates, State};

/// Most panels of a picture; of more recordings, the first are shown.
const PANELS: usize = 6;
/// Most parameters named in the title.
const NAMED: usize = 2;
/// Dots of the longest recording; as dense in the others.
const DOTS: usize = 28;
/// Most points of the line of a window.
const POINTS: usize = 120;
/// A first guess that leaves the recordings behind is cut off at this many times their height.
const HEADROOM: f64 = 1.6;

// The canvas is twice as wide as it is shown, since points are rounded to whole units of it.
const WIDTH: u32 = 1800;
const HEAD: u32 = 150;
const ROW: u32 = 470;
const TITLE_TEXT: u32 = 42;
const LEGEND_TEXT: u32 = 36;
const AXIS_TEXT: u32 = 32;
const TICK_TEXT: u32 = 30;
const STROKE: u32 = 4;
const DOT: u32 = 6;
const FONT: &str = "sans-serif";
const INK: RGBColor = RGBColor(40, 40, 40);
const DATA: RGBColor = RGBColor(120, 120, 120);
const GUESS: RGBColor = RGBColor(217, 119, 6);
const FIT: RGBColor = RGBColor(29, 78, 216);
const GRID: RGBColor = RGBColor(225, 225, 225);

type Curve = Vec<(f64, f64)>;

/// What is drawn of one recording: time in s, horizontal distance from its start in m.
struct Panel {
    title: String,
    data: Curve,
    /// One line a window, with the parameters the search started from.
    guess: Vec<Curve>,
    /// One line a window, with the identified parameters.
    fit: Vec<Curve>,
}

/// Recordings, first guess and fit as an SVG picture, a panel for each of up to six recordings: the
/// horizontal distance of the body that moves farthest from where it starts, over time.
///
/// The first guess is the simulation with the parameters the search started from, from the initial
/// states it started from; the fit that with the identified parameters and initial states.
///
/// # Errors
/// If the picture cannot be drawn.
pub fn fit_plot(experiment: &Experiment, dataset: &Dataset, fit: &Fit) -> Result<String, Error> {
    let first: Vec<usize> = (0..dataset.trajectories.len().min(PANELS)).collect();
    let states = dataset.all_states(&fit.initial_states);
    let panels = panels(experiment, &dataset.with_recordings(&first), fit, &states);
    let found = |p: &FittedParameter| format!("{} {} → {:.4}", p.name, p.initial, p.value);
    let mut named: Vec<String> = fit.parameters.iter().take(NAMED).map(found).collect();
    if fit.parameters.len() > NAMED {
        named.push("…".into());
    }
    let title = plain(&format!("{}: {}", experiment.name, named.join(", ")));
    let mut svg = String::new();
    draw(&panels, &title, &mut svg)
        .map_err(|error| Error::io("plot", std::io::Error::other(error.to_string())))?;
    Ok(svg)
}

fn panels(
    experiment: &Experiment,
    dataset: &Dataset,
    fit: &Fit,
    states: &[State<f64>],
) -> Vec<Panel> {
    let mut start = experiment.scene.parameters.clone();
    for (parameter, fitted) in experiment.parameters.iter().zip(&fit.parameters) {
        parameter.set(fitted.initial, &mut start);
    }
    let shown = dataset.trajectories.iter().take(PANELS);
    let longest = shown.map(|recording| recording.states.len()).max().unwrap_or(1);
    let recordings = dataset.trajectories.iter().enumerate().take(PANELS);
    recordings
        .map(|(index, recording)| {
            let first = &recording.states[0];
            let model = &experiment.scene.model;
            let distance = |state: &State<f64>, origin: &State<f64>, body| {
                distance(model, state, origin, body)
            };
            let farthest = |body: usize| {
                recording.states.iter().map(|s| distance(s, first, body)).fold(0.0, f64::max)
            };
            let moving = |&body: &usize| model.bodies[body].joint.kind != JointKind::Fixed;
            let body = (0..model.bodies.len())
                .filter(moving)
                .max_by(|&a, &b| farthest(a).total_cmp(&farthest(b)))
                .unwrap_or(0);
            let windows = dataset.windows.iter().zip(states);
            let windows = windows.filter(|(w, _)| w.trajectory == index);
            let windows: Vec<_> = windows
                .map(|(w, fitted)| (w, initial_state(experiment, dataset, w), fitted))
                .collect();
            // A smoothed start is nearer to where the body was than its noisy first frame.
            let origin = windows.first().map_or(first, |(_, initial, _)| initial);
            let time = |frame: usize| recording.times[frame] - recording.times[0];
            let count = (DOTS * recording.states.len()).div_ceil(longest).max(2);
            let frames = thinned(0..recording.states.len(), count);
            let line = |window: &Window, initial: &State<f64>, parameters: &Parameters<f64>| {
                let states = simulate(experiment, dataset, window, initial, parameters);
                thinned(0..states.len(), POINTS)
                    .map(|k| (time(window.first + k), distance(&states[k], origin, body)))
                    .take_while(|(_, y)| y.is_finite())
                    .collect::<Curve>()
            };
            Panel {
                title: match model.bodies.len() {
                    1 => file_name(&recording.name).to_string(),
                    _ => {
                        let body = &experiment.scene.model.bodies[body].name;
                        format!("{}: {body}", file_name(&recording.name))
                    }
                },
                data: frames
                    .map(|k| (time(k), distance(&recording.states[k], origin, body)))
                    .collect(),
                guess: windows.iter().map(|(w, initial, _)| line(w, initial, &start)).collect(),
                fit: windows
                    .iter()
                    .map(|(w, _, fitted)| line(w, fitted, &fit.identified))
                    .collect(),
            }
        })
        .collect()
}

/// The states of a window at the recorded times.
fn simulate(
    experiment: &Experiment,
    dataset: &Dataset,
    window: &Window,
    initial: &State<f64>,
    parameters: &Parameters<f64>,
) -> Vec<State<f64>> {
    let system = dataset.system(&experiment.scene, parameters);
    let mut states = Vec::with_capacity(window.steps + 1);
    let part = (window.trajectory, window.first, window.steps);
    let inputs = &experiment.scene.inputs;
    replay(system, dataset, part, initial.clone(), inputs, |_, state| states.push(state.clone()));
    states
}

/// The last part of a path, if it has one.
/// A text without what a picture cannot have in it: names of files may have any character.
fn plain(text: &str) -> String {
    let cannot = |c: char| c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}');
    text.chars().map(|c| if cannot(c) { ' ' } else { c }).collect()
}

fn file_name(path: &str) -> &str {
    std::path::Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or(path)
}

/// How far a free body is from where it was, over the ground, m; a joint, in its own coordinates.
fn distance(model: &Model, state: &State<f64>, origin: &State<f64>, body: usize) -> f64 {
    let joint = &model.bodies[body].joint;
    let from = |k: usize| state.q[joint.q + k] - origin.q[joint.q + k];
    match joint.kind.coordinates() {
        None => 0.0,
        Some(Coordinates::Pose) => from(0).hypot(from(1)),
        Some(Coordinates::Number) => from(0).abs(),
        // The angle, from the part of the quaternion between them that is along the axis.
        Some(Coordinates::Rotation) => {
            let dot: f64 =
                (0..4).map(|k| state.q[joint.q + k] * origin.q[joint.q + k]).sum::<f64>();
            2.0 * dot.abs().min(1.0).acos()
        }
    }
}

/// At most `most` numbers of a range, evenly spaced, with both ends.
fn thinned(range: std::ops::Range<usize>, most: usize) -> impl Iterator<Item = usize> {
    let last = range.len().saturating_sub(1);
    let count = range.len().min(most);
    (0..count).map(move |k| range.start + k * last / (count - 1).max(1))
}

type Drawn<'a> = Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

fn draw<'a>(panels: &[Panel], title: &str, svg: &'a mut String) -> Drawn<'a> {
    let columns = panels.len().clamp(1, 3);
    let rows = panels.len().div_ceil(columns).max(1);
    let size = (WIDTH, HEAD + ROW * rows as u32);
    let root = SVGBackend::with_string(svg, size).into_drawing_area();
    root.fill(&WHITE)?;
    let (head, body) = root.split_vertically(HEAD);
    draw_head(&head, title)?;

    let top = |curves: &mut dyn Iterator<Item = &Curve>| {
        curves.flatten().fold((0.0_f64, 0.0_f64), |(t, y), p| (t.max(p.0), y.max(p.1)))
    };
    let recorded = top(&mut panels.iter().flat_map(|p| std::iter::once(&p.data).chain(&p.fit)));
    let all = top(&mut panels.iter().flat_map(|p| std::iter::once(&p.data).chain(&p.guess)));
    // Never empty, not even of a body at rest.
    let time = 1.02 * recorded.0.max(1e-3);
    let height = 1.05 * all.1.min(HEADROOM * recorded.1).max(recorded.1).max(1e-3);

    let areas = body.split_evenly((rows, columns));
    for (index, (area, panel)) in areas.iter().zip(panels).enumerate() {
        let mut chart = ChartBuilder::on(area)
            .margin_right(36)
            .margin_top(20)
            .margin_left(12)
            .caption(plain(&panel.title), (FONT, LEGEND_TEXT, &INK))
            .x_label_area_size(88)
            .y_label_area_size(104)
            .build_cartesian_2d(0.0..time, 0.0..height)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID.stroke_width(2))
            .axis_style(INK.stroke_width(2))
            .label_style((FONT, TICK_TEXT, &INK))
            .axis_desc_style((FONT, AXIS_TEXT, &INK))
            .set_all_tick_mark_size(10)
            .x_labels(5)
            .y_labels(5)
            .x_desc("time (s)")
            .y_desc(if index % columns == 0 { "distance from start (m)" } else { "" })
            .draw()?;
        for (curves, color) in [(&panel.guess, GUESS), (&panel.fit, FIT)] {
            if color == FIT {
                let inside = panel.data.iter().filter(|(_, y)| *y <= height);
                chart.draw_series(inside.map(|&p| Circle::new(p, DOT, DATA.filled())))?;
            }
            for curve in curves {
                let inside = curve.iter().copied().take_while(|(_, y)| *y <= height);
                chart.draw_series(LineSeries::new(inside, color.stroke_width(STROKE)))?;
            }
        }
    }
    root.present()
}

/// Title and legend.
fn draw_head<'a>(area: &Area<'a>, title: &str) -> Drawn<'a> {
    let middle = Pos::new(HPos::Left, VPos::Center);
    let heading = (FONT, TITLE_TEXT).into_text_style(area).color(&INK).pos(middle);
    area.draw_text(title, &heading, (32, 44))?;
    let label = (FONT, LEGEND_TEXT).into_text_style(area).color(&INK).pos(middle);
    let (mut x, y) = (32, 112);
    for (name, color) in [("data", DATA), ("first guess", GUESS), ("fit", FIT)] {
        if color == DATA {
            for k in 0..3 {
                area.draw(&Circle::new((x + 6 + 22 * k, y), DOT, color.filled()))?;
            }
        } else {
            area.draw(&PathElement::new([(x, y), (x + 56, y)], color.stroke_width(STROKE)))?;
        }
        area.draw_text(name, &label, (x + 74, y))?;
        x += 134 + 15 * name.len() as i32;
    }
    Ok(())
}
