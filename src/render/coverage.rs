//! The share of each pixel that is inside of outlines.
//!
//! Rows are cut at all corners and crossings into slabs, in which edges do not meet: from left to right they are then in one
//! order, and what is inside begins and ends at some of them. Those are the pieces.

use nalgebra::Vector3;

use super::outline::OutlineEdge;
use crate::ad::Real;

/// A height in the image that pieces begin and end at, px.
#[derive(Clone, Copy, Debug)]
pub(super) enum Level {
    /// Of the border of pixels, or of an end that is not a corner.
    Fixed(f64),
    /// Of a corner.
    Corner(usize),
    /// Where two edges cross.
    Crossing(u32, u32),
    /// Where an edge meets the left border of a column of pixels.
    Column(u32, f64),
}

/// A part of an edge within one pixel that what is covered begins or ends at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub edge: u32,
    pub row: u32,
    /// Its pixel in the row; before and beyond the image -1 and its width.
    pub column: i32,
    /// 1: to its right is covered; -1: to its left.
    pub sign: f64,
    pub from: Level,
    pub to: Level,
    /// Its ends, px, the upper one first.
    pub ends: [[f64; 2]; 2],
    /// Whether it is of an edge along the row: `from` and `to` then mean nothing, and what is below it is covered if the sign is 1.
    /// (A short piece of another edge can be level by rounding.)
    pub level: bool,
}

impl Piece {
    /// Its pixel in an image, if it is in one.
    pub fn pixel(&self, width: usize) -> Option<usize> {
        let column = usize::try_from(self.column).ok().filter(|&column| column < width)?;
        Some(self.row as usize * width + column)
    }

    /// How the covered area of its pixel changes with the line of its edge; `ends` are its own.
    pub fn slope<T: Real>(&self, line: &Vector3<T>, ends: [[T; 2]; 2]) -> Option<Vector3<T>> {
        let [[x0, y0], [x1, y1]] = ends;
        let (dx, dy) = (x1 - x0, y1 - y0);
        let length = (dx * dx + dy * dy).sqrt();
        let size = (line.x * line.x + line.y * line.y).sqrt();
        if !(length.value() > 0.0 && size.value() > 0.0) {
            return None;
        }
        // To the right of where it goes down, or below.
        let inward = match self.level {
            true => line.y * dx,
            false => line.x * dy - line.y * dx,
        };
        let factor = length / size * (self.sign * inward.value().signum());
        Some(Vector3::new((x0 + x1) * 0.5, (y0 + y1) * 0.5, T::one()) * factor)
    }
}

/// A part of an edge within a row.
#[derive(Clone, Copy)]
struct Strip {
    edge: u32,
    /// Upper and lower end, px.
    upper: [f64; 2],
    lower: [f64; 2],
    levels: [Level; 2],
    /// Layers more to its right.
    layers: i32,
}

impl Strip {
    fn at(&self, y: f64) -> f64 {
        let ([x0, y0], [x1, y1]) = (self.upper, self.lower);
        if y <= y0 {
            x0
        } else if y >= y1 {
            x1
        } else {
            x0 + (x1 - x0) * ((y - y0) / (y1 - y0))
        }
    }
}

/// Scratch memory.
#[derive(Clone, Default)]
pub(super) struct Scan {
    rows: Vec<Vec<Strip>>,
    levels: Vec<Vec<Strip>>,
    cuts: Vec<(f64, Level)>,
    active: Vec<usize>,
    /// Where what is covered begins and ends, at the lower border of the slab before and the upper one of this.
    before: Vec<f64>,
    borders: Vec<f64>,
}

impl Scan {
    /// Finds all pieces in an image.
    pub fn pieces(
        &mut self,
        edges: &[OutlineEdge],
        [width, height]: [usize; 2],
        pieces: &mut Vec<Piece>,
    ) {
        pieces.clear();
        self.sort(edges, height);
        let mut ended = f64::NEG_INFINITY;
        self.before.clear();
        for row in 0..height {
            let strips = std::mem::take(&mut self.rows[row]);
            let flats = std::mem::take(&mut self.levels[row]);
            if !(strips.is_empty() && flats.is_empty() && self.before.is_empty()) {
                self.row(row, width, &strips, &flats, &mut ended, pieces);
            }
            self.rows[row] = strips;
            self.levels[row] = flats;
        }
    }

