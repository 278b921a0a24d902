//! Scenes of soft bodies: `[[soft]]`, `[[half_space]]`, `[[shape]]`, `[[contact]]` and `[simulation]` of a scene file, and what
//! [holds and pulls](super::soft_ties) them.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use nalgebra::Vector3;
use toml::Spanned;
use toml::de::DeTable;

use super::mixed;
use super::soft_contact::SoftContacts;
use super::soft_ties;
use super::{Taken, read_name, shape};
use crate::Error;
use crate::assemble::{ColliderDescription, Description};
use crate::collision::Pose;
use crate::fem::{Elements, SolidMaterial};
use crate::formats::mesh::reduce_hulls;
use crate::formats::reach;
use crate::implicit::{Bdf, NewtonSettings, SolidParameters, VertexContact, VertexLaw};
use crate::model::{CellSplit, Settings, TetrahedralMesh};
use crate::soft::{Marker, SoftBody, SoftContact, SoftGround, SoftObstacle, SoftScene, SoftStart};
use crate::spatial::rotation_matrix;
use crate::state::unit_quaternion;
use crate::table::{self, Table};

/// From this ratio on linear tetrahedra hardly change their volume, nor their shape where they should.
const LOCKING: f64 = 0.45;
/// A body longer than this (m) is more often one in millimetres.
const LARGE: f64 = 10.0;
/// Depths up to here (m) are rounding.
const TOUCHES: f64 = 1e-9;

const FIELDS: [&str; 17] = [
    "name",
    "mesh",
    "scale",
    "shape",
    "resolution",
    "density",
    "youngs_modulus",
    "poisson_ratio",
    "lame_lambda",
    "lame_mu",
    "viscosity",
    "position",
    "orientation",
    "velocity",
    "angular_velocity",
    "radius",
    "markers",
];

impl SoftScene {
    /// Reads the scene of a `.toml` file that has `[[soft]]` bodies; nothing if it has none.
    ///
    /// # Errors
    /// If the file cannot be read, or is no scene of soft bodies: with line and field.
    pub fn load(path: impl AsRef<Path>) -> Result<Option<SoftScene>, Error> {
        let path = path.as_ref();
        let is_toml = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"));
        // What is no file, such as a pipe, can be read only once: as what most scenes are.
        if !is_toml || !crate::text::is_file(path) {
            return Ok(None);
        }
        let text = crate::text::read(path, crate::text::MOST_BYTES)?;
        SoftScene::parse(&text, &path.display().to_string())
    }

    /// The same of the text of a file; `name` stands for it in messages, and for where the meshes it names are.
    ///
    /// # Errors
    /// If it is no scene of soft bodies.
    pub fn parse(text: &str, name: &str) -> Result<Option<SoftScene>, Error> {
        let document = table::parse(text, name)?;
        let root = Table::root(text, name, &document);
        if root.has("soft") { read(&root, (text, name, &document)).map(Some) } else { Ok(None) }
    }
}

