//! What holds for all pairs of convex shapes: invariants, the distance by optimisation, derivatives.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SecondOrderConeT, SupportedConeT,
};
use nalgebra::Vector3;
use stiction::collision::{Pose, features, supports};
use stiction::model::{CYLINDER_SIDES, Polyhedron, Shape};

use super::invariants::{assert_consistent, assert_moving, flipped};
use super::{Pair, least_gap, more_shapes};
use crate::random::Random;

/// How far round surfaces may be from where they are taken to be, of their radius.
fn roundness(pair: &Pair) -> f64 {
    let prism = 1.0 - (std::f64::consts::PI / CYLINDER_SIDES as f64).cos();
    let round = |k: usize| match pair.shapes[k] {
        Shape::Cylinder if *pair.shapes[1 - k] != Shape::Sphere => prism * pair.sizes[k].x,
        _ => 0.0,
    };
    round(0).max(round(1))
}

fn has_capsule(pair: &Pair) -> bool {
    pair.shapes.contains(&&Shape::Capsule)
}

#[test]
fn normals_are_unit_and_points_are_on_the_surfaces() {
    let mut random = Random(61);
    for shapes in more_shapes() {
        assert!(supports(shapes));
        let mut found = 0;
        for _ in 0..3000 {
            let pair = Pair::random(shapes, &mut random, 3.0);
            let contacts = pair.witnesses(0.3);
            found += usize::from(!contacts.is_empty());
            assert!(contacts.len() <= 9, "{pair:?} {contacts:?}");
            let surface = roundness(&pair) + if has_capsule(&pair) { 0.01 } else { 1e-4 };
            assert_consistent(&pair, &contacts, features(shapes), [1e-13, 1e-12], surface);
        }
        assert!(found > 700, "{shapes:?} {found}");
    }
}

#[test]
fn swapped_shapes_have_flipped_normals() {
    let mut random = Random(62);
    for shapes in more_shapes() {
        let [count, same] = flipped(shapes, &mut random, 2000, [1e-11, 1e-10]);
        // Of two axes that are as good the first is taken, and of manifolds of many points other ones.
        let all = if shapes[0] == shapes[1] { count - count / 10 } else { count - count / 6 };
        println!("{shapes:?} {same} of {count}");
        assert!(count > 500 && same >= all, "{shapes:?}: {same} of {count}");
    }
}

#[test]
fn contacts_move_with_the_shapes() {
    let mut random = Random(63);
    for shapes in more_shapes() {
        assert_moving(shapes, &mut random, 1000, [1e-11, 1e-9]);
    }
}

/// Rows a x <= b, or in a second-order cone, of one shape; its core is x.
struct Core {
    linear: Vec<([f64; 3], f64)>,
    cones: Vec<[([f64; 3], f64); 3]>,
    radius: f64,
}

/// The core of a shape in the world.
fn core(pair: &Pair, body: usize) -> Core {
    let Pose { rotation, position } = pair.poses()[body];
    let size = pair.sizes[body];
    let mut core = Core { linear: Vec::new(), cones: Vec::new(), radius: 0.0 };
    let [x, y, z] = [0, 1, 2].map(|k| rotation.column(k).into_owned());
    let mut below = |normal: Vector3<f64>, offset: f64| {
        core.linear.push((normal.into(), offset + normal.dot(&position)));
    };
    let mut polyhedron = |polyhedron: &Polyhedron, size: Vector3<f64>| {
        for face in polyhedron.faces() {
            below(rotation * face.normal.component_div(&size), face.offset);
        }
    };
    match pair.shapes[body] {
        Shape::Box => polyhedron(Polyhedron::cube(), size),
        Shape::Wedge => polyhedron(Polyhedron::wedge(), size),
        Shape::Convex(own) => polyhedron(own, size),
        Shape::Sphere => {
            [x, y, z].into_iter().for_each(|axis| {
                below(axis, 0.0);
                below(-axis, 0.0);
            });
            core.radius = size.x;
        }
        Shape::Capsule | Shape::Cylinder => {
            below(z, size.y);
            below(-z, size.y);
            if *pair.shapes[body] == Shape::Capsule {
                for axis in [x, y] {
                    below(axis, 0.0);
                    below(-axis, 0.0);
                }
                core.radius = size.x;
            } else {
                // |(x, y)| <= r
                let row = |axis: Vector3<f64>| ((-axis).into(), -axis.dot(&position));
                core.cones.push([([0.0; 3], size.x), row(x), row(y)]);
            }
        }
        Shape::HeightField(_) => {}
    }
    core
}

