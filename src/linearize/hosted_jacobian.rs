//! What a step of rigid bodies does to small changes, up to the response of the contact problem that they share with guests.
//!
//! Changes of the state, inputs and parameters are one vector, `[dx; du; dp]`. Those of state and inputs are by the structure of the step,
//! parameters by duals; what has no such structure, as where forces depend on the state or loops are closed, goes by duals altogether.

use std::ops::Range;

use nalgebra::DMatrix;

use super::column_lanes::{ColumnLanes, Hosted, Lanes};
use super::conditions::Conditions;
use super::displacement::Point;
use super::guest_slopes::GuestSlopes;
use super::hosted_columns::HostedColumns;
use super::selection::Selection;
use super::structured::Structured;
use crate::argmin::{ContactResponse, Perturbation};
use crate::model::System;
use crate::simulation::{KnownStep, StepMemory, Workspace};
use crate::state::State;

/// A step that was taken.
#[derive(Clone, Copy)]
pub(crate) struct HostedStep<'a> {
    pub system: &'a System<'a, f64>,
    pub state: &'a State<f64>,
    pub inputs: &'a [f64],
    pub next: &'a State<f64>,
    pub known: KnownStep<'a>,
}

/// The Jacobian of a step, with its memory.
#[derive(Default)]
pub(crate) struct HostedJacobian {
    structured: Structured,
    conditions: Conditions,
    lanes: ColumnLanes,
    memory: StepMemory<f64>,
    /// dx+/dx, dx+/du and dx+/dp where the velocities at the end of the island with guests stay as they are.
    ends: [DMatrix<f64>; 3],
    /// dx+/dv+ of these velocities.
    by_velocities: DMatrix<f64>,
    /// The places in dx of the columns of the island with guests: first those of q, then of v.
    places: Vec<usize>,
    /// How many of them are velocities.
    velocities: usize,
    /// The selected inputs that act in the island, as places in the change, where columns are by structure.
    inputs: Vec<usize>,
    /// Whether columns of state and inputs are by structure.
    by_structure: bool,
    by_lanes: HostedColumns,
}

impl HostedJacobian {
    /// Linearises a step; `guests` are contacts of the island with guests, `response` its solution. False if there is no derivative of
    /// this kind.
    #[must_use]
    pub fn update(
        &mut self,
        step: HostedStep,
        selection: Selection,
        guests: Option<(&[GuestSlopes], &ContactResponse<f64>)>,
    ) -> bool {
        let HostedStep { system, state, next, known, .. } = step;
        let (model, nv) = (system.model, system.model.nv());
        let columns = [2 * nv, selection.inputs.len(), selection.parameters.len()];
        let memory = std::mem::take(&mut self.memory);
        let (inputs, closes) = (step.inputs, false);
        let at = Point { system, state, inputs, selection, memory: &memory, next, closes };
        self.conditions.factor_kept(system.settings.is_relaxed(), known.contacts);
        self.clear(columns);
        self.place(&step, guests.is_some());
        let has_structure = !model.has_state_forces()
            && !model.has_loops()
            && model.equalities.is_empty()
            && !system.settings.is_relaxed();
        self.by_structure = has_structure && self.structured(&at, known, guests);
        let known_columns = if self.by_structure { columns[0] + columns[1] } else { 0 };
        if !self.by_structure {
            self.clear(columns);
        }
        let range = known_columns..at.dimension();
        let slopes = guests.map_or(&[][..], |(slopes, _)| slopes);
        let Self { lanes, conditions, by_lanes, ends: [a, b, c], by_velocities, .. } = self;
        by_lanes.clear();
        let mut take = |pass: &Range<usize>, displaced: &Workspace<Lanes>, hosted: Hosted| {
            by_lanes.take((&range, pass), displaced, known, hosted, slopes)
        };
        let parts = (known, conditions);
        let mut found = lanes.posed(&at, range.clone(), parts, [&mut *a, b, c], &mut take);
        if found && !self.by_structure {
            let own = &self.places[self.velocities..];
            found = lanes.ends(&at, known, own.iter().map(|&place| place - nv), by_velocities);
        }
        self.memory = memory;
        let all = self.ends.iter().chain([&self.by_velocities]);
        found && all.flat_map(|matrix| matrix.iter()).all(|x| x.is_finite())
    }

    fn clear(&mut self, columns: [usize; 3]) {
        for (matrix, count) in self.ends.iter_mut().zip(columns) {
            if matrix.shape() != (columns[0], count) {
                *matrix = DMatrix::zeros(columns[0], count);
            }
            matrix.fill(0.0);
        }
        self.inputs.clear();
    }

    /// Finds which changes of the state are those of the island with guests.
    fn place(&mut self, step: &HostedStep, has_guests: bool) {
        let model = step.system.model;
        self.places.clear();
        let island = step.known.contacts.solved().find(|(island, _)| island.has_guests);
        let trees = island.filter(|_| has_guests).map(|(island, _)| island.trees.to_vec());
        let trees = trees.unwrap_or_default();
        for half in [0, model.nv()] {
            for &tree in &trees {
                self.places.extend(model.trees[tree].v.clone().map(|k| half + k));
            }
        }
        self.velocities = self.places.len() / 2;
        let shape = (2 * model.nv(), self.velocities);
        if self.by_velocities.shape() != shape {
            self.by_velocities = DMatrix::zeros(shape.0, shape.1);
        }
        self.by_velocities.fill(0.0);
    }

