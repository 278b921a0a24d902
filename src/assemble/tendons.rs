//! Springs, cables and tendons: what they pull, and how long they are at rest.

use super::fault::{Fault, Owner};
use super::start::FAST;
use super::{Description, TendonDescription, TendonPathDescription};
use crate::Error;
use crate::dynamics::{Kinematics, TendonMobility, tendon_length};
use crate::model::{JointKind, Model, Scene, Tendon, TendonPath};

/// The square of time step and frequency, or time step over decay time, from which on explicit springs and dampers are not to be
/// trusted: they grow from 4 and 2 on.
const STIFF: f64 = 1.0;

impl Description {
    /// The tendons of a model that has its bodies.
    pub(super) fn tendons(&self, model: &Model) -> Result<Vec<Tendon>, Fault> {
        let tendon = |(index, described): (usize, &TendonDescription)| {
            let owner = Owner::Tendon(index);
            let path = match &described.path {
                TendonPathDescription::Joints(joints) => {
                    let mut bodies = Vec::new();
                    for (name, _) in joints {
                        let body = self.find_axis(model, (owner, "joints"), name)?;
                        if bodies.contains(&body) {
                            let message = format!("{name:?} is named twice");
                            return Err(Fault::new(owner, "joints", message));
                        }
                        bodies.push(body);
                    }
                    TendonPath::Joints(bodies)
                }
                TendonPathDescription::Points(points) => {
                    let body = |(name, _): &(Option<String>, [f64; 3])| {
                        let Some(name) = name else { return Ok(None) };
                        let found = model.bodies.iter().position(|body| body.name == *name);
                        let known = || {
                            let names = model.bodies.iter().map(|body| body.name.as_str());
                            let known = names.collect::<Vec<_>>().join(", ");
                            let message = format!("the scene has no body {name:?}; it has {known}");
                            Fault::new(owner, "bodies", message)
                        };
                        found.map(Some).ok_or_else(known)
                    };
                    TendonPath::Points(points.iter().map(body).collect::<Result<_, _>>()?)
                }
            };
            let mut trees: Vec<usize> =
                path.bodies().filter_map(|body| model.bodies[body].tree).collect();
            trees.sort_unstable();
            trees.dedup();
            let field = if matches!(path, TendonPath::Joints(_)) { "joints" } else { "bodies" };
            if trees.is_empty() {
                return Err(Fault::new(owner, field, "nothing that it pulls moves"));
            }
            if let TendonPath::Points(bodies) = &path {
                // What moves with a body: itself, and what is fixed to it.
                let carrier = |body: &Option<usize>| {
                    let mut at = *body;
                    while let Some(body) = at
                        && model.bodies[body].joint.kind == JointKind::Fixed
                    {
                        at = model.bodies[body].parent;
                    }
                    at
                };
                if bodies.iter().all(|body| carrier(body) == carrier(&bodies[0])) {
                    let message = "are points of one body: its length never changes";
                    return Err(Fault::new(owner, field, message));
                }
                if let Some([_, upper]) = described.range.filter(|[_, upper]| *upper <= 0.0) {
                    let place = (owner, "range");
                    let demand = "must end above 0: lines have no other lengths";
                    Fault::unless(false, place, demand, upper, "m")?;
                }
            }
            if trees.len() > 2 && (described.range.is_some() || described.friction > 0.0) {
                let field = if described.range.is_some() { "range" } else { "friction" };
                let message = format!(
                    "is for tendons between two bodies or robots that move on their own; this one pulls {}",
                    trees.len()
                );
                return Err(Fault::new(owner, field, message));
            }
            let (limited, pulls_only) = (described.range.is_some(), described.pulls_only);
            let has_conditions = limited || described.friction > 0.0;
            let held = described.range.is_some_and(|[lower, upper]| lower == upper);
            let name = described.name.clone();
            Ok(Tendon { name, path, limited, held, has_conditions, pulls_only })
        };
        self.tendons.iter().enumerate().map(tendon).collect()
    }

