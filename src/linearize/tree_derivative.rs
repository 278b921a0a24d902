//! Derivatives of a step of one tree of bodies but for its constraints: of the momenta without contact, and of
//! the state at the end in the velocities there.

use std::ops::Range;

use nalgebra::{DMatrix, Matrix3, Vector3};

use super::displacement::Point;
use super::end_of_step::{EndOfStep, is_implicit};
use super::free_velocity::FreeVelocities;
use crate::dynamics::{
    AppliedForceDerivatives, BlockDiagonal, FreeBody, FreeBodyDerivatives, FreeBodyEnd, FreeMotion,
    InverseDynamicsDerivatives, add_motor_damping, inverse_dynamics_derivatives,
};
use crate::model::{Integrator, Joint, System};
use crate::spatial::{exp, left_jacobian, rotation_matrix};
use crate::state::Coordinates;

/// Columns of an island of trees, and its rows: q, then v of its trees, each with as many as there are
/// velocities; then the inputs that act on it.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    /// Of each tree of the model its first row, if it is in the island.
    pub first: Vec<Option<usize>>,
    /// The trees.
    pub trees: Vec<usize>,
    /// How many velocities.
    pub velocities: usize,
    /// Inputs, as places in what was selected.
    pub inputs: Vec<usize>,
    /// Of each column of q and v that of A.
    places: Vec<usize>,
}

impl Columns {
    pub fn start(&mut self, at: &Point, trees: impl IntoIterator<Item = usize>) {
        let model = at.system.model;
        self.first.clear();
        self.first.resize(model.trees.len(), None);
        self.trees.clear();
        self.velocities = 0;
        for tree in trees {
            self.first[tree] = Some(self.velocities);
            self.trees.push(tree);
            self.velocities += model.trees[tree].v.len();
        }
        let nv = model.nv();
        self.places.clear();
        for half in [0, nv] {
            for &tree in &self.trees {
                self.places.extend(model.trees[tree].v.clone().map(|k| half + k));
            }
        }
        self.inputs.clear();
        for (place, &input) in at.selection.inputs.iter().enumerate() {
            let tree = match input.checked_sub(model.nv()) {
                None => model.trees.iter().position(|tree| tree.v.contains(&input)),
                // What pushes and motors of tendons do comes afterwards.
                Some(control) => model.driven_tree(control),
            };
            if tree.is_some_and(|tree| self.first[tree].is_some()) {
                self.inputs.push(place);
            }
        }
    }

    /// Of each column of q and v that of A.
    pub fn places(&self) -> &[usize] {
        &self.places
    }

    /// How many columns.
    pub fn count(&self) -> usize {
        2 * self.velocities + self.inputs.len()
    }

    /// The column of A or B that column `c` is.
    fn of<'m>(&self, c: usize, a: &'m mut DMatrix<f64>, b: &'m mut DMatrix<f64>) -> &'m mut [f64] {
        let (matrix, index) = match self.places.get(c) {
            Some(&place) => (a, place),
            None => (b, self.inputs[c - self.places.len()]),
        };
        let rows = matrix.nrows();
        &mut matrix.as_mut_slice()[index * rows..(index + 1) * rows]
    }

    /// The rows of a tree of the island.
    pub fn rows(&self, system: &System<f64>, tree: usize) -> Range<usize> {
        let first = self.first[tree].unwrap_or(0);
        first..first + system.model.trees[tree].v.len()
    }
}

/// Scratch memory.
#[derive(Default)]
pub(super) struct TreeDerivatives {
    lone: Vec<Option<(FreeBodyDerivatives<f64>, FreeBodyEnd<f64>)>>,
    forces: AppliedForceDerivatives<f64>,
    acceleration: Vec<f64>,
    masses: BlockDiagonal<f64>,
    inverse: InverseDynamicsDerivatives<f64>,
    /// By `Implicit` and `RungeKutta`.
    free: FreeVelocities,
    /// The end of implicit steps.
    ending: EndOfStep,
}

/// Whether velocities without contact come from elsewhere than the inverse dynamics at the end.
fn has_own_integrator(at: &Point) -> bool {
    let own =
        matches!(at.system.settings.integrator, Integrator::Implicit | Integrator::RungeKutta);
    own && !at.closes
}

