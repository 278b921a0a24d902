//! Two boxes against the distance and the penetration found by trying everything.

use std::f64::consts::PI;

use nalgebra::Vector3;
use stiction::collision::Pose;
use stiction::spatial::product;

use super::{BOX, Pair, least_gap};
use crate::random::Random;

type Point = Vector3<f64>;

fn corners(pair: &Pair, body: usize) -> [Point; 8] {
    let Pose { rotation, position } = pair.poses()[body];
    std::array::from_fn(|k| {
        let sign = |axis: usize| if k >> axis & 1 == 1 { 1.0 } else { -1.0 };
        let place = Vector3::from_fn(|axis, _| sign(axis) * pair.sizes[body][axis]);
        position + rotation * place
    })
}

/// The ends of the twelve edges.
fn edges(pair: &Pair, body: usize) -> Vec<[Point; 2]> {
    let corners = corners(pair, body);
    let ends = (0..8usize).flat_map(|a| (a + 1..8).map(move |b| (a, b)));
    let edges = ends.filter(|(a, b)| (a ^ b).count_ones() == 1);
    edges.map(|(a, b)| [corners[a], corners[b]]).collect()
}

/// The distance of two segments, and whether it is that of two inner points.
fn between(p: [Point; 2], q: [Point; 2]) -> (f64, bool) {
    let (a, b, offset) = (p[1] - p[0], q[1] - q[0], q[0] - p[0]);
    let to = |point: Point, s: [Point; 2]| {
        let along = s[1] - s[0];
        let t = ((point - s[0]).dot(&along) / along.norm_squared()).clamp(0.0, 1.0);
        (s[0] + along * t - point).norm()
    };
    let least = to(p[0], q).min(to(p[1], q)).min(to(q[0], p)).min(to(q[1], p));
    let normal = nalgebra::Matrix2::new(a.dot(&a), -a.dot(&b), -a.dot(&b), b.dot(&b));
    if let Some(inverse) = normal.try_inverse() {
        let at = inverse * nalgebra::Vector2::new(a.dot(&offset), -b.dot(&offset));
        if at.iter().all(|x| (0.0..=1.0).contains(x)) {
            return ((offset + b * at.y - a * at.x).norm(), true);
        }
    }
    (least, false)
}

/// The distance of boxes apart, and whether it is that of a face and something, or of two edges inside
/// of both.
fn distance(pair: &Pair) -> (f64, bool) {
    let (mut least, mut simple) = (f64::INFINITY, false);
    for body in 0..2 {
        for corner in corners(pair, body) {
            let Pose { rotation, position } = pair.poses()[1 - body];
            let place = rotation.tr_mul(&(corner - position));
            let excess = (place.abs() - pair.sizes[1 - body]).map(|x| x.max(0.0));
            if excess.norm() < least {
                least = excess.norm();
                simple = excess.iter().filter(|&&x| x > 0.0).count() <= 1;
            }
        }
    }
    for p in edges(pair, 0) {
        for q in edges(pair, 1) {
            let (d, inner) = between(p, q);
            if d < least - 1e-12 {
                (least, simple) = (d, inner);
            }
        }
    }
    (least, simple)
}

/// The least overlap along any of `directions`.
fn overlap(pair: &Pair, directions: impl Iterator<Item = Point>) -> f64 {
    let corners = [corners(pair, 0), corners(pair, 1)];
    let range = |body: usize, n: &Point| {
        corners[body]
            .iter()
            .map(|c| c.dot(n))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |r, x| (r.0.min(x), r.1.max(x)))
    };
    let along = |n: Point| {
        let (a, b) = (range(0, &n), range(1, &n));
        (a.1 - b.0).min(b.1 - a.0)
    };
    directions.map(along).fold(f64::INFINITY, f64::min)
}

