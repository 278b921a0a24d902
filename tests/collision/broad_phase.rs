//! Which pairs are near.

use nalgebra::Vector3;
use stiction::collision::{Interval, SweepAndPrune, bounds};
use stiction::model::Shape;

use super::{Pair, SHAPES};
use crate::random::Random;

fn intervals(count: usize, size: f64, random: &mut Random) -> Vec<Interval> {
    (0..count)
        .map(|_| Interval {
            center: Vector3::from(random.vector(1.0)),
            half: Vector3::from(random.vector(size)).abs(),
        })
        .collect()
}

fn brute(intervals: &[Interval]) -> Vec<(usize, usize)> {
    let overlap = |i: usize, j: usize| {
        let (a, b) = (intervals[i], intervals[j]);
        (0..3).all(|k| (a.center[k] - b.center[k]).abs() <= a.half[k] + b.half[k])
    };
    let all = (0..intervals.len()).flat_map(|i| (i + 1..intervals.len()).map(move |j| (i, j)));
    all.filter(|&(i, j)| overlap(i, j)).collect()
}

#[test]
fn pairs_are_those_that_overlap_whatever_came_before() {
    let mut random = Random(31);
    let (mut sweep, mut pairs) = (SweepAndPrune::default(), Vec::new());
    let mut found = 0;
    for count in (0..60).cycle().take(600) {
        let mut intervals = intervals(count, 0.2, &mut random);
        // A few at the same place.
        for k in (1..count).step_by(7) {
            intervals[k] = intervals[k - 1];
        }
        sweep.pairs(&intervals, &mut pairs);
        assert_eq!(pairs, brute(&intervals));
        let mut fresh = Vec::new();
        SweepAndPrune::default().pairs(&intervals, &mut fresh);
        assert_eq!(pairs, fresh);
        found += pairs.len();
    }
    assert!(found > 1000, "{found}");
}

#[test]
fn nothing_within_reach_is_outside_of_the_bounds() {
    let mut random = Random(32);
    let (mut sweep, mut pairs) = (SweepAndPrune::default(), Vec::new());
    for shapes in SHAPES {
        for _ in 0..5000 {
            let pair = Pair::random(shapes, &mut random, 4.0);
            let poses = pair.poses();
            let reach = 0.2;
            let interval = |k: usize| bounds(shapes[k], &poses[k], pair.sizes[k], 0.5 * reach);
            sweep.pairs(&[interval(0), interval(1)], &mut pairs);
            assert!(!pairs.is_empty() || pair.witnesses(reach).is_empty(), "{pair:?}");
        }
    }
}

#[test]
fn bounds_of_a_turned_box() {
    let quarter = std::f64::consts::FRAC_PI_4;
    let pair = Pair::aligned([[1.0, 2.0, 3.0]; 2], [0.0; 3]).turned(0, [0.0, 0.0, quarter]);
    let Interval { half, .. } = bounds(Shape::Box, &pair.poses()[0], pair.sizes[0], 0.5);
    let diagonal = 3.0 * quarter.cos() + 0.5;
    assert!((half - Vector3::new(diagonal, diagonal, 3.5)).norm() < 1e-15, "{half}");
}
