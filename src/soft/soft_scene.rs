//! Soft bodies, where they start, and what they touch.

use nalgebra::Vector3;

use super::input_schedule::InputSchedule;
use super::soft_cable::SoftCable;
use super::soft_hold::SoftHold;
use super::soft_obstacle::{NearestMemory, SoftObstacle};
use super::soft_start::SoftStart;
use super::soft_time::SoftTime;
use crate::argmin::Mode;
use crate::dynamics::{FreeMotion, Kinematics};
use crate::fem::Elements;
use crate::implicit::{
    Bdf, Carrier, ContactStep, HeldNode, NewtonSettings, Predicted, SolidParameters, VertexContact,
    VertexLaw,
};
use crate::model::{Scene, TetrahedralMesh};
use crate::state::State;

/// What is farther from a vertex than this many times the way that any of its body makes in a step is not looked at.
const FAR: f64 = 6.0;

/// A scene of soft bodies.
#[derive(Clone, Debug, Default)]
pub struct SoftScene {
    /// The file it was read from.
    pub name: String,
    /// s
    pub time_step: f64,
    /// The formula of the steps.
    pub bdf: Bdf,
    /// Whether the first step of BDF2 takes bodies to have moved before as they do at the start (`Geilinger20` 3.1), which is
    /// wrong by what they are accelerated; else it is one of BDF1, which keeps the order.
    pub moved_before: bool,
    /// By which law vertices touch.
    pub law: VertexLaw,
    /// When a step counts as solved.
    pub newton: NewtonSettings,
    /// The half-spaces.
    pub grounds: Vec<SoftGround>,
    /// Other shapes.
    pub obstacles: Vec<SoftObstacle>,
    /// The bodies.
    pub bodies: Vec<SoftBody>,
    /// The rigid bodies beside them, with all that these stand on and are driven by.
    pub rigid: Option<Box<Scene>>,
    /// Which of their inputs change over time.
    pub schedules: Vec<InputSchedule>,
    /// What is not right, but stops nothing.
    pub warnings: Vec<String>,
}

/// A half-space that soft bodies lie on.
#[derive(Clone, Debug, PartialEq)]
pub struct SoftGround {
    /// Its name.
    pub name: String,
    /// The unit normal out of it.
    pub normal: [f64; 3],
    /// Its points have normal . x <= offset (m).
    pub offset: f64,
}

/// What the surface of a body and a half-space or another shape are to each other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SoftContact {
    /// The coefficient of friction.
    pub friction: f64,
    /// kn, of penalties: of each vertex (N/m), or by area (N/m³).
    pub stiffness: f64,
    /// kd, of penalties: of each vertex (N s/m), or by area (N s/m³).
    pub damping: f64,
    /// Whether stiffness and damping are by area.
    pub by_area: bool,
}

/// A soft body.
#[derive(Clone, Debug)]
pub struct SoftBody {
    /// Its name.
    pub name: String,
    /// The mesh at rest, in its own frame.
    pub mesh: TetrahedralMesh,
    /// Its elements.
    pub elements: Elements,
    /// Material, density and gravity.
    pub parameters: SolidParameters<f64>,
    /// The nodes of its surface, ascending.
    pub surface: Vec<usize>,
    /// The area each of them stands for (m²): a third of that of its triangles.
    pub areas: Vec<f64>,
    /// The radius of its vertices (m).
    pub radius: f64,
    /// What it is to each half-space, and then to each other shape.
    pub touching: Vec<SoftContact>,
    /// The vertices of the surface with each of these, by node and in that order. Planes of other shapes than half-spaces are
    /// found in each step, here where the body starts inside.
    pub contacts: Vec<VertexContact>,
    /// How it starts.
    pub start: SoftStart,
    /// Where the nodes start (m).
    pub position: Vec<[f64; 3]>,
    /// How they start (m/s).
    pub velocity: Vec<[f64; 3]>,
    /// Points that are followed.
    pub markers: Vec<Marker>,
    /// Its cables and springs.
    pub cables: Vec<SoftCable>,
    /// What holds nodes of it.
    pub holds: Vec<SoftHold>,
    /// Which nodes are held and led: a flag for each, or none if there are no holds.
    pub fixed: Vec<bool>,
    /// Which nodes are held, so that they touch nothing: likewise, also of those that are carried.
    apart: Vec<bool>,
}

