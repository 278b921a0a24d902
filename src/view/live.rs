//! A simulation that is looked at while it runs: what the page of `stiction view` asks, and what it is answered.

use std::collections::BTreeMap;

use nalgebra::{Matrix3, SymmetricEigen, Vector3};
use serde::{Deserialize, Serialize};

use super::appearance::Appearance;
use super::contact_forces::ContactForces;
use super::drawing::{Drawing, moving_bodies};
use super::playback::poses;
use crate::argmin::Status;
use crate::dynamics::{Crba, Kinematics, MassFactor, MassMatrix, mass_matrix};
use crate::model::{ActuatorKind, Body, Parameters, Scene, System, Transmission, domain};
use crate::simulation::{StepMemory, StepReport, Workspace, step};
use crate::state::State;

/// Steps that one request may ask for.
const MOST_STEPS: usize = 10_000;
/// Stiffness of the spring by which a body is pulled, over the mass of its tree: the square of 20 rad/s, so that a weight
/// hangs about 3 cm below the hand.
const PULL: f64 = 400.0;
/// Of the eigenvalues of a matrix with three rows, which take less than ten; of one that is not finite there are none.
const MOST_ITERATIONS: usize = 1000;
/// What rounding makes of equal numbers, relative to them.
const ROUNDING: f64 = 1e-9;
/// The most it pulls, in weights of the tree at 9.81 m/s².
const MOST_PULL: f64 = 20.0;
/// The ends of sliders of velocities that are prescribed, m/s or rad/s.
const MOST_LED: f64 = 2.0;

/// What is asked of a simulation that is looked at. Everything may be left out.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct LiveRequest {
    /// Whether to start over, from the scene's state with the scene's inputs; parameters stay.
    pub restart: bool,
    /// Whether to take the scene's parameters again.
    pub reset: bool,
    /// A keyframe of the scene to start from.
    pub keyframe: Option<String>,
    /// Parameters by name, from now on.
    pub parameters: BTreeMap<String, f64>,
    /// Inputs of steps by name ([`Model::input_names`](crate::model::Model::input_names)), from now on.
    pub inputs: BTreeMap<String, f64>,
    /// What is pulled during the steps.
    pub pull: Option<Pull>,
    /// How many steps to take, at most 10,000.
    pub steps: usize,
}

/// A spring between a point of a body and one in the world.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Pull {
    /// The body, as an index into [`Drawing::bodies`].
    pub body: usize,
    /// Its point, in its frame, m.
    pub point: [f64; 3],
    /// Where that is pulled to, in the world, m.
    pub to: [f64; 3],
}

/// What a simulation answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LiveReply {
    /// Simulated time, s.
    pub time: f64,
    /// As of a [`Track`](super::Track), of one frame.
    pub poses: Vec<f64>,
    /// Likewise: means over the steps of the request.
    pub forces: Vec<[f64; 6]>,
    /// Where the pulled point is in the world, m, and the force on it, N.
    pub pull: Option<[f64; 6]>,
    /// Energy of motion, J.
    pub kinetic_energy: f64,
    /// Energy in gravity, J, zero at the origin of the world.
    pub potential_energy: f64,
    /// How the contact problems of the steps were solved; nothing without steps.
    pub solver: Option<LiveSolver>,
    /// The drawing, where it is another than before.
    pub drawing: Option<Drawing>,
    /// Inputs and parameters as they are, where a request changed them without their names, or named some and was refused.
    pub controls: Option<LiveControls>,
    /// What was not done, and why. Steps that lead nowhere are not taken: the state is the last good one.
    pub error: Option<String>,
}

/// How contact problems were solved.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LiveSolver {
    /// Contact points of the last step.
    pub contacts: usize,
    /// The worst of the problems.
    pub status: &'static str,
    /// How many did not meet the tolerance.
    pub unsolved: usize,
    /// The most iterations one of them took.
    pub iterations: usize,
    /// Their largest residual.
    pub residual: f64,
    /// What to know of them, in sentences.
    pub warnings: Vec<String>,
}

/// A number to be changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LiveNumber {
    /// Its name.
    pub name: String,
    /// What it is.
    pub value: f64,
    /// The least that a slider has for it.
    pub lower: f64,
    /// The most.
    pub upper: f64,
}

/// All numbers that can be changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LiveControls {
    /// Controls of actuators, and how much of each push acts.
    pub inputs: Vec<LiveNumber>,
    /// Parameters of the scene, those of networks left out.
    pub parameters: Vec<LiveNumber>,
}

