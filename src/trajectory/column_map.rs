//! Recordings that name their columns otherwise, write numbers otherwise, or do not have all of them.

use super::Recorded;
use super::column_names::{self, Column, Number, RECORDING, TIME};
use super::recorded_frames::RecordedFrames;
use super::rotation_form::RotationForm;
use super::units::{Quantity, in_si};
use crate::model::Model;
use crate::state::State;

/// Where a number of the state stands in a recording.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Source {
    /// In the column of our own name for it.
    Own(Scale),
    /// In this column.
    Column(String, Scale),
    /// In this column, named together with all others of its body: a velocity may be missing.
    Shared(String),
    /// Part of an orientation that is written otherwise.
    Rotation,
    /// Nowhere.
    Unrecorded,
}

/// What a number of a recording is in our unit: factor x + offset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    pub factor: f64,
    pub offset: f64,
}

impl Scale {
    /// As it is.
    pub const ONE: Scale = Scale { factor: 1.0, offset: 0.0 };

    /// The number in our unit.
    pub fn of(self, x: f64) -> f64 {
        x * self.factor + self.offset
    }
}

/// Where in a row a number stands, and what it is in our unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub column: usize,
    pub scale: Scale,
}

/// An orientation that a recording writes otherwise than as w, x, y, z.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rotation {
    /// Where the quaternion begins in the configuration.
    pub q: usize,
    pub columns: Vec<String>,
    pub form: RotationForm,
    pub factor: f64,
}

/// What an experiment says of the columns of some numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnSource {
    /// Their names; none if they are ours.
    pub columns: Vec<String>,
    /// The unit, if it is not ours.
    pub unit: Option<String>,
    /// What they are multiplied by.
    pub scale: Option<f64>,
    /// What is added then, in our unit.
    pub offset: Option<f64>,
    /// How an orientation is written.
    pub form: Option<RotationForm>,
    /// Whether velocities are along the axes of the body (true) or of the frame that positions are recorded in, if that is said.
    pub in_body: Option<bool>,
}

/// Which columns of a recording hold what: our names for the numbers of the state
/// ([`Trajectory`](super::Trajectory)), and those of the recording.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnMap {
    pub(super) time: (String, Scale),
    /// What tells the recordings of a table apart, if that is said.
    pub(super) recording: Option<String>,
    pub(super) q: Vec<Source>,
    pub(super) v: Vec<Source>,
    pub(super) rotations: Vec<Rotation>,
    /// The frames that poses and velocities are recorded in, and of.
    pub frames: RecordedFrames,
    /// What stands in all frames where nothing is recorded.
    pub fill: State<f64>,
}

impl ColumnMap {
    /// Our own names for everything.
    pub fn new(model: &Model) -> ColumnMap {
        ColumnMap {
            time: (TIME.to_string(), Scale::ONE),
            recording: None,
            q: vec![Source::Own(Scale::ONE); model.nq()],
            v: vec![Source::Own(Scale::ONE); model.nv()],
            rotations: Vec::new(),
            frames: RecordedFrames::default(),
            fill: State::at_zero(model.coordinates()),
        }
    }

    /// Says where `ours` (`body/q`, `t`, or `recording`, by which the recordings of a table are told apart) stands: in the column `theirs`, or nowhere. `body/*` stands
    /// for all numbers of a body; the column is then a pattern, in which `*` stands for our name
    /// without the body: `*` or `object_*`. `body/position`, `body/orientation`, `body/velocity` and
    /// `body/angular_velocity` stand for those of a free body or ball joint. What is said later counts.
    ///
    /// # Errors
    /// In words, if there is no such number, or no such column can be.
    pub fn set(&mut self, model: &Model, ours: &str, theirs: Option<&str>) -> Result<(), String> {
        if theirs.is_some_and(|theirs| theirs.trim().is_empty()) {
            return Err("must be the name of a column, or false if it is not recorded".into());
        }
        if ours == TIME {
            let missing = || "cannot be left out: the frames of a recording have times".to_string();
            self.time.0 = theirs.ok_or_else(missing)?.to_string();
            return Ok(());
        }
        if ours == RECORDING {
            let missing = || "must be the name of a column".to_string();
            self.recording = Some(theirs.ok_or_else(missing)?.to_string());
            return Ok(());
        }
        let (found, pattern) = match ours.strip_suffix("/*") {
            Some(body) => (column_names::of_body(model, body), true),
            None => (column_names::named(model, ours), false),
        };
        if found.is_empty() {
            return Err(column_names::unknown(model, ours));
        }
        if let (Some(theirs), false, true) = (theirs, pattern, found.len() > 1) {
            return Err(format!(
                "stands for {} numbers: give a list of as many columns, found {theirs:?}",
                found.len()
            ));
        }
        for column in found {
            let source = match theirs {
                None => Source::Unrecorded,
                Some(theirs) if !pattern => Source::Column(theirs.to_string(), Scale::ONE),
                Some(theirs) if theirs.matches('*').count() == 1 => {
                    Source::Shared(theirs.replace('*', column.field))
                }
                Some(theirs) => {
                    return Err(format!(
                        "must contain one *, which stands for {} and so on, found {theirs:?}",
                        column.field
                    ));
                }
            };
            self.put(column.number, source);
        }
        Ok(())
    }

