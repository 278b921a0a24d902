//! `stiction linearize` of soft bodies: how a motion changes with parameters and its start.
//!
//! | key | shape | content |
//! |---|---|---|
//! | `y` | (N + 1) x ny | of each body the centre of mass and its markers, places (m) and velocities (m/s) |
//! | `dy_dp` | (N + 1) x ny x np | how they change with the parameters, start included |
//! | `times` | N + 1 | s |
//! | `dt` | scalar | time step, s |
//! | `meta` | object | names, values, settings |

use std::path::Path;

use serde_json::{Map, Value, json};

use super::outcome::Outcome;
use super::output::{self, number};
use super::progress::Progress;
use super::whole_files;
use crate::Error;
use crate::npz::Npz;
use crate::soft::{SoftBody, SoftParameter, SoftScene, SoftTangents};

/// Changes when a reader of these files would have to.
const FORMAT_VERSION: u32 = 1;

/// A motion with its changes.
struct Sensitivities<'a> {
    scene: &'a SoftScene,
    outputs: Vec<String>,
    parameters: Vec<(String, SoftParameter)>,
    times: Vec<f64>,
    y: Vec<f64>,
    dy_dp: Vec<f64>,
    /// Steps that have no solution, or no derivative: at most the last one.
    unsolved: usize,
    worst_residual: f64,
}

/// Rolls out a scene and writes how the motion changes with the parameters of these names, or all.
pub(super) fn run(
    scene: &SoftScene,
    (path, steps): (&Path, usize),
    names: &[String],
    output: &Path,
    json: bool,
) -> Result<Outcome, Error> {
    for warning in &scene.warnings {
        output::warn(warning);
    }
    let is_archive = output.extension().is_some_and(|extension| extension == "npz");
    let mut found = Sensitivities {
        scene,
        outputs: scene.bodies.iter().flat_map(output_names).collect(),
        parameters: selected(scene, names)?,
        times: Vec::new(),
        y: Vec::new(),
        dy_dp: Vec::new(),
        unsolved: 0,
        worst_residual: 0.0,
    };
    let parameters: Vec<SoftParameter> = found.parameters.iter().map(|(_, own)| *own).collect();
    let mut tangents = SoftTangents::new(scene, &parameters);
    let mut progress = Progress::new(steps, json);
    let mut stopped = None;
    found.add(&tangents);
    for step in 1..=steps {
        match tangents.step() {
            Ok(report) => {
                found.worst_residual = found.worst_residual.max(report.worst.residual);
                found.add(&tangents);
            }
            Err(error) => {
                found.unsolved = 1;
                stopped = Some(error);
                break;
            }
        }
        progress.set(step);
    }
    drop(progress);
    let contents = if is_archive {
        found.to_npz().map_err(|error| Error::io(output, error))?
    } else {
        found.to_json().into_bytes()
    };
    whole_files::write_file(output, &contents)?;
    let [made, ny, np] = [found.times.len() - 1, found.outputs.len(), parameters.len()];
    if json {
        let mut object = output::json_head("linearize", 0, 1);
        object.insert("scene".into(), output::path(path));
        object.insert("steps".into(), made.into());
        object.insert("time_step".into(), number(scene.time_step));
        object.insert("shapes".into(), json!({"y": [made + 1, ny], "dy_dp": [made + 1, ny, np]}));
        object.insert("output_names".into(), found.outputs.clone().into());
        object.insert("parameter_names".into(), found.names().collect());
        object.insert("solver".into(), found.solver());
        object.insert("files".into(), vec![output::path(output)].into());
        output::print(&output::json_text(object));
    } else {
        let text =
            format!("{made} steps written to {}: y {ny}, dy_dp {ny} x {np} each", output.display());
        output::print(&text);
    }
    if let Some(error) = &stopped {
        output::warn(&format!("{error}: the file ends before it ({made} of {steps} steps)"));
    }
    Ok(if stopped.is_none() { Outcome::Done } else { Outcome::Failed })
}

/// The parameters of these names.
fn selected(scene: &SoftScene, names: &[String]) -> Result<Vec<(String, SoftParameter)>, Error> {
    let all = scene.parameters();
    match names.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["all"] => return Ok(all),
        ["none"] => return Ok(Vec::new()),
        _ => {}
    }
    let of = |name: &String| {
        all.iter().find(|(own, _)| own == name).cloned().ok_or_else(|| {
            let known: Vec<&str> = all.iter().map(|(own, _)| own.as_str()).collect();
            let message = format!("is no parameter; there are {}", known.join(", "));
            Error::input("--parameters", None, name, message)
        })
    };
    names.iter().map(of).collect()
}

