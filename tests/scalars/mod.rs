//! The scalars: elementary functions, conventions at kinks, the tape, nodes, rotations, sparse derivatives.

mod elementary;
mod explicit;
mod kinks;
mod node;
mod rotations;
mod sparse;
mod tape;
