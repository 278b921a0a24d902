//! A step of a soft body as a function of numbers, differentiated in several ways.

use std::borrow::Cow;

use nalgebra::DMatrix;

use super::differences::{self, Piece};
use super::soft_fields::{Fields, Nodes, outputs, unit_share};
use super::{Derivatives, Gradcheck, ladder};
use crate::ad::Dual;
use crate::argmin::Mode;
use crate::fem::SolidMaterial;
use crate::implicit::{
    Bdf, Cable, CableKind, ContactStep, DerivativeMemory, History, Momentum, Penalty,
    SolidParameters, StepChange, StepDerivative, StepSolver, VertexContact,
};
use crate::simulation::StepReport;
use crate::soft::{
    NearestMemory, SoftBody, SoftDrive, SoftNumber, SoftParameter, SoftRollout, SoftScene, SoftTime,
};

type Scalar = Dual<f64, 1>;

/// The next step of a body in a motion.
///
/// Variables, one after the other: each parameter of the body ([`SoftScene::parameters`] but those of the start), how far its
/// nodes are moved as those of a rigid body (`px` to `rz`) and bent (`shape`, a smooth field), how much their velocities change
/// likewise (`vx` to `wz`, `shape_rate`), and what they were a step before (`before`, of BDF2). The unit of each is such that
/// its largest derivative is 1, if it has an effect: in one step that of a material is small. Outputs: mean velocity (m/s), sums
/// of velocities and of places of all nodes with weights that leave none out.
#[derive(Clone, Debug)]
pub struct SoftStepProgram<'a> {
    scene: &'a SoftScene,
    body: usize,
    bdf: Bdf,
    /// When it begins and ends (s).
    span: [f64; 2],
    history: History<f64>,
    step: ContactStep,
    /// By the adjoint, forward, and by duals through the momentum; none where the step has no derivative.
    jacobians: Option<[DMatrix<f64>; 3]>,
    inputs: Vec<Input>,
    /// What each output weighs velocities and places by.
    outputs: Vec<[Nodes; 2]>,
}

/// A variable.
#[derive(Clone, Debug)]
struct Input {
    name: String,
    /// Not of the state.
    parameter: Option<SoftParameter>,
    value: f64,
    /// What a change of the parameter itself by 1 is.
    change: StepChange,
    /// The unit of the variable.
    unit: f64,
}

/// What the contacts of a soft body did in a step.
#[derive(Clone, Debug, PartialEq)]
pub struct VertexModes {
    modes: Vec<Mode>,
    /// Which cables are taut.
    taut: Vec<bool>,
    is_solved: bool,
}

impl Piece for VertexModes {}

impl<'a> SoftStepProgram<'a> {
    /// The step of a body that comes next. Beside rigid bodies that move there is none of one body: it counts as one without derivative.
    pub fn new(rollout: &SoftRollout<'a>, body: usize) -> Self {
        let scene = rollout.scene();
        let (bdf, history, guess) = rollout.next_step(body);
        let span = scene.span(rollout.steps());
        let history = history.clone();
        let mut program = SoftStepProgram {
            scene,
            body,
            bdf,
            span,
            inputs: inputs((scene, body), (bdf, span), &history.x),
            outputs: outputs(history.x.len()),
            history,
            step: guess.clone(),
            jacobians: None,
        };
        let mut solver = StepSolver::default();
        program.step = program.solved(scene, &program.history, &mut solver);
        program.jacobians = program.differentiated().filter(|_| scene.rigid.is_none());
        if let Some(jacobians) = &mut program.jacobians {
            for (j, input) in program.inputs.iter_mut().enumerate() {
                let share = unit_share(jacobians[0].column(j).amax());
                input.unit /= share;
                input.value *= share;
                jacobians.iter_mut().for_each(|jacobian| jacobian.column_mut(j).unscale_mut(share));
            }
        }
        program
    }

    /// The names of the variables, of the body: `ball/viscosity`, `floor-ball/mu`, `ball/px`.
    pub fn names(&self) -> Vec<String> {
        self.inputs.iter().map(|input| input.name.clone()).collect()
    }

    /// The values of the variables.
    pub fn variables(&self) -> Vec<f64> {
        self.inputs.iter().map(|input| input.value).collect()
    }

    fn solved(
        &self,
        scene: &SoftScene,
        history: &History<f64>,
        solver: &mut StepSolver,
    ) -> ContactStep {
        let body = &scene.bodies[self.body];
        let mut contacts = body.contacts.clone();
        let nearest = &mut NearestMemory::default();
        let predicted = self.bdf.predict(self.scene.time_step, history);
        let drive = self.drive(body);
        let start = (&history.x[..], &drive.held[..]);
        let own = (self.body, self.time(), None);
        scene.place_contacts(own, start, &predicted, &mut contacts, nearest);
        let momentum = body.momentum(&predicted, &drive);
        solver.settings = self.scene.newton;
        let mut step = self.step.clone();
        for held in &drive.held {
            step.velocity[held.node] = held.velocity(&history.x[held.node], &predicted);
        }
        solver.solve(&momentum, &contacts, &mut step);
        step
    }

