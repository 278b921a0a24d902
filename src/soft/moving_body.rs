//! A soft body in motion, from step to step.

use super::soft_drive::SoftDrive;
use super::soft_obstacle::NearestMemory;
use super::soft_scene::{SoftBody, SoftScene};
use super::soft_state::{SoftState, SoftStepReport};
use super::soft_time::SoftTime;
use super::solved_soft_step::SolvedSoftStep;
use crate::argmin::Mode;
use crate::dynamics::FreeMotion;
use crate::implicit::{
    ContactStep, History, HostedBody, Momentum, Predicted, StepSolver, VertexContact,
};

/// A body in motion.
#[derive(Debug, Default)]
pub(super) struct MovingBody {
    pub history: History<f64>,
    pub predicted: Predicted<f64>,
    pub step: ContactStep,
    solver: StepSolver,
    hosted: HostedBody,
    /// What its vertices touch in a step.
    contacts: Vec<VertexContact>,
    nearest: NearestMemory,
    pub drive: SoftDrive,
    /// What the momentum of all nodes lacks.
    lacking: Vec<[f64; 3]>,
}

/// A body in a step, as it is solved.
pub(super) struct PosedBody<'a> {
    pub momentum: Momentum<'a, f64>,
    pub contacts: &'a mut [VertexContact],
    pub step: &'a mut ContactStep,
    pub solver: &'a mut StepSolver,
    pub hosted: &'a mut HostedBody,
}

impl MovingBody {
    /// Where a body of a scene starts, beside rigid bodies that `rest`.
    pub fn start(scene: &SoftScene, body: &SoftBody, rest: Option<&FreeMotion<f64>>) -> Self {
        let mut drive = SoftDrive::default();
        body.drive([0.0; 2], &mut drive);
        let mut solver = StepSolver::default();
        solver.settings = scene.newton;
        let mut velocity = body.start_velocity(scene.span(0));
        scene.start_with_carriers(body, &mut velocity);
        let step = ContactStep::start_by(scene.law, velocity.clone());
        let history = History::start(body.position.clone(), velocity, scene.time_step);
        let touching = body.contacts[..body.touches()].iter().copied();
        let contacts = touching.chain(body.tied_contacts(rest)).collect();
        MovingBody { history, step, solver, contacts, drive, ..MovingBody::default() }
    }

    /// The speed of its fastest node (m/s).
    pub fn speed(&self) -> f64 {
        let square = |v: &[f64; 3]| v.iter().map(|v| v * v).sum::<f64>();
        self.history.v.iter().map(square).fold(0.0, f64::max).sqrt()
    }

    /// Poses a step of the body of this number, beside rigid bodies in `motion`.
    pub fn pose(
        &mut self,
        scene: &SoftScene,
        (number, time): (usize, SoftTime),
        motion: Option<&FreeMotion<f64>>,
    ) {
        let body = &scene.bodies[number];
        let Self { history, predicted, step, contacts, nearest, drive, .. } = self;
        time.bdf.predict_into(scene.time_step, history, predicted);
        body.drive(time.span, drive);
        let (own, start) = ((number, time, motion), (&history.x[..], &drive.held[..]));
        scene.place_contacts(own, start, predicted, contacts, nearest);
        for held in &drive.held {
            step.velocity[held.node] = held.velocity(&history.x[held.node], predicted);
        }
    }

    /// The step that was posed.
    pub fn posed<'a>(&'a mut self, body: &'a SoftBody) -> PosedBody<'a> {
        let Self { predicted, step, solver, hosted, contacts, drive, .. } = self;
        PosedBody { momentum: body.momentum(predicted, drive), contacts, step, solver, hosted }
    }

    /// Finds how the planes of contacts turn in the step that was solved, which its derivative asks for.
    pub fn turn(
        &mut self,
        scene: &SoftScene,
        own: (usize, SoftTime),
        motion: Option<&FreeMotion<f64>>,
    ) {
        let Self { step, contacts, nearest, .. } = self;
        scene.turn_contacts((own.0, own.1, motion), step, contacts, nearest);
    }

    /// The step that was solved, of the body of this number.
    pub fn solved<'a>(
        &'a self,
        scene: &'a SoftScene,
        (number, time): (usize, SoftTime),
    ) -> SolvedSoftStep<'a> {
        let Self { history, predicted, step, contacts, drive, .. } = self;
        let momentum = scene.bodies[number].momentum(predicted, drive);
        SolvedSoftStep { body: number, momentum, bdf: time.bdf, contacts, step, start: &history.x }
    }

    /// Takes the step that was solved to the state at its end.
    pub fn advance(
        &mut self,
        scene: &SoftScene,
        (number, time): (usize, SoftTime),
        (report, state): (&mut SoftStepReport, &mut SoftState),
    ) {
        let body = &scene.bodies[number];
        let Self { history, predicted, step, contacts, drive, lacking, .. } = self;
        let (contacts, bdf) = (&contacts[..], time.bdf);
        let momentum = body.momentum(predicted, drive);
        report.unsolved += usize::from(!step.report.status.is_solved());
        report.take_worse(&step.report);
        // Those of ties follow, which do neither.
        let modes = &step.modes[..body.touches().min(step.modes.len())];
        report.sticking += modes.iter().filter(|&&mode| mode == Mode::Stick).count();
        report.sliding +=
            modes.iter().filter(|mode| matches!(mode, Mode::Slide | Mode::Clamp)).count();
        history.advance(predicted, &step.velocity);
        state.position.clone_from(&history.x);
        state.velocity.clone_from(&history.v);
        let (v, x) = (&state.velocity[..], &state.position[..]);
        body.hold_forces(&momentum, (v, x), lacking, &mut state.holds);
        state.cables.clear();
        let tensions = drive.cables.iter().map(|own| own.length_and_tension(x, Some(v)));
        state.cables.extend(tensions);
        state.impulse.fill([0.0; 3]);
        // Those of the step's equation are a times the forces, of which momentum, over the steps of BDF2 that
        // follow, takes up dt times.
        let whole = scene.time_step / bdf.rate(scene.time_step);
        let touching = &contacts[..body.touches().min(contacts.len())];
        let pressed = touching.iter().zip(&step.impulses).filter(|(_, p)| **p != [0.0; 3]);
        for (contact, impulse) in pressed {
            let sum = &mut state.impulse[contact.node];
            for (row, p) in contact.frame().iter().zip(impulse) {
                (0..3).for_each(|k| sum[k] += whole * row[k] * p);
            }
        }
    }
}
