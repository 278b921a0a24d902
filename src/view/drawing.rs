//! What a model looks like: triangles for its shapes, planes for its grounds.

use std::f64::consts::{FRAC_PI_2, TAU};

use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};
use serde::Serialize;

use crate::dynamics::Kinematics;
use crate::model::{HeightField, Model, Parameters, Polyhedron, Shape};
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

/// What a model looks like. A body without a shape is drawn as the box of uniform density with its mass and
/// inertia.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Drawing {
    /// Names of the bodies that move, in the order of their poses in a [`Track`](super::Track).
    pub bodies: Vec<String>,
    /// All shapes.
    pub shapes: Vec<DrawnShape>,
    /// All half-spaces.
    pub grounds: Vec<DrawnGround>,
    /// How far a shape that moves reaches from its body, or any shape if none moves, m: the largest.
    pub size: f64,
}

/// Sides of what is round.
const SIDES: usize = 32;
/// Nodes of a height field along each side at most; of finer ones some are left out.
const NODES: usize = 97;
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
            if !reach.is_finite() || surface.triangles.is_empty() {
                return;
            }
            let size = &mut sizes[usize::from(body.is_none())];
            *size = size.max(reach);
            let surface = surface.rounded();
            drawing.shapes.push(DrawnShape { name: name.to_string(), body, surface, round });
        };
        for (index, collider) in model.colliders.iter().enumerate() {
            let size = parameters.size(model, index);
            let round = matches!(collider.shape, Shape::Sphere | Shape::Capsule | Shape::Cylinder);
            let surface = Surface::of(&collider.shape, size).placed(
                &rotation_matrix(collider.orientation),
                &parameters.collider_position(model, index),
            );
            add(&collider.name, collider.body, round, surface);
        }
        for &body in &moving {
            let bare = !model.colliders.iter().any(|collider| collider.body == Some(body));
            if let (true, Some(surface)) = (bare, inertia_box(model, parameters, body)) {
                add(&model.bodies[body].name, Some(body), false, surface);
            }
        }
        let [moving, all] = sizes;
        drawing.size = if moving > 0.0 { moving } else { all };
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
struct Surface {
    vertices: Vec<Vector3<f64>>,
    triangles: Vec<[usize; 3]>,
}

impl Surface {
    fn of(shape: &Shape, size: Vector3<f64>) -> Surface {
        let (radius, half) = (size[0], size[1]);
        // A quarter of a circle about z = `center`, from the angle `from` on.
        let arc = |center: f64, from: f64| {
            let steps = SIDES / 4;
            (0..=steps).map(move |k| {
                let angle = from + FRAC_PI_2 * k as f64 / steps as f64;
                // The poles are on the axis, exactly.
                let across = if angle.abs() >= FRAC_PI_2 { 0.0 } else { radius * angle.cos() };
                [across, center + radius * angle.sin()]
            })
        };
        match shape {
            Shape::Box => Surface::polyhedron(Polyhedron::cube(), size),
            Shape::Sphere => {
                let profile = arc(0.0, -FRAC_PI_2).chain(arc(0.0, 0.0).skip(1));
                Surface::turned(&profile.collect::<Vec<_>>())
            }
            Shape::Capsule => {
                let profile = arc(-half, -FRAC_PI_2).chain(arc(half, 0.0));
                Surface::turned(&profile.collect::<Vec<_>>())
            }
            Shape::Cylinder => {
                Surface::turned(&[[0.0, -half], [radius, -half], [radius, half], [0.0, half]])
            }
            Shape::Convex(polyhedron) => Surface::polyhedron(polyhedron, size),
            Shape::HeightField(field) => Surface::height_field(field, size),
        }
    }

    /// Each face as a fan.
    fn polyhedron(polyhedron: &Polyhedron, scale: Vector3<f64>) -> Surface {
        let vertices = polyhedron.vertices().iter().map(|v| v.component_mul(&scale)).collect();
        let mut triangles = Vec::new();
        for face in 0..polyhedron.faces().len() {
            let corners = polyhedron.corners(face);
            triangles.extend((2..corners.len()).map(|k| [corners[0], corners[k - 1], corners[k]]));
        }
        Surface { vertices, triangles }
    }

