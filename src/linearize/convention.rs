//! States, tangent vectors and forces as other programs write them.
//!
//! Only free and ball joints differ; a coordinate of a hinge or slider is the same everywhere. With R from body to
//! world, p the origin of the body, v its velocity, w the angular velocity in the body, r a turn in the body:
//!
//! | | q of a free joint | v | dq | forces |
//! |---|---|---|---|---|
//! | `stiction`, `mujoco` | p, w x y z | v in the world, w | dp in the world, r | f in the world, torque in the body |
//! | `pinocchio` | p, x y z w | R'v, w | R'dp, r | R'f, torque in the body |
//! | `drake` | w x y z, p | R w, v in the world | R r, dp in the world | R torque, f in the world |
//!
//! Of a ball joint `pinocchio` has the quaternion as x y z w, `drake` angular velocity, turn and torque in the
//! parent (R from body to parent), as Drake's `BallRpyJoint`; q stays a quaternion, where that has angles.
//!
//! With dx' = T(x) dx, the Jacobians are A' = T(x+) A T(x)^-1, B' = T(x+) B, C' = T(x+) C. T has more than
//! rotations on its diagonal: where a velocity is written in a frame that turns, d(R'v) = R'dv + R'v x r, and
//! d(R w) = R dw - R (w x r). Likewise forces that are held in a frame that turns act on the state: that term is
//! in A'.

use nalgebra::{DMatrix, Matrix3, SMatrix, Vector3};

use crate::model::Model;
use crate::spatial::{cross_matrix, rotation_matrix};
use crate::state::Coordinates;

/// How states, tangent vectors and forces are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Convention {
    /// Ours: see [`State`](crate::state::State).
    #[default]
    Stiction,
    /// That of Pinocchio's free-flyer and spherical joints.
    Pinocchio,
    /// That of MuJoCo, which is ours.
    Mujoco,
    /// That of Drake's quaternion floating joint and ball joint.
    Drake,
}

/// A joint of a model: its coordinates, first number of q and of v.
pub(super) type Place = (Coordinates, usize, usize);

type Block = SMatrix<f64, 12, 12>;

impl Convention {
    /// All of them.
    pub const ALL: [Convention; 4] =
        [Convention::Stiction, Convention::Pinocchio, Convention::Mujoco, Convention::Drake];

