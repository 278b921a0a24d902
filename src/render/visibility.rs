//! Which face is seen where, exactly.
//!
//! As in [`coverage`](super::coverage) rows are cut into slabs in which edges do not meet, here all edges of what faces the
//! camera. Between two that are neighbours lie the same faces one behind the other. Over the image 1/z of a face is affine:
//! the one that is nearest at all four corners between two edges is nearest between them; where that is not one, faces pass
//! through each other, and the line on which their depths are equal is an edge as well.

use std::collections::HashMap;

use nalgebra::Vector3;

use super::outline::FrontEdges;
use super::piece::{Edge, Level, Line, NOTHING, Piece, inverse_depth, split};
use super::strips::{Rows, Strip, crossing};

/// Depths that differ by less than this share are one.
const TIE: f64 = 1e-9;
/// How often a place is divided at lines on which depths are equal.
const MOST_DIVISIONS: usize = 16;
/// Lines that fall by less than this over their length are along rows, px.
const FLAT: f64 = 1e-12;

/// A height, and what it is of.
type Cut = (f64, Level);

/// A piece of a strip that goes on as long as its sides do.
#[derive(Clone, Copy)]
struct Open {
    sides: [u32; 2],
    from: Cut,
}

/// What is between two strips.
#[derive(Clone, Copy)]
struct Region {
    strips: [Strip; 2],
    cuts: [Cut; 2],
}

impl Region {
    /// Its corners: above to the left and right, then below.
    fn corners(&self) -> [[f64; 2]; 4] {
        let [left, right] = self.strips;
        let [(top, _), (bottom, _)] = self.cuts;
        [
            [left.at(top), top],
            [right.at(top), top],
            [left.at(bottom), bottom],
            [right.at(bottom), bottom],
        ]
    }
}

/// A strip in a slab: where it is at the upper and the lower border, px.
#[derive(Clone, Copy)]
struct Active {
    at: usize,
    top: f64,
    bottom: f64,
}

impl Active {
    /// Sorts by what is nearly sorted already.
    fn sort(list: &mut [Active], mut is_before: impl FnMut(&Active, &Active) -> bool) {
        for k in 1..list.len() {
            let mut place = k;
            while place > 0 && is_before(&list[place], &list[place - 1]) {
                list.swap(place - 1, place);
                place -= 1;
            }
        }
    }
}

/// What is seen between two strips.
#[derive(Clone, Copy, PartialEq)]
enum Seen {
    /// This face, or [`NOTHING`].
    One(u32),
    /// Several: their pieces are made already.
    Several,
}

/// Scratch memory.
#[derive(Clone, Default)]
pub(super) struct Sweep {
    rows: Rows,
    /// Of each face 1/z in the image is the product of this and (x, y, 1), 1/m.
    planes: Vec<Vector3<f64>>,
    cuts: Vec<Cut>,
    within: Vec<Cut>,
    active: Vec<Active>,
    open: Vec<Option<Open>>,
    /// The faces between two strips, with how often each was entered and not left.
    layers: Vec<(u32, i32)>,
    /// From where on which face is seen, at the lower border of the slab before and the upper one of this.
    before: Vec<(f64, u32)>,
    borders: Vec<(f64, u32)>,
    after: Vec<(f64, u32)>,
    /// Edges on which the depths of two faces are equal.
    crossings: HashMap<[u32; 2], u32>,
}

/// What is swept, and what comes of it.
pub(super) struct Swept<'a> {
    pub front: &'a FrontEdges,
    pub triangles: &'a [[usize; 3]],
    pub width: usize,
    /// The edges of `front`, and behind them those on which depths are equal.
    pub edges: &'a mut Vec<Edge>,
    pub pieces: &'a mut Vec<Piece>,
}

impl Sweep {
    /// Finds all pieces in an image of corners with these homogeneous coordinates.
    pub fn pieces(&mut self, corners: &[Vector3<f64>], height: usize, swept: &mut Swept) {
        swept.pieces.clear();
        swept.edges.clear();
        swept.edges.extend_from_slice(&swept.front.edges);
        self.crossings.clear();
        self.planes.clear();
        let plane = |triangle: &[usize; 3]| inverse_depth(triangle.map(|corner| &corners[corner]));
        self.planes.extend(swept.triangles.iter().map(plane));
        self.rows.sort(&swept.front.edges, height);
        self.before.clear();
        let mut ended = f64::NEG_INFINITY;
        for row in 0..height {
            let goes_on = self.rows.levels.get(row + 1).is_some_and(|flats| !flats.is_empty());
            let mut strips = std::mem::take(&mut self.rows.strips[row]);
            let flats = std::mem::take(&mut self.rows.levels[row]);
            if !(strips.is_empty() && flats.is_empty() && self.before.is_empty()) {
                strips.sort_by(|a, b| a.upper[1].total_cmp(&b.upper[1]));
                self.row((row, goes_on), (&strips, &flats), &mut ended, swept);
            }
            self.rows.strips[row] = strips;
            self.rows.levels[row] = flats;
        }
    }

