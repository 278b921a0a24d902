//! What a step is differentiated with respect to.

use crate::model::ParameterRef;

/// What a step is differentiated with respect to, besides the state.
#[derive(Clone, Copy, Debug, Default)]
pub struct Selection<'a> {
    /// Which inputs of [`step`](crate::simulation::step) are u: indices into generalised forces (nv), then controls.
    pub inputs: &'a [usize],
    /// Which parameters are p. One of several slots moves them together.
    pub parameters: &'a [ParameterRef],
}
