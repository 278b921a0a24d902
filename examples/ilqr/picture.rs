//! The figures as SVG.

use plotters::coord::Shift;
use plotters::prelude::*;

const PANEL: (u32, u32) = (520, 360);
const FONT: (&str, u32) = ("sans-serif", 18);
const INK: RGBColor = RGBColor(40, 40, 40);
const GRID: RGBColor = RGBColor(225, 225, 225);
const COLOURS: [RGBColor; 3] =
    [RGBColor(29, 78, 216), RGBColor(217, 119, 6), RGBColor(120, 120, 120)];

type Drawn<'a> = Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A line and what it is called.
pub struct Curve {
    pub name: &'static str,
    pub points: Vec<(f64, f64)>,
}

/// Lines over one axis.
pub struct Panel {
    pub title: String,
    pub axes: [&'static str; 2],
    /// Decades instead of numbers.
    pub logarithmic: bool,
    pub curves: Vec<Curve>,
}

/// Panels side by side.
pub fn draw(panels: &[Panel]) -> Result<String, String> {
    let mut svg = String::new();
    {
        let size = (PANEL.0 * panels.len() as u32, PANEL.1);
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        let result = root.fill(&WHITE).and_then(|()| {
            let areas = root.split_evenly((1, panels.len()));
            areas.iter().zip(panels).try_for_each(|(area, panel)| chart(area, panel))
        });
        result.and_then(|()| root.present()).map_err(|error| error.to_string())?;
    }
    Ok(svg)
}

fn chart<'a>(area: &Area<'a>, panel: &Panel) -> Drawn<'a> {
    let value = |y: f64| if panel.logarithmic { y.max(1e-12).log10() } else { y };
    let points = || panel.curves.iter().flat_map(|curve| &curve.points);
    let range = |of: &dyn Fn(&(f64, f64)) -> f64| {
        let (low, high) =
            points().map(of).fold((f64::MAX, f64::MIN), |(l, h), x| (l.min(x), h.max(x)));
        let margin = 0.05 * (high - low).max(1e-9);
        low - margin..high + margin
    };
    let (x, y) = (range(&|point| point.0), range(&|point| value(point.1)));
    let names: Vec<&str> = panel.curves.iter().map(|curve| curve.name).collect();
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .caption(format!("{}: {}", panel.title, names.join(", ")), (FONT.0, FONT.1, &INK))
        .x_label_area_size(44)
        .y_label_area_size(58)
        .build_cartesian_2d(x, y)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .axis_style(INK)
        .label_style((FONT.0, 15, &INK))
        .x_labels(6)
        .y_labels(6)
        .x_desc(panel.axes[0])
        .y_desc(panel.axes[1])
        .draw()?;
    for (curve, colour) in panel.curves.iter().zip(COLOURS.iter().cycle()) {
        let mut line = curve.points.iter().map(|&(x, y)| (x, value(y)));
        chart.draw_series(LineSeries::new(line.clone(), colour.stroke_width(2)))?;
        if let Some(last) = line.next_back() {
            let label = Text::new(curve.name, last, (FONT.0, 15).into_font().color(colour));
            chart.draw_series([label])?;
        }
    }
    Ok(())
}
