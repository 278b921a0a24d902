//! G = dR/dv+ of an [implicit step](super::implicit_momentum), and what a contact problem needs of it.

use super::applied_forces::damping;
use super::{
    AppliedForceDerivatives, BlockDiagonal, ImplicitMomentum, InverseDynamicsDerivatives,
    inverse_dynamics_derivatives,
};
use crate::ad::Real;
use crate::ad::instanced::Forward;
use crate::linalg::{Lu, cholesky};
use crate::model::{Model, Parameters, System};
use crate::spatial::left_jacobian;
use crate::state::State;
use nalgebra::Vector3;

/// How many times its masses a tree is made heavier at most.
const MOST_SHIFT: f64 = 1e6;

/// A step that is looked for, or solved: its velocities and G there, tree by tree. Reused, it allocates nothing.
#[derive(Default)]
pub(crate) struct ImplicitTangent {
    /// v+, of all trees.
    pub velocity: Vec<f64>,
    /// Whether each tree is in a contact problem.
    pub touched: Vec<bool>,
    /// L and S of G = L L' + S: L L' is its symmetric part, with as many times the masses as make that positive definite.
    factor: BlockDiagonal<f64>,
    rest: BlockDiagonal<f64>,
    /// G^-1 of trees that nothing touches.
    inverse: BlockDiagonal<f64>,
}

impl ImplicitTangent {
    /// Copies another one, in the memory there is.
    pub fn keep(&mut self, other: &ImplicitTangent) {
        self.velocity.clone_from(&other.velocity);
        self.touched.clone_from(&other.touched);
        self.factor.clone_from(&other.factor);
        self.rest.clone_from(&other.rest);
        self.inverse.clone_from(&other.inverse);
    }

    /// L of a tree, row-major.
    pub fn mass_factor(&self, tree: usize) -> &[f64] {
        self.factor.block(tree).1
    }

    /// S of a tree, row-major.
    pub fn rest(&self, tree: usize) -> &[f64] {
        self.rest.block(tree).1
    }

    /// G^-1 of a tree that nothing touches, row-major.
    pub fn inverse(&self, tree: usize) -> &[f64] {
        self.inverse.block(tree).1
    }
}

/// G of all trees, and the memory it is made in.
#[derive(Default)]
pub(crate) struct ImplicitMatrix {
    matrix: BlockDiagonal<f64>,
    masses: BlockDiagonal<f64>,
    derivatives: InverseDynamicsDerivatives<f64>,
    forces: AppliedForceDerivatives<f64>,
    damping: Vec<f64>,
    column: Vec<f64>,
    lu: Lu<f64>,
    lanes: Lanes,
}

/// Memory for G by duals.
#[derive(Default)]
struct Lanes {
    momentum: ImplicitMomentum<Forward>,
    parameters: Parameters<Forward>,
    start: State<Forward>,
    inputs: Vec<Forward>,
    velocity: Vec<Forward>,
}

impl ImplicitMatrix {
    /// Finds G at the velocities at which `momentum` was evaluated.
    pub fn update(
        &mut self,
        system: &System<f64>,
        step: (&State<f64>, &[f64], f64),
        momentum: &ImplicitMomentum<f64>,
    ) {
        // Of forces that depend on the state only their values are written.
        match system.model.has_state_forces() {
            true => self.update_by_lanes(system, step, momentum),
            false => self.update_by_hand(system, step, momentum),
        }
    }

    fn update_by_hand(
        &mut self,
        system: &System<f64>,
        (_, inputs, rate): (&State<f64>, &[f64], f64),
        momentum: &ImplicitMomentum<f64>,
    ) {
        let System { model, parameters, .. } = *system;
        let ImplicitMomentum { end, kinematics, acceleration, .. } = momentum;
        let inverse = &mut self.derivatives;
        inverse_dynamics_derivatives(model, parameters, kinematics, acceleration, inverse);
        inverse.mass_matrix.blocks(model, &mut self.masses);
        self.forces.update(model, parameters, end, inputs);
        damping(model, parameters, end, inputs, false, &mut self.damping);
        self.matrix.fit(model);
        for (index, tree) in model.trees.iter().enumerate().filter(|(_, tree)| !tree.lone) {
            let n = tree.v.len();
            let (_, matrix) = self.matrix.block_mut(index);
            matrix.copy_from_slice(inverse.dq.block(index).1);
            // What v+ does to q+.
            for &body in &tree.bodies {
                let joint = &model.bodies[body].joint;
                let turn = joint.kind.coordinates().and_then(|own| own.quaternion());
                let Some((_, k)) = turn else { continue };
                let first = joint.v + k;
                let turn = Vector3::from_fn(|i, _| end.v[first + i]) * -rate;
                let rates = left_jacobian(turn);
                for row in matrix.chunks_exact_mut(n) {
                    let own = &mut row[first - tree.v.start..][..3];
                    let turned = Vector3::new(own[0], own[1], own[2]).transpose() * rates;
                    own.copy_from_slice(turned.as_slice());
                }
            }
            let (_, by_rate) = inverse.dv.block(index);
            let (_, masses) = self.masses.block(index);
            for ((x, &by_v), &mass) in matrix.iter_mut().zip(by_rate).zip(masses) {
                *x = mass + rate * (by_v + rate * *x);
            }
            for (i, k) in tree.v.clone().enumerate() {
                let AppliedForceDerivatives { by_q, by_v, .. } = &self.forces;
                matrix[i * (n + 1)] += rate * (self.damping[k] - by_v[k] - rate * by_q[k]);
            }
        }
    }

