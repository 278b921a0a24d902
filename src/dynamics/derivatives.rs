//! Derivatives of inverse and forward dynamics by recursion over the trees (`Carpentier18`, `Singh22`).
//!
//! The subtree of a joint that moves by S moves along with it: all its vectors change by S x. The rest of the
//! change is the same for all bodies of the subtree: it depends on the velocity and acceleration of the frame
//! that the joint moves against. So a column of the Jacobian is the force of one composite body.
//!
//! The axes of the translations of a free joint do not move along, but are fixed in the world. There the joint
//! counts as one that moves against a frame which has these translations already.

use super::coriolis::Coriolis;
use super::links::{Link, NONE};
use super::{BlockDiagonal, BodyKinematics, Kinematics, MassFactor, MassMatrix};
use crate::ad::Real;
use crate::linalg::FactorError;
use crate::model::{Model, Parameters};
use crate::spatial::{Force, Inertia, Motion};

/// Jacobians of [`inverse_dynamics`](super::inverse_dynamics), with their scratch memory.
#[derive(Clone, Debug, Default)]
pub struct InverseDynamicsDerivatives<T> {
    /// d forces / d q, by the tangent vector of [`State::moved`](crate::state::State::moved).
    pub dq: BlockDiagonal<T>,
    /// d forces / d v.
    pub dv: BlockDiagonal<T>,
    /// d forces / d acceleration: the mass matrix, with the armature.
    pub mass_matrix: MassMatrix<T>,
    acceleration: Vec<Motion<T>>,
    composite: Vec<Composite<T>>,
    columns: Vec<Column<T>>,
}

/// A body with all that hang on it.
#[derive(Clone, Copy, Debug)]
struct Composite<T> {
    inertia: Inertia<T>,
    coriolis: Coriolis<T>,
    force: Force<T>,
}

/// How velocity (`rate`) and acceleration of the bodies below change with a configuration number, apart
/// from moving along with the joint; and how their acceleration changes with its velocity.
#[derive(Clone, Copy, Debug)]
struct Column<T> {
    rate: Motion<T>,
    acceleration: Motion<T>,
    by_velocity: Motion<T>,
}

/// Jacobians of [`forward_dynamics`](super::forward_dynamics), with their scratch memory.
#[derive(Clone, Debug, Default)]
pub struct ForwardDynamicsDerivatives<T> {
    /// d acceleration / d q, by the tangent vector of [`State::moved`](crate::state::State::moved).
    pub dq: BlockDiagonal<T>,
    /// d acceleration / d v.
    pub dv: BlockDiagonal<T>,
    /// d acceleration / d forces: the inverse of the mass matrix.
    pub dforces: BlockDiagonal<T>,
    /// The Jacobians of the inverse dynamics at the same accelerations.
    pub inverse: InverseDynamicsDerivatives<T>,
    /// The factor of the mass matrix.
    pub factor: MassFactor<T>,
    columns: Vec<T>,
}

/// Velocity and acceleration of the frame that the axes of a joint, but for fixed ones, move against.
#[inline]
pub(super) fn base<T: Real>(
    kinematics: &Kinematics<T>,
    body: &BodyKinematics<T>,
    link: &Link,
    above: Motion<T>,
    acceleration: &[T],
) -> (Motion<T>, Motion<T>) {
    let velocity = match link.parent {
        NONE => Motion::zero(),
        parent => kinematics.bodies[parent].velocity,
    };
    if link.fixed_axes == 0 {
        return (velocity, above);
    }
    let mut accelerated = above;
    for (axis, &a) in kinematics.axes[link.fixed()].iter().zip(&acceleration[link.fixed()]) {
        accelerated += axis.motion * a;
    }
    let translation = body.velocity.at(&(body.position - body.origin));
    (Motion::translation(translation), accelerated)
}