/// A simulation that is looked at while it runs. The same requests have the same answers, bit for bit: it has no clock.
pub struct Live {
    /// As it was given.
    given: Scene,
    /// As it is now.
    scene: Scene,
    bodies: Vec<usize>,
    looks: Appearance,
    drawing: Drawing,
    taken: usize,
    memory: StepMemory<f64>,
    workspace: Workspace<f64>,
    next: State<f64>,
    inputs: Vec<f64>,
    forces: ContactForces,
    kinematics: Kinematics<f64>,
    mass: (Crba<f64>, MassMatrix<f64>, MassFactor<f64>),
}

impl Live {
    /// The simulation of a scene, of which the shapes are seen.
    pub fn new(scene: Scene) -> Live {
        Live::with_looks(scene, Appearance::default())
    }

    /// The simulation of a scene that looks like this.
    pub fn with_looks(scene: Scene, looks: Appearance) -> Live {
        Live {
            bodies: moving_bodies(&scene.model),
            drawing: Drawing::new(&scene.model, &scene.parameters, &looks),
            looks,
            taken: 0,
            memory: StepMemory::default(),
            workspace: Workspace::default(),
            next: scene.state.clone(),
            inputs: Vec::new(),
            forces: ContactForces::default(),
            kinematics: Kinematics::default(),
            mass: (Crba::default(), MassMatrix::default(), MassFactor::default()),
            scene: scene.clone(),
            given: scene,
        }
    }

    /// The scene with its numbers and its state as they are now.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// What it looks like.
    pub fn drawing(&self) -> &Drawing {
        &self.drawing
    }

    /// What can be changed, with the ranges of sliders.
    pub fn controls(&self) -> LiveControls {
        let Scene { model, parameters, inputs, .. } = &self.scene;
        let names = model.input_names();
        let controls = names.iter().zip(inputs).enumerate();
        let controls = controls
            .filter(|&(place, _)| place >= model.nv() || model.is_prescribed_velocity(place));
        let inputs = controls.map(|(place, (name, &value))| {
            let [lower, upper] = match place.checked_sub(model.nv()) {
                Some(control) => self.input_range(control),
                None => [-MOST_LED, MOST_LED],
            };
            LiveNumber {
                name: name.clone(),
                value,
                lower: lower.min(value),
                upper: upper.max(value),
            }
        });
        let find = model.parameter_finder();
        let names = model.parameter_names();
        let numbers = names.into_iter().filter(|name| !name.contains("/weights/"));
        let parameters = numbers.filter_map(|name| {
            let slot = *find(&name)?.slots.first()?;
            let value = parameters.values[slot];
            let [lower, upper] = slider(&name, self.given.parameters.values[slot]);
            Some(LiveNumber { name, value, lower: lower.min(value), upper: upper.max(value) })
        });
        LiveControls { inputs: inputs.collect(), parameters: parameters.collect() }
    }

    /// Does what is asked, a [`LiveRequest`] in JSON; the answer is a [`LiveReply`] in JSON.
    pub fn answer_json(&mut self, request: &str) -> String {
        let reply = match serde_json::from_str(request) {
            Ok(request) => self.answer(&request),
            Err(error) => LiveReply { error: Some(format!("request: {error}")), ..self.seen() },
        };
        // Numbers that JSON cannot say, as the residual of a problem that was given up, are null.
        serde_json::to_string(&reply).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"))
    }

    /// Does what is asked: first changes, then steps.
    pub fn answer(&mut self, request: &LiveRequest) -> LiveReply {
        let changes = self.change(request);
        let mut error = changes.err();
        let mut report = StepReport::default();
        let (mut pulled, mut made) = (None, 0);
        while error.is_none() && made < request.steps.min(MOST_STEPS) {
            match self.advance(request.pull.as_ref(), &mut report) {
                Ok(force) => (pulled, made) = (force, made + 1),
                Err(message) => error = Some(message),
            }
        }
        let elapsed = made as f64 * self.scene.settings.time_step;
        let mut reply = self.seen();
        reply.forces = self.forces.take(&self.kinematics, elapsed, self.decimals());
        if let (Some(force), Some(pull)) = (pulled, request.pull) {
            let at = self.kinematics.point(self.bodies[pull.body], &pull.point.into());
            reply.pull = Some([at.x, at.y, at.z, force.x, force.y, force.z]);
        }
        if made > 0 {
            reply.solver = Some(LiveSolver {
                contacts: self.workspace.contacts().count(),
                status: report.worst.status.name(),
                unsolved: report.unsolved,
                iterations: report.worst.iterations,
                residual: report.worst.residual,
                warnings: report.warnings(&self.scene.settings),
            });
        }
        if !request.parameters.is_empty() || request.reset {
            let drawing = Drawing::new(&self.scene.model, &self.scene.parameters, &self.looks);
            // The page has the meshes: they do not change.
            let told = || Drawing { meshes: Default::default(), ..drawing.clone() };
            reply.drawing = (drawing != self.drawing).then(told);
            self.drawing = drawing;
        }
        // Where a change was refused, what is there instead.
        let refused =
            error.is_some() && !(request.parameters.is_empty() && request.inputs.is_empty());
        if refused || request.reset || request.restart || request.keyframe.is_some() {
            reply.controls = Some(self.controls());
        }
        reply.error = error;
        reply
    }

