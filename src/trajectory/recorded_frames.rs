//! Frames that recordings are made in: of the world, of what was tracked on a body, of velocities.

use std::collections::BTreeMap;

use nalgebra::{Isometry3, Quaternion, UnitQuaternion, Vector3};

use super::Recorded;
use crate::model::{Joint, JointKind, Model};
use crate::state::State;

/// How what is recorded stands to the scene: everything as in the scene, unless it is said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedFrames {
    /// The pose, in the world of the scene, of that of the recordings; if it is not the same.
    pub world: Option<Isometry3<f64>>,
    /// The pose in each of these bodies of what was tracked on it.
    pub tracked: BTreeMap<usize, Isometry3<f64>>,
    /// Of which bodies velocities (false) or angular velocities (true) have other axes than ours, those of the body or not.
    axes: BTreeMap<(usize, bool), bool>,
}

impl RecordedFrames {
    /// Says along which axes velocities, or angular velocities, of a body are recorded.
    pub(super) fn say_axes(&mut self, body: usize, angular: bool, in_body: bool) {
        self.axes.remove(&(body, angular));
        // Ours are along the world's and the body's.
        if in_body != angular {
            self.axes.insert((body, angular), in_body);
        }
    }

    /// Adds what is said elsewhere of the world and of what was tracked.
    pub(crate) fn also(&mut self, other: RecordedFrames) {
        (self.world, self.tracked) = (other.world, other.tracked);
    }

    /// Takes a vector of the recordings' world to the scene's.
    pub fn vector(&self, x: Vector3<f64>) -> Vector3<f64> {
        self.world.map_or(x, |world| world.rotation * x)
    }

    /// Takes a point likewise.
    pub fn point(&self, x: Vector3<f64>) -> Vector3<f64> {
        self.world.map_or(x, |world| world.rotation * x + world.translation.vector)
    }

    /// Takes what was recorded to the frames of the scene. What needs numbers that are missing at a frame is missing there.
    ///
    /// # Errors
    /// The body, and in words what is not recorded that it takes.
    pub(super) fn apply(
        &self,
        model: &Model,
        states: &mut [State<f64>],
        recorded: &mut Recorded,
    ) -> Result<(), (usize, String)> {
        if *self == RecordedFrames::default() {
            return Ok(());
        }
        for (index, body) in model.bodies.iter().enumerate() {
            let tracked = self.tracked.get(&index).copied();
            let axes = [false, true].map(|angular| self.axes.contains_key(&(index, angular)));
            if self.world.is_none() && tracked.is_none() && axes == [false; 2] {
                continue;
            }
            if body.joint.kind == JointKind::Free {
                let frames = Frames { world: self.world.unwrap_or_default(), tracked, axes };
                frames.apply(&body.joint, states, recorded).map_err(|message| (index, message))?;
            } else if tracked.is_some() || axes != [false; 2] {
                return Err((index, "hangs on a joint: only of free bodies can it be said in which frames they are recorded".into()));
            }
        }
        Ok(())
    }
}

/// The frames of one free body.
struct Frames {
    world: Isometry3<f64>,
    tracked: Option<Isometry3<f64>>,
    /// Whether velocities are along the axes of the body, and angular velocities along those of the world.
    axes: [bool; 2],
}

impl Frames {
    fn apply(
        &self,
        joint: &Joint,
        states: &mut [State<f64>],
        recorded: &mut Recorded,
    ) -> Result<(), String> {
        let (q, v) = (joint.q, joint.v);
        let of = |recorded: &[bool]| recorded.iter().filter(|&&recorded| recorded).count();
        let places = of(&recorded.q[q..q + 3]);
        let turned = recorded.q[q + 3];
        let [speeds, spins] = [of(&recorded.v[v..v + 3]), of(&recorded.v[v + 3..v + 6])];
        let turns = self.world.rotation != UnitQuaternion::identity();
        if turns && [places, speeds].iter().any(|known| !matches!(known, 0 | 3)) {
            return Err("where the frame of the recordings is turned, all of x, y and z have to be recorded, or none".into());
        }
        if self.tracked.is_some() && !(places == 3 && turned) {
            return Err("the pose of what was tracked takes position and orientation; where only points were tracked, \
                        a [[sensor]] with `marker` has a place in the body"
                .into());
        }
        if self.axes[0] && speeds > 0 && !(speeds == 3 && turned)
            || self.axes[1] && spins > 0 && !(spins == 3 && turned)
        {
            return Err(
                "velocities along other axes take the orientation, and all of x, y and z".into()
            );
        }
        let arm = self.tracked.is_some() && speeds > 0;
        if arm && spins < 3 {
            return Err("the velocity of what was tracked is that of the body only with its angular velocity, which is not recorded: \
                        leave it out (`velocity = false`), for differences of the poses"
                .into());
        }
        for (frame, state) in states.iter_mut().enumerate() {
            let known = recorded.at(frame);
            let whole = |range: std::ops::Range<usize>| range.into_iter().all(|k| known.q(k));
            let moves = |range: std::ops::Range<usize>| range.into_iter().all(|k| known.v(k));
            let (place, turn) = (whole(q..q + 3), whole(q + 3..q + 7));
            let (speed, spin) = (moves(v..v + 3), moves(v + 3..v + 6));
            let three = |x: &[f64]| Vector3::new(x[0], x[1], x[2]);
            let mut p = three(&state.q[q..]);
            let mut r = UnitQuaternion::new_unchecked(Quaternion::new(
                state.q[q + 3],
                state.q[q + 4],
                state.q[q + 5],
                state.q[q + 6],
            ));
            let (mut u, mut w) = (three(&state.v[v..]), three(&state.v[v + 3..]));
            if self.axes[1] {
                w = r.inverse() * w;
            }
            if self.axes[0] {
                u = r * u;
            }
            if let Some(tracked) = self.tracked {
                // What was tracked is at R m from the origin, and turned by M in the body.
                r *= tracked.rotation.inverse();
                w = tracked.rotation * w;
                let arm = tracked.translation.vector;
                p -= r * arm;
                u -= r * w.cross(&arm);
            }
            p = self.world.rotation * p + self.world.translation.vector;
            r = self.world.rotation * r;
            u = self.world.rotation * u;
            // What is not recorded is the scene's own.
            for k in (0..3).filter(|k| recorded.q[q + k]) {
                state.q[q + k] = p[k];
            }
            if turned {
                let r = r.into_inner();
                state.q[q + 3..q + 7].copy_from_slice(&[r.w, r.i, r.j, r.k]);
            }
            if speeds > 0 {
                state.v[v..v + 3].copy_from_slice(u.as_slice());
            }
            if spins > 0 {
                state.v[v + 3..v + 6].copy_from_slice(w.as_slice());
            }
            let lost_place = (turns && !place) || (self.tracked.is_some() && !(place && turn));
            let lost_speed =
                (turns && !speed) || (self.axes[0] && !turn) || (arm && !(speed && spin && turn));
            let lost_spin = self.axes[1] && !(spin && turn);
            if lost_place && places > 0 {
                (q..q + 3).for_each(|k| recorded.lose_configuration(frame, k));
            }
            if lost_speed && speeds > 0 {
                (v..v + 3).for_each(|k| recorded.lose_velocity(frame, k));
            }
            if lost_spin && spins > 0 {
                (v + 3..v + 6).for_each(|k| recorded.lose_velocity(frame, k));
            }
        }
        Ok(())
    }
}
