//! What a sensor reads of what acts in steps.

use crate::model::{EqualityKind, Model, Solid, TendonPath};

/// What acts on something over a step, beyond what a state tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepLoad {
    /// The force of all contacts, N: x, y, z in the world.
    Contacts(LoadedSolid),
    /// What the joint of a body hands to it along or about its axis, N or N m: one number.
    Joint(usize),
}

impl StepLoad {
    /// How many numbers it is.
    pub fn channels(self) -> usize {
        match self {
            StepLoad::Contacts(_) => 3,
            StepLoad::Joint(_) => 1,
        }
    }
}

/// Why what a joint hands on is not told; nothing if it is.
pub(crate) fn untold_joint(model: &Model, body: usize) -> Option<&'static str> {
    let joint = model.bodies[body].joint.kind;
    let coupled = |equality: &crate::model::Equality| {
        equality.kind == EqualityKind::Joint && equality.bodies.contains(&Some(body))
    };
    let pulled = |path: &TendonPath| matches!(path, TendonPath::Joints(own) if own.contains(&body));
    if !joint.has_axis() {
        Some("has no joint with an axis")
    } else if model.equalities.iter().any(coupled) {
        Some(
            "follows another joint, or leads one: what its joint hands on is not told apart from that",
        )
    } else if model.tendons.iter().any(|tendon| pulled(&tendon.path)) {
        Some("is moved by a tendon of joints: what its joint hands on is not told apart from that")
    } else if !model.learned.is_empty() {
        Some("is in a scene with learned terms, which may act at its joint")
    } else {
        None
    }
}

/// What contact forces act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadedSolid {
    /// A body, with all of its shapes.
    Body(usize),
    /// A half-space.
    HalfSpace(usize),
    /// The second solid of a pair, by the first one alone.
    Pair(usize),
}

impl LoadedSolid {
    /// What is called so: a body, a half-space or a pair that is listed; else what there is.
    pub(crate) fn named(model: &Model, name: &str) -> Result<LoadedSolid, String> {
        let body = model.bodies.iter().position(|body| body.name == name);
        let half_space = || model.half_spaces.iter().position(|plane| plane.name == name);
        let pair = || (0..model.pairs.len()).find(|&pair| model.pair_name(pair) == name);
        let found = body.map(LoadedSolid::Body);
        let found = found.or_else(|| half_space().map(LoadedSolid::HalfSpace));
        found.or_else(|| pair().map(LoadedSolid::Pair)).ok_or_else(|| {
            let planes = model.half_spaces.iter().map(|plane| plane.name.clone());
            let bodies = model.bodies.iter().map(|body| body.name.clone());
            let pairs = (0..model.pairs.len()).map(|pair| model.pair_name(pair));
            let known: Vec<String> = planes.chain(bodies).chain(pairs).collect();
            const MOST: usize = 20;
            let more = match known.len().saturating_sub(MOST) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!(
                "the scene has no body, half-space or contact pair {name:?}; it has {}{more}; of many shapes, a pair needs a [[contact]] to have a name",
                known[..known.len().min(MOST)].join(", ")
            )
        })
    }

    /// Whether it can touch anything: it has shapes that something meets.
    pub(crate) fn can_touch(self, model: &Model) -> bool {
        match self {
            LoadedSolid::Body(body) => {
                model.colliders.iter().any(|collider| collider.body == Some(body))
            }
            LoadedSolid::HalfSpace(_) | LoadedSolid::Pair(_) => true,
        }
    }

    /// What part of the force of a pair on its second solid acts on this: 1, -1 or 0.
    pub(crate) fn share(self, model: &Model, pair: usize) -> f64 {
        let (first, second) = model.solids(pair);
        let body_of = |solid: Solid| match solid {
            Solid::HalfSpace(_) => None,
            Solid::Collider(collider) => model.colliders[collider].body,
        };
        let acts = |is: bool, sign: f64| if is { sign } else { 0.0 };
        match self {
            LoadedSolid::Body(body) => {
                acts(body_of(Solid::Collider(second)) == Some(body), 1.0)
                    + acts(body_of(first) == Some(body), -1.0)
            }
            LoadedSolid::HalfSpace(plane) => acts(first == Solid::HalfSpace(plane), -1.0),
            LoadedSolid::Pair(own) => acts(pair == own, 1.0),
        }
    }
}
