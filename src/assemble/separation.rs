//! Shapes that start in each other are pushed apart, before anything moves.
//!
//! Sought is a configuration near that of the file in which no shape is in another. Each round makes the least
//! displacement d, in the metric of the mass matrix, that does so to first order:
//!
//! min d'M d / 2   such that   J d >= -gap   of all points near, with joints within their limits and loops closed
//!
//! which is the contact problem of a step of one second that starts at rest, without gravity, forces, friction and
//! rebound, in which all of a penetration is undone: the same solver, and the same points. Nothing gets a velocity from
//! it. A round turns no joint by more than [`MOST_TURN`], beyond which arms are other ones; the next makes the rest of it.

use crate::contact::{Contacts, Impulses};
use crate::dynamics::{BodySpeed, FreeMotion, Kinematics};
use crate::model::{
    Joint, JointSlots, Model, Parameters, PushedApart, Scene, Settings, Solid, System,
};
use crate::state::State;

/// How deep shapes stay in each other, as a part of the smallest half extent or radius of both.
const CLOSED: f64 = 1e-6;
/// Rounds at most: what can be parted at once takes three or four, what is packed a dozen.
const ROUNDS: usize = 100;
/// The largest turn of a joint in a round, rad.
const MOST_TURN: f64 = 0.3;
/// Loops are closed again up to this, m or rad, in so many Newton steps at most.
const LOOPS: (f64, usize) = (1e-13, 6);

/// What was pushed apart.
pub(super) struct Separation {
    /// Where everything is then.
    pub state: State<f64>,
    pub pushed_apart: PushedApart,
}

/// A scene without anything that moves it or holds it back.
struct Slack<'a> {
    model: &'a Model,
    parameters: Parameters<f64>,
    settings: Settings,
    motion: FreeMotion<f64>,
    contacts: Contacts<f64>,
    /// No inputs.
    still: Vec<f64>,
}

/// Pushes apart what is in each other.
pub(super) fn separate(scene: &Scene) -> Separation {
    let model = &scene.model;
    let mut slack = Slack::new(scene);
    let v = vec![0.0; model.nv()];
    let mut state = State { q: scene.state.q.clone(), v };
    let mut impulses = vec![Impulses::default(); model.trees.len()];
    let mut reach = 0.0;
    let mut done = PushedApart::default();
    for round in 0..=ROUNDS {
        slack.start(&state, reach);
        let Slack { parameters, settings, motion, contacts, .. } = &mut slack;
        let system = System { model, parameters, settings };
        contacts.resolve(&system, &state, motion, &mut impulses);
        for island in contacts.reports() {
            done.iterations += island.report.iterations;
            done.residual = done.residual.max(island.report.residual);
        }
        let mut deep: Vec<(usize, f64)> = Vec::new();
        for record in &contacts.records {
            if -record.gap > CLOSED * thickness(scene, record.pair) {
                match deep.last_mut() {
                    Some((pair, depth)) if *pair == record.pair => *depth = depth.max(-record.gap),
                    _ => deep.push((record.pair, -record.gap)),
                }
            }
        }
        let most = deep.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
        if round == 0 {
            (done.pairs, done.deepest) = (deep.len(), most);
        }
        (done.left, done.depth_left) = (deep.len(), most.map_or(0.0, |(_, depth)| depth));
        let Some((_, depth)) = most else { break };
        if round == ROUNDS {
            break;
        }
        // Neighbours as far as this may be what is pushed into next.
        reach = depth;
        let before = state.clone();
        slack.displace(&mut state);
        slack.close_loops(&mut state);
        // Where nothing gives, nothing will.
        if state.q == before.q {
            break;
        }
        done.rounds = round + 1;
    }
    state.v.clone_from(&scene.state.v);
    done.moved = moved(scene, &state);
    Separation { state, pushed_apart: done }
}