/// A node of the surface that has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// Its name.
    pub name: String,
    /// The node.
    pub node: usize,
}

impl SoftBody {
    /// A body that touches nothing.
    pub fn new(
        name: &str,
        mesh: TetrahedralMesh,
        elements: Elements,
        parameters: SolidParameters<f64>,
        start: SoftStart,
    ) -> Self {
        let surface = mesh.surface_nodes();
        let mut areas = vec![0.0; mesh.nodes.len()];
        for triangle in mesh.surface() {
            let [o, p, q] = triangle.map(|node| mesh.nodes[node]);
            let edge = |x: [f64; 3]| [0, 1, 2].map(|k| x[k] - o[k]);
            let (p, q) = (edge(p), edge(q));
            let part = |i: usize, j: usize| p[i] * q[j] - p[j] * q[i];
            let twice = part(1, 2).hypot(part(2, 0)).hypot(part(0, 1));
            triangle.iter().for_each(|&node| areas[node] += twice / 6.0);
        }
        let [position, velocity] = start.place(&mesh.nodes);
        SoftBody {
            name: name.to_string(),
            areas: surface.iter().map(|&node| areas[node]).collect(),
            mesh,
            elements,
            parameters,
            surface,
            radius: 0.0,
            touching: Vec::new(),
            contacts: Vec::new(),
            start,
            position,
            velocity,
            markers: Vec::new(),
            cables: Vec::new(),
            holds: Vec::new(),
            fixed: Vec::new(),
            apart: Vec::new(),
        }
    }

    /// Gives it cables and holds. Held nodes touch nothing: [`contacts`](Self::contacts) are to be [made](Self::touch) after.
    pub fn tie(&mut self, cables: Vec<SoftCable>, holds: Vec<SoftHold>) {
        let lists: Vec<Vec<usize>> = cables.iter().map(|own| own.cable.nodes().collect()).collect();
        self.elements = std::mem::take(&mut self.elements).coupling(&lists);
        let nodes = self.position.len();
        for (flags, is_own) in [
            (&mut self.fixed, (|hold| hold.carrier.is_none()) as fn(&&SoftHold) -> bool),
            (&mut self.apart, |_| true),
        ] {
            flags.clear();
            for &node in holds.iter().filter(is_own).flat_map(|hold| &hold.nodes) {
                flags.resize(nodes, false);
                flags.get_mut(node).into_iter().for_each(|own| *own = true);
            }
        }
        (self.cables, self.holds) = (cables, holds);
    }

    /// The triangles of the surface, counterclockwise from outside, by the places of their nodes in [`surface`](Self::surface).
    pub fn surface_triangles(&self) -> Vec<[usize; 3]> {
        let place = |node: usize| self.surface.partition_point(|&other| other < node);
        self.mesh.surface().into_iter().map(|own| own.map(place)).collect()
    }

    /// The nodes of the surface that touch, and the area each of them stands for (m²).
    pub(super) fn vertices(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let all = self.surface.iter().copied().zip(self.areas.iter().copied());
        all.filter(|(node, _)| !self.apart.get(*node).copied().unwrap_or_default())
    }

    /// The nodes that are carried, each with the rigid body that does so.
    pub(super) fn ties(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let count = self.position.len();
        let carried = self.holds.iter().filter_map(|hold| Some((hold.carrier?, &hold.nodes)));
        carried.flat_map(move |(body, nodes)| {
            nodes.iter().filter(move |node| **node < count).map(move |&node| (node, body))
        })
    }

