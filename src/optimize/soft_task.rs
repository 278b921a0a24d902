//! A task on soft bodies.

use nalgebra::DMatrix;

use super::evaluated::Evaluated;
use super::objective::{BodyPoint, Objective};
use super::task::Task;
use crate::Error;
use crate::ad::Dual;
use crate::soft::{
    NoDerivative, SoftBody, SoftParameter, SoftRollout, SoftScene, SoftState, SoftTangents,
};

/// The scene with its variables at `x`, and what they are.
pub(super) fn set_all(
    task: &Task,
    scene: &SoftScene,
    x: &[f64],
) -> (SoftScene, Vec<SoftParameter>) {
    let mut scene = scene.clone();
    let names = task.variables.iter().map(|variable| &variable.name);
    let parameters: Vec<SoftParameter> = names.filter_map(|name| scene.parameter(name)).collect();
    for (&parameter, &x) in parameters.iter().zip(x) {
        scene.set(parameter, x);
    }
    (scene, parameters)
}

pub(super) fn set(task: &str, scene: &mut SoftScene, name: &str, value: f64) -> Result<(), Error> {
    let parameter = scene.parameter(name).ok_or_else(|| {
        let names: Vec<String> = scene.parameters().into_iter().map(|(name, _)| name).collect();
        let message = format!("is no parameter of the scene; there are {}", names.join(", "));
        Error::input(task, None, name, message)
    })?;
    scene.set(parameter, value);
    scene.check().map_err(|message| Error::input(task, None, name, message))
}

impl SoftBody {
    fn point(&self, place: BodyPoint, x: &[[f64; 3]]) -> [f64; 3] {
        match place {
            BodyPoint::Centre => self.mean(x),
            BodyPoint::Surface => self.surface_mean(x),
            BodyPoint::Node(node) => x[node],
            BodyPoint::Local(_) => [f64::NAN; 3],
        }
    }

    /// The share of each node in a point.
    fn place_shares(&self, place: BodyPoint) -> Vec<(usize, f64)> {
        let of = |nodes: &[usize], weights: &[f64]| {
            let total: f64 = weights.iter().sum();
            nodes.iter().zip(weights).map(|(&node, w)| (node, w / total)).collect()
        };
        match place {
            BodyPoint::Centre => {
                let all: Vec<usize> = (0..self.position.len()).collect();
                of(&all, self.elements.unit_weight())
            }
            BodyPoint::Surface => of(&self.surface, &self.areas),
            BodyPoint::Node(node) => vec![(node, 1.0)],
            BodyPoint::Local(_) => Vec::new(),
        }
    }
}

/// The residuals of all objectives after a step.
fn residuals_at(
    task: &Task,
    scene: &SoftScene,
    step: usize,
    states: &[SoftState],
    residuals: &mut Vec<f64>,
) {
    for objective in task.objectives.iter().filter(|own| own.period.contains(step)) {
        let Some((body, places)) = objective.points() else { continue };
        let x = &states[body].position;
        let points: Vec<[f64; 3]> =
            places.iter().map(|&place| scene.bodies[body].point(place, x)).collect();
        objective.residuals(&points, residuals);
    }
}

pub(super) fn evaluate(task: &Task, scene: &SoftScene, x: &[f64]) -> Evaluated {
    let (scene, _) = set_all(task, scene, x);
    if scene.check().is_err() {
        return Evaluated::new(Vec::new(), 1);
    }
    let mut rollout = SoftRollout::new(&scene);
    let (mut residuals, mut unsolved) = (Vec::new(), 0);
    residuals_at(task, &scene, 0, rollout.states(), &mut residuals);
    for step in 1..=task.steps {
        unsolved += usize::from(rollout.step().unsolved > 0);
        residuals_at(task, &scene, step, rollout.states(), &mut residuals);
    }
    Evaluated::new(residuals, unsolved)
}

fn undefined(task: &Task, error: NoDerivative) -> Error {
    Error::undefined(&task.name, error.to_string())
}

