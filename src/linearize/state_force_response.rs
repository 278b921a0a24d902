//! Forces that are functions of the state (learned ones, pushes, drag, tendons) act on a step as inputs do, which depend on its start,
//! on inputs and on parameters: what the step makes of inputs, times how these change.

use nalgebra::DMatrix;

use super::displacement::Point;
use crate::ad::{self, Dual, LANES, Real, Var};
use crate::dynamics::StateForces;
use crate::model::{
    Feature, LearnedKind, Model, Parameters, SurfaceTerm, System, TendonPath, Transmission,
};
use crate::state::State;

type Lanes = Dual<f64, LANES>;

/// Whether all that depends on the state is forces over a step, so that nothing else of it changes with them, and what contacts
/// and tendons pose is three rows by the normal alone, and rows that stay as they are.
pub(super) fn are_forces(model: &Model) -> bool {
    let force = |kind: LearnedKind| matches!(kind, LearnedKind::Potential | LearnedKind::Force);
    let generic = [
        SurfaceTerm::StribeckSpeed,
        SurfaceTerm::MuAcross,
        SurfaceTerm::TorsionRadius,
        SurfaceTerm::RollingResistance,
    ];
    // Conditions on the line through points have rows that turn with the bodies.
    let line = |path: &TendonPath| matches!(path, TendonPath::Points(_));
    model.learned.iter().all(|term| force(term.kind))
        && !model.tendons.iter().any(|tendon| tendon.has_conditions && line(&tendon.path))
        && !generic.into_iter().any(|term| model.any_has_term(term))
}

/// Scratch memory.
#[derive(Default)]
pub(super) struct StateForceResponse {
    /// Of each velocity along which they act its column of B.
    targets: Vec<(usize, usize)>,
    /// What they depend on: columns of A, then inputs with their columns of B.
    columns: Vec<usize>,
    inputs: Vec<(usize, usize)>,
    /// Where the columns of B are that are asked for.
    asked: usize,
    forces: StateForces<Lanes>,
    displacement: Vec<Lanes>,
    acting: Vec<Lanes>,
    state: State<Lanes>,
    parameters: Parameters<Lanes>,
}

impl StateForceResponse {
    /// Finds what the forces of a model depend on, and adds what they act on to the `inputs` that are asked for.
    pub fn start(&mut self, model: &Model, inputs: &mut Vec<usize>) {
        let nv = model.nv();
        self.targets.clear();
        self.columns.clear();
        self.inputs.clear();
        self.asked = inputs.len();
        if !model.has_state_forces() {
            return;
        }
        for term in &model.learned {
            term.velocities.iter().for_each(|&v| self.act(v, inputs));
            for &feature in &term.features {
                let moved = match feature {
                    Feature::Coordinate { v, .. }
                    | Feature::Sine { v, .. }
                    | Feature::Cosine { v, .. } => v..v + 1,
                    Feature::Quaternion { v, .. } => v..v + 3,
                    Feature::Velocity { v } => nv + v..nv + v + 1,
                    Feature::Place { .. } => continue,
                };
                if term.kind == LearnedKind::Potential {
                    moved.clone().for_each(|v| self.act(v, inputs));
                }
                self.columns.extend(moved);
            }
        }
        for (index, push) in model.pushes.iter().enumerate() {
            for v in model.path(push.body) {
                self.act(v, inputs);
                self.columns.push(v);
            }
            self.depend(nv + model.actuators.len() + index, inputs);
        }
        for drag in &model.drags {
            model.path(drag.body).for_each(|v| self.pull(v, nv, inputs));
        }
        for tendon in &model.tendons {
            let own = |body: usize| {
                let joint = &model.bodies[body].joint;
                joint.v..joint.v + joint.kind.nv()
            };
            for body in tendon.path.bodies() {
                match tendon.path {
                    TendonPath::Joints(_) => own(body).for_each(|v| self.pull(v, nv, inputs)),
                    TendonPath::Points(_) => {
                        model.path(body).for_each(|v| self.pull(v, nv, inputs));
                    }
                }
            }
        }
        for (control, actuator) in model.actuators.iter().enumerate() {
            if matches!(actuator.drives, Transmission::Tendon(_)) {
                self.depend(nv + control, inputs);
            }
        }
        self.columns.sort_unstable();
        self.columns.dedup();
    }

    /// A velocity along which forces act that depend on it and on what it moves.
    fn pull(&mut self, v: usize, nv: usize, inputs: &mut Vec<usize>) {
        self.act(v, inputs);
        self.columns.extend([v, nv + v]);
    }

    /// An input that forces depend on.
    fn depend(&mut self, input: usize, inputs: &[usize]) {
        let places = inputs[..self.asked].iter().enumerate();
        let own = places.filter(|(_, other)| **other == input);
        self.inputs.extend(own.map(|(place, _)| (input, place)));
    }

