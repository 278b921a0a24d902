//! Motion of bodies without contact: Featherstone's algorithms on trees of joints, their analytic
//! derivatives, and the step of a free body.
//!
//! [`Kinematics`] come first; all else are free functions of it, each with scratch memory of its
//! own that is reused. With M the mass matrix, the equations of motion are M a + bias = forces in the
//! velocities of the state; of a free joint these are the velocity of the origin in the world and the
//! angular velocity in the body, and `a` are their rates.
//!
//! | | from | to |
//! |---|---|---|
//! | [`inverse_dynamics`], [`bias`] | accelerations | forces |
//! | [`forward_dynamics`] | forces | accelerations |
//! | [`mass_matrix`], [`MassFactor`] | | M, and M = L' D L along the trees |
//! | [`inverse_dynamics_derivatives`], [`forward_dynamics_derivatives`] | | all Jacobians in q, v, and a or forces |
//! | [`inverse_dynamics_jvp`], [`inverse_dynamics_vjp`] | a direction; weights | one derivative, in all parameters too |
//! | [`ForwardDynamics`] | q, v, forces, parameters | accelerations, as a [node](crate::ad::Node) |
//! | [`regressor`], [`InertialParameters`] | | forces as a linear function of masses and inertias |
//! | [`runge_kutta`] | a state | the next |
//!
//! ```
//! use stiction::dynamics::{Aba, Kinematics, forward_dynamics};
//! use stiction::model::Scene;
//!
//! let text = "simulation.time_step = 0.01
//! [[body]]
//! name = 'pendulum'
//! mass = 2
//! center_of_mass = [0, 0, -0.5]
//! inertia = [0.1, 0.1, 0.1, 0, 0, 0]
//! joint = { type = 'revolute', axis = [1, 0, 0], q = [0.3] }";
//! let Scene { model, parameters, state, .. } = Scene::parse(text, "pendulum.toml")?;
//! let kinematics = Kinematics::new(&model, &parameters, &state);
//! let mut acceleration = [0.0];
//! let mut scratch = Aba::default();
//! let found = forward_dynamics(
//!     &model, &parameters, &kinematics, &[0.0], None, &mut scratch, &mut acceleration,
//! );
//! assert!(found.is_ok());
//! // (I + m l^2) a = -m g l sin q
//! let expected = -2.0 * 9.81 * 0.5 * f64::sin(0.3) / (0.1 + 2.0 * 0.25);
//! assert!((acceleration[0] - expected).abs() < 1e-13);
//! # Ok::<(), stiction::Error>(())
//! ```

mod aba;
mod actuator_force;
mod applied_forces;
mod articulation;
mod block_diagonal;
mod coriolis;
mod crba;
mod derivatives;
mod forward_dynamics;
mod free_body;
mod free_body_adjoint;
mod free_motion;
mod free_rotation;
mod implicit_momentum;
mod implicit_tangent;
mod inertial;
mod kinematics;
mod kinetic_energy;
mod links;
mod mass_factor;
mod motion_derivatives;
mod regressor;
mod rnea;
mod rnea_adjoint;
mod rnea_tangent;
pub(crate) mod runge_kutta;
mod state_forces;
mod tendon_pull;
mod tree_motion;

pub use aba::{Aba, forward_dynamics};
pub use actuator_force::actuator_force;
pub use applied_forces::applied_forces;
pub(crate) use applied_forces::{
    AppliedForceDerivatives, add_motor_damping, applied_forces_vjp, damping, damping_vjp,
    motor_damping_vjp,
};
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
pub(crate) use free_body::{FreeBodyDerivatives, FreeBodyEnd};
pub(crate) use free_body_adjoint::FreeBodyAdjoint;
pub use free_motion::FreeMotion;
pub(crate) use implicit_momentum::ImplicitMomentum;
pub(crate) use implicit_tangent::{ImplicitMatrix, ImplicitTangent};
pub use inertial::InertialParameters;
pub use kinematics::{Axis, BodyKinematics, Kinematics};
pub(crate) use kinetic_energy::{EnergyAdjoint, EnergyGradient};
pub use mass_factor::MassFactor;
pub use regressor::{INERTIAL_PARAMETERS, regressor};
pub use rnea::{Rnea, bias, inverse_dynamics};
pub use rnea_adjoint::{Gradient, RneaAdjoint, inverse_dynamics_vjp};
pub use rnea_tangent::{Direction, RneaTangent, inverse_dynamics_jvp};
pub use runge_kutta::{RungeKutta, runge_kutta};
pub use state_forces::StateForces;
pub(crate) use tendon_pull::{TendonMobility, tendon_length, tendon_line, tendon_sum};
pub use tree_motion::{BodyPose, BodySpeed, TreeMotion};
