//! Which field of a message a number is of, and when that was measured.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::rc::Rc;

/// Longer lists have no columns: they are pictures and clouds of points.
pub(super) const LONGEST: usize = 1000;

/// What stands in a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum FieldValue {
    Number(f64),
    /// With more digits than others have.
    Whole(i64),
    /// ns.
    Time(i64),
}

/// Who is told of the numbers of a message: the path of the field, what stands there, and the stamp of the structure it is in (ns).
pub(super) type NumberSink<'s> = &'s mut dyn FnMut(&str, FieldValue, Option<i64>);

/// Where in a message one is.
pub(super) struct FieldPath<'s> {
    path: String,
    scope: Scope,
    /// In how many lists too long for columns.
    quiet: usize,
    sink: NumberSink<'s>,
}

/// What holds for the rest of a structure.
#[derive(Clone, Default)]
struct Scope {
    /// Its stamp, or that of what it is in; ns.
    stamp: Option<i64>,
    /// The names of what its lists are of.
    names: Rc<[String]>,
}

/// Whether a list of texts names what other lists are of, as that of a message of joint states.
pub(super) fn is_list_of_names(field: &str) -> bool {
    matches!(field, "name" | "names" | "joint_names")
}

/// The field that tells an element of a list from the others, as that of a transform.
pub(super) const CHILD: &str = "child_frame_id";

/// Whether a time says when a structure was measured.
pub(super) fn is_stamp(field: &str) -> bool {
    matches!(field, "stamp" | "timestamp")
}

/// Whether a structure holds the stamp of the one it is in.
fn is_header(field: &str) -> bool {
    field == "header"
}

impl<'s> FieldPath<'s> {
    /// Of the messages of a topic.
    pub fn new(topic: &str, sink: NumberSink<'s>) -> FieldPath<'s> {
        FieldPath { path: topic.to_string(), scope: Scope::default(), quiet: 0, sink }
    }

    /// Where nobody is told of anything, and nothing has a name.
    pub fn silent(sink: NumberSink<'s>) -> FieldPath<'s> {
        FieldPath { quiet: 1, ..FieldPath::new("", sink) }
    }

    /// What is done in a field or an entry of this name.
    pub fn inside<R>(&mut self, name: impl AsRef<str>, walk: impl FnOnce(&mut Self) -> R) -> R {
        let length = self.path.len();
        if self.quiet == 0 {
            self.path.push('.');
            self.path.push_str(name.as_ref());
        }
        let result = walk(self);
        self.path.truncate(length);
        result
    }

    /// What is done in a structure that is the field of this name.
    pub fn structure<R>(&mut self, field: &str, walk: impl FnOnce(&mut Self) -> R) -> R {
        let before = self.scope.clone();
        let result = walk(self);
        let stamp = if is_header(field) { self.scope.stamp } else { before.stamp };
        self.scope = Scope { stamp, ..before };
        result
    }

    /// What is done in each entry of a list of so many, read `from` somewhere, where an entry may have a name of its own.
    ///
    /// # Errors
    /// The first of them.
    pub fn list<F, E>(
        &mut self,
        count: usize,
        from: &mut F,
        mut own: impl FnMut(&mut F, usize) -> Option<String>,
        mut walk: impl FnMut(&mut F, &mut Self, usize) -> Result<(), E>,
    ) -> Result<(), E> {
        let long = usize::from(count > LONGEST);
        self.quiet += long;
        let names = self.scope.names.clone();
        let mut index = String::new();
        let result = (0..count).try_for_each(|k| {
            let own = if self.quiet > 0 { None } else { own(from, k) };
            let name = match (&own, names.get(k)) {
                (Some(own), _) => own,
                (None, Some(name)) if names.len() == count => name,
                _ => {
                    index.clear();
                    // Into a text it cannot fail.
                    let _ = write!(index, "{k}");
                    &index
                }
            };
            self.inside(name, |path| walk(from, path, k))
        });
        self.quiet -= long;
        result
    }

    /// The stamp of this structure.
    pub fn set_stamp(&mut self, time: i64) {
        self.scope.stamp = Some(time);
    }

    /// The names of what the lists of this structure are of.
    pub fn set_names<'n>(&mut self, names: impl IntoIterator<Item = Cow<'n, str>>) {
        self.scope.names = names.into_iter().map(Cow::into_owned).collect();
    }

    /// What stands here.
    pub fn put(&mut self, value: FieldValue) {
        if self.quiet == 0 {
            (self.sink)(&self.path, value, self.scope.stamp);
        }
    }
}
