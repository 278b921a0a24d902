//! What is wrong with a description.

use std::collections::{HashMap, HashSet};

use nalgebra::{Matrix3, Vector3};

use super::fault::{Fault, Owner};
use super::{ColliderDescription, Description, Material, NamedMaterial};
use crate::Error;
use crate::model::{
    ContactSolver, JointKind, Model, Pair, RestitutionLaw, SharedContacts, SurfaceTerm,
    SurfaceTerms,
};

/// Friction across the grain over that along it, at least and at most.
const SLENDEREST: std::ops::RangeInclusive<f64> = 1e-6..=1e6;

/// The steepest thread, m per radian: beyond, squares of it leave no digits to anything else.
const MOST_PITCH: f64 = 1e6;

impl Description {
    /// Velocities are prescribed of free bodies alone. `can_be`: whether it is one, and nothing hangs on it.
    pub(super) fn check_prescribed(&self, index: usize, can_be: bool) -> Result<(), Fault> {
        let body = &self.bodies[index];
        if !body.joint.prescribed || can_be {
            return Ok(());
        }
        let message = match (body.joint.kind, body.joint.has_numbers()) {
            (JointKind::Free, false) => {
                "is for a body on which nothing hangs by a joint: tie to it what it carries by an [[equality]]"
            }
            _ => "is for a free body whose joint has no numbers: leave out `joint` and `parent`",
        };
        Err(Fault::new(Owner::Body(index), "prescribed", message))
    }

    /// Nothing may be infinite or not a number.
    pub(super) fn check_finite(&self) -> Result<(), Fault> {
        let check = |owner: Owner, field: &'static str, numbers: &[f64]| match numbers
            .iter()
            .find(|x| !x.is_finite())
        {
            Some(x) => Err(Fault::new(owner, field, format!("must be finite, found {x}"))),
            None => Ok(()),
        };
        let collider = |owner: Owner, collider: &ColliderDescription| {
            check(owner, "shape", &collider.size)?;
            check(owner, "shape.position", &collider.position)?;
            check(owner, "shape.orientation", &collider.orientation)
        };
        check(Owner::Scene, "gravity", &self.gravity)?;
        for (k, half_space) in self.half_spaces.iter().enumerate() {
            check(Owner::HalfSpace(k), "normal", &half_space.normal)?;
            check(Owner::HalfSpace(k), "offset", &[half_space.offset])?;
        }
        for NamedMaterial { material, .. } in &self.materials {
            let Material { mu, mu_static, restitution, .. } = material;
            check(Owner::Scene, "material", &[*mu, mu_static.unwrap_or(*mu), *restitution])?;
        }
        self.check_terms()?;
        for (k, shape) in self.colliders.iter().enumerate() {
            collider(Owner::Collider(k), shape)?;
        }
        for (k, body) in self.bodies.iter().enumerate() {
            let (owner, joint) = (Owner::Body(k), &body.joint);
            check(owner, "mass", &[body.mass])?;
            check(owner, "center_of_mass", &body.center_of_mass)?;
            check(owner, "inertia", &body.inertia)?;
            check(owner, "force", &body.force)?;
            check(owner, "torque", &body.torque)?;
            check(owner, "position", &joint.position)?;
            check(owner, "orientation", &joint.orientation)?;
            check(owner, "joint.axis", &joint.axis)?;
            let pitch = joint.kind.screw().map_or(0.0, |screw| screw.advance);
            check(owner, "joint.pitch", &[pitch])?;
            let demand = "must be a pitch of at most 1e6 m per radian";
            let met = pitch.abs() <= MOST_PITCH;
            Fault::unless(met, (owner, "joint.pitch"), demand, pitch, "")?;
            check(owner, "joint.anchor", &joint.anchor)?;
            check(owner, "joint.armature", &[joint.armature])?;
            check(owner, "joint.damping", &[joint.damping])?;
            check(owner, "joint.friction", &[joint.friction])?;
            check(owner, "joint.stiffness", &[joint.stiffness])?;
            check(owner, "joint.rest", &[joint.rest])?;
            check(owner, "joint.limits", joint.limits.as_ref().map_or(&[][..], |x| x))?;
            check(owner, "joint.q", &joint.q)?;
            check(owner, "joint.v", &joint.v)?;
            for shape in &body.colliders {
                collider(owner, shape)?;
            }
        }
        for (k, actuator) in self.actuators.iter().enumerate() {
            let owner = Owner::Actuator(k);
            check(owner, "gear", &[actuator.gear])?;
            check(owner, "kp", &[actuator.kp])?;
            check(owner, "kd", &[actuator.kd])?;
            check(owner, "gain", &[actuator.gain])?;
            check(owner, "gain_length", &actuator.gain_by[..1])?;
            check(owner, "gain_velocity", &actuator.gain_by[1..])?;
            check(owner, "bias", &[actuator.bias])?;
            check(owner, "control", &[actuator.control])?;
            for (field, range) in
                [("control_range", actuator.control_range), ("force_range", actuator.force_range)]
            {
                let Some(range) = range else { continue };
                check(owner, field, &range)?;
                let met = range[0] <= range[1];
                let demand = "must be a least and a largest number";
                Fault::unless(met, (owner, field), demand, range[0], "")?;
            }
        }
        self.check_tendons()?;
        for (k, equality) in self.equalities.iter().enumerate() {
            let owner = Owner::Equality(k);
            check(owner, "anchors", equality.anchors.as_flattened())?;
            check(owner, "orientation", &equality.orientation)?;
            check(owner, "distance", &[equality.distance])?;
            check(owner, "offset", &[equality.offset])?;
            check(owner, "ratio", &[equality.ratio])?;
            check(owner, "axis", &equality.axis)?;
            if let Some(found) = equality.stiffness {
                check(owner, "stiffness", &[found])?;
                let unit = "N/m";
                Fault::unless(found > 0.0, (owner, "stiffness"), "must be positive", found, unit)?;
            }
            check(owner, "damping", &[equality.damping])?;
            let met = equality.damping >= 0.0;
            let found = equality.damping;
            Fault::unless(met, (owner, "damping"), "must not be negative", found, "N s/m")?;
        }
        Ok(())
    }

