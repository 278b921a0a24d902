//! The gradient of the sum over all windows, backwards over their steps.

use std::sync::PoisonError;

use super::Problem;
use crate::Error;
use crate::ad::{self, Var};
use crate::identify::parallel;
use crate::identify::peers::Sum;
use crate::identify::residuals::{forgets, residuals, window_gradient};
use crate::simulation::StepReport;

impl Problem<'_> {
    /// The cost and its gradient in [variables..., initial-state tangents of the windows that count], backwards over
    /// the steps of each window (see [`RolloutAdjoint`](crate::linearize::RolloutAdjoint)).
    ///
    /// # Errors
    /// Those of [`ad::gradient`].
    pub fn gradient(&mut self, x: &[f64]) -> Result<(f64, Vec<f64>), ad::Error> {
        let unknowns = self.initial_unknowns();
        // Adjoints of steps are those of their ends, not of forces in between.
        let by_adjoints =
            forgets(&self.measurement.dataset.settings) && self.measurement.is_of_states();
        let parts = parallel(self.threads, self.own.len(), |at| {
            let k = self.own[at];
            match by_adjoints {
                true => self.gradient_by_adjoints(x, k),
                false => self.gradient_by_tape(x, k),
            }
        });
        let dataset = self.measurement.dataset;
        let parts: Result<Vec<_>, ad::Error> = parts.into_iter().collect();
        let parts = match parts {
            Err(error) if dataset.group().is_alone() => return Err(error),
            // The others are told with what is gathered next.
            Err(error) => {
                dataset.group().fail(Error::input("method", None, "", error.to_string()));
                vec![
                    (f64::NAN, vec![0.0; x.len() + unknowns], StepReport::default());
                    self.own.len()
                ]
            }
            Ok(parts) => parts,
        };
        self.report = self.reports(parts.iter().map(|(.., report)| report));
        let places: Vec<usize> = (0..=x.len()).collect();
        let sum = Sum {
            what: "gradient",
            alike: self.alike(x),
            places: &places,
            begin: &vec![0.0; places.len()],
        };
        let mut gradient = dataset.shares.sum(&sum, &self.own_recordings(), |k, to| {
            let (cost, g, _) = &parts[k];
            to.push(*cost);
            to.extend_from_slice(&g[..x.len()]);
        });
        let mut total = gradient.remove(0);
        if unknowns > 0 {
            let own = parts.iter().flat_map(|(_, g, _)| &g[x.len()..x.len() + unknowns]);
            let own = own.copied().collect();
            let count = unknowns * self.active.len();
            gradient.extend(dataset.shares.all("initial states", own, count));
        }
        let (own, slopes) = ad::gradient(|z: &[Var]| self.prior_cost(z), x)?;
        total += own;
        gradient.iter_mut().zip(slopes).for_each(|(sum, slope)| *sum += slope);
        self.effort.derivative_steps += self.window_steps();
        Ok((total, gradient))
    }

    /// The part of a window, in the variables and its initial state.
    fn gradient_by_adjoints(
        &self,
        x: &[f64],
        k: usize,
    ) -> Result<(f64, Vec<f64>, StepReport), ad::Error> {
        let idle = || self.rollouts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rollout = idle().pop().unwrap_or_default();
        let (window, parameters) = (self.stretch(k), self.parameters_at(x));
        let initial = &self.initial[k];
        let found = window_gradient(&self.measurement, &window, &parameters, initial, &mut rollout);
        let (state, report) = (rollout.adjoints().state.clone(), *rollout.report());
        idle().push(rollout);
        let (cost, by_parameters) = found?;
        let values = |x: &[Var]| self.parameters_at(x).values;
        let (_, mut gradient) = ad::vjp(values, x, |_| by_parameters)?;
        gradient.extend(self.initial_part(&state));
        Ok((cost, gradient, report))
    }

    /// The same by a recording of all steps, where they are tied together by more than states.
    fn gradient_by_tape(
        &self,
        x: &[f64],
        k: usize,
    ) -> Result<(f64, Vec<f64>, StepReport), ad::Error> {
        let window = self.stretch(k);
        let mut input = x.to_vec();
        input.resize(x.len() + self.initial_unknowns(), 0.0);
        let mut report = StepReport::default();
        let cost = |z: &[Var]| {
            let (p, tangent) = z.split_at(x.len());
            let mut initial = self.initial[k].cast();
            if !tangent.is_empty() {
                let tangent = self.initial_tangent(tangent);
                initial = initial.moved(self.measurement.model.coordinates(), &tangent);
            }
            let mut r = Vec::new();
            let parameters = self.parameters_at(p);
            report = residuals(&self.measurement, &window, &parameters, &initial, &mut r);
            crate::linalg::dot(&r, &r) * 0.5
        };
        let (cost, gradient) = ad::gradient(cost, &input)?;
        Ok((cost, gradient, report))
    }
}
