//! Inputs and parameters that are asked for by their names.

use std::collections::HashMap;

use super::{Model, ParameterRef};
use crate::Error;

impl Model {
    /// The inputs that are u if none are named: velocities that are prescribed and the controls of actuators, of a model without
    /// either all generalised forces.
    pub fn default_inputs(&self) -> Vec<usize> {
        let (nv, nu) = (self.nv(), self.actuators.len());
        let prescribed = (0..nv).filter(|&v| self.is_prescribed_velocity(v));
        let controls: Vec<usize> = prescribed.chain(nv..nv + nu).collect();
        if controls.is_empty() { (0..nv).collect() } else { controls }
    }

    /// The inputs called `names`, see [`input_names`](Self::input_names); three names stand for many: `controls`, `forces`,
    /// `all`. `scene` is named in messages.
    ///
    /// # Errors
    /// If there is no such input, or one is named twice.
    pub fn inputs_named(&self, names: &[String], scene: &str) -> Result<Vec<usize>, Error> {
        let known = self.input_names();
        let mut inputs = Vec::new();
        for name in names {
            match name.as_str() {
                "controls" => {
                    inputs.extend((0..self.nv()).filter(|&v| self.is_prescribed_velocity(v)));
                    inputs.extend(self.nv()..known.len());
                }
                "forces" => {
                    inputs.extend((0..self.nv()).filter(|&v| !self.is_prescribed_velocity(v)));
                }
                "all" => inputs.extend(0..known.len()),
                _ => {
                    inputs.push(known.iter().position(|other| other == name).ok_or_else(|| {
                        Error::unknown_name(scene, name, "is no input", (name, &known))
                            .with_remark("; or take \"controls\", \"forces\", \"all\"")
                    })?)
                }
            }
        }
        for (k, input) in inputs.iter().enumerate() {
            if inputs[..k].contains(input) {
                return Err(Error::input(scene, None, &known[*input], "is named twice"));
            }
        }
        Ok(inputs)
    }

    /// The learned term whose weights are called `name`: `cam/weights`.
    pub fn weights_named(&self, name: &str) -> Option<usize> {
        let owner = name.strip_suffix("/weights")?;
        self.learned.iter().position(|term| term.name == owner)
    }

    /// Names of parameters, where `cam/weights` stands for all weights of a learned term.
    pub fn with_weights_named(&self, names: &[String]) -> Vec<String> {
        let each = |name: &String| match self.weights_named(name) {
            Some(term) => {
                let count = self.learned[term].network.weights();
                (0..count).map(|k| format!("{name}/{k}")).collect()
            }
            None => vec![name.clone()],
        };
        names.iter().flat_map(each).collect()
    }

    /// The parameters called `names`, see [`parameter`](Self::parameter). `scene` is named in messages.
    ///
    /// # Errors
    /// If there is no such parameter, or a number of the scene is named twice.
    pub fn parameters_named(
        &self,
        names: &[String],
        scene: &str,
    ) -> Result<Vec<ParameterRef>, Error> {
        let parameter = self.parameter_finder();
        let find = |name: &String| {
            parameter(name).ok_or_else(|| {
                let known = self.told_parameter_names();
                Error::unknown_name(scene, name, "is no parameter", (name, &known))
            })
        };
        let found = names.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        let mut owners: HashMap<usize, &String> = HashMap::new();
        for (name, parameter) in names.iter().zip(&found) {
            for &slot in &parameter.slots {
                let Some(other) = owners.insert(slot, name) else { continue };
                let message = match other == name {
                    true => "is named twice".to_string(),
                    false => format!("shares a number with {other}, which is named too; name one"),
                };
                return Err(Error::input(scene, None, name, message));
            }
        }
        Ok(found)
    }
}
