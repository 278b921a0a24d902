//! What is asked of recorded markers: an experiment on a soft body, from a TOML file.

use std::collections::HashMap;
use std::path::Path;

use super::marker_recording::{MarkerRecording, POINTS, Region};
use super::recorded_inputs::RecordedInputs;
use crate::Error;
use crate::model::domain;
use crate::soft::{SoftNumber, SoftParameter, SoftScene};
use crate::table::{self, Table};
use crate::trajectory::expand_all;

/// Most iterations of a stage, where nothing is said.
const ITERATIONS: usize = 50;
/// The standard deviation of the place of a marker or a point, where nothing is said (m).
const POSITION: f64 = 1e-3;
/// Recordings together have so many steps at most.
const MOST_STEPS: f64 = 1e7;

/// An experiment on a soft body.
#[derive(Clone, Debug)]
pub struct MarkerExperiment {
    /// The file it was read from.
    pub name: String,
    /// The scene, with one body.
    pub scene: SoftScene,
    /// What is searched for.
    pub parameters: Vec<MarkerParameter>,
    /// The recordings.
    pub recordings: Vec<MarkerRecording>,
    /// Standard deviation of the place of a marker or a point along each axis (m).
    pub noise: f64,
    /// Up to when recordings count, in one stage after the other (s after their first frame): in the first, of the flight, only
    /// starts are found; in the others, and then from all, parameters too. None: all at once.
    pub stages: Vec<f64>,
    /// Most iterations of a stage.
    pub iterations: usize,
}

/// A parameter to find.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkerParameter {
    /// Its name.
    pub name: String,
    /// The number of the scene.
    pub parameter: SoftParameter,
    /// Where the search starts.
    pub start: f64,
    /// The least value.
    pub lower: f64,
    /// The largest value.
    pub upper: f64,
    /// Whether its logarithm is searched for.
    pub log: bool,
}

impl MarkerExperiment {
    /// Reads an experiment whose scene has soft bodies; nothing if it has none. `data`: other recordings.
    ///
    /// # Errors
    /// If a file cannot be read, or is no such experiment: with line and field.
    pub fn load(path: impl AsRef<Path>, data: &[String]) -> Result<Option<Self>, Error> {
        let path = path.as_ref();
        // What is no file, such as a pipe, can be read only once: as what most experiments are.
        if !path.is_file() {
            return Ok(None);
        }
        let text = crate::text::read(path, crate::text::MOST_BYTES)?;
        let name = path.display().to_string();
        let document = table::parse(&text, &name)?;
        let root = Table::root(&text, &name, &document);
        // What is wrong with others is for the reader of others to say.
        let Ok(Some(file)) = root.string("scene") else { return Ok(None) };
        match SoftScene::load(root.directory().join(file))? {
            Some(scene) => read(&root, &name, scene, data).map(Some),
            None => Ok(None),
        }
    }
}

