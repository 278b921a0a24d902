//! The scene file.

mod actuator;
mod body;
mod contact;
mod equality;
mod shape;
mod write;

use std::collections::HashMap;
use std::path::Path;

use super::build::Owner;
use super::{
    ContactSolver, Description, HalfSpaceDescription, Integrator, Keyframe, LoadOptions, Model,
    Parameters, Settings, StaggeredDerivative,
};
use crate::Error;
use crate::state::State;
use crate::table::{self, Table};

/// Everything a simulation starts from, read from a TOML file:
///
/// ```toml
/// gravity = [0, 0, -9.81]            # m/s², this is the default
/// strict = true                      # this is the default; false: inertias that no solid has, and bodies that
///                                    # start in each other, are warnings
///
/// [simulation]
/// time_step = 0.01                   # s
/// integrator = "semi_implicit"       # or "implicit", "runge_kutta": see `Integrator`
/// solver = "staggered"               # or "coupled", the default, "gauss_seidel",
///                                    # "convex_relaxation", "pyramid"
/// n_step = 5                         # only with "staggered"
/// derivative = "unrolled"            # only with "staggered": or "implicit", see `StaggeredDerivative`
/// # compliance, baumgarte, restitution_threshold, static_speed, split_impacts, keep_impulses, smoothing,
/// # tolerance: see `Settings`
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
/// center_of_mass = [0, 0, 0]         # m, in the body; if inertia is left out, that of the shape
/// position = [0, 0, 0.05]            # of the origin of the body in the world, m
/// orientation = [1, 0, 0, 0]         # w x y z, body to world
/// velocity = [1, 0, 0]               # of the origin of the body in the world, m/s
/// angular_velocity = [0, 0, 0]       # in the body frame, rad/s
/// force = [0, 0, 0]                  # constant, at the origin of the body, in the world, N
/// torque = [0, 0, 0]                 # constant, in the body frame, N m
///
/// [[body]]
/// name = "arm"
/// parent = "cube"                    # what it hangs on; left out: the world
/// joint = { type = "revolute", name = "elbow", axis = [0, 1, 0], limits = [-1, 1], damping = 0.1 }
///                                    # type: "free" (the default without parent), "fixed", "ball",
///                                    # "revolute", "prismatic"; others: anchor = [x, y, z] (a point on the
///                                    # axis, in the body), armature, friction, stiffness, rest; q and v
///                                    # at the start (of a ball a quaternion and three rates)
/// position = [0.1, 0, 0]             # in the parent at q = 0, as is orientation
/// mass = 0.1
/// inertia = 1e-4
/// [[body.shape]]                     # any number of shapes
/// name = "tip"
/// sphere = 0.01                      # or box = [hx, hy, hz]
/// position = [0.1, 0, 0]             # in the body, as is orientation
/// mu = 0.5                           # instead of a [[contact]]: of two that touch, the larger numbers
/// restitution = 0.1                  # count; also mu_static
/// contype = 1                        # bits: two touch if one's contype meets the other's conaffinity
/// conaffinity = 1
///
/// [[shape]]                          # the same, fixed to the world
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
///
/// [[contact]]
/// bodies = ["arm", "other"]          # no shape of one touches any of the other
/// collide = false
///
/// [[actuator]]
/// name = "motor"
/// joint = "elbow"                    # by its name, or that of its body
/// type = "position"                  # or "motor", "velocity": see `ActuatorKind`
/// gear = 1
/// kp = 100
/// kd = 2
/// control_range = [-1, 1]
/// force_range = [-5, 5]
/// control = 0                        # at the start
///
/// [[equality]]
/// name = "loop"
/// type = "connect"                   # or "weld" (orientation), "distance" (distance), "joint" (joints,
///                                    # offset, ratio)
/// bodies = ["arm", "world"]
/// anchors = [[0.1, 0, 0], [0, 0, 1]] # a point of each, in its frame
///
/// [[keyframe]]                       # a state to start from by name (`--keyframe home`)
/// name = "home"
/// q = [0, 0, 0.05, 1, 0, 0, 0, 0.5]  # of all joints in the order of the file; v also, and controls of
///                                    # all actuators: what is left out stays
/// ```
///
/// Bodies joined by a joint do not touch each other, unless `touch_parents = true` at the top.
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
    /// What a step takes, see [`step`](crate::simulation::step): constant forces along all velocities (of a
    /// free body, force at the origin in the world frame, N, and torque in the body frame, N m), then
    /// a control for each actuator.
    pub wrenches: Vec<f64>,
    /// States by name.
    pub keyframes: Vec<Keyframe>,
    /// What was not understood or looks wrong, with its place in the file.
    pub warnings: Vec<Error>,
}

impl Scene {
    /// Reads a scene file; also MJCF (`.xml`, `.mjcf`) and URDF (`.urdf`, `.xml`), see
    /// [`Description::load`].
    pub fn load(path: impl AsRef<Path>) -> Result<Scene, Error> {
        Scene::load_with(path, LoadOptions::default())
    }

