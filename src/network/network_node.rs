//! Networks as nodes: inputs are the weights and x, outputs y(x), or the gradient of V(x). One call is one entry of a tape, however
//! many weights there are.
//!
//! The adjoint lambda of g = grad V makes lambda'g, which is the derivative of V along lambda. With u_k = W_k t_(k-1), t_k = s'(z_k) u_k
//! from t_0 = lambda, and g_k = dV/dh_k, the adjoints of z_k are
//!
//! ```text
//! zeta_k = s''(z_k) u_k g_k + s'(z_k) W_(k+1)' zeta_(k+1),   zeta = 0 at the output,
//! dW_k = zeta_k h_(k-1)' + (s' g)_k t_(k-1)',   db_k = zeta_k,   dx = W_1' zeta_1,
//! ```
//!
//! and the last row of weights has dw = t. No second derivative of the network is formed.

use super::perceptron::{Layer, Network, Pass};
use crate::ad::{Node, Real};
use crate::linalg::{add_scaled, wide_dot};

/// y(x) as a node.
#[derive(Clone, Debug)]
pub struct NetworkOutput(pub Network);

/// The gradient of the first output as a node.
#[derive(Clone, Debug)]
pub struct NetworkGradient(pub Network);

/// Memory of a node's derivative.
#[derive(Clone, Debug, Default)]
pub struct NetworkPass<T> {
    pass: Pass<T>,
    /// t_k.
    along: Vec<Vec<T>>,
    /// u_k.
    moved: Vec<Vec<T>>,
    adjoint: Vec<T>,
    before: Vec<T>,
}

/// Weights and x.
fn split<'a, T>(network: &Network, inputs: &'a [T]) -> (&'a [T], &'a [T]) {
    inputs.split_at(network.weights().min(inputs.len()))
}

/// dz = dW h + W dh + db of a layer.
fn layer_tangent<T: Real>(
    layer: &Layer,
    weights: &[T],
    changes: &[T],
    h: &[T],
    dh: &[T],
) -> Vec<T> {
    let rows = layer.matrix(weights).chunks_exact(layer.inputs);
    let changed = layer.matrix(changes).chunks_exact(layer.inputs);
    let pairs = rows.zip(changed).zip(layer.bias(changes));
    pairs.map(|((row, change), &b)| wide_dot(row, dh) + wide_dot(change, h) + b).collect()
}

impl Node for NetworkOutput {
    type Solution = ();
    type Workspace<T: Real> = ();
    type Factor<T: Real> = NetworkPass<T>;

    fn primal<T: Real>(&self, inputs: &[T], outputs: &mut [T], _: &mut (), _: &mut ()) {
        let (weights, x) = split(&self.0, inputs);
        outputs.copy_from_slice(&self.0.value(weights, x));
    }

    fn residual<T: Real>(&self, _: &(), inputs: &[T], outputs: &[T], residual: &mut [T]) {
        let (weights, x) = split(&self.0, inputs);
        let y = self.0.value(weights, x);
        for ((r, &output), y) in residual.iter_mut().zip(outputs).zip(y) {
            *r = output - y;
        }
    }

    fn factor<T: Real>(&self, _: &(), inputs: &[T], _: &[T], factor: &mut NetworkPass<T>) {
        let (weights, x) = split(&self.0, inputs);
        factor.pass.forward(&self.0, weights, x);
    }

    fn jvp<T: Real>(
        &self,
        _: &(),
        factor: &mut NetworkPass<T>,
        inputs: &[T],
        _: &[T],
        input_tangents: &[T],
        output_tangents: &mut [T],
    ) {
        let (weights, _) = split(&self.0, inputs);
        let (changes, dx) = split(&self.0, input_tangents);
        let mut along = dx.to_vec();
        for (k, layer) in self.0.layers().iter().enumerate() {
            along = layer_tangent(layer, weights, changes, &factor.pass.values[k], &along);
            if let Some(slopes) = factor.pass.slopes.get(k) {
                along.iter_mut().zip(slopes).for_each(|(a, &slope)| *a *= slope);
            }
        }
        output_tangents.copy_from_slice(&along);
    }

    fn vjp<T: Real>(
        &self,
        _: &(),
        factor: &mut NetworkPass<T>,
        inputs: &[T],
        _: &[T],
        output_adjoints: &[T],
        input_adjoints: &mut [T],
    ) {
        let (weights, _) = split(&self.0, inputs);
        let (weight_adjoints, x_adjoints) = input_adjoints.split_at_mut(weights.len());
        let NetworkPass { pass, adjoint, before, .. } = factor;
        adjoint.clear();
        adjoint.extend_from_slice(output_adjoints);
        for (k, layer) in self.0.layers().iter().enumerate().rev() {
            if let Some(slopes) = pass.slopes.get(k) {
                adjoint.iter_mut().zip(slopes).for_each(|(a, &slope)| *a *= slope);
            }
            before.clear();
            before.resize(layer.inputs, T::zero());
            let (matrix, bias) = layer.split_mut(weight_adjoints);
            let rows = layer.matrix(weights).chunks_exact(layer.inputs);
            for (((&a, row), out), bias) in
                adjoint.iter().zip(rows).zip(matrix.chunks_exact_mut(layer.inputs)).zip(bias)
            {
                add_scaled(before, a, row);
                add_scaled(out, a, &pass.values[k]);
                *bias += a;
            }
            std::mem::swap(adjoint, before);
        }
        x_adjoints.iter_mut().zip(adjoint.iter()).for_each(|(x, &a)| *x += a);
    }
}

