//! What bodies look like beside the shapes that touch, read from the files of meshes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use nalgebra::Vector3;
use serde::Serialize;

use crate::Error;
use crate::formats::Looks;
use crate::model::{Color, Model, Triangulation, Visual};

/// Triangles of one page, about: 12 bytes each.
const MOST_TRIANGLES: usize = 60_000;
/// A mesh may have as many beside a few others.
const LEAST: usize = 300;
/// Triangles of a mesh that touches, at most.
const MOST_OF_A_SHAPE: usize = 4000;
/// What is less opaque is not seen.
const CLEAR: f64 = 0.02;
/// Numbers of this size have squares, and their sums, m.
const LARGEST_SIZE: f64 = 1e100;
/// The largest number of 16 bits.
const LARGEST: f64 = 65_535.0;

/// Triangles in little space: coordinates and corners are numbers of 16 bits, the lower byte first, in base64.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PackedTriangles {
    /// The corner of least coordinates of a box around them, m.
    pub low: [f64; 3],
    /// The sides of the box, m.
    pub size: [f64; 3],
    /// The vertices, x, y, z one after the other; 65,535 is the side of the box.
    pub vertices: String,
    /// Three vertices a triangle, counter-clockwise seen from outside.
    pub triangles: String,
}

/// A mesh at its place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Look {
    /// The body of the model; nothing is the world.
    pub body: Option<usize>,
    /// An index into the meshes.
    pub mesh: usize,
    pub position: [f64; 3],
    pub orientation: [f64; 4],
    pub color: Option<Color>,
}

/// What the bodies of a model look like: meshes of few enough triangles for a page, beside their shapes or in the place of hulls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Appearance {
    meshes: Arc<Vec<PackedTriangles>>,
    /// How far each mesh reaches from its origin, m.
    reaches: Vec<f64>,
    looks: Vec<Look>,
    /// Of each collider that is the hull of a mesh the mesh, before it is scaled.
    shapes: Vec<Option<Arc<Triangulation>>>,
    covered: HashSet<Option<usize>>,
    warnings: Vec<Error>,
}

impl Appearance {
    /// Reads what a model looks like. What cannot be read is not seen, and among the [warnings](Self::warnings).
    pub fn read(model: &Model) -> Appearance {
        let mut files = Looks::default();
        let whole = |visual: &Option<Arc<Triangulation>>| {
            Some(Arc::new(visual.as_ref()?.clustered(MOST_OF_A_SHAPE)))
        };
        let shapes = model.colliders.iter().map(|collider| whole(&collider.visual)).collect();
        let mut made = Appearance { shapes, ..Appearance::default() };
        let mut surfaces: Vec<Arc<Triangulation>> = Vec::new();
        let mut places: HashMap<*const Triangulation, usize> = HashMap::new();
        let of_world = model.visuals.iter().map(|visual| (None, visual));
        let of_bodies = model.bodies.iter().enumerate();
        let of_bodies = of_bodies
            .flat_map(|(k, body)| body.visuals.iter().map(move |visual| (Some(k), visual)));
        for (body, visual) in of_world.chain(of_bodies) {
            let parts = match files.parts(visual) {
                Ok(parts) => parts,
                Err(error) => {
                    made.warn(error);
                    continue;
                }
            };
            for (surface, color) in parts {
                // What a file has several colours for keeps them.
                let color = color.or(visual.color);
                // Nobody sees it.
                if color.is_some_and(|color| color[3] < CLEAR) {
                    continue;
                }
                let extent = surface.vertices.iter().map(|v| v.amax()).fold(0.0, f64::max);
                let has_place = visual.position.iter().all(|x| x.abs() < LARGEST_SIZE);
                if surface.triangles.is_empty()
                    || !(0.0 < extent && extent < LARGEST_SIZE && has_place)
                {
                    let name = match body {
                        Some(body) => model.bodies[body].name.as_str(),
                        None => "world",
                    };
                    let message = "is not shown: it has no extent, or one beyond all measure";
                    made.warn(Error::input(name, None, "visual", message));
                    continue;
                }
                // What is held has its place in memory to itself.
                let mesh = *places.entry(Arc::as_ptr(&surface)).or_insert_with(|| {
                    surfaces.push(surface);
                    surfaces.len() - 1
                });
                let Visual { position, orientation, .. } = *visual;
                made.looks.push(Look { body, mesh, position, orientation, color });
                made.covered.insert(body);
            }
        }
        let count: usize = surfaces.iter().map(|surface| surface.triangles.len()).sum();
        // Half of all goes by size.
        let least = LEAST.min(MOST_TRIANGLES / (2 * surfaces.len().max(1)));
        let share = |own: usize| match count > MOST_TRIANGLES {
            true => least.max((own as f64 * MOST_TRIANGLES as f64 / count as f64) as usize),
            false => own,
        };
        let drawn =
            |surface: &Arc<Triangulation>| surface.clustered(share(surface.triangles.len()));
        let surfaces: Vec<Triangulation> = surfaces.iter().map(drawn).collect();
        let reach =
            |surface: &Triangulation| surface.vertices.iter().map(|v| v.norm()).fold(0.0, f64::max);
        made.reaches = surfaces.iter().map(reach).collect();
        made.meshes = Arc::new(surfaces.iter().map(packed).collect());
        made
    }

    fn warn(&mut self, warning: Error) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// What could not be read.
    pub fn warnings(&self) -> &[Error] {
        &self.warnings
    }

    pub(super) fn meshes(&self) -> &Arc<Vec<PackedTriangles>> {
        &self.meshes
    }

    /// The mesh that a collider is the hull of, before it is scaled.
    pub(super) fn shape(&self, collider: usize) -> Option<&Triangulation> {
        self.shapes.get(collider)?.as_deref()
    }

    pub(super) fn all(&self) -> &[Look] {
        &self.looks
    }

    /// How far a mesh reaches from its origin, m.
    pub(super) fn reach(&self, mesh: usize) -> f64 {
        self.reaches[mesh]
    }

    /// Whether a body of the model, or the world, looks other than its shapes.
    pub(super) fn covers(&self, body: Option<usize>) -> bool {
        self.covered.contains(&body)
    }
}

fn packed(surface: &Triangulation) -> PackedTriangles {
    // Only a mesh of few triangles is left with vertices of its own beyond 16 bits: each triangle has three at most.
    let surface = &match surface.vertices.len() > LARGEST as usize {
        true => surface.clustered(LARGEST as usize / 3),
        false => surface.clone(),
    };
    let start = (Vector3::repeat(f64::INFINITY), Vector3::repeat(f64::NEG_INFINITY));
    let (low, high) =
        surface.vertices.iter().fold(start, |(low, high), v| (low.inf(v), high.sup(v)));
    let size = high - low;
    let scale = size.map(|x| if x > 0.0 { LARGEST / x } else { 0.0 });
    let pack = |numbers: &mut dyn Iterator<Item = u16>| {
        STANDARD.encode(numbers.flat_map(u16::to_le_bytes).collect::<Vec<u8>>())
    };
    let places = surface.vertices.iter().map(|v| (v - low).component_mul(&scale));
    PackedTriangles {
        low: low.into(),
        size: size.into(),
        vertices: pack(&mut places.flat_map(<[f64; 3]>::from).map(|x| x.round() as u16)),
        triangles: pack(&mut surface.triangles.as_flattened().iter().map(|&k| k as u16)),
    }
}
