//! A step of soft bodies that touch rigid ones, of both at once.
//!
//! Rigid bodies have velocities and momenta that go with them; a soft body has in each iteration of Newton's method its condensed
//! matrix and the velocities without contact of the vertices that may touch. To the contact problem it is a tree more, so
//! that one problem decides about all. The momentum of rigid bodies is met in each iteration, as the law is, unless their steps are implicit;
//! that of soft bodies converges.

use super::moving_body::{MovingBody, PosedBody};
use super::soft_scene::{SoftBody, SoftScene};
use crate::argmin::Status;
use crate::contact::{Guest, GuestContact, Guests, point_velocity};
use crate::implicit::VertexContact;
use crate::simulation::Host;

/// The solver, with its memory.
#[derive(Debug, Default)]
pub(super) struct MixedStep {
    guests: Guests,
    /// Which bodies touch rigid bodies that move.
    linked: Vec<bool>,
    row: Vec<f64>,
}

impl MixedStep {
    /// Solves the step that all bodies have posed.
    pub fn solve(&mut self, scene: &SoftScene, bodies: &mut [MovingBody], host: &mut Host) {
        self.guests.count = 0;
        self.guests.contacts.clear();
        host.solve(&mut self.guests);
        host.settle(&mut self.guests);
        self.carry(scene, bodies, host);
        self.linked.clear();
        for (body, moving) in scene.bodies.iter().zip(&mut *bodies) {
            let PosedBody { momentum, contacts, step, solver, hosted } = moving.posed(body);
            let mut linked = false;
            if contacts.iter().any(|contact| contact.carrier.is_some()) {
                linked = hosted.begin(&momentum, contacts, step, scene.newton)
                    && step.active().iter().any(|&k| contacts[k].carrier.is_some());
            }
            if !linked {
                solver.solve(&momentum, contacts, step);
                linked = is_pushed(contacts, &step.impulses);
            }
            self.linked.push(linked);
        }
        // In each round but the last a body more turns out to touch what others have moved.
        for _ in 0..=bodies.len() {
            if self.linked.contains(&true) {
                self.iterate(scene, bodies, host);
            }
            // What rigid bodies have been moved to touches others, perhaps.
            let mut more = false;
            for ((body, moving), linked) in
                scene.bodies.iter().zip(&mut *bodies).zip(&mut self.linked)
            {
                let PosedBody { contacts, step, .. } = moving.posed(body);
                let passes = |contact: &VertexContact| {
                    let x = step.position.get(contact.node);
                    contact.carrier.is_some() && x.is_some_and(|x| contact.gap(x) < 0.0)
                };
                if !*linked && contacts.iter().any(passes) {
                    (*linked, more) = (true, true);
                }
            }
            if !more {
                break;
            }
        }
    }

    /// Newton's method on the momenta of the linked bodies.
    fn iterate(&mut self, scene: &SoftScene, bodies: &mut [MovingBody], host: &mut Host) {
        for ((body, moving), linked) in scene.bodies.iter().zip(&mut *bodies).zip(&mut self.linked)
        {
            let PosedBody { momentum, contacts, step, hosted, .. } = moving.posed(body);
            *linked = *linked && hosted.begin(&momentum, contacts, step, scene.newton);
        }
        self.guests.again = false;
        host.begin();
        // Once more where rigid momenta are met, so that derivatives are of what is linearised there.
        let mut met = !host.is_implicit();
        let status = loop {
            if let Err(status) = self.invite(&scene.bodies, bodies) {
                break Err(status);
            }
            host.solve(&mut self.guests);
            self.guests.again = true;
            self.carry(scene, bodies, host);
            let ended = host.has_ended();
            match self.follow(&scene.bodies, bodies) {
                Some(true) if met && ended => break Ok(()),
                Some(_) if host.linearize() => {}
                _ => break Err(Status::Stalled),
            }
            met = ended;
        };
        for ((body, moving), _) in linked(&self.linked, &scene.bodies, bodies) {
            let PosedBody { step, hosted, .. } = moving.posed(body);
            hosted.finish(step, status);
        }
    }