impl<'a> Slack<'a> {
    fn new(scene: &'a Scene) -> Slack<'a> {
        let model = &scene.model;
        let mut parameters = scene.parameters.clone();
        let mut clear = |slot: usize| parameters.values[slot] = 0.0;
        model.gravity_slots().for_each(&mut clear);
        let own = (0..model.pairs.len()).map(|pair| scene.parameters.pair_slots(model, pair));
        let surfaces = model.shared.iter().flat_map(|shared| 0..shared.surfaces.len());
        for slots in own.chain(surfaces.map(|surface| model.surface_slots(surface))) {
            [slots.mu, slots.mu_static, slots.restitution].into_iter().for_each(&mut clear);
        }
        for JointSlots { friction, damping, .. } in
            (0..model.bodies.len()).filter_map(|body| model.joint_slots(body))
        {
            [friction, damping].into_iter().for_each(&mut clear);
        }
        // What yields pulls nothing.
        for equality in 0..model.equalities.len() {
            let hold = model.equality_slots(equality).hold;
            [hold, hold + 1].into_iter().for_each(&mut clear);
        }
        parameters.values[model.compliance_slot()] = 1.0;
        Slack {
            model,
            parameters,
            settings: Settings { baumgarte: 1.0, ..Settings::new(1.0) },
            motion: FreeMotion::default(),
            contacts: Contacts::default(),
            still: vec![0.0; model.nv() + model.nu()],
        }
    }

    /// Everything rests at `state`; points count that are apart by up to a few times `reach`, m.
    fn start(&mut self, state: &State<f64>, reach: f64) {
        let Slack { model, parameters, settings, motion, still, .. } = self;
        let system = System { model, parameters, settings };
        motion.start(&system, state, still, 1.0);
        motion.rest();
        for body in &mut motion.bodies {
            body.speed = BodySpeed { linear: reach, ..BodySpeed::default() };
        }
    }

    /// Moves all trees by their velocities, over a second or as far as they may turn at once.
    fn displace(&self, state: &mut State<f64>) {
        let start = state.clone();
        let share = |most: f64| if most > MOST_TURN { MOST_TURN / most } else { 1.0 };
        // What loops hold together moves together.
        let looped = self.model.has_loops();
        let all = (0..self.model.trees.len()).map(|tree| self.largest_turn(tree));
        let common = if looped { share(all.fold(0.0, f64::max)) } else { 1.0 };
        for (index, tree) in self.model.trees.iter().enumerate() {
            let mut velocity = self.contacts.velocities[tree.v.clone()].to_vec();
            let share = if looped { common } else { share(self.largest_turn(index)) };
            velocity.iter_mut().for_each(|v| *v *= share);
            // A turn about one axis is always found.
            let _found = self.motion.advance(self.model, index, &velocity, false, state);
        }
        state.v.copy_from_slice(&start.v);
    }

    /// By how much a joint of a tree turns the most, rad.
    fn largest_turn(&self, tree: usize) -> f64 {
        let joints =
            self.model.trees[tree].bodies.iter().map(|&body| &self.model.bodies[body].joint);
        let turns = joints.map(|&Joint { kind, v, .. }| {
            let turning = &self.contacts.velocities[v + kind.translations()..v + kind.nv()];
            turning.iter().map(|w| w * w).sum::<f64>().sqrt()
        });
        turns.fold(0.0, f64::max)
    }

    /// Closes the loops that a displacement has opened.
    fn close_loops(&mut self, state: &mut State<f64>) {
        if !self.model.has_loops() {
            return;
        }
        for _ in 0..LOOPS.1 {
            self.start(state, 0.0);
            let Slack { model, parameters, settings, motion, contacts, .. } = self;
            let system = System { model, parameters, settings };
            if contacts.close_loops(&system, state, motion, (LOOPS.0, false)).is_none() {
                return;
            }
            self.displace(state);
        }
    }
}

/// The least half extent or radius of the shapes of a pair, m.
fn thickness(scene: &Scene, pair: usize) -> f64 {
    let Scene { model, parameters, .. } = scene;
    let of = |collider: usize| {
        let shape = &model.colliders[collider].shape;
        let (size, radius) = parameters.core(model, collider);
        if shape.is_solid() { shape.thickness(size.into()) + radius } else { f64::INFINITY }
    };
    match model.solids(pair) {
        (Solid::HalfSpace(_), second) => of(second),
        (Solid::Collider(first), second) => of(first).min(of(second)),
    }
}

/// How far each body is at a state from where the scene has it, m: by the centre of mass, as a link on a hinge moves too.
fn moved(scene: &Scene, state: &State<f64>) -> Vec<f64> {
    let Scene { model, parameters, .. } = scene;
    let places = [&scene.state, state].map(|state| Kinematics::new(model, parameters, state));
    let moved = |k: usize| {
        let center = parameters.center_of_mass(model, k);
        let [before, after] = places.each_ref().map(|places| {
            let body = &places.bodies[k];
            body.position + body.rotation * center
        });
        (after - before).norm()
    };
    (0..model.bodies.len()).map(moved).collect()
}

impl Separation {
    /// What was done, in words.
    pub fn sentence(&self, model: &Model) -> String {
        let PushedApart { pairs, deepest, moved, rounds, left, .. } = &self.pushed_apart;
        let all = moved.iter().copied().enumerate();
        let (body, way) = all.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0));
        let (pair, depth) = deepest.unwrap_or((0, 0.0));
        let several = |count: usize, what: &str| {
            format!("{count} {what}{}", if count == 1 { "" } else { "s" })
        };
        let done = match left {
            0 => "all were pushed apart".to_string(),
            left => format!("{left} could not be pushed apart"),
        };
        format!(
            "{} of shapes started in each other, {:?} the deepest, by {depth:.3e} m; {done} in {}, {:?} the furthest, by \
             {way:.3e} m",
            several(*pairs, "pair"),
            model.pair_name(pair),
            several(*rounds, "round"),
            model.bodies[body].name,
        )
    }
}
