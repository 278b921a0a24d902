//! Constraints backwards: from the adjoints of the conditions of an island to those of poses, velocities at the start
//! and parameters.
//!
//! All that an island feels of the geometry is how each point meets motions that are held: v+ and the motion y of shared
//! impulses, weighted by the adjoints of its rows; the weights a of the momenta, by its impulse; M^-1 J_n' and the
//! velocities at the start, by what its condition has of compliance and restitution. Each row meets one sum of
//! them, whose gradient in the point is by hand (`PointFrame::adjoint`); lanes carry it on to the poses of both
//! bodies and the numbers of both solids. What is left is that velocities held fixed turn with the bodies.

use nalgebra::{Matrix3, Vector3};

use super::body_adjoint::{BodyAdjoints, SHARES, START, add_twist, twist};
use super::equality_adjoint::add_equality;
use super::parts::{Adjoints, IslandAdjoint};
use super::tendon_adjoint::add_tendon;
use crate::argmin::RowBlock;
use crate::collision::ContactPoint;
use crate::contact::{
    Constraint, ReboundSlopes, Regime, Target, Twist, YieldSlopes, closing, closing_share,
    equality_row, row_of_tendon,
};
use crate::dynamics::{EnergyAdjoint, FreeBodyAdjoint};
use crate::linalg::{dot, solve_lower, solve_lower_transpose};
use crate::linearize::pair_geometry::{PairGeometry, PairOf, solid_slots};
use crate::linearize::point_frame::{PointAdjoint, PointFrame};
use crate::linearize::pose_lanes::{LANES, Lanes};
use crate::model::{Solid, SurfaceTerm, System, Tree};
use crate::spatial::Force;

/// Scratch memory.
#[derive(Default)]
pub(super) struct ContactAdjoint {
    geometry: PairGeometry,
    found: Vec<ContactPoint<Lanes>>,
    rotations: [Option<Matrix3<Lanes>>; 2],
    /// What the points of the present pair add up to.
    points: Vec<(usize, PointAdjoint)>,
    bodies: BodyAdjoints,
    pressed: Vec<f64>,
    /// Of compliances, and whether there are any.
    energy: EnergyAdjoint<f64>,
    softened: bool,
}

impl ContactAdjoint {
    /// Takes the parameters of a system.
    pub fn start(&mut self, system: &System<f64>) {
        self.geometry.start(system);
        self.bodies.start(system.model);
        self.energy.start(system.model);
    }

    /// What compliances have of the diagonal of the mass matrix, of each velocity of the joints.
    pub fn squares(&self) -> &[f64] {
        self.energy.squares()
    }

    /// Adds what the constraints of an island say. False if the points that the duals find are others.
    #[must_use]
    pub fn add(
        &mut self,
        of: &IslandAdjoint,
        lone: &mut [FreeBodyAdjoint<f64>],
        adjoints: &mut Adjoints,
    ) -> bool {
        let mut pair = None;
        let mut complete = true;
        for (block, &constraint) in of.island.constraints.iter().enumerate() {
            match of.contacts.constraint(constraint) {
                Constraint::Joint(joint) => match equality_row(of.system.model, joint.id) {
                    // All rows of an equality go with the first of them.
                    Some((equality, 0)) => {
                        complete &= add_equality(of, equality, block, &mut self.bodies, adjoints);
                    }
                    Some(_) => {}
                    None if row_of_tendon(of.system.model, joint.id).is_some() => {
                        add_tendon(of, (joint.id, joint.gap), block, adjoints);
                    }
                    None => add_joint(of, joint.id, joint.gap, block, adjoints),
                },
                Constraint::Point(point) => {
                    if !of.acts(block) {
                        continue;
                    }
                    if pair.is_some_and(|pair| pair != point.pair) {
                        complete &= self.finish_pair(of, adjoints);
                    }
                    pair = Some(point.pair);
                    self.point(of, constraint, (point, block), lone, adjoints);
                }
            }
        }
        complete &= self.finish_pair(of, adjoints);
        self.bodies.finish(of, lone, adjoints);
        self.finish_energy(of, adjoints);
        complete
    }

