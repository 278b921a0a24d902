//! Forward dynamics as a node: the articulated-body algorithm with analytic derivatives.

use std::sync::Arc;

use nalgebra::Vector3;

use super::rnea_adjoint::{Gradient, RneaAdjoint, inverse_dynamics_vjp};
use super::rnea_tangent::{Direction, RneaTangent, inverse_dynamics_jvp, turn_of};
use super::{
    Aba, Crba, Kinematics, MassFactor, MassMatrix, Rnea, forward_dynamics, inverse_dynamics,
    mass_matrix,
};
use crate::ad::{Node, Real};
use crate::linalg::FactorError;
use crate::model::{Model, Parameters};
use crate::spatial::product;
use crate::state::State;

/// The accelerations of a model's joints.
///
/// Inputs q, v, generalised forces, then the values of all [`Parameters`]; outputs accelerations. Of a
/// quaternion, derivatives are those along the unit quaternions.
///
/// Where a velocity has no inertia, or sizes do not fit, [`ForwardDynamicsSolution::failure`] says so;
/// outputs and derivatives are then NaN.
#[derive(Clone, Debug)]
pub struct ForwardDynamics {
    /// What moves.
    pub model: Arc<Model>,
}

/// How a [`ForwardDynamics`] went.
#[derive(Clone, Copy, Debug, Default)]
pub struct ForwardDynamicsSolution {
    /// Why there is no result, if there is none.
    pub failure: Option<FactorError>,
}

/// Scratch memory of [`ForwardDynamics`].
#[derive(Clone, Debug, Default)]
pub struct ForwardDynamicsWorkspace<T> {
    state: State<T>,
    parameters: Parameters<T>,
    kinematics: Kinematics<T>,
    aba: Aba<T>,
}

/// What the derivatives of [`ForwardDynamics`] share.
#[derive(Clone, Debug, Default)]
pub struct ForwardDynamicsFactor<T> {
    at: ForwardDynamicsWorkspace<T>,
    mass: MassFactor<T>,
    matrix: MassMatrix<T>,
    crba: Crba<T>,
    tangent: RneaTangent<T>,
    adjoint: RneaAdjoint<T>,
    change: Parameters<T>,
    failed: bool,
    /// Zeros, dq and other numbers a velocity.
    zeros: Vec<T>,
    dq: Vec<T>,
    sum: Vec<T>,
}

impl<T: Real> ForwardDynamicsWorkspace<T> {
    fn read(&mut self, model: &Model, inputs: &[T]) -> bool {
        let (nq, nv) = (model.nq(), model.nv());
        if inputs.len() != nq + 2 * nv + model.parameter_count() {
            return false;
        }
        let copy = |to: &mut Vec<T>, from: &[T]| {
            to.clear();
            to.extend_from_slice(from);
        };
        copy(&mut self.state.q, &inputs[..nq]);
        copy(&mut self.state.v, &inputs[nq..nq + nv]);
        copy(&mut self.parameters.values, &inputs[nq + 2 * nv..]);
        self.kinematics.update(model, &self.parameters, &self.state);
        true
    }
}

fn not_a_number<T: Real>(values: &mut [T]) {
    let nan = T::constant(f64::NAN);
    values.fill(nan * nan);
}

impl Node for ForwardDynamics {
    type Solution = ForwardDynamicsSolution;
    type Workspace<T: Real> = ForwardDynamicsWorkspace<T>;
    type Factor<T: Real> = ForwardDynamicsFactor<T>;

    fn primal<T: Real>(
        &self,
        inputs: &[T],
        outputs: &mut [T],
        solution: &mut ForwardDynamicsSolution,
        at: &mut ForwardDynamicsWorkspace<T>,
    ) {
        let model = &*self.model;
        let (nq, nv) = (model.nq(), model.nv());
        let found = match outputs.len() == nv && at.read(model, inputs) {
            true => forward_dynamics(
                model,
                &at.parameters,
                &at.kinematics,
                &inputs[nq + nv..nq + 2 * nv],
                None,
                &mut at.aba,
                outputs,
            ),
            false => Err(FactorError::Shape),
        };
        solution.failure = found.err();
        if solution.failure.is_some() {
            not_a_number(outputs);
        }
    }

    // M a + bias - forces
    fn residual<T: Real>(
        &self,
        solution: &ForwardDynamicsSolution,
        inputs: &[T],
        outputs: &[T],
        residual: &mut [T],
    ) {
        let model = &*self.model;
        let (nq, nv) = (model.nq(), model.nv());
        let mut at = ForwardDynamicsWorkspace::default();
        if solution.failure.is_some() || !at.read(model, inputs) {
            not_a_number(residual);
            return;
        }
        let mut rnea = Rnea::default();
        inverse_dynamics(model, &at.parameters, &at.kinematics, outputs, &mut rnea, residual);
        for (residual, &force) in residual.iter_mut().zip(&inputs[nq + nv..]) {
            *residual -= force;
        }
    }

