//! Derivatives of gap, normal and points in poses and sizes, against central differences.

use std::collections::BTreeMap;

use nalgebra::Vector3;
use stiction::ad::{Function, Real, jacobian, jacobian_by_rows};
use stiction::collision::Witness;
use stiction::model::Shape;
use stiction::verify::{Options, check_second_order};

use super::height_fields::over;
use super::{
    BOX, CAPSULE, CRYSTAL, CUBE, CYLINDER, DIRECTIONS, Pair, SPHERE, features, more_shapes, shapes,
};
use crate::random::Random;

fn numbers<T: Real>(contacts: &[Witness<T>]) -> Vec<T> {
    let one = |w: &Witness<T>| {
        let points = w.points.iter().flat_map(|p| p.iter().copied());
        let rest = w.normal.iter().copied().chain([w.gap, w.lowest]);
        points.chain(rest).collect::<Vec<_>>()
    };
    contacts.iter().flat_map(one).collect()
}

/// Numbers of a contact.
const NUMBERS: usize = 11;

/// What a feature of two shapes is called.
fn kind(shapes: [&Shape; 2], feature: usize) -> &'static str {
    let digits = |k: usize| [k % 3, k / 3 % 3, k / 9].iter().filter(|&&d| d != 1).count();
    match shapes {
        [Shape::Sphere, Shape::Sphere] => "spheres",
        [Shape::Box, Shape::Box] => match feature {
            0..96 => "corner",
            96..672 => "crossing",
            672..960 => "reference corner",
            _ => "edges",
        },
        [Shape::Sphere, Shape::Box] | [Shape::Box, Shape::Sphere] => {
            ["", "sphere on face", "sphere on edge", "sphere on corner"][digits(feature)]
        }
        [Shape::HeightField(_), _] => "height field",
        [Shape::Capsule, Shape::Capsule] => "capsules",
        _ if shapes.contains(&&Shape::Capsule) => "capsule",
        _ if shapes.contains(&&Shape::Sphere) => "sphere",
        _ => "polyhedra",
    }
}

/// The largest error of each kind of feature, and how many were compared and skipped.
#[derive(Default)]
struct Tally {
    errors: BTreeMap<&'static str, (f64, usize)>,
    skipped: usize,
    compared: usize,
}

impl Tally {
    fn compare(&mut self, pair: &Pair, reach: f64) {
        let zero = [0.0; DIRECTIONS];
        let found = features(&pair.witnesses(reach));
        let (_, exact) = jacobian::<6>(|by| numbers(&pair.contacts(by, reach)), &zero);
        if !found.is_empty() {
            let (_, taped) =
                jacobian_by_rows(|by| numbers(&pair.contacts(by, reach)), &zero).unwrap();
            let error = (&taped - &exact).amax();
            assert!(error <= 1e-12 * exact.amax(), "{error} {pair:?}");
        }
        for k in 0..DIRECTIONS {
            // Fourth order: rounding and the next term are both far below 1e-7.
            let at = |h: f64| {
                let mut by = zero;
                by[k] = h;
                let contacts = pair.contacts(&by, reach);
                (features(&contacts) == found).then(|| numbers(&contacts))
            };
            let h = 1e-4;
            let [Some(a), Some(b), Some(c), Some(d)] = [at(-2.0 * h), at(-h), at(h), at(2.0 * h)]
            else {
                self.skipped += 1;
                continue;
            };
            self.compared += 1;
            for (contact, &feature) in found.iter().enumerate() {
                let range = contact * NUMBERS..(contact + 1) * NUMBERS;
                let column = exact.column(k);
                // Crossings of lines that are nearly parallel move fast.
                let scale = range.clone().map(|i| column[i].abs()).fold(1.0, f64::max);
                for i in range {
                    let difference = (a[i] - d[i] + 8.0 * (c[i] - b[i])) / (12.0 * h);
                    let error = (difference - column[i]).abs() / scale.powi(5);
                    let entry = self.errors.entry(kind(pair.shapes, feature)).or_default();
                    entry.0 = entry.0.max(error);
                    entry.1 += 1;
                    assert!(error < 1e-7, "{k} {i} {difference} {} {pair:?}", column[i]);
                }
            }
        }
    }

    /// That each of `kinds` was compared often and few were skipped.
    fn check(&self, kinds: &[&str]) {
        println!("{:?}, {} of {} skipped", self.errors, self.skipped, self.compared);
        assert!(self.skipped * 5 < self.compared, "{} {}", self.skipped, self.compared);
        for kind in kinds {
            let count = self.errors.get(kind).map_or(0, |entry| entry.1);
            assert!(count > 1000, "{kind} {count}");
        }
    }
}

#[test]
fn of_random_pairs() {
    let mut random = Random(51);
    let mut tally = Tally::default();
    for shapes in shapes() {
        let boxes = shapes == [&BOX; 2];
        for _ in 0..if boxes { 1000 } else { 400 } {
            // Away from the middle, where the nearest face changes.
            let pair = Pair::random(shapes, &mut random, 3.0);
            tally.compare(&pair, 0.5);
        }
    }
    tally.check(&[
        "spheres",
        "sphere on face",
        "sphere on edge",
        "sphere on corner",
        "corner",
        "reference corner",
        "crossing",
        "edges",
    ]);
}

