//! Mass, centre of mass and inertia of solids and of what is made of them.

use std::f64::consts::PI;

use nalgebra::{Isometry3, Matrix3, Point3, Vector3};

use crate::assemble::BodyDescription;

/// Of a rigid body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MassProperties {
    /// kg.
    pub mass: f64,
    /// Centre of mass, m.
    pub center: Vector3<f64>,
    /// Inertia about the centre of mass, kg m².
    pub inertia: Matrix3<f64>,
}

impl MassProperties {
    /// Of nothing.
    pub fn zero() -> MassProperties {
        MassProperties { mass: 0.0, center: Vector3::zeros(), inertia: Matrix3::zeros() }
    }

    /// Of a solid with its centre of mass at the origin and principal moments along the axes.
    pub fn principal(mass: f64, moments: [f64; 3]) -> MassProperties {
        let inertia = Matrix3::from_diagonal(&Vector3::from(moments));
        MassProperties { mass, center: Vector3::zeros(), inertia }
    }

    /// Of a body.
    pub fn of(body: &BodyDescription) -> MassProperties {
        let [xx, yy, zz, xy, xz, yz] = body.inertia;
        let inertia = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
        MassProperties { mass: body.mass, center: body.center_of_mass.into(), inertia }
    }

    /// In the frame in which the solid stands at `pose`.
    pub fn moved(self, pose: &Isometry3<f64>) -> MassProperties {
        let rotation = pose.rotation.to_rotation_matrix().into_inner();
        let center = (pose * Point3::from(self.center)).coords;
        let inertia = rotation * self.inertia * rotation.transpose();
        MassProperties { mass: self.mass, center, inertia: symmetric(inertia) }
    }

    /// With all masses times `factor`.
    pub fn scaled(self, factor: f64) -> MassProperties {
        MassProperties { mass: self.mass * factor, inertia: self.inertia * factor, ..self }
    }

    /// Of all parts together.
    pub fn sum(parts: &[MassProperties]) -> MassProperties {
        let mass: f64 = parts.iter().map(|part| part.mass).sum();
        if mass == 0.0 {
            return MassProperties::zero();
        }
        let moment: Vector3<f64> = parts.iter().map(|part| part.center * part.mass).sum();
        let center = moment / mass;
        // Steiner: I = Σ (Iᵢ + mᵢ (rᵢ'rᵢ 1 - rᵢ rᵢ'))
        let inertia = parts.iter().map(|part| {
            let r = part.center - center;
            part.inertia + (Matrix3::identity() * r.dot(&r) - r * r.transpose()) * part.mass
        });
        MassProperties { mass, center, inertia: inertia.sum() }
    }

    /// Whether all its numbers are finite.
    pub fn is_finite(&self) -> bool {
        let numbers = self.center.iter().chain(&self.inertia);
        self.mass.is_finite() && numbers.into_iter().all(|x| x.is_finite())
    }

    /// xx, yy, zz, xy, xz, yz.
    pub fn six(&self) -> [f64; 6] {
        let i = &self.inertia;
        [i.m11, i.m22, i.m33, i.m12, i.m13, i.m23]
    }
}

fn symmetric(matrix: Matrix3<f64>) -> Matrix3<f64> {
    (matrix + matrix.transpose()) * 0.5
}

/// A ball of uniform density.
pub(super) fn ball(density: f64, r: f64) -> MassProperties {
    let mass = density * 4.0 / 3.0 * PI * r.powi(3);
    MassProperties::principal(mass, [0.4 * mass * r * r; 3])
}

/// A box of half extents.
pub(super) fn cuboid(density: f64, [x, y, z]: [f64; 3]) -> MassProperties {
    let mass = density * 8.0 * x * y * z;
    let (a, b, c) = (x * x, y * y, z * z);
    MassProperties::principal(mass, [b + c, a + c, a + b].map(|sum| mass * sum / 3.0))
}

/// An ellipsoid of semiaxes.
pub(super) fn ellipsoid(density: f64, [x, y, z]: [f64; 3]) -> MassProperties {
    let mass = density * 4.0 / 3.0 * PI * x * y * z;
    let (a, b, c) = (x * x, y * y, z * z);
    MassProperties::principal(mass, [b + c, a + c, a + b].map(|sum| mass * sum / 5.0))
}

