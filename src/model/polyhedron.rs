//! A convex polyhedron: vertices, planar faces, edges.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use nalgebra::{Matrix3, Vector3};

use super::convex_hull::{Facet, HullError, convex_hull};
use super::patches::{Patch, PatchSearch, Patches};

/// A plane face of a [`Polyhedron`].
#[derive(Clone, Debug, PartialEq)]
pub struct Face {
    /// Unit normal, outward.
    pub normal: Vector3<f64>,
    /// The solid is where normal . x <= offset, m.
    pub offset: f64,
    /// Its part of the lists of corners and sides.
    range: Range<usize>,
}

/// An edge of a [`Polyhedron`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Its vertices.
    pub ends: [usize; 2],
    /// The face in whose loop it runs from the first end to the second, and the other one.
    pub faces: [usize; 2],
}

/// A convex solid bounded by planes, made once from points. Lengths in m.
#[derive(Clone, Debug, PartialEq)]
pub struct Polyhedron {
    vertices: Vec<Vector3<f64>>,
    /// The same where they are few, by coordinate, some side by side; the first once more where there are no others.
    blocks: Vec<[[f64; WIDTH]; 3]>,
    faces: Vec<Face>,
    edges: Vec<Edge>,
    /// Of each edge, the cosine of half the angle between the normals of its faces.
    half_turns: Vec<f64>,
    /// The vertices of each face, counter-clockwise seen from outside.
    corners: Vec<usize>,
    /// The edge from each corner of a face to the next.
    sides: Vec<usize>,
    /// Of each vertex, and of one more, the first face and the first edge in whose lists of corners and ends it comes first.
    firsts: Vec<[usize; 2]>,
    /// Of each vertex, and of one more, where its faces begin.
    stars: Vec<usize>,
    /// The faces about each vertex.
    around: Vec<usize>,
    patches: Patches,
    /// The largest distance of a vertex from the origin.
    radius: f64,
    /// The middle of the extent along the axes, and half of it.
    middle: Vector3<f64>,
    half_extents: Vector3<f64>,
    unevenness: f64,
}

/// Triangles within this fraction of the extent of a plane are one face. Above the rounding of files in
/// single precision.
const COPLANAR: f64 = 1e-6;

/// How many sides stand for the round one of a cylinder. The polygon is inscribed: it falls short of the
/// circle by at most 0.5 % of the radius between its corners.
pub const CYLINDER_SIDES: usize = 32;

/// Vertices that are all looked at rather than searched, at most.
const FEW: usize = 64;

/// Vertices that are looked at side by side.
const WIDTH: usize = 8;

impl Polyhedron {
    /// The convex hull of points, m. Triangles in one plane become one face; points inside of the hull, of
    /// a face or of an edge are left out.
    ///
    /// # Errors
    /// If the points span no volume.
    pub fn hull(points: &[Vector3<f64>]) -> Result<Polyhedron, HullError> {
        Polyhedron::hull_of_most(points, usize::MAX)
    }

    /// The same with at most `most` vertices, 4 or more: those that stand out the most.
    ///
    /// # Errors
    /// If the points span no volume.
    pub(super) fn hull_of_most(
        points: &[Vector3<f64>],
        most: usize,
    ) -> Result<Polyhedron, HullError> {
        let facets = convex_hull(points, most)?;
        let triangles = || facets.iter().map(|facet| facet.corners.to_vec()).collect();
        let merged = merged_faces(points, &facets);
        Ok(Polyhedron::from_loops(points, merged.unwrap_or_else(triangles)))
    }

