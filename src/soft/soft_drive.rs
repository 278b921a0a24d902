//! What leads a soft body in a step: its cables as they are pulled, its nodes as they are held.

use super::soft_hold::SoftHold;
use super::soft_scene::SoftBody;
use crate::implicit::{Cable, HeldNode, Momentum, Predicted, StepChange};

/// What leads a body in a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SoftDrive {
    /// Its cables, as they are pulled as the step ends.
    pub cables: Vec<Cable>,
    /// Its held nodes, in the order of its holds.
    pub held: Vec<HeldNode>,
}

impl SoftBody {
    /// What leads it over a `span` (s).
    pub fn drive(&self, span: [f64; 2], drive: &mut SoftDrive) {
        if drive.cables.len() != self.cables.len() {
            drive.cables = self.cables.iter().map(|own| own.cable.clone()).collect();
        }
        for (to, own) in drive.cables.iter_mut().zip(&self.cables) {
            to.rest_length = own.rest_length(span[1]);
        }
        drive.held.clear();
        let holds = self.holds.iter();
        drive.held.extend(holds.flat_map(|own: &SoftHold| own.lead(&self.position, span)));
    }

    /// How its nodes start (m/s): those that are held as they are led in the first step, over a `span` (s).
    pub fn start_velocity(&self, span: [f64; 2]) -> Vec<[f64; 3]> {
        let (mut velocity, step) = (self.velocity.clone(), span[1] - span[0]);
        for held in self.holds.iter().flat_map(|own| own.lead(&self.position, span)) {
            let (x, end) = (&self.position[held.node], held.end(&self.position[held.node]));
            velocity[held.node] = [0, 1, 2].map(|k| (end[k] - x[k]) / step);
        }
        velocity
    }

    /// How the start of held nodes changes with that of their places, and how they are led: what is in `change`.
    pub(super) fn start_slopes(&self, span: [f64; 2], change: &mut StepChange) {
        let step = span[1] - span[0];
        let all = self.holds.iter().flat_map(|own| own.lead(&self.position, span));
        for (k, held) in all.enumerate() {
            let (x, turned) = (change.x[held.node], held.turned(&change.x[held.node]));
            let led = change.held.get(k).copied().unwrap_or_default();
            change.v[held.node] = [0, 1, 2].map(|i| (turned[i] + led[i] - x[i]) / step);
        }
    }

    /// The momentum of a step in which it is led.
    pub fn momentum<'a>(
        &'a self,
        predicted: &'a Predicted<f64>,
        drive: &'a SoftDrive,
    ) -> Momentum<'a, f64> {
        let SoftDrive { cables, held } = drive;
        let free = Momentum::of_step(&self.elements, self.parameters, predicted);
        Momentum { fixed: &self.fixed, held, cables, ..free }
    }

    /// The force of each hold on the body (N), in a step that was solved: what the momentum of the held nodes lacks without.
    pub fn hold_forces(
        &self,
        momentum: &Momentum<f64>,
        (u, x): (&[[f64; 3]], &[[f64; 3]]),
        memory: &mut Vec<[f64; 3]>,
        forces: &mut Vec<[f64; 3]>,
    ) {
        forces.clear();
        if self.holds.is_empty() {
            return;
        }
        Momentum { fixed: &[], ..*momentum }.residual(u, x, memory);
        forces.extend(self.holds.iter().map(|hold| {
            let own = hold.nodes.iter().filter_map(|&node| memory.get(node));
            let add = |sum: [f64; 3], p: &[f64; 3]| [0, 1, 2].map(|k| sum[k] + p[k]);
            own.fold([0.0; 3], add).map(|p| p / momentum.rate())
        }));
    }
}