    fn factor<T: Real>(
        &self,
        solution: &ForwardDynamicsSolution,
        inputs: &[T],
        _: &[T],
        factor: &mut ForwardDynamicsFactor<T>,
    ) {
        let model = &*self.model;
        let ForwardDynamicsFactor { at, mass, matrix, crba, failed, .. } = factor;
        *failed = solution.failure.is_some() || !at.read(model, inputs);
        if !*failed {
            mass_matrix(model, &at.parameters, &at.kinematics, crba, matrix);
            *failed = mass.factor(matrix, None).is_err();
        }
    }

    // da = M^-1 (d forces - d(inverse dynamics))
    fn jvp<T: Real>(
        &self,
        _: &ForwardDynamicsSolution,
        factor: &mut ForwardDynamicsFactor<T>,
        _: &[T],
        outputs: &[T],
        input_tangents: &[T],
        output_tangents: &mut [T],
    ) {
        let ForwardDynamicsFactor { at, mass, tangent, change, failed, zeros, dq, .. } = factor;
        if *failed {
            not_a_number(output_tangents);
            return;
        }
        let model = &*self.model;
        let (nq, nv) = (model.nq(), model.nv());
        change.values.clear();
        change.values.extend_from_slice(&input_tangents[nq + 2 * nv..]);
        zeros.clear();
        zeros.resize(nv, T::zero());
        dq.clear();
        for body in &model.bodies {
            let Some(joint) = body.joint.kind.coordinates() else { continue };
            let q = &at.state.q[body.joint.q..];
            let t = &input_tangents[body.joint.q..];
            match joint.quaternion() {
                Some((first, _)) => {
                    dq.extend_from_slice(&t[..first]);
                    dq.extend(turn_of(&q[first..], &t[first..]).iter());
                }
                None => dq.push(t[0]),
            }
        }
        let direction =
            Direction { dq, dv: &input_tangents[nq..nq + nv], da: zeros, parameters: change };
        inverse_dynamics_jvp(
            model,
            &at.parameters,
            &at.kinematics,
            outputs,
            direction,
            tangent,
            output_tangents,
        );
        for (out, &force) in output_tangents.iter_mut().zip(&input_tangents[nq + nv..]) {
            *out = force - *out;
        }
        mass.solve(output_tangents);
    }

    // With u = M^-1 (adjoints of a): u for the forces, and the gradient of -u . (inverse dynamics).
    fn vjp<T: Real>(
        &self,
        _: &ForwardDynamicsSolution,
        factor: &mut ForwardDynamicsFactor<T>,
        _: &[T],
        outputs: &[T],
        output_adjoints: &[T],
        input_adjoints: &mut [T],
    ) {
        let ForwardDynamicsFactor { at, mass, adjoint, failed, zeros, dq, sum, .. } = factor;
        if *failed {
            not_a_number(input_adjoints);
            return;
        }
        let model = &*self.model;
        let (nq, nv) = (model.nq(), model.nv());
        sum.clear();
        sum.extend_from_slice(output_adjoints);
        mass.solve(sum);
        let (to_q, rest) = input_adjoints.split_at_mut(nq);
        let (to_v, rest) = rest.split_at_mut(nv);
        let (to_forces, to_parameters) = rest.split_at_mut(nv);
        for (to, u) in to_forces.iter_mut().zip(sum) {
            *to += *u;
            *u = -*u;
        }
        for buffer in [&mut *dq, &mut *zeros] {
            buffer.clear();
            buffer.resize(nv, T::zero());
        }
        // The gradient in the accelerations, M u, is not asked for.
        let gradient = Gradient { q: dq, v: to_v, a: zeros, parameters: to_parameters };
        inverse_dynamics_vjp(
            model,
            &at.parameters,
            &at.kinematics,
            outputs,
            &factor.sum,
            adjoint,
            gradient,
        );
        for body in &model.bodies {
            let joint = &body.joint;
            let Some(coordinates) = joint.kind.coordinates() else { continue };
            let to = &mut to_q[joint.q..joint.q + coordinates.nq()];
            let (first, turn) = coordinates.quaternion().unwrap_or((1, 0));
            for (to, &dq) in to[..first].iter_mut().zip(&factor.dq[joint.v..]) {
                *to += dq;
            }
            if first < coordinates.nq() {
                // The transpose of the rotation vector's 2 conj(q) dq.
                let q = &at.state.q[joint.q + first..];
                let dq = &factor.dq[joint.v + turn..];
                let w = Vector3::new(dq[0], dq[1], dq[2]);
                let moved = product([q[0], q[1], q[2], q[3]], [T::zero(), w.x, w.y, w.z]);
                for (to, moved) in to[first..].iter_mut().zip(moved) {
                    *to += moved + moved;
                }
            }
        }
    }
}
