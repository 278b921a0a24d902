//! How contacts change with the poses of their bodies at fixed impulses and velocities: what they do to the
//! momenta, and to the conditions that they pose.
//!
//! The geometry of a pair runs on duals, six lanes a body: displacements of its centre of mass and turns, in
//! the world. All else follows from the Jacobians of both bodies: how coordinates of the state displace
//! them, and how velocities held fixed turn with them.

use std::ops::Range;

use nalgebra::{Matrix3, Vector3};

use super::contact_side::{Side, center};
use super::equality_geometry::{EqualityGeometry, weld_rates};
use super::guest_slopes::GuestSlopes;
use super::pair_geometry::{PairGeometry, PairOf};
use super::point_frame::PointFrame;
use super::pose_lanes::{Lanes, along};
use super::solved::Solved;
use super::tendon_condition::tendon_limit;
use super::tree_derivative::start_velocity;
use crate::ad::Real;
use crate::argmin::{CoupledContact, Mode, Perturbation};
use crate::collision::ContactPoint;
use crate::contact::{
    Constraint, PointAction, ReboundSlopes, Target, Twist, YieldSlopes, closing, closing_share,
    equality_row, point_action,
};
use crate::dynamics::EnergyGradient;
use crate::linalg::{solve_lower, solve_lower_transpose};
use crate::model::{EqualityKind, System};
use crate::spatial::{Force, Motion};

/// Scratch memory.
#[derive(Default)]
pub(super) struct ContactDerivatives {
    geometry: PairGeometry,
    found: [Vec<ContactPoint<Lanes>>; 2],
    /// Rotations of both bodies of the pair where one of them turns.
    rotations: [[Option<Matrix3<Lanes>>; 2]; 2],
    sides: [Side; 2],
    /// Of each body of the model the forces of all its contacts, about the origin of its tree.
    forces: Vec<Force<f64>>,
    of_tree: Vec<Force<f64>>,
    changes: Vec<(usize, Motion<f64>)>,
    /// M^-1 J_n' of a point.
    pressed: Vec<f64>,
    energy: EnergyGradient<f64>,
    gradient: Vec<f64>,
}

impl ContactDerivatives {
    /// Takes the parameters of a system.
    pub fn start(&mut self, system: &System<f64>) {
        self.geometry.start(system);
    }

    /// Adds what the constraints of an island do to its momenta and to its conditions. False if the
    /// points that the duals find are others.
    pub fn add(&mut self, solved: &Solved, perturbation: &mut Perturbation<f64>) -> bool {
        self.add_with(solved, &[], perturbation)
    }

    /// The same with contacts of guests, whose blocks are the last ones.
    pub fn add_with(
        &mut self,
        solved: &Solved,
        guests: &[GuestSlopes],
        perturbation: &mut Perturbation<f64>,
    ) -> bool {
        // A pass that was given up may have left something.
        self.sides.iter_mut().for_each(|side| side.body = None);
        self.forces.clear();
        self.forces.resize(solved.system().model.bodies.len(), Force::zero());
        let (_, _, _, solution) = solved.problem.solved();
        let mut pair = None;
        for (block, &constraint) in solved.island.constraints.iter().enumerate() {
            match solved.contacts.constraint(constraint) {
                Constraint::Joint(joint) => {
                    let model = solved.system().model;
                    let is_limit = joint.id < 2 * model.nv();
                    if is_limit && solution.modes[block] != Mode::Break {
                        limit(solved, joint.id, joint.gap, block, perturbation);
                    }
                    if solution.modes[block] != Mode::Break {
                        tendon_limit(solved, (joint.id, joint.gap), block, perturbation);
                    }
                    // All rows of an equality go with the first of them.
                    let Some((equality, 0)) = equality_row(model, joint.id) else { continue };
                    self.finish_pair(solved, &mut perturbation.x);
                    pair = None;
                    if !self.equality(solved, equality, block, perturbation) {
                        return false;
                    }
                }
                Constraint::Point(point) => {
                    if solution.modes[block] == Mode::Break {
                        continue;
                    }
                    if pair != Some(point.pair) {
                        self.finish_pair(solved, &mut perturbation.x);
                        self.start_pair(solved, point);
                        pair = Some(point.pair);
                    }
                    if !self.point(solved, point, block, perturbation) {
                        return false;
                    }
                }
            }
        }
        self.finish_pair(solved, &mut perturbation.x);
        guests.iter().for_each(|guest| self.guest(solved, guest, perturbation));
        self.turn_forces(solved, &mut perturbation.x);
        true
    }