    /// The contacts of the nodes that are carried, three of each, from where they start and rigid bodies `rest`.
    pub(super) fn tied_contacts(
        &self,
        rest: Option<&FreeMotion<f64>>,
    ) -> impl Iterator<Item = VertexContact> {
        self.ties().flat_map(move |(node, body)| {
            let x = &self.position[node];
            let arm = rest.and_then(|motion| {
                let own = motion.bodies.get(body)?;
                Some(own.rotation.tr_mul(&(Vector3::from(*x) - own.position)) - own.center_of_mass)
            });
            let arm = arm.unwrap_or_default();
            let carrier = Some(Carrier { body, arm: arm.into(), rise: 0.0 });
            [0, 1, 2].map(|k| VertexContact {
                node,
                normal: Vector3::ith(k, 1.0).into(),
                offset: x[k],
                carrier,
                is_tie: true,
                ..VertexContact::default()
            })
        })
    }

    /// Whether a shape of a rigid body is met: not that of one that carries the body.
    pub(super) fn meets(&self, obstacle: &SoftObstacle) -> bool {
        let carries = |hold: &SoftHold| hold.carrier.is_some() && hold.carrier == obstacle.body;
        !self.holds.iter().any(carries)
    }

    /// Starts it otherwise. A motion finds what is touched as it begins; [`contacts`](Self::contacts) are made anew by
    /// [`touch`](Self::touch).
    pub fn start_at(&mut self, start: SoftStart) {
        self.start = start;
        [self.position, self.velocity] = start.place(&self.mesh.nodes);
    }

    /// Makes the contacts anew from what the body is to each half-space and each other shape.
    pub fn touch(&mut self, grounds: &[SoftGround], obstacles: &[SoftObstacle]) {
        self.touch_beside(grounds, obstacles, None);
    }

    /// The same, those of shapes of rigid bodies where these `rest`.
    pub(super) fn touch_beside(
        &mut self,
        grounds: &[SoftGround],
        obstacles: &[SoftObstacle],
        rest: Option<&FreeMotion<f64>>,
    ) {
        let mut contacts = std::mem::take(&mut self.contacts);
        contacts.clear();
        let mut memory = NearestMemory::default();
        for (node, area) in self.vertices() {
            for (k, own) in self.touching.iter().enumerate() {
                let share = own.share(area);
                let mut contact = VertexContact {
                    node,
                    friction: own.friction,
                    stiffness: own.stiffness * share,
                    damping: own.damping * share,
                    ..VertexContact::default()
                };
                match (grounds.get(k), k.checked_sub(grounds.len()).and_then(|k| obstacles.get(k)))
                {
                    (Some(ground), _) => {
                        contact.normal = ground.normal;
                        contact.offset = ground.offset + self.radius;
                    }
                    (None, Some(obstacle)) if !self.meets(obstacle) => contact.put_beyond(),
                    (None, Some(obstacle)) => {
                        let x = &self.position[node];
                        // What is not touched is found as a motion begins.
                        let start = obstacle.passage(SoftTime::default(), rest);
                        let reach = [self.radius, 0.0];
                        obstacle.place((x, &start), reach, &mut contact, &mut memory);
                    }
                    (None, None) => {}
                }
                contacts.push(contact);
            }
        }
        contacts.extend(self.tied_contacts(rest));
        self.contacts = contacts;
    }

    /// How many of its contacts are not those of ties.
    pub(super) fn touches(&self) -> usize {
        self.contacts.partition_point(|contact| !contact.is_tie)
    }

    /// kg
    pub fn mass(&self) -> f64 {
        self.parameters.density * self.elements.unit_weight().iter().sum::<f64>()
    }

    /// The mean of what stands at the nodes, weighted by the mass they stand for: of places the centre of mass, of
    /// velocities its velocity.
    pub fn mean(&self, x: &[[f64; 3]]) -> [f64; 3] {
        mean(self.elements.unit_weight(), x)
    }

    /// The mean over the surface, weighted by area.
    pub fn surface_mean(&self, x: &[[f64; 3]]) -> [f64; 3] {
        let own: Vec<[f64; 3]> = self.surface.iter().map(|&node| x[node]).collect();
        mean(&self.areas, &own)
    }
}

impl SoftScene {
    /// When a step begins and ends (s), counted from 0.
    pub fn span(&self, step: usize) -> [f64; 2] {
        [step, step + 1].map(|step| step as f64 * self.time_step)
    }