fn read(
    root: &Table,
    (text, name, document): (&str, &str, &Spanned<DeTable>),
) -> Result<SoftScene, Error> {
    let mixed = mixed::is_mixed(root);
    if !mixed {
        let known = ["gravity", "simulation", "half_space", "shape", "contact"];
        root.only(&known.into_iter().chain(mixed::SOFT).collect::<Vec<_>>())?;
    }
    let gravity = root.numbers("gravity")?.unwrap_or([0.0, 0.0, -9.81]);
    let mut scene = SoftScene { name: name.to_string(), ..SoftScene::default() };
    read_settings(root, mixed, &mut scene)?;
    let mut names = HashMap::from(["gravity", "world"].map(|name| (name.to_string(), None)));
    if mixed {
        mixed::read((text, name, document), &mut names, &mut scene)?;
    } else {
        for mut table in root.tables("half_space")? {
            let ground = read_ground(&mut table, &mut names)?;
            scene.grounds.push(ground);
        }
        read_obstacles(root, &mut names, &mut scene)?;
    }
    let mut bodies = root.tables("soft")?;
    for table in &mut bodies {
        let body = read_body(table, gravity, &mut names, &mut scene.warnings)?;
        scene.bodies.push(body);
    }
    soft_ties::read(root, &mut names, &mut scene)?;
    let contacts = SoftContacts::read(root, &scene)?;
    let touched: Vec<String> = scene.touched().map(str::to_string).collect();
    for (k, table) in bodies.iter().enumerate() {
        let meet: Vec<bool> = (0..touched.len()).map(|own| scene.meet(k, own)).collect();
        let body = &mut scene.bodies[k];
        body.radius = table.number("radius")?.unwrap_or(0.0);
        table.demand("radius", body.radius >= 0.0, "must not be negative", body.radius, "m")?;
        for (touched, meet) in touched.iter().zip(meet) {
            let pair = format!("{touched}-{}", body.name);
            // What does not touch has the numbers of something.
            let none = SoftContact { stiffness: 1.0, ..SoftContact::default() };
            body.touching.push(if meet { contacts.of(root, &pair)? } else { none });
        }
        scene.touch(k);
        let SoftScene { bodies, warnings, law, .. } = &mut scene;
        let body = &bodies[k];
        let depth = |contact: &VertexContact| -contact.gap(&body.position[contact.node]);
        let deepest = body.contacts.iter().map(depth).fold(0.0, f64::max);
        // Penalties are pressed in where they carry.
        if deepest > TOUCHES && !law.yields() {
            let message = format!(
                "starts {deepest:e} m inside what it touches, and is pushed out in one step: move it away"
            );
            warnings.push(table.error("position", message).to_string());
        }
    }
    let mut known = HashSet::new();
    if let Some((twice, _)) =
        scene.parameters().into_iter().find(|(name, _)| !known.insert(name.clone()))
    {
        let message = format!(
            "two of its parameters would be called {twice:?}: give what it is of another name"
        );
        return Err(root.error("", message));
    }
    Ok(scene)
}

fn read_settings(root: &Table, mixed: bool, scene: &mut SoftScene) -> Result<(), Error> {
    let table = root.required("simulation", root.table("simulation")?)?;
    if !mixed {
        table.only(&["time_step", "integrator", "first_step", "solver", "tolerance"])?;
    }
    let time_step = table.required("time_step", table.number("time_step")?)?;
    table.demand("time_step", time_step > 0.0, "must be positive", time_step, "s")?;
    scene.time_step = time_step;
    scene.bdf = match table.string("integrator")?.unwrap_or("bdf1") {
        "bdf1" => Bdf::One,
        "bdf2" if mixed => {
            let message = "is not for scenes that have [[soft]] and [[body]]: write \"bdf1\" (by which rigid bodies go, too), or leave it out";
            return Err(table.error("integrator", message));
        }
        "bdf2" => Bdf::Two,
        // Which one rigid bodies go by.
        _ if mixed => Bdf::One,
        other => {
            let message = format!("must be \"bdf1\" or \"bdf2\" of soft bodies, found {other:?}");
            return Err(table.error("integrator", message));
        }
    };
    scene.moved_before = match table.string("first_step")?.unwrap_or("bdf1") {
        "bdf1" => false,
        "moved_before" if scene.bdf == Bdf::Two => true,
        _ if scene.bdf == Bdf::One => {
            return Err(table.error("first_step", "has a meaning with integrator = \"bdf2\" only"));
        }
        other => {
            let message = format!("must be \"bdf1\" or \"moved_before\", found {other:?}");
            return Err(table.error("first_step", message));
        }
    };
    if let Some(solver) = table.string("solver")? {
        let found = VertexLaw::ALL.into_iter().find(|law| law.name() == solver);
        if mixed && found == Some(VertexLaw::Sqp) {
            let message = "is not for scenes that have [[soft]] and [[body]]: write \"coupled\"";
            return Err(table.error("solver", message));
        }
        scene.law = found.ok_or_else(|| {
            let names = VertexLaw::ALL.map(|law| format!("\"{}\"", law.name())).join(", ");
            table
                .error("solver", format!("must be one of {names} of soft bodies, found {solver:?}"))
        })?;
    }
    let mut newton = NewtonSettings::default();
    newton.accepted = table.number("tolerance")?.unwrap_or(newton.accepted);
    let sound = newton.accepted > 0.0 && newton.accepted <= 1e-3;
    table.demand("tolerance", sound, "must be positive and at most 1e-3", newton.accepted, "")?;
    newton.tolerance = newton.tolerance.min(newton.accepted);
    scene.newton = newton;
    Ok(())
}

fn read_ground(table: &mut Table, names: &mut Taken) -> Result<SoftGround, Error> {
    let name = read_name(table, "half_space", names)?;
    table.only(&["name", "normal", "offset"])?;
    let normal = Vector3::from(table.required("normal", table.numbers::<3>("normal")?)?);
    let length = normal.norm();
    let usable = length > 0.0 && length.is_finite();
    table.demand("normal", usable, "must have a direction", length, "long")?;
    let offset = table.number("offset")?.unwrap_or(0.0);
    Ok(SoftGround { name, normal: (normal / length).into(), offset })
}

