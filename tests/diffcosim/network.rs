//! Networks against JAX, and their derivatives in all ways.

use stiction::ad::{Dual, Node, NodeRule, Real, Var, jvp, vjp, with_node_rule};
use stiction::learn::{Activation, Network, NetworkBatch, NetworkGradient, NetworkOutput};

use super::archive::{Archive, relative};
use crate::random::Random;

fn call<T: Real, N: Node<Solution = ()>>(node: &N, outputs: usize, inputs: &[T]) -> Vec<T> {
    let mut y = vec![T::zero(); outputs];
    T::call(node, inputs, &mut y, &mut (), &mut Default::default());
    y
}

#[test]
fn networks_are_those_of_another_program() {
    let Some(mut archive) = Archive::open("tasks/network.npz") else { return };
    for (name, activation) in [("softplus", Activation::Softplus), ("tanh", Activation::Tanh)] {
        let network = Network::new(&[6, 16, 12, 1], activation).unwrap();
        let weights = archive.weights(&format!("{name}_"), 3);
        let mut array = |what: &str| archive.array(&format!("{name}_{what}"));
        let [x, lambda, values, gradients, curved] =
            ["x", "lambda", "V", "gradient", "hessian_lambda"].map(&mut array);
        let of_weights = archive.weights(&format!("{name}_d"), 3);

        let found: Vec<_> = x.chunks_exact(6).map(|x| network.gradient(&weights, x)).collect();
        let found_values: Vec<f64> = found.iter().map(|(v, _)| *v).collect();
        let found: Vec<f64> = found.into_iter().flat_map(|(_, g)| g).collect();
        assert!(relative(&found_values, &values) <= 1e-14);
        assert!(relative(&found, &gradients) <= 1e-14);
        let mut batch = NetworkBatch::default();
        assert!(relative(batch.gradient(&network, &weights, &x), &gradients) <= 1e-14);

        let node = NetworkGradient(network.clone());
        let (mut sum, mut products) = (vec![0.0; weights.len()], Vec::new());
        for (x, lambda) in x.chunks_exact(6).zip(lambda.chunks_exact(6)) {
            let inputs = [&weights[..], x].concat();
            let (_, adjoints) = vjp(|x| call(&node, 6, x), &inputs, |_| lambda.to_vec()).unwrap();
            let (of_weights, of_x) = adjoints.split_at(weights.len());
            sum.iter_mut().zip(of_weights).for_each(|(s, a)| *s += a);
            products.extend_from_slice(of_x);
        }
        assert!(relative(&sum, &of_weights) <= 1e-13);
        assert!(relative(&products, &curved) <= 1e-13);
    }
}

/// Derivatives by hand, forward and in reverse, against duals through the networks themselves.
#[test]
fn derivatives_by_hand_are_those_of_duals() {
    let mut random = Random(3);
    for activation in [Activation::Softplus, Activation::Tanh, Activation::Relu] {
        for sizes in [&[3, 1][..], &[3, 5, 1], &[2, 4, 3, 2]] {
            let network = Network::new(sizes, activation).unwrap();
            let count = network.weights() + network.inputs();
            let mut numbers = |count: usize| -> Vec<f64> {
                (0..count).map(|_| random.uniform(-1.0, 1.0)).collect()
            };
            let (inputs, tangents) = (numbers(count), numbers(count));
            let output = NetworkOutput(network.clone());
            let gradient = NetworkGradient(network.clone());
            let adjoints = numbers(network.inputs().max(network.outputs()));
            check(&output, network.outputs(), &inputs, &tangents, &adjoints);
            check(&gradient, network.inputs(), &inputs, &tangents, &adjoints);
        }
    }
}

fn check<N: Node<Solution = ()>>(
    node: &N,
    outputs: usize,
    inputs: &[f64],
    tangents: &[f64],
    adjoints: &[f64],
) {
    let adjoints = &adjoints[..outputs];
    let forward = |rule| {
        let f = |x: &[Dual<f64, 1>]| call(node, outputs, x);
        with_node_rule(rule, || jvp(f, inputs, tangents)).unwrap().1
    };
    let by_hand = forward(NodeRule::ByJvp);
    for rule in [NodeRule::ByResidual, NodeRule::Unrolled] {
        let error = relative(&by_hand, &forward(rule));
        assert!(error <= 1e-13, "{rule:?}: {error:e}");
    }
    let (_, back) = vjp(|x: &[Var]| call(node, outputs, x), inputs, |_| adjoints.to_vec()).unwrap();
    let product = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let (a, b) = (product(&by_hand, adjoints), product(&back, tangents));
    assert!((a - b).abs() <= 1e-12 * a.abs().max(1.0), "{a} {b}");
}

#[test]
fn networks_that_cannot_be_are_refused() {
    assert!(Network::new(&[3], Activation::Tanh).is_err());
    assert!(Network::new(&[3, 0, 1], Activation::Tanh).is_err());
}

#[test]
fn first_weights_are_orthogonal() {
    let network = Network::new(&[4, 6, 1], Activation::Softplus).unwrap();
    let weights = network.random(&mut super::start::random(2));
    assert_eq!(weights.len(), network.weights());
    for i in 0..4 {
        for j in 0..4 {
            let product: f64 = (0..6).map(|k| weights[k * 4 + i] * weights[k * 4 + j]).sum();
            let expected = f64::from(u8::from(i == j));
            assert!((product - expected).abs() <= 1e-14, "{i} {j}: {product}");
        }
    }
    assert!(weights[24..30].iter().all(|b| b.abs() <= 0.5));
}
