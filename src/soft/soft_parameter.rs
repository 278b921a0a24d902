//! The numbers of a scene of soft bodies that one may differentiate in, and their names.

use super::input_schedule::InputSchedule;
use super::mixed_derivative::{Asked, MixedChange};
use super::schedule;
use super::soft_cable::SoftCable;
use super::soft_hold::{HoldNumber, SoftHold};
use super::soft_scene::{SoftBody, SoftScene};
use super::soft_start::SoftStart;
use crate::ad::Dual;
use crate::fem::SolidMaterial;
use crate::implicit::{CableKind, StepChange};
use crate::model::{ParameterRef, domain};

/// A number of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SoftParameter {
    /// Which body.
    pub body: usize,
    /// Which of its numbers.
    pub number: SoftNumber,
}

/// Which number of a body. What is of a pair is that with a half-space or another shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SoftNumber {
    /// Young's modulus (Pa), at the same Poisson's ratio.
    YoungsModulus,
    /// Poisson's ratio, at the same Young's modulus.
    PoissonRatio,
    /// Lamé's first parameter (Pa).
    LameLambda,
    /// Lamé's second parameter (Pa).
    LameMu,
    /// Pa s
    Viscosity,
    /// kg/m³
    Density,
    /// Coefficient of friction.
    Friction(usize),
    /// N/m, or N/m³ by area.
    Stiffness(usize),
    /// N s/m, or N s/m³ by area.
    Damping(usize),
    /// A number of the [start](SoftStart::moved).
    Start(usize),
    /// Of a cable, N/m.
    CableStiffness(usize),
    /// Of a cable, N s/m.
    CableDamping(usize),
    /// Of a cable, m.
    RestLength(usize),
    /// How far a cable is pulled, of one of its times, m.
    Pull(usize, usize),
    /// Where a hold is, m and rad.
    Hold(usize, HoldNumber),
    /// Of the rigid bodies, whose number is the next after those of the soft ones: a velocity at the start, m/s or rad/s.
    RigidVelocity(usize),
    /// Of the rigid bodies: what acts in every step, N, N m or the unit of a control.
    RigidInput(usize),
    /// Of the rigid bodies: what an input that [changes over time](super::InputSchedule) is told to be, of this schedule, at this of its
    /// times; in its unit.
    Scheduled(usize, usize),
    /// Of the rigid bodies: a number of the model, by its slot among the [parameters](crate::model::Parameters).
    RigidParameter(usize),
}

/// Of the start, which numbers have names: not those of its rotation, which are not added.
const NAMED_STARTS: [usize; 9] = [0, 1, 2, 6, 7, 8, 9, 10, 11];

