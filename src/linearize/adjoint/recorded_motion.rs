//! What comes before the contact problems of a step, backwards, where it is not by hand, by a recording of that alone: flight
//! and impact of bodies at which the step was split, and the motion without contact of trees under another integrator than
//! the semi-implicit one. The contact problems of the step itself, and what comes after them, are no part of it.

use nalgebra::Vector3;

use super::contact_adjoint::ContactAdjoint;
use super::parts::{Adjoints, Before};
use super::tree_adjoint::{StepOf, TreeAdjoint};
use crate::ad::{self, Real, Var};
use crate::dynamics::{FreeBody, FreeMotion};
use crate::linalg::{dot, times_lower_transpose};
use crate::linearize::displacement::{Displaced, Point};
use crate::simulation::SolvedStep;
use crate::spatial::{conjugate, log, product};

/// Adds what the adjoints of what was left to a recording make of the start of the step, the inputs and the parameters, in
/// the order of the displacements of `at`. `end` is the adjoint of where the step ends.
pub(super) fn pull_back_recorded(
    (at, of, solved): (&Point, &StepOf, &SolvedStep),
    (trees, contacts): (&TreeAdjoint, &ContactAdjoint),
    end: &[f64],
    adjoints: &mut Adjoints,
) -> Result<(), ad::Error> {
    let weights = weights((of, solved), trees, contacts, end);
    let recorded = |d: &[Var]| {
        let mut displaced = Displaced::default();
        displaced.before_contacts(at, d, solved.splits());
        outputs(of, &mut displaced, at, (trees, contacts))
    };
    let zero = vec![0.0; at.dimension()];
    let (_, found) = ad::vjp(recorded, &zero, |_| weights)?;
    let Adjoints { state, inputs, parameters } = adjoints;
    let numbers = state.iter_mut().chain(inputs).chain(parameters);
    numbers.zip(&found).for_each(|(to, x)| *to += x);
    Ok(())
}

/// The adjoint of each of the [`outputs`].
fn weights(
    (of, solved): (&StepOf, &SolvedStep),
    trees: &TreeAdjoint,
    contacts: &ContactAdjoint,
    end: &[f64],
) -> Vec<f64> {
    let model = of.system.model;
    let (to_q, to_v) = end.split_at(model.nv());
    let mut weights = Vec::new();
    for (tree, entry) in model.trees.iter().enumerate() {
        let range = entry.v.clone();
        match of.before(tree) {
            Before::ByHand => {}
            Before::Recorded if entry.lone => {
                let own = &trees.lone[tree];
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
            Before::Recorded => {
                // a . (M dv_p - dM (v+ - v_p)), M = L L'
                let factor = of.motion.tree(tree).mass_factor;
                let a = &trees.before[range];
                let n = a.len();
                let mut half = vec![0.0; n];
                times_lower_transpose(factor, n, a, &mut half);
                weights.extend((0..n).map(|i| dot(&factor[i * n..=i * n + i], &half[..=i])));
                weights.push(-1.0);
            }
            Before::Alone => weights.extend(to_q[range.clone()].iter().chain(&to_v[range])),
        }
    }
    weights.extend(contacts.held_energies().map(|(_, weight, _)| -weight));
    weights
}

/// What the adjoints are of, tree by tree.
fn outputs(
    of: &StepOf,
    displaced: &mut Displaced<Var>,
    at: &Point,
    (trees, contacts): (&TreeAdjoint, &ContactAdjoint),
) -> Vec<Var> {
    let model = of.system.model;
    let mut outputs = Vec::new();
    for (tree, entry) in model.trees.iter().enumerate() {
        let range = entry.v.clone();
        match of.before(tree) {
            Before::ByHand => {}
            Before::Recorded if entry.lone => {
                let workspace = &displaced.workspace;
                let (motion, _) = workspace.parts();
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
                outputs.extend(workspace.taken_back(tree));
            }
            Before::Recorded => {
                let (motion, _) = displaced.workspace.parts();
                outputs.extend_from_slice(motion.tree(tree).free_velocity);
                let ends = of.velocities[range.clone()].iter();
                let free = of.motion.tree(tree).free_velocity;
                let change: Vec<f64> = ends.zip(free).map(|(end, free)| end - free).collect();
                outputs.push(energy(motion, tree, [&trees.before[range], &change]));
            }
            Before::Alone => {
                let difference = displaced.end_alone(at, tree);
                let (q, v) = difference.split_at(model.nv());
                outputs.extend(q[range.clone()].iter().chain(&v[range]));
            }
        }
    }
    let (motion, _) = displaced.workspace.parts();
    let energies = contacts.held_energies();
    outputs.extend(energies.map(|(tree, _, moved)| energy(motion, tree, [moved, moved])));
    outputs
}

/// a . M b of a tree.
fn energy(motion: &FreeMotion<Var>, tree: usize, motions: [&[f64]; 2]) -> Var {
    let factor = motion.tree(tree).mass_factor;
    let [a, b] = motions.map(|numbers| {
        let numbers: Vec<Var> = numbers.iter().map(|&x| Var::constant(x)).collect();
        let mut half = vec![Var::constant(0.0); numbers.len()];
        times_lower_transpose(factor, numbers.len(), &numbers, &mut half);
        half
    });
    a.iter().zip(&b).fold(Var::constant(0.0), |sum, (&a, &b)| sum + a * b)
}
