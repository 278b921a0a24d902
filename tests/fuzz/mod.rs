//! Files with mistakes in them: no file makes the library panic, or work without an end.

mod attempt;
#[cfg(feature = "cli")]
mod commands;
mod files;
mod mutation;
mod texts;
