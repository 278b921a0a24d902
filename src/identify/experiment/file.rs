//! The experiment file: recordings, scene, parameters, and how the distance is measured.

use std::collections::BTreeMap;
use std::path::Path;

use super::calibrations::Calibrations;
use super::parameter::density_and_size;
use super::{
    AdamSettings, DEFAULT_ITERATIONS, Experiment, FreeParameter, InitialState, MaskSensor, Method,
    Noise, RecordedInput, RobustLoss, Sensor, WindowLength,
};
use super::{density, recordings, weights};
use crate::Error;
use crate::formats::{LoadOptions, hull_limit};
use crate::model::Scene;
use crate::table::{self, Table};
use crate::trajectory::{expand, expand_all, recordings_of};

impl Experiment {
    /// Reads an experiment file. `data`, where given, replaces the file's own list of recordings.
    ///
    /// ```toml
    /// scene = "scene.toml"             # relative to this file; also MJCF and URDF
    /// floating_base = false            # of a URDF: whether its first link floats
    /// max_hull_vertices = 64           # of a URDF or MJCF: how many vertices the hull of a mesh has at most; 0: all
    /// keyframe = "home"                # where the scene starts; if left out, where it says
    /// data = ["slide_*.csv"]           # files, folders or patterns, relative to this file
    /// initial_state = "fitted"         # or "recorded" (default), "flight" (of the frames before the first contact)
    /// window = "whole"                 # (default) or a number of recorded steps
    /// substeps = 1                     # simulation steps per recorded step
    /// velocity_lag = 0.0               # s
    /// length_scale = 0.12              # m (default 1)
    /// huber = 3.0                      # optional: residuals beyond so many standard deviations count linearly,
    /// cauchy = 3.0                     # or hardly at all; one of the two
    /// method = "levenberg-marquardt"   # (default), "l-bfgs-b" (for many parameters) or "adam"
    /// max_iterations = 60
    /// continuation = true              # (default) whole windows: short horizons and few recordings first
    /// starts = 4                       # starts of the first stage, spread over the bounds (default 4 with continuation, else 1)
    /// half_samples = 20                # standard errors from fits to so many random halves of the recordings; 0: by
    ///                                  # linearisation; if left out, a test decides
    /// profiles = true                  # (default) walk along each parameter, and go on from a lower point
    /// seed = 1
    /// [adam]
    /// rate = 0.05                      # of the scale of each parameter
    /// [noise]                          # standard deviations
    /// position = 0.001                 # m
    /// rotation_deg = 0.2
    /// velocity = 0.1                   # m/s, optional
    /// angular_velocity = 0.5           # rad/s, optional
    /// [noise.joint.lid]                # the same for one joint, by the name of its body; what is not here
    /// rotation_deg = 0.5               # is as above
    /// [[parameter]]
    /// name = "floor-box/mu"
    /// start = 0.5
    /// lower = 0.01
    /// upper = 1.5
    /// scale = 0.1                      # optional: a typical change
    /// tied = ["floor-lid/mu"]          # optional: others that have the same value
    /// transform = "log"                # optional: search for the logarithm, or "none"; see below
    /// prior = { mean = 0.4, sd = 0.1 } # optional: known beforehand, one more residual
    /// fixed = false                    # optional: keep the start (if left out, what the scene has)
    /// [[parameter]]                    # an inertia that stays one of a body there can be:
    /// name = "box/inertial"            # mass, centre of mass x, y, z, inertia xx, yy, zz, xy, xz, yz,
    /// [[parameter]]                    # or the last six alone
    /// name = "lid/inertia"
    /// full = true                      # without it: a sphere's inertia, xx = yy = zz, one number
    /// start = [1e-4, 1e-4, 2e-4, 0, 0, 0]  # optional, and so below; if left out, what the scene has
    /// scale = 0.5                      # as a share of mass and inertia (default)
    /// prior = { mean = [1e-4, 1e-4, 2e-4, 0, 0, 0], sd = [1e-5, 1e-5, 1e-5, 1e-6, 1e-6, 1e-6] }
    /// fixed = false
    /// [[sensor]]                       # optional: what measures other than the columns of the state
    /// name = "tip"                     # gives gain * reading(t - delay) + bias
    /// marker = "lid"                   # a point of this body: its position in the world
    /// position = [0, 0, 0.1]           # in the body, m
    /// columns = ["tx", "ty", "tz"]     # (default "tip/x", ..); fields may be empty
    /// noise = 0.001                    # standard deviation of a channel, in its units
    /// [[sensor]]
    /// name = "encoder"
    /// reads = ["lid/q"]                # numbers of the state, which then have no residual of their own
    /// columns = ["encoder"]            # (default: their names)
    /// noise = 0.002
    /// delay = 0.0                      # s, (default)
    /// gain = 1.0                       # (default)
    /// bias = [0.0]                     # (default), one a channel
    /// [[parameter]]
    /// name = "encoder/delay"           # also encoder/gain, encoder/bias, tip/bias/x, tip/position/x
    /// start = 0.005
    /// lower = 0.0                      # a delay needs bounds: what might be read before a window starts
    /// upper = 0.05                     # is left out
    /// [truth]
    /// "floor-box/mu" = 0.3
    /// [columns]                        # where the recordings do not have our names, see `Trajectory`
    /// "t" = "time"
    /// "box/*" = "object_*"             # all of a body: object_px, ..; velocities may be missing
    /// "lid/q" = "angle"                # one number
    /// "lid/v" = false                  # not recorded, or not to be used: differenced
    /// "base/*" = false                 # nothing of this body is recorded
    /// recording = "episode_index"      # of Parquet files: what tells their recordings apart ("recording")
    /// ```
    ///
    /// By default, the search is for the logarithms of masses, single inertias and sizes, and of damping,
    /// friction, armature and stiffness of joints with a positive lower bound ([`Transform`]); for all
    /// else as it is. Bounds, priors, scales and results are those of the parameters themselves.
    ///
    /// What is not recorded has no residual and no part in `evaluate`. Simulations start it as the scene
    /// does: at the first frame it has to be there, so windows that start elsewhere need `initial_state
    /// = "fitted"`.
    ///
    /// [`Transform`]: super::Transform
    ///
    /// `data`, unless it is empty, stands for its list of recordings: files, folders and patterns.
    ///
    /// # Errors
    /// With file, line and field.
    pub fn load(path: impl AsRef<Path>, data: &[String]) -> Result<Experiment, Error> {
        let (experiment, missing) = Experiment::open(path.as_ref(), data, None)?;
        missing.map_or(Ok(experiment), Err)
    }

