//! Shapes: the fields of a `[[shape]]`, of `shape = { .. }` and of `[[body.shape]]`, read and written.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use nalgebra::Vector3;

use super::color::{read_color, write_color};
use super::toml_values::{field, list, number, string};
use crate::Error;
use crate::assemble::{ColliderDescription, Filter, Material, OnGround};
use crate::formats::mesh::{HULL_LIMIT, MAX_HULL_VERTICES, Mesh, hull_limit};
use crate::formats::reach;
use crate::model::{HeightField, Polyhedron, Shape, SurfaceNumbers, SurfaceTerm, Triangulation};
use crate::table::Table;

/// What says how a surface touches others.
pub(super) const SURFACE: [&str; 3] = ["material", "contype", "conaffinity"];

/// The numbers of a surface.
pub(super) fn surface_fields() -> impl Iterator<Item = &'static str> {
    ["mu", "mu_static", "restitution"].into_iter().chain(SurfaceTerm::ALL.map(SurfaceTerm::name))
}

/// The kinds of shapes that are more than their sizes.
const OTHERS: [&str; 3] = ["convex", "mesh", "height_field"];

/// The kinds of shapes.
fn kinds() -> impl Iterator<Item = &'static str> {
    Shape::PLAIN.into_iter().map(|shape| shape.name()).chain(OTHERS)
}

/// Reads a shape whose name is known.
pub(super) fn read(table: &Table, name: String) -> Result<ColliderDescription, Error> {
    read_beside(table, name, &[])
}