    /// Terms of surfaces must have numbers that make sense, and what they are terms of.
    fn check_terms(&self) -> Result<(), Fault> {
        let check = |owner: Owner, material: &Option<Material>, has_pair: bool| {
            let Some(material) = material else { return Ok(()) };
            let has = |term: SurfaceTerm| material.terms.get(term).is_some();
            for term in SurfaceTerm::ALL {
                let Some(number) = material.terms.get(term) else { continue };
                let (met, demand) = match term.is_positive() {
                    true => (number > 0.0, "must be positive"),
                    false => (number >= 0.0, "must not be negative"),
                };
                Fault::unless(met && number.is_finite(), (owner, term.name()), demand, number, "")?;
                let message = match term {
                    SurfaceTerm::DampingTime if !has(SurfaceTerm::Softness) => {
                        "has no meaning without softness, whose damping it is"
                    }
                    SurfaceTerm::Damping if !has(SurfaceTerm::Stiffness) => {
                        "has no meaning without stiffness, beside which it is"
                    }
                    SurfaceTerm::Stiffness if has(SurfaceTerm::Softness) => {
                        "is one over softness: give one of both"
                    }
                    SurfaceTerm::Softness if number == 0.0 && self.settings.solver.is_penalty() => {
                        "must be positive by penalties"
                    }
                    SurfaceTerm::Softness | SurfaceTerm::Stiffness
                        if self.settings.split_impacts =>
                    {
                        "gives way in time, and split_impacts has impacts that take none: use one of both"
                    }
                    SurfaceTerm::Softness | SurfaceTerm::Stiffness
                        if self.settings.restitution_law == RestitutionLaw::Poisson =>
                    {
                        "gives back what it takes by itself; restitution_law = \"poisson\" is for what stops at once: use one of both"
                    }
                    SurfaceTerm::StribeckSpeed if material.mu_static.is_none() => {
                        "has no meaning without mu_static, which friction goes over from"
                    }
                    SurfaceTerm::MuAcross if !has_pair => {
                        "is for a [[contact]] with a `pair` and a `grain`"
                    }
                    SurfaceTerm::MuAcross if material.mu == 0.0 => {
                        "needs a mu along the grain that is not 0"
                    }
                    SurfaceTerm::MuAcross if !SLENDEREST.contains(&(number / material.mu)) => {
                        "must be between a millionth of mu and a million times that"
                    }
                    _ => continue,
                };
                return Err(Fault::new(owner, term.name(), message));
            }
            Ok(())
        };
        let materials = self.materials.iter().map(|named| Some(named.material));
        for material in materials.chain([self.default_contact]) {
            check(Owner::Scene, &material, false)?;
        }
        for (k, half_space) in self.half_spaces.iter().enumerate() {
            check(Owner::HalfSpace(k), &half_space.material, false)?;
        }
        for (k, shape) in self.colliders.iter().enumerate() {
            check(Owner::Collider(k), &shape.material, false)?;
        }
        for (k, body) in self.bodies.iter().enumerate() {
            for shape in &body.colliders {
                check(Owner::Body(k), &shape.material, false)?;
            }
        }
        for (k, contact) in self.contacts.iter().enumerate() {
            check(Owner::Contact(k), &contact.material, true)?;
        }
        Ok(())
    }

