//! What measures, other than the columns of the state: with a delay, a gain and a bias of its own.

use nalgebra::{Matrix3, Vector3};

use super::step_load::{LoadedSolid, StepLoad, untold_joint};
use crate::Error;
use crate::ad::Real;
use crate::model::{Joint, Model, Parameters, TendonPath, Transmission};
use crate::spatial::rotation_matrix;
use crate::state::unit_quaternion;
use crate::table::Table;
use crate::trajectory::{Quantity, in_si, quantity_of};

/// What a sensor reads.
#[derive(Clone, Debug, PartialEq)]
pub enum Reading {
    /// The position in the world of a point of a body: x, y, z, m.
    Marker {
        /// The body.
        body: usize,
    },
    /// Numbers of the configuration that are not of a quaternion, and velocities.
    Numbers(Vec<StateNumber>),
    /// The angular velocity of a body along the axes of the sensor, rad/s.
    Gyroscope {
        /// The body.
        body: usize,
    },
    /// The acceleration of a point of a body less gravity, along the axes of the sensor, m/s².
    Accelerometer {
        /// The body.
        body: usize,
    },
    /// What acts in a step, N or N m: contact forces on a body along the axes of the sensor, others along those of the world.
    Load(StepLoad),
    /// The force or torque of an actuator on its joint.
    Effort {
        /// The actuator.
        actuator: usize,
    },
}

impl Reading {
    /// Whether it is of a point with a place in its body.
    fn has_place(&self) -> bool {
        matches!(self, Reading::Marker { .. } | Reading::Accelerometer { .. })
    }

    /// Whether it is of a direction in its body.
    fn has_axes(&self) -> bool {
        match self {
            Reading::Gyroscope { .. } | Reading::Accelerometer { .. } => true,
            Reading::Load(load) => matches!(load, StepLoad::Contacts(LoadedSolid::Body(_))),
            Reading::Marker { .. } | Reading::Numbers(_) | Reading::Effort { .. } => false,
        }
    }

    /// Whether it is of what happens around a time, not only of the state then.
    fn is_of_motion(&self) -> bool {
        matches!(self, Reading::Accelerometer { .. } | Reading::Load(_))
    }
}

/// A number of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateNumber {
    /// Of the configuration, by its place there.
    Q(usize),
    /// A velocity, by its place there.
    V(usize),
}

/// A sensor. What it gives at time t is gain * reading(t - delay) + bias, each channel with a bias of its own.
///
/// Delay, gain, biases and, of a marker, its position in the body are parameters: they stand behind those of
/// the scene, in this order.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensor {
    /// Its name, with which those of its parameters begin.
    pub name: String,
    /// What it reads.
    pub reads: Reading,
    /// The columns of the recordings that hold its channels.
    pub columns: Vec<String>,
    /// The rotation from the axes of the sensor to those of its body.
    pub axes: Matrix3<f64>,
    /// How much of our unit one of the recordings is.
    pub factor: f64,
    /// What the biases of the channels are called.
    labels: Vec<String>,
    /// What its channels measure, where that has a unit.
    quantities: Vec<Option<Quantity>>,
    /// Standard deviation of a channel, in its units.
    pub noise: f64,
    /// The least and the largest delay it can have, s. Readings that might be of a time before the start of a
    /// window are left out.
    pub delay_range: [f64; 2],
    /// Where its parameters start.
    first: usize,
}

// Of a sensor.
const DELAY: usize = 0;
const GAIN: usize = 1;
const BIAS: usize = 2;

const XYZ: [&str; 3] = ["x", "y", "z"];

impl Sensor {
    /// How many numbers it gives.
    pub fn channels(&self) -> usize {
        self.labels.len()
    }

    /// The name of channel `k`.
    pub fn channel(&self, k: usize) -> String {
        match self.labels.as_slice() {
            [_] => self.name.clone(),
            labels => format!("{}/{}", self.name, labels[k]),
        }
    }

    /// What channel `k` measures, if that has a unit.
    pub(crate) fn quantity(&self, k: usize) -> Option<Quantity> {
        self.quantities.get(k).copied().flatten()
    }

