//! How a motion of soft bodies changes with parameters: forward, beside the motion, and adjoint, from its record.

use std::fmt;

use super::mixed_derivative::{Asked, MixedChange, MixedDerivative, MixedMemory};
use super::rigid_part::{KeptRigidStep, RigidPart};
use super::soft_drive::SoftDrive;
use super::soft_obstacle::NearestMemory;
use super::soft_parameter::{SoftNumber, SoftParameter};
use super::soft_rollout::SoftRollout;
use super::soft_scene::{SoftBody, SoftScene};
use super::soft_state::{SoftState, SoftStepReport};
use super::soft_time::SoftTime;
use super::solved_soft_step::SolvedSoftStep;
use crate::implicit::{
    Bdf, ContactStep, DerivativeMemory, Predicted, StepChange, VertexContact, VertexLaw,
};
use crate::linalg::dot;
use crate::model::Scene;
use crate::state::State;

/// A motion has no derivative at a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoDerivative {
    /// The name of the body.
    pub body: String,
    /// The number of the step, from 1 on.
    pub step: usize,
    /// By which law vertices touch.
    pub law: VertexLaw,
}

impl fmt::Display for NoDerivative {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.law.has_derivatives() {
            let law = self.law.name();
            return write!(f, "solver {law:?} has no derivatives; take \"coupled\"");
        }
        write!(
            f,
            "step {} of {} was not solved, or its conditions determine no derivative (as where a vertex touches shapes that move differently)",
            self.step, self.body
        )
    }
}

impl std::error::Error for NoDerivative {}

/// Of the nodes of a body: of their places (m) and velocities (m/s), by a parameter.
type Change<'a> = (&'a [[f64; 3]], &'a [[f64; 3]]);

/// A motion with its changes along some parameters.
pub struct SoftTangents<'a> {
    /// The motion.
    pub rollout: SoftRollout<'a>,
    parameters: Vec<SoftParameter>,
    /// Of each parameter the change of the places and velocities of its body now and a step before; of all bodies, where there are rigid
    /// ones by which they touch each other.
    columns: Vec<MixedChange>,
    memories: Vec<DerivativeMemory>,
    mixed: MixedMemory,
}

impl<'a> SoftTangents<'a> {
    /// At the start of the scene.
    pub fn new(scene: &'a SoftScene, parameters: &[SoftParameter]) -> Self {
        let asked = scene.asked(parameters);
        let direction = |&parameter: &SoftParameter| scene.mixed_direction(parameter, &asked);
        SoftTangents {
            rollout: SoftRollout::new(scene),
            parameters: parameters.to_vec(),
            columns: parameters.iter().map(direction).collect(),
            memories: scene.bodies.iter().map(|_| DerivativeMemory::default()).collect(),
            mixed: MixedMemory::default(),
        }
    }

    /// A step.
    ///
    /// # Errors
    /// If it has no derivative.
    pub fn step(&mut self) -> Result<SoftStepReport, NoDerivative> {
        let span = self.rollout.scene().span(self.rollout.steps());
        let SoftTangents { rollout, parameters, columns, memories, mixed } = self;
        let (scene, mut failed) = (rollout.scene(), None);
        let asked = scene.asked(parameters);
        let report = rollout.step_seen(&mut |all, rigid| {
            if let Some(rigid) = rigid {
                let memory = std::mem::take(mixed);
                let derivative = MixedDerivative::new(memory, all, rigid.taken(), &asked);
                let Some(mut derivative) = derivative.filter(|_| rigid.is_solved()) else {
                    failed = Some(None);
                    return;
                };
                for (column, &parameter) in columns.iter_mut().zip(&*parameters) {
                    if let Some(own) = all.get(parameter.body) {
                        let column = &mut column.soft[parameter.body];
                        scene.lead_change(parameter, span, own.start, column);
                    }
                    scene.acting_change(parameter, span[0], &asked, &mut column.inputs);
                    let (ends, rigid) = derivative.tangent(column);
                    for (column, [v, x]) in column.soft.iter_mut().zip(ends) {
                        column.x_old = std::mem::replace(&mut column.x, x);
                        column.v_old = std::mem::replace(&mut column.v, v);
                    }
                    column.rigid = rigid;
                }
                *mixed = derivative.into_memory();
                return;
            }
            for solved in all {
                let own = || parameters.iter().map(move |parameter| parameter.body == solved.body);
                if failed.is_some() || !own().any(|own| own) {
                    continue;
                }
                let Some(mut derivative) = solved.derivative(&mut memories[solved.body]) else {
                    failed = Some(Some(solved.body));
                    return;
                };
                let own = own().zip(parameters.iter());
                for (column, (_, &parameter)) in
                    columns.iter_mut().zip(own).filter(|(_, (own, _))| *own)
                {
                    let column = &mut column.soft[0];
                    scene.lead_change(parameter, span, solved.start, column);
                    let [v, x] = derivative.tangent(column);
                    column.x_old = std::mem::replace(&mut column.x, x);
                    column.v_old = std::mem::replace(&mut column.v, v);
                }
                memories[solved.body] = derivative.into_memory();
            }
        });
        match failed {
            Some(body) => Err(self.rollout.scene().no_derivative(body, self.rollout.steps())),
            None => Ok(report),
        }
    }

