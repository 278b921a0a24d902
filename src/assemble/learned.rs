//! Terms that are learned: what they are functions of, and what they act on.

use super::fault::{Fault, Owner};
use super::{Description, LearnedDescription};
use crate::model::{Feature, Integrator, JointKind, LearnedKind, LearnedTerm, Model, Solid};
use crate::network::Network;
use crate::state::{Coordinates, NV};

/// The largest number of weights of a term, and of all.
const MOST_WEIGHTS: usize = 1_000_000;
/// The largest number of things that a term is a function of, or acts on.
const MOST_QUANTITIES: usize = 1_000;
const AXES: [&str; 3] = ["x", "y", "z"];

impl Description {
    /// The terms of a model that has all else.
    pub(super) fn learned(&self, model: &Model) -> Result<Vec<LearnedTerm>, Fault> {
        let integrator = self.settings.integrator;
        let terms = self.learned.iter().enumerate();
        let terms: Vec<LearnedTerm> = terms
            .map(|(index, described)| term(model, integrator, index, described))
            .collect::<Result<_, _>>()?;
        let mut weights = 0;
        for (index, term) in terms.iter().enumerate() {
            weights += term.network.weights();
            if weights > MOST_WEIGHTS {
                let message =
                    format!("make more than {MOST_WEIGHTS} weights of all terms together");
                return Err(Fault::new(Owner::Learned(index), "layers", message));
            }
            let taken = |other: &LearnedTerm| other.pair.is_some() && other.pair == term.pair;
            if let Some(other) = terms[..index].iter().position(taken) {
                let message = "has a learned friction already";
                let fault = Fault::new(Owner::Learned(index), "on", message);
                return Err(fault.with(Owner::Learned(other), "on"));
            }
        }
        Ok(terms)
    }
}

fn term(
    model: &Model,
    integrator: Integrator,
    index: usize,
    described: &LearnedDescription,
) -> Result<LearnedTerm, Fault> {
    let owner = Owner::Learned(index);
    let LearnedDescription { name, kind, of, on, layers, activation, amplitude, range, .. } =
        described;
    let fault = |field: &'static str, message: String| Fault::new(owner, field, message);
    let demand = "must be positive";
    let met = *amplitude > 0.0 && amplitude.is_finite();
    Fault::unless(met, (owner, "amplitude"), demand, *amplitude, "")?;
    for (field, names) in [("of", of), ("on", on)] {
        if names.len() > MOST_QUANTITIES {
            return Err(fault(field, format!("has more than {MOST_QUANTITIES} names")));
        }
        if let Some(twice) = (1..names.len()).find(|&k| names[..k].contains(&names[k])) {
            return Err(fault(field, format!("names {:?} twice", names[twice])));
        }
    }
    if of.is_empty() {
        return Err(fault("of", "must name what it is a function of".to_string()));
    }
    if !range.is_empty() && range.len() != of.len() {
        let message = format!("must be {} pairs, one for each of `of`", of.len());
        return Err(fault("range", message));
    }
    if let Some([least, most]) = range.iter().find(|range| !LearnedTerm::is_range(**range)) {
        return Err(fault(
            "range",
            format!("must be pairs of a least and a largest number, found [{least}, {most}]"),
        ));
    }
    if *kind == LearnedKind::Dissipation && integrator == Integrator::RungeKutta {
        let message = "a dissipation needs steps that are implicit in it, or large ones give energy: take another integrator than runge_kutta";
        return Err(fault("kind", message.to_string()));
    }
    let pair = match kind {
        LearnedKind::Friction => Some(pair(model, on).map_err(|message| fault("on", message))?),
        _ => None,
    };
    let velocities = match kind {
        LearnedKind::Potential if !on.is_empty() => {
            let message = "has no meaning for a potential: it acts on all that it is a function of";
            return Err(fault("on", message.to_string()));
        }
        LearnedKind::Potential | LearnedKind::Friction => Vec::new(),
        LearnedKind::Dissipation | LearnedKind::Force => {
            velocities(model, on).map_err(|message| fault("on", message))?
        }
    };
    let mut features = Vec::new();
    for name in of {
        let found = match pair {
            Some(pair) => places(model, pair, name),
            None => quantities(model, *kind, name),
        };
        features.extend(found.map_err(|message| fault("of", message))?);
    }
    let outputs = if velocities.is_empty() { 1 } else { velocities.len() };
    let sizes = [&[features.len()], &layers[..], &[outputs]].concat();
    let network = Network::new(&sizes, *activation).map_err(|error| fault("layers", error.0))?;
    if network.weights() > MOST_WEIGHTS {
        let message = format!("have {} weights, the limit is {MOST_WEIGHTS}", network.weights());
        return Err(fault("layers", message));
    }
    if let Some(found) = described.archived.as_ref().filter(|found| **found != sizes) {
        let message = format!(
            "are of a network with layers of {found:?} (inputs, hidden layers, outputs), and not of {sizes:?}"
        );
        return Err(fault("weights", message));
    }
    if let Some(weights) = &described.weights {
        if weights.len() != network.weights() {
            let found = weights.len();
            let message = format!(
                "must be {} numbers for layers of {sizes:?} (inputs, hidden layers, outputs), found {found}",
                network.weights()
            );
            return Err(fault("weights", message));
        }
        if let Some(bad) = weights.iter().find(|x| !x.is_finite()) {
            return Err(fault("weights", format!("must be finite, found {bad}")));
        }
    }
    Ok(LearnedTerm {
        name: name.clone(),
        kind: *kind,
        of: of.clone(),
        features,
        range: range.clone(),
        velocities,
        pair,
        amplitude: *amplitude,
        network,
    })
}

