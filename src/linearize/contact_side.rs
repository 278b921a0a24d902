//! One side of a pair of solids in contact: what moves its body, and how that changes motions that are held.

use nalgebra::Vector3;

use super::pose_lanes::LANES;
use super::solved::Solved;
use crate::contact::Twist;
use crate::dynamics::FreeMotion;
use crate::spatial::{Force, Motion};

/// Of force and moment, row by row.
pub(super) type Change = [[[f64; LANES]; 3]; 2];

/// A coordinate of the state that moves a body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mover {
    /// Its column, and the row of its velocity.
    pub column: usize,
    /// How it displaces the body, per unit: centre of mass and turn, in the world.
    pub pose: Twist,
    /// How its velocity moves the body, per unit.
    pub velocity: Twist,
    /// How it changes the motion of the body under each of the velocities that are held: v+, M^-1 J_n', v-;
    /// nothing if it does not.
    pub held: [Option<Twist>; 3],
}

/// One side of a pair.
#[derive(Clone, Debug, Default)]
pub(super) struct Side {
    pub body: Option<usize>,
    pub movers: Vec<Mover>,
    /// What all points of the pair do to the body: force and moment about its centre of mass.
    pub force: Force<f64>,
    /// How that changes with displacements of each side.
    pub change: [Change; 2],
}

/// Place of the velocities at the start of the step among those that are held.
const START: usize = 2;

impl Side {
    /// Takes a body and what moves it.
    pub fn start(&mut self, solved: &Solved, body: Option<usize>) {
        self.movers.clear();
        self.force = Force::zero();
        self.change = Default::default();
        self.body = body;
        let Some((body, (tree, rows))) = body.and_then(|body| Some((body, solved.rows_of(body)?)))
        else {
            return;
        };
        let motion = solved.motion;
        let held = [None; 3];
        if let Some(free) = motion.lone_of(tree) {
            for k in 0..6 {
                let mut unit = Vector3::zeros();
                unit[k % 3] = 1.0;
                let (pose, velocity) = if k < 3 {
                    let pose = Twist { linear: unit, ..Twist::default() };
                    (pose, pose)
                } else {
                    let angular = free.rotation * unit;
                    let linear = free.rotation * unit.cross(&free.center_of_mass);
                    (Twist { linear, angular }, Twist { angular, ..Twist::default() })
                };
                self.movers.push(Mover { column: rows.start + k, pose, velocity, held });
            }
            return;
        }
        let kinematics = &motion.articulation.kinematics;
        let (arm, start) = (center(motion, body), solved.system().model.trees[tree].v.start);
        for &k in kinematics.path(body) {
            let axis = &kinematics.axes[k].motion;
            let pose = Twist { linear: axis.at(&arm), angular: axis.angular };
            let column = rows.start + k - start;
            self.movers.push(Mover { column, pose, velocity: pose, held });
        }
    }

    /// How the body moves under `velocities` of its tree; in the movers how that changes.
    pub fn hold(
        &mut self,
        solved: &Solved,
        (body, tree): (usize, usize),
        (which, velocities): (usize, &[f64]),
        changes: &mut Vec<(usize, Motion<f64>)>,
    ) -> Twist {
        let motion = solved.motion;
        if let Some(free) = motion.lone_of(tree) {
            let spin = Vector3::new(velocities[3], velocities[4], velocities[5]);
            for (k, mover) in self.movers.iter_mut().enumerate() {
                let mut change = None;
                if k >= 3 {
                    let mut moved = Twist::default();
                    let mut turn = Vector3::zeros();
                    turn[k - 3] = 1.0;
                    moved.angular = free.rotation * turn.cross(&spin);
                    if which == START {
                        // That of the origin is what is held.
                        let swing = spin.cross(&free.center_of_mass);
                        moved.linear = free.rotation * turn.cross(&swing);
                    }
                    change = Some(moved);
                }
                mover.held[which] = change;
            }
            let linear = Vector3::new(velocities[0], velocities[1], velocities[2]);
            return Twist { linear, angular: free.rotation * spin };
        }
        let kinematics = &motion.articulation.kinematics;
        let arm = center(motion, body);
        let start = solved.system().model.trees[tree].v.start;
        let velocity = kinematics.motion_derivatives(body, (start, velocities), changes);
        for (mover, (_, change)) in self.movers.iter_mut().zip(changes) {
            let carried = velocity.angular.cross(&mover.pose.linear);
            let (linear, angular) = (change.at(&arm) + carried, change.angular);
            mover.held[which] = Some(Twist { linear, angular });
        }
        Twist { linear: velocity.at(&arm), angular: velocity.angular }
    }
}

/// From the origin of its tree to the centre of mass of a body, in the world.
pub(super) fn center(motion: &FreeMotion<f64>, body: usize) -> Vector3<f64> {
    let pose = &motion.bodies[body];
    let origin = motion.articulation.kinematics.bodies[body].origin;
    pose.position + pose.rotation * pose.center_of_mass - origin
}
