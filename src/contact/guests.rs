//! Guests of the contact problems of a step: what touches rigid bodies and is none, such as the vertices of a soft body, whose masses
//! and velocities without contact are found elsewhere.
//!
//! A guest is one more tree of its problem, after those of the rigid bodies, and its contacts are blocks after theirs. What
//! guests touch is one island with them.

use nalgebra::Vector3;

use super::contact_problem::{ContactProblem, Posed};
use super::islands::Island;
use crate::argmin::{CoupledContact, Law, Mode, Report};
use crate::dynamics::FreeMotion;

/// The velocities of a guest.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guest {
    /// L with M = L L', row-major and lower triangular.
    pub mass_factor: Vec<f64>,
    /// Velocities without contact (m/s).
    pub free: Vec<f64>,
    /// Those at the solution.
    pub velocity: Vec<f64>,
}

/// A point of a guest that touches, or is tied.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GuestContact {
    /// Which guest, and the first of three velocities of it that are those of the point in the world.
    pub guest: usize,
    pub place: usize,
    /// What its rows demand.
    pub law: Law,
    /// The normal, out of what it touches, and two tangents; of a tie only the first counts.
    pub frame: [[f64; 3]; 3],
    /// The body that it touches, and where, from its centre of mass, in it (m); nothing if that does not move.
    pub carrier: Option<(usize, Vector3<f64>)>,
    /// Whether it is the only contact of its point.
    pub alone: bool,
    /// The least velocity along the normal, of the point from what it touches (m/s).
    pub target: f64,
    /// Coefficient of friction.
    pub friction: f64,
    /// How much more velocity along the normal an impulse takes (1/kg).
    pub compliance: f64,
    /// How much friction by penalty has for each unit of slip (kg); of no penalty nothing.
    pub creep: f64,
    /// The impulse on the guest along the frame (N s): where the search starts, and then what it was.
    pub impulse: [f64; 3],
    /// What it did.
    pub mode: Mode,
}

/// All guests of a step.
#[derive(Debug, Default)]
pub(crate) struct Guests {
    /// Those of the first [`count`](Self::count).
    pub trees: Vec<Guest>,
    pub count: usize,
    pub contacts: Vec<GuestContact>,
    /// Whether the problem is like one before in the same step.
    pub again: bool,
    /// How the problem was solved.
    pub report: Report,
    /// A node to build in.
    node: CoupledContact,
    inputs: Vec<f64>,
}

impl Guests {
    /// The trees of bodies that guests touch.
    pub(super) fn links<'a>(
        &'a self,
        motion: &'a FreeMotion<f64>,
    ) -> impl Iterator<Item = usize> + 'a {
        self.contacts.iter().filter_map(|contact| motion.bodies[contact.carrier?.0].tree)
    }
}

/// The velocity of a point of a body (m/s), `arm` from its centre of mass in it (m), at some velocities of all trees.
pub(crate) fn point_velocity(
    motion: &FreeMotion<f64>,
    (body, arm): (usize, Vector3<f64>),
    velocities: &[f64],
    row: &mut Vec<f64>,
) -> [f64; 3] {
    let Some(tree) = motion.bodies[body].tree else { return [0.0; 3] };
    let values = &velocities[motion.velocities(tree)];
    [0, 1, 2].map(|k| {
        row.clear();
        row.resize(values.len(), 0.0);
        motion.add_row(body, arm, Vector3::ith(k, 1.0), 1.0, row);
        row.iter().zip(values).map(|(r, v)| r * v).sum()
    })
}

