//! The search for the variables of a task.

use nalgebra::{DMatrix, DVector};

use super::evaluated::Evaluated;
use super::task::{Task, TaskVariable};
use crate::Error;
use crate::ad;
use crate::identify::{
    AdamStanding, Descent, LbfgsbStanding, LeastSquares, Method, Outcome, Trial, Variables, adam,
    lbfgsb, minimize_over_kinks,
};

/// A cost below this is a zero, times the square of the largest weight (m²): residuals are 1e-11 m.
const NOTHING: f64 = 1e-22;
/// Adam has converged where the gradient is this part of the first.
const FLAT: f64 = 1e-2;

/// What a search found.
#[derive(Clone, Debug)]
pub struct Optimum {
    /// The variables.
    pub x: Vec<f64>,
    /// The task there.
    pub evaluated: Evaluated,
    /// How the last stage ended.
    pub outcome: Outcome,
    /// One stage after the other; one without continuation.
    pub stages: Vec<TaskStage>,
    /// Why a stage after the first did not begin: what there is then is of the stages before.
    pub failure: Option<Error>,
    /// The task of the last stage, with what the continuation made of its scene.
    pub task: Task,
}

/// A stage of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskStage {
    /// What the parameters of the continuation were.
    pub values: Vec<(String, f64)>,
    /// Where it ended.
    pub x: Vec<f64>,
    /// The cost there.
    pub cost: f64,
    /// Iterations.
    pub iterations: usize,
    /// How often the task was simulated.
    pub simulations: usize,
    /// How it ended.
    pub outcome: Outcome,
}

/// What is told of each iteration: stage, number, cost, variables. It ends the search by returning false.
pub type WatchTask<'a> = &'a mut dyn FnMut(usize, usize, f64, &[f64]) -> bool;

/// Searches for the variables of a task, from where they begin.
///
/// # Errors
/// If the start has no derivative, no variable moves an objective, or the continuation names what is no parameter.
pub fn optimize(task: &Task, watch: WatchTask) -> Result<Optimum, Error> {
    let count = task.stages();
    let mut x = task.start();
    let mut stages: Vec<TaskStage> = Vec::with_capacity(count);
    let mut last = task.clone();
    let mut interrupted = false;
    let mut failure = None;
    for stage in 0..count {
        let value = |(name, values): &(String, Vec<f64>)| {
            let last = values.len().checked_sub(1)?;
            Some((name.clone(), values[stage.min(last)]))
        };
        let values: Vec<(String, f64)> = task.continuation.iter().filter_map(value).collect();
        let mut own = last.clone();
        for (name, value) in &values {
            own = own.with(name, *value)?;
        }
        let mut watched = |iteration: usize, cost: f64, x: &[f64]| {
            let goes_on = watch(stage, iteration, cost, x);
            interrupted |= !goes_on;
            goes_on
        };
        let found = match search(&own, &x, &mut watched) {
            Ok(found) => found,
            Err(error) if stages.is_empty() => return Err(error),
            Err(error) => {
                failure = Some(error);
                break;
            }
        };
        last = own;
        x.clone_from(&found.x);
        stages.push(TaskStage { values, ..found });
        if interrupted {
            break;
        }
    }
    let outcome = stages.last().map_or(Outcome::Infeasible, |stage| stage.outcome);
    Ok(Optimum { evaluated: last.evaluate(&x), x, outcome, stages, failure, task: last })
}

/// A task as searches ask for it.
struct Problem<'a> {
    task: &'a Task,
    simulations: usize,
    /// A cost of nothing.
    nothing: f64,
    /// What came of the task where it was linearised last.
    residuals: DVector<f64>,
    jacobian: DMatrix<f64>,
    cost: f64,
    /// The size of the gradient in scales, the first one and the last.
    slopes: Option<[f64; 2]>,
    scale: &'a [f64],
    /// Why there was no derivative, the first time.
    failure: Option<Error>,
    /// The same at the last trial.
    tried: Option<(Vec<f64>, Evaluated, DMatrix<f64>)>,
}

impl Problem<'_> {
    /// Takes down the size of a gradient.
    fn slope(&mut self, gradient: &[f64]) {
        let sizes = gradient.iter().zip(self.scale).map(|(g, scale)| (g * scale).abs());
        let size = sizes.fold(0.0, f64::max);
        self.slopes = Some([self.slopes.map_or(size, |[first, _]| first), size]);
    }

    fn derive(&mut self, x: &[f64]) -> (Evaluated, DMatrix<f64>) {
        self.simulations += 1;
        match self.task.jacobian(x) {
            Ok(found) => found,
            Err(error) => {
                self.failure.get_or_insert(error);
                (Evaluated::new(Vec::new(), 1), DMatrix::zeros(0, x.len()))
            }
        }
    }
}