    /// Adds a contact of a guest.
    fn guest(
        &mut self,
        solved: &Solved,
        guest: &GuestSlopes,
        perturbation: &mut Perturbation<f64>,
    ) {
        let Some((tree, rows)) = solved.rows_of(guest.body) else { return };
        let (node, _, outputs, _) = solved.problem.solved();
        let block = &node.rows.blocks()[guest.block];
        let own = node.rows.tree(solved.island.trees.len() + guest.guest).start + guest.place;
        self.sides[0].start(solved, Some(guest.body));
        self.sides[1].start(solved, None);
        let held = (0, &outputs[rows]);
        self.sides[0].hold(solved, (guest.body, tree), held, &mut self.changes);
        let dt = solved.motion.duration(tree);
        let (columns, width) = (perturbation.columns, perturbation.moving);
        let side = &mut self.sides[0];
        side.force = Force { linear: -guest.force, angular: guest.force.cross(&guest.arm) };
        side.change[0] = [guest.forces.map(|row| row.map(|x| -x)), guest.moments];
        for mover in &side.movers {
            let c = mover.column;
            let moved = mover.held[0].unwrap_or_default();
            let carried = moved.linear + moved.angular.cross(&guest.arm);
            for r in 0..block.rows {
                let direction = Vector3::from(guest.frame[r]);
                perturbation.rows[(block.first + r) * width + c] +=
                    along(&guest.rows[r], &mover.pose) - direction.dot(&carried);
            }
            for r in 0..3 {
                perturbation.x[(own + r) * columns + c] += along(&guest.forces[r], &mover.pose);
            }
            perturbation.offsets[guest.block * columns + c] += along(&guest.gap, &mover.pose) / dt;
        }
        self.finish_pair(solved, &mut perturbation.x);
    }

    /// Runs the geometry of a pair on duals, one moving side after the other.
    fn start_pair(&mut self, solved: &Solved, point: &ContactPoint<f64>) {
        let parts = (solved.motion, solved.contacts);
        let of = PairOf::new(solved.system(), parts, solved.island, point.pair);
        for moving in 0..2 {
            self.found[moving].clear();
            self.sides[moving].start(solved, point.bodies[moving]);
            if point.bodies[moving].is_some() {
                let (found, rotations) = (&mut self.found[moving], &mut self.rotations[moving]);
                self.geometry.displaced(&of, moving, found, rotations);
            }
        }
    }

