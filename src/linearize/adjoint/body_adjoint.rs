//! Bodies backwards: what all constraints of an island make of the motions of a body and of its pose, carried on to its
//! tree, where velocities held fixed turn with the bodies.

use nalgebra::Vector3;

use super::parts::{Adjoints, IslandAdjoint};
use crate::contact::Twist;
use crate::dynamics::FreeBodyAdjoint;
use crate::linearize::contact_side::center;
use crate::model::Model;
use crate::spatial::{Force, Motion};

/// Motions that are held for all points of an island: v+, a, y, and the velocities at the start.
pub(super) const HELD: usize = 4;
pub(super) const END: usize = 0;
pub(super) const MOMENTA: usize = 1;
pub(super) const SHARES: usize = 2;
pub(super) const START: usize = 3;

/// What the points on a body add up to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BodyAdjoint {
    touched: bool,
    /// How the body moves under the motions that are held.
    pub held: [Twist; HELD],
    /// The gradient in each of these motions of the body: a force and its moment about the centre of mass.
    pub forces: [Force<f64>; HELD],
    /// The gradient in displacements of the centre of mass and turns, in the world.
    pub displacement: Force<f64>,
    /// Of the centre of mass in the body.
    pub center: Vector3<f64>,
}

/// Of each body of the model what it feels; of those that are not touched, nothing.
#[derive(Default)]
pub(super) struct BodyAdjoints {
    bodies: Vec<BodyAdjoint>,
    touched: Vec<usize>,
    motions: Vec<Motion<f64>>,
}

impl BodyAdjoints {
    pub fn start(&mut self, model: &Model) {
        self.touched.clear();
        self.bodies.clear();
        self.bodies.resize(model.bodies.len(), BodyAdjoint::default());
    }

    /// What a body feels.
    pub fn of(&mut self, body: usize) -> &mut BodyAdjoint {
        &mut self.bodies[body]
    }

    /// Computes how a body moves under the motions that are held, unless it is known.
    pub fn touch(&mut self, of: &IslandAdjoint, body: usize) {
        let felt = &mut self.bodies[body];
        if felt.touched {
            return;
        }
        self.touched.push(body);
        felt.touched = true;
        let Some((tree, rows)) = of.rows_of(body) else { return };
        let start = of.motion.tree(tree).velocity;
        felt.held[END] = twist(of, body, tree, &of.velocity()[rows.clone()]);
        felt.held[MOMENTA] = twist(of, body, tree, &of.weights[rows.clone()]);
        if !of.preimage.is_empty() {
            felt.held[SHARES] = twist(of, body, tree, &of.preimage[rows]);
        }
        felt.held[START] = twist(of, body, tree, start);
    }

    /// Carries what the bodies feel on to their trees, and forgets it.
    pub fn finish(
        &mut self,
        of: &IslandAdjoint,
        lone: &mut [FreeBodyAdjoint<f64>],
        adjoints: &mut Adjoints,
    ) {
        let model = of.system.model;
        for place in 0..self.touched.len() {
            let body = self.touched[place];
            let felt = std::mem::take(&mut self.bodies[body]);
            let Some((tree, rows)) = of.rows_of(body) else { continue };
            let BodyAdjoint { displacement, forces, held, center, .. } = felt;
            if let Some(free) = of.motion.lone_of(tree) {
                let own = &mut lone[tree];
                let shift = free.rotation.tr_mul(&displacement.linear);
                own.position += displacement.linear;
                own.turn +=
                    free.rotation.tr_mul(&displacement.angular) + free.center_of_mass.cross(&shift);
                own.center += center;
                // Angular velocities are those in the body.
                for (force, held) in forces.iter().zip(held) {
                    let local = |x: &Vector3<f64>| free.rotation.tr_mul(x);
                    own.turn += local(&held.angular).cross(&local(&force.angular));
                }
                continue;
            }
            let start = of.motion.tree(tree).velocity;
            let empty: &[f64] = &[];
            let shares = if of.preimage.is_empty() { empty } else { &of.preimage[rows.clone()] };
            let velocities =
                [&of.velocity()[rows.clone()], &of.weights[rows.clone()], shares, start];
            // Mostly only the first two push.
            let all: [_; HELD] =
                std::array::from_fn(|which| (velocities[which], forces[which], held[which]));
            let mut count = HELD;
            while count > 0 && forces[count - 1] == Force::zero() {
                count -= 1;
            }
            let mut pushing = all;
            let mut kept = 0;
            for which in 0..count {
                if forces[which] != Force::zero() {
                    pushing[kept] = all[which];
                    kept += 1;
                }
            }
            let moved = self.turn_with(of, (body, tree), &pushing[..kept], displacement, adjoints);
            let root = model.bodies[model.trees[tree].bodies[0]].parent;
            of.motion.add_fixed_places(model, root, &moved, &mut adjoints.parameters);
        }
        self.touched.clear();
    }

    /// Adds how a body of an articulated tree changes its motions under velocities that are held, of which forces about its
    /// centre of mass are the gradients, and how `displacement` (about there too) changes, with coordinates and places of joints.
    /// Returns the same of displacements of the whole tree.
    pub fn turn_with(
        &mut self,
        of: &IslandAdjoint,
        (body, tree): (usize, usize),
        held: &[(&[f64], Force<f64>, Twist)],
        displacement: Force<f64>,
        adjoints: &mut Adjoints,
    ) -> Vector3<f64> {
        let kinematics = &of.motion.articulation.kinematics;
        let model = of.system.model;
        let arm = center(of.motion, body);
        let about_origin = |force: &Force<f64>| {
            let mut moved = Force::at(force.linear, &arm);
            moved.angular += force.angular;
            moved
        };
        let nothing: &[f64] = &[];
        let mut forces = [(nothing, Force::zero()); HELD];
        let mut displaced = displacement;
        for (place, (velocities, force, twist)) in forces.iter_mut().zip(held) {
            *place = (velocities, about_origin(force));
            // The centre of mass goes as fast as what is where it is displaced to.
            displaced.linear += force.linear.cross(&twist.angular);
        }
        let Adjoints { state, parameters, .. } = adjoints;
        kinematics.motion_vjp(
            model,
            body,
            (model.trees[tree].v.start, &forces[..held.len()]),
            about_origin(&displaced),
            &mut self.motions,
            (state, parameters),
        )
    }
}

/// How a body moves under velocities of its tree.
pub(super) fn twist(of: &IslandAdjoint, body: usize, tree: usize, velocities: &[f64]) -> Twist {
    if let Some(free) = of.motion.lone_of(tree) {
        let linear = Vector3::new(velocities[0], velocities[1], velocities[2]);
        let spin = Vector3::new(velocities[3], velocities[4], velocities[5]);
        return Twist { linear, angular: free.rotation * spin };
    }
    let kinematics = &of.motion.articulation.kinematics;
    let first = of.system.model.trees[tree].v.start;
    let path = kinematics.path(body).iter();
    let motion = path
        .fold(Motion::zero(), |sum, &k| sum + kinematics.axes[k].motion * velocities[k - first]);
    Twist { linear: motion.at(&center(of.motion, body)), angular: motion.angular }
}

pub(super) fn add_twist(sum: &mut Twist, weight: f64, twist: &Twist) {
    sum.linear += twist.linear * weight;
    sum.angular += twist.angular * weight;
}