    /// The cube from -1 to 1: bits 0, 1, 2 of a vertex are its sides in x, y, z.
    pub fn cube() -> &'static Polyhedron {
        static CUBE: LazyLock<Polyhedron> = LazyLock::new(|| {
            let sign = |k: usize, bit: usize| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
            let vertices: Vec<_> =
                (0..8).map(|k| Vector3::new(sign(k, 0), sign(k, 1), sign(k, 2))).collect();
            let loops = [
                [0, 4, 6, 2],
                [1, 3, 7, 5],
                [0, 1, 5, 4],
                [2, 6, 7, 3],
                [0, 2, 3, 1],
                [4, 5, 7, 6],
            ];
            Polyhedron::from_loops(&vertices, loops.iter().map(|l| l.to_vec()).collect())
        });
        &CUBE
    }

    /// The half of the cube from -1 to 1 below a plane that rises along x, from its lowest edge on one side to the
    /// highest on the other.
    pub fn wedge() -> &'static Polyhedron {
        static WEDGE: LazyLock<Polyhedron> = LazyLock::new(|| {
            let foot = [[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]];
            let foot = foot.map(|[x, y]| Vector3::new(x, y, -1.0));
            let ridge = [-1.0, 1.0].map(|y| Vector3::new(1.0, y, 1.0));
            let slope = vec![0, 4, 5, 1];
            let others = [vec![0, 1, 3, 2], vec![2, 3, 5, 4], vec![0, 2, 4], vec![1, 5, 3]];
            let vertices: Vec<_> = foot.into_iter().chain(ridge).collect();
            Polyhedron::from_loops(&vertices, [slope].into_iter().chain(others).collect())
        });
        &WEDGE
    }

    /// The prism with [`CYLINDER_SIDES`] sides in the cylinder of radius 1 from z = -1 to 1. Vertices go
    /// round, the lower one before the upper one, from the x axis on.
    pub fn cylinder() -> &'static Polyhedron {
        static CYLINDER: LazyLock<Polyhedron> = LazyLock::new(|| {
            let count = CYLINDER_SIDES;
            let vertex = |k: usize| {
                let angle = std::f64::consts::TAU * (k / 2) as f64 / count as f64;
                Vector3::new(angle.cos(), angle.sin(), if k % 2 == 1 { 1.0 } else { -1.0 })
            };
            let vertices: Vec<_> = (0..2 * count).map(vertex).collect();
            let mut loops: Vec<Vec<usize>> = (0..count)
                .map(|k| {
                    let next = (k + 1) % count;
                    vec![2 * k, 2 * next, 2 * next + 1, 2 * k + 1]
                })
                .collect();
            loops.push((0..count).rev().map(|k| 2 * k).collect());
            loops.push((0..count).map(|k| 2 * k + 1).collect());
            Polyhedron::from_loops(&vertices, loops)
        });
        &CYLINDER
    }

    /// From the loops of all faces, closed, each counter-clockwise seen from outside.
    fn from_loops(points: &[Vector3<f64>], mut loops: Vec<Vec<usize>>) -> Polyhedron {
        // In an order of their own, whatever the order in which they were found.
        for face in &mut loops {
            let least = (0..face.len()).min_by_key(|&k| face[k]).unwrap_or(0);
            face.rotate_left(least);
        }
        loops.sort();
        let mut used: Vec<usize> = loops.iter().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        let place: BTreeMap<usize, usize> = used.iter().enumerate().map(|(k, &p)| (p, k)).collect();
        let vertices: Vec<Vector3<f64>> = used.iter().map(|&p| points[p]).collect();

        let (mut faces, mut corners) = (Vec::new(), Vec::new());
        let mut owners = BTreeMap::new();
        for (index, face) in loops.iter().enumerate() {
            let start = corners.len();
            corners.extend(face.iter().filter_map(|p| place.get(p)));
            let own = &corners[start..];
            // Newell: twice the area vector, about a corner so that nothing cancels.
            let at = |k: usize| -> Vector3<f64> { vertices[own[k % own.len()]] - vertices[own[0]] };
            let area: Vector3<f64> = (0..own.len()).map(|k| at(k).cross(&at(k + 1))).sum();
            let normal = area.normalize();
            for k in 0..own.len() {
                owners.insert((own[k], own[(k + 1) % own.len()]), index);
            }
            faces.push(Face { normal, offset: 0.0, range: start..corners.len() });
        }
        let (mut edges, mut numbers) = (Vec::new(), BTreeMap::new());
        for (&(a, b), &face) in &owners {
            if let (true, Some(&other)) = (a < b, owners.get(&(b, a))) {
                numbers.insert((a, b), edges.len());
                edges.push(Edge { ends: [a, b], faces: [face, other] });
            }
        }
        let half_turn = |edge: &Edge| {
            let [first, other] = edge.faces.map(|face| faces[face].normal);
            (0.5 * (1.0 + first.dot(&other))).max(0.0).sqrt()
        };
        let half_turns = edges.iter().map(half_turn).collect();
        let mut sides = Vec::with_capacity(corners.len());
        for Face { range, .. } in &faces {
            let own = &corners[range.clone()];
            let side = |k: usize| {
                let (a, b) = (own[k], own[(k + 1) % own.len()]);
                numbers.get(&(a.min(b), a.max(b))).copied().unwrap_or(0)
            };
            sides.extend((0..own.len()).map(side));
        }
        let (low, high) = extent(&vertices);
        let (middle, half_extents) = ((low + high) * 0.5, (high - low) * 0.5);
        let radius = vertices.iter().map(|v| v.norm()).fold(0.0, f64::max);

        let mut about = vec![Vec::new(); vertices.len()];
        for (index, face) in faces.iter().enumerate() {
            corners[face.range.clone()].iter().for_each(|&vertex| about[vertex].push(index));
        }
        let normals: Vec<Vec<_>> =
            about.iter().map(|own| own.iter().map(|&face| faces[face].normal).collect()).collect();
        let patches = Patches::new(&vertices, &normals);
        let ends = about.iter().scan(0, |end, own| {
            *end += own.len();
            Some(*end)
        });
        let stars = [0].into_iter().chain(ends).collect();
        // Faces are in the order of their first corners, as edges are of their first ends.
        let first = |vertex: usize| {
            let face = faces.partition_point(|face| corners[face.range.start] < vertex);
            [face, edges.partition_point(|edge: &Edge| edge.ends[0] < vertex)]
        };
        let firsts = (0..=vertices.len()).map(first).collect();
        let around = about.concat();
        let block = |own: &[Vector3<f64>]| {
            [0, 1, 2].map(|k| std::array::from_fn(|at| own.get(at).unwrap_or(&vertices[0])[k]))
        };
        let few = if vertices.len() <= FEW { &vertices[..] } else { &[] };
        let blocks = few.chunks(WIDTH).map(block).collect();
        let mut made = Polyhedron {
            blocks,
            vertices,
            faces,
            edges,
            half_turns,
            corners,
            sides,
            firsts,
            stars,
            around,
            patches,
            radius,
            middle,
            half_extents,
            unevenness: 0.0,
        };
        for face in 0..made.faces.len() {
            let normal = made.faces[face].normal;
            let heights =
                made.corners(face).iter().map(|&corner| normal.dot(&made.vertices[corner]));
            let (low, high) = heights.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
                (low.min(x), high.max(x))
            });
            let offset = high.max(-made.lowest(&-normal).1);
            made.faces[face].offset = offset;
            made.unevenness = made.unevenness.max(offset - low);
        }
        made
    }

    /// The vertices, m.
    pub fn vertices(&self) -> &[Vector3<f64>] {
        &self.vertices
    }

    /// The faces.
    pub fn faces(&self) -> &[Face] {
        &self.faces
    }

    /// The edges.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The centre of the bounding box, m.
    pub fn middle(&self) -> Vector3<f64> {
        self.middle
    }

    /// Half of the extent along x, y and z, m.
    pub fn half_extents(&self) -> Vector3<f64> {
        self.half_extents
    }

    /// The largest distance of a vertex from the origin, m.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// No corner of a face lies further below its plane, m: corners of one face are in a plane within a millionth of the
    /// extent, and so is what searches by the normals of faces.
    pub(crate) fn unevenness(&self) -> f64 {
        self.unevenness
    }

    /// The lowest of the vertices along a direction of any length, and its product with it (m, times that length). Of up to
    /// 64 vertices the first of the lowest; of more one that is no higher than that by more than a few times the distance
    /// of corners from the planes of their faces, at most a millionth of the extent. Infinity if the direction is no number.
    pub fn lowest(&self, direction: &Vector3<f64>) -> (usize, f64) {
        if !self.blocks.is_empty() {
            return self.lowest_of_few(direction);
        }
        let (upward, length) = (-direction, direction.norm());
        let vertices = &self.vertices;
        let mut search = Lowest { vertices, direction, upward, length, lowest: (0, f64::INFINITY) };
        self.patches.search(&mut search);
        search.lowest
    }

    fn lowest_of_few(&self, direction: &Vector3<f64>) -> (usize, f64) {
        let heights = |[x, y, z]: &[[f64; WIDTH]; 3]| -> [f64; WIDTH] {
            std::array::from_fn(|k| direction.x * x[k] + direction.y * y[k] + direction.z * z[k])
        };
        let mut least = [f64::INFINITY; WIDTH];
        for block in &self.blocks {
            let heights = heights(block);
            for (least, height) in least.iter_mut().zip(heights) {
                *least = if height < *least { height } else { *least };
            }
        }
        let least = least.into_iter().fold(f64::INFINITY, f64::min);
        // Again, for the first of them.
        for (at, block) in self.blocks.iter().enumerate() {
            let heights = heights(block);
            let first = heights.iter().position(|&height| height == least && least < f64::INFINITY);
            if let Some(k) = first {
                return (at * WIDTH + k, heights[k]);
            }
        }
        (0, f64::INFINITY)
    }

    /// Searches its patches. Faces and edges are [those](Self::own_faces) of their first vertex.
    pub(crate) fn search(&self, search: &mut impl PatchSearch) {
        self.patches.search(search);
    }

    /// The faces of whose corners a vertex is the first.
    pub(crate) fn own_faces(&self, vertex: usize) -> Range<usize> {
        self.firsts[vertex][0]..self.firsts[vertex + 1][0]
    }

    /// The edges of whose ends a vertex is the first.
    pub(crate) fn own_edges(&self, vertex: usize) -> Range<usize> {
        self.firsts[vertex][1]..self.firsts[vertex + 1][1]
    }

    /// Of each edge, the cosine of half the angle between the normals of its faces: no normal between these has a larger
    /// product with anything than the larger one of theirs over this, if that is positive.
    pub(crate) fn half_turns(&self) -> &[f64] {
        &self.half_turns
    }

    /// The faces about a vertex.
    pub(crate) fn faces_about(&self, vertex: usize) -> &[usize] {
        &self.around[self.stars[vertex]..self.stars[vertex + 1]]
    }

    /// The number of vertices, edges and faces together.
    pub fn features(&self) -> usize {
        self.vertices.len() + self.edges.len() + self.faces.len()
    }

    /// The vertices of a face, counter-clockwise seen from outside.
    pub fn corners(&self, face: usize) -> &[usize] {
        &self.corners[self.faces[face].range.clone()]
    }

    /// The edges of a face, each from a [corner](Self::corners) to the next.
    pub fn sides(&self, face: usize) -> &[usize] {
        &self.sides[self.faces[face].range.clone()]
    }

    /// Volume (m³), its first moment (m⁴) and its second moments about the origin (m⁵): the integrals
    /// of 1, x and x x' over the solid.
    pub fn moments(&self) -> (f64, Vector3<f64>, Matrix3<f64>) {
        let middle = self.vertices.iter().sum::<Vector3<f64>>() / self.vertices.len() as f64;
        let (mut volume, mut first, mut second) = (0.0, Vector3::zeros(), Matrix3::zeros());
        // Tetrahedra from the middle to the triangles of each face, relative to the middle. Of one with
        // the other corners a, b, c: V = det[a b c] / 6, ∫x = V (a + b + c) / 4,
        // ∫x x' = V (a a' + b b' + c c' + s s') / 20 with s = a + b + c.
        for face in 0..self.faces.len() {
            let own = self.corners(face);
            let a = self.vertices[own[0]] - middle;
            for side in own[1..].windows(2) {
                let [b, c] = [side[0], side[1]].map(|k| self.vertices[k] - middle);
                let (v, s) = (a.dot(&b.cross(&c)) / 6.0, a + b + c);
                volume += v;
                first += s * (v / 4.0);
                let squares = [a, b, c, s].map(|x| x * x.transpose());
                second += squares.iter().sum::<Matrix3<f64>>() * (v / 20.0);
            }
        }
        // x = middle + y
        let mixed = first * middle.transpose();
        second += mixed + mixed.transpose() + middle * middle.transpose() * volume;
        (volume, first + middle * volume, second)
    }
}

