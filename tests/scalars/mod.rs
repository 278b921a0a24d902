//! The scalars: elementary functions, conventions at kinks, the tape, nodes, rotations.

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
