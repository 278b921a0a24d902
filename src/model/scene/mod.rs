//! The scene file.

mod body;
mod contact;
mod overlap;

use std::collections::HashSet;
use std::path::Path;

use nalgebra::{Quaternion, UnitQuaternion, Vector3};

use super::{ContactSolver, HalfSpace, Model, Parameters, Settings, Solid, StaggeredDerivative};
use crate::Error;
use crate::state::State;
use crate::table::{self, Table};

/// Everything a simulation starts from, read from a TOML file:
///
/// ```toml
/// gravity = [0, 0, -9.81]            # m/s², this is the default
///
/// [simulation]
/// time_step = 0.01                   # s
/// solver = "staggered"               # or "coupled", the default, "gauss_seidel",
///                                    # "convex_relaxation", "pyramid"
/// n_step = 5                         # only with "staggered"
/// derivative = "unrolled"            # only with "staggered": or "implicit", see `StaggeredDerivative`
/// # compliance, baumgarte, restitution_threshold, static_speed, split_impacts, tolerance: see
/// # `Settings`
///
/// [[half_space]]
/// name = "floor"
/// normal = [0, 0, 1]                 # out of the ground, any length
/// offset = 0                         # m along the unit normal, this is the default
///
/// [[body]]
/// name = "cube"
/// mass = 0.37                        # kg
/// shape = { box = [0.05, 0.05, 0.05] }   # half extents, m; or { sphere = 0.05 }
/// inertia = [8e-4, 8e-4, 8e-4]       # kg m² about the centre of mass: one number, xx yy zz, or
///                                    # xx yy zz xy xz yz; if left out, of uniform density
/// center_of_mass = [0, 0, 0]         # m from the centre of the shape
/// position = [0, 0, 0.05]            # of the centre of the shape in the world, m
/// orientation = [1, 0, 0, 0]         # w x y z, body to world
/// velocity = [1, 0, 0]               # of the centre of the shape in the world, m/s
/// angular_velocity = [0, 0, 0]       # in the body frame, rad/s
/// force = [0, 0, 0]                  # constant, at the centre of the shape, in the world, N
/// torque = [0, 0, 0]                 # constant, in the body frame, N m
///
/// [[contact]]                        # without `pair`: for all pairs that have none of their own
/// pair = "floor-cube"                # half-space and body, or two bodies in the order of the file
/// mu = 0.2
/// mu_static = 0.3                    # of contacts at rest; if left out, there is only mu
/// restitution = 0                    # this is the default
///
/// [[contact]]
/// pair = "cube-other"
/// collide = false                    # these two pass through each other
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Names and topology.
    pub model: Model,
    /// The physical numbers.
    pub parameters: Parameters<f64>,
    /// Where the bodies start.
    pub state: State<f64>,
    /// How it is simulated.
    pub settings: Settings,
    /// Constant load, six numbers a body: force at the body origin in the world frame, N; torque in
    /// the body frame, N m.
    pub wrenches: Vec<f64>,
}

impl Scene {
    /// Reads a scene file.
    pub fn load(path: impl AsRef<Path>) -> Result<Scene, Error> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|error| Error::io(path, error))?;
        Scene::parse(&text, &path.display().to_string())
    }

    /// Reads a scene from the text of a file; `name` stands for the file in messages.
    pub fn parse(text: &str, name: &str) -> Result<Scene, Error> {
        let document = table::parse(text, name)?;
        let root = Table::root(text, name, &document);
        root.only(&["gravity", "simulation", "half_space", "body", "contact"])?;
        let gravity = root.numbers("gravity")?.unwrap_or([0.0, 0.0, -9.81]);
        let settings = read_settings(&root)?;

        let mut names = HashSet::from(["gravity".to_string()]);
        let mut half_spaces = Vec::new();
        for mut table in root.tables("half_space")? {
            half_spaces.push(read_half_space(&mut table, &mut names)?);
        }
        let mut bodies = Vec::new();
        for mut table in root.tables("body")? {
            let name = read_name(&mut table, "body", &mut names)?;
            let entry = body::read(&table, &name)?;
            bodies.push((table, entry));
        }
        if bodies.is_empty() {
            return Err(root.error("body", "is missing: a scene has at least one [[body]]"));
        }
        let owners: Vec<_> = bodies.iter().map(|(table, entry)| (table, &entry.body)).collect();
        let (pairs, contacts) = contact::read(&root, &half_spaces, &owners)?;
        for pair in &pairs {
            let (table, entry) = &bodies[pair.second];
            if names.contains(&pair.name) {
                let message = format!("makes the name {:?}, which is taken", pair.name);
                return Err(table.error("name", message));
            }
            names.insert(pair.name.clone());
            match pair.first {
                Solid::HalfSpace(ground) => check_depth(table, entry, &half_spaces[ground])?,
                Solid::Body(first) => check_overlap(table, entry, &bodies[first].1)?,
            }
        }

        let mut scene = Scene {
            model: Model { bodies: Vec::new(), half_spaces, pairs },
            parameters: Parameters { values: gravity.to_vec() },
            state: State { q: Vec::new(), v: Vec::new() },
            settings,
            wrenches: Vec::new(),
        };
        for (_, entry) in bodies {
            scene.model.bodies.push(entry.body);
            scene.parameters.values.extend(entry.parameters);
            scene.state.q.extend(entry.q);
            scene.state.v.extend(entry.v);
            scene.wrenches.extend(entry.wrench);
        }
        scene.parameters.values.extend(contacts.into_iter().flatten());
        Ok(scene)
    }
}

