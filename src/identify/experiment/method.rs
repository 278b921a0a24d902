//! Which search, and its numbers.

use crate::Error;
use crate::table::Table;

/// Which search.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Method {
    /// Bounded Levenberg-Marquardt on exact Jacobians.
    #[default]
    LevenbergMarquardt,
    /// Adam on reverse-mode gradients, the way of `LeLidec21` IV.B.
    Adam(AdamSettings),
    /// Quasi-Newton steps with limited memory within the bounds, on reverse-mode gradients: for many parameters.
    Lbfgsb,
}

/// Numbers of the search by Adam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamSettings {
    /// Step length as a fraction of the scale of each parameter; falls linearly to zero.
    pub rate: f64,
    /// Decay of the mean of the gradient.
    pub beta1: f64,
    /// Decay of the mean of its square.
    pub beta2: f64,
}

impl Default for AdamSettings {
    fn default() -> Self {
        AdamSettings { rate: 0.1, beta1: 0.9, beta2: 0.999 }
    }
}

impl AdamSettings {
    pub(crate) fn read(table: Option<&Table>) -> Result<Self, Error> {
        let mut settings = AdamSettings::default();
        let Some(table) = table else { return Ok(settings) };
        table.only(&["rate", "beta1", "beta2"])?;
        if let Some(rate) = table.number("rate")? {
            table.demand("rate", rate > 0.0, "must be positive", rate, "")?;
            settings.rate = rate;
        }
        for (field, place) in [("beta1", &mut settings.beta1), ("beta2", &mut settings.beta2)] {
            if let Some(beta) = table.number(field)? {
                let inside = (0.0..1.0).contains(&beta);
                table.demand(field, inside, "must be at least 0 and below 1", beta, "")?;
                *place = beta;
            }
        }
        Ok(settings)
    }
}