    /// The pieces of a row. `goes_on`: the next has level edges; `ended`: where the slab before ended, px.
    fn row(
        &mut self,
        (row, goes_on): (usize, bool),
        (strips, flats): (&[Strip], &[Strip]),
        ended: &mut f64,
        swept: &mut Swept,
    ) {
        let mut cuts = std::mem::take(&mut self.cuts);
        cuts.clear();
        // First, so that they are what a cut at their height is of: it moves by themselves alone.
        cuts.extend(flats.iter().map(|flat| (flat.upper[1], Level::Fixed(flat.upper[1]))));
        for strip in strips {
            cuts.push((strip.upper[1], strip.levels[0]));
            cuts.push((strip.lower[1], strip.levels[1]));
        }
        cuts.sort_by(|a, b| a.0.total_cmp(&b.0));
        cuts.dedup_by(|a, b| a.0 == b.0);
        if *ended < cuts.first().map_or(f64::INFINITY, |cut| cut.0) {
            // Nothing goes on from the slab before.
            self.before.clear();
        }
        self.active.clear();
        self.open.clear();
        self.open.resize(strips.len(), None);
        let mut started = 0;
        for (k, &(y, level)) in cuts.iter().enumerate() {
            self.borders.clear();
            self.after.clear();
            if let Some(&(end, end_level)) = cuts.get(k + 1) {
                self.active.retain(|active| strips[active.at].lower[1] > y);
                while let Some(strip) = strips.get(started).filter(|strip| strip.upper[1] <= y) {
                    let place = self.active.partition_point(|other| other.bottom < strip.upper[0]);
                    let [top, bottom] = [strip.upper[0]; 2];
                    self.active.insert(place, Active { at: started, top, bottom });
                    started += 1;
                }
                let is_level = |y: f64| flats.iter().any(|flat| flat.upper[1] == y);
                let last = k + 2 == cuts.len();
                let levels = [is_level(y), is_level(end) || last && goes_on];
                self.between([(y, level), (end, end_level)], levels, row, strips, swept);
                *ended = end;
            }
            for flat in flats.iter().filter(|flat| flat.upper[1] == y) {
                self.level(flat, row, swept);
            }
            if k + 1 < cuts.len() {
                std::mem::swap(&mut self.before, &mut self.after);
            }
        }
        self.cuts = cuts;
        for (at, strip) in strips.iter().enumerate() {
            let y = strip.lower[1];
            let is_level = flats.iter().any(|flat| flat.upper[1] == y);
            let level = if is_level { Level::Fixed(y) } else { strip.levels[1] };
            self.close(at, strip, (y, level), row, swept);
        }
    }

    /// Two heights between which no edge ends: cut where edges cross. `levels`: whether there are level edges at these.
    fn between(
        &mut self,
        [top, bottom]: [Cut; 2],
        levels: [bool; 2],
        row: usize,
        strips: &[Strip],
        swept: &mut Swept,
    ) {
        let place = |active: &mut Vec<Active>, [top, bottom]: [f64; 2]| {
            for one in active {
                let strip = &strips[one.at];
                (one.top, one.bottom) = (strip.at(top), strip.at(bottom));
            }
        };
        place(&mut self.active, [top.0, bottom.0]);
        Active::sort(&mut self.active, |a, b| {
            a.top < b.top || a.top == b.top && a.bottom < b.bottom
        });
        self.within.clear();
        let (active, within) = (&mut self.active, &mut self.within);
        // What changes places on the way down crosses.
        Active::sort(active, |a, b| {
            let passes = a.bottom < b.bottom;
            if passes
                && let Some(y) = crossing(&strips[b.at], &strips[a.at])
                && top.0 < y
                && y < bottom.0
            {
                let [a, b] = [a, b].map(|one| strips[one.at].edge);
                within.push((y, Level::Crossing(b, a)));
            }
            passes
        });
        if within.is_empty() {
            return self.slab([top, bottom], levels, row, strips, swept);
        }
        within.sort_by(|a, b| a.0.total_cmp(&b.0));
        within.dedup_by(|a, b| a.0 == b.0);
        let mut within = std::mem::take(&mut self.within);
        within.push(bottom);
        let mut from = top;
        for &to in &within {
            place(&mut self.active, [from.0, to.0]);
            Active::sort(&mut self.active, |a, b| a.top + a.bottom < b.top + b.bottom);
            let levels = [levels[0] && from.0 == top.0, levels[1] && to.0 == bottom.0];
            self.slab([from, to], levels, row, strips, swept);
            from = to;
        }
        self.within = within;
    }

