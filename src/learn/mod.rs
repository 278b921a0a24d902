//! Networks beside exact contact: the potential of a system of points is learned together with masses, friction and
//! restitution (`Zhong21`). Its networks are those of [`network`](crate::network).
//!
//! | what | file |
//! |---|---|
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
mod network_batch;
mod network_force;
mod relative_error;
mod training;
mod unknowns;

pub use crate::adaptive_moments::Moments;
pub use crate::network::{Activation, Network, NetworkError, NetworkGradient, NetworkOutput};
pub use chunks::{ChunkError, Chunks};
pub use lockstep::{Cause, Dropped, Lockstep, LossGradient};
pub use network_batch::NetworkBatch;
pub use network_force::NetworkForce;
pub use relative_error::{ErrorSummary, relative_errors};
pub use training::{Training, TrainingSettings, TrainingState, Update, cosine_rate};
pub use unknowns::{LearnedSystem, Unknowns};
