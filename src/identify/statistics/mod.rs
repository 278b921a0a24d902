//! Covariances, quantiles and random numbers, of whatever is estimated.

mod covariance;
mod random;
mod student;

pub(crate) use covariance::{Covariance, LEAST_RECORDINGS, UNTELLABLE};
pub(crate) use random::uniform;
pub(crate) use student::quantile_95;
