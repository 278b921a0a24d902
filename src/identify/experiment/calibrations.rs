//! The numbers of what measures and of what is driven, which stand behind those of the scene.

use super::input::RecordedInput;
use super::sensor::Sensor;
use crate::Error;
use crate::model::{Model, ParameterRef};
use crate::table::Table;

/// Sensors and recorded inputs.
#[derive(Clone, Copy)]
pub(super) struct Calibrations<'a> {
    pub sensors: &'a [Sensor],
    pub inputs: &'a [RecordedInput],
}

impl Calibrations<'_> {
    /// The names of all their parameters, with their slots.
    pub fn parameters(&self) -> impl Iterator<Item = (String, usize)> {
        let of_sensors = self.sensors.iter().flat_map(Sensor::parameters);
        of_sensors.chain(self.inputs.iter().flat_map(RecordedInput::parameters))
    }

    /// The parameter of a name.
    pub fn parameter(&self, name: &str) -> Option<ParameterRef> {
        let (_, slot) = self.parameters().find(|(other, _)| other == name)?;
        Some(ParameterRef { slots: vec![slot] })
    }

    /// An error if two inputs are one, or two of all have one name.
    pub fn check(&self, root: &Table, model: &Model) -> Result<(), Error> {
        let names = model.input_names();
        let mut taken = vec![false; names.len()];
        for (k, input) in self.inputs.iter().enumerate() {
            let same = |other: &&RecordedInput| other.name == input.name;
            let sensor = self.sensors.iter().any(|sensor| sensor.name == input.name);
            if sensor || self.inputs[..k].iter().any(|other| same(&other)) {
                let message =
                    format!("{:?} is the name of two sensors or inputs; take another", input.name);
                return Err(root.error("input", message));
            }
            for &place in &input.drives {
                if std::mem::replace(&mut taken[place], true) {
                    let message =
                        format!("{} is given twice, in [columns] or by [[input]]", names[place]);
                    return Err(root.error("input", message));
                }
            }
        }
        Ok(())
    }
}
