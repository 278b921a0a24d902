//! How velocities without contact change with the state and what acts, tree by tree, by the integrators that are not the
//! default.
//!
//! By `Implicit` a = (v_p - v) / dt solves S a = tau - h - D v, S = M + dt (D + dh/dv). So S da is the change of
//! tau - h - D v - M a - dt (dh/dv) a at fixed a. As h is of second degree in v, dt (dh/dv) a is half of h(v + dt a) - h(v - dt a).
//! For `RungeKutta` see [`runge_kutta_stages`](super::runge_kutta_stages).

use super::displacement::Point;
use super::runge_kutta_stages::Stages;
use super::tree_change::TreeChange;
use crate::dynamics::{
    AppliedForceDerivatives, FreeMotion, InverseDynamicsDerivatives, Kinematics, damping,
    inverse_dynamics_derivatives,
};
use crate::linalg::{Lu, add_scaled};
use crate::model::{Integrator, System};
use crate::state::State;

/// The changes of all trees that are no lone bodies.
#[derive(Default)]
pub(super) struct FreeVelocities {
    trees: Vec<TreeChange>,
    /// (v_p - v) / dt.
    acceleration: Vec<f64>,
    damping: Vec<f64>,
    inverse: InverseDynamicsDerivatives<f64>,
    linear: LinearlyImplicit,
    stages: Stages,
}

impl FreeVelocities {
    /// Finds the changes, with the `inverse` dynamics at (v+ - v) / dt. False if a tree has none.
    #[must_use]
    pub fn update(
        &mut self,
        at: &Point,
        motion: &FreeMotion<f64>,
        inverse: &InverseDynamicsDerivatives<f64>,
    ) -> bool {
        let System { model, parameters, settings } = *at.system;
        self.start(at, motion);
        let implicit = settings.integrator == Integrator::Implicit;
        let acceleration = &self.acceleration;
        let found = if implicit {
            damping(model, parameters, at.state, at.inputs, true, &mut self.damping);
            self.linear.update(at, motion, (acceleration, &self.damping), &mut self.trees)
        } else {
            self.damping.clear();
            self.damping.resize(model.nv(), 0.0);
            let kinematics = &motion.articulation.kinematics;
            let own = &mut self.inverse;
            inverse_dynamics_derivatives(model, parameters, kinematics, acceleration, own);
            self.stages.update(at, motion, &mut self.trees)
        };
        for (index, change) in self.trees.iter_mut().enumerate() {
            let (dt, n, columns) =
                (motion.duration(index), change.velocities.len(), change.columns());
            let masses = motion.articulation.masses().block(index).1;
            let at_end = inverse.dq.block(index).1;
            let free = |entry: usize| match implicit {
                true => self.linear.inverse[0].dq.block(index).1[entry],
                false => self.inverse.dq.block(index).1[entry],
            };
            let TreeChange { momenta, v, velocities, .. } = change;
            momenta.clear();
            momenta.resize(n * columns, 0.0);
            for (i, row) in momenta.chunks_exact_mut(columns.max(1)).enumerate() {
                for (k, v) in v.chunks_exact(columns).enumerate() {
                    let damped = if i == k { dt * self.damping[velocities.start + i] } else { 0.0 };
                    add_scaled(row, masses[i * n + k] + damped, v);
                }
                for (k, x) in row[..n].iter_mut().enumerate() {
                    *x -= dt * (at_end[i * n + k] - free(i * n + k));
                }
            }
        }
        found
    }

    fn start(&mut self, at: &Point, motion: &FreeMotion<f64>) {
        let model = at.system.model;
        self.trees.resize_with(model.trees.len(), TreeChange::default);
        self.acceleration.clear();
        self.acceleration.resize(model.nv(), 0.0);
        for (index, change) in self.trees.iter_mut().enumerate() {
            change.start(model, index);
            let (dt, free) = (motion.duration(index), motion.tree(index).free_velocity);
            for (k, free) in change.velocities.clone().zip(free) {
                self.acceleration[k] = (free - at.state.v[k]) / dt;
            }
        }
    }

    /// The change of a tree.
    pub fn of(&self, tree: usize) -> &TreeChange {
        &self.trees[tree]
    }
}

/// The linearly implicit step.
#[derive(Default)]
struct LinearlyImplicit {
    state: State<f64>,
    kinematics: Kinematics<f64>,
    still: Vec<f64>,
    /// At v and a, and without accelerations at v + dt a and v - dt a.
    inverse: [InverseDynamicsDerivatives<f64>; 3],
    forces: AppliedForceDerivatives<f64>,
    /// D of the joints, without motors.
    damping: Vec<f64>,
    system: Vec<f64>,
    lu: Lu<f64>,
    units: [Vec<f64>; 2],
    right: Vec<f64>,
}

impl LinearlyImplicit {
    fn update(
        &mut self,
        at: &Point,
        motion: &FreeMotion<f64>,
        (acceleration, damped): (&[f64], &[f64]),
        trees: &mut [TreeChange],
    ) -> bool {
        let System { model, parameters, .. } = *at.system;
        self.forces.update(model, parameters, at.state, at.inputs);
        damping(model, parameters, at.state, at.inputs, false, &mut self.damping);
        let [own, ahead, behind] = &mut self.inverse;
        let kinematics = &motion.articulation.kinematics;
        inverse_dynamics_derivatives(model, parameters, kinematics, acceleration, own);
        let dt = model.trees.iter().position(|tree| !tree.lone);
        let dt = dt.map_or(0.0, |tree| motion.duration(tree));
        self.still.resize(model.nv(), 0.0);
        at.state.cast_into(&mut self.state);
        for (dt, own) in [(dt, ahead), (-dt, behind)] {
            self.state.v.clone_from(&at.state.v);
            add_scaled(&mut self.state.v, dt, acceleration);
            self.kinematics.update(model, parameters, &self.state);
            inverse_dynamics_derivatives(model, parameters, &self.kinematics, &self.still, own);
        }
        for (index, change) in trees.iter_mut().enumerate() {
            let (dt, n) = (motion.duration(index), change.velocities.len());
            if n == 0 {
                continue;
            }
            let by_q = self.inverse.each_ref().map(|inverse| inverse.dq.block(index).1);
            let by_v = self.inverse.each_ref().map(|inverse| inverse.dv.block(index).1);
            let masses = motion.articulation.masses().block(index).1;
            self.system.clear();
            self.system.extend(masses.iter().zip(by_v[0]).map(|(m, rate)| m + dt * rate));
            for (i, k) in change.velocities.clone().enumerate() {
                self.system[i * (n + 1)] += dt * damped[k];
            }
            if !self.lu.factor(&self.system, n) {
                return false;
            }
            let [q, v] = &mut self.units;
            change.unit(0, q);
            change.unit(n, v);
            let slopes = [by_q, by_v].map(|[own, ahead, behind]| {
                move |entry: usize| own[entry] + 0.5 * (ahead[entry] - behind[entry])
            });
            let forces = (&self.forces, &self.damping[..]);
            change.forces(model, forces, slopes, [q, v], &mut self.right);
            self.lu.solve_rows(change.columns(), &mut self.right);
            change.v.clone_from(v);
            add_scaled(&mut change.v, dt, &self.right);
        }
        true
    }
}
