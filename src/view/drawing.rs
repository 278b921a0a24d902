//! What a model looks like: triangles for its shapes, planes for its grounds.

use std::sync::Arc;

use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};
use serde::{Serialize, Serializer};

use super::appearance::{Appearance, PackedTriangles};
use crate::dynamics::Kinematics;
use crate::model::{Color, Model, Parameters, TendonPath, Triangulation};
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
    /// Its colour, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<Color>,
    /// Whether what its body looks like is drawn instead.
    #[serde(skip_serializing_if = "is_false")]
    pub covered: bool,
}

/// What a body or the world looks like, beside its shapes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DrawnLook {
    /// An index into [`Drawing::bodies`]; nothing if it does not move.
    pub body: Option<usize>,
    /// An index into [`Drawing::meshes`].
    pub mesh: usize,
    /// Position, m, and quaternion w, x, y, z of the mesh in the body, or in the world.
    pub pose: [f64; 7],
    /// Its colour, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<Color>,
}

fn is_false(x: &bool) -> bool {
    !x
}

fn is_empty(meshes: &Arc<Vec<PackedTriangles>>) -> bool {
    meshes.is_empty()
}

fn as_list<S: Serializer>(
    meshes: &Arc<Vec<PackedTriangles>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    meshes.as_slice().serialize(serializer)
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

/// A tendon that is a line through points.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DrawnTendon {
    /// Its name.
    pub name: String,
    /// Of each point an index into [`Drawing::bodies`] (nothing if it does not move), and where it is in that, m.
    pub points: Vec<(Option<usize>, [f64; 3])>,
}

/// What a model looks like. Bodies of trees without a shape are drawn as their frames.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Drawing {
    /// Names of the bodies that move, or of the markers of soft ones, in the order of their poses in a
    /// [`Track`](super::Track).
    pub bodies: Vec<String>,
    /// All shapes.
    pub shapes: Vec<DrawnShape>,
    /// What bodies look like beside them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub looks: Vec<DrawnLook>,
    /// The meshes of looks.
    #[serde(skip_serializing_if = "is_empty", serialize_with = "as_list")]
    pub meshes: Arc<Vec<PackedTriangles>>,
    /// What could not be read of them, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The bodies of trees without a shape, which are seen as frames, as indices into [`bodies`](Self::bodies).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bare: Vec<usize>,
    /// The axes of all hinges and slides of bodies that move.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub axes: Vec<DrawnAxis>,
    /// The tendons that are lines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tendons: Vec<DrawnTendon>,
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
    /// The drawing of a model with these numbers and these looks.
    pub fn new(model: &Model, parameters: &Parameters<f64>, looks: &Appearance) -> Drawing {
        let moving = moving_bodies(model);
        let place = |body: usize| moving.iter().position(|&other| other == body);
        let mut drawing = Drawing {
            bodies: moving.iter().map(|&body| model.bodies[body].name.clone()).collect(),
            ..Drawing::default()
        };
        // Where bodies are that are fixed to the world does not depend on the state.
        let kinematics = Kinematics::new(model, parameters, &zero_state(model));
        let fixed = |body: Option<usize>| {
            let fixed = body.filter(|&body| place(body).is_none())?;
            let pose = &kinematics.bodies[fixed];
            Some((pose.rotation, pose.position))
        };
        let mut sizes = [0.0_f64; 2];
        let mut count = |body: Option<usize>, reach: f64| {
            let size = &mut sizes[usize::from(body.is_none())];
            *size = size.max(reach);
        };
        for (index, collider) in model.colliders.iter().enumerate() {
            let size = parameters.size(model, index);
            // Of a mesh not the hull that touches.
            let surface = match looks.shape(index) {
                Some(mesh) => mesh.scaled(&size),
                None => collider.shape.surface(size),
            };
            let surface = Surface(surface).placed(
                &rotation_matrix(collider.orientation),
                &parameters.collider_position(model, index),
            );
            let surface = match fixed(collider.body) {
                Some((rotation, position)) => surface.placed(&rotation, &position),
                None => surface,
            };
            let reach = surface.reach();
            if !reach.is_finite() || surface.0.triangles.is_empty() {
                continue;
            }
            let body = collider.body.and_then(place);
            count(body, reach);
            drawing.shapes.push(DrawnShape {
                name: collider.name.clone(),
                body,
                surface: surface.rounded(),
                round: collider.shape.is_round(),
                color: collider.color,
                covered: !collider.drawn && looks.covers(collider.body),
            });
        }
        for look in looks.all() {
            let body = look.body.and_then(place);
            let rotation = rotation_matrix(look.orientation);
            let position = Vector3::from(look.position);
            let (rotation, position) = match fixed(look.body) {
                Some((turn, origin)) => (turn * rotation, turn * position + origin),
                None => (rotation, position),
            };
            let reach = position.norm() + looks.reach(look.mesh);
            count(body, reach);
            let mut pose = [0.0; 7];
            let places = position.iter().map(|&x| rounded(x, decimals(reach)));
            let numbers = places.chain(quaternion(&rotation).map(|x| rounded(x, DIGITS + 1)));
            pose.iter_mut().zip(numbers).for_each(|(slot, x)| *slot = x);
            drawing.looks.push(DrawnLook { body, mesh: look.mesh, pose, color: look.color });
        }
        drawing.meshes = looks.meshes().clone();
        drawing.missing = looks.warnings().iter().map(|warning| warning.to_string()).collect();
        let of = |body: Option<usize>| body.map(|body| model.bodies[body].tree);
        let mut shaped: Vec<Option<usize>> =
            model.colliders.iter().filter_map(|collider| of(collider.body)).collect();
        shaped.extend(looks.all().iter().filter_map(|look| of(look.body)));
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
        for (index, tendon) in model.tendons.iter().enumerate() {
            let TendonPath::Points(bodies) = &tendon.path else { continue };
            let point = |(k, &body): (usize, &Option<usize>)| {
                let point = parameters.tendon_point(model, index, k);
                match fixed(body) {
                    Some((rotation, position)) => (None, (rotation * point + position).into()),
                    None => (body.and_then(place), point.into()),
                }
            };
            let points = bodies.iter().enumerate().map(point).collect();
            drawing.tendons.push(DrawnTendon { name: tendon.name.clone(), points });
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

/// How long the axes are by which a body is seen that is led and has no shape, m.
const REACH_OF_LED: f64 = 0.1;

/// How far the box of uniform density reaches that has the mass and the inertia of a body: from its centre to a corner, m.
fn inertia_reach(model: &Model, parameters: &Parameters<f64>, body: usize) -> f64 {
    if model.is_prescribed(body) {
        return REACH_OF_LED;
    }
    // Half extents h: I_xx + I_yy + I_zz = 2 m (h_x² + h_y² + h_z²) / 3
    let trace = parameters.inertia(model, body).trace();
    (1.5 * trace / parameters.mass(model, body)).max(0.0).sqrt()
}
