//! Contact geometry of two moving shapes: invariants, oracles, derivatives.

mod approach;
mod boxes;
mod broad_phase;
mod capsules;
mod convex;
mod derivatives;
mod every_pair;
mod half_spaces;
pub mod height_fields;
mod hulls;
mod invariants;
mod oracle;
mod robustness;
mod solids;

use std::sync::{Arc, LazyLock};

use nalgebra::Vector3;
use stiction::ad::Real;
use stiction::collision::{Pose, Witness, witnesses};
use stiction::model::{Face, HeightField, Polyhedron, Shape};
use stiction::spatial::{Quaternion, exp, normalized, product, rotation_matrix};

use crate::random::Random;

/// Two shapes, where they are and their sizes.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    pub shapes: [&'static Shape; 2],
    pub orientations: [Quaternion<f64>; 2],
    pub positions: [Vector3<f64>; 2],
    pub sizes: [Vector3<f64>; 2],
}

pub static BOX: Shape = Shape::Box;
pub static SPHERE: Shape = Shape::Sphere;
pub static CAPSULE: Shape = Shape::Capsule;
pub static CYLINDER: Shape = Shape::Cylinder;
pub static WEDGE: Shape = Shape::Wedge;

/// A cube as any other polyhedron.
pub static CUBE: LazyLock<Shape> =
    LazyLock::new(|| Shape::Convex(Arc::new(Polyhedron::cube().clone())));

/// A crystal with triangular faces about the origin.
pub static CRYSTAL: LazyLock<Shape> = LazyLock::new(|| {
    let mut random = Random(7);
    let corner = |k: usize| {
        let (z, angle) = (1.0 - (2 * k + 1) as f64 / 12.0, 2.4 * k as f64);
        let r = (1.0 - z * z).sqrt();
        Vector3::new(r * angle.cos(), r * angle.sin(), z) + Vector3::from(random.vector(0.1))
    };
    let points: Vec<_> = (0..12).map(corner).collect();
    Shape::Convex(Arc::new(Polyhedron::hull(&points).unwrap()))
});

/// Hills of 12 by 12 cells, 0.5 m apart and at most 0.2 m high.
pub static HILLS: LazyLock<Shape> = LazyLock::new(|| {
    let mut random = Random(8);
    let heights = (0..13 * 13).map(|_| random.uniform(-0.1, 0.1)).collect();
    Shape::HeightField(Arc::new(HeightField::new(13, 13, [0.5; 2], heights).unwrap()))
});

