//! Boxes on boxes: how many points there are, and which.

use std::collections::BTreeSet;

use nalgebra::Vector3;

use super::{BOX, Pair, features, least_gap, unit};
use crate::random::Random;

#[test]
fn equal_cubes_have_four_corners() {
    let stack = Pair::aligned([[0.5; 3]; 2], [0.0, 0.0, 1.0]);
    let expected = features(&stack.witnesses(0.01));
    assert_eq!(expected.len(), 4);
    let mut random = Random(21);
    for size in [1e-15, 1e-12, 1e-9, 1e-6] {
        for _ in 0..1000 {
            let mut pair = stack;
            for body in 0..2 {
                pair = pair.turned(body, random.vector(size));
                pair.positions[body] += Vector3::from(random.vector(size));
            }
            let contacts = pair.witnesses(0.01);
            assert_eq!(features(&contacts), expected, "{size} {pair:?}");
            for w in &contacts {
                assert!((w.normal - Vector3::z()).norm() < 10.0 * size + 1e-15);
                assert!(w.gap.abs() < 10.0 * size + 1e-15, "{w:?}");
            }
        }
    }
}

/// Boxes of other sizes, flush on one side or two, small on large and large on small.
#[test]
fn stacks_keep_their_features() {
    let mut random = Random(22);
    for (sizes, offset, count) in [
        ([[0.5, 0.5, 0.5], [0.3, 0.2, 0.1]], [0.0, 0.0, 0.6], 4),
        ([[0.3, 0.2, 0.1], [0.5, 0.5, 0.5]], [0.0, 0.0, 0.6], 4),
        ([[0.5, 0.5, 0.5], [0.3, 0.2, 0.1]], [0.2, 0.3, 0.6], 4),
        ([[0.5, 0.5, 0.5], [0.3, 0.2, 0.1]], [0.4, 0.3, 0.6], 4),
        ([[0.5, 0.5, 0.5], [0.5, 0.5, 0.5]], [0.3, 0.2, 1.0], 4),
        ([[0.5, 0.5, 0.5], [0.5, 0.5, 0.5]], [0.3, 0.0, 1.0], 4),
        ([[0.5, 0.2, 0.5], [0.2, 0.5, 0.5]], [0.0, 0.0, 1.0], 4),
        ([[10.0, 10.0, 0.5], [0.05, 0.05, 0.05]], [3.0, 4.0, 0.55], 4),
        ([[0.05, 0.05, 0.05], [10.0, 10.0, 0.5]], [3.0, 4.0, 0.55], 4),
    ] {
        let stack = Pair::aligned(sizes, offset);
        let expected = features(&stack.witnesses(0.01));
        assert_eq!(expected.len(), count, "{stack:?}");
        for case in 0..1000 {
            let size = [1e-12, 1e-9, 1e-7][case % 3];
            let mut pair = stack;
            for body in 0..2 {
                pair = pair.turned(body, random.vector(size));
                pair.positions[body] += Vector3::from(random.vector(size));
            }
            assert_eq!(features(&pair.witnesses(0.01)), expected, "{pair:?}");
        }
    }
}

#[test]
fn a_box_turned_by_45_degrees_on_another_has_eight_points() {
    let stack = Pair::aligned([[0.5; 3]; 2], [0.0, 0.0, 1.0]);
    for angle in [0.2f64, 0.5, std::f64::consts::FRAC_PI_4, 1.0, 1.3] {
        let contacts = stack.turned(1, [0.0, 0.0, angle]).witnesses(0.01);
        assert_eq!(contacts.len(), 8, "{angle}");
        for w in &contacts {
            // On the outlines of both, nearest to the axis at the half extent.
            let radius = w.points[0].xy().norm();
            assert!((0.5..=0.5 * 2f64.sqrt()).contains(&radius), "{w:?}");
            assert!(w.gap.abs() < 1e-15);
        }
        assert_eq!(features(&contacts).into_iter().collect::<BTreeSet<_>>().len(), 8);
    }
}

