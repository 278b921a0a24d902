//! Covariances, quantiles and random numbers, of whatever is estimated.

mod beta;
mod covariance;
mod random;
mod student;

pub use beta::beta_below;
pub(crate) use covariance::{Covariance, LEAST_OF_WEIGHTS, LEAST_RECORDINGS, UNTELLABLE};
pub(crate) use random::uniform;
pub(crate) use student::quantile_95;
