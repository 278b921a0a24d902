//! Which unknowns give way, and by how much.

use super::super::compliant_rows::Yielding;
use super::super::problem::ContactData;
use super::{ContactModes, Kind, Unknown};
use crate::ad::Real;

/// The parts D = s / (s + R g) of slides that lose too many digits, 1e-15 / D was seen, where they are added to what
/// impulses move. If they are still less they have few themselves.
const CREEPS: std::ops::Range<f64> = 1e-9..1e-5;

impl<T: Real> ContactModes<T> {
    /// The unknowns that give way: normals with a compliance, and friction that turns with hardly a slip. Impulses `lambda`,
    /// contact velocities `u`.
    pub fn yielding<'a>(
        &'a self,
        data: &'a ContactData<T>,
        lambda: &'a [T],
        u: &'a [T],
    ) -> impl Iterator<Item = Yielding<T>> + 'a {
        let diagonal = &self.matrix.diagonal;
        let gives = |(k, unknown): (usize, &Unknown)| {
            let i = unknown.block;
            match unknown.kind {
                Kind::Normal if !data.is_rigid(i) => {
                    Some(Yielding { unknown: k, compliance: diagonal[k], turns: None })
                }
                Kind::Slide if CREEPS.contains(&diagonal[k].value()) => {
                    let (d, u) = (self.direction[i], &u[unknown.first..]);
                    let slip = -(d[0] * u[1] + d[1] * u[2]);
                    let compliance = slip / (self.limit[i] * lambda[unknown.first]);
                    let turns = Some(self.weight[i]);
                    (compliance.value() > 0.0).then_some(Yielding { unknown: k, compliance, turns })
                }
                _ => None,
            }
        };
        self.unknowns.iter().enumerate().filter_map(gives)
    }
}
