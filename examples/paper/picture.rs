//! The figures as SVG.

use plotters::coord::Shift;
use plotters::prelude::*;

use super::study::{Run, Unknown};

const PANEL: (u32, u32) = (640, 420);
const FONT: (&str, u32) = ("sans-serif", 20);
const INK: RGBColor = RGBColor(40, 40, 40);
const GRID: RGBColor = RGBColor(225, 225, 225);
const TRUTH: RGBColor = RGBColor(217, 119, 6);
const RUN: RGBColor = RGBColor(29, 78, 216);

type Drawn<'a> = Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub type Curve = Vec<(f64, f64)>;

/// Estimates against iterations, a panel for each unknown and a line for each start.
pub fn convergence(title: &str, unknowns: &[Unknown], runs: &[Run]) -> Result<String, String> {
    let size = (PANEL.0 * unknowns.len() as u32, PANEL.1);
    drawn(size, |root| {
        let panels = root.split_evenly((1, unknowns.len()));
        for (index, (area, unknown)) in panels.iter().zip(unknowns).enumerate() {
            let curve = |run: &Run| -> Curve {
                run.path.iter().enumerate().map(|(k, x)| (k as f64, x[index])).collect()
            };
            let curves: Vec<(Curve, RGBColor)> = runs.iter().map(|run| (curve(run), RUN)).collect();
            let last = runs.iter().map(|run| run.path.len()).max().unwrap_or(2) as f64 - 1.0;
            let truth = vec![(0.0, unknown.truth), (last, unknown.truth)];
            let [lower, upper] = unknown.bounds;
            let caption = format!("{title}: {}", unknown.name);
            let ranges = ([0.0, last], [lower.min(0.0), upper]);
            chart(area, &caption, ("iteration", "estimate"), ranges, &curves, &truth)?;
        }
        Ok(())
    })
}

/// Estimates over the truth against the direction, of the cone and the pyramid, and what theory says of the pyramid.
pub fn directions(cone: &Curve, pyramid: &Curve, theory: &Curve) -> Result<String, String> {
    drawn((900, 520), |root| {
        let caption = "estimate / mu: cone (blue), pyramid (dark), closed form (orange)";
        let curves = [(cone.clone(), RUN), (pyramid.clone(), INK)];
        let labels = ("direction of the slide (degrees)", "estimate / mu");
        chart(root, caption, labels, ([0.0, 90.0], [0.6, 1.1]), &curves, theory)
    })
}

fn drawn(
    size: (u32, u32),
    draw: impl for<'a> Fn(&Area<'a>) -> Drawn<'a>,
) -> Result<String, String> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        let result = root.fill(&WHITE).and_then(|()| draw(&root)).and_then(|()| root.present());
        result.map_err(|e| e.to_string())?;
    }
    Ok(svg)
}

fn chart<'a>(
    area: &Area<'a>,
    caption: &str,
    (x, y): (&str, &str),
    (wide, high): ([f64; 2], [f64; 2]),
    curves: &[(Curve, RGBColor)],
    truth: &Curve,
) -> Drawn<'a> {
    let mut chart = ChartBuilder::on(area)
        .margin(14)
        .caption(caption, (FONT.0, FONT.1, &INK))
        .x_label_area_size(48)
        .y_label_area_size(64)
        .build_cartesian_2d(wide[0]..wide[1], high[0]..high[1])?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .axis_style(INK)
        .label_style((FONT.0, 16, &INK))
        .x_labels(7)
        .y_labels(6)
        .x_desc(x)
        .y_desc(y)
        .draw()?;
    chart.draw_series(LineSeries::new(truth.iter().copied(), TRUTH.stroke_width(3)))?;
    for (curve, color) in curves {
        chart.draw_series(LineSeries::new(curve.iter().copied(), color.stroke_width(1)))?;
        if let Some(&last) = curve.last() {
            chart.draw_series([Circle::new(last, 3, color.filled())])?;
        }
    }
    Ok(())
}
