//! The program whose derivatives are checked: a few steps.

use std::collections::BTreeMap;

use super::differences::Piece;
use super::ladder;
use crate::ad::{Function, Real};
use crate::argmin::Mode;
use crate::contact::{CoupleKind, Decisions, joint_condition_name, joint_conditions};
use crate::model::{Body, Model, PairSlots, Parameters, Settings, System};
use crate::simulation::{StepMemory, StepReport, Workspace, step};
use crate::state::{Coordinates, State};

/// A few steps from a state, in the tangent space.
///
/// Variables, one after the other: every single parameter of
/// [`Model::parameter_names`]; the tangent vector `[dq; dv]` that moves the initial state; the
/// inputs of the steps. Outputs: the tangent vector from the end state at [`Self::variables`] to the end
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
    variables: Vec<f64>,
    end: State<f64>,
    contact_modes: ContactModes,
}

/// What the contacts did in a run of the program: two inputs with different modes are separated by
/// a kink.
#[derive(Clone, Debug, Default)]
pub struct ContactModes {
    /// Step, contact pair, feature, mode, and what decided target and friction, of every touching
    /// contact.
    pub modes: Vec<(usize, usize, usize, Mode, Decisions)>,
    /// The touching contact pairs, and where their numbers are: of two surfaces those of the one that counts.
    pub numbers: BTreeMap<usize, PairSlots>,
    /// Step, and how many of the conditions are independent that redundant contacts share.
    pub independent: Vec<(usize, usize)>,
    /// What the end state is known to besides rounding, see [`Workspace::slip_resolution`].
    pub slip_resolution: f64,
    /// How the contact problems were solved.
    pub report: StepReport,
}

impl Piece for ContactModes {
    fn resolution(&self) -> f64 {
        self.slip_resolution
    }
}

impl PartialEq for ContactModes {
    /// Whether the modes and the numbers that count are the same, and as many problems solved.
    fn eq(&self, other: &Self) -> bool {
        (&self.modes, &self.numbers, &self.independent, self.report.unsolved)
            == (&other.modes, &other.numbers, &other.independent, other.report.unsolved)
    }
}

