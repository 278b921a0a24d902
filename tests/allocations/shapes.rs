//! Contacts of moving shapes.

use nalgebra::Vector3;
use stiction::ad::{Dual, LANES, Real};
use stiction::collision::{Bounds, SweepAndPrune, half_space_points, witnesses};
use stiction::model::Plane;

use crate::collision::height_fields::over;
use crate::collision::{BOX, CAPSULE, CYLINDER, Pair, SPHERE, more_shapes, shapes};
use crate::random::Random;

fn allocations<T: Real>() -> u64 {
    let mut random = Random(1);
    let mut pairs: Vec<Pair> =
        (0..400).map(|k| Pair::random(shapes()[k % 4], &mut random, 2.0)).collect();
    for shapes in more_shapes() {
        pairs.extend((0..20).map(|_| Pair::random(shapes, &mut random, 2.0)));
    }
    for shape in [&SPHERE, &CAPSULE, &BOX, &CYLINDER] {
        pairs.extend((0..20).map(|_| over(shape, 0.05, &mut random)));
    }
    let (mut sweep, mut near, mut out) = (SweepAndPrune::default(), Vec::new(), Vec::new());
    let (mut bounds, mut surface) = (Vec::new(), Vec::new());
    let floor = Plane { normal: Vector3::z().map(T::constant), offset: T::zero() };
    let mut run = || {
        bounds.clear();
        out.clear();
        surface.clear();
        for pair in &pairs {
            let (poses, sizes) = pair.moved(&[T::zero(); 18]);
            bounds.push(Bounds::new(pair.shapes[0], &poses[0], sizes[0], 0.1));
            half_space_points(pair.shapes[0], sizes[0], &poses[0], &floor, 0.1, &mut surface);
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
    assert_eq!((allocations::<f64>(), allocations::<Dual<f64, LANES>>()), (0, 0));
}
