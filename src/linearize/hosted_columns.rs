//! What columns by duals do to an island that guests have a part in.
//!
//! Everything that poses the problem runs on duals, but for what guests bring: of their contacts the body that is touched moves, at
//! the same velocities.

use std::ops::Range;

use nalgebra::{Matrix3, Vector3};

use super::column_lanes::{Hosted, LANES, Lanes};
use super::guest_slopes::GuestSlopes;
use super::pose_lanes::along;
use crate::ad::Real;
use crate::argmin::{ContactFactor, Perturbation};
use crate::contact::Twist;
use crate::dynamics::{BodyPose, FreeMotion};
use crate::simulation::{KnownStep, Workspace};

/// Of each column a change of the momenta and conditions of an island.
#[derive(Default)]
pub(super) struct HostedColumns {
    /// Which columns of A, B and C, one after the other.
    pub range: Range<usize>,
    /// What they do at fixed velocities; of momenta what comes of contacts of guests.
    pub perturbation: Perturbation<f64>,
    /// L^-1 of what they do to momenta besides, of all velocities but those of guests.
    pub momenta: Vec<f64>,
    factor: ContactFactor<f64>,
    values: Vec<f64>,
    outputs: Vec<f64>,
    tangents: Vec<f64>,
    touched: TouchedBody,
}

/// A body that guests touch, as a pass displaces it.
#[derive(Default)]
struct TouchedBody {
    /// Which one, if this is of the pass.
    body: Option<usize>,
    /// How the point of the body where its centre of mass is goes, and how it turns.
    moved: [Twist; LANES],
    /// How much faster that point goes and the body turns, at the same velocities of its tree.
    twist: [Twist; LANES],
    /// What forces at that point along the axes of the world, and torques about them, are on velocities.
    rows: [[Vec<Lanes>; 3]; 2],
}

impl HostedColumns {
    /// No island has guests.
    pub fn clear(&mut self) {
        self.range = 0..0;
    }

    /// Takes what a pass of columns poses. False if it is another problem.
    #[must_use]
    pub fn take(
        &mut self,
        (range, pass): (&Range<usize>, &Range<usize>),
        displaced: &Workspace<Lanes>,
        known: KnownStep,
        hosted: Hosted,
        guests: &[GuestSlopes],
    ) -> bool {
        let (island, problem) = hosted;
        let (motion, contacts) = displaced.parts();
        let (own, moved, ..) = contacts.problem(island).solved();
        let (node, _, outputs, _) = problem.solved();
        let (n, rows, blocks) = (own.rows.velocities(), own.rows.rows(), own.rows.blocks().len());
        let columns = range.len();
        if pass.start == range.start {
            self.range = range.clone();
            self.perturbation.fit_whole(node, columns);
            self.momenta.clear();
            self.momenta.resize(n * columns, 0.0);
        }
        let (velocities, impulses) = outputs.split_at(node.rows.velocities());
        if n > velocities.len() || rows > impulses.len() || self.momenta.len() != n * columns {
            return false;
        }
        self.values.clear();
        self.values.extend(moved.iter().map(|x| x.value()));
        self.tangents.clear();
        let (inputs, creep) = moved.split_at(own.input_len().min(moved.len()));
        for lane in 0..LANES {
            self.tangents.extend(inputs.iter().map(|x| x.tangent[lane]));
        }
        self.outputs.clear();
        self.outputs.extend_from_slice(&velocities[..n]);
        self.outputs.extend_from_slice(&impulses[..rows]);
        let (values, outputs, tangents) = (&self.values, &self.outputs, &self.tangents);
        let found = own.perturbed(values, outputs, LANES, tangents, &mut self.factor);
        let first = pass.start - range.start;
        for (to, from, count) in [
            (&mut self.momenta, &found.x, n),
            (&mut self.perturbation.rows, &found.rows, rows),
            (&mut self.perturbation.offsets, &found.offsets, blocks),
            (&mut self.perturbation.limits, &found.limits, blocks),
        ] {
            for (to, from) in to.chunks_exact_mut(columns).zip(from.chunks_exact(LANES)).take(count)
            {
                to[first..][..pass.len()].copy_from_slice(&from[..pass.len()]);
            }
        }
        // Friction by penalty is one of kt dt u: what changes kt dt is what changes u.
        let data = own.data(&self.values);
        for (i, (block, kt)) in own.rows.blocks().iter().zip(creep).enumerate() {
            for r in (1..block.rows).filter(|_| kt.value > 0.0) {
                let slip = block.times(data.row(i, r), &velocities[..n]);
                let rows = &mut self.perturbation.rows[(block.first + r) * columns + first..];
                for (lane, to) in rows.iter_mut().take(pass.len()).enumerate() {
                    *to += kt.tangent[lane] / kt.value * slip;
                }
            }
        }
        self.touched.body = None;
        for guest in guests {
            self.guest((first, pass.len()), motion, known, hosted, guest);
        }
        true
    }

