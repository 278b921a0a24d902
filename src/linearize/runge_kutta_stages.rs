//! How the stages of Runge and Kutta change, one after the other in the chart about the start of the step, as
//! [`runge_kutta`](crate::dynamics::runge_kutta()) goes: M da = d(tau - D v) - d(inverse dynamics at a) in each.

use nalgebra::Vector3;

use super::displacement::Point;
use super::pose_lanes::Lanes;
use super::stage_motions::StageMotions;
use super::tree_change::TreeChange;
use crate::dynamics::runge_kutta::STAGES;
use crate::dynamics::{
    AppliedForceDerivatives, FreeMotion, InverseDynamicsDerivatives, damping,
    inverse_dynamics_derivatives,
};
use crate::linalg::{add_scaled, solve_lower_rows, solve_lower_transpose_rows};
use crate::model::{Model, System};
use crate::spatial::{exp, left_jacobian, rotation_matrix, rotation_vector_rate};
use crate::state::Coordinates;

/// Scratch memory.
#[derive(Default)]
pub(super) struct Stages {
    motions: StageMotions,
    inverse: InverseDynamicsDerivatives<f64>,
    forces: AppliedForceDerivatives<f64>,
    damping: Vec<f64>,
    trees: Vec<StageChange>,
}

/// The changes of a tree in a stage, and their means so far.
#[derive(Default)]
struct StageChange {
    q: Vec<f64>,
    v: Vec<f64>,
    offset: Vec<f64>,
    rate: Vec<f64>,
    acceleration: Vec<f64>,
    mean_rate: Vec<f64>,
    mean_acceleration: Vec<f64>,
}

impl Stages {
    /// Writes the changes of v_p and of the places at the end. False if a tree has none.
    pub fn update(
        &mut self,
        at: &Point,
        motion: &FreeMotion<f64>,
        trees: &mut [TreeChange],
    ) -> bool {
        let System { model, parameters, .. } = *at.system;
        let articulated = model.trees.iter().position(|tree| !tree.lone);
        let dt = articulated.map_or(0.0, |tree| motion.duration(tree));
        if !self.motions.update(at.system, at.state, at.inputs, dt) {
            return false;
        }
        damping(model, parameters, at.state, at.inputs, false, &mut self.damping);
        self.trees.resize_with(trees.len(), StageChange::default);
        for (stage, change) in self.trees.iter_mut().zip(&*trees) {
            stage.start(change);
        }
        for (k, (weight, ahead)) in STAGES.into_iter().enumerate() {
            self.accelerate(at, (k, weight), trees);
            let Some(next) = self.motions.stages.get(k + 1) else { break };
            for (index, (stage, change)) in self.trees.iter_mut().zip(&*trees).enumerate() {
                if !change.velocities.is_empty() {
                    let at = (&next.offset[..], &next.state.v[..]);
                    stage.advance((model, index), change, dt * ahead, at);
                }
            }
        }
        for (index, (stage, change)) in self.trees.iter_mut().zip(trees).enumerate() {
            if change.velocities.is_empty() {
                continue;
            }
            let StageChange { offset, mean_rate, mean_acceleration, .. } = stage;
            offset.fill(0.0);
            add_scaled(offset, dt, mean_rate);
            change.unit(change.velocities.len(), &mut stage.v);
            change.v.clone_from(&stage.v);
            add_scaled(&mut change.v, dt, mean_acceleration);
            let mut places = std::mem::take(&mut change.places);
            place(model, index, change, (&self.motions.end, offset), &mut places);
            change.places = places;
        }
        true
    }