impl TreeDerivatives {
    /// Of all trees at the velocities `end` at the end of the step. False if a lone body has none.
    pub fn update(&mut self, at: &Point, motion: &FreeMotion<f64>, end: &[f64]) -> bool {
        let System { model, parameters, .. } = *at.system;
        self.lone.clear();
        for (index, tree) in model.trees.iter().enumerate() {
            let Some(free) = motion.lone_of(index) else {
                self.lone.push(None);
                continue;
            };
            let body = tree.bodies[0];
            let Some(ending) = free.end_derivatives(&end[tree.v.clone()]) else { return false };
            let inputs = if at.closes { at.inputs } else { &motion.inputs };
            let (mass, load) = (parameters.mass(model, body), &inputs[tree.v.clone()]);
            self.lone.push(Some((free.momentum_derivatives(mass, load), ending)));
        }
        if model.trees.iter().all(|tree| tree.lone) {
            return true;
        }
        if is_implicit(at) {
            return self.update_at_end(at, motion, end);
        }
        match at.closes {
            true => self.forces.clear(model),
            false => {
                self.forces.update(model, parameters, at.state, at.inputs);
                if at.system.settings.integrator == Integrator::ImplicitFast {
                    add_motor_damping(
                        model,
                        parameters,
                        at.state,
                        at.inputs,
                        &mut self.forces.by_v,
                    );
                }
            }
        }
        self.acceleration.clear();
        self.acceleration.resize(model.nv(), 0.0);
        for (index, tree) in model.trees.iter().enumerate().filter(|(_, tree)| !tree.lone) {
            let dt = motion.duration(index);
            for k in tree.v.clone() {
                self.acceleration[k] = (end[k] - at.state.v[k]) / dt;
            }
        }
        let (kinematics, acceleration) = (&motion.articulation.kinematics, &self.acceleration);
        inverse_dynamics_derivatives(
            model,
            parameters,
            kinematics,
            acceleration,
            &mut self.inverse,
        );
        !has_own_integrator(at) || self.free.update(at, motion, &self.inverse)
    }

    /// The same of an implicit step, whose momenta and forces are those at its end.
    fn update_at_end(&mut self, at: &Point, motion: &FreeMotion<f64>, end: &[f64]) -> bool {
        let System { model, parameters, .. } = *at.system;
        self.ending.update(at.system, (at.state, motion), end);
        self.acceleration.clear();
        self.acceleration.resize(model.nv(), 0.0);
        for (index, tree) in model.trees.iter().enumerate() {
            for k in tree.v.clone() {
                self.acceleration[k] = (end[k] - at.state.v[k]) / motion.duration(index);
            }
        }
        let EndOfStep { state, kinematics } = &self.ending;
        let (inverse, acceleration) = (&mut self.inverse, &self.acceleration);
        inverse_dynamics_derivatives(model, parameters, kinematics, acceleration, inverse);
        inverse.mass_matrix.blocks(model, &mut self.masses);
        self.forces.update(model, parameters, state, at.inputs);
        true
    }

    /// The momenta of a tree in an implicit step at fixed v+: R has q+ = q̄ (+) a v+, and v̄ by its accelerations.
    fn momenta_at_end(
        &self,
        at: &Point,
        (tree, dt): (usize, f64),
        (first, n, m): (usize, usize, usize),
        x: &mut [f64],
    ) {
        let model = at.system.model;
        let entry = &model.trees[tree];
        let (_, by_q) = self.inverse.dq.block(tree);
        let (_, masses) = self.masses.block(tree);
        let width = entry.v.len();
        for (i, k) in entry.v.clone().enumerate() {
            let row = &mut x[(first + i) * m..(first + i + 1) * m];
            for (x, &by_q) in row[first..].iter_mut().zip(&by_q[i * width..(i + 1) * width]) {
                *x = -dt * by_q;
            }
            row[first + i] += dt * self.forces.by_q[k];
            row[n + first..n + first + width].copy_from_slice(&masses[i * width..(i + 1) * width]);
        }
        for &body in &entry.bodies {
            let Joint { kind, v, .. } = model.bodies[body].joint;
            let turn = kind.coordinates().and_then(Coordinates::quaternion);
            let Some((_, k)) = turn else { continue };
            let turn = Vector3::from_fn(|i, _| self.ending.state.v[v + k + i]) * dt;
            let back = rotation_matrix(exp(-turn));
            let place = first + v + k - entry.v.start;
            for i in first..first + width {
                let own = &mut x[i * m + place..][..3];
                let turned = Vector3::new(own[0], own[1], own[2]).transpose() * back;
                own.copy_from_slice(turned.as_slice());
            }
        }
    }

