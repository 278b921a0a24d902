//! Inputs over time, from a file.

use std::path::Path;

use super::Trajectory;
use super::column_names::{Number, TIME, by_name};
use super::input_names::{input_named, known_inputs};
use super::prescribed_motion::velocities_between;
use super::recording_file::{RecordingFile, Row};
use super::signal::{Between, SAME_TIME, Signal};
use crate::Error;
use crate::model::Model;
use crate::spatial::{conjugate, exp, log, product};
use crate::state::{NQ, NV, State, unit_quaternion};

/// Inputs of a simulation over time, from a file ([`RecordingFile`]): a column `t` (s) and one for each control or force.
///
/// A column has the name of an actuator (its control) or a push (how much of it acts), or is a force along a velocity: `body/f` of a joint
/// with one coordinate, `body/tx,ty,tz` of a ball joint, `body/fx,fy,fz,tx,ty,tz` of a free body, or a velocity that is prescribed,
/// `body/set_vx`. Inputs
/// without a column stay as the scene has them. Values are held from row to row, the last to the end; a step over the end of a row
/// has their mean.
///
/// A body whose velocity is prescribed can have poses in its place (`body/px`, `py`, `pz`, with or without `qw`, `qx`, `qy`, `qz`): it
/// goes from one to the next in straight and even motion, and stands still before the first and after the last. Where all three velocities
/// along, or about, the axes have columns as well, as in archives of motions, these count, and of the poses the first.
#[derive(Clone, Debug, PartialEq)]
pub struct Controls {
    begin: f64,
    /// Which inputs of a step there are, and what they are over time.
    signals: Vec<(usize, Signal)>,
    /// The bodies that are led along poses.
    led: Vec<Led>,
}

/// What an input is from times (s) on.
type Values = Vec<(f64, f64)>;

/// A body that is led along poses, and their columns.
#[derive(Clone, Debug, PartialEq)]
struct Led {
    body: usize,
    columns: [Option<usize>; NQ],
    /// Of its velocities, whether they have columns themselves.
    set: [bool; NV],
    poses: Vec<(f64, [f64; NQ])>,
}

impl Led {
    /// Takes the pose in a row, if it is whole.
    fn add(&mut self, row: &Row, now: f64) -> Result<(), Error> {
        let mut pose = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
        for (number, column) in pose.iter_mut().zip(self.columns) {
            let Some(column) = column else { continue };
            let Some(found) = row.measured(column)? else { return Ok(()) };
            *number = found;
        }
        let [x, y, z, orientation @ ..] = pose;
        let column = self.columns[3].unwrap_or(0);
        let [w, i, j, k] = unit_quaternion(orientation).map_err(|norm| {
            row.error(column, format!("must be a unit quaternion, found one of norm {norm}"))
        })?;
        self.poses.push((now, [x, y, z, w, i, j, k]));
        Ok(())
    }
}

impl Controls {
    /// Reads a file.
    pub fn load(path: impl AsRef<Path>, model: &Model) -> Result<Controls, Error> {
        Controls::read(&RecordingFile::load(path)?, model)
    }

    /// Reads the text of a CSV file; `name` stands for the file in messages.
    pub fn parse(text: &str, name: &str, model: &Model) -> Result<Controls, Error> {
        Controls::read(&RecordingFile::parse(text, name)?, model)
    }

    /// Reads the inputs of a recording, from its first row on: `names` has the columns that count, with what each is [called](Controls) in
    /// files of controls. An input that is empty in a row is what it was before; poses may be missing in rows between the first and the last.
    ///
    /// # Errors
    /// As for files of controls. If an input has no value, or a body no pose in the first row or the last.
    pub fn recorded(
        file: &RecordingFile,
        names: &[(usize, String)],
        model: &Model,
    ) -> Result<Controls, Error> {
        let names: Vec<(usize, &str)> = names.iter().map(|(k, name)| (*k, name.as_str())).collect();
        Controls::read_named(file, &names, true, model)
    }

    fn read(file: &RecordingFile, model: &Model) -> Result<Controls, Error> {
        let names: Vec<(usize, &str)> = file.columns().enumerate().collect();
        Controls::read_named(file, &names, false, model)
    }

