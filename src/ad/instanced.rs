//! The scalars that have an [instance](super::instance).

use super::{Dual, LANES, Var};

/// [`FORWARD`](super::instance::FORWARD)
pub type Forward = Dual<f64, LANES>;
/// [`REVERSE`](super::instance::REVERSE)
pub type Reverse = Var;
/// [`SECOND`](super::instance::SECOND)
pub type Second = Var<Forward>;