    /// Writes the change of M v_p less dM (v+ - v_p), which is that of M v+ at fixed impulses and M, into the rows of
    /// `tree`: kg m/s and kg m^2/s per unit of each column.
    pub fn momenta(
        &self,
        at: &Point,
        motion: &FreeMotion<f64>,
        tree: usize,
        columns: &Columns,
        x: &mut [f64],
    ) {
        let System { model, .. } = *at.system;
        let (rows, n, m) = (columns.rows(at.system, tree), columns.velocities, columns.count());
        let (first, entry) = (rows.start, &model.trees[tree]);
        let dt = motion.duration(tree);
        let inputs = columns.inputs.iter().enumerate();
        let inputs = inputs.map(|(c, &place)| (2 * n + c, at.selection.inputs[place]));
        if let Some((lone, _)) = &self.lone[tree] {
            let by_input = motion.lone_of(tree).map_or(dt, FreeBody::momentum_by_input);
            let mut put = |row: usize, column: usize, block: &Matrix3<f64>| {
                for i in 0..3 {
                    for j in 0..3 {
                        x[(first + row + i) * m + column + j] = block[(i, j)];
                    }
                }
            };
            put(0, first + 3, &lone.linear_turn);
            put(3, first + 3, &lone.angular_turn);
            put(0, n + first, &(Matrix3::identity() * lone.linear_speed));
            put(0, n + first + 3, &lone.linear_spin);
            put(3, n + first + 3, &lone.angular_spin);
            for (column, input) in inputs {
                let Some(k) = input.checked_sub(entry.v.start).filter(|&k| k < 6) else { continue };
                x[(first + k) * m + column] = by_input;
                for i in (0..3).filter(|_| k < 3) {
                    x[(first + 3 + i) * m + column] = lone.angular_force[(i, k)];
                }
            }
            return;
        }
        if has_own_integrator(at) {
            let change = self.free.of(tree);
            let (width, own) = (rows.len(), change.columns());
            for (i, changes) in change.momenta.chunks_exact(own).enumerate() {
                let row = &mut x[(first + i) * m..(first + i + 1) * m];
                row[first..first + width].copy_from_slice(&changes[..width]);
                row[n + first..n + first + width].copy_from_slice(&changes[width..2 * width]);
            }
            for (column, input) in inputs {
                // Of other trees of the island: nothing.
                let Some(k) = change.column_of(model, input) else { continue };
                let changes = change.momenta[k..].iter().step_by(own);
                let rows = x[first * m + column..].iter_mut().step_by(m);
                rows.zip(changes).for_each(|(x, &change)| *x = change);
            }
            return;
        }
        let (_, by_q) = self.inverse.dq.block(tree);
        let (_, by_v) = self.inverse.dv.block(tree);
        let width = rows.len();
        let implicit = is_implicit(at);
        if implicit {
            self.momenta_at_end(at, (tree, dt), (first, n, m), x);
        }
        for (i, k) in entry.v.clone().enumerate().filter(|_| !implicit) {
            let row = &mut x[(first + i) * m..(first + i + 1) * m];
            let entries = i * width..(i + 1) * width;
            for (x, &by_q) in row[first..].iter_mut().zip(&by_q[entries.clone()]) {
                *x = -dt * by_q;
            }
            row[first + i] += dt * self.forces.by_q[k];
            // A displacement starts from rest.
            if at.closes {
                continue;
            }
            let (_, masses) = motion.articulation.masses().block(tree);
            let mass_and_rate = masses[entries.clone()].iter().zip(&by_v[entries]);
            for (x, (&mass, &by_v)) in row[n + first..].iter_mut().zip(mass_and_rate) {
                *x = mass - dt * by_v;
            }
            row[n + first + i] += dt * self.forces.by_v[k];
        }
        for (column, input) in inputs {
            let (k, gain) = match input.checked_sub(model.nv()) {
                None => (input, 1.0),
                Some(control) => {
                    let Some(joint) = model.driven_joint(control) else { continue };
                    (joint.v, self.forces.by_control[control])
                }
            };
            if let Some(i) = k.checked_sub(entry.v.start).filter(|&i| i < width) {
                x[(first + i) * m + column] = dt * gain;
            }
        }
    }