    /// The change of the nodes of a body with each parameter, places (m) and velocities (m/s) by the parameter; nothing where it has none.
    pub fn columns(&self, body: usize) -> impl Iterator<Item = Option<Change<'_>>> + Clone {
        let mixed = self.rollout.scene().rigid.is_some();
        self.parameters.iter().zip(&self.columns).map(move |(parameter, column)| {
            let own = match mixed {
                true => column.soft.get(body)?,
                false => column.soft.first().filter(|_| parameter.body == body)?,
            };
            Some((&own.x[..], &own.v[..]))
        })
    }

    /// The change of the state of the rigid bodies with each parameter: a tangent vector, see [`State::moved`](crate::state::State::moved).
    pub fn rigid_columns(&self) -> impl Iterator<Item = &[f64]> + Clone {
        self.columns.iter().map(|column| &column.rigid[..])
    }
}

/// The nodes of all soft bodies, velocities (m/s) and places (m) of each, and a tangent vector of the rigid ones: changes of what a step ends with,
/// or weights of it.
pub(crate) type MixedEnd = (Vec<[Vec<[f64; 3]>; 2]>, Vec<f64>);

/// What changes do to the end of a step, and adjoints of changes.
pub(crate) type MixedEnds = (Vec<MixedEnd>, Vec<MixedChange>);

impl SoftRollout<'_> {
    /// A step of soft bodies beside rigid ones, what `changes` of what it is made of do to its end, and the adjoints of these where that is weighed
    /// with `weights`; nothing where it has no derivative.
    pub(crate) fn step_differentiated(
        &mut self,
        asked: &Asked,
        changes: &[MixedChange],
        weights: &[MixedEnd],
    ) -> (SoftStepReport, Option<MixedEnds>) {
        let mut found = None;
        let report = self.step_seen(&mut |all, rigid| {
            let Some(rigid) = rigid.filter(|rigid| rigid.is_solved()) else { return };
            let memory = MixedMemory::default();
            let derivative = MixedDerivative::new(memory, all, rigid.taken(), asked);
            found = derivative.map(|mut derivative| {
                let ends = changes.iter().map(|change| derivative.tangent(change)).collect();
                let adjoint = |(soft, rigid): &MixedEnd| {
                    let soft: Vec<[&[[f64; 3]]; 2]> =
                        soft.iter().map(|[v, x]| [&v[..], &x[..]]).collect();
                    derivative.adjoint(&soft, rigid)
                };
                (ends, weights.iter().map(adjoint).collect())
            });
        });
        (report, found)
    }
}

/// A motion that was kept whole: 21 numbers a node and step, and what each contact did.
pub struct SoftRecord<'a> {
    scene: &'a SoftScene,
    /// Of each step each body.
    steps: Vec<Vec<Kept>>,
    /// Of each step the rigid bodies, if there are any.
    rigid: Vec<KeptRigidStep>,
    /// The states at the start and after each step.
    pub states: Vec<Vec<SoftState>>,
    /// How the steps were solved.
    pub reports: Vec<SoftStepReport>,
}