    /// The digits behind the point of places: slow motion shows more than pages of motions do.
    fn decimals(&self) -> i32 {
        self.drawing.decimals() + 2
    }

    /// What there is to see.
    fn seen(&mut self) -> LiveReply {
        let Scene { model, parameters, state, settings, .. } = &self.scene;
        self.kinematics.update(model, parameters, state);
        LiveReply {
            time: self.taken as f64 * settings.time_step,
            poses: poses(&self.kinematics, &self.bodies, self.decimals()),
            kinetic_energy: self.kinematics.kinetic_energy(),
            potential_energy: self.kinematics.potential_energy(parameters),
            ..LiveReply::default()
        }
    }

    /// All changes of a request, or none.
    fn change(&mut self, request: &LiveRequest) -> Result<(), String> {
        if let Some(pull) = &request.pull {
            let finite = pull.point.iter().chain(&pull.to).all(|x| x.is_finite());
            if pull.body >= self.bodies.len() || !finite {
                return Err("pull: no such body, or a place that is not finite".into());
            }
        }
        let model = &self.given.model;
        let base = if request.reset { &self.given } else { &self.scene };
        let mut parameters = base.parameters.clone();
        // Names are made for it, as many as there are: not for steps alone.
        if !request.parameters.is_empty() {
            let find = model.parameter_finder();
            for (name, &value) in &request.parameters {
                let Some(found) = find(name) else {
                    return Err(format!("parameters: the scene has no {name:?}"));
                };
                let (lower, upper) = domain(name);
                if !(value.is_finite() && lower <= value && value <= upper) {
                    return Err(format!("parameters: {name} cannot be {value}"));
                }
                found.slots.iter().for_each(|&slot| parameters.values[slot] = value);
            }
            self.check(request.parameters.keys(), &parameters)?;
        }
        let mut inputs = self.scene.inputs.clone();
        let mut started = None;
        if request.restart || request.keyframe.is_some() {
            let mut scene = self.given.clone();
            if let Some(keyframe) = &request.keyframe {
                scene.start_at(keyframe, "scene").map_err(|error| error.message().to_string())?;
            }
            inputs.clone_from(&scene.inputs);
            started = Some(scene.state);
        }
        for (name, &value) in &request.inputs {
            let Some(place) = model.input_names().iter().position(|known| known == name) else {
                return Err(format!("inputs: the scene has no {name:?}"));
            };
            if !value.is_finite() {
                return Err(format!("inputs: {name} cannot be {value}"));
            }
            inputs[place] = value;
        }
        if let Some(state) = started {
            self.scene.state = state;
            self.taken = 0;
            self.memory = StepMemory::default();
            self.forces = ContactForces::default();
        }
        self.scene.parameters = parameters;
        self.scene.inputs = inputs;
        Ok(())
    }