    /// Adds a point to its pair and its bodies, and what its condition has of the parameters.
    fn point(
        &mut self,
        of: &IslandAdjoint,
        constraint: usize,
        (point, block): (&ContactPoint<f64>, usize),
        lone: &mut [FreeBodyAdjoint<f64>],
        adjoints: &mut Adjoints,
    ) {
        let System { model, parameters, settings } = *of.system;
        let (node, inputs, outputs, _) = of.problem.solved();
        let entry = &node.rows.blocks()[block];
        let impulses = &outputs[node.rows.velocities()..];
        let own = entry.first..entry.first + 3;
        let (_, target, regime) = of.problem.decisions(block);
        let slots = parameters.pair_slots(model, point.pair);
        let adjoint = &of.conditions;
        let offset = adjoint.offsets[block];
        let row = |numbers: &[f64]| -> [f64; 3] {
            std::array::from_fn(|r| numbers.get(own.start + r).copied().unwrap_or(0.0))
        };
        let impulse = row(impulses);
        let mut weights = [row(&adjoint.rows), impulse, [0.0; 3], [0.0; 3]];
        if !of.preimage.is_empty() {
            weights[SHARES] = row(&adjoint.rotations);
        }
        adjoints.parameters[match regime {
            Regime::Kinetic => slots.mu,
            Regime::Static => slots.mu_static,
        }] += adjoint.limits[block];
        let bounces = target == Target::Restitution;
        if bounces {
            // target = e a, a = -J_n v, with e that may fall with a
            let slopes = ReboundSlopes::new(of.system, of.motion, point, entry.row(inputs, 0));
            weights[START][0] = offset * slopes.approach;
            self.add_start(of, entry, offset * slopes.approach, lone, adjoints);
            adjoints.parameters[slots.restitution] -= offset * slopes.restitution;
            if let Some(slot) = slots.terms[SurfaceTerm::RestitutionFalloff as usize] {
                adjoints.parameters[slot] -= offset * slopes.falloff;
            }
        }
        for body in point.bodies.into_iter().flatten() {
            self.bodies.touch(of, body);
        }

        let rotations = point.bodies.map(|body| body.map(|body| &of.motion.bodies[body].rotation));
        let frame = PointFrame::new(point, rotations);
        let mut motions = [[Twist::default(); 3]; 2];
        for (side, body) in point.bodies.into_iter().enumerate() {
            let Some(body) = body else { continue };
            let felt = self.bodies.of(body);
            for (which, weights) in weights.into_iter().enumerate() {
                if weights != [0.0; 3] {
                    felt.forces[which] += frame.pull(side, weights);
                    for (sum, weight) in motions[side].iter_mut().zip(weights) {
                        add_twist(sum, weight, &felt.held[which]);
                    }
                }
            }
        }
        let softness = parameters.relative_compliance(model) * settings.compliance;
        let pushed = offset * impulse[0];
        if settings.compliance != 0.0 && pushed != 0.0 {
            // c = s J_n M^-1 J_n'
            let give = self.press(of, block);
            adjoints.parameters[model.compliance_slot()] += pushed * settings.compliance * give;
            let weight = 2.0 * softness * pushed;
            for (side, motions) in motions.iter_mut().enumerate() {
                let Some(body) = point.bodies[side] else { continue };
                let force = frame.pull(side, [weight, 0.0, 0.0]);
                let moved = self.hold_pressed(of, body, force, lone, adjoints);
                add_twist(&mut motions[0], weight, &moved);
            }
            self.soften(of, entry, softness * pushed, lone);
        }
        let mut gradient = frame.adjoint(point, rotations, &motions);
        let mut trees = point.trees(of.motion).into_iter().flatten();
        let durations = trees.clone().map(|tree| of.motion.duration(tree));
        let dt = durations.fold(f64::INFINITY, f64::min);
        let mut own = (0.0, 0.0);
        if !bounces {
            let share = closing_share(settings, point.gap, dt, target);
            own = (share / dt, -share * point.gap / (dt * dt));
        }
        let at = (point.pair, point.gap);
        let decides = target == Target::Yielding;
        if let Some(slopes) = YieldSlopes::new(of.system, at, dt, (decides, impulse[0])) {
            // The time of a step is not split where contacts yield.
            own.0 += slopes.gap;
            for (k, (term, slope)) in slopes.terms.into_iter().enumerate() {
                let creep = if k == 0 { of.creep.get(block).copied().unwrap_or(0.0) } else { 0.0 };
                if let Some(slot) = slots.terms[term as usize] {
                    adjoints.parameters[slot] += offset * slope + creep * slopes.creep;
                }
            }
        }
        gradient.gap += offset * own.0;
        // Only what has struck something has a time of its own.
        if let Some(tree) = trees.find(|&tree| of.motion.duration(tree) == dt) {
            lone[tree].duration += offset * own.1;
        }
        for (body, arm) in point.bodies.into_iter().zip(gradient.arms) {
            if let Some(body) = body {
                self.bodies.of(body).center -= arm;
            }
        }
        self.points.push((constraint, gradient));
    }