    /// Which cables of a body pull as it has made a step.
    fn taut(&self, body: &SoftBody, step: &ContactStep) -> Vec<bool> {
        if step.position.len() != body.position.len() {
            return Vec::new();
        }
        let motion = (&step.position[..], Some(&step.velocity[..]));
        // What pushes as well is never slack.
        let pulls = |own: &Cable| {
            own.kind != CableKind::Cable || own.length_and_tension(motion.0, motion.1)[1] != 0.0
        };
        self.drive(body).cables.iter().map(pulls).collect()
    }

    fn time(&self) -> SoftTime {
        SoftTime { bdf: self.bdf, span: self.span }
    }

    /// What leads a body in the step.
    fn drive(&self, body: &SoftBody) -> SoftDrive {
        let mut drive = SoftDrive::default();
        body.drive(self.span, &mut drive);
        drive
    }

    /// The outputs at `variables`, and what the contacts did.
    pub fn run(&self, variables: &[f64]) -> (Vec<f64>, VertexModes) {
        self.run_with(&mut StepSolver::default(), variables)
    }

    /// The same by a solver that decides no order twice.
    fn run_with(&self, solver: &mut StepSolver, variables: &[f64]) -> (Vec<f64>, VertexModes) {
        let mut scene = Cow::Borrowed(self.scene);
        let mut history = self.history.clone();
        for (input, &x) in self.inputs.iter().zip(variables) {
            match input.parameter {
                _ if x == input.value => {}
                Some(parameter) => scene.to_mut().set(parameter, x * input.unit),
                None => {
                    let StepChange { x: places, v, x_old, v_old, .. } = &input.change;
                    for (own, change) in [
                        (&mut history.x, places),
                        (&mut history.v, v),
                        (&mut history.x_old, x_old),
                        (&mut history.v_old, v_old),
                    ] {
                        let flat = own.as_flattened_mut().iter_mut().zip(change.as_flattened());
                        flat.for_each(|(own, change)| *own += x * input.unit * change);
                    }
                }
            }
        }
        let step = self.solved(&scene, &history, solver);
        let is_solved = step.report.status.is_solved();
        let taut = self.taut(&scene.bodies[self.body], &step);
        let outputs = self.weighed(&step.velocity, &step.position);
        (outputs, VertexModes { modes: step.modes, taut, is_solved })
    }

    fn weighed(&self, velocity: &[[f64; 3]], position: &[[f64; 3]]) -> Vec<f64> {
        let sum = |weights: &[[f64; 3]], x: &[[f64; 3]]| -> f64 {
            weights.as_flattened().iter().zip(x.as_flattened()).map(|(w, x)| w * x).sum()
        };
        self.outputs.iter().map(|[v, x]| sum(v, velocity) + sum(x, position)).collect()
    }

    /// Its Jacobian by the adjoint, forward, by duals through the balance of momentum, and by differences, compared. Of
    /// [`Errors`](super::Errors), `tape` is then the adjoint, `dual` what is forward, and there are no iterations. Without a
    /// derivative, or a solution, nothing is compared; nothing at all where `go_on`, asked before each value, says no.
    pub fn check_while_wanted(&self, go_on: &mut dyn FnMut() -> bool) -> Option<Gradcheck> {
        let mut check = Gradcheck::default();
        let worst = self.step.report;
        let solved = worst.status.is_solved();
        check.report = StepReport { worst, steps: 1, ..StepReport::default() };
        check.report.unsolved = usize::from(!solved);
        let Some(jacobians) = self.jacobians.as_ref().filter(|_| solved) else {
            return Some(check);
        };
        let [tape, dual, residual] = jacobians.clone();
        let x = self.variables();
        let unrolled = tape.clone();
        let mut derivatives =
            Derivatives { tape, dual, residual, unrolled, differences: Vec::new() };
        let scales = derivatives.row_scales();
        let mut solver = StepSolver::default();
        let run = |x: &[f64]| self.run_with(&mut solver, x);
        derivatives.differences = differences::columns(run, &x, &derivatives.tape, &scales, go_on)?;
        let report = check.report;
        check = Gradcheck::compare(&self.names(), &derivatives);
        check.report = report;
        let all = check.name_kinks(go_on, |input| self.kink(&x, input));
        all.then_some(check)
    }

