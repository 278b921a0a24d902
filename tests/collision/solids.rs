//! Volume, centre and inertia, and hulls of points.

use std::sync::Arc;

use approx::assert_relative_eq;
use nalgebra::{Matrix3, Vector3};
use stiction::model::{HeightField, HeightFieldError, HullError, Polyhedron, Scene, Shape};

use super::{CRYSTAL, unit};
use crate::random::Random;
use crate::scenes::FLOOR;

fn convex(points: &[Vector3<f64>]) -> Shape {
    Shape::Convex(Arc::new(Polyhedron::hull(points).unwrap()))
}

/// Each number by a sum over the cells of a grid.
#[test]
fn moments_are_those_of_the_integral() {
    let n = 120;
    for (shape, size) in [
        (&Shape::Box, [0.3, 0.4, 0.5]),
        (&Shape::Sphere, [0.5, 0.0, 0.0]),
        (&Shape::Capsule, [0.3, 0.2, 0.0]),
        (&Shape::Cylinder, [0.4, 0.5, 0.0]),
        (&Shape::Wedge, [0.5, 0.4, 0.3]),
        (&*CRYSTAL, [0.4, 0.45, 0.5]),
    ] {
        let inside = |p: Vector3<f64>| match shape {
            Shape::Box => (0..3).all(|k| p[k].abs() < size[k]),
            Shape::Sphere => p.norm() < size[0],
            Shape::Capsule => {
                let beyond = p.z - p.z.clamp(-size[1], size[1]);
                Vector3::new(p.x, p.y, beyond).norm() < size[0]
            }
            Shape::Cylinder => p.xy().norm() < size[0] && p.z.abs() < size[1],
            Shape::Convex(_) | Shape::Wedge => {
                let (own, _) = shape.polyhedron().unwrap();
                let place = p.component_div(&Vector3::from(size));
                own.faces().iter().all(|face| face.normal.dot(&place) < face.offset)
            }
            Shape::HeightField(_) => false,
        };
        let middle = |k: usize| 0.6 * ((2 * k + 1) as f64 / n as f64 - 1.0);
        let cell = (1.2 / n as f64).powi(3);
        let (mut volume, mut first, mut second) = (0.0, Vector3::zeros(), Matrix3::zeros());
        for k in 0..n * n * n {
            let p = Vector3::new(middle(k % n), middle(k / n % n), middle(k / n / n));
            if inside(p) {
                volume += cell;
                first += p * cell;
                second += p * p.transpose() * cell;
            }
        }
        let solid = shape.uniform_solid(size);
        let center = first / volume;
        let spread = second / volume - center * center.transpose();
        let inertia = Matrix3::identity() * spread.trace() - spread;
        assert!((solid.volume / volume - 1.0).abs() < 5e-3, "{shape:?} {solid:?} {volume}");
        assert!((solid.center_of_mass - center).amax() < 2e-3, "{shape:?} {solid:?} {center}");
        assert!((solid.inertia - inertia).amax() < 5e-3 * inertia.amax(), "{solid:?} {inertia}");
    }
}

