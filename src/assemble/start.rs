//! What is in each other where a scene starts: shapes at a joint, that are left alone, and others, that are a fault.

use std::collections::HashSet;

use nalgebra::{Matrix3, Vector3};

use super::Description;
use super::fault::{Fault, Owner};
use super::overlap::{self, Placed};
use super::separation::separate;
use crate::Error;
use crate::dynamics::Kinematics;
use crate::model::{Collider, HalfSpace, JointKind, Model, Plane, Scene, Solid, whole};
use crate::spatial::rotation_matrix;
use crate::state::State;

/// The part of the thickness of a shape that it may start deep in another.
const SHALLOW: f64 = 0.1;

/// The same of shapes at a joint, which are left alone beyond it: the thinner one is in the other beyond its middle, so
/// that it is meant to be there. What is less deep may be fingers that close, or a drawer that is a little too low.
const INSIDE: f64 = 1.0;

/// Joints that are pushed back from beyond their limits faster than this are worth a warning, m/s or rad/s.
pub(super) const FAST: f64 = 10.0;

/// So many pairs of shapes may be near each other at the start: what each of 10,000 bodies has around it in a heap, ten
/// times over.
const MOST_NEAR: usize = 2_000_000;

/// What a point of contact takes where it is solved for, with its share of all that solvers keep.
const POINT_BYTES: usize = 10_000;

/// Two shapes in each other.
struct Overlap {
    first: usize,
    second: usize,
    /// How deep, m.
    depth: f64,
    /// The smallest half extent or radius of both, m.
    thickness: f64,
}

/// Colliders that pass through each other, in ascending order, with a warning for each pair.
type Passing = (Vec<(usize, usize)>, Vec<Error>);

/// Where the shapes of a scene are in a state.
fn places<'a>(scene: &'a Scene, state: &State<f64>) -> Vec<Placed<'a>> {
    let Scene { model, parameters, .. } = scene;
    let kinematics = Kinematics::new(model, parameters, state);
    let placed = |(index, collider): (usize, &'_ Collider)| {
        let (position, turn) = match collider.body {
            None => (Vector3::zeros(), Matrix3::identity()),
            Some(body) => {
                let body = &kinematics.bodies[body];
                (body.position, body.rotation)
            }
        };
        let position = position + turn * parameters.collider_position(model, index);
        let rotation = turn * rotation_matrix(collider.orientation);
        (parameters.core(model, index), rotation, position)
    };
    let placed = model.colliders.iter().enumerate().map(|of| (&of.1.shape, placed(of)));
    let placed = placed.map(|(shape, ((size, radius), rotation, position))| Placed {
        shape,
        size: size.into(),
        radius,
        rotation,
        position,
    });
    placed.collect()
}

/// The shapes that touch and start too deep in each other. An error if so many are near each other that no memory holds
/// what they would do.
fn overlaps(model: &Model, places: &[Placed]) -> Result<Vec<Overlap>, Fault> {
    let may_touch = |a, b| model.pair(Solid::Collider(a), b).is_some();
    let near = overlap::near(places, MOST_NEAR, may_touch).ok_or_else(|| {
        let message = format!(
            "more than {MOST_NEAR} pairs of its {} shapes are within reach of each other; at four points each and \
             {POINT_BYTES} bytes a point their contacts would take more than {} GB: spread them out",
            places.len(),
            4 * MOST_NEAR / 1000 * POINT_BYTES / 1_000_000,
        );
        Fault::new(Owner::Scene, "body", message)
    })?;
    let deep = near.into_iter().filter_map(|(first, second)| {
        let depth = overlap::depth(&places[first], &places[second]);
        let thickness = overlap::least_thickness(&places[first], &places[second]);
        (depth > SHALLOW * thickness).then_some(Overlap { first, second, depth, thickness })
    });
    Ok(deep.collect())
}

/// Which bodies are joined, by a joint or by several with nothing but bodies without shapes between them.
struct Neighbors<'a> {
    model: &'a Model,
    /// The topmost of bodies that are fixed to each other, of all that have shapes.
    shaped: HashSet<usize>,
}