    /// Numbers of tendons must make sense.
    pub(super) fn check_tendons(&self) -> Result<(), Fault> {
        for (index, tendon) in self.tendons.iter().enumerate() {
            let owner = Owner::Tendon(index);
            for (field, number) in [
                ("stiffness", tendon.stiffness),
                ("damping", tendon.damping),
                ("slack", tendon.slack),
                ("friction", tendon.friction),
            ] {
                let met = number.is_finite() && number >= 0.0;
                Fault::unless(met, (owner, field), "must be finite and not negative", number, "")?;
            }
            let rest = tendon.rest.unwrap_or(0.0);
            Fault::unless(rest.is_finite(), (owner, "rest"), "must be finite", rest, "")?;
            if let Some([lower, upper]) = tendon.range {
                let met = lower.is_finite() && upper.is_finite() && lower <= upper;
                let demand = "must be a least and a largest length";
                Fault::unless(met, (owner, "range"), demand, lower, "")?;
            }
            match &tendon.path {
                TendonPathDescription::Joints(joints) => {
                    let demand = "must be finite and not 0";
                    for &(_, number) in joints {
                        let met = number.is_finite() && number != 0.0;
                        Fault::unless(met, (owner, "coefficients"), demand, number, "")?;
                    }
                    let any = !joints.is_empty();
                    let message = "names nothing";
                    any.then_some(()).ok_or_else(|| Fault::new(owner, "joints", message))?;
                }
                TendonPathDescription::Points(points) => {
                    if points.len() < 2 {
                        let message = "must be two points or more";
                        return Err(Fault::new(owner, "points", message));
                    }
                    let numbers = points.iter().flat_map(|(_, point)| point);
                    for &number in numbers {
                        let met = number.is_finite();
                        Fault::unless(met, (owner, "points"), "must be finite", number, "m")?;
                    }
                }
            }
        }
        Ok(())
    }

    /// What is to be as long at rest as at the start is, and what is too stiff for the time step is told: tendons pull with the forces
    /// that they have as a step begins.
    pub(super) fn rest_tendons(&self, scene: &mut Scene) {
        if self.tendons.is_empty() {
            return;
        }
        let Scene { model, parameters, state, settings, warnings, .. } = scene;
        let kinematics = Kinematics::new(model, parameters, state);
        let mobility_of = TendonMobility::new(model, parameters, &kinematics);
        let mut slopes = Vec::new();
        for (index, described) in self.tendons.iter().enumerate() {
            let at = (&kinematics, &*state);
            let length = tendon_length(model, parameters, at, index, &mut slopes);
            if described.rest.is_none() {
                let slot = model.tendon_slots(index).rest;
                parameters.values[slot] = length;
            }
            let mobility = mobility_of.along(model, &slopes);
            let dt = settings.time_step;
            let (line, path) = Owner::Tendon(index).place(self);
            if let Some([lower, upper]) = described.range.filter(|[lower, upper]| lower < upper) {
                let beyond = (lower - length).max(length - upper);
                let speed = settings.baumgarte * beyond / dt;
                if speed > FAST {
                    let message = format!(
                        "starts {beyond:.3e} beyond its end, at a length of {length}: it is pulled back at {speed:.1e} a second"
                    );
                    let place = format!("{path}.range");
                    warnings.push(Error::input(&self.name, line, place, message));
                }
            }
            if settings.integrator.is_backward() {
                continue;
            }
            let rate = dt * described.damping * mobility;
            let square = dt * dt * described.stiffness * mobility;
            let (field, most) = if rate > STIFF {
                ("damping", described.damping / rate)
            } else if square > STIFF {
                ("stiffness", described.stiffness / square)
            } else {
                continue;
            };
            let message = format!(
                "is large for steps of {dt} s, over which tendons pull as they do at the start of each: with what it moves, more than {most:.2e} \
                 may swing or grow; take shorter steps, or `range` for what does not stretch"
            );
            warnings.push(Error::input(&self.name, line, format!("{path}.{field}"), message));
        }
    }
}

impl TendonDescription {
    /// A tendon of a scene, where `joint` names the joint of a body.
    pub(super) fn of(scene: &Scene, index: usize, joint: impl Fn(usize) -> String) -> Self {
        let Scene { model, parameters, .. } = scene;
        let Tendon { name, path, limited, held, pulls_only, .. } = &model.tendons[index];
        let path = match path {
            TendonPath::Joints(bodies) => {
                let number = |place: usize| parameters.tendon_coefficient(model, index, place);
                let named = bodies.iter().enumerate();
                TendonPathDescription::Joints(
                    named.map(|(place, &body)| (joint(body), number(place))).collect(),
                )
            }
            TendonPath::Points(bodies) => {
                let point = |place: usize| parameters.tendon_point(model, index, place).into();
                let named = |body: usize| model.bodies[body].name.clone();
                let all = bodies.iter().enumerate();
                TendonPathDescription::Points(
                    all.map(|(place, body)| (body.map(named), point(place))).collect(),
                )
            }
        };
        let [rest, longest] = parameters.tendon_rest(model, index);
        let [lower, upper] = parameters.tendon_range(model, index);
        TendonDescription {
            line: None,
            name: name.clone(),
            path,
            stiffness: parameters.tendon_stiffness(model, index),
            damping: parameters.tendon_damping(model, index),
            rest: Some(rest),
            slack: longest - rest,
            pulls_only: *pulls_only,
            range: limited.then_some(if *held { [lower, lower] } else { [lower, upper] }),
            friction: parameters.tendon_friction(model, index),
        }
    }
}