#[test]
fn a_polyhedron_has_the_moments_of_its_closed_form() {
    // A cube by its corners, off the origin; the corner of a cube, a tetrahedron.
    let at = Vector3::new(3.0, -2.0, 1.0);
    let corners = Polyhedron::cube().vertices().iter();
    let cube = convex(&corners.map(|v| v.component_mul(&at) * 0.1 + at).collect::<Vec<_>>());
    let (one, two) = (cube.uniform_solid([1.0; 3]), Shape::Box.uniform_solid([0.3, 0.2, 0.1]));
    assert!((one.volume - two.volume).abs() < 1e-14 && (one.center_of_mass - at).amax() < 1e-13);
    assert!((one.inertia - two.inertia).amax() < 1e-12, "{one:?} {two:?}");

    let axes = [Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
    let corner = convex(&axes).uniform_solid([1.0; 3]);
    assert!((corner.volume - 1.0 / 6.0).abs() < 1e-15);
    assert!((corner.center_of_mass - Vector3::repeat(0.25)).amax() < 1e-15);
    // Of each kg: ∫x² = 3/80, ∫xy = -1/80 about the centre.
    let expected = Matrix3::from_fn(|i, j| if i == j { 6.0 / 80.0 } else { 1.0 / 80.0 });
    assert!((corner.inertia - expected).amax() < 1e-15, "{}", corner.inertia);
    // Scaled.
    let scaled = convex(&axes).uniform_solid([2.0, 3.0, 4.0]);
    assert!((scaled.volume - 4.0).abs() < 1e-14);
    assert!((scaled.center_of_mass - Vector3::new(0.5, 0.75, 1.0)).amax() < 1e-14);
}

#[test]
fn a_hull_without_inertia_has_the_centre_and_the_inertia_of_its_solid() {
    // The corner of a block, cut off at a, b and c of its edges, turned a quarter about z.
    let [a, b, c, mass] = [0.2, 0.3, 0.4, 2.0];
    let body = |more: &str| {
        let quarter = 0.5_f64.sqrt();
        let text = format!(
            "simulation.time_step = 0.01
            [[body]]
            name = 'corner'
            mass = {mass}
            {more}
            [body.shape]
            convex = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
            scale = [{a}, {b}, {c}]
            position = [1, 2, 3]
            orientation = [{quarter}, 0, 0, {quarter}]"
        );
        Scene::parse(&text, "scene.toml")
    };
    let Scene { model, parameters, .. } = body("").unwrap();
    let center = Vector3::new(1.0 - b / 4.0, 2.0 + a / 4.0, 3.0 + c / 4.0);
    assert_relative_eq!(parameters.center_of_mass(&model, 0), center, max_relative = 1e-14);
    let (xy, xz, yz) = (-a * b, -b * c, a * c);
    let squares = [a * a + c * c, b * b + c * c, a * a + b * b].map(|sum| 3.0 * sum);
    let [xx, yy, zz] = squares;
    let inertia = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz) * (mass / 80.0);
    assert_relative_eq!(parameters.inertia(&model, 0), inertia, max_relative = 1e-13);
    // Its own centre may be given, up to rounding; another is another solid.
    assert!(body("center_of_mass = [0.925, 2.05, 3.1]").is_ok());
    let message = body("center_of_mass = [0, 0, 0]").unwrap_err().to_string();
    assert!(message.contains("inertia: is missing") && message.contains("density"), "{message}");

    let ground = "simulation.time_step = 0.01\n[[body]]\nname = 'ground'\nmass = 1\n\
                  shape = { height_field = [[0, 0], [0, 0]], spacing = [1, 1] }";
    let message = Scene::parse(ground, "scene.toml").unwrap_err().to_string();
    assert!(message.contains("inertia: is missing: a height field"), "{message}");
}

#[test]
fn what_starts_deep_for_its_thickness_is_refused() {
    let height = |shape: &str, z: f64| {
        Scene::parse(
            &format!(
                "simulation.time_step = 0.01
                {FLOOR}
                [[body]]
                name = 'die'
                mass = 1
                position = [0, 0, {z}]
                [body.shape]
                {shape}
                [[contact]]
                mu = 0.3"
            ),
            "scene.toml",
        )
    };
    // A regular octahedron of 2 cm: its points, not its scale, say how large it is. A capsule that is shorter than it
    // is thick: its radius, not half its length.
    let hull = "convex = [[0.02, 0, 0], [-0.02, 0, 0], [0, 0.02, 0], [0, -0.02, 0], [0, 0, 0.02], [0, 0, -0.02]]";
    let scaled = "convex = [[2, 0, 0], [-2, 0, 0], [0, 2, 0], [0, -2, 0], [0, 0, 1], [0, 0, -1]]\nscale = [0.01, 0.01, 0.02]";
    for (shape, reach) in [(hull, 0.02), (scaled, 0.02), ("capsule = [0.02, 0.005]", 0.025)] {
        assert!(height(shape, reach - 0.0019).is_ok(), "{shape}");
        let message = height(shape, reach - 0.0021).unwrap_err().to_string();
        assert!(message.contains("body.die.position"), "{message}");
        assert!(message.contains("half extent or radius, 0.02 m"), "{message}");
    }
}

