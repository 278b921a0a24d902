//! Several processes that work on one identification: who holds which recordings, and what they tell each other.

mod collective;
mod group;
mod shares;
#[cfg(feature = "mpi")]
mod world;

pub use collective::{Alone, Peers};
pub use group::Gathered;
pub(crate) use group::Group;
pub(crate) use group::fingerprint_of_rounding;
pub(crate) use shares::{Equations, Shares, Sum};
#[cfg(feature = "mpi")]
pub use world::World;