/// The Jacobians of [`inverse_dynamics`](super::inverse_dynamics) at the accelerations
/// `acceleration`.
pub fn inverse_dynamics_derivatives<T: Real>(
    model: &Model,
    parameters: &Parameters<T>,
    kinematics: &Kinematics<T>,
    acceleration: &[T],
    derivatives: &mut InverseDynamicsDerivatives<T>,
) {
    let links = &kinematics.links;
    let InverseDynamicsDerivatives {
        dq,
        dv,
        mass_matrix,
        acceleration: spatial,
        composite,
        columns,
    } = derivatives;
    dq.fit(model);
    dv.fit(model);
    mass_matrix.fit(links);
    spatial.clear();
    composite.clear();
    columns.clear();
    let gravity = Motion::translation(parameters.gravity());
    for (body, link) in kinematics.bodies.iter().zip(&links.bodies) {
        let above = if link.parent == NONE { -gravity } else { spatial[link.parent] };
        let (velocity, accelerated) = base(kinematics, body, link, above, acceleration);
        let mut a = above + body.bias_acceleration;
        if link.parent != NONE {
            a -= kinematics.bodies[link.parent].bias_acceleration;
        }
        for k in link.range() {
            let axis = &kinematics.axes[k];
            a += axis.motion * acceleration[k];
            let rate = velocity.cross(&axis.motion);
            columns.push(Column {
                rate,
                acceleration: accelerated.cross(&axis.motion) + velocity.cross(&rate),
                by_velocity: axis.rate + rate,
            });
        }
        spatial.push(a);
        composite.push(Composite {
            inertia: body.inertia,
            coriolis: Coriolis::new(body),
            force: body.inertia_force(&a),
        });
    }
    for (index, link) in links.bodies.iter().enumerate().rev() {
        let own = composite[index];
        if link.parent != NONE {
            let parent = &mut composite[link.parent];
            parent.inertia += own.inertia;
            parent.coriolis.add(&own.coriolis);
            parent.force += own.force;
        }
        let Some(tree) = model.bodies[index].tree.filter(|_| link.nv > 0) else { continue };
        let (range, by_q) = dq.block_mut(tree);
        let (_, by_v) = dv.block_mut(tree);
        let (first, width) = (range.start, range.len());
        let Composite { inertia, coriolis, force } = own;
        let armature = parameters.armature(model, index);
        let traces = (3.0 * inertia.mass.value(), inertia.rotational.trace().value());
        for j in link.range() {
            let axis = &kinematics.axes[j].motion;
            let column = &columns[j];
            // Column j: forces on the axes that all these bodies hang on. Row j: transposed.
            let carried = axis.cross_force(&force);
            let moved = inertia * column.acceleration + coriolis.twice(&column.rate);
            let total = moved + carried;
            let driven = inertia * column.by_velocity + coriolis.twice(axis);
            let row = inertia * *axis;
            let turned = coriolis.twice_transposed(axis);
            let (start, path) = (links.start[j], links.path(j));
            let masses = &mut mass_matrix.values[start..];
            let row_start = (j - first) * width;
            for (t, &k) in path.iter().enumerate() {
                let (other, above) = (&kinematics.axes[k].motion, &columns[k]);
                let mut by_row = above.acceleration.dot(&row) + above.rate.angular.dot(&turned);
                let by_column = if k >= link.v {
                    // Velocities of the same joint: axes fixed in the world do not move along.
                    if j < link.v + link.fixed_axes {
                        by_row += axis.dot(&other.cross_force(&force));
                    }
                    let fixed = k < link.v + link.fixed_axes;
                    other.dot(if fixed { &total } else { &moved })
                } else {
                    other.dot(&total)
                };
                by_q[row_start + k - first] = by_row;
                by_q[(k - first) * width + j - first] = by_column;
                by_v[row_start + k - first] =
                    above.by_velocity.dot(&row) + other.angular.dot(&turned);
                by_v[(k - first) * width + j - first] = other.dot(&driven);
                masses[t] = other.dot(&row);
            }
            masses[0] += armature;
            mass_matrix.magnitude[j] = axis.magnitude(traces) + armature.value();
        }
    }
}

/// The Jacobians of [`forward_dynamics`](super::forward_dynamics) with its result `acceleration` and its
/// `diagonal`: da = -M^-1 d(inverse dynamics).
///
/// # Errors
/// [`FactorError::Pivot`] with the velocity that has no inertia.
pub fn forward_dynamics_derivatives<T: Real>(
    model: &Model,
    parameters: &Parameters<T>,
    kinematics: &Kinematics<T>,
    acceleration: &[T],
    diagonal: Option<&[T]>,
    derivatives: &mut ForwardDynamicsDerivatives<T>,
) -> Result<(), FactorError> {
    let ForwardDynamicsDerivatives { dq, dv, dforces, inverse, factor, columns } = derivatives;
    inverse_dynamics_derivatives(model, parameters, kinematics, acceleration, inverse);
    factor.factor(&inverse.mass_matrix, diagonal)?;
    dq.fit(model);
    dv.fit(model);
    dforces.fit(model);
    for tree in 0..dq.trees() {
        // Side by side, so that the factor is gone through once: [d / dq, d / dv, -1].
        let (range, by_q) = inverse.dq.block(tree);
        let (_, by_v) = inverse.dv.block(tree);
        let n = range.len();
        if n == 0 {
            continue;
        }
        columns.clear();
        for (i, (by_q, by_v)) in by_q.chunks_exact(n).zip(by_v.chunks_exact(n)).enumerate() {
            columns.extend_from_slice(by_q);
            columns.extend_from_slice(by_v);
            columns.resize((3 * i + 3) * n, T::zero());
            columns[(3 * i + 2) * n + i] = -T::one();
        }
        factor.solve_rows(range.start, 3 * n, columns);
        let blocks = [dq.block_mut(tree).1, dv.block_mut(tree).1, dforces.block_mut(tree).1];
        for (part, block) in blocks.into_iter().enumerate() {
            for (row, solved) in block.chunks_exact_mut(n).zip(columns.chunks_exact(3 * n)) {
                row.copy_from_slice(&solved[part * n..(part + 1) * n]);
            }
        }
    }
    Ok(())
}
