//! Inputs over time, from a file.

use std::path::Path;

use super::column_names::{TIME, by_name};
use super::input_names::{input_named, known_inputs};
use super::recording_file::RecordingFile;
use super::signal::{Between, SAME_TIME, Signal};
use crate::Error;
use crate::model::Model;

/// Inputs of a simulation over time, from a file ([`RecordingFile`]): a column `t` (s) and one for each control or force.
///
/// A column has the name of an actuator (its control) or a push (how much of it acts), or is a force along a velocity: `body/f` of a joint
/// with one coordinate, `body/tx,ty,tz` of a ball joint, `body/fx,fy,fz,tx,ty,tz` of a free body. Inputs
/// without a column stay as the scene has them. Values are held from row to row, the last to the end; a step over the end of a row
/// has their mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Controls {
    begin: f64,
    /// Which inputs of a step there are, and what they are over time.
    signals: Vec<(usize, Signal)>,
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

    fn read(file: &RecordingFile, model: &Model) -> Result<Controls, Error> {
        let (time, columns) = find(file, model)?;
        file.demand_whole()?;
        let mut times: Vec<f64> = Vec::new();
        let mut known: Vec<Vec<(f64, f64)>> = vec![Vec::new(); columns.len()];
        let mut line = 1;
        for row in file.rows() {
            line = row.line;
            let now = row.number(time)?;
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
                if file.may_end(&row, column) {
                    continue;
                }
                known.push((now, row.number(column)?));
            }
        }
        let Some(&begin) = times.first() else {
            return Err(Error::input(&file.name, line, TIME, "there are no rows: add one at 0 s"));
        };
        let signals = columns
            .iter()
            .zip(known)
            .filter_map(|(&(_, place), known)| Some((place, Signal::new(known, Between::Held)?)));
        Ok(Controls { begin, signals: signals.collect() })
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

/// The column of the times, and those of inputs, each with its place among them.
fn find(file: &RecordingFile, model: &Model) -> Result<(usize, Vec<(usize, usize)>), Error> {
    file.demand_header()?;
    let (mut time, mut columns) = (None, Vec::<(usize, usize)>::new());
    for (column, name) in file.columns().enumerate() {
        let twice = || file.header_error(name, "is given twice");
        if name == TIME {
            if time.replace(column).is_some() {
                return Err(twice());
            }
            continue;
        }
        // Archives of motions have what drove them.
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
    if columns.is_empty() {
        let message = "there is no column beside t: name an actuator";
        return Err(file.header_error("", message));
    }
    Ok((time, columns))
}
