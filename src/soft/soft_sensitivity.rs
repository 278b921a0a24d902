//! How a motion of soft bodies changes with parameters: forward, beside the motion, and adjoint, from its record.

use std::fmt;

use super::soft_drive::SoftDrive;
use super::soft_obstacle::NearestMemory;
use super::soft_parameter::SoftParameter;
use super::soft_rollout::{SoftRollout, SoftState, SoftStepReport};
use super::soft_scene::SoftScene;
use super::soft_time::SoftTime;
use super::solved_soft_step::SolvedSoftStep;
use crate::implicit::{Bdf, ContactStep, DerivativeMemory, Predicted, StepChange};

/// A motion has no derivative at a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoDerivative {
    /// The name of the body.
    pub body: String,
    /// The number of the step, from 1 on.
    pub step: usize,
}

impl fmt::Display for NoDerivative {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "step {} of {} was not solved, or its conditions determine no derivative (as where a vertex touches shapes that move differently)",
            self.step, self.body
        )
    }
}

impl std::error::Error for NoDerivative {}

/// A motion with its changes along some parameters.
pub struct SoftTangents<'a> {
    /// The motion.
    pub rollout: SoftRollout<'a>,
    parameters: Vec<SoftParameter>,
    /// Of each parameter the change of the places and velocities of its body now and a step before.
    columns: Vec<StepChange>,
    memories: Vec<DerivativeMemory>,
}

impl<'a> SoftTangents<'a> {
    /// At the start of the scene.
    pub fn new(scene: &'a SoftScene, parameters: &[SoftParameter]) -> Self {
        SoftTangents {
            rollout: SoftRollout::new(scene),
            parameters: parameters.to_vec(),
            columns: parameters.iter().map(|&parameter| scene.direction(parameter)).collect(),
            memories: scene.bodies.iter().map(|_| DerivativeMemory::default()).collect(),
        }
    }

    /// A step.
    ///
    /// # Errors
    /// If it has no derivative.
    pub fn step(&mut self) -> Result<SoftStepReport, NoDerivative> {
        let span = self.rollout.scene().span(self.rollout.steps());
        let SoftTangents { rollout, parameters, columns, memories, .. } = self;
        let (scene, mut failed) = (rollout.scene(), None);
        let report = rollout.step_observed(&mut |solved| {
            let own = || parameters.iter().map(move |parameter| parameter.body == solved.body);
            if failed.is_some() || !own().any(|own| own) {
                return;
            }
            let Some(mut derivative) = solved.derivative(&mut memories[solved.body]) else {
                failed = Some(solved.body);
                return;
            };
            let own = own().zip(parameters.iter());
            for (column, (_, &parameter)) in
                columns.iter_mut().zip(own).filter(|(_, (own, _))| *own)
            {
                scene.lead_change(parameter, span, solved.start, column);
                let [v, x] = derivative.tangent(column);
                column.x_old = std::mem::replace(&mut column.x, x);
                column.v_old = std::mem::replace(&mut column.v, v);
            }
            memories[solved.body] = derivative.into_memory();
        });
        match failed {
            Some(body) => Err(self.rollout.scene().no_derivative(body, self.rollout.steps())),
            None => Ok(report),
        }
    }

    /// The change of the nodes of its body with each parameter: places (m) and velocities (m/s) by the parameter.
    pub fn columns(&self) -> impl Iterator<Item = (SoftParameter, &[[f64; 3]], &[[f64; 3]])> {
        let both = self.parameters.iter().zip(&self.columns);
        both.map(|(parameter, column)| (*parameter, &column.x[..], &column.v[..]))
    }
}

/// A motion that was kept whole: 21 numbers a node and step, and what each contact did.
pub struct SoftRecord<'a> {
    scene: &'a SoftScene,
    /// Of each step each body.
    steps: Vec<Vec<Kept>>,
    /// The states at the start and after each step.
    pub states: Vec<Vec<SoftState>>,
    /// How the steps were solved.
    pub reports: Vec<SoftStepReport>,
}

struct Kept {
    bdf: Bdf,
    predicted: Predicted<f64>,
    step: ContactStep,
}

impl SoftScene {
    fn no_derivative(&self, body: usize, step: usize) -> NoDerivative {
        NoDerivative { body: self.bodies[body].name.clone(), step }
    }

    /// Keeps a motion.
    pub fn record(&self, steps: usize) -> SoftRecord<'_> {
        let mut rollout = SoftRollout::new(self);
        let mut record = SoftRecord {
            scene: self,
            steps: Vec::with_capacity(steps),
            states: vec![rollout.states().to_vec()],
            reports: Vec::with_capacity(steps),
        };
        for _ in 0..steps {
            let mut kept = Vec::with_capacity(self.bodies.len());
            let report = rollout.step_observed(&mut |solved| {
                kept.push(Kept {
                    bdf: solved.bdf,
                    predicted: solved.momentum.step.cloned().unwrap_or_default(),
                    step: solved.step.clone(),
                });
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
        let mut gradient = vec![0.0; parameters.len()];
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
            self.scene.place_contacts((body, time), led, start, &mut contacts, &mut nearest);
            self.scene.turn_contacts((body, time), &kept.step, &mut contacts, &mut nearest);
            let momentum = own.momentum(&kept.predicted, &drive);
            let (bdf, step, start) = (kept.bdf, &kept.step, &places[..]);
            let solved = SolvedSoftStep { body, momentum, bdf, contacts: &contacts, step, start };
            let derivative = solved.derivative(&mut memory);
            let mut derivative = derivative.ok_or_else(|| self.scene.no_derivative(body, k + 1))?;
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

/// y += x
fn add(y: &mut [[f64; 3]], x: &[[f64; 3]]) {
    y.as_flattened_mut().iter_mut().zip(x.as_flattened()).for_each(|(y, x)| *y += x);
}
