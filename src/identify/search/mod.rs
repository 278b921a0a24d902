//! The search for the parameters that make the sum of squares least.

mod adam;
mod around;
mod continuation;
mod descent;
mod effort;
mod fingerprint;
mod fit;
mod full_steps;
mod lbfgsb;
mod levenberg_marquardt;
mod reverse_gradient;
mod search_space;
mod shared_sums;
mod short_fit;
mod staged;
mod sum_of_squares;
mod window_equations;
mod window_states;

pub(crate) use adam::{AdamStanding, adam};
pub use around::HalvesTest;
pub(crate) use around::{Around, Halves};
pub(crate) use descent::Descent;
pub use effort::Effort;
pub(crate) use fit::OBSERVABLE;
pub use fit::{Fit, FitStatus, FittedParameter, fit, fit_from};
pub(crate) use full_steps::minimize_over_kinks;
pub(crate) use lbfgsb::{LbfgsbStanding, lbfgsb};
pub use levenberg_marquardt::{LeastSquares, Minimum, Outcome, Trial, Variables, minimize};
pub(crate) use levenberg_marquardt::{Limits, ROUGH, Standing, proceed};
pub use search_space::SearchSpace;
pub use short_fit::ShortFit;
pub use staged::{Checkpoint, Iteration, Progress, StartResult};
pub use sum_of_squares::Problem;