/// The shapes, which stay where they are or go as they are told.
fn read_obstacles(root: &Table, names: &mut Taken, scene: &mut SoftScene) -> Result<(), Error> {
    let mut tables = root.tables("shape")?;
    // The hulls of meshes are reduced as those of rigid scenes.
    let mut description = Description::new(&scene.name, Settings::new(scene.time_step));
    let mut motions = Vec::new();
    for table in &mut tables {
        let name = read_name(table, "shape", names)?;
        let mut fields = shape::SURFACE.into_iter().chain(shape::surface_fields());
        if let Some(field) = fields.find(|field| table.has(field)) {
            let message =
                "is of rigid bodies: [[contact]] says how soft ones rub, of all pairs or of one";
            return Err(table.error(field, message));
        }
        if table.has("radius") {
            let message =
                "is of what rigid bodies touch: give the vertices of the soft body a radius";
            return Err(table.error("radius", message));
        }
        let found = shape::read_beside(table, name, &["times", "displacement"])?;
        let orientation = read_orientation(table)?;
        let rotation = rotation_matrix(orientation);
        let pose = Pose { rotation, position: Vector3::from(found.position) };
        let times = soft_ties::read_times(table, &["displacement"])?;
        let displacement = soft_ties::read_vectors(table, "displacement", &times)?;
        motions.push((pose, times, displacement));
        description.colliders.push(found);
    }
    reduce_hulls(&mut description);
    scene.warnings.extend(description.warnings.iter().map(ToString::to_string));
    let all = description.colliders.into_iter().zip(motions);
    let obstacle = |(own, (pose, times, displacement)): (ColliderDescription, _)| {
        let mut obstacle = SoftObstacle::new(&own.name, own.shape, own.size.into(), pose);
        (obstacle.times, obstacle.displacement) = (times, displacement);
        obstacle
    };
    scene.obstacles = all.map(obstacle).collect();
    Ok(())
}

/// w, x, y, z
fn read_orientation(table: &Table) -> Result<[f64; 4], Error> {
    let orientation = table.numbers("orientation")?.unwrap_or([1.0, 0.0, 0.0, 0.0]);
    unit_quaternion(orientation).map_err(|norm| {
        let message = format!("must be a unit quaternion w, x, y, z, found one of length {norm}");
        table.error("orientation", message)
    })
}

fn read_body(
    table: &mut Table,
    gravity: [f64; 3],
    names: &mut Taken,
    warnings: &mut Vec<String>,
) -> Result<SoftBody, Error> {
    let name = read_name(table, "soft", names)?;
    table.only(&FIELDS)?;
    let mesh = read_mesh(table)?;
    warnings.extend(mesh.warnings.iter().cloned());
    let extent = |k: usize| {
        let axis = || mesh.nodes.iter().map(|x| x[k]);
        axis().fold(f64::MIN, f64::max) - axis().fold(f64::MAX, f64::min)
    };
    let length = [0, 1, 2].map(extent).into_iter().fold(0.0, f64::max);
    if length > LARGE {
        let field = if table.has("mesh") { "mesh" } else { "shape" };
        let message = format!("is {length} m long: if that is mm, write scale = 0.001");
        warnings.push(table.error(field, message).to_string());
    }
    let density = table.required("density", table.number("density")?)?;
    table.demand("density", density > 0.0, "must be positive", density, "kg/m³")?;
    let material = read_material(table)?;
    let ratio = material.poisson_ratio();
    if ratio > LOCKING {
        let message = format!(
            "is {ratio:.3}: above {LOCKING} linear tetrahedra lock, and the body is too stiff"
        );
        warnings.push(table.error("poisson_ratio", message).to_string());
    }
    let elements = Elements::new(&mesh.nodes, &mesh.tetrahedra);
    let elements = elements.map_err(|error| table.error("mesh", error.to_string()))?;
    let orientation = read_orientation(table)?;
    let vector = |field: &str| Ok(table.numbers(field)?.unwrap_or([0.0; 3]));
    // Of rigid motion about the origin of the mesh; the angular velocity along the axes of the body, as of rigid ones.
    let start = SoftStart {
        position: vector("position")?,
        orientation,
        velocity: vector("velocity")?,
        angular_velocity: vector("angular_velocity")?,
    };
    let markers = read_markers(table, &mesh)?;
    let parameters = SolidParameters { material, density, gravity };
    let mut body = SoftBody::new(&name, mesh, elements, parameters, start);
    body.markers = markers;
    Ok(body)
}