fn axes(pair: &Pair) -> Vec<Point> {
    let [a, b] = pair.poses().map(|pose| pose.rotation);
    let mut axes: Vec<Point> = a.column_iter().chain(b.column_iter()).map(|c| c.into()).collect();
    for i in 0..3 {
        for j in 0..3 {
            let cross = a.column(i).cross(&b.column(j));
            if cross.norm() > 1e-6 {
                axes.push(cross.normalize());
            }
        }
    }
    axes
}

/// Along the 15 axes, m; negative if the boxes overlap.
fn separation(pair: &Pair) -> f64 {
    -overlap(pair, axes(pair).into_iter())
}

/// Moves the second box along the line of the centres until the boxes are `separation` apart.
fn placed(mut pair: Pair, wanted: f64) -> Pair {
    let way = (pair.positions[1] - pair.positions[0]).normalize();
    let (mut low, mut high) = (0.0, 10.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        pair.positions[1] = pair.positions[0] + way * middle;
        if separation(&pair) < wanted { low = middle } else { high = middle }
    }
    pair
}

/// Orientations at random, then nearly parallel edges and faces, where axes are as good as each other.
const TILTS: [f64; 9] = [3.0, 0.1, 0.02, 0.005, 1e-3, 1e-4, 1e-6, 1e-9, 0.0];

/// A pair of boxes that is but for `tilt` turned by multiples of an eighth about an axis.
fn pair(tilt: f64, case: usize, random: &mut Random) -> Pair {
    let mut pair = Pair::random([&BOX; 2], random, 2.0);
    if tilt < 3.0 {
        pair.orientations[1] = [1.0, 0.0, 0.0, 0.0];
        let eighths = [0.0, 0.25 * PI, 0.5 * PI][case % 3];
        pair = pair.turned(1, Vector3::ith(case / 3 % 3, eighths).into());
        pair = pair.turned(1, random.vector(tilt));
        pair.orientations[1] = product(pair.orientations[0], pair.orientations[1]);
    }
    pair
}

#[test]
fn the_least_gap_is_the_distance() {
    let mut random = Random(11);
    for tilt in TILTS {
        let (mut exact, mut inner, mut beside, mut missed) = (0, 0, 0, 0);
        for case in 0..2000 {
            let gap = random.uniform(1e-6, 0.05);
            let pair = placed(pair(tilt, case, &mut random), gap);
            let (distance, simple) = distance(&pair);
            let contacts = pair.witnesses(0.2);
            let least = least_gap(&contacts);
            // In all cases, no contact where there is none.
            assert!(contacts.is_empty() || least > distance - 1e-3, "{pair:?} {contacts:?}");
            if !simple {
                // A corner beside a face: nothing, or points of a face further off.
                beside += 1;
                continue;
            }
            inner += 1;
            exact += usize::from((least - distance).abs() < 1e-12);
            // Edges that are nearly parallel make no axis.
            missed += usize::from(contacts.is_empty());
            // The preference for faces costs little.
            let close = contacts.is_empty() || least < distance + 1e-3;
            assert!(close, "{least} {distance} {pair:?} {contacts:?}");
        }
        assert!(beside < 100 && inner - exact < 1400, "{tilt}: {beside} {inner} {exact}");
        let parallel = (1e-4..0.02).contains(&tilt);
        assert!(missed <= usize::from(parallel), "{tilt}: {missed}");
    }
}

#[test]
fn boxes_that_overlap_have_the_least_penetration() {
    let mut random = Random(12);
    for tilt in TILTS {
        let mut exact = 0;
        for case in 0..4000 {
            let wanted = random.uniform(1e-6, [0.01, 0.3][case / 2000]);
            let pair = placed(pair(tilt, case, &mut random), -wanted);
            let depth = -separation(&pair);
            let contacts = pair.witnesses(0.0);
            let gap = least_gap(&contacts);
            assert!((gap + depth).abs() < 1e-3, "{gap} {depth} {pair:?} {contacts:?}");
            exact += usize::from((gap + depth).abs() < 1e-12);
        }
        assert!(exact > 1200, "{tilt}: {exact}");
    }
}