    /// The names of its parameters with their slots: `camera/delay`, `camera/gain`, `camera/bias/x` (of a single
    /// channel `encoder/bias`), `camera/position/x`.
    pub fn parameters(&self) -> Vec<(String, usize)> {
        let name = &self.name;
        let mut all = vec![format!("{name}/delay"), format!("{name}/gain")];
        match self.labels.as_slice() {
            [_] => all.push(format!("{name}/bias")),
            labels => all.extend(labels.iter().map(|label| format!("{name}/bias/{label}"))),
        }
        if self.reads.has_place() {
            all.extend(XYZ.map(|axis| format!("{name}/position/{axis}")));
        }
        all.into_iter().enumerate().map(|(k, name)| (name, self.first + k)).collect()
    }

    /// Whether what it reads is of several steps.
    pub fn needs_steps(&self) -> bool {
        self.is_delayed() || self.reads.is_of_motion()
    }

    /// How many steps before a time and after it it takes to read it.
    pub(crate) fn steps_around(&self) -> [usize; 2] {
        match self.reads {
            Reading::Accelerometer { .. } | Reading::Load(StepLoad::Joint(_)) => [1, 1],
            // Of the step that begins then.
            Reading::Load(StepLoad::Contacts(_)) => [0, 1],
            _ => [0, 0],
        }
    }

    /// Whether it reads a vector along the axes of the world.
    pub(crate) fn is_along_the_world(&self) -> bool {
        let load = self.load();
        load.is_some_and(|load| load.channels() == 3) && !self.reads.has_axes()
    }

    /// What it reads of what acts in steps, if it does.
    pub(crate) fn load(&self) -> Option<StepLoad> {
        match self.reads {
            Reading::Load(load) => Some(load),
            _ => None,
        }
    }

    /// Whether it can read late or early.
    pub fn is_delayed(&self) -> bool {
        self.delay_range != [0.0; 2]
    }

    /// Whether it reads a number of the state, which then has no residual of its own.
    pub(crate) fn reads(&self, number: StateNumber) -> bool {
        matches!(&self.reads, Reading::Numbers(numbers) if numbers.contains(&number))
    }

    /// Its delay, s.
    pub(crate) fn delay<T: Real>(&self, parameters: &Parameters<T>) -> T {
        parameters.values[self.first + DELAY]
    }

    /// What channel `k` gives for what it reads.
    pub(crate) fn output<T: Real>(&self, parameters: &Parameters<T>, k: usize, reading: T) -> T {
        let number = |k: usize| parameters.values[self.first + k];
        number(GAIN) * reading + number(BIAS + k)
    }

    /// The place of what it is fixed on its body by, m.
    pub(crate) fn position<T: Real>(&self, parameters: &Parameters<T>) -> Vector3<T> {
        let number = |k: usize| parameters.values[self.first + BIAS + self.channels() + k];
        Vector3::new(number(0), number(1), number(2))
    }

