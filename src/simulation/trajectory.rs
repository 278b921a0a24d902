//! A motion sampled over time, and its CSV file.

use std::io;
use std::path::Path;

use super::columns::{Columns, Row};
use crate::Error;
use crate::model::Model;
use crate::state::{State, unit_quaternion};

/// A motion sampled over time, kept in a CSV file.
///
/// Columns: `t`, then for each free body `px,py,pz,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz`, for each ball joint
/// `qw,qx,qy,qz,wx,wy,wz` and for each joint with one coordinate `q,v`, in the units and
/// frames of [`State`]. With several joints every column but `t` is prefixed by the name of its
/// body, `cube/px`; with one the prefix may be left out. Columns may stand in any order, others are
/// ignored. The velocities may be left out altogether.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    /// Where it comes from: the file as it was given.
    pub name: String,
    /// Times of the frames, s, increasing.
    pub times: Vec<f64>,
    /// One state a frame; when read, quaternions are unit and do not change sign between frames.
    pub states: Vec<State<f64>>,
    /// Whether the velocities were given; if not, they are differences of the configurations.
    pub has_velocities: bool,
}

impl Trajectory {
    /// Reads a CSV file.
    pub fn load(path: impl AsRef<Path>, model: &Model) -> Result<Trajectory, Error> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|error| Error::io(path, error))?;
        Trajectory::parse(&text, &path.display().to_string(), model)
    }

    /// Reads the text of a CSV file; `name` stands for the file in messages.
    pub fn parse(text: &str, name: &str, model: &Model) -> Result<Trajectory, Error> {
        let mut reader = csv::ReaderBuilder::new();
        let mut reader = reader.flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
        let header = reader.headers().map_err(|error| csv_error(name, error))?.clone();
        let columns = Columns::find(&header, name, model)?;
        let mut trajectory = Trajectory {
            name: name.to_string(),
            times: Vec::new(),
            states: Vec::new(),
            has_velocities: columns.has_velocities(),
        };
        let mut line = 1;
        for record in reader.records() {
            let record = record.map_err(|error| csv_error(name, error))?;
            line = record.position().map_or(line, |position| line_of(text, position));
            let row = Row { header: &header, record: &record, file: name, line };
            row.check_length()?;
            trajectory.push(model, &row, &columns)?;
        }
        let frames = trajectory.times.len();
        if frames < 2 {
            let message = format!("at least 2 frames are needed, found {frames}");
            return Err(Error::input(name, line, "t", message));
        }
        if !trajectory.has_velocities {
            trajectory.derive_velocities(model);
        }
        Ok(trajectory)
    }

    /// Writes it as CSV such that reading it gives the same numbers. Velocities are written if
    /// they were given.
    pub fn write(&self, model: &Model, output: impl io::Write) -> Result<(), Error> {
        let io_error = |error: csv::Error| csv_error(&self.name, error);
        let names = super::columns::names(model, self.has_velocities);
        let mut writer = csv::Writer::from_writer(output);
        writer.write_record(&names).map_err(io_error)?;
        let mut numbers = Vec::with_capacity(names.len());
        for (frame, (time, state)) in self.times.iter().zip(&self.states).enumerate() {
            numbers.clear();
            numbers.push(*time);
            let (mut q, mut v) = (&state.q[..], &state.v[..]);
            for joint in model.coordinates() {
                let (own_q, own_v);
                (own_q, q) = q.split_at(joint.nq().min(q.len()));
                (own_v, v) = v.split_at(joint.nv().min(v.len()));
                numbers.extend(own_q);
                numbers.extend(own_v.iter().filter(|_| self.has_velocities));
            }
            // What is too much for the model, to be counted.
            numbers.extend(q);
            numbers.extend(v.iter().filter(|_| self.has_velocities));
            let line = frame + 2;
            if numbers.len() != names.len() {
                let message = format!(
                    "frame {frame} has {} numbers, the model {}",
                    numbers.len(),
                    names.len()
                );
                return Err(Error::input(&self.name, line, "", message));
            }
            if let Some(bad) = numbers.iter().position(|x| !x.is_finite()) {
                let message = format!("is {} in frame {frame}: not written", numbers[bad]);
                return Err(Error::input(&self.name, line, &names[bad], message));
            }
            // Adding 0 turns -0 into 0.
            let fields = numbers.iter().map(|x| (x + 0.0).to_string());
            writer.write_record(fields).map_err(io_error)?;
        }
        writer.flush().map_err(|error| Error::io(&self.name, error))
    }

    /// Appends the frame of a row.
    fn push(&mut self, model: &Model, row: &Row, columns: &Columns) -> Result<(), Error> {
        let time = row.number(columns.time())?;
        if let Some(last) = self.times.last().filter(|&&last| time <= last) {
            let message = format!("must increase from row to row, found {time} after {last}");
            return Err(row.error(columns.time(), message));
        }
        let numbers = |columns: &[usize]| {
            columns.iter().map(|&k| row.number(k)).collect::<Result<Vec<f64>, Error>>()
        };
        let mut state = State { q: numbers(&columns.q)?, v: vec![0.0; model.nv()] };
        let mut first = 0;
        for joint in model.coordinates() {
            if let Some((quaternion, _)) = joint.quaternion() {
                let range = first + quaternion..first + quaternion + 4;
                let q = &mut state.q[range.clone()];
                let unit = unit_quaternion([q[0], q[1], q[2], q[3]]).map_err(|norm| {
                    let message = format!("starts a quaternion of norm {norm}, which must be 1");
                    row.error(columns.q[range.start], message)
                })?;
                // q and -q are one rotation: the sign is that of the frame before.
                let last = self.states.last().map_or(&unit[..], |last| &last.q[range]);
                let dot: f64 = last.iter().zip(unit).map(|(a, b)| a * b).sum();
                let sign = if dot < 0.0 { -1.0 } else { 1.0 };
                q.copy_from_slice(&unit.map(|x| sign * x + 0.0));
            }
            first += joint.nq();
        }
        if self.has_velocities {
            state.v = numbers(&columns.v)?;
        }
        self.times.push(time);
        self.states.push(state);
        Ok(())
    }

    /// Fills in the velocities by backward differences; the first frame has those of the second.
    fn derive_velocities(&mut self, model: &Model) {
        for frame in 1..self.states.len() {
            let dt = self.times[frame] - self.times[frame - 1];
            let (before, after) = self.states.split_at_mut(frame);
            let (before, after) = (&mut before[frame - 1], &mut after[0]);
            let (mut q, mut v) = (0, 0);
            for joint in model.coordinates() {
                let (from, to) = (&before.q[q..], &after.q[q..]);
                let plain = joint.quaternion().map_or(1, |(first, _)| first);
                for k in 0..plain {
                    after.v[v + k] = (to[k] - from[k]) / dt;
                }
                if let Some((first, turn)) = joint.quaternion() {
                    let quaternion = |q: &[f64]| [0, 1, 2, 3].map(|k| q[first + k]);
                    let turned = rotation_vector(quaternion(from), quaternion(to));
                    for k in 0..3 {
                        after.v[v + turn + k] = turned[k] / dt;
                    }
                }
                (q, v) = (q + joint.nq(), v + joint.nv());
            }
            if frame == 1 {
                before.v.copy_from_slice(&after.v);
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

/// The line of a record: its position comes before the blank lines that precede it.
fn line_of(text: &str, position: &csv::Position) -> usize {
    let rest = text.as_bytes().iter().skip(position.byte() as usize);
    let blank = rest.take_while(|byte| matches!(byte, b'\n' | b'\r')).filter(|&&b| b == b'\n');
    position.line() as usize + blank.count()
}

fn csv_error(name: &str, error: csv::Error) -> Error {
    let line = error.position().map(|position| position.line() as usize);
    let message = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(error) => Error::io(name, error),
        _ => Error::input(name, line, "", message),
    }
}