    /// Adds a point to its pair, and to the conditions of its block.
    fn point(
        &mut self,
        solved: &Solved,
        point: &ContactPoint<f64>,
        block: usize,
        perturbation: &mut Perturbation<f64>,
    ) -> bool {
        let system = solved.system();
        let System { model, parameters, settings } = *system;
        let motion = solved.motion;
        let (node, inputs, outputs, _) = solved.problem.solved();
        let entry = &node.rows.blocks()[block];
        let (velocity, impulses) = outputs.split_at(node.rows.velocities());
        let impulse: [f64; 3] = std::array::from_fn(|r| impulses[entry.first + r]);
        let (_, target, _) = solved.problem.decisions(block);
        let bounces = target == Target::Restitution;
        let softness = parameters.relative_compliance(model) * settings.compliance;
        if softness != 0.0 {
            self.press(solved, (node, inputs), block);
        }

        let rows = point.bodies.map(|body| body.and_then(|body| solved.rows_of(body)));
        let still = Twist::default();
        let mut motions = [[still; 2]; 3];
        for side in 0..2 {
            let (Some(body), Some((tree, rows))) = (point.bodies[side], rows[side].clone()) else {
                continue;
            };
            let own = [
                Some(&velocity[rows.clone()]),
                (softness != 0.0).then(|| &self.pressed[rows]),
                bounces.then_some(motion.tree(tree).velocity),
            ];
            for (which, own) in own.into_iter().enumerate() {
                motions[which][side] = match own {
                    Some(own) => {
                        self.sides[side].hold(solved, (body, tree), (which, own), &mut self.changes)
                    }
                    None => {
                        self.sides[side].movers.iter_mut().for_each(|m| m.held[which] = None);
                        still
                    }
                };
            }
        }

        // Values: what the motions that turn with the bodies are felt through.
        let rotations = point.bodies.map(|body| body.map(|body| &motion.bodies[body].rotation));
        let frame = PointFrame::new(point, rotations);
        let columns = perturbation.columns;
        let dt = point.bodies.iter().flatten().filter_map(|&body| solved.rows_of(body));
        let dt = dt.map(|(tree, _)| motion.duration(tree)).fold(f64::INFINITY, f64::min);
        let at = (point.pair, point.gap);
        let yields = target == Target::Yielding;
        let slope = match YieldSlopes::new(system, at, dt, (yields, impulse[0])) {
            Some(slopes) if yields => slopes.gap,
            _ => closing_share(settings, point.gap, dt, target) / dt,
        };
        let restitution = if bounces {
            ReboundSlopes::new(system, motion, point, entry.row(inputs, 0)).approach
        } else {
            0.0
        };
        for moving in 0..2 {
            if point.bodies[moving].is_none() {
                continue;
            }
            let found = self.found[moving].iter().find(|found| found.feature == point.feature);
            let Some(found) = found else { return false };
            let [first, second] = &self.rotations[moving];
            let lanes = [first.as_ref(), second.as_ref()];
            let action = point_action(found, lanes, &motions, impulse);
            add_action(&mut self.sides, moving, &action);
            for mover in &self.sides[moving].movers {
                let c = mover.column;
                for r in 0..3 {
                    perturbation.rows[(entry.first + r) * perturbation.moving + c] +=
                        along(&action.velocity[r].tangent, &mover.pose)
                            + frame.felt(moving, r, &mover.held[0]);
                }
                let mut offset = 0.0;
                if softness != 0.0 {
                    let change = along(&action.others[0].tangent, &mover.pose)
                        + frame.felt(moving, 0, &mover.held[1]);
                    offset += 2.0 * softness * change * impulse[0];
                }
                if bounces {
                    let change = along(&action.others[1].tangent, &mover.pose)
                        + frame.felt(moving, 0, &mover.held[2]);
                    offset += restitution * change;
                } else {
                    offset += slope * along(&found.gap.tangent, &mover.pose);
                }
                perturbation.offsets[block * columns + c] += offset;
            }
        }
        if bounces {
            let normal = entry.row(inputs, 0);
            for (segment, part) in entry.segments() {
                let tree = solved
                    .island
                    .trees
                    .iter()
                    .find(|&&tree| solved.columns.rows(system, tree).start == segment.start);
                let Some(&tree) = tree else { continue };
                let first = solved.columns.velocities + segment.start;
                let starts = first..first + segment.len();
                for c in starts.clone() {
                    start_velocity(motion, (tree, starts.clone()), c, |k, change| {
                        perturbation.offsets[block * columns + c] +=
                            restitution * normal[part.start + k] * change;
                    });
                }
            }
        }
        if softness != 0.0 {
            self.soften(solved, rows, (block, softness * impulse[0]), perturbation);
        }
        true
    }

