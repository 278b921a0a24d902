//! From a scene back to a description: what a file that says the same would hold.

use super::{
    ActuatorDescription, BodyDescription, CameraDescription, ColliderDescription,
    ContactDescription, Description, Driven, EqualityDescription, GrainDescription,
    HalfSpaceDescription, JointDescription, LearnedDescription, Material, NamedMaterial, OnGround,
    PushDescription, TendonDescription,
};
use crate::model::{
    EqualityKind, Filter, Grain, JointKind, Model, PairSlots, Parameters, Scene, SharedContacts,
    Solid, SurfaceKind, SurfaceNumbers, SurfaceTerm, Transmission,
};

impl Description {
    /// The description of a scene with these `parameters` in the place of its own, such as identified ones.
    /// `name` stands for the file.
    ///
    /// Every pair with numbers of its own is named with its material; others pass through each other, or touch by
    /// the materials of their surfaces. Meshes are their hulls. Numbers no solid has, which a description refuses,
    /// become warnings ([`strict`](Self::strict) is then false).
    pub fn of(scene: &Scene, parameters: &Parameters<f64>, name: impl Into<String>) -> Description {
        let Scene { model, settings, inputs, keyframes, .. } = scene;
        let mut settings = *settings;
        settings.compliance *= parameters.relative_compliance(model);
        let mut description = Description::new(name, settings);
        description.gravity = parameters.gravity().into();
        description.strict = true;
        description.passes = true;
        description.half_spaces.extend(model.half_spaces.iter().enumerate().map(|(k, ground)| {
            let plane = parameters.plane(model, k);
            HalfSpaceDescription {
                line: None,
                name: ground.name.clone(),
                normal: plane.normal.into(),
                offset: plane.offset,
                material: None,
                made_of: None,
                filter: Filter::default(),
            }
        }));
        description.visuals.clone_from(&model.visuals);
        description.bodies = (0..model.bodies.len()).map(|k| body(scene, parameters, k)).collect();
        for (index, collider) in model.colliders.iter().enumerate() {
            let mut described = ColliderDescription {
                line: None,
                name: collider.name.clone(),
                shape: collider.shape.clone(),
                size: parameters.size(model, index).into(),
                radius: model.rounding_slot(index).map(|slot| parameters.values[slot]),
                margin: collider.margin,
                position: parameters.collider_position(model, index).into(),
                orientation: collider.orientation,
                material: None,
                on_ground: OnGround::default(),
                made_of: None,
                filter: Filter::default(),
                mesh: None,
                visual: collider.visual.clone(),
                color: collider.color,
                drawn: collider.drawn,
                max_hull_vertices: None,
                states_hull_limit: false,
            };
            let Some(owner) = collider.body else {
                description.colliders.push(described);
                continue;
            };
            // `body/shape`, or the name of the body alone.
            let own = collider.name.strip_prefix(model.bodies[owner].name.as_str());
            let own = own.and_then(|rest| rest.strip_prefix('/')).unwrap_or_default();
            described.name = own.to_string();
            description.bodies[owner].colliders.push(described);
        }
        if let Some(shared) = &model.shared {
            describe_shared(model, parameters, shared, &mut description);
        }
        let own = model.pairs.iter().enumerate().filter(|(_, pair)| pair.surfaces.is_none());
        description.contacts.extend(own.map(|(index, pair)| {
            let material = Material {
                mu: parameters.mu(model, index),
                mu_static: pair.two_regimes.then(|| parameters.mu_static(model, index)),
                restitution: parameters.restitution(model, index),
                terms: surface_numbers(parameters, parameters.pair_slots(model, index)),
            };
            let (name, material) = (pair.name.clone(), Some(material));
            let grain = pair.grain.map(|Grain { side, axis }| {
                let of = match (side, pair.first) {
                    (0, Solid::HalfSpace(k)) => model.half_spaces[k].name.clone(),
                    (0, Solid::Collider(k)) => model.colliders[k].name.clone(),
                    _ => model.colliders[pair.second].name.clone(),
                };
                GrainDescription { of, axis: axis.into() }
            });
            ContactDescription { line: None, pair: name, material, grain }
        }));
        for (index, actuator) in model.actuators.iter().enumerate() {
            let control_range = parameters.control_range(model, index);
            let force_range = parameters.force_range(model, index);
            description.actuators.push(ActuatorDescription {
                line: None,
                name: actuator.name.clone(),
                drives: match actuator.drives {
                    Transmission::Joint(body) => Driven::Joint(joint_name(scene, body)),
                    Transmission::Tendon(k) => Driven::Tendon(model.tendons[k].name.clone()),
                },
                kind: actuator.kind,
                gear: parameters.gear(model, index),
                kp: parameters.kp(model, index),
                kd: parameters.kd(model, index),
                gain: parameters.gain_and_bias(model, index)[0],
                bias: parameters.gain_and_bias(model, index)[1],
                gain_by: parameters.gain_by(model, index),
                control_range: actuator.limits_control.then_some(control_range),
                force_range: actuator.limits_force.then_some(force_range),
                control: inputs.get(model.nv() + index).copied().unwrap_or(0.0),
            });
        }
        for (index, equality) in model.equalities.iter().enumerate() {
            let joints = equality.kind == EqualityKind::Joint;
            let offset = parameters.offset(model, index);
            let [first, second] = equality.bodies;
            let body = |body: Option<usize>| body.map(|body| model.bodies[body].name.clone());
            let joint = |body: Option<usize>| body.map(|body| joint_name(scene, body));
            description.equalities.push(EqualityDescription {
                line: None,
                name: equality.name.clone(),
                kind: equality.kind,
                bodies: if joints { [None, None] } else { [body(first), body(second)] },
                anchors: parameters.anchors(model, index).map(Into::into),
                orientation: equality.orientation,
                distance: if joints { 0.0 } else { offset },
                joints: [first, second]
                    .map(|body| joint(body).filter(|_| joints).unwrap_or_default()),
                offset: if joints { offset } else { 0.0 },
                ratio: parameters.ratio(model, index),
                axis: equality.axis,
                stiffness: equality.yields.then(|| parameters.hold(model, index)[0]),
                damping: if equality.yields { parameters.hold(model, index)[1] } else { 0.0 },
            });
        }
        for (index, push) in model.pushes.iter().enumerate() {
            let [point, force] = parameters.push(model, index).map(Into::into);
            description.pushes.push(PushDescription {
                line: None,
                name: push.name.clone(),
                body: model.bodies[push.body].name.clone(),
                point,
                force,
                time: [push.from, push.until],
            });
        }
        for index in 0..model.tendons.len() {
            let tendon = TendonDescription::of(scene, index, |body| joint_name(scene, body));
            description.tendons.push(tendon);
        }
        description.light = model.light;
        for (index, camera) in model.cameras.iter().enumerate() {
            description.cameras.push(CameraDescription {
                line: None,
                name: camera.name.clone(),
                body: camera.body.map(|body| model.bodies[body].name.clone()),
                size: camera.size,
                numbers: parameters.camera(model, index),
            });
        }
        for (index, term) in model.learned.iter().enumerate() {
            let weights = parameters.weights(model, index);
            let sizes = term.network.sizes();
            let forces = model.input_names();
            let velocities = term.velocities.iter().map(|&v| forces[v].clone());
            let pair = term.pair.map(|pair| model.pair_name(pair));
            description.learned.push(LearnedDescription {
                line: None,
                name: term.name.clone(),
                kind: term.kind,
                of: term.of.clone(),
                on: velocities.chain(pair).collect(),
                layers: sizes[1..sizes.len() - 1].to_vec(),
                activation: term.network.activation,
                amplitude: term.amplitude,
                range: term.range.clone(),
                weights: weights.iter().any(|&x| x != 0.0).then(|| weights.to_vec()),
                archived: None,
                archive: None,
            });
        }
        description.keyframes.clone_from(keyframes);
        description.strict = description.scene().is_ok();
        description
    }
}

