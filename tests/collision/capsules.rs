//! Capsules that lie on something, or along it.

use nalgebra::Vector3;

use super::{BOX, CAPSULE, CUBE, CYLINDER, Pair, features, least_gap};
use crate::random::Random;

const HALF_PI: f64 = std::f64::consts::FRAC_PI_2;

/// A capsule along x over the middle of a box.
fn lying(sizes: [[f64; 3]; 2], offset: [f64; 3]) -> Pair {
    let pair = Pair { shapes: [&BOX, &CAPSULE], ..Pair::aligned(sizes, offset) };
    pair.turned(1, [0.0, HALF_PI, 0.0])
}

#[test]
fn a_capsule_on_a_box_has_two_points() {
    let mut random = Random(71);
    for (length, expected) in [(0.2, 0.2), (2.0, 0.5)] {
        let pair = lying([[0.5; 3], [0.1, length, 0.0]], [0.0, 0.1, 0.61]);
        for shapes in [[&BOX, &CAPSULE], [&CUBE, &CAPSULE]] {
            let pair = Pair { shapes, ..pair };
            let contacts = pair.witnesses(0.1);
            assert_eq!(contacts.len(), 2, "{contacts:?}");
            for w in &contacts {
                assert!((w.gap - 0.01).abs() < 1e-14 && w.normal == Vector3::z(), "{w:?}");
                assert!((w.points[0].x.abs() - expected).abs() < 1e-14, "{w:?}");
                assert!((w.points[0].z - 0.5).abs() < 1e-14, "{w:?}");
            }
            let found = features(&contacts);
            for size in [1e-12, 1e-9, 1e-6, 1e-3] {
                for _ in 0..100 {
                    let moved = pair.turned(1, random.vector(size)).turned(0, random.vector(size));
                    assert_eq!(features(&moved.witnesses(0.1)), found, "{moved:?}");
                }
            }
        }
    }
}

#[test]
fn a_tilted_capsule_has_one_point() {
    let pair = lying([[0.5; 3], [0.1, 0.2, 0.0]], [0.0, 0.1, 0.8]).turned(1, [0.0, 0.5, 0.0]);
    let contacts = pair.witnesses(1.0);
    assert_eq!(contacts.len(), 1, "{contacts:?}");
    let height = 0.8 - 0.2 * 0.5f64.sin() - 0.1 - 0.5;
    assert!((contacts[0].gap - height).abs() < 1e-14, "{contacts:?}");
}

#[test]
fn a_capsule_along_an_edge_has_two_points() {
    // The box on its edge, the capsule above it.
    let rise = 0.5 * 2f64.sqrt();
    let pair = Pair::aligned([[0.5; 3], [0.1, 0.3, 0.0]], [0.0, 0.1, rise + 0.12]);
    let pair = Pair { shapes: [&BOX, &CAPSULE], ..pair }
        .turned(0, [0.5 * HALF_PI, 0.0, 0.0])
        .turned(1, [0.0, HALF_PI, 0.0]);
    let pair = Pair { positions: [Vector3::zeros(), Vector3::new(0.0, 0.0, rise + 0.12)], ..pair };
    let contacts = pair.witnesses(0.1);
    assert_eq!(contacts.len(), 2, "{contacts:?}");
    for w in &contacts {
        assert!((w.gap - 0.02).abs() < 1e-12, "{w:?}");
        assert!((w.normal - Vector3::z()).norm() < 1e-12, "{w:?}");
        assert!((w.points[0].x.abs() - 0.3).abs() < 1e-12, "{w:?}");
    }
}

#[test]
fn capsules_along_each_other_have_two_points() {
    let side = Pair::aligned([[0.1, 0.5, 0.0], [0.2, 0.3, 0.0]], [0.31, 0.0, 0.4]);
    let side = Pair { shapes: [&CAPSULE; 2], ..side };
    let contacts = side.witnesses(0.1);
    assert_eq!(contacts.len(), 2, "{contacts:?}");
    let mut ends: Vec<f64> = contacts.iter().map(|w| w.points[0].z).collect();
    ends.sort_by(f64::total_cmp);
    assert!((ends[0] - 0.1).abs() < 1e-14 && (ends[1] - 0.5).abs() < 1e-14, "{ends:?}");
    assert!(contacts.iter().all(|w| (w.gap - 0.01).abs() < 1e-14), "{contacts:?}");

    let found = features(&contacts);
    let mut random = Random(72);
    for size in [1e-12, 1e-9, 1e-6, 1e-3] {
        for _ in 0..100 {
            let moved = side.turned(1, random.vector(size)).turned(0, random.vector(size));
            assert_eq!(features(&moved.witnesses(0.1)), found, "{moved:?}");
        }
    }
    // End to end, and across.
    let mut tip = side;
    tip.positions[1] = Vector3::new(0.0, 0.0, 1.15);
    let contacts = tip.witnesses(0.1);
    assert_eq!(contacts.len(), 1, "{contacts:?}");
    assert!((contacts[0].gap - 0.05).abs() < 1e-14, "{contacts:?}");
    let contacts = side.turned(1, [HALF_PI, 0.0, 0.0]).witnesses(0.1);
    assert_eq!(contacts.len(), 1, "{contacts:?}");
    assert!((contacts[0].gap - 0.01).abs() < 1e-14, "{contacts:?}");
}

#[test]
fn a_capsule_through_a_box_is_pushed_out() {
    // Its segment lies 0.1 below the top.
    let pair = lying([[0.5; 3], [0.05, 2.0, 0.0]], [0.0, 0.0, 0.4]);
    let contacts = pair.witnesses(0.0);
    assert_eq!(contacts.len(), 2, "{contacts:?}");
    assert!((least_gap(&contacts) + 0.15).abs() < 1e-14, "{contacts:?}");
    assert!(contacts.iter().all(|w| (w.normal - Vector3::z()).norm() < 1e-14));
}

#[test]
fn a_cylinder_lying_on_a_box_has_two_points_and_standing_eight() {
    let pair = Pair::aligned([[1.0, 1.0, 0.5], [0.2, 0.3, 0.0]], [0.1, 0.2, 0.81]);
    let standing = Pair { shapes: [&BOX, &CYLINDER], ..pair };
    let contacts = standing.witnesses(0.1);
    assert!((4..=9).contains(&contacts.len()), "{contacts:?}");
    assert!(contacts.iter().all(|w| (w.gap - 0.01).abs() < 1e-14), "{contacts:?}");
    for angle in [0.0, 0.03, 0.1, 1.0] {
        let mut lying = standing.turned(1, [0.0, 0.0, angle]).turned(1, [0.0, HALF_PI, 0.0]);
        lying.positions[1].z = 0.71;
        let contacts = lying.witnesses(0.1);
        let low: Vec<_> = contacts.iter().filter(|w| w.gap < 0.0101).collect();
        assert!(low.len() >= 2, "{angle} {contacts:?}");
        assert!((least_gap(&contacts) - 0.01).abs() < 1e-12, "{angle} {contacts:?}");
    }
}
