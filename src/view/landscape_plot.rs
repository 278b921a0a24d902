//! A cost over two variables, as an SVG picture: the darker the dearer, with arrows down its gradient.

use plotters::prelude::*;

use crate::Error;
use crate::optimize::Landscape;

const WIDTH: u32 = 1400;
const HEIGHT: u32 = 1100;
const TEXT: u32 = 30;
const MARGIN: u32 = 30;
const FONT: &str = "sans-serif";
/// Arrows along the longer side, about.
const ARROWS: usize = 16;
/// Costs below this part of the largest look the same.
const DARKEST: f64 = 1e-6;

/// The cost of a landscape by colour, on a logarithmic scale, and arrows down the gradient.
///
/// # Errors
/// If the picture cannot be drawn.
pub fn landscape_plot(landscape: &Landscape) -> Result<String, Error> {
    let mut svg = String::new();
    draw(landscape, &mut svg)
        .map_err(|error| Error::io("plot", std::io::Error::other(error.to_string())))?;
    Ok(svg)
}

/// The values with half a cell beyond both ends.
fn range(values: &[f64]) -> std::ops::Range<f64> {
    let half = cell(values) / 2.0;
    values[0] - half..values[values.len() - 1] + half
}

fn cell(values: &[f64]) -> f64 {
    (values[values.len() - 1] - values[0]) / (values.len() - 1) as f64
}

fn draw(landscape: &Landscape, svg: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let Landscape { names, first, second, cost, gradient } = landscape;
    let root = SVGBackend::with_string(svg, (WIDTH, HEIGHT)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .margin(MARGIN)
        .x_label_area_size(3 * TEXT)
        .y_label_area_size(4 * TEXT)
        .build_cartesian_2d(range(first), range(second))?;
    chart
        .configure_mesh()
        .disable_mesh()
        .x_desc(&names[0])
        .y_desc(&names[1])
        .label_style((FONT, TEXT))
        .axis_desc_style((FONT, TEXT))
        .draw()?;
    let finite = || cost.iter().copied().filter(|cost| cost.is_finite());
    let largest = finite().fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let smallest = finite().fold(largest, f64::min).max(DARKEST * largest);
    let span = (largest / smallest).ln().max(f64::MIN_POSITIVE);
    let (dx, dy) = (cell(first) / 2.0, cell(second) / 2.0);
    let cells = cost.iter().enumerate().map(|(at, &cost)| {
        let (x, y) = (first[at % first.len()], second[at / first.len()]);
        let share = ((cost.max(smallest) / smallest).ln() / span).clamp(0.0, 1.0);
        let shade = |low: f64, high: f64| (low + share * (high - low)) as u8;
        let colour = match cost.is_finite() {
            true => RGBColor(shade(255.0, 30.0), shade(250.0, 60.0), shade(220.0, 120.0)),
            false => RGBColor(200, 200, 200),
        };
        Rectangle::new([(x - dx, y - dy), (x + dx, y + dy)], colour.filled())
    });
    chart.draw_series(cells)?;
    let every = first.len().max(second.len()).div_ceil(ARROWS);
    let (x, y) = (range(first), range(second));
    let (wide, high) = (x.end - x.start, y.end - y.start);
    let length = 0.8 / ARROWS as f64;
    for (at, slope) in gradient.iter().enumerate() {
        let (column, row) = (at % first.len(), at / first.len());
        if column % every != every / 2 || row % every != every / 2 {
            continue;
        }
        // On the picture, where both axes are as long.
        let down = [-slope[0] * wide, -slope[1] * high];
        let size = down[0].hypot(down[1]);
        if !(size > 0.0 && size.is_finite()) {
            continue;
        }
        let unit = down.map(|d| d / size * length);
        let (x, y) = (first[column], second[row]);
        let end = (x + unit[0] * wide, y + unit[1] * high);
        chart.draw_series(LineSeries::new([(x, y), end], BLACK.stroke_width(2)))?;
        chart.draw_series([Circle::new(end, 4, BLACK.filled())])?;
    }
    root.present()?;
    drop(chart);
    drop(root);
    Ok(())
}