/// Looks for the lowest vertex along a direction.
struct Lowest<'a> {
    vertices: &'a [Vector3<f64>],
    direction: &'a Vector3<f64>,
    upward: Vector3<f64>,
    length: f64,
    lowest: (usize, f64),
}

impl Lowest<'_> {
    fn take(&mut self, vertex: usize) {
        let height = self.direction.dot(&self.vertices[vertex]);
        let (best, lowest) = self.lowest;
        if height < lowest || height == lowest && vertex < best {
            self.lowest = (vertex, height);
        }
    }
}

impl PatchSearch for Lowest<'_> {
    fn bound(&self, patch: &Patch) -> f64 {
        if patch.may_be_furthest(&self.upward, self.length) {
            f64::INFINITY
        } else {
            f64::NEG_INFINITY
        }
    }

    fn enough(&self) -> f64 {
        0.0
    }

    fn look(&mut self, vertices: &[usize]) -> bool {
        vertices.iter().for_each(|&vertex| self.take(vertex));
        true
    }
}

/// The least and the largest coordinates.
fn extent(points: &[Vector3<f64>]) -> (Vector3<f64>, Vector3<f64>) {
    let least = points.iter().fold(Vector3::repeat(f64::INFINITY), |a, p| a.inf(p));
    let most = points.iter().fold(Vector3::repeat(f64::NEG_INFINITY), |a, p| a.sup(p));
    (least, most)
}

