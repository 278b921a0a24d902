//! What a system is made of; its numbers that may be unknown are [`PointParameters`].

use std::fmt;

use super::contact::PointContact;
use super::point_constraint::PointConstraint;
use super::point_layout::{ExtendedBody, PointLayout};
use super::point_parameters::PointParameters;
use super::point_rows::PointRows;
use super::potential::{Potential, Spring};
use crate::ad::Real;

/// What is wrong with a system or its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct SystemError(pub String);

impl fmt::Display for SystemError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SystemError {}

/// A system of points in two or three dimensions. Everything that is fixed about it.
#[derive(Clone, Debug)]
pub struct PointSystem {
    layout: PointLayout,
    /// Bodies that constraints connect have one number.
    component: Vec<usize>,
    constraints: Vec<PointConstraint>,
    equations: usize,
    contacts: Vec<PointContact>,
    surfaces: usize,
    /// The known potential.
    pub potential: Potential,
    /// Length of a step (s).
    pub step: f64,
}

impl PointSystem {
    /// A system of `bodies` with the constraints and contacts given; those that keep axes of unit length and at right
    /// angles are added.
    ///
    /// # Errors
    /// If the dimension is not 2 or 3, a body has other than 0 or `dimension` axes, a constraint or a contact names what
    /// there is not, or a number is not finite or of the wrong sign.
    pub fn new(
        dimension: usize,
        bodies: Vec<ExtendedBody>,
        constraints: Vec<PointConstraint>,
        contacts: Vec<PointContact>,
        potential: Potential,
        step: f64,
    ) -> Result<PointSystem, SystemError> {
        let fail = |message: String| Err(SystemError(message));
        if !matches!(dimension, 2 | 3) {
            return fail(format!("dimension: must be 2 or 3, found {dimension}"));
        }
        if !(step > 0.0 && step.is_finite()) {
            return fail(format!("step: must be positive, found {step} (s)"));
        }
        for (k, body) in bodies.iter().enumerate() {
            if body.axes != 0 && body.axes != dimension {
                let axes = body.axes;
                return fail(format!("body {k}: must have 0 or {dimension} axes, found {axes}"));
            }
            if !(body.radius >= 0.0 && body.radius.is_finite()) {
                let radius = body.radius;
                return fail(format!("body {k}: radius must not be negative, found {radius} (m)"));
            }
        }
        if bodies.is_empty() {
            return fail("a system needs a body".into());
        }
        let layout = PointLayout::new(dimension, bodies);
        let mut all = Vec::new();
        for (k, body) in layout.bodies().iter().enumerate() {
            let centre = layout.centre(k);
            for k in 1..body.points() {
                all.push(PointConstraint::Rod { points: [centre, centre + k], length: 1.0 });
                for j in 1..k {
                    let points = [centre + j, centre + k];
                    all.push(PointConstraint::Rod { points, length: std::f64::consts::SQRT_2 });
                }
            }
        }
        all.extend(constraints);
        let points = layout.points();
        for (k, constraint) in all.iter().enumerate() {
            if let PointConstraint::Rod { points: [i, j], .. } = constraint
                && i == j
            {
                return fail(format!("a rod holds two points, found {i} twice"));
            }
            if let Some(point) = constraint.points().into_iter().find(|&p| p >= points) {
                return fail(format!("constraint {k}: there is no point {point}, only {points}"));
            }
        }
        if let Some((k, _)) = all.iter().enumerate().find(|(_, constraint)| !constraint.is_sound())
        {
            let message = "lengths must be positive, weights not all zero, and all numbers finite";
            return fail(format!("constraint {k}: {message}"));
        }
        let sound = |spring: &Spring| {
            spring.stiffness > 0.0 && spring.length > 0.0 && spring.stiffness.is_finite()
        };
        if potential.gravity.iter().any(|g| !g.is_finite()) || !potential.springs.iter().all(sound)
        {
            return fail(
                "gravity must be finite, stiffness and length of a spring positive".into(),
            );
        }
        for spring in &potential.springs {
            let ends = [Some(spring.point), spring.from.ok()];
            if let Some(point) = ends.into_iter().flatten().find(|&p| p >= points) {
                return fail(format!("spring: there is no point {point}, only {points}"));
            }
        }
        let mut surfaces = 0;
        for (k, contact) in contacts.iter().enumerate() {
            if let Err(message) = contact.geometry.check(&layout) {
                return fail(format!("contact {k}: {message}"));
            }
            surfaces = surfaces.max(contact.surface + 1);
        }
        let component = connected(&layout, &all);
        let equations = all.iter().map(|c| c.equations(dimension)).sum();
        Ok(PointSystem {
            layout,
            component,
            constraints: all,
            equations,
            contacts,
            surfaces,
            potential,
            step,
        })
    }