fn read(
    root: &Table,
    name: &str,
    scene: SoftScene,
    data: &[String],
) -> Result<MarkerExperiment, Error> {
    root.only(&[
        "scene",
        "data",
        "seen",
        "region",
        "columns",
        "inputs",
        "noise",
        "parameter",
        "stages",
        "iterations",
    ])?;
    if scene.bodies.len() != 1 {
        let message = format!(
            "must have one soft body: its markers or its surface are what is recorded, found {}",
            scene.bodies.len()
        );
        return Err(root.error("scene", message));
    }
    let body = &scene.bodies[0];
    let clouds = read_seen(root)?;
    if clouds.is_none() && body.markers.len() < 3 {
        let message = format!(
            "must have at least three markers on {:?}: write markers = {{ name = [x, y, z], .. }} in its scene, \
             or seen = \"points\" here if recordings are of its surface",
            body.name
        );
        return Err(root.error("scene", message));
    }
    if let Some(hold) = body.holds.iter().find(|hold| hold.carrier.is_some()) {
        let message = format!(
            "must have a soft body whose start is its own, which is found: {} ties {} to a rigid body",
            hold.name, body.name
        );
        return Err(root.error("scene", message));
    }
    let parameters = read_parameters(root, &scene)?;
    let noise = match root.table("noise")? {
        Some(table) => {
            table.only(&["position"])?;
            table.required("position", table.number("position")?)?
        }
        None => POSITION,
    };
    root.demand("noise.position", noise > 0.0, "must be positive", noise, "m")?;
    let stages = root.list("stages")?.unwrap_or_default();
    if !(stages.iter().all(|stage| *stage > 0.0) && stages.is_sorted_by(|a, b| a < b)) {
        return Err(root.error("stages", "must be times after the first frame (s), increasing"));
    }
    let iterations = root.count("iterations", 100_000)?.unwrap_or(ITERATIONS);
    let model = scene.rigid.as_deref().map(|rigid| &rigid.model);
    let markers = body.markers.iter().map(|marker| marker.name.as_str());
    let others: Vec<&str> = markers.chain(["t"]).collect();
    let inputs = RecordedInputs::read(root, model, &others)?;
    let told = |own: &&MarkerParameter| match (own.parameter.number, model) {
        (SoftNumber::RigidInput(input), Some(model)) => inputs.tell(input, model),
        _ => false,
    };
    if let Some(own) = parameters.iter().find(told) {
        let message = format!("name what {} is: it cannot be a [[parameter]] as well", own.name);
        return Err(root.error("inputs", message));
    }
    if clouds.is_some() && inputs.names().next().is_some() {
        let message = "are not for seen = \"points\", whose files have a row for each point";
        return Err(root.error("inputs", message));
    }
    let columns = read_columns(root, &scene, clouds.is_some(), &inputs)?;
    let mut patterns = data.to_vec();
    if data.is_empty() {
        let own = root.required("data", root.strings("data")?)?;
        let path = |pattern: &&str| root.directory().join(pattern).display().to_string();
        patterns.extend(own.iter().map(path));
    }
    let mut recordings = Vec::new();
    for file in expand_all(&patterns)? {
        let is = |kind: &str| file.extension().is_some_and(|own| own.eq_ignore_ascii_case(kind));
        if is("parquet") || is("mcap") {
            let message = "is no CSV: recordings of soft bodies are read from CSV alone";
            return Err(Error::input(file.display().to_string(), None, "", message));
        }
        let text = crate::text::read(&file, crate::text::MOST_BYTES)?;
        let file = file.display().to_string();
        let mut recording = match clouds {
            Some(region) => MarkerRecording::parse_clouds(&text, &file, &columns, region)?,
            None => MarkerRecording::parse(&text, &file, body, &columns)?,
        };
        recording.controls = inputs.of((&text, &file), &columns, model)?;
        recordings.push(recording);
    }
    if recordings.is_empty() {
        return Err(root.error("data", "names no recording"));
    }
    for (stage, recording) in stages.iter().flat_map(|s| recordings.iter().map(move |r| (s, r))) {
        let frames = recording.until(*stage).times.len();
        if frames < 2 || frames == recording.times.len() {
            let message = format!(
                "{stage} s must end between the second frame and the last, of {}",
                recording.name
            );
            return Err(root.error("stages", message));
        }
    }
    let steps = |recording: &MarkerRecording| {
        let duration = recording.times[recording.times.len() - 1] - recording.times[0];
        duration / scene.time_step
    };
    let steps: f64 = recordings.iter().map(steps).sum();
    if steps > MOST_STEPS {
        let message = format!("are {steps:.0} steps of {} s: are times in s?", scene.time_step);
        return Err(root.error("data", message));
    }
    Ok(MarkerExperiment {
        name: name.to_string(),
        scene,
        parameters,
        recordings,
        noise,
        stages,
        iterations,
    })
}

/// If recordings are of points of the surface, those of which count.
fn read_seen(root: &Table) -> Result<Option<Option<Region>>, Error> {
    let is_points = match root.string("seen")? {
        None | Some("markers") => false,
        Some("points") => true,
        Some(other) => {
            let message = format!("must be \"markers\" or \"points\", found {other:?}");
            return Err(root.error("seen", message));
        }
    };
    let Some([low, high]) = root.matrix::<2, 3>("region")? else {
        return Ok(is_points.then_some(None));
    };
    if !is_points {
        let message = "is of points of a surface: with it goes seen = \"points\"";
        return Err(root.error("region", message));
    }
    if (0..3).any(|k| low[k] >= high[k]) {
        let message = "must be two corners, [[x, y, z], [x, y, z]] (m), the second larger";
        return Err(root.error("region", message));
    }
    Ok(Some(Some([low, high])))
}

fn read_columns(
    root: &Table,
    scene: &SoftScene,
    clouds: bool,
    inputs: &RecordedInputs,
) -> Result<HashMap<String, Vec<String>>, Error> {
    let mut columns = HashMap::new();
    let Some(table) = root.table("columns")? else { return Ok(columns) };
    let names: Vec<&str> = match clouds {
        true => vec![POINTS.0],
        false => scene.bodies[0].markers.iter().map(|marker| marker.name.as_str()).collect(),
    };
    for field in table.fields() {
        let of_input = inputs.widths(field);
        let counts = of_input.unwrap_or(if field == "t" { &[1] } else { &[3] });
        if of_input.is_none() && field != "t" && !names.contains(&field) {
            let names: Vec<&str> = names.iter().copied().chain(inputs.names()).collect();
            let names = names.join(", ");
            let message = match clouds {
                true => format!("is not known; there are {names} and t"),
                false => format!("is no marker; there are {names}, and t"),
            };
            return Err(table.error(field, message));
        }
        let found: Vec<String> = match table.is_list(field) {
            true => {
                table.strings(field)?.unwrap_or_default().iter().map(|s| s.to_string()).collect()
            }
            false => table.string(field)?.iter().map(|s| s.to_string()).collect(),
        };
        if !counts.contains(&found.len()) {
            let message = match counts {
                [1] => "must be the name of a column",
                [3] => "must be the names of three columns, of x, y and z",
                _ => {
                    "must be the names of three columns, of x, y and z, or of seven, with those of qw, qx, qy and qz"
                }
            };
            return Err(table.error(field, message));
        }
        columns.insert(field.to_string(), found);
    }
    Ok(columns)
}

