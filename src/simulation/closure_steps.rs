//! The displacements that closed the loops of a step, each with the problem it solves: what the derivative of the closure
//! is made of.

use super::closure::Closure;
use super::step_report::StepReport;
use super::workspace::advance_trees;
use crate::contact::Contacts;
use crate::dynamics::FreeMotion;
use crate::model::System;
use crate::state::State;

/// One displacement: a step of a second from rest that nothing acts on.
#[derive(Default)]
pub(crate) struct ClosureStep {
    /// Where it starts; nothing moves.
    pub state: State<f64>,
    pub motion: FreeMotion<f64>,
    /// What it solves.
    pub contacts: Contacts<f64>,
}

/// All displacements of a step, one at least. Reused, it allocates nothing.
pub(crate) struct ClosureSteps {
    closure: Closure<f64>,
    end: State<f64>,
    steps: Vec<ClosureStep>,
    count: usize,
}

impl Default for ClosureSteps {
    fn default() -> Self {
        let (closure, end) = (Closure::displaced(), State::default());
        ClosureSteps { closure, end, steps: Vec::new(), count: 0 }
    }
}

impl ClosureSteps {
    /// Finds again how the loops were closed after the step from `state` that was solved.
    pub fn find(
        &mut self,
        system: &System<f64>,
        state: &State<f64>,
        (motion, contacts): (&FreeMotion<f64>, &Contacts<f64>),
    ) {
        self.count = 0;
        if !system.model.has_loops() {
            return;
        }
        let ClosureSteps { closure, end, steps, count } = self;
        end.q.clone_from(&state.q);
        end.v.clone_from(&state.v);
        let solved = (motion, contacts);
        advance_trees(system.model, (motion, &contacts.velocities), solved, end);
        let keep = |k: usize, start: &State<f64>, motion: &FreeMotion<f64>, contacts: &_| {
            if steps.len() == k {
                steps.push(ClosureStep::default());
            }
            let step = &mut steps[k];
            step.state.q.clone_from(&start.q);
            step.state.v.clone_from(&start.v);
            step.motion.keep(motion);
            step.contacts.keep(contacts);
        };
        closure.close_by(system, end, &mut StepReport::default(), keep);
        *count = closure.displacements();
    }

    /// The displacements, in turn.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &ClosureStep> {
        self.steps[..self.count].iter()
    }
}
