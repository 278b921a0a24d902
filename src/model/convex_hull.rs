//! The convex hull of points as triangles: quickhull (`Barber96`) with exact predicates
//! (`Shewchuk97`).
//!
//! Whether a point sees a facet is decided exactly, whatever the rounding, so the facets always close and
//! no input needs a repair. Points in a facet's plane do not see it.

use std::collections::BTreeMap;
use std::fmt;

use nalgebra::Vector3;
use robust::{Coord3D, orient3d};

/// Why points have no hull with a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HullError {
    /// There are fewer than four points.
    TooFew(usize),
    /// A coordinate of this point is infinite or not a number, or too large for a volume.
    NotFinite(usize),
    /// All points lie in a plane, or nearly.
    Flat,
}

impl fmt::Display for HullError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HullError::TooFew(count) => {
                write!(f, "a solid needs at least 4 points, found {count}")
            }
            HullError::NotFinite(point) => {
                write!(f, "point {point} has a coordinate that is not a number of usable size")
            }
            HullError::Flat => {
                f.write_str("all points lie in a plane: a solid needs some thickness")
            }
        }
    }
}

impl std::error::Error for HullError {}

/// Points thinner than this fraction of their extent are flat.
const FLAT: f64 = 1e-5;

/// Coordinates whose products overflow have no hull.
const LARGEST: f64 = 1e90;

/// A triangle of the hull, counter-clockwise seen from outside.
pub(super) struct Facet {
    pub corners: [usize; 3],
    /// Behind the side from each corner to the next.
    pub neighbors: [usize; 3],
    /// Points that see it, each in the list of one facet.
    outside: Vec<usize>,
    removed: bool,
}

/// Relative to the extent, coordinates below this are 0, so that no product of the predicates underflows.
const TINY: f64 = 1e-60;

/// The facets of the hull, with the points as corners. Points inside of it belong to none.
///
/// With more than `most` corners (4 or more) it has that many: each in turn is the point furthest from the hull so far.
pub(super) fn convex_hull(points: &[Vector3<f64>], most: usize) -> Result<Vec<Facet>, HullError> {
    let usable = |p: &Vector3<f64>| p.iter().all(|x| x.abs() < LARGEST);
    if let Some(point) = points.iter().position(|p| !usable(p)) {
        return Err(HullError::NotFinite(point));
    }
    if points.len() < 4 {
        return Err(HullError::TooFew(points.len()));
    }
    let size = points.iter().map(|p| p.amax()).fold(0.0, f64::max);
    if size <= 1.0 / LARGEST {
        return Err(HullError::Flat);
    }
    // A power of two, by which scaling is exact.
    let scale = size.log2().floor().exp2().recip();
    let scaled = |x: f64| if (x * scale).abs() < TINY { 0.0 } else { x * scale };
    let points: Vec<_> = points.iter().map(|p| p.map(scaled)).collect();

    let mut hull =
        Hull { facets: simplex(&points)?, points, horizon: Vec::new(), by_height: false };
    hull.distribute((0..hull.points.len()).collect(), 0);
    if hull.points.len() > most {
        hull.by_height = true;
        let all = hull.facets.iter_mut().flat_map(|facet| std::mem::take(&mut facet.outside));
        let outside = all.collect();
        hull.distribute(outside, 0);
        for _ in 4..most {
            let Some((point, facet)) = hull.outermost() else { break };
            hull.add(point, facet);
        }
        return Ok(hull.compacted());
    }
    let mut next = 0;
    while next < hull.facets.len() {
        match hull.furthest(next) {
            Some(point) => hull.add(point, next),
            None => next += 1,
        }
    }
    Ok(hull.compacted())
}

/// Four points with a volume.
fn simplex(points: &[Vector3<f64>]) -> Result<Vec<Facet>, HullError> {
    let most = |measure: &dyn Fn(&Vector3<f64>) -> f64| {
        let larger = |best: (usize, f64), (k, p): (usize, &Vector3<f64>)| {
            let size = measure(p);
            if size > best.1 { (k, size) } else { best }
        };
        points.iter().enumerate().fold((0, f64::NEG_INFINITY), larger)
    };
    let (a, _) = most(&|p| -p.x);
    let (b, extent) = most(&|p| (p - points[a]).norm());
    let along = points[b] - points[a];
    let (c, area) = most(&|p| along.cross(&(p - points[a])).norm());
    let normal = along.cross(&(points[c] - points[a]));
    let (d, volume) = most(&|p| normal.dot(&(p - points[a])).abs());
    if area <= FLAT * extent * extent || volume <= FLAT * extent * area {
        return Err(HullError::Flat);
    }
    let below = side(points, [a, b, c], d) > 0.0;
    let [a, b] = if below { [a, b] } else { [b, a] };
    let facet = |corners, neighbors| Facet { corners, neighbors, outside: vec![], removed: false };
    Ok(vec![
        facet([a, b, c], [1, 2, 3]),
        facet([b, a, d], [0, 3, 2]),
        facet([c, b, d], [0, 1, 3]),
        facet([a, c, d], [0, 2, 1]),
    ])
}