/// The numbers of the terms that a surface or a pair has.
fn surface_numbers(parameters: &Parameters<f64>, slots: PairSlots) -> SurfaceNumbers {
    let mut numbers = SurfaceNumbers::default();
    for (term, slot) in SurfaceTerm::ALL.into_iter().zip(slots.terms) {
        numbers.set(term, slot.map(|slot| parameters.values[slot]));
    }
    numbers
}

/// How colliders touch that are no pair with numbers of its own: by the filters, by their surfaces, and by what
/// passes through what.
fn describe_shared(
    model: &Model,
    parameters: &Parameters<f64>,
    shared: &SharedContacts,
    description: &mut Description,
) {
    let SharedContacts { filters, passing, grounds, surface, surfaces } = shared;
    let material = |index: usize| {
        let slots = model.surface_slots(index);
        Material {
            mu: parameters.values[slots.mu],
            mu_static: surfaces[index].two_regimes.then(|| parameters.values[slots.mu_static]),
            restitution: parameters.values[slots.restitution],
            terms: surface_numbers(parameters, slots),
        }
    };
    let is_material = |index: usize| surfaces[index].kind == SurfaceKind::Material;
    let name = |index: usize| surfaces[index].name.clone();
    let materials = (0..surfaces.len()).filter(|&index| is_material(index));
    description.materials = materials
        .map(|index| NamedMaterial { name: name(index), material: material(index) })
        .collect();
    for (ground, made_of) in description.half_spaces.iter_mut().zip(grounds) {
        ground.made_of = made_of.map(name);
    }
    let bare = surfaces.iter().position(|surface| surface.kind == SurfaceKind::Default);
    description.default_contact = bare.map(material);
    description.passes = bare.is_none();
    description.touch_parents = filters.touch_parents;
    description.excluded.extend(
        filters.excluded.iter().map(|pair| pair.map(|body| model.bodies[body].name.clone())),
    );
    let of_world = description.colliders.iter_mut();
    let of_bodies = description.bodies.iter_mut().flat_map(|body| &mut body.colliders);
    for (k, collider) in of_world.chain(of_bodies).enumerate() {
        collider.filter = filters.colliders[k];
        let own = surface[k].filter(|&index| Some(index) != bare);
        collider.material = own.filter(|&index| !is_material(index)).map(material);
        collider.made_of = own.filter(|&index| is_material(index)).map(name);
    }
    let colliders = 0..model.colliders.len();
    let grounds = (0..model.half_spaces.len()).map(Solid::HalfSpace);
    let apart = grounds.flat_map(|ground| colliders.clone().map(move |k| (ground, k)));
    let apart = apart.filter(|&(ground, k)| {
        model.pair(ground, k).is_none() && model.moving_bodies(ground, k) != [None; 2]
    });
    let passing = passing.iter().map(|&[first, second]| (Solid::Collider(first), second));
    description.contacts.extend(apart.chain(passing).map(|(first, second)| ContactDescription {
        line: None,
        pair: model.solids_name(first, second),
        material: None,
        grain: None,
    }));
}