    /// Actuators and equalities find joints by their names.
    pub(super) fn check_joint_names(&self) -> Result<(), Fault> {
        let mut taken = HashMap::new();
        for (index, body) in self.bodies.iter().enumerate() {
            let name = body.joint.name.as_str();
            if name.is_empty() {
                continue;
            }
            if let Some(other) = taken.insert(name, index) {
                let message = format!("{name:?} is taken: all joints have names of their own");
                let fault = Fault::new(Owner::Body(index), "joint.name", message);
                return Err(fault.with(Owner::Body(other), "joint.name"));
            }
        }
        Ok(())
    }

    /// Masses and inertias must be those of solids. What is not, but moves all the same, is a
    /// warning where the file is someone else's.
    pub(super) fn check_inertia(
        &self,
        model: &Model,
        (place, index): (usize, usize),
        carries: bool,
        warnings: &mut Vec<Error>,
    ) -> Result<(), Fault> {
        let (owner, body) = (Owner::Body(index), &self.bodies[index]);
        if body.joint.prescribed {
            return Ok(());
        }
        // Turns about all axes.
        let coordinates = body.joint.kind.coordinates();
        let free = coordinates.is_some_and(|coordinates| coordinates.quaternion().is_some());
        let moves = model.bodies[place].tree.is_some();
        // A free one that carries others turns about their joints, against its own inertia alone.
        let resists =
            body.joint.kind != JointKind::Free || body.inertia[..3].iter().all(|&x| x > 0.0);
        let massless = !moves || carries && resists;
        let met = body.mass > 0.0
            || body.mass == 0.0
                && (massless || body.joint.armature > 0.0 || body.joint.kind == JointKind::Fixed);
        if !met && !self.strict && body.mass == 0.0 {
            let (line, path) = owner.place(self);
            let message = match carries {
                false => "is 0, and nothing with mass hangs on it: its tree cannot be moved",
                true => {
                    "is 0, and so is its inertia, against which it turns about what hangs on it: its tree cannot be moved"
                }
            };
            warnings.push(Error::input(&self.name, line, format!("{path}.mass"), message));
            return Ok(());
        }
        Fault::unless(met, (owner, "mass"), "must be positive", body.mass, "kg")?;
        let [xx, yy, zz, xy, xz, yz] = body.inertia;
        let matrix = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
        let moments: Vector3<f64> = matrix.symmetric_eigenvalues();
        let (least, most) = (moments.min(), moments.max());
        // Moments are computed up to rounding, so that 0 may come out as 1e-17.
        let definite = if free && !carries { least > 1e-12 * most } else { least >= -1e-12 * most };
        let mut warn = |message: String| {
            if self.strict {
                return Err(Fault::new(owner, "inertia", message));
            }
            let (line, path) = owner.place(self);
            warnings.push(Error::input(&self.name, line, format!("{path}.inertia"), message));
            Ok(())
        };
        if !definite {
            warn(format!(
                "must be positive definite, but a principal moment is not positive, found {least} \
                 (kg m²)"
            ))?;
        }
        // No mass distribution has a principal moment above the sum of the other two; equality is a
        // flat plate, up to rounding.
        let others = moments.sum() - most;
        if most > others * (1.0 + 1e-9) {
            warn(format!(
                "is not that of any solid: the largest principal moment, {most}, exceeds the sum of \
                 the other two, {others} (kg m²)"
            ))?;
        }
        Ok(())
    }

    /// Staggered projections know contacts and nothing else.
    pub(super) fn check_solver(&self, model: &Model) -> Result<(), Fault> {
        if let Some((field, message)) = self.settings.backward_conflict() {
            return Err(Fault::new(Owner::Scene, "simulation", format!("{field} {message}")));
        }
        self.check_yielding(model)?;
        self.check_penalties(model)?;
        let ContactSolver::Staggered { .. } = self.settings.solver else { return Ok(()) };
        let joints = self.bodies.iter().map(|body| &body.joint);
        let posed = joints.filter(|joint| joint.limits.is_some() || joint.friction > 0.0).count();
        let couples = [SurfaceTerm::TorsionRadius, SurfaceTerm::RollingResistance];
        let couples = couples.into_iter().any(|term| model.any_has_term(term));
        let tied = model.tendons.iter().any(|tendon| tendon.has_conditions);
        if posed + model.equalities.len() == 0 && !couples && !tied {
            return Ok(());
        }
        let message = "is \"staggered\", which knows contacts only, and no couples in them; limits and dry friction of \
                       joints and tendons, equalities, torsional and rolling friction need \"coupled\"";
        Err(Fault::new(Owner::Scene, "simulation", message))
    }

