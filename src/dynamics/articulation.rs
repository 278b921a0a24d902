//! The trees that are more than one free body, over one step, without contact.
//!
//! With M the mass matrix (armature included), h the bias, tau the applied forces without damping, D the
//! damping:
//!
//! - `SemiImplicit`: v_p = v + dt (M + dt D)^-1 (tau - h - D v), which is Euler's method implicit
//!   in the damping. Impulses act through the same matrix M + dt D.
//! - `Implicit`: the same linearly implicit in all that depends on velocities,
//!   v_p = v + dt (M + dt D + dt dh/dv)^-1 (tau - h - D v), D with the gains of motors. Impulses act
//!   through its symmetric part without dh/dv.
//! - `ImplicitFast`: as `SemiImplicit`, D with the gains of motors.
//! - `RungeKutta`: v_p, and the state of trees that nothing acts on, by [`runge_kutta`].
//! - `Bdf1`, `Bdf2`: first as `ImplicitFast`, and then as an [implicit step](super::implicit_momentum) has it, linearised where it
//!   [stands](Articulation::follow).

use std::ops::Range;

use nalgebra::Vector3;

use super::applied_forces::{applied_forces, damping};
use super::{
    BlockDiagonal, BodyPose, BodySpeed, Crba, ImplicitTangent, InverseDynamicsDerivatives,
    Kinematics, MassMatrix, Rnea, RungeKutta, StateForces, TreeMotion, bias,
    inverse_dynamics_derivatives, mass_matrix, runge_kutta,
};
use crate::ad::Real;
use crate::linalg::{LuSolution, Solve, cholesky, norm, solve_lower, solve_lower_transpose};
use crate::model::{Integrator, Model, System};
use crate::spatial::Force;
use crate::state::State;

/// All such trees at the start of a step, and their velocities at its end if nothing touches them. Reused,
/// it allocates nothing.
pub struct Articulation<T: Real> {
    /// Poses, velocities, axes.
    pub kinematics: Kinematics<T>,
    crba: Crba<T>,
    mass: MassMatrix<T>,
    blocks: BlockDiagonal<T>,
    rnea: Rnea<T>,
    bias: Vec<T>,
    forces: Vec<T>,
    damping: Vec<T>,
    velocity: Vec<T>,
    free_velocity: Vec<T>,
    /// L of each tree, row-major, and where it starts.
    factor: Vec<T>,
    starts: Vec<usize>,
    admissible: Vec<bool>,
    /// L as it was before an implicit step was followed; empty where none was.
    start_factor: Vec<T>,
    /// S of each tree by implicit steps, as [`TreeMotion::rest`] has it.
    rest: Vec<f64>,
    duration: T,
    /// Speeds of the centres of mass of all bodies, and angular ones, without contact.
    speeds: Vec<BodySpeed>,
    derivatives: InverseDynamicsDerivatives<T>,
    system: Vec<T>,
    solution: LuSolution,
    workspace: T::Workspace<Solve>,
    runge_kutta: RungeKutta<T>,
    smooth: State<T>,
    integrator: Integrator,
}

impl<T: Real> Default for Articulation<T> {
    fn default() -> Self {
        Articulation {
            kinematics: Kinematics::default(),
            crba: Crba::default(),
            mass: MassMatrix::default(),
            blocks: BlockDiagonal::default(),
            rnea: Rnea::default(),
            bias: Vec::new(),
            forces: Vec::new(),
            damping: Vec::new(),
            velocity: Vec::new(),
            free_velocity: Vec::new(),
            factor: Vec::new(),
            starts: Vec::new(),
            admissible: Vec::new(),
            start_factor: Vec::new(),
            rest: Vec::new(),
            duration: T::zero(),
            speeds: Vec::new(),
            derivatives: InverseDynamicsDerivatives::default(),
            system: Vec::new(),
            solution: LuSolution::default(),
            workspace: Default::default(),
            runge_kutta: RungeKutta::default(),
            smooth: State::default(),
            integrator: Integrator::default(),
        }
    }
}

