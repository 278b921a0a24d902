//! The scalars: elementary functions, conventions at kinks, the tape, recordings, nodes, rotations.

mod elementary;
mod explicit;
mod kinks;
mod node;
mod properties;
mod recording;
mod rotations;
mod tape;
