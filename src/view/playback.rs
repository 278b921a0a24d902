//! Motions to be played: poses of all bodies over time, with the forces of their contacts.

use serde::Serialize;

use super::contact_forces::ContactForces;
use super::drawing::{Drawing, moving_bodies, quaternion, rounded};
use super::pace::{MOST_FRAMES, Pace};
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
    /// For each frame and each of [`Drawing::soft`]: where the vertices of its surface are, x, y, z one after the other, m.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub surfaces: Vec<Vec<Vec<f64>>>,
    /// For each frame and each cable of a soft body: the points that it goes through, x, y, z one after the other, m.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cables: Vec<Vec<Vec<f64>>>,
    /// For each frame points that were seen, x, y, z one after the other, m.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<Vec<f64>>,
}

impl Track {
    /// One without frames.
    pub(super) fn new(name: &str, role: Role) -> Track {
        Track {
            name: name.to_string(),
            role,
            times: Vec::new(),
            poses: Vec::new(),
            forces: Vec::new(),
            surfaces: Vec::new(),
            cables: Vec::new(),
            points: Vec::new(),
        }
    }
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

/// Digits of quaternions: 1e-4 rad.
const TURN_DECIMALS: i32 = 4;

/// Makes a [`Track`] of a motion as it is simulated or read; of many frames it keeps as many as playing takes.
pub struct TrackRecorder<'a> {
    model: &'a Model,
    parameters: &'a Parameters<f64>,
    bodies: Vec<usize>,
    decimals: i32,
    pace: Pace,
    track: Track,
    kinematics: Kinematics<f64>,
    /// The last frame, if it was not kept.
    pending: Option<(f64, State<f64>)>,
    forces: ContactForces,
    ended: bool,
}

impl<'a> TrackRecorder<'a> {
    /// Starts a track of a motion from `begin` to `end` (s).
    pub fn new(
        model: &'a Model,
        parameters: &'a Parameters<f64>,
        drawing: &Drawing,
        (name, role): (&str, Role),
        span: [f64; 2],
    ) -> TrackRecorder<'a> {
        TrackRecorder {
            model,
            parameters,
            bodies: moving_bodies(model),
            decimals: drawing.decimals(),
            pace: Pace::new(span, MOST_FRAMES),
            track: Track::new(name, role),
            kinematics: Kinematics::default(),
            pending: None,
            forces: ContactForces::default(),
            ended: false,
        }
    }

    /// Adds the contacts of a step that leads to the next frame.
    pub fn contacts<'b>(&mut self, contacts: impl Iterator<Item = &'b ContactRecord>) {
        self.forces.add(self.model, self.parameters, contacts);
    }

    /// Adds a frame. A motion ends before the first one that is not finite.
    pub fn frame(&mut self, time: f64, state: &State<f64>) {
        let numbers = state.q.iter().chain(&state.v);
        self.ended |= !(time.is_finite() && numbers.into_iter().all(|x| x.is_finite()));
        if self.ended {
            return;
        }
        if self.pace.is_due(time) {
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
        let poses = poses(&self.kinematics, &self.bodies, self.decimals);
        if poses.iter().any(|x| !x.is_finite()) {
            self.ended = true;
            return;
        }
        let elapsed = self.pace.elapsed(time);
        let forces = self.forces.take(&self.kinematics, elapsed, self.decimals);
        let time = self.pace.keep(time);
        self.track.times.push(rounded(time, self.pace.decimals));
        self.track.poses.push(poses);
        self.track.forces.push(forces);
    }
}

/// Of each body its position and its quaternion, rounded.
pub(super) fn poses(kinematics: &Kinematics<f64>, bodies: &[usize], decimals: i32) -> Vec<f64> {
    let mut poses = Vec::with_capacity(7 * bodies.len());
    for &body in bodies {
        let pose = &kinematics.bodies[body];
        poses.extend(pose.position.iter().map(|&x| rounded(x, decimals)));
        poses.extend(quaternion(&pose.rotation).map(|x| rounded(x, TURN_DECIMALS)));
    }
    poses
}