impl SoftScene {
    /// All parameters with their names: `ball/lame_mu`, `floor-ball/mu`, `ball/velocity_x`, ..
    pub fn parameters(&self) -> Vec<(String, SoftParameter)> {
        use SoftNumber as Number;
        let mut all = Vec::new();
        for (body, own) in self.bodies.iter().enumerate() {
            let mut add = |prefix: &str, name: &str, number| {
                all.push((format!("{prefix}/{name}"), SoftParameter { body, number }));
            };
            for (name, number) in [
                ("youngs_modulus", Number::YoungsModulus),
                ("poisson_ratio", Number::PoissonRatio),
                ("lame_lambda", Number::LameLambda),
                ("lame_mu", Number::LameMu),
                ("viscosity", Number::Viscosity),
                ("density", Number::Density),
            ] {
                add(&own.name, name, number);
            }
            for (k, touched) in self.touched().enumerate().filter(|(k, _)| self.meet(body, *k)) {
                let pair = format!("{touched}-{}", own.name);
                add(&pair, "mu", Number::Friction(k));
                if self.law.yields() {
                    add(&pair, "stiffness", Number::Stiffness(k));
                }
                if self.law.is_penalty() && self.rigid.is_none() {
                    add(&pair, "damping", Number::Damping(k));
                }
            }
            for (cable, SoftCable { name, times, cable: line, .. }) in own.cables.iter().enumerate()
            {
                add(name, "stiffness", Number::CableStiffness(cable));
                add(name, "damping", Number::CableDamping(cable));
                if line.kind == CableKind::Joint {
                    continue;
                }
                add(name, "rest_length", Number::RestLength(cable));
                for k in 0..times.len() {
                    add(name, &format!("pull_{k}"), Number::Pull(cable, k));
                }
            }
            for (hold, own) in own.holds.iter().enumerate() {
                for (axis, letter) in ["x", "y", "z"].into_iter().enumerate() {
                    for k in 0..own.displacement.len() {
                        let number = HoldNumber::Displacement(k, axis);
                        let name = format!("displacement_{k}_{letter}");
                        add(&own.name, &name, Number::Hold(hold, number));
                    }
                    for k in 0..own.rotation.len() {
                        let number = HoldNumber::Rotation(k, axis);
                        let name = format!("rotation_{k}_{letter}");
                        add(&own.name, &name, Number::Hold(hold, number));
                    }
                }
            }
            // Where it starts is where what carries it is.
            let moves = |k: &usize| *k >= 3 || own.ties().next().is_none();
            for k in NAMED_STARTS.into_iter().filter(moves) {
                add(&own.name, &SoftStart::number_name(k), Number::Start(k));
            }
        }
        let body = self.bodies.len();
        if let Some(model) = self.rigid.as_deref().map(|scene| &scene.model) {
            let mut add = |name, number| all.push((name, SoftParameter { body, number }));
            // Of bodies that are led velocities are what they are told in each step.
            let names = model.velocity_names().into_iter().enumerate();
            for (k, name) in names.filter(|(k, _)| !model.is_prescribed_velocity(*k)) {
                add(name, Number::RigidVelocity(k));
            }
            for (k, name) in model.input_names().into_iter().enumerate() {
                let Some(schedule) = self.schedule_of(k) else {
                    add(name, Number::RigidInput(k));
                    continue;
                };
                for j in 0..self.schedules[schedule].times.len() {
                    add(format!("{name}_{j}"), Number::Scheduled(schedule, j));
                }
            }
            let placed = self.placing_joints();
            let numbers = model.motion_slots().into_iter();
            for (name, slot) in numbers.filter(|(_, slot)| !placed.contains(slot)) {
                add(name, Number::RigidParameter(slot));
            }
        }
        all
    }

    /// The slots of where joints are that place what soft bodies know from the start: of trees that carry nodes, and of bodies that do not
    /// move.
    fn placing_joints(&self) -> Vec<usize> {
        let Some(model) = self.rigid.as_deref().map(|scene| &scene.model) else {
            return Vec::new();
        };
        let ties = self.bodies.iter().flat_map(SoftBody::ties);
        let trees: Vec<_> = ties.filter_map(|(_, body)| model.bodies.get(body)?.tree).collect();
        let places = |body: usize| model.bodies[body].tree.is_none_or(|tree| trees.contains(&tree));
        let joints = (0..model.bodies.len()).filter(|&body| places(body));
        let joints = joints.filter_map(|body| model.joint_slots(body));
        joints.flat_map(|own| [own.position, own.anchor]).flat_map(|k| k..k + 3).collect()
    }

    /// The numbers of the rigid bodies that some parameters are.
    pub(crate) fn asked(&self, parameters: &[SoftParameter]) -> Asked {
        let sorted = |mut all: Vec<usize>| {
            all.sort_unstable();
            all.dedup();
            all
        };
        let inputs = parameters.iter().filter_map(|own| match own.number {
            SoftNumber::RigidInput(k) => Some(k),
            SoftNumber::Scheduled(schedule, _) => Some(self.schedules[schedule].input),
            _ => None,
        });
        let slots = parameters.iter().filter_map(|own| match own.number {
            SoftNumber::RigidParameter(slot) => Some(slot),
            _ => None,
        });
        let parameter = |slot: usize| ParameterRef { slots: vec![slot] };
        Asked {
            inputs: sorted(inputs.collect()),
            parameters: sorted(slots.collect()).into_iter().map(parameter).collect(),
        }
    }

