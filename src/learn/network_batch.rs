//! The gradient of a network's potential at many points at once, and its adjoint: the formulas of `network_node`, a matrix for a
//! vector. Rows are points.

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2};

use crate::network::{Activation, Network};

/// What an evaluation leaves behind for its adjoint. Reused, it keeps its memory.
#[derive(Clone, Debug, Default)]
pub struct NetworkBatch {
    points: usize,
    /// h_0 = x, h_1, ..
    values: Vec<Vec<f64>>,
    /// s'(z_k).
    slopes: Vec<Vec<f64>>,
    /// s'(z_k) dV/dh_k.
    deltas: Vec<Vec<f64>>,
    /// dV/dx.
    gradient: Vec<f64>,
}

/// Memory of an adjoint, for batches one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct AdjointScratch {
    /// t_k.
    along: Vec<Vec<f64>>,
    /// u_k, then zeta_k.
    moved: Vec<Vec<f64>>,
}

/// Numbers as a matrix, row after row.
fn view(a: &[f64], [rows, columns]: [usize; 2]) -> ArrayView2<'_, f64> {
    // Never fails: weights and points are counted where a batch begins, and all else is made of their sizes.
    ArrayView2::from_shape((rows, columns), a).expect("a matrix of its size")
}

/// c <- beta c + a b, of matrices row after row.
fn product(a: ArrayView2<f64>, b: ArrayView2<f64>, beta: f64, c: &mut [f64]) {
    let shape = (a.nrows(), b.ncols());
    // Never fails, as above.
    let mut c = ArrayViewMut2::from_shape(shape, c).expect("a matrix of its size");
    general_mat_mul(1.0, &a, &b, beta, &mut c);
}

impl NetworkBatch {
    /// The gradients of V at the rows of `x`, each of as many numbers as the network has inputs; not numbers where there are other
    /// than [`Network::weights`] weights, or a row is not whole.
    pub fn gradient(&mut self, network: &Network, weights: &[f64], x: &[f64]) -> &[f64] {
        let layers = network.layers();
        let last = layers.len() - 1;
        let points = x.len() / network.inputs();
        if weights.len() != network.weights() || x.len() != points * network.inputs() {
            self.gradient.clear();
            self.gradient.resize(x.len(), f64::NAN);
            return &self.gradient;
        }
        self.points = points;
        self.values.resize(last + 1, Vec::new());
        self.slopes.resize(last, Vec::new());
        self.deltas.resize(last, Vec::new());
        self.values[0].clear();
        self.values[0].extend_from_slice(x);
        for (k, layer) in layers.iter().enumerate().take(last) {
            let (before, after) = self.values.split_at_mut(k + 1);
            let (h, slopes) = (&mut after[0], &mut self.slopes[k]);
            h.clear();
            (0..points).for_each(|_| h.extend_from_slice(layer.bias(weights)));
            let matrix = view(layer.matrix(weights), [layer.outputs, layer.inputs]);
            product(view(&before[k], [points, layer.inputs]), matrix.t(), 1.0, h);
            slopes.clear();
            slopes.extend(h.iter_mut().map(|h| {
                let (value, slope) = network.activation.evaluate(*h);
                *h = value;
                slope
            }));
        }
        for (k, layer) in network.layers().iter().enumerate().rev() {
            let matrix = layer.matrix(weights);
            // dV/dh_k of the layer below
            let (gradient, slopes) = match k.checked_sub(1) {
                Some(below) => (&mut self.deltas[below], self.slopes.get(below)),
                None => (&mut self.gradient, None),
            };
            let mut filled = std::mem::take(gradient);
            filled.clear();
            if k == last {
                (0..points).for_each(|_| filled.extend_from_slice(&matrix[..layer.inputs]));
            } else {
                filled.resize(points * layer.inputs, 0.0);
                let delta = view(&self.deltas[k], [points, layer.outputs]);
                product(delta, view(matrix, [layer.outputs, layer.inputs]), 0.0, &mut filled);
            }
            if let Some(slopes) = slopes {
                filled.iter_mut().zip(slopes).for_each(|(g, slope)| *g *= slope);
            }
            match k.checked_sub(1) {
                Some(below) => self.deltas[below] = filled,
                None => self.gradient = filled,
            }
        }
        &self.gradient
    }

