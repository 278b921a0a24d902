//! What acts in the steps of a simulation, as sensors read it: contact forces, and what joints hand on.

use nalgebra::Vector3;

use crate::ad::Real;
use crate::dynamics::{applied_forces, damping};
use crate::identify::experiment::StepLoad;
use crate::model::{Integrator, Settings, System};
use crate::simulation::Rollout;
use crate::state::State;

/// Of each step what was asked for.
///
/// Steps q+ = q + dt v+ have the acceleration (v+ - v) / dt at the time of q: what acts in a step is of the time at which it begins, to
/// second order. Those of Runge and Kutta, of trees that nothing touches, have it in their middle, implicit ones at their end.
#[derive(Default)]
pub(super) struct StepLoads<T> {
    asked: Vec<StepLoad>,
    /// Of each step the numbers of all that is asked for.
    steps: Vec<Vec<T>>,
    /// What part of a step goes by before the time that loads of joints are of, and contact forces.
    late: [f64; 2],
    forces: Vec<T>,
    damping: Vec<T>,
}

impl<T: Real> StepLoads<T> {
    pub fn new(asked: Vec<StepLoad>, settings: &Settings) -> Self {
        let late = match settings.integrator {
            Integrator::RungeKutta => [0.5, 0.0],
            own if own.is_backward() => [1.0; 2],
            _ => [0.0; 2],
        };
        let (steps, forces, damping) = (Vec::new(), Vec::new(), Vec::new());
        StepLoads { asked, steps, late, forces, damping }
    }

    /// Adds the step that was taken from a state under these inputs.
    pub fn add(&mut self, system: &System<T>, from: (&State<T>, &[T]), rollout: &Rollout<T>) {
        if self.asked.is_empty() {
            return;
        }
        let asked = std::mem::take(&mut self.asked);
        let mut numbers = Vec::new();
        for load in &asked {
            match *load {
                StepLoad::Contacts(on) => {
                    let mut sum = Vector3::zeros();
                    for (pair, impulse) in rollout.workspace.contact_impulses(system) {
                        let share = on.share(system.model, pair);
                        if share != 0.0 {
                            sum += impulse * T::constant(share / system.settings.time_step);
                        }
                    }
                    numbers.extend(sum.iter());
                }
                StepLoad::Joint(body) => numbers.push(self.joint(system, from, rollout, body)),
            }
        }
        self.asked = asked;
        self.steps.push(numbers);
    }

    /// What a joint hands on: all that acts at it, less what turns its armature.
    fn joint(
        &mut self,
        system: &System<T>,
        (state, inputs): (&State<T>, &[T]),
        rollout: &Rollout<T>,
        body: usize,
    ) -> T {
        let System { model, parameters, settings } = *system;
        let k = model.bodies[body].joint.v;
        let step = T::constant(settings.time_step);
        self.forces.resize(model.nv(), T::zero());
        let rigid = rollout.workspace.joint_impulse(model, k);
        if let Some((start, rate)) = rollout.workspace.implicit_start(settings) {
            applied_forces(model, parameters, &rollout.state, inputs, &mut self.forces);
            let change = rollout.state.v[k] - start.v[k];
            let turned = parameters.armature(model, body) * change;
            return self.forces[k] + (rigid - turned) / T::constant(rate);
        }
        let change = rollout.state.v[k] - state.v[k];
        applied_forces(model, parameters, state, inputs, &mut self.forces);
        let mut load = self.forces[k];
        if settings.integrator == Integrator::RungeKutta {
            applied_forces(model, parameters, &rollout.state, inputs, &mut self.forces);
            load = (load + self.forces[k]) * 0.5;
        } else {
            // Steps are implicit in damping.
            let motors = settings.integrator.damps_by_motors();
            damping(model, parameters, state, inputs, motors, &mut self.damping);
            load -= self.damping[k] * change;
        }
        load + (rigid - parameters.armature(model, body) * change) / step
    }

    /// What acts so many steps after the start; what lies between steps is in proportion. Nothing if it was not asked for.
    pub fn at(&self, load: StepLoad, place: T) -> Option<Vec<T>> {
        let which = self.asked.iter().position(|other| *other == load)?;
        let first: usize = self.asked[..which].iter().map(|before| before.channels()).sum();
        let [of_joints, of_contacts] = self.late;
        let late = if matches!(load, StepLoad::Joint(_)) { of_joints } else { of_contacts };
        let place = place - T::constant(late);
        let last = self.steps.len().checked_sub(1)?;
        let step = place.value().floor().clamp(0.0, last.saturating_sub(1) as f64) as usize;
        let share = place - T::constant(step as f64);
        let (from, to) = (&self.steps[step], &self.steps[(step + 1).min(last)]);
        let between = |k: usize| from[k] + (to[k] - from[k]) * share;
        Some((first..first + load.channels()).map(between).collect())
    }
}
