//! The scene file.

mod actuator;
mod body;
mod camera;
mod color;
mod contact;
mod equality;
mod joint;
mod learned;
mod light;
mod mixed;
mod pushes;
mod shape;
mod soft;
mod soft_contact;
mod soft_ties;
mod tendon;
mod toml_values;
mod visual;
mod write;

use std::collections::HashMap;

use super::mesh::reduce_hulls;
use crate::Error;
use crate::assemble::{BodyDescription, Description, HalfSpaceDescription, NamedMaterial, Owner};
use crate::model::{
    ContactSolver, Integrator, JointKind, Keyframe, RestitutionLaw, Scene, Settings,
    StaggeredDerivative,
};
use crate::table::{self, Table};

impl Scene {
    /// Reads a scene from the text of a file; `name` stands for the file in messages, and for where the
    /// files it names are.
    pub fn parse(text: &str, name: &str) -> Result<Scene, Error> {
        scene(text, name, false)
    }
}

/// The scene of a text; what overlaps at the start is pushed apart if either says so.
pub(super) fn scene(text: &str, name: &str, push_overlaps: bool) -> Result<Scene, Error> {
    let document = table::parse(text, name)?;
    build(&Table::root(text, name, &document), name, push_overlaps)
}

fn build(root: &Table, name: &str, push_overlaps: bool) -> Result<Scene, Error> {
    let (mut description, tables) = read(root, name)?;
    description.push_overlaps |= push_overlaps;
    let error = |owner: Owner, field: &str, message: &str| {
        let table = match owner {
            Owner::HalfSpace(k) => &tables.half_spaces[k],
            Owner::Collider(k) => &tables.shapes[k],
            Owner::Body(k) => &tables.bodies[k],
            Owner::Contact(k) => &tables.contacts[k],
            Owner::Actuator(k) => &tables.actuators[k],
            Owner::Equality(k) => &tables.equalities[k],
            Owner::Push(k) => &tables.pushes[k],
            Owner::Tendon(k) => &tables.tendons[k],
            Owner::Camera(k) => &tables.cameras[k],
            Owner::Learned(k) => &tables.learned[k],
            Owner::Scene | Owner::Keyframe => root,
        };
        table.error(field, message)
    };
    description.build().map_err(|fault| fault.error(error))
}

/// What a scene file describes, before it is checked.
pub(super) fn describe(text: &str, name: &str) -> Result<Description, Error> {
    let document = table::parse(text, name)?;
    Ok(read(&Table::root(text, name, &document), name)?.0)
}

/// The tables that parts of a description come from.
struct Tables<'a> {
    half_spaces: Vec<Table<'a>>,
    shapes: Vec<Table<'a>>,
    bodies: Vec<Table<'a>>,
    contacts: Vec<Table<'a>>,
    actuators: Vec<Table<'a>>,
    equalities: Vec<Table<'a>>,
    pushes: Vec<Table<'a>>,
    tendons: Vec<Table<'a>>,
    cameras: Vec<Table<'a>>,
    learned: Vec<Table<'a>>,
}