    /// Condenses the linked bodies: they are the guests of the next contact problem.
    fn invite(&mut self, all: &[SoftBody], bodies: &mut [MovingBody]) -> Result<(), Status> {
        let Guests { trees, count, contacts: invited, .. } = &mut self.guests;
        *count = self.linked.iter().filter(|linked| **linked).count();
        if trees.len() < *count {
            trees.resize_with(*count, Guest::default);
        }
        invited.clear();
        for ((body, moving), guest) in linked(&self.linked, all, bodies) {
            let PosedBody { momentum, contacts, step, hosted, .. } = moving.posed(body);
            hosted.condense(&momentum, contacts, step)?;
            let tree = &mut trees[guest];
            tree.mass_factor.clear();
            tree.mass_factor.extend_from_slice(hosted.mass_factor());
            tree.free.clear();
            tree.free.extend_from_slice(hosted.free());
            let rate = momentum.rate();
            let unique = hosted.is_unique(contacts, step.active());
            for (demand, &k) in hosted.demands().iter().zip(step.active()) {
                let carrier = contacts[k].carrier;
                // The plane is where what carries it goes; that is not known before.
                let risen = carrier.map_or(0.0, |carrier| carrier.rise);
                invited.push(GuestContact {
                    guest,
                    place: 3 * demand.place,
                    frame: demand.frame,
                    alone: unique || contacts[k].is_tie,
                    law: contacts[k].law(),
                    carrier: carrier.map(|carrier| (carrier.body, carrier.arm.into())),
                    target: demand.target - risen / momentum.rate(),
                    friction: demand.friction,
                    compliance: demand.compliance,
                    creep: if step.law.is_penalty() {
                        contacts[k].stiffness * rate * rate
                    } else {
                        0.0
                    },
                    impulse: step.impulses[k],
                    ..GuestContact::default()
                });
            }
        }
        // What touches nothing that moves is no guest.
        let is_held = invited.iter().any(|contact| contact.carrier.is_some());
        if is_held { Ok(()) } else { Err(Status::Stalled) }
    }

    /// Takes the solution of the contact problem: whether the search ends with it; nothing if there is no step.
    fn follow(&mut self, all: &[SoftBody], bodies: &mut [MovingBody]) -> Option<bool> {
        let Guests { trees, contacts: invited, report, .. } = &self.guests;
        let mut ended = true;
        for ((body, moving), guest) in linked(&self.linked, all, bodies) {
            let PosedBody { momentum, contacts, step, hosted, .. } = moving.posed(body);
            let own = invited.iter().filter(|contact| contact.guest == guest);
            let outcomes = own.map(|contact| (contact.impulse, contact.mode));
            let solved = (&trees[guest].velocity[..], *report);
            if !hosted.follow(&momentum, step, solved, outcomes) {
                return None;
            }
            ended &= hosted.measure(&momentum, contacts, step).is_some();
        }
        Some(ended)
    }

    /// Moves the planes of all contacts with what carries them.
    fn carry(&mut self, scene: &SoftScene, bodies: &mut [MovingBody], host: &Host) {
        for (body, moving) in scene.bodies.iter().zip(bodies) {
            for contact in moving.posed(body).contacts.iter_mut() {
                let Some(carrier) = contact.carrier else { continue };
                let at = (carrier.body, carrier.arm.into());
                let velocity = point_velocity(host.motion, at, host.velocities(), &mut self.row);
                contact.carry(velocity, scene.time_step);
            }
        }
    }
}

/// The linked ones of all bodies, with their numbers as guests.
fn linked<'a>(
    linked: &'a [bool],
    all: &'a [SoftBody],
    bodies: &'a mut [MovingBody],
) -> impl Iterator<Item = ((&'a SoftBody, &'a mut MovingBody), usize)> {
    let own = all.iter().zip(bodies).zip(linked).filter(|(_, linked)| **linked);
    own.enumerate().map(|(guest, (both, _))| (both, guest))
}

/// Whether what moves pushes.
fn is_pushed(contacts: &[VertexContact], impulses: &[[f64; 3]]) -> bool {
    let both = contacts.iter().zip(impulses);
    both.filter(|(contact, _)| contact.carrier.is_some()).any(|(_, impulse)| *impulse != [0.0; 3])
}
