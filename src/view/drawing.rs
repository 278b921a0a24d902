//! What a model looks like: triangles for its shapes, planes for its grounds.

use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};
use serde::Serialize;

use crate::dynamics::Kinematics;
use crate::model::{Collider, Model, Parameters, Triangulation};
use crate::spatial::rotation_matrix;
use crate::state::State;

/// Triangles in the frame of a body, or in the world.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Triangles {
    /// The corners, x, y, z one after the other, m.
    pub vertices: Vec<f64>,
    /// Three corners a triangle, counter-clockwise seen from outside.
    pub triangles: Vec<usize>,
}

/// A shape of a body or of the world.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DrawnShape {
    /// Its name.
    pub name: String,
    /// An index into [`Drawing::bodies`]; nothing if it does not move.
    pub body: Option<usize>,
    /// Its surface.
    pub surface: Triangles,
    /// Whether it is round, so that one sees it turn by a pattern only.
    pub round: bool,
}

/// A half-space, solid where normal . x < offset.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DrawnGround {
    /// Its name.
    pub name: String,
    /// Unit normal out of the ground.
    pub normal: [f64; 3],
    /// Distance of the surface from the origin along the normal, m.
    pub offset: f64,
}

/// The surface of a soft body.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DrawnSoftBody {
    /// Its name.
    pub name: String,
    /// Three vertices a triangle, counter-clockwise seen from outside, as indices into those of [`Track::surfaces`].
    ///
    /// [`Track::surfaces`]: super::Track::surfaces
    pub triangles: Vec<usize>,
}

/// The axis of a hinge or a slide.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DrawnAxis {
    /// An index into [`Drawing::bodies`].
    pub body: usize,
    /// A point on it, in the frame of the body, m.
    pub point: [f64; 3],
    /// Unit vector, in the frame of the body.
    pub direction: [f64; 3],
}

/// What a model looks like. Bodies of trees without a shape are drawn as their frames.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Drawing {
    /// Names of the bodies that move, or of the markers of soft ones, in the order of their poses in a
    /// [`Track`](super::Track).
    pub bodies: Vec<String>,
    /// All shapes.
    pub shapes: Vec<DrawnShape>,
    /// The bodies of trees without a shape, which are seen as frames, as indices into [`bodies`](Self::bodies).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bare: Vec<usize>,
    /// The axes of all hinges and slides of bodies that move.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub axes: Vec<DrawnAxis>,
    /// All half-spaces.
    pub grounds: Vec<DrawnGround>,
    /// All soft bodies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub soft: Vec<DrawnSoftBody>,
    /// How far a shape that moves reaches from its body, m: the largest. Where no shape moves, how far boxes of uniform density
    /// reach that have the masses and inertias of the bodies; that of any shape if nothing moves.
    pub size: f64,
}

/// Digits of coordinates, relative to the size of a shape.
const DIGITS: i32 = 5;

impl Drawing {
    /// The drawing of a model with these numbers.
    pub fn new(model: &Model, parameters: &Parameters<f64>) -> Drawing {
        let moving = moving_bodies(model);
        let place = |body: usize| moving.iter().position(|&other| other == body);
        let mut drawing = Drawing {
            bodies: moving.iter().map(|&body| model.bodies[body].name.clone()).collect(),
            ..Drawing::default()
        };
        // Where bodies are that are fixed to the world does not depend on the state.
        let kinematics = Kinematics::new(model, parameters, &zero_state(model));
        let mut sizes = [0.0_f64; 2];
        let mut add = |name: &str, body: Option<usize>, round: bool, surface: Surface| {
            let fixed = body.filter(|&body| place(body).is_none());
            let surface = match fixed.map(|body| &kinematics.bodies[body]) {
                Some(pose) => surface.placed(&pose.rotation, &pose.position),
                None => surface,
            };
            let body = body.and_then(place);
            let reach = surface.reach();
            if !reach.is_finite() || surface.0.triangles.is_empty() {
                return;
            }
            let size = &mut sizes[usize::from(body.is_none())];
            *size = size.max(reach);
            let surface = surface.rounded();
            drawing.shapes.push(DrawnShape { name: name.to_string(), body, surface, round });
        };
        for (index, collider) in model.colliders.iter().enumerate() {
            let size = parameters.size(model, index);
            let round = collider.shape.is_round();
            let surface = Surface(collider.shape.surface(size)).placed(
                &rotation_matrix(collider.orientation),
                &parameters.collider_position(model, index),
            );
            add(&collider.name, collider.body, round, surface);
        }
        let of = |collider: &Collider| collider.body.map(|body| model.bodies[body].tree);
        let shaped: Vec<Option<usize>> = model.colliders.iter().filter_map(of).collect();
        for (place, &body) in moving.iter().enumerate() {
            if !shaped.contains(&model.bodies[body].tree) {
                drawing.bare.push(place);
            }
            let Some(slots) = model.joint_slots(body) else { continue };
            let joint = &model.bodies[body].joint;
            if joint.kind.has_axis() {
                let point = [0, 1, 2].map(|i| parameters.values[slots.anchor + i]);
                drawing.axes.push(DrawnAxis { body: place, point, direction: joint.axis.into() });
            }
        }
        // Where nothing has a shape that moves, inertias say how large things are.
        let reaches = drawing.bare.iter().map(|&k| inertia_reach(model, parameters, moving[k]));
        let [mut largest, all] = sizes;
        if largest == 0.0 {
            largest = reaches.filter(|reach| reach.is_finite()).fold(0.0, f64::max);
        }
        drawing.size = if largest > 0.0 { largest } else { all };
        drawing.grounds.extend(model.half_spaces.iter().enumerate().map(|(k, ground)| {
            let plane = parameters.plane(model, k);
            DrawnGround {
                name: ground.name.clone(),
                normal: plane.normal.into(),
                offset: plane.offset,
            }
        }));
        drawing
    }

