//! The C interface and, on top of it, functions for CasADi: what a shared library of this crate exports.
//!
//! ```sh
//! cargo rustc --release --lib --crate-type cdylib --features c_interface
//! ```
//!
//! makes `target/release/libstiction.so`, or with `staticlib` an archive; `include/stiction.h` declares and
//! describes what is in it. The feature `c_interface` adds the exported symbols; without it this module
//! holds what the program writes into a copy of the library ([`Attachment`]).

mod attachment;
#[cfg(feature = "c_interface")]
#[expect(unsafe_code, reason = "raw pointers and unmangled names of the C boundary")]
mod exports;
mod undefined_symbols;

pub use attachment::{Attachment, read_library};
#[cfg(feature = "c_interface")]
pub use exports::{Code, Failure, last_message, status};
