//! Which pair of edges of two polyhedra separates them the most.

use nalgebra::Vector3;

use super::super::hull::Hull;
use super::cutting_planes::{Batch, Cuts, SLACK, TIE};
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
    let polyhedron = first.hull.polyhedron;
    let near = [Arc::default(); NEAR];
    let mut search = FirstEdges { pairs, cuts: first, other, near, count: 0 };
    polyhedron.search(&mut search);
    search.pair();
    if search.pairs.tied && !search.pairs.apart {
        search.pairs.best.0 = [usize::MAX; 2];
        polyhedron.search(&mut search);
        search.pair();
    }
    search.pairs
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
    most: f64,
    /// Whether others are nearly as good.
    tied: bool,
    /// Whether that is more than `reach`.
    pub apart: bool,
}

impl<'a> Pairs<'a> {
    pub fn new(hulls: [&'a Hull<'a, f64>; 2], second: &'a Pose<f64>, reach: f64) -> Self {
        let thickness = hulls[0].thickness();
        Pairs {
            hulls,
            second,
            reach,
            enough: f64::NEG_INFINITY,
            tie: TIE * thickness,
            slack: SLACK * thickness,
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
        self.tied |= edges != self.best.0 && (separation - self.most).abs() <= 2.0 * self.tie;
        let earlier = separation >= self.most - self.tie && (other.edge, first.edge) < (j, i);
        if separation > self.most + self.tie || earlier {
            self.best = (edges, separation, normal);
        }
        self.most = self.most.max(separation);
        self.apart |= separation > self.reach;
    }
}

/// Looks for edges of the first that may separate, and pairs some at a time with those of the second.
struct FirstEdges<'a, 'b> {
    pairs: Pairs<'b>,
    cuts: &'a mut Cuts<'b>,
    other: &'a mut Cuts<'b>,
    near: [Arc; NEAR],
    count: usize,
}

impl FirstEdges<'_, '_> {
    fn take_all(&mut self, batch: &mut Batch) {
        for edge in batch.drain() {
            if self.cuts.edge_may_separate(edge, self.enough()) {
                self.near[self.count] = Arc::new(self.cuts.hull, edge);
                self.count += 1;
                if self.count == NEAR {
                    self.pair();
                }
            }
        }
    }

    fn pair(&mut self) {
        let polyhedron = self.other.hull.polyhedron;
        let near = &self.near[..self.count];
        if !near.is_empty() {
            polyhedron.search(&mut SecondEdges { pairs: &mut self.pairs, cuts: self.other, near });
        }
        self.count = 0;
    }
}

impl PatchSearch for FirstEdges<'_, '_> {
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
        for edge in vertices.iter().flat_map(|&vertex| polyhedron.own_edges(vertex)) {
            if batch.add(edge, self.cuts.edge_height(edge, 0) > low) {
                self.take_all(&mut batch);
            }
        }
        self.take_all(&mut batch);
        !self.pairs.apart
    }
}

/// Looks for edges of the second that may separate with some of the first.
struct SecondEdges<'a, 'b> {
    pairs: &'a mut Pairs<'b>,
    cuts: &'a mut Cuts<'b>,
    near: &'a [Arc],
}

impl SecondEdges<'_, '_> {
    fn take_all(&mut self, batch: &mut Batch) {
        for edge in batch.drain() {
            if self.cuts.edge_may_separate(edge, self.enough()) {
                let other = Arc::seen(self.cuts.hull, self.pairs.second, edge);
                self.near.iter().for_each(|first| self.pairs.look(first, &other));
            }
        }
    }
}

impl PatchSearch for SecondEdges<'_, '_> {
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
        for edge in vertices.iter().flat_map(|&vertex| polyhedron.own_edges(vertex)) {
            if batch.add(edge, self.cuts.edge_height(edge, 0) > low) {
                self.take_all(&mut batch);
            }
        }
        self.take_all(&mut batch);
        !self.pairs.apart
    }
}