/// The loops of faces of several triangles each, or nothing where the tolerance makes no polyhedron of
/// them.
fn merged_faces(points: &[Vector3<f64>], facets: &[Facet]) -> Option<Vec<Vec<usize>>> {
    let (least, most) = extent(points);
    let tolerance = COPLANAR * (most - least).norm();
    let area = |facet: &Facet| {
        let [a, b, c] = facet.corners.map(|k| points[k]);
        (b - a).cross(&(c - a))
    };
    // From the largest triangle on: its plane is the best known.
    let mut order: Vec<usize> = (0..facets.len()).collect();
    let size: Vec<f64> = facets.iter().map(|facet| area(facet).norm()).collect();
    order.sort_by(|&a, &b| size[b].total_cmp(&size[a]));

    let mut region = vec![usize::MAX; facets.len()];
    let mut loops = Vec::new();
    for seed in order {
        if region[seed] != usize::MAX {
            continue;
        }
        let normal = area(&facets[seed]).try_normalize(0.0)?;
        let origin = points[facets[seed].corners[0]];
        let in_plane = |facet: &Facet| {
            let near = |k: &usize| normal.dot(&(points[*k] - origin)).abs() <= tolerance;
            facet.corners.iter().all(near)
        };
        let (mut open, mut members) = (vec![seed], Vec::new());
        region[seed] = seed;
        while let Some(facet) = open.pop() {
            members.push(facet);
            for &neighbor in &facets[facet].neighbors {
                if region[neighbor] == usize::MAX && in_plane(&facets[neighbor]) {
                    region[neighbor] = seed;
                    open.push(neighbor);
                }
            }
        }
        let mut next = BTreeMap::new();
        for member in members {
            let Facet { corners, neighbors, .. } = &facets[member];
            for side in 0..3 {
                let border = region[neighbors[side]] != seed;
                if border && next.insert(corners[side], corners[(side + 1) % 3]).is_some() {
                    return None;
                }
            }
        }
        let (&start, _) = next.first_key_value()?;
        let mut face = vec![start];
        let mut at = *next.get(&start)?;
        while at != start && face.len() <= next.len() {
            face.push(at);
            at = *next.get(&at)?;
        }
        if face.len() != next.len() {
            return None;
        }
        loops.push(face);
    }
    // A vertex of two faces alone lies on the edge between them.
    let mut uses = vec![0; points.len()];
    loops.iter().flatten().for_each(|&k: &usize| uses[k] += 1);
    for face in &mut loops {
        face.retain(|&k| uses[k] > 2);
    }
    is_polyhedron(&loops).then_some(loops)
}

/// Whether faces close: each side has its opposite in another face, and Euler's formula holds.
fn is_polyhedron(loops: &[Vec<usize>]) -> bool {
    let mut sides = BTreeMap::new();
    for face in loops {
        for k in 0..face.len() {
            *sides.entry((face[k], face[(k + 1) % face.len()])).or_insert(0) += 1;
        }
    }
    let closed = sides.iter().all(|(&(a, b), &n)| n == 1 && sides.contains_key(&(b, a)));
    let mut vertices: Vec<_> = loops.iter().flatten().collect();
    vertices.sort_unstable();
    vertices.dedup();
    loops.iter().all(|face| face.len() >= 3)
        && closed
        && vertices.len() + loops.len() == sides.len() / 2 + 2
}
