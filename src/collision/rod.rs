//! Two round rods: segments with a radius, such as capsules and the edges of polyhedra.
//!
//! Rods that cross or meet with an end have one point, where the segments are nearest. Rods that are
//! nearly parallel and beside each other have two, at the ends of what they have beside each other: with
//! one alone, a rod that comes to rest along another would land on its other end in the next step. The
//! two share one normal: from the first rod to the middle of the second one's part, at a right angle
//! to the first. Gaps are exact where the rods are parallel; at the largest tilt, points are off the
//! surfaces by less than 0.2 % of the length that is beside each other.

use nalgebra::Vector3;

use super::Witness;
use super::lowest::{LEVEL, lowest_gap};
use super::nearest::{Line, Nearest, TOUCHING, perpendicular};
use crate::ad::Real;
use crate::linalg::norm;

/// Rods at a smaller angle than this (rad) are parallel.
const PARALLEL: f64 = 0.05;

/// An end that is beyond that of the other rod by less than this fraction of the shorter half length is
/// level with it.
const LEVEL_ENDS: f64 = 1e-4;

/// All points within a radius of a segment.
#[derive(Clone, Copy)]
pub(super) struct Rod<T> {
    /// Through the middle.
    pub line: Line<T>,
    /// Half the length of the segment, m.
    pub half: T,
    /// m.
    pub radius: T,
}

/// A part of a rod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// An end; true is that in the direction of the line.
    End(bool),
    /// What is between the ends.
    Side,
}

impl Part {
    /// Below 3: the ends, the side.
    pub fn feature(self) -> usize {
        match self {
            Part::End(upper) => usize::from(upper),
            Part::Side => 2,
        }
    }
}

impl<T: Real> Rod<T> {
    pub fn value(&self) -> Rod<f64> {
        Rod { line: self.line.value(), half: self.half.value(), radius: self.radius.value() }
    }

    /// A segment without a radius.
    pub fn between([a, b]: [Vector3<T>; 2]) -> Self {
        let along = b - a;
        let length = norm(along.as_slice());
        let half = T::constant(0.5);
        let line = Line { origin: (a + b) * half, direction: along / length };
        Rod { line, half: length * half, radius: T::zero() }
    }

    /// The place of an end along the line.
    pub fn end_place(&self, upper: bool) -> T {
        if upper { self.half } else { -self.half }
    }

    pub fn at(&self, place: T) -> Vector3<T> {
        self.line.origin + self.line.direction * place
    }

    pub fn end(&self, upper: bool) -> Vector3<T> {
        self.at(self.end_place(upper))
    }
}

impl Rod<f64> {
    /// The part of its segment that is nearest to a point, and the distance.
    pub fn nearest(&self, point: &Vector3<f64>) -> (Part, f64) {
        let along = self.line.direction.dot(&(point - self.line.origin));
        let part = if along.abs() < self.half { Part::Side } else { Part::End(along >= 0.0) };
        // Numbers that are too large make some that are none, at which `clamp` panics.
        let place = along.max(-self.half).min(self.half);
        (part, (point - self.at(place)).norm())
    }
}

/// The parts of two segments that are nearest to each other, and the distance.
pub(super) fn nearest_parts(first: &Rod<f64>, second: &Rod<f64>) -> ([Part; 2], f64) {
    let (a, b) = (&first.line, &second.line);
    let cross = a.direction.cross(&b.direction);
    let square = cross.norm_squared();
    let offset = b.origin - a.origin;
    let s = offset.cross(&b.direction).dot(&cross) / square;
    let t = offset.cross(&a.direction).dot(&cross) / square;
    if s.abs() < first.half && t.abs() < second.half {
        return ([Part::Side; 2], (cross.dot(&offset)).abs() / square.sqrt());
    }
    let mut best = ([Part::End(false); 2], f64::INFINITY);
    for upper in [false, true] {
        let (part, distance) = second.nearest(&first.end(upper));
        if distance < best.1 {
            best = ([Part::End(upper), part], distance);
        }
        let (part, distance) = first.nearest(&second.end(upper));
        if distance < best.1 {
            best = ([part, Part::End(upper)], distance);
        }
    }
    best
}

