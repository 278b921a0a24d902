//! Polyhedra: a cube as any other one against boxes, the least penetration by trying all axes.

use nalgebra::Vector3;
use stiction::model::{Polyhedron, Shape};

use super::every_pair::distance;
use super::{BOX, CRYSTAL, CUBE, CYLINDER, Pair, least_gap};
use crate::cases;
use crate::random::Random;

/// The same gaps, but for which of two axes that are as good is taken.
#[test]
fn a_cube_is_a_box() {
    let mut random = Random(101);
    for shapes in [[&*CUBE, &BOX], [&BOX, &*CUBE], [&*CUBE, &*CUBE]] {
        let (mut same, mut count) = (0, 0);
        for _ in 0..5000 {
            let boxes = Pair::random([&BOX; 2], &mut random, 3.0);
            let (mut one, mut other) =
                (boxes.witnesses(0.3), Pair { shapes, ..boxes }.witnesses(0.3));
            assert!(
                one.is_empty() == other.is_empty()
                    || least_gap(&one).min(least_gap(&other)) > -1e-3
            );
            if one.is_empty() || other.is_empty() {
                continue;
            }
            count += 1;
            // Faces of one body are taken with a smaller preference.
            assert!((least_gap(&one) - least_gap(&other)).abs() < 2e-3, "{boxes:?}");
            one.sort_by(|a, b| a.gap.total_cmp(&b.gap));
            other.sort_by(|a, b| a.gap.total_cmp(&b.gap));
            same += usize::from(
                one.len() == other.len()
                    && one.iter().zip(&other).all(|(a, b)| {
                        (a.gap - b.gap).abs() < 1e-12
                            && (a.normal - b.normal).norm() < 1e-12
                            && (a.points[0] - b.points[0]).norm() < 1e-11
                    }),
            );
        }
        println!("{same} of {count}");
        assert!(count > 1500 && same * 100 >= count * 97, "{same} of {count}");
    }
}

#[test]
fn a_stack_has_four_corners() {
    let mut random = Random(102);
    let stack = Pair::aligned([[0.5, 0.4, 0.3], [0.3, 0.2, 0.1]], [0.1, 0.05, 0.4]);
    for shapes in [[&*CUBE, &*CUBE], [&*CUBE, &BOX], [&BOX, &*CUBE]] {
        let stack = Pair { shapes, ..stack };
        let expected = super::features(&stack.witnesses(0.01));
        assert_eq!(expected.len(), 4);
        for size in [1e-15, 1e-12, 1e-9, 1e-6] {
            for _ in 0..200 {
                let mut pair = stack;
                for body in 0..2 {
                    pair = pair.turned(body, random.vector(size));
                    pair.positions[body] += Vector3::from(random.vector(size));
                }
                let contacts = pair.witnesses(0.01);
                assert_eq!(super::features(&contacts), expected, "{size} {pair:?}");
                assert!(contacts.iter().all(|w| w.gap.abs() < 1e-5));
            }
        }
    }
}

fn polyhedron(shape: &Shape) -> &Polyhedron {
    match shape {
        Shape::Convex(own) => own,
        Shape::Cylinder => Polyhedron::cylinder(),
        _ => Polyhedron::cube(),
    }
}

fn scale(pair: &Pair, body: usize) -> Vector3<f64> {
    let size = pair.sizes[body];
    match pair.shapes[body] {
        Shape::Cylinder => Vector3::new(size.x, size.x, size.y),
        _ => size,
    }
}

/// How far the polyhedra are apart along the best of all normals and products of edges.
fn separation(pair: &Pair) -> f64 {
    let poses = pair.poses();
    let vertices = |body: usize| -> Vec<Vector3<f64>> {
        let own = polyhedron(pair.shapes[body]).vertices().iter();
        let place = |v: &Vector3<f64>| v.component_mul(&scale(pair, body));
        own.map(|v| poses[body].position + poses[body].rotation * place(v)).collect()
    };
    let all = [vertices(0), vertices(1)];
    let normals = |body: usize| {
        let faces = polyhedron(pair.shapes[body]).faces().iter();
        let scale = scale(pair, body);
        faces.map(move |f| poses[body].rotation * f.normal.component_div(&scale))
    };
    let edges = |body: usize| {
        let own = polyhedron(pair.shapes[body]);
        let all = &all[body];
        own.edges().iter().map(move |edge| all[edge.ends[1]] - all[edge.ends[0]])
    };
    let products = edges(0).flat_map(|a| edges(1).map(move |b| a.cross(&b)));
    let axes = normals(0).chain(normals(1)).chain(products);
    let range = |body: usize, n: &Vector3<f64>| {
        let along = all[body].iter().map(|v| v.dot(n));
        along.fold((f64::INFINITY, f64::NEG_INFINITY), |r, x| (r.0.min(x), r.1.max(x)))
    };
    let apart = |n: Vector3<f64>| {
        let (a, b) = (range(0, &n), range(1, &n));
        (b.0 - a.1).max(a.0 - b.1)
    };
    axes.filter_map(|n| n.try_normalize(1e-6)).map(apart).fold(f64::NEG_INFINITY, f64::max)
}

