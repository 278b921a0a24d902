//! The material of a soft body.

use std::fmt;

use crate::ad::Real;

/// An isotropic hyperelastic solid with viscosity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SolidMaterial<T> {
    /// Lamé's first parameter, Pa.
    pub lame_lambda: T,
    /// Lamé's second parameter, the shear modulus, Pa.
    pub lame_mu: T,
    /// Pa s
    pub viscosity: T,
}

/// A material that is none.
#[derive(Clone, Debug, PartialEq)]
pub struct MaterialError {
    /// Which number.
    pub field: &'static str,
    /// What it must be.
    pub message: String,
}

impl fmt::Display for MaterialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.field, self.message)
    }
}

impl std::error::Error for MaterialError {}

impl<T: Real> SolidMaterial<T> {
    /// From Young's modulus (Pa) and Poisson's ratio, without viscosity: those at rest.
    pub fn from_young(youngs_modulus: T, poisson_ratio: T) -> Self {
        let lame_mu = youngs_modulus / ((poisson_ratio + 1.0) * 2.0);
        let lame_lambda = lame_mu * poisson_ratio * 2.0 / (-poisson_ratio * 2.0 + 1.0);
        SolidMaterial { lame_lambda, lame_mu, viscosity: T::zero() }
    }

    /// # Errors
    /// If the solid is not stable at rest: mu > 0, lambda >= 0 and viscosity >= 0, all finite.
    pub fn check(&self) -> Result<(), MaterialError> {
        let wrong = |field, message: &str, x: T| {
            let message = format!("{message}, found {}", x.value());
            Err(MaterialError { field, message })
        };
        let finite = |x: T| x.value().is_finite();
        if !(self.lame_mu.value() > 0.0 && finite(self.lame_mu)) {
            return wrong("lame_mu", "must be positive (Pa)", self.lame_mu);
        }
        if !(self.lame_lambda.value() >= 0.0 && finite(self.lame_lambda)) {
            return wrong("lame_lambda", "must not be negative (Pa)", self.lame_lambda);
        }
        if !(self.viscosity.value() >= 0.0 && finite(self.viscosity)) {
            return wrong("viscosity", "must not be negative (Pa s)", self.viscosity);
        }
        Ok(())
    }

    /// Young's modulus at rest (Pa).
    pub fn youngs_modulus(&self) -> T {
        self.lame_mu * (self.poisson_ratio() + 1.0) * 2.0
    }

    /// Poisson's ratio at rest.
    pub fn poisson_ratio(&self) -> T {
        self.lame_lambda / ((self.lame_lambda + self.lame_mu) * 2.0)
    }
}