    /// The digits behind the point that positions of bodies are given with, m.
    pub(super) fn decimals(&self) -> i32 {
        // One less than of the shapes: 1/10,000 of the size.
        decimals(self.size) - 1
    }
}

/// The bodies that move.
pub(super) fn moving_bodies(model: &Model) -> Vec<usize> {
    (0..model.bodies.len()).filter(|&body| model.bodies[body].tree.is_some()).collect()
}

/// The state in which all coordinates are 0.
fn zero_state(model: &Model) -> State<f64> {
    let mut state = State { q: vec![0.0; model.nq()], v: vec![0.0; model.nv()] };
    for joint in model.bodies.iter().map(|body| &body.joint) {
        let quaternion = joint.kind.coordinates().and_then(|coordinates| coordinates.quaternion());
        if let Some((first, _)) = quaternion {
            state.q[joint.q + first] = 1.0;
        }
    }
    state
}

/// The quaternion w, x, y, z of a rotation.
pub(super) fn quaternion(rotation: &Matrix3<f64>) -> [f64; 4] {
    let rotation = Rotation3::from_matrix_unchecked(*rotation);
    let q = UnitQuaternion::from_rotation_matrix(&rotation).into_inner();
    [q.w, q.i, q.j, q.k]
}

/// The digits behind the point that resolve a thing of this size, m.
fn decimals(size: f64) -> i32 {
    if !(size > 0.0 && size.is_finite()) {
        return DIGITS;
    }
    (DIGITS - 1 - size.log10().floor() as i32).clamp(1, 12)
}

/// A number with so many digits behind the point.
pub(super) fn rounded(x: f64, decimals: i32) -> f64 {
    let scale = 10.0_f64.powi(decimals);
    // Adding 0 turns -0 into 0.
    (x * scale).round() / scale + 0.0
}

/// A surface under construction.
pub(super) struct Surface(Triangulation);

impl Surface {
    pub fn of(triangulation: Triangulation) -> Surface {
        Surface(triangulation)
    }

    pub fn placed(mut self, rotation: &Matrix3<f64>, position: &Vector3<f64>) -> Surface {
        self.0.vertices.iter_mut().for_each(|v| *v = rotation * *v + position);
        self
    }

    /// How far it reaches from the origin; not finite if a vertex is not.
    fn reach(&self) -> f64 {
        self.0.vertices.iter().map(|v| v.norm()).fold(0.0, |a, b| if b <= a { a } else { b })
    }

    pub fn rounded(&self) -> Triangles {
        let decimals = decimals(self.reach());
        Triangles {
            vertices: self.0.vertices.iter().flatten().map(|&x| rounded(x, decimals)).collect(),
            triangles: self.0.triangles.as_flattened().to_vec(),
        }
    }
}

/// How far the box of uniform density reaches that has the mass and the inertia of a body: from its centre to a corner, m.
fn inertia_reach(model: &Model, parameters: &Parameters<f64>, body: usize) -> f64 {
    // Half extents h: I_xx + I_yy + I_zz = 2 m (h_x² + h_y² + h_z²) / 3
    let trace = parameters.inertia(model, body).trace();
    (1.5 * trace / parameters.mass(model, body)).max(0.0).sqrt()
}
