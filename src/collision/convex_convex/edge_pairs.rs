//! Which pair of edges of two polyhedra separates them the most.

use nalgebra::Vector3;

use super::super::hull::Hull;
use super::cutting_planes::{Batch, Cuts, TIE};
use crate::collision::Pose;
use crate::model::{Edge, Patch, PatchSearch};

/// Edges of the first polyhedron that are paired with those of the second at a time, at most.
const NEAR: usize = 48;

/// Edges at a smaller angle than this (rad) are parallel: they make no axis.
const PARALLEL: f64 = 1e-2;

pub(super) type Pair = ([usize; 2], f64, Vector3<f64>);

/// Finds the pair of edges along whose product the polyhedra are furthest apart, of those within [`TIE`] the first, how
/// far, and the normal; those that cannot separate by enough are left out.
pub(super) fn best_edges<'a>(cuts: &mut [Cuts<'a>; 2], pairs: Pairs<'a>) -> Pairs<'a> {
    let [first, other] = cuts;
    let mut pairs = pairs;
    pairs.search(first, other);
    if pairs.tied && !pairs.apart {
        // The first one, now that the best is known, whatever the order.
        let found = std::mem::replace(&mut pairs.best.0, [usize::MAX; 2]);
        pairs.search(first, other);
        if pairs.best.0 == [usize::MAX; 2] {
            pairs.best.0 = found;
        }
    }
    pairs
}

/// An edge of a polyhedron with the arc of its normals on the Gauss map, in the frame of the first.
#[derive(Clone, Copy, Default)]
struct Arc {
    edge: usize,
    start: Vector3<f64>,
    along: Vector3<f64>,
    /// The normals of its faces, not of length 1.
    ends: [Vector3<f64>; 2],
}

impl Arc {
    /// Of a hull in its own frame.
    fn new(hull: &Hull<f64>, edge: usize) -> Arc {
        let Edge { ends, faces } = hull.polyhedron.edges()[edge];
        let ends = (hull.vertex(ends[0]), faces.map(|face| hull.direction(face).0));
        Arc { edge, start: ends.0, along: hull.along(edge), ends: ends.1 }
    }

    /// Of a hull that has a pose.
    fn seen(hull: &Hull<f64>, pose: &Pose<f64>, edge: usize) -> Arc {
        let own = Arc::new(hull, edge);
        let start = pose.position + pose.rotation * own.start;
        let [along, first, other] =
            [own.along, own.ends[0], own.ends[1]].map(|v| pose.rotation * v);
        Arc { edge, start, along, ends: [first, other] }
    }
}

/// What pairs of edges have been found.
pub(super) struct Pairs<'a> {
    hulls: [&'a Hull<'a, f64>; 2],
    /// The second as the first one sees it.
    second: &'a Pose<f64>,
    reach: f64,
    pub enough: f64,
    tie: f64,
    slack: f64,
    pub best: Pair,
    /// The largest separation so far.
    pub most: f64,
    /// Whether others are nearly as good.
    tied: bool,
    /// Whether that is more than `reach`.
    pub apart: bool,
}

impl<'a> Pairs<'a> {
    pub fn new(
        hulls: [&'a Hull<'a, f64>; 2],
        second: &'a Pose<f64>,
        reach: f64,
        slack: f64,
    ) -> Self {
        Pairs {
            hulls,
            second,
            reach,
            enough: f64::NEG_INFINITY,
            tie: TIE * hulls[0].thickness(),
            slack,
            best: ([0; 2], f64::NEG_INFINITY, Vector3::zeros()),
            most: f64::NEG_INFINITY,
            tied: false,
            apart: false,
        }
    }

    /// Begins with a pair, if there is one.
    pub fn begin(&mut self, edges: [u32; 2]) {
        let [i, j] = edges.map(|edge| edge as usize);
        let [first, other] = self.hulls;
        if i < first.polyhedron.edges().len() && j < other.polyhedron.edges().len() {
            self.look(&Arc::new(first, i), &Arc::seen(other, self.second, j));
        }
    }

    /// What separates by less does not count.
    fn enough(&self) -> f64 {
        self.enough.max(self.most - self.slack)
    }

