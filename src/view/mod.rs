//! Pictures.

#[cfg(feature = "plots")]
mod plots;

#[cfg(feature = "plots")]
pub use plots::fit_plot;
