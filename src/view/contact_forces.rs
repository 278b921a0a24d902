//! The mean forces of contacts between two frames.

use std::collections::BTreeMap;
use std::mem;

use nalgebra::Vector3;

use super::drawing::rounded;
use crate::contact::ContactRecord;
use crate::dynamics::Kinematics;
use crate::model::{Model, Parameters};

/// Digits of forces, relative to each.
const FORCE_DIGITS: i32 = 4;

/// Impulses since a frame, of each contact by pair and feature.
#[derive(Default)]
pub(super) struct ContactForces(BTreeMap<(usize, usize), Impulse>);

/// The impulse of a contact, and where it is.
struct Impulse {
    impulse: Vector3<f64>,
    body: usize,
    /// In the frame of the body, m.
    point: Vector3<f64>,
}

impl ContactForces {
    /// Adds the contacts of a step.
    pub fn add<'b>(
        &mut self,
        model: &Model,
        parameters: &Parameters<f64>,
        contacts: impl Iterator<Item = &'b ContactRecord>,
    ) {
        for contact in contacts {
            let impulse = contact.world_impulse();
            let sides = [1, 0].map(|side| (contact.bodies[side], contact.arms[side]));
            let Some((body, arm)) = sides.into_iter().find_map(|(body, arm)| Some((body?, arm)))
            else {
                continue;
            };
            if impulse == Vector3::zeros() || !impulse.iter().all(|x| x.is_finite()) {
                continue;
            }
            let point = parameters.center_of_mass(model, body) + arm;
            let key = (contact.pair, contact.feature);
            let new = Impulse { impulse: Vector3::zeros(), body, point };
            let sum = self.0.entry(key).or_insert(new);
            (sum.impulse, sum.body, sum.point) = (sum.impulse + impulse, body, point);
        }
    }

    /// The mean forces over the time `elapsed` (s), each as a point and a force in the world, where the bodies are now; and
    /// begins anew. What acts in no time is left out.
    pub fn take(
        &mut self,
        kinematics: &Kinematics<f64>,
        elapsed: f64,
        decimals: i32,
    ) -> Vec<[f64; 6]> {
        let impulses = mem::take(&mut self.0).into_values();
        let arrows = impulses.filter(|_| elapsed > 0.0).map(|Impulse { impulse, body, point }| {
            let point = kinematics.point(body, &point);
            arrow((point.into(), decimals), (impulse / elapsed).into())
        });
        arrows.collect()
    }
}

/// A force at a point, rounded.
pub(super) fn arrow((point, decimals): ([f64; 3], i32), force: [f64; 3]) -> [f64; 6] {
    let size = force.iter().fold(0.0_f64, |most, x| most.max(x.abs())).log10().floor() as i32;
    let digits = (FORCE_DIGITS - 1 - size).clamp(0, 12);
    let [[x, y, z], [fx, fy, fz]] =
        [(point, decimals), (force, digits)].map(|(x, digits)| x.map(|x| rounded(x, digits)));
    [x, y, z, fx, fy, fz]
}