struct Kept {
    bdf: Bdf,
    predicted: Predicted<f64>,
    step: ContactStep,
    /// Where there are rigid bodies, that carry some.
    contacts: Vec<VertexContact>,
}

impl SoftRecord<'_> {
    /// The state of the rigid bodies after so many steps, if there are any.
    pub fn rigid_state(&self, steps: usize) -> Option<&State<f64>> {
        let still = || self.scene.rigid.as_deref().map(|scene| &scene.state);
        let start = || self.rigid.first().map(KeptRigidStep::start).or_else(still);
        let end = |before: usize| self.rigid.get(before).map(KeptRigidStep::end);
        steps.checked_sub(1).map_or_else(start, end)
    }
}

impl SoftScene {
    fn no_derivative(&self, body: Option<usize>, step: usize) -> NoDerivative {
        let name = |body: usize| self.bodies[body].name.clone();
        let body = body.map_or_else(|| "all bodies".to_string(), name);
        NoDerivative { body, step, law: self.law }
    }

    /// Keeps a motion.
    pub fn record(&self, steps: usize) -> SoftRecord<'_> {
        let mut rollout = SoftRollout::new(self);
        let mut record = SoftRecord {
            scene: self,
            steps: Vec::with_capacity(steps),
            rigid: Vec::new(),
            states: vec![rollout.states().to_vec()],
            reports: Vec::with_capacity(steps),
        };
        for _ in 0..steps {
            let mut kept = Vec::with_capacity(self.bodies.len());
            let rigid = &mut record.rigid;
            let report = rollout.step_seen(&mut |all, beside| {
                kept.extend(all.iter().map(|solved| Kept {
                    bdf: solved.bdf,
                    predicted: solved.momentum.step.cloned().unwrap_or_default(),
                    step: solved.step.clone(),
                    contacts: beside.map_or_else(Vec::new, |_| solved.contacts.to_vec()),
                }));
                rigid.extend(beside.map(RigidPart::keep));
            });
            record.reports.push(report);
            record.states.push(rollout.states().to_vec());
            record.steps.push(kept);
        }
        record
    }
}

/// What an objective changes by with places and velocities of the nodes of a body after a step: it adds to both.
pub type Weigh<'a> = dyn FnMut(usize, usize, &mut [[f64; 3]], &mut [[f64; 3]]) + 'a;

/// The same with the state of the rigid bodies: it adds to a tangent vector.
pub type WeighRigid<'a> = dyn FnMut(usize, &mut [f64]) + 'a;