    /// What yields does so in time, and is told in one word.
    fn check_yielding(&self, model: &Model) -> Result<(), Fault> {
        let yields = self.equalities.iter().position(|equality| equality.stiffness.is_some());
        let instant = self.settings.split_impacts || self.settings.rebounds_by_impulse();
        if let Some(k) = yields.filter(|_| instant) {
            let message = "gives way in time, beside impacts that take none (split_impacts, or restitution_law = \"poisson\"): use one of both";
            return Err(Fault::new(Owner::Equality(k), "stiffness", message));
        }
        let both = |terms: SurfaceTerms| {
            terms.has(SurfaceTerm::Softness) && terms.has(SurfaceTerm::Stiffness)
        };
        let surfaces = || model.shared.iter().flat_map(|shared| &shared.surfaces);
        let any = |term: SurfaceTerm| surfaces().any(|own| own.terms.has(term));
        let pair = model.pairs.iter().find(|pair| both(pair.terms)).map(|pair| &pair.name[..]);
        let mixed = any(SurfaceTerm::Softness) && any(SurfaceTerm::Stiffness);
        match pair.or(mixed.then_some("of materials or shapes")) {
            Some(name) => {
                let message = format!(
                    "there is a stiffness of one side and a softness, which is one over that, of the other ({name}): \
                     give both in the same word"
                );
                Err(Fault::new(Owner::Scene, "", message))
            }
            None => Ok(()),
        }
    }

    /// Penalties are of contacts that yield, and have no couples.
    fn check_penalties(&self, model: &Model) -> Result<(), Fault> {
        let solver = self.settings.solver;
        let fault = |message: String| {
            let message = format!("solver is {:?}, {message}", solver.name());
            Err(Fault::new(Owner::Scene, "simulation", message))
        };
        if !solver.demands_stiffness() {
            return Ok(());
        }
        let couples = [SurfaceTerm::TorsionRadius, SurfaceTerm::RollingResistance];
        let couple = couples.into_iter().find(|&term| model.any_has_term(term));
        if let Some(term) = couple.filter(|_| solver.is_penalty()) {
            let why = format!("which has no {}: take \"hybrid\" or \"coupled\"", term.name());
            return fault(why);
        }
        if self.settings.split_impacts {
            return fault("whose impacts take time: leave split_impacts out".into());
        }
        let own = model.pairs.iter().filter(|pair| pair.surfaces.is_none());
        let mut own = own.filter(|pair| !pair.terms.yield_to_forces()).map(|pair| &pair.name[..]);
        match own.next().or(model.shared.as_ref().and_then(|shared| rigid_surface(model, shared))) {
            Some(name) => fault(format!(
                "which needs a stiffness (N/m) in the [[contact]] or material of {name:?}"
            )),
            None => Ok(()),
        }
    }

    /// Names are how parameters are found: no two may be the same.
    pub(super) fn check_names(&self, model: &Model) -> Result<(), Fault> {
        let mut taken = HashSet::new();
        for name in model.told_parameter_names() {
            if taken.contains(&name) {
                let message = format!("the name {name:?} stands for two numbers: rename something");
                return Err(Fault::new(Owner::Scene, "", message));
            }
            taken.insert(name);
        }
        let pairs: HashMap<&str, &Pair> =
            model.pairs.iter().rev().map(|pair| (pair.name.as_str(), pair)).collect();
        for (index, body) in self.bodies.iter().enumerate() {
            if let Some(pair) = pairs.get(body.name.as_str()) {
                let second = model.colliders[pair.second].body;
                let maker = second.map(|second| &model.bodies[second].name);
                let maker = self.bodies.iter().position(|body| Some(&body.name) == maker);
                let message = format!("makes the name {:?}, which is taken", pair.name);
                return Err(Fault::new(Owner::Body(maker.unwrap_or(index)), "name", message));
            }
        }
        Ok(())
    }
}

/// A surface that does not yield, on two solids that can touch each other: of two surfaces one is enough.
fn rigid_surface<'a>(model: &Model, shared: &'a SharedContacts) -> Option<&'a str> {
    let is_rigid = |surface: &usize| !shared.surfaces[*surface].terms.yield_to_forces();
    let rigid = |surface: &Option<usize>| surface.as_ref().filter(|own| is_rigid(own)).copied();
    let ground = shared.grounds.iter().find_map(rigid);
    let mut last = None;
    for (surface, collider) in shared.surface.iter().zip(&model.colliders) {
        let Some(surface) = rigid(surface) else { continue };
        // Those of one body never touch.
        if ground.is_some() || last.replace(collider.body).is_some_and(|body| body != collider.body)
        {
            return Some(&shared.surfaces[surface].name);
        }
    }
    None
}
