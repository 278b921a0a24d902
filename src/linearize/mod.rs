//! Jacobians of the step for optimal control.
