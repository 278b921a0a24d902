//! The separating axis test, in `f64`: along which direction two polyhedra are furthest apart.

use nalgebra::Vector3;

use super::super::hull::{Hull, Plane, scaled_height};
use crate::collision::Pose;
use crate::model::{Edge, Patch, PatchSearch};

/// By how much the faces of the second, and edges, must be better than what came before, as a fraction of
/// the thickness and of the separation, so that faces that are parallel but for rounding or a slight tilt
/// are chosen in one way on every step.
const MARGIN: f64 = 1e-3;

/// By how much a later face of the same polyhedron must separate more: its faces are not parallel, but may be
/// nearly so in fine meshes.
const TIE: f64 = 1e-9;

/// How far below the best an axis may be that is looked at all the same, as a fraction of the thickness: more than
/// [`TIE`], and than rounding.
const SLACK: f64 = 4.0 * TIE;

/// Vertices that bound separations, at most.
const VERTICES: usize = 4;

/// Edges of the first polyhedron that are paired with those of the second at a time, at most.
const NEAR: usize = 48;

/// Edges at a smaller angle than this (rad) are parallel: they make no axis.
const PARALLEL: f64 = 1e-2;

/// An axis of edges nearer to the normal of the best face than this angle (rad) gives way to the face,
/// whose manifold has the crossing of the edges too, and the other points about it.
const FLAT: f64 = 0.05;

/// A face of one of two polyhedra.
#[derive(Clone, Copy, Debug)]
pub(super) struct Face {
    pub body: usize,
    pub face: usize,
}

/// An edge of each, and the unit normal from first to second, in the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edges {
    pub edges: [usize; 2],
    pub normal: Vector3<f64>,
    /// Whether that is nearly the normal of the best face.
    pub flat: bool,
}

/// Along which axes two polyhedra are the furthest apart.
pub(super) struct Axes {
    /// The best face.
    pub face: Face,
    /// The best pair of edges, if it is better than the face.
    pub edges: Option<Edges>,
    /// The lowest point of what is over a face is not higher than this where it is what touches, m.
    pub most: f64,
    /// No point lies lower than this over a face of the other, m.
    pub floor: f64,
}

/// What a search for axes has found, where the next one of the same pair of shapes begins. It finds the same from any other.
#[derive(Clone, Copy, Debug)]
pub struct WarmStart {
    /// The best face of each.
    faces: [u32; 2],
    /// The best pair of edges.
    edges: [u32; 2],
    /// Vertices of the other that bound the separation by faces of each, the last one first.
    cuts: [[u32; VERTICES]; 2],
}

/// Instead of the number of a face, an edge or a vertex.
const NONE: u32 = u32::MAX;

impl Default for WarmStart {
    fn default() -> Self {
        WarmStart { faces: [NONE; 2], edges: [NONE; 2], cuts: [[NONE; VERTICES]; 2] }
    }
}

/// The axes of largest separation, or nothing if one separates the polyhedra by more than `reach`;
/// `second` is the second as the first one sees it.
pub(super) fn separating(
    hulls: &[Hull<f64>; 2],
    second: &Pose<f64>,
    reach: f64,
    warm: &mut WarmStart,
) -> Option<Axes> {
    let seen = [*second, second.inverse()];
    let cuts =
        |body: usize| Cuts::new(&hulls[body], &hulls[1 - body], &seen[body], &warm.cuts[body]);
    let mut cuts = [cuts(0), cuts(1)];
    let found = search(&mut cuts, second, reach, warm);
    warm.cuts = cuts.each_ref().map(Cuts::keep);
    found
}

