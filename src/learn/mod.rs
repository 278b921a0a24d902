//! Networks beside exact contact: the potential of a system of points is learned together with masses, friction and
//! restitution (`Zhong21`).
//!
//! | what | file |
//! |---|---|
//! | fully connected networks, their values and gradients, generic | `network` |
//! | the same as nodes, differentiated in weights and inputs by hand | `network_node` |
//! | the force of a network's potential on any scalar; the loss of a piece by it, the simple way | `network_force` |
//! | the gradient of many points at once, and its adjoint, by products of matrices | `network_batch` |
//! | unknowns: weights, log masses, and what friction and restitution are made of | `unknowns` |
//! | recorded pieces of motion | `chunks` |
//! | many simulated in lockstep, the loss and its gradient | `lockstep` |
//! | AdamW over batches, resumable | `training` |
//! | how far predictions are off | `relative_error` |
//!
//! A network's gradient is asked for four times a step. One alone is a product of a matrix and a vector, whose time is that of
//! reading the weights; so all pieces of a batch go through the network side by side. Stages of motion have an adjoint by hand, and
//! the tape carries impacts only, one at a time.

mod chunks;
mod lockstep;
mod network;
mod network_batch;
mod network_force;
mod network_node;
mod relative_error;
mod training;
mod unknowns;

pub use crate::adaptive_moments::Moments;
pub use chunks::{ChunkError, Chunks};
pub use lockstep::{Cause, Dropped, Lockstep, LossGradient};
pub use network::{Activation, Network, NetworkError};
pub use network_batch::NetworkBatch;
pub use network_force::NetworkForce;
pub use network_node::{NetworkGradient, NetworkOutput};
pub use relative_error::{ErrorSummary, relative_errors};
pub use training::{Training, TrainingSettings, TrainingState, Update, cosine_rate};
pub use unknowns::{LearnedSystem, Unknowns};
