//! Hulls of many faces: what is found by looking at few of them is what looking at all finds.

use std::sync::{Arc, LazyLock};

use nalgebra::{Matrix3, Vector3};
use stiction::collision::{Pose, WarmStart, Witness, witnesses_from};
use stiction::model::{Polyhedron, Shape};

use super::{CRYSTAL, CUBE, Pair, least_gap, unit};
use crate::cases;
use crate::random::Random;

/// What the search for axes states: see `collision::convex_convex::axes`.
const TIE: f64 = 1e-9;
const MARGIN: f64 = 1e-3;
const PARALLEL: f64 = 1e-2;
const FLAT: f64 = 0.05;

fn spiral(count: usize) -> Vec<Vector3<f64>> {
    let golden = std::f64::consts::PI * (3.0 - 5f64.sqrt());
    let point = |k: usize| {
        let z = 1.0 - (2 * k + 1) as f64 / count as f64;
        let r = (1.0 - z * z).sqrt();
        Vector3::new(r * (golden * k as f64).cos(), r * (golden * k as f64).sin(), z)
    };
    (0..count).map(point).collect()
}

fn hull(points: &[Vector3<f64>]) -> Shape {
    Shape::Convex(Arc::new(Polyhedron::hull(points).unwrap()))
}

/// Round, flat, needle-like, with faces of many corners, with corners almost in the planes of faces.
static HULLS: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    let mut random = Random(401);
    let round = spiral(90);
    let lens: Vec<_> = round.iter().map(|p| Vector3::new(p.x, p.y, 0.1 * p.z)).collect();
    let needle: Vec<_> = round.iter().map(|p| Vector3::new(p.x, 0.05 * p.y, 0.05 * p.z)).collect();
    let prism = (0..80).map(|k| {
        let angle = std::f64::consts::TAU * (k / 2) as f64 / 40.0;
        Vector3::new(angle.cos(), angle.sin(), if k % 2 == 0 { -0.3 } else { 0.3 })
    });
    let rough = (0..120).map(|k| {
        let mut point = Vector3::from(random.vector(1.0));
        point[k % 3] = if k % 2 == 0 { 1.0 } else { -1.0 };
        point + Vector3::from(random.vector(1e-7))
    });
    let rough: Vec<_> = rough.collect();
    let scattered: Vec<_> = (0..70).map(|_| unit(&mut random)).collect();
    let prism: Vec<_> = prism.collect();
    [round, lens, needle, prism, rough, scattered].iter().map(|points| hull(points)).collect()
});

/// A prism whose corners are not in the planes of its faces, as of a mesh in single precision.
static UNEVEN: LazyLock<Shape> = LazyLock::new(|| {
    let mut random = Random(402);
    let points: Vec<_> = (0..80)
        .map(|k| {
            let angle = std::f64::consts::TAU * (k / 2) as f64 / 40.0;
            let z = if k % 2 == 0 { -0.3 } else { 0.3 } + random.uniform(-4e-7, 4e-7);
            Vector3::new(angle.cos(), angle.sin(), z)
        })
        .collect();
    let shape = hull(&points);
    // Of as many vertices as are searched.
    assert!(polyhedron(&shape).vertices().len() > 64);
    shape
});

fn polyhedron(shape: &Shape) -> &Polyhedron {
    shape.polyhedron().unwrap().0
}

/// A polyhedron in the world.
struct Placed<'a> {
    polyhedron: &'a Polyhedron,
    vertices: Vec<Vector3<f64>>,
    normals: Vec<Vector3<f64>>,
    thickness: f64,
}

