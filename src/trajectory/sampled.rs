//! A motion sampled over time, and its CSV file.

use std::f64::consts::{PI, TAU};
use std::io;
use std::ops::Range;
use std::path::Path;

use super::column_map::Place;
use super::column_names::Number;
use super::columns::{ColumnSelection, Columns};
use super::recorded::Known;
use super::recording_file::{RecordingFile, Row, csv_error};
use super::{ColumnMap, Recorded};
use crate::Error;
use crate::model::{Joint, Model};
use crate::packed::packed;
use crate::state::{Coordinates, State, unit_quaternion};

/// A motion sampled over time, kept in a CSV file.
///
/// Columns: `t`, then for each free body `px,py,pz,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz`, for each ball joint
/// `qw,qx,qy,qz,wx,wy,wz` and for each joint with one coordinate `q,v`, in the units and
/// frames of [`State`]. With several joints every column but `t` is prefixed by the name of its
/// body, `cube/px`; with one the prefix may be left out. Columns may stand in any order, others are
/// ignored. Velocities may be left out: `vx,vy,vz`, `wx,wy,wz` or the `v` of any joint, which are then
/// differences of the configurations. A [`ColumnMap`] says which columns have other names in a
/// recording, and which numbers are not recorded at all.
///
/// A field that is empty or `nan` was not measured at that time. In its place stands what lies between the frames
/// before and after at which it was, or what the nearest has; [`Recorded`] says that it is missing.
///
/// The angles of hinges may be wrapped to -pi..pi or 0..2 pi: where all of a column lie in such a
/// range, a jump by more than pi from frame to frame is taken for a turn, and undone.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    /// Where it comes from: the file as it was given.
    pub name: String,
    /// Times of the frames, s, increasing.
    pub times: Vec<f64>,
    /// One state a frame; when read, quaternions are unit and do not change sign between frames.
    pub states: Vec<State<f64>>,
    /// Which numbers of the states are recorded.
    pub recorded: Recorded,
}

impl Trajectory {
    /// Reads a CSV file.
    pub fn load(path: impl AsRef<Path>, model: &Model) -> Result<Trajectory, Error> {
        Trajectory::load_with(path, model, &ColumnMap::new(model))
    }

    /// Reads a CSV file whose columns `map` describes.
    pub fn load_with(
        path: impl AsRef<Path>,
        model: &Model,
        map: &ColumnMap,
    ) -> Result<Trajectory, Error> {
        Trajectory::of_file(&RecordingFile::load(path)?, model, map)
    }

    /// Reads the text of a CSV file; `name` stands for the file in messages.
    pub fn parse(text: &str, name: &str, model: &Model) -> Result<Trajectory, Error> {
        Trajectory::parse_with(text, name, model, &ColumnMap::new(model))
    }

    /// Reads the text of a CSV file whose columns `map` describes.
    pub fn parse_with(
        text: &str,
        name: &str,
        model: &Model,
        map: &ColumnMap,
    ) -> Result<Trajectory, Error> {
        Trajectory::of_file(&RecordingFile::parse(text, name)?, model, map)
    }

    /// The motion in a file whose columns `map` describes.
    pub fn of_file(
        file: &RecordingFile,
        model: &Model,
        map: &ColumnMap,
    ) -> Result<Trajectory, Error> {
        let name = &file.name;
        let numbers = (model.nq(), model.nv());
        if (map.q.len(), map.v.len()) != numbers || (map.fill.q.len(), map.fill.v.len()) != numbers
        {
            let message = "the columns that are described are those of another scene";
            return Err(Error::input(name, None, "", message));
        }
        let columns = Columns::find(file, model, map)?;
        file.demand_whole()?;
        let mut trajectory = Trajectory {
            name: name.clone(),
            times: Vec::new(),
            states: Vec::new(),
            recorded: columns.recorded(),
        };
        let mut line = 1;
        for row in file.rows() {
            line = row.line;
            let time = file.time_of(&row, columns.time)?;
            trajectory.push(model, (&row, time), &columns, &map.fill)?;
        }
        let frames = trajectory.times.len();
        if frames < 2 {
            let message = format!("at least 2 frames are needed, found {frames}");
            return Err(file.wrong(line, &map.time.0, message));
        }
        let Trajectory { states, recorded, .. } = &mut trajectory;
        map.frames.apply(model, states, recorded).map_err(|(body, message)| {
            Error::input(name, None, &model.bodies[body].name, message)
        })?;
        trajectory.fill_gaps(model, false);
        trajectory.unwrap_angles(model);
        trajectory.fill_gaps(model, true);
        trajectory.derive_velocities(model);
        Ok(trajectory)
    }