fn search<'a>(
    cuts: &mut [Cuts<'a>; 2],
    second: &'a Pose<f64>,
    reach: f64,
    warm: &mut WarmStart,
) -> Option<Axes> {
    let hulls = [0, 1].map(|body| cuts[body].hull);
    let thickness = hulls[0].thickness().min(hulls[1].thickness());
    let margin = |best: f64| MARGIN * (thickness + best.abs());
    // What was apart mostly still is, along the same axis.
    let mut pairs = Pairs::new(hulls, second, reach);
    pairs.begin(warm.edges);
    let [first, other] = cuts;
    let mut faces = [BestFace::new(first, reach), BestFace::new(other, reach)];
    for (search, &face) in faces.iter_mut().zip(&warm.faces) {
        search.begin(face);
    }
    if pairs.apart || faces.iter().any(|search| search.apart) {
        return None;
    }
    let mut best = [None; 2];
    for (body, search) in faces.iter_mut().enumerate() {
        best[body] = search.run();
        warm.faces[body] = search.best.0 as u32;
        best[body]?;
    }
    let (first, other) = (best[0]?, best[1]?);
    let (face, best) = if other.1 > first.1 + margin(first.1) {
        (Face { body: 1, face: other.0 }, other.1)
    } else {
        (Face { body: 0, face: first.0 }, first.1)
    };
    let own = hulls[face.body].plane(face.face).normal;
    let normal = if face.body == 0 { own } else { second.rotation * own };

    let enough = best + margin(best);
    pairs.enough = enough.min(reach);
    let pairs = best_edges(cuts, pairs);
    warm.edges = pairs.best.0.map(|edge| edge as u32);
    if pairs.apart {
        return None;
    }
    let pair = pairs.best;
    let better = pair.1 > enough;
    let edges = better.then(|| Edges {
        flat: pair.2.cross(&normal).norm() <= FLAT,
        edges: pair.0,
        normal: pair.2,
    });
    // What is apart has no points below a face, but by the margin with which it was chosen.
    let most = if better { pair.1 } else { best };
    let floor = if most > 0.0 { -margin(most) } else { f64::NEG_INFINITY };
    Some(Axes { face, edges, most: most + 2.0 * margin(most), floor })
}

/// Looks for the face of the hull of the cuts that the other one is furthest above of, of those within [`TIE`] the first.
struct BestFace<'a, 'b> {
    cuts: &'a mut Cuts<'b>,
    reach: f64,
    tie: f64,
    slack: f64,
    best: (usize, f64),
    /// The largest separation so far.
    most: f64,
    /// Whether others are nearly as good.
    tied: bool,
    /// Whether that is more than `reach`.
    apart: bool,
}

impl<'a, 'b> BestFace<'a, 'b> {
    fn new(cuts: &'a mut Cuts<'b>, reach: f64) -> Self {
        let thickness = cuts.hull.thickness();
        let (tie, slack) = (TIE * thickness, SLACK * thickness);
        let best = (0, f64::NEG_INFINITY);
        BestFace { cuts, reach, tie, slack, best, most: best.1, tied: false, apart: false }
    }

    /// Begins with a face, if there is one.
    fn begin(&mut self, face: u32) {
        if (face as usize) < self.cuts.hull.polyhedron.faces().len() {
            self.take(face as usize);
        }
    }

    /// Searches all, but nothing if they are apart.
    fn run(&mut self) -> Option<(usize, f64)> {
        let polyhedron = self.cuts.hull.polyhedron;
        polyhedron.search(self);
        if self.tied && !self.apart {
            // The first one, now that the best is known, whatever the order.
            self.best.0 = usize::MAX;
            polyhedron.search(self);
        }
        (!self.apart).then_some(self.best)
    }

    fn take_all(&mut self, batch: &mut Batch) {
        for face in batch.drain() {
            if self.cuts.face_may_separate(face, self.enough()) {
                self.take(face);
            }
        }
    }

    fn take(&mut self, face: usize) {
        let plane = self.cuts.hull.plane(face);
        let separation = self.cuts.separation(&plane);
        self.tied |= face != self.best.0 && (separation - self.most).abs() <= 2.0 * self.tie;
        let earlier = separation >= self.most - self.tie && face < self.best.0;
        if separation > self.most + self.tie || earlier {
            self.best = (face, separation);
        }
        self.most = self.most.max(separation);
        self.apart |= separation > self.reach;
    }
}

impl PatchSearch for BestFace<'_, '_> {
    fn bound(&self, patch: &Patch) -> f64 {
        self.cuts.above(patch)
    }