    /// How all that a motion is made of changes with a parameter, of all bodies where some are rigid, else of its own alone; with
    /// what is `asked` of the rigid ones.
    pub(crate) fn mixed_direction(&self, parameter: SoftParameter, asked: &Asked) -> MixedChange {
        let Some(rigid) = &self.rigid else {
            return MixedChange { soft: vec![self.direction(parameter)], ..MixedChange::default() };
        };
        let soft = self.bodies.iter().enumerate().map(|(body, own)| {
            if body == parameter.body {
                return self.direction(parameter);
            }
            StepChange::none(own.position.len(), own.contacts.len())
        });
        let nv = rigid.model.nv();
        let mut change = MixedChange {
            soft: soft.collect(),
            rigid: vec![0.0; 2 * nv],
            inputs: vec![0.0; asked.inputs.len()],
            parameters: vec![0.0; asked.parameters.len()],
        };
        match parameter.number {
            SoftNumber::RigidParameter(slot) => {
                let own = asked.place_of(slot);
                own.into_iter().for_each(|k| change.parameters[k] = 1.0);
            }
            SoftNumber::Start(_) => {
                let own = &mut change.soft[parameter.body].v;
                self.bodies[parameter.body].ties().for_each(|(node, _)| own[node] = [0.0; 3]);
            }
            _ => {}
        }
        if let Some(start) = self.start_share(parameter) {
            change.rigid[nv + start.0] = start.1;
            for (body, own) in self.bodies.iter().zip(&mut change.soft) {
                self.carried_slopes(body, start, &mut own.v);
            }
        }
        change
    }

    /// The velocity of the rigid bodies at the start that a parameter is, or is part of: also that which a body is led at in the first
    /// step.
    pub(super) fn start_share(&self, parameter: SoftParameter) -> Option<(usize, f64)> {
        let model = &self.rigid.as_deref()?.model;
        let (k, share) = match parameter.number {
            SoftNumber::RigidVelocity(k) => return Some((k, 1.0)),
            SoftNumber::RigidInput(k) if self.schedule_of(k).is_none() => (k, 1.0),
            SoftNumber::Scheduled(schedule, j) => {
                let own = self.acting(schedule)?;
                (own.input, own.slope(0.0, j))
            }
            _ => return None,
        };
        (share != 0.0 && model.is_prescribed_velocity(k)).then_some((k, share))
    }

    /// Puts how what acts on the rigid bodies in the step that begins at time `t` (s) changes with a parameter into `inputs`.
    pub(crate) fn acting_change(
        &self,
        parameter: SoftParameter,
        t: f64,
        asked: &Asked,
        inputs: &mut [f64],
    ) {
        let (input, slope) = match parameter.number {
            SoftNumber::Scheduled(schedule, k) => match self.acting(schedule) {
                Some(own) => (own.input, own.slope(t, k)),
                None => return,
            },
            SoftNumber::RigidInput(k) if self.schedule_of(k).is_none() => (k, 1.0),
            _ => return,
        };
        let Some(model) = self.rigid.as_deref().map(|scene| &scene.model) else { return };
        // Pushes act for a while.
        let share = match input.checked_sub(model.nv() + model.actuators.len()) {
            Some(push) => model.pushes[push].share(t, self.time_step),
            None => 1.0,
        };
        asked.set_input(input, slope * share, inputs);
    }

    /// A schedule, if its input goes by it.
    fn acting(&self, schedule: usize) -> Option<&InputSchedule> {
        let own = self.schedules.get(schedule)?;
        (self.schedule_of(own.input) == Some(schedule)).then_some(own)
    }

    /// How an input of the rigid bodies in the step that begins at time `t` (s) changes with a parameter.
    pub fn input_slope(&self, input: usize, t: f64, parameter: SoftParameter) -> f64 {
        match parameter.number {
            SoftNumber::RigidInput(own) if own == input && self.schedule_of(own).is_none() => 1.0,
            SoftNumber::Scheduled(schedule, k) => {
                let own = self.acting(schedule).filter(|own| own.input == input);
                own.map_or(0.0, |own| own.slope(t, k))
            }
            _ => 0.0,
        }
    }

    /// The parameter of a name.
    pub fn parameter(&self, name: &str) -> Option<SoftParameter> {
        self.parameters().into_iter().find(|(own, _)| own == name).map(|(_, parameter)| parameter)
    }