/// The contact pair that a friction is of.
fn pair(model: &Model, on: &[String]) -> Result<usize, String> {
    let [name] = on else { return Err("must be one contact pair, such as \"floor-box\"".into()) };
    model.pairs.iter().position(|pair| pair.name == *name).ok_or_else(|| {
        let known: Vec<&str> = model.pairs.iter().map(|pair| pair.name.as_str()).collect();
        let known = if known.is_empty() { "none".to_string() } else { known.join(", ") };
        format!("{name:?} never touch, or have no numbers of their own; pairs that have: {known}")
    })
}

/// The velocities that forces act on, by the names of these.
fn velocities(model: &Model, on: &[String]) -> Result<Vec<usize>, String> {
    let names = model.input_names();
    let forces = |&(v, _): &(usize, &String)| {
        !model
            .bodies
            .iter()
            .any(|body| body.joint.prescribed && (body.joint.v..body.joint.v + NV).contains(&v))
    };
    let known: Vec<(usize, &String)> =
        names[..model.nv()].iter().enumerate().filter(forces).collect();
    let told = || known.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(", ");
    if on.is_empty() {
        return Err(format!("must name what it acts on, of {}", told()));
    }
    let find = |name: &String| {
        let found = known.iter().find(|(_, other)| *other == name);
        found
            .map(|(v, _)| *v)
            .ok_or_else(|| format!("there is no force {name:?}; there are {}", told()))
    };
    on.iter().map(find).collect()
}

/// The inputs of a network that a number of the state is.
fn quantities(model: &Model, kind: LearnedKind, name: &str) -> Result<Vec<Feature>, String> {
    if let Some(v) = model.velocity_names().iter().position(|other| other == name) {
        if kind == LearnedKind::Potential {
            return Err(format!(
                "{name:?} is a velocity: a potential is a function of coordinates"
            ));
        }
        return Ok(vec![Feature::Velocity { v }]);
    }
    let Some(q) = model.configuration_names().iter().position(|other| other == name) else {
        let known = [model.configuration_names(), model.velocity_names()].concat().join(", ");
        return Err(format!("the scene has no {name:?}; it has {known}"));
    };
    let mut owners = model.bodies.iter().map(|body| &body.joint);
    let joint = owners.find(|joint| (joint.q..joint.q + joint.kind.nq()).contains(&q));
    let Some(joint) = joint else { return Err(format!("{name:?} does not move")) };
    if let Some((first, turn)) = joint.kind.coordinates().and_then(|c| c.quaternion())
        && q >= joint.q + first
    {
        let (first, v) = (joint.q + first, joint.v + turn);
        return Ok(vec![Feature::Quaternion { q: first, v, component: q - first }]);
    }
    let v = joint.v + (q - joint.q);
    // What turns in place is where it was after a turn.
    let comes_round = joint.kind.screw().is_some_and(|screw| screw.turns && screw.advance == 0.0);
    Ok(match comes_round {
        true => vec![Feature::Sine { q, v }, Feature::Cosine { q, v }],
        false => vec![Feature::Coordinate { q, v }],
    })
}

/// A coordinate on the surface of one of a pair.
fn places(model: &Model, pair: usize, name: &str) -> Result<Vec<Feature>, String> {
    let (first, second) = model.solids(pair);
    let known = |owner: &str| format!("{owner}/x, {owner}/y, {owner}/z");
    let solids = [first, Solid::Collider(second)];
    let mut told = Vec::new();
    for solid in solids {
        let (owner, body) = match solid {
            Solid::HalfSpace(index) => (&model.half_spaces[index].name, None),
            Solid::Collider(index) => {
                let collider = &model.colliders[index];
                match collider.body {
                    Some(body) => (&model.bodies[body].name, Some(body)),
                    None => (&collider.name, None),
                }
            }
        };
        let field = name.strip_prefix(owner.as_str()).and_then(|rest| rest.strip_prefix('/'));
        if let Some(axis) = field.and_then(|field| AXES.iter().position(|axis| *axis == field)) {
            if body.is_some_and(|body| model.bodies[body].tree.is_none()) {
                return Err(format!(
                    "{owner:?} does not move: give it as a [[shape]] of the world"
                ));
            }
            // In the world, what touches there is about where the body is.
            let mover = model.moving_bodies(first, second).into_iter().flatten().next_back();
            let joint = mover.map(|body| &model.bodies[body].joint);
            let is_pose = |kind: JointKind| kind.coordinates() == Some(Coordinates::Pose);
            let joint = joint.filter(|joint| body.is_none() && is_pose(joint.kind));
            return Ok(vec![Feature::Place {
                body,
                axis,
                near: joint.map(|joint| joint.q + axis),
            }]);
        }
        told.push(known(owner));
    }
    Err(format!("the surfaces of the pair have no {name:?}; they have {}", told.join(", ")))
}