    /// Reads a `[[sensor]]` table. The numbers it gives are pushed to `parameters`, behind those of the scene.
    pub(crate) fn read(
        table: &Table,
        model: &Model,
        parameters: &mut Parameters<f64>,
    ) -> Result<Sensor, Error> {
        table.only(&[
            "name",
            "marker",
            "reads",
            "gyroscope",
            "accelerometer",
            "contact_force",
            "joint_load",
            "effort",
            "columns",
            "unit",
            "position",
            "orientation",
            "noise",
            "delay",
            "gain",
            "bias",
        ])?;
        let name = table.required("name", table.string("name")?)?.to_string();
        let (reads, labels, quantities) = what(table, model)?;
        let columns: Vec<String> = match (table.strings("columns")?, &reads, &labels[..]) {
            (Some(columns), _, _) => columns.into_iter().map(String::from).collect(),
            (None, Reading::Numbers(_), _) => {
                let names = table.strings("reads")?.unwrap_or_default();
                names.into_iter().map(String::from).collect()
            }
            (None, _, [_]) => vec![name.clone()],
            (None, _, labels) => labels.iter().map(|label| format!("{name}/{label}")).collect(),
        };
        if columns.len() != labels.len() {
            let message = format!(
                "must be a list of {}, one for each of {}, found {}",
                labels.len(),
                labels.join(", "),
                columns.len()
            );
            return Err(table.error("columns", message));
        }
        let mut factor = 1.0;
        if let Some(unit) = table.string("unit")? {
            for &quantity in quantities.iter().flatten() {
                factor = in_si(unit, quantity).map_err(|message| table.error("unit", message))?;
            }
        }
        let noise = table.required("noise", table.number("noise")?)?;
        table.demand("noise", noise > 0.0, "must be positive", noise, "")?;
        let noise = noise * factor;
        let bias = table.list("bias")?.unwrap_or_else(|| vec![0.0; labels.len()]);
        if bias.len() != labels.len() {
            let message = format!("must be a list of {}, found {}", labels.len(), bias.len());
            return Err(table.error("bias", message));
        }
        let delay = table.number("delay")?.unwrap_or(0.0);
        let position = table.numbers::<3>("position")?;
        let first = parameters.values.len();
        parameters.values.extend([delay, table.number("gain")?.unwrap_or(1.0)]);
        parameters.values.extend(bias);
        if reads.has_place() {
            parameters.values.extend(position.unwrap_or([0.0; 3]));
        } else if position.is_some() {
            return Err(table.error("position", "is of markers and accelerometers only"));
        }
        let turn = table.numbers::<4>("orientation")?;
        if turn.is_some() && !reads.has_axes() {
            return Err(table.error(
                "orientation",
                "is of gyroscopes, accelerometers and contact forces on bodies only",
            ));
        }
        let turn = unit_quaternion(turn.unwrap_or([1.0, 0.0, 0.0, 0.0])).map_err(|norm| {
            let message = format!("must be a quaternion w x y z of norm 1, its norm is {norm}");
            table.error("orientation", message)
        })?;
        let axes = rotation_matrix(turn);
        let delay_range = [delay; 2];
        let sensor = Sensor {
            name,
            reads,
            columns,
            axes,
            factor,
            labels,
            quantities,
            noise,
            delay_range,
            first,
        };
        let taken =
            sensor.parameters().into_iter().find(|(name, _)| model.parameter(name).is_some());
        if let Some((taken, _)) = taken {
            let message = format!("the scene has a {taken} already; take another name");
            return Err(table.error("name", message));
        }
        Ok(sensor)
    }

    /// Moves its parameters on by so many slots.
    pub(super) fn shift(&mut self, slots: usize) {
        self.first += slots;
    }

    /// The slot of its delay.
    pub(crate) fn delay_slot(&self) -> usize {
        self.first + DELAY
    }
}

/// What a sensor reads, what its channels are called, and what they measure.
type What = (Reading, Vec<String>, Vec<Option<Quantity>>);

