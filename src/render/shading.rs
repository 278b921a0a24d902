//! How bright faces are.

use nalgebra::Vector3;

use crate::ad::Real;
use crate::model::Lighting;

/// The light of a scene: some from one direction, by Lambert's law, and some from all around.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Light<T> {
    /// Where the light goes, world frame, of any length.
    pub direction: Vector3<T>,
    /// How much brighter a white face is that looks into the light.
    pub direct: T,
    /// How bright it is that turns away.
    pub ambient: T,
}

/// Numbers of [`Light::flat`].
pub(super) const LIGHT: usize = 5;

impl Default for Light<f64> {
    fn default() -> Self {
        Light::of(&Lighting::default())
    }
}

impl Light<f64> {
    /// That of a scene.
    pub fn of(light: &Lighting) -> Self {
        let Lighting { direction, direct, ambient, .. } = *light;
        Light { direction: direction.into(), direct, ambient }
    }
}

impl<T: Real> Light<T> {
    /// Direction, what is direct and what is ambient in one list.
    pub(super) fn flat(&self) -> [T; LIGHT] {
        let [x, y, z] = self.direction.into();
        [x, y, z, self.direct, self.ambient]
    }

    /// From [`flat`](Self::flat).
    pub(super) fn from_flat(flat: &[T]) -> Light<T> {
        let direction = Vector3::new(flat[0], flat[1], flat[2]);
        Light { direction, direct: flat[3], ambient: flat[4] }
    }

    /// The same of constants.
    pub fn cast<S: Real>(&self) -> Light<S> {
        let constant = |x: T| S::constant(x.value());
        Light {
            direction: self.direction.map(constant),
            direct: constant(self.direct),
            ambient: constant(self.ambient),
        }
    }

    /// How bright a white triangle is.
    pub(super) fn brightness(&self, triangle: &Lit<T>) -> T {
        self.ambient + self.direct * triangle.cosine(self)
    }

    /// How much brighter it gets as its corners and the light change.
    pub(super) fn brightness_change(
        &self,
        triangle: &Lit<T>,
        corners: [Vector3<T>; 3],
        change: &Light<T>,
    ) -> T {
        let mut sum = change.ambient + change.direct * triangle.cosine(self);
        if triangle.faces(self) {
            let [p, q] = [corners[1] - corners[0], corners[2] - corners[0]];
            let normal = p.cross(&triangle.sides[1]) + triangle.sides[0].cross(&q);
            let (by_normal, by_light) = triangle.slopes(self);
            sum += self.direct * (by_normal.dot(&normal) + by_light.dot(&change.direction));
        }
        sum
    }

    /// The adjoints of its corners; those of the light are added to `to`, as [`flat`](Self::flat).
    pub(super) fn pull_back(&self, triangle: &Lit<T>, adjoint: T, to: &mut [T]) -> [Vector3<T>; 3] {
        to[3] += adjoint * triangle.cosine(self);
        to[4] += adjoint;
        if !triangle.faces(self) {
            return [Vector3::zeros(); 3];
        }
        let (by_normal, by_light) = triangle.slopes(self);
        let weight = adjoint * self.direct;
        (0..3).for_each(|k| to[k] += by_light[k] * weight);
        let normal = by_normal * weight;
        let [p, q] = [triangle.sides[1].cross(&normal), normal.cross(&triangle.sides[0])];
        [-(p + q), p, q]
    }
}

/// A triangle in the world.
pub(super) struct Lit<T> {
    sides: [Vector3<T>; 2],
    /// Out of what is seen of it, of twice the area.
    normal: Vector3<T>,
    /// -1: its other side is seen.
    facing: f64,
}

impl<T: Real> Lit<T> {
    pub fn new([a, b, c]: [Vector3<T>; 3], facing: i32) -> Lit<T> {
        let sides = [b - a, c - a];
        let facing = f64::from(facing);
        Lit { sides, normal: sides[0].cross(&sides[1]) * T::constant(facing), facing }
    }

    /// A face of this unit normal, whose corners do not change it.
    pub fn of_normal(normal: Vector3<T>) -> Lit<T> {
        Lit { sides: [Vector3::zeros(); 2], normal, facing: 1.0 }
    }

    /// Of the angle between what it looks at and where the light comes from, before it turns away.
    fn cosine(&self, light: &Light<T>) -> T {
        if !self.faces(light) {
            return T::zero();
        }
        let sizes = self.normal.dot(&self.normal) * light.direction.dot(&light.direction);
        -self.normal.dot(&light.direction) / sizes.sqrt()
    }

    fn faces(&self, light: &Light<T>) -> bool {
        self.normal.dot(&light.direction).value() < 0.0
    }

    /// How the cosine changes with the cross product of its sides and with the light.
    fn slopes(&self, light: &Light<T>) -> (Vector3<T>, Vector3<T>) {
        let unit = |v: &Vector3<T>| {
            let size = v.dot(v).sqrt();
            (v / size, size)
        };
        let ((n, area), (d, strength)) = (unit(&self.normal), unit(&light.direction));
        let cosine = -n.dot(&d);
        let by_normal = (d + n * cosine) * (T::constant(-self.facing) / area);
        (by_normal, -(n + d * cosine) / strength)
    }
}
