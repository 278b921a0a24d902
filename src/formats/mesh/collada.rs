//! COLLADA 1.4 and 1.5 (`.dae`): what its scene shows, as triangles in metres, with the colours of materials.
//!
//! What else it may hold, such as bones, motions, cameras and pictures, is passed over. As robots' other programs do, the
//! axis that the file calls up is not heeded: the file of the robot turns the mesh. (There are crates that read COLLADA. That of
//! `openrr` keeps one place of a mesh that stands in several, one material of each, and ends the program where a file names
//! what it does not have.)

use std::collections::HashMap;

use nalgebra::{Matrix3, Matrix4, Rotation3, Unit, Vector3};
use roxmltree::Node;

use super::triangles::{MOST_CORNERS, Mesh, check_count};
use crate::Error;
use crate::formats::xml;
use crate::model::Color;

/// How deep nodes stand in each other, also where one stands for another.
const MOST_LEVELS: usize = 100;
/// Nodes that are shown, one as often as it is.
const MOST_NODES: usize = 100_000;

/// Reads a file.
pub(super) fn parse(bytes: &[u8], name: &str) -> Result<Mesh, Error> {
    let text = String::from_utf8_lossy(bytes);
    let document = xml::document(&text, name)?;
    let root = document.root_element();
    let wrong = |message: String| Error::input(name, None, "", message);
    if root.tag_name().name() != "COLLADA" {
        let found: String = root.tag_name().name().chars().take(40).collect();
        return Err(wrong(format!("must be <COLLADA>, found <{found}>")));
    }
    let by_id = root.descendants().filter_map(|node| Some((node.attribute("id")?, node)));
    let mut reader = Reader {
        by_id: by_id.collect(),
        mesh: Mesh::default(),
        name,
        read: HashMap::new(),
        nodes: 0,
    };
    let meter = child(root, "asset").and_then(|asset| child(asset, "unit"));
    let meter = meter.and_then(|unit| unit.attribute("meter")?.trim().parse().ok()).unwrap_or(1.0);
    let unit = Matrix4::new_scaling(meter);
    let shown = child(root, "scene").and_then(|scene| child(scene, "instance_visual_scene"));
    match shown.and_then(|instance| reader.target(instance, "url")) {
        Some(scene) => reader.nodes(scene, &unit, 0)?,
        // A library without a scene is shown as it is.
        None => {
            for geometry in root.descendants().filter(|node| is(node, "geometry")) {
                reader.geometry(geometry, &unit, &HashMap::new())?;
            }
        }
    }
    Ok(reader.mesh)
}

fn is(node: &Node, tag: &str) -> bool {
    node.is_element() && node.tag_name().name() == tag
}

fn child<'a>(node: Node<'a, 'a>, tag: &str) -> Option<Node<'a, 'a>> {
    node.children().find(|node| is(node, tag))
}

fn numbers(node: Node) -> Vec<f64> {
    words(node).map_while(|word| word.parse().ok()).collect()
}

fn words<'a>(node: Node<'a, 'a>) -> impl Iterator<Item = &'a str> {
    // Comments stand between texts.
    let texts = node.children().filter(Node::is_text);
    texts.flat_map(|text| text.text().unwrap_or_default().split_ascii_whitespace())
}

/// Colours by the names that a mesh has for its materials.
type Colors<'a> = HashMap<&'a str, Option<Color>>;

struct Reader<'a> {
    by_id: HashMap<&'a str, Node<'a, 'a>>,
    mesh: Mesh,
    name: &'a str,
    /// Points of sources, once they are read.
    read: HashMap<roxmltree::NodeId, Vec<Vector3<f64>>>,
    /// How many were shown.
    nodes: usize,
}

impl<'a> Reader<'a> {
    fn error(&self, node: Node, message: impl Into<String>) -> Error {
        let line = node.document().text_pos_at(node.range().start).row as usize;
        Error::input(self.name, line, node.tag_name().name(), message)
    }

    /// What an attribute stands for: `#id`.
    fn target(&self, node: Node<'a, 'a>, attribute: &str) -> Option<Node<'a, 'a>> {
        self.by_id.get(node.attribute(attribute)?.strip_prefix('#')?).copied()
    }