    /// Adds to the adjoints of the velocities at the start `weight` of the speed along the normal row of a block.
    fn add_start(
        &self,
        of: &IslandAdjoint,
        entry: &RowBlock,
        weight: f64,
        lone: &mut [FreeBodyAdjoint<f64>],
        adjoints: &mut Adjoints,
    ) {
        let (_, inputs, ..) = of.problem.solved();
        let normal = entry.row(inputs, 0);
        for ((_, part), tree) in entry.segments().zip(of.trees(entry)) {
            let row = &normal[part];
            if let Some(free) = of.motion.lone_of(tree) {
                let own = &mut lone[tree];
                own.add_center_velocity(free, Vector3::new(row[0], row[1], row[2]) * weight);
                own.spin += Vector3::new(row[3], row[4], row[5]) * weight;
            } else {
                let to_v = &mut adjoints.v_mut()[of.system.model.trees[tree].v.clone()];
                to_v.iter_mut().zip(row).for_each(|(to, &x)| *to += weight * x);
            }
        }
    }

    /// Finds M^-1 J_n' of a block; returns J_n M^-1 J_n'.
    fn press(&mut self, of: &IslandAdjoint, block: usize) -> f64 {
        let (node, inputs, ..) = of.problem.solved();
        let entry = &node.rows.blocks()[block];
        let backward = of.system.settings.integrator.is_backward();
        let row = match backward {
            true => node.data(inputs).row(block, 0),
            false => entry.row(of.spread_rows, 0),
        };
        self.pressed.resize(node.rows.velocities(), 0.0);
        let mut give = 0.0;
        for ((columns, part), tree) in entry.segments().zip(entry.trees) {
            let own = &mut self.pressed[columns];
            own.copy_from_slice(&row[part]);
            let l = match backward {
                true => of.motion.tree(of.island.trees[tree]).start_factor,
                false => node.mass_factor(inputs, tree),
            };
            if backward {
                solve_lower(l, own.len(), own);
            }
            give += dot(own, own);
            solve_lower_transpose(l, own.len(), own);
        }
        give
    }

    /// The motion of a body under M^-1 J_n' of the present block; adds how that turns with the body, where `force` is
    /// its gradient there.
    fn hold_pressed(
        &mut self,
        of: &IslandAdjoint,
        body: usize,
        force: Force<f64>,
        lone: &mut [FreeBodyAdjoint<f64>],
        adjoints: &mut Adjoints,
    ) -> Twist {
        let Some((tree, rows)) = of.rows_of(body) else { return Twist::default() };
        let pressed = &self.pressed[rows];
        let moved = twist(of, body, tree, pressed);
        if let Some(free) = of.motion.lone_of(tree) {
            let spin = Vector3::new(pressed[3], pressed[4], pressed[5]);
            lone[tree].turn += spin.cross(&free.rotation.tr_mul(&force.angular));
        } else {
            let held = [(pressed, force, moved)];
            let nothing = Force::zero();
            self.bodies.turn_with(of, (body, tree), &held, nothing, adjoints);
        }
        moved
    }