    fn enough(&self) -> f64 {
        self.most - self.slack
    }

    fn look(&mut self, vertices: &[usize]) -> bool {
        let polyhedron = self.cuts.hull.polyhedron;
        let mut batch = Batch::default();
        let enough = self.enough();
        for face in vertices.iter().flat_map(|&vertex| polyhedron.own_faces(vertex)) {
            if batch.add(face, self.cuts.face_height(face, 0) >= enough) {
                self.take_all(&mut batch);
            }
        }
        self.take_all(&mut batch);
        !self.apart
    }
}

/// Numbers of what passes a first test, in which nothing is guessed that mostly is guessed wrong.
#[derive(Default)]
struct Batch {
    numbers: [u32; 16],
    count: usize,
}

impl Batch {
    /// Takes a number if it passes; true if there is no more place.
    fn add(&mut self, number: usize, passes: bool) -> bool {
        self.numbers[self.count] = number as u32;
        self.count += usize::from(passes);
        self.count == self.numbers.len()
    }

    fn drain(&mut self) -> impl Iterator<Item = usize> + use<> {
        let (numbers, count) = (self.numbers, self.count);
        self.count = 0;
        (0..count).map(move |k| numbers[k] as usize)
    }
}

/// Some vertices of a polyhedron, as another one sees them: its cutting planes (`Kelley60`). Along an axis it begins at the
/// lowest of all its vertices, and so not above any of these: what bounds the separation along axes that need not be
/// looked at.
struct Cuts<'a> {
    hull: &'a Hull<'a, f64>,
    other: &'a Hull<'a, f64>,
    /// The other as the hull sees it.
    seen: &'a Pose<f64>,
    /// The last one first, with their places without the scale of the hull.
    vertices: [(u32, Vector3<f64>); VERTICES],
    /// The least and the largest scale of the hull.
    scale: [f64; 2],
}

impl<'a> Cuts<'a> {
    /// Of vertices that were [kept](Self::keep), or of that nearest to the hull by the middles of both.
    fn new(
        hull: &'a Hull<'a, f64>,
        other: &'a Hull<'a, f64>,
        seen: &'a Pose<f64>,
        kept: &[u32; VERTICES],
    ) -> Self {
        let scale = [hull.scale.min(), hull.scale.max()];
        let vertices = [(NONE, Vector3::zeros()); VERTICES];
        let mut cuts = Cuts { hull, other, seen, vertices, scale };
        let known = |vertex: u32| (vertex as usize) < other.polyhedron.vertices().len();
        let kept = if kept.iter().all(|&vertex| known(vertex)) {
            *kept
        } else {
            [cuts.nearest(); VERTICES]
        };
        cuts.vertices = kept.map(|vertex| cuts.placed(vertex));
        cuts
    }

    fn keep(&self) -> [u32; VERTICES] {
        self.vertices.map(|(vertex, _)| vertex)
    }

    /// The vertex nearest to the hull, by the middles of both.
    fn nearest(&self) -> u32 {
        let middle = |hull: &Hull<f64>| hull.polyhedron.middle().component_mul(&hull.scale);
        let other = self.seen.position + self.seen.rotation * middle(self.other);
        let way = other - middle(self.hull);
        self.other.lowest(&self.seen.rotation.tr_mul(&way)).0 as u32
    }

    fn placed(&self, vertex: u32) -> (u32, Vector3<f64>) {
        let point = self.seen.position + self.seen.rotation * self.other.vertex(vertex as usize);
        (vertex, point.component_div(&self.hull.scale))
    }

    /// How far the lowest vertex of the other is along a direction from its origin; it is taken instead of the oldest.
    fn cut(&mut self, direction: &Vector3<f64>) -> f64 {
        let (vertex, lowest) = self.other.lowest(&self.seen.rotation.tr_mul(direction));
        let vertex = vertex as u32;
        let known = self.vertices.iter().position(|&(own, _)| own == vertex);
        let place = known.unwrap_or(VERTICES - 1);
        if known.is_none() {
            self.vertices[place] = self.placed(vertex);
        }
        self.vertices[..=place].rotate_right(1);
        lowest
    }