    /// Writes the rows of a tree of A and B from the changes `x` of its velocities at the end.
    pub fn end(
        &self,
        at: &Point,
        motion: &FreeMotion<f64>,
        tree: usize,
        columns: &Columns,
        (x, end): (&[f64], &[f64]),
        (a, b): (&mut DMatrix<f64>, &mut DMatrix<f64>),
    ) {
        let model = at.system.model;
        let nv = model.nv();
        let (entry, first) = (&model.trees[tree], columns.rows(at.system, tree).start);
        let m = columns.count();
        if let Some((_, ending)) = &self.lone[tree] {
            for c in 0..m {
                let at_row = |k: usize| x[(first + k) * m + c];
                let [v, w] = [0, 3].map(|k| Vector3::new(at_row(k), at_row(k + 1), at_row(k + 2)));
                let unit = |start: usize| {
                    let mut unit = Vector3::zeros();
                    if let Some(k) = c.checked_sub(start).filter(|&k| k < 3) {
                        unit[k] = 1.0;
                    }
                    unit
                };
                let start = [unit(first), unit(first + 3)];
                let change = ending.change(start, [v, w]);
                let column = columns.of(c, a, b);
                for (part, change) in change.iter().enumerate() {
                    let row = entry.v.start + if part < 2 { 3 * part } else { nv + 3 * (part - 2) };
                    column[row..row + 3].copy_from_slice(change.as_slice());
                }
            }
            return;
        }
        let (dt, width, start) = (motion.duration(tree), entry.v.len(), entry.v.start);
        let rows = &x[first * m..(first + width) * m];
        for c in 0..m {
            let column = columns.of(c, a, b);
            let (positions, velocities) = column.split_at_mut(nv);
            let places = start..start + width;
            let changed = positions[places.clone()].iter_mut().zip(&mut velocities[places]);
            for ((q, v), &x) in changed.zip(rows[c..].iter().step_by(m)) {
                (*q, *v) = (dt * x, x);
            }
            if let Some(own) = c.checked_sub(first).filter(|&k| k < width) {
                positions[start + own] += 1.0;
            }
        }
        let untouched = end[entry.v.clone()] == *motion.tree(tree).free_velocity;
        if at.system.settings.integrator == Integrator::RungeKutta && untouched {
            let change = self.free.of(tree);
            let own = change.columns();
            for c in 0..m {
                let known = match c.checked_sub(2 * columns.velocities) {
                    Some(place) => {
                        change.column_of(model, at.selection.inputs[columns.inputs[place]])
                    }
                    None => {
                        let (half, c) = (c / columns.velocities, c % columns.velocities);
                        c.checked_sub(first).filter(|&k| k < width).map(|k| half * width + k)
                    }
                };
                let positions = &mut columns.of(c, a, b)[start..start + width];
                for (q, changes) in positions.iter_mut().zip(change.places.chunks_exact(own)) {
                    *q = known.map_or(0.0, |k| changes[k]);
                }
            }
            return;
        }
        for &body in &entry.bodies {
            let Joint { kind, v, .. } = model.bodies[body].joint;
            let Some((_, k)) = kind.coordinates().and_then(Coordinates::quaternion) else {
                continue;
            };
            let local = first + v + k - start;
            let turn = Vector3::new(end[v + k], end[v + k + 1], end[v + k + 2]) * dt;
            let (back, rate) = (rotation_matrix(exp(-turn)), left_jacobian(-turn) * dt);
            for c in 0..m {
                let mut change = rate * Vector3::from_fn(|i, _| x[(local + i) * m + c]);
                if let Some(i) = c.checked_sub(local).filter(|&i| i < 3) {
                    change += back.column(i);
                }
                let turned = &mut columns.of(c, a, b)[v + k..v + k + 3];
                turned.copy_from_slice(change.as_slice());
            }
        }
    }
}

/// The changes of velocities at the start, in the coordinates of the contact problem, that column `c` of an
/// island makes in a tree: calls `each(k, change)` for those that are not zero.
pub(super) fn start_velocity(
    motion: &FreeMotion<f64>,
    (tree, first): (usize, Range<usize>),
    c: usize,
    mut each: impl FnMut(usize, f64),
) {
    let Some(free) = motion.lone_of(tree) else {
        if first.contains(&c) {
            each(c - first.start, 1.0);
        }
        return;
    };
    if let Some(k) = c.checked_sub(first.start).filter(|&k| k < first.len()) {
        each(k, 1.0);
        if k >= 3 {
            // v of the centre of mass is that of the origin and R (w x c).
            let mut spin = Vector3::zeros();
            spin[k - 3] = 1.0;
            let moved = free.rotation * spin.cross(&free.center_of_mass);
            (0..3).for_each(|i| each(i, moved[i]));
        }
    }
}