#[test]
fn crossed_edges_touch_in_one_point() {
    // Each on an edge, one along y under the other along x.
    let quarter = std::f64::consts::FRAC_PI_4;
    let rise = 2.0 * 2f64.sqrt() * 0.5;
    let pair = Pair::aligned([[0.5, 2.0, 0.5], [2.0, 0.5, 0.5]], [0.1, 0.2, rise + 0.01])
        .turned(0, [0.0, quarter, 0.0])
        .turned(1, [quarter, 0.0, 0.0]);
    let contacts = pair.witnesses(0.1);
    assert_eq!(contacts.len(), 1);
    let w = contacts[0];
    assert!((w.gap - 0.01).abs() < 1e-15, "{w:?}");
    assert!((w.normal - Vector3::z()).norm() < 1e-15);
    assert!((w.points[0] - Vector3::new(0.0, 0.2, 0.5 * rise)).norm() < 1e-15, "{w:?}");
    assert!(pair.witnesses(0.009).is_empty());
}

#[test]
fn a_box_that_flies_past_an_edge_has_no_contact() {
    for clearance in [1e-3, 0.01, 0.1] {
        for way in 1..100 {
            let x = 1.5 - 0.02 * f64::from(way);
            let pair = Pair::aligned([[0.5; 3]; 2], [x, 0.0, 1.0 + clearance]);
            let contacts = pair.witnesses(1.0);
            // Beside it nothing stops the one that moves along x.
            assert!(contacts.iter().all(|w| w.normal == Vector3::z()), "{x} {contacts:?}");
            assert_eq!(contacts.is_empty(), x > 1.0 + 1e-4, "{x} {contacts:?}");
        }
    }
}

/// A box pushed into another one, from far off to half its size, has a point from the step on in which
/// it overlaps, and is never pushed further in.
#[test]
fn boxes_do_not_enter_unseen() {
    let mut random = Random(23);
    for _ in 0..2000 {
        let mut pair = Pair::random([&BOX; 2], &mut random, 0.1);
        let way = unit(&mut random);
        let middle = pair.positions[0];
        let mut inside = false;
        for step in 0..100 {
            pair.positions[1] = middle + way * (3.0 - 0.03 * f64::from(step));
            let contacts = pair.witnesses(0.0);
            inside |= least_gap(&contacts) < 0.0;
            assert!(!inside || !contacts.is_empty(), "{pair:?}");
            for w in &contacts {
                assert!(w.normal.dot(&(pair.positions[1] - middle)) > -0.1, "{pair:?} {w:?}");
            }
        }
        assert!(inside);
    }
}

/// Rolled slightly, the box has both crossings with the edge that it lies on, not one alone.
#[test]
fn a_box_over_the_rim_of_another_touches_in_two_points() {
    for roll in [0.0, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2, 0.04] {
        let pair = Pair::aligned([[1.0; 3], [0.5, 0.2, 0.05]], [1.1, 0.3, 1.05])
            .turned(1, [roll, 0.0, 0.0])
            .turned(1, [0.0, 0.2, 0.0]);
        let contacts = pair.witnesses(0.05);
        let points: Vec<_> = contacts.iter().map(|w| w.points[0]).collect();
        assert!(contacts.len() >= 2, "{roll} {contacts:?}");
        let apart = (points[0].y - points[1].y).abs();
        assert!(apart > 0.35, "{roll} {points:?}");
    }
}

/// Also where corners lie about as far beside faces as the tolerance.
#[test]
fn faces_have_at_most_eight_points() {
    let mut random = Random(24);
    let mut most = 0;
    for case in 0..40_000 {
        let flush = [[0.5, 0.5, 0.5], [0.5, 0.5, 0.3], [0.5, 0.2, 0.5], [0.2, 0.2, 0.5]][case % 4];
        let size = [1e-5, 3e-5, 1e-4, 1e-3][case / 4 % 4];
        let shift = random.vector::<2>(size);
        let pair = Pair::aligned([[0.5; 3], flush], [shift[0], shift[1], 0.5 + flush[2]])
            .turned(1, [0.0, 0.0, random.uniform(-size, size)])
            .turned(0, random.vector(1e-3));
        most = most.max(pair.witnesses(0.01).len());
    }
    assert!((5..=8).contains(&most), "{most}");
}
