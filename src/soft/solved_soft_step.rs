//! A step of a soft body, solved, and its derivative.

use crate::implicit::{
    Bdf, ContactStep, DerivativeMemory, Momentum, StepDerivative, VertexContact,
};

/// A step of a body, solved.
#[derive(Clone, Copy)]
pub struct SolvedSoftStep<'a> {
    /// Which body.
    pub body: usize,
    /// The momentum that was solved.
    pub momentum: Momentum<'a, f64>,
    /// The formula.
    pub bdf: Bdf,
    /// What the body touches.
    pub contacts: &'a [VertexContact],
    /// The solution.
    pub step: &'a ContactStep,
    /// Where the nodes were as it began (m).
    pub start: &'a [[f64; 3]],
}

impl<'a> SolvedSoftStep<'a> {
    /// The derivative of the step; none where it was not solved, or its conditions determine none.
    pub(super) fn derivative(&self, memory: &mut DerivativeMemory) -> Option<StepDerivative<'a>> {
        let memory = std::mem::take(memory);
        let SolvedSoftStep { momentum, bdf, contacts, step, .. } = *self;
        let solved = step.report.status.is_solved();
        solved.then(|| StepDerivative::with(memory, momentum, bdf, contacts, step)).flatten()
    }
}
