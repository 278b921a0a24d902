//! Trees that forces couple: to steps that are implicit in these they are one tree, with more than one root.

use std::collections::HashSet;

use crate::model::{Feature, Model};

/// An order of bodies in which coupled trees stand one after the other.
pub(super) struct Coupled {
    /// The bodies, as they are described.
    pub order: Vec<usize>,
    /// The roots that are one tree with what stands before them.
    pub joins: HashSet<usize>,
}

/// How bodies have to stand where tendons or learned forces couple their trees; nothing if none do. `order` is how they stand in the model.
pub(super) fn coupled_trees(model: &Model, order: &[usize]) -> Option<Coupled> {
    let mut group: Vec<usize> = (0..model.trees.len()).collect();
    let mut join = |bodies: &mut dyn Iterator<Item = usize>| {
        let trees = bodies.filter_map(|body| model.bodies[body].tree);
        let mut trees = trees.filter(|&tree| !model.trees[tree].lone);
        let Some(first) = trees.next() else { return };
        for tree in trees {
            let (kept, lost) = (group[first].min(group[tree]), group[first].max(group[tree]));
            group.iter_mut().filter(|group| **group == lost).for_each(|group| *group = kept);
        }
    };
    for tendon in &model.tendons {
        join(&mut tendon.path.bodies());
    }
    for term in &model.learned {
        let of = |v: usize| {
            model.bodies.iter().position(|body| {
                let joint = &body.joint;
                (joint.v..joint.v + joint.kind.nv()).contains(&v)
            })
        };
        let features = term.features.iter().filter_map(|feature| match feature {
            Feature::Coordinate { v, .. }
            | Feature::Sine { v, .. }
            | Feature::Cosine { v, .. }
            | Feature::Quaternion { v, .. }
            | Feature::Velocity { v } => Some(*v),
            Feature::Place { .. } => None,
        });
        join(&mut term.velocities.iter().copied().chain(features).filter_map(of));
    }
    if group.iter().enumerate().all(|(tree, &group)| tree == group) {
        return None;
    }
    let still = (0..order.len()).filter(|&body| model.bodies[body].tree.is_none());
    let mut coupled =
        Coupled { order: still.map(|body| order[body]).collect(), joins: HashSet::new() };
    for first in 0..group.len() {
        let own = (0..group.len()).filter(|&tree| group[tree] == first);
        for (place, tree) in own.enumerate() {
            let bodies = &model.trees[tree].bodies;
            coupled.order.extend(bodies.iter().map(|&body| order[body]));
            if place > 0 {
                coupled.joins.insert(order[bodies[0]]);
            }
        }
    }
    Some(coupled)
}
