//! Inertial parameters of a body in three forms: as scenes have them, as the dynamics is linear in them,
//! and as ten free numbers that always are a body there can be.

use nalgebra::{Matrix3, Vector3};

use crate::ad::Real;
use crate::linalg::FactorError;
use crate::model::{Model, Parameters};
use crate::spatial::{Inertia, Symmetric};

/// Mass, centre of mass and inertia of a body, as [`Parameters`](crate::model::Parameters) have them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InertialParameters<T> {
    /// Mass, kg.
    pub mass: T,
    /// Centre of mass in the body, m.
    pub center_of_mass: Vector3<T>,
    /// Inertia about the centre of mass along the body axes, kg m².
    pub inertia: Symmetric<T>,
}

impl<T: Real> InertialParameters<T> {
    /// Those of a body of a model.
    pub(super) fn of(model: &Model, parameters: &Parameters<T>, body: usize) -> Self {
        InertialParameters {
            mass: parameters.mass(model, body),
            center_of_mass: parameters.center_of_mass(model, body),
            inertia: Symmetric::from_lower(&parameters.inertia(model, body)),
        }
    }

    /// In the order of [`Parameters`](crate::model::Parameters): mass, center of mass x, y, z, inertia xx,
    /// yy, zz, xy, xz, yz.
    pub fn array(&self) -> [T; 10] {
        let (c, i) = (&self.center_of_mass, &self.inertia);
        [self.mass, c.x, c.y, c.z, i.xx, i.yy, i.zz, i.xy, i.xz, i.yz]
    }

    /// From ten numbers in the order of [`array`](Self::array).
    pub fn from_array(p: &[T; 10]) -> Self {
        let [mass, x, y, z, ..] = *p;
        InertialParameters { mass, center_of_mass: Vector3::new(x, y, z), inertia: symmetric(p) }
    }

    /// The numbers in which the dynamics is linear: mass, first moment x, y, z (kg m), inertia about the
    /// body's origin xx, yy, zz, xy, xz, yz (kg m²).
    pub fn linear(&self) -> [T; 10] {
        linear_array(&Inertia::about_origin(self.mass, &self.center_of_mass, self.inertia))
    }

    /// The inverse of [`linear`](Self::linear).
    ///
    /// # Errors
    /// [`FactorError::Pivot`] if the mass is zero or not finite.
    pub fn from_linear(p: &[T; 10]) -> Result<Self, FactorError> {
        let [mass, x, y, z, ..] = *p;
        if mass.value() == 0.0 || !mass.value().is_finite() {
            return Err(FactorError::Pivot(0));
        }
        let center_of_mass = Vector3::new(x, y, z) / mass;
        let inertia = symmetric(p) - Symmetric::point_inertia(mass, &center_of_mass);
        Ok(InertialParameters { mass, center_of_mass, inertia })
    }

    /// How [`linear`](Self::linear) changes with these parameters, in the direction `change`.
    pub fn linear_tangent(&self, change: &Self) -> Inertia<T> {
        let (m, c) = (self.mass, &self.center_of_mass);
        let (dm, dc) = (change.mass, &change.center_of_mass);
        // d(m (c'c 1 - c c')) = dm (c'c 1 - c c') + m (c + dc)-terms of first order
        let cross = Inertia { mass: T::zero(), moment: dc * m, rotational: Symmetric::zero() };
        Inertia {
            mass: dm,
            moment: c * dm + dc * m,
            rotational: change.inertia
                + Symmetric::point_inertia(dm, c)
                + cross.shifted(c).rotational,
        }
    }

    /// A gradient in the numbers of [`linear`](Self::linear), turned into one in those of
    /// [`array`](Self::array).
    pub fn pull_back(&self, gradient: &[T; 10]) -> [T; 10] {
        let (m, c) = (self.mass, &self.center_of_mass);
        let [mass, hx, hy, hz, xx, yy, zz, xy, xz, yz] = *gradient;
        let h = Vector3::new(hx, hy, hz);
        // g . (c'c 1 - c c') = c' G c
        let g =
            Matrix3::new(yy + zz, -xy, -xz, T::zero(), xx + zz, -yz, T::zero(), T::zero(), xx + yy);
        let twice = (g + g.transpose()) * *c;
        let by_center = h * m + twice * m;
        let by_mass = mass + h.dot(c) + c.dot(&twice) * 0.5;
        [by_mass, by_center.x, by_center.y, by_center.z, xx, yy, zz, xy, xz, yz]
    }

