//! Shapes over a half-space.

use nalgebra::Vector3;
use stiction::ad::{Real, jacobian};
use stiction::collision::{Pose, SurfacePoint, half_space_points};
use stiction::model::{Plane, Shape};

use super::{BOX, CAPSULE, CRYSTAL, CYLINDER, DIRECTIONS, HILLS, Pair, SPHERE, WEDGE, unit};
use crate::random::Random;

fn points<T: Real>(pair: &Pair, by: &[T], plane: &Plane<f64>, reach: f64) -> Vec<SurfacePoint<T>> {
    let (poses, sizes) = pair.moved(by);
    let offset = T::constant(plane.offset);
    let plane = &Plane { normal: plane.normal.map(T::constant), offset };
    let mut out = Vec::new();
    half_space_points(pair.shapes[0], sizes[0], &poses[0], plane, reach, &mut out);
    out
}

fn at(pair: &Pair, plane: &Plane<f64>, reach: f64) -> Vec<SurfacePoint<f64>> {
    points(pair, &[0.0; DIRECTIONS], plane, reach)
}

fn plane(random: &mut Random) -> Plane<f64> {
    let offset = random.uniform(-1.0, 1.0);
    Plane { normal: unit(random).normalize(), offset }
}

fn all() -> [&'static Shape; 7] {
    [&BOX, &SPHERE, &CAPSULE, &CYLINDER, &WEDGE, &CRYSTAL, &HILLS]
}

#[test]
fn the_lowest_point_is_as_low_as_the_shape() {
    let mut random = Random(91);
    for shape in all() {
        for _ in 0..2000 {
            let pair = Pair::random([shape, &SPHERE], &mut random, 1.0);
            let plane = plane(&mut random);
            let found = at(&pair, &plane, f64::INFINITY);
            assert!(found.len() <= shape.contact_points());
            let Pose { rotation, position } = pair.poses()[0];
            let height = plane.normal.dot(&position) - plane.offset;
            let size = pair.sizes[0];
            let lowest = height - shape.reach(size.into(), rotation.tr_mul(&plane.normal));
            let least = found.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
            match shape {
                // Its reach is that of the box about it.
                Shape::HeightField(_) => assert!(least >= lowest - 1e-12),
                _ => assert!((least - lowest).abs() < 3e-4 * size.x, "{shape:?} {least} {lowest}"),
            }
            for (k, p) in found.iter().enumerate() {
                let world = position + rotation * p.at;
                assert!((plane.normal.dot(&world) - plane.offset - p.gap).abs() < 1e-12);
                // The upper end of a capsule touches within its side.
                if *shape != Shape::Capsule && !matches!(shape, Shape::HeightField(_)) {
                    assert!(pair.outside(0, world).abs() < 1e-12, "{shape:?}");
                }
                assert!(p.feature < shape.contact_points());
                assert!(found[..k].iter().all(|other| other.feature != p.feature));
                assert!(
                    world.norm() <= position.norm() + shape.bounding_radius(size.into()) + 1e-12
                );
            }
            let near = at(&pair, &plane, 0.1);
            for p in near.iter().filter(|p| p.gap <= 0.1) {
                let same = found.iter().find(|other| other.feature == p.feature).unwrap();
                assert_eq!((p.gap, p.at, p.lowest), (same.gap, same.at, same.lowest));
            }
            assert!(
                found.iter().all(|p| {
                    p.gap > 0.1 || near.iter().any(|other| other.feature == p.feature)
                })
            );
        }
    }
}

#[test]
fn a_cylinder_stands_on_four_points_and_lies_on_two() {
    let floor = Plane { normal: Vector3::z(), offset: 0.0 };
    let standing = Pair::aligned([[0.2, 0.5, 0.0]; 2], [0.0; 3]);
    let mut standing = Pair { shapes: [&CYLINDER, &SPHERE], ..standing };
    standing.positions[0].z = 0.5;
    for tilt in [0.0, 1e-12, 1e-6, 0.9e-3] {
        for (flip, features) in [(0.0, [0, 1, 2, 3]), (std::f64::consts::PI, [4, 5, 6, 7])] {
            let found: Vec<_> = at(&standing.turned(0, [flip + tilt, 0.0, 0.0]), &floor, 0.1)
                .into_iter()
                .filter(|p| p.gap < 0.01)
                .collect();
            let mut numbers: Vec<_> = found.iter().map(|p| p.feature).collect();
            numbers.sort_unstable();
            assert_eq!(numbers, features, "{tilt}");
        }
    }
    let tilted = at(&standing.turned(0, [0.3, 0.0, 0.0]), &floor, 0.1);
    let least = tilted.iter().min_by(|a, b| a.gap.total_cmp(&b.gap)).unwrap();
    assert!(least.feature >= 8 && (least.at.z.abs() - 0.5).abs() < 1e-15);

    let mut lying = standing.turned(0, [std::f64::consts::FRAC_PI_2, 0.0, 0.0]);
    lying.positions[0].z = 0.2;
    for roll in [0.0, 0.1, 1.0, 3.0] {
        let found = at(&lying.turned(0, [0.0, roll, 0.0]), &floor, 0.1);
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|p| p.gap.abs() < 1e-15), "{found:?}");
    }
}

#[test]
fn derivatives_are_those_of_differences() {
    let numbers = |found: &[SurfacePoint<f64>]| {
        let one = |p: &SurfacePoint<f64>| [p.at.x, p.at.y, p.at.z, p.gap, p.lowest];
        found.iter().flat_map(one).collect::<Vec<_>>()
    };
    let mut random = Random(92);
    for shape in all() {
        let mut compared = 0;
        for _ in 0..60 {
            let pair = Pair::random([shape, &SPHERE], &mut random, 1.0);
            let mut plane = plane(&mut random);
            let Pose { rotation, position } = pair.poses()[0];
            let size = pair.sizes[0].into();
            let reach = shape.reach(size, rotation.tr_mul(&plane.normal));
            plane.offset = plane.normal.dot(&position) - reach - 0.1;
            let found = at(&pair, &plane, 0.2);
            let (_, exact) = jacobian::<6>(
                |by| {
                    let found = points(&pair, by, &plane, 0.2);
                    found.iter().flat_map(|p| [p.at.x, p.at.y, p.at.z, p.gap, p.lowest]).collect()
                },
                &[0.0; DIRECTIONS],
            );
            for k in 0..9 {
                let h = 1e-4;
                let step = |h: f64| {
                    let mut by = [0.0; DIRECTIONS];
                    by[k] = h;
                    points(&pair, &by, &plane, 0.2)
                };
                let steps = [-2.0 * h, -h, h, 2.0 * h].map(step);
                let same = |other: &Vec<SurfacePoint<f64>>| {
                    other.len() == found.len()
                        && other.iter().zip(&found).all(|(a, b)| a.feature == b.feature)
                };
                if !steps.iter().all(same) {
                    continue;
                }
                let [a, b, c, d] = steps.map(|found| numbers(&found));
                compared += 1;
                for i in 0..a.len() {
                    let difference = (a[i] - d[i] + 8.0 * (c[i] - b[i])) / (12.0 * h);
                    let error = (difference - exact[(i, k)]).abs();
                    // The lowest point of a rim goes round fast where it is nearly upright.
                    let scale = exact.column(k).amax().max(1.0).powi(5);
                    assert!(
                        error < 1e-7 * scale,
                        "{shape:?} {k} {i} {difference} {}",
                        exact[(i, k)]
                    );
                }
            }
        }
        assert!(compared > 300, "{shape:?} {compared}");
    }
}
