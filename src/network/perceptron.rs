//! Fully connected networks: h_k = s(W_k h_(k-1) + b_k), y = W h + b, the last layer without activation.
//!
//! Weights are one slice: W_1 (outputs x inputs, row-major), b_1, W_2, b_2, ..

use std::fmt;

use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};

use crate::ad::Real;
use crate::linalg::{add_scaled, wide_dot};

/// Larger networks are refused.
const MOST_WEIGHTS: usize = 100_000_000;

/// What is between two layers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Activation {
    /// ln(1 + e^z).
    #[default]
    Softplus,
    /// tanh z.
    Tanh,
    /// max(z, 0), of slope 0 at 0.
    Relu,
}

impl Activation {
    /// All there are.
    pub const ALL: [Activation; 3] = [Activation::Softplus, Activation::Tanh, Activation::Relu];

    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Activation::Softplus => "softplus",
            Activation::Tanh => "tanh",
            Activation::Relu => "relu",
        }
    }

    /// s(z) and s'(z).
    #[inline]
    pub fn evaluate<T: Real>(self, z: T) -> (T, T) {
        match self {
            Activation::Softplus => {
                let one = T::constant(1.0);
                let is_positive = z.value() > 0.0;
                let e = (if is_positive { -z } else { z }).exp();
                let left = e.ln_1p();
                let slope = (e + 1.0).recip();
                if is_positive { (z + left, slope) } else { (left, one - slope) }
            }
            Activation::Tanh => {
                let h = z.tanh();
                (h, -(h * h) + 1.0)
            }
            Activation::Relu if z.value() > 0.0 => (z, T::constant(1.0)),
            Activation::Relu => (T::zero(), T::zero()),
        }
    }

    /// s''(z), by s(z) and s'(z).
    #[inline]
    pub fn curvature<T: Real>(self, value: T, slope: T) -> T {
        match self {
            Activation::Softplus => slope * (-slope + 1.0),
            Activation::Tanh => value * slope * -2.0,
            Activation::Relu => T::zero(),
        }
    }
}

/// A network that cannot be.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkError(pub String);

impl fmt::Display for NetworkError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NetworkError {}

/// The layout of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    sizes: Vec<usize>,
    layers: Vec<Layer>,
    /// Between layers.
    pub activation: Activation,
}

/// A layer: where its weights begin, and its sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layer {
    pub first: usize,
    pub inputs: usize,
    pub outputs: usize,
}

impl Layer {
    pub fn matrix<'a, T>(&self, weights: &'a [T]) -> &'a [T] {
        &weights[self.first..][..self.inputs * self.outputs]
    }

    pub fn bias<'a, T>(&self, weights: &'a [T]) -> &'a [T] {
        &weights[self.first + self.inputs * self.outputs..][..self.outputs]
    }

    /// W and b.
    pub fn split_mut<'a, T>(&self, weights: &'a mut [T]) -> (&'a mut [T], &'a mut [T]) {
        let all = self.inputs * self.outputs;
        weights[self.first..][..all + self.outputs].split_at_mut(all)
    }
}

impl Network {
    /// A network with layers of these sizes, from its inputs to its outputs.
    ///
    /// # Errors
    /// If there are fewer than two, one is zero, or there are more than 10^8 weights.
    pub fn new(sizes: &[usize], activation: Activation) -> Result<Network, NetworkError> {
        if sizes.len() < 2 || sizes.contains(&0) {
            let message =
                format!("a network needs sizes of inputs and outputs, none zero: {sizes:?}");
            return Err(NetworkError(message));
        }
        let count =
            |sum: usize, s: &[usize]| sum.checked_add(s[0].checked_add(1)?.checked_mul(s[1])?);
        let weights = sizes.windows(2).try_fold(0, count);
        if weights.is_none_or(|weights| weights > MOST_WEIGHTS) {
            let message =
                format!("a network of sizes {sizes:?} has more than {MOST_WEIGHTS} weights");
            return Err(NetworkError(message));
        }
        let mut first = 0;
        let layer = |s: &[usize]| {
            let layer = Layer { first, inputs: s[0], outputs: s[1] };
            first += (s[0] + 1) * s[1];
            layer
        };
        let layers = sizes.windows(2).map(layer).collect();
        Ok(Network { sizes: sizes.to_vec(), layers, activation })
    }

    /// From inputs to outputs.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// How many inputs it has.
    pub fn inputs(&self) -> usize {
        self.sizes[0]
    }

    /// How many outputs.
    pub fn outputs(&self) -> usize {
        self.sizes[self.sizes.len() - 1]
    }

    /// How many weights.
    pub fn weights(&self) -> usize {
        self.sizes.windows(2).map(|s| (s[0] + 1) * s[1]).sum()
    }

    /// The sizes of W_k (outputs, inputs), one after the other.
    pub fn shapes(&self) -> impl Iterator<Item = (usize, usize)> {
        self.sizes.windows(2).map(|s| (s[1], s[0]))
    }

    pub(crate) fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// Whether there are as many weights and inputs as it takes.
    pub(crate) fn takes<T>(&self, weights: &[T], x: &[T]) -> bool {
        weights.len() == self.weights() && x.len() == self.inputs()
    }

