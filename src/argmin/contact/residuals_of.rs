//! How far any impulses are from solving the coupled contact problem.

use super::natural_residual::{ContactResiduals, contact_residuals, final_residual};
use super::problem::CoupledContact;
use super::solve::cascade::ContactWorkspace;

impl CoupledContact {
    /// The relative natural residual of the impulses `lambda`, whatever found them: what
    /// [`Report::residual`](super::super::Report::residual) says of the solution of this node; and the parts of
    /// Coulomb's law by themselves. Infinite if the inputs are not admissible.
    pub fn residuals_of(
        &self,
        inputs: &[f64],
        lambda: &[f64],
        workspace: &mut ContactWorkspace<f64>,
    ) -> (f64, ContactResiduals) {
        if !self.is_admissible(inputs) || lambda.len() != self.rows.rows() {
            return (f64::INFINITY, ContactResiduals::default());
        }
        let data = self.data(inputs);
        let state = &mut workspace.search.state;
        state.start(&data);
        state.lambda.copy_from_slice(lambda);
        state.follow(&data);
        let scale = state.delassus.velocity_scale();
        let (delassus, u) = (&state.delassus, &state.u);
        (
            final_residual(&data, delassus, lambda, u, scale),
            contact_residuals(&data, delassus, lambda, u, scale),
        )
    }
}