    /// A contact of a guest, where the body that it touches is displaced.
    fn guest(
        &mut self,
        (first, count): (usize, usize),
        motion: &FreeMotion<Lanes>,
        known: KnownStep,
        (island, problem): Hosted,
        guest: &GuestSlopes,
    ) {
        let (body, columns) = (guest.body, self.perturbation.columns);
        let Some(tree) = motion.bodies[body].tree else { return };
        let Some(place) = island.trees.iter().position(|&own| own == tree) else { return };
        let (node, _, outputs, _) = problem.solved();
        let tree_rows = node.rows.tree(place);
        if self.touched.body != Some(body) {
            self.touched.update(body, motion, known, &outputs[tree_rows.clone()]);
        }
        let TouchedBody { moved, twist, rows, .. } = &self.touched;
        let block = &node.rows.blocks()[guest.block];
        let own = node.rows.tree(island.trees.len() + guest.guest).start + guest.place;
        let dt = known.motion.duration(tree);
        let moment = guest.force.cross(&guest.arm);
        let Perturbation { x, rows: along_rows, offsets, .. } = &mut self.perturbation;
        for lane in 0..count {
            let (c, moved, twist) = (first + lane, &moved[lane], &twist[lane]);
            let carried = twist.linear + twist.angular.cross(&guest.arm);
            for r in 0..block.rows {
                let direction = Vector3::from(guest.frame[r]);
                along_rows[(block.first + r) * columns + c] +=
                    along(&guest.rows[r], moved) - direction.dot(&carried);
            }
            offsets[guest.block * columns + c] += along(&guest.gap, moved) / dt;
            for k in 0..3 {
                let (force, turning) =
                    (along(&guest.forces[k], moved), along(&guest.moments[k], moved));
                x[(own + k) * columns + c] += force;
                for (j, i) in tree_rows.clone().enumerate() {
                    let [linear, angular] = [0, 1].map(|turns| rows[turns][k][j]);
                    x[i * columns + c] += angular.value() * turning - linear.value() * force
                        + angular.tangent[lane] * moment[k]
                        - linear.tangent[lane] * guest.force[k];
                }
            }
        }
    }
}

impl TouchedBody {
    /// Takes a body whose tree has these velocities.
    fn update(
        &mut self,
        body: usize,
        motion: &FreeMotion<Lanes>,
        known: KnownStep,
        velocities: &[f64],
    ) {
        let (pose, nominal) = (&motion.bodies[body], &known.motion.bodies[body]);
        self.body = Some(body);
        self.moved = displacements(pose, nominal);
        // Of the point where its centre of mass is now, wherever that goes.
        let arm = nominal.center_of_mass.map(Lanes::constant) - pose.center_of_mass;
        for (turns, rows) in [false, true].into_iter().zip(&mut self.rows) {
            for (k, row) in rows.iter_mut().enumerate() {
                let direction = Vector3::ith(k, Lanes::constant(1.0));
                row.clear();
                row.resize(velocities.len(), Lanes::constant(0.0));
                match turns {
                    true => motion.add_turn(body, direction, 1.0, row),
                    false => motion.add_row(body, arm, direction, 1.0, row),
                }
                for (lane, twist) in self.twist.iter_mut().enumerate() {
                    let to = if turns { &mut twist.angular } else { &mut twist.linear };
                    to[k] = row.iter().zip(velocities).map(|(r, v)| r.tangent[lane] * v).sum();
                }
            }
        }
    }
}

/// How the point of a body where its centre of mass is goes, and how it turns, in each lane, in the world (m, rad).
fn displacements(pose: &BodyPose<Lanes>, nominal: &BodyPose<f64>) -> [Twist; LANES] {
    let point = pose.position + pose.rotation * nominal.center_of_mass.map(Lanes::constant);
    std::array::from_fn(|lane| {
        let change: Matrix3<f64> = pose.rotation.map(|x| x.tangent[lane]);
        let turn = change * nominal.rotation.transpose();
        let angular = Vector3::new(
            turn[(2, 1)] - turn[(1, 2)],
            turn[(0, 2)] - turn[(2, 0)],
            turn[(1, 0)] - turn[(0, 1)],
        ) * 0.5;
        Twist { linear: point.map(|x| x.tangent[lane]), angular }
    })
}
