//! Kinks along one input: whether there is one, and where.

use std::fmt;

use serde::Serialize;

use super::ladder::{Point, Side, reach, resolution, widths};

/// What a function does at a kink.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Its value jumps.
    Value,
    /// Its slope jumps.
    Slope,
    /// Its slope is infinite on a side.
    Vertical,
    /// The output is no number on one side.
    Edge,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Value => "jump in value",
            Kind::Slope => "jump in slope",
            Kind::Vertical => "infinite slope",
            Kind::Edge => "edge of the domain",
        })
    }
}

/// A place where a function of one number has no derivative.
#[derive(Clone, Copy, Debug)]
pub(super) struct Break {
    /// Its distance, and how well that is known.
    pub at: f64,
    pub within: f64,
    pub kind: Kind,
    pub left: Side,
    pub right: Side,
}

/// Jumps of the slope that are smaller, relative to it, cannot be distinguished from errors of differences.
const LEAST_JUMP: f64 = 1e-6;
/// How much a jump exceeds its estimated error by.
const MARGIN: f64 = 4.0;
/// How many intervals that look rough are bisected: noise looks like a kink until it is measured.
const MOST_CANDIDATES: usize = 4;
/// More than from the widest interval to the last bit.
const MOST_HALVINGS: usize = 128;
/// Points of the stencil of fourth differences.
const STENCIL: usize = 9;

/// One output as a function of the distance from `x` along one input.
pub(super) struct Line<'a> {
    pub x: f64,
    pub value: &'a mut dyn FnMut(f64) -> f64,
}