    /// Cuts the edges at the borders of rows.
    fn sort(&mut self, edges: &[OutlineEdge], height: usize) {
        for rows in [&mut self.rows, &mut self.levels] {
            rows.resize_with(height, Vec::new);
            rows.iter_mut().for_each(Vec::clear);
        }
        for (index, edge) in edges.iter().enumerate() {
            let down = edge.from[1] <= edge.to[1];
            let (upper, lower) = if down { (edge.from, edge.to) } else { (edge.to, edge.from) };
            if !(upper.iter().chain(&lower).all(|x| x.is_finite())
                && lower[1] > 0.0
                && upper[1] < height as f64)
            {
                continue;
            }
            let layers = if down { edge.layers } else { -edge.layers };
            let ends = match edge.ends {
                Some(ends) => {
                    let ends = ends.map(Level::Corner);
                    if down { ends } else { [ends[1], ends[0]] }
                }
                None => [Level::Fixed(upper[1]), Level::Fixed(lower[1])],
            };
            let whole = Strip { edge: index as u32, upper, lower, levels: ends, layers };
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
                    self.rows[row].push(strip);
                }
            }
        }
    }

    /// The pieces of a row. `ended`: where the slab before ended, px.
    fn row(
        &mut self,
        row: usize,
        width: usize,
        strips: &[Strip],
        flats: &[Strip],
        ended: &mut f64,
        pieces: &mut Vec<Piece>,
    ) {
        self.cuts.clear();
        // First, so that they are what a cut at their height is of: it moves by themselves alone.
        for flat in flats {
            self.cuts.push((flat.upper[1], Level::Fixed(flat.upper[1])));
        }
        for (k, strip) in strips.iter().enumerate() {
            self.cuts.push((strip.upper[1], strip.levels[0]));
            self.cuts.push((strip.lower[1], strip.levels[1]));
            for other in &strips[..k] {
                if let Some(y) = crossing(strip, other) {
                    self.cuts.push((y, Level::Crossing(other.edge, strip.edge)));
                }
            }
        }
        self.cuts.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.cuts.dedup_by(|a, b| a.0 == b.0);
        let cuts = std::mem::take(&mut self.cuts);
        if *ended < cuts.first().map_or(f64::INFINITY, |cut| cut.0) {
            // Nothing goes on from the slab before.
            self.before.clear();
        }
        for (k, &(y, level)) in cuts.iter().enumerate() {
            let next = cuts.get(k + 1);
            self.borders.clear();
            if let Some(&(end, end_level)) = next {
                self.slab([(y, level), (end, end_level)], (row, width), strips, pieces);
            }
            for flat in flats.iter().filter(|flat| flat.upper[1] == y) {
                self.level(flat, (row, width), pieces);
            }
            // After the last one the next row may go on.
            if let Some(&(end, _)) = next {
                self.before.clear();
                self.before.extend(self.active.iter().map(|&at| strips[at].at(end)));
                *ended = end;
            }
        }
        self.cuts = cuts;
    }

    /// The pieces between two heights; `borders` are their upper ends, and `active` which strips they are of.
    fn slab(
        &mut self,
        [(top, from), (bottom, to)]: [(f64, Level); 2],
        (row, width): (usize, usize),
        strips: &[Strip],
        pieces: &mut Vec<Piece>,
    ) {
        // By their middles, of slabs that may be a rounding high.
        let twice = |k: usize| strips[k].at(top) + strips[k].at(bottom);
        self.active.clear();
        let within = |strip: &Strip| strip.upper[1] <= top && strip.lower[1] >= bottom;
        self.active.extend((0..strips.len()).filter(|&k| within(&strips[k])));
        self.active.sort_by(|&a, &b| twice(a).total_cmp(&twice(b)));
        let mut layers = 0;
        self.active.retain(|&k| {
            let strip = &strips[k];
            let covered = layers > 0;
            layers += strip.layers;
            if covered == (layers > 0) {
                return false;
            }
            let sign = if covered { -1.0 } else { 1.0 };
            let ends = [[strip.at(top), top], [strip.at(bottom), bottom]];
            let (edge, row) = (strip.edge, row as u32);
            let piece = Piece { edge, row, column: 0, sign, from, to, ends, level: false };
            split(piece, width, pieces);
            true
        });
        self.borders.extend(self.active.iter().map(|&k| strips[k].at(top)));
    }

    /// The pieces of a level edge: where what is covered differs above and below it.
    fn level(&self, flat: &Strip, (row, width): (usize, usize), pieces: &mut Vec<Piece>) {
        let y = flat.upper[1];
        let (left, right) = {
            let (a, b) = (flat.upper[0], flat.lower[0]);
            (a.min(b).max(0.0), a.max(b).min(width as f64))
        };
        let covered =
            |borders: &[f64], x: f64| borders.iter().filter(|&&border| border < x).count() % 2 == 1;
        let mut stops: Vec<f64> = vec![left, right];
        let others = self.before.iter().chain(&self.borders).copied();
        stops.extend(others.filter(|x| left < *x && *x < right));
        let mut column = left.floor() + 1.0;
        while column < right {
            stops.push(column);
            column += 1.0;
        }
        stops.sort_by(f64::total_cmp);
        for pair in stops.windows(2) {
            let middle = 0.5 * (pair[0] + pair[1]);
            let (above, below) = (covered(&self.before, middle), covered(&self.borders, middle));
            if above == below || pair[0] >= pair[1] {
                continue;
            }
            pieces.push(Piece {
                edge: flat.edge,
                row: row as u32,
                column: middle as i32,
                sign: if below { 1.0 } else { -1.0 },
                from: flat.levels[0],
                to: flat.levels[1],
                ends: [[pair[0], y], [pair[1], y]],
                level: true,
            });
        }
    }
}

