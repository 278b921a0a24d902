//! A task, and what it asks of a scene of either sort.

use nalgebra::DMatrix;

use super::objective::Objective;
use super::{rigid_task, soft_task};
use crate::Error;
use crate::identify::Method;
use crate::model::Scene;
use crate::soft::SoftScene;

/// A task.
#[derive(Clone, Debug)]
pub struct Task {
    /// The file it was read from.
    pub name: String,
    /// The scene.
    pub scene: TaskScene,
    /// How many steps are simulated.
    pub steps: usize,
    /// What is searched for.
    pub variables: Vec<TaskVariable>,
    /// What is wanted: the sum of all.
    pub objectives: Vec<Objective>,
    /// How it is searched for.
    pub method: Method,
    /// Most linearisations, in each stage.
    pub iterations: usize,
    /// Values that a parameter has in one stage after the other; each starts where the one before ended.
    pub continuation: Vec<(String, Vec<f64>)>,
}

/// A scene of either sort.
#[derive(Clone, Debug)]
pub enum TaskScene {
    /// Rigid bodies.
    Rigid(Box<Scene>),
    /// Soft bodies.
    Soft(Box<SoftScene>),
}

/// A variable, or as many as it has knots.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskVariable {
    /// The name of a parameter, a number of the start or an input.
    pub name: String,
    /// Where the search begins.
    pub initial: Vec<f64>,
    /// The least value.
    pub lower: f64,
    /// The largest value.
    pub upper: f64,
    /// A typical change.
    pub scale: f64,
}

/// A task at some variables.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluated {
    /// Half the sum of squares.
    pub cost: f64,
    /// All residuals.
    pub residuals: Vec<f64>,
    /// Steps that were not solved.
    pub unsolved: usize,
}

impl Evaluated {
    /// Of these residuals.
    pub fn new(residuals: Vec<f64>, unsolved: usize) -> Self {
        let cost = 0.5 * residuals.iter().map(|r| r * r).sum::<f64>();
        let cost = if unsolved == 0 && !cost.is_nan() { cost } else { f64::INFINITY };
        Evaluated { cost, residuals, unsolved }
    }
}

impl Task {
    /// All variables in a row: where the search begins.
    pub fn start(&self) -> Vec<f64> {
        self.variables.iter().flat_map(|variable| variable.initial.iter().copied()).collect()
    }

    /// The same of a number of each variable.
    pub fn each(&self, number: impl Fn(&TaskVariable) -> f64) -> Vec<f64> {
        let knots = |variable: &TaskVariable| vec![number(variable); variable.initial.len()];
        self.variables.iter().flat_map(knots).collect()
    }

    /// The names of all variables in a row; those of knots are numbered.
    pub fn variable_names(&self) -> Vec<String> {
        let names = |variable: &TaskVariable| match variable.initial.len() {
            1 => vec![variable.name.clone()],
            knots => (0..knots).map(|k| format!("{}[{k}]", variable.name)).collect(),
        };
        self.variables.iter().flat_map(names).collect()
    }

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