    /// Columns of state and inputs by the structure of the step. False if it has none of this kind.
    fn structured(
        &mut self,
        at: &Point,
        known: KnownStep,
        guests: Option<(&[GuestSlopes], &ContactResponse<f64>)>,
    ) -> bool {
        let Self { structured, conditions, ends: [a, b, _], .. } = self;
        let KnownStep { motion, contacts, .. } = known;
        if !structured.linearize(at, (motion, contacts, conditions), (a, b)) {
            return false;
        }
        let Some(guests) = guests else { return true };
        if !structured.host(at, (motion, contacts), guests, (a, b)) {
            return false;
        }
        let (columns, _) = structured.perturbed();
        let states = 2 * at.system.model.nv();
        self.inputs.extend(columns.inputs.iter().map(|&input| states + input));
        if columns.places() != self.places {
            return false;
        }
        // There what the end is by v+ stands in the columns of velocities at the start, on which it does not depend besides.
        for (k, &place) in self.places[self.velocities..].iter().enumerate() {
            self.by_velocities.set_column(k, &a.column(place));
            a.column_mut(place).fill(0.0);
        }
        true
    }

    /// The columns of the structure, as places in the change.
    fn columns(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let all = self.places.iter().chain(&self.inputs).copied().enumerate();
        all.filter(|_| self.by_structure)
    }

    /// What a change does to the end of the step where velocities of the island with guests stay as they are.
    pub fn end(&self, change: &[f64]) -> Vec<f64> {
        let mut end = vec![0.0; self.ends[0].nrows()];
        let columns = self.ends.iter().flat_map(|matrix| matrix.column_iter());
        for (column, &weight) in columns.zip(change) {
            if weight != 0.0 {
                end.iter_mut().zip(&column).for_each(|(sum, x)| *sum += weight * x);
            }
        }
        end
    }

    /// The transpose of [`end`](Self::end), and of [`add_velocities`](Self::add_velocities) to `velocities`.
    pub fn end_transpose(&self, end: &[f64], velocities: &mut [f64]) -> Vec<f64> {
        let columns = self.ends.iter().flat_map(|matrix| matrix.column_iter());
        let along = |column: &[f64]| column.iter().zip(end).map(|(a, b)| a * b).sum::<f64>();
        for (x, column) in velocities.iter_mut().zip(self.by_velocities.column_iter()) {
            *x = along(column.as_slice());
        }
        columns.map(|column| along(column.as_slice())).collect()
    }

    /// Adds what changes of velocities of the island with guests do to the end of the step.
    pub fn add_velocities(&self, velocities: &[f64], end: &mut [f64]) {
        for (column, x) in self.by_velocities.column_iter().zip(velocities) {
            end.iter_mut().zip(&column).for_each(|(sum, end)| *sum += x * end);
        }
    }

    /// Adds what a change does to momenta and conditions of the island with guests, before its masses are taken out.
    pub fn perturb(&self, change: &[f64], to: &mut Perturbation<f64>) {
        let (_, unit) = self.structured.perturbed();
        for (c, place) in self.columns().filter(|&(_, place)| change[place] != 0.0) {
            add_column(unit, c, change[place], to);
        }
        let HostedColumns { range, perturbation, .. } = &self.by_lanes;
        for (c, place) in range.clone().enumerate().filter(|&(_, place)| change[place] != 0.0) {
            add_column(perturbation, c, change[place], to);
        }
    }

    /// Adds what it does to momenta, L^-1 of that: after masses are taken out.
    pub fn perturb_momenta(&self, change: &[f64], x: &mut [f64]) {
        let HostedColumns { range, momenta, .. } = &self.by_lanes;
        for (x, row) in x.iter_mut().zip(momenta.chunks_exact(range.len().max(1))) {
            let weights = range.clone().map(|place| change[place]);
            *x += row.iter().zip(weights).map(|(x, weight)| weight * x).sum::<f64>();
        }
    }

    /// The transpose of [`perturb`](Self::perturb).
    pub fn perturb_transpose(&self, adjoint: &Perturbation<f64>, change: &mut [f64]) {
        let (_, unit) = self.structured.perturbed();
        for (c, place) in self.columns() {
            change[place] += column_along(unit, c, adjoint);
        }
        let HostedColumns { range, perturbation, .. } = &self.by_lanes;
        for (c, place) in range.clone().enumerate() {
            change[place] += column_along(perturbation, c, adjoint);
        }
    }

    /// The transpose of [`perturb_momenta`](Self::perturb_momenta).
    pub fn perturb_momenta_transpose(&self, x: &[f64], change: &mut [f64]) {
        let HostedColumns { range, momenta, .. } = &self.by_lanes;
        for (x, row) in x.iter().zip(momenta.chunks_exact(range.len().max(1))) {
            for (to, entry) in change[range.clone()].iter_mut().zip(row) {
                *to += x * entry;
            }
        }
    }
}

/// The numbers of a perturbation that count here. What is left out is zero in `of`.
fn numbers(of: &Perturbation<f64>) -> [&Vec<f64>; 4] {
    [&of.x, &of.rows, &of.offsets, &of.limits]
}

fn add_column(unit: &Perturbation<f64>, c: usize, weight: f64, to: &mut Perturbation<f64>) {
    let all = [&mut to.x, &mut to.rows, &mut to.offsets, &mut to.limits];
    for (to, from) in all.into_iter().zip(numbers(unit)) {
        let column = from.iter().skip(c).step_by(unit.columns);
        to.iter_mut().zip(column).for_each(|(to, x)| *to += weight * x);
    }
}

fn column_along(unit: &Perturbation<f64>, c: usize, adjoint: &Perturbation<f64>) -> f64 {
    let all = numbers(adjoint).into_iter().zip(numbers(unit));
    let sum = |(weights, from): (&Vec<f64>, &Vec<f64>)| -> f64 {
        let column = from.iter().skip(c).step_by(unit.columns);
        weights.iter().zip(column).map(|(w, x)| w * x).sum()
    };
    all.map(sum).sum()
}