    /// Whether two parameters say the same thing of a body in two ways: of Young's modulus or Poisson's ratio, and of Lamé's.
    pub fn clash(a: SoftParameter, b: SoftParameter) -> bool {
        use SoftNumber::{LameLambda, LameMu, PoissonRatio, YoungsModulus};
        let young = |own: SoftParameter| matches!(own.number, YoungsModulus | PoissonRatio);
        let lame = |own: SoftParameter| matches!(own.number, LameLambda | LameMu);
        a.body == b.body && (young(a) && lame(b) || lame(a) && young(b))
    }

    /// What a parameter is; of a rotation, which is told from where it is, zero.
    pub fn value(&self, parameter: SoftParameter) -> f64 {
        if let Some(rigid) = self.rigid.as_deref().filter(|_| parameter.body == self.bodies.len()) {
            return match parameter.number {
                SoftNumber::RigidVelocity(k) => rigid.state.v[k],
                SoftNumber::RigidInput(k) => rigid.inputs[k],
                SoftNumber::Scheduled(schedule, k) => self.schedules[schedule].values[k],
                SoftNumber::RigidParameter(slot) => rigid.parameters.values[slot],
                _ => 0.0,
            };
        }
        let body = &self.bodies[parameter.body];
        let SolidMaterial { lame_lambda, lame_mu, viscosity } = body.parameters.material;
        match parameter.number {
            SoftNumber::YoungsModulus => body.parameters.material.youngs_modulus(),
            SoftNumber::PoissonRatio => body.parameters.material.poisson_ratio(),
            SoftNumber::LameLambda => lame_lambda,
            SoftNumber::LameMu => lame_mu,
            SoftNumber::Viscosity => viscosity,
            SoftNumber::Density => body.parameters.density,
            SoftNumber::Friction(k) => body.touching[k].friction,
            SoftNumber::Stiffness(k) => body.touching[k].stiffness,
            SoftNumber::Damping(k) => body.touching[k].damping,
            SoftNumber::Start(k) => start_number(&body.start, k),
            SoftNumber::CableStiffness(cable) => body.cables[cable].cable.stiffness,
            SoftNumber::CableDamping(cable) => body.cables[cable].cable.damping,
            SoftNumber::RestLength(cable) => body.cables[cable].cable.rest_length,
            SoftNumber::Pull(cable, k) => body.cables[cable].pulls[k],
            SoftNumber::Hold(hold, number) => number.of(&body.holds[hold]),
            SoftNumber::RigidVelocity(_)
            | SoftNumber::RigidInput(_)
            | SoftNumber::Scheduled(..)
            | SoftNumber::RigidParameter(_) => 0.0,
        }
    }

    /// Sets a parameter. Whether the scene is still one is not looked at: see [`check`](Self::check).
    pub fn set(&mut self, parameter: SoftParameter, value: f64) {
        if parameter.body == self.bodies.len() {
            match (&mut self.rigid, parameter.number) {
                (Some(rigid), SoftNumber::RigidVelocity(k)) => rigid.state.v[k] = value,
                (Some(rigid), SoftNumber::RigidInput(k)) => {
                    rigid.inputs[k] = value;
                    // What is led starts as it is led.
                    if rigid.model.is_prescribed_velocity(k) {
                        rigid.state.v[k] = value;
                    }
                }
                (_, SoftNumber::Scheduled(schedule, k)) => {
                    self.schedules[schedule].values[k] = value
                }
                (Some(rigid), SoftNumber::RigidParameter(slot)) => {
                    rigid.parameters.values[slot] = value;
                    // Where nodes are from the centres of mass that carry them.
                    for body in 0..self.bodies.len() {
                        if self.bodies[body].ties().next().is_some() {
                            self.touch(body);
                        }
                    }
                }
                _ => {}
            }
            return;
        }
        let body = &mut self.bodies[parameter.body];
        let material = &mut body.parameters.material;
        let of_young = |material: &SolidMaterial<f64>, young, ratio| SolidMaterial {
            viscosity: material.viscosity,
            ..SolidMaterial::from_young(young, ratio)
        };
        match parameter.number {
            SoftNumber::YoungsModulus => {
                *material = of_young(material, value, material.poisson_ratio());
            }
            SoftNumber::PoissonRatio => {
                *material = of_young(material, material.youngs_modulus(), value);
            }
            SoftNumber::LameLambda => material.lame_lambda = value,
            SoftNumber::LameMu => material.lame_mu = value,
            SoftNumber::Viscosity => material.viscosity = value,
            SoftNumber::Density => body.parameters.density = value,
            SoftNumber::Friction(k) => body.touching[k].friction = value,
            SoftNumber::Stiffness(k) => body.touching[k].stiffness = value,
            SoftNumber::Damping(k) => body.touching[k].damping = value,
            SoftNumber::Start(k) => {
                let mut change = [0.0; SoftStart::NUMBERS];
                change[k] = value - start_number(&body.start, k);
                body.start_at(body.start.moved(&change));
            }
            SoftNumber::CableStiffness(cable) => body.cables[cable].cable.stiffness = value,
            SoftNumber::CableDamping(cable) => body.cables[cable].cable.damping = value,
            SoftNumber::RestLength(cable) => body.cables[cable].cable.rest_length = value,
            SoftNumber::Pull(cable, k) => body.cables[cable].pulls[k] = value,
            SoftNumber::Hold(hold, number) => *number.of_mut(&mut body.holds[hold]) = value,
            SoftNumber::RigidVelocity(_)
            | SoftNumber::RigidInput(_)
            | SoftNumber::Scheduled(..)
            | SoftNumber::RigidParameter(_) => {}
        }
        self.touch(parameter.body);
    }

