//! Four elements side by side.

use wide::f64x4;

use super::operand::Vector3;
use super::tetrahedron::Tetrahedron;

/// How many elements are evaluated at once.
pub(super) const LANES: usize = 4;

/// Four elements side by side. Where fewer are left the last is repeated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quartet {
    pub shape: Tetrahedron<f64x4>,
    /// The nodes of each.
    pub nodes: [[usize; 4]; LANES],
    /// How many are no repetitions.
    pub count: usize,
}

/// All elements by fours.
pub(super) fn quartets(shapes: &[Tetrahedron], nodes: &[[usize; 4]]) -> Vec<Quartet> {
    let of = |(shapes, nodes): (&[Tetrahedron], &[[usize; 4]])| {
        let count = shapes.len();
        let lane = |k: usize| k.min(count - 1);
        let side_by_side = |number: &dyn Fn(&Tetrahedron) -> f64| {
            f64x4::new([0, 1, 2, 3].map(|k| number(&shapes[lane(k)])))
        };
        let gradients = [0, 1, 2, 3]
            .map(|a| [0, 1, 2].map(|i| side_by_side(&move |shape| shape.gradients[a][i])));
        let shape = Tetrahedron { gradients, volume: side_by_side(&|shape| shape.volume) };
        Quartet { shape, nodes: [0, 1, 2, 3].map(|k| nodes[lane(k)]), count }
    };
    shapes.chunks(LANES).zip(nodes.chunks(LANES)).map(of).collect()
}

impl Quartet {
    /// What stands at their nodes.
    pub fn gather(&self, x: &[Vector3<f64>]) -> [Vector3<f64x4>; 4] {
        [0, 1, 2, 3].map(|a| {
            let [p, q, r, s] = self.nodes.map(|nodes| &x[nodes[a]]);
            [0, 1, 2].map(|i| f64x4::new([p[i], q[i], r[i], s[i]]))
        })
    }
}
