//! `stiction export`

use std::path::{Path, PathBuf};

use clap::Subcommand;

use super::outcome::Outcome;
use super::output;
use super::scene_options::{SceneOptions, load_scene};
use super::whole_files;
use crate::c_interface::{Attachment, read_library};
use crate::transition::Transition;
use crate::{Error, ErrorKind};

/// Turn a scene into functions for other programs
#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    target: Target,
}

#[derive(Subcommand)]
enum Target {
    Casadi(CasadiArguments),
}

/// Write a shared library with x_next = f(x, u) and its Jacobian for CasADi
///
/// In CasADi (3.6 or later): f = casadi.external("stiction_f", "./libstep.so"), and
/// casadi.external("stiction_start", "./libstep.so")() has x and u at the start. x is [q; v], its quaternions
/// of any norm between 1e-6 and 1e6. The library is a copy of libstiction.so, or of the module of
/// Python, that carries the scene; it needs no other file.
#[derive(clap::Args)]
struct CasadiArguments {
    /// The scene: .toml, MJCF or URDF
    #[arg(value_name = "SCENE")]
    scene: PathBuf,
    #[command(flatten)]
    options: SceneOptions,
    /// The library to write
    #[arg(short, long, value_name = "libstep.so")]
    output: PathBuf,
    /// What u is, separated by commas: names of inputs, or "controls", "forces", "all", "none"; if left
    /// out, the controls, or all forces if there are none
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    inputs: Option<Vec<String>>,
    /// The shared library of stiction, or the module of Python (`stiction._stiction.__file__`); if left out, the library
    /// beside the program
    #[arg(long, value_name = "LIBRARY")]
    library: Option<PathBuf>,
    /// Print a summary as one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<Outcome, Error> {
    match &arguments.target {
        Target::Casadi(arguments) => casadi(arguments),
    }
}

fn casadi(arguments: &CasadiArguments) -> Result<Outcome, Error> {
    whole_files::check_place(&arguments.output)?;
    let scene = load_scene(&arguments.scene, &arguments.options, false)?;
    let name = arguments.scene.display().to_string();
    let inputs = match &arguments.inputs {
        Some(names) if *names == ["none"] => Vec::new(),
        Some(names) => scene.model.inputs_named(names, &name)?,
        None => scene.model.default_inputs(),
    };
    let attachment = Attachment::new(&scene, &inputs, &name)?;
    let transition: Transition = attachment.transition(attachment.scene()?.into())?;
    let library = library(arguments.library.as_deref())?;
    whole_files::write_file(&arguments.output, &attachment.attach(&library))?;

    let (nx, nu) = (transition.nq() + transition.nv(), transition.nu());
    if arguments.json {
        let mut object = output::json_head("export", 0, 1);
        object.insert("scene".into(), output::path(&arguments.scene));
        object.insert("nq".into(), transition.nq().into());
        object.insert("nv".into(), transition.nv().into());
        object.insert("nu".into(), nu.into());
        object.insert("state_names".into(), transition.state_names().into());
        object.insert("input_names".into(), transition.input_names().into());
        object.insert("time_step".into(), output::number(scene.settings.time_step));
        object.insert("pushed_apart".into(), output::pushed_apart(&scene));
        object.insert("files".into(), vec![output::path(&arguments.output)].into());
        output::print(&output::json_text(object));
    } else {
        let inputs = transition.input_names().join(", ");
        let text = format!(
            "stiction_f: (x[{nx}], u[{nu}]) -> x_next[{nx}] with its Jacobian, and stiction_start: \
             () -> (x, u), written to {}\nu: {}",
            arguments.output.display(),
            if nu > 0 { &inputs } else { "nothing" },
        );
        output::print(&text);
    }
    Ok(Outcome::Done)
}

/// The contents of the shared library that is copied.
fn library(given: Option<&Path>) -> Result<Vec<u8>, Error> {
    let path = match given {
        Some(path) => path.to_path_buf(),
        None => {
            let program = std::env::current_exe().map_err(|error| Error::io("stiction", error))?;
            let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
            program.with_file_name(format!("{prefix}stiction{suffix}"))
        }
    };
    read_library(&path).map_err(|error| match error.kind() {
        ErrorKind::Io(std::io::ErrorKind::NotFound) => {
            let message = "there is no such library; make it by `cargo rustc --release --lib --crate-type cdylib --features \
                           c_interface`, or name with --library one that is there, or the file of Python's module: \
                           stiction._stiction.__file__";
            Error::input(path.display().to_string(), None, "", message)
        }
        _ => error,
    })
}
