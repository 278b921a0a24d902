//! glTF 2.0 in one file (`.glb`): what its scene shows, as triangles, with the colours of materials.
//!
//! Pictures, bones, motions and cameras are passed over. (The crate `gltf` ends the program on files whose primitives name accessors
//! that are not there, before it says that they are wrong.)

use nalgebra::{Matrix4, Quaternion, UnitQuaternion, Vector3};
use serde::Deserialize;

use super::triangles::{MOST_POINTS, Mesh};
use crate::Error;
use crate::model::Color;

/// How deep nodes stand in each other.
const MOST_LEVELS: usize = 100;
/// Nodes that are shown.
const MOST_NODES: usize = 100_000;

/// The parts of a document that are read.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Document {
    scene: usize,
    scenes: Vec<Scene>,
    nodes: Vec<Node>,
    meshes: Vec<Primitives>,
    materials: Vec<Material>,
    accessors: Vec<Accessor>,
    buffer_views: Vec<BufferView>,
}

#[derive(Deserialize)]
struct Scene {
    #[serde(default)]
    nodes: Vec<usize>,
}

#[derive(Deserialize)]
struct Node {
    #[serde(default)]
    children: Vec<usize>,
    mesh: Option<usize>,
    matrix: Option<[f64; 16]>,
    translation: Option<[f64; 3]>,
    /// A quaternion x, y, z, w.
    rotation: Option<[f64; 4]>,
    scale: Option<[f64; 3]>,
}

#[derive(Deserialize)]
struct Primitives {
    primitives: Vec<Primitive>,
}

#[derive(Deserialize)]
struct Primitive {
    attributes: Attributes,
    indices: Option<usize>,
    material: Option<usize>,
    /// 4 are triangles, 5 a strip of them, 6 a fan.
    #[serde(default = "triangles")]
    mode: u32,
}

fn triangles() -> u32 {
    4
}

#[derive(Deserialize)]
struct Attributes {
    #[serde(rename = "POSITION")]
    position: Option<usize>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Material {
    pbr_metallic_roughness: Pbr,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Pbr {
    base_color_factor: Option<Color>,
    base_color_texture: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Accessor {
    buffer_view: Option<usize>,
    #[serde(default)]
    byte_offset: usize,
    component_type: u32,
    count: usize,
    #[serde(rename = "type")]
    kind: String,
    sparse: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BufferView {
    #[serde(default)]
    buffer: usize,
    #[serde(default)]
    byte_offset: usize,
    byte_length: usize,
    byte_stride: Option<usize>,
}

/// Reads a file.
pub(super) fn parse(bytes: &[u8], name: &str) -> Result<Mesh, Error> {
    let wrong = |message: String| Error::input(name, None, "", message);
    let (json, binary) = chunks(bytes).map_err(|message| wrong(message.into()))?;
    let document: Document =
        serde_json::from_slice(json).map_err(|error| wrong(format!("is not glTF: {error}")))?;
    let mut reader = Reader { document: &document, binary, mesh: Mesh::default(), nodes: 0 };
    if let Some(scene) = document.scenes.get(document.scene) {
        for &node in &scene.nodes {
            reader.node(node, &Matrix4::identity(), 0).map_err(&wrong)?;
        }
    }
    Ok(reader.mesh)
}

/// The chunk of JSON and that of bytes: a head of magic, version and length, then each with its length and kind.
fn chunks(bytes: &[u8]) -> Result<(&[u8], &[u8]), &'static str> {
    const WRONG: &str = "is not glTF 2.0 in one file";
    let rest = bytes.strip_prefix(b"glTF\x02\0\0\0").and_then(|rest| rest.get(4..)).ok_or(WRONG)?;
    let chunk = |bytes: &'_ [u8], kind: &[u8]| -> Option<(usize, usize)> {
        let length = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?) as usize;
        let end = length.checked_add(8)?;
        (bytes.get(4..8)? == kind && end <= bytes.len()).then_some((8, end))
    };
    let (start, end) = chunk(rest, b"JSON").ok_or(WRONG)?;
    let (json, rest) = (&rest[start..end], &rest[end..]);
    match chunk(rest, b"BIN\0") {
        Some((start, end)) => Ok((json, &rest[start..end])),
        None if rest.is_empty() => Ok((json, &[])),
        None => Err("ends early, or has chunks that are not known"),
    }
}

struct Reader<'a> {
    document: &'a Document,
    binary: &'a [u8],
    mesh: Mesh,
    /// How many were shown.
    nodes: usize,
}

