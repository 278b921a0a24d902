//! The scene of a command: any kind of file, its warnings, where it starts.

use std::path::Path;

use super::output;
use crate::Error;
use crate::assemble::Description;
use crate::collision::supports;
use crate::formats::LoadOptions;
use crate::model::{Model, Scene, Solid};
use crate::view::Appearance;

/// What is said about a scene beside its file.
#[derive(clap::Args, Clone, Debug, Default)]
pub(super) struct SceneOptions {
    /// Start from this keyframe of the file
    #[arg(long, value_name = "NAME")]
    pub keyframe: Option<String>,
    /// The first link of a URDF floats; if left out, it is fixed to the world
    #[arg(long)]
    pub floating_base: bool,
    /// How many vertices the hull of a mesh of a URDF or MJCF that does not say it itself (`maxhullvert`) has for contact at
    /// most, 4 or more; 0 for all, 64 if left out
    #[arg(long, value_name = "N")]
    pub max_hull_vertices: Option<usize>,
}

impl SceneOptions {
    /// What the file leaves open.
    pub fn load_options(&self) -> LoadOptions {
        let SceneOptions { floating_base, max_hull_vertices, .. } = *self;
        LoadOptions { floating_base, max_hull_vertices, ..LoadOptions::default() }
    }

    /// # Errors
    /// If something is said that is for rigid bodies only.
    pub fn refuse_for_soft_bodies(&self) -> Result<(), Error> {
        let SceneOptions { keyframe, floating_base, max_hull_vertices } = self;
        refuse_for_soft_bodies(&[
            ("--keyframe", keyframe.is_some(), "they have none"),
            ("--floating-base", *floating_base, "it is for URDF"),
            ("--max-hull-vertices", max_hull_vertices.is_some(), "it is for URDF and MJCF"),
        ])
    }
}

/// Options for rigid bodies only: their names, whether they are given, and what to do instead.
///
/// # Errors
/// If one is given.
pub(super) fn refuse_for_soft_bodies(options: &[(&str, bool, &str)]) -> Result<(), Error> {
    match options.iter().find(|(_, given, _)| *given) {
        Some((option, _, instead)) => {
            let message = format!("is not for scenes with [[soft]] bodies: {instead}");
            Err(Error::input(*option, None, "", message))
        }
        None => Ok(()),
    }
}

/// Loads the scene of a command, a scene file, MJCF or URDF, and says on standard error what is not right
/// about it. `push_overlaps`: shapes that start in each other are pushed apart, whatever the file says.
pub(super) fn load_scene(
    path: &Path,
    options: &SceneOptions,
    push_overlaps: bool,
) -> Result<Scene, Error> {
    let load = LoadOptions { push_overlaps, ..options.load_options() };
    let mut scene = Scene::load_with(path, load)?;
    warn(&scene);
    if let Some(keyframe) = &options.keyframe {
        let name = path.display().to_string();
        scene.start_at(keyframe, &name)?;
        if push_overlaps && let Some(pushed) = scene.push_apart(&name)? {
            output::warn(&pushed.to_string());
        }
    }
    Ok(scene)
}

/// Says what is not right about a scene.
pub(super) fn warn(scene: &Scene) {
    output::warn_of_file(&scene.warnings);
    let model = &scene.model;
    let shape = |collider: usize| &model.colliders[collider].shape;
    let all = 0..model.colliders.len();
    let odd: Vec<usize> = all.filter(|&k| !supports([shape(k), shape(k)])).collect();
    for (place, &first) in odd.iter().enumerate() {
        for &second in &odd[place + 1..] {
            if let Some(pair) = model.pair(Solid::Collider(first), second) {
                let name = model.pair_name(pair);
                output::warn(&format!("{name}: contacts of these two shapes are not found"));
            }
        }
    }
}

/// What the bodies of a model look like; a warning for each file that cannot be read.
pub(super) fn looks(model: &Model) -> Appearance {
    let looks = Appearance::read(model);
    output::warn_of_file(looks.warnings());
    looks
}

/// Says which looks a scene that is written to a folder has to do without.
pub(super) fn warn_of_lost_looks(description: &Description, folder: &Path) {
    let lost = description.looks_out_of_reach(folder);
    let Some(mut common) = lost.first().and_then(|path| path.parent()) else { return };
    // The folder that all are in, however deep.
    while let Some(above) =
        common.parent().filter(|_| !lost.iter().all(|path| path.starts_with(common)))
    {
        common = above;
    }
    output::warn(&format!(
        "{} looks are not in the scene that is written, as it may not read their files from where it is: write it where the robot \
         is, or list their folder, now and whenever it is read, in the variable of the environment STICTION_PATH={}",
        lost.len(),
        common.display()
    ));
}
