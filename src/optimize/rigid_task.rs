//! A task on rigid bodies.

use nalgebra::DMatrix;

use super::evaluated::Evaluated;
use super::objective::{BodyPoint, Goal};
use super::task::Task;
use crate::Error;
use crate::ad::{self, Dual, LANES, Real, Var};
use crate::model::{Scene, domain};
use crate::simulation::Simulation;

/// Whether a name is an input, whose knots are variables of their own.
pub(super) fn is_input(scene: &Scene, name: &str) -> bool {
    scene.model.input_names().iter().any(|own| own == name)
}

/// Whether a name is a number of the state, which the scene starts with. Those of quaternions are not independent.
pub(super) fn is_start(scene: &Scene, name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or(name);
    let of_quaternion = ["qw", "qx", "qy", "qz"].contains(&last);
    let named = |names: Vec<String>| names.iter().any(|own| own == name);
    !of_quaternion
        && (named(scene.model.configuration_names()) || named(scene.model.velocity_names()))
}

pub(super) fn set(task: &str, scene: &mut Scene, name: &str, value: f64) -> Result<(), Error> {
    let names = [name.to_string()];
    let (least, most) = domain(name);
    if !(least..=most).contains(&value) {
        let message = format!("must be within {least} and {most}, found {value}");
        return Err(Error::input(task, None, name, message));
    }
    for parameter in scene.model.parameters_named(&names, task)? {
        parameter.slots.iter().for_each(|&slot| scene.parameters.values[slot] = value);
    }
    Ok(())
}

/// The residuals of a simulation, and how many steps were not solved.
fn run<T: Real>(task: &Task, scene: &Scene, x: &[T]) -> (Vec<T>, usize) {
    let mut parameters = scene.parameters.cast::<T>();
    let mut variables = Vec::with_capacity(task.variables.len());
    let mut rest = x;
    for variable in &task.variables {
        let (own, others) = rest.split_at(variable.initial.len());
        rest = others;
        if let Some(parameter) = scene.model.parameter(&variable.name) {
            parameter.slots.iter().for_each(|&slot| parameters.values[slot] = own[0]);
        } else {
            variables.push((variable.name.as_str(), own));
        }
    }
    let inputs = scene.inputs.iter().map(|&u| T::constant(u)).collect();
    let mut simulation =
        Simulation::new(scene.system_with(&parameters), scene.state.cast(), inputs);
    for (name, own) in &variables {
        if let Some(number) = simulation.get_mut(name) {
            *number = own[0];
        }
    }
    let mut residuals = Vec::new();
    for step in 0..=task.steps {
        if step > 0 {
            for (name, knots) in variables.iter().filter(|(_, own)| own.len() > 1) {
                if let Some(input) = simulation.get_mut(name) {
                    *input = knot_value(task, knots, step - 1);
                }
            }
            simulation.step();
        }
        for objective in task.objectives.iter().filter(|own| own.period.contains(step)) {
            if let Goal::Effort { input } = objective.goal {
                let weight = objective.weight * objective.period.share();
                residuals.push(simulation.inputs[input] * weight);
                continue;
            }
            let Some((body, places)) = objective.points() else { continue };
            let of = |place: &BodyPoint| {
                let local = match place {
                    BodyPoint::Local(local) => local.map(T::constant),
                    _ => parameters.center_of_mass(&scene.model, body).into(),
                };
                simulation.point_of(body, local).into()
            };
            let points: Vec<[T; 3]> = places.iter().map(of).collect();
            objective.residuals(&points, &mut residuals);
        }
    }
    (residuals, simulation.rollout.report.unsolved)
}

/// Between evenly spaced knots, in a step by its number from 0.
pub(super) fn knot_value<T: Real>(task: &Task, knots: &[T], step: usize) -> T {
    let at = step as f64 / (task.steps - 1) as f64 * (knots.len() - 1) as f64;
    let first = (at as usize).min(knots.len() - 2);
    let share = at - first as f64;
    knots[first] * (1.0 - share) + knots[first + 1] * share
}

pub(super) fn evaluate(task: &Task, scene: &Scene, x: &[f64]) -> Evaluated {
    let (residuals, unsolved) = run(task, scene, x);
    Evaluated::new(residuals, unsolved)
}

pub(super) fn jacobian(
    task: &Task,
    scene: &Scene,
    x: &[f64],
) -> Result<(Evaluated, DMatrix<f64>), Error> {
    let evaluated = evaluate(task, scene, x);
    let mut matrix = DMatrix::zeros(evaluated.residuals.len(), x.len());
    for first in (0..x.len()).step_by(LANES) {
        let lane = |j: usize| j.checked_sub(first).filter(|&lane| lane < LANES);
        let lifted: Vec<Dual<f64, LANES>> = (x.iter().enumerate())
            .map(|(j, &x)| match lane(j) {
                Some(lane) => Dual::variable(x, lane),
                None => Dual::constant(x),
            })
            .collect();
        let (residuals, _) = run(task, scene, &lifted);
        for (i, residual) in residuals.iter().enumerate() {
            for j in first..x.len().min(first + LANES) {
                matrix[(i, j)] = residual.tangent[j - first];
            }
        }
    }
    Ok((evaluated, matrix))
}

pub(super) fn gradient(task: &Task, scene: &Scene, x: &[f64]) -> Result<(f64, Vec<f64>), Error> {
    let mut unsolved = 0;
    let cost = |x: &[Var]| {
        let (residuals, missed) = run(task, scene, x);
        unsolved = missed;
        residuals.iter().fold(Var::constant(0.0), |sum, &r| sum + r * r * 0.5)
    };
    let found = ad::gradient(cost, x);
    let (cost, gradient) =
        found.map_err(|error| Error::undefined(&task.name, error.to_string()))?;
    Ok((if unsolved == 0 { cost } else { f64::INFINITY }, gradient))
}
