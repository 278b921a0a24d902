//! Forward dynamics as a node: its derivatives against those of the recursion itself.

use std::sync::Arc;

use num_traits::Zero;
use proptest::prelude::*;
use stiction::ad::{Dual, LANES, Node, NodeRule, Real, Var, vjp, with_node_rule};
use stiction::dynamics::{ForwardDynamics, ForwardDynamicsSolution};
use stiction::linalg::FactorError;
use stiction::model::{Parameters, Scene};

use super::models::tree;
use super::{accelerations_of, assert_close, cases};
use crate::random::Random;

/// The inputs of the node, moved by [dq; dv; d forces; d parameters].
fn inputs<T: Real>(scene: &Scene, forces: &[f64], x: &[T]) -> Vec<T> {
    let Scene { model, parameters, state, .. } = scene;
    let n = model.nv();
    let moved = state.cast::<T>().moved(model.coordinates(), &x[..2 * n]);
    let plus = |(&a, &x): (&f64, &T)| x + a;
    let forces = forces.iter().zip(&x[2 * n..]).map(plus);
    let parameters = parameters.values.iter().zip(&x[3 * n..]).map(plus);
    moved.q.into_iter().chain(moved.v).chain(forces).chain(parameters).collect()
}

fn call<T: Real>(node: &ForwardDynamics, inputs: &[T]) -> Vec<T> {
    let mut outputs = vec![T::zero(); node.model.nv()];
    let mut solution = ForwardDynamicsSolution::default();
    T::call(node, inputs, &mut outputs, &mut solution, &mut Default::default());
    assert_eq!(solution.failure, None);
    outputs
}

/// The accelerations moved by x, in T through the articulated-body algorithm.
fn plain<T: Real>(scene: &Scene, forces: &[f64], x: &[T]) -> Vec<T> {
    let Scene { model, state, .. } = scene;
    let n = model.nv();
    let inputs = inputs(scene, forces, x);
    let moved = state.cast::<T>().moved(model.coordinates(), &x[..2 * n]);
    let (nq, values) = (model.nq(), inputs[model.nq() + 2 * n..].to_vec());
    accelerations_of(model, &Parameters { values }, &moved, &inputs[nq + n..nq + 2 * n])
}

fn seeded<T: Real>(direction: &[f64], seed: T) -> Vec<T> {
    direction.iter().map(|&d| seed * d).collect()
}

proptest! {
    #![proptest_config(cases(25))]

    #[test]
    fn derivatives_in_state_forces_and_all_parameters(seed: u64, bodies in 1usize..10) {
        let scene = tree(seed, bodies);
        let node = ForwardDynamics { model: Arc::new(scene.model.clone()) };
        let n = scene.model.nv();
        let mut random = Random(seed);
        let mut draw = |n: usize| -> Vec<f64> { (0..n).map(|_| random.uniform(-1.0, 1.0)).collect() };
        let forces = draw(n);
        let size = 3 * n + scene.parameters.values.len();
        let weights = draw(n);
        let weighted = |out: &[f64]| -> f64 { out.iter().zip(&weights).map(|(o, w)| o * w).sum() };
        let record = |x: &[Var]| call(&node, &inputs(&scene, &forces, x));
        let (_, adjoint) = vjp(record, &vec![0.0; size], |_| weights.clone()).unwrap();
        // Every entry, so that none hides behind another.
        let mut expected = vec![0.0; size];
        for k in 0..size {
            let mut direction = vec![0.0; size];
            direction[k] = 1.0;
            let x = seeded(&direction, Dual::<f64, LANES>::variable(0.0, 0));
            let unrolled: Vec<f64> = plain(&scene, &forces, &x).iter().map(|x| x.tangent[0]).collect();
            let by_node = call(&node, &inputs(&scene, &forces, &x));
            let by_node: Vec<f64> = by_node.iter().map(|x| x.tangent[0]).collect();
            assert_close(&by_node, &unrolled, 1e-10, &format!("tangent of input {k}"));
            expected[k] = weighted(&unrolled);
        }
        assert_close(&adjoint, &expected, 1e-10, "adjoint");
        // Through the residual, and of second order.
        let direction = draw(size);
        let x = inputs(&scene, &forces, &seeded(&direction, Dual::<f64, LANES>::variable(0.0, 0)));
        let by_residual = with_node_rule(NodeRule::ByResidual, || call(&node, &x));
        let by_residual: Vec<f64> = by_residual.iter().map(|x| x.tangent[0]).collect();
        let nested = Dual::<Dual<f64, 1>, 1>::variable(Dual::variable(0.0, 0), 0);
        let exact = plain(&scene, &forces, &seeded(&direction, nested));
        let by_node = call(&node, &inputs(&scene, &forces, &seeded(&direction, nested)));
        let first: Vec<f64> = exact.iter().map(|x| x.tangent[0].value).collect();
        assert_close(&by_residual, &first, 1e-10, "by the residual");
        let second = |x: &[Dual<Dual<f64, 1>, 1>]| -> Vec<f64> {
            x.iter().map(|x| x.tangent[0].tangent[0]).collect()
        };
        assert_close(&second(&by_node), &second(&exact), 1e-8, "second derivative");
    }
}

#[test]
fn what_cannot_be_found_is_said() {
    let scene = tree(5, 4);
    let node = ForwardDynamics { model: Arc::new(scene.model.clone()) };
    let n = scene.model.nv();
    let mut outputs = vec![0.0; n];
    let mut solution = ForwardDynamicsSolution::default();
    node.primal::<f64>(&[1.0; 3], &mut outputs, &mut solution, &mut Default::default());
    assert_eq!(solution.failure, Some(FactorError::Shape));
    assert!(outputs.iter().all(|x| x.is_nan()));

    let mut massless = scene.clone();
    massless.parameters.values.fill(0.0);
    let zeros = vec![0.0; 3 * n + massless.parameters.values.len()];
    let inputs = inputs(&massless, &vec![0.0; n], &zeros);
    node.primal(&inputs, &mut outputs, &mut solution, &mut Default::default());
    assert!(matches!(solution.failure, Some(FactorError::Pivot(_))));
    assert!(outputs.iter().all(|x| x.is_nan()));
    let duals: Vec<Dual<f64, LANES>> = inputs.iter().map(|&x| Dual::variable(x, 0)).collect();
    let mut outputs = vec![Dual::zero(); n];
    Dual::call(&node, &duals, &mut outputs, &mut solution, &mut Default::default());
    assert!(outputs.iter().all(|x| x.tangent[0].is_nan()));
}