const COLUMNS: [&str; 6] = ["px", "py", "pz", "vx", "vy", "vz"];

fn output_names(body: &SoftBody) -> Vec<String> {
    let markers = body.markers.iter().map(|marker| format!("{}/{}", body.name, marker.name));
    let points = std::iter::once(body.name.clone()).chain(markers);
    points.flat_map(|point| COLUMNS.map(|column| format!("{point}/{column}"))).collect()
}

/// Centre of mass and markers: places and velocities, or their changes.
fn outputs(body: &SoftBody, x: &[[f64; 3]], v: &[[f64; 3]]) -> Vec<f64> {
    let centre = [body.mean(x), body.mean(v)];
    let markers = body.markers.iter().flat_map(|marker| [x[marker.node], v[marker.node]]);
    centre.into_iter().chain(markers).flatten().collect()
}

impl Sensitivities<'_> {
    /// What there is now.
    fn add(&mut self, tangents: &SoftTangents) {
        self.times.push(self.times.len() as f64 * self.scene.time_step);
        let np = self.parameters.len();
        for (body, (own, state)) in
            self.scene.bodies.iter().zip(tangents.rollout.states()).enumerate()
        {
            let y = outputs(own, &state.position, &state.velocity);
            let first = self.dy_dp.len();
            self.dy_dp.resize(first + y.len() * np, 0.0);
            for (column, mine) in tangents.columns(body).enumerate() {
                let Some((x, v)) = mine else { continue };
                for (row, change) in outputs(own, x, v).into_iter().enumerate() {
                    self.dy_dp[first + row * np + column] = change;
                }
            }
            self.y.extend(y);
        }
    }

    fn names(&self) -> impl Iterator<Item = Value> {
        self.parameters.iter().map(|(name, _)| name.clone().into())
    }

    fn solver(&self) -> Value {
        json!({
            "name": self.scene.law.name(),
            "unsolved": self.unsolved,
            "worst_residual": number(self.worst_residual),
        })
    }

    fn meta(&self) -> Value {
        let values = self.parameters.iter().map(|(_, own)| number(self.scene.value(*own)));
        json!({
            "program": "stiction",
            "version": env!("CARGO_PKG_VERSION"),
            "format": "stiction sensitivities",
            "format_version": FORMAT_VERSION,
            "scene": self.scene.name,
            "steps": self.times.len() - 1,
            "time_step": self.scene.time_step,
            "conventions": "dy_dp[k, i, j] is the derivative of y[k, i] by parameter j, which is held for the whole motion; \
                            numbers of the start are those of the frame of the mesh, angular velocities along its axes; \
                            SI units",
            "output_names": self.outputs,
            "parameter_names": self.names().collect::<Value>(),
            "parameter_values": values.collect::<Value>(),
            "solver": self.solver(),
        })
    }

    fn to_json(&self) -> String {
        let (ny, np) = (self.outputs.len(), self.parameters.len());
        let rows = |x: &[f64], width: usize| -> Value {
            x.chunks(width.max(1))
                .map(|row| row.iter().copied().map(number).collect::<Value>())
                .collect()
        };
        let steps = self.dy_dp.chunks((ny * np).max(1));
        let mut object = Map::new();
        object.insert("times".into(), self.times.clone().into());
        object.insert("dt".into(), self.scene.time_step.into());
        object.insert("y".into(), rows(&self.y, ny));
        object.insert("dy_dp".into(), steps.map(|step| rows(step, np)).collect());
        object.insert("meta".into(), self.meta());
        Value::Object(object).to_string() + "\n"
    }

    fn to_npz(&self) -> std::io::Result<Vec<u8>> {
        let [n, ny, np] = [self.times.len(), self.outputs.len(), self.parameters.len()];
        let mut archive = Npz::new();
        archive.add("times", &[n], &self.times)?;
        archive.add("dt", &[], &[self.scene.time_step])?;
        archive.add("y", &[n, ny], &self.y)?;
        archive.add("dy_dp", &[n, ny, np], &self.dy_dp)?;
        archive.add_bytes("meta", self.meta().to_string().as_bytes())?;
        archive.finish()
    }
}