    /// [`load`](Self::load) with `scene` in place of the one that the file names.
    ///
    /// # Errors
    /// Those of [`load`](Self::load).
    pub fn load_with_scene(
        path: impl AsRef<Path>,
        scene: Scene,
        data: &[String],
    ) -> Result<Experiment, Error> {
        let (experiment, missing) = Experiment::open(path.as_ref(), data, Some(scene))?;
        missing.map_or(Ok(experiment), Err)
    }

    /// [`load`](Self::load) of an experiment that need not have recordings: one that could be made.
    ///
    /// # Errors
    /// Those of [`load`](Self::load), but for missing recordings.
    pub fn load_planned(path: impl AsRef<Path>) -> Result<Experiment, Error> {
        Ok(Experiment::open(path.as_ref(), &[], None)?.0)
    }

    /// The experiment, and what is wrong if it has no recordings.
    fn open(
        path: &Path,
        data: &[String],
        scene: Option<Scene>,
    ) -> Result<(Experiment, Option<Error>), Error> {
        let text = crate::text::read(path, crate::text::MOST_BYTES)?;
        let name = path.display().to_string();
        let document = table::parse(&text, &name)?;
        let root = Table::root(&text, &name, &document);
        let scene = scene_of(&root, path, scene)?;
        Experiment::read_with_recordings(&root, path, data, scene)
    }