    /// Says where `ours` stands, as [`set`](Self::set) does, and how it is written there.
    ///
    /// # Errors
    /// The field that is wrong, and in words why.
    pub fn set_source(
        &mut self,
        model: &Model,
        ours: &str,
        source: &ColumnSource,
    ) -> Result<(), (&'static str, String)> {
        let wrong = |field: &'static str| move |message: String| (field, message);
        if ours == RECORDING {
            return Err(("", "must be the name of a column".into()));
        }
        let found = column_names::named(model, ours);
        let is_time = ours == TIME;
        if found.is_empty() && !is_time {
            return Err(("", column_names::unknown(model, ours)));
        }
        if source.in_body.is_some() && !ours.ends_with("velocity") {
            return Err(("frame", "is of `velocity` and `angular_velocity` of a body".into()));
        }
        let orientation = ours.ends_with("/orientation");
        if source.form.is_some() && !orientation {
            return Err(("as", "is of the `orientation` of a body".into()));
        }
        let form = source.form.filter(|&form| form != RotationForm::Wxyz);
        let expected = form.map_or(found.len().max(1), RotationForm::numbers);
        if source.columns.len() != expected && !(source.columns.is_empty() && form.is_none()) {
            let message = format!(
                "must be {expected} names, of {}, found {}",
                if is_time { "the time" } else { ours },
                source.columns.len()
            );
            return Err(("columns", message));
        }
        if let (true, Some(name)) = (
            orientation,
            ["scale", "offset"]
                .iter()
                .zip([source.scale, source.offset])
                .find_map(|(name, x)| x.map(|_| *name)),
        ) {
            return Err((name, "is not of orientations".into()));
        }
        let scale = |quantity: Quantity| {
            let unit = source.unit.as_deref().map_or(Ok(1.0), |unit| in_si(unit, quantity));
            let unit = unit.map_err(wrong("unit"))?;
            let offset = source.offset.unwrap_or(0.0);
            Ok(Scale { factor: unit * source.scale.unwrap_or(1.0), offset })
        };
        if is_time {
            let scale = scale(Quantity::Time)?;
            if scale.factor <= 0.0 {
                return Err(("scale", "must be positive: times increase".into()));
            }
            let name = source.columns.first().cloned().unwrap_or_else(|| TIME.to_string());
            self.time = (name, scale);
            return Ok(());
        }
        if let Some(form) = form {
            let Number::Q(q) = found[0].number else { return Ok(()) };
            let factor = match (&source.unit, form.is_of_angles()) {
                (Some(unit), true) => in_si(unit, Quantity::Angle).map_err(wrong("unit"))?,
                (Some(_), false) => {
                    return Err(("unit", "quaternions and matrices have none".into()));
                }
                (None, _) => 1.0,
            };
            found.iter().for_each(|column| self.put(column.number, Source::Rotation));
            self.rotations.retain(|other| other.q != q);
            self.rotations.push(Rotation { q, columns: source.columns.clone(), form, factor });
            return Ok(());
        }
        if orientation && source.unit.is_some() {
            return Err(("unit", "quaternions have none".into()));
        }
        for (k, column) in found.iter().enumerate() {
            let scale = if orientation { Scale::ONE } else { scale(column.quantity())? };
            self.put(
                column.number,
                match source.columns.get(k) {
                    Some(name) => Source::Column(name.clone(), scale),
                    None => Source::Own(scale),
                },
            );
        }
        if let (Some(in_body), Some(Column { body, .. })) = (source.in_body, found.first()) {
            let body =
                model.bodies.iter().position(|other| other.name == *body).unwrap_or_default();
            self.frames.say_axes(body, ours.ends_with("angular_velocity"), in_body);
        }
        Ok(())
    }

    fn put(&mut self, number: Number, source: Source) {
        match number {
            Number::Q(k) => self.q[k] = source,
            Number::V(k) => self.v[k] = source,
            Number::Time => {}
        }
    }

    /// The column that tells the recordings of a table apart, if it is said.
    pub fn recording(&self) -> Option<&str> {
        self.recording.as_deref()
    }

    /// The column of times.
    pub fn time(&self) -> &str {
        &self.time.0
    }

    /// The columns that have other names than ours.
    pub fn named(&self) -> impl Iterator<Item = &str> {
        let sources = self.q.iter().chain(&self.v).filter_map(|source| match source {
            Source::Column(theirs, _) | Source::Shared(theirs) => Some(theirs),
            Source::Own(_) | Source::Rotation | Source::Unrecorded => None,
        });
        let rotations = self.rotations.iter().flat_map(|rotation| &rotation.columns);
        [&self.time.0].into_iter().chain(rotations).chain(sources).map(String::as_str)
    }

    /// Whether a column of this name may hold a time or a number of the state.
    pub fn reads(&self, model: &Model, name: &str) -> bool {
        let alone = column_names::alone(model);
        let is = |source: &Source, column: &Column| match source {
            Source::Own(_) => column.is(name, alone),
            _ => false,
        };
        self.named().any(|column| column == name)
            || column_names::all(model).any(|column| match column.number {
                Number::Time => false,
                Number::Q(k) => is(&self.q[k], &column),
                Number::V(k) => is(&self.v[k], &column),
            })
    }

    /// Which numbers a recording with these columns has.
    pub fn recorded(&self) -> Recorded {
        let has = |sources: &[Source]| sources.iter().map(|s| *s != Source::Unrecorded).collect();
        Recorded::new(has(&self.q), has(&self.v))
    }

    /// Whether some configuration is not recorded.
    pub fn is_partial(&self) -> bool {
        self.q.contains(&Source::Unrecorded)
    }
}
