//! Where the numbers of a model stand: in the state, and among the parameters.

use super::slots::{
    ACTUATOR, BODY, CAMERA, DRAG, EQUALITY, GRAVITY, HALF_SPACE, JOINT, PAIR, PLACE, PUSH, SIZE,
    Slots, TENDON,
};
use super::{Body, Collider, HalfSpace, Joint, JointKind, Model, Pair, SurfaceTerms, Tendon, Tree};

impl Model {
    /// A model of bodies, of which `numbers[i]` says whether the joint of body i has numbers of its own
    /// (see [`Tree::lone`]), and `joins[i]` whether a root is of the tree before it. Places in the state, trees and slots of parameters follow from them.
    pub(crate) fn new(
        mut bodies: Vec<Body>,
        (numbers, joins): (&[bool], &[bool]),
        colliders: Vec<Collider>,
        half_spaces: Vec<HalfSpace>,
    ) -> Model {
        let mut trees: Vec<Tree> = Vec::new();
        let (mut q, mut v) = (0, 0);
        for index in 0..bodies.len() {
            let inherited = bodies[index].parent.and_then(|parent| bodies[parent].tree);
            let Joint { kind, .. } = bodies[index].joint;
            let body = &mut bodies[index];
            (body.joint.q, body.joint.v) = (q, v);
            body.tree = inherited;
            if inherited.is_none() && joins[index] {
                body.tree = trees.len().checked_sub(1);
            } else if inherited.is_none() && kind != JointKind::Fixed {
                body.tree = Some(trees.len());
                let lone = kind == JointKind::Free && !numbers[index];
                trees.push(Tree { bodies: Vec::new(), q: q..q, v: v..v, lone });
            }
            (q, v) = (q + kind.nq(), v + kind.nv());
            if let Some(tree) = body.tree {
                let tree = &mut trees[tree];
                tree.lone &= tree.bodies.is_empty();
                tree.bodies.push(index);
                (tree.q.end, tree.v.end) = (q, v);
            }
        }
        let mut model = Model { bodies, colliders, half_spaces, trees, ..Model::default() };
        model.lay_out();
        model
    }

    /// Finds the slots of all parameters anew, after something was added.
    pub(crate) fn lay_out(&mut self) {
        self.slots = Slots::of(self);
    }
}

impl Slots {
    /// Gravity; each body, with its joint and its colliders; the colliders of the world; pairs, surfaces, actuators,
    /// equalities, half-spaces, the compliance, pushes, tendons, cameras, weights; terms of pairs and surfaces, drags, roundings.
    fn of(model: &Model) -> Slots {
        let mut slots = Slots { colliders: vec![0; model.colliders.len()], ..Slots::default() };
        let mut next = GRAVITY;
        let mut take = |count: usize| {
            next += count;
            next - count
        };
        let size =
            |collider: usize| SIZE + if model.colliders[collider].placed { PLACE } else { 0 };
        for (index, body) in model.bodies.iter().enumerate() {
            slots.bodies.push(take(BODY));
            let lone = body.tree.is_some_and(|tree| model.trees[tree].lone);
            slots.joints.push(if lone { None } else { Some(take(JOINT)) });
            for collider in model.colliders_of(Some(index)) {
                slots.colliders[collider] = take(size(collider));
            }
        }
        for collider in model.colliders_of(None) {
            slots.colliders[collider] = take(size(collider));
        }
        let own = |pair: &Pair| if pair.surfaces.is_none() { PAIR } else { 0 };
        slots.pairs = model.pairs.iter().map(|pair| take(own(pair))).collect();
        let surfaces = || model.shared.iter().flat_map(|shared| &shared.surfaces);
        slots.surfaces = take(PAIR * surfaces().count());
        slots.actuators = take(ACTUATOR * model.actuators.len());
        slots.equalities = take(EQUALITY * model.equalities.len());
        slots.half_spaces = take(HALF_SPACE * model.half_spaces.len());
        slots.compliance = take(1);
        slots.pushes = take(PUSH * model.pushes.len());
        let tendon = |tendon: &Tendon| TENDON + tendon.path.numbers();
        slots.tendons = model.tendons.iter().map(|own| take(tendon(own))).collect();
        slots.cameras = take(CAMERA * model.cameras.len());
        slots.learned = model.learned.iter().map(|term| take(term.network.weights())).collect();
        let terms = |pair: &Pair| if pair.surfaces.is_none() { pair.terms.count() } else { 0 };
        slots.pair_terms = model.pairs.iter().map(|pair| take(terms(pair))).collect();
        slots.surface_terms = surfaces().map(|surface| take(surface.terms.count())).collect();
        slots.drags = take(DRAG * model.drags.len());
        let rounding = |collider: &Collider| collider.rounded.then(|| take(1));
        slots.roundings = model.colliders.iter().map(rounding).collect();
        let all = model.pairs.iter().map(|pair| pair.terms);
        let all = all.chain(surfaces().map(|surface| surface.terms));
        slots.terms = all.fold(SurfaceTerms::default(), SurfaceTerms::or);
        slots.count = next;
        slots
    }
}
