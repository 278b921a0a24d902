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

use super::Linearization;
use crate::Error;
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
type Place = (Coordinates, usize, usize);

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
    fn block(self, coordinates: Coordinates, q: &[f64], v: &[f64]) -> Block {
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

fn vector(v: &[f64]) -> Vector3<f64> {
    Vector3::new(v[0], v[1], v[2])
}

/// Every joint that moves.
fn joints(model: &Model) -> impl Iterator<Item = Place> + '_ {
    model.coordinates().scan((0, 0), |(q, v), coordinates| {
        let place = (coordinates, *q, *v);
        (*q, *v) = (*q + coordinates.nq(), *v + coordinates.nv());
        Some(place)
    })
}

/// Forces of a joint that a convention writes otherwise: where they are among u, in our order, and the map
/// from theirs to ours.
struct Forces {
    places: Vec<usize>,
    joint: Place,
}

impl Linearization {
    /// The same in another convention. `name` stands for the scene in messages.
    ///
    /// # Errors
    /// If u holds some but not all generalised forces of a joint whose forces that convention writes in another
    /// frame, or if this one is not in [`Convention::Stiction`].
    pub fn expressed(
        &self,
        convention: Convention,
        model: &Model,
        name: &str,
    ) -> Result<Linearization, Error> {
        if self.convention != Convention::Stiction {
            let message = format!("is in the convention {} already", self.convention.name());
            return Err(Error::input(name, None, "convention", message));
        }
        let mut new = self.clone();
        new.convention = convention;
        if matches!(convention, Convention::Stiction | Convention::Mujoco) {
            return Ok(new);
        }
        let forces = self.forces(convention, model, name)?;
        for k in 0..self.times.len() {
            let row = |stack: &ndarray::Array2<f64>| stack.row(k).to_vec();
            let matrix = |stack: &ndarray::Array3<f64>| {
                let (_, rows, columns) = stack.dim();
                DMatrix::from_fn(rows, columns, |i, j| stack[(k, i, j)])
            };
            let (x, end, mut u) = (row(&self.x), row(&self.f), row(&self.u));
            let (mut a, mut b) = (matrix(&self.a), matrix(&self.b));
            for forces in &forces {
                forces.express(convention, &x, &mut u, &mut a, &mut b);
            }
            let after = convention.tangent_map(model, &end, false);
            let before = convention.tangent_map(model, &x, true);
            let (a, b, c) = (&after * a * before, &after * b, &after * matrix(&self.c));
            for (stack, matrix) in [(&mut new.a, a), (&mut new.b, b), (&mut new.c, c)] {
                for i in 0..matrix.nrows() {
                    for j in 0..matrix.ncols() {
                        stack[(k, i, j)] = matrix[(i, j)];
                    }
                }
            }
            let states = [(&mut new.x, x), (&mut new.f, end)];
            let states = states.map(|(stack, x)| (stack, convention.state(model, &x)));
            for (stack, numbers) in states.into_iter().chain([(&mut new.u, u)]) {
                stack.row_mut(k).iter_mut().zip(numbers).for_each(|(to, from)| *to = from);
            }
        }
        for Forces { places, joint: (coordinates, ..) } in &forces {
            if convention == Convention::Drake && *coordinates == Coordinates::Pose {
                let names: Vec<String> = places.iter().map(|&p| self.inputs[p].clone()).collect();
                for (&place, name) in places.iter().zip(names[3..].iter().chain(&names[..3])) {
                    new.inputs[place].clone_from(name);
                }
            }
        }
        Ok(new)
    }

    /// The joints whose forces are among u and written otherwise.
    fn forces(
        &self,
        convention: Convention,
        model: &Model,
        name: &str,
    ) -> Result<Vec<Forces>, Error> {
        let mut all = Vec::new();
        let known = model.input_names();
        for joint in joints(model) {
            let (coordinates, _, v) = joint;
            let own = coordinates == Coordinates::Pose
                || coordinates == Coordinates::Rotation && convention == Convention::Drake;
            let range = v..v + coordinates.nv();
            let place = |k: usize| self.inputs.iter().position(|input| *input == known[k]);
            let places: Vec<usize> = range.clone().filter_map(place).collect();
            if !own || places.is_empty() {
                continue;
            }
            if places.len() < range.len() {
                let message = format!(
                    "is written in another frame in the convention {}: select all of {}, or none",
                    convention.name(),
                    known[range].join(", ")
                );
                return Err(Error::input(name, None, &self.inputs[places[0]], message));
            }
            all.push(Forces { places, joint });
        }
        Ok(all)
    }
}

impl Forces {
    /// Writes u, B and what the turning of the frame does to A (still over our tangent vectors).
    fn express(
        &self,
        convention: Convention,
        x: &[f64],
        u: &mut [f64],
        a: &mut DMatrix<f64>,
        b: &mut DMatrix<f64>,
    ) {
        let (coordinates, q, v) = self.joint;
        let Some((at, first)) = coordinates.quaternion() else { return };
        let q = &x[q + at..q + at + 4];
        let r = rotation_matrix([q[0], q[1], q[2], q[3]]);
        let ours: Vec<f64> = self.places.iter().map(|&place| u[place]).collect();
        // Which three turn, how theirs become ours, and how ours change with a turn in the body.
        let (turning, to_ours, change) = match convention {
            Convention::Drake => (first, r.transpose(), cross_matrix(vector(&ours[first..]))),
            _ => (0, r, -r * cross_matrix(r.transpose() * vector(&ours))),
        };
        let columns = DMatrix::from_fn(b.nrows(), 3, |i, j| b[(i, self.places[turning + j])]);
        let felt = &columns * change;
        for j in 0..3 {
            let mut column = a.column_mut(v + first + j);
            column += felt.column(j);
        }
        let turned = columns * to_ours;
        let theirs = to_ours.transpose() * vector(&ours[turning..]);
        for j in 0..3 {
            b.set_column(self.places[turning + j], &turned.column(j));
            u[self.places[turning + j]] = theirs[j];
        }
        if convention == Convention::Drake && coordinates == Coordinates::Pose {
            for j in 0..3 {
                b.swap_columns(self.places[j], self.places[3 + j]);
                u.swap(self.places[j], self.places[3 + j]);
            }
        }
    }
}
