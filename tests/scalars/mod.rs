//! The scalars: elementary functions, conventions at kinks, the tape, nodes, rotations, norms; long and
//! sparse computations; other crates' traits, arrays and formats.

mod arrays;
mod checkpoint;
mod elementary;
mod explicit;
mod float;
mod implicit;
mod kinks;
mod linear_nodes;
mod node;
mod norm;
mod properties;
mod recording;
mod rotations;
mod serial;
mod sparse;
mod tape;
