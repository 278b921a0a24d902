//! `stiction import`

use std::path::PathBuf;

use super::outcome::Outcome;
use super::output;
use super::scene_options::warn_of_lost_looks;
use super::whole_files;
use crate::Error;
use crate::assemble::{BaseHeight, Description, Equipment, Motors};
use crate::formats::LoadOptions;
use crate::model::ActuatorKind;

/// Turn an MJCF or URDF into a scene file
///
/// What the file says that has no effect here, or another, is named in warnings on standard error, each with
/// its line, and in comments of the scene. Exit code 2 if the file cannot be followed at all; nothing is
/// written then.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The file to read: .xml or .mjcf (MuJoCo), .urdf
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Write the scene here instead of on standard output
    #[arg(short, long, value_name = "SCENE.toml")]
    output: Option<PathBuf>,
    /// The first link of a URDF floats; if left out, it is fixed to the world
    #[arg(long)]
    floating_base: bool,
    /// How many vertices the hull of a mesh that does not say it itself (`maxhullvert`) has for contact at most, 4 or more; 0 for
    /// all, 64 if left out
    #[arg(long, value_name = "N")]
    max_hull_vertices: Option<usize>,
    /// Add a ground at z = 0 that all shapes of the robot touch
    #[arg(long)]
    ground: bool,
    /// Coefficient of friction of that ground with what states none (by <contact> or Gazebo's mu1); 0.8 if left out
    #[arg(long, value_name = "MU", requires = "ground", allow_negative_numbers = true)]
    mu: Option<f64>,
    /// Add a motor to each joint that has none: servos that hold the start (position), forces (torque), or what the <transmission> or
    /// ros2_control elements of the file say (file); with the limits of effort that the file states
    #[arg(long, value_name = "KIND")]
    actuators: Option<MotorKind>,
    /// Put the floating base at this height (m), or just so high that the robot stands on the ground (auto)
    #[arg(long, value_name = "auto|Z", value_parser = base_height, allow_negative_numbers = true)]
    base_height: Option<BaseHeight>,
    /// Where a joint starts, rad or m; `*` in the name stands for anything: --joint '*_calf_joint=-1.6'. Others start at 0, or at the
    /// limit that is nearest
    #[arg(long, value_name = "NAME=Q", value_parser = joint_start, allow_hyphen_values = true)]
    joint: Vec<(String, f64)>,
    /// Print a summary as one JSON object; the scene is written only with -o
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum MotorKind {
    Position,
    Torque,
    File,
}

/// A height, or that of the ground.
fn base_height(text: &str) -> Result<BaseHeight, String> {
    if text == "auto" {
        return Ok(BaseHeight::OnGround);
    }
    let height = text.parse().ok().filter(|z: &f64| z.is_finite());
    height.map(BaseHeight::At).ok_or_else(|| "must be auto or a number of metres".to_string())
}

/// A joint and where it starts.
fn joint_start(text: &str) -> Result<(String, f64), String> {
    let (name, q) = text.rsplit_once('=').ok_or("must be a name, =, and a number")?;
    let q = q.trim().parse().ok().filter(|q: &f64| q.is_finite());
    let q = q.ok_or("must end in a number after =")?;
    Ok((name.trim().to_string(), q))
}

/// Friction of grounds about which nothing is said: rubber on concrete, as simulators of legged robots take it.
pub(super) const MU: f64 = 0.8;

pub(super) fn run(arguments: &Arguments) -> Result<Outcome, Error> {
    let Arguments { model, output, floating_base, max_hull_vertices, json, .. } = arguments;
    if let Some(path) = output {
        whole_files::check_place(path)?;
    }
    let options = LoadOptions {
        floating_base: *floating_base,
        max_hull_vertices: *max_hull_vertices,
        equipment: Equipment {
            ground: arguments.ground.then(|| arguments.mu.unwrap_or(MU)),
            motors: arguments.actuators.map(|motors| match motors {
                MotorKind::Position => Motors::Each(ActuatorKind::Position),
                MotorKind::Torque => Motors::Each(ActuatorKind::Motor),
                MotorKind::File => Motors::Stated,
            }),
            base_height: arguments.base_height,
        },
        ..LoadOptions::default()
    };
    let mut description = Description::load(model, options)?;
    description.set_joints(&arguments.joint)?;
    if let Err(error) = description.equip(&options.equipment) {
        // They may say why.
        output::warn_of_file(&description.warnings);
        return Err(error);
    }
    let scene = description.scene()?;
    let directory = output.as_deref().and_then(std::path::Path::parent);
    let text = description.to_toml(directory.unwrap_or(std::path::Path::new("")));
    if let Some(path) = output {
        whole_files::write_file(path, text.as_bytes())?;
    } else if !json {
        output::print(text.trim_end());
    }
    output::warn_of_file(&scene.warnings);
    warn_of_lost_looks(&description, directory.unwrap_or(std::path::Path::new("")));
    let (nq, nv, nu) = (scene.model.nq(), scene.model.nv(), scene.model.nu());
    let bodies = scene.model.bodies.len();
    if *json {
        let mut object = output::json_head("import", 0, 1);
        object.insert("model".into(), output::path(model));
        object.insert("bodies".into(), bodies.into());
        object.insert("nq".into(), nq.into());
        object.insert("nv".into(), nv.into());
        object.insert("nu".into(), nu.into());
        object.insert("shapes".into(), scene.model.colliders.len().into());
        object.insert("equalities".into(), scene.model.equalities.len().into());
        object.insert("tendons".into(), scene.model.tendons.len().into());
        let warnings: Vec<String> = scene.warnings.iter().map(Error::to_string).collect();
        object.insert("warnings".into(), warnings.into());
        let files: Vec<_> = output.iter().map(|path| output::path(path)).collect();
        object.insert("files".into(), files.into());
        output::print(&output::json_text(object));
    } else if let Some(path) = output {
        let text = format!("{bodies} bodies, {nv} velocities, written to {}", path.display());
        output::print(&text);
    }
    Ok(Outcome::Done)
}