impl Neighbors<'_> {
    fn new(model: &Model) -> Neighbors<'_> {
        let owners = model.colliders.iter().filter_map(|collider| collider.body);
        Neighbors { model, shaped: owners.filter_map(|body| whole(model, body)).collect() }
    }

    /// A body (nothing is the world), what it hangs on, and so on up to the world or to a body that floats.
    fn chain(&self, body: Option<usize>) -> Vec<Option<usize>> {
        let mut top = body.and_then(|body| whole(self.model, body));
        let mut chain = vec![top];
        while let Some(body) = top
            && self.model.bodies[body].joint.kind != JointKind::Free
        {
            top = self.model.bodies[body].parent.and_then(|parent| whole(self.model, parent));
            chain.push(top);
        }
        chain
    }

    /// Whether two bodies meet at a joint: one hangs on the other, or both on a third that is not the world.
    fn meet(&self, first: Option<usize>, second: Option<usize>) -> bool {
        let chains = [self.chain(first), self.chain(second)];
        let both = chains[0].iter().position(|body| chains[1].contains(body));
        let Some(common) = both.map(|place| chains[0][place]) else { return false };
        let ends = chains.iter().any(|chain| chain[0] == common);
        let between = chains.iter().flat_map(|chain| {
            let inner = chain.iter().skip(1).take_while(move |&&body| body != common);
            inner.filter_map(|body| *body)
        });
        (ends || common.is_some()) && between.into_iter().all(|body| !self.shaped.contains(&body))
    }
}

impl Description {
    /// The shapes that are inside each other where their bodies are joined, though no contact names them, at the start
    /// and in all keyframes: they are left to pass through each other. With a warning about each pair.
    pub(super) fn overlapping_neighbors(
        &self,
        scene: &Scene,
        order: &[usize],
    ) -> Result<Passing, Fault> {
        let model = &scene.model;
        let inside = |state: &State<f64>| {
            let found = overlaps(model, &places(scene, state))?.into_iter();
            let inside = found.filter(|overlap| overlap.depth > INSIDE * overlap.thickness);
            Ok(inside.collect::<Vec<_>>())
        };
        let mut overlaps = inside(&scene.state)?;
        for q in scene.keyframes.iter().filter_map(|keyframe| keyframe.q.as_ref()) {
            let there = inside(&State { q: q.clone(), ..scene.state.clone() })?;
            let is_there = |of: &Overlap| {
                there.iter().any(|other| (other.first, other.second) == (of.first, of.second))
            };
            overlaps.retain(is_there);
        }
        if overlaps.is_empty() {
            return Ok((Vec::new(), Vec::new()));
        }
        let (neighbors, named) = (Neighbors::new(model), self.named(model));
        let body = |collider: usize| model.colliders[collider].body;
        let joined = overlaps.into_iter().filter(|&Overlap { first, second, .. }| {
            neighbors.meet(body(first), body(second))
                && !named.contains_key(&(Solid::Collider(first), second))
        });
        let left_out = joined.map(|Overlap { first, second, depth, thickness }| {
            let message = format!(
                "starts {depth:.3e} m deep in {:?}, which is more than the smallest half extent or radius of both, \
                 {thickness} m: as their bodies are joined, these two shapes pass through each other; a contact of \
                 the pair {:?} would let them touch",
                model.colliders[first].name,
                model.solids_name(Solid::Collider(first), second),
            );
            let (line, path) = owner(model, order, second).place(self);
            let warning = Error::input(&self.name, line, format!("{path}.shape"), message);
            ((first, second), warning)
        });
        Ok(left_out.unzip())
    }

    /// Pushes apart what starts too deep in something, where the description says so, and says what was done.
    pub(super) fn push_apart(&self, scene: &mut Scene) -> Result<(), Fault> {
        if self.push_overlaps
            && let Some(message) = push_apart(scene)?
        {
            scene.warnings.push(Error::input(&self.name, None, "overlap", message));
        }
        Ok(())
    }

    /// What starts inside something would be thrown out of it: an error of bodies that are free, of others a warning.
    pub(super) fn check_start(&self, scene: &mut Scene, order: &[usize]) -> Result<(), Fault> {
        let mut warnings = Vec::new();
        let model = &scene.model;
        let on_joint = |collider: usize| {
            let body = model.colliders[collider].body;
            body.is_some_and(|body| model.bodies[body].joint.kind != JointKind::Free)
        };
        for (body, found) in beyond_limits(scene) {
            // Others may start elsewhere, at a keyframe.
            if !self.keyframes.is_empty() {
                break;
            }
            let (line, path) = Owner::Body(order[body]).place(self);
            warnings.push(Error::input(&self.name, line, format!("{path}.joint.q"), found));
        }
        for Deep { first, second, message } in too_deep(scene, self.push_overlaps)? {
            // Joints may take what is deep apart slowly, or start elsewhere, at a keyframe.
            let on_joint = on_joint(second) || first.is_some_and(on_joint);
            if on_joint && !self.keyframes.is_empty() {
                continue;
            }
            let owner = owner(model, order, second);
            if self.strict && !on_joint {
                return Err(Fault::new(owner, "position", message));
            }
            let (line, path) = owner.place(self);
            warnings.push(Error::input(&self.name, line, format!("{path}.position"), message));
        }
        scene.warnings.extend(warnings);
        Ok(())
    }
}

