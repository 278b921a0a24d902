//! The scalars: elementary functions, conventions at kinks, the tape, nodes, rotations.

mod elementary;
mod explicit;
mod implicit;
mod kinks;
mod node;
mod rotations;
mod tape;