/// The distance of two shapes and the direction from the first to the second: min |x - y|²/2 over the
/// points of both cores.
pub fn distance(pair: &Pair) -> (f64, Vector3<f64>, [Vector3<f64>; 2]) {
    let cores = [core(pair, 0), core(pair, 1)];
    let (mut rows, mut right) = (Vec::new(), Vec::new());
    let mut cones: Vec<SupportedConeT<f64>> = Vec::new();
    let mut add = |body: usize, row: [f64; 3], b: f64| {
        let mut all = [0.0; 6];
        all[3 * body..3 * body + 3].copy_from_slice(&row);
        rows.push(all);
        right.push(b);
    };
    for (body, core) in cores.iter().enumerate() {
        core.linear.iter().for_each(|&(row, b)| add(body, row, b));
    }
    cones.push(NonnegativeConeT(cores.iter().map(|core| core.linear.len()).sum()));
    for (body, core) in cores.iter().enumerate() {
        for cone in &core.cones {
            cone.iter().for_each(|&(row, b)| add(body, row, b));
            cones.push(SecondOrderConeT(3));
        }
    }
    let p = |i: usize, j: usize| match (i == j, i % 3 == j % 3) {
        (true, _) => 1.0,
        (_, true) => -1.0,
        _ => 0.0,
    };
    let upper = |i: usize, j: usize| if i <= j { p(i, j) } else { 0.0 };
    let p: Vec<Vec<f64>> = (0..6).map(|i| (0..6).map(|j| upper(i, j)).collect()).collect();
    let a: Vec<Vec<f64>> = rows.iter().map(|row| row.to_vec()).collect();
    let settings = DefaultSettings {
        verbose: false,
        tol_gap_abs: 1e-13,
        tol_gap_rel: 1e-13,
        tol_feas: 1e-13,
        ..DefaultSettings::default()
    };
    let (p, a) = (CscMatrix::from(&p), CscMatrix::from(&a));
    let mut solver = DefaultSolver::new(&p, &[0.0; 6], &a, &right, &cones, settings).unwrap();
    solver.solve();
    let x = &solver.solution.x;
    let points = [Vector3::new(x[0], x[1], x[2]), Vector3::new(x[3], x[4], x[5])];
    let offset = points[1] - points[0];
    let distance = offset.norm() - cores[0].radius - cores[1].radius;
    (distance, offset.normalize(), points)
}

#[test]
fn gaps_are_distances() {
    let mut random = Random(64);
    for shapes in more_shapes() {
        let (mut exact, mut count, mut missed) = (0, 0, 0);
        for _ in 0..500 {
            let pair = Pair::random(shapes, &mut random, 3.0);
            let (distance, normal, _) = distance(&pair);
            if !(1e-3..0.3).contains(&distance) {
                continue;
            }
            count += 1;
            let contacts = pair.witnesses(1.0);
            let tolerance = 2e-3 + 2.0 * roundness(&pair);
            let gap = least_gap(&contacts);
            let round = |k: usize| matches!(shapes[k], Shape::Sphere | Shape::Capsule);
            if contacts.is_empty() {
                // Corners that are nearest to each other.
                assert!(!round(0) && !round(1), "{pair:?}");
                missed += 1;
                continue;
            }
            assert!(gap > distance - tolerance, "{gap} {distance} {pair:?}");
            let nearest = contacts.iter().min_by(|a, b| a.gap.total_cmp(&b.gap)).unwrap();
            let same = (gap - distance).abs() < tolerance && nearest.normal.dot(&normal) > 0.99;
            assert!(same || !round(0) && !round(1), "{gap} {distance} {pair:?} {nearest:?}");
            exact += usize::from(same);
        }
        println!("{shapes:?} {exact} of {count}, {missed} missed");
        assert!(count > 30, "{shapes:?} {count}");
        assert!(
            missed * 4 < count && exact * 10 > count * 6,
            "{shapes:?} {exact} {missed} {count}"
        );
    }
}
