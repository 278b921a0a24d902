//! Fully connected networks, generic, and as nodes with derivatives by hand in weights and inputs.
//!
//! | what | file |
//! |---|---|
//! | layers, weights, values and gradients | `perceptron` |
//! | the same as nodes | `network_node` |

mod network_node;
mod perceptron;

pub use network_node::{NetworkGradient, NetworkOutput};
pub(crate) use perceptron::Pass;
pub use perceptron::{Activation, Network, NetworkError};
