//! Simulation of a scene of soft bodies, step by step.

use super::soft_drive::SoftDrive;
use super::soft_obstacle::NearestMemory;
use super::soft_scene::{SoftBody, SoftScene};
use super::soft_time::SoftTime;
use super::solved_soft_step::SolvedSoftStep;
use crate::argmin::{Mode, Report};
use crate::implicit::{Bdf, Cable, ContactStep, History, Predicted, StepSolver, VertexContact};

/// Where the nodes of a body are, and what it is in contact with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SoftState {
    /// m
    pub position: Vec<[f64; 3]>,
    /// m/s
    pub velocity: Vec<[f64; 3]>,
    /// The impulses of the contacts on the nodes in the last step, its time times their forces (N s).
    pub impulse: Vec<[f64; 3]>,
    /// The length (m) and tension (N) of each cable.
    pub cables: Vec<[f64; 2]>,
    /// The force of each hold on the body in the last step (N).
    pub holds: Vec<[f64; 3]>,
}

/// How a step was solved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SoftStepReport {
    /// Of the body that was solved worst: status, iterations, residual of the momentum.
    pub worst: Report,
    /// Bodies whose step was not solved: it is the last iterate of the search.
    pub unsolved: usize,
    /// Contacts that stick, and that slide.
    pub sticking: usize,
    /// See `sticking`.
    pub sliding: usize,
}

impl SoftStepReport {
    /// Takes over what was solved worse: what was not solved at all, then what has the larger residual.
    pub fn take_worse(&mut self, other: &Report) {
        let rank = |report: &Report| (!report.status.is_solved(), report.residual);
        if self.worst.iterations == 0 || rank(other) > rank(&self.worst) {
            self.worst = *other;
        }
    }
}

/// A simulation of a scene of soft bodies.
#[derive(Debug)]
pub struct SoftRollout<'a> {
    scene: &'a SoftScene,
    bodies: Vec<Moving>,
    states: Vec<SoftState>,
    /// How many steps were made.
    steps: usize,
}

/// A body in motion.
#[derive(Debug, Default)]
struct Moving {
    history: History<f64>,
    predicted: Predicted<f64>,
    step: ContactStep,
    solver: StepSolver,
    /// What its vertices touch in a step.
    contacts: Vec<VertexContact>,
    nearest: NearestMemory,
    drive: SoftDrive,
    /// What the momentum of all nodes lacks.
    lacking: Vec<[f64; 3]>,
}

impl<'a> SoftRollout<'a> {
    /// From the start of the scene.
    pub fn new(scene: &'a SoftScene) -> Self {
        let moving = |body: &SoftBody| {
            let mut drive = SoftDrive::default();
            body.drive([0.0; 2], &mut drive);
            let mut solver = StepSolver::default();
            solver.settings = scene.newton;
            let velocity = body.start_velocity(scene.span(0));
            let step = ContactStep::start_by(scene.law, velocity.clone());
            let history = History::start(body.position.clone(), velocity, scene.time_step);
            let contacts = body.contacts.clone();
            Moving { history, step, solver, contacts, drive, ..Moving::default() }
        };
        let bodies: Vec<Moving> = scene.bodies.iter().map(moving).collect();
        let state = |(body, own): (&SoftBody, &Moving)| {
            let (x, v) = (&own.history.x, &own.history.v);
            let tension = |own: &Cable| own.length_and_tension(x, Some(v));
            SoftState {
                position: x.clone(),
                velocity: v.clone(),
                impulse: vec![[0.0; 3]; x.len()],
                cables: own.drive.cables.iter().map(tension).collect(),
                holds: vec![[0.0; 3]; body.holds.len()],
            }
        };
        let states = scene.bodies.iter().zip(&bodies).map(state).collect();
        SoftRollout { scene, bodies, states, steps: 0 }
    }