    /// What the vertices touch in the step, and how its planes turn with them.
    fn contacts(&self) -> Vec<VertexContact> {
        let mut contacts = self.scene.bodies[self.body].contacts.clone();
        let predicted = self.bdf.predict(self.scene.time_step, &self.history);
        let nearest = &mut NearestMemory::default();
        let own = (self.body, self.time(), None);
        let drive = self.drive(&self.scene.bodies[self.body]);
        let start = (&self.history.x[..], &drive.held[..]);
        self.scene.place_contacts(own, start, &predicted, &mut contacts, nearest);
        self.scene.turn_contacts(own, &self.step, &mut contacts, nearest);
        contacts
    }

    /// By the adjoint, forward, and by duals through the momentum.
    fn differentiated(&self) -> Option<[DMatrix<f64>; 3]> {
        let body = &self.scene.bodies[self.body];
        let contacts = self.contacts();
        let predicted = self.bdf.predict(self.scene.time_step, &self.history);
        let drive = self.drive(body);
        let momentum = body.momentum(&predicted, &drive);
        let mut derivative = StepDerivative::with(
            DerivativeMemory::default(),
            momentum,
            self.bdf,
            &contacts,
            &self.step,
        )?;
        let (rows, columns) = (self.outputs.len(), self.inputs.len());
        let mut found = [(); 3].map(|()| DMatrix::zeros(rows, columns));
        for (i, [v, x]) in self.outputs.iter().enumerate() {
            let adjoint = derivative.adjoint(v, x);
            for (j, input) in self.inputs.iter().enumerate() {
                found[0][(i, j)] = input.unit * input.change.dot(&adjoint);
            }
        }
        for (j, input) in self.inputs.iter().enumerate() {
            let [mut v, mut x] = derivative.tangent(&input.change);
            let forward = self.weighed(&v, &x);
            let left = self.left_over(&input.change, &v);
            let moved = |sum: &mut [[f64; 3]], share: f64| {
                let both = sum.as_flattened_mut().iter_mut().zip(left.as_flattened());
                both.for_each(|(sum, left)| *sum -= share * left);
            };
            moved(&mut v, 1.0);
            moved(&mut x, predicted.rate);
            let residual = self.weighed(&v, &x);
            for i in 0..rows {
                found[1][(i, j)] = input.unit * forward[i];
                found[2][(i, j)] = input.unit * residual[i];
            }
        }
        Some(found)
    }

    /// What a change and that of the velocities it is said to make leave of the balance of momentum, by dual numbers through
    /// it: as velocities of the nodes (m/s). Where contacts hold, what they take up is not known, and nothing is left.
    pub fn left_over(&self, change: &StepChange, velocity: &[[f64; 3]]) -> Vec<[f64; 3]> {
        let body = &self.scene.bodies[self.body];
        let both = |x: &[[f64; 3]], dx: &[[f64; 3]]| -> Vec<[Scalar; 3]> {
            let node = |(x, dx): (&[f64; 3], &[f64; 3])| [0, 1, 2].map(|k| number(x[k], dx[k]));
            x.iter().zip(dx).map(node).collect()
        };
        let History { x, v, x_old, v_old } = &self.history;
        let history = History {
            x: both(x, &change.x),
            v: both(v, &change.v),
            x_old: both(x_old, &change.x_old),
            v_old: both(v_old, &change.v_old),
        };
        let predicted = self.bdf.predict(self.scene.time_step, &history);
        let (own, changes) = (&body.parameters, &change.parameters);
        let (material, slopes) = (&own.material, &changes.material);
        let parameters = SolidParameters {
            material: SolidMaterial {
                lame_lambda: number(material.lame_lambda, slopes.lame_lambda),
                lame_mu: number(material.lame_mu, slopes.lame_mu),
                viscosity: number(material.viscosity, slopes.viscosity),
            },
            density: number(own.density, changes.density),
            gravity: [0, 1, 2].map(|k| number(own.gravity[k], changes.gravity[k])),
        };
        let contact = |(k, contact): (usize, &VertexContact)| {
            let turned = contact.turning.turned(&change.x[contact.node]);
            let at = &contact.turning.at;
            let moved = (0..3).map(|i| turned[i] * at[i]).sum();
            VertexContact {
                node: contact.node,
                normal: [0, 1, 2].map(|i| number(contact.normal[i], turned[i])),
                offset: number(contact.offset, moved),
                surface: contact.surface,
                turning: contact.turning,
                carrier: contact.carrier,
                is_tie: contact.is_tie,
                friction: number(contact.friction, change.friction[k]),
                stiffness: number(contact.stiffness, change.stiffness[k]),
                damping: number(contact.damping, change.damping[k]),
            }
        };
        let touched = self.contacts();
        let contacts: Vec<_> = touched.iter().enumerate().map(contact).collect();
        let law = self.step.law;
        let cable = |(k, own): (usize, &Cable)| {
            let [rest, stiffness, damping] = change.cables.get(k).copied().unwrap_or_default();
            Cable {
                points: own.points.clone(),
                rest_length: number(own.rest_length, rest),
                stiffness: number(own.stiffness, stiffness),
                damping: number(own.damping, damping),
                kind: own.kind,
            }
        };
        let cables: Vec<_> = self.drive(body).cables.iter().enumerate().map(cable).collect();
        let mut momentum = Momentum::of_step(&body.elements, parameters, &predicted);
        (momentum.fixed, momentum.cables) = (&body.fixed, &cables);
        momentum.penalty = law.is_penalty().then_some(Penalty { law, contacts: &contacts });
        let u = both(&self.step.velocity, velocity);
        let (mut places, mut residual) = (Vec::new(), Vec::new());
        momentum.positions(&u, &mut places);
        momentum.residual(&u, &places, &mut residual);
        let mass = body.elements.unit_weight().iter().map(|volume| own.density * volume);
        let mut left: Nodes = (residual.iter().zip(mass))
            .map(|(sum, mass)| sum.map(|sum| sum.tangent[0] / mass))
            .collect();
        let touching = touched.iter().zip(&self.step.modes);
        for (contact, _) in touching.filter(|(_, mode)| !law.is_penalty() && **mode != Mode::Break)
        {
            left[contact.node] = [0.0; 3];
        }
        left
    }