    /// The parameters of ten numbers without bounds (`Rucker22`): a, d1, d2, d3, s12, s23, s13, t1, t2,
    /// t3.
    ///
    /// All of them are bodies there can be: mass and density positive, and so the inertia positive
    /// definite with its triangle inequalities. With U upper triangular, exp(d) on its diagonal and s
    /// above, the mass is exp(2 a), the centre of mass t, and the second moment of the mass about
    /// it exp(2 a) U U'.
    pub fn from_log_cholesky(p: &[T; 10]) -> Self {
        let [a, d1, d2, d3, s12, s23, s13, t1, t2, t3] = *p;
        let (u11, u22, u33) = (d1.exp(), d2.exp(), d3.exp());
        let mass = (a + a).exp();
        let second = Symmetric {
            xx: u11 * u11 + s12 * s12 + s13 * s13,
            yy: u22 * u22 + s23 * s23,
            zz: u33 * u33,
            xy: s12 * u22 + s13 * s23,
            xz: s13 * u33,
            yz: s23 * u33,
        };
        InertialParameters {
            mass,
            center_of_mass: Vector3::new(t1, t2, t3),
            inertia: scaled(
                &Symmetric {
                    xx: second.yy + second.zz,
                    yy: second.xx + second.zz,
                    zz: second.xx + second.yy,
                    xy: -second.xy,
                    xz: -second.xz,
                    yz: -second.yz,
                },
                mass,
            ),
        }
    }

    /// The inverse of [`from_log_cholesky`](Self::from_log_cholesky).
    ///
    /// # Errors
    /// [`FactorError::Pivot`] if there is no such body with extent in all directions: 0 if the mass is
    /// not positive, otherwise the number (1 to 3) of the axis.
    pub fn log_cholesky(&self) -> Result<[T; 10], FactorError> {
        let positive = |x: T, k: usize| match x.value() > 0.0 && x.value().is_finite() {
            true => Ok(x),
            false => Err(FactorError::Pivot(k)),
        };
        let mass = positive(self.mass, 0)?;
        let i = scaled(&self.inertia, mass.recip());
        let half = i.trace() * 0.5;
        let u33 = positive(half - i.zz, 3)?.sqrt();
        let (s13, s23) = (-i.xz / u33, -i.yz / u33);
        let u22 = positive(half - i.yy - s23 * s23, 2)?.sqrt();
        let s12 = (-i.xy - s13 * s23) / u22;
        let u11 = positive(half - i.xx - s12 * s12 - s13 * s13, 1)?.sqrt();
        let t = self.center_of_mass;
        Ok([mass.ln() * 0.5, u11.ln(), u22.ln(), u33.ln(), s12, s23, s13, t.x, t.y, t.z])
    }

    /// Whether there can be such a body: mass and inertia not negative, and the inertia about each axis not
    /// larger than the sum of the two others, in all directions.
    pub fn consistent(&self) -> bool {
        self.log_cholesky().is_ok()
    }
}

/// The numbers of an inertia in the order of [`InertialParameters::linear`].
pub(super) fn linear_array<T: Real>(inertia: &Inertia<T>) -> [T; 10] {
    let (h, i) = (&inertia.moment, &inertia.rotational);
    [inertia.mass, h.x, h.y, h.z, i.xx, i.yy, i.zz, i.xy, i.xz, i.yz]
}

/// The last six of ten numbers.
fn symmetric<T: Real>(p: &[T; 10]) -> Symmetric<T> {
    Symmetric { xx: p[4], yy: p[5], zz: p[6], xy: p[7], xz: p[8], yz: p[9] }
}

fn scaled<T: Real>(m: &Symmetric<T>, s: T) -> Symmetric<T> {
    Symmetric { xx: m.xx * s, yy: m.yy * s, zz: m.zz * s, xy: m.xy * s, xz: m.xz * s, yz: m.yz * s }
}
