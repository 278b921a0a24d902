//! What can be wrong with a file: one line that says where, and what to change.

use std::fmt;
use std::io;
use std::path::Path;

/// Which sort of thing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The content of a file, or a name given by the user, is not usable.
    Input,
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

    /// Which sort of thing went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Whether the content of a file or a name given by the user is at fault.
    pub fn is_input(&self) -> bool {
        self.kind == ErrorKind::Input
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
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if !self.field.is_empty() {
            write!(f, ": {}", self.field)?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for Error {}
