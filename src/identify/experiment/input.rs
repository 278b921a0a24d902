//! Recorded inputs: forces and controls over time, with a delay, a gain and a bias of their own.

use crate::Error;
use crate::model::{Model, Parameters};
use crate::packed::packed;
use crate::table::Table;
use crate::trajectory::{Between, in_si, input_named, known_inputs, quantity_of};

/// Recorded inputs of the steps. At time t each is gain * recorded(t - delay) + bias, with a bias of its own.
///
/// Delay, gain and biases are parameters: they stand behind those of the scene and of sensors before it.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedInput {
    /// Its name, with which those of its parameters begin.
    pub name: String,
    /// Which [inputs of a step](crate::simulation::step) it is.
    pub drives: Vec<usize>,
    /// The columns of the recordings that hold them.
    pub columns: Vec<String>,
    /// How much of our unit one of the recordings is.
    pub factor: f64,
    /// What it is between rows.
    pub between: Between,
    /// What the biases are called.
    labels: Vec<String>,
    /// Where its parameters start.
    first: usize,
}

/// Where the parameters of an input are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calibration {
    /// How much later it acts than it was recorded, s.
    pub delay: usize,
    /// What it is multiplied by.
    pub gain: usize,
    /// What is added then.
    pub bias: usize,
}

impl RecordedInput {
    /// Where the parameters of its channel `k` are.
    pub fn calibration(&self, k: usize) -> Calibration {
        Calibration { delay: self.first, gain: self.first + 1, bias: self.first + 2 + k }
    }

    /// The names of its parameters with their slots: `hand/delay`, `hand/gain`, `hand/bias/fx` (of a single channel `hand/bias`).
    pub fn parameters(&self) -> Vec<(String, usize)> {
        let name = &self.name;
        let mut all = vec![format!("{name}/delay"), format!("{name}/gain")];
        match self.labels.as_slice() {
            [_] => all.push(format!("{name}/bias")),
            labels => all.extend(labels.iter().map(|label| format!("{name}/bias/{label}"))),
        }
        all.into_iter().enumerate().map(|(k, name)| (name, self.first + k)).collect()
    }

    /// Moves its parameters on by so many slots.
    pub(super) fn shift(&mut self, slots: usize) {
        self.first += slots;
    }

    /// One input in a column, as `[columns]` says it.
    pub(super) fn single(
        name: &str,
        place: usize,
        (column, between, factor): (&str, Between, f64),
        parameters: &mut Parameters<f64>,
    ) -> RecordedInput {
        let first = parameters.values.len();
        parameters.values.extend([0.0, 1.0, 0.0]);
        RecordedInput {
            name: name.to_string(),
            drives: vec![place],
            columns: vec![column.to_string()],
            factor,
            between,
            labels: vec![String::new()],
            first,
        }
    }

    /// Reads an `[[input]]` table. Its numbers are pushed to `parameters`.
    pub(super) fn read(
        table: &Table,
        model: &Model,
        parameters: &mut Parameters<f64>,
    ) -> Result<RecordedInput, Error> {
        table.only(&["name", "drives", "columns", "unit", "between", "delay", "gain", "bias"])?;
        let name = table.required("name", table.string("name")?)?.to_string();
        let names = table.required("drives", table.strings("drives")?)?;
        if names.is_empty() {
            return Err(table.error("drives", "names nothing"));
        }
        let mut drives = Vec::new();
        let mut factor = 1.0;
        for known in &names {
            let place = input_named(model, known).ok_or_else(|| unknown(table, model, known))?;
            if drives.contains(&place) {
                return Err(table.error("drives", format!("{known} is named twice")));
            }
            drives.push(place);
            if let Some(unit) = table.string("unit")? {
                let quantity = quantity_of(model, known);
                let quantity = quantity.ok_or_else(|| unknown(table, model, known))?;
                factor = in_si(unit, quantity).map_err(|message| table.error("unit", message))?;
            }
        }
        let columns = table.strings("columns")?.unwrap_or_else(|| names.clone());
        if columns.len() != names.len() {
            let message = format!(
                "must be a list of {}, one for each of {}, found {}",
                names.len(),
                names.join(", "),
                columns.len()
            );
            return Err(table.error("columns", message));
        }
        let bias = table.list("bias")?.unwrap_or_else(|| vec![0.0; names.len()]);
        if bias.len() != names.len() {
            let message = format!("must be a list of {}, found {}", names.len(), bias.len());
            return Err(table.error("bias", message));
        }
        let short: Vec<&str> =
            names.iter().map(|name| name.rsplit('/').next().unwrap_or(name)).collect();
        let unique = (1..short.len()).all(|k| !short[..k].contains(&short[k]));
        let labels = if unique { short } else { names };
        let first = parameters.values.len();
        let delay = table.number("delay")?.unwrap_or(0.0);
        parameters.values.extend([delay, table.number("gain")?.unwrap_or(1.0)]);
        parameters.values.extend(bias);
        let input = RecordedInput {
            name,
            drives,
            columns: columns.into_iter().map(String::from).collect(),
            factor,
            between: between(table)?,
            labels: labels.into_iter().map(String::from).collect(),
            first,
        };
        let taken =
            input.parameters().into_iter().find(|(name, _)| model.parameter(name).is_some());
        match taken {
            None => Ok(input),
            Some((taken, _)) => {
                let message = format!("the scene has a {taken} already; take another name");
                Err(table.error("name", message))
            }
        }
    }
}

/// What a table says of the time between rows.
pub(super) fn between(table: &Table) -> Result<Between, Error> {
    match table.string("between")? {
        None | Some("held") => Ok(Between::Held),
        Some("linear") => Ok(Between::Linear),
        Some(other) => {
            Err(table.error("between", format!("must be \"held\" or \"linear\", found {other:?}")))
        }
    }
}

fn unknown(table: &Table, model: &Model, name: &str) -> Error {
    table.error("drives", format!("{name} is no input of the scene; {}", known_inputs(model)))
}

packed!(Calibration { delay, gain, bias });
