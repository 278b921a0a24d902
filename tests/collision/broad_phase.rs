//! Which pairs are near.

use nalgebra::Vector3;
use stiction::collision::{Bounds, SweepAndPrune};

use super::{BOX, Pair, more_shapes, shapes};
use crate::random::Random;

fn some(count: usize, size: f64, random: &mut Random) -> Vec<Bounds> {
    (0..count)
        .map(|_| Bounds {
            center: Vector3::from(random.vector(1.0)),
            half: Vector3::from(random.vector(size)).abs(),
        })
        .collect()
}

fn brute(bounds: &[Bounds]) -> Vec<(usize, usize)> {
    let overlap = |i: usize, j: usize| {
        let (a, b) = (bounds[i], bounds[j]);
        (0..3).all(|k| (a.center[k] - b.center[k]).abs() <= a.half[k] + b.half[k])
    };
    let all = (0..bounds.len()).flat_map(|i| (i + 1..bounds.len()).map(move |j| (i, j)));
    all.filter(|&(i, j)| overlap(i, j)).collect()
}

#[test]
fn pairs_are_those_that_overlap_whatever_came_before() {
    let mut random = Random(31);
    let (mut sweep, mut pairs) = (SweepAndPrune::default(), Vec::new());
    let mut found = 0;
    for count in (0..60).cycle().take(600) {
        let mut bounds = some(count, 0.2, &mut random);
        // A few at the same place.
        for k in (1..count).step_by(7) {
            bounds[k] = bounds[k - 1];
        }
        sweep.pairs(&bounds, &mut pairs);
        assert_eq!(pairs, brute(&bounds));
        let mut fresh = Vec::new();
        SweepAndPrune::default().pairs(&bounds, &mut fresh);
        assert_eq!(pairs, fresh);
        found += pairs.len();
    }
    assert!(found > 1000, "{found}");
}

/// Of many, spread on a line, in a plane and in space, small and as large as all together.
#[test]
fn many_are_divided_into_bands() {
    let mut random = Random(33);
    let (mut sweep, mut pairs) = (SweepAndPrune::default(), Vec::new());
    let mut found = 0;
    for round in 0..60 {
        let mut bounds = some(50 + 20 * round, 0.05, &mut random);
        let flat = [1.0, [1.0, 1e-3, 0.0][round % 3], [1.0, 0.0, 0.0, 1e-6][round % 4]];
        for (k, i) in bounds.iter_mut().enumerate() {
            i.center.component_mul_assign(&Vector3::from(flat));
            if k % 97 == 5 {
                i.half *= 30.0;
            }
            // Ends that meet on the border of a band.
            if k % 3 == 0 {
                i.center = i.center.map(|x| (8.0 * x).round() / 8.0);
                i.half = i.half.map(|x| (16.0 * x).ceil() / 16.0);
            }
        }
        // Somebody far away, or everybody at one place.
        match round % 10 {
            7 => bounds[3].center *= 1e6,
            8 => bounds.iter_mut().for_each(|i| i.center = Vector3::new(0.1, 0.2, 0.3)),
            _ => {}
        }
        sweep.pairs(&bounds, &mut pairs);
        assert_eq!(pairs, brute(&bounds), "round {round}");
        found += pairs.len();
    }
    assert!(found > 100_000, "{found}");
}

#[test]
fn nothing_within_reach_is_outside_of_the_bounds() {
    let mut random = Random(32);
    let (mut sweep, mut pairs) = (SweepAndPrune::default(), Vec::new());
    let first = shapes().map(|shapes| (shapes, 5000)).into_iter();
    for (shapes, cases) in first.chain(more_shapes().into_iter().map(|shapes| (shapes, 1000))) {
        for _ in 0..cases {
            let pair = Pair::random(shapes, &mut random, 4.0);
            let poses = pair.poses();
            let reach = 0.2;
            let of = |k: usize| Bounds::new(shapes[k], &poses[k], pair.sizes[k], 0.5 * reach);
            sweep.pairs(&[of(0), of(1)], &mut pairs);
            assert!(!pairs.is_empty() || pair.witnesses(reach).is_empty(), "{pair:?}");
        }
    }
}

#[test]
fn bounds_of_a_turned_box() {
    let quarter = std::f64::consts::FRAC_PI_4;
    let pair = Pair::aligned([[1.0, 2.0, 3.0]; 2], [0.0; 3]).turned(0, [0.0, 0.0, quarter]);
    let Bounds { half, .. } = Bounds::new(&BOX, &pair.poses()[0], pair.sizes[0], 0.5);
    let diagonal = 3.0 * quarter.cos() + 0.5;
    assert!((half - Vector3::new(diagonal, diagonal, 3.5)).norm() < 1e-15, "{half}");
}
