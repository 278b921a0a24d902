//! Jacobians of the step for optimal control: one step, whole trajectories, and the files
//! they are exported to.
//!
//! ```
//! use stiction::linearize::Linearizer;
//! use stiction::Scene;
//!
//! let text = "simulation.time_step = 0.01
//! [[body]]
//! name = 'ball'
//! mass = 2
//! shape = { sphere = 0.1 }";
//! let scene = Scene::parse(text, "scene.toml")?;
//! let names = ["gravity/z".to_string()];
//! let mut linearizer = Linearizer::new("scene.toml", scene.system(), &scene.inputs, &["all".into()], &names)?;
//! let result = linearizer.rollout(&scene.state, 5, |_| ())?;
//! assert_eq!(result.a.dim(), (5, 12, 12));
//! // dv+/df = dt / m, dz+/dg = dt²
//! assert!((result.b[(0, 6, 0)] - 0.01 / 2.0).abs() < 1e-15);
//! assert!((result.c[(0, 2, 0)] - 1e-4).abs() < 1e-15);
//! # Ok::<(), stiction::Error>(())
//! ```

mod adjoint;
mod ambient;
mod column_lanes;
mod conditions;
mod contact_derivative;
mod contact_side;
mod convention;
mod displacement;
mod end_of_step;
mod equality_geometry;
mod expressed;
mod file;
mod free_velocity;
mod guest_slopes;
mod hosted_columns;
mod hosted_jacobian;
mod loop_closure;
mod pair_geometry;
mod point_frame;
mod pose_lanes;
mod products;
mod runge_kutta_stages;
mod selection;
mod smoothed_response;
mod solved;
mod stage_motions;
mod state_force_response;
mod step_jacobian;
mod structured;
mod tendon_condition;
mod trajectory;
mod tree_change;
mod tree_derivative;

pub use adjoint::{Adjoints, RolloutAdjoint, StepAdjoint, TakenStep, Way};
pub use ambient::AmbientJacobian;
pub(crate) use ambient::{ambient_gradient, ambient_hessian, tangent_weights};
pub use convention::Convention;
pub(crate) use guest_slopes::GuestSlopes;
pub(crate) use hosted_jacobian::{HostedJacobian, HostedStep};
pub use products::StepProducts;
pub use selection::Selection;
pub(crate) use smoothed_response::SmoothedResponse;
pub use step_jacobian::{JacobianWorkspace, StepJacobian, step_jacobian, step_jacobian_by_lanes};
pub use trajectory::{Linearization, Linearizer};