    /// What an input of the rigid bodies is in the step that begins at time `t` (s), without pushes; 0 if there is no such input.
    pub fn input(&self, input: usize, t: f64) -> f64 {
        let told = self.schedule_of(input).map(|own| self.schedules[own].at(t));
        let fixed = || self.rigid.as_ref()?.inputs.get(input).copied();
        told.or_else(fixed).unwrap_or(0.0)
    }

    /// Which of the [schedules](Self::schedules) an input goes by, if one: of several the last.
    pub(super) fn schedule_of(&self, input: usize) -> Option<usize> {
        self.schedules.iter().rposition(|own| own.input == input)
    }

    /// The state of the rigid bodies as a motion starts, if there are any: those that are led go as they are told then.
    pub(super) fn start_state(&self) -> Option<State<f64>> {
        let scene = self.rigid.as_deref()?;
        let mut state = scene.state.clone();
        for own in self.schedules.iter().filter(|own| scene.model.is_prescribed_velocity(own.input))
        {
            state.v[own.input] = own.at(0.0);
        }
        Some(state)
    }

    /// The names of what bodies touch: of half-spaces and then of the other shapes.
    pub fn touched(&self) -> impl Iterator<Item = &str> {
        let grounds = self.grounds.iter().map(|ground| ground.name.as_str());
        grounds.chain(self.obstacles.iter().map(|obstacle| obstacle.name.as_str()))
    }

    /// Whether a body meets what is [touched](Self::touched) as the `k`-th.
    pub(crate) fn meet(&self, body: usize, k: usize) -> bool {
        let obstacle = k.checked_sub(self.grounds.len()).and_then(|k| self.obstacles.get(k));
        obstacle.is_none_or(|obstacle| self.bodies[body].meets(obstacle))
    }

    /// Places the contacts of a body for the step that begins with its nodes at `x` (m), which are `held` so, and what is `predicted`
    /// from there; and with rigid bodies as in their `motion`.
    pub(crate) fn place_contacts(
        &self,
        (body, time, motion): (usize, SoftTime, Option<&FreeMotion<f64>>),
        (x, held): (&[[f64; 3]], &[HeldNode]),
        predicted: &Predicted<f64>,
        contacts: &mut [VertexContact],
        memory: &mut NearestMemory,
    ) {
        let own = &self.bodies[body];
        let (contacts, ties) = contacts.split_at_mut(own.touches().min(contacts.len()));
        if let Some(motion) = motion {
            ties.iter_mut().for_each(|tie| place_tie(motion, tie));
        }
        if self.obstacles.is_empty() || own.touching.len() < self.grounds.len() {
            return;
        }
        let length = |v: &[f64; 3]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
        let fastest = predicted.v.iter().map(length).fold(0.0, f64::max);
        let moved = |(x, to): (&[f64; 3], &[f64; 3])| length(&[0, 1, 2].map(|k| to[k] - x[k]));
        let mut carried = x.iter().zip(&predicted.x).map(moved).fold(0.0, f64::max);
        for held in held {
            carried = carried.max(moved((&x[held.node], &held.end(&x[held.node]))));
        }
        let (pull, rate) = (length(&own.parameters.gravity), predicted.rate);
        let way = carried + rate * (fastest + rate * pull);
        let (all, grounds) = (own.touching.len().max(1), self.grounds.len());
        for (k, obstacle) in self.obstacles.iter().enumerate() {
            if !own.meets(obstacle) {
                continue;
            }
            let passage = obstacle.passage(time, motion);
            for contact in contacts.iter_mut().skip(grounds + k).step_by(all) {
                let start = (&x[contact.node], &passage);
                obstacle.place(start, [own.radius, FAR * way], contact, memory);
            }
        }
    }