/// What a `[[sensor]]` says of that.
fn what(table: &Table, model: &Model) -> Result<What, Error> {
    const KINDS: [&str; 7] =
        ["marker", "reads", "gyroscope", "accelerometer", "contact_force", "joint_load", "effort"];
    let mut given = KINDS.into_iter().filter(|kind| table.has(kind));
    let (Some(kind), None) = (given.next(), given.next()) else {
        let message = "takes a body, for a point fixed on it; `gyroscope`, `accelerometer` and `joint_load` take a body, too, \
                       `contact_force` a body, a half-space or a contact pair, `effort` an actuator, and `reads` the names of \
                       numbers of the state, such as [\"lid/q\"]; one of these";
        return Err(table.error("marker", message));
    };
    if kind == "reads" {
        let names = table.strings("reads")?.unwrap_or_default();
        let (mut numbers, mut quantities) = (Vec::new(), Vec::new());
        for name in &names {
            let number =
                find_number(model, name).map_err(|message| table.error("reads", message))?;
            if numbers.contains(&number) {
                return Err(table.error("reads", format!("{name} is named twice")));
            }
            numbers.push(number);
            quantities.push(quantity_of(model, name));
        }
        if numbers.is_empty() {
            return Err(table.error("reads", "names nothing"));
        }
        let label = |name: &&str| name.rsplit('/').next().unwrap_or(name).to_string();
        return Ok((Reading::Numbers(numbers), names.iter().map(label).collect(), quantities));
    }
    let name = table.required(kind, table.string(kind)?)?;
    let xyz = |quantity| (XYZ.map(String::from).to_vec(), vec![Some(quantity); 3]);
    if kind == "contact_force" {
        let on = LoadedSolid::named(model, name).map_err(|message| table.error(kind, message))?;
        if !on.can_touch(model) {
            return Err(
                table.error(kind, format!("{name} has no shapes, so that nothing touches it"))
            );
        }
        let (labels, quantities) = xyz(Quantity::Force);
        return Ok((Reading::Load(StepLoad::Contacts(on)), labels, quantities));
    }
    let known: Vec<&str> = match kind {
        "effort" => model.actuators.iter().map(|actuator| actuator.name.as_str()).collect(),
        _ => model.bodies.iter().map(|body| body.name.as_str()).collect(),
    };
    let found = known.iter().position(|other| *other == name).ok_or_else(|| {
        let what = if kind == "effort" { "actuator" } else { "body" };
        let message = format!("the scene has no {what} {name:?}; it has {}", known.join(", "));
        table.error(kind, message)
    })?;
    let of_body = |reading, (labels, quantities)| (reading, labels, quantities);
    Ok(match kind {
        "gyroscope" => of_body(Reading::Gyroscope { body: found }, xyz(Quantity::AngularSpeed)),
        "accelerometer" => {
            of_body(Reading::Accelerometer { body: found }, xyz(Quantity::Acceleration))
        }
        "effort" => {
            // The force on a tendon of joints is that on a joint whose coefficient is 1.
            let turns = match model.actuators[found].drives {
                Transmission::Joint(body) => model.bodies[body].joint.kind.turns(),
                Transmission::Tendon(tendon) => match &model.tendons[tendon].path {
                    TendonPath::Joints(bodies) => model.bodies[bodies[0]].joint.kind.turns(),
                    TendonPath::Points(_) => false,
                },
            };
            let quantity = if turns { Quantity::Torque } else { Quantity::Force };
            (Reading::Effort { actuator: found }, vec![name.to_string()], vec![Some(quantity)])
        }
        "joint_load" => {
            if let Some(why) = untold_joint(model, found) {
                return Err(table.error(kind, format!("{name} {why}")));
            }
            let turns = model.bodies[found].joint.kind.turns();
            let quantity = if turns { Quantity::Torque } else { Quantity::Force };
            let reads = Reading::Load(StepLoad::Joint(found));
            (reads, vec![name.to_string()], vec![Some(quantity)])
        }
        _ => of_body(Reading::Marker { body: found }, xyz(Quantity::Length)),
    })
}

/// The number of the state that a name stands for.
fn find_number(model: &Model, name: &str) -> Result<StateNumber, String> {
    let place = |names: Vec<String>| names.iter().position(|other| other == name);
    if let Some(k) = place(model.velocity_names()) {
        return Ok(StateNumber::V(k));
    }
    let Some(k) = place(model.configuration_names()) else {
        let [q, v] = [model.configuration_names(), model.velocity_names()];
        return Err(format!(
            "there is no number {name:?}; there are {}",
            [q, v].concat().join(", ")
        ));
    };
    match joint_of(model, k) {
        Some((joint, part)) if quaternion(joint, part) => Err(format!(
            "{name} is a part of a quaternion, which a sensor cannot read; leave it to its own columns"
        )),
        _ => Ok(StateNumber::Q(k)),
    }
}

/// The joint a number of the configuration belongs to, and its place there.
fn joint_of(model: &Model, k: usize) -> Option<(&Joint, usize)> {
    let joints = model.bodies.iter().map(|body| &body.joint);
    let mut own = joints.filter(|joint| joint.kind.coordinates().is_some());
    own.find_map(|joint| {
        let numbers = joint.kind.coordinates()?.nq();
        (joint.q..joint.q + numbers).contains(&k).then(|| (joint, k - joint.q))
    })
}

fn quaternion(joint: &Joint, part: usize) -> bool {
    let coordinates = joint.kind.coordinates().and_then(|coordinates| coordinates.quaternion());
    coordinates.is_some_and(|(first, _)| part >= first)
}

/// The hinge whose angle is a number of the configuration and can be told up to whole turns only.
pub(crate) fn hinge(model: &Model, k: usize) -> Option<&Joint> {
    joint_of(model, k).map(|(joint, _)| joint).filter(|joint| joint.kind.comes_round())
}