    /// How many recorded steps there are, one less than frames.
    pub fn steps(&self) -> usize {
        self.times.len().saturating_sub(1)
    }

    /// The frame simulations start from: the first with all that is recorded, or, if the last at most has all, the
    /// first.
    pub fn first_complete(&self) -> usize {
        (0..self.steps()).find(|&frame| self.recorded.at(frame).is_complete()).unwrap_or(0)
    }

    /// Writes what is recorded as CSV, such that reading it gives the same numbers.
    pub fn write(&self, model: &Model, output: impl io::Write) -> Result<(), Error> {
        self.write_columns(model, &ColumnSelection::recorded(model, &self.recorded), output)
    }

    /// Writes some columns as CSV.
    pub fn write_columns(
        &self,
        model: &Model,
        columns: &ColumnSelection,
        output: impl io::Write,
    ) -> Result<(), Error> {
        let io_error = |error: csv::Error| csv_error(&self.name, error);
        let mut writer = csv::Writer::from_writer(output);
        writer.write_record(&columns.names).map_err(io_error)?;
        let expected = 1 + model.nq() + model.nv();
        for (frame, (time, State { q, v })) in self.times.iter().zip(&self.states).enumerate() {
            let line = frame + 2;
            let found = 1 + q.len() + v.len();
            if found != expected {
                let message = format!("frame {frame} has {found} numbers, the model {expected}");
                return Err(Error::input(&self.name, line, "", message));
            }
            let mut fields = Vec::with_capacity(columns.names.len());
            let known = self.recorded.at(frame);
            for (name, number) in columns.names.iter().zip(&columns.numbers) {
                let missing = match *number {
                    Number::Time => false,
                    Number::Q(k) => known.misses_configuration(k),
                    Number::V(k) => known.misses_velocity(k),
                };
                if missing {
                    fields.push(String::new());
                    continue;
                }
                let x = match *number {
                    Number::Time => *time,
                    Number::Q(k) => q[k],
                    Number::V(k) => v[k],
                };
                if !x.is_finite() {
                    let message = format!("is {x} in frame {frame}: not written");
                    return Err(Error::input(&self.name, line, name, message));
                }
                // Adding 0 turns -0 into 0.
                fields.push((x + 0.0).to_string());
            }
            writer.write_record(fields).map_err(io_error)?;
        }
        writer.flush().map_err(|error| Error::io(&self.name, error))
    }

