//! A task on soft bodies, and rigid ones beside them.

use nalgebra::{DMatrix, Vector3};

use super::evaluated::Evaluated;
use super::objective::{BodyPoint, Goal, Objective};
use super::task::Task;
use crate::Error;
use crate::ad::Dual;
use crate::dynamics::Kinematics;
use crate::model::Scene;
use crate::soft::{
    InputSchedule, NoDerivative, SoftBody, SoftNumber, SoftParameter, SoftRollout, SoftScene,
    SoftState, SoftTangents,
};
use crate::state::State;

/// The scene with its variables at `x`, and what they are.
pub(super) fn set_all(
    task: &Task,
    scene: &SoftScene,
    x: &[f64],
) -> (SoftScene, Vec<SoftParameter>) {
    let mut scene = scene.clone();
    let mut parameters = Vec::with_capacity(x.len());
    let mut rest = x;
    for variable in &task.variables {
        let (own, others) = rest.split_at(variable.initial.len());
        rest = others;
        match (scene.parameter(&variable.name), own) {
            (Some(SoftParameter { number: SoftNumber::RigidInput(input), body }), [_, _, ..]) => {
                let number = |k| SoftNumber::Scheduled(scene.schedules.len(), k);
                let numbers = (0..own.len()).map(number);
                parameters.extend(numbers.map(|number| SoftParameter { body, number }));
                let span = (task.steps, scene.time_step);
                let schedule = InputSchedule::over(span, input, own.to_vec());
                scene.schedules.push(schedule);
            }
            (Some(parameter), [x]) => {
                scene.set(parameter, *x);
                parameters.push(parameter);
            }
            _ => {}
        }
    }
    (scene, parameters)
}