    /// How the accelerations of a stage change.
    fn accelerate(&mut self, at: &Point, (stage, weight): (usize, f64), trees: &[TreeChange]) {
        let System { model, parameters, .. } = *at.system;
        let motion = &self.motions.stages[stage];
        self.forces.update(model, parameters, &motion.state, at.inputs);
        let (kinematics, acceleration) = (&motion.kinematics, &motion.acceleration);
        let inverse = &mut self.inverse;
        inverse_dynamics_derivatives(model, parameters, kinematics, acceleration, inverse);
        let mut next = 0;
        for (index, (stage, change)) in self.trees.iter_mut().zip(trees).enumerate() {
            let (n, columns) = (model.trees[index].v.len(), change.columns());
            let factor = &motion.factor[next..next + n * n];
            next += n * n;
            if change.velocities.is_empty() {
                continue;
            }
            let slopes = [&self.inverse.dq, &self.inverse.dv].map(|by| by.block(index).1);
            let slopes = slopes.map(|by| move |entry: usize| by[entry]);
            let StageChange { q, v, rate, acceleration, mean_rate, mean_acceleration, .. } = stage;
            let forces = (&self.forces, &self.damping[..]);
            change.forces(model, forces, slopes, [q, v], acceleration);
            solve_lower_rows(factor, n, columns, acceleration);
            solve_lower_transpose_rows(factor, n, columns, acceleration);
            add_scaled(mean_rate, weight, rate);
            add_scaled(mean_acceleration, weight, acceleration);
        }
    }
}

impl StageChange {
    /// The start of the step.
    fn start(&mut self, change: &TreeChange) {
        let n = change.velocities.len();
        change.unit(0, &mut self.q);
        change.unit(n, &mut self.v);
        self.rate.clone_from(&self.v);
        for means in [&mut self.mean_rate, &mut self.mean_acceleration, &mut self.offset] {
            means.clear();
            means.resize(n * change.columns(), 0.0);
        }
    }

    /// The stage `h` seconds after the start at the rates and accelerations of this one: there at `offset`, with velocities
    /// `velocity`.
    fn advance(
        &mut self,
        (model, tree): (&Model, usize),
        change: &TreeChange,
        h: f64,
        (offset, velocity): (&[f64], &[f64]),
    ) {
        self.offset.fill(0.0);
        add_scaled(&mut self.offset, h, &self.rate);
        change.unit(change.velocities.len(), &mut self.v);
        add_scaled(&mut self.v, h, &self.acceleration);
        place(model, tree, change, (offset, &self.offset), &mut self.q);
        self.rate.clone_from(&self.v);
        let columns = change.columns();
        for k in turns(model, tree) {
            let first = (k - change.velocities.start) * columns;
            let lanes = |x: &[f64], lane: usize| {
                Vector3::from_fn(|i, _| Lanes::variable(x[k + i], lane + i))
            };
            let turned = rotation_vector_rate(lanes(offset, 0), lanes(velocity, 3));
            for c in 0..columns {
                let moved = |x: &[f64]| [0, 1, 2].map(|i| x[first + i * columns + c]);
                let (by_place, by_velocity) = (moved(&self.offset), moved(&self.v));
                for (i, turned) in turned.iter().enumerate() {
                    let moved = by_place.iter().chain(&by_velocity);
                    let sum = turned.tangent.iter().zip(moved).map(|(a, x)| a * x).sum();
                    self.rate[first + i * columns + c] = sum;
                }
            }
        }
    }
}

/// Where quaternions are in the velocities of a tree.
pub(super) fn turns(model: &Model, tree: usize) -> impl Iterator<Item = usize> {
    model.trees[tree].bodies.iter().filter_map(|&body| {
        let joint = &model.bodies[body].joint;
        let (_, k) = joint.kind.coordinates().and_then(Coordinates::quaternion)?;
        Some(joint.v + k)
    })
}

/// The change of a place at `offset` in the chart about the start, which changes by `moved`.
fn place(
    model: &Model,
    tree: usize,
    change: &TreeChange,
    (offset, moved): (&[f64], &[f64]),
    places: &mut Vec<f64>,
) {
    let columns = change.columns();
    change.unit(0, places);
    places.iter_mut().zip(moved).for_each(|(place, moved)| *place += moved);
    for k in turns(model, tree) {
        let local = k - change.velocities.start;
        let x = Vector3::from_column_slice(&offset[k..k + 3]);
        let (back, rate) = (rotation_matrix(exp(-x)), left_jacobian(-x));
        for c in 0..columns {
            let mut turn = rate * Vector3::from_fn(|i, _| moved[(local + i) * columns + c]);
            if let Some(i) = c.checked_sub(local).filter(|&i| i < 3) {
                turn += back.column(i);
            }
            (0..3).for_each(|i| places[(local + i) * columns + c] = turn[i]);
        }
    }
}
