//! The share of each pixel that is inside of outlines.
//!
//! Rows are cut at all corners and crossings into slabs, in which edges do not meet: from left to right they are then in one
//! order, and what is inside begins and ends at some of them. Those are the pieces.

use super::outline::Outline;
use super::piece::{Level, Moving, NOTHING, Piece, split};
use super::strips::{Rows, Strip, crossing};
use crate::ad::Real;

/// What is covered, as a side of a piece.
const COVERED: u32 = 0;

/// Scratch memory.
#[derive(Clone, Default)]
pub(super) struct Scan {
    rows: Rows,
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
        outline: &Outline,
        [width, height]: [usize; 2],
        pieces: &mut Vec<Piece>,
    ) {
        pieces.clear();
        self.rows.sort(&outline.edges, height);
        let mut ended = f64::NEG_INFINITY;
        self.before.clear();
        for row in 0..height {
            let strips = std::mem::take(&mut self.rows.strips[row]);
            let flats = std::mem::take(&mut self.rows.levels[row]);
            if !(strips.is_empty() && flats.is_empty() && self.before.is_empty()) {
                self.row(&outline.layers, (row, width), (&strips, &flats), &mut ended, pieces);
            }
            self.rows.strips[row] = strips;
            self.rows.levels[row] = flats;
        }
    }

    /// The pieces of a row. `ended`: where the slab before ended, px.
    fn row(
        &mut self,
        layers: &[i32],
        (row, width): (usize, usize),
        (strips, flats): (&[Strip], &[Strip]),
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
                self.slab([(y, level), (end, end_level)], (row, width), (strips, layers), pieces);
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
        (strips, layers): (&[Strip], &[i32]),
        pieces: &mut Vec<Piece>,
    ) {
        // By their middles, of slabs that may be a rounding high.
        let twice = |k: usize| strips[k].at(top) + strips[k].at(bottom);
        self.active.clear();
        self.active.extend((0..strips.len()).filter(|&k| strips[k].spans(top, bottom)));
        self.active.sort_by(|&a, &b| twice(a).total_cmp(&twice(b)));
        let mut depth = 0;
        self.active.retain(|&k| {
            let strip = &strips[k];
            let covered = depth > 0;
            let layers = layers[strip.edge as usize];
            depth += if strip.down { layers } else { -layers };
            if covered == (depth > 0) {
                return false;
            }
            let sides = sides(covered);
            let ends = [[strip.at(top), top], [strip.at(bottom), bottom]];
            let (edge, row) = (strip.edge, row as u32);
            let piece = Piece { edge, row, column: 0, sides, from, to, ends, level: false };
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
                sides: sides(above),
                from: flat.levels[0],
                to: flat.levels[1],
                ends: [[pair[0], y], [pair[1], y]],
                level: true,
            });
        }
    }
}

/// What is before and behind an edge at which what is covered ends, or begins.
fn sides(ends: bool) -> [u32; 2] {
    if ends { [COVERED, NOTHING] } else { [NOTHING, COVERED] }
}

/// 1 where what is covered begins, -1 where it ends.
pub(super) fn sign(piece: &Piece) -> f64 {
    if piece.sides[0] == NOTHING { 1.0 } else { -1.0 }
}

/// Adds what pieces cover to an image, row by row; `corners` in homogeneous coordinates. On values alone the ends of pieces are
/// taken as they are.
pub(super) fn cover<T: Real>(
    pieces: &[Piece],
    moving: &Moving<T>,
    [width, height]: [usize; 2],
    image: &mut [T],
) {
    image.fill(T::zero());
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
            add(piece, moving.area(piece), image, &mut steps);
        }
        let mut sum = T::zero();
        for (pixel, &step) in image[first..=last].iter_mut().zip(&steps[first..]) {
            sum += step;
            *pixel += sum;
        }
    }
}

/// Adds a piece: its part of its own pixel, and all of those to the right.
fn add<T: Real>(piece: &Piece, [own, height]: [T; 2], image: &mut [T], steps: &mut [T]) {
    let sign = sign(piece);
    match usize::try_from(piece.column) {
        Err(_) => steps[0] += height * sign,
        Ok(column) if column < image.len() => {
            image[column] += own * sign;
            steps[column + 1] += height * sign;
        }
        Ok(_) => {}
    }
}
