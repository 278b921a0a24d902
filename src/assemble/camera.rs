//! Cameras that look at a scene.

use nalgebra::Vector3;

use super::fault::{Fault, Owner};
use super::{CameraDescription, Description};
use crate::model::{Camera, Model};

/// The largest image, px along each side.
pub(crate) const LARGEST_IMAGE: usize = 8192;

/// Lengths of vectors of a camera, m.
const SHORTEST: f64 = 1e-9;
const LONGEST: f64 = 1e9;
/// The sine of the least angle between the view and what is up.
const PARALLEL: f64 = 1e-6;

impl Description {
    /// The cameras of a model that has its bodies.
    pub(super) fn cameras(&self, model: &Model) -> Result<Vec<Camera>, Fault> {
        let camera = |(index, described): (usize, &CameraDescription)| {
            let owner = Owner::Camera(index);
            let fault = |field: &'static str, message: String| Fault::new(owner, field, message);
            let body = match &described.body {
                None => None,
                Some(name) => {
                    let found = model.bodies.iter().position(|body| body.name == *name);
                    Some(found.ok_or_else(|| {
                        let known: Vec<&str> =
                            model.bodies.iter().map(|b| b.name.as_str()).collect();
                        let known = known.join(", ");
                        fault("body", format!("the scene has no body {name:?}; it has {known}"))
                    })?)
                }
            };
            let numbers = &described.numbers;
            if let Some(bad) = numbers.flat().iter().find(|x| !x.is_finite()) {
                return Err(fault(
                    "eye",
                    format!("and all other numbers must be finite, found {bad}"),
                ));
            }
            let ahead = Vector3::from(numbers.target) - Vector3::from(numbers.eye);
            let up = Vector3::from(numbers.up);
            if ahead.norm() == 0.0 {
                let message = "is where the eye is: say what it looks at".to_string();
                return Err(fault("target", message));
            }
            for (field, length) in [("target", ahead.norm()), ("up", up.norm())] {
                let met = (SHORTEST..LONGEST).contains(&length);
                let demand = "must make a vector of a length between 1e-9 and 1e9";
                Fault::unless(met, (owner, field), demand, length, "")?;
            }
            if ahead.normalize().cross(&up.normalize()).norm() < PARALLEL {
                let message =
                    "is along the view: name another direction that is up in the image".to_string();
                return Err(fault("up", message));
            }
            let met = 0.0 < numbers.fov_y && numbers.fov_y < std::f64::consts::PI;
            Fault::unless(met, (owner, "fov_y"), "must be between 0 and pi", numbers.fov_y, "rad")?;
            Fault::unless(
                numbers.aspect > 0.0,
                (owner, "aspect"),
                "must be positive",
                numbers.aspect,
                "",
            )?;
            for side in described.size {
                let met = (1..=LARGEST_IMAGE).contains(&side);
                let demand = format!("must be two whole numbers from 1 to {LARGEST_IMAGE}");
                Fault::unless(met, (owner, "size"), &demand, side as f64, "px")?;
            }
            Ok(Camera { name: described.name.clone(), body, size: described.size })
        };
        self.cameras.iter().enumerate().map(camera).collect()
    }
}