/// Positive below, negative above, 0 in the plane: exactly.
fn side(points: &[Vector3<f64>], corners: [usize; 3], point: usize) -> f64 {
    let coordinates = |k: usize| Coord3D { x: points[k].x, y: points[k].y, z: points[k].z };
    let [a, b, c] = corners.map(coordinates);
    orient3d(a, b, c, coordinates(point))
}

struct Hull {
    points: Vec<Vector3<f64>>,
    facets: Vec<Facet>,
    /// The sides of what a point sees, as (start, (end, facet behind)).
    horizon: Vec<(usize, usize, usize)>,
    /// Whether points go to the facet that they are the furthest above of.
    by_height: bool,
}

impl Hull {
    fn sees(&self, point: usize, facet: usize) -> bool {
        side(&self.points, self.facets[facet].corners, point) < 0.0
    }

    /// Gives each point to the first facet from `first` on that it sees, or to that which it is the furthest above of all;
    /// others are inside.
    fn distribute(&mut self, points: Vec<usize>, first: usize) {
        if self.by_height {
            let left = (0..self.facets.len()).filter(|&facet| !self.facets[facet].removed);
            let planes = left.filter_map(|facet| {
                let (normal, point) = self.plane(facet);
                let normal = normal.try_normalize(0.0)?;
                Some((facet, normal, normal.dot(&point)))
            });
            let planes: Vec<_> = planes.collect();
            for point in points {
                let at = self.points[point];
                let heights = planes.iter().map(|(facet, n, offset)| (*facet, n.dot(&at) - offset));
                let highest =
                    heights.reduce(|best, next| if next.1 > best.1 { next } else { best });
                if let Some((facet, _)) = highest.filter(|&(facet, _)| self.sees(point, facet)) {
                    self.facets[facet].outside.push(point);
                }
            }
            return;
        }
        for point in points {
            let seen = (first..self.facets.len()).find(|&facet| self.sees(point, facet));
            if let Some(facet) = seen {
                self.facets[facet].outside.push(point);
            }
        }
    }

    /// The point furthest above a facet.
    fn furthest(&self, facet: usize) -> Option<usize> {
        let (normal, a) = self.plane(facet);
        let height = |point: usize| normal.dot(&(self.points[point] - a));
        let outside = self.facets[facet].outside.iter().copied();
        outside.reduce(|best, k| if height(k) > height(best) { k } else { best })
    }

    /// The point that is the furthest above any of the facets that are left, and that facet.
    fn outermost(&self) -> Option<(usize, usize)> {
        let mut best = (None, 0.0);
        for facet in (0..self.facets.len()).filter(|&facet| !self.facets[facet].removed) {
            let Some(point) = self.furthest(facet) else { continue };
            let (normal, a) = self.plane(facet);
            let height = normal.dot(&(self.points[point] - a)) / normal.norm();
            if height > best.1 {
                best = (Some((point, facet)), height);
            }
        }
        best.0
    }

    /// A normal of a facet, outward, not of length 1, and a point of it.
    fn plane(&self, facet: usize) -> (Vector3<f64>, Vector3<f64>) {
        let [a, b, c] = self.facets[facet].corners.map(|k| self.points[k]);
        ((b - a).cross(&(c - a)), a)
    }

    /// Replaces what `point` sees, `start` among it, by facets from it to the horizon.
    fn add(&mut self, point: usize, start: usize) {
        let mut open = vec![start];
        let mut orphans = Vec::new();
        self.facets[start].removed = true;
        self.horizon.clear();
        while let Some(facet) = open.pop() {
            orphans.append(&mut self.facets[facet].outside);
            let Facet { corners, neighbors, .. } = self.facets[facet];
            for (side, &behind) in neighbors.iter().enumerate() {
                if self.facets[behind].removed {
                    continue;
                }
                if self.sees(point, behind) {
                    self.facets[behind].removed = true;
                    open.push(behind);
                } else {
                    self.horizon.push((corners[side], corners[(side + 1) % 3], behind));
                }
            }
        }
        let first = self.facets.len();
        let from: BTreeMap<_, _> =
            self.horizon.iter().enumerate().map(|(k, side)| (side.0, first + k)).collect();
        let to: BTreeMap<_, _> =
            self.horizon.iter().enumerate().map(|(k, side)| (side.1, first + k)).collect();
        for &(a, b, behind) in &self.horizon {
            let index = self.facets.len();
            let back = &mut self.facets[behind];
            for side in 0..3 {
                if back.corners[side] == b {
                    back.neighbors[side] = index;
                }
            }
            let neighbors = [behind, from[&b], to[&a]];
            let corners = [a, b, point];
            self.facets.push(Facet { corners, neighbors, outside: vec![], removed: false });
        }
        self.distribute(orphans, first);
    }

    /// The facets that are left.
    fn compacted(self) -> Vec<Facet> {
        let mut place = 0;
        let places: Vec<usize> = self
            .facets
            .iter()
            .map(|facet| {
                place += usize::from(!facet.removed);
                place
            })
            .collect();
        let mut facets: Vec<Facet> = self.facets.into_iter().filter(|f| !f.removed).collect();
        for facet in &mut facets {
            facet.neighbors = facet.neighbors.map(|k| places[k] - 1);
        }
        facets
    }
}