/// The height at which two strips cross within both.
fn crossing(a: &Strip, b: &Strip) -> Option<f64> {
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

/// Pushes a piece, cut at the borders of columns.
fn split(piece: Piece, width: usize, pieces: &mut Vec<Piece>) {
    let [[x0, y0], [x1, y1]] = piece.ends;
    let column = |x: f64| x.clamp(-1.0, width as f64).floor() as i32;
    let (low, high) = (x0.min(x1), x0.max(x1));
    // The columns that it has a part in; one end may be on a border.
    let first = if low < 0.0 { -1 } else { column(low) };
    let last = if high >= width as f64 { width as i32 } else { column(high) };
    if first == last || low == high {
        pieces.push(Piece { column: first, ..piece });
        return;
    }
    let rightward = x1 > x0;
    let (mut from, mut start) = (piece.from, piece.ends[0]);
    let count = last - first;
    for k in 0..=count {
        let here = if rightward { first + k } else { last - k };
        let (to, end) = if k == count {
            (piece.to, piece.ends[1])
        } else {
            let x = f64::from(if rightward { here + 1 } else { here });
            let y = (y0 + (y1 - y0) * ((x - x0) / (x1 - x0))).max(start[1]).min(y1);
            (Level::Column(piece.edge, x), [x, y])
        };
        pieces.push(Piece { column: here, from, to, ends: [start, end], ..piece });
        (from, start) = (to, end);
    }
}

/// Adds what pieces cover to an image, row by row; `corners` in homogeneous coordinates. On values alone the ends of pieces are
/// taken as they are.
pub(super) fn cover<T: Real>(
    pieces: &[Piece],
    edges: &[OutlineEdge],
    corners: &[Vector3<T>],
    [width, height]: [usize; 2],
    image: &mut [T],
) {
    image.fill(T::zero());
    let moving = Moving { edges, corners };
    let mut steps = vec![T::zero(); width + 1];
    let mut next = 0;
    for row in 0..height {
        let begin = next;
        while next < pieces.len() && pieces[next].row as usize == row {
            next += 1;
        }
        if begin == next {
            continue;
        }
        let image = &mut image[row * width..(row + 1) * width];
        // What is entered before them is left behind them.
        let within = |piece: &Piece| (piece.column.max(0) as usize).min(width - 1);
        let columns = pieces[begin..next].iter().map(within);
        let (first, last) = columns.fold((width, 0), |(a, b), at| (a.min(at), b.max(at)));
        steps[first..=last + 1].fill(T::zero());
        for piece in &pieces[begin..next] {
            moving.add(piece, image, &mut steps);
        }
        let mut sum = T::zero();
        for (pixel, &step) in image[first..=last].iter_mut().zip(&steps[first..]) {
            sum += step;
            *pixel += sum;
        }
    }
}

/// Adds a piece: its part of its own pixel, and all of those to the right.
fn add<T: Real>(
    piece: &Piece,
    [[x0, y0], [x1, y1]]: [[T; 2]; 2],
    image: &mut [T],
    steps: &mut [T],
) {
    let width = image.len();
    if piece.level {
        // What is below: the value is there already, with the pieces beside.
        return;
    }
    let all = (y1 - y0) * piece.sign;
    match usize::try_from(piece.column) {
        Err(_) => steps[0] += all,
        Ok(column) if column < width => {
            let right = T::constant(column as f64 + 1.0) - (x0 + x1) * 0.5;
            image[column] += all * right;
            steps[column + 1] += all;
        }
        Ok(_) => {}
    }
}

/// Edges whose corners move.
pub(super) struct Moving<'a, T> {
    pub edges: &'a [OutlineEdge],
    pub corners: &'a [Vector3<T>],
}