/// The input of the rigid bodies that has a name.
pub(super) fn input(scene: &SoftScene, name: &str) -> Option<usize> {
    match scene.parameter(name)?.number {
        SoftNumber::RigidInput(input) => Some(input),
        _ => None,
    }
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

/// All bodies after a step: soft ones, and rigid ones whose numbers follow.
struct After<'a> {
    scene: &'a SoftScene,
    step: usize,
    states: &'a [SoftState],
    rigid: Option<(&'a Scene, Kinematics<f64>)>,
}

impl<'a> After<'a> {
    fn new(
        scene: &'a SoftScene,
        step: usize,
        (states, rigid): (&'a [SoftState], Option<&State<f64>>),
    ) -> Self {
        let rigid =
            scene.rigid.as_deref().zip(rigid).map(|(scene, state)| {
                (scene, Kinematics::new(&scene.model, &scene.parameters, state))
            });
        After { scene, step, states, rigid }
    }

    /// A body among the rigid ones.
    fn rigid(&self, body: usize) -> Option<(&Scene, &Kinematics<f64>, usize)> {
        let (scene, kinematics) = self.rigid.as_ref()?;
        Some((scene, kinematics, body.checked_sub(self.scene.bodies.len())?))
    }

    fn point(&self, body: usize, place: BodyPoint) -> [f64; 3] {
        match (self.rigid(body), place) {
            (Some((_, kinematics, body)), BodyPoint::Local(local)) => {
                kinematics.point(body, &local.into()).into()
            }
            (Some((scene, kinematics, body)), _) => {
                let centre = scene.parameters.center_of_mass(&scene.model, body);
                kinematics.point(body, &centre).into()
            }
            (None, _) => self.scene.bodies[body].point(place, &self.states[body].position),
        }
    }

    /// How that changes with places of nodes, and a tangent vector of the rigid bodies.
    fn slope(
        &self,
        (body, place): (usize, BodyPoint),
        moved: Option<&[[f64; 3]]>,
        tangent: &[f64],
    ) -> [f64; 3] {
        let Some((_, kinematics, own)) = self.rigid(body) else {
            let own = moved.map(|moved| self.scene.bodies[body].point(place, moved));
            return own.unwrap_or_default();
        };
        let at = self.point(body, place).into();
        let add = |sum: [f64; 3], &k: &usize| {
            let column = kinematics.column(own, k, &at).linear;
            [0, 1, 2].map(|i| sum[i] + column[i] * tangent[k])
        };
        kinematics.path(own).iter().fold([0.0; 3], add)
    }

    /// Adds the residuals of an objective.
    fn residuals(&self, objective: &Objective, residuals: &mut Vec<f64>) {
        if let Goal::Effort { input } = objective.goal {
            let effort = self.scene.input(input, begun(self.scene, self.step));
            residuals.push(effort * objective.weight * objective.period.share());
            return;
        }
        let Some((body, places)) = objective.points() else { return };
        let points: Vec<[f64; 3]> = places.iter().map(|&own| self.point(body, own)).collect();
        objective.residuals(&points, residuals);
    }
}

/// When a step began (s), by how many there were with it.
fn begun(scene: &SoftScene, step: usize) -> f64 {
    scene.span(step.saturating_sub(1))[0]
}

/// The residuals of all objectives after a step.
fn residuals_at(
    task: &Task,
    scene: &SoftScene,
    step: usize,
    states: (&[SoftState], Option<&State<f64>>),
    residuals: &mut Vec<f64>,
) {
    let mut objectives = task.objectives.iter().filter(|own| own.period.contains(step)).peekable();
    if objectives.peek().is_some() {
        let after = After::new(scene, step, states);
        objectives.for_each(|objective| after.residuals(objective, residuals));
    }
}

/// What objectives ask of a rollout.
fn states_of<'a>(rollout: &'a SoftRollout) -> (&'a [SoftState], Option<&'a State<f64>>) {
    (rollout.states(), rollout.rigid_state())
}

pub(super) fn evaluate(task: &Task, scene: &SoftScene, x: &[f64]) -> Evaluated {
    let (scene, _) = set_all(task, scene, x);
    if scene.check().is_err() {
        return Evaluated::new(Vec::new(), 1);
    }
    let mut rollout = SoftRollout::new(&scene);
    let (mut residuals, mut unsolved) = (Vec::new(), 0);
    residuals_at(task, &scene, 0, states_of(&rollout), &mut residuals);
    for step in 1..=task.steps {
        unsolved += usize::from(rollout.step().unsolved > 0);
        residuals_at(task, &scene, step, states_of(&rollout), &mut residuals);
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
    let (mut residuals, mut rows, mut unsolved) = (Vec::new(), Vec::new(), 0);
    for step in 0..=task.steps {
        if step > 0 {
            let report = tangents.step().map_err(|error| undefined(task, error))?;
            unsolved += usize::from(report.unsolved > 0);
        }
        let mut objectives =
            task.objectives.iter().filter(|own| own.period.contains(step)).peekable();
        if objectives.peek().is_none() {
            continue;
        }
        let after = After::new(&scene, step, states_of(&tangents.rollout));
        for objective in objectives {
            let first = residuals.len();
            after.residuals(objective, &mut residuals);
            let mut found = vec![vec![0.0; parameters.len()]; residuals.len() - first];
            if let Goal::Effort { input } = objective.goal {
                let share = objective.weight * objective.period.share();
                let time = begun(&scene, step);
                let slope = |&parameter| share * scene.input_slope(input, time, parameter);
                rows.extend(parameters.iter().map(slope));
                continue;
            }
            let Some((body, places)) = objective.points() else { continue };
            let columns = tangents.columns(body).zip(tangents.rigid_columns());
            for (k, (column, tangent)) in columns.enumerate() {
                let moved = column.map(|(x, _)| x);
                let along = |&place: &BodyPoint| {
                    let slope = after.slope((body, place), moved, tangent);
                    let point = after.point(body, place);
                    [0, 1, 2].map(|i| Dual::<f64, 1>::new(point[i], [slope[i]]))
                };
                let points: Vec<_> = places.iter().map(along).collect();
                let mut column = Vec::new();
                objective.residuals(&points, &mut column);
                found.iter_mut().zip(&column).for_each(|(row, r)| row[k] = r.tangent[0]);
            }
            rows.extend(found.into_iter().flatten());
        }
    }
    let matrix = DMatrix::from_row_slice(residuals.len(), parameters.len(), &rows);
    Ok((Evaluated::new(residuals, unsolved), matrix))
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
    let at = |step: usize| (&record.states[step][..], record.rigid_state(step));
    for step in 0..=task.steps {
        residuals_at(task, &scene, step, at(step), &mut residuals);
    }
    let evaluated = Evaluated::new(residuals, unsolved);
    let now = |step: usize| task.objectives.iter().filter(move |own| own.period.contains(step));
    let mut weigh = |step: usize, body: usize, x: &mut [[f64; 3]], _: &mut [[f64; 3]]| {
        for objective in now(step) {
            let Some((_, places)) = objective.points().filter(|(of, _)| *of == body) else {
                continue;
            };
            let after = After::new(&scene, step, at(step));
            let slopes = point_adjoints(objective, (body, &places), &after);
            for (&place, slope) in places.iter().zip(slopes) {
                for (node, share) in scene.bodies[body].place_shares(place) {
                    (0..3).for_each(|k| x[node][k] += share * slope[k]);
                }
            }
        }
    };
    let mut weigh_rigid = |step: usize, tangent: &mut [f64]| {
        for objective in now(step) {
            let Some((body, places)) = objective.points() else { continue };
            let after = After::new(&scene, step, at(step));
            let Some((_, kinematics, own)) = after.rigid(body) else { continue };
            let slopes = point_adjoints(objective, (body, &places), &after);
            for (&place, slope) in places.iter().zip(slopes) {
                let point = Vector3::from(after.point(body, place));
                let slope = Vector3::from(slope);
                for &k in kinematics.path(own) {
                    tangent[k] += kinematics.column(own, k, &point).linear.dot(&slope);
                }
            }
        }
    };
    let gradient = record.gradient_beside(&parameters, &mut weigh, &mut weigh_rigid);
    let mut gradient = gradient.map_err(|error| undefined(task, error))?;
    for step in 1..=task.steps {
        for objective in now(step) {
            let Goal::Effort { input } = objective.goal else { continue };
            let (time, share) = (begun(&scene, step), objective.weight * objective.period.share());
            let slope = share * share * scene.input(input, time);
            for (sum, &parameter) in gradient.iter_mut().zip(&parameters) {
                *sum += slope * scene.input_slope(input, time, parameter);
            }
        }
    }
    Ok((evaluated.cost, gradient))
}

/// The derivative of half the square of an objective's residuals in the points of its goal.
fn point_adjoints(
    objective: &Objective,
    (body, places): (usize, &[BodyPoint]),
    after: &After,
) -> Vec<[f64; 3]> {
    /// Two points at most.
    type Scalar = Dual<f64, 6>;
    let variable = |(j, &place): (usize, &BodyPoint)| {
        let point = after.point(body, place);
        [0, 1, 2].map(|k| Scalar::variable(point[k], 3 * j + k))
    };
    let points: Vec<_> = places.iter().enumerate().map(variable).collect();
    let mut residuals = Vec::new();
    objective.residuals(&points, &mut residuals);
    let sum = |lane: usize| residuals.iter().map(|r| r.value * r.tangent[lane]).sum::<f64>();
    (0..places.len()).map(|j| [0, 1, 2].map(|k| sum(3 * j + k))).collect()
}
