//! Two polyhedra are no further apart along any axis than two of their points are: points that are near enough say so of all
//! axes at once (`Gilbert88`).
//!
//! Differences of points are a polyhedron too. Its point nearest to the origin is sought on simplices, each with the
//! vertex that is the lowest along the last one's nearest point. A difference w of points bounds the separation by |w|, whatever it is
//! of; along w it is w . m / |w| at the lowest vertex m. So the search ends as soon as either tells.

use nalgebra::Vector3;

use super::super::hull::Hull;
use super::cutting_planes::NONE;
use crate::collision::Pose;

/// Vertices looked for, at most.
const ITERATIONS: usize = 20;

/// Points are the nearest where no axis through them is shorter by more than this part.
const CLOSE: f64 = 1e-9;

/// A vertex of each polyhedron.
type Pair = [u32; 2];

/// Where the next search of the same two polyhedra begins: up to four pairs of vertices, whose differences are corners of a simplex.
#[derive(Clone, Copy, Debug)]
pub(super) struct Simplex([Pair; 4]);

impl Default for Simplex {
    fn default() -> Self {
        Simplex([[NONE; 2]; 4])
    }
}

/// Points of two polyhedra that are near to each other.
pub(super) struct Near {
    /// How far they are apart, m: no axis separates by more.
    pub distance: f64,
    /// How far the polyhedra are apart at least, along some axis, m.
    pub least: f64,
    /// The point of each, in the frame of the first.
    pub points: [Vector3<f64>; 2],
}

/// Points of both polyhedra at a distance of at most `enough`, m, or else about the nearest ones, unless all are more than `most` apart;
/// `second` is the second as the first sees it. That none are near enough is not certain.
pub(super) fn near_points(
    hulls: [&Hull<f64>; 2],
    second: &Pose<f64>,
    [enough, most]: [f64; 2],
    simplex: &mut Simplex,
) -> Near {
    let ends = |[a, b]: Pair| {
        let other = hulls[1].vertex(b as usize);
        [hulls[0].vertex(a as usize), second.position + second.rotation * other]
    };
    let lowest = |direction: &Vector3<f64>| {
        let a = hulls[0].lowest(&-direction).0;
        [a as u32, hulls[1].lowest(&second.rotation.tr_mul(direction)).0 as u32]
    };
    let counts = hulls.map(|hull| hull.polyhedron.vertices().len());
    let known = |[a, b]: Pair| (a as usize) < counts[0] && (b as usize) < counts[1];
    let mut corners = Corners::default();
    for pair in simplex.0.into_iter().filter(|&pair| known(pair)) {
        corners.push(pair, ends(pair));
    }
    if corners.count == 0 {
        let [first, other] = hulls.map(|hull| hull.polyhedron.middle().component_mul(&hull.scale));
        let pair = lowest(&(second.position + second.rotation * other - first));
        corners.push(pair, ends(pair));
    }
    let mut near =
        Near { distance: f64::INFINITY, least: f64::NEG_INFINITY, points: [Vector3::zeros(); 2] };
    for _ in 0..ITERATIONS {
        near.points = corners.reduce();
        let way = near.points[1] - near.points[0];
        let square = way.norm_squared();
        near.distance = square.sqrt();
        let ended = square < f64::MIN_POSITIVE || !(1..4).contains(&corners.count);
        if near.distance <= enough || ended {
            break;
        }
        let pair = lowest(&way);
        let [a, b] = ends(pair);
        near.least = near.least.max(way.dot(&(b - a)) / near.distance);
        // Nothing is nearer, or enough is known.
        if near.least >= (1.0 - CLOSE) * near.distance || near.least > most || corners.has(pair) {
            break;
        }
        corners.push(pair, [a, b]);
    }
    simplex.0 = [[NONE; 2]; 4];
    simplex.0[..corners.count].copy_from_slice(&corners.pairs[..corners.count]);
    near
}

/// The corners of a simplex.
#[derive(Default)]
struct Corners {
    pairs: [Pair; 4],
    ends: [[Vector3<f64>; 2]; 4],
    count: usize,
}

impl Corners {
    fn push(&mut self, pair: Pair, ends: [Vector3<f64>; 2]) {
        (self.pairs[self.count], self.ends[self.count]) = (pair, ends);
        self.count += 1;
    }

    fn has(&self, pair: Pair) -> bool {
        self.pairs[..self.count].contains(&pair)
    }