#[test]
fn of_stacked_and_tilted_faces() {
    let mut random = Random(52);
    let mut tally = Tally::default();
    for case in 0..300 {
        let size = |random: &mut Random| [(); 3].map(|()| random.uniform(0.3, 1.0));
        let sizes = [size(&mut random), size(&mut random)];
        let rise = sizes[0][2] + sizes[1][2] + random.uniform(-0.02, 0.05);
        let shift = random.vector::<2>(0.5);
        let tilt = [1e-9, 1e-3, 0.03, 0.2][case % 4];
        let yaw = random.uniform(-3.0, 3.0);
        let pair = Pair::aligned(sizes, [shift[0], shift[1], rise])
            .turned(1, [0.0, 0.0, yaw])
            .turned(1, random.vector(tilt))
            .turned(0, random.vector(0.5 * tilt));
        tally.compare(&pair, 0.5);
    }
    tally.check(&["corner", "reference corner", "crossing"]);
}

#[test]
fn of_every_pair() {
    let mut random = Random(53);
    for shapes in more_shapes() {
        let mut tally = Tally::default();
        for _ in 0..60 {
            let pair = Pair::random(shapes, &mut random, 2.5);
            tally.compare(&pair, 0.3);
        }
        println!("{shapes:?}");
        tally.check(&[]);
    }
}

/// Capsules along capsules, faces and edges, flush and slightly tilted polyhedra.
#[test]
fn of_parallel_poses() {
    let mut random = Random(54);
    let mut tally = Tally::default();
    let quarter = std::f64::consts::FRAC_PI_2;
    for case in 0..200 {
        let tilt = [0.0, 1e-9, 1e-3, 0.02][case % 4];
        let yaw = random.uniform(-3.0, 3.0);
        let [x, y] = random.vector(0.3);
        let shapes = [[&CAPSULE, &CAPSULE], [&BOX, &CAPSULE], [&CRYSTAL, &CAPSULE], [&CUBE, &CUBE]];
        let flat = Pair::aligned([[0.5, 0.4, 0.3], [0.2, 0.45, 0.3]], [x, y, 0.0]);
        let mut pair = Pair { shapes: shapes[case / 4 % 4], ..flat };
        match pair.shapes {
            [Shape::Capsule, _] => {
                pair.positions[1] = Vector3::new(0.6, 0.4, x);
                pair = pair.turned(1, [0.0, 0.0, yaw]);
            }
            [Shape::Convex(_), Shape::Convex(_)] => {
                pair.positions[1].z = 0.61;
                pair = pair.turned(1, [0.0, 0.0, yaw]);
            }
            _ => {
                pair.positions[1].z = 0.55;
                pair = pair.turned(1, [0.0, quarter, 0.0]).turned(1, [0.0, 0.0, yaw]);
            }
        }
        let pair = pair.turned(1, random.vector(tilt)).turned(0, random.vector(tilt));
        tally.compare(&pair, 0.3);
    }
    tally.check(&["capsules", "capsule", "polyhedra"]);
}

#[test]
fn of_shapes_on_hills() {
    let mut random = Random(55);
    for shape in [&SPHERE, &CAPSULE, &BOX, &CYLINDER, &*CRYSTAL] {
        let mut tally = Tally::default();
        for _ in 0..40 {
            let height = random.uniform(-0.05, 0.1);
            tally.compare(&over(shape, height, &mut random), 0.1);
        }
        println!("{shape:?}");
        tally.check(&["height field"]);
    }
}

/// A corner's point frozen on its body would have the right gap and a normal that does not turn.
#[test]
fn the_normal_turns_with_the_face() {
    let pair = Pair::aligned([[1.0; 3], [0.2; 3]], [0.1, 0.2, 1.21]);
    let (_, j) = jacobian::<6>(|by| numbers(&pair.contacts(by, 0.1)), &[0.0; DIRECTIONS]);
    // dn = w x z for a turn w of the reference; the other body does not turn it.
    assert_eq!([j[(7, 3)], j[(6, 4)], j[(7, 12)], j[(6, 13)]], [-1.0, 1.0, 0.0, 0.0]);
    // The foot of the corner moves along the face, and with it at x = -0.1.
    assert!((j[(0, 4)] + 0.01).abs() < 1e-14 && (j[(2, 4)] - 0.1).abs() < 1e-14, "{j}");
}

impl Function for Pair {
    fn evaluate<T: Real>(&self, by: &[T]) -> Vec<T> {
        numbers(&self.contacts(by, 0.2))
    }
}

/// Second derivatives, too, through duals of duals and the tape.
#[test]
fn in_every_way() {
    let corner = Pair::aligned([[0.5; 3], [0.2, 0.3, 0.4]], [0.1, 0.05, 0.95]);
    let crossed = Pair::aligned([[0.5; 3]; 2], [0.02, 0.03, 1.01]);
    let quarter = std::f64::consts::FRAC_PI_4;
    let ridges = Pair::aligned([[0.5, 2.0, 0.5], [2.0, 0.5, 0.5]], [0.1, 0.2, 1.5])
        .turned(0, [0.0, quarter, 0.0])
        .turned(1, [quarter, 0.0, 0.0]);
    let on =
        |offset: [f64; 3]| Pair { shapes: [&SPHERE, &BOX], ..Pair::aligned([[0.5; 3]; 2], offset) };
    let balls = Pair { shapes: [&SPHERE; 2], ..ridges };
    for (pair, count) in [
        (corner.turned(1, [0.03, 0.02, 0.1]), 4),
        (crossed.turned(1, [0.01, 0.02, 0.8]), 8),
        (ridges.turned(1, [0.1, 0.05, 0.3]), 1),
        (on([0.1, 0.2, 1.05]), 1),
        (on([0.1, 0.9, 0.95]), 1),
        (on([0.8, 0.9, 0.75]), 1),
        (balls, 1),
    ] {
        assert_eq!(pair.witnesses(0.2).len(), count, "{pair:?}");
        let report = check_second_order(&pair, &[0.0; DIRECTIONS], &Options::default()).unwrap();
        assert!(report.passed(), "{pair:?} {report}");
    }
}
