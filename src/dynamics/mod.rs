//! Motion of bodies without contact: Featherstone's algorithms on trees of joints, their analytic
//! derivatives, and the step of a free body.

mod aba;
mod block_diagonal;
mod coriolis;
mod crba;
mod derivatives;
mod free_body;
mod kinematics;
mod links;
mod mass_factor;
mod rnea;

pub use aba::{Aba, forward_dynamics};
pub use block_diagonal::BlockDiagonal;
pub use crba::{Crba, MassMatrix, mass_matrix};
pub use derivatives::{
    ForwardDynamicsDerivatives, InverseDynamicsDerivatives, forward_dynamics_derivatives,
    inverse_dynamics_derivatives,
};
pub use free_body::FreeBody;
pub use kinematics::{Axis, BodyKinematics, Kinematics};
pub use mass_factor::MassFactor;
pub use rnea::{Rnea, bias, inverse_dynamics};
