//! The columns of a trajectory file.

use std::collections::HashMap;

use super::column_map::{ColumnMap, Place, Scale, Source};
use super::column_names::{
    Column, Number, TIME, all, alone, by_name, joints, of_body, of_joint, unknown,
};
use super::recorded::Recorded;
use super::recording_file::RecordingFile;
use super::rotation_form::RotationForm;
use crate::Error;
use crate::model::{Body, Model};
use crate::state::Coordinates;

/// Columns of a trajectory to be written: always `t`, then any others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnSelection {
    pub(super) names: Vec<String>,
    pub(super) numbers: Vec<Number>,
}

impl ColumnSelection {
    /// What is recorded, joint by joint.
    pub(super) fn recorded(model: &Model, recorded: &Recorded) -> ColumnSelection {
        let is_recorded = |number: Number| match number {
            Number::Time => true,
            Number::Q(k) => recorded.q.get(k).copied().unwrap_or(true),
            Number::V(k) => recorded.v.get(k).copied().unwrap_or(true),
        };
        let (mut selection, alone) = (ColumnSelection::time(), alone(model));
        for column in all(model).filter(|column| is_recorded(column.number)) {
            selection.push(&column, alone);
        }
        selection
    }

    /// The columns of a list such as `link1/px,link2/*`, in its order.
    ///
    /// # Errors
    /// In words, if a name stands for nothing or comes twice.
    pub fn parse(list: &str, model: &Model) -> Result<ColumnSelection, String> {
        let (mut selection, alone) = (ColumnSelection::time(), alone(model));
        for name in list.split(',').map(str::trim).filter(|&name| name != TIME) {
            let found = match name.strip_suffix("/*") {
                Some(body) => of_body(model, body),
                None => by_name(model, name).into_iter().collect(),
            };
            if found.is_empty() {
                return Err(format!("{name:?}: {}", unknown(model, name)));
            }
            for column in found {
                if selection.numbers.contains(&column.number) {
                    return Err(format!("{:?} is given twice", column.name(alone)));
                }
                selection.push(&column, alone);
            }
        }
        Ok(selection)
    }

    fn time() -> ColumnSelection {
        ColumnSelection { names: vec![TIME.to_string()], numbers: vec![Number::Time] }
    }

    fn push(&mut self, column: &Column, alone: bool) {
        self.names.push(column.name(alone));
        self.numbers.push(column.number);
    }
}

/// Where in a row an orientation stands that is written otherwise than we do, and its first number in the configuration.
pub(super) struct RotationPlace {
    pub q: usize,
    pub columns: Vec<usize>,
    pub form: RotationForm,
    pub factor: f64,
}

/// Where in a row each number stands; nothing if it is not recorded, or a part of one of the rotations.
pub(super) struct Columns {
    pub time: Place,
    pub q: Vec<Option<Place>>,
    pub v: Vec<Option<Place>>,
    pub rotations: Vec<RotationPlace>,
}

impl Columns {
    /// Finds the columns in the header of a file.
    pub fn find(file: &RecordingFile, model: &Model, map: &ColumnMap) -> Result<Columns, Error> {
        file.demand_header()?;
        let header = Header { file, alone: alone(model) };
        let time = header.find(|column| column == map.time.0)?;
        let time = time.ok_or_else(|| header.missing(&map.time.0, ""))?;
        let time = Place { column: time, scale: map.time.1 };
        let mut columns = Columns {
            time,
            q: vec![None; model.nq()],
            v: vec![None; model.nv()],
            rotations: Vec::new(),
        };
        for rotation in
            map.rotations.iter().filter(|rotation| map.q[rotation.q] == Source::Rotation)
        {
            let places = rotation.columns.iter().map(|name| {
                let found = header.find(|column| column == name)?;
                found.ok_or_else(|| header.missing(name, ""))
            });
            columns.rotations.push(RotationPlace {
                q: rotation.q,
                columns: places.collect::<Result<_, _>>()?,
                form: rotation.form,
                factor: rotation.factor,
            });
        }
        for (body, kind) in joints(model) {
            for column in of_joint(body, kind) {
                match column.number {
                    Number::Time => {}
                    Number::Q(k) => columns.q[k] = header.find_source(&column, &map.q[k], true)?,
                    Number::V(k) => columns.v[k] = header.find_source(&column, &map.v[k], false)?,
                }
            }
            columns.check_quaternion(file, body, kind)?;
            columns.check_velocities(&header, body, kind, map)?;
        }
        columns.check_shared(&header, model)?;
        Ok(columns)
    }

    /// Which numbers have a column.
    pub fn recorded(&self) -> Recorded {
        let given = |columns: &[Option<Place>]| columns.iter().map(Option::is_some).collect();
        let mut recorded = Recorded::new(given(&self.q), given(&self.v));
        for rotation in &self.rotations {
            recorded.q[rotation.q..rotation.q + 4].fill(true);
        }
        recorded
    }

    /// All columns of the state.
    pub fn all(&self) -> impl Iterator<Item = usize> {
        let single = self.q.iter().chain(&self.v).flatten().map(|place| place.column);
        single.chain(self.rotations.iter().flat_map(|rotation| rotation.columns.iter().copied()))
    }

