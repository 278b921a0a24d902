//! Simulation of a scene of soft bodies, step by step.

use super::moving_body::{MovingBody, PosedBody};
use super::rigid_part::RigidPart;
use super::soft_scene::{SoftBody, SoftScene};
use super::soft_state::{SoftState, SoftStepReport};
use super::soft_time::SoftTime;
use super::solved_soft_step::SolvedSoftStep;
use crate::argmin::Mode;
use crate::contact::{ContactRecord, Decisions};
use crate::implicit::{Bdf, Cable, ContactStep, History};
use crate::state::State;

/// What sees the steps of all soft bodies, and of the rigid ones, as they were solved.
pub(super) type See<'a> = dyn FnMut(&[SolvedSoftStep], Option<&RigidPart>) + 'a;

/// Where all bodies are in a motion.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SoftMoment {
    /// Of each soft body the places (m) and velocities (m/s) of its nodes.
    pub soft: Vec<[Vec<[f64; 3]>; 2]>,
    /// The rigid bodies, if there are any.
    pub rigid: Option<State<f64>>,
    /// After how many steps.
    pub steps: usize,
}

/// A simulation of a scene of soft bodies.
#[derive(Debug)]
pub struct SoftRollout<'a> {
    scene: &'a SoftScene,
    bodies: Vec<MovingBody>,
    states: Vec<SoftState>,
    rigid: Option<RigidPart<'a>>,
    /// How many steps were made.
    steps: usize,
}

impl<'a> SoftRollout<'a> {
    /// From the start of the scene.
    pub fn new(scene: &'a SoftScene) -> Self {
        let rest = scene.rest();
        let start = |body| MovingBody::start(scene, body, rest.as_ref());
        let bodies: Vec<MovingBody> = scene.bodies.iter().map(start).collect();
        let state = |(body, own): (&SoftBody, &MovingBody)| {
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
        let rigid = scene.rigid.as_deref().zip(scene.start_state());
        let rigid = rigid.map(|(scene, state)| RigidPart::start(scene, state));
        SoftRollout { scene, bodies, states, rigid, steps: 0 }
    }

    /// From where a motion was after some steps of first order, with nothing known of how these were solved.
    pub(crate) fn resumed(scene: &'a SoftScene, moment: &SoftMoment) -> Self {
        let mut rollout = SoftRollout::new(scene);
        rollout.steps = moment.steps;
        for (moving, [x, v]) in rollout.bodies.iter_mut().zip(&moment.soft) {
            moving.history = History::start(x.clone(), v.clone(), scene.time_step);
            moving.step = ContactStep::start_by(scene.law, v.clone());
        }
        for (state, [x, v]) in rollout.states.iter_mut().zip(&moment.soft) {
            (state.position, state.velocity) = (x.clone(), v.clone());
        }
        if let (Some(rigid), Some(state)) = (&mut rollout.rigid, &moment.rigid) {
            rigid.resume(state);
        }
        rollout
    }

    /// Where the motion is.
    pub(crate) fn moment(&self) -> SoftMoment {
        SoftMoment {
            soft: self
                .states
                .iter()
                .map(|own| [own.position.clone(), own.velocity.clone()])
                .collect(),
            rigid: self.rigid_state().cloned(),
            steps: self.steps,
        }
    }

    /// What the contacts of the rigid bodies and their joints did in the last step.
    pub(crate) fn rigid_modes(&self) -> impl Iterator<Item = (usize, usize, Mode, Decisions)> {
        self.rigid.iter().flat_map(RigidPart::modes)
    }

    /// What is simulated.
    pub fn scene(&self) -> &'a SoftScene {
        self.scene
    }

    /// The bodies, in the order of the scene.
    pub fn states(&self) -> &[SoftState] {
        &self.states
    }

    /// Where the rigid bodies are, if there are any.
    pub fn rigid_state(&self) -> Option<&State<f64>> {
        self.rigid.as_ref().map(RigidPart::state)
    }

    /// The contacts of the rigid bodies with each other and with what does not move in the last step.
    pub fn rigid_contacts(&self) -> impl Iterator<Item = &ContactRecord> {
        self.rigid.iter().flat_map(RigidPart::contacts)
    }

    /// What acts on the rigid bodies in each step from now on, see [`step`](crate::simulation::step); but for inputs that the scene has
    /// [change over time](SoftScene::schedules).
    pub fn rigid_inputs(&mut self) -> Option<&mut Vec<f64>> {
        self.rigid.as_mut().map(|rigid| &mut rigid.inputs)
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
        let MovingBody { history, step, .. } = &self.bodies[body];
        (self.formula(), history, step)
    }

    /// A step of all bodies.
    pub fn step(&mut self) -> SoftStepReport {
        let time = self.time();
        let report = self.solve(time);
        self.advance(time, report)
    }

    /// The same; `observe` sees each body's step as it was solved.
    pub fn step_observed(&mut self, observe: &mut dyn FnMut(SolvedSoftStep)) -> SoftStepReport {
        self.step_seen(&mut |all, _| all.iter().for_each(|solved| observe(*solved)))
    }

    /// The same; `see` sees all of them together, and that of the rigid bodies.
    pub(super) fn step_seen(&mut self, see: &mut See) -> SoftStepReport {
        let time = self.time();
        let report = self.solve(time);
        let Self { scene, bodies, rigid, .. } = self;
        let motion = rigid.as_ref().map(RigidPart::motion);
        for (number, moving) in bodies.iter_mut().enumerate() {
            moving.turn(scene, (number, time), motion);
        }
        let all = bodies.iter().enumerate();
        let all: Vec<SolvedSoftStep> =
            all.map(|(number, moving)| moving.solved(scene, (number, time))).collect();
        see(&all, rigid.as_ref());
        self.advance(time, report)
    }

    /// When the next step is made.
    fn time(&self) -> SoftTime {
        SoftTime { bdf: self.formula(), span: self.scene.span(self.steps) }
    }

    fn solve(&mut self, time: SoftTime) -> SoftStepReport {
        let mut report = SoftStepReport::default();
        let Self { scene, bodies, rigid, .. } = self;
        if let Some(rigid) = rigid {
            report.rigid = rigid.step(scene, time, bodies);
            return report;
        }
        for (number, (body, moving)) in scene.bodies.iter().zip(bodies).enumerate() {
            moving.pose(scene, (number, time), None);
            let PosedBody { momentum, contacts, step, solver, .. } = moving.posed(body);
            solver.solve(&momentum, contacts, step);
        }
        report
    }

    fn advance(&mut self, time: SoftTime, mut report: SoftStepReport) -> SoftStepReport {
        let both = self.bodies.iter_mut().zip(&mut self.states);
        for (number, (moving, state)) in both.enumerate() {
            moving.advance(self.scene, (number, time), (&mut report, state));
        }
        self.steps += 1;
        if self.rigid.is_some() {
            report.take_rigid();
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
        if let Some(rigid) = &self.rigid {
            let [kinetic, potential] = rigid.energies();
            sums[0] += kinetic;
            sums[2] += potential;
        }
        sums
    }
}