impl ContactProblem<f64> {
    /// Solves the problem of an island with guests.
    pub(super) fn solve_with(&mut self, posed: &Posed<f64>, island: &Island, guests: &mut Guests) {
        self.pose(posed, island);
        self.admit(posed, island, guests);
        let rows = |contact: &GuestContact| contact.law.rows();
        let start = guests.contacts.iter();
        let start = start.flat_map(|own| own.impulse.into_iter().take(rows(own)));
        self.solve_from(posed, island, (start, guests.again));
        let (own, contacts) = (island.trees.len(), &mut guests.contacts);
        let (node, _, outputs, solution) = self.solved();
        let (velocities, impulses) = outputs.split_at(node.rows.velocities());
        for (k, guest) in guests.trees[..guests.count].iter_mut().enumerate() {
            guest.velocity.clear();
            guest.velocity.extend_from_slice(&velocities[node.rows.tree(own + k)]);
        }
        let first = node.rows.blocks().len() - contacts.len();
        let blocks = node.rows.blocks()[first..].iter().zip(&solution.modes[first..]);
        for (contact, (block, &mode)) in contacts.iter_mut().zip(blocks) {
            contact.impulse = [0.0; 3];
            contact.impulse[..block.rows].copy_from_slice(&impulses[block.range()]);
            contact.mode = mode;
        }
        guests.report = solution.report;
    }

    /// Takes guests into the problem that was posed: trees and blocks after its own.
    fn admit(&mut self, posed: &Posed<f64>, island: &Island, guests: &mut Guests) {
        let motion = posed.motion;
        let Guests { trees, count, contacts, node, inputs, .. } = guests;
        let trees = &trees[..*count];
        let (own, own_inputs, ..) = self.solved();
        let data = own.data(own_inputs);
        node.clear();
        (node.tolerance, node.method, node.keep) = (own.tolerance, own.method, own.keep);
        for tree in 0..own.rows.trees() {
            node.rows.add_tree(own.rows.tree(tree).len());
        }
        let first = node.rows.trees();
        trees.iter().for_each(|guest| {
            node.rows.add_tree(guest.free.len());
        });
        for (k, (block, &law)) in own.rows.blocks().iter().zip(&own.laws).enumerate() {
            match block.normal == k {
                true => node.add(law, block.trees),
                false => node.add_couple(block.normal),
            }
        }
        inputs.clear();
        inputs.extend_from_slice(data.jacobian);
        for contact in contacts.iter() {
            let guest = first + contact.guest;
            let carrier = contact.carrier.and_then(|(body, arm)| {
                let tree = motion.bodies[body].tree?;
                Some((body, arm, island.place(tree)))
            });
            node.add(contact.law, [carrier.map_or(guest, |(.., place)| place), guest]);
            if contact.alone {
                node.rows.set_alone();
            }
            let width = trees[contact.guest].free.len();
            for direction in &contact.frame[..contact.law.rows()] {
                if let Some((body, arm, place)) = carrier {
                    let start = inputs.len();
                    inputs.resize(start + own.rows.tree(place).len(), 0.0);
                    let direction = Vector3::from(*direction);
                    motion.add_row(body, arm, direction, -1.0, &mut inputs[start..]);
                }
                let start = inputs.len();
                inputs.resize(start + width, 0.0);
                inputs[start + contact.place..][..3].copy_from_slice(direction);
            }
        }
        inputs.extend_from_slice(data.mass_factor);
        trees.iter().for_each(|guest| inputs.extend_from_slice(&guest.mass_factor));
        inputs.extend_from_slice(data.free);
        trees.iter().for_each(|guest| inputs.extend_from_slice(&guest.free));
        inputs.extend_from_slice(data.target);
        inputs.extend(contacts.iter().map(|contact| contact.target));
        inputs.extend_from_slice(data.limit);
        inputs.extend(contacts.iter().map(|contact| contact.friction));
        inputs.extend_from_slice(data.compliance);
        inputs.extend(contacts.iter().map(|contact| contact.compliance));
        if posed.system.settings.solver.is_penalty() {
            inputs.extend_from_slice(&own_inputs[own.input_len()..]);
            inputs.extend(contacts.iter().map(|contact| contact.creep));
        }
        if !own.rest.is_empty() {
            node.rest.extend_from_slice(&own.rest);
            // Guests see to theirs.
            node.rest.resize(node.rows.squares(), 0.0);
        }
        self.exchange(node, inputs);
    }
}
