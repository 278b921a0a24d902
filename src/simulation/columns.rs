//! The columns of a trajectory file.

use csv::StringRecord;

use crate::Error;
use crate::model::{Body, Model};
use crate::state::{Coordinates, NQ, NV};

const TIME: &str = "t";
const Q: [&str; NQ] = ["px", "py", "pz", "qw", "qx", "qy", "qz"];
const V: [&str; NV] = ["vx", "vy", "vz", "wx", "wy", "wz"];

/// The names of the numbers of a joint.
fn fields(kind: Coordinates) -> (&'static [&'static str], &'static [&'static str]) {
    match kind {
        Coordinates::Pose => (&Q, &V),
        Coordinates::Rotation => (&Q[3..], &V[3..]),
        Coordinates::Number => (&["q"], &["v"]),
    }
}

/// The bodies that have numbers in the state, with the names of these.
fn joints(model: &Model) -> impl Iterator<Item = (&Body, [&'static [&'static str]; 2])> {
    model.bodies.iter().filter_map(|body| {
        let (q, v) = fields(body.joint.kind.coordinates()?);
        Some((body, [q, v]))
    })
}

/// Whether there is one joint only, whose name may be left out.
fn alone(model: &Model) -> bool {
    joints(model).count() == 1
}

/// The columns that are written, in their order.
pub(super) fn names(model: &Model, with_velocities: bool) -> Vec<String> {
    let mut names = vec![TIME.to_string()];
    for (body, [q, v]) in joints(model) {
        let fields = q.iter().chain(v.iter().filter(|_| with_velocities));
        match alone(model) {
            true => names.extend(fields.map(|field| field.to_string())),
            false => names.extend(fields.map(|field| format!("{}/{field}", body.name))),
        }
    }
    names
}

/// Where in a row each number stands.
pub(super) struct Columns {
    time: usize,
    /// In the order of the state.
    pub q: Vec<usize>,
    /// Empty if the file has no velocities.
    pub v: Vec<usize>,
}

impl Columns {
    /// Finds the columns in the header; `file` for messages.
    pub fn find(header: &StringRecord, file: &str, model: &Model) -> Result<Columns, Error> {
        if header.iter().all(str::is_empty) {
            return Err(Error::input(file, 1, TIME, "is missing: the file is empty"));
        }
        let header = Header { header, file, alone: alone(model) };
        let mut columns =
            Columns { time: header.required(TIME, None)?, q: Vec::new(), v: Vec::new() };
        let mut has_velocities = false;
        for (body, [_, v]) in joints(model) {
            for field in v {
                has_velocities |= header.find(field, Some(&body.name))?.is_some();
            }
        }
        for (body, [q, v]) in joints(model) {
            for field in q {
                columns.q.push(header.required(field, Some(&body.name))?);
            }
            for field in v.iter().filter(|_| has_velocities) {
                columns.v.push(header.required(field, Some(&body.name))?);
            }
        }
        Ok(columns)
    }

    pub fn time(&self) -> usize {
        self.time
    }

    pub fn has_velocities(&self) -> bool {
        !self.v.is_empty()
    }
}

/// The first line of a file.
struct Header<'a> {
    header: &'a StringRecord,
    file: &'a str,
    /// Whether there is one joint only, whose name may be left out.
    alone: bool,
}

impl Header<'_> {
    /// The column of a field, of a body or of the frame.
    fn find(&self, field: &str, body: Option<&str>) -> Result<Option<usize>, Error> {
        let matches = |column: &str| match body {
            None => column == field,
            Some(body) => {
                let own = column.strip_prefix(body).and_then(|rest| rest.strip_prefix('/'));
                own == Some(field) || self.alone && column == field
            }
        };
        let mut found = self.header.iter().enumerate().filter(|(_, column)| matches(column));
        let first = found.next();
        match found.next() {
            Some((_, column)) => Err(Error::input(self.file, 1, column, "is given twice")),
            None => Ok(first.map(|(index, _)| index)),
        }
    }

    fn required(&self, field: &str, body: Option<&str>) -> Result<usize, Error> {
        self.find(field, body)?.ok_or_else(|| {
            let name = match body {
                Some(body) if !self.alone => format!("{body}/{field}"),
                _ => field.to_string(),
            };
            let columns: Vec<&str> = self.header.iter().take(20).collect();
            let message =
                format!("the column is missing; the file begins with {}", columns.join(","));
            Error::input(self.file, 1, name, message)
        })
    }
}

/// A row, with its place in messages.
pub(super) struct Row<'a> {
    pub header: &'a StringRecord,
    pub record: &'a StringRecord,
    pub file: &'a str,
    pub line: usize,
}

impl Row<'_> {
    /// An error unless the row has as many fields as the header.
    pub fn check_length(&self) -> Result<(), Error> {
        let (found, expected) = (self.record.len(), self.header.len());
        if found == expected {
            return Ok(());
        }
        let column = found.min(expected - 1);
        Err(self.error(column, format!("the row has {found} fields, the header {expected}")))
    }

    /// A finite number; never -0.
    pub fn number(&self, column: usize) -> Result<f64, Error> {
        let text = self.record.get(column).unwrap_or("");
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number + 0.0),
            Ok(_) => Err(self.error(column, format!("must be finite, found {text}"))),
            Err(_) => Err(self.error(column, format!("must be a number, found {text:?}"))),
        }
    }

    /// An error about a field of this row.
    pub fn error(&self, column: usize, message: String) -> Error {
        let name = self.header.get(column).unwrap_or("");
        Error::input(self.file, self.line, name, message)
    }
}