    /// The same whatever forces are: all there is where they depend on the state, and the oracle.
    pub fn update_by_lanes(
        &mut self,
        system: &System<f64>,
        (start, inputs, rate): (&State<f64>, &[f64], f64),
        momentum: &ImplicitMomentum<f64>,
    ) {
        let System { model, parameters, settings } = *system;
        let ImplicitMomentum { end, kinematics, acceleration, .. } = momentum;
        let inverse = &mut self.derivatives;
        inverse_dynamics_derivatives(model, parameters, kinematics, acceleration, inverse);
        inverse.mass_matrix.blocks(model, &mut self.masses);
        let Lanes { momentum, parameters: own, start: begin, inputs: all, velocity } =
            &mut self.lanes;
        parameters.cast_into(own);
        start.cast_into(begin);
        all.clear();
        all.extend(inputs.iter().map(|&u| Forward::constant(u)));
        let system = System { model, parameters: own, settings };
        self.matrix.fit(model);
        let widest = model.trees.iter().filter(|tree| !tree.lone).map(|tree| tree.v.len()).max();
        // Trees do not mix: a lane is a column of each.
        let lanes = crate::ad::LANES;
        for first in (0..widest.unwrap_or(0)).step_by(lanes) {
            velocity.clear();
            velocity.extend(end.v.iter().map(|&v| Forward::constant(v)));
            for tree in model.trees.iter().filter(|tree| !tree.lone) {
                for (lane, k) in tree.v.clone().skip(first).take(lanes).enumerate() {
                    velocity[k] = Forward::variable(end.v[k], lane);
                }
            }
            momentum.update(&system, (begin, all, Forward::constant(rate)), velocity);
            for (index, tree) in model.trees.iter().enumerate().filter(|(_, tree)| !tree.lone) {
                let n = tree.v.len();
                let (_, matrix) = self.matrix.block_mut(index);
                for (row, k) in matrix.chunks_exact_mut(n).zip(tree.v.clone()) {
                    let slopes = momentum.residual()[k].tangent;
                    row.iter_mut().skip(first).zip(slopes).for_each(|(x, slope)| *x = slope);
                }
            }
        }
    }

    /// Splits and inverts G into `tangent`. False if a tree has masses that are not positive definite, or G is singular.
    #[must_use]
    pub fn factor(&mut self, model: &Model, tangent: &mut ImplicitTangent) -> bool {
        let ImplicitTangent { touched, factor: factors, rest: rests, inverse: inverses, .. } =
            tangent;
        factors.fit(model);
        rests.fit(model);
        inverses.fit(model);
        let mut sound = true;
        for (index, tree) in model.trees.iter().enumerate().filter(|(_, tree)| !tree.lone) {
            let n = tree.v.len();
            let (_, matrix) = self.matrix.block(index);
            let (_, factor) = factors.block_mut(index);
            let symmetric = |i: usize, j: usize| 0.5 * (matrix[i * n + j] + matrix[j * n + i]);
            let (_, masses) = self.masses.block(index);
            let mut shift = 0.0;
            fill_lower(factor, n, symmetric);
            while !cholesky(factor, n) {
                // Pressed so much that it does not stand by itself: heavier, it does.
                shift = if shift == 0.0 { 0.5 } else { 2.0 * shift };
                if shift > MOST_SHIFT {
                    sound = false;
                    break;
                }
                fill_lower(factor, n, |i, j| symmetric(i, j) + shift * masses[i * n + j]);
            }
            let (_, rest) = rests.block_mut(index);
            for i in 0..n {
                for j in 0..n {
                    let most = i.min(j) + 1;
                    let own = factor[i * n..][..most].iter().zip(&factor[j * n..][..most]);
                    let product: f64 = own.map(|(a, b)| a * b).sum();
                    rest[i * n + j] = matrix[i * n + j] - product;
                }
            }
            if touched.get(index).copied().unwrap_or_default() {
                continue;
            }
            if !self.lu.factor(matrix, n) {
                sound = false;
                continue;
            }
            let (_, inverse) = inverses.block_mut(index);
            for j in 0..n {
                self.column.clear();
                self.column.resize(n, 0.0);
                self.column[j] = 1.0;
                self.lu.solve(&mut self.column);
                (0..n).for_each(|i| inverse[i * n + j] = self.column[i]);
            }
        }
        sound
    }
}

/// Writes the lower half of a matrix, and zeros above.
fn fill_lower(to: &mut [f64], n: usize, entry: impl Fn(usize, usize) -> f64) {
    for i in 0..n {
        for j in 0..n {
            to[i * n + j] = if j <= i { entry(i, j) } else { 0.0 };
        }
    }
}