    /// # Errors
    /// If a parameter is not that of a body: says which, and what it must be.
    pub fn check(&self) -> Result<(), String> {
        for (name, parameter) in self.parameters() {
            let value = self.value(parameter);
            let sound = match parameter.number {
                SoftNumber::YoungsModulus | SoftNumber::LameMu | SoftNumber::Density => value > 0.0,
                SoftNumber::PoissonRatio => (0.0..0.5).contains(&value),
                SoftNumber::Stiffness(_) | SoftNumber::CableStiffness(_) => value > 0.0,
                SoftNumber::Start(_) | SoftNumber::Pull(..) | SoftNumber::Hold(..) => true,
                SoftNumber::RigidVelocity(_)
                | SoftNumber::RigidInput(_)
                | SoftNumber::Scheduled(..) => true,
                SoftNumber::RigidParameter(_) => {
                    let (least, most) = domain(&name);
                    (least..=most).contains(&value)
                }
                _ => value >= 0.0,
            };
            if !(sound && value.is_finite()) {
                let of = match parameter.number {
                    SoftNumber::RigidParameter(_) => {
                        let (least, most) = domain(&name);
                        format!("must be from {least:e} to {most:e}")
                    }
                    _ => "is not that of a soft body".to_string(),
                };
                return Err(format!("{name} = {value} {of}"));
            }
        }
        for own in self.bodies.iter().flat_map(|body| &body.cables) {
            if let Some(k) = own.pulls.iter().position(|pull| *pull > own.cable.rest_length) {
                return Err(format!(
                    "{0}/pull_{k} = {1} is more than {0}/rest_length, {2}",
                    own.name, own.pulls[k], own.cable.rest_length
                ));
            }
        }
        Ok(())
    }