    /// The nodes in one, or in a scene.
    fn nodes(
        &mut self,
        parent: Node<'a, 'a>,
        pose: &Matrix4<f64>,
        level: usize,
    ) -> Result<(), Error> {
        if level > MOST_LEVELS {
            let message = format!("has nodes more than {MOST_LEVELS} levels deep in each other");
            return Err(self.error(parent, message));
        }
        for node in parent.children() {
            match node.tag_name().name() {
                "node" => self.node(node, pose, level)?,
                "instance_node" => {
                    if let Some(node) = self.target(node, "url") {
                        self.node(node, pose, level)?;
                    }
                }
                "instance_geometry" => {
                    if let Some(geometry) = self.target(node, "url") {
                        let colors = self.bound(node);
                        self.geometry(geometry, pose, &colors)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn node(&mut self, node: Node<'a, 'a>, pose: &Matrix4<f64>, level: usize) -> Result<(), Error> {
        self.nodes += 1;
        if self.nodes > MOST_NODES {
            return Err(self.error(node, format!("shows more than {MOST_NODES} nodes")));
        }
        let mut pose = *pose;
        for part in node.children().filter(Node::is_element) {
            let x = numbers(part);
            let turned = match (part.tag_name().name(), x.as_slice()) {
                ("matrix", x) if x.len() == 16 => Matrix4::from_row_slice(x),
                ("translate", &[x, y, z]) => Matrix4::new_translation(&Vector3::new(x, y, z)),
                ("scale", &[x, y, z]) => Matrix4::new_nonuniform_scaling(&Vector3::new(x, y, z)),
                ("rotate", &[x, y, z, degrees]) => {
                    match Unit::try_new(Vector3::new(x, y, z), 1e-12) {
                        Some(axis) => {
                            Rotation3::from_axis_angle(&axis, degrees.to_radians()).to_homogeneous()
                        }
                        None => Matrix4::identity(),
                    }
                }
                _ => continue,
            };
            pose *= turned;
        }
        self.nodes(node, &pose, level + 1)
    }

    /// The colours that an instance has for the names of materials.
    fn bound(&self, instance: Node<'a, 'a>) -> Colors<'a> {
        let bound = instance.descendants().filter(|node| is(node, "instance_material"));
        let of = |node: Node<'a, 'a>| {
            Some((node.attribute("symbol")?, self.color(self.target(node, "target")?)))
        };
        bound.filter_map(of).collect()
    }

    /// The colour of a material in light from all sides; nothing where it is a picture.
    fn color(&self, material: Node<'a, 'a>) -> Option<Color> {
        let effect = self.target(child(material, "instance_effect")?, "url")?;
        let diffuse = effect.descendants().find(|node| is(node, "diffuse"))?;
        match numbers(child(diffuse, "color")?)[..] {
            // Opacity is said elsewhere, in ways that programs take differently: all is opaque.
            [r, g, b, ..] if [r, g, b].iter().all(|part| part.is_finite()) => {
                let [r, g, b] = [r, g, b].map(|part| part.clamp(0.0, 1.0));
                Some([r, g, b, 1.0])
            }
            _ => None,
        }
    }

    fn geometry(
        &mut self,
        geometry: Node<'a, 'a>,
        pose: &Matrix4<f64>,
        colors: &Colors<'a>,
    ) -> Result<(), Error> {
        let Some(mesh) = child(geometry, "mesh") else { return Ok(()) };
        // Points once for all that is made of them.
        let mut places: HashMap<roxmltree::NodeId, usize> = HashMap::new();
        for faces in mesh.children().filter(Node::is_element) {
            let kind = faces.tag_name().name();
            if !["triangles", "polylist", "polygons", "trifans", "tristrips"].contains(&kind) {
                continue;
            }
            let Some((source, offset, stride)) = self.points_of(faces)? else { continue };
            let first = match places.get(&source.id()) {
                Some(&first) => first,
                None => {
                    let first = self.place(source, pose)?;
                    places.insert(source.id(), first);
                    first
                }
            };
            let color = faces.attribute("material").and_then(|name| *colors.get(name)?);
            self.mesh.paint(color);
            let count = self.read[&source.id()].len();
            self.faces(faces, (first, count), (offset, stride), mirrored(pose))?;
        }
        Ok(())
    }

    /// The source of the positions of faces, which of the numbers of a corner is its own, and of how many.
    fn points_of(
        &self,
        faces: Node<'a, 'a>,
    ) -> Result<Option<(Node<'a, 'a>, usize, usize)>, Error> {
        let inputs = || faces.children().filter(|node| is(node, "input"));
        let offset = |node: Node| -> Option<usize> { node.attribute("offset")?.parse().ok() };
        let stride = inputs().filter_map(offset).max().unwrap_or(0).saturating_add(1);
        if stride > MOST_CORNERS {
            return Err(self.error(faces, "has an offset that is too large"));
        }
        let vertex = inputs().find(|node| node.attribute("semantic") == Some("VERTEX"));
        let Some(vertex) = vertex else { return Ok(None) };
        let vertices = self.target(vertex, "source");
        let position = vertices.and_then(|vertices| {
            let inputs = vertices.children().filter(|node| is(node, "input"));
            let mut positions =
                inputs.filter(|node| node.attribute("semantic") == Some("POSITION"));
            self.target(positions.next()?, "source")
        });
        match position {
            Some(source) => Ok(Some((source, offset(vertex).unwrap_or(0), stride))),
            None => Err(self.error(faces, "has corners whose positions are not in the file")),
        }
    }

    /// Adds the points of a source, placed; the number of the first.
    fn place(&mut self, source: Node<'a, 'a>, pose: &Matrix4<f64>) -> Result<usize, Error> {
        if !self.read.contains_key(&source.id()) {
            let points = self.points(source)?;
            self.read.insert(source.id(), points);
        }
        let first = self.mesh.points.len();
        let turn: Matrix3<f64> = pose.fixed_view::<3, 3>(0, 0).into();
        let shift: Vector3<f64> = pose.fixed_view::<3, 1>(0, 3).into();
        let placed = self.read[&source.id()].iter().map(|point| turn * point + shift);
        self.mesh.points.extend(placed.map(<[f64; 3]>::from));
        check_count(self.mesh.points.len(), self.name, None)?;
        let finite = self.mesh.points[first..].iter().flatten().all(|x| x.is_finite());
        match finite {
            true => Ok(first),
            false => Err(self.error(source, "has a point that is not finite")),
        }
    }

    fn points(&self, source: Node<'a, 'a>) -> Result<Vec<Vector3<f64>>, Error> {
        let Some(array) = child(source, "float_array") else {
            return Err(self.error(source, "has no float_array"));
        };
        let accessor = source.descendants().find(|node| is(node, "accessor"));
        let stride = accessor.and_then(|node| node.attribute("stride")?.parse().ok()).unwrap_or(3);
        if stride < 3 {
            return Err(self.error(source, "must have three numbers or more a point"));
        }
        let numbers = numbers(array);
        if numbers.len() != words(array).count() {
            return Err(self.error(array, "must be numbers"));
        }
        let points = numbers.chunks_exact(stride);
        Ok(points.map(|point| Vector3::new(point[0], point[1], point[2])).collect())
    }

    /// Adds faces whose points are `count` from `first` on; of `stride` numbers of a corner that at `offset` is its point.
    fn faces(
        &mut self,
        faces: Node<'a, 'a>,
        (first, count): (usize, usize),
        (offset, stride): (usize, usize),
        mirrored: bool,
    ) -> Result<(), Error> {
        let kind = faces.tag_name().name();
        let mut sizes = match kind {
            "polylist" => child(faces, "vcount").map(words).into_iter().flatten().collect(),
            _ => Vec::new(),
        }
        .into_iter();
        // A polygon with holes is in `ph`, and left out.
        for list in faces.children().filter(|node| is(node, "p")) {
            let mut corners = Vec::new();
            for word in words(list).skip(offset).step_by(stride) {
                match word.parse::<usize>().ok().filter(|&corner| corner < count) {
                    Some(corner) => corners.push(first + corner),
                    None => return Err(self.error(list, format!("there is no point {word:?}"))),
                }
            }
            let mut add = |corners: &[usize]| {
                if corners.len() > MOST_CORNERS {
                    return Err(format!("has a face of more than {MOST_CORNERS} corners"));
                }
                let mut face = corners.to_vec();
                if mirrored {
                    face.reverse();
                }
                self.mesh.add_face(&face)
            };
            let mut added = Ok(());
            match kind {
                "triangles" => {
                    added = corners.chunks_exact(3).try_for_each(add);
                }
                "polylist" => {
                    let mut rest = corners.as_slice();
                    while added.is_ok()
                        && let Some(size) = sizes.next()
                    {
                        let Some((face, others)) =
                            size.parse().ok().and_then(|size: usize| rest.split_at_checked(size))
                        else {
                            added = Err("has fewer corners than vcount says".into());
                            break;
                        };
                        rest = others;
                        // A line or a point is no face.
                        if face.len() > 2 {
                            added = add(face);
                        }
                    }
                }
                "tristrips" => {
                    for (k, t) in corners.windows(3).enumerate() {
                        added = added.and_then(|()| match k % 2 {
                            0 => add(t),
                            _ => add(&[t[1], t[0], t[2]]),
                        });
                    }
                }
                // A fan is what a face becomes.
                _ if corners.len() > 2 => added = add(&corners),
                _ => {}
            }
            added.map_err(|message| self.error(list, message))?;
            check_count(self.mesh.triangles.len(), self.name, None)?;
        }
        Ok(())
    }
}

fn mirrored(pose: &Matrix4<f64>) -> bool {
    pose.fixed_view::<3, 3>(0, 0).determinant() < 0.0
}
