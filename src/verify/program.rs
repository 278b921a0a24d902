//! The program whose derivatives are checked: a few steps.

use super::ladder;
use crate::ad::{Function, Real};
use crate::argmin::Mode;
use crate::contact::{Decisions, joint_condition_name, joint_conditions};
use crate::model::{Body, Model, Parameters, Settings, System};
use crate::simulation::{StepMemory, StepReport, Workspace, step};
use crate::state::{Coordinates, State};

/// A few steps from a state, in the tangent space.
///
/// Inputs, one after the other: every single parameter of
/// [`Model::parameter_names`]; the tangent vector `[dq; dv]` that moves the initial state; the
/// wrenches. Outputs: the tangent vector from the end state at [`Self::inputs`] to the end
/// state, `[dq; dv]`.
#[derive(Clone, Debug)]
pub struct StepProgram<'a> {
    model: &'a Model,
    parameters: &'a Parameters<f64>,
    settings: &'a Settings,
    state: State<f64>,
    memory: StepMemory<f64>,
    steps: usize,
    names: Vec<String>,
    /// The slot of each parameter.
    slots: Vec<usize>,
    inputs: Vec<f64>,
    end: State<f64>,
    regime: Regime,
}

/// What the contacts did in a run of the program: two inputs with different modes are separated by
/// a kink.
#[derive(Clone, Debug, Default)]
pub struct Regime {
    /// Step, contact pair, feature, mode, and what decided target and friction, of every touching
    /// contact.
    pub modes: Vec<(usize, usize, usize, Mode, Decisions)>,
    /// How the contact problems were solved.
    pub report: StepReport,
}

impl PartialEq for Regime {
    /// Whether the modes are the same, and as many problems solved.
    fn eq(&self, other: &Self) -> bool {
        self.modes == other.modes && self.report.unsolved == other.report.unsolved
    }
}

impl<'a> StepProgram<'a> {
    /// `steps` steps of `system` from `state` under constant `wrenches`, see [`step`]. Every run starts its solvers
    /// from `memory`.
    pub fn new(
        system: System<'a, f64>,
        state: &State<f64>,
        wrenches: &[f64],
        memory: &StepMemory<f64>,
        steps: usize,
    ) -> Self {
        let System { model, parameters, settings } = system;
        let (mut names, slots): (Vec<String>, Vec<usize>) = model.named_slots().into_iter().unzip();
        let mut inputs: Vec<f64> = slots.iter().map(|&slot| parameters.values[slot]).collect();
        // Position, rotation (body frame), velocity, angular velocity; force, torque. Of a joint with
        // one coordinate itself, its rate, its force.
        for (letters, one) in [(["p", "r"], "q"), (["v", "w"], "v"), (["f", "t"], "f")] {
            for Body { name, joint, .. } in &model.bodies {
                let letters = match joint.kind.coordinates() {
                    None => &[][..],
                    Some(Coordinates::Pose) => &letters,
                    Some(Coordinates::Rotation) => &letters[1..],
                    Some(Coordinates::Number) => {
                        names.push(format!("{name}/{one}"));
                        &[]
                    }
                };
                for letter in letters {
                    names.extend(["x", "y", "z"].map(|axis| format!("{name}/{letter}{axis}")));
                }
            }
        }
        names.extend(model.actuators.iter().map(|actuator| format!("{}/u", actuator.name)));
        inputs.resize(slots.len() + 2 * model.nv(), 0.0);
        inputs.extend(wrenches);
        let mut program = StepProgram {
            model,
            parameters,
            settings,
            state: state.clone(),
            memory: memory.clone(),
            steps,
            names,
            slots,
            inputs,
            end: State::default(),
            regime: Regime::default(),
        };
        (program.end, program.regime) = program.end(&program.inputs);
        program
    }

    /// The names of the inputs: those of the parameters; `body/px` and so on, `r` (rotation, rad,
    /// body frame), `v`, `w` for the initial state; `f`, `t` for the loads; `q`, `v`, `f` of joints with one
    /// coordinate; `u` of actuators.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The inputs that the outputs are relative to.
    pub fn inputs(&self) -> &[f64] {
        &self.inputs
    }