    /// A velocity along which forces act.
    fn act(&mut self, v: usize, inputs: &mut Vec<usize>) {
        if self.targets.iter().all(|&(known, _)| known != v) {
            self.targets.push((v, inputs.len()));
            inputs.push(v);
        }
    }

    /// Adds to A and B what the forces do, by the columns of B.
    pub fn add(&mut self, at: &Point, a: &mut DMatrix<f64>, b: &mut DMatrix<f64>) {
        let System { model, parameters, settings } = *at.system;
        let all = self.columns.len() + self.inputs.len();
        if all == 0 {
            return;
        }
        parameters.cast_into(&mut self.parameters);
        let rows = b.nrows();
        let (asked, forces) = b.as_mut_slice().split_at_mut(self.asked * rows);
        for first in (0..all).step_by(LANES) {
            self.displacement.clear();
            self.displacement.resize(2 * model.nv(), Lanes::constant(0.0));
            self.acting.clear();
            self.acting.extend(at.inputs.iter().map(|&u| Lanes::constant(u)));
            for (lane, k) in (first..all).take(LANES).enumerate() {
                match self.columns.get(k) {
                    Some(&column) => self.displacement[column] = Lanes::variable(0.0, lane),
                    None => {
                        let (input, _) = self.inputs[k - self.columns.len()];
                        self.acting[input].tangent[lane] = 1.0;
                    }
                }
            }
            at.state.cast_into(&mut self.state);
            self.state.advance(model.coordinates(), &self.displacement);
            let duration = Lanes::constant(settings.time_step);
            let (state, acting) = (&self.state, &self.acting);
            self.forces.update(model, &self.parameters, state, acting, duration);
            for &(velocity, place) in &self.targets {
                let slopes = self.forces.forces[velocity].tangent;
                let force = &forces[(place - self.asked) * rows..][..rows];
                for (k, slope) in (first..all).zip(slopes).filter(|(_, slope)| *slope != 0.0) {
                    let column = match self.columns.get(k) {
                        Some(&column) => &mut a.as_mut_slice()[column * rows..][..rows],
                        None => {
                            let (_, own) = self.inputs[k - self.columns.len()];
                            &mut asked[own * rows..][..rows]
                        }
                    };
                    column.iter_mut().zip(force).for_each(|(to, x)| *to += slope * x);
                }
            }
        }
    }
}

/// Adds what the adjoints `weights` of the forces of a system, one a velocity, make of its state (a tangent vector), of the inputs and
/// of its parameters. `duration`: see [`StateForces::update`].
pub(super) fn pull_back_forces(
    system: &System<f64>,
    (state, inputs, duration): (&State<f64>, &[f64], f64),
    weights: &[f64],
    [to_state, to_inputs, to_parameters]: [&mut [f64]; 3],
) -> Result<(), ad::Error> {
    let model = system.model;
    // Where forces act that depend on places depends on the numbers of all bodies; others have but their own.
    let slots: Vec<usize> = match model.has_geometric_forces() {
        true => (0..model.parameter_count()).collect(),
        false => {
            let weights = (0..model.learned.len()).flat_map(|term| model.weight_slots(term));
            let tendons = (0..model.tendons.len()).flat_map(|tendon| model.slots_of_tendon(tendon));
            let pulls = |k: &usize| model.driven_joint(*k).is_none();
            let motors = (0..model.actuators.len()).filter(pulls);
            let motors = motors.flat_map(|actuator| model.slots_of_actuator(actuator));
            weights.chain(tendons).chain(motors).collect()
        }
    };
    let forces = |numbers: &[Var]| {
        let (displacement, rest) = numbers.split_at(to_state.len());
        let (acting, own) = rest.split_at(inputs.len());
        let mut parameters: Parameters<Var> = system.parameters.cast();
        for (&slot, &x) in slots.iter().zip(own) {
            parameters.values[slot] = x;
        }
        let mut forces = StateForces::default();
        let moved = state.cast().moved(model.coordinates(), displacement);
        forces.update(model, &parameters, &moved, acting, Var::constant(duration));
        forces.forces
    };
    let mut start = vec![0.0; to_state.len()];
    start.extend_from_slice(inputs);
    start.extend(slots.iter().map(|&slot| system.parameters.values[slot]));
    let (_, found) = ad::vjp(forces, &start, |_| weights.to_vec())?;
    let (by_state, rest) = found.split_at(to_state.len());
    let (by_inputs, by_own) = rest.split_at(inputs.len());
    for (to, from) in [(to_state, by_state), (to_inputs, by_inputs)] {
        to.iter_mut().zip(from).for_each(|(to, x)| *to += x);
    }
    for (&slot, x) in slots.iter().zip(by_own) {
        to_parameters[slot] += x;
    }
    Ok(())
}
