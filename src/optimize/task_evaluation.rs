//! What a task asks of its scene, of either sort.

use nalgebra::DMatrix;

use super::evaluated::Evaluated;
use super::task::{Task, TaskScene};
use super::{rigid_task, soft_task};
use crate::Error;
use crate::soft::SoftScene;

impl Task {
    /// Residuals at `x`. A simulation that is not solved costs infinitely much.
    pub fn evaluate(&self, x: &[f64]) -> Evaluated {
        match &self.scene {
            TaskScene::Rigid(scene) => rigid_task::evaluate(self, scene, x),
            TaskScene::Soft(scene) => soft_task::evaluate(self, scene, x),
        }
    }

    /// The same with the Jacobian of the residuals, by forward sensitivities.
    ///
    /// # Errors
    /// If there is no derivative.
    pub fn jacobian(&self, x: &[f64]) -> Result<(Evaluated, DMatrix<f64>), Error> {
        match &self.scene {
            TaskScene::Rigid(scene) => rigid_task::jacobian(self, scene, x),
            TaskScene::Soft(scene) => soft_task::jacobian(self, scene, x),
        }
    }

    /// The cost and its gradient, backward in time.
    ///
    /// # Errors
    /// If there is no derivative.
    pub fn gradient(&self, x: &[f64]) -> Result<(f64, Vec<f64>), Error> {
        match &self.scene {
            TaskScene::Rigid(scene) => rigid_task::gradient(self, scene, x),
            TaskScene::Soft(scene) => soft_task::gradient(self, scene, x),
        }
    }

    /// The scene of soft bodies with the variables at `x`; of rigid ones there is none.
    pub fn soft_scene(&self, x: &[f64]) -> Option<SoftScene> {
        match &self.scene {
            TaskScene::Rigid(_) => None,
            TaskScene::Soft(scene) => Some(soft_task::set_all(self, scene, x).0),
        }
    }

    /// The inputs among the variables at `x`, each with its name, by steps.
    pub fn inputs(&self, x: &[f64]) -> Vec<(String, Vec<f64>)> {
        let mut all = Vec::new();
        let mut rest = x;
        let scene = self.soft_scene(x);
        for variable in &self.variables {
            let (own, others) = rest.split_at(variable.initial.len());
            rest = others;
            let name = &variable.name;
            let steps = 0..self.steps;
            let values: Vec<f64> = match (&self.scene, &scene) {
                (TaskScene::Rigid(rigid), _) if rigid_task::is_input(rigid, name) => match own {
                    [one] => steps.map(|_| *one).collect(),
                    knots => steps.map(|k| rigid_task::knot_value(self, knots, k)).collect(),
                },
                (TaskScene::Soft(start), Some(scene)) => {
                    let Some(input) = soft_task::input(start, name) else { continue };
                    steps.map(|k| scene.input(input, scene.span(k)[0])).collect()
                }
                _ => continue,
            };
            all.push((name.clone(), values));
        }
        all
    }

    /// The task in which a parameter has another value.
    ///
    /// # Errors
    /// If there is no such parameter, or the value is none of it.
    pub fn with(&self, parameter: &str, value: f64) -> Result<Task, Error> {
        let mut task = self.clone();
        match &mut task.scene {
            TaskScene::Rigid(scene) => rigid_task::set(&self.name, scene, parameter, value)?,
            TaskScene::Soft(scene) => soft_task::set(&self.name, scene, parameter, value)?,
        }
        Ok(task)
    }
}