fn read_mesh(table: &Table) -> Result<TetrahedralMesh, Error> {
    let Some(file) = table.string("mesh")? else {
        if table.has("scale") {
            return Err(table.error("scale", "only has a meaning with a mesh"));
        }
        let shape = table.required("shape", table.table("shape")?).map_err(|_| {
            let message = "is missing: write mesh = \"file\" (.msh, .vtk, .vtu, .mesh), shape = { sphere = radius } \
                           or shape = { box = [half_x, half_y, half_z] }, in m";
            table.error("mesh", message)
        })?;
        let resolution = table.required("resolution", table.number("resolution")?)?;
        shape.only(&["sphere", "box"])?;
        let at =
            |field: &'static str| move |error: Error| shape_error(table, field, error.message());
        return match (shape.number("sphere")?, shape.numbers::<3>("box")?) {
            (Some(radius), None) => {
                TetrahedralMesh::sphere(radius, resolution).map_err(at("sphere"))
            }
            (None, Some(half)) => {
                let size = half.map(|half| 2.0 * half);
                TetrahedralMesh::box_of(size, resolution, CellSplit::Six).map_err(at("box"))
            }
            _ => Err(table.error(
                "shape",
                "must be { sphere = radius } or { box = [half_x, half_y, half_z] }, in m",
            )),
        };
    };
    for field in ["shape", "resolution"] {
        if table.has(field) {
            return Err(table.error(field, "has no meaning with a mesh"));
        }
    }
    let path = table.directory().join(file);
    reach::check(&path, table.directory()).map_err(|message| table.error("mesh", message))?;
    let mesh =
        TetrahedralMesh::load(path).map_err(|error| table.error("mesh", error.to_string()))?;
    let scale = table.number("scale")?.unwrap_or(1.0);
    table.demand("scale", scale > 0.0, "must be positive", scale, "")?;
    Ok(mesh.scaled(scale))
}

fn shape_error(table: &Table, field: &str, message: &str) -> Error {
    table.error("shape", format!("{field}: {message}"))
}

fn read_material(table: &Table) -> Result<SolidMaterial<f64>, Error> {
    let [young, ratio] = [table.number("youngs_modulus")?, table.number("poisson_ratio")?];
    let [lambda, mu] = [table.number("lame_lambda")?, table.number("lame_mu")?];
    let mut material = match (young, ratio, lambda, mu) {
        (Some(young), Some(ratio), None, None) => {
            table.demand("youngs_modulus", young > 0.0, "must be positive", young, "Pa")?;
            let sound = (0.0..0.5).contains(&ratio);
            let demand = "must be at least 0 and less than 0.5";
            table.demand("poisson_ratio", sound, demand, ratio, "")?;
            SolidMaterial::from_young(young, ratio)
        }
        (None, None, Some(lame_lambda), Some(lame_mu)) => {
            SolidMaterial { lame_lambda, lame_mu, viscosity: 0.0 }
        }
        _ => {
            let message =
                "needs youngs_modulus (Pa) and poisson_ratio, or lame_lambda and lame_mu (Pa)";
            return Err(table.error("", message));
        }
    };
    material.viscosity = table.number("viscosity")?.unwrap_or(0.0);
    material.check().map_err(|error| table.error(error.field, error.message))?;
    Ok(material)
}

/// Named nodes of the surface, nearest to points in the frame of the mesh.
fn read_markers(table: &Table, mesh: &TetrahedralMesh) -> Result<Vec<Marker>, Error> {
    let Some(points) = table.table("markers")? else { return Ok(Vec::new()) };
    let nodes = mesh.surface_nodes();
    let mut markers = Vec::new();
    for name in points.fields() {
        let point = Vector3::from(points.required(name, points.numbers::<3>(name)?)?);
        let far = |&node: &usize| (Vector3::from(mesh.nodes[node]) - point).norm_squared();
        let nearest = nodes.iter().copied().min_by(|a, b| far(a).total_cmp(&far(b)));
        let node = nearest.ok_or_else(|| points.error(name, "has no surface to be on"))?;
        markers.push(Marker { name: name.to_string(), node });
    }
    Ok(markers)
}
