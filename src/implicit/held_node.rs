//! Nodes that are led: held still, or carried by what no force moves.

use super::bdf::Predicted;
use crate::fem::Matrix3;

/// A node that ends a step at `turn` x + `shift` (m) where it begins it at x, whatever acts on it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HeldNode {
    /// The node.
    pub node: usize,
    /// How what holds it turns in the step.
    pub turn: Matrix3<f64>,
    /// m
    pub shift: [f64; 3],
}

impl HeldNode {
    /// v+ of the step that begins with the node at `x` (m): that with which it gets there.
    pub fn velocity(&self, x: &[f64; 3], predicted: &Predicted<f64>) -> [f64; 3] {
        let (end, start) = (self.end(x), &predicted.x[self.node]);
        [0, 1, 2].map(|k| (end[k] - start[k]) / predicted.rate)
    }

    /// Where it ends the step that begins with the node at `x` (m).
    pub fn end(&self, x: &[f64; 3]) -> [f64; 3] {
        let turned = self.turned(x);
        [0, 1, 2].map(|k| turned[k] + self.shift[k])
    }

    /// `turn` x
    pub fn turned(&self, x: &[f64; 3]) -> [f64; 3] {
        self.turn.map(|row| row[0] * x[0] + row[1] * x[1] + row[2] * x[2])
    }

    /// `turn`' x
    pub fn turned_back(&self, x: &[f64; 3]) -> [f64; 3] {
        [0, 1, 2].map(|k| (0..3).map(|i| self.turn[i][k] * x[i]).sum())
    }
}
