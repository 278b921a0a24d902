//! Motion of bodies without contact: Featherstone's algorithms on trees of joints, their analytic
//! derivatives, and the step of a free body.

mod aba;
mod applied_forces;
mod articulation;
mod block_diagonal;
mod coriolis;
mod crba;
mod derivatives;
mod forward_dynamics;
mod free_body;
mod free_motion;
mod inertial;
mod kinematics;
mod links;
mod mass_factor;
mod regressor;
mod rnea;
mod rnea_adjoint;
mod rnea_tangent;
mod runge_kutta;

pub use aba::{Aba, forward_dynamics};
pub use applied_forces::applied_forces;
pub use articulation::Articulation;
pub use block_diagonal::BlockDiagonal;
pub use crba::{Crba, MassMatrix, mass_matrix};
pub use derivatives::{
    ForwardDynamicsDerivatives, InverseDynamicsDerivatives, forward_dynamics_derivatives,
    inverse_dynamics_derivatives,
};
pub use forward_dynamics::{
    ForwardDynamics, ForwardDynamicsFactor, ForwardDynamicsSolution, ForwardDynamicsWorkspace,
};
pub use free_body::FreeBody;
pub use free_motion::{BodyPose, FreeMotion, TreeMotion};
pub use inertial::InertialParameters;
pub use kinematics::{Axis, BodyKinematics, Kinematics};
pub use mass_factor::MassFactor;
pub use regressor::{INERTIAL_PARAMETERS, regressor};
pub use rnea::{Rnea, bias, inverse_dynamics};
pub use rnea_adjoint::{Gradient, RneaAdjoint, inverse_dynamics_vjp};
pub use rnea_tangent::{Direction, RneaTangent, inverse_dynamics_jvp};
pub use runge_kutta::{RungeKutta, runge_kutta};