    /// The name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Convention::Stiction => "stiction",
            Convention::Pinocchio => "pinocchio",
            Convention::Mujoco => "mujoco",
            Convention::Drake => "drake",
        }
    }

    /// That of a name.
    pub fn named(name: &str) -> Option<Convention> {
        Convention::ALL.into_iter().find(|convention| convention.name() == name)
    }

    /// What differs from ours, in words.
    pub fn describe(self) -> &'static str {
        match self {
            Convention::Stiction => {
                "q of a free joint: position in the world, quaternion w x y z; v: velocity of the origin in the \
                 WORLD, angular velocity in the BODY; dq: translation in the world, turn in the body; forces: \
                 force in the world, torque in the body"
            }
            Convention::Mujoco => {
                "as MuJoCo's qpos, qvel and mj_differentiatePos. q of a free joint: position in the world, \
                 quaternion w x y z; v: velocity of the origin in the WORLD, angular velocity in the BODY; dq: \
                 translation in the world, turn in the body; forces: force in the world, torque in the body"
            }
            Convention::Pinocchio => {
                "as pinocchio's integrate and difference at equal base points. q of a free-flyer: position in the \
                 world, quaternion x y z w; v: spatial velocity in the BODY, linear first; dq: the same of a \
                 displacement (SE(3) exponential, first order); forces: wrench in the BODY, linear first, held in \
                 the body. Spherical: quaternion x y z w"
            }
            Convention::Drake => {
                "as Drake's QuaternionFloatingJoint. q: quaternion w x y z, position in the world; v: angular \
                 velocity, then velocity of the origin, both in the WORLD; dq: turn, then translation, both in \
                 the world; forces: torque, then force, both in the world. Ball joints: angular velocity, turn and \
                 torque in the PARENT, as BallRpyJoint, but the quaternion w x y z for its angles"
            }
        }
    }

    /// Names of the numbers of q, of v, of dq and of dv, for the fields of a free joint, a ball joint, and others.
    pub(super) fn names(self, model: &Model) -> [Vec<String>; 4] {
        let (position, turn) = (["px", "py", "pz"], ["wx", "wy", "wz"]);
        let quaternion = match self {
            Convention::Pinocchio => ["qx", "qy", "qz", "qw"],
            _ => ["qw", "qx", "qy", "qz"],
        };
        let (velocity, shift) = (["vx", "vy", "vz"], ["dpx", "dpy", "dpz"]);
        let (small_turn, speed, spin) =
            (["drx", "dry", "drz"], ["dvx", "dvy", "dvz"], ["dwx", "dwy", "dwz"]);
        let join = |first: &[&'static str], second: &[&'static str]| {
            if self == Convention::Drake { [second, first] } else { [first, second] }.concat()
        };
        let names = |linear: &[&'static str], angular: &[&'static str], number| {
            model.coordinate_names(&join(linear, angular), angular, number)
        };
        [
            names(&position, &quaternion, "q"),
            names(&velocity, &turn, "v"),
            names(&shift, &small_turn, "dq"),
            names(&speed, &spin, "dv"),
        ]
    }

    /// A state `[q; v]` of ours in this convention.
    pub(super) fn state(self, model: &Model, x: &[f64]) -> Vec<f64> {
        let (q, v) = x.split_at(model.nq());
        let mut state = x.to_vec();
        let (new_q, new_v) = state.split_at_mut(model.nq());
        for (coordinates, first_q, first_v) in joints(model) {
            let Some((at, _)) = coordinates.quaternion() else { continue };
            let q = &q[first_q..first_q + coordinates.nq()];
            let v = &v[first_v..first_v + coordinates.nv()];
            let turn = rotation_matrix([q[at], q[at + 1], q[at + 2], q[at + 3]]);
            let quaternion = [q[at], q[at + 1], q[at + 2], q[at + 3]];
            let new_q = &mut new_q[first_q..first_q + coordinates.nq()];
            let new_v = &mut new_v[first_v..first_v + coordinates.nv()];
            match self {
                Convention::Stiction | Convention::Mujoco => {}
                Convention::Pinocchio => {
                    let [w, x, y, z] = quaternion;
                    new_q[at..at + 4].copy_from_slice(&[x, y, z, w]);
                    if coordinates == Coordinates::Pose {
                        let local = turn.transpose() * vector(v);
                        new_v[..3].copy_from_slice(local.as_slice());
                    }
                }
                Convention::Drake => {
                    new_q[..4].copy_from_slice(&quaternion);
                    new_q[4..].copy_from_slice(&q[..at]);
                    let spin = turn * vector(&v[at.min(3)..]);
                    new_v[..3].copy_from_slice(spin.as_slice());
                    new_v[3..].copy_from_slice(&v[..at.min(3)]);
                }
            }
        }
        state
    }

    /// T(x) at a joint: what our `[dq; dv]` of it is, and its inverse if asked for. Only the first 2 nv rows
    /// and columns of it count.
    pub(super) fn block(self, coordinates: Coordinates, q: &[f64], v: &[f64]) -> Block {
        let mut block = Block::identity();
        let Some((at, first)) = coordinates.quaternion() else { return block };
        let nv = coordinates.nv();
        let r = rotation_matrix([q[at], q[at + 1], q[at + 2], q[at + 3]]);
        let mut put = |row: usize, column: usize, m: Matrix3<f64>| {
            block.fixed_view_mut::<3, 3>(row, column).copy_from(&m);
        };
        match self {
            Convention::Stiction | Convention::Mujoco => {}
            Convention::Pinocchio => {
                if coordinates == Coordinates::Pose {
                    put(0, 0, r.transpose());
                    put(6, 6, r.transpose());
                    put(6, 3, cross_matrix(r.transpose() * vector(v)));
                }
            }
            Convention::Drake => {
                if coordinates == Coordinates::Pose {
                    for half in [0, 6] {
                        put(half, half, Matrix3::zeros());
                        put(half + 3, half + 3, Matrix3::zeros());
                        put(half + 3, half, Matrix3::identity());
                    }
                }
                put(0, first, r);
                put(nv, nv + first, r);
                put(nv, first, -r * cross_matrix(vector(&v[first..])));
            }
        }
        block
    }

    /// T(x), or its inverse.
    pub(super) fn tangent_map(self, model: &Model, x: &[f64], inverse: bool) -> DMatrix<f64> {
        let (nq, nv) = (model.nq(), model.nv());
        let mut map = DMatrix::zeros(2 * nv, 2 * nv);
        for (coordinates, q, v) in joints(model) {
            let n = coordinates.nv();
            let mut block =
                self.block(coordinates, &x[q..q + coordinates.nq()], &x[nq + v..nq + v + n]);
            if inverse {
                // Made of rotations: always there.
                block = block.try_inverse().unwrap_or(block);
            }
            let place = |k: usize| if k < n { v + k } else { nv + v + k - n };
            for i in 0..2 * n {
                for j in 0..2 * n {
                    map[(place(i), place(j))] = block[(i, j)];
                }
            }
        }
        map
    }
}

pub(super) fn vector(v: &[f64]) -> Vector3<f64> {
    Vector3::new(v[0], v[1], v[2])
}

/// Every joint that moves.
pub(super) fn joints(model: &Model) -> impl Iterator<Item = Place> + '_ {
    model.coordinates().scan((0, 0), |(q, v), coordinates| {
        let place = (coordinates, *q, *v);
        (*q, *v) = (*q + coordinates.nq(), *v + coordinates.nv());
        Some(place)
    })
}
