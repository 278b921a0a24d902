//! The conditions of the smoothed contact problem, block by block.

use std::ops::Range;

use crate::ad::Real;
use crate::argmin::block_rows::BlockRows;
use crate::argmin::contact::law::{Law, Mode, Support};
use crate::argmin::contact::problem::{ContactData, Layout, is_admissible};
use crate::argmin::contact::regularized_friction::RegularizedFriction;
use crate::linalg::norm;

/// What takes the place of complementarity and of the friction cone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Relaxation {
    /// The product kappa, J; positive.
    Product(f64),
    /// Friction by penalty, of contacts that yield: the exact law along their normals.
    Penalty(RegularizedFriction),
}

impl Default for Relaxation {
    fn default() -> Self {
        Relaxation::Product(0.0)
    }
}

impl Relaxation {
    /// kappa.
    pub(super) fn product(self) -> f64 {
        match self {
            Relaxation::Product(kappa) => kappa,
            Relaxation::Penalty(_) => 0.0,
        }
    }

    /// Whether there is such a problem.
    fn is_admissible(self) -> bool {
        matches!(self, Relaxation::Penalty(_)) || self.product() > 0.0 && self.product().is_finite()
    }
}

/// The smoothed problem as a node. Inputs as those of [`CoupledContact`](crate::argmin::CoupledContact), of penalties then kt dt of each
/// block (kg; of others than contacts unused); outputs: v+, lambda, then psi of each block by Coulomb's law (m/s; of penalties 0).
#[derive(Debug, Default)]
pub struct SmoothedContact {
    /// As there.
    pub rows: BlockRows,
    /// As there; cones are taken as Coulomb's law.
    pub laws: Vec<Law>,
    /// Residual of the conditions, relative to the largest impulse that stops a contact, at which the problem
    /// counts as solved.
    pub tolerance: f64,
    /// What it is smoothed by.
    pub relaxation: Relaxation,
    /// As there.
    pub rest: Vec<f64>,
}

// By hand: the derived `clone_from` drops the memory it has.
impl Clone for SmoothedContact {
    fn clone(&self) -> Self {
        let mut clone = SmoothedContact::default();
        clone.clone_from(self);
        clone
    }

    fn clone_from(&mut self, other: &Self) {
        self.rows.clone_from(&other.rows);
        self.laws.clone_from(&other.laws);
        (self.tolerance, self.relaxation) = (other.tolerance, other.relaxation);
        self.rest.clone_from(&other.rest);
    }
}

/// Compliance of equations, relative to the scale of their row.
pub(super) const GIVE: f64 = 1e-9;

impl SmoothedContact {
    /// How many outputs there are.
    pub fn output_len(&self) -> usize {
        self.rows.velocities() + self.unknowns()
    }

    pub(super) fn cones(&self) -> usize {
        self.laws.iter().filter(|law| law.rows() == 3).count()
    }

    pub(super) fn unknowns(&self) -> usize {
        self.rows.rows() + self.cones()
    }

    pub(crate) fn data<'a, T: Real>(&'a self, inputs: &'a [T]) -> ContactData<'a, T> {
        ContactData::new(&self.rows, &self.laws, inputs)
    }

