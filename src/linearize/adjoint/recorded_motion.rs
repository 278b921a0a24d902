//! Flight and impact of bodies at which a step was split, backwards, by a recording of that alone. The contact problems of the step
//! itself, and what comes after them, are no part of it.

use nalgebra::Vector3;

use super::parts::{Adjoints, Before, StepOf};
use super::tree_adjoint::TreeAdjoint;
use crate::ad::{self, Real, Var};
use crate::dynamics::FreeBody;
use crate::linearize::displacement::{Displaced, Point};
use crate::simulation::SolvedStep;
use crate::spatial::{conjugate, log, product};

/// Adds what the adjoints of what was left to a recording make of the start of the step, the inputs and the parameters, in
/// the order of the displacements of `at`. `end` is the adjoint of where the step ends.
pub(super) fn pull_back_recorded(
    (at, of, solved): (&Point, &StepOf, &SolvedStep),
    trees: &TreeAdjoint,
    end: &[f64],
    adjoints: &mut Adjoints,
) -> Result<(), ad::Error> {
    let weights = weights((of, solved), trees, end);
    let recorded = |d: &[Var]| {
        let mut displaced = Displaced::default();
        displaced.before_contacts(at, d, solved.splits());
        outputs(of, &displaced)
    };
    let zero = vec![0.0; at.dimension()];
    let (_, found) = ad::vjp(recorded, &zero, |_| weights)?;
    let Adjoints { state, inputs, parameters, .. } = adjoints;
    let numbers = state.iter_mut().chain(inputs).chain(parameters);
    numbers.zip(&found).for_each(|(to, x)| *to += x);
    Ok(())
}

/// The bodies that are recorded.
fn bodies(of: &StepOf) -> impl Iterator<Item = usize> {
    (0..of.motion.trees()).filter(|&tree| of.before(tree) == Before::Recorded)
}

/// The adjoint of each of the [`outputs`].
fn weights((of, solved): (&StepOf, &SolvedStep), trees: &TreeAdjoint, end: &[f64]) -> Vec<f64> {
    let model = of.system.model;
    let to_v = &end[model.nv()..];
    let mut weights = Vec::new();
    for tree in bodies(of) {
        let (range, own) = (model.trees[tree].v.clone(), &trees.lone[tree]);
        for x in [own.position, own.turn, own.velocity, own.spin] {
            weights.extend(x.iter());
        }
        weights.extend(&trees.before[range.clone()]);
        weights.push(own.duration);
        // What ends in flight has its velocity taken half a step back.
        let flies = solved.is_untouched(model, tree);
        let driven = to_v[range].iter().take(3);
        weights.extend(driven.map(|&x| if flies { x } else { 0.0 }));
    }
    weights
}

/// What the adjoints are of, body by body.
fn outputs(of: &StepOf, displaced: &Displaced<Var>) -> Vec<Var> {
    let (motion, _) = displaced.workspace.parts();
    let mut outputs = Vec::new();
    for tree in bodies(of) {
        let frees = (motion.lone_of(tree), of.motion.lone_of(tree));
        let (Some(free), Some(nominal)) = frees else { continue };
        let FreeBody { rotation, orientation, position, velocity, .. } = free;
        let [vx, vy, vz, spin @ ..] = *velocity;
        let (spin, center) = (Vector3::from(spin), &free.center_of_mass);
        let start = conjugate(nominal.orientation.map(Var::constant));
        let turned = log(product(start, *orientation));
        let linear = Vector3::new(vx, vy, vz) - rotation * spin.cross(center);
        for x in [position, &turned, &linear, &spin] {
            outputs.extend(x.iter().copied());
        }
        outputs.extend(free.free_velocity);
        outputs.push(free.duration);
        outputs.extend(displaced.workspace.taken_back(tree));
    }
    outputs
}