fn read<'a>(root: &Table<'a>, name: &str) -> Result<(Description, Tables<'a>), Error> {
    if root.has("soft") {
        let message = "soft bodies are known to `simulate`, `optimize`, `identify`, `gradcheck` and `linearize`, and to \
                       `SoftScene`, so far; all else takes scenes without them";
        return Err(root.error("soft", message));
    }
    root.only(&[
        "gravity",
        "strict",
        "overlap",
        "touch_parents",
        "keyframe",
        "simulation",
        "half_space",
        "shape",
        "body",
        "material",
        "contact",
        "actuator",
        "equality",
        "push",
        "tendon",
        "camera",
        "light",
        "learned",
        "visual",
    ])?;
    let gravity = root.numbers("gravity")?.unwrap_or([0.0, 0.0, -9.81]);
    let mut description = Description::new(name, read_settings(root)?);
    description.gravity = gravity;
    description.strict = root.boolean("strict")?.unwrap_or(true);
    description.push_overlaps = match root.string("overlap")? {
        None | Some("refuse") => false,
        Some("push") => true,
        Some(other) => {
            let message = format!("must be \"refuse\" or \"push\", found {other:?}");
            return Err(root.error("overlap", message));
        }
    };
    description.touch_parents = root.boolean("touch_parents")?.unwrap_or(false);

    let mut names = HashMap::from(["gravity", "world"].map(|name| (name.to_string(), None)));
    for mut table in root.tables("material")? {
        let name = read_name(&mut table, "material", &mut names)?;
        table.only(&["name"].into_iter().chain(shape::surface_fields()).collect::<Vec<_>>())?;
        if name == "contact" {
            let message =
                "\"contact\" stands for what is made of no material: give it another name";
            return Err(table.error("name", message));
        }
        table.required("mu", table.number("mu")?)?;
        if let Some(material) = shape::read_material(&table)? {
            description.materials.push(NamedMaterial { name, material });
        }
    }
    let mut half_spaces = root.tables("half_space")?;
    for table in &mut half_spaces {
        description.half_spaces.push(read_half_space(table, &mut names)?);
    }
    let mut shapes = root.tables("shape")?;
    for table in &mut shapes {
        let name = read_name(table, "shape", &mut names)?;
        description.colliders.push(shape::read(table, name)?);
    }
    description.visuals = visual::read_all(root)?;
    let mut bodies = root.tables("body")?;
    for table in &mut bodies {
        let name = read_name(table, "body", &mut names)?;
        description.bodies.push(body::read(table, &name)?);
    }
    for (body, table) in description.bodies.iter().zip(&bodies) {
        // Where it carries something, that may have mass.
        let carries = |other: &BodyDescription| other.parent.as_ref() == Some(&body.name);
        let massless =
            body.joint.kind == JointKind::Free && !body.joint.prescribed && body.mass == 0.0;
        let met = !massless || description.bodies.iter().any(carries);
        table.demand("mass", met, "must be positive", body.mass, "kg")?;
    }
    let contacts = contact::read(root, &mut description)?;
    let mut actuators = root.tables("actuator")?;
    for table in &mut actuators {
        let name = read_name(table, "actuator", &mut names)?;
        description.actuators.push(actuator::read(table, name)?);
    }
    let mut equalities = root.tables("equality")?;
    for table in &mut equalities {
        let name = read_name(table, "equality", &mut names)?;
        description.equalities.push(equality::read(table, name)?);
    }
    let mut pushes = root.tables("push")?;
    for table in &mut pushes {
        let name = read_name(table, "push", &mut names)?;
        description.pushes.push(pushes::read(table, name)?);
    }
    let mut tendons = root.tables("tendon")?;
    for table in &mut tendons {
        let name = read_name(table, "tendon", &mut names)?;
        description.tendons.push(tendon::read(table, name)?);
    }
    let mut cameras = root.tables("camera")?;
    for table in &mut cameras {
        let name = read_name(table, "camera", &mut names)?;
        description.cameras.push(camera::read(table, name)?);
    }
    description.light = root.table("light")?.map(|table| light::read(&table)).transpose()?;
    let mut learned = root.tables("learned")?;
    for table in &mut learned {
        let name = read_name(table, "learned", &mut names)?;
        description.learned.push(learned::read(table, name)?);
    }
    for table in root.tables("keyframe")? {
        table.only(&["name", "q", "v", "controls"])?;
        let name = table.required("name", table.string("name")?)?.to_string();
        if description.keyframes.iter().any(|known| known.name == name) {
            let message = format!("{name:?} is taken: all keyframes have names of their own");
            return Err(table.error("name", message));
        }
        let (q, v) = (table.list("q")?, table.list("v")?);
        description.keyframes.push(Keyframe { name, q, v, controls: table.list("controls")? });
    }
    reduce_hulls(&mut description);
    let tables = Tables {
        half_spaces,
        shapes,
        bodies,
        contacts,
        actuators,
        equalities,
        pushes,
        tendons,
        cameras,
        learned,
    };
    Ok((description, tables))
}

