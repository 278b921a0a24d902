//! The scalars: elementary functions, conventions at kinks, the tape, nodes, rotations, sparse derivatives.

mod checkpoint;
mod elementary;
mod explicit;
mod implicit;
mod kinks;
mod linear_nodes;
mod node;
mod rotations;
mod sparse;
mod tape;