/// The point where two parts are nearest. `outward`: the side of the normal of sides that cross.
pub(super) fn nearest_points<T: Real>(
    rods: [&Rod<T>; 2],
    parts: [Part; 2],
    outward: &Vector3<f64>,
) -> Nearest<T> {
    let [first, second] = rods;
    let size = (first.half + second.half + first.radius + second.radius).value();
    let touching = TOUCHING * size;
    let otherwise = perpendicular(&first.line.direction);
    let (a, b) = (&first.line, &second.line);
    match parts {
        [Part::Side, Part::Side] => Nearest::of_lines(a, b, outward),
        [Part::Side, Part::End(upper)] => {
            Nearest::of_line_and_point(a, second.end(upper), otherwise, touching)
        }
        [Part::End(upper), Part::Side] => {
            Nearest::of_point_and_line(first.end(upper), b, otherwise, touching)
        }
        [Part::End(one), Part::End(other)] => {
            Nearest::of_points(first.end(one), second.end(other), otherwise, touching)
        }
    }
}

/// Pushes the contacts of two rods within `reach` (m); `feature` numbers pairs of parts.
pub(super) fn rods<T: Real>(
    rods: [&Rod<T>; 2],
    feature: impl Fn([Part; 2]) -> usize,
    reach: f64,
    out: &mut Vec<Witness<T>>,
) {
    let values = rods.map(Rod::value);
    let [a, b] = values.map(|rod| rod.line.direction);
    if a.cross(&b).norm() <= PARALLEL && parallel(rods, &values, &feature, reach, out) {
        return;
    }
    let (parts, distance) = nearest_parts(&values[0], &values[1]);
    if distance - values[0].radius - values[1].radius > reach {
        return;
    }
    let outward = values[1].line.origin - values[0].line.origin;
    let [a, b] = [&values[0].line, &values[1].line];
    // The normal of two sides points from the first to the second; where they meet, so that the middles are apart.
    let cross = a.direction.cross(&b.direction);
    let upward = cross * cross.dot(&outward);
    let near = nearest_points(rods, parts, &upward);
    out.push(near.witness(feature(parts), [rods[0].radius, rods[1].radius]));
}

/// Pushes the two points of rods that are nearly parallel; false if they are not beside each other.
fn parallel<T: Real>(
    rods: [&Rod<T>; 2],
    values: &[Rod<f64>; 2],
    feature: &impl Fn([Part; 2]) -> usize,
    reach: f64,
    out: &mut Vec<Witness<T>>,
) -> bool {
    let [first, second] = values;
    let tolerance = LEVEL_ENDS * first.half.min(second.half);
    let middle = first.line.direction.dot(&(second.line.origin - first.line.origin));
    let cosine = first.line.direction.dot(&second.line.direction);
    // Each end of what is beside: that of the first, unless the second one ends before it.
    let mut parts = [[Part::Side; 2]; 2];
    let mut places = [0.0; 2];
    for (k, upper) in [false, true].into_iter().enumerate() {
        let sign = if upper { 1.0 } else { -1.0 };
        let own = first.half;
        let other = sign * middle + second.half * cosine.abs();
        (places[k], parts[k]) = if other < own - tolerance {
            (sign * other, [Part::Side, Part::End(upper == (cosine > 0.0))])
        } else {
            (sign * own, [Part::End(upper), Part::Side])
        };
    }
    if places[1] - places[0] <= tolerance {
        return false;
    }

    let [first, second] = rods;
    let (a, b) = (first.line.direction, second.line.direction);
    let offset = second.line.origin - first.line.origin;
    let (middle, cosine) = (a.dot(&offset), a.dot(&b));
    let place = |parts: [Part; 2]| match parts {
        [Part::End(upper), _] => first.end_place(upper),
        [_, Part::End(upper)] => middle + second.end_place(upper) * cosine,
        _ => middle,
    };
    let places = parts.map(place);
    // From the line of the first to that of the second, at a right angle to the first.
    let across = |place: T| {
        let point = offset + b * ((place - middle) / cosine);
        point - a * a.dot(&point)
    };
    let way = across((places[0] + places[1]) * 0.5);
    let distance = norm(way.as_slice());
    let size = (first.half + second.half + first.radius + second.radius).value();
    let normal =
        if distance.value() > TOUCHING * size { way / distance } else { perpendicular(&a) };
    let gaps = places.map(|place| normal.dot(&across(place)) - first.radius - second.radius);
    let width = (first.half.min(second.half) + first.radius.max(second.radius)) * LEVEL;
    let lowest = lowest_gap(gaps.into_iter(), width);
    for k in 0..2 {
        if gaps[k].value() <= reach {
            let foot = first.at(places[k]) + normal * first.radius;
            let witness = Witness::single(feature(parts[k]), gaps[k], normal, foot);
            out.push(Witness { lowest, ..witness });
        }
    }
    true
}
