//! Contact by penalty: forces that depend on where a vertex is and how it moves, after `Geilinger20` 4.2 and (21).
//!
//! The forces are written once, in any scalar; their derivatives are those of dual numbers.

use super::vertex_contact::VertexContact;
use super::vertex_law::VertexLaw;
use crate::ad::{Dual, Real};
use crate::argmin::{Mode, RegularizedFriction};
use crate::fem::{Matrix3, Vector3};
use crate::linalg::dot;

/// Within this part of a step from the surface damping (21) comes in, which jumps there in the paper: a step may begin so
/// that no velocity solves it then.
const LAYER: f64 = 1e-3;

/// Directions of dual numbers: gap, velocity, the three numbers of a contact, and its normal.
const DIRECTIONS: usize = 10;

/// Contacts by penalty.
#[derive(Clone, Copy, Debug)]
pub struct Penalty<'a, T> {
    /// The law; of one that is no penalty there are no forces.
    pub law: VertexLaw,
    /// The contacts.
    pub contacts: &'a [VertexContact<T>],
}

/// How the force of a contact changes.
pub(super) struct Slopes {
    /// In x (N/m): row i is that of f_i.
    pub place: Matrix3<f64>,
    /// In v (N s/m)
    pub velocity: Matrix3<f64>,
    /// In friction, stiffness and damping.
    pub numbers: [Vector3<f64>; 3],
    /// In the gap (N/m).
    pub gap: Vector3<f64>,
    /// In the normal (N), at the same gap.
    pub normal: Matrix3<f64>,
}

impl<T: Real> VertexContact<T> {
    /// The force (N) of a penalty on the vertex in a step of this `rate` (s), at this gap (m) and with v; none where it does
    /// not touch.
    pub fn penalty_force(
        &self,
        law: VertexLaw,
        rate: f64,
        gap: T,
        v: &Vector3<T>,
    ) -> Option<Vector3<T>> {
        let depth = -gap;
        if !law.is_penalty() || depth.value() <= 0.0 {
            return None;
        }
        let n = self.normal;
        let v = [0, 1, 2].map(|k| v[k] - T::constant(self.surface[k]));
        let leaving = v[0] * n[0] + v[1] * n[1] + v[2] * n[2];
        let slip = [0, 1, 2].map(|k| v[k] - leaving * n[k]);
        let spring = self.stiffness * depth;
        let kt = self.stiffness * rate;
        let slip_squared = slip[0] * slip[0] + slip[1] * slip[1] + slip[2] * slip[2];
        let friction = match law {
            VertexLaw::PenaltyTanh => RegularizedFriction::Tanh,
            _ => RegularizedFriction::Linear,
        };
        let phi = friction.coefficient(kt, self.friction * spring, slip_squared);
        let most = depth / (LAYER * rate);
        let damped = if leaving.value().abs() <= most.value() {
            leaving
        } else if leaving.value() > 0.0 {
            most
        } else {
            -most
        };
        let normal = spring - self.damping * damped;
        Some([0, 1, 2].map(|k| normal * n[k] - phi * slip[k]))
    }
}

impl VertexContact {
    /// What the vertex does where a penalty is what holds it.
    pub(super) fn penalty_mode(&self, rate: f64, gap: f64, v: &[f64; 3]) -> Mode {
        let depth = -gap;
        if depth <= 0.0 {
            return Mode::Break;
        }
        let [_, first, second] = self.frame();
        let v = self.relative(v);
        let slip = dot(&first, &v).hypot(dot(&second, &v));
        if rate * slip > self.friction * depth { Mode::Slide } else { Mode::Stick }
    }

    /// The slopes of the force of a penalty.
    pub(super) fn penalty_slopes(
        &self,
        law: VertexLaw,
        rate: f64,
        gap: f64,
        v: &[f64; 3],
    ) -> Option<Slopes> {
        type Scalar = Dual<f64, DIRECTIONS>;
        let variable = |x: f64, k: usize| Scalar::variable(x, k);
        let contact = VertexContact {
            node: self.node,
            normal: [0, 1, 2].map(|k| variable(self.normal[k], 7 + k)),
            offset: Scalar::constant(self.offset),
            surface: self.surface,
            turning: self.turning,
            carrier: self.carrier,
            is_tie: self.is_tie,
            friction: variable(self.friction, 4),
            stiffness: variable(self.stiffness, 5),
            damping: variable(self.damping, 6),
        };
        let v = [0, 1, 2].map(|k| variable(v[k], 1 + k));
        let force = contact.penalty_force(law, rate, variable(gap, 0), &v)?;
        let along = |k: usize| force.map(|f| f.tangent[k]);
        let pressed = along(0);
        let rows = |columns: [usize; 3]| {
            let columns = columns.map(along);
            [0, 1, 2].map(|i| columns.map(|column| column[i]))
        };
        Some(Slopes {
            place: pressed.map(|f| self.normal.map(|n| f * n)),
            velocity: rows([1, 2, 3]),
            numbers: [4, 5, 6].map(along),
            gap: pressed,
            normal: rows([7, 8, 9]),
        })
    }
}