    fn read_named(
        file: &RecordingFile,
        names: &[(usize, &str)],
        is_recorded: bool,
        model: &Model,
    ) -> Result<Controls, Error> {
        let (time, columns) = find(file, names, model)?;
        let mut led = led(file, names, model, &columns)?;
        if columns.is_empty() && led.is_empty() {
            let message = "there is no column beside t: name an actuator";
            return Err(file.header_error("", message));
        }
        file.demand_whole()?;
        let mut times: Vec<f64> = Vec::new();
        let mut known: Vec<Values> = vec![Vec::new(); columns.len()];
        let (mut line, mut first) = (1, None);
        for row in file.rows() {
            line = row.line;
            let mut now = row.number(time)?;
            if is_recorded {
                now -= *first.get_or_insert(now);
            }
            match times.last() {
                None if now > SAME_TIME => {
                    let message = format!(
                        "the first row is at {now} s, after the start of the simulation; add one at 0 s"
                    );
                    return Err(row.error(time, message));
                }
                Some(&last) if now <= last => {
                    let message =
                        format!("must increase from row to row, found {now} after {last}");
                    return Err(row.error(time, message));
                }
                _ => times.push(now),
            }
            for (&(column, _), known) in columns.iter().zip(&mut known) {
                let is_empty = is_recorded && row.measured(column)?.is_none();
                if is_empty || file.may_end(&row, column) {
                    continue;
                }
                known.push((now, row.number(column)?));
            }
            led.iter_mut().try_for_each(|led| led.add(&row, now))?;
        }
        let Some(&begin) = times.first() else {
            return Err(Error::input(&file.name, line, TIME, "there are no rows: add one at 0 s"));
        };
        if is_recorded {
            demand_recorded(file, (names, &times), (&columns, &known), &led)?;
        }
        let signals = columns
            .iter()
            .zip(known)
            .filter_map(|(&(_, place), known)| Some((place, Signal::new(known, Between::Held)?)));
        let mut signals: Vec<(usize, Signal)> = signals.collect();
        for Led { body, poses, columns, set } in &led {
            let joint = &model.bodies[*body].joint;
            let velocities = velocities_between(begin, poses.iter().copied());
            let velocities = velocities.into_iter().flatten().enumerate();
            let turned = columns[3].is_some();
            let led = velocities.filter(|&(k, _)| !set[k] && (k < 3 || turned));
            signals.extend(led.map(|(k, signal)| (joint.v + k, signal)));
        }
        Ok(Controls { begin, signals, led })
    }

    /// The controls that lead bodies whose velocity is prescribed along a motion, as far as it was recorded.
    pub fn along(trajectory: &Trajectory, model: &Model) -> Controls {
        let prescribed = (0..model.bodies.len()).filter(|&body| model.is_prescribed(body));
        let clock = |frame: usize| trajectory.times[frame];
        let signals = prescribed
            .flat_map(|body| trajectory.velocities_of_led(&model.bodies[body].joint, clock));
        let begin = trajectory.times.first().copied().unwrap_or(0.0);
        Controls { begin, signals: signals.collect(), led: Vec::new() }
    }

    /// Puts bodies that are led along poses where they are at the start of the simulation, at 0 s, and gives those whose velocity is
    /// prescribed the one that they begin with.
    pub fn place(&self, model: &Model, state: &mut State<f64>) {
        for (place, signal) in &self.signals {
            if model.is_prescribed_velocity(*place) {
                state.v[*place] = signal.held_mean(0.0, 2.0 * SAME_TIME);
            }
        }
        for Led { body, poses, columns, .. } in &self.led {
            let q = model.bodies[*body].joint.q;
            // The first is not later.
            let next = poses.partition_point(|&(time, _)| time <= SAME_TIME);
            let (Some(&(begin, from)), to) = (poses.get(next.saturating_sub(1)), poses.get(next))
            else {
                continue;
            };
            let mut pose = from;
            if let Some(&(end, to)) = to.filter(|_| begin < -SAME_TIME) {
                let share = -begin / (end - begin);
                (0..3).for_each(|k| pose[k] += share * (to[k] - from[k]));
                let turn = |q: &[f64; NQ]| [q[3], q[4], q[5], q[6]];
                let way = log(product(conjugate(turn(&from)), turn(&to))) * share;
                pose[3..].copy_from_slice(&product(turn(&from), exp(way)));
            }
            let known = if columns[3].is_some() { NQ } else { 3 };
            state.q[q..q + known].copy_from_slice(&pose[..known]);
        }
    }

    /// Puts the values of a step of `duration` (s) from a time on among its inputs (see [`step`](crate::simulation::step)); before the
    /// first row nothing is changed.
    pub fn apply(&self, time: f64, duration: f64, inputs: &mut [f64]) {
        if time + SAME_TIME < self.begin {
            return;
        }
        for (place, signal) in &self.signals {
            inputs[*place] = signal.held_mean(time, duration);
        }
    }
}

