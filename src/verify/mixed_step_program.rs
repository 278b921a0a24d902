//! A step of soft and rigid bodies together as a function of numbers, differentiated in several ways.

use std::borrow::Cow;

use nalgebra::DMatrix;

use super::differences::{self, Piece};
use super::program::displacement_names;
use super::soft_fields::{Fields, Nodes, outputs, unit_share};
use super::{Derivatives, Gradcheck, ladder};
use crate::argmin::Mode;
use crate::contact::Decisions;
use crate::implicit::StepChange;
use crate::model::Scene;
use crate::simulation::StepReport;
use crate::soft::{
    MixedChange, MixedEnd, MixedEnds, SoftBody, SoftMoment, SoftNumber, SoftParameter, SoftRollout,
    SoftScene,
};
use crate::state::State;

/// The next step of all bodies in a motion.
///
/// Variables, one after the other: each parameter of the scene ([`SoftScene::parameters`] but those of the start), how far the nodes of
/// each soft body are moved and how much faster they go (as of [`SoftStepProgram`](super::SoftStepProgram)), and the tangent vector that
/// moves the state of the rigid bodies (as of [`StepProgram`](super::StepProgram)). The unit of each that is of soft bodies is such that its
/// largest derivative is 1, if it has an effect. Outputs: of each soft body mean velocity and sums with weights, and how far the rigid bodies end from
/// where they do.
#[derive(Clone, Debug)]
pub struct MixedStepProgram<'a> {
    scene: &'a SoftScene,
    rigid: &'a Scene,
    start: SoftMoment,
    end: State<f64>,
    inputs: Vec<Input>,
    /// Of each output its weights.
    outputs: Vec<MixedEnd>,
    modes: MixedModes,
    report: StepReport,
    /// By the adjoint, and forward; none where the step has no derivative.
    jacobians: Option<[DMatrix<f64>; 2]>,
}

/// A variable.
#[derive(Clone, Debug)]
struct Input {
    name: String,
    /// Not of the state.
    parameter: Option<SoftParameter>,
    /// Of soft bodies: in one step the effect of a material is small.
    is_soft: bool,
    value: f64,
    /// What a change of the number itself by 1 is.
    change: MixedChange,
    unit: f64,
}

/// What all contacts did in a step of soft and rigid bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct MixedModes {
    soft: Vec<Vec<Mode>>,
    rigid: Vec<(usize, usize, Mode, Decisions)>,
    is_solved: bool,
}

impl Piece for MixedModes {}

impl<'a> MixedStepProgram<'a> {
    /// The step that comes next; nothing without rigid bodies.
    pub fn new(rollout: &SoftRollout<'a>) -> Option<Self> {
        let scene = rollout.scene();
        let rigid = scene.rigid.as_deref()?;
        let start = rollout.moment();
        let (parameters, inputs) = inputs(scene, rigid, &start);
        let outputs = all_outputs(scene, rigid);
        let mut next = SoftRollout::resumed(scene, &start);
        let changes: Vec<MixedChange> = inputs.iter().map(|input| input.change.clone()).collect();
        let asked = scene.asked(&parameters);
        let (report, found) = next.step_differentiated(&asked, &changes, &outputs);
        let mut step = StepReport { steps: 1, worst: report.worst, ..StepReport::default() };
        step.unsolved = usize::from(report.unsolved > 0);
        let mut program = MixedStepProgram {
            scene,
            rigid,
            end: next.rigid_state()?.clone(),
            modes: modes(&next, report.unsolved == 0),
            start,
            inputs,
            outputs,
            report: step,
            jacobians: None,
        };
        let found = found.filter(|_| report.unsolved == 0);
        program.jacobians = found.map(|found| program.jacobians_of(&found));
        if let Some(jacobians) = &mut program.jacobians {
            let of_soft = program.inputs.iter_mut().enumerate().filter(|(_, own)| own.is_soft);
            for (j, input) in of_soft {
                let share = unit_share(jacobians[0].column(j).amax());
                input.unit /= share;
                input.value *= share;
                jacobians.iter_mut().for_each(|jacobian| jacobian.column_mut(j).unscale_mut(share));
            }
        }
        Some(program)
    }

    /// The names of the variables: `box/mass`, `ball/viscosity`, `ball/px`, `box/rx`.
    pub fn names(&self) -> Vec<String> {
        self.inputs.iter().map(|input| input.name.clone()).collect()
    }