impl Reader<'_> {
    fn node(&mut self, index: usize, pose: &Matrix4<f64>, level: usize) -> Result<(), String> {
        self.nodes += 1;
        if level > MOST_LEVELS || self.nodes > MOST_NODES {
            return Err(format!(
                "shows more than {MOST_NODES} nodes, or nodes more than {MOST_LEVELS} levels deep in each other"
            ));
        }
        let document = self.document;
        let node = document.nodes.get(index).ok_or(format!("there is no node {index}"))?;
        let pose = pose * node.pose();
        if let Some(mesh) = node.mesh {
            let mesh = document.meshes.get(mesh).ok_or(format!("there is no mesh {mesh}"))?;
            for primitive in &mesh.primitives {
                self.primitive(primitive, &pose).map_err(|e| format!("node {index}: {e}"))?;
            }
        }
        node.children.iter().try_for_each(|&child| self.node(child, &pose, level + 1))
    }

    fn primitive(&mut self, primitive: &Primitive, pose: &Matrix4<f64>) -> Result<(), String> {
        let Some(positions) = primitive.attributes.position else { return Ok(()) };
        if !(4..=6).contains(&primitive.mode) {
            return Ok(());
        }
        let first = self.mesh.points.len();
        let numbers = self.numbers(positions, "VEC3")?;
        for point in numbers.chunks_exact(3) {
            let point = pose * Vector3::new(point[0], point[1], point[2]).push(1.0);
            self.mesh.points.push(point.xyz().into());
        }
        if !self.mesh.points[first..].iter().flatten().all(|x| x.is_finite()) {
            return Err("has a point that is not finite".into());
        }
        let count = self.mesh.points.len() - first;
        let corners: Vec<usize> = match primitive.indices {
            // Whole numbers of at most 32 bits.
            Some(indices) => {
                self.numbers(indices, "SCALAR")?.into_iter().map(|x| x as usize).collect()
            }
            None => (0..count).collect(),
        };
        if let Some(corner) = corners.iter().find(|&&corner| corner >= count) {
            return Err(format!("there is no point {corner}"));
        }
        let color = match primitive.material {
            Some(material) => {
                let found = self.document.materials.get(material);
                found.ok_or(format!("there is no material {material}"))?.color()
            }
            None => None,
        };
        self.mesh.paint(color);
        let mirrored = pose.fixed_view::<3, 3>(0, 0).determinant() < 0.0;
        let mut face = |a: usize, b: usize, c: usize| {
            let [a, b, c] = [a, b, c].map(|corner| first + corner);
            self.mesh.add_face(&if mirrored { [a, c, b] } else { [a, b, c] })
        };
        match primitive.mode {
            4 => corners.chunks_exact(3).try_for_each(|t| face(t[0], t[1], t[2])),
            5 => corners.windows(3).enumerate().try_for_each(|(k, t)| match k % 2 {
                0 => face(t[0], t[1], t[2]),
                _ => face(t[1], t[0], t[2]),
            }),
            _ => match corners.split_first() {
                Some((&hub, rim)) => rim.windows(2).try_for_each(|t| face(hub, t[0], t[1])),
                None => Ok(()),
            },
        }
    }

    /// All numbers of an accessor of a kind.
    fn numbers(&self, index: usize, kind: &str) -> Result<Vec<f64>, String> {
        let document = self.document;
        let accessor =
            document.accessors.get(index).ok_or(format!("there is no accessor {index}"))?;
        let wrong = |message: &str| Err(format!("accessor {index}: {message}"));
        let view = accessor.buffer_view.filter(|_| accessor.sparse.is_none());
        let Some(view) = view else { return wrong("sparse or empty ones are not read") };
        let Some(view) = document.buffer_views.get(view) else {
            return wrong("its view is not there");
        };
        if view.buffer != 0 {
            return wrong("its data are in another file: make one file of it");
        }
        let each = if kind == "VEC3" { 3 } else { 1 };
        let size = match accessor.component_type {
            5121 if each == 1 => 1,
            5123 if each == 1 => 2,
            5125 if each == 1 => 4,
            5126 if each == 3 => 4,
            _ => return wrong("points must be floats, and corners whole numbers"),
        };
        if accessor.kind != kind {
            return wrong(&format!("must be of the type {kind}"));
        }
        let whole = view.byte_offset.checked_add(view.byte_length);
        let bytes = whole.and_then(|end| self.binary.get(view.byte_offset..end));
        let stride = view.byte_stride.unwrap_or(each * size).max(1);
        let needed = accessor.count.checked_sub(1).and_then(|last| {
            last.checked_mul(stride)?.checked_add(each * size)?.checked_add(accessor.byte_offset)
        });
        let Some(bytes) = bytes.filter(|bytes| needed.is_some_and(|n| n <= bytes.len())) else {
            return wrong("names more data than the file has");
        };
        // All that there are, in all nodes.
        let known = self.mesh.points.len().max(self.mesh.triangles.len());
        if accessor.count > MOST_POINTS.saturating_sub(known).saturating_mul(3) {
            return wrong(&format!("there are more than {MOST_POINTS} points or triangles"));
        }
        let mut numbers = Vec::with_capacity(each * accessor.count);
        for k in 0..accessor.count {
            let start = accessor.byte_offset + k * stride;
            for word in bytes[start..start + each * size].chunks_exact(size) {
                numbers.push(match *word {
                    [byte] => f64::from(byte),
                    [a, b] => f64::from(u16::from_le_bytes([a, b])),
                    [a, b, c, d] if each == 1 => f64::from(u32::from_le_bytes([a, b, c, d])),
                    [a, b, c, d] => f64::from(f32::from_le_bytes([a, b, c, d])),
                    _ => return wrong("has numbers of no known size"),
                });
            }
        }
        Ok(numbers)
    }
}

