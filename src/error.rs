//! What can be wrong with a file: one line that says where, and what to change.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::Path;

use crate::packed::Packed;

/// Which sort of thing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The content of a file, or what is given by the user, is not usable.
    Input,
    /// A name given by the user is that of nothing.
    Name,
    /// The operating system could not read or write a file.
    Io(io::ErrorKind),
    /// The inputs are usable, but what was asked for is not defined or not finite there.
    Undefined,
}

/// An unusable input, with the place it stands at.
///
/// Displayed on one line: `scene.toml:12: body.cube.mass: must be positive, found -1 (kg)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    file: String,
    line: Option<usize>,
    field: String,
    message: String,
}

impl Error {
    /// An unusable input: `line` counts from 1 (`None`: no particular line); `field` is the name of
    /// a setting or a column, empty if there is none.
    pub fn input(
        file: impl Into<String>,
        line: impl Into<Option<usize>>,
        field: impl Into<String>,
        message: impl Into<String>,
    ) -> Error {
        Error {
            kind: ErrorKind::Input,
            file: file.into(),
            line: line.into(),
            field: field.into(),
            message: message.into(),
        }
    }

    /// A name of nothing, which `complaint` says; the message goes on with the names that are known.
    pub(crate) fn unknown_name(
        file: impl Into<String>,
        field: &str,
        complaint: impl fmt::Display,
        (name, known): (&str, &[impl AsRef<str>]),
    ) -> Error {
        let field = if field.is_empty() { "\"\"" } else { field };
        let message = format!("{complaint}; {}", known_names(name, known));
        Error { kind: ErrorKind::Name, ..Error::input(file, None, field, message) }
    }

    /// What has no finite answer: `file` names the scene it is about.
    pub fn undefined(file: impl Into<String>, message: impl Into<String>) -> Error {
        Error { kind: ErrorKind::Undefined, ..Error::input(file, None, "", message) }
    }

    /// A file that could not be read or written.
    pub fn io(path: impl AsRef<Path>, error: io::Error) -> Error {
        Error {
            kind: ErrorKind::Io(error.kind()),
            file: path.as_ref().display().to_string(),
            line: None,
            field: String::new(),
            message: error.to_string(),
        }
    }

    /// The same with more to its message.
    pub(crate) fn with_remark(mut self, remark: &str) -> Error {
        self.message.push_str(remark);
        self
    }

    /// Which sort of thing went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Whether the content of a file or a name given by the user is at fault.
    pub fn is_input(&self) -> bool {
        matches!(self.kind, ErrorKind::Input | ErrorKind::Name)
    }

    /// The file, as it was given.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The line, counted from 1.
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// The setting or column; empty if there is none.
    pub fn field(&self) -> &str {
        &self.field
    }

    /// What is wrong, without the place.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    /// Names of a file can be of any length, and messages repeat them: what is too long is cut.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = without_middle(&self.file, LONGEST_PATH);
        // A line break in a name would make two lines of one message.
        match file.contains(char::is_control) {
            false => f.write_str(&file)?,
            true => f.write_str(&visible(&file))?,
        }
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if !self.field.is_empty() {
            write!(f, ": {}", shortened(&self.field))?;
        }
        write!(f, ": {}", shortened(&self.message))
    }
}

/// As many names are told, all in their order; of more the nearest.
const MOST_NAMES: usize = 24;
/// Of more, so many.
const NEAREST_NAMES: usize = 12;

/// Which names there are, in words, for whoever asked for another one: the nearest first if there are many.
fn known_names(name: &str, known: &[impl AsRef<str>]) -> String {
    let mut names: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
    let count = names.len();
    if count == 0 {
        return "there are none".to_string();
    }
    if count <= MOST_NAMES {
        return format!("there are {}", names.join(", "));
    }
    names.sort_by_cached_key(|other| edits(name, other));
    names.truncate(NEAREST_NAMES);
    format!("the nearest are {}, of {count}", names.join(", "))
}

/// How many characters are to be put in, left out or changed to make one text of the other (Levenshtein).
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (k, own) in from.chars().take(LONGEST_WORD).enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], k + 1);
        for (j, other) in to.iter().enumerate() {
            let changed = diagonal + usize::from(own != *other);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}

/// A text whose control characters are shown by their numbers.
fn visible(text: &str) -> String {
    let shown = |c: char| match c.is_control() {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    text.chars().map(shown).collect()
}

/// Longest path that is shown whole, in characters: systems know no longer ones.
const LONGEST_PATH: usize = 4096;
/// Longest word that is shown whole.
const LONGEST_WORD: usize = 200;
/// Longest text that is shown whole.
const LONGEST_TEXT: usize = 3000;

/// A text for people to read: words that are too long, and then the text as a whole, without their middle.
pub(crate) fn shortened(text: &str) -> Cow<'_, str> {
    if text.len() <= LONGEST_WORD {
        return Cow::Borrowed(text);
    }
    let words = text.split_inclusive(char::is_whitespace);
    let words: String = words.map(|word| without_middle(word, LONGEST_WORD)).collect();
    Cow::Owned(without_middle(&words, LONGEST_TEXT).into_owned())
}

/// The first two thirds and the end of what has more than `most` characters.
fn without_middle(text: &str, most: usize) -> Cow<'_, str> {
    let count = text.chars().count();
    if count <= most {
        return Cow::Borrowed(text);
    }
    let (start, end) = (2 * most / 3, most / 4);
    let left_out = count - start - end;
    let first: String = text.chars().take(start).collect();
    let last: String = text.chars().skip(count - end).collect();
    Cow::Owned(format!("{first}[.. {left_out} characters ..]{last}"))
}

impl std::error::Error for Error {}

impl Packed for Error {
    fn pack(&self, to: &mut Vec<u8>) {
        let kind: u8 = match self.kind {
            ErrorKind::Input => 0,
            ErrorKind::Io(_) => 1,
            ErrorKind::Undefined => 2,
            ErrorKind::Name => 3,
        };
        (kind, self.file.clone(), self.line).pack(to);
        (self.field.clone(), self.message.clone()).pack(to);
    }

    /// Of what went wrong with a file, which sort it was is lost.
    fn unpack(from: &mut &[u8]) -> Option<Self> {
        let (kind, file, line) = Packed::unpack(from)?;
        let (field, message) = Packed::unpack(from)?;
        let kind = match kind {
            0u8 => ErrorKind::Input,
            1 => ErrorKind::Io(io::ErrorKind::Other),
            2 => ErrorKind::Undefined,
            3 => ErrorKind::Name,
            _ => return None,
        };
        Some(Error { kind, file, line, field, message })
    }
}