impl<T: Real> Moving<'_, T> {
    fn add(&self, piece: &Piece, image: &mut [T], steps: &mut [T]) {
        if T::ORDER > 0 && piece.level {
            let Ok(column) = usize::try_from(piece.column) else { return };
            if column >= image.len() || self.edges[piece.edge as usize].ends.is_none() {
                return;
            }
            // Between fixed columns what is below moves with the height in the middle.
            let [[x0, y], [x1, _]] = piece.ends;
            let line = self.line(piece.edge);
            let height = -(line.x * (0.5 * (x0 + x1)) + line.z) / line.y;
            image[column] -= (height - T::constant(y)) * ((x1 - x0) * piece.sign);
            return;
        }
        add(piece, self.ends(piece), image, steps);
    }

    /// The ends of a piece; on values alone as they are.
    pub fn ends(&self, piece: &Piece) -> [[T; 2]; 2] {
        if T::ORDER == 0 || piece.level {
            return piece.ends.map(|end| end.map(T::constant));
        }
        let y0 = self.height(piece.from, piece.ends[0][1]);
        let y1 = self.height(piece.to, piece.ends[1][1]);
        [[self.across(piece, 0, y0), y0], [self.across(piece, 1, y1), y1]]
    }

    pub fn line(&self, edge: u32) -> Vector3<T> {
        match self.edges[edge as usize] {
            OutlineEdge { ends: Some([a, b]), .. } => self.corners[a].cross(&self.corners[b]),
            OutlineEdge { from: [x0, y0], to: [x1, y1], .. } => {
                Vector3::new(y0 - y1, x1 - x0, x0 * y1 - x1 * y0).map(T::constant)
            }
        }
    }

    fn height(&self, level: Level, value: f64) -> T {
        match level {
            Level::Fixed(y) => T::constant(y),
            Level::Corner(corner) if self.corners[corner].z.value() > 0.0 => {
                self.corners[corner].y / self.corners[corner].z
            }
            // Cut off before the camera.
            Level::Corner(_) => T::constant(value),
            Level::Crossing(a, b) => {
                let point = self.line(a).cross(&self.line(b));
                point.y / point.z
            }
            Level::Column(edge, x) => {
                let line = self.line(edge);
                -(line.x * x + line.z) / line.y
            }
        }
    }

    /// Where the piece is at a height near its `end`.
    fn across(&self, piece: &Piece, end: usize, y: T) -> T {
        let level = if end == 0 { piece.from } else { piece.to };
        if let Level::Column(edge, x) = level
            && edge == piece.edge
        {
            return T::constant(x);
        }
        let line = self.line(piece.edge);
        -(line.y * y + line.z) / line.x
    }
}
