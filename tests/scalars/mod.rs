//! The scalars: elementary functions, conventions at kinks, the tape, nodes, rotations.

mod elementary;
mod explicit;
mod kinks;
mod node;
mod norm;
mod rotations;
mod tape;