    /// How far the other is above a plane of the hull.
    fn separation(&mut self, plane: &Plane<f64>) -> f64 {
        self.cut(&plane.normal) + plane.height(&self.seen.position)
    }

    /// No face nor edge of a patch separates by more.
    fn above(&self, patch: &Patch) -> f64 {
        let [first, second] = [0, 1].map(|k| patch.height(&self.vertices[k].1));
        scaled_height(first.min(second), self.scale)
    }

    /// How high one of the vertices is above a face at most.
    fn face_height(&self, face: usize, vertex: usize) -> f64 {
        let face = &self.hull.polyhedron.faces()[face];
        scaled_height(face.normal.dot(&self.vertices[vertex].1) - face.offset, self.scale)
    }

    /// Whether a face may separate by no less than `enough`.
    fn face_may_separate(&self, face: usize, enough: f64) -> bool {
        (0..VERTICES).all(|vertex| self.face_height(face, vertex) >= enough)
    }

    /// How high one of the vertices is above the higher of the two faces of an edge, without the scale of the hull.
    fn edge_height(&self, edge: usize, vertex: usize) -> f64 {
        let polyhedron = self.hull.polyhedron;
        let Edge { ends, faces: [first, other] } = polyhedron.edges()[edge];
        let way = self.vertices[vertex].1 - polyhedron.vertices()[ends[0]];
        let faces = polyhedron.faces();
        faces[first].normal.dot(&way).max(faces[other].normal.dot(&way))
    }

    /// No edge of less [height](Self::edge_height) may separate by `enough`.
    fn unscaled_low(&self, enough: f64) -> f64 {
        (enough / self.scale[0]).min(0.0)
    }

    /// Whether an axis of an edge may separate by more than `enough`, as far as one of the vertices says: one between the
    /// normals of its faces, a sum of both over its length.
    fn edge_may(&self, edge: usize, vertex: usize, enough: f64) -> bool {
        let height = self.edge_height(edge, vertex);
        let longest = || {
            let faces = self.hull.polyhedron.edges()[edge].faces;
            let [first, other] = faces.map(|face| &self.hull.polyhedron.faces()[face].normal);
            (2.0 / (1.0 + first.dot(other))).sqrt()
        };
        scaled_height(if height > 0.0 { height * longest() } else { height }, self.scale) > enough
    }

    /// Whether an axis of an edge may separate by more than `enough`. What may is looked at in the middle of its axes.
    fn edge_may_separate(&mut self, edge: usize, enough: f64) -> bool {
        if !(0..VERTICES).all(|vertex| self.edge_may(edge, vertex, enough)) {
            return false;
        }
        let polyhedron = self.hull.polyhedron;
        let [first, other] =
            polyhedron.edges()[edge].faces.map(|face| polyhedron.faces()[face].normal);
        self.cut(&(first + other).component_div(&self.hull.scale));
        self.edge_may(edge, 0, enough)
    }
}

type Pair = ([usize; 2], f64, Vector3<f64>);

/// Finds the pair of edges along whose product the polyhedra are furthest apart, of those within [`TIE`] the first, how
/// far, and the normal; those that cannot separate by enough are left out.
fn best_edges<'a>(cuts: &mut [Cuts<'a>; 2], pairs: Pairs<'a>) -> Pairs<'a> {
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
struct Pairs<'a> {
    hulls: [&'a Hull<'a, f64>; 2],
    /// The second as the first one sees it.
    second: &'a Pose<f64>,
    reach: f64,
    enough: f64,
    tie: f64,
    slack: f64,
    best: Pair,
    /// The largest separation so far.
    most: f64,
    /// Whether others are nearly as good.
    tied: bool,
    /// Whether that is more than `reach`.
    apart: bool,
}

impl<'a> Pairs<'a> {
    fn new(hulls: [&'a Hull<'a, f64>; 2], second: &'a Pose<f64>, reach: f64) -> Self {
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
    fn begin(&mut self, edges: [u32; 2]) {
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
