//! The point of a closed surface of triangles that is closest to another, and on which side of it that is.

use nalgebra::Vector3;
use rstar::{AABB, PointDistance, RTree, RTreeObject};

use crate::soft::SoftBody;

/// A point is on the surface where it is closer than this part of the extent of the triangle.
const ON: f64 = 1e-9;

/// The triangles of a closed surface, counterclockwise from outside, and which of them each vertex is of.
pub(super) struct Surface {
    triangles: Vec<[usize; 3]>,
    of_vertex: Vec<Vec<usize>>,
}

impl Surface {
    /// That of a body, its vertices those of [`SoftBody::surface`].
    pub fn of(body: &SoftBody) -> Self {
        Self::new(body.surface_triangles(), body.surface.len())
    }

    /// A surface of so many vertices.
    fn new(triangles: Vec<[usize; 3]>, vertices: usize) -> Self {
        let mut of_vertex = vec![Vec::new(); vertices];
        for (index, triangle) in triangles.iter().enumerate() {
            triangle.iter().for_each(|&vertex| of_vertex[vertex].push(index));
        }
        Surface { triangles, of_vertex }
    }

    /// The surface with its vertices somewhere (m), none if one of them is nowhere.
    pub fn at<'a>(&'a self, vertices: &'a [[f64; 3]]) -> Option<PlacedSurface<'a>> {
        if !vertices.iter().flatten().all(|x| x.is_finite()) {
            return None;
        }
        let corner = |vertex: usize| Vector3::from(vertices[vertex]);
        let facet = |(index, own): (usize, &[usize; 3])| Facet { index, corners: own.map(corner) };
        let tree = RTree::bulk_load(self.triangles.iter().enumerate().map(facet).collect());
        Some(PlacedSurface { surface: self, vertices, tree })
    }
}

/// A surface whose vertices are somewhere.
pub(super) struct PlacedSurface<'a> {
    surface: &'a Surface,
    vertices: &'a [[f64; 3]],
    tree: RTree<Facet>,
}

/// What is closest to a point.
#[derive(Debug)]
pub(super) struct ClosestPoint {
    /// The vertices of its triangle.
    pub vertices: [usize; 3],
    /// Its place is the mean of theirs with these weights.
    pub weights: [f64; 3],
    /// The direction in which the distance grows, outward: a unit vector.
    pub outward: Vector3<f64>,
    /// m, negative inside.
    pub distance: f64,
}

impl PlacedSurface<'_> {
    /// Where its vertices are (m).
    pub fn vertices(&self) -> &[[f64; 3]] {
        self.vertices
    }

    /// The point closest to `point`; none without triangles.
    pub fn closest(&self, point: &Vector3<f64>) -> Option<ClosestPoint> {
        let facet = self.tree.nearest_neighbor((*point).into())?;
        let vertices = self.surface.triangles[facet.index];
        let weights = facet.weights(point);
        let away = point - facet.place(&weights);
        let normal = self.normal(facet, &weights);
        let distance = away.norm();
        let edge = facet.corners[1] - facet.corners[0];
        let is_outside = away.dot(&normal) >= 0.0;
        let inside_face = weights.iter().all(|weight| *weight > 0.0);
        let signed = if is_outside { distance } else { -distance };
        let outward =
            if inside_face || distance <= ON * edge.norm() { normal } else { away / signed };
        Some(ClosestPoint { vertices, weights, outward, distance: signed })
    }

    /// The normal at a point of a triangle: of edges the mean of those of both triangles, of vertices that of all weighted by
    /// their angles there, which tells inside from outside (`Baerentzen05`).
    fn normal(&self, facet: &Facet, weights: &[f64; 3]) -> Vector3<f64> {
        let own = self.surface.triangles[facet.index].into_iter().zip(weights);
        let mut on = own.filter(|(_, weight)| **weight > 0.0).map(|(vertex, _)| vertex);
        let (Some(first), second, None) = (on.next(), on.next(), on.next()) else {
            return facet.normal();
        };
        let mut sum = Vector3::zeros();
        for &index in &self.surface.of_vertex[first] {
            let triangle = self.surface.triangles[index];
            if second.is_some_and(|vertex| !triangle.contains(&vertex)) {
                continue;
            }
            let corners = triangle.map(|vertex| Vector3::from(self.vertices[vertex]));
            let share = match second {
                Some(_) => 1.0,
                None => {
                    let k = triangle.iter().position(|&vertex| vertex == first).unwrap_or(0);
                    let side = |other: usize| corners[(k + other) % 3] - corners[k];
                    side(1).angle(&side(2))
                }
            };
            sum += Facet { index, corners }.normal() * share;
        }
        sum.try_normalize(0.0).unwrap_or_else(|| facet.normal())
    }
}

