//! The arguments of a scene's methods, with what is not given.

use pyo3::prelude::*;

use super::arguments::Given;
use super::calls::lock;
use super::numpy_arrays::{Argument, Cases};
use super::scene::Scene;

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
        match p {
            Some(p) => Argument::new("p", p, &[self.sizes.np]),
            None => Ok(Argument::constant("p", lock(py, &self.transition).parameters())),
        }
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
