//! Inputs over time, from a CSV file.

use std::path::Path;

use csv::StringRecord;

use super::column_names::TIME;
use super::rows::{Row, csv_error, line_of, reader};
use crate::Error;
use crate::model::Model;

/// Inputs of a simulation over time, from a CSV file: a column `t` (s) and one for each control or force.
///
/// A column has the name of an actuator (its control) or a push (how much of it acts), or is a force along a velocity: `body/f` of a joint
/// with one coordinate, `body/tx,ty,tz` of a ball joint, `body/fx,fy,fz,tx,ty,tz` of a free body. Inputs
/// without a column stay as the scene has them. Values are held from row to row, the last to the end.
#[derive(Clone, Debug, PartialEq)]
pub struct Controls {
    times: Vec<f64>,
    /// Which inputs of a step the columns are.
    places: Vec<usize>,
    /// A row for each time.
    values: Vec<Vec<f64>>,
}

/// Times that are so near, in s, are the same: rows and steps round differently.
const SAME_TIME: f64 = 1e-9;

impl Controls {
    /// Reads a CSV file.
    pub fn load(path: impl AsRef<Path>, model: &Model) -> Result<Controls, Error> {
        let path = path.as_ref();
        let text = crate::text::read(path, crate::text::MOST_BYTES)?;
        Controls::parse(&text, &path.display().to_string(), model)
    }

    /// Reads the text of a CSV file; `name` stands for the file in messages.
    pub fn parse(text: &str, name: &str, model: &Model) -> Result<Controls, Error> {
        let mut reader = reader(text);
        let header = reader.headers().map_err(|error| csv_error(name, error))?.clone();
        let (time, columns) = find(&header, name, model)?;
        let mut controls = Controls {
            times: Vec::new(),
            places: columns.iter().map(|&(_, place)| place).collect(),
            values: Vec::new(),
        };
        let mut line = 1;
        for record in reader.records() {
            let record = record.map_err(|error| csv_error(name, error))?;
            line = record.position().map_or(line, |position| line_of(text, position));
            let row = Row { header: &header, record: &record, file: name, line };
            row.check_length()?;
            let now = row.time(time, controls.times.last())?;
            if controls.times.is_empty() && now > SAME_TIME {
                let message = format!(
                    "the first row is at {now} s, after the start of the simulation; add one at 0 s"
                );
                return Err(row.error(time, message));
            }
            let values = columns.iter().map(|&(column, _)| row.number(column));
            controls.values.push(values.collect::<Result<_, _>>()?);
            controls.times.push(now);
        }
        if controls.times.is_empty() {
            return Err(Error::input(name, line, TIME, "there are no rows: add one at 0 s"));
        }
        Ok(controls)
    }

    /// Puts the values of a time among the inputs of a step (see [`step`](crate::simulation::step)); before the first
    /// row nothing is changed.
    pub fn apply(&self, time: f64, inputs: &mut [f64]) {
        let rows = self.times.partition_point(|&row| row <= time + SAME_TIME);
        let Some(values) = rows.checked_sub(1).map(|row| &self.values[row]) else { return };
        for (&place, &value) in self.places.iter().zip(values) {
            inputs[place] = value;
        }
    }
}

/// The column of the times, and those of inputs, each with its place among them.
fn find(
    header: &StringRecord,
    file: &str,
    model: &Model,
) -> Result<(usize, Vec<(usize, usize)>), Error> {
    if header.iter().all(str::is_empty) {
        return Err(Error::input(file, 1, TIME, "is missing: the file is empty"));
    }
    let forces = model.input_names();
    let forces = &forces[..model.nv()];
    let (mut time, mut columns) = (None, Vec::<(usize, usize)>::new());
    for (column, name) in header.iter().enumerate() {
        let twice = || Error::input(file, 1, name, "is given twice");
        if name == TIME {
            if time.replace(column).is_some() {
                return Err(twice());
            }
            continue;
        }
        let control = name.strip_suffix("/u").unwrap_or(name);
        let actuators = &model.actuators;
        let names = actuators.iter().map(|actuator| &actuator.name);
        let mut names = names.chain(model.pushes.iter().map(|push| &push.name));
        let actuator = names.position(|known| known == name || known == control);
        let place = match actuator {
            Some(actuator) => model.nv() + actuator,
            None => forces
                .iter()
                .position(|force| force == name)
                .ok_or_else(|| Error::input(file, 1, name, unknown(model, forces)))?,
        };
        if columns.iter().any(|&(_, other)| other == place) {
            return Err(twice());
        }
        columns.push((column, place));
    }
    let time = time.ok_or_else(|| {
        let columns: Vec<&str> = header.iter().take(20).collect();
        let message = format!(
            "the column is missing: rows have a time in s; the file begins with {}",
            columns.join(",")
        );
        Error::input(file, 1, TIME, message)
    })?;
    if columns.is_empty() {
        return Err(Error::input(file, 1, "", "there is no column beside t: name an actuator"));
    }
    Ok((time, columns))
}

/// What columns there can be.
fn unknown(model: &Model, forces: &[String]) -> String {
    const MOST: usize = 20;
    let list = |names: Vec<&str>| match names.len() {
        0 => "none".to_string(),
        1..=MOST => names.join(", "),
        more => format!("{}, and {} more", names[..MOST].join(", "), more - MOST),
    };
    format!(
        "is no input of the scene; actuators: {}; pushes: {}; forces: {}",
        list(model.actuators.iter().map(|actuator| actuator.name.as_str()).collect()),
        list(model.pushes.iter().map(|push| push.name.as_str()).collect()),
        list(forces.iter().map(String::as_str).collect())
    )
}
