//! The folder of an identification: result, identified scene and report.

use std::path::{Path, PathBuf};

use super::lock::Lock;
use super::scene_options::warn_of_lost_looks;
use super::whole_files::{check_place, is_device, write_file, write_files};
use crate::Error;
use crate::assemble::Description;
use crate::formats::{mesh_text, weights_archive};
use crate::identify::{Experiment, Fit, is_weight};
use crate::view::FitReport;

/// The name of the result in a folder.
const RESULT: &str = "result.json";
/// And those of the others.
const SCENE: &str = "scene.toml";
const REPORT: &str = "report.html";

/// Where the result of an identification goes.
pub(super) enum Destination {
    /// One file, the result: a name that ends in .json.
    File(PathBuf),
    /// A folder with result.json, scene.toml and report.html.
    Folder(PathBuf),
}

impl Destination {
    /// What a name means; an error unless it can be written.
    pub fn new(path: &Path) -> Result<Destination, Error> {
        let is_json = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
        // A device or pipe takes the result alone.
        let there = std::fs::metadata(path).is_ok_and(|there| !there.is_dir());
        if is_json || (there && !path.is_file()) {
            check_place(path)?;
            return Ok(Destination::File(path.to_path_buf()));
        }
        if there {
            let message = "is a file; give the name of a folder, or one that ends in .json";
            return Err(Error::input(path.display().to_string(), None, "", message));
        }
        if !path.is_dir() {
            check_place(path)?;
        }
        Ok(Destination::Folder(path.to_path_buf()))
    }

    /// Makes sure that nobody else writes there, and that it can be written; a folder is made.
    ///
    /// # Errors
    /// If somebody does, or it cannot.
    pub fn lock(&self) -> Result<Option<Lock>, Error> {
        match self {
            Destination::File(path) if is_device(path) => Ok(None),
            Destination::File(path) => {
                check_place(path)?;
                Lock::of_file(path).map(Some)
            }
            Destination::Folder(folder) => {
                let lock = Lock::of_folder(folder)?;
                check_place(&folder.join(RESULT))?;
                Ok(Some(lock))
            }
        }
    }

    /// The file of the result.
    pub fn result(&self) -> PathBuf {
        match self {
            Destination::File(path) => path.clone(),
            Destination::Folder(folder) => folder.join(RESULT),
        }
    }

    /// All files that are written.
    #[cfg(feature = "plots")]
    pub fn files(&self) -> Vec<PathBuf> {
        match self {
            Destination::File(path) => vec![path.clone()],
            Destination::Folder(folder) => {
                [RESULT, SCENE, REPORT].map(|name| folder.join(name)).into()
            }
        }
    }

    /// Whether there is a report in it.
    pub fn has_report(&self) -> bool {
        matches!(self, Destination::Folder(_))
    }

    /// Writes `result` (JSON) and, into a folder, the identified scene and the report; returns the
    /// file to look at.
    pub fn write(
        &self,
        experiment: &Experiment,
        fit: &Fit,
        result: &str,
        report: Option<FitReport>,
    ) -> Result<PathBuf, Error> {
        let folder = match self {
            Destination::File(path) => {
                write_file(path, result.as_bytes())?;
                return Ok(path.clone());
            }
            Destination::Folder(folder) => folder,
        };
        // All is made before anything is written.
        let page = report.unwrap_or_default().html()?;
        let (scene, archives) = identified_scene(experiment, fit, (folder, ""))?;
        let file = folder.join(REPORT);
        let archives: Vec<(PathBuf, Vec<u8>)> =
            archives.into_iter().map(|(name, bytes)| (folder.join(name), bytes)).collect();
        let [place, result_file] = [SCENE, RESULT].map(|name| folder.join(name));
        let mut files: Vec<(&Path, &[u8])> = vec![(&file, page.as_bytes())];
        files.extend(archives.iter().map(|(path, bytes)| (path.as_path(), &bytes[..])));
        // A new result has the others beside it.
        files.extend([(&*place, scene.as_bytes()), (&*result_file, result.as_bytes())]);
        write_files(&files)?;
        Ok(file)
    }
}

/// The longest part of a name of an archive that is that of a term.
const LONGEST: usize = 60;

/// A name for the archive of a term that any system takes, which none of the others has.
fn archive_name(term: &str, others: &[Archive]) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = term.chars().map(plain).take(LONGEST).collect();
    let named = |number: usize| match number {
        0 => format!("{name}.npz"),
        _ => format!("{name}_{}.npz", number + 1),
    };
    let taken = |name: &String| others.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
    // Of one more than there are, one is free.
    (0..=others.len())
        .map(named)
        .find(|name| !taken(name))
        .unwrap_or_else(|| named(others.len() + 1))
}

/// A file in the folder: its name and what is in it.
pub(super) type Archive = (String, Vec<u8>);

/// The scene of the experiment with the identified parameters, as the text of a file in a folder, and the archives of weights and
/// meshes that it names, whose names begin with `prefix`.
pub(super) fn identified_scene(
    experiment: &Experiment,
    fit: &Fit,
    (folder, prefix): (&Path, &str),
) -> Result<(String, Vec<Archive>), Error> {
    let mut description = Description::of(&experiment.scene, &fit.identified, &experiment.name);
    let mut text = String::from("# Identified by `stiction identify`:\n");
    for parameter in fit.parameters.iter().filter(|p| !is_weight(&p.name)) {
        let note = match (parameter.observable, parameter.at_bound) {
            (false, _) => ", unobservable",
            (true, true) => ", at its bound",
            (true, false) => "",
        };
        let line = format!("#   {} = {}{note}", parameter.name, parameter.value);
        text.extend(line.chars().map(|c| if c.is_control() { ' ' } else { c }));
        text.push('\n');
    }
    let mut archives: Vec<Archive> = Vec::new();
    let model = &experiment.scene.model;
    let bodies = description.bodies.iter_mut().flat_map(|body| &mut body.colliders);
    for described in description.colliders.iter_mut().chain(bodies) {
        // What it looks like is more than the hull that touches.
        let Some(visual) = &described.visual else { continue };
        let Some((hull, _)) = described.shape.polyhedron() else { continue };
        let name = format!("{prefix}mesh_{}.obj", archives.len() + 1);
        archives.push((name.clone(), mesh_text(visual).into_bytes()));
        described.mesh = Some(name);
        described.max_hull_vertices = Some(hull.vertices().len());
    }
    for (index, described) in description.learned.iter_mut().enumerate() {
        if described.weights.is_none() {
            continue;
        }
        let name = archive_name(&format!("{prefix}{}", described.name), &archives);
        let weights = fit.identified.weights(model, index);
        let bytes = weights_archive(&model.learned[index].network, weights)
            .map_err(|error| Error::io(folder.join(&name), error))?;
        described.archive = Some(name.clone());
        archives.push((name, bytes));
    }
    warn_of_lost_looks(&description, folder);
    Ok((text + &description.to_toml(folder), archives))
}