    /// What changes at the nearest kink along a variable: `floor and node 12 of ball: stick, slide beyond`. Nothing if there is
    /// none within reach of differences.
    fn kink(&self, variables: &[f64], input: usize) -> Option<String> {
        let mut moved = variables.to_vec();
        let widths: Vec<f64> = ladder::widths(moved[input]).collect();
        let mut unsolved = false;
        for (width, sign) in widths.iter().rev().flat_map(|&width| [(width, 1.0), (width, -1.0)]) {
            moved[input] = variables[input] + sign * width;
            let (_, beyond) = self.run(&moved);
            unsolved |= !beyond.is_solved;
            if !beyond.is_solved {
                continue;
            }
            let body = &self.scene.bodies[self.body];
            let taut = self.taut(body, &self.step);
            if let Some(k) = (0..taut.len()).find(|&k| beyond.taut.get(k) != Some(&taut[k])) {
                let [here, there] = if taut[k] { ["taut", "slack"] } else { ["slack", "taut"] };
                return Some(format!("{}: {here}, {there} beyond", body.cables[k].name));
            }
            let mut modes = self.step.modes.iter().zip(&beyond.modes).enumerate();
            if let Some((k, (here, there))) = modes.find(|(_, (here, there))| here != there) {
                let mut touched = self.scene.touched();
                let ground = touched.nth(k % body.touching.len().max(1)).unwrap_or_default();
                let (node, name) = (body.contacts[k].node, &body.name);
                let (here, there) = (here.name(), there.name());
                return Some(format!("{ground}, node {node} of {name}: {here}, {there} beyond"));
            }
        }
        unsolved.then(|| "whether the step is solved".to_string())
    }
}

fn number(x: f64, dx: f64) -> Scalar {
    Scalar::new(x, [dx])
}

/// The variables of a body whose nodes are at `places`.
fn inputs(
    (scene, body): (&SoftScene, usize),
    (bdf, span): (Bdf, [f64; 2]),
    places: &[[f64; 3]],
) -> Vec<Input> {
    let own = scene.parameters().into_iter().filter(|(_, parameter)| {
        parameter.body == body && !matches!(parameter.number, SoftNumber::Start(_))
    });
    let mut inputs: Vec<Input> = own
        .map(|(name, parameter)| {
            let value = scene.value(parameter);
            let unit = if value == 0.0 { 1.0 } else { value };
            let mut change = scene.direction(parameter);
            // What it does to the start is not of the step.
            for own in [&mut change.x, &mut change.v, &mut change.x_old, &mut change.v_old] {
                own.fill([0.0; 3]);
            }
            scene.lead_change(parameter, span, places, &mut change);
            Input { name, parameter: Some(parameter), value: value / unit, change, unit }
        })
        .collect();
    let soft = &scene.bodies[body];
    let none = StepChange::none(places.len(), soft.contacts.len());
    let mut add = |name: &str, change: StepChange| {
        let name = format!("{}/{name}", soft.name);
        inputs.push(Input { name, parameter: None, value: 0.0, change, unit: 1.0 });
    };
    let fields = Fields::about(places, soft.mean(places));
    for (name, rates, field) in fields.all() {
        let change = match rates {
            true => StepChange { v: field, ..none.clone() },
            false => StepChange { x: field, ..none.clone() },
        };
        add(&name, change);
    }
    if bdf == Bdf::Two {
        add("before", StepChange { x_old: fields.bent(0.8), v_old: fields.bent(1.2), ..none });
    }
    inputs
}
