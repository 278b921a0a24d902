//! After the first call nothing is allocated.

use stiction::ad::{Dual, LANES, Real};
use stiction::dynamics::{
    Aba, Crba, ForwardDynamicsDerivatives, Kinematics, MassFactor, MassMatrix, Rnea, RungeKutta,
    bias, forward_dynamics, forward_dynamics_derivatives, inverse_dynamics, mass_matrix, regressor,
    runge_kutta,
};
use stiction::model::{Parameters, Scene};
use stiction::state::State;

use super::models::tree;

fn allocations<T: Real>(scene: &Scene) -> u64 {
    let model = &scene.model;
    let parameters: Parameters<T> = scene.parameters.cast();
    let state: State<T> = scene.state.cast();
    let n = model.nv();
    let (mut x, mut y) = (vec![T::one(); n], vec![T::zero(); n]);
    let mut dense = vec![T::zero(); n * 10 * model.bodies.len()];
    let mut kinematics = Kinematics::default();
    let (mut aba, mut rnea, mut crba) = (Aba::default(), Rnea::default(), Crba::default());
    let (mut matrix, mut factor) = (MassMatrix::default(), MassFactor::default());
    let mut derivatives = ForwardDynamicsDerivatives::default();
    let (mut rk, mut next, mut motions) = (RungeKutta::default(), State::default(), Vec::new());
    let mut all = || {
        kinematics.update(model, &parameters, &state);
        inverse_dynamics(model, &parameters, &kinematics, &x, &mut rnea, &mut y);
        bias(&parameters, &kinematics, &mut rnea, &mut y);
        forward_dynamics(model, &parameters, &kinematics, &y, None, &mut aba, &mut x).unwrap();
        mass_matrix(model, &parameters, &kinematics, &mut crba, &mut matrix);
        factor.factor(&matrix, None).unwrap();
        factor.solve(&mut y);
        regressor(&parameters, &kinematics, &x, &mut motions, &mut dense);
        forward_dynamics_derivatives(model, &parameters, &kinematics, &x, None, &mut derivatives)
            .unwrap();
        let dt = T::constant(0.01);
        runge_kutta(model, &parameters, &state, dt, |_, _| {}, &mut rk, &mut next).unwrap();
    };
    all();
    allocation_counter::measure(all).count_total
}

#[test]
fn nothing_is_allocated_twice() {
    let scene = tree(3, 9);
    assert_eq!(allocations::<f64>(&scene), 0);
    assert_eq!(allocations::<Dual<f64, LANES>>(&scene), 0);
}
