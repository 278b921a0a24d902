//! The surface of a polyhedron as a tree of patches, each with a ball about its vertices and a cone about its normals
//! (`JohnsonCohen01`): what is the furthest along a direction, or above a face, is found without looking at all.
//!
//! A search goes to the most promising patch first and leaves out what a bound says cannot count. Bounds hold up to rounding
//! and to how far corners are from the planes of their faces, so that who leaves out what is lower by more than that finds what
//! looking at everything would find, whatever the order.

use std::ops::Range;

use nalgebra::Vector3;

/// Vertices of a patch that is not divided, at most.
const LEAF: usize = 4;

/// Patches that wait on the way down, at most: each level halves the vertices.
const DEPTH: usize = 32;

/// By how much cosines are wider than computed.
const ROUNDING: f64 = 1e-12;

/// A part of the surface: some vertices, with the faces and edges that are counted as theirs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Patch {
    /// About the middle of all normals. Unit.
    axis: Vector3<f64>,
    /// The vertex that is the furthest along the axis, m.
    top: Vector3<f64>,
    /// No vertex is further from that, m.
    radius: f64,
    /// No normal is at a larger angle to the axis.
    cos: f64,
    sin: f64,
    /// The first of its two halves, or its place among all vertices.
    content: Content,
}

#[derive(Clone, Debug, PartialEq)]
enum Content {
    Halves(usize),
    Vertices(Range<usize>),
}

impl Patch {
    /// No vertex is further along a direction, of length `length`.
    pub fn furthest(&self, direction: &Vector3<f64>, length: f64) -> f64 {
        // All are in the ball about the top, and below it along the axis.
        let along = direction.dot(&self.axis);
        let across =
            if along > 0.0 { (length * length - along * along).max(0.0).sqrt() } else { length };
        direction.dot(&self.top) + self.radius * across
    }

    /// Whether one of its vertices may be the furthest of all along a direction, of length `length`: that is one whose faces
    /// have normals all about the direction.
    pub fn may_be_furthest(&self, direction: &Vector3<f64>, length: f64) -> bool {
        direction.dot(&self.axis) >= self.cos * length
    }

    /// A point is not higher above any face, nor along the normal of any edge.
    pub fn height(&self, point: &Vector3<f64>) -> f64 {
        // The top is in the solid, so below each of the planes: n . (point - top), the largest over the cone.
        let way = point - self.top;
        let along = way.dot(&self.axis);
        let square = way.norm_squared();
        let within = self.cos < 0.0 || along > 0.0 && along * along >= square * self.cos * self.cos;
        // Within the cone the length, else that times the cosine of the angle to it; a choice of numbers, not of a way.
        // Beside the axis by itself: squares would cancel.
        let beside = (way - self.axis * along).norm_squared();
        let (across, cos, sin) =
            if within { (square, 0.0, 1.0) } else { (beside, self.cos, self.sin) };
        along * cos + across.sqrt() * sin
    }
}

/// What looks for the best of a polyhedron.
pub(crate) trait PatchSearch {
    /// The best that may be in a patch.
    fn bound(&self, patch: &Patch) -> f64;

    /// What is less is of no interest.
    fn enough(&self) -> f64;

    /// Looks at vertices, and at what is counted as theirs; false to look no further.
    fn look(&mut self, vertices: &[usize]) -> bool;
}

/// All patches of a polyhedron, from the whole on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Patches {
    patches: Vec<Patch>,
    /// All vertices, those of a patch side by side.
    order: Vec<usize>,
}

impl Patches {
    /// Of vertices, each with the normals of all faces that it has part in, and of what is counted as its own.
    pub fn new(vertices: &[Vector3<f64>], normals: &[Vec<Vector3<f64>>]) -> Patches {
        let order = (0..vertices.len()).collect();
        let mut made = Patches { patches: Vec::new(), order };
        // What is near has near places and near normals.
        let size = vertices.iter().map(|v| v.amax()).fold(f64::MIN_POSITIVE, f64::max);
        let keys = vertices.iter().zip(normals).map(|(vertex, normals)| {
            let place = vertex / size;
            let normal = sum(normals).try_normalize(0.0).unwrap_or_default();
            [place.x, place.y, place.z, normal.x, normal.y, normal.z]
        });
        let keys: Vec<[f64; 6]> = keys.collect();
        let whole = 0..vertices.len();
        made.patches.push(made.patch(vertices, normals, whole.clone()));
        made.divide(vertices, normals, &keys, 0, whole);
        made
    }