#[test]
fn hulls_hold_their_points() {
    let mut random = Random(81);
    for count in [4, 5, 8, 20, 100, 1000] {
        for round in [false, true] {
            let point = |random: &mut Random| match round {
                true => unit(random),
                false => Vector3::from(random.vector(1.0)),
            };
            let points: Vec<_> = (0..count).map(|_| point(&mut random)).collect();
            let hull = Polyhedron::hull(&points).unwrap();
            let (v, e, f) = (hull.vertices().len(), hull.edges().len(), hull.faces().len());
            assert_eq!(v + f, e + 2);
            assert!(!round || v == count);
            for face in hull.faces() {
                assert!((face.normal.norm() - 1.0).abs() < 1e-14);
                assert!(points.iter().all(|p| face.normal.dot(p) <= face.offset + 1e-12));
            }
            for (index, edge) in hull.edges().iter().enumerate() {
                for face in edge.faces {
                    let ends = edge.ends.iter().all(|end| hull.corners(face).contains(end));
                    assert!(ends && hull.sides(face).contains(&index));
                }
                let [left, right] = edge.faces.map(|face| hull.faces()[face].normal);
                let along = hull.vertices()[edge.ends[1]] - hull.vertices()[edge.ends[0]];
                assert!(left.cross(&right).dot(&along) > 0.0);
            }
        }
    }
}

/// Points on faces and edges of a cube, also but for the rounding of single precision.
#[test]
fn triangles_in_one_plane_are_one_face() {
    let mut random = Random(82);
    for noise in [0.0, 1e-15, 1e-10, 1e-8, 3e-7] {
        let place = |k: usize| 0.5 * k as f64 - 1.0;
        let grid = |k: usize| Vector3::new(place(k % 5), place(k / 5 % 5), place(k / 25));
        let points: Vec<_> =
            (0..125).map(|k| grid(k) + Vector3::from(random.vector(noise))).collect();
        let hull = Polyhedron::hull(&points).unwrap();
        let counts = [hull.vertices().len(), hull.edges().len(), hull.faces().len()];
        assert_eq!(counts, [8, 12, 6], "{noise}");
        assert!((hull.moments().0 - 8.0).abs() < 24.0 * 2.0 * noise + 1e-13);
    }
    let cylinder = Polyhedron::hull(Polyhedron::cylinder().vertices()).unwrap();
    assert_eq!(cylinder.faces().len(), Polyhedron::cylinder().faces().len());
}

#[test]
fn what_makes_no_solid_is_refused() {
    let mut random = Random(83);
    let mut points: Vec<_> = (0..50).map(|_| Vector3::from(random.vector(1.0))).collect();
    let flat: Vec<_> = points.iter().map(|p| Vector3::new(p.x, p.y, 0.3 * p.x + p.y)).collect();
    assert_eq!(Polyhedron::hull(&flat), Err(HullError::Flat));
    assert_eq!(Polyhedron::hull(&points[..3]), Err(HullError::TooFew(3)));
    assert_eq!(Polyhedron::hull(&[Vector3::x(); 9]), Err(HullError::Flat));
    assert_eq!(Polyhedron::hull(&[Vector3::zeros(); 9]), Err(HullError::Flat));
    points[7].y = f64::NAN;
    assert_eq!(Polyhedron::hull(&points), Err(HullError::NotFinite(7)));
    points[7].y = f64::INFINITY;
    assert_eq!(Polyhedron::hull(&points), Err(HullError::NotFinite(7)));
    for size in [1e-80, 1e-20, 1e-3, 1e20, 1e80] {
        let scaled: Vec<_> = points.iter().filter(|p| p.y < 1.0).map(|p| p * size).collect();
        assert!(Polyhedron::hull(&scaled).is_ok(), "{size}");
    }

    let field = |rows, columns, spacing, heights: &[f64]| {
        HeightField::new(rows, columns, spacing, heights.to_vec()).err()
    };
    assert_eq!(field(2, 2, [1.0; 2], &[0.0; 4]), None);
    assert_eq!(field(1, 4, [1.0; 2], &[0.0; 4]), Some(HeightFieldError::TooSmall));
    let count = HeightFieldError::Count { expected: 4, found: 3 };
    assert_eq!(field(2, 2, [1.0; 2], &[0.0; 3]), Some(count));
    assert_eq!(field(2, 2, [1.0, -1.0], &[0.0; 4]), Some(HeightFieldError::Spacing(-1.0)));
    let heights = [0.0, 0.0, f64::NAN, 0.0];
    assert_eq!(field(2, 2, [1.0; 2], &heights), Some(HeightFieldError::NotFinite(2)));
}
