//! Edges cut at the borders of rows.

use super::piece::{Edge, Level, Line};

/// A part of an edge within a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strip {
    pub edge: u32,
    /// Upper and lower end, px.
    pub upper: [f64; 2],
    pub lower: [f64; 2],
    pub levels: [Level; 2],
    /// Whether its edge goes down.
    pub down: bool,
}

impl Strip {
    /// Of a whole edge.
    pub fn new(index: usize, edge: &Edge) -> Strip {
        let Edge { from, to, line } = *edge;
        let down = from[1] <= to[1];
        let (upper, lower) = if down { (from, to) } else { (to, from) };
        let levels = match line {
            Line::Corners(ends) => {
                let ends = ends.map(Level::Corner);
                if down { ends } else { [ends[1], ends[0]] }
            }
            _ => [Level::Fixed(upper[1]), Level::Fixed(lower[1])],
        };
        Strip { edge: index as u32, upper, lower, levels, down }
    }

    /// Where it is at a height.
    pub fn at(&self, y: f64) -> f64 {
        let ([x0, y0], [x1, y1]) = (self.upper, self.lower);
        if y <= y0 {
            x0
        } else if y >= y1 {
            x1
        } else {
            x0 + (x1 - x0) * ((y - y0) / (y1 - y0))
        }
    }

    /// Whether it goes through all heights between these.
    pub fn spans(&self, top: f64, bottom: f64) -> bool {
        self.upper[1] <= top && self.lower[1] >= bottom
    }
}

/// The strips of each row.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    pub strips: Vec<Vec<Strip>>,
    /// Edges along rows.
    pub levels: Vec<Vec<Strip>>,
}

impl Rows {
    /// Cuts edges at the borders of rows.
    pub fn sort(&mut self, edges: &[Edge], height: usize) {
        for rows in [&mut self.strips, &mut self.levels] {
            rows.resize_with(height, Vec::new);
            rows.iter_mut().for_each(Vec::clear);
        }
        for (index, edge) in edges.iter().enumerate() {
            let whole = Strip::new(index, edge);
            let Strip { upper, lower, .. } = whole;
            if !(upper.iter().chain(&lower).all(|x| x.is_finite())
                && lower[1] > 0.0
                && upper[1] < height as f64)
            {
                continue;
            }
            if upper[1] == lower[1] {
                // A border of rows belongs to the one below.
                self.levels[upper[1] as usize].push(whole);
                continue;
            }
            let first = upper[1].max(0.0) as usize;
            let last = (lower[1].ceil() as usize).min(height);
            for row in first..last {
                let mut strip = whole;
                let (top, bottom) = (row as f64, row as f64 + 1.0);
                if top >= upper[1] {
                    (strip.upper, strip.levels[0]) = ([whole.at(top), top], Level::Fixed(top));
                }
                if bottom <= lower[1] {
                    (strip.lower, strip.levels[1]) =
                        ([whole.at(bottom), bottom], Level::Fixed(bottom));
                }
                if strip.upper[1] < strip.lower[1] {
                    self.strips[row].push(strip);
                }
            }
        }
    }
}

/// The height at which two strips cross within both.
pub(super) fn crossing(a: &Strip, b: &Strip) -> Option<f64> {
    let (top, bottom) = (a.upper[1].max(b.upper[1]), a.lower[1].min(b.lower[1]));
    if top >= bottom {
        return None;
    }
    let (above, below) = (a.at(top) - b.at(top), a.at(bottom) - b.at(bottom));
    if above * below >= 0.0 {
        return None;
    }
    let y = top + (bottom - top) * (above / (above - below));
    (top < y && y < bottom).then_some(y)
}