    /// How all that a motion is made of changes with a parameter: where it starts, and what all steps have of material and
    /// contacts.
    pub fn direction(&self, parameter: SoftParameter) -> StepChange {
        let body = &self.bodies[parameter.body];
        let mut change = StepChange::none(body.position.len(), body.contacts.len());
        let mut of_cable = |cable: usize, number: usize| {
            change.cables.resize(body.cables.len(), [0.0; 3]);
            change.cables[cable][number] = 1.0;
        };
        match parameter.number {
            SoftNumber::RestLength(cable) => of_cable(cable, 0),
            SoftNumber::CableStiffness(cable) => of_cable(cable, 1),
            SoftNumber::CableDamping(cable) => of_cable(cable, 2),
            _ => {}
        }
        let material = &mut change.parameters.material;
        let own = body.parameters.material;
        match parameter.number {
            SoftNumber::YoungsModulus => *material = slope(&own, [1.0, 0.0]),
            SoftNumber::PoissonRatio => *material = slope(&own, [0.0, 1.0]),
            SoftNumber::LameLambda => material.lame_lambda = 1.0,
            SoftNumber::LameMu => material.lame_mu = 1.0,
            SoftNumber::Viscosity => material.viscosity = 1.0,
            SoftNumber::Density => change.parameters.density = 1.0,
            SoftNumber::Friction(k) => body.shares(k, false, &mut change.friction),
            SoftNumber::Stiffness(k) => body.shares(k, true, &mut change.stiffness),
            SoftNumber::Damping(k) => body.shares(k, true, &mut change.damping),
            SoftNumber::Start(k) => {
                [change.x, change.v] = body.start.slope(&body.mesh.nodes, k);
            }
            SoftNumber::CableStiffness(_)
            | SoftNumber::CableDamping(_)
            | SoftNumber::RestLength(_)
            | SoftNumber::Pull(..)
            | SoftNumber::Hold(..)
            | SoftNumber::RigidVelocity(_)
            | SoftNumber::RigidInput(_)
            | SoftNumber::Scheduled(..)
            | SoftNumber::RigidParameter(_) => {}
        }
        if matches!(parameter.number, SoftNumber::Start(_) | SoftNumber::Hold(..)) {
            let span = self.span(0);
            self.lead_change(parameter, span, &body.position, &mut change);
            body.start_slopes(span, &mut change);
            if self.moved_before {
                let both = change.x.iter().zip(&change.v);
                let before = |(x, v): (&[f64; 3], &[f64; 3])| {
                    [0, 1, 2].map(|k| x[k] - self.time_step * v[k])
                };
                change.x_old = both.map(before).collect();
                change.v_old.clone_from(&change.v);
            }
        }
        change
    }

    /// Puts how what leads a body over a `span` (s) changes with a parameter into its change, where that depends on the step; its
    /// nodes are at `x` (m) as the step begins.
    pub fn lead_change(
        &self,
        parameter: SoftParameter,
        span: [f64; 2],
        x: &[[f64; 3]],
        change: &mut StepChange,
    ) {
        let body = &self.bodies[parameter.body];
        let led = |hold: &SoftHold| hold.led(body.position.len()).count();
        let of_hold = |own: usize| body.holds[..own].iter().map(led).sum();
        match parameter.number {
            SoftNumber::Pull(cable, k) => {
                change.cables.resize(body.cables.len(), [0.0; 3]);
                let weight = schedule::weight(&body.cables[cable].times, span[1], k);
                change.cables[cable][0] = -weight;
            }
            SoftNumber::Hold(hold, number) => {
                change.held.clear();
                change.held.resize(of_hold(hold), [0.0; 3]);
                change.held.extend(body.holds[hold].slopes(number, &body.position, span, x));
            }
            SoftNumber::Start(k) => {
                // Where a hold turns about moves with the start.
                change.held.clear();
                if body.holds.iter().any(|hold| !hold.rotation.is_empty()) {
                    let [moved, _] = body.start.slope(&body.mesh.nodes, k);
                    for hold in &body.holds {
                        change.held.extend(hold.start_slopes(&moved, &body.position, span, x));
                    }
                }
            }
            _ => {}
        }
    }
}

impl SoftBody {
    /// What each contact with a half-space or another shape has of one number.
    fn shares(&self, touched: usize, by_area: bool, numbers: &mut [f64]) {
        let own = &self.touching[touched];
        let chunks = numbers.chunks_mut(self.touching.len().max(1));
        for (numbers, (_, area)) in chunks.zip(self.vertices()) {
            numbers[touched] = if by_area { own.share(area) } else { 1.0 };
        }
    }
}

/// How Lamé's parameters change with Young's modulus and Poisson's ratio.
fn slope(material: &SolidMaterial<f64>, along: [f64; 2]) -> SolidMaterial<f64> {
    type Scalar = Dual<f64, 1>;
    let young = Scalar::new(material.youngs_modulus(), [along[0]]);
    let ratio = Scalar::new(material.poisson_ratio(), [along[1]]);
    let found = SolidMaterial::from_young(young, ratio);
    SolidMaterial {
        lame_lambda: found.lame_lambda.tangent[0],
        lame_mu: found.lame_mu.tangent[0],
        viscosity: 0.0,
    }
}

fn start_number(start: &SoftStart, k: usize) -> f64 {
    match k / 3 {
        0 => start.position[k],
        1 => 0.0,
        2 => start.velocity[k - 6],
        _ => start.angular_velocity[k - 9],
    }
}