impl SoftRecord<'_> {
    /// The gradient in parameters of an objective of the states, backward in time. `weigh(step, body, x, v)` adds what the
    /// objective changes by with the state after this many steps, the last first.
    ///
    /// # Errors
    /// If a step has no derivative.
    pub fn gradient(
        &self,
        parameters: &[SoftParameter],
        weigh: &mut Weigh,
    ) -> Result<Vec<f64>, NoDerivative> {
        self.gradient_beside(parameters, weigh, &mut |_, _| ())
    }

    /// The same of an objective of the rigid bodies too. `weigh_rigid(step, tangent)` adds what the objective changes by with their state
    /// after this many steps, the last first.
    ///
    /// # Errors
    /// If a step has no derivative.
    pub fn gradient_beside(
        &self,
        parameters: &[SoftParameter],
        weigh: &mut Weigh,
        weigh_rigid: &mut WeighRigid,
    ) -> Result<Vec<f64>, NoDerivative> {
        let mut gradient = vec![0.0; parameters.len()];
        if let Some(rigid) = &self.scene.rigid {
            self.mixed_adjoint(rigid, (weigh, weigh_rigid), parameters, &mut gradient)?;
            return Ok(gradient);
        }
        for body in 0..self.scene.bodies.len() {
            let own = parameters.iter().zip(&mut gradient).filter(|(own, _)| own.body == body);
            let mut own: Vec<(SoftParameter, &mut f64)> = own.map(|(p, to)| (*p, to)).collect();
            if !own.is_empty() {
                self.adjoint(body, weigh, &mut own)?;
            }
        }
        Ok(gradient)
    }

    /// Adds up the gradient of parameters of a body.
    fn adjoint(
        &self,
        body: usize,
        weigh: &mut Weigh,
        gradient: &mut [(SoftParameter, &mut f64)],
    ) -> Result<(), NoDerivative> {
        let own = &self.scene.bodies[body];
        let (nodes, mut contacts) = (own.position.len(), own.contacts.clone());
        // Of all that the motion is made of but what leads the body in a step.
        let mut sum = StepChange::none(nodes, contacts.len());
        let mut columns: Vec<StepChange> =
            gradient.iter().map(|(parameter, _)| self.scene.direction(*parameter)).collect();
        let mut drive = SoftDrive::default();
        let zero = vec![[0.0; 3]; nodes];
        // Of the state after a step, and of the one before it.
        let (mut x, mut v) = (zero.clone(), zero.clone());
        let (mut x_before, mut v_before) = (zero.clone(), zero);
        let (mut memory, mut nearest) = (DerivativeMemory::default(), NearestMemory::default());
        for (k, kept) in self.steps.iter().enumerate().rev() {
            weigh(k + 1, body, &mut x, &mut v);
            let kept = &kept[body];
            let places = &self.states[k][body].position;
            let (span, start) = (self.scene.span(k), &kept.predicted);
            let time = SoftTime { bdf: kept.bdf, span };
            own.drive(span, &mut drive);
            let led = (&places[..], &drive.held[..]);
            self.scene.place_contacts((body, time, None), led, start, &mut contacts, &mut nearest);
            self.scene.turn_contacts((body, time, None), &kept.step, &mut contacts, &mut nearest);
            let momentum = own.momentum(&kept.predicted, &drive);
            let (bdf, step, start) = (kept.bdf, &kept.step, &places[..]);
            let solved = SolvedSoftStep { body, momentum, bdf, contacts: &contacts, step, start };
            let derivative = solved.derivative(&mut memory);
            let mut derivative =
                derivative.ok_or_else(|| self.scene.no_derivative(Some(body), k + 1))?;
            let adjoint = derivative.adjoint(&v, &x);
            memory = derivative.into_memory();
            sum.add_numbers(&adjoint);
            for ((parameter, to), column) in gradient.iter_mut().zip(&mut columns) {
                self.scene.lead_change(*parameter, span, places, column);
                **to += column.dot_led(&adjoint);
            }
            add(&mut x_before, &adjoint.x);
            add(&mut v_before, &adjoint.v);
            (x, v) = (x_before, v_before);
            (x_before, v_before) = (adjoint.x_old, adjoint.v_old);
        }
        weigh(0, body, &mut x, &mut v);
        (sum.x, sum.v) = (x, v);
        (sum.x_old, sum.v_old) = (x_before, v_before);
        for ((_, to), column) in gradient.iter_mut().zip(&columns) {
            **to += column.dot(&sum);
        }
        Ok(())
    }
}