impl Node for NetworkGradient {
    type Solution = ();
    type Workspace<T: Real> = ();
    type Factor<T: Real> = NetworkPass<T>;

    fn primal<T: Real>(&self, inputs: &[T], outputs: &mut [T], _: &mut (), _: &mut ()) {
        let (weights, x) = split(&self.0, inputs);
        outputs.copy_from_slice(&self.0.gradient(weights, x).1);
    }

    fn residual<T: Real>(&self, _: &(), inputs: &[T], outputs: &[T], residual: &mut [T]) {
        let (weights, x) = split(&self.0, inputs);
        let (_, gradient) = self.0.gradient(weights, x);
        for ((r, &output), g) in residual.iter_mut().zip(outputs).zip(gradient) {
            *r = output - g;
        }
    }

    fn factor<T: Real>(&self, _: &(), inputs: &[T], _: &[T], factor: &mut NetworkPass<T>) {
        let (weights, x) = split(&self.0, inputs);
        factor.pass.forward(&self.0, weights, x);
        factor.pass.backward(&self.0, weights);
    }

    // dg_(k-1) = dW_k'(s' g)_k + W_k'(s'' dz_k g_k + s' dg_k), dz_k = dW_k h_(k-1) + W_k dh_(k-1) + db_k.
    fn jvp<T: Real>(
        &self,
        _: &(),
        factor: &mut NetworkPass<T>,
        inputs: &[T],
        _: &[T],
        input_tangents: &[T],
        output_tangents: &mut [T],
    ) {
        let network = &self.0;
        let (weights, _) = split(network, inputs);
        let (changes, dx) = split(network, input_tangents);
        let pass = &factor.pass;
        let mut along = dx.to_vec();
        let mut moved = Vec::new();
        for (k, slopes) in pass.slopes.iter().enumerate() {
            let layer = &network.layers()[k];
            let dz = layer_tangent(layer, weights, changes, &pass.values[k], &along);
            along = dz.iter().zip(slopes).map(|(&dz, &slope)| dz * slope).collect();
            moved.push(dz);
        }
        let mut turned: Vec<T> = Vec::new();
        for (k, layer) in network.layers().iter().enumerate().rev() {
            let (matrix, change) = (layer.matrix(weights), layer.matrix(changes));
            let mut before = vec![T::zero(); layer.inputs];
            match pass.slopes.get(k) {
                None => before.copy_from_slice(&change[..layer.inputs]),
                Some(slopes) => {
                    for i in 0..layer.outputs {
                        let (value, slope) = (pass.values[k + 1][i], slopes[i]);
                        let g = pass.gradients[k + 1][i];
                        let curvature = network.activation.curvature(value, slope);
                        let row = i * layer.inputs..(i + 1) * layer.inputs;
                        add_scaled(&mut before, slope * g, &change[row.clone()]);
                        let turn = curvature * moved[k][i] * g + slope * turned[i];
                        add_scaled(&mut before, turn, &matrix[row]);
                    }
                }
            }
            turned = before;
        }
        output_tangents.copy_from_slice(&turned);
    }

    fn vjp<T: Real>(
        &self,
        _: &(),
        factor: &mut NetworkPass<T>,
        inputs: &[T],
        _: &[T],
        output_adjoints: &[T],
        input_adjoints: &mut [T],
    ) {
        let network = &self.0;
        let (weights, _) = split(network, inputs);
        let (weight_adjoints, x_adjoints) = input_adjoints.split_at_mut(weights.len());
        let NetworkPass { pass, along, moved, adjoint, before } = factor;
        along.resize(pass.slopes.len() + 1, Vec::new());
        moved.resize(pass.slopes.len(), Vec::new());
        along[0].clear();
        along[0].extend_from_slice(output_adjoints);
        for (k, layer) in network.layers().iter().enumerate().take(pass.slopes.len()) {
            let rows = layer.matrix(weights).chunks_exact(layer.inputs);
            let (done, next) = along.split_at_mut(k + 1);
            moved[k].clear();
            moved[k].extend(rows.map(|row| wide_dot(row, &done[k])));
            next[0].clear();
            next[0].extend(moved[k].iter().zip(&pass.slopes[k]).map(|(&u, &slope)| u * slope));
        }
        adjoint.clear();
        for (k, layer) in network.layers().iter().enumerate().rev() {
            let (matrix, bias) = layer.split_mut(weight_adjoints);
            let Some(slopes) = pass.slopes.get(k) else {
                let row = &mut matrix[..layer.inputs];
                row.iter_mut().zip(&along[k]).for_each(|(w, &t)| *w += t);
                adjoint.resize(layer.inputs, T::zero());
                continue;
            };
            before.clear();
            before.resize(layer.inputs, T::zero());
            let rows = layer.matrix(weights).chunks_exact(layer.inputs);
            for (i, (row, out)) in rows.zip(matrix.chunks_exact_mut(layer.inputs)).enumerate() {
                let (slope, g) = (slopes[i], pass.gradients[k + 1][i]);
                let curvature = network.activation.curvature(pass.values[k + 1][i], slope);
                let zeta = curvature * moved[k][i] * g + slope * adjoint[i];
                add_scaled(before, zeta, row);
                add_scaled(out, zeta, &pass.values[k]);
                add_scaled(out, slope * g, &along[k]);
                bias[i] += zeta;
            }
            std::mem::swap(adjoint, before);
        }
        x_adjoints.iter_mut().zip(adjoint.iter()).for_each(|(x, &a)| *x += a);
    }
}
