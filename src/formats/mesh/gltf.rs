//! glTF 2.0 in one file (`.glb`): what its scene shows, as triangles, with the colours of materials; by the crate `gltf`.

use gltf::mesh::Mode;
use gltf::{Gltf, Node, Primitive};
use nalgebra::{Matrix4, Vector3};

use super::triangles::{Mesh, check_count};
use crate::Error;
use crate::model::Color;

/// How deep nodes stand in each other.
const MOST_LEVELS: usize = 100;
/// Nodes that are shown.
const MOST_NODES: usize = 100_000;

/// Reads a file.
pub(super) fn parse(bytes: &[u8], name: &str) -> Result<Mesh, Error> {
    let wrong = |message: String| Error::input(name, None, "", message);
    let Gltf { document, blob } =
        Gltf::from_slice(bytes).map_err(|error| wrong(format!("is not glTF: {error}")))?;
    let blob = blob.unwrap_or_default();
    let mut mesh = Mesh::default();
    let mut left = MOST_NODES;
    let scene = document.default_scene().or_else(|| document.scenes().next());
    for node in scene.iter().flat_map(|scene| scene.nodes()) {
        add(&mut mesh, &node, &Matrix4::identity(), &blob, (0, &mut left))
            .map_err(|message| wrong(format!("node {}: {message}", node.index())))?;
        check_count(mesh.points.len().max(mesh.triangles.len()), name, None)?;
    }
    Ok(mesh)
}

fn add(
    mesh: &mut Mesh,
    node: &Node,
    pose: &Matrix4<f64>,
    blob: &[u8],
    (level, left): (usize, &mut usize),
) -> Result<(), String> {
    if level > MOST_LEVELS {
        return Err(format!("is more than {MOST_LEVELS} levels deep"));
    }
    *left = left.checked_sub(1).ok_or(format!("there are more than {MOST_NODES} in it"))?;
    let own = node.transform().matrix().map(|column| column.map(f64::from));
    let pose = pose * Matrix4::from(own);
    for primitive in node.mesh().iter().flat_map(|mesh| mesh.primitives()) {
        add_primitive(mesh, &primitive, &pose, blob)?;
    }
    node.children().try_for_each(|child| add(mesh, &child, &pose, blob, (level + 1, &mut *left)))
}

fn add_primitive(
    mesh: &mut Mesh,
    primitive: &Primitive,
    pose: &Matrix4<f64>,
    blob: &[u8],
) -> Result<(), String> {
    let faces =
        matches!(primitive.mode(), Mode::Triangles | Mode::TriangleStrip | Mode::TriangleFan);
    if !faces {
        return Ok(());
    }
    // The crate trusts sizes in places: of a file that names more than it has nothing is read.
    let views = [primitive.indices(), primitive.get(&gltf::Semantic::Positions)];
    for accessor in views.iter().flatten() {
        let view = accessor.view().filter(|_| accessor.sparse().is_none());
        let view = view.ok_or("has sparse or empty data, which are not read")?;
        let within = matches!(view.buffer().source(), gltf::buffer::Source::Bin);
        if !within {
            return Err("has its data in another file: make one file of it, .glb".into());
        }
        let stride = view.stride().unwrap_or(accessor.size());
        let needed = accessor.count().checked_sub(1).and_then(|steps| {
            let last = steps.checked_mul(stride)?.checked_add(accessor.size())?;
            last.checked_add(accessor.offset())
        });
        let end = view.offset().checked_add(view.length());
        let there = end.is_some_and(|end| end <= blob.len());
        if !there || needed.is_none_or(|needed| needed > view.length()) {
            return Err("names more data than the file has".into());
        }
    }
    let reader = primitive.reader(|_| Some(blob));
    let Some(positions) = reader.read_positions() else { return Ok(()) };
    let first = mesh.points.len();
    let placed = |point: [f32; 3]| {
        let point = Vector3::from(point.map(f64::from)).push(1.0);
        <[f64; 3]>::from((pose * point).xyz())
    };
    mesh.points.extend(positions.map(placed));
    if !mesh.points[first..].iter().flatten().all(|x| x.is_finite()) {
        return Err("has a point that is not finite".into());
    }
    let count = mesh.points.len() - first;
    let corners: Vec<usize> = match reader.read_indices() {
        Some(indices) => indices.into_u32().map(|corner| corner as usize).collect(),
        None => (0..count).collect(),
    };
    if let Some(corner) = corners.iter().find(|&&corner| corner >= count) {
        return Err(format!("there is no point {corner}"));
    }
    mesh.paint(Some(color(primitive)));
    let mirrored = pose.fixed_view::<3, 3>(0, 0).determinant() < 0.0;
    let mut face = |a: usize, b: usize, c: usize| {
        let [a, b, c] = [a, b, c].map(|corner| first + corner);
        mesh.add_face(&if mirrored { [a, c, b] } else { [a, b, c] })
    };
    match primitive.mode() {
        Mode::Triangles => corners.chunks_exact(3).try_for_each(|t| face(t[0], t[1], t[2])),
        Mode::TriangleStrip => corners.windows(3).enumerate().try_for_each(|(k, t)| match k % 2 {
            0 => face(t[0], t[1], t[2]),
            _ => face(t[1], t[0], t[2]),
        }),
        _ => match corners.split_first() {
            Some((&hub, rim)) => rim.windows(2).try_for_each(|t| face(hub, t[0], t[1])),
            None => Ok(()),
        },
    }
}

/// The colour of a material, which files have in linear light, as screens have it.
fn color(primitive: &Primitive) -> Color {
    let [r, g, b, opacity] =
        primitive.material().pbr_metallic_roughness().base_color_factor().map(f64::from);
    let [r, g, b] = [r, g, b].map(|part| {
        let part = part.clamp(0.0, 1.0);
        // sRGB (IEC 61966-2-1)
        if part <= 0.003_130_8 { 12.92 * part } else { 1.055 * part.powf(1.0 / 2.4) - 0.055 }
    });
    [r, g, b, opacity.clamp(0.0, 1.0)]
}