    /// Appends the frame of a row; `fill` where nothing is recorded.
    fn push(
        &mut self,
        model: &Model,
        (row, time): (&Row, f64),
        columns: &Columns,
        fill: &State<f64>,
    ) -> Result<(), Error> {
        if let Some(&last) = self.times.last().filter(|&&last| time <= last) {
            let message = format!("must increase from row to row, found {time} after {last}");
            return Err(row.error(columns.time.column, message));
        }
        let mut state = fill.clone();
        let frame = self.times.len();
        for (k, place) in columns.q.iter().enumerate() {
            let Some(Place { column, scale }) = *place else { continue };
            match row.measured(column)? {
                Some(x) => state.q[k] = scale.of(x),
                None => self.recorded.lose_configuration(frame, k),
            }
        }
        for (k, place) in columns.v.iter().enumerate() {
            let Some(Place { column, scale }) = *place else { continue };
            match row.measured(column)? {
                Some(x) => state.v[k] = scale.of(x),
                None => self.recorded.lose_velocity(frame, k),
            }
        }
        let mut written = Vec::new();
        for rotation in &columns.rotations {
            written.clear();
            for &column in &rotation.columns {
                written.extend(row.measured(column)?.map(|x| rotation.factor * x));
            }
            let range = rotation.q..rotation.q + 4;
            if written.len() < rotation.columns.len() {
                range.for_each(|k| self.recorded.lose_configuration(frame, k));
                continue;
            }
            let found = rotation.form.quaternion(&written);
            let found = found.map_err(|message| row.error(rotation.columns[0], message))?;
            state.q[range].copy_from_slice(&found);
        }
        let mut first = 0;
        for joint in model.coordinates() {
            let range = joint.quaternion().map(|(q, _)| first + q..first + q + 4);
            first += joint.nq();
            let Some(range) = range else { continue };
            if !self.recorded.q[range.start] {
                continue;
            }
            let q = &mut state.q[range.clone()];
            if range.clone().any(|k| !self.recorded.at(frame).q(k)) {
                range.clone().for_each(|k| self.recorded.lose_configuration(frame, k));
                let last = self.states.last().map_or(&fill.q[range.clone()], |s| &s.q[range]);
                q.copy_from_slice(last);
                continue;
            }
            let unit = unit_quaternion([q[0], q[1], q[2], q[3]]).map_err(|norm| {
                let message = format!("starts a quaternion of norm {norm}, which must be 1");
                row.error(columns.q[range.start].map_or(0, |place| place.column), message)
            })?;
            // q and -q are one rotation: the sign is that of the frame before.
            let last = self.states.last().map_or(&unit[..], |last| &last.q[range]);
            let dot: f64 = last.iter().zip(unit).map(|(a, b)| a * b).sum();
            let sign = if dot < 0.0 { -1.0 } else { 1.0 };
            q.copy_from_slice(&unit.map(|x| sign * x + 0.0));
        }
        self.times.push(time);
        self.states.push(state);
        Ok(())
    }

    /// Fills in what is missing at single frames: from the frames before and after, or, `between` not being
    /// asked for and at the ends, from the nearest. What is missing at all frames is not recorded.
    fn fill_gaps(&mut self, model: &Model, between: bool) {
        if !self.recorded.has_gaps() {
            return;
        }
        for joint in model.bodies.iter().map(|body| &body.joint) {
            let Some(coordinates) = joint.kind.coordinates() else { continue };
            let plain = coordinates.quaternion().map_or(1, |(first, _)| first);
            for k in joint.q..joint.q + plain {
                if self.recorded.q[k]
                    && !self.fill(k..k + 1, |known| known.q(k), |state| &mut state.q, between)
                {
                    self.recorded.q[k] = false;
                }
            }
            if let Some((first, _)) = coordinates.quaternion() {
                let range = joint.q + first..joint.q + first + 4;
                let k = range.start;
                if self.recorded.q[k]
                    && !self.fill(range.clone(), |known| known.q(k), |state| &mut state.q, between)
                {
                    self.recorded.q[range].fill(false);
                }
            }
            for k in joint.v..joint.v + coordinates.nv() {
                if self.recorded.v[k]
                    && !self.fill(k..k + 1, |known| known.v(k), |state| &mut state.v, between)
                {
                    self.recorded.v[k] = false;
                }
            }
        }
        self.recorded.drop_unrecorded_gaps();
    }

