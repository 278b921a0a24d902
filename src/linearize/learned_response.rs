//! Forces that are learned act on a step as inputs do, which depend on its start and on weights: what the step makes of
//! inputs, times how these change.

use nalgebra::DMatrix;

use super::displacement::Point;
use crate::ad::{self, Dual, LANES, Real, Var};
use crate::dynamics::StateForces;
use crate::model::{Feature, LearnedKind, Model, Parameters, SurfaceTerm, System};
use crate::state::State;

type Lanes = Dual<f64, LANES>;

/// Whether all that is learned is forces over a step, so that nothing else of it changes with them, there are no pushes or
/// drags, and what contacts pose is three rows by the normal alone.
pub(super) fn are_forces(model: &Model) -> bool {
    let force = |kind: LearnedKind| matches!(kind, LearnedKind::Potential | LearnedKind::Force);
    let generic = [
        SurfaceTerm::StribeckSpeed,
        SurfaceTerm::MuAcross,
        SurfaceTerm::TorsionRadius,
        SurfaceTerm::RollingResistance,
    ];
    model.pushes.is_empty()
        && model.drags.is_empty()
        && model.learned.iter().all(|term| force(term.kind))
        && !generic.into_iter().any(|term| model.any_has_term(term))
}

/// Scratch memory.
#[derive(Default)]
pub(super) struct LearnedResponse {
    /// Of each velocity along which they act its column of B.
    targets: Vec<(usize, usize)>,
    /// Columns of A that they depend on.
    columns: Vec<usize>,
    forces: StateForces<Lanes>,
    displacement: Vec<Lanes>,
    state: State<Lanes>,
    parameters: Parameters<Lanes>,
    /// No inputs.
    still: Vec<Lanes>,
}

impl LearnedResponse {
    /// Finds what the forces of a model depend on, and adds what they act on to the `inputs` that are asked for.
    pub fn start(&mut self, model: &Model, inputs: &mut Vec<usize>) {
        let nv = model.nv();
        self.targets.clear();
        self.columns.clear();
        let mut act = |v: usize| {
            if self.targets.iter().all(|&(known, _)| known != v) {
                self.targets.push((v, inputs.len()));
                inputs.push(v);
            }
        };
        for term in &model.learned {
            term.velocities.iter().for_each(|&v| act(v));
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
                    moved.clone().for_each(&mut act);
                }
                self.columns.extend(moved);
            }
        }
        self.columns.sort_unstable();
        self.columns.dedup();
    }

    /// Adds to A what the forces do, by the columns of B.
    pub fn add(&mut self, at: &Point, a: &mut DMatrix<f64>, b: &DMatrix<f64>) {
        let System { model, parameters, .. } = *at.system;
        parameters.cast_into(&mut self.parameters);
        self.still.resize(model.nv() + model.nu(), Lanes::constant(0.0));
        for columns in self.columns.chunks(LANES) {
            self.displacement.clear();
            self.displacement.resize(2 * model.nv(), Lanes::constant(0.0));
            for (lane, &column) in columns.iter().enumerate() {
                self.displacement[column] = Lanes::variable(0.0, lane);
            }
            at.state.cast_into(&mut self.state);
            self.state.advance(model.coordinates(), &self.displacement);
            self.forces.update(
                model,
                &self.parameters,
                &self.state,
                &self.still,
                Lanes::constant(0.0),
            );
            for &(velocity, place) in &self.targets {
                let slopes = self.forces.forces[velocity].tangent;
                for (&column, slope) in columns.iter().zip(slopes) {
                    a.column_mut(column).axpy(slope, &b.column(place), 1.0);
                }
            }
        }
    }
}

/// Adds what the adjoints `weights` of the forces of a system, one a velocity, make of its state (a tangent vector) and of
/// its parameters.
pub(super) fn pull_back_learned(
    system: &System<f64>,
    state: &State<f64>,
    weights: &[f64],
    [to_state, to_parameters]: [&mut [f64]; 2],
) -> Result<(), ad::Error> {
    let model = system.model;
    let slots = (0..model.learned.len()).flat_map(|term| model.weight_slots(term));
    let slots: Vec<usize> = slots.collect();
    let forces = |numbers: &[Var]| {
        let (displacement, own) = numbers.split_at(to_state.len());
        let mut parameters: Parameters<Var> = system.parameters.cast();
        for (&slot, &x) in slots.iter().zip(own) {
            parameters.values[slot] = x;
        }
        let mut forces = StateForces::default();
        let moved = state.cast().moved(model.coordinates(), displacement);
        let still = vec![Var::constant(0.0); model.nv() + model.nu()];
        forces.update(model, &parameters, &moved, &still, Var::constant(0.0));
        forces.forces
    };
    let mut start = vec![0.0; to_state.len()];
    start.extend(slots.iter().map(|&slot| system.parameters.values[slot]));
    let (_, found) = ad::vjp(forces, &start, |_| weights.to_vec())?;
    let (by_state, by_weights) = found.split_at(to_state.len());
    to_state.iter_mut().zip(by_state).for_each(|(to, x)| *to += x);
    for (&slot, x) in slots.iter().zip(by_weights) {
        to_parameters[slot] += x;
    }
    Ok(())
}