/// What a joint is called: by its name, or that of its body.
fn joint_name(scene: &Scene, body: usize) -> String {
    let body = &scene.model.bodies[body];
    if body.joint.name.is_empty() { body.name.clone() } else { body.joint.name.clone() }
}

/// A body with its joint, without its shapes.
fn body(scene: &Scene, parameters: &Parameters<f64>, index: usize) -> BodyDescription {
    let Scene { model, state, inputs, .. } = scene;
    let body = &model.bodies[index];
    let joint = &body.joint;
    let q = &state.q[joint.q..joint.q + joint.kind.nq()];
    let v = &state.v[joint.v..joint.v + joint.kind.nv()];
    let free = joint.kind == JointKind::Free;
    let (position, orientation, q) = match (free, q) {
        (true, &[x, y, z, qw, qx, qy, qz]) => ([x, y, z], [qw, qx, qy, qz], Vec::new()),
        _ => (parameters.position(model, index).into(), joint.orientation, q.to_vec()),
    };
    let input = |first: usize| match inputs.get(joint.v + first..joint.v + first + 3) {
        Some(&[x, y, z]) if free => [x, y, z],
        _ => [0.0; 3],
    };
    let prescribed = joint.prescribed;
    let (v, acts) =
        if prescribed { (&inputs[joint.v..joint.v + v.len()], false) } else { (v, true) };
    let limits = [parameters.lower(model, index), parameters.upper(model, index)];
    let inertia = parameters.inertia(model, index);
    let drag = model.drags.iter().position(|drag| drag.body == index);
    BodyDescription {
        line: None,
        name: body.name.clone(),
        parent: body.parent.map(|parent| model.bodies[parent].name.clone()),
        visuals: body.visuals.clone(),
        joint: JointDescription {
            kind: joint.kind,
            name: joint.name.clone(),
            axis: joint.axis.into(),
            position,
            orientation,
            anchor: parameters.anchor(model, index).into(),
            limits: joint.limited.then_some(limits),
            armature: parameters.armature(model, index),
            damping: parameters.damping(model, index),
            friction: parameters.joint_friction(model, index),
            stiffness: parameters.stiffness(model, index),
            rest: parameters.rest(model, index),
            effort: 0.0,
            drive: None,
            max_speed: joint.max_speed,
            passive: false,
            prescribed,
            q,
            v: v.to_vec(),
        },
        mass: parameters.mass(model, index),
        center_of_mass: parameters.center_of_mass(model, index).into(),
        inertia: [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)].map(|place| inertia[place]),
        colliders: Vec::new(),
        force: if acts { input(0) } else { [0.0; 3] },
        torque: if acts { input(3) } else { [0.0; 3] },
        drag: drag.map(|drag| parameters.drag(model, drag)),
    }
}