impl Line<'_> {
    fn at(&mut self, t: f64) -> Point {
        let moved = self.x + t;
        Point { offset: moved - self.x, value: (self.value)(moved) }
    }

    /// The kink nearest to `x` that can be made out.
    pub(super) fn nearest_kink(&mut self) -> Option<Break> {
        self.edge().or_else(|| {
            let candidates = self.candidates();
            candidates.into_iter().take(MOST_CANDIDATES).find_map(|half| {
                let (low, high, most) = self.enclose(-half, half);
                self.inspect(low, high, most)
            })
        })
    }

    /// Where the function stops being a number, by bisection.
    fn edge(&mut self) -> Option<Break> {
        let mut outside: Option<f64> = None;
        for h in widths(self.x) {
            for t in [h, -h] {
                if !self.at(t).value.is_finite() {
                    outside = Some(t);
                }
            }
        }
        let (mut inside, mut outside) = (0.0, outside?);
        if !self.at(inside).value.is_finite() {
            return None;
        }
        let least = resolution(self.x).max(1e-15 * reach(self.x));
        while (outside - inside).abs() > least.max(1e-9 * inside.abs()) {
            let middle = 0.5 * (inside + outside);
            if self.at(middle).value.is_finite() { inside = middle } else { outside = middle }
        }
        let within = (outside - inside).abs();
        let (left, right) = (self.side(inside, false), self.side(inside, true));
        Some(Break { at: inside, within, kind: Kind::Edge, left, right })
    }

    /// Half widths about `x` within which there may be a kink, from the narrowest on.
    ///
    /// The fourth difference of a smooth function, over the width, falls by eight when the width is
    /// halved. That of a kink inside stays, that of a jump doubles, and both fall to nothing when
    /// the kink gets outside.
    fn candidates(&mut self) -> Vec<f64> {
        const FADES: f64 = 6.0;
        // Twice as wide, so that a kink at the full reach is inside.
        let halves: Vec<f64> = widths(self.x).map(|h| 2.0 * h).collect();
        let mut rough: Vec<f64> = Vec::with_capacity(halves.len());
        for &half in &halves {
            let (_, fourth, noise) = self.roughest(-half, half);
            rough.push(if fourth > noise { fourth / half } else { 0.0 });
        }
        let mut found = Vec::new();
        for k in (0..halves.len()).rev() {
            let stays = k == 0 || FADES * rough[k] >= rough[k - 1];
            let ends = rough.get(k + 1).is_none_or(|next| FADES * next < rough[k]);
            if rough[k] > 0.0 && stays && ends {
                // One wider: there the kink is not near the rim.
                found.push(halves[k.saturating_sub(1)]);
            }
        }
        found
    }

    /// Halves the interval about the largest fourth difference until that is rounding. Returns it
    /// with the largest jump of slope that rounding can hide there: what bends more is curved.
    fn enclose(&mut self, mut low: f64, mut high: f64) -> (f64, f64, f64) {
        let least = resolution(self.x).max(1e-15 * reach(self.x));
        for _ in 0..MOST_HALVINGS {
            let (center, fourth, noise) = self.roughest(low, high);
            let quarter = 0.25 * (high - low);
            let found = fourth > noise;
            if !found {
                // The fourth difference of a kink is at least half its jump times an eighth of this.
                return (low, high, MARGIN * 16.0 * noise / (high - low));
            }
            if quarter < least.max(1e-10 * center.abs()) {
                break;
            }
            (low, high) = (center - quarter, center + quarter);
        }
        (low, high, f64::INFINITY)
    }

    /// Where the fourth difference over an eighth of the interval is largest; its size; what
    /// rounding makes of nothing.
    fn roughest(&mut self, low: f64, high: f64) -> (f64, f64, f64) {
        let points: [Point; STENCIL] =
            std::array::from_fn(|i| self.at(low + (high - low) * i as f64 / (STENCIL - 1) as f64));
        let y = points.map(|point| point.value);
        let mut best = (0.5 * (low + high), 0.0);
        for i in 2..STENCIL - 2 {
            let fourth = y[i - 2] - 4.0 * y[i - 1] + 6.0 * y[i] - 4.0 * y[i + 1] + y[i + 2];
            if fourth.abs() > best.1 {
                best = (points[i].offset, fourth.abs());
            }
        }
        let size = y.iter().fold(0.0_f64, |size, y| size.max(y.abs()));
        let slope = y.windows(2).fold(0.0_f64, |most, y| most.max((y[1] - y[0]).abs()))
            / ((high - low) / (STENCIL - 1) as f64);
        // The sum of the weights is 16.
        let noise = 16.0 * f64::EPSILON * (size + self.x.abs() * slope);
        (best.0, best.1, noise)
    }

    /// What there is between `low` and `high`, seen from the outside, where the slope jumps by no
    /// more than `most`.
    fn inspect(&mut self, low: f64, high: f64, most: f64) -> Option<Break> {
        let (left, right) = (self.side(low, false), self.side(high, true));
        let (l, r) = (left.slope?, right.slope?);
        let (lv, rv) = (left.value?, right.value?);
        let middle = 0.5 * (low + high);
        let rounded = Break { at: middle, within: high - low, kind: Kind::Vertical, left, right };
        if l.value.is_infinite() || r.value.is_infinite() {
            return Some(rounded);
        }
        let bend = r.value - l.value;
        // Both sides continued to the middle.
        let gap = (rv.value - r.value * (high - middle)) - (lv.value + l.value * (middle - low));
        let slack = lv.error + rv.error + (high - low) * (bend.abs() + l.error + r.error);
        if gap.abs() > MARGIN * slack {
            return Some(Break { kind: Kind::Value, ..rounded });
        }
        let steepest = l.value.abs().max(r.value.abs());
        let least = MARGIN * (l.error + r.error) + LEAST_JUMP * steepest;
        if bend.abs() > least && bend.abs() <= most {
            // Where the two sides meet: finer than the bisection, which stops above rounding.
            let at = (middle - gap / bend).max(low).min(high);
            let within = (lv.error + rv.error) / bend.abs() + resolution(self.x);
            return Some(Break { at, within, kind: Kind::Slope, ..rounded });
        }
        None
    }

    /// One side of the place at `t`.
    fn side(&mut self, t: f64, above: bool) -> Side {
        let distances = widths(self.x);
        let point = |h: f64| {
            let Point { offset, value } = self.at(if above { t + h } else { t - h });
            value.is_finite().then_some(Point { offset: offset - t, value })
        };
        let points: Vec<Option<Point>> = distances.map(point).collect();
        Side::of(self.x, &points)
    }
}