    /// The pieces between two heights, of the active strips from left to right. `levels`: whether there are level edges at its
    /// upper and lower border.
    fn slab(
        &mut self,
        cuts: [Cut; 2],
        levels: [bool; 2],
        row: usize,
        strips: &[Strip],
        swept: &mut Swept,
    ) {
        self.layers.clear();
        let active = std::mem::take(&mut self.active);
        let mut left = Seen::One(NOTHING);
        for (k, own) in active.iter().enumerate() {
            let at = own.at;
            let strip = &strips[at];
            for &(face, along) in swept.front.faces(strip.edge) {
                self.enter(face, if strip.down { along } else { -along });
            }
            let right = match active.get(k + 1) {
                None => Seen::One(NOTHING),
                Some(next) => self.look([own, next], cuts, levels, (row, strips), swept),
            };
            let sides = [left, right].map(|seen| match seen {
                Seen::One(face) => face,
                Seen::Several => NOTHING,
            });
            let open = self.open[at];
            if open.map_or(sides[0] != sides[1], |open| open.sides != sides) {
                self.close(at, strip, cuts[0], row, swept);
                if sides[0] != sides[1] {
                    self.open[at] = Some(Open { sides, from: own_end(strip, 0, cuts[0]) });
                }
            }
            left = right;
        }
        self.active = active;
    }

    fn enter(&mut self, face: u32, times: i32) {
        match self.layers.iter().position(|layer| layer.0 == face) {
            Some(k) => {
                self.layers[k].1 += times;
                if self.layers[k].1 == 0 {
                    self.layers.swap_remove(k);
                }
            }
            None => self.layers.push((face, times)),
        }
    }

    /// Ends the piece of a strip.
    fn close(&mut self, at: usize, strip: &Strip, to: Cut, row: usize, swept: &mut Swept) {
        if let Some(Open { sides, from }) = self.open[at].take() {
            push(strip, sides, [from, own_end(strip, 1, to)], row, swept);
        }
    }

    /// What is seen between two strips.
    fn look(
        &mut self,
        [left, right]: [&Active; 2],
        cuts: [Cut; 2],
        levels: [bool; 2],
        (row, strips): (usize, &[Strip]),
        swept: &mut Swept,
    ) -> Seen {
        let [top, bottom] = cuts.map(|cut| cut.0);
        let corners =
            [[left.top, top], [right.top, top], [left.bottom, bottom], [right.bottom, bottom]];
        let seen = match &self.layers[..] {
            [] => Seen::One(NOTHING),
            [(face, times)] => Seen::One(if *times > 0 { *face } else { NOTHING }),
            _ => match self.nearest(&visible(corners, swept.width), None) {
                (face, None) => Seen::One(face),
                _ => Seen::Several,
            },
        };
        for (k, list) in [(0, &mut self.borders), (1, &mut self.after)] {
            if !levels[k] {
                continue;
            }
            let [[x0, y], [x1, _]] = [corners[2 * k], corners[2 * k + 1]];
            let face = match seen {
                Seen::One(face) => face,
                Seen::Several => nearest_at(&self.planes, &self.layers, [0.5 * (x0 + x1), y]),
            };
            list.push((x0, face));
            list.push((x1, NOTHING));
        }
        if seen == Seen::Several {
            let strips = [strips[left.at], strips[right.at]];
            self.divide(&Region { strips, cuts }, None, MOST_DIVISIONS, row, swept);
        }
        seen
    }

