//! How the stages of Runge and Kutta change, one after the other in the chart about the start of the step, as
//! [`runge_kutta`](crate::dynamics::runge_kutta()) goes: M da = d(tau - D v) - d(inverse dynamics at a) in each.

use nalgebra::Vector3;

use super::displacement::Point;
use super::pose_lanes::Lanes;
use super::tree_change::TreeChange;
use crate::dynamics::runge_kutta::{STAGES, advance, find_rate};
use crate::dynamics::{
    AppliedForceDerivatives, BlockDiagonal, Crba, FreeMotion, InverseDynamicsDerivatives,
    Kinematics, MassMatrix, Rnea, applied_forces, bias, damping, inverse_dynamics_derivatives,
    mass_matrix,
};
use crate::linalg::{
    add_scaled, cholesky, solve_lower, solve_lower_rows, solve_lower_transpose,
    solve_lower_transpose_rows,
};
use crate::model::{Model, System};
use crate::spatial::{exp, left_jacobian, rotation_matrix, rotation_vector_rate};
use crate::state::{Coordinates, State};

/// Scratch memory.
#[derive(Default)]
pub(super) struct Stages {
    state: State<f64>,
    /// The place of a stage in the chart, and how fast it goes there.
    offset: Vec<f64>,
    rate: Vec<f64>,
    acceleration: Vec<f64>,
    mean_rate: Vec<f64>,
    mean_acceleration: Vec<f64>,
    kinematics: Kinematics<f64>,
    crba: Crba<f64>,
    mass: MassMatrix<f64>,
    blocks: BlockDiagonal<f64>,
    rnea: Rnea<f64>,
    bias: Vec<f64>,
    inverse: InverseDynamicsDerivatives<f64>,
    forces: AppliedForceDerivatives<f64>,
    damping: Vec<f64>,
    factor: Vec<f64>,
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
        let nv = model.nv();
        at.state.cast_into(&mut self.state);
        self.rate.clone_from(&at.state.v);
        for buffer in [
            &mut self.acceleration,
            &mut self.mean_rate,
            &mut self.mean_acceleration,
            &mut self.offset,
            &mut self.bias,
        ] {
            buffer.clear();
            buffer.resize(nv, 0.0);
        }
        damping(model, parameters, at.state, at.inputs, false, &mut self.damping);
        self.trees.resize_with(trees.len(), StageChange::default);
        for (stage, change) in self.trees.iter_mut().zip(&*trees) {
            stage.start(change);
        }
        let articulated = model.trees.iter().position(|tree| !tree.lone);
        let dt = articulated.map_or(0.0, |tree| motion.duration(tree));
        for (weight, ahead) in STAGES {
            self.forces.update(model, parameters, &self.state, at.inputs);
            if !self.accelerate(at, motion, weight, trees) {
                return false;
            }
            for (mean, x) in [
                (&mut self.mean_rate, &self.rate),
                (&mut self.mean_acceleration, &self.acceleration),
            ] {
                add_scaled(mean, weight, x);
            }
            if ahead == 0.0 {
                break;
            }
            let (h, offset) = (dt * ahead, &mut self.offset);
            let (rate, acceleration) = (&self.rate, &self.acceleration);
            advance(model, at.state, rate, acceleration, h, offset, &mut self.state);
            find_rate(model, &self.offset, &self.state.v, &mut self.rate);
            for (index, (stage, change)) in self.trees.iter_mut().zip(&*trees).enumerate() {
                if !change.velocities.is_empty() {
                    stage.advance((model, index), change, h, (&self.offset, &self.state.v));
                }
            }
        }
        self.offset.fill(0.0);
        add_scaled(&mut self.offset, dt, &self.mean_rate);
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
            place(model, index, change, (&self.offset, offset), &mut places);
            change.places = places;
        }
        true
    }

    /// The accelerations of a stage and how they change.
    fn accelerate(
        &mut self,
        at: &Point,
        motion: &FreeMotion<f64>,
        weight: f64,
        trees: &[TreeChange],
    ) -> bool {
        let System { model, parameters, .. } = *at.system;
        applied_forces(model, parameters, &self.state, &motion.inputs, &mut self.acceleration);
        self.kinematics.update(model, parameters, &self.state);
        mass_matrix(model, parameters, &self.kinematics, &mut self.crba, &mut self.mass);
        self.mass.blocks(model, &mut self.blocks);
        bias(parameters, &self.kinematics, &mut self.rnea, &mut self.bias);
        self.factor.clear();
        for (index, tree) in model.trees.iter().enumerate() {
            let own = &mut self.acceleration[tree.v.clone()];
            if tree.lone {
                own.fill(0.0);
                continue;
            }
            let (n, start) = (tree.v.len(), self.factor.len());
            self.factor.extend_from_slice(self.blocks.block(index).1);
            let factor = &mut self.factor[start..];
            (0..n).for_each(|i| factor[i * n + i + 1..(i + 1) * n].fill(0.0));
            if !cholesky(factor, n) {
                return false;
            }
            own.iter_mut().zip(&self.bias[tree.v.clone()]).for_each(|(a, h)| *a -= h);
            solve_lower(factor, n, own);
            solve_lower_transpose(factor, n, own);
        }
        let (kinematics, acceleration) = (&self.kinematics, &self.acceleration);
        inverse_dynamics_derivatives(
            model,
            parameters,
            kinematics,
            acceleration,
            &mut self.inverse,
        );
        let mut start = 0;
        for (index, (stage, change)) in self.trees.iter_mut().zip(trees).enumerate() {
            let (n, columns) = (change.velocities.len(), change.columns());
            if n == 0 {
                continue;
            }
            let factor = &self.factor[start..start + n * n];
            start += n * n;
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
        true
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
fn turns(model: &Model, tree: usize) -> impl Iterator<Item = usize> {
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
