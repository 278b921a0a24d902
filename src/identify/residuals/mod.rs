//! How far a simulation is from a recording, and where it starts.

mod initial_state;
mod measurement;
mod recorded_state;
mod replay;
mod sensor_reading;
mod start_in_flight;
mod step_loads;
mod window_gradient;

pub use initial_state::initial_state;
pub use measurement::{Measurement, residuals};
pub(crate) use measurement::{motion_of, residual_count, residual_count_at, whole_turns};
pub(crate) use recorded_state::recorded;
pub use replay::replay;
pub(crate) use replay::{ROUNDING, StepInputs};
pub(crate) use start_in_flight::in_flight;
pub(crate) use window_gradient::{forgets, window_gradient};