/// Pushes apart what starts too deep in something, if anything does; says what was done.
fn push_apart(scene: &mut Scene) -> Result<Option<String>, Fault> {
    scene.pushed_apart = None;
    if too_deep(scene, true)?.is_empty() {
        return Ok(None);
    }
    let separation = separate(scene);
    let message = separation.sentence(&scene.model);
    scene.state = separation.state;
    scene.pushed_apart = Some(separation.pushed_apart);
    Ok(Some(message))
}

impl Scene {
    /// Pushes apart the shapes that are too deep in each other in the state of the scene, as `overlap = "push"` does at the
    /// start of a file; says what was done, if anything was. `name` stands for the file in messages.
    ///
    /// # Errors
    /// If so many shapes are near each other that no memory holds what they would do.
    pub fn push_apart(&mut self, name: &str) -> Result<Option<Error>, Error> {
        let error = |field: &str, message: &str| Error::input(name, None, field, message);
        let pushed =
            push_apart(self).map_err(|fault| fault.error(|_, field, said| error(field, said)))?;
        Ok(pushed.map(|message| error("overlap", &message)))
    }
}

/// A shape that starts too deep in another or, where there is no first, in a half-space, and what to say of it.
struct Deep {
    first: Option<usize>,
    second: usize,
    message: String,
}

/// All of them; `pushed`: what could be parted is.
fn too_deep(scene: &Scene, pushed: bool) -> Result<Vec<Deep>, Fault> {
    let Scene { model, parameters, .. } = scene;
    let places = places(scene, &scene.state);
    let part = match pushed {
        true => "pushing them apart found no place for both: move it",
        false => "move it, push them apart with overlap = \"push\"",
    };
    let mut found = Vec::new();
    for pair in &model.pairs {
        let Solid::HalfSpace(ground) = pair.first else { break };
        let second = &places[pair.second];
        let HalfSpace { name, .. } = &model.half_spaces[ground];
        let Plane { normal, offset } = parameters.plane(model, ground);
        let height = normal.dot(&second.position) - offset;
        let (depth, least) = (second.reach(normal) - height, second.thickness());
        if depth > SHALLOW * least {
            let message = format!(
                "starts {depth:.3e} m deep in {name:?}, which is more than a tenth of its smallest half extent or \
                 radius, {least} m; {part}"
            );
            found.push(Deep { first: None, second: pair.second, message });
        }
    }
    for Overlap { first, second, depth, thickness } in overlaps(model, &places)? {
        let message = format!(
            "starts {depth:.3e} m deep in {:?}, which is more than a tenth of the smallest half extent or radius of \
             both, {thickness} m; {part}, or let them pass through each other with collide = false in a [[contact]] of \
             the pair",
            model.colliders[first].name
        );
        found.push(Deep { first: Some(first), second, message });
    }
    Ok(found)
}

/// Joints that start so far beyond a limit that they are pushed back fast, and what to say of each.
fn beyond_limits(scene: &Scene) -> impl Iterator<Item = (usize, String)> {
    let Scene { model, parameters, state, settings, .. } = scene;
    let limited = model.bodies.iter().enumerate().filter(|(_, body)| body.joint.limited);
    limited.filter_map(|(index, body)| {
        let q = state.q[body.joint.q];
        let [lower, upper] = [parameters.lower(model, index), parameters.upper(model, index)];
        let beyond = (lower - q).max(q - upper);
        let speed = settings.baumgarte * beyond / settings.time_step;
        let unit = if body.joint.kind.slides() { "m" } else { "rad" };
        let message = format!(
            "is {q}, {beyond:.3e} {unit} beyond its limits {lower} and {upper}: it is pushed back at {speed:.1e} {unit}/s"
        );
        (speed > FAST).then_some((index, message))
    })
}

/// Whose a shape is, in the description.
fn owner(model: &Model, order: &[usize], collider: usize) -> Owner {
    model.colliders[collider].body.map_or(Owner::Scene, |body| Owner::Body(order[body]))
}