    fn divide(
        &mut self,
        vertices: &[Vector3<f64>],
        normals: &[Vec<Vector3<f64>>],
        keys: &[[f64; 6]],
        place: usize,
        range: Range<usize>,
    ) {
        if range.len() <= LEAF {
            return;
        }
        let own = &mut self.order[range.clone()];
        let spread = |k: usize| {
            let along = own.iter().map(|&vertex| keys[vertex][k]);
            let (low, high) = along.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
                (low.min(x), high.max(x))
            });
            high - low
        };
        let spreads = [0, 1, 2, 3, 4, 5].map(spread);
        let widest = (1..6).fold(0, |best, k| if spreads[k] > spreads[best] { k } else { best });
        let half = own.len() / 2;
        own.select_nth_unstable_by(half, |&a, &b| {
            keys[a][widest].total_cmp(&keys[b][widest]).then(a.cmp(&b))
        });
        let first = self.patches.len();
        let halves = [range.start..range.start + half, range.start + half..range.end];
        self.patches[place].content = Content::Halves(first);
        for half in halves.clone() {
            self.patches.push(self.patch(vertices, normals, half));
        }
        for (k, half) in halves.into_iter().enumerate() {
            self.divide(vertices, normals, keys, first + k, half);
        }
    }

    /// The patch of some vertices in the order.
    fn patch(
        &self,
        vertices: &[Vector3<f64>],
        normals: &[Vec<Vector3<f64>>],
        range: Range<usize>,
    ) -> Patch {
        let own = &self.order[range.clone()];
        let all = || own.iter().flat_map(|&vertex| &normals[vertex]);
        let axis = sum(all()).try_normalize(0.0).filter(|axis| axis.iter().all(|x| x.is_finite()));
        let axis = axis.unwrap_or_else(Vector3::z);
        let higher =
            |a: Vector3<f64>, b: Vector3<f64>| if axis.dot(&b) > axis.dot(&a) { b } else { a };
        let points = || own.iter().map(|&vertex| vertices[vertex]);
        let top = points().reduce(higher).unwrap_or_default();
        let radius = points().map(|point| (point - top).norm()).fold(0.0, f64::max);
        // A normal that is no number tells nothing: it is about every direction.
        let cos = all().map(|normal| axis.dot(normal));
        let cos = cos.fold(1.0, |least: f64, cos| if cos.is_nan() { -1.0 } else { least.min(cos) });
        // Beyond a half-sphere, a cone need not have the arc between two of its normals.
        let cos = if cos > ROUNDING { cos - ROUNDING } else { -1.0 };
        let sin = (1.0 - cos * cos).sqrt();
        Patch { axis, top, radius, cos, sin, content: Content::Vertices(range) }
    }

    /// Searches the whole surface.
    pub fn search(&self, search: &mut impl PatchSearch) {
        let mut open = [(0, f64::INFINITY); DEPTH];
        let mut count = 1;
        while count > 0 {
            count -= 1;
            let (place, bound) = open[count];
            if bound < search.enough() {
                continue;
            }
            match &self.patches[place].content {
                Content::Vertices(range) => {
                    if !search.look(&self.order[range.clone()]) {
                        return;
                    }
                }
                &Content::Halves(first) => {
                    let [a, b] = [first, first + 1].map(|k| (k, search.bound(&self.patches[k])));
                    // The better one is on top.
                    let [a, b] = if a.1 > b.1 { [b, a] } else { [a, b] };
                    for half in [a, b] {
                        if half.1 >= search.enough() && count < DEPTH {
                            open[count] = half;
                            count += 1;
                        }
                    }
                }
            }
        }
    }
}

fn sum<'a>(normals: impl IntoIterator<Item = &'a Vector3<f64>>) -> Vector3<f64> {
    normals.into_iter().sum()
}