    /// Leaves the corners between which the point nearest to the origin is, and returns the points whose difference it is: means of
    /// vertices, whatever rounding does.
    fn reduce(&mut self) -> [Vector3<f64>; 2] {
        let [a, b, c, d] = self.ends.map(|[first, second]| second - first);
        let shares = match self.count {
            0 | 1 => [1.0, 0.0, 0.0, 0.0],
            2 => on_segment(a, b),
            3 => on_triangle(a, b, c),
            _ => in_tetrahedron(a, b, c, d),
        };
        let (mut sums, mut whole, mut count) = ([Vector3::zeros(); 2], 0.0, 0);
        for (k, share) in shares.into_iter().enumerate().take(self.count) {
            if share > 0.0 {
                sums.iter_mut().zip(&self.ends[k]).for_each(|(sum, end)| *sum += end * share);
                whole += share;
                (self.pairs[count], self.ends[count]) = (self.pairs[k], self.ends[k]);
                count += 1;
            }
        }
        self.count = count;
        // What is no number is nowhere near.
        if whole > 0.0 {
            sums.map(|sum| sum / whole)
        } else {
            [Vector3::repeat(f64::INFINITY), Vector3::zeros()]
        }
    }
}

/// How much each corner counts in the point nearest to the origin: none less than nothing, together one.
type Shares = [f64; 4];

fn on_segment(a: Vector3<f64>, b: Vector3<f64>) -> Shares {
    let along = b - a;
    let square = along.norm_squared();
    let part = if square > 0.0 { (-a.dot(&along) / square).clamp(0.0, 1.0) } else { 0.0 };
    [1.0 - part, part, 0.0, 0.0]
}

/// By the regions about a triangle (`Ericson05` 5.1.5).
fn on_triangle(a: Vector3<f64>, b: Vector3<f64>, c: Vector3<f64>) -> Shares {
    let (ab, ac) = (b - a, c - a);
    let [d1, d2] = [-ab.dot(&a), -ac.dot(&a)];
    let [d3, d4] = [-ab.dot(&b), -ac.dot(&b)];
    let [d5, d6] = [-ab.dot(&c), -ac.dot(&c)];
    let [beyond_a, beyond_b, beyond_c] = [d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2];
    if beyond_c <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        on_segment(a, b)
    } else if beyond_b <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let [own, other, ..] = on_segment(a, c);
        [own, 0.0, other, 0.0]
    } else if beyond_a <= 0.0 && d4 >= d3 && d5 >= d6 {
        let [own, other, ..] = on_segment(b, c);
        [0.0, own, other, 0.0]
    } else if d1 <= 0.0 && d2 <= 0.0 {
        [1.0, 0.0, 0.0, 0.0]
    } else if d3 >= 0.0 && d4 <= d3 {
        [0.0, 1.0, 0.0, 0.0]
    } else if d6 >= 0.0 && d5 <= d6 {
        [0.0, 0.0, 1.0, 0.0]
    } else {
        let whole = beyond_a + beyond_b + beyond_c;
        [beyond_a / whole, beyond_b / whole, beyond_c / whole, 0.0]
    }
}

/// Of the faces that which is nearest, unless the origin is within.
fn in_tetrahedron(a: Vector3<f64>, b: Vector3<f64>, c: Vector3<f64>, d: Vector3<f64>) -> Shares {
    let volume = |a: &Vector3<f64>, b: &Vector3<f64>, c: &Vector3<f64>| a.dot(&b.cross(c));
    // Opposite to each corner, with its sign.
    let parts = [volume(&b, &d, &c), volume(&a, &c, &d), volume(&a, &d, &b), volume(&a, &b, &c)];
    let whole: f64 = parts.iter().sum();
    if whole != 0.0 && parts.iter().all(|part| part / whole >= 0.0) {
        return parts.map(|part| part / whole);
    }
    let points = [a, b, c, d];
    let (mut shares, mut least) = ([1.0, 0.0, 0.0, 0.0], f64::INFINITY);
    for left_out in 0..4 {
        let corners = [0, 1, 2].map(|k| if k < left_out { k } else { k + 1 });
        let [p, q, r] = corners.map(|k| points[k]);
        let own = on_triangle(p, q, r);
        let square = (p * own[0] + q * own[1] + r * own[2]).norm_squared();
        if square < least {
            (shares, least) = ([0.0; 4], square);
            corners.iter().zip(own).for_each(|(&k, share)| shares[k] = share);
        }
    }
    shares
}