    /// Reads the text of an experiment file; `path` stands for it in messages, and for where the files it names are.
    /// `data`, unless it is empty, stands for its list of recordings, and `scene` for the one that it names.
    ///
    /// # Errors
    /// With file, line and field. That there are no recordings is returned beside the experiment.
    pub fn parse(
        text: &str,
        path: &Path,
        data: &[String],
        scene: Option<Scene>,
    ) -> Result<(Experiment, Option<Error>), Error> {
        let name = path.display().to_string();
        let document = table::parse(text, &name)?;
        let root = Table::root(text, &name, &document);
        let scene = scene_of(&root, path, scene)?;
        Experiment::read_with_recordings(&root, path, data, scene)
    }

    /// [`parse`](Self::parse) of an experiment whose recordings are not in files: those that it names are not looked for. See
    /// [`Dataset::of_files`](crate::identify::Dataset::of_files).
    ///
    /// # Errors
    /// With file, line and field.
    pub fn parse_without_data(
        text: &str,
        path: &Path,
        scene: Option<Scene>,
    ) -> Result<Experiment, Error> {
        let name = path.display().to_string();
        let document = table::parse(text, &name)?;
        let root = Table::root(text, &name, &document);
        let scene = scene_of(&root, path, scene)?;
        let experiment = Experiment::read(&root, &name, scene)?;
        root.strings("data").map(|_| experiment)
    }

    /// For whoever gives the scene of an experiment by itself: an error if its text says it too.
    ///
    /// # Errors
    /// With line and field; `path` stands for the file.
    pub fn demand_no_scene(text: &str, path: &Path) -> Result<(), Error> {
        let name = path.display().to_string();
        let document = table::parse(text, &name)?;
        let root = Table::root(text, &name, &document);
        match SCENE_FIELDS.into_iter().find(|field| root.has(field)) {
            Some(field) => Err(root.error(field, "is given twice: the scene is given by itself")),
            None => Ok(()),
        }
    }

    fn read_with_recordings(
        root: &Table,
        path: &Path,
        data: &[String],
        scene: Scene,
    ) -> Result<(Experiment, Option<Error>), Error> {
        let mut experiment = Experiment::read(root, &path.display().to_string(), scene)?;
        let patterns = root.strings("data")?;
        if patterns.is_none() && data.is_empty() {
            return Ok((experiment, root.required("data", patterns).err()));
        }
        let mut files = expand_all(data)?;
        for pattern in patterns.into_iter().flatten().filter(|_| data.is_empty()) {
            let pattern = folder_of(path).join(pattern).display().to_string();
            let found = expand(&pattern).map_err(|error| root.error("data", error.to_string()))?;
            files.extend(found);
        }
        experiment.data = recordings_of(files, experiment.columns.recording())?;
        if experiment.data.is_empty() {
            let message = "names no recordings; list files here, or give them by --data";
            return Ok((experiment, Some(root.error("data", message))));
        }
        Ok((experiment, None))
    }