    fn jacobians_of(&self, (ends, adjoints): &MixedEnds) -> [DMatrix<f64>; 2] {
        let entry = |i: usize, j: usize| {
            let (own, adjoint) = (&self.inputs[j], &adjoints[i]);
            let soft: f64 = own.change.soft.iter().zip(&adjoint.soft).map(|(x, y)| x.dot(y)).sum();
            let numbers = [
                (&own.change.rigid, &adjoint.rigid),
                (&own.change.inputs, &adjoint.inputs),
                (&own.change.parameters, &adjoint.parameters),
            ];
            let along = |(x, y): (&Vec<f64>, &Vec<f64>)| -> f64 {
                x.iter().zip(y).map(|(x, y)| x * y).sum()
            };
            own.unit * (soft + numbers.into_iter().map(along).sum::<f64>())
        };
        let shape = (self.outputs.len(), self.inputs.len());
        let adjoint = DMatrix::from_fn(shape.0, shape.1, entry);
        let forward = DMatrix::from_fn(shape.0, shape.1, |i, j| {
            self.inputs[j].unit * weighed(&self.outputs[i], &ends[j].0, &ends[j].1)
        });
        [adjoint, forward]
    }

    /// The outputs at `variables`, and what the contacts did.
    pub fn run(&self, variables: &[f64]) -> (Vec<f64>, MixedModes) {
        let mut scene = Cow::Borrowed(self.scene);
        let mut start = self.start.clone();
        let mut moved = vec![0.0; 2 * self.rigid.model.nv()];
        for (input, &x) in self.inputs.iter().zip(variables) {
            match input.parameter {
                _ if x == input.value => {}
                Some(parameter) => scene.to_mut().set(parameter, x * input.unit),
                None => {
                    for ([places, velocities], change) in
                        start.soft.iter_mut().zip(&input.change.soft)
                    {
                        for (own, change) in [(places, &change.x), (velocities, &change.v)] {
                            let flat = own.as_flattened_mut().iter_mut().zip(change.as_flattened());
                            flat.for_each(|(own, change)| *own += x * input.unit * change);
                        }
                    }
                    let rigid = moved.iter_mut().zip(&input.change.rigid);
                    rigid.for_each(|(own, change)| *own += x * input.unit * change);
                }
            }
        }
        let coordinates = || self.rigid.model.coordinates();
        start.rigid = start.rigid.map(|state| state.moved(coordinates(), &moved));
        let mut rollout = SoftRollout::resumed(&scene, &start);
        let report = rollout.step();
        let modes = modes(&rollout, report.unsolved == 0);
        let soft: Vec<[Nodes; 2]> =
            rollout.moment().soft.into_iter().map(|[x, v]| [v, x]).collect();
        let rigid = rollout.rigid_state().map(|end| end.difference(coordinates(), &self.end));
        let rigid = rigid.unwrap_or_default();
        (self.outputs.iter().map(|output| weighed(output, &soft, &rigid)).collect(), modes)
    }

    /// Its Jacobian by the adjoint, forward, and by differences, compared. Of [`Errors`](super::Errors), `tape` is then the adjoint, `dual`
    /// what is forward, and there is nothing else. Without a derivative, or a solution, nothing is compared; nothing at all where `go_on`,
    /// asked before each value, says no.
    pub fn check_while_wanted(&self, go_on: &mut dyn FnMut() -> bool) -> Option<Gradcheck> {
        let mut check = Gradcheck { report: self.report, ..Gradcheck::default() };
        let Some([tape, dual]) = self.jacobians.clone() else { return Some(check) };
        let x: Vec<f64> = self.inputs.iter().map(|input| input.value).collect();
        let (residual, unrolled) = (tape.clone(), tape.clone());
        let mut derivatives =
            Derivatives { tape, dual, residual, unrolled, differences: Vec::new() };
        let scales = derivatives.row_scales();
        let run = |x: &[f64]| self.run(x);
        derivatives.differences = differences::columns(run, &x, &derivatives.tape, &scales, go_on)?;
        check =
            Gradcheck { report: check.report, ..Gradcheck::compare(&self.names(), &derivatives) };
        let all = check.name_kinks(go_on, |input| self.kink(&x, input));
        all.then_some(check)
    }

    /// Whose contacts change at the nearest kink along a variable. Nothing if there is none within reach of differences.
    fn kink(&self, variables: &[f64], input: usize) -> Option<String> {
        let mut moved = variables.to_vec();
        let widths: Vec<f64> = ladder::widths(moved[input]).collect();
        for (width, sign) in widths.iter().rev().flat_map(|&width| [(width, 1.0), (width, -1.0)]) {
            moved[input] = variables[input] + sign * width;
            let (_, beyond) = self.run(&moved);
            if !beyond.is_solved {
                return Some("whether the step is solved".to_string());
            }
            let own = self.modes.soft.iter().zip(&beyond.soft);
            if let Some(body) = own.clone().position(|(here, there)| here != there) {
                return Some(format!("what {} touches", self.scene.bodies[body].name));
            }
            if self.modes.rigid != beyond.rigid {
                return Some("contacts or joints of rigid bodies".to_string());
            }
        }
        None
    }
}

