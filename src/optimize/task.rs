//! A task.

use super::objective::Objective;
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
    /// The root of the sum of all squared residuals that is enough (m): a stage ends there.
    pub accuracy: f64,
    /// Values that a parameter has in one stage after the other; each starts where the one before ended.
    pub continuation: Vec<(String, Vec<f64>)>,
    /// From how many points it is searched for: the first is where variables begin.
    pub starts: usize,
    /// What the others are drawn by.
    pub seed: u64,
}

/// A scene of either sort.
#[derive(Clone, Debug)]
pub enum TaskScene {
    /// Rigid bodies.
    Rigid(Box<Scene>),
    /// Soft bodies.
    Soft(Box<SoftScene>),
}

impl TaskScene {
    /// s
    pub fn time_step(&self) -> f64 {
        match self {
            TaskScene::Rigid(scene) => scene.settings.time_step,
            TaskScene::Soft(scene) => scene.time_step,
        }
    }

    /// Its rigid bodies, if it has any.
    pub fn rigid(&self) -> Option<&Scene> {
        match self {
            TaskScene::Rigid(scene) => Some(scene),
            TaskScene::Soft(scene) => scene.rigid.as_deref(),
        }
    }
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

impl Task {
    /// All variables in a row: where the search begins.
    pub fn start(&self) -> Vec<f64> {
        self.variables.iter().flat_map(|variable| variable.initial.iter().copied()).collect()
    }

    /// How many stages a search has.
    pub fn stages(&self) -> usize {
        self.continuation.iter().map(|(_, values)| values.len()).max().unwrap_or(1).max(1)
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
}