    /// Weights to begin with: orthogonal matrices, biases uniform within 1/sqrt(inputs).
    pub fn random(&self, random: &mut impl Rng) -> Vec<f64> {
        let mut weights = Vec::with_capacity(self.weights());
        for layer in &self.layers {
            weights.extend(orthogonal(layer.outputs, layer.inputs, random));
            let most = (layer.inputs as f64).sqrt().recip();
            weights.extend((0..layer.outputs).map(|_| most * (2.0 * random.random::<f64>() - 1.0)));
        }
        weights
    }

    /// y(x), by the simplest way; not a number where there are other than [`weights`](Self::weights) weights and
    /// [`inputs`](Self::inputs) inputs.
    pub fn value<T: Real>(&self, weights: &[T], x: &[T]) -> Vec<T> {
        if !self.takes(weights, x) {
            return vec![T::constant(f64::NAN); self.outputs()];
        }
        let mut pass = Pass::default();
        pass.forward(self, weights, x);
        pass.output
    }

    /// V(x), the first output, and its gradient; not numbers where [`value`](Self::value) is none.
    pub fn gradient<T: Real>(&self, weights: &[T], x: &[T]) -> (T, Vec<T>) {
        if !self.takes(weights, x) {
            let nan = T::constant(f64::NAN);
            return (nan, vec![nan; self.inputs()]);
        }
        let mut pass = Pass::default();
        pass.forward(self, weights, x);
        pass.backward(self, weights);
        let gradient = std::mem::take(&mut pass.gradients[0]);
        (pass.output[0], gradient)
    }
}

/// Rows (or columns, whichever are fewer) of length one at right angles, from normal numbers by Gram and Schmidt.
fn orthogonal(rows: usize, columns: usize, random: &mut impl Rng) -> Vec<f64> {
    let (few, long) = (rows.min(columns), rows.max(columns));
    let mut basis: Vec<Vec<f64>> = Vec::new();
    while basis.len() < few {
        let mut vector: Vec<f64> = (0..long).map(|_| StandardNormal.sample(random)).collect();
        for _ in 0..2 {
            for other in &basis {
                let along = wide_dot(other, &vector);
                add_scaled(&mut vector, -along, other);
            }
        }
        let length = wide_dot(&vector, &vector).sqrt();
        if length > 1e-3 {
            vector.iter_mut().for_each(|x| *x /= length);
            basis.push(vector);
        }
    }
    let at = |i: usize, j: usize| if rows <= columns { basis[i][j] } else { basis[j][i] };
    (0..rows * columns).map(|k| at(k / columns, k % columns)).collect()
}

/// What one point's way through a network leaves behind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pass<T> {
    /// h_0 = x, h_1, ..
    pub values: Vec<Vec<T>>,
    /// s'(z_k), from the first layer that has an activation.
    pub slopes: Vec<Vec<T>>,
    /// y.
    pub output: Vec<T>,
    /// dV/dh_k, from dV/dx on.
    pub gradients: Vec<Vec<T>>,
}

impl<T: Real> Pass<T> {
    /// Values and slopes of all layers.
    pub fn forward(&mut self, network: &Network, weights: &[T], x: &[T]) {
        let layers = network.layers();
        let last = layers.len() - 1;
        self.values.resize(last + 1, Vec::new());
        self.slopes.resize(last, Vec::new());
        self.values[0].clear();
        self.values[0].extend_from_slice(x);
        for (k, layer) in layers.iter().enumerate() {
            let (matrix, bias) = (layer.matrix(weights), layer.bias(weights));
            let mut z = std::mem::take(&mut self.output);
            z.clear();
            let rows = matrix.chunks_exact(layer.inputs).zip(bias);
            z.extend(rows.map(|(row, &b)| wide_dot(row, &self.values[k]) + b));
            if k < last {
                self.values[k + 1].clear();
                self.slopes[k].clear();
                for &z in &z {
                    let (value, slope) = network.activation.evaluate(z);
                    self.values[k + 1].push(value);
                    self.slopes[k].push(slope);
                }
            }
            self.output = z;
        }
    }

    /// Gradients of the first output in all layers.
    pub fn backward(&mut self, network: &Network, weights: &[T]) {
        let layers = network.layers();
        let last = layers.len() - 1;
        self.gradients.resize(last + 1, Vec::new());
        for (k, layer) in layers.iter().enumerate().rev() {
            let matrix = layer.matrix(weights);
            let mut gradient = std::mem::take(&mut self.gradients[k]);
            gradient.clear();
            if k == last {
                gradient.extend_from_slice(&matrix[..layer.inputs]);
            } else {
                gradient.resize(layer.inputs, T::zero());
                let rows = matrix.chunks_exact(layer.inputs);
                for ((row, &slope), &g) in rows.zip(&self.slopes[k]).zip(&self.gradients[k + 1]) {
                    add_scaled(&mut gradient, slope * g, row);
                }
            }
            self.gradients[k] = gradient;
        }
    }
}