    /// The compliance of a block changes with the mass matrix: adds that of -`weight` p'M p, p = M^-1 J_n'.
    fn soften(
        &mut self,
        of: &IslandAdjoint,
        entry: &RowBlock,
        weight: f64,
        lone: &mut [FreeBodyAdjoint<f64>],
    ) {
        for ((columns, _), tree) in entry.segments().zip(of.trees(entry)) {
            let own = &self.pressed[columns];
            if of.motion.lone_of(tree).is_some() {
                lone[tree].add_momentum(-weight, own, own);
                continue;
            }
            let Tree { bodies, v, .. } = &of.system.model.trees[tree];
            let kinematics = &of.motion.articulation.kinematics;
            kinematics.add_kinetic_energy(bodies, (v.start, own), -weight, &mut self.energy);
            self.softened = true;
        }
    }

    /// Adds what compliances have of the mass matrices of an island.
    fn finish_energy(&mut self, of: &IslandAdjoint, adjoints: &mut Adjoints) {
        if !std::mem::take(&mut self.softened) {
            return;
        }
        let System { model, parameters, .. } = *of.system;
        let kinematics = &of.motion.articulation.kinematics;
        let Adjoints { state, parameters: to_parameters, .. } = adjoints;
        for &tree in of.island.trees {
            if of.motion.lone_of(tree).is_none() {
                kinematics.finish_kinetic_energy(
                    (model, parameters),
                    &model.trees[tree].bodies,
                    &self.energy,
                    (&mut *state, &mut *to_parameters),
                );
            }
        }
    }

    /// Carries the gradients of the points of a pair on to the poses of its bodies and the numbers of its solids.
    #[must_use]
    fn finish_pair(&mut self, of: &IslandAdjoint, adjoints: &mut Adjoints) -> bool {
        let Some(&(first, _)) = self.points.first() else { return true };
        let Constraint::Point(first) = of.contacts.constraint(first) else { return true };
        let System { model, .. } = *of.system;
        let parts = (of.motion, of.contacts);
        let pair = PairOf::new(of.system, parts, of.island, first.pair);
        let mut shifts = [Vector3::zeros(); 2];
        let mut complete = true;
        for (side, shift) in shifts.iter_mut().enumerate() {
            let Some(body) = first.bodies[side] else { continue };
            self.geometry.displaced(&pair, side, &mut self.found, &mut self.rotations);
            let Some(sum) = self.contract(of) else {
                complete = false;
                continue;
            };
            let turns = self.points.iter().map(|(_, gradient)| gradient.turns[side]);
            let turn = turns.fold(Vector3::zeros(), |sum, turn| sum + turn);
            let force = Force {
                linear: Vector3::new(sum[0], sum[1], sum[2]),
                angular: Vector3::new(sum[3], sum[4], sum[5]) + turn,
            };
            self.bodies.of(body).displacement += force;
            *shift = force.linear;
        }
        self.geometry.resized(&pair, &mut self.found);
        let mut resized = [0.0; LANES];
        match self.contract(of) {
            Some(sum) => {
                resized = sum;
                for (slot, sums) in
                    solid_slots(of.system, pair.pair).into_iter().zip(sum.chunks_exact(LANES / 2))
                {
                    for (to, x) in adjoints.parameters[slot..].iter_mut().zip(sums) {
                        *to += x;
                    }
                }
            }
            None => complete = false,
        }
        self.add_roundings(of, pair.pair, &resized, adjoints);
        // What moves both solids alike changes nothing.
        if first.bodies[0].is_none() {
            shifts[0] = -shifts[1];
        } else if first.bodies[1].is_none() {
            shifts[1] = -shifts[0];
        }
        let (entry, second) = model.solids(pair.pair);
        let colliders = [
            match entry {
                Solid::Collider(first) => Some(first),
                Solid::HalfSpace(_) => None,
            },
            Some(second),
        ];
        for side in 0..2 {
            let Some(collider) = colliders[side] else { continue };
            let body = model.colliders[collider].body;
            let arms = self.points.iter().map(|(_, gradient)| gradient.arms[side]);
            let arm = arms.fold(Vector3::zeros(), |sum, arm| sum + arm);
            let local = match body {
                Some(body) => of.motion.bodies[body].rotation.tr_mul(&shifts[side]),
                None => shifts[side],
            };
            if model.colliders[collider].placed {
                let slot = model.collider_slot(collider) + LANES / 2;
                for k in 0..3 {
                    adjoints.parameters[slot + k] += local[k] + arm[k];
                }
            }
            let fixed = body.filter(|&body| model.bodies[body].tree.is_none());
            of.motion.add_fixed_places(model, fixed, &shifts[side], &mut adjoints.parameters);
        }
        self.points.clear();
        complete
    }