    /// Reads a scene of any kind of file.
    pub fn load_with(path: impl AsRef<Path>, options: LoadOptions) -> Result<Scene, Error> {
        let path = path.as_ref();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if ["xml", "mjcf", "urdf"].contains(&ending.to_ascii_lowercase().as_str()) {
            return Description::load(path, options)?.scene();
        }
        if options.floating_base {
            let message = "only a URDF has a base that floats or not; in a scene a [[body]] without \
                           parent and joint is free";
            return Err(Error::input(path.display().to_string(), None, "floating_base", message));
        }
        let text = std::fs::read_to_string(path).map_err(|error| Error::io(path, error))?;
        Scene::parse(&text, &path.display().to_string())
    }

    /// Reads a scene from the text of a file; `name` stands for the file in messages, and for where the
    /// files it names are.
    pub fn parse(text: &str, name: &str) -> Result<Scene, Error> {
        let document = table::parse(text, name)?;
        let root = Table::root(text, name, &document);
        let (description, tables) = read(&root, name)?;
        let error = |owner: Owner, field: &str, message: &str| {
            let table = match owner {
                Owner::HalfSpace(k) => &tables.half_spaces[k],
                Owner::Collider(k) => &tables.shapes[k],
                Owner::Body(k) => &tables.bodies[k],
                Owner::Contact(k) => &tables.contacts[k],
                Owner::Actuator(k) => &tables.actuators[k],
                Owner::Equality(k) => &tables.equalities[k],
                Owner::Scene | Owner::Keyframe => &root,
            };
            table.error(field, message)
        };
        description.build().map_err(|fault| fault.error(error))
    }

    /// Starts from a keyframe; an error that names those there are if there is none of this name.
    pub fn start_at(&mut self, keyframe: &str, file: &str) -> Result<(), Error> {
        let Some(found) = self.keyframes.iter().find(|known| known.name == keyframe) else {
            let names: Vec<&str> = self.keyframes.iter().map(|known| known.name.as_str()).collect();
            let message = match names.is_empty() {
                true => format!("there is no keyframe {keyframe:?}: the file has none"),
                false => {
                    format!("there is no keyframe {keyframe:?}; there are {}", names.join(", "))
                }
            };
            return Err(Error::input(file, None, "keyframe", message));
        };
        if let Some(q) = &found.q {
            self.state.q.clone_from(q);
        }
        if let Some(v) = &found.v {
            self.state.v.clone_from(v);
        }
        if let Some(controls) = &found.controls {
            let first = self.model.nv();
            self.wrenches[first..].copy_from_slice(controls);
        }
        Ok(())
    }
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
}

fn read<'a>(root: &Table<'a>, name: &str) -> Result<(Description, Tables<'a>), Error> {
    root.only(&[
        "gravity",
        "strict",
        "touch_parents",
        "keyframe",
        "simulation",
        "half_space",
        "shape",
        "body",
        "contact",
        "actuator",
        "equality",
    ])?;
    let gravity = root.numbers("gravity")?.unwrap_or([0.0, 0.0, -9.81]);
    let mut description = Description::new(name, read_settings(root)?);
    description.gravity = gravity;
    description.strict = root.boolean("strict")?.unwrap_or(true);
    description.touch_parents = root.boolean("touch_parents")?.unwrap_or(false);

    let mut names = HashMap::from(["gravity", "world"].map(|name| (name.to_string(), None)));
    let mut half_spaces = root.tables("half_space")?;
    for table in &mut half_spaces {
        description.half_spaces.push(read_half_space(table, &mut names)?);
    }
    let mut shapes = root.tables("shape")?;
    for table in &mut shapes {
        let name = read_name(table, "shape", &mut names)?;
        description.colliders.push(shape::read(table, name)?);
    }
    let mut bodies = root.tables("body")?;
    for table in &mut bodies {
        let name = read_name(table, "body", &mut names)?;
        description.bodies.push(body::read(table, &name)?);
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
    let tables = Tables { half_spaces, shapes, bodies, contacts, actuators, equalities };
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
        "static_speed",
        "split_impacts",
        "keep_impulses",
        "smoothing",
        "tolerance",
    ])?;
    let time_step = table.required("time_step", table.number("time_step")?)?;
    table.demand("time_step", time_step > 0.0, "must be positive", time_step, "s")?;
    let mut settings = Settings::new(time_step);
    settings.integrator = match table.string("integrator")?.unwrap_or("semi_implicit") {
        "semi_implicit" => Integrator::SemiImplicit,
        "implicit" => Integrator::Implicit,
        "runge_kutta" => Integrator::RungeKutta,
        other => {
            let message = format!(
                "must be \"semi_implicit\", \"implicit\" or \"runge_kutta\", found {other:?}"
            );
            return Err(table.error("integrator", message));
        }
    };
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
    table.only(&fields)?;
    let normal = table.required("normal", table.numbers("normal")?)?;
    let offset = table.number("offset")?.unwrap_or(0.0);
    let material = shape::read_material(table)?;
    let filter = shape::read_filter(table)?;
    Ok(HalfSpaceDescription { line: None, name, normal, offset, material, filter })
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