impl<T: Real> Articulation<T> {
    pub(super) fn start(
        &mut self,
        system: &System<T>,
        state: &State<T>,
        inputs: &[T],
        duration: T,
        of_state: &mut StateForces<T>,
    ) {
        let System { model, parameters, settings } = *system;
        let nv = model.nv();
        self.duration = duration;
        self.integrator = settings.integrator;
        self.kinematics.update(model, parameters, state);
        mass_matrix(model, parameters, &self.kinematics, &mut self.crba, &mut self.mass);
        self.mass.blocks(model, &mut self.blocks);
        self.bias.resize(nv, T::zero());
        bias(parameters, &self.kinematics, &mut self.rnea, &mut self.bias);
        self.forces.resize(nv, T::zero());
        applied_forces(model, parameters, state, inputs, &mut self.forces);
        self.velocity.clone_from(&state.v);
        self.free_velocity.clone_from(&state.v);
        let motors = self.integrator.damps_by_motors();
        damping(model, parameters, state, inputs, motors, &mut self.damping);
        if self.integrator == Integrator::RungeKutta {
            self.damping.fill(T::zero());
        } else {
            for (k, &own) in of_state.damping.iter().enumerate() {
                self.forces[k] -= own * state.v[k];
                self.damping[k] += own;
            }
        }
        self.factor.clear();
        self.start_factor.clear();
        self.rest.clear();
        self.starts.clear();
        self.admissible.clear();
        for (index, tree) in model.trees.iter().enumerate() {
            self.starts.push(self.factor.len());
            self.admissible.push(true);
            if !tree.lone {
                self.factor_tree(index, duration);
            }
        }
        match self.integrator {
            Integrator::SemiImplicit
            | Integrator::ImplicitFast
            | Integrator::Bdf1
            | Integrator::Bdf2 => self.semi_implicit(model),
            Integrator::Implicit => self.implicit(system),
            Integrator::RungeKutta => self.runge_kutta(system, state, inputs, of_state),
        }
        self.find_speeds(system);
    }

    /// L L' = M + dt D of a tree.
    fn factor_tree(&mut self, tree: usize, duration: T) {
        let (range, block) = self.blocks.block(tree);
        let n = range.len();
        let start = self.factor.len();
        self.factor.extend_from_slice(block);
        let factor = &mut self.factor[start..];
        for (i, k) in range.enumerate() {
            factor[i * n + i] += self.damping[k] * duration;
            factor[i * n + i + 1..(i + 1) * n].fill(T::zero());
        }
        if !cholesky(factor, n) {
            // Said so by `admissible`; what is computed with it stays finite.
            self.admissible[tree] = false;
            factor.fill(T::zero());
            (0..n).for_each(|i| factor[i * n + i] = T::one());
        }
    }

    fn semi_implicit(&mut self, model: &Model) {
        for (index, tree) in model.trees.iter().enumerate() {
            if tree.lone || !self.admissible[index] {
                continue;
            }
            let n = tree.v.len();
            let factor = &self.factor[self.starts[index]..self.starts[index] + n * n];
            let change = &mut self.forces[tree.v.clone()];
            for (change, &bias) in change.iter_mut().zip(&self.bias[tree.v.clone()]) {
                *change -= bias;
            }
            solve_lower(factor, n, change);
            solve_lower_transpose(factor, n, change);
            for (v, &a) in self.free_velocity[tree.v.clone()].iter_mut().zip(&*change) {
                *v += a * self.duration;
            }
        }
    }

    fn implicit(&mut self, system: &System<T>) {
        let model = system.model;
        // dh/dv does not depend on accelerations.
        self.bias.iter_mut().zip(&self.forces).for_each(|(bias, &force)| *bias = force - *bias);
        self.forces.fill(T::zero());
        inverse_dynamics_derivatives(
            model,
            system.parameters,
            &self.kinematics,
            &self.forces,
            &mut self.derivatives,
        );
        for (index, tree) in model.trees.iter().enumerate() {
            if tree.lone || !self.admissible[index] {
                continue;
            }
            let n = tree.v.len();
            let (_, masses) = self.blocks.block(index);
            let (_, rates) = self.derivatives.dv.block(index);
            self.system.clear();
            let entries = masses.iter().zip(rates);
            self.system.extend(entries.map(|(&m, &rate)| m + rate * self.duration));
            for (i, k) in tree.v.clone().enumerate() {
                self.system[i * n + i] += self.damping[k] * self.duration;
            }
            self.system.extend_from_slice(&self.bias[tree.v.clone()]);
            let solve = Solve { n, columns: 1 };
            let change = &mut self.forces[tree.v.clone()];
            T::call(&solve, &self.system, change, &mut self.solution, &mut self.workspace);
            if self.solution.failure.is_some() {
                self.admissible[index] = false;
                continue;
            }
            for (v, &a) in self.free_velocity[tree.v.clone()].iter_mut().zip(&*change) {
                *v += a * self.duration;
            }
        }
    }