impl Placed<'_> {
    fn new<'a>(shape: &'a Shape, pose: &Pose<f64>, size: Vector3<f64>) -> Placed<'a> {
        let polyhedron = polyhedron(shape);
        let place = |v: &Vector3<f64>| pose.position + pose.rotation * v.component_mul(&size);
        let inverse = Matrix3::from_diagonal(&size.map(f64::recip));
        let normals = polyhedron.faces().iter();
        let normals = normals.map(|face| (pose.rotation * inverse * face.normal).normalize());
        Placed {
            polyhedron,
            vertices: polyhedron.vertices().iter().map(place).collect(),
            normals: normals.collect(),
            thickness: polyhedron.half_extents().component_mul(&size).min(),
        }
    }

    /// The largest product of a vertex with a vector.
    fn most(&self, along: &Vector3<f64>) -> f64 {
        self.vertices.iter().map(|v| along.dot(v)).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The first face within a tie of the largest separation from another one, and that.
    fn best_face(&self, other: &Placed) -> (usize, f64) {
        let apart = |n: &Vector3<f64>| -other.most(&-n) - self.most(n);
        let all: Vec<f64> = self.normals.iter().map(apart).collect();
        let most = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let first = all.iter().position(|&s| s >= most - TIE * self.thickness).unwrap();
        (first, all[first])
    }

    /// The pair of edges that separates the most, and the normal.
    fn best_edges(&self, other: &Placed) -> (f64, Vector3<f64>) {
        let mut best = (f64::NEG_INFINITY, Vector3::zeros());
        for edge in self.polyhedron.edges() {
            let a = self.vertices[edge.ends[1]] - self.vertices[edge.ends[0]];
            let [a1, a2] = edge.faces.map(|face| self.normals[face]);
            for across in other.polyhedron.edges() {
                let b = other.vertices[across.ends[1]] - other.vertices[across.ends[0]];
                let [b1, b2] = across.faces.map(|face| other.normals[face]);
                let sides = [b1.dot(&a), b2.dot(&a), a1.dot(&b), a2.dot(&b)];
                let cross = a.cross(&b);
                if sides[0] * sides[1] >= 0.0
                    || sides[2] * sides[3] >= 0.0
                    || sides[0] * sides[3] >= 0.0
                    || cross.norm() <= PARALLEL * a.norm() * b.norm()
                {
                    continue;
                }
                let normal = cross.normalize() * (a1 + a2).dot(&cross).signum();
                let start = other.vertices[across.ends[0]] - self.vertices[edge.ends[0]];
                if normal.dot(&start) > best.0 {
                    best = (normal.dot(&start), normal);
                }
            }
        }
        best
    }
}

/// Which way contacts of a pair are decided.
#[derive(Default, Debug)]
struct Counts {
    faces: usize,
    edges: usize,
    nothing: usize,
}

/// Contacts against all faces and all pairs of edges.
fn check(pair: &Pair, contacts: &[Witness<f64>], counts: &mut Counts) {
    let poses = pair.poses();
    let placed = |body: usize| Placed::new(pair.shapes[body], &poses[body], pair.sizes[body]);
    let [first, other] = [placed(0), placed(1)];
    let margin = |best: f64| MARGIN * (first.thickness.min(other.thickness) + best.abs());
    let faces = [first.best_face(&other), other.best_face(&first)];
    let second = faces[1].1 > faces[0].1 + margin(faces[0].1);
    let (face, best) = faces[usize::from(second)];
    let normal = if second { -other.normals[face] } else { first.normals[face] };
    let (apart, across) = first.best_edges(&other);
    let by_edges = apart > best + margin(best);
    let most = if by_edges { apart } else { best };
    if contacts.is_empty() {
        // Nothing of the one is over a face of the other: corners, or edges beside each other.
        assert!(most > 0.0, "{best} {apart} {pair:?}");
        counts.nothing += 1;
        return;
    }
    let along = |n: &Vector3<f64>| contacts.iter().all(|w| (w.normal - n).norm() < 1e-9);
    let least = least_gap(contacts);
    if by_edges && along(&across) {
        assert!(contacts.len() == 1 && (least - apart).abs() < 1e-9, "{least} {apart} {pair:?}");
        counts.edges += 1;
    } else {
        assert!(along(&normal), "{face} {best} {apart} {pair:?} {contacts:?}");
        // Else the edges that are better are not beside each other, or nearly along the face.
        assert!(!by_edges || most > 0.0 || across.cross(&normal).norm() < FLAT, "{pair:?}");
        assert!(least >= best - 1e-9, "{least} {best}");
        assert!(most > 0.0 || least <= most + 2.0 * margin(most) + 1e-9, "{least} {most} {pair:?}");
        counts.faces += 1;
    }
}

