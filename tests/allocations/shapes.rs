//! Contacts of moving shapes.

use stiction::ad::{Dual, Real};
use stiction::collision::{Bounds, SweepAndPrune, witnesses};

use crate::collision::{Pair, shapes};
use crate::random::Random;

fn allocations<T: Real>() -> u64 {
    let mut random = Random(1);
    let pairs: Vec<Pair> =
        (0..400).map(|k| Pair::random(shapes()[k % 4], &mut random, 2.0)).collect();
    let (mut sweep, mut near, mut out) = (SweepAndPrune::default(), Vec::new(), Vec::new());
    let mut bounds = Vec::new();
    let mut run = || {
        bounds.clear();
        out.clear();
        for pair in &pairs {
            let (poses, sizes) = pair.moved(&[T::zero(); 18]);
            bounds.push(Bounds::new(pair.shapes[0], &poses[0], sizes[0], 0.1));
            witnesses(pair.shapes, [&poses[0], &poses[1]], sizes, 0.1, &mut out);
        }
        sweep.pairs(&bounds, &mut near);
        assert!(out.len() > 500 && near.len() > 500);
    };
    run();
    allocation_counter::measure(run).count_total
}

#[test]
fn contacts_of_shapes_do_not_allocate() {
    assert_eq!((allocations::<f64>(), allocations::<Dual<f64, 2>>()), (0, 0));
}
