//! How a contact of a vertex changes with where the vertex is, and where the body that it touches.

use nalgebra::Vector3;

use super::solved_soft_step::SolvedSoftStep;
use crate::implicit::turned_frame;
use crate::linearize::{GuestSlopes, HostedStep};

/// Which contact it is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Touched {
    /// Which guest of the contact problem.
    pub guest: usize,
    /// Which soft body that is, and which of its contacts.
    pub body: usize,
    pub contact: usize,
    /// The block of the contact.
    pub block: usize,
}

/// What changes with displacements of the vertex where the step begins, by their three components: as [`GuestSlopes`] has it for those of
/// the body that is touched.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GuestGeometry {
    pub of: Touched,
    pub node: usize,
    pub rate: f64,
    pub rows: [[f64; 3]; 3],
    pub gap: [f64; 3],
    pub forces: [[f64; 3]; 3],
    pub moments: [[f64; 3]; 3],
    /// Of its compliance by its stiffness, as a velocity.
    pub compliance_slope: f64,
    /// N/m, if it has one.
    pub stiffness: f64,
    /// With the body that is touched, if that moves.
    pub slopes: Option<GuestSlopes>,
}

/// Displacements of the vertex, of the centre of mass of the body, and turns of that.
type Displaced = [Vector3<f64>; 3];

impl GuestGeometry {
    pub fn new(of: Touched, solved: &SolvedSoftStep, rigid: &HostedStep) -> Self {
        let contact = &solved.contacts[of.contact];
        let (node, rate) = (contact.node, solved.momentum.rate());
        let x = Vector3::from(solved.start[node]);
        let normal = Vector3::from(contact.normal);
        let frame = contact.frame().map(Vector3::from);
        let impulse = solved.step.impulses[of.contact];
        let relative = Vector3::from(contact.relative(&solved.step.velocity[node]));
        let force = frame.iter().zip(impulse).fold(Vector3::zeros(), |sum, (row, p)| sum + row * p);
        let mut own = GuestGeometry {
            of,
            node,
            rate,
            compliance_slope: solved.step.compliance_slope(of.contact, contact, rate),
            stiffness: contact.stiffness,
            ..GuestGeometry::default()
        };
        let carrier = contact.carrier.map(|carrier| {
            let pose = &rigid.known.motion.bodies[carrier.body];
            let arm = pose.rotation * Vector3::from(carrier.arm);
            let centre = pose.position + pose.rotation * pose.center_of_mass;
            (carrier.body, arm, centre)
        });
        if let Some((body, arm, _)) = carrier {
            let frame = contact.frame();
            let place = solved.step.place(node);
            let (block, guest) = (of.block, of.guest);
            let slopes = GuestSlopes {
                body,
                block,
                guest,
                place,
                frame,
                arm,
                force,
                ..GuestSlopes::default()
            };
            own.slopes = Some(slopes);
        }
        let spin = match &own.slopes {
            Some(_) => Vector3::from(own.twist(rigid, &[])[1]),
            None => Vector3::zeros(),
        };
        let (arm, centre) = carrier.map_or((Vector3::zeros(), x), |(_, arm, centre)| (arm, centre));
        let far = normal.dot(&(x - centre - arm));
        let change = |[vertex, moved, turn]: Displaced| {
            if contact.is_tie {
                // The point of the body goes with that, and the plane through it does not turn.
                let touched = turn.cross(&arm);
                let along = [-normal.dot(&spin.cross(&touched)), 0.0, 0.0];
                let gap = normal.dot(&(vertex - moved - touched));
                return (along, gap, Vector3::zeros(), force.cross(&touched));
            }
            let nearer = vertex - moved - turn.cross(&(x - centre));
            let turned =
                turn.cross(&normal) + Vector3::from(contact.turning.turned(&nearer.into()));
            let gap = normal.dot(&nearer);
            // Where it is touched, from the vertex on.
            let touched = vertex - normal * gap - turned * far - moved;
            let rows = turned_frame(contact, &turned.into()).map(Vector3::from);
            let along =
                [0, 1, 2].map(|r| rows[r].dot(&relative) - frame[r].dot(&spin.cross(&touched)));
            let pushed =
                rows.iter().zip(impulse).fold(Vector3::zeros(), |sum, (row, p)| sum + row * p);
            let moment = pushed.cross(&arm) + force.cross(&touched);
            (along, gap, pushed, moment)
        };
        let zero = Vector3::zeros();
        for k in 0..3 {
            let unit = Vector3::ith(k, 1.0);
            let (rows, gap, force, moment) = change([unit, zero, zero]);
            own.gap[k] = gap;
            for r in 0..3 {
                own.rows[r][k] = rows[r];
                own.forces[r][k] = force[r];
                own.moments[r][k] = moment[r];
            }
            let Some(slopes) = &mut own.slopes else { continue };
            for (lane, displaced) in [(k, [zero, unit, zero]), (3 + k, [zero, zero, unit])] {
                let (rows, gap, force, moment) = change(displaced);
                slopes.gap[lane] = gap;
                for r in 0..3 {
                    slopes.rows[r][lane] = rows[r];
                    slopes.forces[r][lane] = force[r];
                    slopes.moments[r][lane] = moment[r];
                }
            }
        }
        own
    }

    /// The velocity of the centre of mass of the body that is touched and its angular velocity, at velocities of its tree; of none those at
    /// the end of the step.
    pub fn twist(&self, rigid: &HostedStep, velocities: &[f64]) -> [[f64; 3]; 2] {
        let motion = rigid.known.motion;
        let body = self.slopes.map(|slopes| slopes.body);
        let Some((body, tree)) = body.and_then(|body| Some((body, motion.bodies[body].tree?)))
        else {
            return [[0.0; 3]; 2];
        };
        let end = &rigid.known.contacts.velocities[motion.velocities(tree)];
        let own = if velocities.is_empty() { end } else { velocities };
        let mut row = vec![0.0; own.len()];
        let mut along = |k: usize, turns: bool| {
            row.fill(0.0);
            let axis = Vector3::ith(k, 1.0);
            match turns {
                true => motion.add_turn(body, axis, 1.0, &mut row),
                false => motion.add_row(body, Vector3::zeros(), axis, 1.0, &mut row),
            }
            row.iter().zip(own).map(|(r, v)| r * v).sum::<f64>()
        };
        [false, true].map(|turns| [0, 1, 2].map(|k| along(k, turns)))
    }
}