    /// Adds an equality, the first row of which is that of `block`. False if it has no derivative.
    fn equality(
        &mut self,
        solved: &Solved,
        equality: usize,
        block: usize,
        perturbation: &mut Perturbation<f64>,
    ) -> bool {
        let system = solved.system();
        let System { model, parameters, .. } = *system;
        let motion = solved.motion;
        let Perturbation { columns, moving: width, .. } = *perturbation;
        let entry = &model.equalities[equality];
        // That is by duals.
        if entry.yields || entry.kind == EqualityKind::Hinge {
            return false;
        }
        if entry.kind == EqualityKind::Joint {
            if solved.at.closes {
                // Its row is the same everywhere.
                let ratio = parameters.ratio(model, equality);
                for (body, grows) in entry.bodies.into_iter().flatten().zip([1.0, -ratio]) {
                    let Some((tree, rows)) = solved.rows_of(body) else { continue };
                    let column =
                        rows.start + model.bodies[body].joint.v - model.trees[tree].v.start;
                    perturbation.offsets[block * columns + column] += grows;
                }
            }
            return true;
        }
        let Some(geometry) = EqualityGeometry::new(system, motion, equality) else { return false };
        let (node, _, outputs, _) = solved.problem.solved();
        let (velocity, impulses) = outputs.split_at(node.rows.velocities());
        let first = node.rows.blocks()[block].first;
        let impulses = &impulses[first..first + entry.kind.rows()];
        let (pulls, turns) = impulses.split_at(impulses.len().min(3));
        let mut impulse = [0.0; 3];
        impulse[..pulls.len()].copy_from_slice(pulls);
        let point = &geometry.point;
        let mut motions = [[Twist::default(); 2]; 3];
        for (side, held) in motions[0].iter_mut().enumerate() {
            self.sides[side].start(solved, point.bodies[side]);
            let Some((body, (tree, rows))) =
                point.bodies[side].and_then(|body| Some((body, solved.rows_of(body)?)))
            else {
                continue;
            };
            let own = (0, &velocity[rows]);
            *held = self.sides[side].hold(solved, (body, tree), own, &mut self.changes);
        }
        let rotations = point.bodies.map(|body| body.map(|body| &motion.bodies[body].rotation));
        let frame = PointFrame::new(point, rotations);
        let rates = match turns.is_empty() {
            true => Default::default(),
            false => match weld_rates(solved.open(block + 3)) {
                Some(rates) => rates,
                None => return false,
            },
        };
        for (moving, rate) in rates.iter().enumerate() {
            if point.bodies[moving].is_none() {
                continue;
            }
            let (found, lanes) = geometry.displaced(motion, moving);
            let [one, other] = &lanes;
            let action = point_action(&found, [one.as_ref(), other.as_ref()], &motions, impulse);
            add_action(&mut self.sides, moving, &action);
            let sign = if moving == 0 { -1.0 } else { 1.0 };
            for mover in &self.sides[moving].movers {
                let c = mover.column;
                let mut row = |r: usize, change: f64, opens: f64| {
                    perturbation.rows[(first + r) * width + c] += change;
                    if solved.at.closes {
                        perturbation.offsets[(block + r) * columns + c] += opens;
                    }
                };
                for r in 0..pulls.len() {
                    let change = along(&action.velocity[r].tangent, &mover.pose)
                        + frame.felt(moving, r, &mover.held[0]);
                    row(r, change, frame.felt(moving, r, &Some(mover.pose)));
                }
                let opens = rate * mover.pose.angular;
                for r in 0..turns.len() {
                    let turned = mover.held[0].map_or(0.0, |held| held.angular[r]);
                    row(3 + r, sign * turned, opens[r]);
                }
            }
        }
        for (side, sign) in [(0, -1.0), (1, 1.0)] {
            for (r, turn) in turns.iter().enumerate() {
                self.sides[side].force.angular[r] += sign * turn;
            }
        }
        self.finish_pair(solved, &mut perturbation.x);
        true
    }

    /// Finds M^-1 J_n' of a block.
    fn press(&mut self, solved: &Solved, (node, inputs): (&CoupledContact, &[f64]), block: usize) {
        let entry = &node.rows.blocks()[block];
        self.pressed.resize(node.rows.velocities(), 0.0);
        let backward = solved.system().settings.integrator.is_backward();
        let row = match backward {
            true => node.data(inputs).row(block, 0),
            false => entry.row(solved.response.spread_rows(), 0),
        };
        for ((columns, part), tree) in entry.segments().zip(entry.trees) {
            let own = &mut self.pressed[columns];
            own.copy_from_slice(&row[part]);
            if backward {
                let l = solved.motion.tree(solved.island.trees[tree]).start_factor;
                solve_lower(l, own.len(), own);
                solve_lower_transpose(l, own.len(), own);
            } else {
                solve_lower_transpose(node.mass_factor(inputs, tree), own.len(), own);
            }
        }
    }

    /// The compliance of a block changes with the mass matrix.
    fn soften(
        &mut self,
        solved: &Solved,
        rows: [Option<(usize, Range<usize>)>; 2],
        (block, weight): (usize, f64),
        perturbation: &mut Perturbation<f64>,
    ) {
        let motion = solved.motion;
        let [first, second] = rows;
        let second =
            second.filter(|(tree, _)| first.as_ref().is_none_or(|(other, _)| other != tree));
        for (tree, rows) in first.into_iter().chain(second) {
            if motion.lone_of(tree).is_some() {
                continue;
            }
            let entry = &solved.system().model.trees[tree];
            self.gradient.resize(rows.len(), 0.0);
            motion.articulation.kinematics.kinetic_energy_gradient(
                &entry.bodies,
                (entry.v.start, &self.pressed[rows.clone()]),
                &mut self.energy,
                &mut self.gradient,
            );
            let offsets = &mut perturbation.offsets[block * perturbation.columns..];
            for (offset, &energy) in offsets[rows].iter_mut().zip(&self.gradient) {
                *offset -= 2.0 * weight * energy;
            }
        }
    }