/// Pairs of hulls that are apart, touch and are deep in each other.
fn pairs(random: &mut Random, count: usize) -> impl Iterator<Item = Pair> {
    let all: Vec<&'static Shape> = HULLS.iter().chain([&*CRYSTAL, &*CUBE]).collect();
    (0..count).map(move |case| {
        let shapes = [all[random.below(all.len())], all[random.below(all.len())]];
        let mut pair = Pair::random(shapes, random, 0.1);
        if case % 3 == 0 {
            pair.sizes = pair.sizes.map(|size| Vector3::repeat(size.x));
        }
        let way = unit(random);
        let poses = pair.poses();
        let [a, b] = [0, 1].map(|k| Placed::new(pair.shapes[k], &poses[k], pair.sizes[k]));
        let touching = a.most(&way) + b.most(&-way);
        // Along a direction that is none of an axis, so that they overlap less or not at all.
        let thickness = a.thickness.min(b.thickness);
        pair.positions[1] += way * (touching - random.uniform(-0.2, 2.0) * thickness);
        pair
    })
}

#[test]
fn few_faces_and_edges_say_what_all_do() {
    let mut counts = Counts::default();
    let count = cases::count(2000, 0.1);
    for pair in pairs(&mut Random(402), count) {
        check(&pair, &pair.witnesses(10.0), &mut counts);
    }
    println!("{counts:?}");
    assert!(counts.faces * 4 > count && counts.edges * 50 > count, "{counts:?} of {count}");
}

/// From what the last step found, from what another pair did, and from nothing.
#[test]
fn where_a_search_begins_does_not_matter() {
    let mut random = Random(403);
    let mut foreign = WarmStart::default();
    let (mut touching, mut steps) = (0, 0);
    let all: Vec<Pair> = pairs(&mut random, cases::count(3000, 0.2)).collect();
    for pair in all {
        let mut warm = WarmStart::default();
        for size in [1e-3, 1e-3, 1e-6, 0.0, 0.3] {
            let mut moved = pair.turned(1, random.vector(size));
            moved.positions[1] += Vector3::from(random.vector(0.1 * size));
            let cold = moved.witnesses(0.05);
            for warm in [&mut warm, &mut foreign] {
                let (poses, mut out) = (moved.poses(), Vec::new());
                let [first, second] = &poses;
                witnesses_from(warm, moved.shapes, [first, second], moved.sizes, 0.05, &mut out);
                assert_eq!(out, cold, "{moved:?}");
            }
            steps += 1;
            touching += usize::from(!cold.is_empty());
        }
    }
    println!("{touching} of {steps}");
    assert!(touching * 4 > steps, "{touching} of {steps}");
}

/// Face on face, tilted by less and by more than faces are uneven by.
#[test]
fn uneven_faces_are_found_from_anywhere_alike() {
    let shapes = [&*UNEVEN, &*UNEVEN];
    let mut random = Random(405);
    let (mut warm, mut foreign) = (WarmStart::default(), WarmStart::default());
    let mut touching = 0;
    for case in 0..400 {
        let mut pair = Pair { shapes, ..Pair::aligned([[1.0; 3]; 2], [0.0; 3]) };
        pair.positions[1] = Vector3::new(0.2, -0.1, 0.6 + random.uniform(-1e-6, 1e-6));
        let tilt = [0.0, 1e-8, 1e-7, 1e-6][case % 4];
        let pair = pair.turned(1, random.vector(tilt));
        let cold = pair.witnesses(0.05);
        touching += usize::from(!cold.is_empty());
        for warm in [&mut warm, &mut foreign] {
            let (poses, mut out) = (pair.poses(), Vec::new());
            let [first, second] = &poses;
            witnesses_from(warm, pair.shapes, [first, second], pair.sizes, 0.05, &mut out);
            assert_eq!(out, cold, "{pair:?}");
        }
        // Of quite another place.
        let far = pair.turned(0, random.vector(1.0));
        let (poses, mut out) = (far.poses(), Vec::new());
        witnesses_from(&mut foreign, far.shapes, [&poses[0], &poses[1]], far.sizes, 0.05, &mut out);
    }
    assert_eq!(touching, 400);
}