#[test]
fn polyhedra_that_overlap_have_the_least_penetration() {
    let mut random = Random(103);
    for shapes in [[&*CRYSTAL, &*CRYSTAL], [&*CRYSTAL, &BOX], [&CYLINDER, &*CRYSTAL]] {
        let (mut exact, mut count) = (0, 0);
        for _ in 0..800 {
            let pair = Pair::random(shapes, &mut random, 1.5);
            let depth = -separation(&pair);
            if depth <= 1e-6 || depth > 0.3 {
                continue;
            }
            count += 1;
            let contacts = pair.witnesses(0.0);
            let gap = least_gap(&contacts);
            // The preference for faces costs little; between edges nearly parallel too.
            let round = shapes[0] == &CYLINDER;
            let tolerance = if round { 0.015 } else { 4e-3 };
            assert!((gap + depth).abs() < tolerance, "{gap} {depth} {pair:?} {contacts:?}");
            exact += usize::from((gap + depth).abs() < if round { 5e-3 } else { 1e-10 });
        }
        println!("{exact} of {count}");
        assert!(count > 100 && exact * 10 > count * 5, "{exact} of {count}");
    }
}

/// Of so many faces that most are not looked at, as vertices of the other bound what they could separate.
#[test]
fn polyhedra_of_many_faces_have_the_least_penetration() {
    let mut random = Random(106);
    let points: Vec<_> = (0..80).map(|_| super::unit(&mut random)).collect();
    let lump = Shape::Convex(std::sync::Arc::new(Polyhedron::hull(&points).unwrap()));
    let lump: &'static Shape = Box::leak(Box::new(lump));
    assert!(polyhedron(lump).faces().len() * polyhedron(lump).vertices().len() > 10_000);
    for shapes in [[lump, lump], [lump, &CYLINDER]] {
        let (mut exact, mut count) = (0, 0);
        while count < cases::count(400, 0.05) {
            let mut pair = Pair::random(shapes, &mut random, 1.0);
            pair.sizes[0] = Vector3::new(0.5, 1.0, 0.7) * random.uniform(0.3, 1.0);
            let depth = -separation(&pair);
            if depth <= 1e-6 || depth > 0.4 {
                continue;
            }
            count += 1;
            let gap = least_gap(&pair.witnesses(0.0));
            assert!((gap + depth).abs() < 0.02 * depth + 2e-3, "{gap} {depth} {pair:?}");
            let round = shapes[1] == &CYLINDER;
            exact += usize::from((gap + depth).abs() < if round { 5e-3 } else { 1e-10 });
        }
        println!("{exact} of {count}");
        assert!(exact * 10 > count * 5, "{exact} of {count}");
    }
}

/// From far off to deep inside there is a point from the step on in which they overlap.
#[test]
fn polyhedra_do_not_enter_unseen() {
    let mut random = Random(104);
    for shapes in [[&*CRYSTAL, &*CRYSTAL], [&*CRYSTAL, &BOX], [&CYLINDER, &BOX]] {
        for _ in 0..100 {
            let mut pair = Pair::random(shapes, &mut random, 0.1);
            let way = super::unit(&mut random);
            let middle = pair.positions[0];
            let mut inside = false;
            for step in 0..100 {
                pair.positions[1] = middle + way * (3.0 - 0.03 * f64::from(step));
                let contacts = pair.witnesses(0.0);
                inside |= least_gap(&contacts) < 0.0;
                assert!(!inside || !contacts.is_empty(), "{pair:?}");
                assert!(contacts.is_empty() || least_gap(&contacts) <= 0.0);
            }
            assert!(inside);
        }
    }
}

/// A ball of many facets: no facet is mistaken for its neighbour.
#[test]
fn fine_meshes_touch_where_balls_do() {
    let golden = std::f64::consts::PI * (3.0 - 5f64.sqrt());
    let point = |k: usize| {
        let z = 1.0 - (2 * k + 1) as f64 / 400.0;
        let r = (1.0 - z * z).sqrt();
        Vector3::new(r * (golden * k as f64).cos(), r * (golden * k as f64).sin(), z)
    };
    let points: Vec<_> = (0..400).map(point).collect();
    let ball = Shape::Convex(std::sync::Arc::new(Polyhedron::hull(&points).unwrap()));
    let ball: &'static Shape = Box::leak(Box::new(ball));
    let mut random = Random(105);
    let mut found = 0;
    for _ in 0..60 {
        let mut pair = Pair::random([ball, ball], &mut random, 1.0);
        pair.sizes = [Vector3::repeat(0.5), Vector3::repeat(0.3)];
        let way = super::unit(&mut random).normalize();
        let depth = random.uniform(-0.01, 0.02);
        pair.positions[1] = pair.positions[0] + way * (0.8 - depth);
        let contacts = pair.witnesses(0.1);
        let true_gap = -depth;
        if contacts.is_empty() {
            assert!(distance(&pair).0 > 1e-6, "{depth}");
            continue;
        }
        found += 1;
        let gap = least_gap(&contacts);
        // Facets are at most 0.7 % of the radius below the ball.
        assert!(gap > true_gap - 2e-3 && gap < true_gap + 8e-3, "{gap} {true_gap}");
        assert!(contacts.iter().all(|w| w.normal.dot(&way) > 0.97), "{contacts:?}");
    }
    assert!(found > 35, "{found}");
}