pub(super) fn jacobian(
    task: &Task,
    scene: &SoftScene,
    x: &[f64],
) -> Result<(Evaluated, DMatrix<f64>), Error> {
    let (scene, parameters) = set_all(task, scene, x);
    scene.check().map_err(|message| Error::undefined(&task.name, message))?;
    let mut tangents = SoftTangents::new(&scene, &parameters);
    let (mut residuals, mut rows) = (Vec::new(), Vec::new());
    for step in 0..=task.steps {
        if step > 0 {
            tangents.step().map_err(|error| undefined(task, error))?;
        }
        for objective in task.objectives.iter().filter(|own| own.period.contains(step)) {
            let Some((body, places)) = objective.points() else { continue };
            let own = &scene.bodies[body];
            let x = &tangents.rollout.states()[body].position;
            let mut found = Vec::new();
            for (k, column) in tangents.columns(body).enumerate() {
                let slope = |place: BodyPoint| match column {
                    Some((moved, _)) => own.point(place, moved),
                    None => [0.0; 3],
                };
                let along = |&place: &BodyPoint| {
                    let (point, slope) = (own.point(place, x), slope(place));
                    [0, 1, 2].map(|i| Dual::<f64, 1>::new(point[i], [slope[i]]))
                };
                let points: Vec<_> = places.iter().map(along).collect();
                let mut column = Vec::new();
                objective.residuals(&points, &mut column);
                if k == 0 {
                    residuals.extend(column.iter().map(|r| r.value));
                    found = vec![vec![0.0; parameters.len()]; column.len()];
                }
                found.iter_mut().zip(&column).for_each(|(row, r)| row[k] = r.tangent[0]);
            }
            rows.extend(found.into_iter().flatten());
        }
    }
    let matrix = DMatrix::from_row_slice(residuals.len(), parameters.len(), &rows);
    Ok((Evaluated::new(residuals, 0), matrix))
}

pub(super) fn gradient(
    task: &Task,
    scene: &SoftScene,
    x: &[f64],
) -> Result<(f64, Vec<f64>), Error> {
    let (scene, parameters) = set_all(task, scene, x);
    scene.check().map_err(|message| Error::undefined(&task.name, message))?;
    let record = scene.record(task.steps);
    let unsolved = record.reports.iter().filter(|report| report.unsolved > 0).count();
    let mut residuals = Vec::new();
    for (step, states) in record.states.iter().enumerate() {
        residuals_at(task, &scene, step, states, &mut residuals);
    }
    let evaluated = Evaluated::new(residuals, unsolved);
    let mut weigh = |step: usize, body: usize, x: &mut [[f64; 3]], _: &mut [[f64; 3]]| {
        for objective in task.objectives.iter().filter(|own| own.period.contains(step)) {
            let position = &record.states[step][body].position;
            add_adjoint(objective, body, &scene.bodies[body], position, x);
        }
    };
    let gradient = record.gradient(&parameters, &mut weigh);
    Ok((evaluated.cost, gradient.map_err(|error| undefined(task, error))?))
}

/// Adds the derivative of half the square of an objective's residuals after a step.
fn add_adjoint(
    objective: &Objective,
    body: usize,
    own: &SoftBody,
    position: &[[f64; 3]],
    x: &mut [[f64; 3]],
) {
    /// Two points at most.
    type Scalar = Dual<f64, 6>;
    let Some((_, places)) = objective.points().filter(|(of, _)| *of == body) else { return };
    let variable = |(j, place): (usize, &BodyPoint)| {
        let point = own.point(*place, position);
        [0, 1, 2].map(|k| Scalar::variable(point[k], 3 * j + k))
    };
    let points: Vec<_> = places.iter().enumerate().map(variable).collect();
    let mut residuals = Vec::new();
    objective.residuals(&points, &mut residuals);
    for (j, &place) in places.iter().enumerate() {
        let slope = [0, 1, 2]
            .map(|k| residuals.iter().map(|r| r.value * r.tangent[3 * j + k]).sum::<f64>());
        for (node, share) in own.place_shares(place) {
            (0..3).for_each(|k| x[node][k] += share * slope[k]);
        }
    }
}
