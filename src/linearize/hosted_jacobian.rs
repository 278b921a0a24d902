//! What a step of rigid bodies does to small changes, up to the response of the contact problem that they share with guests.

use nalgebra::DMatrix;

use super::conditions::Conditions;
use super::displacement::Point;
use super::guest_slopes::GuestSlopes;
use super::selection::Selection;
use super::structured::Structured;
use crate::argmin::{ContactResponse, Perturbation};
use crate::contact::Contacts;
use crate::dynamics::FreeMotion;
use crate::model::System;
use crate::simulation::StepMemory;
use crate::state::State;

/// A step that was taken.
#[derive(Clone, Copy)]
pub(crate) struct HostedStep<'a> {
    pub system: &'a System<'a, f64>,
    pub state: &'a State<f64>,
    pub inputs: &'a [f64],
    pub next: &'a State<f64>,
    pub motion: &'a FreeMotion<f64>,
    pub contacts: &'a Contacts<f64>,
}

/// The Jacobian of a step, with its memory.
#[derive(Default)]
pub(crate) struct HostedJacobian {
    structured: Structured,
    conditions: Conditions,
    memory: StepMemory<f64>,
    /// dx+/dx and dx+/du of trees that no guest is in an island with. Of the others: what the end is by where they begin, and in the columns of
    /// velocities by v+.
    pub a: DMatrix<f64>,
    pub b: DMatrix<f64>,
    /// The places in dx, then those in the selected inputs, of the columns of the island with guests; of its velocities first those of
    /// q, then of v.
    pub places: Vec<usize>,
    /// How many of them are velocities.
    pub velocities: usize,
    /// The selected inputs that act in the island.
    pub inputs: Vec<usize>,
}

impl HostedJacobian {
    /// Linearises a step; `guests` are contacts of the island with guests, `response` its solution. False if there is no derivative of
    /// this kind.
    #[must_use]
    pub fn update(
        &mut self,
        step: HostedStep,
        inputs: &[usize],
        guests: Option<(&[GuestSlopes], &ContactResponse<f64>)>,
    ) -> bool {
        let HostedStep { system, state, next, motion, contacts, .. } = step;
        let nv = system.model.nv();
        if system.model.has_state_forces() || system.model.has_loops() {
            return false;
        }
        for (matrix, columns) in [(&mut self.a, 2 * nv), (&mut self.b, inputs.len())] {
            if matrix.shape() != (2 * nv, columns) {
                *matrix = DMatrix::zeros(2 * nv, columns);
            }
            matrix.fill(0.0);
        }
        self.places.clear();
        self.inputs.clear();
        self.velocities = 0;
        let selection = Selection { inputs, parameters: &[] };
        let memory = &self.memory;
        let (inputs, closes) = (step.inputs, false);
        let at = Point { system, state, inputs, selection, memory, next, closes };
        self.conditions.factor_kept(contacts);
        let to = (&mut self.a, &mut self.b);
        let parts = (motion, contacts, &mut self.conditions);
        if !self.structured.linearize(&at, parts, to) {
            return false;
        }
        let Some(guests) = guests else { return true };
        let to = (&mut self.a, &mut self.b);
        if !self.structured.host(&at, (motion, contacts), guests, to) {
            return false;
        }
        let (columns, _) = self.structured.perturbed();
        self.places.extend_from_slice(columns.places());
        self.inputs.extend_from_slice(&columns.inputs);
        self.velocities = columns.velocities;
        true
    }

    /// What the columns of the island with guests do to its momenta and conditions, before its masses are taken out.
    pub fn perturbation(&self) -> &Perturbation<f64> {
        self.structured.perturbed().1
    }
}