impl LeastSquares for Problem<'_> {
    fn linearize(&mut self, x: &[f64]) -> f64 {
        let known = self.tried.take().filter(|(at, ..)| at == x);
        let (evaluated, jacobian) = match known {
            Some((_, evaluated, jacobian)) => (evaluated, jacobian),
            None => self.derive(x),
        };
        self.cost = evaluated.cost;
        (self.residuals, self.jacobian) = (DVector::from_vec(evaluated.residuals), jacobian);
        let gradient = self.jacobian.tr_mul(&self.residuals);
        self.slope(gradient.as_slice());
        self.cost
    }

    fn normal_equations(&self) -> (DMatrix<f64>, DVector<f64>) {
        (self.jacobian.tr_mul(&self.jacobian), self.jacobian.tr_mul(&self.residuals))
    }

    fn trial(&mut self, x: &[f64], step: &[f64]) -> Trial {
        let there: Vec<f64> = x.iter().zip(step).map(|(x, step)| x + step).collect();
        let (evaluated, jacobian) = self.derive(&there);
        let linear = &self.residuals + &self.jacobian * DVector::from_column_slice(step);
        let predicted = self.cost - 0.5 * linear.norm_squared();
        let cost = evaluated.cost;
        self.tried = Some((there, evaluated, jacobian));
        Trial { cost, predicted, eliminated_step: 0.0 }
    }

    fn accept(&mut self) {}

    fn has_kinks(&self) -> bool {
        self.cost > self.nothing
    }
}

impl Descent for Problem<'_> {
    fn gradient(&mut self, x: &[f64]) -> Result<(f64, Vec<f64>), ad::Error> {
        self.simulations += 1;
        let found = match self.task.gradient(x) {
            Ok(found) => found,
            Err(error) => {
                self.failure.get_or_insert(error);
                return Ok((f64::INFINITY, vec![0.0; x.len()]));
            }
        };
        self.slope(&found.1);
        Ok(found)
    }
}

fn search(
    task: &Task,
    start: &[f64],
    watch: &mut dyn FnMut(usize, f64, &[f64]) -> bool,
) -> Result<TaskStage, Error> {
    let bound = |number: fn(&TaskVariable) -> f64| task.each(number);
    let (lower, upper) = (bound(|v| v.lower), bound(|v| v.upper));
    let scale = bound(|v| v.scale);
    let variables = Variables { lower: &lower, upper: &upper, scale: &scale };
    let mut problem = Problem {
        task,
        simulations: 0,
        nothing: 0.0,
        residuals: DVector::zeros(0),
        jacobian: DMatrix::zeros(0, 0),
        cost: f64::INFINITY,
        slopes: None,
        scale: &scale,
        failure: None,
        tried: None,
    };
    let weights = task.objectives.iter().map(|own| own.weight * own.period.share());
    let nothing = NOTHING * weights.fold(0.0, f64::max).powi(2);
    let nothing = nothing.max(0.5 * task.accuracy.powi(2));
    problem.nothing = nothing;
    let mut reached = false;
    let mut goes_on = |iteration: usize, cost: f64, x: &[f64]| {
        reached |= cost <= nothing;
        watch(iteration, cost, x) && cost > nothing
    };
    let most = task.iterations;
    let found = match task.method {
        Method::LevenbergMarquardt => {
            let limits = (most, nothing);
            Ok(minimize_over_kinks(&mut problem, start, variables, limits, &mut goes_on))
        }
        Method::Lbfgsb => {
            let at = LbfgsbStanding::new(start);
            let mut iteration = 0;
            lbfgsb(&mut problem, at, variables, most, &mut |at, _| {
                iteration += 1;
                goes_on(iteration, at.cost.unwrap_or(f64::INFINITY), at.point())
            })
        }
        Method::Adam(settings) => {
            let at = AdamStanding::new(start);
            adam(&mut problem, at, variables, settings, most, &mut |at, cost, _| {
                goes_on(at.iterations, cost, &at.x)
            })
        }
    };
    let found = found.map_err(|error| Error::undefined(&task.name, error.to_string()))?;
    if found.outcome == Outcome::Infeasible {
        let unknown = || Error::undefined(&task.name, "the cost at the start is not finite");
        return Err(problem.failure.unwrap_or_else(unknown));
    }
    let [first, slope] = problem.slopes.unwrap_or_default();
    if first == 0.0 && problem.simulations > 0 && found.cost > nothing {
        let message = "no variable moves any objective: is its body another one, or its time before they act?";
        return Err(Error::undefined(&task.name, message));
    }
    // Adam's steps fall to nothing by themselves.
    let is_flat = !matches!(task.method, Method::Adam(_)) || slope <= FLAT * first;
    let outcome = match found.outcome {
        _ if reached => Outcome::Converged,
        Outcome::Converged if !is_flat => Outcome::IterationLimit,
        outcome => outcome,
    };
    Ok(TaskStage {
        values: Vec::new(),
        x: found.x,
        cost: found.cost,
        iterations: found.iterations,
        simulations: problem.simulations,
        outcome,
    })
}