    fn runge_kutta(
        &mut self,
        system: &System<T>,
        state: &State<T>,
        inputs: &[T],
        of_state: &mut StateForces<T>,
    ) {
        let System { model, parameters, .. } = *system;
        let forces = |state: &State<T>, forces: &mut [T]| {
            applied_forces(model, parameters, state, inputs, forces);
            of_state.update(model, parameters, state, inputs, T::zero());
            of_state.act(forces);
        };
        let (dt, scratch) = (self.duration, &mut self.runge_kutta);
        match runge_kutta(model, parameters, state, dt, forces, scratch, &mut self.smooth) {
            Ok(()) => self.free_velocity.clone_from(&self.smooth.v),
            Err(_) => {
                self.admissible.fill(false);
                self.smooth.q.clone_from(&state.q);
                self.smooth.v.clone_from(&state.v);
            }
        }
    }

    /// Takes the momentum `residual` R of an implicit step at the velocities `velocity`, both of all trees, where its values are those of
    /// `tangent`: what nothing touches goes by R + G (v_p - v) = 0, and v_p of the others is what they would go at by L L' alone.
    pub(super) fn follow(
        &mut self,
        model: &Model,
        tangent: &ImplicitTangent,
        (velocity, residual): (&[T], &[T]),
    ) {
        if self.start_factor.is_empty() {
            self.start_factor.clone_from(&self.factor);
        }
        self.rest.clear();
        self.rest.resize(self.factor.len(), 0.0);
        for (index, tree) in model.trees.iter().enumerate() {
            let n = tree.v.len();
            if tree.lone || !self.admissible[index] {
                continue;
            }
            let square = self.starts[index]..self.starts[index] + n * n;
            let factor = &mut self.factor[square.clone()];
            for (to, &l) in factor.iter_mut().zip(tangent.mass_factor(index)) {
                *to = T::constant(l);
            }
            let rest = tangent.rest(index);
            self.rest[square].copy_from_slice(rest);
            let (v, r) = (&velocity[tree.v.clone()], &residual[tree.v.clone()]);
            let free = &mut self.free_velocity[tree.v.clone()];
            if !tangent.touched[index] {
                let rows = tangent.inverse(index).chunks_exact(n);
                for ((free, &v), row) in free.iter_mut().zip(v).zip(rows) {
                    *free = row.iter().zip(r).fold(v, |sum, (&g, &r)| sum - r * g);
                }
                continue;
            }
            // What S does to changes of v+ is left to the contact problem.
            let change = &mut self.forces[tree.v.clone()];
            for ((change, &r), row) in change.iter_mut().zip(r).zip(rest.chunks_exact(n)) {
                let moved = v.iter().map(|&v| v - T::constant(v.value()));
                *change = moved.zip(row).fold(r, |sum, (v, &s)| sum - v * s);
            }
            solve_lower(factor, n, change);
            solve_lower_transpose(factor, n, change);
            for ((free, &v), &change) in free.iter_mut().zip(v).zip(&*change) {
                *free = v - change;
            }
        }
    }

    /// How fast bodies go without contact.
    fn find_speeds(&mut self, system: &System<T>) {
        let mut speeds = std::mem::take(&mut self.speeds);
        speeds.clear();
        let bodies = 0..system.model.bodies.len();
        speeds.extend(bodies.map(|body| self.speed_of(system, body, &self.free_velocity)));
        self.speeds = speeds;
    }

    /// How fast a body goes at some velocities of all trees.
    pub(super) fn speed_of(&self, system: &System<T>, index: usize, velocities: &[T]) -> BodySpeed {
        let body = &self.kinematics.bodies[index];
        let center = system.parameters.center_of_mass(system.model, index);
        let at = (body.position - body.origin + body.rotation * center).map(|x| x.value());
        let (mut linear, mut angular) = (Vector3::zeros(), Vector3::zeros());
        for &k in self.kinematics.path(index) {
            let motion = &self.kinematics.axes[k].motion;
            let (v, w) = (motion.linear, motion.angular);
            let rate = velocities[k].value();
            linear += v.map(|x| x.value()) * rate;
            angular += w.map(|x| x.value()) * rate;
        }
        let linear = linear + angular.cross(&at);
        BodySpeed {
            linear: norm(linear.as_slice()),
            angular: norm(angular.as_slice()),
            velocity: Some([linear, angular]),
        }
    }

    /// Everything stays where it is if nothing touches it.
    pub(super) fn rest(&mut self) {
        self.free_velocity.fill(T::zero());
    }