impl SoftRecord<'_> {
    /// Adds up the gradient of parameters of a scene with rigid bodies.
    fn mixed_adjoint(
        &self,
        rigid: &Scene,
        (weigh, weigh_rigid): (&mut Weigh, &mut WeighRigid),
        parameters: &[SoftParameter],
        gradient: &mut [f64],
    ) -> Result<(), NoDerivative> {
        let (scene, system) = (self.scene, rigid.system());
        let asked = scene.asked(parameters);
        let direction = |&parameter: &SoftParameter| {
            let mut own = scene.mixed_direction(parameter, &asked);
            let acts = matches!(
                parameter.number,
                SoftNumber::RigidInput(_)
                    | SoftNumber::Scheduled(..)
                    | SoftNumber::RigidParameter(_)
            );
            // Of what acts on rigid bodies, and of their numbers, there may be many.
            if acts && scene.start_share(parameter).is_none() {
                own.soft = Vec::new();
            }
            // One of them is 1, of which the place is enough.
            own.parameters = Vec::new();
            own
        };
        let place = |parameter: &SoftParameter| match parameter.number {
            SoftNumber::RigidParameter(slot) => asked.place_of(slot),
            _ => None,
        };
        let places: Vec<Option<usize>> = parameters.iter().map(place).collect();
        let mut columns: Vec<MixedChange> = parameters.iter().map(direction).collect();
        // Of all that the motion is made of but what leads bodies in a step.
        let none = |body: &SoftBody| StepChange::none(body.position.len(), body.contacts.len());
        let mut sums: Vec<StepChange> = scene.bodies.iter().map(none).collect();
        let mut at_end = vec![0.0; 2 * rigid.model.nv()];
        let zeros = |body: &SoftBody| [0, 1].map(|_| vec![[0.0; 3]; body.position.len()]);
        let mut ends: Vec<[Vec<[f64; 3]>; 2]> = scene.bodies.iter().map(zeros).collect();
        let mut drives: Vec<SoftDrive> =
            scene.bodies.iter().map(|_| SoftDrive::default()).collect();
        let mut memory = MixedMemory::default();
        for (k, kept) in self.steps.iter().enumerate().rev() {
            let span = scene.span(k);
            for (body, [v, x]) in ends.iter_mut().enumerate() {
                weigh(k + 1, body, x, v);
            }
            weigh_rigid(k + 1, &mut at_end);
            for (own, drive) in scene.bodies.iter().zip(&mut drives) {
                own.drive(span, drive);
            }
            let all: Vec<SolvedSoftStep> = { kept.iter().zip(&scene.bodies).zip(&drives) }
                .enumerate()
                .map(|(body, ((kept, own), drive))| SolvedSoftStep {
                    body,
                    momentum: own.momentum(&kept.predicted, drive),
                    bdf: kept.bdf,
                    contacts: &kept.contacts,
                    step: &kept.step,
                    start: &self.states[k][body].position,
                })
                .collect();
            let taken = self.rigid[k].taken(&system);
            let derivative = MixedDerivative::new(memory, &all, taken, &asked);
            let solved = self.reports[k].rigid.unsolved == 0;
            let derivative = derivative.filter(|_| solved);
            let mut derivative = derivative.ok_or_else(|| scene.no_derivative(None, k + 1))?;
            let given: Vec<[&[[f64; 3]]; 2]> = ends.iter().map(|[v, x]| [&v[..], &x[..]]).collect();
            let adjoint = derivative.adjoint(&given, &at_end);
            memory = derivative.into_memory();
            for (sum, own) in sums.iter_mut().zip(&adjoint.soft) {
                sum.add_numbers(own);
            }
            for (((&parameter, to), column), place) in
                parameters.iter().zip(&mut *gradient).zip(&mut columns).zip(&places)
            {
                let body = parameter.body;
                scene.acting_change(parameter, span[0], &asked, &mut column.inputs);
                *to += dot(&column.inputs, &adjoint.inputs);
                *to += place.map_or(0.0, |place| adjoint.parameters[place]);
                if let (Some(column), Some(own)) =
                    (column.soft.get_mut(body), adjoint.soft.get(body))
                {
                    scene.lead_change(parameter, span, &self.states[k][body].position, column);
                    *to += column.dot_led(own);
                }
            }
            // Steps of first order have no step before.
            for (end, own) in ends.iter_mut().zip(adjoint.soft) {
                *end = [own.v, own.x];
            }
            at_end = adjoint.rigid;
        }
        for ((body, [v, x]), sum) in ends.into_iter().enumerate().zip(&mut sums) {
            (sum.x, sum.v) = (x, v);
            weigh(0, body, &mut sum.x, &mut sum.v);
        }
        weigh_rigid(0, &mut at_end);
        for (to, column) in gradient.iter_mut().zip(&columns) {
            *to += column.soft.iter().zip(&sums).map(|(own, sum)| own.dot(sum)).sum::<f64>();
            *to += dot(&column.rigid, &at_end);
        }
        Ok(())
    }
}

/// y += x
fn add(y: &mut [[f64; 3]], x: &[[f64; 3]]) {
    y.as_flattened_mut().iter_mut().zip(x.as_flattened()).for_each(|(y, x)| *y += x);
}
