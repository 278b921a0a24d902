//! The mass matrix of extended bodies (`Zhong21` App. B): constant, and a block a body, the same for each coordinate.
//!
//! A body of mass m with second moments I_k along its axes has the points x_0 (its centre) and x_0 + e_k, and
//!
//! ```text
//! M_00 = m + sum I_k,  M_kk = I_k,  M_0k = -I_k        M^-1 = 1/m (all entries) + diag(0, 1/I_k)
//! M^-1 = C'C,   C = [1/sqrt(m) (all);  diag(0, 1/sqrt(I_k))]
//! ```

use super::point_layout::PointLayout;
use super::point_parameters::PointParameters;
use crate::ad::Real;

/// The inverse masses of a system. Vectors have `dimension` numbers a point.
#[derive(Clone, Debug, Default)]
pub struct PointInertia<T> {
    dimension: usize,
    /// First point and number of points of each body.
    bodies: Vec<(usize, usize)>,
    /// The body of each point.
    body_of: Vec<usize>,
    /// For each point 1/m at a centre, 1/I_k at the end of an axis; and the square roots.
    inverse: Vec<T>,
    root: Vec<T>,
}

impl<T: Real> PointInertia<T> {
    /// Of masses and moments that fit the system (see [`PointSystem::check`](super::PointSystem::check)).
    pub fn set(&mut self, layout: &PointLayout, parameters: &PointParameters<T>) {
        self.dimension = layout.dimension();
        self.bodies.clear();
        self.body_of.clear();
        self.body_of.extend((0..layout.points()).map(|point| layout.body_of(point)));
        self.inverse.clear();
        let mut moments = parameters.moments.iter();
        for (body, &mass) in layout.bodies().iter().zip(&parameters.masses) {
            self.bodies.push((self.inverse.len(), body.points()));
            self.inverse.push(mass.recip());
            self.inverse.extend(moments.by_ref().take(body.axes).map(|&s| (s * mass).recip()));
        }
        self.root.clear();
        self.root.extend(self.inverse.iter().map(|&x| x.sqrt()));
    }

    /// 2 or 3.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The entry of M^-1 at two points; none if they are of two bodies.
    pub fn inverse_at(&self, p: usize, q: usize) -> Option<T> {
        let body = self.body_of[p];
        if self.body_of[q] != body {
            return None;
        }
        let centre = self.bodies[body].0;
        let mass = self.inverse[centre];
        Some(if p == q && p != centre { mass + self.inverse[p] } else { mass })
    }

    /// x <- M^-1 x
    pub fn solve(&self, x: &mut [T]) {
        self.for_each_coordinate(|first, points, at| {
            let mut total = T::zero();
            for k in 0..points {
                total += x[at(first + k)];
            }
            let total = total * self.inverse[first];
            x[at(first)] = total;
            for k in 1..points {
                x[at(first + k)] = total + self.inverse[first + k] * x[at(first + k)];
            }
        });
    }

    /// x <- M x
    pub fn multiply(&self, x: &mut [T]) {
        self.for_each_coordinate(|first, points, at| {
            let centre = x[at(first)];
            let mut total = centre / self.inverse[first];
            for k in 1..points {
                let along = (x[at(first + k)] - centre) / self.inverse[first + k];
                x[at(first + k)] = along;
                total -= along;
            }
            x[at(first)] = total;
        });
    }

    /// Adds the derivatives of x'M^-1 y in masses and moments to `adjoints`, which has their sizes.
    pub(super) fn add_adjoint(&self, x: &[T], y: &[T], adjoints: &mut PointParameters<T>) {
        let mut moments = adjoints.moments.iter_mut();
        for (mass, &(first, points)) in adjoints.masses.iter_mut().zip(&self.bodies) {
            let inverse = self.inverse[first];
            for coordinate in 0..self.dimension {
                let at = |k: usize| (first + k) * self.dimension + coordinate;
                let total = |a: &[T]| (0..points).fold(T::zero(), |sum, k| sum + a[at(k)]);
                *mass -= inverse * inverse * total(x) * total(y);
            }
            for (k, moment) in (1..points).zip(moments.by_ref()) {
                let own = self.inverse[first + k];
                let mut product = T::zero();
                for coordinate in 0..self.dimension {
                    let at = (first + k) * self.dimension + coordinate;
                    product += x[at] * y[at];
                }
                *mass -= own * inverse * product;
                *moment -= own * own / inverse * product;
            }
        }
    }

    /// x <- C x, whose square is x'M^-1 x.
    pub fn whiten(&self, x: &mut [T]) {
        self.for_each_coordinate(|first, points, at| {
            let mut total = x[at(first)];
            for k in 1..points {
                total += x[at(first + k)];
                x[at(first + k)] *= self.root[first + k];
            }
            x[at(first)] = total * self.root[first];
        });
    }

    /// x <- C'x: what is white, as a velocity.
    pub fn colour(&self, x: &mut [T]) {
        self.for_each_coordinate(|first, points, at| {
            let all = x[at(first)] * self.root[first];
            x[at(first)] = all;
            for k in 1..points {
                x[at(first + k)] = all + x[at(first + k)] * self.root[first + k];
            }
        });
    }

    /// Calls `f` for each body and coordinate, with its first point, its points, and where a point's number is.
    fn for_each_coordinate(&self, mut f: impl FnMut(usize, usize, &dyn Fn(usize) -> usize)) {
        for &(first, points) in &self.bodies {
            for k in 0..self.dimension {
                f(first, points, &|point| point * self.dimension + k);
            }
        }
    }
}