#[test]
fn the_lowest_vertex_is_that_of_all() {
    let mut random = Random(404);
    let fine = hull(&spiral(3000));
    for shape in HULLS.iter().chain([&fine, &*UNEVEN]) {
        let polyhedron = polyhedron(shape);
        let normals = polyhedron.faces().iter().map(|face| face.normal);
        let across = polyhedron.edges().iter().map(|edge| {
            let [a, b] = edge.faces.map(|face| polyhedron.faces()[face].normal);
            a + b
        });
        let any: Vec<_> =
            (0..500).map(|_| unit(&mut random) * random.uniform(1e-6, 10.0)).collect();
        for direction in normals.chain(across).chain(any).flat_map(|n| [n, -n]) {
            let heights = polyhedron.vertices().iter().map(|v| direction.dot(v));
            let least = heights.fold(f64::INFINITY, f64::min);
            let (vertex, found) = polyhedron.lowest(&direction);
            assert_eq!(direction.dot(&polyhedron.vertices()[vertex]), found);
            // Vertices are in the plane of a face but for the tolerance with which triangles are one face.
            assert!(found - least <= 1e-6 * direction.norm() * polyhedron.radius(), "{direction}");
        }
    }
}

/// The least distance of a point to points of triangles of a polyhedron, from outside.
fn nearest(polyhedron: &Polyhedron, point: &Vector3<f64>) -> f64 {
    let mut least = f64::INFINITY;
    for face in 0..polyhedron.faces().len() {
        let corners: Vec<_> =
            polyhedron.corners(face).iter().map(|&k| polyhedron.vertices()[k]).collect();
        for pair in corners[1..].windows(2) {
            let (a, b, c) = (corners[0], pair[0], pair[1]);
            const FINE: usize = 40;
            for i in 0..=FINE {
                for j in 0..=FINE - i {
                    let [u, v] = [i, j].map(|k| k as f64 / FINE as f64);
                    least = least.min((a + (b - a) * u + (c - a) * v - point).norm());
                }
            }
        }
    }
    least
}

#[test]
fn a_reduced_hull_falls_short_by_what_it_says() {
    for shape in HULLS.iter() {
        let whole = polyhedron(shape);
        let mut last = f64::INFINITY;
        for most in [4, 6, 12, 30, 60, 1000] {
            let (reduced, short) = whole.reduced(most).unwrap();
            assert!(reduced.vertices().len() <= most);
            assert!(reduced.vertices().iter().all(|v| whole.vertices().contains(v)));
            assert_eq!(short == 0.0, whole.vertices().len() <= most || reduced == *whole);
            // Not by much more with a few vertices more: the furthest is always taken next.
            assert!(short <= 1.5 * last, "{most}: {short} {last}");
            last = short;
            let height = |v: &Vector3<f64>| {
                let above = reduced.faces().iter().map(|face| face.normal.dot(v) - face.offset);
                above.fold(f64::NEG_INFINITY, f64::max)
            };
            let most_outside = whole.vertices().iter().map(height).fold(0.0, f64::max);
            assert!(short >= most_outside - 1e-12, "{short} {most_outside}");
            if most == 12 {
                let outside = whole.vertices().iter().filter(|v| height(v) > 0.0);
                let sampled = outside.map(|v| nearest(&reduced, v)).fold(0.0, f64::max);
                assert!(
                    short <= sampled + 1e-12 && sampled <= 1.05 * short + 0.01,
                    "{short} {sampled}"
                );
            }
        }
        let error = whole.reduced(3).unwrap_err();
        assert!(error.to_string().contains("at least 4 points"), "{error}");
    }
}