/// The same of a table that has other fields too.
pub(super) fn read_beside(
    table: &Table,
    name: String,
    others: &[&'static str],
) -> Result<ColliderDescription, Error> {
    let mut fields = vec!["name", "position", "orientation"];
    fields.extend(others);
    fields.extend(SURFACE);
    fields.extend(surface_fields());
    fields.extend(kinds());
    fields.extend(["radius", "margin", "scale", "spacing", "max_hull_vertices", "color", "drawn"]);
    table.only(&fields)?;
    let (shape, size, visual) = read_kind(table)?;
    let (max_hull_vertices, states_hull_limit) = (read_limit(table)?, table.has(HULL_LIMIT));
    let radius = read_radius(table, &shape, size)?;
    Ok(ColliderDescription {
        line: None,
        name,
        shape,
        size,
        radius,
        margin: read_margin(table)?,
        position: table.numbers("position")?.unwrap_or([0.0; 3]),
        orientation: table.numbers("orientation")?.unwrap_or([1.0, 0.0, 0.0, 0.0]),
        material: read_material(table)?,
        on_ground: OnGround::default(),
        made_of: read_made_of(table)?,
        filter: read_filter(table)?,
        mesh: table.string("mesh")?.map(|file| table.directory().join(file).display().to_string()),
        visual,
        color: read_color(table)?,
        drawn: table.boolean("drawn")?.unwrap_or(false),
        max_hull_vertices,
        states_hull_limit,
    })
}

/// A shape, its sizes, and what it looks like if that is another thing.
type Kind = (Shape, [f64; 3], Option<Arc<Triangulation>>);

fn read_kind(table: &Table) -> Result<Kind, Error> {
    let given: Vec<&str> = kinds().filter(|kind| table.has(kind)).collect();
    let [kind] = given[..] else {
        let plain = Shape::PLAIN.map(|shape| match shape.size_names() {
            [size] => format!("{{ {} = {size} }}", shape.name()),
            sizes => format!("{{ {} = [{}] }}", shape.name(), sizes.join(", ")),
        });
        let message = format!(
            "must be one of {}, {{ convex = [points] }}, {{ mesh = \"file\" }}, {{ height_field = [rows] }}, in m",
            plain.join(", ")
        );
        return Err(table.error("", message));
    };
    let scaled = matches!(kind, "convex" | "mesh");
    for (field, meant) in [("scale", scaled), ("spacing", kind == "height_field")] {
        if table.has(field) && !meant {
            return Err(table.error(field, format!("has no meaning for a {kind}")));
        }
    }
    let scale = table.numbers("scale")?.unwrap_or([1.0; 3]);
    let hull = |points: &[Vector3<f64>]| {
        let hull = Polyhedron::hull(points);
        let hull = hull.map_err(|error| table.error(kind, error.to_string()))?;
        Ok((Shape::Convex(Arc::new(hull)), scale))
    };
    let mut visual = None;
    let (shape, size) = match kind {
        "convex" => {
            let points = table.required(kind, table.rows(kind)?)?;
            let points = points.iter().map(|point| <[f64; 3]>::try_from(point.as_slice()));
            let points = points.collect::<Result<Vec<_>, _>>();
            let points = points.map_err(|_| table.error(kind, "must be lists of 3 numbers"))?;
            hull(&points.into_iter().map(Vector3::from).collect::<Vec<_>>())?
        }
        "mesh" => {
            let file = table.required(kind, table.string(kind)?)?;
            let path = table.directory().join(file);
            reach::check(&path, table.directory()).map_err(|message| table.error(kind, message))?;
            let mesh = Mesh::load(path).map_err(|error| table.error(kind, error.to_string()))?;
            let vertices: Vec<Vector3<f64>> = mesh.points.into_iter().map(Vector3::from).collect();
            let hull = hull(&vertices)?;
            let surface = Triangulation { vertices, triangles: mesh.triangles };
            visual = (!surface.triangles.is_empty()).then(|| Arc::new(surface));
            hull
        }
        "height_field" => {
            let rows = table.required(kind, table.rows(kind)?)?;
            let columns = rows.first().map_or(0, Vec::len);
            if rows.iter().any(|row| row.len() != columns) {
                return Err(table.error(kind, "must have rows of one length"));
            }
            let spacing = table.required("spacing", table.numbers("spacing")?)?;
            let field = HeightField::new(rows.len(), columns, spacing, rows.concat());
            let field = field.map_err(|error| table.error(kind, error.to_string()))?;
            (Shape::HeightField(Arc::new(field)), scale)
        }
        _ => read_plain(table, kind)?,
    };
    let field = if scaled { "scale" } else { kind };
    for found in shape.sizes(&size).iter().copied() {
        table.demand(field, found > 0.0, "must be positive", found, "m")?;
    }
    Ok((shape, size, visual))
}

/// How far from its surface a shape touches.
fn read_margin(table: &Table) -> Result<f64, Error> {
    let margin = table.number("margin")?.unwrap_or(0.0);
    table.demand("margin", margin >= 0.0, "must not be negative", margin, "m")?;
    Ok(margin)
}

/// The radius of round edges, if it has them.
fn read_radius(table: &Table, shape: &Shape, size: [f64; 3]) -> Result<Option<f64>, Error> {
    let Some(radius) = table.number("radius")? else { return Ok(None) };
    let Some(most) = shape.largest_radius(size) else {
        let message = format!(
            "has no meaning for a {}: a box, hull or mesh can have round edges",
            shape.name()
        );
        return Err(table.error("radius", message));
    };
    table.demand("radius", radius >= 0.0, "must not be negative", radius, "m")?;
    let demand = format!("must be less than the least half extent: at most {most} m");
    table.demand("radius", radius <= most, &demand, radius, "m")?;
    Ok(Some(radius))
}

/// How many vertices of the hull of a mesh collide at most; nothing for what is no mesh.
fn read_limit(table: &Table) -> Result<Option<usize>, Error> {
    match (hull_limit(table)?, table.has("mesh")) {
        (Some(_), false) => Err(table.error(HULL_LIMIT, "has a meaning for a mesh only")),
        (None, false) => Ok(None),
        (given, true) => Ok(Some(given.unwrap_or(MAX_HULL_VERTICES))),
    }
}

/// One that has nothing but sizes: their list, or the only one.
pub(super) fn read_plain(table: &Table, kind: &str) -> Result<(Shape, [f64; 3]), Error> {
    let shape = Shape::PLAIN.into_iter().find(|shape| shape.name() == kind);
    let shape = table.required(kind, shape)?;
    let size = match shape.size_names().len() {
        1 => [table.required(kind, table.number(kind)?)?, 0.0, 0.0],
        2 => {
            let [first, second] = table.required(kind, table.numbers(kind)?)?;
            [first, second, 0.0]
        }
        _ => table.required(kind, table.numbers(kind)?)?,
    };
    Ok((shape, size))
}

/// The material of a surface, if it has one of its own.
pub(super) fn read_material(table: &Table) -> Result<Option<Material>, Error> {
    if !table.has("mu") {
        for field in surface_fields() {
            if table.has(field) {
                return Err(table.error(field, "has no meaning without mu"));
            }
        }
        return Ok(None);
    }
    let mu = table.required("mu", table.number("mu")?)?;
    table.demand("mu", mu >= 0.0, "must not be negative", mu, "")?;
    let mu_static = table.number("mu_static")?;
    if let Some(found) = mu_static {
        // Friction may also grow with slip, where it changes smoothly.
        let met = found >= mu || table.has(SurfaceTerm::StribeckSpeed.name()) && found >= 0.0;
        table.demand("mu_static", met, &format!("must not be less than mu, {mu}"), found, "")?;
    }
    let restitution = table.number("restitution")?.unwrap_or(0.0);
    let met = (0.0..=1.0).contains(&restitution);
    table.demand("restitution", met, "must be between 0 and 1", restitution, "")?;
    let mut terms = SurfaceNumbers::default();
    for term in SurfaceTerm::ALL {
        let Some(found) = table.number(term.name())? else { continue };
        let (met, demand) = match term.is_positive() {
            true => (found > 0.0, "must be positive"),
            false => (found >= 0.0, "must not be negative"),
        };
        table.demand(term.name(), met, demand, found, "")?;
        terms.set(term, Some(found));
    }
    if table.has("stribeck_speed") && mu_static.is_none() {
        let message = "has no meaning without mu_static, which friction goes over from";
        return Err(table.error("stribeck_speed", message));
    }
    if table.has("damping_time") && !table.has("softness") {
        let message = "has no meaning without softness, whose damping it is";
        return Err(table.error("damping_time", message));
    }
    if table.has("damping") && !table.has("stiffness") {
        let message = "has no meaning without stiffness, beside which it is";
        return Err(table.error("damping", message));
    }
    if table.has("stiffness") && table.has("softness") {
        return Err(table.error("stiffness", "is one over softness: give one of both"));
    }
    if table.has("mu_across") && !table.has("pair") {
        let message = "is for a [[contact]] with a `pair` and a `grain`";
        return Err(table.error("mu_across", message));
    }
    Ok(Some(Material { mu, mu_static, restitution, terms }))
}

/// The name of what a surface is made of, where it has no numbers of its own.
pub(super) fn read_made_of(table: &Table) -> Result<Option<String>, Error> {
    let Some(name) = table.string("material")? else { return Ok(None) };
    if table.has("mu") {
        let message = "has no meaning beside mu: of a [[material]] or of its own, not both";
        return Err(table.error("material", message));
    }
    Ok(Some(name.to_string()))
}

/// What a surface touches.
pub(super) fn read_filter(table: &Table) -> Result<Filter, Error> {
    let bits = |field: &str| {
        let Some(number) = table.number(field)? else { return Ok(1) };
        let met = number >= 0.0 && number <= f64::from(u32::MAX) && number.fract() == 0.0;
        table.demand(field, met, "must be a whole number of at most 32 bits", number, "")?;
        Ok(number as u32)
    };
    Ok(Filter { contype: bits("contype")?, conaffinity: bits("conaffinity")? })
}

/// Position and orientation, where they are not those of the frame.
pub(super) fn write_pose(text: &mut String, position: &[f64], orientation: [f64; 4]) {
    if position.iter().any(|&x| x != 0.0) {
        field(text, "position", &list(position));
    }
    if orientation != [1.0, 0.0, 0.0, 0.0] {
        field(text, "orientation", &list(&orientation));
    }
}

/// Writes a shape; meshes are named relative to `directory`.
pub(super) fn write(text: &mut String, shape: &ColliderDescription, name: &str, directory: &Path) {
    if !name.is_empty() {
        field(text, "name", &string(name));
    }
    let size = &shape.size;
    match &shape.shape {
        Shape::Convex(hull) => match shape.mesh.as_deref().and_then(|m| relative(m, directory)) {
            Some(mesh) => {
                field(text, "mesh", &string(&mesh));
                if *size != [1.0; 3] {
                    field(text, "scale", &list(size));
                }
                let most = shape.max_hull_vertices.unwrap_or(0);
                if most != MAX_HULL_VERTICES || shape.states_hull_limit {
                    field(text, "max_hull_vertices", &most.to_string());
                }
            }
            None => {
                let points = hull.vertices().iter();
                let points = points.map(|p| list(&[p.x * size[0], p.y * size[1], p.z * size[2]]));
                field(text, "convex", &format!("[{}]", points.collect::<Vec<_>>().join(", ")));
            }
        },
        Shape::HeightField(heights) => {
            let rows = heights.heights().chunks(heights.columns());
            let rows = rows.map(|row| list(&row.iter().map(|h| h * size[2]).collect::<Vec<_>>()));
            field(text, "height_field", &format!("[{}]", rows.collect::<Vec<_>>().join(", ")));
            let [x, y] = heights.spacing();
            field(text, "spacing", &list(&[x * size[0], y * size[1]]));
        }
        plain => match plain.sizes(size) {
            [size] => field(text, plain.name(), &number(*size)),
            sizes => field(text, plain.name(), &list(sizes)),
        },
    }
    if let Some(radius) = shape.radius {
        field(text, "radius", &number(radius));
    }
    if shape.margin != 0.0 {
        field(text, "margin", &number(shape.margin));
    }
    write_pose(text, &shape.position, shape.orientation);
    write_color(text, shape.color);
    if shape.drawn {
        field(text, "drawn", "true");
    }
    write_surface(text, shape.material, shape.made_of.as_deref(), shape.filter);
}

/// A path from a directory to a file, if both are there; otherwise the path itself. Nothing where a scene in the
/// directory may not read the file.
pub(super) fn relative(file: &str, directory: &Path) -> Option<String> {
    let here = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let (Ok(path), Ok(base)) = (std::fs::canonicalize(file), std::fs::canonicalize(here)) else {
        return Some(file.to_string());
    };
    reach::check(&path, &base).ok()?;
    let common = path.components().zip(base.components()).take_while(|(a, b)| a == b).count();
    let up = base.components().skip(common).map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(path.components().skip(common)).collect();
    Some(way.display().to_string())
}

/// Writes a material.
pub(super) fn write_material(text: &mut String, material: Material) {
    field(text, "mu", &number(material.mu));
    if let Some(mu_static) = material.mu_static {
        field(text, "mu_static", &number(mu_static));
    }
    if material.restitution != 0.0 {
        field(text, "restitution", &number(material.restitution));
    }
    for term in SurfaceTerm::ALL {
        if let Some(found) = material.terms.get(term) {
            field(text, term.name(), &number(found));
        }
    }
}

/// Writes what a surface is made of, if it has a material of its own, and what it touches.
pub(super) fn write_surface(
    text: &mut String,
    material: Option<Material>,
    made_of: Option<&str>,
    filter: Filter,
) {
    if let Some(name) = made_of {
        field(text, "material", &string(name));
    }
    if let Some(material) = material {
        write_material(text, material);
    }
    for (name, bits) in [("contype", filter.contype), ("conaffinity", filter.conaffinity)] {
        if bits != 1 {
            field(text, name, &bits.to_string());
        }
    }
}
