//! How far off what is recorded is.

use std::collections::BTreeMap;

use crate::Error;
use crate::model::{JointKind, Model};
use crate::table::Table;

/// Standard deviations that weigh the residuals. Velocities count only where one is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Of positions (those of slides too), m, per axis.
    pub position: f64,
    /// Of orientations, per axis, and of the angles of hinges, rad.
    pub rotation: f64,
    /// Of linear velocities, m/s, per axis.
    pub velocity: Option<f64>,
    /// Of angular velocities, rad/s, per axis.
    pub angular_velocity: Option<f64>,
}

/// A millimetre and a hundredth of a radian.
impl Default for Noise {
    fn default() -> Noise {
        Noise { position: 0.001, rotation: 0.01, velocity: None, angular_velocity: None }
    }
}

impl Noise {
    /// The `[noise]` table, and the weights of joints that have their own.
    pub(crate) fn read(
        root: &Table,
        model: &Model,
    ) -> Result<(Noise, BTreeMap<usize, Noise>), Error> {
        let common = Noise::default();
        let Some(table) = root.table("noise")? else { return Ok((common, BTreeMap::new())) };
        table.only(&["position", "rotation_deg", "velocity", "angular_velocity", "joint"])?;
        let common = Noise::read_over(&table, common)?;
        let mut single = BTreeMap::new();
        let Some(joints) = table.table("joint")? else { return Ok((common, single)) };
        for name in joints.fields() {
            let moves = |kind: JointKind| kind.nv() > 0;
            let Some(body) =
                model.bodies.iter().position(|body| body.name == name && moves(body.joint.kind))
            else {
                let bodies = model.bodies.iter().filter(|body| moves(body.joint.kind));
                let known: Vec<&str> = bodies.map(|body| body.name.as_str()).collect();
                let message = format!("no body of this name moves; there are {}", known.join(", "));
                return Err(joints.error(name, message));
            };
            let own = joints.required(name, joints.table(name)?)?;
            own.only(&["position", "rotation_deg", "velocity", "angular_velocity"])?;
            let kind = model.bodies[body].joint.kind;
            let slides = kind.translations() > 0;
            let turns = kind.translations() < kind.nv();
            for (field, used) in [
                ("position", slides),
                ("velocity", slides),
                ("rotation_deg", turns),
                ("angular_velocity", turns),
            ] {
                if own.has(field) && !used {
                    let message = format!("has no meaning for a joint that is {}", kind.name());
                    return Err(own.error(field, message));
                }
            }
            single.insert(body, Noise::read_over(&own, common)?);
        }
        Ok((common, single))
    }

    /// What a table says, and otherwise `noise`.
    fn read_over(table: &Table, mut noise: Noise) -> Result<Noise, Error> {
        let positive = |field: &str| -> Result<Option<f64>, Error> {
            let value = table.number(field)?;
            let met = value.is_none_or(|x| x > 0.0);
            table.demand(field, met, "must be positive", value.unwrap_or(0.0), "")?;
            Ok(value)
        };
        noise.position = positive("position")?.unwrap_or(noise.position);
        noise.rotation = positive("rotation_deg")?.map_or(noise.rotation, f64::to_radians);
        noise.velocity = positive("velocity")?.or(noise.velocity);
        noise.angular_velocity = positive("angular_velocity")?.or(noise.angular_velocity);
        Ok(noise)
    }
}