fn read_settings(root: &Table) -> Result<Settings, Error> {
    let table = root.required("simulation", root.table("simulation")?)?;
    table.only(&[
        "time_step",
        "solver",
        "n_step",
        "derivative",
        "compliance",
        "baumgarte",
        "restitution_threshold",
        "static_speed",
        "split_impacts",
        "tolerance",
    ])?;
    let time_step = table.required("time_step", table.number("time_step")?)?;
    table.demand("time_step", time_step > 0.0, "must be positive", time_step, "s")?;
    let mut settings = Settings::new(time_step);
    let solver = table.string("solver")?.unwrap_or("coupled");
    settings.solver = match solver {
        "coupled" => ContactSolver::Coupled,
        "gauss_seidel" => ContactSolver::GaussSeidel,
        "convex_relaxation" => ContactSolver::ConvexRelaxation,
        "pyramid" => ContactSolver::Pyramid,
        "staggered" => {
            let n_step = table.count("n_step")?.unwrap_or(5);
            let most = 1000;
            let message = format!("must be at most {most}");
            table.demand("n_step", n_step <= most, &message, n_step as f64, "")?;
            let derivative = match table.string("derivative")?.unwrap_or("unrolled") {
                "unrolled" => StaggeredDerivative::Unrolled,
                "implicit" => StaggeredDerivative::Implicit,
                other => {
                    let message = format!("must be \"unrolled\" or \"implicit\", found {other:?}");
                    return Err(table.error("derivative", message));
                }
            };
            ContactSolver::Staggered { n_step, derivative }
        }
        other => {
            let message = format!(
                "must be \"coupled\", \"staggered\", \"gauss_seidel\", \"convex_relaxation\" or \
                 \"pyramid\", found {other:?}"
            );
            return Err(table.error("solver", message));
        }
    };
    for field in ["n_step", "derivative"] {
        if solver != "staggered" && table.has(field) {
            return Err(table.error(field, "only has a meaning with solver = \"staggered\""));
        }
    }
    settings.split_impacts = table.boolean("split_impacts")?.unwrap_or(false);
    let Settings { compliance, baumgarte, restitution_threshold, static_speed, tolerance, .. } =
        &mut settings;
    for (field, number, unit) in [
        ("compliance", compliance, ""),
        ("baumgarte", baumgarte, ""),
        ("restitution_threshold", restitution_threshold, "m/s"),
        ("static_speed", static_speed, "m/s"),
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
    Ok(settings)
}

fn read_half_space(table: &mut Table, names: &mut HashSet<String>) -> Result<HalfSpace, Error> {
    let name = read_name(table, "half_space", names)?;
    table.only(&["name", "normal", "offset"])?;
    let normal = table.required("normal", table.numbers("normal")?)?;
    // Scaled first, so that no length overflows.
    let normal = Vector3::from(normal);
    let normal = (normal / normal.amax().max(f64::MIN_POSITIVE)).try_normalize(0.0);
    let normal = normal.ok_or_else(|| table.error("normal", "must not be zero"))?;
    let offset = table.number("offset")?.unwrap_or(0.0);
    Ok(HalfSpace { name, normal, offset })
}

/// The name of a body or half-space; from here on messages about the table call it by its name.
fn read_name(table: &mut Table, kind: &str, names: &mut HashSet<String>) -> Result<String, Error> {
    let name = table.required("name", table.string("name")?)?.to_string();
    if name.is_empty()
        || name.trim() != name
        || name.contains('/')
        || name.contains(char::is_control)
    {
        let message = format!(
            "must not be empty, contain '/' or control characters, or start or end with a space, \
             found {name:?}"
        );
        return Err(table.error("name", message));
    }
    if names.contains(&name) {
        let message = format!("{name:?} is taken: all names in a scene must differ");
        return Err(table.error("name", message));
    }
    table.path = format!("{kind}.{name}");
    names.insert(name.clone());
    Ok(name)
}

/// A body that starts inside a half-space would be thrown out of it.
fn check_depth(table: &Table, entry: &body::Entry, ground: &HalfSpace) -> Result<(), Error> {
    let [x, y, z, qw, qx, qy, qz] = entry.q;
    let rotation = UnitQuaternion::new_unchecked(Quaternion::new(qw, qx, qy, qz));
    let normal = rotation.inverse() * ground.normal;
    let shape = &entry.body.shape;
    let size = entry.size();
    let center = ground.normal.dot(&Vector3::new(x, y, z)) - ground.offset;
    let depth = shape.reach(size, normal) - center;
    let smallest = entry.smallest();
    if depth > 0.1 * smallest {
        let message = format!(
            "starts {depth:.3e} m deep in {:?}, which is more than a tenth of its smallest half \
             extent or radius, {smallest} m",
            ground.name
        );
        return Err(table.error("position", message));
    }
    Ok(())
}

/// Nor may it start inside another body.
fn check_overlap(table: &Table, entry: &body::Entry, first: &body::Entry) -> Result<(), Error> {
    let depth = overlap::depth(&first.placed(), &entry.placed());
    let smallest = first.smallest().min(entry.smallest());
    if depth > 0.1 * smallest {
        let message = format!(
            "starts {depth:.3e} m deep in {:?}, which is more than a tenth of the smallest half extent or \
             radius of both, {smallest} m; move it, or let them pass through each other with \
             collide = false in a [[contact]] of the pair",
            first.body.name
        );
        return Err(table.error("position", message));
    }
    Ok(())
}
