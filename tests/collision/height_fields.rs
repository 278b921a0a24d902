//! Shapes on uneven ground.

use std::sync::Arc;

use nalgebra::Vector3;
use stiction::collision::{Pose, features, supports};
use stiction::model::{HeightField, Shape};

use super::{BOX, CAPSULE, CRYSTAL, CYLINDER, HILLS, Pair, SPHERE, least_gap, orientation};
use crate::random::Random;

const OTHERS: [&Shape; 4] = [&SPHERE, &BOX, &CAPSULE, &CYLINDER];

/// A shape over the hills at random, about `height` above them.
pub fn over(shape: &'static Shape, height: f64, random: &mut Random) -> Pair {
    let mut pair = Pair::random([&HILLS, shape], random, 1.0);
    pair.orientations[0] = [1.0, 0.0, 0.0, 0.0];
    pair.positions[0] = Vector3::zeros();
    pair.sizes[0] = Vector3::repeat(1.0);
    pair.sizes[1] *= 0.4;
    let [x, y] = random.vector(2.0);
    let radius = shape.reach(pair.sizes[1].into(), pair.poses()[1].rotation.tr_mul(&Vector3::z()));
    pair.positions[1] = Vector3::new(x, y, radius + height);
    pair.orientations[1] = orientation(random);
    pair
}

fn flat() -> &'static Shape {
    let field = HeightField::new(9, 7, [0.5, 0.4], vec![0.0; 63]).unwrap();
    Box::leak(Box::new(Shape::HeightField(Arc::new(field))))
}

#[test]
fn a_flat_field_is_a_half_space() {
    let mut random = Random(111);
    let flat = flat();
    for shape in OTHERS.into_iter().chain([&*CRYSTAL]) {
        for _ in 0..500 {
            let mut pair = over(shape, 0.0, &mut random);
            pair.shapes[0] = flat;
            pair.positions[1].x *= 0.3;
            pair.positions[1].y *= 0.3;
            let rotation = pair.poses()[1].rotation;
            let reach = shape.reach(pair.sizes[1].into(), rotation.tr_mul(&Vector3::z()));
            let gap = random.uniform(-0.1, 0.1);
            pair.positions[1].z = reach + gap;
            let contacts = pair.witnesses(0.2);
            // The prism in a cylinder is inscribed.
            let tolerance = if *shape == Shape::Cylinder { 6e-3 } else { 1e-12 };
            let least = least_gap(&contacts);
            assert!((least - gap).abs() < tolerance, "{least} {gap} {pair:?} {contacts:?}");
            assert!(contacts.iter().all(|w| (w.normal - Vector3::z()).norm() < 1e-12));
        }
    }
}

#[test]
fn invariants() {
    let mut random = Random(112);
    assert!(!supports([&HILLS, &HILLS]));
    for shape in OTHERS.into_iter().chain([&*CRYSTAL]) {
        assert!(supports([&HILLS, shape]) && supports([shape, &HILLS]));
        let mut found = 0;
        for _ in 0..2000 {
            let height = random.uniform(-0.15, 0.3);
            let pair = over(shape, height, &mut random);
            let contacts = pair.witnesses(0.2);
            found += contacts.len();
            for (k, w) in contacts.iter().enumerate() {
                assert!(
                    (w.normal.norm() - 1.0).abs() < 1e-13 && w.normal.z > 0.0,
                    "{pair:?} {w:?}"
                );
                assert!((w.points[1] - w.points[0] - w.normal * w.gap).norm() < 1e-13);
                assert!(w.gap <= 0.2 && w.feature < features(pair.shapes));
                let twin = contacts[..k].iter().find(|other| other.feature == w.feature);
                assert!(twin.is_none(), "{pair:?} {contacts:?}");
                let outside = pair.outside(1, w.points[1]);
                let tolerance = match shape {
                    Shape::Capsule => 0.01,
                    Shape::Cylinder => 6e-3,
                    _ => 1e-12,
                };
                assert!(
                    outside.abs() < tolerance || *shape == *CRYSTAL,
                    "{outside} {pair:?} {w:?}"
                );
            }
            let (mut one, mut other) = (contacts, pair.swapped().witnesses(0.2));
            one.sort_by_key(|a| a.feature);
            other.sort_by_key(|a| a.feature);
            assert!(
                one.iter().zip(&other).all(|(a, b)| *a == b.flipped()) && one.len() == other.len()
            );
        }
        assert!(found > 1500, "{shape:?} {found}");
    }
}

/// The distance of a point from a triangle.
fn from_triangle(p: Vector3<f64>, [a, b, c]: [Vector3<f64>; 3]) -> f64 {
    let normal = (b - a).cross(&(c - a)).normalize();
    let inside = [(a, b), (b, c), (c, a)]
        .into_iter()
        .all(|(u, v)| (v - u).cross(&(p - u)).dot(&normal) >= 0.0);
    if inside {
        return (p - a).dot(&normal).abs();
    }
    let to = |u: Vector3<f64>, v: Vector3<f64>| {
        let t = ((p - u).dot(&(v - u)) / (v - u).norm_squared()).clamp(0.0, 1.0);
        (u + (v - u) * t - p).norm()
    };
    to(a, b).min(to(b, c)).min(to(c, a))
}

