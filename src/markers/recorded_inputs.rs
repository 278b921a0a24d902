//! What led and drove rigid bodies beside a soft one in recordings of markers.

use std::collections::HashMap;

use crate::Error;
use crate::model::Model;
use crate::table::Table;
use crate::trajectory::{Controls, RecordingFile, input_named};

/// The numbers of a pose in files, of which the orientation may be left out.
const POSE: [&str; 7] = ["px", "py", "pz", "qw", "qx", "qy", "qz"];

/// Inputs of rigid bodies that recordings have.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RecordedInputs {
    /// Of each its name, and whether it is a body that is led along poses.
    all: Vec<(String, bool)>,
}

impl RecordedInputs {
    /// Reads `inputs` of an experiment, whose columns have these names besides.
    pub fn read(root: &Table, model: Option<&Model>, others: &[&str]) -> Result<Self, Error> {
        let mut all = Vec::new();
        let Some(names) = root.strings("inputs")? else { return Ok(RecordedInputs::default()) };
        let Some(model) = model else {
            let message = "are of rigid bodies, of which the scene has none";
            return Err(root.error("inputs", message));
        };
        for name in names {
            let body = model.bodies.iter().position(|body| body.name == name);
            let is_led = body.is_some_and(|body| model.is_prescribed(body));
            if !is_led && input_named(model, name).is_none() {
                let led = (0..model.bodies.len()).filter(|&body| model.is_prescribed(body));
                let mut known: Vec<&str> =
                    led.map(|body| model.bodies[body].name.as_str()).collect();
                let inputs = model.input_names();
                known.extend(inputs.iter().map(String::as_str));
                let message = format!(
                    "must be bodies with prescribed = true, and inputs, found {name:?}; there are {}",
                    known.join(", ")
                );
                return Err(root.error("inputs", message));
            }
            if all.iter().any(|(other, _)| other == name) {
                return Err(root.error("inputs", format!("names {name:?} twice")));
            }
            if others.contains(&name) {
                let message = format!(
                    "names {name:?}, which is a marker or the time: call one of them otherwise"
                );
                return Err(root.error("inputs", message));
            }
            all.push((name.to_string(), is_led));
        }
        Ok(RecordedInputs { all })
    }

    /// Whether an input of the rigid bodies is what recordings tell.
    pub fn tell(&self, input: usize, model: &Model) -> bool {
        self.all.iter().any(|(name, is_led)| match is_led {
            false => input_named(model, name) == Some(input),
            true => {
                let mut bodies = model.bodies.iter();
                bodies.find(|body| body.name == *name).is_some_and(|body| {
                    (body.joint.v..body.joint.v + body.joint.kind.nv()).contains(&input)
                })
            }
        })
    }

    /// How many columns `[columns]` may name for one: three or seven for a body.
    pub fn widths(&self, name: &str) -> Option<&'static [usize]> {
        let (_, is_led) = self.all.iter().find(|(own, _)| own == name)?;
        Some(if *is_led { &[3, 7] } else { &[1] })
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|(name, _)| name.as_str())
    }

    /// What they are in a recording, whose columns have these names; nothing if there are none.
    pub fn of(
        &self,
        (text, file): (&str, &str),
        columns: &HashMap<String, Vec<String>>,
        model: Option<&Model>,
    ) -> Result<Option<Controls>, Error> {
        let Some(model) = model.filter(|_| !self.all.is_empty()) else { return Ok(None) };
        let file = RecordingFile::parse(text, file)?;
        let mut names: Vec<(usize, String)> = Vec::new();
        let find = |column: &str| file.column(column, ": it is among the inputs of the experiment");
        let time = find(columns.get("t").and_then(|own| own.first()).map_or("t", String::as_str))?;
        names.push((time, "t".to_string()));
        for (own, is_led) in &self.all {
            let given = columns.get(own);
            if !is_led {
                let column = find(given.and_then(|all| all.first()).unwrap_or(own))?;
                names.push((column, own.clone()));
                continue;
            }
            let usual = |part: &&str| format!("{own}/{part}");
            let turns =
                POSE[3..].iter().map(usual).any(|name| file.columns().any(|own| own == name));
            let count = given.map_or(if turns { 7 } else { 3 }, Vec::len);
            let usual: Vec<String> = POSE[..count].iter().map(usual).collect();
            let first = names.len();
            for (column, what) in given.unwrap_or(&usual).iter().zip(&usual) {
                let place = find(column)?;
                if place == time || names[first..].iter().any(|(known, _)| *known == place) {
                    let message = format!(
                        "is named twice: for {what}, and for the time or another number of {own}"
                    );
                    return Err(file.header_error(column, message));
                }
                names.push((place, what.clone()));
            }
        }
        Controls::recorded(&file, &names, model).map(Some)
    }
}
