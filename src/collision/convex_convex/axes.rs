//! The separating axis test, in `f64`: along which direction two polyhedra are furthest apart.

use nalgebra::Vector3;

use super::super::hull::Hull;
use super::cutting_planes::{Batch, Cuts, NONE, TIE, VERTICES, slack};
use super::edge_pairs::{Pairs, best_edges};
use super::gilbert_johnson_keerthi::{Simplex, near_points};
use crate::collision::Pose;
use crate::model::{Patch, PatchSearch};

/// By how much the faces of the second, and edges, must be better than what came before, as a fraction of
/// the thickness and of the separation, so that faces that are parallel but for rounding or a slight tilt
/// are chosen in one way on every step.
const MARGIN: f64 = 1e-3;

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

/// What a search for axes has found, where the next one of the same pair of shapes begins. It finds the same from any other, but for
/// polyhedra as far apart as it looks: these may count as apart or have points that nothing reaches.
#[derive(Clone, Copy, Debug)]
pub struct WarmStart {
    /// The best face of each.
    faces: [u32; 2],
    /// The best pair of edges.
    edges: [u32; 2],
    /// Vertices of the other that bound the separation by faces of each, the last one first.
    cuts: [[u32; VERTICES]; 2],
    /// Points that are near.
    simplex: Simplex,
}

impl Default for WarmStart {
    fn default() -> Self {
        WarmStart {
            faces: [NONE; 2],
            edges: [NONE; 2],
            cuts: [[NONE; VERTICES]; 2],
            simplex: Simplex::default(),
        }
    }
}

/// The axes of largest separation, or, if one separates the polyhedra by more than `reach`, how far they are apart
/// along it; `second` is the second as the first one sees it.
pub(super) fn separating(
    hulls: &[Hull<f64>; 2],
    second: &Pose<f64>,
    reach: f64,
    warm: &mut WarmStart,
) -> Result<Axes, f64> {
    // What is nowhere touches nothing, wherever the search begins.
    let numbers = second.position.iter().chain(second.rotation.iter());
    if !numbers.copied().all(f64::is_finite) {
        return Err(f64::INFINITY);
    }
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
) -> Result<Axes, f64> {
    let hulls = [0, 1].map(|body| cuts[body].hull);
    let thickness = hulls[0].thickness().min(hulls[1].thickness());
    let margin = |best: f64| MARGIN * (thickness + best.abs());
    // What was apart mostly still is, along the same axis.
    let slack = slack(hulls, second);
    let mut pairs = Pairs::new(hulls, second, reach, slack);
    pairs.begin(warm.edges);
    let [first, other] = cuts;
    let mut faces = [first, other].map(|cuts| BestFace::new(cuts, reach, slack));
    for (search, &face) in faces.iter_mut().zip(&warm.faces) {
        search.begin(face);
    }
    if pairs.apart || faces.iter().any(|search| search.apart) {
        return Err(faces.iter().map(|search| search.most).fold(pairs.most, f64::max));
    }
    // Points that are near bound all axes, the nearest ones the best; these are worth their search where no face is known yet.
    let begun = faces[0].most.max(faces[1].most);
    let enough = if begun.is_finite() { (begun + margin(begun)).min(reach) } else { 0.0 };
    let near = near_points(hulls, second, [enough - slack, reach], &mut warm.simplex);
    if near.least > reach {
        return Err(near.least);
    }
    let back = second.inverse();
    let seen = [near.points[1], back.position + back.rotation * near.points[0]];
    // Faces of the first that are worse than one of the other by more than the margin are not chosen, nor are faces of the other
    // that are not better by it.
    let known = faces[1].most;
    let mut floor = known - 2.0 * margin(known);
    for (body, search) in faces.iter_mut().enumerate() {
        if search.most.is_finite() && floor.is_finite() {
            search.floor = floor.min(reach) - slack;
        }
        if near.distance.is_finite() {
            search.cuts.bound_by(seen[body]);
        }
        search.run();
        warm.faces[body] = search.best.0 as u32;
        if search.apart {
            return Err(search.most);
        }
        floor = search.most + margin(search.most);
    }
    let [first, other] = faces.map(|search| search.best);
    let (face, best) = if other.1 > first.1 + margin(first.1) {
        (Face { body: 1, face: other.0 }, other.1)
    } else {
        (Face { body: 0, face: first.0 }, first.1)
    };
    let own = hulls[face.body].plane(face.face).normal;
    let normal = if face.body == 0 { own } else { second.rotation * own };

    let enough = best + margin(best);
    pairs.enough = enough.min(reach);
    // Where points are no further apart than that there are no such edges.
    let near = near.distance <= pairs.enough - slack;
    if !near {
        pairs = best_edges(cuts, pairs);
        warm.edges = pairs.best.0.map(|edge| edge as u32);
        if pairs.apart {
            return Err(pairs.most);
        }
    }
    let pair = pairs.best;
    let better = !near && pair.1 > enough;
    let edges = better.then(|| Edges {
        flat: pair.2.cross(&normal).norm() <= FLAT,
        edges: pair.0,
        normal: pair.2,
    });
    // What is apart has no points below a face, but by the margin with which it was chosen.
    let most = if better { pair.1 } else { best };
    let floor = if most > 0.0 { -margin(most) } else { f64::NEG_INFINITY };
    Ok(Axes { face, edges, most: most + 2.0 * margin(most), floor })
}

/// Looks for the face of the hull of the cuts that the other one is furthest above of, of those within [`TIE`] the first.
struct BestFace<'a, 'b> {
    cuts: &'a mut Cuts<'b>,
    reach: f64,
    tie: f64,
    slack: f64,
    /// What is worse than that is of no interest.
    floor: f64,
    best: (usize, f64),
    /// The largest separation so far.
    most: f64,
    /// Whether others are nearly as good.
    tied: bool,
    /// Whether that is more than `reach`.
    apart: bool,
}

impl<'a, 'b> BestFace<'a, 'b> {
    fn new(cuts: &'a mut Cuts<'b>, reach: f64, slack: f64) -> Self {
        let tie = TIE * cuts.hull.thickness();
        let best = (0, f64::NEG_INFINITY);
        let (floor, most) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        BestFace { cuts, reach, tie, slack, floor, best, most, tied: false, apart: false }
    }

    /// Begins with a face, if there is one.
    fn begin(&mut self, face: u32) {
        if (face as usize) < self.cuts.hull.polyhedron.faces().len() {
            self.take(face as usize);
        }
    }

    /// Searches all, unless they are apart.
    fn run(&mut self) {
        let polyhedron = self.cuts.hull.polyhedron;
        polyhedron.search(self);
        if self.tied && !self.apart {
            // The first one, now that the best is known, whatever the order.
            let found = std::mem::replace(&mut self.best.0, usize::MAX);
            polyhedron.search(self);
            if self.best.0 == usize::MAX {
                self.best.0 = found;
            }
        }
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
        // What was tied no longer matters.
        self.tied &= separation <= self.most + 2.0 * self.tie;
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
        self.floor.max(self.most - self.slack)
    }

    fn look(&mut self, vertices: &[usize]) -> bool {
        let polyhedron = self.cuts.hull.polyhedron;
        let mut batch = Batch::default();
        let enough = self.enough();
        for face in vertices.iter().flat_map(|&vertex| polyhedron.own_faces(vertex)) {
            if batch.add(face, self.cuts.face_height(face, self.cuts.sharpest()) >= enough) {
                self.take_all(&mut batch);
            }
        }
        self.take_all(&mut batch);
        !self.apart
    }
}