fn triangles(field: &HeightField) -> Vec<[Vector3<f64>; 3]> {
    let cells = (0..field.rows() - 1).flat_map(|i| (0..field.columns() - 1).map(move |j| (i, j)));
    let two = |(i, j): (usize, usize)| {
        let [a, b, c, d] = [(i, j), (i, j + 1), (i + 1, j + 1), (i + 1, j)];
        let at = |(row, column): (usize, usize)| field.vertex(row, column);
        [[at(a), at(b), at(c)], [at(a), at(c), at(d)]]
    };
    cells.flat_map(two).collect()
}

#[test]
fn a_ball_is_as_far_as_the_nearest_triangle() {
    let Shape::HeightField(field) = &*HILLS else { unreachable!() };
    let all = triangles(field);
    let mut random = Random(113);
    let mut several = 0;
    for case in 0..1000 {
        let mut pair = over(&SPHERE, 0.15, &mut random);
        // Also over the rim and beside.
        if case % 5 == 0 {
            pair.positions[1].x *= 1.6;
            pair.positions[1].z = random.uniform(0.1, 0.5);
        }
        let center = pair.positions[1];
        let expected = all.iter().map(|&t| from_triangle(center, t)).fold(f64::INFINITY, f64::min);
        let contacts = pair.witnesses(10.0);
        several += usize::from(contacts.iter().filter(|w| w.gap < 0.2).count() > 1);
        let least = least_gap(&contacts) + pair.sizes[1].x;
        assert!((least - expected).abs() < 1e-9, "{least} {expected} {pair:?} {contacts:?}");
    }
    assert!(several > 100, "{several}");
}

#[test]
fn a_capsule_is_as_far_as_the_nearest_of_its_balls() {
    let Shape::HeightField(field) = &*HILLS else { unreachable!() };
    let all = triangles(field);
    let mut random = Random(114);
    for _ in 0..200 {
        let pair = over(&CAPSULE, 0.2, &mut random);
        let Pose { rotation, position } = pair.poses()[1];
        let size = pair.sizes[1];
        let from = |t: f64| {
            let center = position + rotation.column(2) * (size.y * t);
            all.iter().map(|&t| from_triangle(center, t)).fold(f64::INFINITY, f64::min)
        };
        let expected =
            (-100..=100).map(|k| from(f64::from(k) / 100.0)).fold(f64::INFINITY, f64::min) - size.x;
        let least = least_gap(&pair.witnesses(10.0));
        let tolerance = 1e-3 * (1.0 + expected);
        assert!((least - expected).abs() < tolerance, "{least} {expected} {pair:?}");
    }
}

/// A corner of the field that is higher than a capsule far away on level ground has nothing to do with it.
#[test]
fn a_high_corner_far_away_is_not_touched() {
    let mut heights = vec![0.0; 64];
    heights[7] = 0.1;
    let field = HeightField::new(8, 8, [0.2, 0.2], heights).unwrap();
    let field = Box::leak(Box::new(Shape::HeightField(Arc::new(field))));
    let mut pair = Pair::random([field, &CAPSULE], &mut Random(115), 1.0);
    pair.orientations = [[1.0, 0.0, 0.0, 0.0]; 2];
    pair.sizes = [Vector3::repeat(1.0), Vector3::new(0.05, 0.1, 0.0)];
    // Along x = y, across to the corner.
    let half = std::f64::consts::FRAC_1_SQRT_2;
    pair.orientations[1] = [half, -0.5, 0.5, 0.0];
    pair.positions = [Vector3::zeros(), Vector3::new(0.0, 0.0, 0.06)];
    let least = least_gap(&pair.witnesses(10.0));
    assert!((least - 0.01).abs() < 1e-12, "{least}");
}

#[test]
fn a_node_that_stands_out_holds_a_box() {
    let mut heights = vec![0.0; 25];
    heights[12] = 0.3;
    let field = HeightField::new(5, 5, [0.5; 2], heights).unwrap();
    let cone: &'static Shape = Box::leak(Box::new(Shape::HeightField(Arc::new(field))));
    let pair = Pair::aligned([[1.0; 3], [0.5, 0.5, 0.1]], [0.03, 0.02, 0.39]);
    for shape in [&BOX, &CYLINDER] {
        let contacts = Pair { shapes: [cone, shape], ..pair }.turned(1, [0.01, 0.02, 0.0]);
        let least = least_gap(&contacts.witnesses(0.05));
        assert!((least + 0.01).abs() < 2e-3 || *shape == Shape::Cylinder, "{least}");
        assert!(contacts.witnesses(0.05).iter().any(|w| (w.points[0].z - 0.3).abs() < 1e-12));
    }
}