    /// The gradients found last.
    pub(super) fn last_gradient(&self) -> &[f64] {
        &self.gradient
    }

    /// Adds to the adjoints of weights and of `x` those of the gradients, `adjoint`.
    pub(super) fn adjoint(
        &self,
        network: &Network,
        weights: &[f64],
        adjoint: &[f64],
        scratch: &mut AdjointScratch,
        weight_adjoints: &mut [f64],
        x_adjoints: &mut [f64],
    ) {
        let (points, hidden) = (self.points, self.slopes.len());
        let AdjointScratch { along, moved } = scratch;
        along.resize(hidden + 1, Vec::new());
        moved.resize(hidden, Vec::new());
        along[0].clear();
        along[0].extend_from_slice(adjoint);
        for (k, layer) in network.layers().iter().enumerate().take(hidden) {
            let (done, next) = along.split_at_mut(k + 1);
            moved[k].clear();
            moved[k].resize(points * layer.outputs, 0.0);
            let matrix = view(layer.matrix(weights), [layer.outputs, layer.inputs]);
            product(view(&done[k], [points, layer.inputs]), matrix.t(), 0.0, &mut moved[k]);
            next[0].clear();
            next[0].extend(moved[k].iter().zip(&self.slopes[k]).map(|(u, slope)| u * slope));
        }
        for (k, layer) in network.layers().iter().enumerate().rev() {
            let (matrix, bias) = layer.split_mut(weight_adjoints);
            if k == hidden {
                for row in along[k].chunks_exact(layer.inputs) {
                    matrix[..layer.inputs].iter_mut().zip(row).for_each(|(w, t)| *w += t);
                }
                continue;
            }
            // zeta_k = s'' u_k g_k + s' W_(k+1)' zeta_(k+1); s'' g = (s'' / s') delta is taken apart to divide by nothing.
            let (now, later) = moved.split_at_mut(k + 1);
            let zeta = &mut now[k];
            let (h, slopes) = (&self.values[k + 1], &self.slopes[k]);
            let relative = |i: usize| relative_curvature(network, h[i], slopes[i]);
            for (i, zeta) in zeta.iter_mut().enumerate() {
                *zeta *= relative(i) * self.deltas[k][i];
            }
            if let Some(next) = network.layers().get(k + 1).filter(|_| k + 1 < hidden) {
                let back = &mut along[k + 1];
                let matrix = view(next.matrix(weights), [next.outputs, next.inputs]);
                product(view(&later[0], [points, next.outputs]), matrix, 0.0, back);
                for ((zeta, back), slope) in zeta.iter_mut().zip(back.iter()).zip(slopes) {
                    *zeta += back * slope;
                }
            }
            let zeta = view(zeta, [points, layer.outputs]);
            let delta = view(&self.deltas[k], [points, layer.outputs]);
            let before = view(&self.values[k], [points, layer.inputs]);
            product(zeta.t(), before, 1.0, matrix);
            product(delta.t(), view(&along[k], [points, layer.inputs]), 1.0, matrix);
            for row in zeta.rows() {
                bias.iter_mut().zip(row).for_each(|(b, z)| *b += z);
            }
            if k == 0 {
                let matrix = view(layer.matrix(weights), [layer.outputs, layer.inputs]);
                product(zeta, matrix, 1.0, x_adjoints);
            }
        }
    }
}

/// s''(z) / s'(z), by s and s'.
fn relative_curvature(network: &Network, value: f64, slope: f64) -> f64 {
    match network.activation {
        Activation::Softplus => 1.0 - slope,
        Activation::Tanh => -2.0 * value,
        Activation::Relu => 0.0,
    }
}
