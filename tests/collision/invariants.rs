//! What holds for the contacts of any two shapes.

use nalgebra::Vector3;
use stiction::collision::{FEATURES, Witness};
use stiction::contact::contact_frame;
use stiction::model::Shape;
use stiction::spatial::{exp, product, rotation_matrix};

use super::{BOX, Pair, features, least_gap, orientation, shapes, unit};
use crate::random::Random;

/// Normals are unit vectors along the gaps, features differ, and points are `surface` from the surfaces at most.
/// `rounding`: of lengths, and of the lowest gap.
pub fn assert_consistent(
    pair: &Pair,
    contacts: &[Witness<f64>],
    features: usize,
    [rounding, lowest]: [f64; 2],
    surface: f64,
) {
    for (k, w) in contacts.iter().enumerate() {
        assert!((w.normal.norm() - 1.0).abs() < rounding);
        assert!((w.points[1] - w.points[0] - w.normal * w.gap).norm() < rounding, "{w:?}");
        assert!(w.gap <= 0.3 && w.feature < features);
        assert!(contacts[..k].iter().all(|other| other.feature != w.feature));
        assert!(w.lowest >= least_gap(contacts) - lowest, "{contacts:?}");
        for body in 0..2 {
            let outside = pair.outside(body, w.points[body]);
            assert!(outside.abs() < surface, "{outside} {body} {pair:?} {w:?}");
        }
    }
}

/// Of `cases` random pairs, how many touch, and of how many of these the contacts are the same the other way round,
/// within the tolerances of gaps and of points.
pub fn flipped(
    shapes: [&'static Shape; 2],
    random: &mut Random,
    cases: usize,
    [gap, point]: [f64; 2],
) -> [usize; 2] {
    let (mut count, mut same) = (0, 0);
    for _ in 0..cases {
        let pair = Pair::random(shapes, random, 3.0);
        let (mut one, mut other) = (pair.witnesses(0.3), pair.swapped().witnesses(0.3));
        if one.is_empty() && other.is_empty() {
            continue;
        }
        count += 1;
        one.sort_by(|a, b| a.gap.total_cmp(&b.gap));
        other.sort_by(|a, b| a.gap.total_cmp(&b.gap));
        same += usize::from(
            one.len() == other.len()
                && one.iter().zip(&other).all(|(a, b)| {
                    (a.gap - b.gap).abs() < gap
                        && (a.normal + b.normal).norm() < gap
                        && (a.points[0] - b.points[1]).norm() < point
                        && (a.points[1] - b.points[0]).norm() < point
                        && (a.lowest - b.lowest).abs() < gap
                }),
        );
    }
    [count, same]
}

/// Contacts of random pairs move with the shapes, but of two of the cases, within the tolerances of gaps and of
/// points.
pub fn assert_moving(
    shapes: [&'static Shape; 2],
    random: &mut Random,
    cases: usize,
    [gap, point]: [f64; 2],
) {
    let mut same = 0;
    for _ in 0..cases {
        let pair = Pair::random(shapes, random, 2.5);
        let (turn, shift) = (orientation(random), Vector3::from(random.vector(2.0)));
        let rotation = rotation_matrix(turn);
        let mut moved = pair;
        for body in 0..2 {
            moved.orientations[body] = product(turn, pair.orientations[body]);
            moved.positions[body] = rotation * pair.positions[body] + shift;
        }
        let (one, other) = (pair.witnesses(0.3), moved.witnesses(0.3));
        if features(&one) != features(&other) {
            continue;
        }
        same += 1;
        for (a, b) in one.iter().zip(&other) {
            assert!((a.gap - b.gap).abs() < gap);
            assert!((rotation * a.normal - b.normal).norm() < gap);
            for k in 0..2 {
                let error = (rotation * a.points[k] + shift - b.points[k]).norm();
                assert!(error < point, "{error}");
            }
        }
    }
    assert!(same >= cases - 2, "{shapes:?}: {same} of {cases}");
}

#[test]
fn normals_are_unit_and_points_are_on_the_surfaces() {
    let mut random = Random(1);
    for shapes in shapes() {
        // The foot of a point that has sunk in is on the face; edges that have passed each other
        // are both on the surface. One that is a little beside a face counts as over it.
        let surface = if shapes == [&BOX; 2] { 1e-4 } else { 1e-12 };
        let mut found = 0;
        for _ in 0..20_000 {
            let pair = Pair::random(shapes, &mut random, 3.0);
            let contacts = pair.witnesses(0.3);
            found += usize::from(!contacts.is_empty());
            assert!(contacts.len() <= 8, "{pair:?} {contacts:?}");
            assert_consistent(&pair, &contacts, FEATURES, [1e-14, 1e-15], surface);
        }
        assert!(found > 5000, "{shapes:?} {found}");
    }
}

#[test]
fn swapped_shapes_have_flipped_normals() {
    let mut random = Random(2);
    for shapes in shapes() {
        let [count, same] = flipped(shapes, &mut random, 20_000, [1e-12; 2]);
        // Of two axes that are as good the first is taken, whichever body it belongs to.
        let all = if shapes == [&BOX; 2] { count - count / 50 } else { count };
        assert!(count > 5000 && same >= all, "{shapes:?}: {same} of {count}");
    }
}

#[test]
fn contacts_move_with_the_shapes() {
    let mut random = Random(3);
    for shapes in shapes() {
        // Crossings of nearly parallel lines magnify rounding.
        assert_moving(shapes, &mut random, 5000, [1e-12, 1e-11]);
    }
}

#[test]
fn coincident_spheres_are_pushed_along_z() {
    let mut pair = Pair::random(shapes()[0], &mut Random(4), 0.0);
    pair.positions[1] = pair.positions[0];
    let contacts = pair.witnesses(0.0);
    assert_eq!(contacts[0].normal, Vector3::z());
    assert_eq!(contacts[0].gap, -(pair.sizes[0].x + pair.sizes[1].x));
}

#[test]
fn a_sphere_inside_a_box_leaves_by_the_nearest_face() {
    let mut pair = Pair::aligned([[0.1; 3], [1.0, 2.0, 3.0]], [0.0; 3]);
    pair.shapes = shapes()[1];
    for (place, normal, depth) in [
        ([0.0, 0.0, 0.0], [-1.0, 0.0, 0.0], 1.0),
        ([-0.5, 1.9, 0.0], [0.0, -1.0, 0.0], 0.1),
        ([-0.5, 0.0, 0.0], [1.0, 0.0, 0.0], 0.5),
        // As near to two faces: the first of the axes.
        ([0.5, 1.5, 2.5], [-1.0, 0.0, 0.0], 0.5),
    ] {
        pair.positions[0] = Vector3::from(place);
        let contacts = pair.witnesses(0.0);
        assert_eq!(contacts.len(), 1);
        assert_eq!(contacts[0].normal, Vector3::from(normal), "{place:?}");
        assert!((contacts[0].gap + depth + 0.1).abs() < 1e-15, "{place:?} {contacts:?}");
    }
}

#[test]
fn contact_frames_are_right_handed() {
    let mut random = Random(5);
    for _ in 0..1000 {
        let n = rotation_matrix(exp(unit(&mut random))) * unit(&mut random);
        let [t, s] = contact_frame(n);
        assert!(t.dot(&n).abs() < 1e-15 && (t.norm() - 1.0).abs() < 1e-15);
        assert!((t.cross(&s) - n).norm() < 1e-15);
    }
    assert_eq!(contact_frame(Vector3::<f64>::z()), [Vector3::x(), Vector3::y()]);
}