    /// Finds how the planes of contacts that were [placed](Self::place_contacts) turn, of those that touch.
    pub(crate) fn turn_contacts(
        &self,
        (body, time, motion): (usize, SoftTime, Option<&FreeMotion<f64>>),
        step: &ContactStep,
        contacts: &mut [VertexContact],
        memory: &mut NearestMemory,
    ) {
        let Self { grounds, obstacles, .. } = self;
        if obstacles.is_empty() {
            return;
        }
        let own = &self.bodies[body];
        let (all, grounds) = (own.touching.len().max(1), grounds.len());
        for (first, obstacle) in (grounds..all).zip(obstacles) {
            let passage = obstacle.passage(time, motion);
            let touches = own.touches().min(contacts.len());
            let contacts = &mut contacts[..touches];
            let own_contacts = contacts.iter_mut().zip(&step.modes).skip(first).step_by(all);
            for (contact, _) in own_contacts.filter(|(_, mode)| **mode != Mode::Break) {
                obstacle.turn((own.radius, &passage), contact, memory);
            }
        }
    }

    /// Lets the nodes of a body that are carried start (m/s) as what carries them does.
    pub(super) fn start_with_carriers(&self, body: &SoftBody, velocity: &mut [[f64; 3]]) {
        let Some(kinematics) = self.start_kinematics(body) else { return };
        for (node, carrier) in body.ties() {
            let at = body.position[node].into();
            velocity[node] = kinematics.point_velocity(carrier, &at).into();
        }
    }

    /// How that changes with a velocity of the rigid bodies at the start, in the changes of all nodes, by something of which that is a
    /// `share`.
    pub(super) fn carried_slopes(
        &self,
        body: &SoftBody,
        (k, share): (usize, f64),
        slopes: &mut [[f64; 3]],
    ) {
        let Some(kinematics) = self.start_kinematics(body) else { return };
        for (node, carrier) in body.ties() {
            if kinematics.path(carrier).contains(&k) {
                let at = body.position[node].into();
                slopes[node] = (kinematics.column(carrier, k, &at).linear * share).into();
            }
        }
    }

    /// The rigid bodies at the start, where one carries nodes of a body.
    fn start_kinematics(&self, body: &SoftBody) -> Option<Kinematics<f64>> {
        let scene = self.rigid.as_deref()?;
        let known = |(_, carrier): (usize, usize)| carrier < scene.model.bodies.len();
        let mut ties = body.ties().map(known).peekable();
        ties.peek()?;
        if !ties.all(|known| known) {
            return None;
        }
        Some(Kinematics::new(&scene.model, &scene.parameters, &self.start_state()?))
    }

    /// The rigid bodies where they start.
    pub(super) fn rest(&self) -> Option<FreeMotion<f64>> {
        let scene = self.rigid.as_deref()?;
        let mut motion = FreeMotion::default();
        let time_step = scene.settings.time_step;
        motion.start(&scene.system(), &scene.state, &scene.inputs, time_step);
        Some(motion)
    }

    /// Makes the contacts of a body anew.
    pub(crate) fn touch(&mut self, body: usize) {
        let rest = self.rest();
        let Self { grounds, obstacles, bodies, .. } = self;
        bodies[body].touch_beside(grounds, obstacles, rest.as_ref());
    }
}

impl SoftContact {
    /// What a vertex has of stiffness and damping, which stands for an `area` (m²).
    pub fn share(&self, area: f64) -> f64 {
        if self.by_area { area } else { 1.0 }
    }
}

/// Places a tied node where the point of the body is that carries it.
fn place_tie(motion: &FreeMotion<f64>, tie: &mut VertexContact) {
    let Some(carrier) = &mut tie.carrier else { return };
    let Some(own) = motion.bodies.get(carrier.body) else { return };
    let at = own.position + own.rotation * (own.center_of_mass + Vector3::from(carrier.arm));
    tie.offset = at.dot(&Vector3::from(tie.normal));
    (carrier.rise, tie.surface) = (0.0, [0.0; 3]);
}

fn mean(weights: &[f64], x: &[[f64; 3]]) -> [f64; 3] {
    let total: f64 = weights.iter().sum();
    let add =
        |sum: [f64; 3], (x, weight): (&[f64; 3], &f64)| [0, 1, 2].map(|k| sum[k] + x[k] * weight);
    x.iter().zip(weights).fold([0.0; 3], add).map(|sum| sum / total)
}
