//! The data of the coupled contact problem, and its Delassus matrix.

use crate::ad::Real;
use crate::linalg::{dot, solve_lower};

/// A view of the inputs of [`CoupledContact`](super::CoupledContact).
#[derive(Clone, Copy)]
pub(crate) struct ContactData<'a, T> {
    pub contacts: usize,
    pub velocities: usize,
    /// J, 3 contacts x velocities: rows normal, tangent 1, tangent 2 of each contact.
    pub jacobian: &'a [T],
    /// L, velocities x velocities, M = L L'.
    pub mass_factor: &'a [T],
    /// v_p
    pub free: &'a [T],
    /// Least normal velocity of each contact.
    pub target: &'a [T],
    pub mu: &'a [T],
    pub compliance: &'a [T],
}

/// Where each input begins; the lengths follow from the two sizes.
pub(super) struct Layout {
    pub jacobian: usize,
    pub mass_factor: usize,
    pub free: usize,
    pub target: usize,
    pub mu: usize,
    pub compliance: usize,
    pub end: usize,
}

impl Layout {
    pub fn new(contacts: usize, velocities: usize) -> Self {
        let mass_factor = 3 * contacts * velocities;
        let free = mass_factor + velocities * velocities;
        let target = free + velocities;
        let mu = target + contacts;
        let compliance = mu + contacts;
        Layout {
            jacobian: 0,
            mass_factor,
            free,
            target,
            mu,
            compliance,
            end: compliance + contacts,
        }
    }
}

impl<'a, T: Real> ContactData<'a, T> {
    pub fn new(contacts: usize, velocities: usize, inputs: &'a [T]) -> Self {
        let at = Layout::new(contacts, velocities);
        ContactData {
            contacts,
            velocities,
            jacobian: &inputs[at.jacobian..at.mass_factor],
            mass_factor: &inputs[at.mass_factor..at.free],
            free: &inputs[at.free..at.target],
            target: &inputs[at.target..at.mu],
            mu: &inputs[at.mu..at.compliance],
            compliance: &inputs[at.compliance..at.end],
        }
    }

    /// Row `r` of J.
    pub fn row(&self, r: usize) -> &'a [T] {
        &self.jacobian[r * self.velocities..(r + 1) * self.velocities]
    }

    /// Whether no contact is compliant, so that normal impulses may not be unique.
    pub fn is_rigid(&self) -> bool {
        self.compliance.iter().all(|c| c.value() == 0.0)
    }

    /// Whether a solution may be looked for.
    pub fn is_admissible(&self) -> bool {
        let finite = |x: &[T]| x.iter().all(|x| x.value().is_finite());
        let nonnegative = |x: &[T]| x.iter().all(|x| x.value() >= 0.0 && x.value().is_finite());
        finite(self.jacobian)
            && finite(self.mass_factor)
            && finite(self.free)
            && finite(self.target)
            && nonnegative(self.mu)
            && nonnegative(self.compliance)
            && (0..self.velocities).all(|i| self.mass_factor[i * self.velocities + i].value() > 0.0)
    }
}

/// The contact-space view of the problem: contact velocities are `u = G lambda + b`.
#[derive(Clone, Debug, Default)]
pub(super) struct Delassus<T> {
    /// W = J L^-T, so that G = W W'.
    pub w: Vec<T>,
    /// G = J M^-1 J'   [LeLidec21] (5)
    pub g: Vec<T>,
    /// b = J v_p, less the target in the normal rows.
    pub b: Vec<T>,
}

impl<T: Real> Delassus<T> {
    pub fn assemble(&mut self, data: &ContactData<T>) {
        let (n, nv) = (3 * data.contacts, data.velocities);
        self.w.clear();
        self.w.extend_from_slice(data.jacobian);
        for r in 0..n {
            solve_lower(data.mass_factor, nv, &mut self.w[r * nv..(r + 1) * nv]);
        }
        self.g.clear();
        self.g.resize(n * n, T::zero());
        for r in 0..n {
            for c in 0..=r {
                let g = dot(&self.w[r * nv..(r + 1) * nv], &self.w[c * nv..(c + 1) * nv]);
                self.g[r * n + c] = g;
                self.g[c * n + r] = g;
            }
        }
        self.b.clear();
        self.b.extend((0..n).map(|r| dot(data.row(r), data.free)));
        for i in 0..data.contacts {
            self.b[3 * i] -= data.target[i];
        }
    }

    /// u <- G lambda + b
    pub fn velocity(&self, lambda: &[T], u: &mut [T]) {
        let n = lambda.len();
        for (r, u) in u.iter_mut().enumerate() {
            *u = self.b[r] + dot(&self.g[r * n..(r + 1) * n], lambda);
        }
    }

    /// Mean of the tangential diagonal of contact `i`.
    pub fn tangential_scale(&self, i: usize) -> f64 {
        let n = self.b.len();
        let at = |r: usize| self.g[r * n + r].value();
        0.5 * (at(3 * i + 1) + at(3 * i + 2))
    }

    /// Diagonal of the normal row of contact `i`.
    pub fn normal_scale(&self, i: usize) -> f64 {
        self.g[3 * i * self.b.len() + 3 * i].value()
    }

    /// Mean diagonal of the normal rows.
    pub fn mean_normal_scale(&self) -> f64 {
        let contacts = self.b.len() / 3;
        (0..contacts).map(|i| self.normal_scale(i)).sum::<f64>() / contacts.max(1) as f64
    }

    /// The largest contact velocity without impulses: what residuals are relative to.
    pub fn velocity_scale(&self) -> f64 {
        self.b.iter().map(|b| b.value().abs()).fold(0.0, f64::max)
    }
}
