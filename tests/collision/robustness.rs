//! Every pose has an answer made of numbers.

use nalgebra::Vector3;
use stiction::ad::Dual;
use stiction::collision::{WarmStart, witnesses, witnesses_from};
use stiction::model::Shape;

use super::{BOX, CAPSULE, CYLINDER, DIRECTIONS, HILLS, Pair, SPHERE, more_shapes, shapes};
use crate::random::Random;

/// Contacts with duals, in some directions.
fn check(pair: &Pair, reach: f64, random: &mut Random) {
    let seeds: [f64; DIRECTIONS] = random.vector(1.0);
    let by: [Dual<f64, 6>; DIRECTIONS] = std::array::from_fn(|j| {
        Dual::new(0.0, std::array::from_fn(|k| seeds[(j + k) % DIRECTIONS]))
    });
    for w in pair.contacts(&by, reach) {
        let numbers = [w.gap, w.lowest].into_iter().chain(w.normal.iter().copied());
        for x in numbers.chain(w.points.iter().flat_map(|p| p.iter().copied())) {
            assert!(
                x.value.is_finite() && x.tangent.iter().all(|t| t.is_finite()),
                "{pair:?} {w:?}"
            );
        }
        assert!(w.gap.value <= reach);
    }
}

#[test]
fn no_pose_makes_something_that_is_not_a_number() {
    let mut random = Random(41);
    let hills: [[&Shape; 2]; 4] =
        [[&HILLS, &SPHERE], [&CAPSULE, &HILLS], [&HILLS, &BOX], [&HILLS, &CYLINDER]];
    let few = shapes().into_iter().map(|shapes| (shapes, 25_000));
    let more = more_shapes().into_iter().chain(hills).map(|shapes| (shapes, 2500));
    for (shapes, count) in few.chain(more) {
        for case in 0..count {
            let mut pair = Pair::random(shapes, &mut random, 2.0);
            match case % 10 {
                // The same pose, the same place, right angles, faces that are flush.
                0 => {
                    pair.positions[1] = pair.positions[0];
                    pair.orientations[1] = pair.orientations[0];
                    pair.sizes[1] = pair.sizes[0];
                }
                1 => pair.positions[1] = pair.positions[0],
                2 => {
                    pair.orientations[1] = pair.orientations[0];
                    pair.positions = [Vector3::zeros(), Vector3::from(random.vector(1.0))];
                }
                3 => {
                    pair = Pair { shapes, ..Pair::aligned([[0.5; 3]; 2], [0.0; 3]) };
                    let place = |random: &mut Random| random.uniform(-2.0, 2.0).round() * 0.5;
                    pair.positions[1] = Vector3::from_fn(|_, _| place(&mut random));
                }
                4 => {
                    // Sizes from a micrometre to a thousand kilometres, near to each other or not.
                    for size in &mut pair.sizes {
                        *size = size.map(|_| 10f64.powf(random.uniform(-6.0, 6.0)));
                    }
                    let far = pair.sizes[random.bits() as usize % 2].norm();
                    pair.positions[1] = pair.positions[0] + Vector3::from(random.vector(1.0)) * far;
                }
                _ => {}
            }
            let reach = [0.0, 0.1, 1.0, f64::INFINITY][case % 4];
            check(&pair, reach, &mut random);
        }
    }
}

#[test]
fn what_is_not_a_number_has_no_gap() {
    for shapes in shapes() {
        let mut pair = Pair::random(shapes, &mut Random(42), 0.5);
        assert!(!pair.witnesses(0.1).is_empty());
        pair.positions[1].y = f64::NAN;
        // Spheres say so with the gap; of boxes no corner is over a face.
        assert!(pair.witnesses(0.1).iter().all(|w| w.gap.is_nan()));
    }
    for shapes in more_shapes() {
        let mut pair = Pair::random(shapes, &mut Random(43), 0.5);
        pair.positions[1].y = f64::NAN;
        assert!(pair.witnesses(0.1).iter().all(|w| w.gap.is_nan()), "{shapes:?}");
        // From wherever a search begins.
        pair = Pair::random(shapes, &mut Random(43), 0.5);
        let mut warm = WarmStart::default();
        for rotation in [1.0, f64::NAN, f64::INFINITY] {
            let mut poses = pair.poses();
            poses[1].rotation *= rotation;
            let [first, second] = &poses;
            let (mut cold, mut found) = (Vec::new(), Vec::new());
            witnesses(pair.shapes, [first, second], pair.sizes, 0.1, &mut cold);
            witnesses_from(&mut warm, pair.shapes, [first, second], pair.sizes, 0.1, &mut found);
            assert_eq!(cold.len(), found.len(), "{shapes:?}");
            // Where there is a search, of two polyhedra, what is nowhere touches nothing.
            let searched = pair.shapes.iter().all(|shape| shape.polyhedron().is_some());
            let nowhere = rotation != 1.0 && searched;
            assert!(!nowhere || cold.iter().all(|w| !w.gap.is_finite()), "{shapes:?} {cold:?}");
        }
    }
}