/// What moves a state, of each body that has coordinates: position, rotation (body frame), velocity, angular velocity. Of a joint with one
/// coordinate itself, its rate.
pub(super) fn displacement_names(model: &Model) -> Vec<String> {
    let mut names = Vec::new();
    for (letters, one) in [(["p", "r"], "q"), (["v", "w"], "v")] {
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
    names
}

impl<'a> StepProgram<'a> {
    /// `steps` steps of `system` from `state` under constant `inputs`, see [`step`]. Every
    /// run starts its solvers from `memory`.
    pub fn new(
        system: System<'a, f64>,
        state: &State<f64>,
        inputs: &[f64],
        memory: &StepMemory<f64>,
        steps: usize,
    ) -> Self {
        let System { model, parameters, settings } = system;
        let (mut names, slots): (Vec<String>, Vec<usize>) = model.named_slots().into_iter().unzip();
        let mut variables: Vec<f64> = slots.iter().map(|&slot| parameters.values[slot]).collect();
        names.extend(displacement_names(model));
        names.extend(model.input_names());
        variables.resize(slots.len() + 2 * model.nv(), 0.0);
        variables.extend(inputs);
        let mut program = StepProgram {
            model,
            parameters,
            settings,
            state: state.clone(),
            memory: memory.clone(),
            steps,
            names,
            slots,
            variables,
            end: State::default(),
            contact_modes: ContactModes::default(),
        };
        (program.end, program.contact_modes) = program.end(&program.variables);
        program
    }

    /// The names of the variables: those of the parameters; `body/px` and so on, `r` (rotation, rad,
    /// body frame), `v`, `w` for the initial state, `q`, `v` of joints with one coordinate; and those of the
    /// [inputs](Model::input_names).
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The values of the variables that the outputs are relative to.
    pub fn variables(&self) -> &[f64] {
        &self.variables
    }

    /// What the contacts do at [`Self::variables`].
    pub fn contact_modes(&self) -> &ContactModes {
        &self.contact_modes
    }

    /// What changes at the nearest kink along a variable: `upper limit of thigh: stick, break beyond`. Nothing if there
    /// is none within reach of differences.
    pub fn kink(&self, variable: usize) -> Option<String> {
        let mut moved = self.variables.clone();
        let widths: Vec<f64> = ladder::widths(moved[variable]).collect();
        let mut unsolved = false;
        for (step, sign) in widths.iter().rev().flat_map(|&step| [(step, 1.0), (step, -1.0)]) {
            moved[variable] = self.variables[variable] + sign * step;
            let (_, beyond) = self.run(&moved);
            if beyond.report.unsolved != self.contact_modes.report.unsolved {
                unsolved = true;
            } else if let Some(change) = self.change(&beyond) {
                return Some(change);
            }
        }
        unsolved.then(|| "whether contacts are solved".to_string())
    }

    /// The first difference between the modes of another run and the own ones.
    fn change(&self, beyond: &ContactModes) -> Option<String> {
        let here = &self.contact_modes;
        let of = |run: &ContactModes, (step, pair, point): (usize, usize, usize)| {
            let found = run.modes.iter().find(|m| (m.0, m.1, m.2) == (step, pair, point));
            found.map(|&(.., mode, decisions)| (mode, decisions))
        };
        let keys = here.modes.iter().chain(&beyond.modes).map(|m| (m.0, m.1, m.2));
        let mut changes = keys.map(|key| (key, of(here, key), of(beyond, key)));
        let Some(((_, pair, point), one, other)) = changes.find(|(_, one, other)| one != other)
        else {
            let mut pairs = here.numbers.iter().filter(|&(k, found)| beyond.numbers[k] != *found);
            if let Some((&pair, _)) = pairs.next() {
                return Some(format!("{}: which surface counts", self.model.pair_name(pair)));
            }
            let shares = here.independent != beyond.independent;
            return shares.then(|| "which of nearly redundant contacts hold".to_string());
        };
        let what = match usize::MAX - pair {
            id if id < joint_conditions(self.model) => joint_condition_name(self.model, id),
            _ => {
                let (point, couple) = CoupleKind::of_feature(point);
                let of = couple.map_or(String::new(), |couple| format!(", {}", couple.name()));
                format!("{}, point {point}{of}", self.model.pair_name(pair))
            }
        };
        let words = |found: Option<(Mode, Decisions)>| match found {
            None => [Mode::Break.name(); 3],
            Some((mode, (target, regime))) => [mode.name(), target.name(), regime.name()],
        };
        let differ = words(one).into_iter().zip(words(other)).find(|(a, b)| a != b);
        let (a, b) = differ.unwrap_or_default();
        Some(format!("{what}: {a}, {b} beyond"))
    }

    /// The outputs at `variables`, and what the contacts did.
    pub fn run<T: Real>(&self, variables: &[T]) -> (Vec<T>, ContactModes) {
        let (end, contact_modes) = self.end(variables);
        (end.difference(self.model.coordinates(), &self.end.cast()), contact_modes)
    }

    fn end<T: Real>(&self, variables: &[T]) -> (State<T>, ContactModes) {
        let nv = self.model.nv();
        let (numbers, rest) = variables.split_at(self.slots.len());
        let (tangent, inputs) = rest.split_at(2 * nv);
        let mut parameters = self.parameters.cast();
        for (&slot, &number) in self.slots.iter().zip(numbers) {
            parameters.values[slot] = number;
        }
        let system = System { model: self.model, parameters: &parameters, settings: self.settings };
        let mut state = self.state.cast().moved(self.model.coordinates(), tangent);
        let mut memory = self.memory.cast();
        let (mut workspace, mut next) = (Workspace::default(), state.clone());
        let mut contact_modes = ContactModes::default();
        for count in 0..self.steps {
            let report = step(&system, &state, inputs, &mut memory, &mut workspace, &mut next);
            std::mem::swap(&mut state, &mut next);
            contact_modes.report.merge(&report);
            contact_modes.slip_resolution =
                contact_modes.slip_resolution.max(workspace.slip_resolution());
            let touching = workspace.contacts().filter(|contact| contact.mode != Mode::Break);
            let numbers = |pair| (pair, parameters.pair_slots(self.model, pair));
            contact_modes.numbers.extend(touching.map(|contact| numbers(contact.pair)));
            let independent = workspace.independent();
            contact_modes.independent.extend(independent.map(|rank| (count, rank)));
            let modes = workspace.modes();
            contact_modes.modes.extend(
                modes.map(|(pair, point, mode, target)| (count, pair, point, mode, target)),
            );
        }
        (state, contact_modes)
    }
}

impl Function for StepProgram<'_> {
    fn evaluate<T: Real>(&self, variables: &[T]) -> Vec<T> {
        self.run(variables).0
    }
}