fn read_parameters(root: &Table, scene: &SoftScene) -> Result<Vec<MarkerParameter>, Error> {
    let all = scene.parameters();
    let of_start = |parameter: &SoftParameter| matches!(parameter.number, SoftNumber::Start(_));
    let mut found: Vec<MarkerParameter> = Vec::new();
    for mut table in root.tables("parameter")? {
        table.only(&["name", "start", "lower", "upper", "transform"])?;
        let name = table.required("name", table.string("name")?)?;
        table.path = format!("parameter.{name}");
        let known = all.iter().find(|(own, parameter)| own == name && !of_start(parameter));
        let Some((_, parameter)) = known else {
            let names = all.iter().filter(|(_, parameter)| !of_start(parameter));
            // Of learned terms one by one, they would be thousands.
            let names = names.map(|(name, _)| name.as_str());
            let names: Vec<&str> = names.filter(|name| !name.contains("/weights/")).collect();
            let message = format!(
                "is no parameter of the scene; there are {} (starts are found with them)",
                names.join(", ")
            );
            return Err(table.error("name", message));
        };
        if found.iter().any(|other| other.parameter == *parameter) {
            return Err(table.error("name", "is named twice"));
        }
        let clash = |own: &MarkerParameter| SoftScene::clash(own.parameter, *parameter);
        if found.iter().any(clash) {
            let message =
                "is told twice: find youngs_modulus and poisson_ratio, or lame_lambda and lame_mu";
            return Err(table.error("name", message));
        }
        let bounded = parameter.number == SoftNumber::PoissonRatio;
        let (least, largest) = match parameter.number {
            // How something is led may have any sign.
            SoftNumber::Hold(..)
            | SoftNumber::Pull(..)
            | SoftNumber::RigidVelocity(_)
            | SoftNumber::RigidInput(_)
            | SoftNumber::Scheduled(..) => (f64::NEG_INFINITY, f64::INFINITY),
            SoftNumber::RigidParameter(_) => domain(name),
            _ => (0.0, if bounded { 0.499 } else { f64::INFINITY }),
        };
        let signed = least < 0.0;
        let lower = table.number("lower")?.unwrap_or(least);
        let upper = table.number("upper")?.unwrap_or(largest);
        let demand = match signed {
            true => "must be below upper".to_string(),
            false => format!("must be from {least} to below upper"),
        };
        table.demand("lower", (least..upper).contains(&lower), &demand, lower, "")?;
        let inside = !matches!(parameter.number, SoftNumber::RigidParameter(_)) || upper <= largest;
        table.demand("upper", inside, &format!("must be at most {largest}"), upper, "")?;
        let most = if bounded { 0.5 } else { f64::INFINITY };
        table.demand("upper", !bounded || upper < most, "must be below 0.5", upper, "")?;
        let start = table.number("start")?.unwrap_or_else(|| scene.value(*parameter));
        let inside = (lower..=upper).contains(&start);
        let demand = format!("must be within {lower} and {upper}");
        table.demand("start", inside, &demand, start, "")?;
        let log = match table.string("transform")? {
            None => {
                let is_friction = matches!(parameter.number, SoftNumber::Friction(_));
                // Of rigid bodies what may be zero is searched as it is.
                let may_vanish =
                    matches!(parameter.number, SoftNumber::RigidParameter(_)) && least == 0.0;
                !bounded && start > 0.0 && !is_friction && !may_vanish && !signed
            }
            Some("log") => true,
            Some("none") => false,
            Some(other) => {
                let message = format!("must be \"log\" or \"none\", found {other:?}");
                return Err(table.error("transform", message));
            }
        };
        if log && start <= 0.0 {
            return Err(
                table.error("start", "must be positive where the logarithm is searched for")
            );
        }
        let parameter = *parameter;
        found.push(MarkerParameter { name: name.into(), parameter, start, lower, upper, log });
    }
    if found.is_empty() {
        return Err(root.error("parameter", "is missing: write [[parameter]] with a name"));
    }
    Ok(found)
}