    /// Reads everything but the recordings.
    pub(crate) fn read(root: &Table, name: &str, mut scene: Scene) -> Result<Experiment, Error> {
        root.only(&[
            "scene",
            "floating_base",
            "max_hull_vertices",
            "keyframe",
            "data",
            "initial_state",
            "window",
            "substeps",
            "velocity_lag",
            "length_scale",
            "huber",
            "cauchy",
            "method",
            "max_iterations",
            "continuation",
            "starts",
            "half_samples",
            "profiles",
            "seed",
            "adam",
            "noise",
            "parameter",
            "sensor",
            "input",
            "recordings",
            "truth",
            "columns",
        ])?;
        let initial_state = match root.string("initial_state")? {
            None | Some("recorded") => InitialState::Recorded,
            Some("flight") => InitialState::Flight,
            Some("fitted") => InitialState::Fitted,
            Some(other) => {
                let message =
                    format!("must be \"recorded\", \"flight\" or \"fitted\", found {other:?}");
                return Err(root.error("initial_state", message));
            }
        };
        let window = match root.string("window") {
            Ok(None | Some("whole")) => WindowLength::Whole,
            Ok(Some(other)) => {
                let message = format!("must be \"whole\" or a number of steps, found {other:?}");
                return Err(root.error("window", message));
            }
            Err(_) => WindowLength::Steps(root.count("window", usize::MAX)?.unwrap_or(1)),
        };
        let mut inputs = Vec::new();
        let mut unused_inputs = Vec::new();
        let mut columns =
            recordings::read_columns(root, &mut scene, &mut inputs, &mut unused_inputs)?;
        let (excerpt, frames) = recordings::read_excerpt(root, &scene.model)?;
        columns.frames.also(frames);
        if columns.is_partial()
            && window != WindowLength::Whole
            && initial_state == InitialState::Recorded
        {
            let message = "[columns] says that a part of the configuration is not recorded, so that \
                           only the start of a recording is known, from the scene; take window = \
                           \"whole\", or initial_state = \"fitted\"";
            return Err(root.error("window", message));
        }
        let velocity_lag = root.number("velocity_lag")?.unwrap_or(0.0);
        let length_scale = root.number("length_scale")?.unwrap_or(1.0);
        root.demand("length_scale", length_scale > 0.0, "must be positive", length_scale, "m")?;
        let robust = read_robust(root)?;
        let method = match root.string("method")? {
            None | Some("levenberg-marquardt") => Method::LevenbergMarquardt,
            Some("adam") => Method::Adam(AdamSettings::read(root.table("adam")?.as_ref())?),
            Some("l-bfgs-b") => Method::Lbfgsb,
            Some(other) => {
                let message = format!(
                    "must be \"levenberg-marquardt\", \"l-bfgs-b\" or \"adam\", found {other:?}"
                );
                return Err(root.error("method", message));
            }
        };
        if root.has("adam") && !matches!(method, Method::Adam(_)) {
            return Err(root.error("adam", "has no effect unless method = \"adam\""));
        }
        let mut sensors: Vec<Sensor> = Vec::new();
        let mut masks: Vec<MaskSensor> = Vec::new();
        for table in root.tables("sensor")? {
            if table.has("camera") {
                let mask = MaskSensor::read(
                    &table,
                    folder_of(Path::new(name)),
                    &scene.model,
                    &scene.parameters,
                )?;
                if masks.iter().any(|other| other.name == mask.name) {
                    return Err(table.error("name", "is that of another sensor; take another name"));
                }
                masks.push(mask);
                continue;
            }
            let sensor = Sensor::read(&table, &scene.model, &mut scene.parameters)?;
            if sensors.iter().any(|other| other.name == sensor.name) {
                return Err(table.error("name", "is that of another sensor; take another name"));
            }
            sensors.push(sensor);
        }
        for table in root.tables("input")? {
            inputs.push(RecordedInput::read(&table, &scene.model, &mut scene.parameters)?);
        }
        let calibrations = Calibrations { sensors: &sensors, inputs: &inputs };
        calibrations.check(root, &scene.model)?;
        let mut parameters: Vec<FreeParameter> = Vec::new();
        for table in root.tables("parameter")? {
            let found = match weights::of_term(&table, &scene)? {
                Some(term) => weights::read(&table, &scene, term)?,
                None => FreeParameter::read(&table, &scene, calibrations)?,
            };
            let taken = |p: &&FreeParameter| {
                let mut own = found.iter().flat_map(|p| &p.slots.slots);
                own.any(|slot| p.slots.slots.contains(slot))
            };
            if let Some(other) = parameters.iter().find(taken) {
                let message = format!("stands for the same number as {}", other.name);
                return Err(table.error("name", message));
            }
            parameters.extend(found);
        }
        if let Some((density, size)) = density_and_size(&scene.model, &parameters) {
            let message = format!(
                "{density} stands for mass and inertia at the volume that the scene has, which {size} changes: search for the mass \
                 and the inertia instead, or hold the size"
            );
            return Err(root.error("parameter", message));
        }
        if parameters.is_empty() {
            return Err(root.error("parameter", "is missing: name at least one [[parameter]]"));
        }
        if parameters.iter().all(|parameter| parameter.fixed) {
            let message = "all are fixed, so that nothing is left to identify";
            return Err(root.error("parameter", message));
        }
        for sensor in &mut sensors {
            let slot = sensor.delay_slot();
            if let Some(p) = parameters.iter().find(|p| p.slots.slots.contains(&slot)) {
                sensor.delay_range = if p.fixed { [p.start; 2] } else { [p.lower, p.upper] };
            }
        }
        let calibrations = Calibrations { sensors: &sensors, inputs: &inputs };
        let mut truth = BTreeMap::new();
        if let Some(table) = root.table("truth")? {
            for field in table.fields() {
                let known = scene.model.parameter(field).or_else(|| calibrations.parameter(field));
                if known.is_none() && density::find(&scene, field).is_none() {
                    return Err(table.error(field, "the scene has no such parameter"));
                }
                let value = table.required(field, table.number(field)?)?;
                truth.insert(field.to_string(), value);
            }
        }
        let (noise, joint_noise) = Noise::read(root, &scene.model)?;
        let default_iterations = match method {
            Method::LevenbergMarquardt => DEFAULT_ITERATIONS,
            Method::Lbfgsb => 200,
            Method::Adam(_) => 300,
        };
        let mut experiment = Experiment {
            name: name.to_string(),
            scene,
            columns,
            data: Vec::new(),
            excerpt,
            sensors,
            masks,
            inputs,
            unused_inputs,
            parameters,
            initial_state,
            window,
            substeps: root.count("substeps", MOST_REPEATED)?,
            substeps_line: root
                .has("substeps")
                .then(|| root.error("substeps", "").line())
                .flatten(),
            velocity_lag,
            length_scale,
            joint_noise,
            noise,
            robust,
            method,
            max_iterations: root
                .count("max_iterations", MOST_ITERATIONS)?
                .unwrap_or(default_iterations),
            continuation: root.boolean("continuation")?.unwrap_or(true),
            starts: root.count("starts", MOST_REPEATED)?.unwrap_or(0),
            half_samples: root.count_from("half_samples", 0, MOST_REPEATED)?,
            profiles: root.boolean("profiles")?.unwrap_or(true),
            seed: root.count("seed", usize::MAX)?.unwrap_or(1) as u64,
            truth,
        };
        experiment.draw_weights();
        Ok(experiment)
    }
}