    /// The face that is nearest in the middle of some corners, or that is known to be, and one that is nearer at one of these, if
    /// there is any.
    fn nearest(&self, corners: &[[f64; 2]; 4], known: Option<u32>) -> (u32, Option<u32>) {
        let sum = |k: usize| 0.25 * corners.iter().map(|corner| corner[k]).sum::<f64>();
        let middle = [sum(0), sum(1)];
        let first = known.unwrap_or_else(|| nearest_at(&self.planes, &self.layers, middle));
        let Some(plane) = self.planes.get(first as usize) else { return (first, None) };
        let (mut most, mut nearer) = (0.0, None);
        for corner in corners {
            let own = inverse(plane, *corner);
            for &(face, _) in self.layers.iter().filter(|layer| layer.1 > 0 && layer.0 != first) {
                let other = inverse(&self.planes[face as usize], *corner);
                let ahead = (other - own) / other.abs().max(own.abs());
                if ahead > TIE && ahead > most {
                    (most, nearer) = (ahead, Some(face));
                }
            }
        }
        (first, nearer)
    }

    /// Makes the pieces of a region in which faces pass through each other. `known`: the nearer one of two that do.
    fn divide(
        &mut self,
        region: &Region,
        known: Option<u32>,
        divisions: usize,
        row: usize,
        swept: &mut Swept,
    ) {
        let corners = visible(region.corners(), swept.width);
        let (face, other) = self.nearest(&corners, known);
        let [left, right] = region.strips;
        let Some(other) = other.filter(|_| divisions > 0) else {
            for (strip, sides) in [(left, [NOTHING, face]), (right, [face, NOTHING])] {
                let cuts = [own_end(&strip, 0, region.cuts[0]), own_end(&strip, 1, region.cuts[1])];
                push(&strip, sides, cuts, row, swept);
            }
            return;
        };
        let line = self.planes[face as usize] - self.planes[other as usize];
        let edge = self.crossing_of([face, other], swept);
        let [(top, _), (bottom, _)] = region.cuts;
        // Where the line of equal depth passes a side.
        let meets = |strip: &Strip| {
            let [above, below] = [top, bottom].map(|y| inverse(&line, [strip.at(y), y]));
            let y = top + (bottom - top) * (above / (above - below));
            (above * below < 0.0 && top < y && y < bottom).then_some(y)
        };
        let sides = [meets(&left), meets(&right)];
        let mut cuts = vec![region.cuts[0]];
        match sides {
            [Some(y), Some(z)] if (y - z).abs() <= FLAT => {
                let above = inverse(&line, [0.5 * (left.at(top) + right.at(top)), top]) > 0.0;
                let faces = if above { [face, other] } else { [other, face] };
                push_level(edge, [left.at(y), right.at(y)], y, faces, row, swept);
                // What the height does is in the level piece.
                cuts.push((y, Level::Fixed(y)));
            }
            _ => {
                for (strip, y) in region.strips.iter().zip(sides) {
                    cuts.extend(y.map(|y| (y, Level::Crossing(strip.edge, edge))));
                }
            }
        }
        cuts.push(region.cuts[1]);
        cuts.sort_by(|a, b| a.0.total_cmp(&b.0));
        for pair in cuts.windows(2) {
            let cuts = [pair[0], pair[1]];
            let (from, to) = (cuts[0].0, cuts[1].0);
            if from >= to {
                continue;
            }
            let middle = 0.5 * (from + to);
            let ahead = [left, right].map(|strip| inverse(&line, [strip.at(middle), middle]) > 0.0);
            let part = |strips: [Strip; 2]| Region { strips, cuts };
            let nearer = ahead.map(|ahead| if ahead { face } else { other });
            if ahead[0] == ahead[1] {
                let whole = part([left, right]);
                self.divide(&whole, Some(nearer[0]), divisions - 1, row, swept);
                continue;
            }
            let across = |y: f64| {
                let x = -(line.y * y + line.z) / line.x;
                [x.max(left.at(y)).min(right.at(y)), y]
            };
            let (upper, lower) = (across(from), across(to));
            if !(upper[0].is_finite() && lower[0].is_finite()) {
                self.divide(&part([left, right]), Some(face), 0, row, swept);
                continue;
            }
            let levels = cuts.map(|cut| cut.1);
            let between = Strip { edge, upper, lower, levels, down: true };
            self.divide(&part([left, between]), Some(nearer[0]), divisions - 1, row, swept);
            self.divide(&part([between, right]), Some(nearer[1]), divisions - 1, row, swept);
        }
    }

