//! Inputs over time, as they were recorded.

use crate::Error;
use crate::identify::experiment::{Calibration, Experiment};
use crate::packed::packed;
use crate::trajectory::{Between, ColumnMap, RecordingFile, Signal};

/// An input of the steps, over the time of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct DrivenInput {
    /// Which [input of a step](crate::simulation::step) it is.
    pub place: usize,
    /// What was recorded, over the times of the simulation.
    pub signal: Signal,
    /// The parameters it is corrected by, if any.
    pub calibration: Option<Calibration>,
}

impl DrivenInput {
    /// When the time begins, s, of which a step of `duration` that begins at `time` has the mean. What is held is what a program sends from
    /// step to step. What changes on lines is a force of the world: there velocities of a step q+ = q + dt v+ are those of half a step
    /// before its end, which a force that acts from half a step before its begin on gives to second order (Verlet).
    pub(crate) fn begin(&self, time: f64, duration: f64) -> f64 {
        match self.signal.between() {
            Between::Held => time,
            Between::Linear => time - 0.5 * duration,
        }
    }

    /// Those in the columns of a file, by the times of the file.
    pub(super) fn find(
        experiment: &Experiment,
        file: &RecordingFile,
    ) -> Result<Vec<DrivenInput>, Error> {
        let model = &experiment.scene.model;
        let mut found = Vec::new();
        let mut taken = vec![false; model.input_names().len()];
        experiment.unused_inputs.iter().for_each(|&place| taken[place] = true);
        for input in &experiment.inputs {
            for (k, (&place, column)) in input.drives.iter().zip(&input.columns).enumerate() {
                let known = known(file, &experiment.columns, column, input.factor, input.between)?;
                let signal = known.ok_or_else(|| {
                    Error::input(
                        file.name(),
                        None,
                        column,
                        "has no number in any row: nothing drives the input",
                    )
                })?;
                taken[place] = true;
                found.push(DrivenInput { place, signal, calibration: Some(input.calibration(k)) });
            }
        }
        for (place, name) in model.input_names().iter().enumerate() {
            if !taken[place] && file.columns().any(|column| column == name) {
                let known = known(file, &experiment.columns, name, 1.0, Between::Held)?;
                // Archives have all inputs, most of which stay what the scene has.
                let own = experiment.scene.inputs[place];
                let driven = known.filter(|signal| signal.values().iter().any(|&x| x != own));
                found.extend(driven.map(|signal| DrivenInput { place, signal, calibration: None }));
            }
        }
        Ok(found)
    }

    /// The same by the times of the simulation: `times` of the file are there `clock`, in between in proportion.
    pub(super) fn retimed(mut self, times: &[f64], clock: &[f64]) -> DrivenInput {
        if times != clock {
            self.signal.retime(|time| {
                let last = times.len() - 1;
                let k = times.partition_point(|&known| known <= time).clamp(1, last.max(1));
                match (times.get(k), clock.get(k)) {
                    (Some(&to), Some(&clock_to)) if time > times[0] && time < times[last] => {
                        let share = (time - times[k - 1]) / (to - times[k - 1]);
                        clock[k - 1] + share * (clock_to - clock[k - 1])
                    }
                    _ if time <= times[0] => clock[0] + (time - times[0]),
                    _ => clock[last] + (time - times[last]),
                }
            });
        }
        self
    }
}

/// The signal in a column; nothing if no row has a number there.
fn known(
    file: &RecordingFile,
    map: &ColumnMap,
    column: &str,
    factor: f64,
    between: Between,
) -> Result<Option<Signal>, Error> {
    let rows = file.times(map)?.into_iter().zip(file.numbers(&[column])?);
    let known = rows.filter_map(|(time, row)| Some((time, factor * row[0]?)));
    Ok(Signal::new(known, between))
}

packed!(DrivenInput { place, signal, calibration });
