//! The scalars: elementary functions, conventions at kinks, the tape, nodes, rotations,
//! norms; other crates' traits, arrays and formats.

mod arrays;
mod elementary;
mod explicit;
mod float;
mod kinks;
mod node;
mod norm;
mod rotations;
mod serial;
mod tape;