    /// The edge on which the depths of two faces are equal.
    fn crossing_of(&mut self, faces: [u32; 2], swept: &mut Swept) -> u32 {
        let key = if faces[0] < faces[1] { faces } else { [faces[1], faces[0]] };
        *self.crossings.entry(key).or_insert_with(|| {
            let line = Line::Crossing(key.map(|face| swept.triangles[face as usize]));
            swept.edges.push(Edge { line, from: [0.0; 2], to: [0.0; 2] });
            swept.edges.len() as u32 - 1
        })
    }

    /// The pieces of a level edge: where what is seen differs above and below it.
    fn level(&self, flat: &Strip, row: usize, swept: &mut Swept) {
        let y = flat.upper[1];
        let ends = [flat.upper[0], flat.lower[0]];
        let (left, right) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        let mut stops: Vec<f64> = vec![left, right];
        let others = self.before.iter().chain(&self.borders).map(|border| border.0);
        stops.extend(others.filter(|x| left < *x && *x < right));
        stops.sort_by(f64::total_cmp);
        for pair in stops.windows(2) {
            let middle = 0.5 * (pair[0] + pair[1]);
            let faces = [&self.before, &self.borders].map(|list| {
                let at = list.iter().rposition(|border| border.0 < middle);
                at.map_or(NOTHING, |at| list[at].1)
            });
            push_level(flat.edge, [pair[0], pair[1]], y, faces, row, swept);
        }
    }
}

/// The corners of a region, those that are far beside the image brought to its border.
fn visible(mut corners: [[f64; 2]; 4], width: usize) -> [[f64; 2]; 4] {
    for (a, b) in [(0, 2), (1, 3)] {
        let border = match (corners[a][0], corners[b][0]) {
            (x, y) if x < 0.0 && y < 0.0 => 0.0,
            (x, y) if x > width as f64 && y > width as f64 => width as f64,
            _ => continue,
        };
        (corners[a][0], corners[b][0]) = (border, border);
    }
    corners
}

/// 1/z of a plane.
fn inverse(plane: &Vector3<f64>, [x, y]: [f64; 2]) -> f64 {
    plane.x * x + plane.y * y + plane.z
}

/// The nearest of the layers at a place; of those at one depth the first.
fn nearest_at(planes: &[Vector3<f64>], layers: &[(u32, i32)], at: [f64; 2]) -> u32 {
    let mut best = (f64::NEG_INFINITY, NOTHING);
    for &(face, _) in layers.iter().filter(|layer| layer.1 > 0) {
        let depth = inverse(&planes[face as usize], at);
        let tied = (depth - best.0).abs() <= TIE * depth.abs();
        if (tied && face < best.1) || (!tied && depth > best.0) {
            best = (depth, face);
        }
    }
    best.1
}

/// A cut of a strip: its own end, if that is there and no level edge, which says what the height does.
fn own_end(strip: &Strip, end: usize, cut: Cut) -> Cut {
    let y = if end == 0 { strip.upper[1] } else { strip.lower[1] };
    let is_own = cut.0 == y && !matches!(cut.1, Level::Fixed(_));
    if is_own { (y, strip.levels[end]) } else { cut }
}

fn push(strip: &Strip, sides: [u32; 2], [from, to]: [Cut; 2], row: usize, swept: &mut Swept) {
    if from.0 >= to.0 || sides[0] == sides[1] {
        return;
    }
    let piece = Piece {
        edge: strip.edge,
        row: row as u32,
        column: 0,
        sides,
        from: from.1,
        to: to.1,
        ends: [[strip.at(from.0), from.0], [strip.at(to.0), to.0]],
        level: false,
    };
    split(piece, swept.width, swept.pieces);
}

/// Pushes the pieces of an edge along a row.
fn push_level(
    edge: u32,
    [left, right]: [f64; 2],
    y: f64,
    sides: [u32; 2],
    row: usize,
    swept: &mut Swept,
) {
    let (left, right) = (left.max(0.0), right.min(swept.width as f64));
    if sides[0] == sides[1] {
        return;
    }
    let mut from = left;
    while from < right {
        let to = (from.floor() + 1.0).min(right);
        swept.pieces.push(Piece {
            edge,
            row: row as u32,
            column: from as i32,
            sides,
            from: Level::Fixed(y),
            to: Level::Fixed(y),
            ends: [[from, y], [to, y]],
            level: true,
        });
        from = to;
    }
}
