//! `stiction bench`

mod family;
mod growth;
mod hopper;
mod linkages;
mod masonry;
mod measure;
mod piles;

use std::path::PathBuf;

use self::family::Family;
use self::growth::Growth;
use self::measure::{Bench, measure};
use super::drive::DriveOptions;
use super::outcome::Outcome;
use super::output;
use super::run_length::run_length;
use super::scene_options::{SceneOptions, load_scene};
use crate::Error;

/// Time the steps of a scene and their Jacobians
///
/// The scene is rolled out several times, on one thread; the fastest counts. Steps a second, the time of the stages
/// of a step, Jacobians (A and B of dx+ = A dx + B du) a second, a step with its adjoint, and what the solver did,
/// which does not depend on the machine. With `--family`, scenes of a growing number of bodies instead, and how times
/// grow with it. Exit code 1 if a contact problem was not solved, 2 if the input is bad.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The scene: .toml, MJCF (.xml, .mjcf) or URDF (.urdf)
    #[arg(value_name = "SCENE", required_unless_present = "family", conflicts_with = "family")]
    scene: Option<PathBuf>,
    /// Times scenes of this family instead, one of each size
    #[arg(long, conflicts_with_all = ["keyframe", "floating_base", "max_hull_vertices"])]
    family: Option<Family>,
    /// The sizes of the family; if left out, some that take a minute
    #[arg(long, value_name = "N,N,...", value_delimiter = ',', requires = "family")]
    sizes: Vec<usize>,
    /// Writes the scenes of the family into this folder, as MJCF, and times nothing
    #[arg(long, value_name = "FOLDER", requires = "family", conflicts_with_all = ["steps", "jacobians", "settle"])]
    write: Option<PathBuf>,
    #[command(flatten)]
    options: SceneOptions,
    #[command(flatten)]
    drive: DriveOptions,
    /// How many time steps; if left out, as many as make one second, 200 of a family
    #[arg(long, value_name = "N")]
    steps: Option<usize>,
    /// How many Jacobians at most, evenly spread over the steps; if left out, 200, of a family 2
    #[arg(long, value_name = "N")]
    jacobians: Option<usize>,
    /// How often everything is timed
    #[arg(long, value_name = "N", default_value_t = 3)]
    repeats: usize,
    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<Outcome, Error> {
    let jacobians = arguments.jacobians.unwrap_or(JACOBIANS);
    let steps = arguments.steps.unwrap_or(1);
    let counts = [("--repeats", arguments.repeats), ("--jacobians", jacobians), ("--steps", steps)];
    if let Some((option, _)) = counts.iter().find(|(_, count)| *count == 0) {
        return Err(Error::input(*option, None, "", "must be at least 1, found 0"));
    }
    let path = match (&arguments.scene, arguments.family) {
        (Some(path), _) => path,
        (None, Some(family)) => {
            let growth = Growth {
                family,
                sizes: &arguments.sizes,
                write: arguments.write.as_deref(),
                options: &arguments.options,
                drive: &arguments.drive,
                steps: arguments.steps,
                jacobians: arguments.jacobians,
                repeats: arguments.repeats,
                json: arguments.json,
            };
            return growth.run();
        }
        (None, None) => return Err(Error::input("SCENE", None, "", "is missing")),
    };
    let mut scene = load_scene(path, &arguments.options, arguments.drive.settle.is_some())?;
    let steps = run_length(path, scene.settings.time_step, arguments.steps)?;
    let started = arguments.drive.start(path, &arguments.options, arguments.json, &mut scene, 1)?;
    let Some((mut drive, settled)) = started else { return Ok(Outcome::Failed) };
    let (jacobians, repeats, json) = (jacobians.min(steps), arguments.repeats, arguments.json);
    let bench = Bench { path, scene: &scene, steps, jacobians, settled, repeats, json };
    let (times, statistics) = measure(&bench, &mut drive)?;
    output::print(&match arguments.json {
        true => output::json_text(bench.json(&times, &statistics)),
        false => bench.text(&times, &statistics),
    });
    Ok(bench.outcome(&statistics))
}

/// Jacobians of a scene, if the command line does not say.
const JACOBIANS: usize = 200;
