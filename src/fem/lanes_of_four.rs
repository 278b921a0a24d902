//! Stiffness of four elements at once, on values: the same closed forms in entries of four numbers. Compiled for processors
//! with AVX it takes 0.75 of the time of one after the other, 0.55 with viscosity; without, it is no slower. Forces are not
//! worth it: gathering takes longer than evaluating them.

use wide::f64x4;

use super::elements::Elements;
use super::entry::Vector3;
use super::kernel::tangent;
use super::material::Material;
use super::tetrahedron::Tetrahedron;
use crate::linalg::BlockMatrix;

/// How many elements are evaluated at once.
const LANES: usize = 4;

/// Four elements side by side. Where fewer are left the last is repeated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quartet {
    shape: Tetrahedron<f64x4>,
    /// The nodes of each.
    nodes: [[usize; 4]; LANES],
    /// How many are no repetitions.
    count: usize,
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
    fn gather(&self, x: &[Vector3<f64>]) -> [Vector3<f64x4>; 4] {
        [0, 1, 2, 3].map(|a| {
            let [p, q, r, s] = self.nodes.map(|nodes| &x[nodes[a]]);
            [0, 1, 2].map(|i| f64x4::new([p[i], q[i], r[i], s[i]]))
        })
    }
}

fn splat(material: &Material<f64>) -> Material<f64x4> {
    Material {
        lame_lambda: f64x4::splat(material.lame_lambda),
        lame_mu: f64x4::splat(material.lame_mu),
        viscosity: f64x4::splat(material.viscosity),
    }
}

impl Elements {
    /// As [`add_stiffness`](Self::add_stiffness), four elements at once.
    pub fn add_stiffness_by_four(
        &self,
        material: &Material<f64>,
        weights: [f64; 2],
        x: &[Vector3<f64>],
        v: &[Vector3<f64>],
        matrix: &mut BlockMatrix<f64>,
    ) {
        let viscous = material.viscosity != 0.0;
        let material = splat(material);
        let [in_x, in_v] = weights.map(f64x4::splat);
        for (first, quartet) in (0..).step_by(LANES).zip(self.quartets()) {
            let (x, v) = (quartet.gather(x), viscous.then(|| quartet.gather(v)));
            let places = &self.places()[first..first + quartet.count];
            tangent(&quartet.shape, [in_x, in_v], &material, &x, v.as_ref(), |a, b, block| {
                let block = block.map(|row| row.map(f64x4::to_array));
                for (lane, places) in places.iter().enumerate() {
                    let target = &mut matrix.blocks[places[4 * a + b]];
                    for (target, row) in target.iter_mut().zip(&block) {
                        (0..3).for_each(|j| target[j] += row[j][lane]);
                    }
                }
            });
        }
    }
}