/// A cylinder along z, of radius and half length.
pub(super) fn cylinder(density: f64, r: f64, half_length: f64) -> MassProperties {
    let h = 2.0 * half_length;
    let mass = density * PI * r * r * h;
    let across = mass * (3.0 * r * r + h * h) / 12.0;
    MassProperties::principal(mass, [across, across, mass * r * r / 2.0])
}

/// A capsule along z, of radius and half length of its segment.
pub(super) fn capsule(density: f64, r: f64, half_length: f64) -> MassProperties {
    let h = 2.0 * half_length;
    let body = cylinder(density, r, half_length);
    // Two hemispheres: 2/5 r² about the ball's centre, their own centres of mass 3/8 r beyond the ends.
    let caps = density * 4.0 / 3.0 * PI * r.powi(3);
    let across = caps * (0.4 * r * r + h * h / 4.0 + 3.0 / 8.0 * h * r);
    let caps = MassProperties::principal(caps, [across, across, caps * 0.4 * r * r]);
    MassProperties::sum(&[body, caps])
}

/// How the volume of a mesh is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Volume {
    /// Pyramids over the faces, subtracted where a face looks inwards.
    Signed,
    /// All pyramids over the faces added: too much where the mesh is not convex.
    Absolute,
    /// The faces alone, as a shell.
    Shell,
}

/// A mesh of triangles, of uniform density.
pub(super) fn mesh(
    density: f64,
    points: &[[f64; 3]],
    triangles: &[[usize; 3]],
    volume: Volume,
) -> MassProperties {
    let corners = triangles.iter().map(|triangle| triangle.map(|k| Vector3::from(points[k])));
    // Pyramids stand on the centroid of the surface, so that those of a star-shaped mesh count once.
    let (mut area, mut apex) = (0.0, Vector3::zeros());
    for [a, b, c] in corners.clone() {
        let size = (b - a).cross(&(c - a)).norm() / 2.0;
        area += size;
        apex += (a + b + c) * (size / 3.0);
    }
    let apex = if area > 0.0 { apex / area } else { apex };
    let sums = |apex| sums(density, corners.clone(), apex, volume);
    let (mut mass, moment, mut second) = sums(apex);
    if mass == 0.0 {
        return MassProperties::zero();
    }
    let offset = moment / mass;
    let center = apex + offset;
    if volume == Volume::Absolute {
        // As MuJoCo counts: once more, with pyramids that stand on the centre of mass just found, which is
        // kept.
        (mass, _, second) = sums(center);
    } else {
        second -= offset * offset.transpose() * mass;
    }
    let inertia = Matrix3::identity() * second.trace() - second;
    MassProperties { mass, center, inertia }
}

/// Mass, first and second moments about the apex.
fn sums(
    density: f64,
    corners: impl Iterator<Item = [Vector3<f64>; 3]>,
    apex: Vector3<f64>,
    volume: Volume,
) -> (f64, Vector3<f64>, Matrix3<f64>) {
    let (mut mass, mut moment, mut second) = (0.0, Vector3::zeros(), Matrix3::zeros());
    for [a, b, c] in corners {
        let [a, b, c] = [a, b, c].map(|corner| corner - apex);
        let sum = a + b + c;
        let squares = a * a.transpose() + b * b.transpose() + c * c.transpose();
        if volume == Volume::Shell {
            // ∫ x x' over a triangle: area / 12 (Σ pᵢ pᵢ' + s s'), s = Σ pᵢ
            let m = density * (b - a).cross(&(c - a)).norm() / 2.0;
            mass += m;
            moment += sum * (m / 3.0);
            second += (squares + sum * sum.transpose()) * (m / 12.0);
        } else {
            // ∫ x x' over a tetrahedron with a corner at 0: volume / 20 (Σ pᵢ pᵢ' + s s')
            let signed = a.dot(&b.cross(&c)) / 6.0;
            let m = density * if volume == Volume::Absolute { signed.abs() } else { signed };
            mass += m;
            moment += sum * (m / 4.0);
            second += (squares + sum * sum.transpose()) * (m / 20.0);
        }
    }
    (mass, moment, second)
}
