//! `stiction import`

use std::path::PathBuf;

use super::outcome::Outcome;
use super::output;
use super::whole_files;
use crate::Error;
use crate::assemble::Description;
use crate::formats::LoadOptions;

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
    /// Print a summary as one JSON object; the scene is written only with -o
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<Outcome, Error> {
    let Arguments { model, output, floating_base, max_hull_vertices, json } = arguments;
    if let Some(path) = output {
        whole_files::check_place(path)?;
    }
    let options = LoadOptions {
        floating_base: *floating_base,
        max_hull_vertices: *max_hull_vertices,
        ..LoadOptions::default()
    };
    let description = Description::load(model, options)?;
    let scene = description.scene()?;
    let directory = output.as_deref().and_then(std::path::Path::parent);
    let text = description.to_toml(directory.unwrap_or(std::path::Path::new("")));
    if let Some(path) = output {
        whole_files::write_file(path, text.as_bytes())?;
    } else if !json {
        output::print(text.trim_end());
    }
    for warning in &scene.warnings {
        output::warn(&warning.to_string());
    }
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