    /// A profile (distance from the axis, height), from below to above, turned about z; m.
    fn turned(profile: &[[f64; 2]]) -> Surface {
        let mut surface = Surface { vertices: Vec::new(), triangles: Vec::new() };
        let mut below: Option<Vec<usize>> = None;
        for &[across, height] in profile {
            let first = surface.vertices.len();
            let count = if across > 0.0 { SIDES } else { 1 };
            surface.vertices.extend((0..count).map(|k| {
                let (sin, cos) = (TAU * k as f64 / SIDES as f64).sin_cos();
                Vector3::new(across * cos, across * sin, height)
            }));
            // A pole is all corners of its ring.
            let ring: Vec<usize> = (0..SIDES).map(|k| first + k % count).collect();
            if let Some(below) = below {
                for k in 0..SIDES {
                    let next = (k + 1) % SIDES;
                    let (a, b, c, d) = (below[k], below[next], ring[next], ring[k]);
                    let halves = [[a, b, c], [a, c, d]];
                    let real = |t: &[usize; 3]| t[0] != t[1] && t[1] != t[2] && t[2] != t[0];
                    surface.triangles.extend(halves.into_iter().filter(real));
                }
            }
            below = Some(ring);
        }
        surface
    }

    /// Two triangles a cell, along the same diagonal as in contact.
    fn height_field(field: &HeightField, scale: Vector3<f64>) -> Surface {
        let thinned = |count: usize| {
            let shown = count.min(NODES);
            (0..shown).map(|k| k * (count - 1) / (shown - 1)).collect::<Vec<_>>()
        };
        let (rows, columns) = (thinned(field.rows()), thinned(field.columns()));
        let nodes = rows.iter().flat_map(|&i| columns.iter().map(move |&j| (i, j)));
        let vertices = nodes.map(|(i, j)| field.vertex(i, j).component_mul(&scale)).collect();
        let width = columns.len();
        let mut triangles = Vec::new();
        for i in 1..rows.len() {
            for j in 1..width {
                let (a, b) = ((i - 1) * width + j - 1, (i - 1) * width + j);
                triangles.extend([[a, b, b + width], [a, b + width, a + width]]);
            }
        }
        Surface { vertices, triangles }
    }

    fn placed(mut self, rotation: &Matrix3<f64>, position: &Vector3<f64>) -> Surface {
        self.vertices.iter_mut().for_each(|v| *v = rotation * *v + position);
        self
    }

    /// How far it reaches from the origin; not finite if a vertex is not.
    fn reach(&self) -> f64 {
        self.vertices.iter().map(|v| v.norm()).fold(0.0, |a, b| if b <= a { a } else { b })
    }

    fn rounded(&self) -> Triangles {
        let decimals = decimals(self.reach());
        Triangles {
            vertices: self.vertices.iter().flatten().map(|&x| rounded(x, decimals)).collect(),
            triangles: self.triangles.as_flattened().to_vec(),
        }
    }
}

/// The box of uniform density that has the mass and the inertia of a body; nothing if it has neither.
fn inertia_box(model: &Model, parameters: &Parameters<f64>, body: usize) -> Option<Surface> {
    /// The least side relative to the largest, so that rods and plates can be seen.
    const THIN: f64 = 0.05;
    let mass = parameters.mass(model, body);
    let inertia = parameters.inertia(model, body);
    if !(mass > 0.0 && mass.is_finite() && inertia.iter().all(|x| x.is_finite())) {
        return None;
    }
    let principal = inertia.symmetric_eigen();
    let axes = principal.eigenvectors;
    let (moments, trace) = (principal.eigenvalues, principal.eigenvalues.sum());
    // Half extents h: I_x = m (h_y² + h_z²) / 3
    let half = moments.map(|moment| (1.5 * (trace - 2.0 * moment) / mass).max(0.0).sqrt());
    let most = half.max();
    if most <= 0.0 {
        return None;
    }
    let right_handed = axes.determinant().signum();
    let axes = Matrix3::from_columns(&[
        axes.column(0).into_owned(),
        axes.column(1).into_owned(),
        axes.column(2) * right_handed,
    ]);
    let surface = Surface::polyhedron(Polyhedron::cube(), half.map(|h| h.max(THIN * most)));
    Some(surface.placed(&axes, &parameters.center_of_mass(model, body)))
}