/// More iterations are taken for a mistake.
const MOST_ITERATIONS: usize = 1_000_000;
/// More searches, halves, or steps from frame to frame, are.
const MOST_REPEATED: usize = 10_000;

/// The fields that say what the scene is.
const SCENE_FIELDS: [&str; 4] = ["scene", "floating_base", "max_hull_vertices", "keyframe"];

/// Where the files are that an experiment names.
fn folder_of(experiment: &Path) -> &Path {
    experiment.parent().unwrap_or(Path::new("."))
}

/// The scene that is given, or the one that the file names.
fn scene_of(root: &Table, path: &Path, given: Option<Scene>) -> Result<Scene, Error> {
    given.map_or_else(|| load_scene(root, path), Ok)
}

/// The scene that an experiment names.
fn load_scene(root: &Table, experiment: &Path) -> Result<Scene, Error> {
    let path = folder_of(experiment).join(root.required("scene", root.string("scene")?)?);
    let options = LoadOptions {
        floating_base: root.boolean("floating_base")?.unwrap_or(false),
        max_hull_vertices: hull_limit(root)?,
        ..LoadOptions::default()
    };
    let mut scene = Scene::load_with(&path, options).map_err(|error| {
        if error.is_input() { error } else { root.error("scene", error.to_string()) }
    })?;
    if let Some(keyframe) = root.string("keyframe")? {
        scene
            .start_at(keyframe, &path.display().to_string())
            .map_err(|error| root.error("keyframe", error.message()))?;
    }
    Ok(scene)
}

/// The robust loss, if there is one.
fn read_robust(root: &Table) -> Result<Option<RobustLoss>, Error> {
    let mut found = None;
    for (field, loss) in
        [("huber", RobustLoss::Huber as fn(f64) -> RobustLoss), ("cauchy", RobustLoss::Cauchy)]
    {
        let Some(limit) = root.number(field)? else { continue };
        root.demand(field, limit > 0.0, "must be positive", limit, "")?;
        if found.replace(loss(limit)).is_some() {
            return Err(root.error(field, "is another loss than huber; give one of them"));
        }
    }
    Ok(found)
}