impl Node {
    fn pose(&self) -> Matrix4<f64> {
        if let Some(columns) = &self.matrix {
            return Matrix4::from_column_slice(columns);
        }
        let [x, y, z, w] = self.rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]);
        let turn = UnitQuaternion::try_new(Quaternion::new(w, x, y, z), 1e-12).unwrap_or_default();
        Matrix4::new_translation(&self.translation.unwrap_or_default().into())
            * turn.to_homogeneous()
            * Matrix4::new_nonuniform_scaling(&self.scale.unwrap_or([1.0; 3]).into())
    }
}

impl Material {
    /// The colour, which files have in linear light, as screens have it; nothing where it is a picture.
    fn color(&self) -> Option<Color> {
        let own = &self.pbr_metallic_roughness;
        if own.base_color_texture.is_some() {
            return None;
        }
        let [r, g, b, opacity] = own.base_color_factor.unwrap_or([1.0; 4]);
        let [r, g, b] = [r, g, b].map(|part| {
            let part = part.clamp(0.0, 1.0);
            // sRGB (IEC 61966-2-1)
            if part <= 0.003_130_8 { 12.92 * part } else { 1.055 * part.powf(1.0 / 2.4) - 0.055 }
        });
        Some([r, g, b, opacity.clamp(0.0, 1.0)])
    }
}