/// An error if an input of a recording has no value, or a body that is led has no pose at its ends.
fn demand_recorded(
    file: &RecordingFile,
    (names, times): (&[(usize, &str)], &[f64]),
    (columns, known): (&[(usize, usize)], &[Values]),
    led: &[Led],
) -> Result<(), Error> {
    let error = |column: usize, message: &str| {
        let name = file.columns().nth(column);
        let own = names.iter().find(|(place, _)| *place == column).map(|(_, name)| *name);
        Err(file.header_error(name.or(own).unwrap_or_default(), message))
    };
    for (&(column, _), known) in columns.iter().zip(known) {
        if known.is_empty() {
            return error(column, "has no value in any row: what did the input do?");
        }
    }
    for Led { columns, poses, .. } in led {
        let ends = [poses.first(), poses.last()].map(|pose| pose.map(|(time, _)| *time));
        if ends != [times.first().copied(), times.last().copied()] {
            let message = "must have a pose in the first row and in the last: between others the body goes straight, before and after \
                           them it would stand still; cut the recording to where it was seen";
            return error(columns[0].unwrap_or(0), message);
        }
    }
    Ok(())
}

/// The column of the times, and those of inputs, each with its place among them.
fn find(
    file: &RecordingFile,
    names: &[(usize, &str)],
    model: &Model,
) -> Result<(usize, Vec<(usize, usize)>), Error> {
    file.demand_header()?;
    let (mut time, mut columns) = (None, Vec::<(usize, usize)>::new());
    for &(column, name) in names {
        let twice = || file.header_error(name, "is given twice");
        if name == TIME {
            if time.replace(column).is_some() {
                return Err(twice());
            }
            continue;
        }
        // Archives of motions have what drove them; poses lead some bodies.
        if by_name(model, name).is_some() {
            continue;
        }
        let place = input_named(model, name).ok_or_else(|| {
            let message = format!("is no input of the scene; {}", known_inputs(model));
            file.header_error(name, message)
        })?;
        if columns.iter().any(|&(_, other)| other == place) {
            return Err(twice());
        }
        columns.push((column, place));
    }
    let time = match time {
        Some(time) => time,
        None => file.column(TIME, ": rows have a time in s")?,
    };
    Ok((time, columns))
}

/// The bodies whose velocity is prescribed that have poses in a file. `inputs`: the columns of inputs.
fn led(
    file: &RecordingFile,
    names: &[(usize, &str)],
    model: &Model,
    inputs: &[(usize, usize)],
) -> Result<Vec<Led>, Error> {
    let prescribed = (0..model.bodies.len()).filter(|&body| model.is_prescribed(body));
    let mut found: Vec<Led> = prescribed
        .map(|body| {
            let v = model.bodies[body].joint.v;
            let set = |k: usize| inputs.iter().any(|&(_, place)| place == v + k);
            let set = std::array::from_fn(set);
            Led { body, columns: [None; NQ], set, poses: Vec::new() }
        })
        .collect();
    for &(column, name) in names {
        let Some(Number::Q(place)) = by_name(model, name).map(|known| known.number) else {
            continue;
        };
        for Led { body, columns, .. } in &mut found {
            let first = model.bodies[*body].joint.q;
            if let Some(known) = place.checked_sub(first).and_then(|k| columns.get_mut(k)) {
                *known = Some(column);
            }
        }
    }
    found.retain(|Led { columns, .. }| columns.iter().any(Option::is_some));
    for Led { body, columns, set, .. } in &found {
        let missing = |part: std::ops::Range<usize>| columns[part].contains(&None);
        let turned = columns[3..].iter().any(Option::is_some);
        if missing(0..3) || turned && missing(3..NQ) {
            let message = format!(
                "{} is led along poses, of which px, py and pz are needed, and all of qw, qx, qy and qz or none",
                model.bodies[*body].name
            );
            return Err(file.header_error("", message));
        }
        let parts = [(true, &set[..3], "v"), (turned, &set[3..], "w")];
        for (_, own, kind) in parts.into_iter().filter(|(led, ..)| *led) {
            if own.contains(&true) && own.contains(&false) {
                let message = format!(
                    "{} is led along poses: of set_{kind}x, set_{kind}y and set_{kind}z there must be none, or all, which count more",
                    model.bodies[*body].name
                );
                return Err(file.header_error("", message));
            }
        }
    }
    Ok(found)
}
