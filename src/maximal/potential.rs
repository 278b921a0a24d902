//! Potentials that are known: gravity and springs.

use super::point_inertia::PointInertia;
use crate::ad::Real;

/// A spring between two points, or a point and the world, with the energy stiffness (l - length)^2, as `Zhong21`'s
/// rope has it (no half).
#[derive(Clone, Debug, PartialEq)]
pub struct Spring {
    /// Its end.
    pub point: usize,
    /// Its other end, or a place in the world (m).
    pub from: Result<usize, [f64; 3]>,
    /// k (J/m^2).
    pub stiffness: f64,
    /// Its length at rest (m).
    pub length: f64,
}

impl Spring {
    /// From its other end to its end.
    pub(super) fn along<T: Real>(&self, dimension: usize, x: &[T]) -> [T; 3] {
        std::array::from_fn(|k| {
            if k >= dimension {
                return T::zero();
            }
            let end = x[self.point * dimension + k];
            match self.from {
                Ok(other) => end - x[other * dimension + k],
                Err(place) => end - place[k],
            }
        })
    }
}

/// What has a potential that moves a system.
pub trait ConservativeForce<T: Real> {
    /// gradient <- grad V(x) (N), the force's opposite, as long as `x` (m).
    fn gradient(&mut self, inertia: &PointInertia<T>, x: &[T], gradient: &mut Vec<T>);
}

/// V(x) of gravity and springs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Potential {
    /// The acceleration of free fall (m/s^2).
    pub gravity: [f64; 3],
    /// Springs.
    pub springs: Vec<Spring>,
}

impl Potential {
    /// V(x) (J).
    pub fn energy<T: Real>(&self, inertia: &PointInertia<T>, x: &[T]) -> T {
        let d = inertia.dimension();
        let mut weights = Vec::new();
        self.weigh(inertia, x.len(), &mut weights);
        let falls = weights.iter().zip(x).fold(T::zero(), |sum, (&w, &x)| sum - w * x);
        let stretches = self.springs.iter().fold(T::zero(), |sum, spring| {
            let length = norm(spring.along(d, x));
            let stretch = length - spring.length;
            sum + stretch * stretch * spring.stiffness
        });
        falls + stretches
    }

    /// The weight of all points, M times gravity (N).
    fn weigh<T: Real>(&self, inertia: &PointInertia<T>, size: usize, weights: &mut Vec<T>) {
        let d = inertia.dimension();
        weights.clear();
        weights.extend((0..size).map(|i| T::constant(self.gravity[i % d])));
        inertia.multiply(weights);
    }
}

impl<T: Real> ConservativeForce<T> for &Potential {
    fn gradient(&mut self, inertia: &PointInertia<T>, x: &[T], gradient: &mut Vec<T>) {
        let d = inertia.dimension();
        self.weigh(inertia, x.len(), gradient);
        gradient.iter_mut().for_each(|g| *g = -*g);
        for spring in &self.springs {
            let w = spring.along(d, x);
            let length = norm(w);
            let pull = (length - spring.length) * (2.0 * spring.stiffness) / length;
            for (k, &w) in w.iter().take(d).enumerate() {
                gradient[spring.point * d + k] += pull * w;
                if let Ok(other) = spring.from {
                    gradient[other * d + k] -= pull * w;
                }
            }
        }
    }
}

fn norm<T: Real>(x: [T; 3]) -> T {
    (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]).sqrt()
}