    /// Its points.
    pub fn layout(&self) -> &PointLayout {
        &self.layout
    }

    /// 2 or 3.
    pub fn dimension(&self) -> usize {
        self.layout.dimension()
    }

    /// How many points there are.
    pub fn points(&self) -> usize {
        self.layout.points()
    }

    /// How many numbers positions are, and velocities.
    pub fn coordinates(&self) -> usize {
        self.layout.coordinates()
    }

    /// The bodies.
    pub fn bodies(&self) -> &[ExtendedBody] {
        self.layout.bodies()
    }

    /// Which of the sets of bodies that constraints connect the body of a point is in.
    pub(super) fn component_of(&self, point: usize) -> usize {
        self.component[self.layout.body_of(point)]
    }

    /// All constraints, those within bodies first.
    pub fn constraints(&self) -> &[PointConstraint] {
        &self.constraints
    }

    /// E, how many equations they are.
    pub fn equations(&self) -> usize {
        self.equations
    }

    /// What may touch what.
    pub fn contacts(&self) -> &[PointContact] {
        &self.contacts
    }

    /// How many surfaces there are, of a friction and a restitution each.
    pub fn surfaces(&self) -> usize {
        self.surfaces
    }

    /// Whether parameters fit the system and are physical.
    ///
    /// # Errors
    /// Says which is missing, or out of its range.
    pub fn check<T: Real>(&self, parameters: &PointParameters<T>) -> Result<(), SystemError> {
        let PointParameters { masses, moments, friction, restitution } = parameters;
        for (name, found, expected) in [
            ("masses", masses.len(), self.bodies().len()),
            ("moments", moments.len(), self.layout.moments()),
            ("friction", friction.len(), self.surfaces),
            ("restitution", restitution.len(), self.surfaces),
        ] {
            if found != expected {
                return Err(SystemError(format!(
                    "{name}: must be {expected} numbers, found {found}"
                )));
            }
        }
        let positive = |x: f64| x > 0.0 && x.is_finite();
        let each = |name: &str, numbers: &[T], good: &dyn Fn(f64) -> bool, what: &str| match numbers
            .iter()
            .map(|x| x.value())
            .enumerate()
            .find(|&(_, x)| !good(x))
        {
            Some((k, x)) => Err(SystemError(format!("{name}[{k}]: must be {what}, found {x}"))),
            None => Ok(()),
        };
        each("masses", masses, &positive, "positive (kg)")?;
        each("moments", moments, &positive, "positive (m^2)")?;
        each("friction", friction, &|x| x >= 0.0 && x.is_finite(), "not negative")?;
        each("restitution", restitution, &|x| (0.0..=1.0).contains(&x), "from 0 to 1")
    }

    /// How far positions are from the constraints, and velocities, both relative: the largest |Phi| over the square of its length, or, of a
    /// ball joint, over what its terms come to; and the largest |J_E v| over what it would come to at the largest speed.
    pub fn violation(&self, x: &[f64], v: &[f64]) -> (f64, f64) {
        let d = self.dimension();
        let (mut phi, mut rows) = (Vec::new(), PointRows::default());
        let largest = |m: f64, x: f64| if m.is_nan() || x.abs() <= m { m } else { x.abs() };
        let fastest = v.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        let mut worst = (0.0, 0.0);
        for constraint in &self.constraints {
            phi.clear();
            rows.clear(d);
            constraint.violation(d, x, &mut phi);
            constraint.rows(d, x, true, &mut rows);
            let scale = constraint.scale(d, x);
            // Where all terms are zero there is nothing to be off by.
            let relative = |phi: &f64| if scale == 0.0 { *phi } else { phi / scale };
            worst.0 = phi.iter().map(relative).fold(worst.0, largest);
            for i in 0..rows.len() {
                let entries = rows.row(i).flat_map(|(_, entry)| entry.iter().take(d));
                let scale = fastest * entries.map(|e| e.abs()).sum::<f64>();
                let rate = rows.dot(i, v);
                worst.1 = largest(worst.1, if scale == 0.0 { rate } else { rate / scale });
            }
        }
        worst
    }
}

/// For each body the first of those that constraints connect it with.
fn connected(layout: &PointLayout, constraints: &[PointConstraint]) -> Vec<usize> {
    let mut component: Vec<usize> = (0..layout.bodies().len()).collect();
    for constraint in constraints {
        let held = constraint.points();
        for pair in held.windows(2) {
            let [a, b] = [0, 1].map(|k| component[layout.body_of(pair[k])]);
            component.iter_mut().filter(|c| **c == a.max(b)).for_each(|c| *c = a.min(b));
        }
    }
    component
}
