//! How far any impulses are from solving the coupled contact problem.

use super::contact_data::ContactData;
use super::coupled_contact::CoupledContact;
use super::natural_map;
use super::semismooth_newton::ContactWorkspace;
use crate::ad::Real;

impl CoupledContact {
    /// The relative natural residual of the impulses `lambda` (three a contact), whatever found
    /// them: what [`Report::residual`](super::Report::residual) says of the solution of this node.
    /// Infinite if the inputs are not admissible.
    pub fn natural_residual<T: Real>(
        &self,
        inputs: &[T],
        lambda: &[T],
        workspace: &mut ContactWorkspace<T>,
    ) -> f64 {
        let data = ContactData::new(self.contacts, self.velocities, inputs);
        if !data.is_admissible() {
            return f64::INFINITY;
        }
        let ContactWorkspace { delassus, u, .. } = workspace;
        delassus.assemble(&data);
        u.clear();
        u.resize(lambda.len(), T::zero());
        delassus.velocity(lambda, u);
        let scale = delassus.velocity_scale();
        natural_map::natural_residual(&data, delassus, lambda, u, scale)
    }
}