    pub(super) fn pose(&self, system: &System<T>, body: usize, tree: usize) -> BodyPose<T> {
        let found = &self.kinematics.bodies[body];
        BodyPose {
            rotation: found.rotation,
            position: found.position,
            center_of_mass: system.parameters.center_of_mass(system.model, body),
            tree: Some(tree),
            speed: self.speeds[body],
        }
    }

    pub(super) fn motion(&self, tree: usize, range: Range<usize>) -> TreeMotion<'_, T> {
        let start = self.starts[tree];
        let square = start..start + range.len() * range.len();
        let mass_factor = &self.factor[square.clone()];
        TreeMotion {
            velocity: &self.velocity[range.clone()],
            free_velocity: &self.free_velocity[range.clone()],
            mass_factor,
            duration: self.duration,
            start_factor: self.start_factor.get(square.clone()).unwrap_or(mass_factor),
            rest: self.rest.get(square).unwrap_or_default(),
        }
    }

    /// Adds M of a tree to `inertia`, row-major.
    pub(super) fn push_inertia(&self, tree: usize, inertia: &mut Vec<T>) {
        inertia.extend_from_slice(self.blocks.block(tree).1);
    }

    /// Copies what derivatives of the step need of another one.
    pub(super) fn keep(&mut self, other: &Articulation<T>) {
        self.kinematics.clone_from(&other.kinematics);
        self.velocity.clone_from(&other.velocity);
        self.free_velocity.clone_from(&other.free_velocity);
        self.factor.clone_from(&other.factor);
        self.start_factor.clone_from(&other.start_factor);
        self.rest.clone_from(&other.rest);
        self.blocks.clone_from(&other.blocks);
        self.starts.clone_from(&other.starts);
        self.admissible.clone_from(&other.admissible);
        // Where trees that nothing acts on come to; nothing by other integrators.
        self.smooth.q.clone_from(&other.smooth.q);
        self.smooth.v.clone_from(&other.smooth.v);
        (self.duration, self.integrator) = (other.duration, other.integrator);
    }

    /// The mass matrix without damping, with armature.
    pub fn masses(&self) -> &BlockDiagonal<T> {
        &self.blocks
    }

    pub(super) fn is_admissible(&self, tree: usize) -> bool {
        self.admissible[tree]
    }

    /// Adds the row of a point at `arm` from the centre of mass of a body along a direction of the world.
    pub(super) fn add_row(
        &self,
        pose: &BodyPose<T>,
        body: usize,
        (arm, direction): (Vector3<T>, Vector3<T>),
        (first, sign): (usize, f64),
        row: &mut [T],
    ) {
        let at = pose.position + pose.rotation * (pose.center_of_mass + arm);
        let force = Force::at(direction, &(at - self.kinematics.bodies[body].origin));
        self.add(body, &force, first, sign, row);
    }

    /// Adds the row of how fast a body turns about a direction of the world.
    pub(super) fn add_turn(
        &self,
        body: usize,
        direction: Vector3<T>,
        (first, sign): (usize, f64),
        row: &mut [T],
    ) {
        let torque = Force { linear: Vector3::zeros(), angular: direction };
        self.add(body, &torque, first, sign, row);
    }

    fn add(&self, body: usize, force: &Force<T>, first: usize, sign: f64, row: &mut [T]) {
        for &k in self.kinematics.path(body) {
            let x = self.kinematics.axes[k].motion.dot(force);
            row[k - first] += if sign < 0.0 { -x } else { x };
        }
    }

    pub(super) fn advance(
        &self,
        model: &Model,
        tree: usize,
        velocity: &[T],
        untouched: bool,
        next: &mut State<T>,
    ) {
        let tree = &model.trees[tree];
        if untouched && self.integrator == Integrator::RungeKutta {
            next.q[tree.q.clone()].copy_from_slice(&self.smooth.q[tree.q.clone()]);
            next.v[tree.v.clone()].copy_from_slice(&self.smooth.v[tree.v.clone()]);
            return;
        }
        let mut dq = [T::zero(); 6];
        for &body in &tree.bodies {
            let joint = &model.bodies[body].joint;
            let Some(coordinates) = joint.kind.coordinates() else { continue };
            let own = &velocity[joint.v - tree.v.start..][..coordinates.nv()];
            for (dq, &v) in dq.iter_mut().zip(own) {
                *dq = v * self.duration;
            }
            let q = &mut next.q[joint.q..joint.q + coordinates.nq()];
            coordinates.advance(q, &dq[..own.len()]);
        }
        next.v[tree.v.clone()].copy_from_slice(velocity);
    }
}