fn modes(rollout: &SoftRollout, is_solved: bool) -> MixedModes {
    let soft = 0..rollout.states().len();
    MixedModes {
        soft: soft.map(|body| rollout.next_step(body).2.modes.clone()).collect(),
        rigid: rollout.rigid_modes().collect(),
        is_solved,
    }
}

fn weighed((soft, rigid): &MixedEnd, ends: &[[Nodes; 2]], moved: &[f64]) -> f64 {
    let along = |x: &[[f64; 3]], y: &[[f64; 3]]| -> f64 {
        x.as_flattened().iter().zip(y.as_flattened()).map(|(x, y)| x * y).sum()
    };
    let both =
        |([v, x], [end_v, end_x]): (&[Nodes; 2], &[Nodes; 2])| along(v, end_v) + along(x, end_x);
    let rigid: f64 = rigid.iter().zip(moved).map(|(x, y)| x * y).sum();
    soft.iter().zip(ends).map(both).sum::<f64>() + rigid
}

/// All parameters that count, and the variables.
fn inputs(
    scene: &SoftScene,
    rigid: &Scene,
    start: &SoftMoment,
) -> (Vec<SoftParameter>, Vec<Input>) {
    let span = scene.span(start.steps);
    let mut named = scene.parameters();
    named.retain(|(_, own)| {
        !matches!(own.number, SoftNumber::Start(_) | SoftNumber::RigidVelocity(_))
    });
    let parameters: Vec<SoftParameter> = named.iter().map(|(_, parameter)| *parameter).collect();
    let asked = scene.asked(&parameters);
    let none = |parameter: Option<SoftParameter>| {
        // What it does to the start is not of the step.
        let any = parameter.or(parameters.first().copied());
        let mut change = any.map(|own| scene.mixed_direction(own, &asked)).unwrap_or_default();
        for soft in &mut change.soft {
            for own in [&mut soft.x, &mut soft.v, &mut soft.x_old, &mut soft.v_old] {
                own.fill([0.0; 3]);
            }
        }
        change.rigid.fill(0.0);
        change
    };
    let mut inputs: Vec<Input> = named
        .into_iter()
        .map(|(name, parameter)| {
            let value = scene.value(parameter);
            let unit = if value == 0.0 { 1.0 } else { value };
            let mut change = none(Some(parameter));
            if let (Some(own), Some([x, _])) =
                (change.soft.get_mut(parameter.body), start.soft.get(parameter.body))
            {
                scene.lead_change(parameter, span, x, own);
            }
            scene.acting_change(parameter, span[0], &asked, &mut change.inputs);
            let is_soft = parameter.body < scene.bodies.len();
            let parameter = Some(parameter);
            Input { name, parameter, is_soft, value: value / unit, change, unit }
        })
        .collect();
    let mut still = none(None);
    still.inputs.fill(0.0);
    still.parameters.fill(0.0);
    for (body, own) in scene.bodies.iter().enumerate() {
        let nodes = own.position.len();
        still.soft[body] = StepChange::none(nodes, own.contacts.len());
    }
    let mut add = |name: String, is_soft: bool, change: MixedChange| {
        inputs.push(Input { name, parameter: None, is_soft, value: 0.0, change, unit: 1.0 });
    };
    for (body, (own, [places, _])) in scene.bodies.iter().zip(&start.soft).enumerate() {
        for (name, rates, field) in Fields::about(places, own.mean(places)).all() {
            let mut change = still.clone();
            let soft = &mut change.soft[body];
            *(if rates { &mut soft.v } else { &mut soft.x }) = field;
            add(format!("{}/{name}", own.name), true, change);
        }
    }
    for (k, name) in displacement_names(&rigid.model).into_iter().enumerate() {
        let mut change = still.clone();
        change.rigid[k] = 1.0;
        add(name, false, change);
    }
    (parameters, inputs)
}

/// The weights of each output.
fn all_outputs(scene: &SoftScene, rigid: &Scene) -> Vec<MixedEnd> {
    let zero = |body: &SoftBody| [0, 1].map(|_| vec![[0.0; 3]; body.position.len()]);
    let none: Vec<[Nodes; 2]> = scene.bodies.iter().map(zero).collect();
    let still = vec![0.0; 2 * rigid.model.nv()];
    let mut all = Vec::new();
    for (body, own) in scene.bodies.iter().enumerate() {
        for weights in outputs(own.position.len()) {
            let mut soft = none.clone();
            soft[body] = weights;
            all.push((soft, still.clone()));
        }
    }
    for k in 0..still.len() {
        let mut rigid = still.clone();
        rigid[k] = 1.0;
        all.push((none.clone(), rigid));
    }
    all
}