    /// Whether numbers of these names, which are changed to those of `parameters`, can be together what they are.
    fn check<'a>(
        &self,
        names: impl Iterator<Item = &'a String>,
        parameters: &Parameters<f64>,
    ) -> Result<(), String> {
        let model = &self.given.model;
        let find = model.parameter_finder();
        let value = |name: &str| Some(parameters.values[*find(name)?.slots.first()?]);
        for name in names {
            let (owner, field) = name.rsplit_once('/').unwrap_or_default();
            let [lower, upper] = ["lower", "upper"].map(|end| value(&format!("{owner}/{end}")));
            if let ("lower" | "upper", (Some(lower), Some(upper))) = (field, (lower, upper))
                && lower > upper
            {
                return Err(format!("parameters: {owner}/lower is above {owner}/upper with this"));
            }
            let named = |body: &Body| name.starts_with(&format!("{}/inertia", body.name));
            let Some(body) = model.bodies.iter().position(named) else { continue };
            let inertia = parameters.inertia(model, body);
            let found = SymmetricEigen::try_new(inertia, f64::EPSILON, MOST_ITERATIONS);
            let moments = found.map_or(Vector3::repeat(f64::NAN), |found| found.eigenvalues);
            let (least, most) = (moments.min(), moments.max());
            if !(least >= 0.0 && most <= (moments.sum() - most) * (1.0 + ROUNDING)) {
                return Err(format!(
                    "parameters: no solid has the inertia that {} would have with this {name}: of its principal moments \
                     {:.3e}, {:.3e} and {:.3e} kg m² none may be negative or exceed the sum of the others",
                    model.bodies[body].name, moments[0], moments[1], moments[2]
                ));
            }
        }
        // What is drawn and told of must be finite.
        let kinematics = Kinematics::new(model, parameters, &self.scene.state);
        let energies = [kinematics.kinetic_energy(), kinematics.potential_energy(parameters)];
        let places = poses(&kinematics, &self.bodies, self.decimals());
        if places.into_iter().chain(energies).any(|x| !x.is_finite()) {
            return Err("parameters: too large: places or energies are not finite with this".into());
        }
        Ok(())
    }

    /// A step; the force of the spring in it.
    fn advance(
        &mut self,
        pull: Option<&Pull>,
        report: &mut StepReport,
    ) -> Result<Option<Vector3<f64>>, String> {
        let duration = self.scene.settings.time_step;
        let time = self.taken as f64 * duration;
        self.inputs.clone_from(&self.scene.inputs);
        self.scene.model.schedule(time, duration, &mut self.inputs);
        let force = match pull {
            Some(pull) => Some(self.pull(pull)?),
            None => None,
        };
        let Scene { model, parameters, settings, state, .. } = &self.scene;
        let system = System { model, parameters, settings };
        let own = step(
            &system,
            state,
            &self.inputs,
            &mut self.memory,
            &mut self.workspace,
            &mut self.next,
        );
        let finite = self.next.q.iter().chain(&self.next.v).all(|x| x.is_finite());
        if !finite || own.worst.status == Status::InvalidInput {
            self.memory = StepMemory::default();
            return Err(format!(
                "the step from {time:.6} s leads nowhere: a force or a velocity is too large, or a number of the scene too extreme; \
                 change it, or restart"
            ));
        }
        report.merge(&own);
        self.forces.add(model, parameters, self.workspace.contacts());
        std::mem::swap(&mut self.scene.state, &mut self.next);
        self.taken += 1;
        Ok(force)
    }

    /// Adds the force of the spring to the inputs of a step: that at the end of the step, were it alone (implicit Euler), so that
    /// light bodies do not shake.
    fn pull(&mut self, pull: &Pull) -> Result<Vector3<f64>, String> {
        let Scene { model, parameters, state, settings, .. } = &self.scene;
        let body = self.bodies[pull.body];
        if model.is_prescribed(body) {
            let name = &model.bodies[body].name;
            return Err(format!(
                "pull: the velocity of {name:?} is prescribed, so that no force moves it: set {name}/set_vx and so on"
            ));
        }
        let kinematics = &mut self.kinematics;
        kinematics.update(model, parameters, state);
        let (crba, matrix, factor) = &mut self.mass;
        mass_matrix(model, parameters, kinematics, crba, matrix);
        factor.factor(matrix, None).map_err(|error| format!("pull: {error}"))?;
        let at = kinematics.point(body, &pull.point.into());
        let n = model.nv();
        let mut jacobian = vec![0.0; 6 * n];
        kinematics.jacobian(body, &at, &mut jacobian);
        // W = J M^-1 J'
        let mut mobility = Matrix3::zeros();
        let mut column = vec![0.0; n];
        for i in 0..3 {
            column.copy_from_slice(&jacobian[i * n..(i + 1) * n]);
            factor.solve(&mut column);
            for j in 0..3 {
                mobility[(j, i)] =
                    jacobian[j * n..(j + 1) * n].iter().zip(&column).map(|(a, b)| a * b).sum();
            }
        }
        let tree = model.bodies[body].tree;
        let own = (0..model.bodies.len()).filter(|&k| model.bodies[k].tree == tree);
        let mass: f64 = own.map(|k| parameters.mass(model, k)).sum();
        let (h, stiffness) = (settings.time_step, PULL * mass);
        // Critically damped.
        let damping = 2.0 * PULL.sqrt() * mass;
        let velocity = kinematics.point_velocity(body, &at);
        let way = Vector3::from(pull.to) - at - velocity * h;
        // Where joints let the point go.
        let found = SymmetricEigen::try_new(mobility, f64::EPSILON, MOST_ITERATIONS);
        let Some(SymmetricEigen { eigenvectors, eigenvalues }) = found else {
            return Err("pull: a mass or an inertia is too extreme to be pulled".into());
        };
        let goes = |k: usize| eigenvalues[k] > ROUNDING * eigenvalues.max();
        let ways = (0..3).filter(|&k| goes(k)).map(|k| eigenvectors.column(k).into_owned());
        let free: Matrix3<f64> = ways.map(|way| way * way.transpose()).sum();
        let wanted = free * (way * stiffness - velocity * damping);
        let response = Matrix3::identity() + mobility * (h * (h * stiffness + damping));
        let force = response.lu().solve(&wanted).unwrap_or_else(Vector3::zeros);
        let most = MOST_PULL * 9.81 * mass;
        let force = if force.norm() > most { force.normalize() * most } else { force };
        kinematics.apply_force(body, &at, &force, &Vector3::zeros(), &mut self.inputs[..n]);
        Ok(force)
    }

    /// The range of a slider for a control or a push.
    fn input_range(&self, control: usize) -> [f64; 2] {
        let Scene { model, parameters, .. } = &self.scene;
        let Some(actuator) = model.actuators.get(control) else { return [0.0, 2.0] };
        let finite = |range: [f64; 2]| range[0] < range[1] && range.iter().all(|x| x.is_finite());
        let own = parameters.control_range(model, control);
        if actuator.limits_control && finite(own) {
            return own;
        }
        let forces = parameters.force_range(model, control);
        let gear = parameters.gear(model, control).abs();
        let limits = match actuator.drives {
            Transmission::Joint(body) => model
                .joint_slots(body)
                .filter(|_| model.bodies[body].joint.limited)
                .map(|at| [parameters.values[at.lower], parameters.values[at.upper]]),
            Transmission::Tendon(tendon) => {
                let limited = model.tendons[tendon].limited;
                limited.then(|| parameters.tendon_range(model, tendon))
            }
        };
        let [gain, bias] = parameters.gain_and_bias(model, control);
        let stiffness = parameters.kp(model, control) * parameters.gear(model, control);
        let drift = |q: f64| match gain == 0.0 {
            true => 0.0,
            false => (stiffness * q - bias) / gain,
        };
        let slides = model.driven_joint(control).is_none_or(|joint| joint.kind.slides());
        match (actuator.kind, limits) {
            (ActuatorKind::Position, Some(limits)) if finite(limits) => {
                let ends = limits.map(|limit| limit * parameters.gear(model, control));
                [ends[0].min(ends[1]), ends[0].max(ends[1])]
            }
            (ActuatorKind::Affine, Some(limits)) if finite(limits) && drift(1.0) != drift(0.0) => {
                // Where the force is nothing.
                let ends = limits.map(drift);
                [ends[0].min(ends[1]), ends[0].max(ends[1])]
            }
            (ActuatorKind::Position, _) if slides => [-1.0, 1.0],
            (ActuatorKind::Position, _) => [-std::f64::consts::PI, std::f64::consts::PI],
            (ActuatorKind::Motor, _) if actuator.limits_force && finite(forces) && gear > 0.0 => {
                forces.map(|force| force / gear)
            }
            _ => [-10.0, 10.0],
        }
    }
}

/// The range of a slider for a parameter that the scene has at `value`.
fn slider(name: &str, value: f64) -> [f64; 2] {
    let (lower, upper) = domain(name);
    let reach = 3.0 * value.abs();
    let [low, high] = match name.rsplit('/').next().unwrap_or_default() {
        "mu" | "mu_static" => [0.0, reach.max(1.5)],
        _ if name.contains("/tilt/") => [-0.5, 0.5],
        _ if lower >= 0.0 => [0.0, if reach > 0.0 { reach } else { 1.0 }],
        _ => [-reach.max(0.1), reach.max(0.1)],
    };
    [low.max(lower), high.min(upper)]
}
