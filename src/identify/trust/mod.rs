//! What a result, or an experiment before anything is fitted, is worth.

mod absent_terms;
mod combination;
mod comparison;
mod design;
mod evaluate;
mod fixed_inertia;
mod half_sampling;
mod halves_by_test;
mod held_numbers;
mod information;
mod learned_function;
mod mask_frames;
mod observability;
mod outliers;
mod phases;
mod profile;
mod score_test;
mod scores;
mod traces;
mod unexplained;

pub use combination::Combination;
pub use comparison::{Comparison, PairedDifference};
pub use design::{Candidate, Design};
pub(crate) use evaluate::evaluate_while;
pub use evaluate::{
    ErrorSpread, Evaluation, FrameError, RolloutStart, TrajectoryError, evaluate, evaluate_from,
    evaluate_with,
};
pub use fixed_inertia::{MassOverInertia, masses_over_inertia};
pub(crate) use half_sampling::fitted_halves;
pub use half_sampling::{HalfSampling, half_sampling};
pub(crate) use halves_by_test::{HALVES, HalvesByTest, halves_by_test};
pub use information::{Information, Resolution, Unknown};
pub use learned_function::{LearnedFunction, learned_functions};
pub use mask_frames::{MaskFrame, MaskSensitivity, mask_frames, mask_sensitivities};
pub use observability::{Expected, Observability, Visibility};
pub use outliers::{Outlier, misfits, outliers, stand_out};
pub use phases::{Phase, PhaseErrors, errors_by_phase};
pub(crate) use profile::{DERIVATIVE, Lower, SAME, point_cost, reach};
pub use profile::{LossProfile, Others, Walk, loss_profile};
pub use score_test::score_tests;
pub use scores::ScoreTest;
pub use traces::{Trace, TraceGroup, traces};
pub use unexplained::{UNEXPLAINED, unexplained};