    /// What the contacts do at [`Self::inputs`].
    pub fn regime(&self) -> &Regime {
        &self.regime
    }

    /// What changes at the nearest kink along an input: `upper limit of thigh: stick, break beyond`. Nothing if there is none
    /// within reach of differences.
    pub fn kink(&self, input: usize) -> Option<String> {
        let mut moved = self.inputs.clone();
        let widths: Vec<f64> = ladder::widths(moved[input]).collect();
        let mut unsolved = false;
        for (step, sign) in widths.iter().rev().flat_map(|&step| [(step, 1.0), (step, -1.0)]) {
            moved[input] = self.inputs[input] + sign * step;
            let (_, beyond) = self.run(&moved);
            if beyond.report.unsolved != self.regime.report.unsolved {
                unsolved = true;
            } else if let Some(change) = self.change(&beyond) {
                return Some(change);
            }
        }
        unsolved.then(|| "whether contacts are solved".to_string())
    }

    /// The first difference between the modes of a regime and the own ones.
    fn change(&self, beyond: &Regime) -> Option<String> {
        let here = &self.regime;
        let of = |regime: &Regime, (step, pair, point): (usize, usize, usize)| {
            let found = regime.modes.iter().find(|m| (m.0, m.1, m.2) == (step, pair, point));
            found.map(|&(.., mode, decisions)| (mode, decisions))
        };
        let keys = here.modes.iter().chain(&beyond.modes).map(|m| (m.0, m.1, m.2));
        let mut changes = keys.map(|key| (key, of(here, key), of(beyond, key)));
        let ((_, pair, point), one, other) = changes.find(|(_, one, other)| one != other)?;
        let what = match usize::MAX - pair {
            id if id < joint_conditions(self.model) => joint_condition_name(self.model, id),
            _ => format!("{}, point {point}", self.model.pair_name(pair)),
        };
        let words = |found: Option<(Mode, Decisions)>| match found {
            None => [Mode::Break.name(); 3],
            Some((mode, (target, regime))) => [mode.name(), target.name(), regime.name()],
        };
        let differ = words(one).into_iter().zip(words(other)).find(|(a, b)| a != b);
        let (a, b) = differ.unwrap_or_default();
        Some(format!("{what}: {a}, {b} beyond"))
    }

    /// The outputs at `inputs`, and what the contacts did.
    pub fn run<T: Real>(&self, inputs: &[T]) -> (Vec<T>, Regime) {
        let (end, regime) = self.end(inputs);
        (end.difference(self.model.coordinates(), &self.end.cast()), regime)
    }

    fn end<T: Real>(&self, inputs: &[T]) -> (State<T>, Regime) {
        let nv = self.model.nv();
        let (numbers, rest) = inputs.split_at(self.slots.len());
        let (tangent, wrenches) = rest.split_at(2 * nv);
        let mut parameters = self.parameters.cast();
        for (&slot, &number) in self.slots.iter().zip(numbers) {
            parameters.values[slot] = number;
        }
        let system = System { model: self.model, parameters: &parameters, settings: self.settings };
        let mut state = self.state.cast().moved(self.model.coordinates(), tangent);
        let mut memory = self.memory.cast();
        let (mut workspace, mut next) = (Workspace::default(), state.clone());
        let mut regime = Regime::default();
        for count in 0..self.steps {
            let report = step(&system, &state, wrenches, &mut memory, &mut workspace, &mut next);
            std::mem::swap(&mut state, &mut next);
            regime.report.merge(&report);
            let modes = workspace.modes();
            regime.modes.extend(
                modes.map(|(pair, point, mode, target)| (count, pair, point, mode, target)),
            );
        }
        (state, regime)
    }
}

impl Function for StepProgram<'_> {
    fn evaluate<T: Real>(&self, inputs: &[T]) -> Vec<T> {
        self.run(inputs).0
    }
}
