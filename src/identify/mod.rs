//! Physical parameters from recorded motion.
//!
//! An [`Experiment`] names recordings, a scene, and the parameters to find. The recordings are cut
//! into windows; in each the simulation starts from the recorded state (or one that is fitted with
//! it) and its distance to the recording is the residual. [`fit`] makes the sum of squares small,
//! by Levenberg-Marquardt on exact Jacobians or by Adam on reverse-mode gradients;
//! [`evaluate`] measures whole rollouts.

mod adam;
mod builtin;
mod combination;
mod comparison;
mod continuation;
mod covariance;
mod dataset;
mod design;
mod evaluate;
mod experiment;
mod fit;
mod half_sampling;
mod holdout;
mod information;
mod initial_state;
mod lbfgsb;
mod levenberg_marquardt;
mod loss;
mod observability;
mod outliers;
mod parallel;
mod parameter;
mod phases;
mod problem;
mod profile;
mod replay;
mod robust_loss;
mod search;
mod search_space;
mod sensor;
mod student;
mod window_gradient;

pub use adam::AdamSettings;
pub use combination::Combination;
pub use comparison::{Comparison, PairedDifference};
pub use dataset::{Dataset, Window};
pub use design::{Candidate, Design};
pub use evaluate::{
    Evaluation, FrameError, RolloutStart, TrajectoryError, evaluate, evaluate_from, evaluate_with,
};
pub use experiment::{Experiment, InitialState, Method, Noise, WindowLength};
pub use fit::{Fit, FitStatus, FittedParameter, fit, fit_from};
pub use half_sampling::{HalfSampling, half_sampling};
pub use holdout::hold_out;
pub use information::{Information, Resolution, Unknown};
pub use levenberg_marquardt::{LeastSquares, Minimum, Outcome, minimize};
pub use loss::{Measurement, residuals};
pub use observability::{Expected, Observability, Visibility};
pub use outliers::{Outlier, misfits, outliers};
pub use parallel::parallel;
pub use parameter::{FreeParameter, Prior, Transform};
pub use phases::{Phase, PhaseErrors, errors_by_phase};
pub use problem::{Effort, Problem};
pub use profile::{LossProfile, Others, loss_profile};
pub use replay::replay;
pub use robust_loss::RobustLoss;
pub use search::{Checkpoint, Iteration, Progress, StartResult};
pub use search_space::SearchSpace;
pub use sensor::{Reading, Sensor, StateNumber};