    /// kt dt of each block; nothing where friction is no penalty.
    pub(super) fn creep<'a, T: Real>(&self, inputs: &'a [T]) -> &'a [T] {
        &inputs[Layout::new(&self.rows).end..]
    }

    /// Where these are among the inputs.
    pub(crate) fn creep_range(&self) -> Range<usize> {
        let end = Layout::new(&self.rows).end;
        let blocks = self.rows.blocks().len();
        match self.relaxation {
            Relaxation::Penalty(_) => end..end + blocks,
            Relaxation::Product(_) => end..end,
        }
    }

    pub(super) fn is_admissible(&self, inputs: &[f64]) -> bool {
        let creep = self.creep_range();
        if inputs.len() != creep.end || !self.relaxation.is_admissible() {
            return false;
        }
        let creeps = |(law, &kt): (&Law, &f64)| {
            law.rows() != 3 || kt >= 0.0 && kt.is_finite() && law.support() == Support::Unilateral
        };
        is_admissible(&self.rows, &self.laws, &inputs[..creep.start])
            && self.laws.iter().zip(&inputs[creep]).all(creeps)
    }

    /// v+ under the impulses that `z` begins with.
    pub(super) fn velocities<T: Real>(&self, data: &ContactData<T>, z: &[T], velocity: &mut [T]) {
        self.rows.transpose_times(data.jacobian, &z[..self.rows.rows()], velocity);
        data.solve_mass(velocity);
        for (v, &free) in velocity.iter_mut().zip(data.free) {
            *v += free;
        }
    }

    /// Where the limits are among the inputs.
    pub(crate) fn limits(&self) -> Range<usize> {
        let at = Layout::new(&self.rows);
        at.limit..at.compliance
    }

    /// What limits and dry friction give, relative to the scale of their row.
    pub(super) fn give(&self, rows: usize) -> f64 {
        let is_penalty = matches!(self.relaxation, Relaxation::Penalty(_));
        if is_penalty && rows == 1 { GIVE } else { 0.0 }
    }

    /// The conditions of all blocks at impulses and bounds `z` and velocities `u(block, row)` along the rows.
    pub(super) fn conditions<T: Real>(
        &self,
        (data, creep): (&ContactData<T>, &[T]),
        (stage, scales): (Stage, &[f64]),
        (z, u): (&[T], impl Fn(usize, usize) -> T),
        h: &mut [T],
    ) {
        let mut cone = self.rows.rows();
        for (i, block) in data.blocks().iter().enumerate() {
            let (first, scale) = (block.first, scales[i]);
            let product = stage.kappa * scale;
            let slack = u(i, 0) - data.target[i] + data.compliance[i] * z[first];
            // By penalties nothing else makes them unique.
            let give = self.give(block.rows);
            let slack = slack + z[first] * (give / scale);
            match self.laws[i].support() {
                Support::Bilateral => {
                    h[first] = slack * scale + z[first] * (GIVE - give);
                }
                Support::Limited => {
                    let x = z[first] - slack * scale;
                    let (low, high) = (x + data.limit[i], x - data.limit[i]);
                    h[first] = z[first] - (root(low, product) - root(high, product)) * 0.5;
                }
                support => {
                    let x = z[first] - slack * scale;
                    h[first] = z[first]
                        - match support {
                            Support::Borrowed => z[data.blocks()[block.normal].first],
                            Support::Given => T::one(),
                            _ => (x + root(x, product)) * 0.5,
                        };
                    if block.rows == 1 {
                        continue;
                    }
                    let (t, psi) = ([z[first + 1], z[first + 2]], z[cone]);
                    if let Relaxation::Penalty(friction) = self.relaxation {
                        let slip = [1, 2].map(|r| u(i, r));
                        let square = slip[0] * slip[0] + slip[1] * slip[1];
                        let limit = data.limit[i] * z[first];
                        let phi = friction.coefficient(creep[i] * stage.share, limit, square);
                        h[cone] = psi * scale;
                        (0..2).for_each(|k| h[first + 1 + k] = t[k] + phi * slip[k]);
                    } else if data.limit[i].value() > 0.0 {
                        let radius = data.limit[i] * z[first];
                        let x = radius - psi * scale;
                        let y = [0, 1].map(|k| t[k] - u(i, 1 + k) * scale);
                        let (center, along) = projected(x, y, product);
                        h[cone] = radius - center;
                        for k in 0..2 {
                            h[first + 1 + k] = t[k] - y[k] * along;
                        }
                    } else {
                        (h[cone], h[first + 1], h[first + 2]) = (psi * scale, t[0], t[1]);
                    }
                    cone += 1;
                }
            }
        }
    }

    /// What each block does most of; of penalties also how far from another mode one is, as a part of `impulse`.
    pub(super) fn modes(
        &self,
        (data, creep): (&ContactData<f64>, &[f64]),
        (scales, impulse): (&[f64], f64),
        (z, u): (&[f64], &[f64]),
        modes: &mut Vec<Mode>,
    ) -> f64 {
        let mut cone = self.rows.rows();
        let mut margin = f64::INFINITY;
        let penalty = match self.relaxation {
            Relaxation::Penalty(friction) => Some(friction),
            Relaxation::Product(_) => None,
        };
        let mode = |(i, law): (usize, &Law)| {
            let first = data.blocks()[i].first;
            let slack = u[first] - data.target[i] + data.compliance[i] * z[first];
            let three = law.rows() == 3;
            cone += usize::from(three);
            let mut kink = |distance: f64| {
                if penalty.is_some() && impulse > 0.0 {
                    margin = margin.min(distance.abs() / impulse);
                }
            };
            if law.support() == Support::Limited {
                let free = data.limit[i] - z[first].abs();
                kink(free - u[first].abs() * scales[i]);
                return if free < u[first].abs() * scales[i] { Mode::Slide } else { Mode::Stick };
            }
            if law.is_one_sided() {
                kink(z[first] - slack * scales[i]);
            }
            if law.is_one_sided() && z[first] < slack * scales[i] {
                return Mode::Break;
            }
            if let Some(friction) = penalty.filter(|_| three) {
                let free = data.limit[i] * z[first] - creep[i] * norm(&u[first + 1..first + 3]);
                // The other goes over smoothly.
                if friction == RegularizedFriction::Linear {
                    kink(free);
                }
                return if free < 0.0 { Mode::Slide } else { Mode::Stick };
            }
            let friction = norm(&z[first..first + law.rows()][1..]);
            let free = data.limit[i] * z[first] - friction;
            match three && free < z[cone - 1] * scales[i] {
                true => Mode::Slide,
                false => Mode::Stick,
            }
        };
        modes.clear();
        modes.extend(self.laws.iter().enumerate().map(mode));
        margin
    }
}

/// A kappa, and the part of the stiffness of friction by penalty.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stage {
    pub kappa: f64,
    pub share: f64,
}

/// sqrt(x^2 + 4 product)
pub(super) fn root<T: Real>(x: T, product: f64) -> T {
    if product == 0.0 {
        return if x.value() < 0.0 { -x } else { x };
    }
    (x * x + 4.0 * product).sqrt()
}

/// The smoothed projection of (x, y) onto the second-order cone: its first number, and by what y is multiplied.
fn projected<T: Real>(x: T, y: [T; 2], product: f64) -> (T, T) {
    let r = norm(&y);
    let sum = root(x + r, product) + root(x - r, product);
    // (root(x + r) - root(x - r)) / 4 r, without the division by r.
    (x * 0.5 + sum * 0.25, x / sum + T::constant(0.5))
}