    /// A quaternion is recorded as a whole, or not at all.
    fn check_quaternion(
        &self,
        file: &RecordingFile,
        body: &Body,
        kind: Coordinates,
    ) -> Result<(), Error> {
        let Some((first, _)) = kind.quaternion() else { return Ok(()) };
        let first = body.joint.q + first;
        let given = self.q[first..first + 4].iter().flatten().count();
        if given == 0 || given == 4 {
            return Ok(());
        }
        let message = format!(
            "{given} of the 4 numbers of the quaternion of {:?} are recorded, the others are said not \
             to be; it takes all 4, or none",
            body.name
        );
        Err(file.header_error("", message))
    }

    /// If one component of a vector is there, the absence of another is a mistake, unless it is said
    /// that there is none.
    fn check_velocities(
        &self,
        header: &Header,
        body: &Body,
        kind: Coordinates,
        map: &ColumnMap,
    ) -> Result<(), Error> {
        let joint = &body.joint;
        let velocities = |turns: bool| {
            let fields = of_joint(body, kind).skip(kind.nq()).enumerate();
            fields.filter(move |(k, _)| {
                kind.quaternion().is_some_and(|(_, turn)| *k >= turn) == turns
            })
        };
        for turns in [false, true] {
            if !velocities(turns).any(|(k, _)| self.v[joint.v + k].is_some()) {
                continue;
            }
            for (k, column) in velocities(turns) {
                let said = map.v[joint.v + k] == Source::Unrecorded
                    || !self.recorded().q[joint.q + kind.moved_by(k)];
                if self.v[joint.v + k].is_none() && !said {
                    let name = match &map.v[joint.v + k] {
                        Source::Shared(name) => name.clone(),
                        _ => column.name(header.alone),
                    };
                    return Err(header.missing(&name, ""));
                }
            }
        }
        Ok(())
    }

    /// Each column stands for one number.
    fn check_shared(&self, header: &Header, model: &Model) -> Result<(), Error> {
        let mut taken = HashMap::from([(self.time.column, TIME.to_string())]);
        let mut take = |place: usize, name: String| match taken.insert(place, name.clone()) {
            None => Ok(()),
            Some(other) => {
                let message =
                    format!("stands for both {other} and {name}; give each its own column");
                let column = header.file.header.get(place).unwrap_or("");
                Err(header.file.header_error(column, message))
            }
        };
        for column in all(model) {
            let place = match column.number {
                Number::Time => None,
                Number::Q(k) => self.q[k],
                Number::V(k) => self.v[k],
            };
            if let Some(place) = place {
                take(place.column, column.name(header.alone))?;
            }
            let starts = |rotation: &&RotationPlace| column.number == Number::Q(rotation.q);
            for &place in self.rotations.iter().find(starts).into_iter().flat_map(|r| &r.columns) {
                take(place, format!("{}/orientation", column.body))?;
            }
        }
        Ok(())
    }
}

/// The first line of a file.
struct Header<'a> {
    file: &'a RecordingFile,
    /// Whether there is one joint only, whose name may be left out.
    alone: bool,
}

impl Header<'_> {
    /// The column of a name.
    fn find(&self, is: impl Fn(&str) -> bool) -> Result<Option<usize>, Error> {
        self.file.demand_numbers(&is)?;
        let mut found = self.file.columns().enumerate().filter(|(_, column)| is(column));
        let first = found.next();
        match found.next() {
            Some((_, column)) => Err(self.file.header_error(column, "is given twice")),
            None => Ok(first.map(|(index, _)| index)),
        }
    }

    /// The column that a number stands in; `required`: an error if there is none.
    fn find_source(
        &self,
        column: &Column,
        source: &Source,
        required: bool,
    ) -> Result<Option<Place>, Error> {
        let ours = column.name(self.alone);
        if let Source::Column(name, _) | Source::Shared(name) = source {
            self.file.demand_numbers_in(name)?;
        }
        let place =
            |found: Option<usize>, scale: Scale| found.map(|column| Place { column, scale });
        match source {
            Source::Unrecorded | Source::Rotation => Ok(None),
            Source::Own(scale) => match self.find(|name| column.is(name, self.alone))? {
                None if required => Err(self.missing(&ours, "")),
                found => Ok(place(found, *scale)),
            },
            Source::Column(name, scale) => match self.find(|other| other == name)? {
                None => Err(self.missing(name, &ours)),
                found => Ok(place(found, *scale)),
            },
            Source::Shared(name) => match self.find(|other| other == name)? {
                None if required => Err(self.missing(name, &ours)),
                found => Ok(place(found, Scale::ONE)),
            },
        }
    }

    /// `ours`: what it is looked for, if that has another name.
    fn missing(&self, name: &str, ours: &str) -> Error {
        let purpose = if ours.is_empty() { String::new() } else { format!(" ({ours})") };
        let message = format!(
            "the column is missing{purpose}; {}; [columns] of an experiment says which columns have other names, or are not \
             recorded",
            self.file.begins_with(name)
        );
        self.file.header_error(name, message)
    }
}
