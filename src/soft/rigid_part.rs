//! The rigid bodies beside soft ones, from step to step.

use nalgebra::Vector3;

use super::mixed_step::MixedStep;
use super::moving_body::MovingBody;
use super::soft_scene::SoftScene;
use super::soft_time::SoftTime;
use crate::argmin::Mode;
use crate::contact::{ContactRecord, Decisions};
use crate::dynamics::{FreeMotion, Kinematics};
use crate::linearize::HostedStep;
use crate::model::{Scene, System};
use crate::simulation::{Host, SolvedStep, StepMemory, StepReport, Workspace, hosted_step};
use crate::state::State;

/// The rigid bodies in motion.
pub(super) struct RigidPart<'a> {
    scene: &'a Scene,
    system: System<'a, f64>,
    state: State<f64>,
    next: State<f64>,
    memory: StepMemory<f64>,
    workspace: Workspace<f64>,
    mixed: MixedStep,
    /// What acts in each step, but for what changes over time.
    pub inputs: Vec<f64>,
    /// The same with these, in the last step.
    acting: Vec<f64>,
    solved: bool,
}

impl<'a> RigidPart<'a> {
    /// From a state.
    pub fn start(scene: &'a Scene, state: State<f64>) -> Self {
        RigidPart {
            scene,
            system: scene.system(),
            next: state.clone(),
            state,
            memory: StepMemory::default(),
            workspace: Workspace::default(),
            mixed: MixedStep::default(),
            inputs: scene.inputs.clone(),
            acting: Vec::new(),
            solved: true,
        }
    }

    /// Goes on from another state.
    pub fn resume(&mut self, state: &State<f64>) {
        self.state.clone_from(state);
    }

    /// What contacts and joints did in the last step.
    pub fn modes(&self) -> impl Iterator<Item = (usize, usize, Mode, Decisions)> {
        self.workspace.modes()
    }

    /// A step of them and of soft bodies, which these pose and are left to take.
    pub fn step(
        &mut self,
        scene: &SoftScene,
        time: SoftTime,
        bodies: &mut [MovingBody],
    ) -> StepReport {
        let Self { state, next, memory, workspace, mixed, inputs, acting, .. } = self;
        let System { model, settings, .. } = self.system;
        acting.clone_from(inputs);
        for own in &scene.schedules {
            if let Some(input) = acting.get_mut(own.input) {
                *input = own.at(time.span[0]);
            }
        }
        if !model.pushes.is_empty() {
            model.schedule(time.span[0], settings.time_step, acting);
        }
        // What is hit by something heavier goes twice as fast, at most.
        let fastest = bodies.iter().map(MovingBody::speed).fold(0.0, f64::max);
        let pull = scene.bodies.iter().map(|body| Vector3::from(body.parameters.gravity).norm());
        let haste = 2.0 * (fastest + scene.time_step * pull.fold(0.0, f64::max));
        let mut solve = |host: &mut Host| {
            for (number, moving) in bodies.iter_mut().enumerate() {
                moving.pose(scene, (number, time), Some(&*host.motion));
            }
            mixed.solve(scene, bodies, host);
        };
        let parts = (memory, workspace);
        let report = hosted_step(&self.system, state, acting, parts, next, (haste, &mut solve));
        std::mem::swap(state, next);
        self.solved = report.unsolved == 0;
        report
    }

    /// The last step.
    pub fn taken(&self) -> HostedStep<'_> {
        let (state, next, inputs) = (&self.next, &self.state, &self.acting[..]);
        HostedStep { system: &self.system, state, inputs, next, known: self.workspace.known() }
    }

    /// What [`taken`](Self::taken) is made of.
    pub fn keep(&self) -> KeptRigidStep {
        let mut solved = SolvedStep::default();
        match self.system.settings.integrator.is_backward() {
            true => solved.keep_implicit(&self.workspace),
            false => solved.keep(&self.workspace),
        }
        let (state, next, inputs) = (&self.next, &self.state, &self.acting);
        KeptRigidStep { solved, state: state.clone(), inputs: inputs.clone(), next: next.clone() }
    }

    /// How they would have moved in the last step without contact, from where they were as it began.
    pub fn motion(&self) -> &FreeMotion<f64> {
        self.workspace.parts().0
    }

    /// Whether the last step was solved.
    pub fn is_solved(&self) -> bool {
        self.solved
    }

    /// Where they are.
    pub fn state(&self) -> &State<f64> {
        &self.state
    }

    /// Their contacts with each other in the last step, and with what does not move.
    pub fn contacts(&self) -> impl Iterator<Item = &ContactRecord> {
        self.workspace.contacts()
    }

    /// Kinetic and potential energy (J).
    pub fn energies(&self) -> [f64; 2] {
        let Scene { model, parameters, .. } = self.scene;
        let kinematics = Kinematics::new(model, parameters, &self.state);
        [kinematics.kinetic_energy(), kinematics.potential_energy(parameters)]
    }
}

/// A step of rigid bodies that was kept.
pub(super) struct KeptRigidStep {
    solved: SolvedStep,
    state: State<f64>,
    inputs: Vec<f64>,
    next: State<f64>,
}

impl KeptRigidStep {
    /// Where they were as it began.
    pub fn start(&self) -> &State<f64> {
        &self.state
    }

    /// Where they were as it ended.
    pub fn end(&self) -> &State<f64> {
        &self.next
    }

    /// The step.
    pub fn taken<'a>(&'a self, system: &'a System<'a, f64>) -> HostedStep<'a> {
        let Self { solved, state, inputs, next } = self;
        HostedStep { system, state, inputs, next, known: solved.known() }
    }
}

impl std::fmt::Debug for RigidPart<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RigidPart").field("state", &self.state).finish_non_exhaustive()
    }
}