    /// Pairs what may separate of the first, some at a time, with what may of the second.
    fn search(&mut self, first: &mut Cuts<'a>, other: &mut Cuts<'a>) {
        let hull = first.hull;
        let (mut near, mut count) = ([Arc::default(); NEAR], 0);
        let take = |pairs: &mut Self, edge| {
            near[count] = Arc::new(hull, edge);
            count += 1;
            if count == NEAR {
                pairs.pair(&near, other);
                count = 0;
            }
        };
        hull.polyhedron.search(&mut EdgeSearch { pairs: self, cuts: first, take });
        self.pair(&near[..count], other);
    }

    fn pair(&mut self, near: &[Arc], other: &mut Cuts<'a>) {
        if near.is_empty() {
            return;
        }
        let (hull, second) = (other.hull, self.second);
        let take = |pairs: &mut Self, edge| {
            let other = Arc::seen(hull, second, edge);
            near.iter().for_each(|first| pairs.look(first, &other));
        };
        hull.polyhedron.search(&mut EdgeSearch { pairs: self, cuts: other, take });
    }

    fn look(&mut self, first: &Arc, other: &Arc) {
        // The arc between the normals of an edge's faces crosses the plane of the other arc, whose
        // normal is the other edge, and the other way round, on the same side of the sphere.
        let (a, b) = (first.along, other.along);
        let [low, high] = other.ends.map(|end| end.dot(&a));
        if low * high >= 0.0 {
            return;
        }
        let [below, above] = first.ends.map(|end| end.dot(&b));
        if below * above >= 0.0 || low * above >= 0.0 {
            return;
        }
        let cross = a.cross(&b);
        let length = cross.norm();
        if length <= PARALLEL * a.norm() * b.norm() {
            return;
        }
        let [a1, a2] = first.ends;
        let upward = a1 / a1.norm() + a2 / a2.norm();
        let normal = cross / if upward.dot(&cross) >= 0.0 { length } else { -length };
        let separation = normal.dot(&(other.start - first.start));
        let edges = [first.edge, other.edge];
        let [i, j] = self.best.0;
        self.tied &= separation <= self.most + 2.0 * self.tie;
        self.tied |= edges != self.best.0 && (separation - self.most).abs() <= 2.0 * self.tie;
        let earlier = separation >= self.most - self.tie && (other.edge, first.edge) < (j, i);
        if separation > self.most + self.tie || earlier {
            self.best = (edges, separation, normal);
        }
        self.most = self.most.max(separation);
        self.apart |= separation > self.reach;
    }
}

/// Looks for edges of the hull of the cuts that may separate.
struct EdgeSearch<'a, 'b, Take> {
    pairs: &'a mut Pairs<'b>,
    cuts: &'a mut Cuts<'b>,
    /// What is done with them.
    take: Take,
}

impl<'b, Take: FnMut(&mut Pairs<'b>, usize)> EdgeSearch<'_, 'b, Take> {
    fn take_all(&mut self, batch: &mut Batch) {
        for edge in batch.drain() {
            if self.cuts.edge_may_separate(edge, self.pairs.enough()) {
                (self.take)(self.pairs, edge);
            }
        }
    }
}

impl<'b, Take: FnMut(&mut Pairs<'b>, usize)> PatchSearch for EdgeSearch<'_, 'b, Take> {
    fn bound(&self, patch: &Patch) -> f64 {
        self.cuts.above(patch)
    }

    fn enough(&self) -> f64 {
        self.pairs.enough()
    }

    fn look(&mut self, vertices: &[usize]) -> bool {
        let polyhedron = self.cuts.hull.polyhedron;
        let mut batch = Batch::default();
        let low = self.cuts.unscaled_low(self.enough());
        let half_turns = polyhedron.half_turns();
        for edge in vertices.iter().flat_map(|&vertex| polyhedron.own_edges(vertex)) {
            let least = if low > 0.0 { low * half_turns[edge] } else { low };
            if batch.add(edge, self.cuts.edge_height(edge, self.cuts.sharpest()) > least) {
                self.take_all(&mut batch);
            }
        }
        self.take_all(&mut batch);
        !self.pairs.apart
    }
}
