//! Motions to be played: poses of all bodies over time, with the forces of their contacts.

use std::collections::BTreeMap;
use std::mem;

use nalgebra::Vector3;
use serde::Serialize;

use super::drawing::{Drawing, moving_bodies, quaternion, rounded};
use crate::contact::ContactRecord;
use crate::dynamics::Kinematics;
use crate::model::{Model, Parameters};
use crate::state::State;

/// What a motion is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Simulated: drawn solid.
    Simulation,
    /// Recorded: drawn translucent.
    Recording,
}

/// A motion of all bodies.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Track {
    /// What it is called.
    pub name: String,
    /// How it is drawn.
    pub role: Role,
    /// Times of the frames, s, increasing.
    pub times: Vec<f64>,
    /// For each frame and each of [`Drawing::bodies`]: position x, y, z in m, then quaternion w, x, y, z of the
    /// body in the world.
    pub poses: Vec<Vec<f64>>,
    /// For each frame and each contact: its point in the world, m, and its mean force on the second solid of
    /// its pair since the frame before, in the world, N.
    pub forces: Vec<Vec<[f64; 6]>>,
}

/// Motions over one time axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Clip {
    /// What it is called.
    pub name: String,
    /// The motions, from the same instant on.
    pub tracks: Vec<Track>,
}

/// Motions of one model, to choose from.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Playback {
    /// What the bodies look like.
    pub drawing: Drawing,
    /// The motions.
    pub clips: Vec<Clip>,
}

/// Frames kept of each second at most...
const RATE: f64 = 100.0;
/// ...but of a short motion at least so many, for slow motion,
const LEAST_FRAMES: f64 = 300.0;
/// and of a long one no more than these, so that files stay small.
const MOST_FRAMES: f64 = 3000.0;
/// Digits of quaternions: 1e-4 rad.
const TURN_DECIMALS: i32 = 4;
/// Digits of times: 10 µs or, of short motions, less.
const TIME_DIGITS: i32 = 5;
/// Digits of forces, relative to each.
const FORCE_DIGITS: i32 = 4;

/// Makes a [`Track`] of a motion as it is simulated or read; of many frames it keeps as many as playing takes.
pub struct TrackRecorder<'a> {
    model: &'a Model,
    parameters: &'a Parameters<f64>,
    bodies: Vec<usize>,
    decimals: i32,
    time_decimals: i32,
    track: Track,
    kinematics: Kinematics<f64>,
    /// Least time between frames, s.
    interval: f64,
    begin: f64,
    /// The time of the last frame kept, s.
    kept: Option<f64>,
    /// The last frame, if it was not kept.
    pending: Option<(f64, State<f64>)>,
    /// Impulse of each contact since the last frame kept, by pair and feature.
    impulses: BTreeMap<(usize, usize), Push>,
    ended: bool,
}

/// The impulse of a contact, and where it is.
struct Push {
    impulse: Vector3<f64>,
    body: usize,
    /// In the frame of the body, m.
    point: Vector3<f64>,
}

impl<'a> TrackRecorder<'a> {
    /// Starts a track of a motion from `begin` to `end` (s).
    pub fn new(
        model: &'a Model,
        parameters: &'a Parameters<f64>,
        drawing: &Drawing,
        (name, role): (&str, Role),
        [begin, end]: [f64; 2],
    ) -> TrackRecorder<'a> {
        let duration = (end - begin).max(0.0);
        let interval = duration / (RATE * duration).clamp(LEAST_FRAMES, MOST_FRAMES);
        let size = if interval > 0.0 { -interval.log10().floor() } else { 0.0 };
        TrackRecorder {
            model,
            parameters,
            bodies: moving_bodies(model),
            decimals: drawing.decimals(),
            time_decimals: (size as i32 + 2).clamp(TIME_DIGITS, 12),
            track: Track {
                name: name.to_string(),
                role,
                times: Vec::new(),
                poses: Vec::new(),
                forces: Vec::new(),
            },
            kinematics: Kinematics::default(),
            interval,
            begin,
            kept: None,
            pending: None,
            impulses: BTreeMap::new(),
            ended: false,
        }
    }

    /// Adds the contacts of a step that leads to the next frame.
    pub fn contacts<'b>(&mut self, contacts: impl Iterator<Item = &'b ContactRecord>) {
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
            let point = self.parameters.center_of_mass(self.model, body) + arm;
            let key = (contact.pair, contact.feature);
            let new = Push { impulse: Vector3::zeros(), body, point };
            let push = self.impulses.entry(key).or_insert(new);
            (push.impulse, push.body, push.point) = (push.impulse + impulse, body, point);
        }
    }

    /// Adds a frame. A motion ends before the first one that is not finite.
    pub fn frame(&mut self, time: f64, state: &State<f64>) {
        let numbers = state.q.iter().chain(&state.v);
        self.ended |= !(time.is_finite() && numbers.into_iter().all(|x| x.is_finite()));
        if self.ended {
            return;
        }
        // Rounding of times must not make it leave out every second frame.
        let due = self.kept.is_none_or(|kept| time >= kept + self.interval * (1.0 - 1e-6));
        if due {
            self.keep(time, state);
        } else {
            match &mut self.pending {
                Some((at, pending)) => {
                    *at = time;
                    pending.clone_from(state);
                }
                pending => *pending = Some((time, state.clone())),
            }
        }
    }

    /// The track, with the last frame.
    pub fn finish(mut self) -> Track {
        if let Some((time, state)) = self.pending.take() {
            self.keep(time, &state);
        }
        self.track
    }

    fn keep(&mut self, time: f64, state: &State<f64>) {
        self.pending = None;
        self.kinematics.update(self.model, self.parameters, state);
        let mut poses = Vec::with_capacity(7 * self.bodies.len());
        for &body in &self.bodies {
            let pose = &self.kinematics.bodies[body];
            poses.extend(pose.position.iter().map(|&x| rounded(x, self.decimals)));
            poses.extend(quaternion(&pose.rotation).map(|x| rounded(x, TURN_DECIMALS)));
        }
        if poses.iter().any(|x| !x.is_finite()) {
            self.ended = true;
            return;
        }
        let elapsed = self.kept.map_or(0.0, |kept| time - kept);
        let mut forces = Vec::new();
        for Push { impulse, body, point } in mem::take(&mut self.impulses).into_values() {
            // What acts before the first frame has no duration.
            if elapsed > 0.0 {
                let force = impulse / elapsed;
                let size = force.amax().log10().floor() as i32;
                let point = self.kinematics.point(body, &point);
                let [x, y, z] = [0, 1, 2].map(|k| rounded(point[k], self.decimals));
                let decimals = (FORCE_DIGITS - 1 - size).clamp(0, 12);
                let [fx, fy, fz] = [0, 1, 2].map(|k| rounded(force[k], decimals));
                forces.push([x, y, z, fx, fy, fz]);
            }
        }
        self.kept = Some(time);
        self.track.times.push(rounded(time - self.begin, self.time_decimals));
        self.track.poses.push(poses);
        self.track.forces.push(forces);
    }
}
