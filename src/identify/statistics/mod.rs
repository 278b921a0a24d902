//! Covariances, quantiles and random numbers, of whatever is estimated.

mod beta;
mod covariance;
mod f_distribution;
mod holm;
mod random;
mod student;

pub use beta::beta_below;
pub(crate) use covariance::{Covariance, LEAST_OF_WEIGHTS, LEAST_RECORDINGS, UNTELLABLE};
pub(crate) use f_distribution::f_quantile;
pub(crate) use holm::holm;
pub(crate) use random::uniform;
pub(crate) use student::{p_value, quantile_95, real_quantile_95};