pub fn shapes() -> [[&'static Shape; 2]; 4] {
    [[&SPHERE, &SPHERE], [&SPHERE, &BOX], [&BOX, &SPHERE], [&BOX, &BOX]]
}

/// All pairs of convex shapes but those above.
pub fn more_shapes() -> Vec<[&'static Shape; 2]> {
    let all: [&Shape; 6] = [&SPHERE, &BOX, &CAPSULE, &CYLINDER, &CRYSTAL, &WEDGE];
    let pairs = all.into_iter().flat_map(|a| all.into_iter().map(move |b| [a, b]));
    pairs.filter(|pair| !shapes().contains(pair)).collect()
}

/// Directions in which a pair is moved: for each body a shift and a turn in the world, and its sizes.
pub const DIRECTIONS: usize = 18;

pub fn orientation(random: &mut Random) -> Quaternion<f64> {
    normalized(normalized(exp(Vector3::from(random.vector(3.0)))))
}

pub fn unit(random: &mut Random) -> Vector3<f64> {
    loop {
        let v = Vector3::from(random.vector(1.0));
        if v.norm() > 0.1 && v.norm() < 1.0 {
            return v.normalize();
        }
    }
}

impl Pair {
    /// Sizes between 0.3 and 1, centres at a distance up to `far`.
    pub fn random(shapes: [&'static Shape; 2], random: &mut Random, far: f64) -> Pair {
        let size = |random: &mut Random| Vector3::from_fn(|_, _| random.uniform(0.3, 1.0));
        let offset = unit(random) * random.uniform(0.0, far);
        let first = Vector3::from(random.vector(1.0));
        Pair {
            shapes,
            orientations: [orientation(random), orientation(random)],
            positions: [first, first + offset],
            sizes: [size(random), size(random)],
        }
    }

    /// Boxes with faces along the world axes.
    pub fn aligned(sizes: [[f64; 3]; 2], offset: [f64; 3]) -> Pair {
        Pair {
            shapes: [&BOX; 2],
            orientations: [[1.0, 0.0, 0.0, 0.0]; 2],
            positions: [Vector3::zeros(), Vector3::from(offset)],
            sizes: sizes.map(Vector3::from),
        }
    }

    pub fn turned(mut self, body: usize, by: [f64; 3]) -> Pair {
        self.orientations[body] = product(exp(Vector3::from(by)), self.orientations[body]);
        self
    }

    pub fn swapped(self) -> Pair {
        let Pair { shapes: [a, b], orientations: [q, p], positions: [x, y], sizes: [s, t] } = self;
        Pair { shapes: [b, a], orientations: [p, q], positions: [y, x], sizes: [t, s] }
    }

    pub fn poses(&self) -> [Pose<f64>; 2] {
        self.moved(&[0.0; DIRECTIONS]).0
    }

    /// Poses and sizes after a small motion.
    pub fn moved<T: Real>(&self, by: &[T]) -> ([Pose<T>; 2], [Vector3<T>; 2]) {
        let vector = |k: usize| Vector3::new(by[k], by[k + 1], by[k + 2]);
        let pose = |body: usize| {
            let turn = exp(vector(9 * body + 3));
            let orientation = product(turn, self.orientations[body].map(T::constant));
            let position = self.positions[body].map(T::constant) + vector(9 * body);
            Pose { rotation: rotation_matrix(orientation), position }
        };
        let size = |body: usize| self.sizes[body].map(T::constant) + vector(9 * body + 6);
        ([pose(0), pose(1)], [size(0), size(1)])
    }

    /// The contacts after a small motion.
    pub fn contacts<T: Real>(&self, by: &[T], reach: f64) -> Vec<Witness<T>> {
        let (poses, sizes) = self.moved(by);
        let mut out = Vec::new();
        witnesses(self.shapes, [&poses[0], &poses[1]], sizes, reach, &mut out);
        out
    }

    pub fn witnesses(&self, reach: f64) -> Vec<Witness<f64>> {
        self.contacts(&[0.0; DIRECTIONS], reach)
    }

    /// How far a point is outside of the surface of a body, m; negative inside.
    pub fn outside(&self, body: usize, point: Vector3<f64>) -> f64 {
        let Pose { rotation, position } = self.poses()[body];
        let place = rotation.tr_mul(&(point - position));
        match self.shapes[body] {
            Shape::Sphere => place.norm() - self.sizes[body].x,
            Shape::Box => {
                let excess = place.abs() - self.sizes[body];
                let outside = excess.map(|x| x.max(0.0)).norm();
                if outside > 0.0 { outside } else { excess.max() }
            }
            Shape::Capsule => {
                let [radius, half] = [self.sizes[body].x, self.sizes[body].y];
                let beyond = place.z - place.z.clamp(-half, half);
                Vector3::new(place.x, place.y, beyond).norm() - radius
            }
            Shape::Cylinder => {
                let [radius, half] = [self.sizes[body].x, self.sizes[body].y];
                let excess = [place.xy().norm() - radius, place.z.abs() - half];
                let outside = excess[0].max(0.0).hypot(excess[1].max(0.0));
                if outside > 0.0 { outside } else { excess[0].max(excess[1]) }
            }
            // Along the normal of the face it is furthest above of.
            Shape::Convex(_) | Shape::Wedge => {
                let (polyhedron, _) = self.shapes[body].polyhedron().unwrap();
                let height = |face: &Face| {
                    let n = face.normal.component_div(&self.sizes[body]);
                    (n.dot(&place) - face.offset) / n.norm()
                };
                polyhedron.faces().iter().map(height).fold(f64::NEG_INFINITY, f64::max)
            }
            Shape::HeightField(_) => f64::NAN,
        }
    }
}

pub fn least_gap(contacts: &[Witness<f64>]) -> f64 {
    contacts.iter().map(|w| w.gap).fold(f64::INFINITY, f64::min)
}

pub fn features(contacts: &[Witness<f64>]) -> Vec<usize> {
    contacts.iter().map(|w| w.feature).collect()
}