/// A triangle.
struct Facet {
    index: usize,
    corners: [Vector3<f64>; 3],
}

impl Facet {
    fn normal(&self) -> Vector3<f64> {
        let [a, b, c] = self.corners;
        (b - a).cross(&(c - a)).try_normalize(0.0).unwrap_or_else(Vector3::z)
    }

    fn place(&self, weights: &[f64; 3]) -> Vector3<f64> {
        self.corners.iter().zip(weights).map(|(corner, &weight)| corner * weight).sum()
    }

    /// The weights of the corners in the point closest to `point`, by the region of a corner, of a side or of the inside that it is
    /// in (`Ericson05` 5.1.5).
    fn weights(&self, point: &Vector3<f64>) -> [f64; 3] {
        let [a, b, c] = self.corners;
        let (ab, ac) = (b - a, c - a);
        let along = |from: &Vector3<f64>| [ab.dot(&(point - from)), ac.dot(&(point - from))];
        let ([d1, d2], [d3, d4], [d5, d6]) = (along(&a), along(&b), along(&c));
        let part = |x: f64, y: f64| if x + y > 0.0 { x / (x + y) } else { 0.0 };
        let (va, vb, vc) = (d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2);
        if d1 <= 0.0 && d2 <= 0.0 {
            [1.0, 0.0, 0.0]
        } else if d3 >= 0.0 && d4 <= d3 {
            [0.0, 1.0, 0.0]
        } else if d6 >= 0.0 && d5 <= d6 {
            [0.0, 0.0, 1.0]
        } else if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
            let t = part(d1, -d3);
            [1.0 - t, t, 0.0]
        } else if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
            let t = part(d2, -d6);
            [1.0 - t, 0.0, t]
        } else if va <= 0.0 && d4 >= d3 && d5 >= d6 {
            let t = part(d4 - d3, d5 - d6);
            [0.0, 1.0 - t, t]
        } else {
            let sum = va + vb + vc;
            if sum > 0.0 { [va / sum, vb / sum, vc / sum] } else { [1.0, 0.0, 0.0] }
        }
    }
}

impl RTreeObject for Facet {
    type Envelope = AABB<[f64; 3]>;

    fn envelope(&self) -> Self::Envelope {
        AABB::from_points(self.corners.map(<[f64; 3]>::from).iter())
    }
}

impl PointDistance for Facet {
    fn distance_2(&self, point: &[f64; 3]) -> f64 {
        let point = Vector3::from(*point);
        (point - self.place(&self.weights(&point))).norm_squared()
    }
}

/// The signed distance (m) of a point from a closed surface of triangles, counterclockwise from outside, and the direction in which
/// that grows.
pub fn signed_distance(
    vertices: &[[f64; 3]],
    triangles: &[[usize; 3]],
    point: [f64; 3],
) -> Option<(f64, [f64; 3])> {
    let surface = Surface::new(triangles.to_vec(), vertices.len());
    let found = surface.at(vertices)?.closest(&point.into())?;
    Some((found.distance, found.outward.into()))
}