    /// Adds what the pair does to the momenta, and forgets it.
    fn finish_pair(&mut self, solved: &Solved, x: &mut [f64]) {
        let m = solved.columns.count();
        for side in 0..2 {
            let own = &self.sides[side];
            let Some(body) = own.body else { continue };
            let lone = solved.motion.bodies[body]
                .tree
                .is_some_and(|tree| solved.motion.lone_of(tree).is_some());
            for (moving, other) in self.sides.iter().enumerate() {
                for displaced in &other.movers {
                    let pose = displaced.pose;
                    let [force, mut moment] = own.change[moving]
                        .map(|rows| Vector3::from(rows.map(|row| along(&row, &pose))));
                    if moving == side && !lone {
                        // The forces of a tree are about a fixed point.
                        moment += pose.linear.cross(&own.force.linear);
                    }
                    for mover in &own.movers {
                        let v = &mover.velocity;
                        x[mover.column * m + displaced.column] +=
                            v.linear.dot(&force) + v.angular.dot(&moment);
                    }
                }
            }
            let mut force = own.force;
            if !lone {
                let arm = center(solved.motion, body);
                force.angular += arm.cross(&force.linear);
            }
            self.forces[body] += force;
        }
        self.sides.iter_mut().for_each(|side| side.body = None);
    }

    /// Generalised forces turn with the bodies they are felt through.
    fn turn_forces(&mut self, solved: &Solved, x: &mut [f64]) {
        let m = solved.columns.count();
        for &tree in solved.island.trees {
            let entry = &solved.system().model.trees[tree];
            let first = solved.columns.rows(solved.system(), tree).start;
            if let Some(free) = solved.motion.lone_of(tree) {
                // d(R'm) = -turn x R'm
                let moment = free.rotation.transpose() * self.forces[entry.bodies[0]].angular;
                for j in 0..3 {
                    let mut turn = Vector3::zeros();
                    turn[j] = 1.0;
                    let change = moment.cross(&turn);
                    for i in 0..3 {
                        x[(first + 3 + i) * m + first + 3 + j] += change[i];
                    }
                }
                continue;
            }
            self.of_tree.clear();
            self.of_tree.extend(entry.bodies.iter().map(|&body| self.forces[body]));
            if self.of_tree.iter().all(|force| *force == Force::zero()) {
                continue;
            }
            let start = entry.v.start;
            solved.motion.articulation.kinematics.force_derivatives(
                &entry.bodies,
                &mut self.of_tree,
                |j, k, change| x[(first + j - start) * m + first + k - start] += change,
            );
        }
    }
}

/// Adds what a point does to both sides where that of side `moving` is displaced.
fn add_action(sides: &mut [Side; 2], moving: usize, action: &PointAction<Lanes>) {
    // The forces themselves once, with the first side that moves.
    let first = moving == 0 || sides[0].body.is_none();
    for (side, sign) in sides.iter_mut().zip([-1.0, 1.0]) {
        let at = usize::from(sign > 0.0);
        let of = [action.force * Lanes::constant(sign), action.moments[at]];
        for (sums, of) in side.change[moving].iter_mut().zip(&of) {
            for (sums, component) in sums.iter_mut().zip(of.iter()) {
                for (sum, tangent) in sums.iter_mut().zip(component.tangent) {
                    *sum += tangent;
                }
            }
        }
        if first {
            side.force.linear += action.force.map(|x| x.value) * sign;
            side.force.angular += action.moments[at].map(|x| x.value);
        }
    }
}

/// The condition of a limit changes with its coordinate.
fn limit(solved: &Solved, id: usize, gap: f64, block: usize, perturbation: &mut Perturbation<f64>) {
    let System { model, settings, .. } = *solved.system();
    let (velocity, upper) = (id / 2, id % 2 == 1);
    let Some(tree) = model.trees.iter().position(|tree| tree.v.contains(&velocity)) else { return };
    let dt = solved.motion.duration(tree);
    let slope = closing(settings, gap, dt).share / dt;
    let rows = solved.columns.rows(solved.system(), tree);
    let column = rows.start + velocity - model.trees[tree].v.start;
    perturbation.offsets[block * perturbation.columns + column] +=
        if upper { -slope } else { slope };
}
