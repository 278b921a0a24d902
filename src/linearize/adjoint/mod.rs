//! Steps backwards without a tape inside: the transpose of the structured Jacobian, part by part.
//!
//! Forward a step goes from state, inputs and parameters to the momenta and the geometry, from there by the response of
//! the contact problems to v+, and on to the state at the end. Backward, with `end` the adjoint of that state:
//!
//! ```text
//! end of the step'   q+ = q (+) dt v+                            end -> v+, and what q and v do to the end besides
//! response'          `ContactResponse::respond_transpose`        L^-1 v+ -> x, rows h, offsets o, limits
//! free motion'       M v+ = M v_p + J' lambda                    a = L^-T x -> q, v, inputs, inertia, gravity, drives
//! geometry'          h . dJ v+ + a . dJ' lambda + o (dc lambda - d target)  -> poses, v, shapes, friction, restitution
//! ```
//!
//! The free motion of trees is one `inverse_dynamics_vjp` at (v+ - v) / dt, and by other integrators than the default three to five
//! besides; that of free bodies is by hand. Of the geometry see [`contact_adjoint`]. All of it is in all parameters at once, at the
//! cost of one step or two. The displacements that close loops are such steps too, from the last to the first. Flight and impact of
//! bodies at which a step was split are [recorded](recorded_motion). A step that is not of that kind goes by the tape, which
//! [`Way`] tells.

mod body_adjoint;
mod contact_adjoint;
mod equality_adjoint;
mod implicit_adjoint;
mod parts;
mod recorded_motion;
mod rollout_adjoint;
mod stages_adjoint;
mod step_adjoint;
mod tendon_adjoint;
mod tree_adjoint;

pub use parts::Adjoints;
pub use rollout_adjoint::RolloutAdjoint;
pub use step_adjoint::{StepAdjoint, TakenStep, Way};