    /// What is simulated.
    pub fn scene(&self) -> &'a SoftScene {
        self.scene
    }

    /// The bodies, in the order of the scene.
    pub fn states(&self) -> &[SoftState] {
        &self.states
    }

    /// The formula of the next step.
    fn formula(&self) -> Bdf {
        let is_first = self.steps == 0 && !self.scene.moved_before;
        if is_first { Bdf::One } else { self.scene.bdf }
    }

    /// How many steps were made.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// What the next step of a body is made by and from, and where its solution is searched from.
    pub fn next_step(&self, body: usize) -> (Bdf, &History<f64>, &ContactStep) {
        let Moving { history, step, .. } = &self.bodies[body];
        (self.formula(), history, step)
    }

    /// A step of all bodies.
    pub fn step(&mut self) -> SoftStepReport {
        self.step_observed(&mut |_| ())
    }

    /// The same; `observe` sees each body's step as it was solved.
    pub fn step_observed(&mut self, observe: &mut dyn FnMut(SolvedSoftStep)) -> SoftStepReport {
        let mut report = SoftStepReport::default();
        let (bdf, span) = (self.formula(), self.scene.span(self.steps));
        self.steps += 1;
        let all = self.scene.bodies.iter().zip(&mut self.bodies).zip(&mut self.states);
        for (number, ((body, moving), state)) in all.enumerate() {
            let Moving { history, predicted, step, solver, contacts, nearest, drive, lacking } =
                moving;
            bdf.predict_into(self.scene.time_step, history, predicted);
            body.drive(span, drive);
            let (time, held) = (SoftTime { bdf, span }, &drive.held[..]);
            let start = (&history.x[..], held);
            self.scene.place_contacts((number, time), start, predicted, contacts, nearest);
            for held in &drive.held {
                step.velocity[held.node] = held.velocity(&history.x[held.node], predicted);
            }
            let momentum = body.momentum(predicted, drive);
            solver.solve(&momentum, contacts, step);
            self.scene.turn_contacts((number, time), step, contacts, nearest);
            let contacts = &contacts[..];
            let start = &history.x[..];
            observe(SolvedSoftStep { body: number, momentum, bdf, contacts, step, start });
            report.unsolved += usize::from(!step.report.status.is_solved());
            report.take_worse(&step.report);
            report.sticking += step.modes.iter().filter(|&&mode| mode == Mode::Stick).count();
            report.sliding +=
                step.modes.iter().filter(|mode| matches!(mode, Mode::Slide | Mode::Clamp)).count();
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
            let whole = self.scene.time_step / bdf.rate(self.scene.time_step);
            let pressed = contacts.iter().zip(&step.impulses).filter(|(_, p)| **p != [0.0; 3]);
            for (contact, impulse) in pressed {
                let sum = &mut state.impulse[contact.node];
                for (row, p) in contact.frame().iter().zip(impulse) {
                    (0..3).for_each(|k| sum[k] += whole * row[k] * p);
                }
            }
        }
        report
    }

    /// Kinetic, elastic and potential energy of all bodies (J).
    pub fn energies(&self) -> [f64; 3] {
        let mut sums = [0.0; 3];
        let all = self.scene.bodies.iter().zip(&self.bodies).zip(&self.states);
        for ((body, moving), state) in all {
            let SoftState { position, velocity, .. } = state;
            let mut momentum = vec![[0.0; 3]; velocity.len()];
            body.elements.add_mass_product(body.parameters.density, velocity, &mut momentum);
            let product = velocity.as_flattened().iter().zip(momentum.as_flattened());
            sums[0] += 0.5 * product.map(|(v, p)| v * p).sum::<f64>();
            sums[1] += body.elements.energy(&body.parameters.material, position);
            let cables = &moving.drive.cables;
            sums[1] += cables.iter().map(|own| own.energy(position)).sum::<f64>();
            let (gravity, centre) = (body.parameters.gravity, body.mean(position));
            let height: f64 = gravity.iter().zip(centre).map(|(g, x)| g * x).sum();
            sums[2] -= body.mass() * height;
        }
        sums
    }
}