fn read_settings(root: &Table) -> Result<Settings, Error> {
    let table = root.required("simulation", root.table("simulation")?)?;
    table.only(&[
        "time_step",
        "integrator",
        "solver",
        "n_step",
        "derivative",
        "compliance",
        "baumgarte",
        "restitution_threshold",
        "restitution_law",
        "static_speed",
        "split_impacts",
        "keep_impulses",
        "smoothing",
        "tolerance",
    ])?;
    let time_step = table.required("time_step", table.number("time_step")?)?;
    table.demand("time_step", time_step > 0.0, "must be positive", time_step, "s")?;
    let mut settings = Settings::new(time_step);
    if let Some(name) = table.string("integrator")? {
        let known = Integrator::ALL.into_iter().find(|known| known.name() == name);
        settings.integrator = known.ok_or_else(|| {
            let names = Integrator::ALL.map(|known| format!("{:?}", known.name())).join(", ");
            table.error("integrator", format!("must be one of {names}, found {name:?}"))
        })?;
    }
    let solver = table.string("solver")?.unwrap_or("coupled");
    settings.solver = match ContactSolver::ALL.into_iter().find(|known| known.name() == solver) {
        Some(ContactSolver::Staggered { n_step, derivative }) => {
            let n_step = table.count("n_step", 1000)?.unwrap_or(n_step);
            let derivative = match table.string("derivative")?.unwrap_or(derivative.name()) {
                "unrolled" => StaggeredDerivative::Unrolled,
                "implicit" => StaggeredDerivative::Implicit,
                other => {
                    let message = format!("must be \"unrolled\" or \"implicit\", found {other:?}");
                    return Err(table.error("derivative", message));
                }
            };
            ContactSolver::Staggered { n_step, derivative }
        }
        Some(known) => known,
        None => {
            let known = ContactSolver::ALL.map(|known| format!("{:?}", known.name()));
            let [others @ .., last] = &known;
            let message = format!("must be {} or {last}, found {solver:?}", others.join(", "));
            return Err(table.error("solver", message));
        }
    };
    for field in ["n_step", "derivative"] {
        if solver != "staggered" && table.has(field) {
            return Err(table.error(field, "only has a meaning with solver = \"staggered\""));
        }
    }
    if let Some(name) = table.string("restitution_law")? {
        let law = RestitutionLaw::ALL.into_iter().find(|law| law.name() == name);
        settings.restitution_law = law.ok_or_else(|| {
            let message = format!("must be \"newton\" or \"poisson\", found {name:?}");
            table.error("restitution_law", message)
        })?;
    }
    settings.split_impacts = table.boolean("split_impacts")?.unwrap_or(false);
    settings.keep_impulses = table.boolean("keep_impulses")?.unwrap_or(false);
    let Settings {
        compliance,
        baumgarte,
        restitution_threshold,
        static_speed,
        smoothing,
        tolerance,
        ..
    } = &mut settings;
    for (field, number, unit) in [
        ("compliance", compliance, ""),
        ("baumgarte", baumgarte, ""),
        ("restitution_threshold", restitution_threshold, "m/s"),
        ("static_speed", static_speed, "m/s"),
        ("smoothing", smoothing, "J"),
        ("tolerance", tolerance, ""),
    ] {
        *number = table.number(field)?.unwrap_or(*number);
        table.demand(field, *number >= 0.0, "must not be negative", *number, unit)?;
    }
    let Settings { baumgarte, tolerance, .. } = settings;
    table.demand("baumgarte", baumgarte <= 1.0, "must be between 0 and 1", baumgarte, "")?;
    let sound = tolerance > 0.0 && tolerance <= 1e-3;
    table.demand("tolerance", sound, "must be positive and at most 1e-3", tolerance, "")?;
    let stiff = settings.compliance <= 1.0;
    table.demand("compliance", stiff, "must be at most 1", settings.compliance, "")?;
    if let Some((field, message)) = settings.backward_conflict() {
        return Err(table.error(field, message));
    }
    if settings.restitution_law == RestitutionLaw::Poisson {
        let message = if settings.solver != ContactSolver::Coupled {
            "\"poisson\" only has a meaning with solver = \"coupled\""
        } else if settings.smoothing > 0.0 {
            "\"poisson\" is for exact contact: leave smoothing out, or use \"newton\""
        } else {
            return Ok(settings);
        };
        return Err(table.error("restitution_law", message));
    }
    if settings.smoothing > 0.0 && settings.solver != ContactSolver::Coupled {
        return Err(table.error("smoothing", "only has a meaning with solver = \"coupled\""));
    }
    Ok(settings)
}

/// The names that are taken, and the byte where each stands; none of those that no scene may use.
type Taken = HashMap<String, Option<usize>>;

fn read_half_space(table: &mut Table, names: &mut Taken) -> Result<HalfSpaceDescription, Error> {
    let name = read_name(table, "half_space", names)?;
    let mut fields = vec!["name", "normal", "offset"];
    fields.extend(shape::SURFACE);
    fields.extend(shape::surface_fields());
    table.only(&fields)?;
    let normal = table.required("normal", table.numbers("normal")?)?;
    let offset = table.number("offset")?.unwrap_or(0.0);
    let (material, made_of) = (shape::read_material(table)?, shape::read_made_of(table)?);
    let filter = shape::read_filter(table)?;
    Ok(HalfSpaceDescription { line: None, name, normal, offset, material, made_of, filter })
}

/// The name of something; from here on messages about the table call it by its name.
fn read_name(table: &mut Table, kind: &str, names: &mut Taken) -> Result<String, Error> {
    let name = table.required("name", table.string("name")?)?.to_string();
    if name.split('/').any(str::is_empty) || name.trim() != name || name.contains(char::is_control)
    {
        let message = format!(
            "must not be empty, contain control characters, or start or end with '/' or a space, \
             found {name:?}"
        );
        return Err(table.error("name", message));
    }
    if let Some(other) = names.get(&name) {
        let line = other.map(|byte| format!(" (the other: line {})", table.line(byte)));
        let line = line.unwrap_or_default();
        let message = format!("{name:?} is taken: all names in a scene must differ{line}");
        return Err(table.error("name", message));
    }
    table.path = format!("{kind}.{name}");
    names.insert(name.clone(), Some(table.start_of("name")));
    Ok(name)
}