    /// Fills in some numbers of the states, one or a quaternion; false if no frame has them.
    fn fill(
        &mut self,
        range: Range<usize>,
        measured: impl Fn(Known) -> bool,
        numbers: fn(&mut State<f64>) -> &mut Vec<f64>,
        between: bool,
    ) -> bool {
        let frames = 0..self.states.len();
        let known: Vec<usize> =
            frames.clone().filter(|&frame| measured(self.recorded.at(frame))).collect();
        for frame in frames {
            let next = known.partition_point(|&other| other < frame);
            let before = next.checked_sub(1).and_then(|last| known.get(last)).copied();
            let after = known.get(next).copied();
            if after == Some(frame) {
                continue;
            }
            let Some(a) = before.or(after) else { return false };
            let b = after.filter(|_| between).unwrap_or(a);
            let mut filled = numbers(&mut self.states[a])[range.clone()].to_vec();
            if a != b {
                let share = (self.times[frame] - self.times[a]) / (self.times[b] - self.times[a]);
                let there = numbers(&mut self.states[b])[range.clone()].to_vec();
                let kind =
                    if filled.len() == 4 { Coordinates::Rotation } else { Coordinates::Number };
                let mut way = Vec::new();
                kind.difference(&filled, &there, &mut way);
                way.iter_mut().for_each(|x| *x *= share);
                kind.advance(&mut filled, &way);
            }
            numbers(&mut self.states[frame])[range.clone()].copy_from_slice(&filled);
        }
        true
    }

    /// Undoes the wrapping of the angles of joints about an axis.
    fn unwrap_angles(&mut self, model: &Model) {
        // Wrapped angles are often rounded.
        const ROUNDING: f64 = 1e-3;
        for Joint { kind, q, .. } in model.bodies.iter().map(|body| &body.joint) {
            if !(kind.has_axis() && kind.turns() && self.recorded.q[*q]) {
                continue;
            }
            let within = |least: f64, most: f64| {
                let range = least - ROUNDING..=most + ROUNDING;
                self.states.iter().all(|state| range.contains(&state.q[*q]))
            };
            if !within(-PI, PI) && !within(0.0, TAU) {
                continue;
            }
            let (mut turns, mut last) = (0.0, self.states[0].q[*q]);
            for state in &mut self.states {
                let angle = &mut state.q[*q];
                let jump = *angle - last;
                last = *angle;
                if jump.abs() > PI {
                    turns -= jump.signum();
                }
                *angle += turns * TAU;
            }
        }
    }

    /// Fills in the velocities that are not recorded, where the configurations are, by backward
    /// differences; the first frame has those of the second.
    fn derive_velocities(&mut self, model: &Model) {
        for frame in 1..self.states.len() {
            let dt = self.times[frame] - self.times[frame - 1];
            let (before, after) = self.states.split_at_mut(frame);
            let (before, after) = (&mut before[frame - 1], &mut after[0]);
            for joint in model.bodies.iter().map(|body| &body.joint) {
                let Some(coordinates) = joint.kind.coordinates() else { continue };
                let (from, to) = (&before.q[joint.q..], &after.q[joint.q..]);
                let turned = coordinates.quaternion().map(|(first, turn)| {
                    let quaternion = |q: &[f64]| [0, 1, 2, 3].map(|k| q[first + k]);
                    (turn, rotation_vector(quaternion(from), quaternion(to)))
                });
                for k in 0..coordinates.nv() {
                    let place = joint.v + k;
                    if self.recorded.v[place] || !self.recorded.knows_configuration(joint, k) {
                        continue;
                    }
                    let difference = match turned {
                        Some((turn, turned)) if k >= turn => turned[k - turn],
                        _ => to[k] - from[k],
                    };
                    after.v[place] = difference / dt;
                    if frame == 1 {
                        before.v[place] = after.v[place];
                    }
                }
            }
        }
    }
}

/// log(a⁻¹ b): the rotation from a to b, as a vector along its axis in the body frame, rad.
fn rotation_vector([a0, a1, a2, a3]: [f64; 4], [b0, b1, b2, b3]: [f64; 4]) -> [f64; 3] {
    let w = a0 * b0 + a1 * b1 + a2 * b2 + a3 * b3;
    let axis = [
        a0 * b1 - a1 * b0 - a2 * b3 + a3 * b2,
        a0 * b2 + a1 * b3 - a2 * b0 - a3 * b1,
        a0 * b3 - a1 * b2 + a2 * b1 - a3 * b0,
    ];
    let sine = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
    // The angle over the sine of its half, which tends to 2.
    let scale = if sine > 0.0 { 2.0 * sine.atan2(w) / sine } else { 2.0 };
    axis.map(|x| scale * x)
}

packed!(Trajectory { name, times, states, recorded });
