//! The arguments of a scene's methods.

use pyo3::prelude::*;

use super::arrays::{Argument, Cases};
use super::calls::lock;
use super::scene::Scene;
use crate::Error as InputError;
use crate::model::domain;

/// Anything, if it can be made an array.
pub(super) type Given<'a, 'py> = &'a Bound<'py, PyAny>;

/// How many numbers there are.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    pub nq: usize,
    pub nv: usize,
    pub nu: usize,
    pub np: usize,
}

impl Sizes {
    /// Length of x.
    pub fn nx(self) -> usize {
        self.nq + self.nv
    }

    /// Length of dx.
    pub fn ndx(self) -> usize {
        2 * self.nv
    }
}

impl Scene {
    pub(super) fn state(&self, name: &'static str, x: Given) -> PyResult<Argument> {
        Argument::new(name, x, &[self.sizes.nx()])
    }

    /// What is not given stays as the scene has it.
    pub(super) fn input(&self, py: Python, u: Option<Given>) -> PyResult<Argument> {
        match u {
            Some(u) => Argument::new("u", u, &[self.sizes.nu]),
            None => Ok(Argument::constant("u", lock(py, &self.transition).initial_input())),
        }
    }

    /// What is not given is what is set.
    pub(super) fn values(&self, py: Python, p: Option<Given>) -> PyResult<Argument> {
        let Some(p) = p else {
            return Ok(Argument::constant("p", lock(py, &self.transition).parameters()));
        };
        let p = Argument::new("p", p, &[self.sizes.np])?;
        let names = self.parameter_names(py);
        for case in p.vectors() {
            for (name, &value) in names.iter().zip(case) {
                demand_sense(&self.name, name, value)?;
            }
        }
        Ok(p)
    }

    pub(super) fn weighted(
        &self,
        py: Python,
        x: Given,
        u: Option<Given>,
        w: Given,
        p: Option<Given>,
    ) -> PyResult<Cases<3>> {
        let w = Argument::new("w", w, &[self.sizes.ndx()])?;
        Cases::new([self.state("x", x)?, self.input(py, u)?, w], self.values(py, p)?)
    }
}

/// What is not given is zero.
pub(super) fn part(name: &'static str, given: Option<Given>, length: usize) -> PyResult<Argument> {
    match given {
        Some(given) => Argument::new(name, given, &[length]),
        None => Ok(Argument::constant(name, vec![0.0; length])),
    }
}

/// An error if a parameter cannot have this value.
pub(super) fn demand_sense(scene: &str, name: &str, value: f64) -> Result<(), InputError> {
    let (least, most) = domain(name);
    if (least..=most).contains(&value) {
        return Ok(());
    }
    let message = format!("must be from {least} to {most}, found {value}");
    Err(InputError::input(scene, None, name, message))
}