    /// Adds what the points of the pair say of the radii of their edges, where `resized` is what they say of sizes: points go out
    /// by the radius, and the core of a box goes in by it.
    fn add_roundings(
        &self,
        of: &IslandAdjoint,
        pair: usize,
        resized: &[f64; LANES],
        adjoints: &mut Adjoints,
    ) {
        let System { model, parameters, .. } = *of.system;
        let (first, second) = model.solids(pair);
        let first = match first {
            Solid::Collider(first) => Some(first),
            Solid::HalfSpace(_) => None,
        };
        for (side, collider) in [first, Some(second)].into_iter().enumerate() {
            let Some((collider, slot)) = collider.and_then(|k| Some((k, model.rounding_slot(k)?)))
            else {
                continue;
            };
            // Beyond what is possible nothing changes; then sizes say all.
            let own = &model.colliders[collider];
            if parameters.core(model, collider).1 != parameters.values[slot] + own.margin {
                continue;
            }
            let shrinks = own.shape.keeps_its_size();
            let lanes = &resized[LANES / 2 * side..][..LANES / 2];
            let shrunk = if shrinks { lanes.iter().sum() } else { 0.0 };
            for &(constraint, gradient) in &self.points {
                let Constraint::Point(point) = of.contacts.constraint(constraint) else { continue };
                let arm = point.bodies[side].map_or(0.0, |body| {
                    let normal = of.motion.bodies[body].rotation.tr_mul(&point.normal);
                    gradient.arms[side].dot(&normal)
                });
                let outward = if side == 0 { arm } else { -arm };
                adjoints.parameters[slot] += outward - gradient.gap - gradient.lowest;
            }
            adjoints.parameters[slot] -= shrunk;
        }
    }

    /// The derivatives of what the points of the pair add up to in the lanes of those that were found.
    fn contract(&self, of: &IslandAdjoint) -> Option<[f64; LANES]> {
        let mut sum = [0.0; LANES];
        for &(constraint, gradient) in &self.points {
            let Constraint::Point(point) = of.contacts.constraint(constraint) else { continue };
            let found = self.found.iter().find(|found| found.feature == point.feature)?;
            for (sum, x) in sum.iter_mut().zip(gradient.along(found)) {
                *sum += x;
            }
        }
        Some(sum)
    }
}

/// The condition of a limit changes with its coordinate and its place, that of dry friction with the friction.
fn add_joint(of: &IslandAdjoint, id: usize, gap: f64, block: usize, adjoints: &mut Adjoints) {
    let System { model, settings, .. } = *of.system;
    let nv = model.nv();
    let velocity = if id < 2 * nv { id / 2 } else { id - 2 * nv };
    let owner = model.bodies.iter().position(|body| {
        let joint = &body.joint;
        (joint.v..joint.v + joint.kind.nv()).contains(&velocity)
    });
    let Some((body, slots)) = owner.and_then(|body| Some((body, model.joint_slots(body)?))) else {
        return;
    };
    let Some(tree) = model.bodies[body].tree else { return };
    let dt = of.motion.duration(tree);
    if id >= 2 * nv {
        adjoints.parameters[slots.friction] += of.conditions.limits[block] * dt;
        return;
    }
    if !of.acts(block) {
        return;
    }
    let slope = of.conditions.offsets[block] * closing(settings, gap, dt).share / dt;
    if id % 2 == 1 {
        adjoints.state[velocity] -= slope;
        adjoints.parameters[slots.upper] += slope;
    } else {
        adjoints.state[velocity] += slope;
        adjoints.parameters[slots.lower] -= slope;
    }
}
