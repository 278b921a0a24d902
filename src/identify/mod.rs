//! Physical parameters from recorded motion.
//!
//! An [`Experiment`] names recordings, a scene, and the parameters to find. The recordings are cut
//! into windows; in each the simulation starts from the recorded state (or one that is fitted with
//! it) and its distance to the recording is the residual. [`fit`] makes the sum of squares small,
//! by Levenberg-Marquardt on exact Jacobians or by Adam on reverse-mode gradients;
//! [`evaluate`] measures whole rollouts.

mod conclusion;
mod cross_validation;
mod data;
mod experiment;
mod improvement;
mod judgement;
mod model_selection;
mod peers;
mod residuals;
mod result_file;
mod search;
mod statistics;
mod trust;

/// What tests look at beside the public items.
#[doc(hidden)]
pub mod internals {
    pub use crate::identify::statistics::beta_below;
}

pub use crate::parallel::parallel;
pub use conclusion::{Conclusion, Doing, conclude};
pub use data::{Dataset, DrivenInput, Window, hold_out, questions};
#[cfg(any(feature = "cli", feature = "python"))]
pub(crate) use data::{compare, introduce};
pub(crate) use experiment::is_weight;
pub use experiment::{
    AdamSettings, Calibration, Experiment, FreeParameter, InitialState, MaskSensor, Method, Noise,
    Prior, Reading, RecordedInput, RobustLoss, Sensor, StateNumber, Transform, WindowLength,
};
pub use improvement::{Improvement, Tried, improve};
pub use judgement::{Doubt, Judgement};
pub use model_selection::{
    Contender, FOLDS, ModelPair, ModelSelection, compare_models, demand_comparable,
};
#[cfg(any(feature = "cli", feature = "python"))]
pub(crate) use peers::Group;
#[cfg(feature = "mpi")]
pub use peers::World;
pub use peers::{Alone, Gathered, Peers};
pub(crate) use residuals::StepInputs;
pub use residuals::{Measurement, initial_state, replay, residuals};
pub use result_file::{GivenParameters, parameters_of_scene, parameters_with, read_parameters};
pub(crate) use search::{AdamStanding, Descent, LbfgsbStanding, adam, lbfgsb, minimize_over_kinks};
pub use search::{
    Checkpoint, Effort, Fit, FitStatus, FittedParameter, HalvesTest, Iteration, LeastSquares,
    Minimum, Outcome, Problem, Progress, SearchSpace, ShortFit, StartResult, Trial, Variables, fit,
    fit_from, minimize,
};
pub use trust::{
    Candidate, Combination, Comparison, Design, ErrorSpread, Evaluation, Expected, FrameError,
    HalfSampling, Information, LearnedFunction, LossProfile, MaskFrame, MaskSensitivity,
    MassOverInertia, Observability, Others, Outlier, PairedDifference, Phase, PhaseErrors,
    Resolution, RolloutStart, ScoreTest, Trace, TraceGroup, TrajectoryError, UNEXPLAINED, Unknown,
    Visibility, Walk, errors_by_phase, evaluate, evaluate_from, evaluate_with, half_sampling,
    learned_functions, loss_profile, mask_frames, mask_sensitivities, masses_over_inertia, misfits,
    outliers, score_tests, stand_out, traces, unexplained,
};
