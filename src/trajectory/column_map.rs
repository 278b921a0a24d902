//! Recordings that name their columns otherwise, or do not have all of them.

use super::Recorded;
use super::column_names::{self, Number, TIME};
use crate::model::Model;
use crate::state::State;

/// Where a number of the state stands in a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// In the column of our own name for it.
    Own,
    /// In this column.
    Column(String),
    /// In this column, named together with all others of its body: a velocity may be missing.
    Shared(String),
    /// Nowhere.
    Unrecorded,
}

/// Which columns of a recording hold what: our names for the numbers of the state
/// ([`Trajectory`](super::Trajectory)), and those of the recording.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnMap {
    pub(super) time: String,
    pub(super) q: Vec<Source>,
    pub(super) v: Vec<Source>,
    /// What stands in all frames where nothing is recorded.
    pub fill: State<f64>,
}

impl ColumnMap {
    /// Our own names for everything.
    pub fn new(model: &Model) -> ColumnMap {
        ColumnMap {
            time: TIME.to_string(),
            q: vec![Source::Own; model.nq()],
            v: vec![Source::Own; model.nv()],
            fill: State::at_zero(model.coordinates()),
        }
    }

    /// Says where `ours` (`body/q`, or `t`) stands: in the column `theirs`, or nowhere. `body/*` stands
    /// for all numbers of a body; the column is then a pattern, in which `*` stands for our name
    /// without the body: `*` or `object_*`. What is said later counts.
    ///
    /// # Errors
    /// In words, if there is no such number, or no such column can be.
    pub fn set(&mut self, model: &Model, ours: &str, theirs: Option<&str>) -> Result<(), String> {
        if theirs.is_some_and(|theirs| theirs.trim().is_empty()) {
            return Err("must be the name of a column, or false if it is not recorded".into());
        }
        if ours == TIME {
            let missing = || "cannot be left out: the frames of a recording have times".to_string();
            self.time = theirs.ok_or_else(missing)?.to_string();
            return Ok(());
        }
        let (found, pattern) = match ours.strip_suffix("/*") {
            Some(body) => (column_names::of_body(model, body), true),
            None => (column_names::by_name(model, ours).into_iter().collect(), false),
        };
        if found.is_empty() {
            return Err(column_names::unknown(model, ours));
        }
        for column in found {
            let source = match theirs {
                None => Source::Unrecorded,
                Some(theirs) if !pattern => Source::Column(theirs.to_string()),
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
            match column.number {
                Number::Q(k) => self.q[k] = source,
                Number::V(k) => self.v[k] = source,
                Number::Time => {}
            }
        }
        Ok(())
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
